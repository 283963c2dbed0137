// SPDX-License-Identifier: MIT
// Commands that read, change and remove single jobs, whether or not a worker holds them.
#include "api/job_words.h"
#include "api/request.h"
#include "base/num.h"
#include "engine/explain/explain.h"

struct jid_arguments {
    struct slice jid;
};

struct jids_arguments {
    struct slices jids;
};

static const struct argument jid_takes[] = {
    ARGUMENT(jid_arguments, jid, NAME, "jid", "the job", .about = ABOUT_JOB),
};

static const struct argument jids_takes[] = {
    REST(jids_arguments, jids, NAME, "jid", "the jobs", .about = ABOUT_JOB),
};

// Finds the job of a command; if there is none, the error is that of the engine.
static enum status find_job(const struct call *call, struct slice jid, const struct job **out,
                            struct error *error)
{
    *out = engine_get(call->engine, jid);
    return *out ? STATUS_OK
                : error_set(error, STATUS_NOT_FOUND, "job %.*s does not exist", SLICE_PRINT(jid));
}

// ---------------------------------------------------------------------------------------------
// Reading

static enum status run_get(struct call *call, struct error *error)
{
    (void)error;
    const struct jids_arguments *given = call->arguments;
    reply_list(call->reply, given->jids.count);
    for (size_t i = 0; i < given->jids.count; i++) {
        const struct job *job = engine_get(call->engine, given->jids.items[i]);
        if (job) {
            reply_job(call->reply, call->engine, job);
        } else {
            reply_null(call->reply);
        }
    }
    reply_end(call->reply);
    return STATUS_OK;
}

static void write_entry(struct reply *reply, const struct history_view *view)
{
    reply_map(reply, 8);
    reply_key(reply, "when");
    reply_moment(reply, view->when_us);
    reply_key(reply, "what");
    reply_text(reply, view->what);
    reply_key(reply, "queue");
    reply_text_or_null(reply, view->queue);
    reply_key(reply, "worker");
    reply_text_or_null(reply, view->worker);
    reply_key(reply, "group");
    reply_text_or_null(reply, view->group);
    reply_key(reply, "message");
    reply_text_or_null(reply, view->message);
    reply_key(reply, "data");
    reply_json_or_null(reply, view->data);
    reply_key(reply, "until");
    reply_moment_or_null(reply, view->until_us);
    reply_end(reply);
}

