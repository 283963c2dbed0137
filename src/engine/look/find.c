// SPDX-License-Identifier: MIT
#include "engine/look/find.h"

#include "base/ascii.h"
#include "engine/job/job.h"
#include "engine/queue/queue.h"
#include "engine/state.h"

#include <string.h>

enum {
    SLICE_BYTES = FIND_DATA_MAX, // of data that a slice visits, plus one job
    NAMES = 6,                   // of a filter
};

struct found {
    uint8_t jid_size;
    char jid[];
};

struct kept {
    uint64_t ids[FIND_KEPT_MAX]; // of the jobs
    struct found *found[FIND_KEPT_MAX];
};

struct find {
    struct find *next; // the newest last
    struct engine *engine;
    struct find_view view;
    struct find_request request;
    struct list_cursor at;
    struct kept *kept; // owned
    size_t bytes_left; // in the slice
    uint64_t job_last;
    size_t size; // of the whole block
    struct slice texts[];
    // The bytes of the request's slices follow.
};

// ---------------------------------------------------------------------------------------------
// What matches

static bool has_part(struct slice text, struct slice part)
{
    if (part.size == 0 || part.size > text.size) {
        return part.size == 0;
    }
    char lower = ascii_lower(part.data[0]), upper = ascii_upper(part.data[0]);
    size_t last = text.size - part.size;
    for (size_t i = 0; i <= last; i++) {
        if ((text.data[i] == lower || text.data[i] == upper) &&
            ascii_equal(slice_sub(text, i, part.size), part)) {
            return true;
        }
    }
    return false;
}

