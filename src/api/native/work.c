// SPDX-License-Identifier: MIT
// Commands of the worker that holds the lease of a job.
#include "api/job_words.h"
#include "api/request.h"

struct holder_words {
    struct slice jid, worker;
    int64_t token;
};

#define HOLDER(of)                                                                                 \
    ARGUMENT(of, by.jid, NAME, "jid", "the job", .about = ABOUT_JOB),                              \
        ARGUMENT(of, by.worker, NAME, "worker", "who holds its lease")

#define TOKEN(of)                                                                                  \
    OPTION(of, by.token, INTEGER, "TOKEN",                                                         \
           "the lease's, from pop: refused when it is not the current one", .min = 1,              \
           .max = INT64_MAX, .about = ABOUT_TOKEN)

static struct holder holder_of(const struct holder_words *words)
{
    return (struct holder){ .jid = words->jid,
                            .worker = words->worker,
                            .token = (uint64_t)words->token };
}

struct heartbeat_arguments {
    struct holder_words by;
    struct slice data;
    bool has_lease;
    int64_t lease;
};

static const struct argument heartbeat_takes[] = {
    HOLDER(heartbeat_arguments),
    TOKEN(heartbeat_arguments),
    OPTION(heartbeat_arguments, data, JSON, "DATA", "replaces the job's data"),
    OPTION_HAS(heartbeat_arguments, lease, has_lease, SECONDS, "LEASE",
               "how long the lease lasts, now and at later heartbeats that do not say it, from "
               "0.001 on; 0: as the job says, else the heartbeat of its queue",
               LEASE_RANGE),
};

static enum status run_heartbeat(struct call *call, struct error *error)
{
    const struct heartbeat_arguments *given = call->arguments;
    const struct heartbeat_request request = { .holder = holder_of(&given->by),
                                               .data = given->data,
                                               .has_lease = given->has_lease,
                                               .lease_us = given->lease };
    int64_t expires_us;
    enum status status = engine_heartbeat(call->engine, call->now_us, &request, &expires_us, error);
    if (!status) {
        reply_moment(call->reply, expires_us);
    }
    return status;
}

struct start_arguments {
    struct holder_words by;
    int64_t pid;
};

static const struct argument start_takes[] = {
    HOLDER(start_arguments),
    OPTIONAL(start_arguments, pid, INTEGER, "pid", "the process that does it (0: not said)",
             .min = 0, .max = INT64_MAX),
    TOKEN(start_arguments),
};

static enum status run_start(struct call *call, struct error *error)
{
    const struct start_arguments *given = call->arguments;
    const struct holder holder = holder_of(&given->by);
    return call_ok(call, engine_start(call->engine, call->now_us, &holder, given->pid, error));
}

struct complete_arguments {
    struct holder_words by;
    struct slice result, data, next;
    struct slices depends;
    bool has_delay, allow_missing;
    int64_t delay;
};

static const struct argument complete_takes[] = {
    HOLDER(complete_arguments),
    TOKEN(complete_arguments),
    OPTION(complete_arguments, result, JSON, "RESULT", "kept with the job"),
    OPTION(complete_arguments, data, JSON, "DATA", "replaces the job's data"),
    OPTION(complete_arguments, next, NAME, "NEXT", "the queue it goes on to, instead of being done",
           .about = ABOUT_TARGET),
    OPTION_HAS(complete_arguments, delay, has_delay, SECONDS, "DELAY",
               "with NEXT: not before so long from now", SECONDS_RANGE),
    OPTION_EACH(complete_arguments, depends, NAME, "DEPENDS",
                "with NEXT: the jid of a job that must be complete before it runs there",
                .about = ABOUT_JOB),
    OPTION(complete_arguments, allow_missing, FLAG, "ALLOW-MISSING",
           "jobs in DEPENDS that do not exist count as complete; otherwise they are refused with "
           "NOT_FOUND"),
};

static enum status run_complete(struct call *call, struct error *error)
{
    const struct complete_arguments *given = call->arguments;
    const struct complete_request request = {
        .holder = holder_of(&given->by),
        .data = given->data,
        .result = given->result,
        .next = given->next,
        .has_delay = given->has_delay,
        .delay_us = given->delay,
        .has_depends = given->depends.count > 0,
        .depends = given->depends,
        .missing = given->allow_missing ? MISSING_COMPLETE : MISSING_REFUSED,
    };
    enum job_state state;
    enum status status = engine_complete(call->engine, call->now_us, &request, &state, error);
    if (!status) {
        reply_text(call->reply, slice_from_cstr(job_state_name(state)));
    }
    return status;
}

struct fail_arguments {
    struct holder_words by;
    struct slice group, message, data;
    bool force;
};

