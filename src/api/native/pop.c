// SPDX-License-Identifier: MIT
// Commands that pop jobs, and the command that shows which are next.
#include "api/job_words.h"
#include "engine/explain/explain.h"

static const char *const pop_order_words[] = { "ordered", "round-robin", "best", NULL };

enum {
    POP_MAX = 1000, // in a pop
};

#define TAKER_LEASE                                                                                \
    "how long the lease lasts without a heartbeat, from 0.001 on; 0: as the job says, else the "   \
    "heartbeat of its queue (0)"

struct pop_arguments {
    struct slice worker;
    int64_t count;
    struct slices queues;
    int64_t wait, order, lease;
    bool has_wait;
};

static const struct argument pop_takes[] = {
    ARGUMENT(pop_arguments, worker, NAME, "worker", "who takes them"),
    ARGUMENT(pop_arguments, count, INTEGER, "count", "how many at most", .min = 1, .max = POP_MAX),
    REST(pop_arguments, queues, NAME, "queue", "where from", .about = ABOUT_QUEUE),
    OPTION_HAS(pop_arguments, wait, has_wait, SECONDS, "WAIT",
               "how long to wait for the first one when there is none; 0: as long as it takes",
               SECONDS_RANGE),
    OPTION(pop_arguments, order, WORD, "ORDER",
           "the first queue as long as it has jobs, one from each in turn, or of all queues the "
           "job with the lowest priority (ordered)",
           .words = pop_order_words),
    OPTION(pop_arguments, lease, SECONDS, "LEASE", TAKER_LEASE, LEASE_RANGE),
};

static void note_unfit(const struct call *call, const struct fit *fit)
{
    if (fit->never.size && call->host->unfit) {
        call->host->unfit(call->host->context, call->ns, fit->never, fit->room_max);
    }
}

