// SPDX-License-Identifier: MIT
#include "api/item/item_job.h"

#include "api/job_words.h"
#include "engine/job/options.h"

static const char *const state_words[] = { "scheduled", "depends",  "waiting", "running",
                                           "stalled",   "complete", "failed",  NULL };
_Static_assert(sizeof(state_words) / sizeof(state_words[0]) == JOB_STATE_COUNT + 1,
               "one word for each state, in the order of enum job_state");
static const char *const rank_words[] = { "priority", "timed-out", "lost", NULL };
static const char *const unique_by_words[] = { "key", "contents", NULL };
static const char *const unique_until_words[] = { "finished", "started", "time", NULL };

enum {
    RETRIES_DEFAULT = 5,
};

// ---------------------------------------------------------------------------------------------
// Options

static const struct item_field option_fields[] = {
    ITEM(job_option_words, backoff, TEXT, "backoff"),
    ITEM_HAS(job_option_words, timeout_us, has_timeout_us, SECONDS, "timeout", .max = INT64_MAX),
    ITEM_HAS(job_option_words, lease_us, has_lease_us, SECONDS, "lease", .max = LEASE_US_MAX),
    ITEM_HAS(job_option_words, result_ttl_us, has_result_ttl_us, SECONDS, "result-ttl",
             .max = INT64_MAX),
    ITEM_HAS(job_option_words, crashes_max, has_crashes_max, INTEGER, "max-crashes",
             .max = INT32_MAX),
    ITEM_HAS(job_option_words, dependency_policy, has_dependency_policy, WORD,
             "on-dependency-failure", .words = dependency_policy_words),
};

enum status item_read_options(struct item *item, struct slice object,
                              const struct job_options **out, struct error *error)
{
    struct job_option_words words = { 0 };
    *out = NULL;
    if (!object.size) {
        return STATUS_OK;
    }
    enum status status =
        item_read(item, object, "options", option_fields, ITEM_COUNT(option_fields), &words, error);
    if (status || !job_option_words_given(&words)) {
        return status;
    }
    struct job_options *options = item_allocate(item, 1, sizeof(*options));
    if (!options) {
        return error_set(error, STATUS_NO_MEMORY, "out of memory");
    }
    *out = options;
    return job_option_words_read(&words, options, error);
}

// The engine stores "none" as a negative number.
static void write_limit(struct json_writer *writer, const char *key, int64_t value, bool seconds)
{
    if (value && seconds) {
        item_write_moment(writer, key, value > 0 ? value : 0);
    } else if (value) {
        item_write_integer(writer, key, value > 0 ? value : 0);
    }
}

void item_write_options(struct json_writer *writer, const struct job_options *options)
{
    if (options_are_unset(options)) {
        return;
    }
    char bytes[1024];
    struct buffer backoff = { .data = bytes,
                              .capacity = sizeof(bytes),
                              .size_max = sizeof(bytes) - 1 };
    backoff_append(&options->backoff, &backoff);
    json_write_key(writer, SLICE("options"));
    json_write_begin_object(writer);
    item_write_member(writer, "backoff", buffer_slice(&backoff));
    write_limit(writer, "timeout", options->timeout_us, true);
    write_limit(writer, "lease", options->lease_us, true);
    write_limit(writer, "result-ttl", options->result_ttl_us, true);
    write_limit(writer, "max-crashes", options->crashes_max, false);
    if (options->dependency_policy) {
        item_write_member(
            writer, "on-dependency-failure",
            slice_from_cstr(dependency_policy_words[options->dependency_policy - DEPENDENCY_HOLD]));
    }
    json_write_end_object(writer);
}

// ---------------------------------------------------------------------------------------------
// Reading the parts of a job

