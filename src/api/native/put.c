// SPDX-License-Identifier: MIT
// Commands that put jobs.
#include "api/job_words.h"
#include "api/request.h"

#include "base/uuid.h"

static const char *const unique_until_words[] = { "finished", "started", "time", NULL };
static const char *const unique_conflict_words[] = { "existing", "replace", "refuse", "once",
                                                     NULL };

struct put_arguments {
    struct slice queue, klass, data;
    struct slice jid, worker, domain, unique, request;
    struct slices tags, depends;
    struct job_option_words words;
    bool has_priority, has_retries, has_domain, has_delay, has_at, has_deadline;
    bool allow_missing;
    bool unique_contents, has_unique_until, has_unique_for, has_unique_conflict;
    int64_t priority, retries, delay, at, deadline;
    int64_t unique_until, unique_for, unique_conflict;
};

#define PUT_OPTIONS                                                                                \
    OPTION_HAS(put_arguments, priority, has_priority, INTEGER, "PRIORITY",                         \
               "lower runs sooner (0)", PRIORITY_RANGE),                                           \
        OPTION_HAS(put_arguments, delay, has_delay, SECONDS, "DELAY",                              \
                   "not before so long from now", SECONDS_RANGE),                                  \
        OPTION_HAS(put_arguments, at, has_at, MOMENT, "AT", "not before then; instead of DELAY"),  \
        OPTION_HAS(put_arguments, retries, has_retries, INTEGER, "RETRIES",                        \
                   "how often it is tried again (5)", .min = 0, .max = INT32_MAX),                 \
        OPTION_EACH(put_arguments, tags, NAME, "TAG", "a word to find it by"),                     \
        OPTION_EACH(put_arguments, depends, NAME, "DEPENDS",                                       \
                    "the jid of a job that must be complete before this one runs",                 \
                    .about = ABOUT_JOB),                                                           \
        OPTION(put_arguments, allow_missing, FLAG, "ALLOW-MISSING",                                \
               "jobs in DEPENDS that do not exist count as complete; otherwise they are refused "  \
               "with NOT_FOUND"),                                                                  \
        OPTION_HAS(put_arguments, domain, has_domain, TEXT, "DOMAIN",                              \
                   "the lane, for rates, concurrency and fairness; \"\": the queue's default"),    \
        OPTION_HAS(put_arguments, deadline, has_deadline, MOMENT, "DEADLINE",                      \
                   "not started for the first time by then it fails, in the group `expired`; "     \
                   "later runs are not limited; 0: none"),                                         \
        JOB_OPTIONS(put_arguments),                                                                \
        OPTION(put_arguments, unique, NAME, "UNIQUE", "a key that no other job may hold"),         \
        OPTION(put_arguments, unique_contents, FLAG, "UNIQUE-CONTENTS",                            \
               "no other job may have the same klass and data"),                                   \
        OPTION_HAS(put_arguments, unique_until, has_unique_until, WORD, "UNIQUE-UNTIL",            \
                   "for how long (finished)", .words = unique_until_words),                        \
        OPTION_HAS(put_arguments, unique_for, has_unique_for, SECONDS, "UNIQUE-FOR",               \
                   "how long, with UNIQUE-UNTIL time: also when the job is gone", SECONDS_RANGE),  \
        OPTION_HAS(                                                                                \
            put_arguments, unique_conflict, has_unique_conflict, WORD, "ON-CONFLICT",              \
            "when another job holds it: answer with that one's jid, put this in its place, or "    \
            "refuse; once: answer also when the job itself holds it, and put nothing (existing)",  \
            .words = unique_conflict_words, .about = ABOUT_CONFLICT),                              \
        OPTION(                                                                                    \
            put_arguments, worker, NAME, "WORKER",                                                 \
            "who puts it; the holder of a lease that moves its own job is not told of the loss"),  \
        REQUEST_OPTION(put_arguments)