static enum status run_pop(struct call *call, struct error *error)
{
    const struct pop_arguments *given = call->arguments;
    struct fit fit;
    fit_init_popped(&fit, call->reply, call->engine);
    const struct pop_request request = {
        .worker = given->worker,
        .queues = given->queues,
        .order = (enum pop_order)given->order,
        .count = (size_t)given->count,
        .lease_us = given->lease,
        .fits = fit_check,
        .fits_context = &fit,
    };
    const struct job *jobs[POP_MAX];
    size_t popped = 0;
    enum status status = engine_pop(call->engine, call->now_us, &request, jobs, &popped, error);
    if (status) {
        return status;
    }
    note_unfit(call, &fit);
    bool waits = given->has_wait && !call->last;
    // A job that fits into no reply is skipped, so that a waiting worker gets the jobs after it.
    if (popped == 0 && (!waits || fit.later)) {
        status = fit_refuse(&fit, call->command->name, error);
    }
    if (status) {
        return status;
    }
    if (popped == 0 && waits) {
        call->wait = (struct wait){ .kind = WAIT_POP,
                                    .timeout_us = given->wait ? given->wait : INT64_MAX,
                                    .queues = given->queues };
    }
    if (call->host->popped) {
        call->host->popped(call, given->worker);
    }
    if (call->wait.kind != WAIT_NONE) {
        return STATUS_OK;
    }
    reply_list(call->reply, popped);
    for (size_t i = 0; i < popped; i++) {
        reply_popped(call->reply, call->engine, jobs[i]);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

struct take_arguments {
    struct slice jid, worker;
    int64_t lease;
};

static const struct argument take_takes[] = {
    ARGUMENT(take_arguments, jid, NAME, "jid", "the job", .about = ABOUT_JOB),
    ARGUMENT(take_arguments, worker, NAME, "worker", "who takes it"),
    OPTION(take_arguments, lease, SECONDS, "LEASE", TAKER_LEASE, LEASE_RANGE),
};

// The error that says why a job was not popped.
static enum status refuse_take(struct call *call, struct slice jid, struct error *error)
{
    struct explanation why;
    enum status status = engine_explain(call->engine, call->now_us, jid, &why, error);
    return status ? status
                  : error_set(error, STATUS_STATE, "job %.*s cannot be taken now: %s",
                              SLICE_PRINT(jid), explain_reason_name(why.reason));
}

static enum status run_take(struct call *call, struct error *error)
{
    const struct take_arguments *given = call->arguments;
    const struct take_request request = { .worker = given->worker,
                                          .jid = given->jid,
                                          .lease_us = given->lease };
    const struct job *job = engine_get(call->engine, given->jid);
    struct fit fit;
    fit_init_popped(&fit, call->reply, call->engine);
    enum status status = STATUS_OK;
    if (job && fit_check(&fit, job, NULL, 0) != POP_FITS) {
        status = fit_refuse(&fit, call->command->name, error);
    }
    if (!status) {
        status = engine_take(call->engine, call->now_us, &request, &job, error);
    }
    if (!status && !job) {
        status = refuse_take(call, given->jid, error);
    }
    if (status) {
        return status;
    }
    if (call->host->popped) {
        call->host->popped(call, given->worker);
    }
    reply_popped(call->reply, call->engine, job);
    return STATUS_OK;
}

struct peek_arguments {
    struct slice queue;
    int64_t count;
};

static const struct argument peek_takes[] = {
    ARGUMENT(peek_arguments, queue, NAME, "queue", "where to look", .about = ABOUT_QUEUE),
    ARGUMENT(peek_arguments, count, INTEGER, "count", "how many at most", .min = 1, .max = POP_MAX),
};

static enum status run_peek(struct call *call, struct error *error)
{
    const struct peek_arguments *given = call->arguments;
    const struct job *jobs[POP_MAX];
    size_t found = 0;
    enum status status = engine_peek(call->engine, call->now_us, given->queue, (size_t)given->count,
                                     jobs, &found, error);
    if (status) {
        return status;
    }
    reply_list(call->reply, found);
    for (size_t i = 0; i < found; i++) {
        reply_job(call->reply, call->engine, jobs[i]);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

// In the order of the reference.
enum {
    PEEK,
    POP,
    TAKE,
};

static const struct command commands[] = {
    [PEEK] = {
        .name = "Q.PEEK",
        .group = "work",
        .flags = READS,
        TAKES(peek_arguments, peek_takes),
        .run = run_peek,
        .summary = "Shows the jobs that are first in line, without handing them out.",
        .details = "It shows the line as it is: limits of lanes, concurrency, fairness and a pause "
                   "are ignored. Q.EXPLAIN says when a job is handed out.",
        .replies = "A list of jobs as in Q.GET.",
        EXAMPLES({ "Q.PEEK app mail 1",
"1)  1# \"jid\" => \"bob\"\n"
"    2# \"klass\" => \"Send\"\n"
"    3# \"queue\" => \"mail\"\n"
"    4# \"state\" => \"waiting\"\n"
"    5# \"stage\" => (nil)\n"
"..." }),
    },
    [POP] = {
        .name = "Q.POP",
        .group = "work",
        .flags = SHRINKS | COMMAND_WAITS | COMMAND_WORKS | COMMAND_FITS,
        TAKES(pop_arguments, pop_takes),
        .run = run_pop,
        .summary = "Takes jobs out of queues, each under a lease.",
        .details =
            "First come jobs whose lease was lost, then by priority (lower first) and age. "
            "ORDER best compares the first jobs of all queues: the lowest priority, then a lost "
            "lease, then the job that was put first. With WAIT it waits for the first job; waiting clients are served in the order in "
            "which they came. It hands out no more jobs than fit its reply (max-output). A job "
            "that is larger than a reply may be stays in the queue and is logged; the jobs behind "
            "it are handed out.",
        .replies = "A list of jobs, empty when there is none. TOO_LARGE names a job that does not "
                   "fit a reply, when there is no other.",
        EXAMPLES({ "Q.POP app worker-1 10 WAIT 30 mail reports",
"1)  1# \"jid\" => \"bob\"\n"
"    2# \"klass\" => \"Send\"\n"
"    3# \"queue\" => \"mail\"\n"
"    4# \"data\" => \"{\\\"to\\\":\\\"bob\\\"}\"\n"
"    5# \"token\" => (integer) 1\n"
"    6# \"expires\" => (double) 1784000060.5\n"
"    7# \"priority\" => (integer) 0\n"
"    8# \"remaining\" => (integer) 5\n"
"    9# \"attempts\" => (integer) 1\n"
"   10# \"domain\" => (nil)\n"
"   11# \"checkpoint\" => (nil)\n"
"   12# \"tags\" => (empty array)\n"
"2)  1# \"jid\" => \"ann\"\n"
"..." }),
    },
    [TAKE] = {
        .name = "Q.TAKE",
        .group = "work",
        .flags = SHRINKS | COMMAND_WORKS | COMMAND_FITS,
        TAKES(take_arguments, take_takes),
        .run = run_take,
        .summary = "Takes a given job out of its turn, under a lease.",
        .details = "The job must be in line (waiting or stalled). A pause, limits and concurrency "
                   "hold as for Q.POP. Q.KICK brings a scheduled or failed job into line.",
        .replies = "The job as in Q.POP. STATE with the reason, as in Q.EXPLAIN, when it cannot be "
                   "taken now.",
        EXAMPLES({ "Q.TAKE app cat worker-1",
" 1# \"jid\" => \"cat\"\n"
" 2# \"klass\" => \"Send\"\n"
" 3# \"queue\" => \"mail\"\n"
"..." },
{ "Q.TAKE app cat worker-2",
"(error) STATE job cat cannot be taken now: running" }),
    },
};

const struct command_table api_pop = TABLE(commands);