struct job_item {
    struct slice jid, klass, queue, data, data_text, domain, spawned_from, result, result_text,
        checkpoint, failure, progress, members, unique, options, history, log;
    struct slices tags, depends;
    struct item_moments tagged;
    int64_t state, priority, retries, remaining, attempts, crashes;
    int64_t created, moved, updated, line, rank, scheduled, deadline, result_until;
    bool has_remaining, has_created, has_moved, has_updated, has_line;
};

#define UINT16_RANGE .min = 0, .max = UINT16_MAX

static const struct item_field job_fields[] = {
    ITEM(job_item, jid, TEXT, "jid", .required = true),
    ITEM(job_item, klass, TEXT, "klass", .required = true),
    ITEM(job_item, queue, TEXT, "queue"),
    ITEM(job_item, state, WORD, "state", .required = true, .words = state_words),
    ITEM(job_item, data, JSON, "data"),
    ITEM(job_item, data_text, TEXT, "data-text"),
    ITEM(job_item, priority, INTEGER, "priority", .min = INT32_MIN, .max = INT32_MAX),
    ITEM(job_item, retries, INTEGER, "retries", .min = 0, .max = INT32_MAX),
    ITEM_HAS(job_item, remaining, has_remaining, INTEGER, "remaining", .min = -1, .max = INT32_MAX),
    ITEM(job_item, attempts, INTEGER, "attempts", UINT16_RANGE),
    ITEM(job_item, crashes, INTEGER, "crashes", UINT16_RANGE),
    ITEM(job_item, domain, TEXT, "domain"),
    ITEM(job_item, tags, TEXTS, "tags"),
    ITEM(job_item, tagged, MOMENTS, "tagged"),
    ITEM_HAS(job_item, created, has_created, MOMENT, "created"),
    ITEM_HAS(job_item, moved, has_moved, MOMENT, "moved"),
    ITEM_HAS(job_item, updated, has_updated, MOMENT, "updated"),
    ITEM_HAS(job_item, line, has_line, MOMENT, "line"),
    ITEM(job_item, rank, WORD, "rank", .words = rank_words),
    ITEM(job_item, scheduled, MOMENT, "scheduled"),
    ITEM(job_item, deadline, MOMENT, "deadline"),
    ITEM(job_item, depends, TEXTS, "depends"),
    ITEM(job_item, members, OBJECT, "members"),
    ITEM(job_item, failure, OBJECT, "failure"),
    ITEM(job_item, result, JSON, "result"),
    ITEM(job_item, result_text, TEXT, "result-text"),
    ITEM(job_item, result_until, MOMENT, "result-until"),
    ITEM(job_item, progress, OBJECT, "progress"),
    ITEM(job_item, checkpoint, TEXT, "checkpoint"),
    ITEM(job_item, unique, OBJECT, "unique"),
    ITEM(job_item, spawned_from, TEXT, "spawned-from"),
    ITEM(job_item, options, OBJECT, "options"),
    ITEM(job_item, history, ARRAY, "history"),
    ITEM(job_item, log, ARRAY, "log"),
};

static const struct item_field failure_fields[] = {
    ITEM(restore_request, failure_group, TEXT, "group", .required = true),
    ITEM(restore_request, failure_message, TEXT, "message"),
    ITEM(restore_request, failure_worker, TEXT, "worker"),
    ITEM(restore_request, failure_when_us, MOMENT, "when"),
};

struct progress_item {
    int64_t fraction;
    struct slice message;
};

static const struct item_field progress_fields[] = {
    ITEM(progress_item, fraction, FRACTION, "fraction", .required = true),
    ITEM(progress_item, message, TEXT, "message"),
};

struct members_item {
    int64_t done, passed;
};

static const struct item_field members_fields[] = {
    ITEM(members_item, done, INTEGER, "done", .max = INT32_MAX),
    ITEM(members_item, passed, INTEGER, "passed", .max = INT32_MAX),
};

struct unique_item {
    int64_t by, until, until_time;
    struct slice key;
    bool held;
};