static bool accepts(void *context, const struct job *job)
{
    struct find *find = context;
    const struct find_request *request = &find->request;
    const struct engine *engine = find->engine;
    struct slice data = slice_sub(job_data(job), 0, FIND_DATA_MAX);
    struct slice jid = job_jid(job), klass = intern_get(&engine->names, job->klass);
    if (job->id > find->job_last || !has_part(jid, request->jid)) {
        return false;
    }
    size_t bytes = data.size * (request->words.count + request->texts.count);
    find->bytes_left -= bytes < find->bytes_left ? bytes : find->bytes_left;
    for (size_t i = 0; i < request->words.count; i++) {
        if (!has_part(data, request->words.items[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < request->texts.count; i++) {
        struct slice text = request->texts.items[i];
        if (!has_part(jid, text) && !has_part(klass, text) && !has_part(data, text)) {
            return false;
        }
    }
    return true;
}

static bool is_enough(void *context)
{
    return ((const struct find *)context)->bytes_left == 0;
}

// ---------------------------------------------------------------------------------------------
// Searches

static struct find *first_open(const struct engine *engine)
{
    struct find *find = engine->finds;
    while (find && find->view.done) {
        find = find->next;
    }
    return find;
}

static struct find *by_id(const struct engine *engine, uint64_t id)
{
    struct find *find = engine->finds;
    while (find && find->view.id != id) {
        find = find->next;
    }
    return find;
}

// Removes the found jobs from that index on.
static void forget_from(struct engine *engine, struct find *find, size_t from)
{
    while (find->view.found > from) {
        struct found *found = find->kept->found[--find->view.found];
        mem_free(engine->allocator, found, sizeof(*found) + found->jid_size);
    }
}

static void find_free(struct engine *engine, struct find *find)
{
    forget_from(engine, find, 0);
    mem_free(engine->allocator, find->kept, find->kept ? sizeof(*find->kept) : 0);
    mem_free(engine->allocator, find, find->size);
}

static void drop(struct engine *engine, struct find *find)
{
    struct find **at = &engine->finds;
    while (*at != find) {
        at = &(*at)->next;
    }
    *at = find->next;
    find_free(engine, find);
}

void finds_free(struct engine *engine)
{
    while (engine->finds) {
        drop(engine, engine->finds);
    }
}

// A job that has moved may be met again.
static bool is_known(const struct find *find, uint64_t id)
{
    bool known = false;
    for (size_t i = 0; i < find->view.found; i++) {
        known |= find->kept->ids[i] == id;
    }
    return known;
}

static bool keep_job(struct engine *engine, struct find *find, const struct job *job)
{
    if (is_known(find, job->id)) {
        return true;
    }
    struct found *found = mem_alloc(engine->allocator, sizeof(*found) + job->jid_size);
    if (found) {
        found->jid_size = job->jid_size;
        memcpy(found->jid, job->jid, job->jid_size);
        find->kept->ids[find->view.found] = job->id;
        find->kept->found[find->view.found++] = found;
    }
    return found != NULL;
}

// If memory runs out, the slice is repeated.
static void run_slice(struct engine *engine, struct find *find, int64_t now_us)
{
    const struct job *room[LIST_LOOKS_MAX];
    size_t before = find->view.found, left = FIND_KEPT_MAX - before;
    struct list_request *request = &find->request.list;
    struct list_result result = { 0 };
    request->from = find->at;
    request->jobs = room;
    request->count = left < LIST_LOOKS_MAX ? left : LIST_LOOKS_MAX;
    find->bytes_left = SLICE_BYTES;
    list_walk(engine, now_us, request, &result);
    for (size_t i = 0; i < result.found; i++) {
        if (!keep_job(engine, find, room[i])) {
            forget_from(engine, find, before);
            return;
        }
    }
    find->at = result.next;
    find->view.looked_at += result.jobs_looked_at;
    find->view.full = find->view.found == FIND_KEPT_MAX;
    find->view.done = find->view.full || !result.more;
}

bool find_run(struct engine *engine, int64_t now_us)
{
    struct find *find = engine->finds ? first_open(engine) : NULL;
    if (find) {
        run_slice(engine, find, now_us);
        find = first_open(engine);
    }
    return find != NULL;
}

// ---------------------------------------------------------------------------------------------
// Calls

static enum status check_texts(struct slices texts, const char *what, struct error *error)
{
    if (texts.count > FIND_WORDS_MAX) {
        return error_set(error, STATUS_TOO_LARGE, "%zu %ss are given, and at most %d are allowed",
                         texts.count, what, FIND_WORDS_MAX);
    }
    for (size_t i = 0; i < texts.count; i++) {
        size_t size = texts.items[i].size;
        if (size == 0 || size > FIND_WORD_SIZE_MAX) {
            return error_set(error, size ? STATUS_TOO_LARGE : STATUS_INVALID,
                             "%s has %zu bytes, and 1 to %d are allowed", what, size,
                             FIND_WORD_SIZE_MAX);
        }
    }
    return STATUS_OK;
}

static enum status check(const struct find_request *request, struct error *error)
{
    enum status status = list_check(&request->list, error);
    if (!status && request->jid.size > ENGINE_NAME_SIZE_MAX) {
        status = error_set(error, STATUS_INVALID,
                           "a part of a jid has %zu bytes, and at most %d "
                           "are allowed",
                           request->jid.size, ENGINE_NAME_SIZE_MAX);
    }
    if (!status) {
        status = check_texts(request->words, "word", error);
    }
    return status ? status : check_texts(request->texts, "text", error);
}

static struct slice keep(char **at, struct slice bytes)
{
    struct slice kept = slice_make(*at, bytes.size);
    if (bytes.size) {
        memcpy(*at, bytes.data, bytes.size);
    }
    *at += bytes.size;
    return kept;
}

static void names_of(struct list_request *list, struct slice *out[NAMES])
{
    out[0] = &list->queue;
    out[1] = &list->klass;
    out[2] = &list->worker;
    out[3] = &list->tag;
    out[4] = &list->domain;
    out[5] = &list->group;
}

static struct find *find_new(struct engine *engine, const struct find_request *request)
{
    struct find_request wanted = *request;
    struct slice *names[NAMES];
    size_t count = request->words.count + request->texts.count;
    size_t size = sizeof(struct find) + count * sizeof(struct slice) + request->jid.size;
    names_of(&wanted.list, names);
    for (size_t i = 0; i < NAMES; i++) {
        size += names[i]->size;
    }
    for (size_t i = 0; i < request->words.count; i++) {
        size += request->words.items[i].size;
    }
    for (size_t i = 0; i < request->texts.count; i++) {
        size += request->texts.items[i].size;
    }
    struct find *find = mem_zalloc(engine->allocator, size);
    if (!find) {
        return NULL;
    }
    find->size = size;
    find->engine = engine;
    find->kept = mem_alloc(engine->allocator, sizeof(*find->kept));
    if (!find->kept) {
        find_free(engine, find);
        return NULL;
    }
    char *at = (char *)(find->texts + count);
    for (size_t i = 0; i < NAMES; i++) {
        *names[i] = keep(&at, *names[i]);
    }
    wanted.jid = keep(&at, request->jid);
    for (size_t i = 0; i < count; i++) {
        bool word = i < request->words.count;
        find->texts[i] = keep(&at, word ? request->words.items[i]
                                        : request->texts.items[i - request->words.count]);
    }
    wanted.words.items = find->texts;
    wanted.texts.items = find->texts + request->words.count;
    wanted.list.accepts = accepts;
    wanted.list.is_enough = is_enough;
    wanted.list.context = find;
    find->request = wanted;
    return find;
}

// Makes room for one more search; the newest is the last.
static enum status make_room(struct engine *engine, struct find ***last, struct error *error)
{
    struct find *done = NULL;
    size_t count = 0;
    for (struct find *at = engine->finds; at; at = at->next, count++) {
        done = !done && at->view.done ? at : done;
    }
    if (count >= FINDS_MAX && !done) {
        return error_set(error, STATUS_BUSY, "%d searches are under way; drop one of them",
                         FINDS_MAX);
    }
    if (count >= FINDS_MAX) {
        drop(engine, done);
    }
    *last = &engine->finds;
    while (**last) {
        *last = &(**last)->next;
    }
    return STATUS_OK;
}

enum status engine_find(struct engine *engine, int64_t now_us, const struct find_request *request,
                        uint64_t *id, struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = check(request, error);
    }
    struct find *find = status ? NULL : find_new(engine, request);
    if (!find) {
        return status ? status : engine_no_memory(error);
    }
    struct find **last = &engine->finds;
    status = make_room(engine, &last, error);
    if (status) {
        find_free(engine, find);
        return status;
    }
    *last = find;
    const struct queue *queue = queue_find(engine, request->list.queue);
    find->view.id = *id = ++engine->find_id;
    find->view.began_us = now_us;
    find->view.total = request->list.queue.size ? (queue ? queue->jobs + queue->complete.count : 0)
                                                : engine->jobs.count;
    find->job_last = engine->job_id;
    if (first_open(engine) == find) {
        run_slice(engine, find, now_us);
    }
    return STATUS_OK;
}

bool engine_find_get(const struct engine *engine, uint64_t id, struct find_view *view)
{
    const struct find *find = by_id(engine, id);
    if (find) {
        *view = find->view;
    }
    return find != NULL;
}

bool engine_find_at(const struct engine *engine, size_t index, struct find_view *view)
{
    const struct find *find = engine->finds;
    for (; find && index > 0; index--) {
        find = find->next;
    }
    if (find) {
        *view = find->view;
    }
    return find != NULL;
}

bool engine_find_job(const struct engine *engine, uint64_t id, size_t index, struct slice *jid,
                     const struct job **job)
{
    const struct find *find = by_id(engine, id);
    if (!find || index >= find->view.found) {
        return false;
    }
    const struct found *found = find->kept->found[index];
    *jid = slice_make(found->jid, found->jid_size);
    const struct job *at = map_find(&engine->jobs, *jid);
    *job =
        at && at->id == find->kept->ids[index] ? at : NULL; // another job may have its jid by now
    return true;
}

enum status engine_find_drop(struct engine *engine, uint64_t id, struct error *error)
{
    struct find *find = by_id(engine, id);
    if (!find) {
        return error_set(error, STATUS_NOT_FOUND, "search %llu does not exist",
                         (unsigned long long)id);
    }
    drop(engine, find);
    return STATUS_OK;
}
