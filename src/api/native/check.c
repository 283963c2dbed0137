// SPDX-License-Identifier: MIT
// The consistency check as a command.
#include "engine/check/check.h"

#include "api/table.h"

enum {
    SENTENCES_MAX = 100, // that are shown
    SENTENCES_SIZE_MAX = 1 << 16,
    OBJECTS_MAX = 16000, // visited without FORCE: about 10 ms
};

struct check_arguments {
    bool repair, force;
};

static const struct argument check_takes[] = {
    OPTION(check_arguments, repair, FLAG, "REPAIR", "mend what can be mended"),
    OPTION(check_arguments, force, FLAG, "FORCE", "check a namespace of any size"),
};

// The first messages, each terminated with a zero. Those that do not fit are omitted.
struct sentences {
    struct buffer text;
    size_t count;
};

static void keep(void *context, const char *sentence)
{
    struct sentences *sentences = context;
    struct slice with_zero = slice_make(sentence, strlen(sentence) + 1);
    if (sentences->count < SENTENCES_MAX && buffer_reserve(&sentences->text, with_zero.size)) {
        buffer_append(&sentences->text, with_zero);
        sentences->count++;
    }
}

static enum status check_size(const struct call *call, struct error *error)
{
    const struct check_arguments *given = call->arguments;
    size_t size = engine_check_size(call->engine);
    if (size <= OBJECTS_MAX || given->force) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_TOO_LARGE,
                     "%s: the namespace has %zu objects; more than %d are checked only with FORCE, "
                     "and other clients wait until the check ends. To check a copy, use `sluice "
                     "backup` and `sluice doctor`",
                     call->command->name, size, OBJECTS_MAX);
}

static enum status run_check(struct call *call, struct error *error)
{
    const struct check_arguments *given = call->arguments;
    enum status status = check_size(call, error);
    if (status) {
        return status;
    }
    size_t size_max = reply_texts_max(call->reply, SENTENCES_MAX, SENTENCES_SIZE_MAX);
    if (given->repair && call_check_room(call, REPLY_SIZE_LEAST + size_max, error)) {
        return STATUS_TOO_LARGE;
    }
    struct sentences sentences = { 0 };
    buffer_init(&sentences.text, &allocator_system, SENTENCES_SIZE_MAX);
    size_t found = engine_check(call->engine, given->repair, keep, &sentences);
    reply_map(call->reply, 3);
    reply_key(call->reply, "broken");
    reply_count(call->reply, found);
    reply_key(call->reply, "repair");
    reply_boolean(call->reply, given->repair);
    reply_key(call->reply, "sentences");
    reply_list(call->reply, sentences.count);
    struct slice rest = buffer_slice(&sentences.text);
    for (size_t i = 0; i < sentences.count; i++) {
        struct slice sentence = slice_from_cstr(rest.data);
        reply_text(call->reply, sentence);
        rest = slice_sub(rest, sentence.size + 1, SIZE_MAX);
    }
    reply_end(call->reply);
    reply_end(call->reply);
    buffer_release(&sentences.text);
    return STATUS_OK;
}

static const struct command commands[] = {
    {
        .name = "Q.CHECK",
        .group = "check",
        .flags = SHRINKS | COMMAND_ADMIN | COMMAND_AUDITED | COMMAND_FITS,
        TAKES(check_arguments, check_takes),
        .run = run_check,
        .summary = "Walks through the whole namespace and compares everything that is derived with "
                   "what it is derived from.",
        .details = "The check, with or without REPAIR, is a single call: no other command runs "
                   "until it ends. A namespace of more than 16,000 objects (jobs, dependencies, "
                   "tags of jobs, queues, workers, remembered jids and so on) is refused with "
                   "TOO_LARGE unless FORCE is given. The time grows with their number: 0.6 to "
                   "1.1 s were measured for 400,000 on a busy machine. `sluice backup` and "
                   "`sluice doctor` check a copy of what is saved instead, while the "
                   "server goes on.",
        .replies = "How many broken invariants there are, and the first hundred in a sentence "
                   "each.",
        EXAMPLES({ "Q.CHECK app", "1# \"broken\" => (integer) 0\n"
                                  "2# \"repair\" => (false)\n"
                                  "3# \"sentences\" => (empty array)" }),
    },
};

const struct command_table api_check = TABLE(commands);