static const struct item_field unique_fields[] = {
    ITEM(unique_item, by, WORD, "by", .required = true, .words = unique_by_words),
    ITEM(unique_item, key, TEXT, "key"),
    ITEM(unique_item, until, WORD, "until", .words = unique_until_words),
    ITEM(unique_item, until_time, MOMENT, "until-time"),
    ITEM(unique_item, held, BOOLEAN, "held"),
};

static enum status read_unique(struct item *item, struct slice object, struct restore_request *out,
                               struct error *error)
{
    struct unique_item unique = { .held = true };
    enum status status =
        item_read(item, object, "unique", unique_fields, ITEM_COUNT(unique_fields), &unique, error);
    if (status) {
        return status;
    }
    if ((unique.until == UNIQUE_FOR_TIME) != (unique.until_time != 0)) {
        return error_set(error, STATUS_INVALID,
                         "unique: until time, and nothing else, needs "
                         "until-time");
    }
    out->unique_by = unique.by ? UNIQUE_BY_CONTENTS : UNIQUE_BY_KEY;
    out->unique_key = unique.key;
    out->unique_until = (enum unique_until)unique.until;
    out->unique_until_us = unique.until_time;
    out->unique_held = unique.held;
    return STATUS_OK;
}

static enum status read_parts(struct item *item, const struct job_item *job,
                              struct restore_request *out, struct error *error)
{
    enum status status = STATUS_OK;
    if (job->failure.size) {
        out->failure_when_us = out->moved_us;
        status = item_read(item, job->failure, "failure", failure_fields,
                           ITEM_COUNT(failure_fields), out, error);
    }
    if (!status && job->progress.size) {
        struct progress_item progress = { 0 };
        status = item_read(item, job->progress, "progress", progress_fields,
                           ITEM_COUNT(progress_fields), &progress, error);
        out->progress_ppm = (int32_t)progress.fraction;
        out->progress_message = progress.message;
    }
    if (!status && job->members.size) {
        struct members_item members = { 0 };
        status = item_read(item, job->members, "members", members_fields,
                           ITEM_COUNT(members_fields), &members, error);
        out->members_done = (uint32_t)members.done;
        out->members_passed = (uint32_t)members.passed;
    }
    if (!status && job->unique.size) {
        status = read_unique(item, job->unique, out, error);
    }
    return status ? status : item_read_options(item, job->options, &out->options, error);
}

// ---------------------------------------------------------------------------------------------
// History and log

struct history_item {
    int64_t when, until;
    struct slice what, note, queue, worker, group, message, data, data_text;
};

static const struct item_field history_fields[] = {
    ITEM(history_item, when, MOMENT, "when", .required = true),
    ITEM(history_item, what, TEXT, "what"),
    ITEM(history_item, note, TEXT, "note"),
    ITEM(history_item, queue, TEXT, "queue"),
    ITEM(history_item, worker, TEXT, "worker"),
    ITEM(history_item, group, TEXT, "group"),
    ITEM(history_item, message, TEXT, "message"),
    ITEM(history_item, data, JSON, "data"),
    ITEM(history_item, data_text, TEXT, "data-text"),
    ITEM(history_item, until, MOMENT, "until"),
};

static enum status read_entry(struct item *item, struct slice object, struct history_view *out,
                              struct error *error)
{
    struct history_item entry = { 0 };
    enum status status = item_read(item, object, "history", history_fields,
                                   ITEM_COUNT(history_fields), &entry, error);
    if (!status && !entry.what.size == !entry.note.size) {
        status = error_set(error, STATUS_INVALID, "history: an entry has either what or note");
    }
    *out = (struct history_view){ .when_us = entry.when,
                                  .what = entry.note.size ? entry.note : entry.what,
                                  .noted = entry.note.size > 0,
                                  .queue = entry.queue,
                                  .worker = entry.worker,
                                  .group = entry.group,
                                  .message = entry.message,
                                  .data = entry.data.size ? entry.data : entry.data_text,
                                  .until_us = entry.until };
    return status;
}