static const struct argument fail_takes[] = {
    HOLDER(fail_arguments),
    ARGUMENT(fail_arguments, group, NAME, "group", "what kind of failure it is"),
    ARGUMENT(fail_arguments, message, TEXT, "message", "what went wrong"),
    TOKEN(fail_arguments),
    OPTION(fail_arguments, data, JSON, "DATA", "replaces the job's data"),
    OPTION(fail_arguments, force, FLAG, "FORCE",
           "fails the job in any state; worker is then who fails it, and need not hold it"),
};

static enum status run_fail(struct call *call, struct error *error)
{
    const struct fail_arguments *given = call->arguments;
    // Without a token the caller needs the right operate.
    if (given->force && given->by.token) {
        return error_set(error, STATUS_INVALID, "%s: FORCE cannot be used with TOKEN",
                         call->command->name);
    }
    const struct fail_request request = { .holder = holder_of(&given->by),
                                          .forced = given->force,
                                          .group = given->group,
                                          .message = given->message,
                                          .data = given->data };
    return call_ok(call, engine_fail(call->engine, call->now_us, &request, error));
}

struct retry_arguments {
    struct holder_words by;
    struct slice to, group, message;
    bool has_delay, has_group, has_message, uncounted;
    int64_t delay;
};

static const struct argument retry_takes[] = {
    HOLDER(retry_arguments),
    TOKEN(retry_arguments),
    OPTION_HAS(retry_arguments, delay, has_delay, SECONDS, "DELAY",
               "not before so long from now; otherwise as its backoff says", SECONDS_RANGE),
    OPTION(retry_arguments, to, NAME, "QUEUE", "where to try it again; otherwise where it is",
           .about = ABOUT_TARGET),
    OPTION_HAS(retry_arguments, group, has_group, NAME, "GROUP", "what kind of failure it was"),
    OPTION_HAS(retry_arguments, message, has_message, TEXT, "MESSAGE", "what went wrong"),
    OPTION(retry_arguments, uncounted, FLAG, "UNCOUNTED",
           "no retry is counted, and the job does not fail: the run was not at fault"),
};

static enum status run_retry(struct call *call, struct error *error)
{
    const struct retry_arguments *given = call->arguments;
    if (given->has_message && !given->has_group) {
        return error_set(error, STATUS_INVALID, "%s: MESSAGE needs a GROUP", call->command->name);
    }
    const struct retry_request request = {
        .holder = holder_of(&given->by),
        .to = given->to,
        .has_delay = given->has_delay,
        .delay_us = given->delay,
        .seed = call->host->random(call->host->context),
        .uncounted = given->uncounted,
        .has_failure = given->has_group,
        .group = given->group,
        .message = given->message,
    };
    int32_t remaining;
    enum status status = engine_retry(call->engine, call->now_us, &request, &remaining, error);
    if (!status) {
        reply_integer(call->reply, remaining);
    }
    return status;
}

struct held_arguments {
    struct holder_words by;
};

static const struct argument held_takes[] = {
    HOLDER(held_arguments),
    TOKEN(held_arguments),
};

static enum status run_held(struct call *call, struct error *error)
{
    const struct held_arguments *given = call->arguments;
    const struct holder holder = holder_of(&given->by);
    const struct job *job;
    enum status status = engine_held(call->engine, call->now_us, &holder, &job, error);
    if (!status) {
        reply_popped(call->reply, call->engine, job);
    }
    return status;
}

static enum status run_return(struct call *call, struct error *error)
{
    const struct held_arguments *given = call->arguments;
    const struct holder holder = holder_of(&given->by);
    return call_ok(call, engine_return(call->engine, call->now_us, &holder, error));
}

struct progress_arguments {
    struct holder_words by;
    int64_t fraction;
    struct slice message;
};

static const struct argument progress_takes[] = {
    HOLDER(progress_arguments),
    ARGUMENT(progress_arguments, fraction, FRACTION, "fraction", "how far it is, from 0 to 1"),
    TOKEN(progress_arguments),
    OPTION(progress_arguments, message, TEXT, "MESSAGE", "what it is doing"),
};

static enum status run_progress(struct call *call, struct error *error)
{
    const struct progress_arguments *given = call->arguments;
    const struct holder holder = holder_of(&given->by);
    return call_ok(call, engine_progress(call->engine, call->now_us, &holder,
                                         (int32_t)given->fraction, given->message, error));
}

struct write_arguments {
    struct holder_words by;
    struct slice text;
};

static const struct argument checkpoint_takes[] = {
    HOLDER(write_arguments),
    ARGUMENT(write_arguments, text, TEXT, "value", "what the next run receives; \"\": nothing"),
    TOKEN(write_arguments),
};

static enum status run_checkpoint(struct call *call, struct error *error)
{
    const struct write_arguments *given = call->arguments;
    const struct holder holder = holder_of(&given->by);
    return call_ok(call,
                   engine_checkpoint(call->engine, call->now_us, &holder, given->text, error));
}

