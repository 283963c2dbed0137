// SPDX-License-Identifier: MIT
#include "engine_text.h"

#include "engine/check/check.h"
#include "engine/records/changes.h"
#include "engine/state.h"
#include "engine_snapshot.h"

#include <math.h>
#include <stdlib.h>

enum {
    TEXT_MAX = 1 << 26,
};

// ---------------------------------------------------------------------------------------------
// The world

static void note_channels(struct buffer *text, unsigned channels)
{
    static const char *const names[] = { "log", "worker", "tracker", "waiter" };
    // A worker is named before the log, as it is told first.
    static const size_t order[] = { 1, 0, 2, 3 };
    const char *glue = "";
    for (size_t i = 0; i < 4; i++) {
        if (channels & 1U << order[i]) {
            buffer_printf(text, "%s%s", glue, names[order[i]]);
            glue = "+";
        }
    }
}

void world_note_field(struct buffer *text, const char *word, struct slice value)
{
    if (value.size) {
        buffer_printf(text, " %s %.*s", word, SLICE_PRINT(value));
    }
}

static void receive(void *context, const struct event *event)
{
    struct world *w = context;
    struct buffer *text = &w->events;
    buffer_printf(text, "%s", text->size ? "; " : "");
    note_channels(text, event->channels);
    if (event->channels == EVENT_TO_WAITER) {
        buffer_printf(text, " %llu", (unsigned long long)event->waiter);
    }
    buffer_printf(text, ": %s", event_kind_name(event->kind));
    if (event->jid.size) {
        buffer_printf(text, " %.*s", SLICE_PRINT(event->jid));
    }
    if (event->channels != EVENT_TO_TRACKER) {
        world_note_field(text, "in", event->queue);
        world_note_field(text, "by", event->worker);
        world_note_field(text, "to", event->to);
        world_note_field(text, "as", event->group);
        world_note_field(text, "saying", event->message);
        world_note_field(text, "option", event->option);
        world_note_field(text, "value", event->value);
        world_note_field(text, "state", event->state);
        world_note_field(text, "result", event->result);
    }
    if (event->kind == EVENT_PROGRESS) {
        buffer_printf(text, " at %d", event->progress_ppm);
        world_note_field(text, "saying", event->message);
    }
    w->event_us = event->when_us;
}

static void note_end(void *context, struct slice jid)
{
    struct world *w = context;
    buffer_printf(&w->ended, "%s%.*s", w->ended.size ? "," : "", SLICE_PRINT(jid));
}

struct world *world_new(enum engine_clock clock, uint64_t seed)
{
    struct world *w = calloc(1, sizeof(*w));
    assert_non_null(w);
    fault_alloc_init(&w->fault);
    w->clock = clock;
    buffer_init(&w->events, &allocator_system, TEXT_MAX);
    buffer_init(&w->ended, &allocator_system, TEXT_MAX);
    buffer_init(&w->text, &allocator_system, TEXT_MAX);
    buffer_init(&w->before, &allocator_system, TEXT_MAX);
    const struct engine_options options = { .allocator = &w->fault.allocator,
                                            .seed = { seed, ~seed },
                                            .clock = clock,
                                            .sink = { receive, w, note_end } };
    assert_int_equal(engine_new(&options, &w->engine), STATUS_OK);
    return w;
}

static void report(void *context, const char *sentence)
{
    (void)context;
    print_error("%s\n", sentence);
}

size_t faults_of(struct world *w)
{
    return engine_check(w->engine, false, report, NULL);
}

void world_free(struct world *w)
{
    size_t faults = faults_of(w);
    engine_free(w->engine);
    fault_alloc_release(&w->fault);
    buffer_release(&w->events);
    buffer_release(&w->ended);
    buffer_release(&w->text);
    buffer_release(&w->before);
    free(w);
    assert_int_equal(faults, 0);
}

int server(void **state)
{
    *state = world_new(ENGINE_CLOCK_SERVER, 1);
    return 0;
}

int client(void **state)
{
    *state = world_new(ENGINE_CLOCK_CLIENT, 1);
    return 0;
}

int world_end(void **state)
{
    world_free(*state);
    return 0;
}

void save(const struct world *w, struct buffer *out)
{
    buffer_clear(out);
    assert_int_equal(engine_save(w->engine, out), STATUS_OK);
    assert_int_equal(out->status, STATUS_OK);
}

static enum status save_record(void *context, struct record_key key, struct slice bytes)
{
    struct buffer *out = context;
    if (key.kind != RECORD_SERIES) {
        buffer_printf(out, "%d %llu %lld %zu ", (int)key.kind, (unsigned long long)key.id,
                      (long long)key.extra, bytes.size);
        buffer_append(out, bytes);
    }
    return out->status;
}

