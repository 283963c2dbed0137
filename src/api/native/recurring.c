// SPDX-License-Identifier: MIT
// Commands about recurring jobs.
#include "api/job_words.h"
#include "api/page.h"
#include "api/request.h"
#include "engine/recurring/cron.h"

static const char *const missed_words[] = { "all", "one", "skip", NULL };
static const char *const overlap_words[] = { "allow", "skip", NULL };

enum {
    RETRIES = 5, // the default
};

// ---------------------------------------------------------------------------------------------
// Creating and changing

struct recur_arguments {
    struct slice jid, queue, klass, data;
    struct slice cron, zone, domain, request;
    struct slices tags;
    struct job_option_words words;
    int64_t interval, delay, missed, overlap, priority, retries, backlog;
    bool has_retries, has_missed, has_backlog, restart;
};

static const struct argument recur_takes[] = {
    ARGUMENT(recur_arguments, jid, NAME, "jid", "its id; the jobs it makes are jid-1, jid-2, ...",
             .about = ABOUT_RECURRING_NEW),
    ARGUMENT(recur_arguments, queue, NAME, "queue", "the queue that they go to",
             .about = ABOUT_QUEUE),
    ARGUMENT(recur_arguments, klass, NAME, "klass", "what kind of work they are"),
    ARGUMENT(recur_arguments, data, JSON, "data", "their JSON"),
    OPTION(recur_arguments, interval, SECONDS, "INTERVAL", "from one to the next", SECONDS_RANGE),
    OPTION(recur_arguments, cron, NAME, "CRON",
           "when, instead of INTERVAL: [second] minute hour day month weekday, or @daily and such"),
    OPTION(recur_arguments, zone, NAME, "ZONE", "the time zone of the cron expression (UTC)"),
    OPTION(recur_arguments, delay, SECONDS, "DELAY", "the first not before so long from now",
           SECONDS_RANGE),
    OPTION_HAS(recur_arguments, missed, has_missed, WORD, "MISSED",
               "which of the runs that are `missed-after` late are made: all, only the last one, "
               "or none (one; all when BACKLOG is given)",
               .words = missed_words),
    OPTION_HAS(recur_arguments, backlog, has_backlog, INTEGER, "BACKLOG",
               "with MISSED all: of the runs that are due at a time only so many are made, the "
               "last ones; 0: all of them (0)",
               .min = 0, .max = INT64_MAX),
    OPTION(recur_arguments, overlap, WORD, "OVERLAP",
           "whether one is made while the one before has not finished (allow)",
           .words = overlap_words),
    OPTION(recur_arguments, priority, INTEGER, "PRIORITY", "lower runs sooner (0)", PRIORITY_RANGE),
    OPTION_HAS(recur_arguments, retries, has_retries, INTEGER, "RETRIES",
               "how often each is tried again (5)", .min = 0, .max = INT32_MAX),
    OPTION_EACH(recur_arguments, tags, NAME, "TAG", "a word to find them by"),
    OPTION(recur_arguments, domain, NAME, "DOMAIN", "their lane"),
    JOB_OPTIONS(recur_arguments),
    OPTION(recur_arguments, restart, FLAG, "RESTART",
           "start anew, after DELAY, also when the recurring job exists"),
    REQUEST_OPTION(recur_arguments),
};

// With this default, a wrong clock or a long downtime does not cause a flood of jobs.
static enum recur_missed missed_of(const struct recur_arguments *given)
{
    return given->has_missed    ? (enum recur_missed)given->missed
           : given->has_backlog ? RECUR_MISSED_ALL
                                : RECUR_MISSED_ONE;
}

// If the engine does not know a zone, the host is asked for it. The zone remains known even if the
// recurring job is then refused; the host would return the same rules again.
static enum status recur_in_zone(struct call *call, const struct recur_request *request,
                                 struct error *error)
{
    enum status status = engine_recur(call->engine, call->now_us, request, error);
    if (status != STATUS_NOT_FOUND || !request->zone.size) {
        return status;
    }
    struct zone_rules rules;
    status = call_ask_zone(call, request->zone, &rules, error);
    if (!status) {
        status = engine_zone_set(call->engine, call->now_us, request->zone, &rules, error);
    }
    return status ? status : engine_recur(call->engine, call->now_us, request, error);
}

