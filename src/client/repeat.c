// SPDX-License-Identifier: MIT
#include "client/repeat.h"

#include "base/num.h"
#include "client/queue.h"

#include <sys/random.h>

enum {
    ID_BYTES = 12,
    HEAD_WORDS = 2, // the name and the namespace
};

void repeat_option(const struct sluice *sluice, struct words *words)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char random[ID_BYTES];
    char id[2 * ID_BYTES];
    if (sluice->url.kind == URL_FILE) {
        return;
    }
    if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
        words->failed = true;
        return;
    }
    for (size_t i = 0; i < ID_BYTES; i++) {
        id[2 * i] = digits[random[i] >> 4];
        id[2 * i + 1] = digits[random[i] & 15];
    }
    words_text(words, "REQUEST");
    words_copy(words, slice_make(id, sizeof(id)));
}

size_t command_places(const struct command *command)
{
    size_t count = 0;
    for (size_t i = 0; i < command->argument_count; i++) {
        count += !(command->arguments[i].flags & (ARGUMENT_OPTION | ARGUMENT_REPEATED));
    }
    return count;
}

// Whether the words after the positional arguments have that option.
static bool has_option(const struct command *command, struct slices words, const char *name)
{
    const struct argument *wanted = command_option(command, slice_from_cstr(name));
    size_t at = command_places(command);
    while (wanted && at < words.count) {
        const struct argument *option = command_option(command, words.items[at]);
        if (!option || option == wanted) {
            return option != NULL;
        }
        at += option->type == ARGUMENT_FLAG ? 1 : 2;
    }
    return false;
}

// Appends the words of one command after its name and namespace. Returns whether it can be
// repeated.
static bool add_one(const struct sluice *sluice, const struct command *command, struct slices words,
                    struct words *out)
{
    size_t places = command_places(command);
    bool repeats = command->flags & COMMAND_READS ||
                   (command->flags & COMMAND_SETTLES && has_option(command, words, "TOKEN")) ||
                   has_option(command, words, "REQUEST");
    bool add = !repeats && command_option(command, SLICE("REQUEST")) && words.count >= places &&
               sluice->url.kind != URL_FILE;
    for (size_t i = 0; i < words.count; i++) {
        if (add && i == places) {
            repeat_option(sluice, out);
        }
        words_add(out, words.items[i]);
    }
    if (add && words.count == places) {
        repeat_option(sluice, out);
    }
    return repeats || add;
}

// The same for each element of many: the number of its words, then its words.
static bool add_each(const struct sluice *sluice, const struct command *each, struct slices words,
                     struct words *out)
{
    bool repeats = true;
    for (size_t at = 0; at < words.count && !out->failed;) {
        uint64_t count;
        if (num_parse_u64(words.items[at], &count) || count > words.count - at - 1) {
            return false; // the server's message is better
        }
        size_t place = out->count;
        words_integer(out, 0);
        const struct slices element = { words.items + at + 1, (size_t)count };
        repeats = add_one(sluice, each, element, out) && repeats;
        if (!out->failed) {
            words_set_integer(out, place, (int64_t)(out->count - place - 1));
        }
        at += 1 + (size_t)count;
    }
    return repeats;
}

bool repeat_prepare(const struct sluice *sluice, const struct command *command, struct words *words)
{
    if (!command || !(command->flags & COMMAND_NAMESPACE) || words->count < HEAD_WORDS ||
        words->failed) {
        return command && command->flags & COMMAND_READS;
    }
    struct words out;
    words_init(&out);
    const struct slices rest = { words->items + HEAD_WORDS, words->count - HEAD_WORDS };
    words_add(&out, words->items[0]);
    words_add(&out, words->items[1]);
    bool repeats = command->each ? add_each(sluice, command->each, rest, &out)
                                 : add_one(sluice, command, rest, &out);
    if (repeats) {
        words_take(words, &out);
    } else {
        words_release(&out);
    }
    return repeats;
}