void save_but_series(const struct world *w, struct buffer *out)
{
    const struct changes_sink sink = { .receive = save_record, .context = out };
    assert_int_equal(engine_records(w->engine, &sink), STATUS_OK);
}

void reload(struct world *w)
{
    struct buffer before, after;
    buffer_init(&before, &allocator_system, TEXT_MAX);
    buffer_init(&after, &allocator_system, TEXT_MAX);
    save(w, &before);
    const struct engine_options options = { .allocator = &w->fault.allocator,
                                            .seed = { 77, 78 },
                                            .clock = w->clock,
                                            .sink = { receive, w, note_end } };
    struct engine *loaded = NULL;
    enum status status = engine_load(&options, buffer_slice(&before), &loaded, &w->error);
    if (status) {
        print_error("%s\n", error_sentence(&w->error));
    }
    assert_int_equal(status, STATUS_OK);
    engine_free(w->engine);
    w->engine = loaded;
    save(w, &after);
    assert_int_equal(after.size, before.size);
    assert_memory_equal(after.data, before.data, after.size);
    assert_int_equal(faults_of(w), 0);
    buffer_release(&before);
    buffer_release(&after);
}

void refused(struct world *w, enum status status, const char *words)
{
    w->refused = status;
    w->words = words;
    w->error = (struct error){ 0 };
    save(w, &w->before);
}

enum {
    CHECKED_SIZE_MAX = 200, // objects: larger engines are checked when the world is freed
};

void said(struct world *w, enum status status)
{
    if (engine_check_size(w->engine) <= CHECKED_SIZE_MAX) {
        assert_int_equal(faults_of(w), 0);
    }
    if (status != w->refused) {
        print_error("%s, not %s: %s\n", status_name(status), status_name(w->refused),
                    error_sentence(&w->error));
    }
    assert_int_equal(status, w->refused);
    if (status) {
        assert_int_equal(w->error.status, status);
        if (!strstr(w->error.detail, w->words)) {
            print_error("\"%s\" does not say \"%s\"\n", w->error.detail, w->words);
        }
        assert_non_null(strstr(w->error.detail, w->words));
        struct buffer after;
        buffer_init(&after, &allocator_system, TEXT_MAX);
        save(w, &after);
        assert_int_equal(after.size, w->before.size);
        assert_memory_equal(after.data, w->before.data, after.size);
        buffer_release(&after);
    }
    w->refused = STATUS_OK;
}

int64_t us(double seconds)
{
    return llround(seconds * US);
}

double kept_until(const struct world *w, double completed)
{
    return w->clock == ENGINE_CLOCK_SERVER ? completed + RETENTION : -1;
}

int64_t at(struct world *w, double now)
{
    w->now = now;
    return us(now);
}

struct slice name_of(const char *text)
{
    return text ? slice_from_cstr(text) : SLICE_EMPTY;
}

struct slices slices_of(struct world *w, const char *list)
{
    size_t count = 1;
    for (const char *c = list; *c; c++) {
        count += *c == ',';
    }
    const size_t room = sizeof(w->slices) / sizeof(w->slices[0]);
    assert_true(count <= room);
    if (w->slice_count + count > room) {
        w->slice_count = 0;
    }
    struct slice *items = w->slices + w->slice_count;
    w->slice_count += count;
    for (size_t i = 0; i < count; i++) {
        size_t size = strcspn(list, ",");
        items[i] = slice_make(list, size);
        list += size + 1;
    }
    return (struct slices){ items, count };
}

const char *world_text_of(struct world *w)
{
    buffer_append_char(&w->text, '\0');
    assert_int_equal(w->text.status, STATUS_OK);
    return w->text.data;
}

void world_add_name(struct world *w, struct slice name)
{
    buffer_printf(&w->text, "%s%.*s", w->text.size ? "," : "", SLICE_PRINT(name));
}

void world_add_seconds(struct buffer *text, int64_t when_us)
{
    buffer_printf(text, "%.12g", (double)when_us / US);
}

void world_add_jobs(struct world *w, const struct job **found, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct job_view view;
        job_view(w->engine, found[i], &view);
        buffer_printf(&w->text, "%s%.*s", i ? "," : "", SLICE_PRINT(view.jid));
    }
}

// ---------------------------------------------------------------------------------------------
// What clients say

double tick(struct world *w, double now)
{
    int64_t next_us = engine_tick(w->engine, at(w, now));
    return next_us == INT64_MAX ? -1 : (double)next_us / US;
}

const char *put_gives(struct world *w, double now, struct put_request request)
{
    request.queue = request.queue.size ? request.queue : SLICE("q");
    request.klass = request.klass.size ? request.klass : SLICE("k");
    request.data = request.data.size ? request.data : SLICE("{}");
    const struct job *job = NULL;
    struct slice gone = SLICE_EMPTY;
    request.gone = &gone;
    enum status status = engine_put(w->engine, at(w, now), &request, &job, &w->error);
    said(w, status);
    buffer_clear(&w->text);
    world_add_jobs(w, &job, job != NULL);
    buffer_append(&w->text, gone);
    return world_text_of(w);
}

