// SPDX-License-Identifier: MIT
// Selects the jobs to push. The engine reports queues in which something changed
// (engine_watch_all). These are examined at the end of the turn, and again later as long as they
// have jobs that may be sent at some time.
#include "server/log/log.h"
#include "server/server.h"

enum {
    SCAN_TAKE_MAX = 64,     // jobs popped at a time behind a first job that cannot be sent
    SCAN_JOB_US = 20,       // for each job examined without success, the next scan waits this long
    SCAN_AGAIN_US = 100000, // without changes, the next scan waits this long
};

struct slice push_line_key(const void *line)
{
    const struct push_line *of = line;
    return slice_make(of->name, of->name_size);
}

static void line_enter(struct push_namespace *space, struct push_line *line)
{
    if (!line->pending) {
        line->pending = true;
        line->next = NULL;
        *space->pending_last = line;
        space->pending_last = &line->next;
    }
}

static struct push_line *line_take_first(struct push_namespace *space)
{
    struct push_line *line = space->pending;
    if (line) {
        space->pending = line->next;
        space->pending_last = line->next ? space->pending_last : &space->pending;
        line->pending = false;
    }
    return line;
}

static void line_free(struct push_namespace *space, struct push_line *line)
{
    map_remove(&space->lines, push_line_key(line));
    mem_free(&allocator_system, line, sizeof(*line) + line->name_size);
}

// If there is no memory for the entry, the queue is examined after its next change.
static void mark(struct push_namespace *space, struct slice queue)
{
    struct push_line *line = map_find(&space->lines, queue);
    if (!line) {
        line = mem_zalloc(&allocator_system, sizeof(*line) + queue.size);
        if (!line) {
            return;
        }
        line->name_size = (uint8_t)queue.size;
        memcpy(line->name, queue.data, queue.size);
        if (map_insert(&space->lines, line)) {
            mem_free(&allocator_system, line, sizeof(*line) + queue.size);
            return;
        }
    }
    line_enter(space, line);
    space->news = true;
}

void push_namespace_look(struct push_namespace *space)
{
    struct slice queue;
    for (size_t i = 0; engine_queue_name(space->ns->engine, i, &queue); i++) {
        mark(space, queue);
    }
    ns_touch(space->ns);
}

void push_woken(struct server *server, struct ns *ns, struct slice queue)
{
    (void)server;
    if (ns->side) {
        mark(ns->side, queue);
    }
}

void push_lines_free(struct push_namespace *space)
{
    struct push_line *line;
    while ((line = line_take_first(space))) {
        line_free(space, line);
    }
}

// ---------------------------------------------------------------------------------------------
// What may be sent

static bool has_room(const struct push_entry *entry, int64_t now_us)
{
    if (entry->gone || entry->running >= entry->plan.given.concurrency || entry->held_us > now_us) {
        return false;
    }
    int64_t requests = entry->running - entry->accepted;
    if (!entry->reached && requests >= PUSH_CAUTIOUS) {
        return false; // each lookup of a name uses a thread
    }
    bool idle = requests == 0;
    return entry->breaker == BREAKER_CLOSED ||
           (idle && (entry->breaker == BREAKER_TRYING || entry->open_us <= now_us));
}

static bool space_has_room(const struct push_namespace *space, int64_t now_us)
{
    for (const struct push_entry *at = space->entries; at; at = at->next) {
        if (has_room(at, now_us)) {
            return true;
        }
    }
    return false;
}

// The entry for a job, or NULL.
struct push_entry *push_entry_for(const struct push_namespace *space, const struct job *job)
{
    struct push_entry *best = NULL;
    size_t best_fit = 0;
    struct job_view view;
    job_view(space->ns->engine, job, &view);
    for (struct push_entry *at = space->entries; at; at = at->next) {
        size_t fit = at->gone ? 0 : push_plan_fit(&at->plan, view.queue, view.klass);
        if (fit > best_fit) {
            best = at;
            best_fit = fit;
        }
    }
    return best;
}

// ---------------------------------------------------------------------------------------------
// Taking

static bool may_take(const struct push *push)
{
    const struct server *server = push->server;
    size_t count = push->lists[DELIVERY_HELD].count + push->lists[DELIVERY_SENT].count +
                   push->lists[DELIVERY_DONE].count;
    return !push->stopping &&
           (server->store_state == STORE_READY || server->store_state == STORE_FULL) &&
           count < server->settings.max_pushes;
}

