// SPDX-License-Identifier: MIT
// Commands that show and set the time of a namespace.
#include "api/table.h"
#include "host/commands/services.h"

static struct ns *find(const struct call *call)
{
    return namespaces_find(services_of(call)->namespaces, call->ns);
}

static enum status run_clock(struct call *call, struct error *error)
{
    (void)error;
    const struct host_clock *clock = services_of(call)->namespaces->options.clock;
    const struct ns *ns = find(call);
    struct reply *reply = call->reply;
    bool by_clients = ns && ns->clock == ENGINE_CLOCK_CLIENT;
    int64_t ahead_us = ns ? ns_ahead_us(ns, call->now_us) : 0;
    reply_map(reply, 6);
    reply_key(reply, "clock");
    reply_text(reply, by_clients ? SLICE("client") : SLICE("server"));
    reply_key(reply, "time");
    reply_moment_or_null(reply, by_clients ? 0 : call->now_us + ahead_us);
    reply_key(reply, "host_time");
    reply_moment(reply, call->now_us);
    reply_key(reply, "ahead");
    reply_seconds(reply, ahead_us);
    reply_key(reply, "wall_offset");
    reply_seconds(reply, clock->difference_us);
    reply_key(reply, "step_pending");
    reply_boolean(reply, clock->pending_us != 0);
    reply_end(reply);
    return STATUS_OK;
}

static enum status run_repair(struct call *call, struct error *error)
{
    struct ns *ns = find(call);
    int64_t ahead_us = ns ? ns_ahead_us(ns, call->now_us) : 0;
    enum status status = ahead_us ? ns_set_back(ns, call->now_us, error) : STATUS_OK;
    if (!status) {
        reply_seconds(call->reply, ahead_us);
    }
    return status;
}

static const struct command commands[] = {
    {
        .name = "Q.CLOCK",
        .group = "namespaces",
        .flags = READS,
        .run = run_clock,
        .summary = "Shows the time of a namespace beside the clocks of its host.",
        .details = "`time` is the namespace's own time, which never goes back by itself: when it "
                   "lies `ahead` of `host_time`, it stands, and nothing falls due. `wall_offset` "
                   "says how far the machine's clock is ahead of `host_time`; a larger difference "
                   "than a second is a step, which is followed when it has lasted for 30 seconds "
                   "(`step_pending`).",
        .replies = "A map; `time` is null when the clients' clock rules.",
        EXAMPLES({ "Q.CLOCK app",
                   "1# \"clock\" => \"server\"\n2# \"time\" => (double) 1784371500\n3# "
                   "\"host_time\" => (double) 1784371500\n4# \"ahead\" => (double) 0\n5# "
                   "\"wall_offset\" => (double) 0\n6# \"step_pending\" => (false)" }),
    },
    {
        .name = "Q.CLOCK.REPAIR",
        .group = "namespaces",
        .flags = SHRINKS | COMMAND_ADMIN | COMMAND_AUDITED,
        .run = run_repair,
        .summary = "Sets a namespace whose time lies ahead back to its host's time.",
        .details = "A namespace that was stored while the machine's clock was ahead does this by "
                   "itself 30 seconds after the start. Leases, rates and the intervals of "
                   "recurring jobs keep the time that they have left; jobs that are scheduled "
                   "keep their moments: the bulk act retry puts them in line at once.",
        .replies = "How many seconds it was ahead; 0 when it was not, and nothing has changed.",
        EXAMPLES({ "Q.CLOCK.REPAIR app", "(double) 0" }),
    },
};

const struct command_table host_clock_commands = TABLE(commands);