static const struct argument put_takes[] = {
    ARGUMENT(put_arguments, queue, NAME, "queue", "the queue it goes to", .about = ABOUT_QUEUE),
    ARGUMENT(put_arguments, klass, NAME, "klass", "what kind of work it is"),
    ARGUMENT(put_arguments, data, JSON, "data", "the job's JSON"),
    OPTION(put_arguments, jid, NAME, "JID", "its id; made when not given (a UUID, version 7)"),
    PUT_OPTIONS,
};

static const struct argument requeue_takes[] = {
    ARGUMENT(put_arguments, jid, NAME, "jid", "the job", .about = ABOUT_JOB),
    ARGUMENT(put_arguments, queue, NAME, "queue", "the queue it goes to", .about = ABOUT_TARGET),
    ARGUMENT(put_arguments, klass, NAME, "klass", "what kind of work it is"),
    ARGUMENT(put_arguments, data, JSON, "data", "the job's JSON"),
    PUT_OPTIONS,
};

static int64_t put_delay(const struct put_arguments *given, int64_t now_us)
{
    if (!given->has_at) {
        return given->delay;
    }
    return given->at > now_us ? given->at - now_us : 0;
}

static struct unique_request put_unique(const struct put_arguments *given)
{
    return (struct unique_request){
        .by = given->unique_contents ? UNIQUE_BY_CONTENTS
              : given->unique.size   ? UNIQUE_BY_KEY
                                     : UNIQUE_NONE,
        .key = given->unique_contents ? SLICE_EMPTY : given->unique,
        .until = (enum unique_until)given->unique_until,
        .for_us = given->unique_for,
        .conflict = (enum unique_conflict)given->unique_conflict,
    };
}

static struct slice make_jid(const struct call *call, char text[UUID_TEXT_SIZE])
{
    uint64_t random[2] = { call->host->random(call->host->context),
                           call->host->random(call->host->context) };
    uint8_t entropy[UUID_ENTROPY_SIZE];
    memcpy(entropy, random, sizeof(entropy));
    struct uuid uuid;
    uuid_v7(call->now_us, entropy, &uuid);
    uuid_format(&uuid, text);
    return slice_make(text, UUID_TEXT_SIZE);
}

// Arguments that would be ignored, or contradict each other, are more likely a mistake, so they are
// refused.
static enum status check_put(const struct call *call, const struct put_arguments *given,
                             struct error *error)
{
    bool unique = given->unique.size || given->unique_contents;
    bool for_time = given->has_unique_until && given->unique_until == UNIQUE_FOR_TIME;
    const char *what = NULL;
    if (given->has_at && given->has_delay) {
        what = "either DELAY or AT, not both";
    } else if (given->unique.size && given->unique_contents) {
        what = "either UNIQUE or UNIQUE-CONTENTS, not both";
    } else if (!unique &&
               (given->has_unique_until || given->has_unique_for || given->has_unique_conflict)) {
        what = "UNIQUE-UNTIL, UNIQUE-FOR and ON-CONFLICT need UNIQUE or UNIQUE-CONTENTS";
    } else if (given->has_unique_for != for_time) {
        what = "UNIQUE-FOR and UNIQUE-UNTIL time need each other";
    }
    return what ? error_set(error, STATUS_INVALID, "%s: %s", call->command->name, what) : STATUS_OK;
}