static enum status run_recur(struct call *call, struct error *error)
{
    const struct recur_arguments *given = call->arguments;
    if (!given->interval == !given->cron.size) {
        return error_set(error, STATUS_INVALID, "%s: needs an INTERVAL above 0, or CRON",
                         call->command->name);
    }
    struct job_options options;
    enum status status = job_option_words_read(&given->words, &options, error);
    if (status) {
        return status;
    }
    const struct recur_request request = {
        .queue = given->queue,
        .jid = given->jid,
        .klass = given->klass,
        .data = given->data,
        .interval_us = given->interval,
        .offset_us = given->delay,
        .cron = given->cron,
        .zone = given->zone,
        .missed = missed_of(given),
        .overlap = (enum recur_overlap)given->overlap,
        .priority = (int32_t)given->priority,
        .retries = given->has_retries ? (int32_t)given->retries : RETRIES,
        .backlog = given->backlog,
        .tags = given->tags,
        .domain = given->domain,
        .options = job_option_words_given(&given->words) ? &options : NULL,
        .restart = given->restart,
    };
    struct slice answer;
    bool known;
    status = call_request_begin(call, given->request, 0, &known, &answer, error);
    if (!status && !known) {
        status = recur_in_zone(call, &request, error);
        request_finish(call, status, SLICE_EMPTY);
    }
    return call_ok(call, status);
}

struct jid_arguments {
    struct slice jid;
};

static const struct argument jid_takes[] = {
    ARGUMENT(jid_arguments, jid, NAME, "jid", "the recurring job", .about = ABOUT_RECURRING),
};

static enum status run_unrecur(struct call *call, struct error *error)
{
    const struct jid_arguments *given = call->arguments;
    if (!engine_recurring_get(call->engine, given->jid)) {
        return error_set(error, STATUS_NOT_FOUND, "recurring job %.*s does not exist",
                         SLICE_PRINT(given->jid));
    }
    return call_ok(call, engine_unrecur(call->engine, call->now_us, given->jid, error));
}

struct update_arguments {
    struct slice jid, data, klass, queue, cron, zone, domain;
    int64_t priority, interval, retries, backlog, missed, overlap;
    bool has_priority, has_interval, has_retries, has_backlog, has_missed, has_overlap;
    bool has_zone, has_domain;
    struct job_option_words words;
};

static const struct argument update_takes[] = {
    ARGUMENT(update_arguments, jid, NAME, "jid", "the recurring job", .about = ABOUT_RECURRING),
    OPTION(update_arguments, queue, NAME, "QUEUE", "the queue that the jobs go to",
           .about = ABOUT_TARGET),
    OPTION(update_arguments, klass, NAME, "KLASS", "what kind of work they are"),
    OPTION(update_arguments, data, JSON, "DATA", "their JSON"),
    OPTION_HAS(update_arguments, interval, has_interval, SECONDS, "INTERVAL",
               "from one to the next; moves the next one by the difference", SECONDS_RANGE),
    OPTION_HAS(update_arguments, backlog, has_backlog, INTEGER, "BACKLOG",
               "of those that are due at a time only so many are made, the last; 0: all", .min = 0,
               .max = INT64_MAX),
    OPTION_HAS(update_arguments, priority, has_priority, INTEGER, "PRIORITY", "lower runs sooner",
               PRIORITY_RANGE),
    OPTION_HAS(update_arguments, retries, has_retries, INTEGER, "RETRIES",
               "how often each is tried again", .min = 0, .max = INT32_MAX),
    OPTION(update_arguments, cron, TEXT, "CRON", "when they run, in place of the interval or cron"),
    OPTION_HAS(update_arguments, zone, has_zone, TEXT, "ZONE",
               "the time zone of the cron expression; empty: UTC"),
    OPTION_HAS(update_arguments, missed, has_missed, WORD, "MISSED",
               "what becomes of runs that were missed", .words = missed_words),
    OPTION_HAS(update_arguments, overlap, has_overlap, WORD, "OVERLAP",
               "what becomes of a run while the last job has not finished", .words = overlap_words),
    OPTION_HAS(update_arguments, domain, has_domain, TEXT, "DOMAIN",
               "the lane that the jobs come into; empty: none"),
    JOB_OPTIONS(update_arguments),
};

