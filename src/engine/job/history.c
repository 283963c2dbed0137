// SPDX-License-Identifier: MIT
// The first entry is a put and is stored in fields of the job. The others are packed one after the
// other: size (4), kind (1), time (8), another time (8) if the kind has the bit HAS_UNTIL, then the
// strings of the kind, each with a size of one byte, except for data with four.
#include "engine/job/history.h"

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/num.h"
#include "engine/job/job.h"
#include "engine/state.h"

#include <assert.h>
#include <string.h>

enum {
    HEADER_SIZE = 13,
    UNTIL_SIZE = 8,
    HAS_UNTIL = 0x80, // in the byte of the kind
    CAPACITY_MIN = 43,
    TRAIL_HEADER = offsetof(struct trail, entries),
    MESSAGE_SIZE_MAX = 1024,
    LOG_LINE_SIZE_MAX = 4096,
};

// The name of each kind of entry, its number of strings, and whether data follows them.
static const struct {
    struct slice what; // empty: its first string is the name
    size_t strings;
    bool data;
} shapes[HISTORY_KIND_COUNT] = {
    [HISTORY_PUT] = { { "put", 3 }, 1, false },
    [HISTORY_POPPED] = { { "popped", 6 }, 1, false },
    [HISTORY_DONE] = { { "done", 4 }, 0, false },
    [HISTORY_FAILED] = { { "failed", 6 }, 2, true },
    [HISTORY_TIMED_OUT] = { { "timed-out", 9 }, 0, false },
    [HISTORY_LOG] = { { "", 0 }, 1, true },
    [HISTORY_RETRIED] = { { "retried", 7 }, 2, true },
    [HISTORY_STARTED] = { { "started", 7 }, 1, true },
};

// The first string of an entry; the second is always the group.
static struct slice first_string(const struct history_entry *entry)
{
    return entry->kind == HISTORY_PUT   ? entry->queue
           : entry->kind == HISTORY_LOG ? entry->what
                                        : entry->worker;
}

static struct slice data_of(const struct history_entry *entry)
{
    return entry->kind == HISTORY_LOG ? entry->data : slice_sub(entry->data, 0, MESSAGE_SIZE_MAX);
}

static size_t entry_size(const struct history_entry *entry)
{
    size_t size = HEADER_SIZE + shapes[entry->kind].strings;
    size += entry->until_us ? UNTIL_SIZE : 0;
    size += shapes[entry->kind].strings > 0 ? first_string(entry).size : 0;
    size += shapes[entry->kind].strings > 1 ? entry->group.size : 0;
    return size + (shapes[entry->kind].data ? 4 + data_of(entry).size : 0);
}

size_t history_count(const struct job *job)
{
    return 1 + (job->history ? job->history->count : 0);
}

size_t log_count(const struct job *job)
{
    const struct job_rare *rare = job_rare(job);
    return rare && rare->log ? rare->log->count : 0;
}

struct slice trail_bytes(const struct trail *trail)
{
    return trail ? slice_make(trail->entries, trail->size) : SLICE_EMPTY;
}

static size_t trail_size(const struct trail *trail)
{
    return trail ? TRAIL_HEADER + trail->capacity : 0;
}

void trail_free(struct engine *engine, struct trail *trail)
{
    mem_free(engine->allocator, trail, trail_size(trail));
}

// Makes room for `size` bytes in total.
static enum status reserve_size(struct engine *engine, struct trail **trail, size_t size)
{
    struct trail *old = *trail;
    if (old && size <= old->capacity) {
        return STATUS_OK;
    }
    size_t capacity = old ? old->capacity : CAPACITY_MIN;
    while (capacity < size) {
        capacity *= 2;
    }
    struct trail *made =
        mem_resize(engine->allocator, old, trail_size(old), TRAIL_HEADER + capacity);
    if (!made) {
        return STATUS_NO_MEMORY;
    }
    if (!old) {
        memset(made, 0, TRAIL_HEADER);
    }
    made->capacity = (uint32_t)capacity;
    *trail = made;
    return STATUS_OK;
}

enum status trail_reserve(struct engine *engine, struct trail **trail)
{
    return reserve_size(engine, trail, 0);
}

static enum status reserve(struct engine *engine, struct trail **trail,
                           const struct history_entry *entries, size_t count)
{
    size_t needed = trail_bytes(*trail).size;
    for (size_t i = 0; i < count; i++) {
        needed += entry_size(&entries[i]);
    }
    return reserve_size(engine, trail, needed);
}