static enum status put(struct call *call, bool must_exist, struct error *error)
{
    const struct put_arguments *given = call->arguments;
    struct job_options options;
    enum status status = check_put(call, given, error);
    if (!status) {
        status = job_option_words_read(&given->words, &options, error);
    }
    if (status) {
        return status;
    }
    char made[UUID_TEXT_SIZE];
    struct slice gone = SLICE_EMPTY;
    const struct put_request request = {
        .queue = given->queue,
        .jid = given->jid.size ? given->jid : make_jid(call, made),
        .klass = given->klass,
        .data = given->data,
        .worker = given->worker,
        .delay_us = put_delay(given, call->now_us),
        .keeps_time = !given->has_delay && !given->has_at,
        .has_priority = given->has_priority,
        .priority = (int32_t)given->priority,
        .has_retries = given->has_retries,
        .retries = (int32_t)given->retries,
        .has_tags = given->tags.count > 0,
        .tags = given->tags,
        .has_domain = given->has_domain,
        .domain = given->domain,
        .has_deadline = given->has_deadline,
        .deadline_us = given->deadline,
        .options = job_option_words_given(&given->words) ? &options : NULL,
        .unique = put_unique(given),
        .depends = given->depends,
        .missing = given->allow_missing ? MISSING_COMPLETE : MISSING_REFUSED,
        .must_exist = must_exist,
        .gone = &gone,
    };
    // The reply is about another job if that one holds the lock.
    bool unique = request.unique.by != UNIQUE_NONE;
    size_t answer_max = unique ? ENGINE_NAME_SIZE_MAX : request.jid.size;
    struct slice answer;
    bool known;
    status = call_request_begin(call, given->request, answer_max, &known, &answer, error);
    if (!status && !known) {
        const struct job *job;
        status = engine_put(call->engine, call->now_us, &request, &job, error);
        answer = status ? SLICE_EMPTY : job ? job_jid(job) : gone;
        request_finish(call, status, answer);
    }
    if (!status) {
        reply_text(call->reply, answer);
    }
    return status;
}

static enum status run_put(struct call *call, struct error *error)
{
    return put(call, false, error);
}

static enum status run_requeue(struct call *call, struct error *error)
{
    return put(call, true, error);
}

// ---------------------------------------------------------------------------------------------

// In the order of the reference.
enum {
    PUT,
    MPUT,
    REQUEUE,
};

static const struct command commands[] = {
    [PUT] = {
        .name = "Q.PUT",
        .group = "work",
        .flags = WRITES | COMMAND_PUTS,
        TAKES(put_arguments, put_takes),
        .run = run_put,
        .summary = "Puts a job into a queue, or moves the job with that jid there.",
        .details = "Of a job that exists already, what is not given stays as it was, but for klass "
                   "and data; a worker that holds its lease loses it. A scheduled job keeps its time "
                   "unless DELAY or AT is given; DELAY 0 runs it now. A client that did not get "
                   "the answer repeats the put with the same REQUEST: it is answered as the first "
                   "time, whatever became of the job meanwhile. With the same REQUEST and other "
                   "words it is refused.",
        .replies = "The jid: of another job when that one holds the lock asked for by UNIQUE.",
        EXAMPLES({ "Q.PUT app mail Send '{\"to\":\"ann\"}' JID ann PRIORITY 5 TAG urgent TAG paid",
"\"ann\"" },
{ "Q.PUT app reports Daily '{}' DELAY 3600",
"\"019f5eaf-b1f4-7000-8000-000000000200\"" }),
    },
    [MPUT] = {
        .name = "Q.MPUT",
        .group = "work",
        .flags = WRITES | COMMAND_PUTS,
        .each = &commands[PUT],
        .summary = "Puts many jobs. For each job, give the number of its arguments, then the "
                   "arguments as in Q.PUT.",
        .replies = "A list: for each the jid, or an error.",
        EXAMPLES({ "Q.MPUT app 5 mail Send '{\"to\":\"bob\"}' JID bob 5 mail Send '{\"to\":\"cat\"}' JID cat 3 mail Send oops",
"1) \"bob\"\n"
"2) \"cat\"\n"
"3) (error) INVALID Q.PUT: data is not JSON: invalid JSON at byte 0: expected a value" }),
    },
    [REQUEUE] = {
        .name = "Q.REQUEUE",
        .group = "work",
        .flags = WRITES | COMMAND_AUDITED | COMMAND_JOB_ACT,
        TAKES(put_arguments, requeue_takes),
        .run = run_requeue,
        .summary = "Like Q.PUT, for a job that must exist.",
        .replies = "The jid.",
        EXAMPLES({ "Q.REQUEUE app cat mail Send '{\"to\":\"cat\"}' DELAY 60",
"\"cat\"" }),
    },
};

const struct command_table api_put = TABLE(commands);