// The given options replace those of the recurring job.
static void merge_options(const struct call *call, const struct recurring *recurring,
                          const struct job_option_words *words, struct job_options *out)
{
    struct job_options had = { 0 };
    if (recurring) {
        recurring_options(call->engine, recurring, &had);
    }
    out->backoff = words->backoff.size ? out->backoff : had.backoff;
    out->timeout_us = words->has_timeout_us ? out->timeout_us : had.timeout_us;
    out->result_ttl_us = words->has_result_ttl_us ? out->result_ttl_us : had.result_ttl_us;
    out->lease_us = words->has_lease_us ? out->lease_us : had.lease_us;
    out->crashes_max = words->has_crashes_max ? out->crashes_max : had.crashes_max;
    out->dependency_policy =
        words->has_dependency_policy ? out->dependency_policy : had.dependency_policy;
}

// As recur_in_zone.
static enum status update_in_zone(struct call *call, const struct recur_update *request,
                                  struct error *error)
{
    enum status status = engine_recur_update(call->engine, call->now_us, request, error);
    if (status != STATUS_NOT_FOUND || !request->zone.size ||
        !engine_recurring_get(call->engine, request->jid)) {
        return status;
    }
    struct zone_rules rules;
    status = call_ask_zone(call, request->zone, &rules, error);
    if (!status) {
        status = engine_zone_set(call->engine, call->now_us, request->zone, &rules, error);
    }
    return status ? status : engine_recur_update(call->engine, call->now_us, request, error);
}

static enum status run_update(struct call *call, struct error *error)
{
    const struct update_arguments *given = call->arguments;
    struct job_options options;
    enum status status = job_option_words_read(&given->words, &options, error);
    if (status) {
        return status;
    }
    merge_options(call, engine_recurring_get(call->engine, given->jid), &given->words, &options);
    const struct recur_update request = {
        .jid = given->jid,
        .has_priority = given->has_priority,
        .has_interval = given->has_interval,
        .has_retries = given->has_retries,
        .has_backlog = given->has_backlog,
        .has_data = given->data.size > 0,
        .has_klass = given->klass.size > 0,
        .has_queue = given->queue.size > 0,
        .priority = (int32_t)given->priority,
        .interval_us = given->interval,
        .retries = (int32_t)given->retries,
        .backlog = given->backlog,
        .data = given->data,
        .klass = given->klass,
        .queue = given->queue,
        .has_cron = given->cron.size > 0,
        .cron = given->cron,
        .has_zone = given->has_zone,
        .zone = given->zone,
        .has_missed = given->has_missed,
        .missed = (enum recur_missed)given->missed,
        .has_overlap = given->has_overlap,
        .overlap = (enum recur_overlap)given->overlap,
        .has_domain = given->has_domain,
        .domain = given->domain,
        .has_options = job_option_words_given(&given->words),
        .options = &options,
    };
    return call_ok(call, update_in_zone(call, &request, error));
}

static enum status run_pause(struct call *call, struct error *error)
{
    const struct jid_arguments *given = call->arguments;
    return call_ok(call, engine_recur_pause(call->engine, call->now_us, given->jid, true, error));
}

static enum status run_resume(struct call *call, struct error *error)
{
    const struct jid_arguments *given = call->arguments;
    return call_ok(call, engine_recur_pause(call->engine, call->now_us, given->jid, false, error));
}

struct run_arguments {
    struct slice jid;
    struct slice request;
};

static const struct argument run_takes[] = {
    ARGUMENT(run_arguments, jid, NAME, "jid", "the recurring job", .about = ABOUT_RECURRING),
    REQUEST_OPTION(run_arguments),
};