struct log_arguments {
    struct holder_words by;
    struct slice text, request;
};

static const struct argument log_takes[] = {
    HOLDER(log_arguments),
    ARGUMENT(log_arguments, text, TEXT, "line", "what to keep"),
    TOKEN(log_arguments),
    REQUEST_OPTION(log_arguments),
};

static enum status run_log(struct call *call, struct error *error)
{
    const struct log_arguments *given = call->arguments;
    const struct holder holder = holder_of(&given->by);
    struct slice answer;
    bool known;
    enum status status = call_request_begin(call, given->request, 0, &known, &answer, error);
    if (!status && !known) {
        status = engine_log_line(call->engine, call->now_us, &holder, given->text, error);
        request_finish(call, status, SLICE_EMPTY);
    }
    return call_ok(call, status);
}

// In the order of the reference.
enum {
    HELD,
    START,
    HEARTBEAT,
    MHEARTBEAT,
    PROGRESS,
    CHECKPOINT,
    LOG,
    COMPLETE,
    MCOMPLETE,
    FAIL,
    MFAIL,
    RETURN,
    RETRY,
    MRETRY,
};

static const struct command commands[] = {
    [HELD] = {
        .name = "Q.HELD",
        .group = "work",
        .flags = READS | COMMAND_WORKS,
        TAKES(held_arguments, held_takes),
        .run = run_held,
        .summary = "Shows a job to its holder as Q.POP has handed it out.",
        .details = "For a process that another has given a job: with jid, worker and token it can "
                   "do all that the process can that popped the job. The lease is not renewed.",
        .replies = "The job; STALE, STATE or NOT_FOUND when the worker does not hold it.",
        EXAMPLES({ "Q.HELD app bob worker-1 TOKEN 1",
" 1# \"jid\" => \"bob\"\n"
" 2# \"klass\" => \"Send\"\n"
" 3# \"queue\" => \"mail\"\n"
"..." }),
    },
    [START] = {
        .name = "Q.START",
        .group = "work",
        .flags = SHRINKS | COMMAND_WORKS,
        TAKES(start_arguments, start_takes),
        .run = run_start,
        .summary = "Reports that the holder has begun to run the job, and optionally the id of "
                   "its process.",
        .replies = "OK.",
        EXAMPLES({ "Q.START app bob worker-1 4711",
"OK" }),
    },
    [HEARTBEAT] = {
        .name = "Q.HEARTBEAT",
        .group = "work",
        .flags = SHRINKS | COMMAND_WORKS,
        TAKES(heartbeat_arguments, heartbeat_takes),
        .run = run_heartbeat,
        .summary = "Renews the lease of a job.",
        .details = "The lease lasts as LEASE says, else as the last LEASE of its pop, its take or "
                   "a heartbeat said, else as the LEASE of the job or a policy says, else as the "
                   "heartbeat of its queue or the namespace says.",
        .replies = "When the lease ends now.",
        EXAMPLES({ "Q.HEARTBEAT app bob worker-1 TOKEN 1",
"(double) 1784000090.5" }),
    },
    [MHEARTBEAT] = {
        .name = "Q.MHEARTBEAT",
        .group = "work",
        .flags = SHRINKS | COMMAND_WORKS,
        .each = &commands[HEARTBEAT],
        .summary = "Renews many leases. For each one, give the number of its arguments, then the "
                   "arguments as in Q.HEARTBEAT.",
        .replies = "A list: for each when the lease ends now, or an error.",
        EXAMPLES({ "Q.MHEARTBEAT app 2 ann worker-1 2 dan worker-1",
"1) (double) 1784000090.5\n"
"2) (error) NOT_FOUND job dan does not exist" }),
    },
    [PROGRESS] = {
        .name = "Q.PROGRESS",
        .group = "work",
        .flags = WRITES | COMMAND_WORKS,
        TAKES(progress_arguments, progress_takes),
        .run = run_progress,
        .summary = "Reports the progress of a running job.",
        .replies = "OK.",
        EXAMPLES({ "Q.PROGRESS app bob worker-1 0.4 MESSAGE 'page 4 of 10'",
"OK" }),
    },
    [CHECKPOINT] = {
        .name = "Q.CHECKPOINT",
        .group = "work",
        .flags = WRITES | COMMAND_WORKS,
        TAKES(write_arguments, checkpoint_takes),
        .run = run_checkpoint,
        .summary = "Stores a value that the next run of the job receives if this run is lost.",
        .replies = "OK.",
        EXAMPLES({ "Q.CHECKPOINT app bob worker-1 page-4",
"OK" }),
    },
    [LOG] = {
        .name = "Q.LOG",
        .group = "work",
        .flags = WRITES | COMMAND_WORKS,
        TAKES(log_arguments, log_takes),
        .run = run_log,
        .summary = "Appends a line to a running job's log.",
        .details = "Repeated with the same REQUEST it adds no second line.",
        .replies = "OK.",
        EXAMPLES({ "Q.LOG app bob worker-1 'connected to mx1'",
"OK" }),
    },
    [COMPLETE] = {
        .name = "Q.COMPLETE",
        .group = "work",
        .flags = SHRINKS | COMMAND_WORKS | COMMAND_SETTLES,
        TAKES(complete_arguments, complete_takes),
        .run = run_complete,
        .summary = "Completes a job, or this part of it: with NEXT it goes on to another queue.",
        .details = "Repeated with the same TOKEN it is answered as the first time, and changes nothing.",
        .replies = "The state that the job is in now: complete, or with NEXT waiting, scheduled or "
                   "depends.",
        EXAMPLES({ "Q.COMPLETE app bob worker-1 TOKEN 1 RESULT '{\"sent\":true}'",
"\"complete\"" }),
    },
    [MCOMPLETE] = {
        .name = "Q.MCOMPLETE",
        .group = "work",
        .flags = SHRINKS | COMMAND_WORKS,
        .each = &commands[COMPLETE],
        .summary = "Completes many jobs. For each job, give the number of its arguments, then the "
                   "arguments as in Q.COMPLETE.",
        .replies = "A list: for each its state, or an error.",
        EXAMPLES({ "Q.MCOMPLETE app 4 ann worker-1 TOKEN 2 2 bob worker-1",
"1) \"complete\"\n"
"2) (error) STATE job bob is not running: complete" }),
    },
    [FAIL] = {
        .name = "Q.FAIL",
        .group = "work",
        .flags = SHRINKS | COMMAND_WORKS | COMMAND_SETTLES,
        TAKES(fail_arguments, fail_takes),
        .run = run_fail,
        .summary = "Fails a job for good, until it is unfailed or put again.",
        .details = "With FORCE a job in any state but failed fails, running or not, which takes "
                   "the right to operate. A worker that holds it loses its lease, and is refused "
                   "with STALE (without TOKEN: STATE) when it settles the job. Repeated with the "
                   "same TOKEN, a fail is answered as the first time, and changes nothing.",
        .replies = "OK.",
        EXAMPLES({ "Q.FAIL app dan worker-1 smtp 'connection refused'",
"OK" }),
    },
    [MFAIL] = {
        .name = "Q.MFAIL",
        .group = "work",
        .flags = SHRINKS | COMMAND_WORKS,
        .each = &commands[FAIL],
        .summary = "Fails many jobs. For each job, give the number of its arguments, then the "
                   "arguments as in Q.FAIL.",
        .replies = "A list: for each OK, or an error.",
        EXAMPLES({ "Q.MFAIL app 4 eve worker-1 smtp 'mailbox full' 4 fay worker-1 smtp 'mailbox full'",
"1) OK\n"
"2) OK" }),
    },
    [RETURN] = {
        .name = "Q.RETURN",
        .group = "work",
        .flags = SHRINKS | COMMAND_WORKS | COMMAND_SETTLES,
        TAKES(held_arguments, held_takes),
        .run = run_return,
        .summary = "Gives a job back that its holder has not done; it is first in line, and no "
                   "retry is counted.",
        .details = "For a worker that ends. `Q.RETRY` is for a job that could not be done. "
                   "Repeated with the same TOKEN it is answered as the first time, and changes nothing.",
        .replies = "OK.",
        EXAMPLES({ "Q.RETURN app hal worker-1",
"OK" }),
    },
    [RETRY] = {
        .name = "Q.RETRY",
        .group = "work",
        .flags = SHRINKS | COMMAND_WORKS | COMMAND_SETTLES,
        TAKES(retry_arguments, retry_takes),
        .run = run_retry,
        .summary = "Gives a job back to be tried again; with no retries left it fails.",
        .details = "Repeated with the same TOKEN it is answered as the first time, and changes nothing.",
        .replies = "How many retries remain; below 0 the job has failed.",
        EXAMPLES({ "Q.RETRY app gil worker-1 DELAY 60 GROUP smtp MESSAGE 'try later'",
"(integer) 4" }),
    },
    [MRETRY] = {
        .name = "Q.MRETRY",
        .group = "work",
        .flags = SHRINKS | COMMAND_WORKS,
        .each = &commands[RETRY],
        .summary = "Retries many jobs. For each job, give the number of its arguments, then the "
                   "arguments as in Q.RETRY.",
        .replies = "A list: for each how many retries remain, or an error.",
        EXAMPLES({ "Q.MRETRY app 2 hal worker-1 2 gil worker-1",
"1) (integer) 4\n"
"2) (error) STATE job gil is not running: scheduled" }),
    },
};

const struct command_table api_work = TABLE(commands);
