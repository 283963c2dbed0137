// SPDX-License-Identifier: MIT
#include "api/task.h"

#include "base/num.h"
#include "base/timefmt.h"

const char *const task_state_words[] = { "ready", "reserved", "running", "failed",
                                         "error", "complete", NULL };
_Static_assert(sizeof(task_state_words) / sizeof(task_state_words[0]) == TASK_STATE_COUNT + 1,
               "one word for each state, in the order of enum task_state");

struct slice task_jid(uint64_t id, char text[TASK_JID_SIZE])
{
    size_t start = TASK_JID_SIZE;
    do {
        text[--start] = (char)('0' + id % 10);
        id /= 10;
    } while (id);
    return slice_make(text + start, TASK_JID_SIZE - start);
}

bool task_id(struct slice jid, uint64_t *out)
{
    return jid.size && jid.data[0] != '-' && !num_parse_u64(jid, out) && *out > 0 &&
           *out <= TASK_ID_MAX;
}

enum task_state task_state(const struct job_view *view)
{
    switch (view->state) {
    case JOB_RUNNING:
        return view->started ? TASK_RUNNING : TASK_RESERVED;
    case JOB_COMPLETE:
        return TASK_COMPLETE;
    case JOB_FAILED:
        return TASK_ERROR;
    default:
        return view->attempts ? TASK_FAILED : TASK_READY;
    }
}

// ---------------------------------------------------------------------------------------------
// Information from the history

struct run {
    int64_t when_us; // 0: none
    struct slice worker;
};

struct past {
    struct run first, before, last; // `before` is the one before the last
    int64_t first_due_us;           // the time for which it was first scheduled
    int64_t due_us;                 // the time for which it is scheduled, or was last
    struct slice error;             // the error of the last failed attempt
    bool lost;                      // the lease of the last run was lost
};

// Parses a time that is a JSON string without escapes.
static bool moment_of(struct slice json, int64_t *out)
{
    return json.size > 2 && json.data[0] == '"' &&
           !timefmt_parse(slice_sub(json, 1, json.size - 2), out);
}

static void note_run(struct past *past, const struct history_view *entry)
{
    past->before = past->last;
    past->last = (struct run){ entry->when_us, entry->worker };
    if (!past->first.when_us) {
        past->first = past->last;
    }
}

// One reason for both: a worker has not reported in time, or has not replied in time.
#define TIMED_OUT SLICE("timed-out")

// A job whose lease was lost fails automatically when its retries or its crashes are exhausted.
static bool is_timeout(const struct past *past, const struct history_view *entry)
{
    bool exhausted = slice_starts_with(entry->group, SLICE("failed-retries-")) ||
                     slice_starts_with(entry->group, SLICE("failed-crashes-"));
    return slice_equal(entry->group, SLICE("push:timeout")) ||
           (past->lost && exhausted && entry->worker.size == 0);
}

// A worker may return a task without a reason.
static void note_error(struct past *past, const struct history_view *entry)
{
    if (is_timeout(past, entry)) {
        past->error = TIMED_OUT;
    } else if (entry->group.size) {
        past->error = entry->message.size ? entry->message : entry->group;
    }
}

static void note_entry(struct past *past, const struct history_view *entry)
{
    int64_t moment_us;
    if (slice_equal(entry->what, SLICE("popped"))) {
        note_run(past, entry);
        past->lost = false;
        past->due_us = entry->until_us ? entry->until_us : past->due_us;
    } else if (slice_equal(entry->what, TASK_SCHEDULED) && moment_of(entry->data, &moment_us)) {
        past->first_due_us = past->first_due_us ? past->first_due_us : moment_us;
        past->due_us = moment_us;
    } else if (slice_equal(entry->what, TIMED_OUT)) {
        past->due_us = entry->when_us;
        past->error = TIMED_OUT;
        past->lost = true;
    } else if (slice_equal(entry->what, SLICE("put"))) {
        past->due_us = entry->until_us ? entry->until_us : entry->when_us;
    } else if (slice_equal(entry->what, SLICE("retried"))) {
        past->due_us = entry->until_us ? entry->until_us : entry->when_us;
        note_error(past, entry);
    } else if (slice_equal(entry->what, SLICE("failed"))) {
        note_error(past, entry);
    }
}

static void read_past(const struct engine *engine, const struct job *job,
                      const struct job_view *view, struct past *past)
{
    struct history_view entry;
    size_t position = 0;
    *past = (struct past){ 0 };
    while (job_history_next(engine, job, &position, &entry)) {
        note_entry(past, &entry);
    }
    past->first_due_us = past->first_due_us ? past->first_due_us : view->created_us;
    if (view->scheduled_us) {
        past->due_us = view->scheduled_us;
    } else if (view->history_count == 1 && view->line_us) {
        past->due_us = view->line_us; // its first put does not contain the scheduled time
    }
    // The history truncates long messages; the job itself does not.
    if (past->error.size && !slice_equal(past->error, TIMED_OUT) &&
        slice_starts_with(view->failure_message, past->error)) {
        past->error = view->failure_message;
    }
}

// ---------------------------------------------------------------------------------------------
// In replies

static void write_time(struct reply *reply, int64_t us)
{
    char text[TIMEFMT_SIZE_MAX];
    if (us) {
        reply_text(reply, slice_make(text, timefmt_format(us, text)));
    } else {
        reply_null(reply);
    }
}

static void write_times(struct reply *reply, const struct job_view *view, const struct past *past)
{
    // A reserved task has not been started since it was popped.
    bool reserved = task_state(view) == TASK_RESERVED;
    struct run last = reserved ? past->before : past->last;
    reply_key(reply, "queuedAt");
    write_time(reply, view->created_us);
    reply_key(reply, "firstRunAt");
    write_time(reply, last.when_us ? past->first.when_us : 0);
    reply_key(reply, "reservedAt");
    write_time(reply, past->last.when_us);
    reply_key(reply, "lastRunAt");
    write_time(reply, last.when_us);
    reply_key(reply, "firstScheduledFor");
    write_time(reply, past->first_due_us);
    reply_key(reply, "scheduledFor");
    write_time(reply, past->due_us);
    reply_key(reply, "lastRunBy");
    reply_text_or_null(reply, last.worker);
}

void reply_task(struct reply *reply, const struct engine *engine, const struct job *job, bool brief)
{
    struct job_view view;
    struct past past;
    uint64_t id = 0;
    job_view(engine, job, &view);
    read_past(engine, job, &view, &past);
    (void)task_id(view.jid, &id);
    reply_map(reply, 14);
    reply_key(reply, "class");
    reply_text(reply, view.klass);
    reply_key(reply, "args");
    reply_json(reply, view.data);
    reply_key(reply, "id");
    reply_count(reply, id);
    reply_key(reply, "attempts");
    reply_count(reply, view.attempts);
    reply_key(reply, "state");
    reply_text(reply, slice_from_cstr(task_state_words[task_state(&view)]));
    reply_key(reply, "lastError");
    reply_text_or_null(reply,
                       slice_sub(past.error, 0, brief ? TASK_ERROR_SHORT_MAX : past.error.size));
    write_times(reply, &view, &past);
    reply_key(reply, "priority");
    reply_integer(reply, view.priority);
    reply_end(reply);
}