// A popped job is sent next, so it is recorded as started here: then the start is part of the same
// record.
static void start(const struct push_delivery *delivery, int64_t now_us)
{
    const struct holder holder = { .jid = delivery_jid(delivery),
                                   .worker = PUSH_WORKER,
                                   .token = delivery->token };
    enum status status = engine_start(delivery->entry->space->ns->engine, now_us, &holder, 0, NULL);
    (void)status; // the job is leased; without memory only its start is not recorded
}

// To be called when a job was popped for the entry.
static void begin_delivery(struct push_entry *entry, const struct job *job, int64_t now_us)
{
    struct push_delivery *delivery;
    if (entry->breaker == BREAKER_OPEN) {
        entry->breaker = BREAKER_TRYING;
    }
    if (delivery_new(entry, job, now_us, &delivery)) {
        // The lease expires, and the job is popped again.
        log_line(LOG_LEVEL_ERROR, "no memory to push a job", LOG_NO_PAIRS);
        return;
    }
    start(delivery, now_us);
}

static bool pop_one(struct push_namespace *space, struct slice queue, struct push_entry *entry,
                    int64_t now_us)
{
    const struct pop_request request = { .worker = PUSH_WORKER,
                                         .queues = { &queue, 1 },
                                         .count = 1 };
    const struct job *job = NULL;
    size_t popped = 0;
    if (engine_pop(space->ns->engine, now_us, &request, &job, &popped, NULL) || popped == 0) {
        return false;
    }
    begin_delivery(entry, job, now_us);
    return true;
}

static bool take_one(struct push_namespace *space, struct slice jid, int64_t now_us)
{
    const struct job *job = engine_get(space->ns->engine, jid);
    struct push_entry *entry = job ? push_entry_for(space, job) : NULL;
    const struct take_request request = { .worker = PUSH_WORKER, .jid = jid };
    if (!entry || !has_room(entry, now_us) ||
        engine_take(space->ns->engine, now_us, &request, &job, NULL) || !job) {
        return false;
    }
    begin_delivery(entry, job, now_us);
    return true;
}

struct found {
    size_t count;
    struct slice jids[SCAN_TAKE_MAX];
    char bytes[SCAN_TAKE_MAX * ENGINE_NAME_SIZE_MAX];
};

// Finds jobs of a queue that may be sent although its first job may not. `*wanted`: the queue has
// jobs that may be sent later.
static size_t find_others(struct push_namespace *space, struct slice queue, int64_t now_us,
                          struct found *found, bool *wanted)
{
    const struct job **jobs = space->push->peeked;
    size_t count = 0;
    found->count = 0;
    *wanted = false;
    if (engine_peek(space->ns->engine, now_us, queue, PUSH_SCAN_MAX, jobs, &count, NULL)) {
        return 0;
    }
    size_t i = 0;
    for (; i < count && found->count < SCAN_TAKE_MAX; i++) {
        const struct push_entry *entry = push_entry_for(space, jobs[i]);
        *wanted |= entry != NULL;
        if (entry && has_room(entry, now_us)) {
            struct slice jid = job_jid(jobs[i]);
            char *room = found->bytes + found->count * ENGINE_NAME_SIZE_MAX;
            memcpy(room, jid.data, jid.size);
            found->jids[found->count++] = slice_make(room, jid.size);
        }
    }
    *wanted |= count == PUSH_SCAN_MAX;
    return i;
}

// Examines the jobs behind the first one of a queue. The more jobs were examined without success,
// the later the next scan.
static bool take_others(struct push_namespace *space, struct push_line *line, int64_t now_us,
                        bool *taken)
{
    struct found found;
    bool wanted;
    if (now_us < line->scan_us || !space_has_room(space, now_us)) {
        return true;
    }
    space->news = false;
    size_t looked = find_others(space, push_line_key(line), now_us, &found, &wanted);
    bool any = false;
    for (size_t i = 0; i < found.count && may_take(space->push); i++) {
        any |= take_one(space, found.jids[i], now_us);
    }
    *taken |= any;
    if (!any) {
        line->scan_us = now_us + (int64_t)looked * SCAN_JOB_US;
    }
    return wanted;
}