void put_with(struct world *w, double now, struct put_request request)
{
    bool fails = w->refused != STATUS_OK;
    const char *given = put_gives(w, now, request);
    if (!fails) {
        assert_true(slice_equal(request.jid, slice_make(given, w->text.size - 1)));
    }
}

void put_options(struct world *w, double now, const char *jid, struct job_options options)
{
    put_with(w, now, (struct put_request){ .jid = name_of(jid), .options = &options });
}

void put_in(struct world *w, double now, const char *domain, const char *jid)
{
    put_with(
        w, now,
        (struct put_request){ .jid = name_of(jid), .has_domain = true, .domain = name_of(domain) });
}

void put(struct world *w, double now, const char *queue, const char *jid)
{
    put_with(w, now, (struct put_request){ .queue = name_of(queue), .jid = name_of(jid) });
}

void put_later(struct world *w, double now, const char *queue, const char *jid, double delay)
{
    put_with(w, now,
             (struct put_request){
                 .queue = name_of(queue), .jid = name_of(jid), .delay_us = us(delay) });
}

void put_depending(struct world *w, double now, const char *queue, const char *jid,
                   const char *depends)
{
    put_with(w, now,
             (struct put_request){
                 .queue = name_of(queue), .jid = name_of(jid), .depends = slices_of(w, depends) });
}

const char *pop_with(struct world *w, double now, struct pop_request request)
{
    const struct job *popped[JOBS_MAX];
    size_t count;
    assert_true(request.count <= JOBS_MAX);
    said(w, engine_pop(w->engine, at(w, now), &request, popped, &count, &w->error));
    buffer_clear(&w->text);
    world_add_jobs(w, popped, count);
    return world_text_of(w);
}

const char *pop(struct world *w, double now, const char *queue, const char *worker, size_t count)
{
    return pop_with(w, now,
                    (struct pop_request){
                        .worker = name_of(worker), .queues = slices_of(w, queue), .count = count });
}

const char *pop_queues(struct world *w, double now, const char *queues, enum pop_order order,
                       size_t count)
{
    return pop_with(w, now,
                    (struct pop_request){ .worker = SLICE("w1"),
                                          .queues = slices_of(w, queues),
                                          .order = order,
                                          .count = count });
}

const char *peek(struct world *w, double now, const char *queue, size_t count)
{
    const struct job *seen[JOBS_MAX];
    size_t found;
    assert_true(count <= JOBS_MAX);
    said(w, engine_peek(w->engine, at(w, now), name_of(queue), count, seen, &found, &w->error));
    buffer_clear(&w->text);
    world_add_jobs(w, seen, found);
    return world_text_of(w);
}

static struct holder holder_of(const char *worker, const char *jid)
{
    return (struct holder){ .jid = name_of(jid), .worker = name_of(worker) };
}

double heartbeat(struct world *w, double now, const char *worker, const char *jid)
{
    int64_t expires_us = 0;
    const struct heartbeat_request request = { .holder = holder_of(worker, jid) };
    said(w, engine_heartbeat(w->engine, at(w, now), &request, &expires_us, &w->error));
    return (double)expires_us / US;
}

double heartbeat_for(struct world *w, double now, const char *worker, const char *jid, double lease)
{
    int64_t expires_us = 0;
    const struct heartbeat_request request = { .holder = holder_of(worker, jid),
                                               .has_lease = true,
                                               .lease_us = us(lease) };
    said(w, engine_heartbeat(w->engine, at(w, now), &request, &expires_us, &w->error));
    return (double)expires_us / US;
}

void time_out(struct world *w, double now, const char *jids)
{
    said(w, engine_timeout(w->engine, at(w, now), slices_of(w, jids), &w->error));
}

const char *complete_with(struct world *w, double now, struct complete_request request)
{
    enum job_state state = JOB_STATE_COUNT;
    enum status status = engine_complete(w->engine, at(w, now), &request, &state, &w->error);
    said(w, status);
    return status ? "" : job_state_name(state);
}

void complete(struct world *w, double now, const char *worker, const char *jid)
{
    (void)complete_with(w, now, (struct complete_request){ .holder = holder_of(worker, jid) });
}

void fail_job(struct world *w, double now, const char *worker, const char *jid, const char *group)
{
    const struct fail_request request = { .holder = holder_of(worker, jid),
                                          .group = name_of(group),
                                          .message = SLICE("it broke") };
    said(w, engine_fail(w->engine, at(w, now), &request, &w->error));
}