static enum status run_history(struct call *call, struct error *error)
{
    const struct jid_arguments *given = call->arguments;
    const struct job *job;
    enum status status = find_job(call, given->jid, &job, error);
    if (status) {
        return status;
    }
    struct job_view view;
    job_view(call->engine, job, &view);
    reply_list(call->reply, view.history_count);
    struct history_view entry;
    struct slice worker = SLICE_EMPTY; // of the last run
    for (size_t position = 0; job_history_next(call->engine, job, &position, &entry);) {
        if (!entry.noted && slice_equal(entry.what, SLICE("popped"))) {
            worker = entry.worker;
        } else if (!entry.noted && slice_equal(entry.what, SLICE("done"))) {
            entry.worker = worker; // it is not stored: the worker that popped the job completed it
            worker = SLICE_EMPTY;
        }
        write_entry(call->reply, &entry);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

static enum status run_logs(struct call *call, struct error *error)
{
    const struct jid_arguments *given = call->arguments;
    const struct job *job;
    enum status status = find_job(call, given->jid, &job, error);
    if (status) {
        return status;
    }
    struct job_view view;
    job_view(call->engine, job, &view);
    reply_list(call->reply, view.log_count);
    struct log_view line;
    for (size_t position = 0; job_log_next(job, &position, &line);) {
        reply_map(call->reply, 2);
        reply_key(call->reply, "when");
        reply_moment(call->reply, line.when_us);
        reply_key(call->reply, "line");
        reply_text(call->reply, line.line);
        reply_end(call->reply);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

static enum status run_options(struct call *call, struct error *error)
{
    const struct jid_arguments *given = call->arguments;
    const struct job *job;
    enum status status = find_job(call, given->jid, &job, error);
    if (status) {
        return status;
    }
    struct job_options options;
    reply_map(call->reply, 2);
    reply_key(call->reply, "given");
    job_options(call->engine, job, &options);
    reply_job_options(call->reply, &options);
    reply_key(call->reply, "in-effect");
    job_options_in_effect(call->engine, job, &options);
    reply_job_options(call->reply, &options);
    reply_end(call->reply);
    return STATUS_OK;
}

static void write_explanation(struct call *call, const struct explanation *why)
{
    struct reply *reply = call->reply;
    reply_map(reply, 14);
    reply_key(reply, "reason");
    reply_text(reply, slice_from_cstr(explain_reason_name(why->reason)));
    reply_key(reply, "sentence");
    reply_text(reply, slice_from_cstr(why->sentence));
    reply_key(reply, "state");
    reply_text(reply, slice_from_cstr(job_state_name(why->state)));
    reply_key(reply, "earliest");
    if (why->earliest_us == INT64_MAX) {
        reply_null(reply);
    } else {
        reply_moment(reply, why->earliest_us);
    }
    reply_key(reply, "until");
    if (why->until_us == INT64_MAX) {
        reply_null(reply);
    } else {
        reply_moment_or_null(reply, why->until_us);
    }
    reply_key(reply, "behind");
    reply_count(reply, why->behind);
    reply_key(reply, "queue");
    reply_text_or_null(reply, why->queue);
    reply_key(reply, "domain");
    reply_text_or_null(reply, why->domain);
    reply_key(reply, "worker");
    reply_text_or_null(reply, why->worker);
    reply_key(reply, "group");
    reply_text_or_null(reply, why->group);
    reply_key(reply, "attempts");
    reply_count(reply, why->attempts);
    reply_key(reply, "blockers");
    reply_list(reply, why->blocker_count);
    for (size_t i = 0; i < why->blocker_count; i++) {
        struct job_view view;
        job_view(call->engine, why->blockers[i], &view);
        reply_text(reply, view.jid);
    }
    reply_end(reply);
    reply_key(reply, "at_least");
    reply_boolean(reply, why->at_least);
    reply_key(reply, "expires");
    reply_moment_or_null(reply, why->expires_us);
    reply_end(reply);
}

static enum status run_explain(struct call *call, struct error *error)
{
    const struct jid_arguments *given = call->arguments;
    struct explanation why;
    enum status status = engine_explain(call->engine, call->now_us, given->jid, &why, error);
    if (!status) {
        write_explanation(call, &why);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Changing

struct priority_arguments {
    struct slice jid;
    int64_t priority;
};

static const struct argument priority_takes[] = {
    ARGUMENT(priority_arguments, jid, NAME, "jid", "the job", .about = ABOUT_JOB),
    ARGUMENT(priority_arguments, priority, INTEGER, "priority", "lower runs sooner",
             PRIORITY_RANGE),
};

static enum status run_priority(struct call *call, struct error *error)
{
    const struct priority_arguments *given = call->arguments;
    return call_ok(call, engine_priority(call->engine, call->now_us, given->jid,
                                         (int32_t)given->priority, error));
}

struct data_arguments {
    struct slice jid, data;
};

static const struct argument data_takes[] = {
    ARGUMENT(data_arguments, jid, NAME, "jid", "the job", .about = ABOUT_JOB),
    ARGUMENT(data_arguments, data, JSON, "data", "the job's JSON from now on"),
};

static enum status run_data(struct call *call, struct error *error)
{
    const struct data_arguments *given = call->arguments;
    return call_ok(call,
                   engine_update_data(call->engine, call->now_us, given->jid, given->data, error));
}

struct note_arguments {
    struct slice jid, message, data, worker;
    int64_t token;
};

static const struct argument note_takes[] = {
    ARGUMENT(note_arguments, jid, NAME, "jid", "the job", .about = ABOUT_JOB),
    ARGUMENT(note_arguments, message, NAME, "message", "what happened, in a word or a few"),
    OPTION(note_arguments, data, JSON, "DATA", "more about it"),
    OPTION(note_arguments, worker, NAME, "WORKER", "who says so: must hold the job's lease"),
    OPTION(note_arguments, token, INTEGER, "TOKEN",
           "the lease's, from pop: refused when it is not the current one", .min = 1,
           .max = INT64_MAX),
};

static enum status run_note(struct call *call, struct error *error)
{
    const struct note_arguments *given = call->arguments;
    if (given->token && !given->worker.size) {
        return error_set(error, STATUS_INVALID, "%s: TOKEN needs a WORKER", call->command->name);
    }
    const struct log_request request = { .jid = given->jid,
                                         .message = given->message,
                                         .data = given->data,
                                         .worker = given->worker,
                                         .token = (uint64_t)given->token };
    return call_ok(call, engine_log(call->engine, call->now_us, &request, error));
}

static enum status run_kick(struct call *call, struct error *error)
{
    const struct jids_arguments *given = call->arguments;
    size_t kicked = 0;
    enum status status = engine_kick(call->engine, call->now_us, given->jids, &kicked, error);
    if (!status) {
        reply_count(call->reply, kicked);
    }
    return status;
}

static enum status run_timeout(struct call *call, struct error *error)
{
    const struct jids_arguments *given = call->arguments;
    return call_ok(call, engine_timeout(call->engine, call->now_us, given->jids, error));
}

struct depends_arguments {
    struct slice jid;
    struct slices depends;
};

static const struct argument depends_takes[] = {
    ARGUMENT(depends_arguments, jid, NAME, "jid", "the job that waits", .about = ABOUT_JOB),
    REST(depends_arguments, depends, NAME, "dependency", "the jids of jobs that it waits for",
         .about = ABOUT_JOB),
};

static enum status run_depends_on(struct call *call, struct error *error)
{
    const struct depends_arguments *given = call->arguments;
    return call_ok(call, engine_depends_on(call->engine, call->now_us, given->jid, given->depends,
                                           MISSING_REFUSED, error));
}

static enum status run_depends_off(struct call *call, struct error *error)
{
    const struct depends_arguments *given = call->arguments;
    return call_ok(
        call, engine_depends_off(call->engine, call->now_us, given->jid, given->depends, error));
}

static enum status run_depends_clear(struct call *call, struct error *error)
{
    const struct jid_arguments *given = call->arguments;
    return call_ok(call, engine_depends_off_all(call->engine, call->now_us, given->jid, error));
}

// ---------------------------------------------------------------------------------------------
// Removing

struct cancel_arguments {
    struct slices jids;
    struct slice request;
    bool dependents;
};

static const struct argument cancel_takes[] = {
    REST(cancel_arguments, jids, NAME, "jid", "the jobs", .about = ABOUT_JOB),
    OPTION(cancel_arguments, dependents, FLAG, "DEPENDENTS",
           "also cancels the jobs that depend on them, and those that depend on these, and so on",
           .about = ABOUT_DEPENDENTS),
    REQUEST_OPTION(cancel_arguments),
};

static enum status cancel(const struct call *call, size_t *canceled, struct error *error)
{
    const struct cancel_arguments *given = call->arguments;
    return given->dependents
               ? engine_cancel_dependents(call->engine, call->now_us, given->jids, canceled, error)
               : engine_cancel(call->engine, call->now_us, given->jids, canceled, NULL, error);
}

// The answer of a request is the count as text.
static enum status run_cancel(struct call *call, struct error *error)
{
    const struct cancel_arguments *given = call->arguments;
    char text[NUM_TEXT_SIZE_MAX];
    struct slice answer;
    size_t canceled = 0;
    bool known;
    enum status status =
        call_request_begin(call, given->request, sizeof(text), &known, &answer, error);
    if (!status && known) {
        uint64_t count = 0;
        status = num_parse_u64(answer, &count);
        canceled = (size_t)count;
    } else if (!status) {
        status = cancel(call, &canceled, error);
        (void)snprintf(text, sizeof(text), "%zu", canceled);
        request_finish(call, status, slice_from_cstr(text));
    }
    if (!status) {
        reply_count(call->reply, canceled);
    }
    return status;
}

static enum status run_delete(struct call *call, struct error *error)
{
    const struct jid_arguments *given = call->arguments;
    return call_ok(call, engine_delete(call->engine, call->now_us, given->jid, error));
}

// ---------------------------------------------------------------------------------------------

static const struct command commands[] = {
    {
        .name = "Q.GET",
        .group = "jobs",
        .flags = READS,
        TAKES(jids_arguments, jids_takes),
        .run = run_get,
        .summary = "Shows jobs.",
        .details = "A lease is there while the job is running; a failure when it has failed, also "
                   "after it was unfailed. `stage` of a running job is `reserved` until its worker "
                   "says that it has begun (Q.START), then `started`; else null. `moved` is when "
                   "it was last put, popped or completed, `updated` when anything of it last "
                   "changed. `eta` is the time from which it is to run, as its last put or retry "
                   "said; null: at once. `last-run` tells of its last run also after its end, as "
                   "far as the history is kept. `queue` of a finished job is the one that it "
                   "finished in.",
        .replies = "A list: for each jid the job, or null when there is none.",
        EXAMPLES({ "Q.GET app bob nobody",
                   "1)  1# \"jid\" => \"bob\"\n"
                   "    2# \"klass\" => \"Send\"\n"
                   "    3# \"queue\" => \"mail\"\n"
                   "    4# \"state\" => \"complete\"\n"
                   "    5# \"stage\" => (nil)\n"
                   "    6# \"data\" => \"{\\\"to\\\":\\\"bob\\\"}\"\n"
                   "    7# \"priority\" => (integer) 0\n"
                   "    8# \"retries\" => (integer) 5\n"
                   "    9# \"remaining\" => (integer) 5\n"
                   "   10# \"attempts\" => (integer) 1\n"
                   "   11# \"crashes\" => (integer) 0\n"
                   "   12# \"domain\" => (nil)\n"
                   "   13# \"tags\" => (empty array)\n"
                   "   14# \"tracked\" => (false)\n"
                   "   15# \"created\" => (double) 1784000000.5\n"
                   "   16# \"moved\" => (double) 1784000030.5\n"
                   "   17# \"updated\" => (double) 1784000030.5\n"
                   "   18# \"eta\" => (nil)\n"
                   "   19# \"scheduled\" => (nil)\n"
                   "   20# \"deadline\" => (nil)\n"
                   "   21# \"lease\" => (nil)\n"
                   "   22# \"last-run\" => 1# \"worker\" => \"worker-1\"\n"
                   "       2# \"popped\" => (double) 1784000000.5\n"
                   "       3# \"started\" => (double) 1784000000.5\n"
                   "       4# \"pid\" => (integer) 4711\n"
                   "   23# \"failure\" => (nil)\n"
                   "   24# \"result\" => \"{\\\"sent\\\":true}\"\n"
                   "   25# \"result-until\" => (nil)\n"
                   "   26# \"progress\" => 1# \"fraction\" => (double) 0.4\n"
                   "       2# \"message\" => \"page 4 of 10\"\n"
                   "   27# \"checkpoint\" => (nil)\n"
                   "   28# \"depends\" => (empty array)\n"
                   "   29# \"dependents\" => (empty array)\n"
                   "   30# \"members\" => 1# \"done\" => (integer) 0\n"
                   "       2# \"failed\" => (integer) 0\n"
                   "   31# \"unique\" => (nil)\n"
                   "   32# \"spawned-from\" => (nil)\n"
                   "2) (nil)" }),
    },
    {
        .name = "Q.HISTORY",
        .group = "jobs",
        .flags = READS,
        TAKES(jid_arguments, jid_takes),
        .run = run_history,
        .summary = "Shows the history of a job, the oldest entry first.",
        .details = "It has the first entry and the newest ones, at most `max-job-history`.",
        .replies =
            "A list of entries: when and what (put, popped, started, done, failed, "
            "retried, timed-out, or the words of Q.NOTE), and with it the queue, the worker, the "
            "failure's group and message, data, and until: when it was to run, if that "
            "was later (of popped: since when it could run, if nothing else says so). Each "
            "is null when it does not apply.",
        EXAMPLES({ "Q.HISTORY app bob", "1) 1# \"when\" => (double) 1784000000.5\n"
                                        "   2# \"what\" => \"put\"\n"
                                        "   3# \"queue\" => \"mail\"\n"
                                        "   4# \"worker\" => (nil)\n"
                                        "   5# \"group\" => (nil)\n"
                                        "   6# \"message\" => (nil)\n"
                                        "   7# \"data\" => (nil)\n"
                                        "   8# \"until\" => (nil)\n"
                                        "2) 1# \"when\" => (double) 1784000000.5\n"
                                        "   2# \"what\" => \"popped\"\n"
                                        "   3# \"queue\" => (nil)\n"
                                        "   4# \"worker\" => \"worker-1\"\n"
                                        "   5# \"group\" => (nil)\n"
                                        "   6# \"message\" => (nil)\n"
                                        "   7# \"data\" => (nil)\n"
                                        "   8# \"until\" => (nil)\n"
                                        "3) 1# \"when\" => (double) 1784000000.5\n"
                                        "   2# \"what\" => \"started\"\n"
                                        "   3# \"queue\" => (nil)\n"
                                        "   4# \"worker\" => \"worker-1\"\n"
                                        "   5# \"group\" => (nil)\n"
                                        "   6# \"message\" => (nil)\n"
                                        "   7# \"data\" => \"{\\\"pid\\\":4711}\"\n"
                                        "   8# \"until\" => (nil)\n"
                                        "4) 1# \"when\" => (double) 1784000030.5\n"
                                        "   2# \"what\" => \"done\"\n"
                                        "   3# \"queue\" => (nil)\n"
                                        "   4# \"worker\" => \"worker-1\"\n"
                                        "   5# \"group\" => (nil)\n"
                                        "   6# \"message\" => (nil)\n"
                                        "   7# \"data\" => (nil)\n"
                                        "   8# \"until\" => (nil)" }),
    },
    {
        .name = "Q.LOGS",
        .group = "jobs",
        .flags = READS,
        TAKES(jid_arguments, jid_takes),
        .run = run_logs,
        .summary = "Shows the lines that a job's workers have logged, the oldest first.",
        .replies = "A list of lines, each with when it was logged.",
        EXAMPLES({ "Q.LOGS app bob", "1) 1# \"when\" => (double) 1784000030.5\n"
                                     "   2# \"line\" => \"connected to mx1\"" }),
    },
    {
        .name = "Q.EXPLAIN",
        .group = "jobs",
        .flags = READS,
        TAKES(jid_arguments, jid_takes),
        .run = run_explain,
        .summary = "Says why a job is not running, and when it could.",
        .details =
            "Reasons: next, behind, paused, lane-rate, lane-concurrency, "
            "queue-concurrency, scheduled, depends, running, grace, expired, failed, complete.",
        .replies =
            "A reason, a sentence, and what they are made of: `behind` is how many jobs are "
            "handed out before it, if workers ask as soon as a job may run and no lease "
            "ends (`at_least`: or more, in a queue with very many lanes); `earliest` when it "
            "is handed out then, or null when it is not; `blockers` the first jobs that it "
            "depends on; `expires` its deadline, when it fails because it cannot start "
            "before.",
        EXAMPLES({ "Q.EXPLAIN app cat",
                   " 1# \"reason\" => \"scheduled\"\n"
                   " 2# \"sentence\" => \"Job cat is scheduled for 2026-07-14T03:34:20.500Z.\"\n"
                   " 3# \"state\" => \"scheduled\"\n"
                   " 4# \"earliest\" => (double) 1784000060.5\n"
                   " 5# \"until\" => (double) 1784000060.5\n"
                   " 6# \"behind\" => (integer) 0\n"
                   " 7# \"queue\" => \"mail\"\n"
                   " 8# \"domain\" => (nil)\n"
                   " 9# \"worker\" => (nil)\n"
                   "10# \"group\" => (nil)\n"
                   "11# \"attempts\" => (integer) 0\n"
                   "12# \"blockers\" => (empty array)\n"
                   "13# \"at_least\" => (false)\n"
                   "14# \"expires\" => (nil)" }),
    },
    {
        .name = "Q.OPTIONS",
        .group = "jobs",
        .flags = READS,
        TAKES(jid_arguments, jid_takes),
        .run = run_options,
        .summary = "Shows the options of a job: its own, and those that are in effect with the "
                   "policies of its klass and its queue.",
        .replies = "Options as given and as they are in effect; null for what is not said, 0 for "
                   "no such limit.",
        EXAMPLES({ "Q.OPTIONS app hal",
                   "1# \"given\" => 1# \"backoff\" => (nil)\n"
                   "   2# \"timeout\" => (double) 600\n"
                   "   3# \"lease\" => (nil)\n"
                   "   4# \"result-ttl\" => (nil)\n"
                   "   5# \"max-crashes\" => (nil)\n"
                   "   6# \"on-dependency-failure\" => (nil)\n"
                   "2# \"in-effect\" => 1# \"backoff\" => \"exponential:1:300:20\"\n"
                   "   2# \"timeout\" => (double) 600\n"
                   "   3# \"lease\" => (nil)\n"
                   "   4# \"result-ttl\" => (nil)\n"
                   "   5# \"max-crashes\" => (nil)\n"
                   "   6# \"on-dependency-failure\" => (nil)" }),
    },
    {
        .name = "Q.PRIORITY",
        .group = "jobs",
        .flags = SHRINKS | COMMAND_AUDITED | COMMAND_JOB_ACT,
        TAKES(priority_arguments, priority_takes),
        .run = run_priority,
        .summary = "Changes a job's priority.",
        .details = "A job in line goes before all others of its new priority.",
        .replies = "OK.",
        EXAMPLES({ "Q.PRIORITY app hal -10", "OK" }),
    },
    {
        .name = "Q.DATA",
        .group = "jobs",
        .flags = WRITES | COMMAND_AUDITED | COMMAND_JOB_ACT,
        TAKES(data_arguments, data_takes),
        .run = run_data,
        .summary = "Replaces a job's data.",
        .replies = "OK.",
        EXAMPLES({ "Q.DATA app hal '{\"to\":\"hal@example.org\"}'", "OK" }),
    },
    {
        .name = "Q.NOTE",
        .group = "jobs",
        .flags = WRITES,
        TAKES(note_arguments, note_takes),
        .run = run_note,
        .summary = "Appends an entry to a job's history.",
        .replies = "OK.",
        EXAMPLES({ "Q.NOTE app hal approved DATA '{\"by\":\"joe\"}'", "OK" }),
    },
    {
        .name = "Q.KICK",
        .group = "jobs",
        .flags = SHRINKS | COMMAND_AUDITED | COMMAND_JOB_ACT,
        TAKES(jids_arguments, jids_takes),
        .run = run_kick,
        .summary = "Lets jobs run now: a failed job goes back into its queue, a scheduled one is "
                   "due.",
        .details = "All must be failed or scheduled, or none is touched: others are refused with "
                   "STATE. A failed job starts anew, as by Q.UNFAIL; one whose lock (UNIQUE) "
                   "another job holds by now is refused with EXISTS. For all jobs that a filter "
                   "matches there is Q.BULK (retry).",
        .replies = "The number of jobs that were kicked; a job that is named twice counts once.",
        EXAMPLES(
            { "Q.KICK app gil", "(integer) 1" },
            { "Q.KICK app gil", "(error) STATE job gil is neither failed nor scheduled: waiting" }),
    },
    {
        .name = "Q.TIMEOUT",
        .group = "jobs",
        .flags = SHRINKS | COMMAND_AUDITED | COMMAND_JOB_ACT,
        TAKES(jids_arguments, jids_takes),
        .run = run_timeout,
        .summary = "Ends the leases of jobs now; the jobs are first in line.",
        .details = "All jobs must be running; otherwise no lease is ended. No retry is counted.",
        .replies = "OK.",
        EXAMPLES({ "Q.TIMEOUT app hal", "OK" }),
    },
    {
        .name = "Q.DEPENDS.ON",
        .group = "jobs",
        .flags = WRITES | COMMAND_AUDITED | COMMAND_JOB_ACT,
        TAKES(depends_arguments, depends_takes),
        .run = run_depends_on,
        .summary = "Adds dependencies to a job that depends on other jobs.",
        .details = "Jobs that are complete do not count. A job that does not exist, and a "
                   "dependency cycle, are rejected.",
        .replies = "OK.",
        EXAMPLES({ "Q.DEPENDS.ON app report cat hal", "OK" }),
    },
    {
        .name = "Q.DEPENDS.OFF",
        .group = "jobs",
        .flags = SHRINKS | COMMAND_AUDITED | COMMAND_JOB_ACT,
        TAKES(depends_arguments, depends_takes),
        .run = run_depends_off,
        .summary = "Removes dependencies of a job. Without any left, the job is put in line or "
                   "scheduled.",
        .replies = "OK.",
        EXAMPLES({ "Q.DEPENDS.OFF app report cat", "OK" }),
    },
    {
        .name = "Q.DEPENDS.CLEAR",
        .group = "jobs",
        .flags = SHRINKS | COMMAND_AUDITED | COMMAND_JOB_ACT,
        TAKES(jid_arguments, jid_takes),
        .run = run_depends_clear,
        .summary = "Removes all dependencies of a job. The job is put in line or scheduled.",
        .replies = "OK.",
        EXAMPLES({ "Q.DEPENDS.CLEAR app report", "OK" }),
    },
    {
        .name = "Q.CANCEL",
        .group = "jobs",
        .flags = SHRINKS | COMMAND_AUDITED | COMMAND_JOB_ACT,
        TAKES(cancel_arguments, cancel_takes),
        .run = run_cancel,
        .summary = "Removes jobs in any state but complete. A worker that holds one loses its "
                   "lease.",
        .details = "A job that others depend on is refused with STATE, and no job is canceled, "
                   "unless all of those are named too, or DEPENDENTS is given. With DEPENDENTS at "
                   "most max-dependency-search jobs that are not named are canceled; more are "
                   "refused with TOO_LARGE. A jid that does not exist or is complete is ignored. "
                   "Repeated with the same REQUEST it is answered as the first time, and changes "
                   "nothing.",
        .replies = "The number of jobs that were canceled.",
        EXAMPLES({ "Q.CANCEL app report nobody", "(integer) 1" }),
    },
    {
        .name = "Q.DELETE",
        .group = "jobs",
        .flags = SHRINKS | COMMAND_AUDITED | COMMAND_JOB_ACT,
        TAKES(jid_arguments, jid_takes),
        .run = run_delete,
        .summary = "Removes a job that is complete or failed.",
        .replies = "OK.",
        EXAMPLES({ "Q.DELETE app bob", "OK" },
                 { "Q.DELETE app hal",
                   "(error) STATE job hal is stalled; only a finished job can be deleted" }),
    },
};

const struct command_table api_jobs = TABLE(commands);