enum status history_reserve(struct engine *engine, struct job *job,
                            const struct history_entry *entries, size_t count)
{
    return reserve(engine, &job->history, entries, count);
}

static struct history_entry log_entry(int64_t when_us, struct slice line)
{
    return (struct history_entry){ .kind = HISTORY_LOG,
                                   .when_us = when_us,
                                   .data = slice_sub(line, 0, LOG_LINE_SIZE_MAX) };
}

enum status log_reserve(struct engine *engine, struct job *job, struct slice line)
{
    const struct history_entry entry = log_entry(0, line);
    return reserve(engine, &job_rare(job)->log, &entry, 1);
}

// Drops the oldest entries until there are at most `count_max`.
static void make_room(struct trail *trail, int64_t count_max)
{
    size_t dropped = 0;
    while (trail->count > 0 && trail->count > count_max) {
        assert(dropped < trail->size);
        dropped += bytes_load_u32(trail->entries + dropped);
        trail->count--;
    }
    if (dropped) {
        trail->size -= (uint32_t)dropped;
        memmove(trail->entries, trail->entries + dropped, trail->size);
    }
}

static char *put_string(char *at, struct slice string)
{
    *at++ = (char)string.size;
    if (string.size) {
        memcpy(at, string.data, string.size);
    }
    return at + string.size;
}

static void append(struct trail *trail, const struct history_entry *entry)
{
    size_t size = entry_size(entry);
    assert(trail->size + size <= trail->capacity);
    char *at = trail->entries + trail->size;
    bytes_store_u32(at, (uint32_t)size);
    at[4] = (char)((unsigned)entry->kind | (entry->until_us ? HAS_UNTIL : 0));
    bytes_store_u64(at + 5, (uint64_t)entry->when_us);
    at += HEADER_SIZE;
    if (entry->until_us) {
        bytes_store_u64(at, (uint64_t)entry->until_us);
        at += UNTIL_SIZE;
    }
    if (shapes[entry->kind].strings > 0) {
        at = put_string(at, first_string(entry));
    }
    if (shapes[entry->kind].strings > 1) {
        at = put_string(at, entry->group);
    }
    if (shapes[entry->kind].data) {
        struct slice data = data_of(entry);
        bytes_store_u32(at, (uint32_t)data.size);
        if (data.data) {
            memcpy(at + 4, data.data, data.size);
        }
    }
    trail->size += (uint32_t)size;
    trail->count++;
}

void history_append(struct engine *engine, struct job *job, const struct history_entry *entry)
{
    int64_t count_max = engine->config.max_job_history;
    if (count_max > 0) {
        // The first entry, which is stored elsewhere, and this one count too.
        make_room(job->history, count_max >= 2 ? count_max - 2 : 0);
    }
    if (count_max != 1) {
        append(job->history, entry);
    }
}

void log_append(struct engine *engine, struct job *job, int64_t when_us, struct slice line)
{
    const struct history_entry entry = log_entry(when_us, line);
    struct trail *log = job_rare(job)->log;
    int64_t count_max = engine->config.max_job_log;
    make_room(log, count_max > 0 ? count_max - 1 : 0);
    if (count_max > 0) {
        append(log, &entry);
    }
}

// The kind of an entry, and the offset of its strings.
static size_t kind_of(const char *entry)
{
    return (unsigned char)entry[4] & ~(unsigned)HAS_UNTIL;
}

static size_t strings_of(const char *entry)
{
    return HEADER_SIZE + ((unsigned char)entry[4] & HAS_UNTIL ? UNTIL_SIZE : 0);
}

// Whether the strings of an entry fill it exactly.
static bool entry_valid(struct slice entry)
{
    if (entry.size < HEADER_SIZE || kind_of(entry.data) >= HISTORY_KIND_COUNT) {
        return false;
    }
    size_t kind = kind_of(entry.data);
    size_t at = strings_of(entry.data);
    if (at > entry.size) {
        return false;
    }
    for (size_t i = 0; i < shapes[kind].strings; i++) {
        if (at >= entry.size) {
            return false;
        }
        at += 1 + (size_t)(unsigned char)entry.data[at];
    }
    if (shapes[kind].data) {
        if (at > entry.size || entry.size - at < 4) {
            return false;
        }
        at += 4 + (size_t)bytes_load_u32(entry.data + at);
    }
    return at == entry.size;
}