// The first entry is the first put of the job.
static enum status read_history(struct item *item, const struct job_item *job,
                                struct restore_request *out, struct error *error)
{
    size_t count = item_array_count(job->history);
    if (!count) {
        return STATUS_OK;
    }
    struct json_reader reader;
    struct json_member member;
    struct history_view *entries = item_allocate(item, count, sizeof(*entries));
    enum status status = json_reader_init_array(&reader, job->history, error);
    if (!entries) {
        return error_set(error, STATUS_NO_MEMORY, "out of memory");
    }
    for (size_t i = 0; !status && i < count && json_reader_next(&reader, &member); i++) {
        status = read_entry(item, member.value.raw, &entries[i], error);
    }
    if (!status && (entries[0].noted || !slice_equal(entries[0].what, SLICE("put")) ||
                    (job->has_created && job->created != entries[0].when_us))) {
        status = error_set(error, STATUS_INVALID,
                           "history: its first entry must be the put that created the job");
    }
    if (!status) {
        out->created_us = entries[0].when_us;
        out->created_queue = entries[0].queue;
        out->history = entries + 1;
        out->history_count = count - 1;
    }
    return status;
}

static const struct item_field log_fields[] = {
    ITEM(log_view, when_us, MOMENT, "when", .required = true),
    ITEM(log_view, line, TEXT, "line", .required = true),
};

static enum status read_log(struct item *item, struct slice array, struct restore_request *out,
                            struct error *error)
{
    struct json_reader reader;
    struct json_member member;
    size_t count = item_array_count(array);
    if (!count) {
        return STATUS_OK;
    }
    struct log_view *lines = item_allocate(item, count, sizeof(*lines));
    enum status status = json_reader_init_array(&reader, array, error);
    if (!lines) {
        return error_set(error, STATUS_NO_MEMORY, "out of memory");
    }
    for (size_t i = 0; !status && i < count && json_reader_next(&reader, &member); i++) {
        status = item_read(item, member.value.raw, "log", log_fields, ITEM_COUNT(log_fields),
                           &lines[i], error);
    }
    out->log = lines;
    out->log_count = count;
    return status;
}

// ---------------------------------------------------------------------------------------------
// Reading a job

static enum status read_tag_times(struct item *item, const struct job_item *job,
                                  struct restore_request *out, struct error *error)
{
    if (job->tagged.count && job->tagged.count != job->tags.count) {
        return error_set(error, STATUS_INVALID, "job: tagged must have a time for each tag");
    }
    out->tag_times = job->tagged.items;
    if (job->tags.count && !job->tagged.count) {
        int64_t *times = item_allocate(item, job->tags.count, sizeof(*times));
        if (!times) {
            return error_set(error, STATUS_NO_MEMORY, "out of memory");
        }
        for (size_t i = 0; i < job->tags.count; i++) {
            times[i] = out->created_us;
        }
        out->tag_times = times;
    }
    return STATUS_OK;
}

// Sets what follows from the given members.
static void fill(const struct job_item *job, int64_t now_us, struct restore_request *out)
{
    *out = (struct restore_request){
        .jid = job->jid,
        .klass = job->klass,
        .data = job->data.size ? job->data : job->data_text,
        .queue = job->queue,
        .state = (enum job_state)job->state,
        .priority = (int32_t)job->priority,
        .retries = (int32_t)job->retries,
        .remaining = (int32_t)(job->has_remaining ? job->remaining : job->retries),
        .attempts = (uint16_t)job->attempts,
        .crashes = (uint16_t)job->crashes,
        .domain = job->domain,
        .spawned_from = job->spawned_from,
        .created_us = job->has_created ? job->created : now_us,
        .created_queue = job->queue,
        .line_us = job->has_line ? job->line : now_us,
        .rank = (enum line_rank)job->rank,
        .scheduled_us = job->scheduled,
        .deadline_us = job->deadline,
        .tags = job->tags,
        .depends = job->depends,
        .result = job->result.size ? job->result : job->result_text,
        .result_until_us = job->result_until,
        .progress_ppm = -1,
        .checkpoint = job->checkpoint,
    };
}