// Pops the jobs of a queue that may be sent; returns whether it has more that may be sent later.
static bool line_take(struct push_namespace *space, struct push_line *line, int64_t now_us,
                      bool *taken)
{
    struct slice queue = push_line_key(line);
    while (may_take(space->push)) {
        const struct job *job = engine_next(space->ns->engine, queue);
        if (!job) {
            return false; // the engine reports the next job
        }
        struct push_entry *entry = push_entry_for(space, job);
        if (!entry || !has_room(entry, now_us)) {
            return take_others(space, line, now_us, taken);
        }
        if (!pop_one(space, queue, entry, now_us)) {
            return true;
        }
        *taken = true;
    }
    return true;
}

static bool space_take(struct push_namespace *space, int64_t now_us)
{
    bool taken = false;
    struct push_line *stay = NULL, **stay_last = &stay;
    struct push_line *line;
    while (may_take(space->push) && space_has_room(space, now_us) &&
           (line = line_take_first(space))) {
        if (line_take(space, line, now_us, &taken)) {
            line->next = NULL;
            *stay_last = line;
            stay_last = &line->next;
        } else {
            line_free(space, line);
        }
    }
    // Queues that were not examined come first in the next turn.
    while (stay) {
        line = stay;
        stay = line->next;
        line_enter(space, line);
    }
    if (taken) {
        ns_touch(space->ns);
    }
    return taken;
}

bool push_take(struct server *server)
{
    struct push *push = &server->push;
    bool taken = false;
    push_drop_lost(push); // makes room for new deliveries
    for (struct push_namespace *at = push->namespaces; at; at = at->next) {
        if (at->pending && at->entries) {
            taken |= space_take(at, server_now(server));
        }
    }
    server->turn_changes |= taken;
    return taken;
}

// ---------------------------------------------------------------------------------------------
// Later

// When a queue is examined again. A queue without changes has nothing to take, except after changes
// that the engine does not report.
static int64_t next_look(const struct push_namespace *space, const struct push_line *line,
                         int64_t now_us)
{
    int64_t later_us = now_us + SCAN_AGAIN_US;
    bool early = space->news && line->scan_us > now_us;
    return early || line->scan_us > later_us ? line->scan_us : later_us;
}

// When the next push of a namespace may be sent, if none may be now.
static int64_t next_of(const struct push_namespace *space, int64_t now_us)
{
    int64_t next_us = INT64_MAX;
    bool room = space_has_room(space, now_us);
    for (const struct push_line *at = space->pending; at && room; at = at->next) {
        int64_t look_us = next_look(space, at, now_us);
        next_us = look_us < next_us ? look_us : next_us;
    }
    for (const struct push_entry *at = space->entries; at; at = at->next) {
        int64_t open_us = at->breaker == BREAKER_OPEN ? at->open_us : 0;
        int64_t until_us = at->held_us > open_us ? at->held_us : open_us;
        if (until_us > now_us && until_us < next_us) {
            next_us = until_us;
        }
    }
    return next_us;
}

void push_shift(struct server *server, int64_t change_us)
{
    struct push *push = &server->push;
    for (struct push_namespace *space = push->namespaces; space; space = space->next) {
        for (struct push_entry *at = space->entries; at; at = at->next) {
            at->open_us += change_us;
            at->held_us += change_us;
        }
        for (struct push_line *at = space->pending; at; at = at->next) {
            at->scan_us += change_us;
        }
    }
    for (struct push_delivery *at = push->lists[DELIVERY_ACCEPTED].first; at; at = at->next) {
        at->accepted_until_us += change_us;
    }
}

void push_set_due(struct push *push, int64_t now_us)
{
    int64_t next_us = INT64_MAX;
    for (const struct push_namespace *at = push->namespaces; at; at = at->next) {
        int64_t of_space_us = at->pending ? next_of(at, now_us) : INT64_MAX;
        next_us = of_space_us < next_us ? of_space_us : next_us;
    }
    if (next_us == INT64_MAX || !may_take(push)) {
        (void)event_del(push->due);
        return;
    }
    struct timeval left = timeval_of(next_us > now_us ? next_us - now_us : 0);
    (void)event_add(push->due, &left);
}