enum status trail_load(struct engine *engine, struct trail **out, struct slice bytes)
{
    uint32_t count = 0;
    for (size_t at = 0; at < bytes.size; count++) {
        size_t size = bytes.size - at < 4 ? 0 : bytes_load_u32(bytes.data + at);
        if (size > bytes.size - at || !entry_valid(slice_sub(bytes, at, size))) {
            return STATUS_CORRUPT;
        }
        at += size;
    }
    if (bytes.size == 0) {
        return STATUS_OK;
    }
    if (reserve_size(engine, out, bytes.size)) {
        return STATUS_NO_MEMORY;
    }
    memcpy((*out)->entries, bytes.data, bytes.size);
    (*out)->size = (uint32_t)bytes.size;
    (*out)->count = count;
    return STATUS_OK;
}

static void read_entry(const char *at, struct history_view *view)
{
    enum history_kind kind = (enum history_kind)kind_of(at);
    bool later = strings_of(at) > HEADER_SIZE;
    *view =
        (struct history_view){ .when_us = (int64_t)bytes_load_u64(at + 5),
                               .until_us = later ? (int64_t)bytes_load_u64(at + HEADER_SIZE) : 0,
                               .what = shapes[kind].what };
    struct slice strings[2] = { SLICE_EMPTY, SLICE_EMPTY };
    at += strings_of(at);
    for (size_t i = 0; i < shapes[kind].strings; i++) {
        strings[i] = slice_make(at + 1, (unsigned char)*at);
        at += 1 + strings[i].size;
    }
    struct slice data = shapes[kind].data ? slice_make(at + 4, bytes_load_u32(at)) : SLICE_EMPTY;
    if (kind == HISTORY_PUT) {
        view->queue = strings[0];
    } else if (kind == HISTORY_LOG) {
        view->what = strings[0];
        view->noted = true;
        view->data = data;
    } else {
        view->worker = strings[0];
        view->group = strings[1];
        *(kind == HISTORY_STARTED ? &view->data : &view->message) = data;
    }
}

// The entry at an offset; moves the offset behind it.
static bool next_entry(const struct trail *trail, size_t *offset, struct history_view *view)
{
    struct slice bytes = trail_bytes(trail);
    if (*offset >= bytes.size) {
        return false;
    }
    read_entry(bytes.data + *offset, view);
    *offset += bytes_load_u32(bytes.data + *offset);
    return true;
}

bool job_history_next(const struct engine *engine, const struct job *job, size_t *position,
                      struct history_view *view)
{
    if (*position == 0) {
        *view = (struct history_view){
            .when_us = job->created_us,
            .what = SLICE("put"),
            .queue = intern_get(&engine->names, job->created_queue),
        };
        *position = 1;
        return true;
    }
    // After the first entry the position is an offset plus one.
    size_t offset = *position - 1;
    bool found = next_entry(job->history, &offset, view);
    *position = offset + 1;
    return found;
}

bool job_log_next(const struct job *job, size_t *position, struct log_view *view)
{
    const struct job_rare *rare = job_rare(job);
    struct history_view entry;
    if (!rare || !next_entry(rare->log, position, &entry)) {
        return false;
    }
    *view = (struct log_view){ .when_us = entry.when_us, .line = entry.data };
    return true;
}

// ---------------------------------------------------------------------------------------------
// Entries of restored jobs

// HISTORY_KIND_COUNT: the word is unknown.
static enum history_kind kind_called(const struct history_view *view)
{
    if (view->noted) {
        return HISTORY_LOG;
    }
    enum history_kind kind = HISTORY_PUT;
    while (kind < HISTORY_KIND_COUNT &&
           (kind == HISTORY_LOG || !slice_equal(shapes[kind].what, view->what))) {
        kind++;
    }
    return kind;
}

static struct history_entry entry_of(const struct history_view *view)
{
    return (struct history_entry){
        .kind = kind_called(view),
        .when_us = view->when_us,
        .queue = view->queue,
        .worker = view->worker,
        .group = view->group,
        .what = view->what,
        .data = view->data.size ? view->data : view->message,
        .until_us = view->until_us,
    };
}

static enum status check_entry(const struct history_view *view, struct error *error)
{
    enum history_kind kind = kind_called(view);
    if (kind == HISTORY_KIND_COUNT) {
        return error_set(error, STATUS_INVALID, "\"%.*s\" is no word of a history",
                         SLICE_PRINT(slice_shown(view->what)));
    }
    if (view->when_us < 0 || view->when_us > ENGINE_TIME_MAX || view->until_us < 0 ||
        view->until_us > ENGINE_TIME_MAX) {
        return error_set(error, STATUS_INVALID,
                         "the times of a history must lie between the years 1970 and 9999");
    }
    enum status status = name_check(view->what, "the word of a history", error);
    if (!status && kind == HISTORY_PUT) {
        status = name_check(view->queue, "the queue of a history", error);
    }
    if (!status) {
        status = name_check_if_given(view->worker, "the worker of a history", error);
    }
    return status ? status : name_check_if_given(view->group, "the group of a history", error);
}