enum status item_read_job(struct item *item, int64_t now_us, struct restore_request *out,
                          struct error *error)
{
    struct job_item job = { .data = SLICE_EMPTY, .retries = RETRIES_DEFAULT };
    enum status status =
        item_read(item, item->value, "job", job_fields, ITEM_COUNT(job_fields), &job, error);
    if (status) {
        return status;
    }
    if (!job.data.size && !job.data_text.size) {
        job.data = SLICE("{}");
    }
    fill(&job, now_us, out);
    status = read_history(item, &job, out, error);
    out->moved_us = job.has_moved ? job.moved : out->created_us;
    out->updated_us = job.has_updated ? job.updated : out->moved_us;
    if (!status) {
        status = read_tag_times(item, &job, out, error);
    }
    if (!status) {
        status = read_log(item, job.log, out, error);
    }
    return status ? status : read_parts(item, &job, out, error);
}

// ---------------------------------------------------------------------------------------------
// Writing

void item_write_moment(struct json_writer *writer, const char *key, int64_t us)
{
    json_write_key(writer, slice_from_cstr(key));
    json_write_seconds(writer, us);
}

void item_write_integer(struct json_writer *writer, const char *key, int64_t value)
{
    json_write_key(writer, slice_from_cstr(key));
    json_write_int(writer, value);
}

static void write_moment_if(struct json_writer *writer, const char *key, int64_t us)
{
    if (us) {
        item_write_moment(writer, key, us);
    }
}

static void write_integer_if(struct json_writer *writer, const char *key, int64_t value)
{
    if (value) {
        item_write_integer(writer, key, value);
    }
}

static void write_tags(struct json_writer *writer, const struct engine *engine,
                       const struct job *job, size_t count)
{
    if (!count) {
        return;
    }
    json_write_key(writer, SLICE("tags"));
    json_write_begin_array(writer);
    for (size_t i = 0; i < count; i++) {
        item_write_text(writer, job_tag(engine, job, i));
    }
    json_write_end_array(writer);
    json_write_key(writer, SLICE("tagged"));
    json_write_begin_array(writer);
    for (size_t i = 0; i < count; i++) {
        json_write_seconds(writer, job_tag_time(job, job_tag(engine, job, i)));
    }
    json_write_end_array(writer);
}

static void write_depends(struct json_writer *writer, const struct job *job)
{
    struct slice jid;
    json_write_key(writer, SLICE("depends"));
    json_write_begin_array(writer);
    for (const void *position = NULL; job_dependency_next(job, &position, &jid);) {
        item_write_text(writer, jid);
    }
    json_write_end_array(writer);
}

static void write_failure(struct json_writer *writer, const struct job_view *view)
{
    if (!view->failure_group.size) {
        return;
    }
    json_write_key(writer, SLICE("failure"));
    json_write_begin_object(writer);
    item_write_member(writer, "group", view->failure_group);
    item_write_member(writer, "message", view->failure_message);
    item_write_member(writer, "worker", view->failure_worker);
    item_write_moment(writer, "when", view->failure_when_us);
    json_write_end_object(writer);
}

static void write_progress(struct json_writer *writer, const struct job_view *view)
{
    if (view->progress_ppm < 0) {
        return;
    }
    json_write_key(writer, SLICE("progress"));
    json_write_begin_object(writer);
    item_write_moment(writer, "fraction", view->progress_ppm);
    item_write_member(writer, "message", view->progress_message);
    json_write_end_object(writer);
}