int32_t retry_with(struct world *w, double now, struct retry_request request)
{
    int32_t remaining = 0;
    said(w, engine_retry(w->engine, at(w, now), &request, &remaining, &w->error));
    return remaining;
}

int32_t retry(struct world *w, double now, const char *worker, const char *jid)
{
    return retry_with(w, now, (struct retry_request){ .holder = holder_of(worker, jid) });
}

size_t unfail(struct world *w, double now, const char *queue, const char *group, size_t count)
{
    size_t moved = 0;
    said(w, engine_unfail(w->engine, at(w, now), name_of(queue), name_of(group), count, &moved,
                          &w->error));
    return moved;
}

size_t cancel(struct world *w, double now, const char *jids)
{
    size_t canceled = 0;
    said(w, engine_cancel(w->engine, at(w, now), slices_of(w, jids), &canceled, NULL, &w->error));
    return canceled;
}

void delete_job(struct world *w, double now, const char *jid)
{
    said(w, engine_delete(w->engine, at(w, now), name_of(jid), &w->error));
}

void progress(struct world *w, double now, const char *worker, const char *jid, int32_t ppm,
              const char *message)
{
    struct holder holder = holder_of(worker, jid);
    said(w, engine_progress(w->engine, at(w, now), &holder, ppm, name_of(message), &w->error));
}

void checkpoint(struct world *w, double now, const char *worker, const char *jid, const char *value)
{
    struct holder holder = holder_of(worker, jid);
    said(w, engine_checkpoint(w->engine, at(w, now), &holder, name_of(value), &w->error));
}

void log_line(struct world *w, double now, const char *worker, const char *jid, const char *line)
{
    struct holder holder = holder_of(worker, jid);
    said(w, engine_log_line(w->engine, at(w, now), &holder, name_of(line), &w->error));
}

bool wait_for(struct world *w, double now, const char *jid, uint64_t waiter)
{
    bool finished = false;
    said(w, engine_wait(w->engine, at(w, now), name_of(jid), waiter, &finished, &w->error));
    return finished;
}

struct limit rate(int64_t count, double period, int64_t burst)
{
    return (struct limit){
        .has_rate = true, .rate_count = count, .rate_period_us = us(period), .burst = burst
    };
}

struct limit concurrency(int64_t leases)
{
    return (struct limit){ .has_concurrency = true, .concurrency = leases };
}

struct limit weight(int64_t turns)
{
    return (struct limit){ .has_weight = true, .weight = turns };
}

void limit_set(struct world *w, double now, const char *queue, const char *domain,
               struct limit limit)
{
    said(w, engine_limit_set(w->engine, at(w, now), name_of(queue), name_of(domain), &limit,
                             &w->error));
}

void limit_unset(struct world *w, double now, const char *queue, const char *domain)
{
    said(w, engine_limit_unset(w->engine, at(w, now), name_of(queue), name_of(domain), &w->error));
}

void policy_set(struct world *w, double now, enum policy_scope scope, const char *name,
                struct job_options options)
{
    said(w, engine_policy_set(w->engine, at(w, now), scope, name_of(name), &options, &w->error));
}

void tag(struct world *w, double now, const char *jid, const char *tags)
{
    const struct job *job;
    said(w,
         engine_tag_add(w->engine, at(w, now), name_of(jid), slices_of(w, tags), &job, &w->error));
}

void untag(struct world *w, double now, const char *jid, const char *tags)
{
    const struct job *job;
    said(w, engine_tag_remove(w->engine, at(w, now), name_of(jid), slices_of(w, tags), &job,
                              &w->error));
}

bool track(struct world *w, double now, const char *jid)
{
    bool changed = false;
    said(w, engine_track(w->engine, at(w, now), name_of(jid), &changed, &w->error));
    return changed;
}

bool untrack(struct world *w, double now, const char *jid)
{
    bool changed = false;
    said(w, engine_untrack(w->engine, at(w, now), name_of(jid), &changed, &w->error));
    return changed;
}

void recur_with(struct world *w, double now, struct recur_request request)
{
    request.klass = request.klass.size ? request.klass : SLICE("k");
    request.data = request.data.size ? request.data : SLICE("{}");
    request.retries = request.retries ? request.retries : 5;
    said(w, engine_recur(w->engine, at(w, now), &request, &w->error));
}

void recur(struct world *w, double now, const char *queue, const char *jid, double interval)
{
    recur_with(w, now,
               (struct recur_request){
                   .queue = name_of(queue), .jid = name_of(jid), .interval_us = us(interval) });
}

void set(struct world *w, const char *option, const char *value)
{
    said(w, engine_config_set(w->engine, us(w->now), name_of(option), name_of(value), &w->error));
}

void unset(struct world *w, const char *option)
{
    said(w, engine_config_unset(w->engine, us(w->now), name_of(option), &w->error));
}