enum status history_check(const struct history_view *entries, size_t count, struct error *error)
{
    size_t size = 0;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && !status; i++) {
        status = check_entry(&entries[i], error);
        if (!status) {
            const struct history_entry entry = entry_of(&entries[i]);
            size += entry_size(&entry);
        }
        if (size > DATA_SIZE_MAX) {
            status =
                error_set(error, STATUS_TOO_LARGE, "a history may have %d bytes", DATA_SIZE_MAX);
        }
    }
    return status;
}

enum status history_restore(struct engine *engine, struct job *job,
                            const struct history_view *entries, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        const struct history_entry entry = entry_of(&entries[i]);
        size += entry_size(&entry);
    }
    if (count && reserve_size(engine, &job->history, size)) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        const struct history_entry entry = entry_of(&entries[i]);
        append(job->history, &entry);
    }
    return STATUS_OK;
}

enum status log_restore(struct engine *engine, struct job *job, const struct log_view *lines,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct history_entry entry = log_entry(lines[i].when_us, lines[i].line);
        if (reserve(engine, &job_rare(job)->log, &entry, 1)) {
            return STATUS_NO_MEMORY;
        }
        append(job_rare(job)->log, &entry);
    }
    return STATUS_OK;
}

int64_t history_first_run(const struct job *job, int64_t otherwise)
{
    struct slice bytes = trail_bytes(job->history);
    for (size_t at = 0; at < bytes.size; at += bytes_load_u32(bytes.data + at)) {
        if (kind_of(bytes.data + at) == HISTORY_POPPED) {
            return (int64_t)bytes_load_u64(bytes.data + at + 5);
        }
    }
    return otherwise;
}

// ---------------------------------------------------------------------------------------------
// What the history tells about runs

#define PID_BEFORE "{\"pid\":"

static int64_t pid_of(struct slice data)
{
    const size_t before = sizeof(PID_BEFORE) - 1;
    uint64_t pid;
    return data.size > before + 1 &&
                   !num_parse_u64(slice_sub(data, before, data.size - before - 1), &pid)
               ? (int64_t)pid
               : 0;
}

void history_pid(int64_t pid, struct history_pid *out)
{
    struct buffer text = { .data = out->bytes,
                           .capacity = sizeof(out->bytes) - 1,
                           .size_max = sizeof(out->bytes) - 1 };
    if (pid) {
        buffer_append(&text, SLICE(PID_BEFORE));
        num_append_i64(&text, pid);
        buffer_append_char(&text, '}');
    }
    out->size = text.size;
}

static bool is_kind(const struct history_view *entry, enum history_kind kind)
{
    return slice_equal(entry->what, shapes[kind].what);
}

// Entries of Q.LOG may use the engine's words, but have neither a queue nor a worker.
static void note_past(struct job_past *past, const struct history_view *entry)
{
    bool put = is_kind(entry, HISTORY_PUT) && entry->queue.size;
    bool popped = is_kind(entry, HISTORY_POPPED) && entry->worker.size;
    if (put || (is_kind(entry, HISTORY_RETRIED) && entry->worker.size)) {
        past->eta_us = entry->until_us;
    } else if (popped) {
        past->eta_us = entry->until_us ? entry->until_us : past->eta_us;
        past->popped_us = entry->when_us;
        past->started_us = past->pid = 0;
        past->worker = entry->worker;
    } else if (is_kind(entry, HISTORY_STARTED) && entry->worker.size) {
        past->started_us = past->started_us ? past->started_us : entry->when_us;
        past->pid = pid_of(entry->data);
    }
}

void job_past(const struct engine *engine, const struct job *job, struct job_past *out)
{
    struct history_view entry;
    struct job_view view;
    size_t position = 0;
    *out = (struct job_past){ 0 };
    while (job_history_next(engine, job, &position, &entry)) {
        note_past(out, &entry);
    }
    job_view(engine, job, &view);
    if (view.scheduled_us) {
        out->eta_us = view.scheduled_us;
    } else if (view.history_count == 1 && view.line_us > view.created_us) {
        out->eta_us = view.line_us; // its first put does not contain the scheduled time
    }
    // For the current run the lease is more exact than the history.
    if (view.token) {
        out->popped_us = view.time_us;
        out->worker = view.worker;
        out->pid = view.pid;
    }
}
