// SPDX-License-Identifier: MIT
// The command that lists refused tasks.
#include "api/table.h"
#include "base/timefmt.h"
#include "host/commands/services.h"
#include "host/refusals.h"

enum {
    COUNT_DEFAULT = 25,
};

struct invalid_arguments {
    int64_t count;
    bool has_count;
};

static const struct argument invalid_takes[] = {
    OPTION_HAS(invalid_arguments, count, has_count, INTEGER, "COUNT", "how many at most (25)",
               .min = 1, .max = REFUSALS_OF_NAMESPACE_MAX),
};

static void write_refusal(struct reply *reply, const struct refusal *refusal)
{
    char moment[TIMEFMT_SIZE_MAX];
    reply_map(reply, 5);
    reply_key(reply, "refusedAt");
    reply_text(reply, slice_make(moment, timefmt_format(refusal->at_us, moment)));
    reply_key(reply, "code");
    reply_text(reply, slice_from_cstr(status_name(refusal->status)));
    reply_key(reply, "reason");
    reply_text(reply, refusal_reason(refusal));
    reply_key(reply, "sent");
    reply_text(reply, refusal_sent(refusal));
    reply_key(reply, "size");
    reply_count(reply, refusal->size);
    reply_end(reply);
}

static enum status run_invalid(struct call *call, struct error *error)
{
    (void)error;
    const struct invalid_arguments *given = call->arguments;
    size_t count = 0, count_max = given->has_count ? (size_t)given->count : COUNT_DEFAULT;
    const struct refusal *newest = refusals_newest(services_of(call)->namespaces, call->ns);
    for (const struct refusal *at = newest; at && count < count_max; at = at->older) {
        count++;
    }
    reply_list(call->reply, count);
    for (const struct refusal *at = newest; count > 0; at = at->older, count--) {
        write_refusal(call->reply, at);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

static const struct command commands[] = {
    {
        .name = "T.INVALID",
        .group = "tasks",
        .flags = READS,
        TAKES(invalid_arguments, invalid_takes),
        .run = run_invalid,
        .summary = "Lists tasks that were refused when they were put, the newest first.",
        .details = "They are kept in memory until the server is restarted or the namespace is "
                   "deleted: the newest 100 of a namespace, and 1000 of all namespaces together. "
                   "Beyond that the namespace with the most of them loses its oldest. A refused "
                   "task creates no namespace.",
        .replies = "A list: when each was refused, the code and the reason of the error, the first "
                   "1024 bytes of what was sent, and how many bytes that was.",
        EXAMPLES({ "T.INVALID app COUNT 1",
                   "1) 1# \"refusedAt\" => \"2026-07-14T03:33:50.500Z\"\n"
                   "   2# \"code\" => \"invalid\"\n"
                   "   3# \"reason\" => \"T.PUT: args must be an array, not an object\"\n"
                   "   4# \"sent\" => \"UserBackfill {}\"\n"
                   "   5# \"size\" => (integer) 15" }),
    },
};

const struct command_table host_task_commands = TABLE(commands);
