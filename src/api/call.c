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

static enum status run_one(struct call *call, struct slices words, struct scratch *scratch,
                           struct error *error)
{
    alignas(max_align_t) char arguments[COMMAND_ARGUMENTS_SIZE_MAX];
    enum status status = command_parse(call->command, words, scratch, arguments, error);
    if (status) {
        return status;
    }
    call->arguments = arguments;
    status = call->permit ? call->permit(call, error) : STATUS_OK;
    if (!status) {
        status = call->command->run(call, error);
    }
    call->arguments = NULL;
    return status;
}

// The words of the element that starts at `*position`, which is moved behind it.
static enum status next_element(const struct command *command, struct slices words,
                                size_t *position, struct slices *out, struct error *error)
{
    uint64_t count;
    if (num_parse_u64(words.items[*position], &count)) {
        return error_set(error, STATUS_INVALID,
                         "%s: where the number of words of an element should be there is \"%.*s\"",
                         command->name, SLICE_PRINT(slice_shown(words.items[*position])));
    }
    size_t left = words.count - *position - 1;
    if (count > left) {
        return error_set(error, STATUS_INVALID,
                         "%s: an element should have %llu words, and %zu are left", command->name,
                         (unsigned long long)count, left);
    }
    *out = (struct slices){ words.items + *position + 1, (size_t)count };
    *position += 1 + (size_t)count;
    return STATUS_OK;
}

// All elements are looked at before the first is run, so that a request whose words do not add up
// changes nothing.
static enum status run_each(struct call *call, struct slices words, struct scratch *scratch,
                            struct error *error)
{
    const struct command *whole = call->command;
    size_t count = 0;
    struct slices element;
    for (size_t position = 0; position < words.count; count++) {
        enum status status = next_element(whole, words, &position, &element, error);
        if (status) {
            return status;
        }
    }
    reply_list(call->reply, count);
    call->command = whole->each;
    for (size_t position = 0; position < words.count;) {
        struct error why;
        if (next_element(whole, words, &position, &element, &why) ||
            run_one(call, element, scratch, &why)) {
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
    return call->command->each ? run_each(call, words, scratch, error)
                               : run_one(call, words, scratch, error);
}
