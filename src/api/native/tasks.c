// SPDX-License-Identifier: MIT
// Fresnel's tasks: jobs whose jids are numbers, in a queue with the name of their class, described
// as Fresnel describes them. Workers pop them like any job.
#include "api/page.h"
#include "api/task.h"

#include "base/json_reader.h"
#include "base/num.h"
#include "base/timefmt.h"
#include "engine/measure/metrics.h"

struct task_put_arguments {
    struct slice klass, args;
    bool has_priority, has_retries, has_at;
    int64_t priority, retries, at;
};

static const struct argument put_takes[] = {
    ARGUMENT(task_put_arguments, klass, NAME, "class",
             "what kind of work it is, and the queue that it stands in", .about = ABOUT_QUEUE),
    ARGUMENT(task_put_arguments, args, JSON, "args", "a JSON array"),
    OPTION_HAS(task_put_arguments, at, has_at, MOMENT, "SCHEDULED-FOR", "not before then",
               .member = "scheduledFor"),
    OPTION_HAS(task_put_arguments, priority, has_priority, INTEGER, "PRIORITY",
               "lower runs sooner; an empty text stands for none (0)", PRIORITY_RANGE,
               .or_empty = true),
    OPTION_HAS(task_put_arguments, retries, has_retries, INTEGER, "RETRIES",
               "how often it is tried again (5)", .min = 0, .max = INT32_MAX),
};

struct task_arguments {
    int64_t id;
};

static const struct argument task_takes[] = {
    ARGUMENT(task_arguments, id, INTEGER, "id", "the task's number", .min = 1, .max = TASK_ID_MAX),
};

static const struct job *find_task(const struct call *call)
{
    const struct task_arguments *given = call->arguments;
    char text[TASK_JID_SIZE];
    return engine_get(call->engine, task_jid((uint64_t)given->id, text));
}

static enum status no_task(const struct call *call, struct error *error)
{
    const struct task_arguments *given = call->arguments;
    return error_set(error, STATUS_NOT_FOUND, "task %lld does not exist", (long long)given->id);
}

// ---------------------------------------------------------------------------------------------
// Put

static enum status check_args(const struct call *call, struct slice args, struct error *error)
{
    struct json_value value;
    enum status status = json_value_of(args, &value);
    if (!status && value.type == JSON_TYPE_ARRAY) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_INVALID, "%s: args must be an array, not %s",
                     call->command->name, status ? "nothing" : json_type_name(value.type));
}

// The time for which a task was first scheduled is known only until it runs, so it is recorded. If
// there is no memory for that, the put is undone.
static enum status keep_moment(struct call *call, struct slice jid, int64_t at_us,
                               struct error *error)
{
    char text[TIMEFMT_SIZE_MAX + 2] = "\"";
    size_t size = 1 + timefmt_format(at_us, text + 1);
    text[size++] = '"';
    const struct log_request request = { .jid = jid,
                                         .message = TASK_SCHEDULED,
                                         .data = slice_make(text, size) };
    enum status status = engine_log(call->engine, call->now_us, &request, error);
    if (status) {
        size_t canceled;
        enum status undone = engine_cancel(call->engine, call->now_us, (struct slices){ &jid, 1 },
                                           &canceled, NULL, NULL);
        (void)undone; // it needs no memory
    }
    return status;
}