static enum status run_now(struct call *call, struct error *error)
{
    const struct run_arguments *given = call->arguments;
    struct slice answer;
    bool known;
    enum status status =
        call_request_begin(call, given->request, ENGINE_NAME_SIZE_MAX, &known, &answer, error);
    if (!status && !known) {
        const struct job *job;
        status = engine_recur_run(call->engine, call->now_us, given->jid, &job, error);
        answer = status ? SLICE_EMPTY : job_jid(job);
        request_finish(call, status, answer);
    }
    if (!status) {
        reply_text(call->reply, answer);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Reading

static void write_tags(struct call *call, const struct recurring *recurring)
{
    struct recurring_view view;
    recurring_view(call->engine, recurring, &view);
    reply_list(call->reply, view.tag_count);
    for (size_t i = 0; i < view.tag_count; i++) {
        reply_text(call->reply, recurring_tag(call->engine, recurring, i));
    }
    reply_end(call->reply);
}

enum {
    RUNS_SHOWN_MAX = 10, // of each recurring job in a list
};

static void write_next_runs(struct call *call, struct slice jid, size_t count)
{
    int64_t runs[RUNS_SHOWN_MAX];
    size_t found = 0;
    if (engine_recurring_runs(call->engine, jid, count, runs, &found, NULL)) {
        found = 0;
    }
    reply_key(call->reply, "runs");
    reply_list(call->reply, found);
    for (size_t i = 0; i < found; i++) {
        reply_moment(call->reply, runs[i]);
    }
    reply_end(call->reply);
}

// Writes it with its next runs, if any are requested.
static void write_recurring(struct call *call, const struct recurring *recurring, size_t runs)
{
    struct reply *reply = call->reply;
    struct recurring_view view;
    recurring_view(call->engine, recurring, &view);
    struct job_options options;
    recurring_options(call->engine, recurring, &options);
    reply_map(reply, runs ? 20 : 19);
    reply_key(reply, "jid");
    reply_text(reply, view.jid);
    reply_key(reply, "klass");
    reply_text(reply, view.klass);
    reply_key(reply, "queue");
    reply_text(reply, view.queue);
    reply_key(reply, "data");
    reply_json(reply, view.data);
    reply_key(reply, "interval");
    if (view.interval_us) {
        reply_seconds(reply, view.interval_us);
    } else {
        reply_null(reply);
    }
    reply_key(reply, "cron");
    reply_text_or_null(reply, view.cron);
    reply_key(reply, "zone");
    reply_text_or_null(reply, view.zone);
    reply_key(reply, "next");
    if (view.next_us > ENGINE_TIME_MAX) {
        reply_null(reply);
    } else {
        reply_moment(reply, view.next_us);
    }
    reply_key(reply, "count");
    reply_count(reply, view.count);
    reply_key(reply, "missed");
    reply_text(reply, slice_from_cstr(missed_words[view.missed]));
    reply_key(reply, "overlap");
    reply_text(reply, slice_from_cstr(overlap_words[view.overlap]));
    reply_key(reply, "backlog");
    reply_integer(reply, view.backlog);
    reply_key(reply, "priority");
    reply_integer(reply, view.priority);
    reply_key(reply, "retries");
    reply_integer(reply, view.retries);
    reply_key(reply, "domain");
    reply_text_or_null(reply, view.domain);
    reply_key(reply, "tags");
    write_tags(call, recurring);
    reply_key(reply, "options");
    reply_job_options(reply, &options);
    reply_key(reply, "paused");
    reply_boolean(reply, view.paused);
    reply_key(reply, "last");
    reply_moment_or_null(reply, view.last_us);
    if (runs) {
        write_next_runs(call, view.jid, runs);
    }
    reply_end(reply);
}

static enum status run_get(struct call *call, struct error *error)
{
    const struct jid_arguments *given = call->arguments;
    const struct recurring *recurring = engine_recurring_get(call->engine, given->jid);
    if (!recurring) {
        return error_set(error, STATUS_NOT_FOUND, "recurring job %.*s does not exist",
                         SLICE_PRINT(given->jid));
    }
    write_recurring(call, recurring, 0);
    return STATUS_OK;
}

struct list_arguments {
    struct slice queue;
    struct page_words page;
    int64_t runs;
};

static const struct argument list_takes[] = {
    OPTIONAL(list_arguments, queue, NAME, "queue",
             "the queue that the jobs go to; all of them when it is not given",
             .about = ABOUT_QUEUE),
    PAGE_OPTIONS(list_arguments),
    OPTION(list_arguments, page.cursor, TEXT, "CURSOR",
           "where to go on, without a queue: what the page before gave as `next`"),
    OPTION(list_arguments, runs, INTEGER, "RUNS", "also show so many of the next runs of each (0)",
           .min = 0, .max = RUNS_SHOWN_MAX),
};

static enum status run_list(struct call *call, struct error *error)
{
    const struct list_arguments *given = call->arguments;
    const struct recurring *found[PAGE_COUNT_MAX];
    struct index_key after = { 0 };
    size_t count = 0, total;
    bool more;
    if (given->page.cursor.size) {
        enum status status = given->queue.size
                                 ? page_refuse_cursor(call, error)
                                 : page_read_cursor(call, given->page.cursor, &after, error);
        if (status) {
            return status;
        }
    }
    if (given->queue.size) {
        total = engine_recurring(call->engine, given->queue, (size_t)given->page.offset,
                                 page_count(&given->page), found, &count);
        more = false;
    } else {
        total = engine_recurring_all(call->engine, after.low, (size_t)given->page.offset,
                                     page_count(&given->page), found, &count, &more);
    }
    reply_map(call->reply, given->queue.size ? 2 : 3);
    reply_key(call->reply, "total");
    reply_count(call->reply, total);
    reply_key(call->reply, "jobs");
    reply_list(call->reply, count);
    for (size_t i = 0; i < count; i++) {
        write_recurring(call, found[i], (size_t)given->runs);
    }
    reply_end(call->reply);
    if (!given->queue.size) {
        const struct index_key last = { 0, more ? recurring_number(found[count - 1]) : 0 };
        reply_key(call->reply, "next");
        reply_page_next(call->reply, more ? &last : NULL);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

struct tags_arguments {
    struct slice jid;
    struct slices tags;
};

static const struct argument tags_takes[] = {
    ARGUMENT(tags_arguments, jid, NAME, "jid", "the recurring job", .about = ABOUT_RECURRING),
    REST(tags_arguments, tags, NAME, "tag", "the tags"),
};

// Whether the reply has room for the existing tags and the given ones.
static enum status check_room(const struct call *call, struct error *error)
{
    const struct tags_arguments *given = call->arguments;
    const struct recurring *recurring = engine_recurring_get(call->engine, given->jid);
    struct recurring_view view = { 0 };
    size_t count = given->tags.count, bytes = 0;
    for (size_t i = 0; i < given->tags.count; i++) {
        bytes += given->tags.items[i].size;
    }
    if (recurring) {
        recurring_view(call->engine, recurring, &view);
        count += view.tag_count;
    }
    for (size_t i = 0; i < view.tag_count; i++) {
        bytes += recurring_tag(call->engine, recurring, i).size;
    }
    return call_check_room(call, REPLY_SIZE_LEAST + reply_texts_max(call->reply, count, bytes),
                           error);
}

typedef enum status tag_function(struct engine *engine, int64_t now_us, struct slice jid,
                                 struct slices tags, struct error *error);

static enum status change_tags(struct call *call, tag_function *function, struct error *error)
{
    const struct tags_arguments *given = call->arguments;
    enum status status = check_room(call, error);
    if (!status) {
        status = function(call->engine, call->now_us, given->jid, given->tags, error);
    }
    if (!status) {
        write_tags(call, engine_recurring_get(call->engine, given->jid));
    }
    return status;
}

static enum status run_tag(struct call *call, struct error *error)
{
    return change_tags(call, engine_recur_tag, error);
}

static enum status run_untag(struct call *call, struct error *error)
{
    return change_tags(call, engine_recur_untag, error);
}

// ---------------------------------------------------------------------------------------------
// Future runs

static void write_runs(struct reply *reply, const int64_t *runs, size_t count)
{
    reply_list(reply, count);
    for (size_t i = 0; i < count; i++) {
        reply_moment(reply, runs[i]);
    }
    reply_end(reply);
}

struct runs_arguments {
    struct slice jid;
    struct page_words page;
};

static const struct argument runs_takes[] = {
    ARGUMENT(runs_arguments, jid, NAME, "jid", "the recurring job", .about = ABOUT_RECURRING),
    OPTION_HAS(runs_arguments, page.count, page.has_count, INTEGER, "COUNT",
               "how many at most (25)", .min = 0, .max = PAGE_COUNT_MAX),
};

static enum status run_runs(struct call *call, struct error *error)
{
    const struct runs_arguments *given = call->arguments;
    int64_t runs[PAGE_COUNT_MAX];
    size_t found;
    enum status status = engine_recurring_runs(call->engine, given->jid, page_count(&given->page),
                                               runs, &found, error);
    if (!status) {
        write_runs(call->reply, runs, found);
    }
    return status;
}

struct cron_arguments {
    struct slice cron, zone;
    int64_t after;
    bool has_after;
    struct page_words page;
};

static const struct argument cron_takes[] = {
    ARGUMENT(cron_arguments, cron, NAME, "expression",
             "[second] minute hour day month weekday, or @daily and such"),
    OPTION(cron_arguments, zone, NAME, "ZONE", "its time zone (UTC)"),
    OPTION_HAS(cron_arguments, after, has_after, MOMENT, "AFTER", "from when on (now)"),
    OPTION_HAS(cron_arguments, page.count, page.has_count, INTEGER, "COUNT",
               "how many at most (25)", .min = 0, .max = PAGE_COUNT_MAX),
};

// Uses the host's rules for a zone that the engine does not know, without passing them to the
// engine.
static enum status runs_in_zone(const struct call *call, const struct cron_arguments *given,
                                int64_t after_us, int64_t *runs, size_t *found, struct error *error)
{
    struct zone_rules rules;
    struct cron cron;
    enum status status = call_ask_zone(call, given->zone, &rules, error);
    if (!status) {
        status = cron_parse(given->cron, &cron, error);
    }
    for (*found = 0; !status && *found < page_count(&given->page); ++*found) {
        after_us = cron_next(&cron, &rules, after_us);
        if (after_us == INT64_MAX) {
            break;
        }
        runs[*found] = after_us;
    }
    return status;
}

static enum status run_cron(struct call *call, struct error *error)
{
    const struct cron_arguments *given = call->arguments;
    int64_t after_us = given->has_after ? given->after : call->now_us;
    int64_t runs[PAGE_COUNT_MAX];
    size_t found;
    enum status status = engine_cron_runs(call->engine, given->cron, given->zone, after_us,
                                          page_count(&given->page), runs, &found, error);
    if (status == STATUS_NOT_FOUND) {
        status = runs_in_zone(call, given, after_us, runs, &found, error);
    }
    if (!status) {
        write_runs(call->reply, runs, found);
    }
    return status;
}

static enum status run_zones(struct call *call, struct error *error)
{
    (void)error;
    struct slice name;
    struct zone_rules rules;
    size_t count = 0;
    while (engine_zone_at(call->engine, count, &name, &rules)) {
        count++;
    }
    reply_list(call->reply, count);
    for (size_t i = 0; i < count && engine_zone_at(call->engine, i, &name, &rules); i++) {
        reply_text(call->reply, name);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------

static const struct command commands[] = {
    {
        .name = "Q.RECUR",
        .group = "recurring",
        .flags = WRITES | COMMAND_AUDITED,
        TAKES(recur_arguments, recur_takes),
        .run = run_recur,
        .summary = "Makes a recurring job, or changes the one with that jid: it puts a job every "
                   "interval, or as a cron expression says.",
        .details = "With INTERVAL the first is due after DELAY (0), so that without it one is made "
                   "at once. Clocks that are put forward or back neither double nor drop a run. "
                   "Repeating the command, as each deployment may, changes nothing. A changed "
                   "definition keeps its phase: DELAY does not count again, and another INTERVAL "
                   "counts from the last run. Another cron expression or time zone, or a change "
                   "from INTERVAL to CRON or back, starts anew. A number whose jid is taken is "
                   "passed over, so no run is lost to a job of that name.",
        .replies = "OK.",
        EXAMPLES({ "Q.RECUR app nightly reports Nightly '{}' CRON '0 3 * * *' ZONE Europe/Berlin "
                   "OVERLAP skip TAG report",
                   "OK" },
                 { "Q.RECUR app poll mail Poll '{}' INTERVAL 300 DELAY 60", "OK" }),
    },
    {
        .name = "Q.RECUR.GET",
        .group = "recurring",
        .flags = READS,
        TAKES(jid_arguments, jid_takes),
        .run = run_get,
        .summary = "Shows a recurring job.",
        .replies = "The recurring job: when the next job is due, how many it has made, and what "
                   "was said in Q.RECUR.",
        EXAMPLES({ "Q.RECUR.GET app nightly", " 1# \"jid\" => \"nightly\"\n"
                                              " 2# \"klass\" => \"Nightly\"\n"
                                              " 3# \"queue\" => \"reports\"\n"
                                              " 4# \"data\" => \"{}\"\n"
                                              " 5# \"interval\" => (nil)\n"
                                              " 6# \"cron\" => \"0 3 * * *\"\n"
                                              " 7# \"zone\" => \"Europe/Berlin\"\n"
                                              " 8# \"next\" => (double) 1784077200\n"
                                              " 9# \"count\" => (integer) 0\n"
                                              "10# \"missed\" => \"one\"\n"
                                              "11# \"overlap\" => \"skip\"\n"
                                              "12# \"backlog\" => (integer) 0\n"
                                              "13# \"priority\" => (integer) 0\n"
                                              "14# \"retries\" => (integer) 5\n"
                                              "15# \"domain\" => (nil)\n"
                                              "16# \"tags\" => 1) \"report\"\n"
                                              "17# \"options\" => 1# \"backoff\" => (nil)\n"
                                              "    2# \"timeout\" => (nil)\n"
                                              "    3# \"lease\" => (nil)\n"
                                              "    4# \"result-ttl\" => (nil)\n"
                                              "    5# \"max-crashes\" => (nil)\n"
                                              "    6# \"on-dependency-failure\" => (nil)\n"
                                              "18# \"paused\" => (false)\n"
                                              "19# \"last\" => (nil)" }),
    },
    {
        .name = "Q.RECUR.UPDATE",
        .group = "recurring",
        .flags = WRITES | COMMAND_AUDITED,
        TAKES(update_arguments, update_takes),
        .run = run_update,
        .summary = "Changes a recurring job; what is not given stays as it was.",
        .details = "With another cron expression or zone it starts anew, else it keeps its phase. "
                   "A job by interval becomes one by cron with CRON; the other way round with "
                   "Q.RECUR.",
        .replies = "OK.",
        EXAMPLES({ "Q.RECUR.UPDATE app poll INTERVAL 600 PRIORITY 5", "OK" },
                 { "Q.RECUR.UPDATE app poll OVERLAP skip TIMEOUT 300", "OK" }),
    },
    {
        .name = "Q.RECUR.PAUSE",
        .group = "recurring",
        .flags = SHRINKS | COMMAND_AUDITED,
        TAKES(jid_arguments, jid_takes),
        .run = run_pause,
        .summary = "Pauses a recurring job: it makes no jobs until it is resumed.",
        .details = "It keeps its schedule. Registering it again (Q.RECUR) leaves it paused.",
        .replies = "OK.",
        EXAMPLES({ "Q.RECUR.PAUSE app poll", "OK" }),
    },
    {
        .name = "Q.RECUR.RESUME",
        .group = "recurring",
        .flags = SHRINKS | COMMAND_AUDITED,
        TAKES(jid_arguments, jid_takes),
        .run = run_resume,
        .summary = "Resumes a recurring job with its next run. The runs during the pause are left "
                   "out.",
        .replies = "OK.",
        EXAMPLES({ "Q.RECUR.RESUME app poll", "OK" }),
    },
    {
        .name = "Q.RECUR.RUN",
        .group = "recurring",
        .flags = WRITES | COMMAND_AUDITED,
        TAKES(run_arguments, run_takes),
        .run = run_now,
        .summary = "Makes a job of a recurring job now, in addition to those of its schedule.",
        .details = "It works also while the recurring job is paused, and while an earlier job has "
                   "not finished. Repeated with the same REQUEST it makes no second job.",
        .replies = "The jid of the job.",
        EXAMPLES({ "Q.RECUR.RUN app poll", "\"poll-1\"" }),
    },
    {
        .name = "Q.RECUR.TAG",
        .group = "recurring",
        .flags = WRITES | COMMAND_FITS | COMMAND_AUDITED,
        TAKES(tags_arguments, tags_takes),
        .run = run_tag,
        .summary = "Adds tags to a recurring job. The jobs that it makes from then on get them.",
        .replies = "Its tags.",
        EXAMPLES({ "Q.RECUR.TAG app poll often inbox", "1) \"often\"\n"
                                                       "2) \"inbox\"" }),
    },
    {
        .name = "Q.RECUR.UNTAG",
        .group = "recurring",
        .flags = SHRINKS | COMMAND_FITS | COMMAND_AUDITED,
        TAKES(tags_arguments, tags_takes),
        .run = run_untag,
        .summary = "Removes tags from a recurring job.",
        .replies = "Its tags.",
        EXAMPLES({ "Q.RECUR.UNTAG app poll inbox", "1) \"often\"" }),
    },
    {
        .name = "Q.RECUR.RUNS",
        .group = "recurring",
        .flags = READS,
        TAKES(runs_arguments, runs_takes),
        .run = run_runs,
        .summary = "Lists the next runs of a recurring job, provided that it does not change.",
        .replies = "A list of times.",
        EXAMPLES({ "Q.RECUR.RUNS app poll COUNT 2", "1) (double) 1784000390.5\n"
                                                    "2) (double) 1784000990.5" }),
    },
    {
        .name = "Q.RECURRING",
        .group = "recurring",
        .flags = READS,
        TAKES(list_arguments, list_takes),
        .run = run_list,
        .summary = "Lists the recurring jobs of a queue by when they are next due, or those of all "
                   "queues.",
        .details = "Those of all queues stand in the order in which they were made or last "
                   "registered with a change.",
        .replies = "How many there are, a page of them as in Q.RECUR.GET, with their next `runs` "
                   "if RUNS asks for them, and the CURSOR of the page behind it.",
        EXAMPLES({ "Q.RECURRING app mail", "1# \"total\" => (integer) 1\n"
                                           "2# \"jobs\" => 1)  1# \"jid\" => \"poll\"\n"
                                           "       2# \"klass\" => \"Poll\"\n"
                                           "       3# \"queue\" => \"mail\"\n"
                                           "       4# \"data\" => \"{}\"\n"
                                           "..." },
                 { "Q.RECURRING app RUNS 5 COUNT 1", "1# \"total\" => (integer) 2\n..." }),
    },
    {
        .name = "Q.UNRECUR",
        .group = "recurring",
        .flags = SHRINKS | COMMAND_AUDITED,
        TAKES(jid_arguments, jid_takes),
        .run = run_unrecur,
        .summary = "Removes a recurring job. The jobs that it has made stay.",
        .replies = "OK; NOT_FOUND when there is none.",
        EXAMPLES({ "Q.UNRECUR app poll", "OK" }),
    },
    {
        .name = "Q.CRON",
        .group = "recurring",
        .flags = READS,
        TAKES(cron_arguments, cron_takes),
        .run = run_cron,
        .summary = "Lists the next runs of a cron expression.",
        .replies = "A list of times.",
        EXAMPLES({ "Q.CRON app '30 9 * * mon-fri' ZONE Europe/Berlin COUNT 3",
                   "1) (double) 1784014200\n"
                   "2) (double) 1784100600\n"
                   "3) (double) 1784187000" }),
    },
    {
        .name = "Q.ZONES",
        .group = "recurring",
        .flags = READS,
        .run = run_zones,
        .summary = "Lists the time zones that recurring jobs have used, besides UTC.",
        .replies = "A list of names.",
        EXAMPLES({ "Q.ZONES app", "1) \"Europe/Berlin\"" }),
    },
};

const struct command_table api_recurring = TABLE(commands);