static void write_members(struct json_writer *writer, const struct job_view *view,
                          const struct restore_view *past)
{
    if (!view->members_done && !past->members_passed) {
        return;
    }
    json_write_key(writer, SLICE("members"));
    json_write_begin_object(writer);
    write_integer_if(writer, "done", (int64_t)view->members_done);
    write_integer_if(writer, "passed", (int64_t)past->members_passed);
    json_write_end_object(writer);
}

static void write_hex(struct json_writer *writer, const char *key, struct slice bytes)
{
    json_write_key(writer, slice_from_cstr(key));
    item_write_hex(writer, bytes);
}

static void write_unique(struct json_writer *writer, const struct job_view *view,
                         const struct restore_view *past)
{
    if (view->unique_by == UNIQUE_NONE) {
        return;
    }
    bool contents = view->unique_by == UNIQUE_BY_CONTENTS;
    json_write_key(writer, SLICE("unique"));
    json_write_begin_object(writer);
    item_write_member(writer, "by", slice_from_cstr(unique_by_words[contents]));
    if (contents) {
        write_hex(writer, "key", view->unique_key);
    } else {
        item_write_member(writer, "key", view->unique_key);
    }
    item_write_member(writer, "until", slice_from_cstr(unique_until_words[past->unique_until]));
    write_moment_if(writer, "until-time", past->unique_until_us);
    json_write_key(writer, SLICE("held"));
    json_write_bool(writer, view->unique_held);
    json_write_end_object(writer);
}

static void write_history(struct json_writer *writer, const struct engine *engine,
                          const struct job *job)
{
    struct history_view view;
    json_write_key(writer, SLICE("history"));
    json_write_begin_array(writer);
    for (size_t position = 0; job_history_next(engine, job, &position, &view);) {
        json_write_begin_object(writer);
        item_write_moment(writer, "when", view.when_us);
        item_write_member(writer, view.noted ? "note" : "what", view.what);
        item_write_member(writer, "queue", view.queue);
        item_write_member(writer, "worker", view.worker);
        item_write_member(writer, "group", view.group);
        item_write_member(writer, "message", view.message);
        item_write_json(writer, "data", "data-text", view.data);
        write_moment_if(writer, "until", view.until_us);
        json_write_end_object(writer);
    }
    json_write_end_array(writer);
}

static void write_log(struct json_writer *writer, const struct job *job, size_t count)
{
    struct log_view view;
    if (!count) {
        return;
    }
    json_write_key(writer, SLICE("log"));
    json_write_begin_array(writer);
    for (size_t position = 0; job_log_next(job, &position, &view);) {
        json_write_begin_object(writer);
        item_write_moment(writer, "when", view.when_us);
        item_write_member(writer, "line", view.line);
        json_write_end_object(writer);
    }
    json_write_end_array(writer);
}

// Leases are not dumped: a running job becomes the first in its queue.
static void write_state(struct json_writer *writer, const struct job_view *view,
                        const struct restore_view *past)
{
    enum job_state state = view->state == JOB_RUNNING ? JOB_STALLED : view->state;
    item_write_member(writer, "state", slice_from_cstr(state_words[state]));
    if (view->state == JOB_RUNNING) {
        item_write_moment(writer, "line", 0);
        item_write_member(writer, "rank", slice_from_cstr(rank_words[LINE_RANK_LOST]));
        return;
    }
    if (state == JOB_WAITING || state == JOB_STALLED || state == JOB_DEPENDS) {
        item_write_moment(writer, "line", past->line_us);
    }
    if (past->rank != LINE_RANK_PRIORITY) {
        item_write_member(writer, "rank", slice_from_cstr(rank_words[past->rank]));
    }
    write_moment_if(writer, "scheduled", view->scheduled_us);
}

static void write_numbers(struct json_writer *writer, const struct job_view *view)
{
    write_integer_if(writer, "priority", view->priority);
    item_write_integer(writer, "retries", view->retries);
    if (view->remaining != view->retries) {
        item_write_integer(writer, "remaining", view->remaining);
    }
    write_integer_if(writer, "attempts", view->attempts);
    write_integer_if(writer, "crashes", view->crashes);
}