// The same task remains the same job until it has ended: it completes, reaches its retry limit or
// is deleted.
static enum status run_put(struct call *call, struct error *error)
{
    const struct task_put_arguments *given = call->arguments;
    enum status status = check_args(call, given->args, error);
    if (status) {
        return status;
    }
    char text[TASK_JID_SIZE];
    struct slice jid = task_jid(engine_next_number(call->engine), text);
    struct slice same = SLICE_EMPTY; // the jid of the existing job
    bool later = given->has_at && given->at > call->now_us;
    const struct put_request request = {
        .queue = given->klass,
        .jid = jid,
        .klass = given->klass,
        .data = given->args,
        .delay_us = later ? given->at - call->now_us : 0,
        .has_priority = given->has_priority,
        .priority = (int32_t)given->priority,
        .has_retries = given->has_retries,
        .retries = (int32_t)given->retries,
        .unique = { .by = UNIQUE_BY_CONTENTS },
        .gone = &same,
    };
    const struct job *job;
    uint64_t id;
    status = engine_put(call->engine, call->now_us, &request, &job, error);
    if (status) {
        return status;
    }
    same = job ? job_jid(job) : same;
    bool is_new = slice_equal(same, jid);
    if (!job || !task_id(same, &id)) {
        return error_set(error, STATUS_EXISTS, "job %.*s holds the lock and has no number",
                         SLICE_PRINT(same));
    }
    if (is_new && later) {
        status = keep_moment(call, jid, given->at, error);
    }
    if (!status) {
        reply_made(call->reply, id, is_new);
        reply_task(call->reply, call->engine, engine_get(call->engine, task_jid(id, text)), true);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Get, delete

static enum status run_get(struct call *call, struct error *error)
{
    const struct job *job = find_task(call);
    if (!job) {
        return no_task(call, error);
    }
    reply_task(call->reply, call->engine, job, false);
    return STATUS_OK;
}

struct task_about {
    const struct engine *engine;
    const struct job *job;
};

static void write_brief(struct reply *reply, const void *about)
{
    const struct task_about *of = about;
    reply_task(reply, of->engine, of->job, true);
}

// The reply is measured before anything changes; its state and times may then grow slightly.
static enum status check_room(const struct call *call, const struct job *job, struct error *error)
{
    enum {
        GROWTH = 256,
    };
    const struct task_about about = { call->engine, job };
    size_t size = reply_measure(call->reply, write_brief, &about);
    return call_check_room(call, size < SIZE_MAX - GROWTH ? size + GROWTH : SIZE_MAX, error);
}

static enum status run_retry(struct call *call, struct error *error)
{
    const struct job *job = find_task(call);
    if (!job) {
        return no_task(call, error);
    }
    char text[TASK_JID_SIZE];
    const struct task_arguments *given = call->arguments;
    struct slice jid = task_jid((uint64_t)given->id, text);
    enum status status = check_room(call, job, error);
    if (!status) {
        status = engine_unfail_job(call->engine, call->now_us, jid, error);
    }
    if (!status) {
        reply_task(call->reply, call->engine, engine_get(call->engine, jid), true);
    }
    return status;
}

static enum status run_delete(struct call *call, struct error *error)
{
    const struct job *job = find_task(call);
    if (!job) {
        return no_task(call, error);
    }
    struct job_view view;
    job_view(call->engine, job, &view);
    // A copy, because the jid is freed with the job, and the engine reads it until the end.
    char text[TASK_JID_SIZE];
    uint64_t id;
    size_t canceled;
    (void)task_id(view.jid, &id);
    struct slice jid = task_jid(id, text);
    enum status status = view.state == JOB_COMPLETE || view.state == JOB_FAILED
                             ? engine_delete(call->engine, call->now_us, jid, error)
                             : engine_cancel(call->engine, call->now_us, (struct slices){ &jid, 1 },
                                             &canceled, NULL, error);
    return call_ok(call, status);
}

// ---------------------------------------------------------------------------------------------
// List
//
// Tasks are in the lists of all queues, in the groups of failures and among the complete jobs.
// These places are visited one after the other; a cursor contains a place and a position in it.

enum {
    LOOKS_MAX = 1000, // jobs and places that are visited for a reply
    CURSOR_SIZE = 48,
};

struct task_list_arguments {
    int64_t state;
    bool has_state, reservoir;
    struct slice klass, cursor;
    struct page_words page;
};

static const struct argument list_takes[] = {
    OPTION_HAS(task_list_arguments, state, has_state, WORD, "STATE", "only those in that state",
               .words = task_state_words),
    OPTION(task_list_arguments, reservoir, FLAG, "RESERVOIR",
           "only those whose time is yet to come"),
    OPTION(task_list_arguments, klass, NAME, "CLASS", "only those of that class"),
    OPTION(task_list_arguments, cursor, TEXT, "CURSOR",
           "where to go on: what the page before gave as `next`"),
    OPTION_HAS(task_list_arguments, page.count, page.has_count, INTEGER, "COUNT",
               "how many at most (25)", .min = 1, .max = PAGE_COUNT_MAX),
};

// The places of a queue, in this order, and for each the states of Fresnel that occur there, as
// bits.
#define STATE(name) (1U << TASK_##name)
static const struct {
    enum list list;
    unsigned states;
} places[] = {
    { LIST_UNEXPIRED, STATE(RESERVED) | STATE(RUNNING) },
    { LIST_EXPIRED, STATE(RESERVED) | STATE(RUNNING) },
    { LIST_LINE, STATE(READY) | STATE(FAILED) },
    { LIST_SCHEDULED, STATE(READY) | STATE(FAILED) },
    { LIST_DEPENDS, STATE(READY) | STATE(FAILED) },
};

enum {
    QUEUE_PLACES = sizeof(places) / sizeof(places[0]),
};

enum stage {
    STAGE_QUEUES,
    STAGE_GROUPS,
    STAGE_COMPLETE,
    STAGE_END,
};

struct cursor {
    uint64_t stage; // of enum stage
    uint64_t index; // of the queue, or the group
    uint64_t part;  // of a queue: index of the place
    uint64_t offset;
};

struct listing {
    struct call *call;
    const struct task_list_arguments *given;
    unsigned states; // requested, as bits
    struct cursor at;
    size_t looks;
    uint64_t ids[PAGE_COUNT_MAX];
    size_t count;
};

static enum status read_cursor(const struct call *call, struct slice text, struct cursor *out,
                               struct error *error)
{
    uint64_t *const numbers[] = { &out->stage, &out->index, &out->part, &out->offset };
    enum status status = STATUS_OK;
    struct slice rest = text;
    *out = (struct cursor){ 0 };
    for (size_t i = 0; i < 4 && text.size && !status; i++) {
        const char *dot = rest.size ? memchr(rest.data, '.', rest.size) : NULL;
        size_t size = dot && i < 3 ? (size_t)(dot - rest.data) : rest.size;
        status = num_parse_u64(slice_sub(rest, 0, size), numbers[i]);
        rest = slice_sub(rest, size + 1, SIZE_MAX);
    }
    if (status || out->stage >= STAGE_END || out->part >= QUEUE_PLACES) {
        return page_refuse_cursor(call, error);
    }
    return STATUS_OK;
}

static void write_cursor(struct reply *reply, const struct cursor *at)
{
    char text[4 * CURSOR_SIZE];
    if (at->stage == STAGE_END) {
        reply_null(reply);
        return;
    }
    int size = snprintf(text, sizeof(text), "%llu.%llu.%llu.%llu", (unsigned long long)at->stage,
                        (unsigned long long)at->index, (unsigned long long)at->part,
                        (unsigned long long)at->offset);
    reply_text(reply, slice_make(text, (size_t)size));
}

// The queue of the place, if there is one.
static bool queue_at(const struct listing *listing, struct slice *name)
{
    if (listing->given->klass.size) {
        *name = listing->given->klass;
        return listing->at.index == 0;
    }
    return engine_queue_name(listing->call->engine, (size_t)listing->at.index, name);
}

// Whether requested tasks may be in the stage, or in the place, of the listing.
static bool wants_stage(const struct listing *listing)
{
    static const unsigned states[STAGE_END] = {
        [STAGE_QUEUES] = STATE(READY) | STATE(RESERVED) | STATE(RUNNING) | STATE(FAILED),
        [STAGE_GROUPS] = STATE(ERROR),
        [STAGE_COMPLETE] = STATE(COMPLETE),
    };
    bool in_queue = listing->at.stage == STAGE_QUEUES;
    return (states[listing->at.stage] & listing->states) &&
           (in_queue || !listing->given->reservoir);
}

static bool wants_place(const struct listing *listing)
{
    if (listing->at.stage != STAGE_QUEUES) {
        return true;
    }
    enum list list = places[listing->at.part].list;
    bool to_come = list == LIST_SCHEDULED || list == LIST_DEPENDS;
    return (places[listing->at.part].states & listing->states) &&
           (to_come || !listing->given->reservoir);
}

// Moves to the next place.
static void next_place(struct listing *listing)
{
    struct cursor *at = &listing->at;
    at->offset = 0;
    if (at->stage == STAGE_QUEUES && ++at->part < QUEUE_PLACES) {
        return;
    }
    at->part = 0;
    at->index++;
    if (at->stage == STAGE_COMPLETE) {
        at->stage = STAGE_END;
    }
}

static void next_stage(struct listing *listing)
{
    listing->at = (struct cursor){ .stage = listing->at.stage + 1 };
}

// Reads the jobs of the current place from the offset on; false if the place no longer exists.
static bool read_place(const struct listing *listing, struct page *page, enum status *status,
                       struct error *error)
{
    struct engine *engine = listing->call->engine;
    struct slice queue = SLICE_EMPTY;
    struct count_view group;
    enum list list = LIST_COMPLETE;
    if (listing->at.stage == STAGE_GROUPS) {
        if (!engine_failure_group(engine, (size_t)listing->at.index, &group)) {
            return false;
        }
        engine_failed(engine, group.name, page);
        return true;
    }
    if (listing->at.stage == STAGE_QUEUES) {
        if (!queue_at(listing, &queue)) {
            return false;
        }
        list = places[listing->at.part].list;
    }
    *status = engine_jobs(engine, listing->call->now_us, list, queue, page, error);
    return true;
}

static void take_job(struct listing *listing, const struct job *job)
{
    struct job_view view;
    uint64_t id;
    struct slice klass = listing->given->klass;
    job_view(listing->call->engine, job, &view);
    if (task_id(view.jid, &id) && (listing->states & (1U << task_state(&view))) &&
        (!klass.size || slice_equal(klass, view.klass)) &&
        (!listing->given->reservoir || view.scheduled_us)) {
        listing->ids[listing->count++] = id;
    }
}

// Reads jobs of one place until the page is full or enough were visited.
static enum status look(struct listing *listing, struct error *error)
{
    const struct job *room[LOOKS_MAX];
    size_t count = page_count(&listing->given->page);
    size_t left = LOOKS_MAX - listing->looks;
    struct page page = { .offset = (size_t)listing->at.offset,
                         .count = count < left ? count : left,
                         .jobs = room };
    enum status status = STATUS_OK;
    listing->looks++;
    bool stage = wants_stage(listing);
    if (stage && !wants_place(listing)) {
        next_place(listing);
        return STATUS_OK;
    }
    if (!stage || !read_place(listing, &page, &status, error)) {
        next_stage(listing);
        return STATUS_OK;
    }
    size_t i = 0;
    for (; !status && i < page.found && listing->count < count; i++) {
        take_job(listing, room[i]);
    }
    listing->looks += i;
    listing->at.offset += i;
    if (!status && listing->at.offset >= page.total) {
        next_place(listing);
    }
    return status;
}

// Writes the jobs that still exist. Each read does due work, in slices, which may remove jobs whose
// retention has ended; so the jobs themselves are looked up at the end.
static void write_listing(const struct listing *listing)
{
    struct reply *reply = listing->call->reply;
    const struct job *jobs[PAGE_COUNT_MAX];
    char text[TASK_JID_SIZE];
    size_t found = 0;
    for (size_t i = 0; i < listing->count; i++) {
        jobs[found] = engine_get(listing->call->engine, task_jid(listing->ids[i], text));
        found += jobs[found] != NULL;
    }
    reply_map(reply, 2);
    reply_key(reply, "tasks");
    reply_list(reply, found);
    for (size_t i = 0; i < found; i++) {
        reply_task(reply, listing->call->engine, jobs[i], true);
    }
    reply_end(reply);
    reply_key(reply, "next");
    write_cursor(reply, &listing->at);
    reply_end(reply);
}

static enum status run_list(struct call *call, struct error *error)
{
    const struct task_list_arguments *given = call->arguments;
    struct listing listing = {
        .call = call,
        .given = given,
        .states = given->has_state ? 1U << given->state : UINT32_MAX,
    };
    enum status status = read_cursor(call, given->cursor, &listing.at, error);
    while (!status && listing.at.stage != STAGE_END && listing.looks < LOOKS_MAX &&
           listing.count < page_count(&given->page)) {
        status = look(&listing, error);
    }
    if (!status) {
        write_listing(&listing);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Counts

struct task_counts_arguments {
    struct slice klass;
    int64_t priority;
    bool has_priority;
};

static const struct argument counts_takes[] = {
    OPTION(task_counts_arguments, klass, NAME, "CLASS", "only those of that class",
           .about = ABOUT_QUEUE),
    OPTION_HAS(task_counts_arguments, priority, has_priority, INTEGER, "PRIORITY",
               "only those with that priority", PRIORITY_RANGE),
};

static size_t count_state(const struct call *call, enum job_state state)
{
    const struct task_counts_arguments *given = call->arguments;
    return engine_count(call->engine, &(struct count_filter){
                                          .queue = given->klass,
                                          .has_priority = given->has_priority,
                                          .priority = (int32_t)given->priority,
                                          .has_state = true,
                                          .state = state,
                                      });
}

static size_t count_part(const struct call *call, bool started)
{
    const struct task_counts_arguments *given = call->arguments;
    return engine_count(call->engine, &(struct count_filter){
                                          .queue = given->klass,
                                          .has_priority = given->has_priority,
                                          .priority = (int32_t)given->priority,
                                          .tried = !started,
                                          .started = started,
                                      });
}

static enum status run_counts(struct call *call, struct error *error)
{
    (void)error;
    size_t tried = count_part(call, false), started = count_part(call, true);
    size_t scheduled = count_state(call, JOB_SCHEDULED);
    size_t open = scheduled + count_state(call, JOB_WAITING) + count_state(call, JOB_STALLED) +
                  count_state(call, JOB_DEPENDS);
    const size_t counts[TASK_STATE_COUNT] = {
        [TASK_READY] = open - tried,
        [TASK_RESERVED] = count_state(call, JOB_RUNNING) - started,
        [TASK_RUNNING] = started,
        [TASK_FAILED] = tried,
        [TASK_ERROR] = count_state(call, JOB_FAILED),
        [TASK_COMPLETE] = count_state(call, JOB_COMPLETE),
    };
    reply_map(call->reply, TASK_STATE_COUNT + 1);
    for (size_t i = 0; i < TASK_STATE_COUNT; i++) {
        reply_text(call->reply, slice_from_cstr(task_state_words[i]));
        reply_count(call->reply, counts[i]);
    }
    reply_key(call->reply, "reservoir");
    reply_count(call->reply, scheduled);
    reply_end(call->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------

// The state of the namespace after the previous examples.
#define EXAMPLE_TASK                                                                               \
    " 1# \"class\" => \"UserBackfill\"\n"                                                          \
    " 2# \"args\" => \"[\\\"12\\\"]\"\n"                                                           \
    " 3# \"id\" => (integer) 6015\n"                                                               \
    " 4# \"attempts\" => (integer) 0\n"                                                            \
    " 5# \"state\" => \"ready\"\n"                                                                 \
    " 6# \"lastError\" => (nil)\n"                                                                 \
    " 7# \"queuedAt\" => \"2026-07-14T03:33:50.500Z\"\n"                                           \
    " 8# \"firstRunAt\" => (nil)\n"                                                                \
    " 9# \"reservedAt\" => (nil)\n"                                                                \
    "10# \"lastRunAt\" => (nil)\n"                                                                 \
    "11# \"firstScheduledFor\" => \"2026-07-14T03:33:50.500Z\"\n"                                  \
    "12# \"scheduledFor\" => \"2026-07-14T03:33:50.500Z\"\n"                                       \
    "13# \"lastRunBy\" => (nil)\n"                                                                 \
    "14# \"priority\" => (integer) 0"

// In the order of the reference.
enum {
    PUT,
    MPUT,
    GET,
    LIST,
    COUNTS,
    RETRY,
    DELETE,
};

static const struct command commands[] = {
    [PUT] = {
        .name = "T.PUT",
        .group = "tasks",
        .flags = WRITES | COMMAND_PUTS | COMMAND_ECHOES | COMMAND_NOTES_REFUSED,
        TAKES(task_put_arguments, put_takes),
        .run = run_put,
        .summary =
            "Makes a task, as Fresnel's: a job with a number, in a queue called as its class.",
        .details = "A task with the same class and args, whatever white space and order of keys "
                   "they have, is one and the same until it has run for good; then the answer is "
                   "about that one, and nothing is changed.",
        .replies = "The task.",
        EXAMPLES({ "T.PUT app UserBackfill '[\"12\"]'", EXAMPLE_TASK }),
    },
    [MPUT] = {
        .name = "T.MPUT",
        .group = "tasks",
        .flags = WRITES | COMMAND_PUTS | COMMAND_ECHOES | COMMAND_NOTES_REFUSED,
        .each = &commands[PUT],
        .summary = "Makes many tasks: for each the number of its words, then its words as in T.PUT.",
        .replies = "A list: for each the task, or an error.",
        EXAMPLES({ "T.MPUT app 2 UserBackfill '[\"12\"]' 2 UserBackfill '{}'",
                   "1)  1# \"class\" => \"UserBackfill\"\n..." },
                 { "T.MPUT app 2 UserBackfill '{}'",
                   "1) (error) INVALID T.PUT: args must be an array, not an object" }),
    },
    [GET] = {
        .name = "T.GET",
        .group = "tasks",
        .flags = READS,
        TAKES(task_arguments, task_takes),
        .run = run_get,
        .summary = "A task.",
        .replies = "The task: its public description, its number, its state and its times. "
                   "lastError is the whole error output that was kept.",
        EXAMPLES({ "T.GET app 6015", EXAMPLE_TASK }),
    },
    [LIST] = {
        .name = "T.LIST",
        .group = "tasks",
        .flags = READS,
        TAKES(task_list_arguments, list_takes),
        .run = run_list,
        .summary = "Tasks, page by page.",
        .details = "A page may have fewer tasks than were asked for, or none, and not be the last: "
                   "the last has no next. A task that changes its state meanwhile may be missed or "
                   "come twice.",
        .replies = "A map of the tasks and where to go on, next: null at the end. Of each "
                   "lastError has up to 1024 bytes.",
        EXAMPLES(
            { "T.LIST app STATE running", "1# \"tasks\" => (empty array)\n2# \"next\" => (nil)" }),
    },
    [COUNTS] = {
        .name = "T.COUNTS",
        .group = "tasks",
        .flags = READS,
        TAKES(task_counts_arguments, counts_takes),
        .run = run_counts,
        .summary = "Counts tasks by Fresnel's states, at the same cost however many there are.",
        .details = "Jobs that have no number are counted too: this counts by queue, which of a "
                   "task is its class.",
        .replies = "A map of how many are in each state, and in the reservoir: those of any state "
                   "whose time is yet to come.",
        EXAMPLES({ "T.COUNTS app CLASS UserBackfill", "1# \"ready\" => (integer) 1\n"
                                                      "2# \"reserved\" => (integer) 0\n"
                                                      "3# \"running\" => (integer) 0\n"
                                                      "4# \"failed\" => (integer) 0\n"
                                                      "5# \"error\" => (integer) 0\n"
                                                      "6# \"complete\" => (integer) 0\n"
                                                      "7# \"reservoir\" => (integer) 0" }),
    },
    [RETRY] = {
        .name = "T.RETRY",
        .group = "tasks",
        .flags = WRITES | COMMAND_AUDITED | COMMAND_JOB_ACT | COMMAND_FITS,
        TAKES(task_arguments, task_takes),
        .run = run_retry,
        .summary = "Retries a task in the state error: it is ready, with all its retries.",
        .replies = "The task; STATE when it is not in error, EXISTS when the same task was put "
                   "meanwhile.",
        EXAMPLES({ "T.RETRY app 6015", "(error) STATE job 6015 has not failed: waiting" }),
    },
    [DELETE] = {
        .name = "T.DELETE",
        .group = "tasks",
        .flags = SHRINKS | COMMAND_AUDITED | COMMAND_JOB_ACT,
        TAKES(task_arguments, task_takes),
        .run = run_delete,
        .summary = "Removes a task in any state. A worker that runs it loses its lease.",
        .replies = "OK.",
        EXAMPLES({ "T.DELETE app 6015", "OK" }),
    },
};

const struct command_table api_tasks = TABLE(commands);
