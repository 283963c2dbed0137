// SPDX-License-Identifier: MIT
#include "api/call.h"

#include "base/num.h"

#include <stdalign.h>

enum status call_ok(struct call *call, enum status status)
{
    if (!status) {
        reply_ok(call->reply);
    }
    return status;
}

enum status call_ask_zone(const struct call *call, struct slice zone, struct zone_rules *out,
                          struct error *error)
{
    return call->host->zone ? call->host->zone(call->host->context, zone, out, error)
                            : error_set(error, STATUS_NOT_FOUND, "time zone %.*s is not known",
                                        SLICE_PRINT(slice_sub(zone, 0, ENGINE_NAME_SIZE_MAX)));
}

enum status call_check_room(const struct call *call, size_t size, struct error *error)
{
    size_t room = reply_room(call->reply);
    if (room >= size) {
        return STATUS_OK;
    }
    if (size == SIZE_MAX) {
        return error_set_reply(
            error,
            "%s was not run: its reply is larger than a reply may be (max-output is "
            "the limit)",
            call->command->name);
    }
    return error_set_reply(
        error,
        "%s was not run: its reply may have %zu bytes, and there is room for %zu "
        "(max-output is the limit)",
        call->command->name, size, room);
}

// How large the reply of a command with these words may be, if it changes something.
static size_t room_needed(const struct command *command, struct slices words)
{
    size_t size = command->flags & COMMAND_WRITES ? REPLY_SIZE_LEAST : 0;
    for (size_t i = 0; i < words.count && (command->flags & COMMAND_ECHOES); i++) {
        size += words.items[i].size;
    }
    return size;
}

static enum status run_one(struct call *call, struct slices words, struct scratch *scratch,
                           struct error *error)
{
    alignas(max_align_t) char arguments[COMMAND_ARGUMENTS_SIZE_MAX];
    enum status status = command_parse(call->command, words, scratch, arguments, error);
    if (!status) {
        status = call_check_room(call, room_needed(call->command, words), error);
    }
    if (status) {
        return status;
    }
    call->arguments = arguments;
    call->words = words;
    status = call->permit ? call->permit(call, error) : STATUS_OK;
    if (!status) {
        status = call->command->run(call, error);
    }
    call->arguments = NULL;
    call->words = (struct slices){ 0 };
    return status;
}

static void note_refused(const struct call *call, struct slices words, const struct error *why)
{
    if (call->command->flags & COMMAND_NOTES_REFUSED && call->host->refused) {
        call->host->refused(call, words, why);
    }
}

// Returns the words of the element that starts at `*position`, which is moved to its end.
static enum status next_element(const struct command *command, struct slices words,
                                size_t *position, struct slices *out, struct error *error)
{
    uint64_t count;
    if (num_parse_u64(words.items[*position], &count)) {
        return error_set(error, STATUS_INVALID, "%s: expected an argument count, got \"%.*s\"",
                         command->name, SLICE_PRINT(slice_shown(words.items[*position])));
    }
    size_t left = words.count - *position - 1;
    if (count > left) {
        return error_set(error, STATUS_INVALID,
                         "%s: an element has %llu arguments, but %zu are left", command->name,
                         (unsigned long long)count, left);
    }
    *out = (struct slices){ words.items + *position + 1, (size_t)count };
    *position += 1 + (size_t)count;
    return STATUS_OK;
}

// Counts the elements. All are checked before the first is run, so that a malformed request changes
// nothing, nor does one whose reply has no room.
static enum status count_elements(const struct call *call, struct slices words, size_t *count,
                                  struct error *error)
{
    struct slices element = { 0 };
    *count = 0;
    for (size_t position = 0; position < words.count; (*count)++) {
        enum status status = next_element(call->command, words, &position, &element, error);
        if (status) {
            return status;
        }
    }
    size_t errors_size = *count * call->reply->ops->error_size;
    return call_check_room(call, errors_size + room_needed(call->command, (struct slices){ 0 }),
                           error);
}

// Runs an element, unless the replies so far leave no room for its reply and for the errors of the
// `left` others.
static enum status run_element(struct call *call, struct slices words, size_t left,
                               struct scratch *scratch, struct error *error)
{
    size_t size = room_needed(call->command, words) + left * call->reply->ops->error_size;
    if (call->command->flags & COMMAND_WRITES && reply_room(call->reply) < size) {
        return error_set_reply(error, "not run: no room for its reply");
    }
    return run_one(call, words, scratch, error);
}

static enum status run_each(struct call *call, struct slices words, struct scratch *scratch,
                            struct error *error)
{
    const struct command *whole = call->command;
    size_t count;
    enum status status = count_elements(call, words, &count, error);
    if (status) {
        return status;
    }
    reply_list(call->reply, count);
    call->command = whole->each;
    for (size_t position = 0; position < words.count;) {
        struct slices element = { 0 };
        struct error why;
        if (next_element(whole, words, &position, &element, &why) ||
            run_element(call, element, --count, scratch, &why)) {
            note_refused(call, element, &why);
            reply_error(call->reply, &why);
        }
    }
    call->command = whole;
    reply_end(call->reply);
    return STATUS_OK;
}

enum status call_run(struct call *call, struct slices words, struct scratch *scratch,
                     struct error *error)
{
    enum status status = call->command->each ? run_each(call, words, scratch, error)
                                             : run_one(call, words, scratch, error);
    if (status) {
        note_refused(call, words, error);
    }
    return status;
}