void item_write_job(struct json_writer *writer, const struct engine *engine, const struct job *job)
{
    struct job_view view;
    struct restore_view past;
    struct job_options options;
    job_view(engine, job, &view);
    restore_view(engine, job, &past);
    job_options(engine, job, &options);
    json_write_begin_object(writer);
    item_write_member(writer, "jid", view.jid);
    item_write_member(writer, "klass", view.klass);
    item_write_member(writer, "queue", view.queue);
    write_state(writer, &view, &past);
    item_write_json(writer, "data", "data-text", view.data);
    write_numbers(writer, &view);
    item_write_member(writer, "domain", view.domain);
    write_tags(writer, engine, job, view.tag_count);
    item_write_moment(writer, "moved", view.time_us);
    if (view.updated_us != view.time_us) {
        item_write_moment(writer, "updated", view.updated_us);
    }
    write_moment_if(writer, "deadline", view.deadline_us);
    if (view.state == JOB_DEPENDS) {
        write_depends(writer, job); // those of a failed job follow after all jobs
    }
    write_members(writer, &view, &past);
    write_failure(writer, &view);
    item_write_json(writer, "result", "result-text", view.result);
    write_moment_if(writer, "result-until", view.result_until_us);
    write_progress(writer, &view);
    item_write_member(writer, "checkpoint", view.checkpoint);
    write_unique(writer, &view, &past);
    item_write_member(writer, "spawned-from", view.spawned_from);
    item_write_options(writer, &options);
    write_history(writer, engine, job);
    write_log(writer, job, view.log_count);
    json_write_end_object(writer);
}

void item_write_job_depends(struct json_writer *writer, const struct job *job)
{
    json_write_begin_object(writer);
    item_write_member(writer, "jid", job_jid(job));
    write_depends(writer, job);
    json_write_end_object(writer);
}

// ---------------------------------------------------------------------------------------------
// Promises about jobs that are gone

static const char *const promise_words[] = { "result", "key", "contents", NULL };

struct promise_item {
    int64_t by, state, until;
    struct slice key, jid, result, result_text;
};

static const struct item_field promise_fields[] = {
    ITEM(promise_item, jid, TEXT, "jid", .required = true),
    ITEM(promise_item, by, WORD, "by", .required = true, .words = promise_words),
    ITEM(promise_item, key, TEXT, "key"),
    ITEM(promise_item, state, WORD, "state", .required = true, .words = state_words),
    ITEM(promise_item, until, MOMENT, "until", .required = true),
    ITEM(promise_item, result, JSON, "result"),
    ITEM(promise_item, result_text, TEXT, "result-text"),
};

enum status item_read_promise(struct item *item, struct promise_past *out, struct error *error)
{
    struct promise_item given = { 0 };
    enum status status = item_read(item, item->value, "promise", promise_fields,
                                   ITEM_COUNT(promise_fields), &given, error);
    *out = (struct promise_past){ .by = (enum unique_by)given.by,
                                  .key = given.key,
                                  .jid = given.jid,
                                  .state = (enum job_state)given.state,
                                  .until_us = given.until,
                                  .result = given.result.size ? given.result : given.result_text };
    return status;
}

void item_write_promise(struct json_writer *writer, const struct promise_past *past)
{
    json_write_begin_object(writer);
    item_write_member(writer, "jid", past->jid);
    item_write_member(writer, "by", slice_from_cstr(promise_words[past->by]));
    if (past->by == UNIQUE_BY_CONTENTS) {
        write_hex(writer, "key", past->key);
    } else {
        item_write_member(writer, "key", past->key);
    }
    item_write_member(writer, "state", slice_from_cstr(state_words[past->state]));
    item_write_moment(writer, "until", past->until_us);
    item_write_json(writer, "result", "result-text", past->result);
    json_write_end_object(writer);
}
