// SPDX-License-Identifier: MIT
// Records are loaded as usual. Those of a kind that are refused are left out. Since others may have
// been refused because of them, the loading starts again without them, until nothing is refused.
#include "engine/records/salvage.h"

#include "base/bytes.h"
#include "engine/check/check.h"
#include "engine/records/record_reader.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    ENGINE_RECORD_SIZE = 1 + 6 * 8, // without the last field, which is optional
    QUEUE_RECORD_SIZE_MAX = 4 + ENGINE_NAME_SIZE_MAX + 2 + 8 + 16 + 8,
    NAME_SHOWN = 64,
};

// Numbers that may have been used after the last record. The token of a lease must never be used
// again, because it distinguishes two holders of a job.
#define AHEAD      (UINT64_C(1) << 32)
#define AHEAD_LOST (UINT64_C(1) << 48) // without the engine's own record

// A queue that has jobs, but whose record is lost.
struct lost_queue {
    uint64_t id;
    char bytes[QUEUE_RECORD_SIZE_MAX];
    size_t size;
};

struct attempt {
    const struct salvage *salvage;
    struct engine *engine;
    char own[ENGINE_RECORD_SIZE]; // the engine's record
    uint64_t queue_last, sequence;
    struct lost_queue *queues;
    size_t queue_count, queue_capacity; // of all attempts
    size_t refused;
    bool reported_own;
};

// The records of a kind.
struct range {
    struct salvage_record *items;
    size_t count;
};

static void __attribute__((format(printf, 2, 3)))
report(const struct salvage *salvage, const char *format, ...)
{
    if (salvage->report) {
        char sentence[ERROR_DETAIL_SIZE];
        va_list arguments;
        va_start(arguments, format);
        error_print(sentence, sizeof(sentence), format, arguments);
        va_end(arguments);
        salvage->report(salvage->context, sentence);
    }
}

static size_t first_of(const struct salvage *salvage, struct record_key key)
{
    size_t low = 0, high = salvage->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct record_key *at = &salvage->records[middle].key;
        bool below = at->kind != key.kind ? at->kind < key.kind : at->id < key.id;
        low = below ? middle + 1 : low;
        high = below ? high : middle;
    }
    return low;
}

static struct range range_of(const struct salvage *salvage, enum record_kind kind)
{
    size_t first = first_of(salvage, (struct record_key){ kind, 0, 0 });
    size_t end = first_of(salvage, (struct record_key){ kind + 1, 0, 0 });
    return (struct range){ salvage->records + first, end - first };
}

// The record of that kind and number, unless it is left out.
static struct salvage_record *find(const struct salvage *salvage, enum record_kind kind,
                                   uint64_t id)
{
    size_t at = first_of(salvage, (struct record_key){ kind, id, 0 });
    struct salvage_record *record = &salvage->records[at];
    return at < salvage->count && record->key.kind == kind && record->key.id == id &&
                   !record->left_out
               ? record
               : NULL;
}

// ---------------------------------------------------------------------------------------------
// Parts of records. Bytes that are invalid are read as zeros.

static struct slice jid_of(const struct salvage_record *body)
{
    struct reader reader = { body->bytes.data, body->bytes.size, false };
    struct slice jid = take_name(&reader);
    return reader.bad ? SLICE_EMPTY : jid;
}

static struct slice first_queue_of(const struct salvage_record *body)
{
    struct reader reader = { body->bytes.data, body->bytes.size, false };
    (void)take_name(&reader);   // jid
    (void)take_name(&reader);   // klass
    (void)take_string(&reader); // data
    (void)take(&reader, 4 + 4);
    (void)take(&reader, 8);
    struct slice queue = take_name(&reader);
    return reader.bad ? SLICE_EMPTY : queue;
}

static enum job_state state_of(const struct salvage_record *head)
{
    uint8_t state = head->bytes.size ? (uint8_t)head->bytes.data[0] & (uint8_t)~HEAD_FLAGS
                                     : (uint8_t)JOB_STATE_COUNT;
    return state < JOB_STATE_COUNT ? (enum job_state)state : JOB_STATE_COUNT;
}

static uint64_t queue_of(const struct salvage_record *record)
{
    struct reader reader = { record->bytes.data, record->bytes.size, false };
    if (record->key.kind == RECORD_RECURRING) {
        (void)take_name(&reader);
    } else {
        (void)take_u8(&reader);
    }
    uint64_t queue = take_u64(&reader);
    return reader.bad ? 0 : queue;
}

static struct slice name_of_queue(const struct salvage_record *queue)
{
    return jid_of(queue); // the record of a queue begins with its name too
}

// ---------------------------------------------------------------------------------------------
// Jobs

static void leave_out(const struct salvage *salvage, struct salvage_record *record, const char *why)
{
    record->left_out = true;
    const struct salvage_record *body = find(salvage, RECORD_BODY, record->key.id);
    if (record->key.kind == RECORD_BODY) {
        body = record;
    }
    struct slice jid = body && record->key.kind >= RECORD_BODY && record->key.kind <= RECORD_HEAD
                           ? slice_sub(jid_of(body), 0, NAME_SHOWN)
                           : SLICE_EMPTY;
    if (jid.size) {
        report(salvage, "job %.*s is lost: %s", SLICE_PRINT(jid), why);
    } else if (record->key.kind == RECORD_BODY || record->key.kind == RECORD_HEAD) {
        report(salvage, "the job with the number %llu is lost: %s",
               (unsigned long long)record->key.id, why);
    } else {
        report(salvage, "the record of kind %d with the number %llu is left out: %s",
               (int)record->key.kind, (unsigned long long)record->key.id, why);
    }
}

// A job needs both of its records.
static void leave_out_halves(const struct salvage *salvage)
{
    struct range bodies = range_of(salvage, RECORD_BODY);
    for (size_t i = 0; i < bodies.count; i++) {
        struct salvage_record *body = &bodies.items[i];
        if (!body->left_out && !find(salvage, RECORD_HEAD, body->key.id)) {
            leave_out(salvage, body, "its head, which says where it stands, cannot be read");
        }
    }
    struct range heads = range_of(salvage, RECORD_HEAD);
    for (size_t i = 0; i < heads.count; i++) {
        struct salvage_record *head = &heads.items[i];
        if (head->left_out || find(salvage, RECORD_BODY, head->key.id)) {
            continue;
        }
        // Reported already if the body exists and was left out.
        size_t at = first_of(salvage, (struct record_key){ RECORD_BODY, head->key.id, 0 });
        if (at < salvage->count && salvage->records[at].left_out &&
            salvage->records[at].key.id == head->key.id) {
            head->left_out = true;
        } else {
            leave_out(salvage, head, "its body, with its data, cannot be read");
        }
    }
}

struct named {
    struct salvage_record *body;
};

static struct slice named_key(const void *value)
{
    return jid_of(((const struct named *)value)->body);
}

// Of two jobs with the same jid the later one is kept: the other was deleted before it was made.
static enum status leave_out_namesakes(const struct salvage *salvage)
{
    const struct allocator *allocator = salvage->options->allocator;
    struct range bodies = range_of(salvage, RECORD_BODY);
    struct named *named = bodies.count ? mem_alloc(allocator, bodies.count * sizeof(*named)) : NULL;
    struct map by_jid;
    map_init(&by_jid, allocator, salvage->options->seed, named_key);
    enum status status = bodies.count && !named ? STATUS_NO_MEMORY : STATUS_OK;
    for (size_t i = bodies.count; i > 0 && !status; i--) {
        named[i - 1].body = &bodies.items[i - 1];
        if (bodies.items[i - 1].left_out || !jid_of(named[i - 1].body).size) {
            continue;
        }
        status = map_insert(&by_jid, &named[i - 1]);
        if (status == STATUS_EXISTS) {
            leave_out(salvage, named[i - 1].body, "a later job has the same jid");
            status = STATUS_OK;
        }
    }
    map_release(&by_jid);
    mem_free(allocator, named, bodies.count * sizeof(*named));
    return status;
}

// ---------------------------------------------------------------------------------------------
// The engine's own record

static uint64_t last_of(const struct salvage *salvage, enum record_kind kind)
{
    struct range range = range_of(salvage, kind);
    uint64_t last = 0;
    for (size_t i = 0; i < range.count; i++) {
        last =
            range.items[i].left_out || range.items[i].key.id < last ? last : range.items[i].key.id;
    }
    return last;
}

static void raise_to(char *at, uint64_t value)
{
    if (bytes_load_u64(at) < value) {
        bytes_store_u64(at, value);
    }
}

static bool own_is_sane(struct slice bytes)
{
    return (bytes.size == ENGINE_RECORD_SIZE || bytes.size == ENGINE_RECORD_SIZE + 8) &&
           (uint8_t)bytes.data[0] <= ENGINE_CLOCK_CLIENT &&
           bytes_load_u64(bytes.data + 1) <= ENGINE_TIME_MAX;
}

// Sets counters above all numbers that were found.
static void make_own(struct attempt *attempt)
{
    const struct salvage *salvage = attempt->salvage;
    char *own = attempt->own;
    struct salvage_record *record = find(salvage, RECORD_ENGINE, 0);
    bool lost = !record || !own_is_sane(record->bytes);
    uint64_t ahead = lost ? AHEAD_LOST : AHEAD;
    memset(own, 0, ENGINE_RECORD_SIZE);
    if (lost) {
        own[0] = (char)salvage->options->clock;
        bytes_store_u64(own + 1, salvage->options->clock == ENGINE_CLOCK_SERVER
                                     ? (uint64_t)salvage->now_us
                                     : 0);
        if (!attempt->reported_own) {
            report(salvage, "the engine's own record is lost, and made anew");
        }
        attempt->reported_own = true;
    } else {
        memcpy(own, record->bytes.data, ENGINE_RECORD_SIZE);
    }
    raise_to(own + 9, last_of(salvage, RECORD_BODY));
    raise_to(own + 9, last_of(salvage, RECORD_RECURRING));
    raise_to(own + 9, last_of(salvage, RECORD_PROMISE));
    raise_to(own + 17, last_of(salvage, RECORD_QUEUE));
    for (size_t i = 0; i < 3; i++) { // workers, leases, everything else
        char *at = own + 25 + 8 * i;
        bytes_store_u64(at, bytes_load_u64(at) + ahead);
    }
    attempt->queue_last = bytes_load_u64(own + 17);
    for (size_t i = 0; i < attempt->queue_count; i++) {
        uint64_t id = attempt->queues[i].id;
        attempt->queue_last = id > attempt->queue_last ? id : attempt->queue_last;
    }
    attempt->sequence = bytes_load_u64(own + 41) + attempt->queue_count;
}

// ---------------------------------------------------------------------------------------------
// Queues

static bool name_is_taken(const struct attempt *attempt, struct slice name)
{
    struct range queues = range_of(attempt->salvage, RECORD_QUEUE);
    for (size_t i = 0; i < queues.count; i++) {
        if (!queues.items[i].left_out && slice_equal(name_of_queue(&queues.items[i]), name)) {
            return true;
        }
    }
    for (size_t i = 0; i < attempt->queue_count; i++) {
        const struct lost_queue *queue = &attempt->queues[i];
        if (slice_equal(slice_make(queue->bytes + 4, bytes_load_u32(queue->bytes)), name)) {
            return true;
        }
    }
    return false;
}

static bool is_known(const struct attempt *attempt, uint64_t id)
{
    for (size_t i = 0; i < attempt->queue_count; i++) {
        if (attempt->queues[i].id == id) {
            return true;
        }
    }
    return find(attempt->salvage, RECORD_QUEUE, id) != NULL;
}

static void write_queue(struct attempt *attempt, struct lost_queue *queue, struct slice name)
{
    int64_t now_us = (int64_t)bytes_load_u64(attempt->own + 1);
    struct index_key order = time_key(now_us, ++attempt->sequence);
    char *at = queue->bytes;
    bytes_store_u32(at, (uint32_t)name.size);
    memcpy(at + 4, name.data, name.size);
    at += 4 + name.size;
    at[0] = 1; // the queue is listed
    at[1] = 0;
    bytes_store_u64(at + 2, (uint64_t)now_us);
    bytes_store_u64(at + 10, order.high);
    bytes_store_u64(at + 18, order.low);
    bytes_store_u64(at + 26, 0);
    queue->size = (size_t)(at + 34 - queue->bytes);
}

// Makes the record of a queue that has a job: named by the job's first put, unless the job has
// moved to another queue since.
static enum status make_queue(struct attempt *attempt, uint64_t id, struct slice first_queue)
{
    if (attempt->queue_count == attempt->queue_capacity) {
        size_t capacity = 2 * attempt->queue_capacity + 8;
        void *queues = mem_resize(attempt->salvage->options->allocator, attempt->queues,
                                  attempt->queue_capacity * sizeof(*attempt->queues),
                                  capacity * sizeof(*attempt->queues));
        if (!queues) {
            return STATUS_NO_MEMORY;
        }
        attempt->queues = queues;
        attempt->queue_capacity = capacity;
    }
    char made_up[32];
    if (!first_queue.size || name_is_taken(attempt, first_queue)) {
        (void)snprintf(made_up, sizeof(made_up), "repaired-%llu", (unsigned long long)id);
        first_queue = slice_from_cstr(made_up);
    }
    struct lost_queue *queue = &attempt->queues[attempt->queue_count];
    queue->id = id;
    write_queue(attempt, queue, first_queue);
    attempt->queue_count++;
    attempt->queue_last = id > attempt->queue_last ? id : attempt->queue_last;
    report(attempt->salvage, "the record of queue %llu is lost, and made anew as %.*s",
           (unsigned long long)id, SLICE_PRINT(slice_sub(first_queue, 0, NAME_SHOWN)));
    return STATUS_OK;
}

static enum status make_queues(struct attempt *attempt, enum record_kind kind)
{
    struct range range = range_of(attempt->salvage, kind);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < range.count && !status; i++) {
        const struct salvage_record *record = &range.items[i];
        uint64_t id = record->left_out ? 0 : queue_of(record);
        if (id == 0 || is_known(attempt, id)) {
            continue;
        }
        const struct salvage_record *body =
            kind == RECORD_HEAD ? find(attempt->salvage, RECORD_BODY, record->key.id) : NULL;
        status = make_queue(attempt, id, body ? first_queue_of(body) : SLICE_EMPTY);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Loading

static enum status read_one(struct attempt *attempt, struct salvage_record *record)
{
    struct error error = { 0 };
    enum status status = record_read(attempt->engine, record->key, record->bytes, &error);
    if (status == STATUS_CORRUPT) {
        leave_out(attempt->salvage, record, "its bytes make no sense with the others");
        attempt->refused++;
        return STATUS_OK;
    }
    return status;
}

static enum status read_some(struct attempt *attempt, struct range range, bool complete)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < range.count && !status; i++) {
        struct salvage_record *record = &range.items[i];
        bool is_complete = record->key.kind == RECORD_HEAD && state_of(record) == JOB_COMPLETE;
        if (!record->left_out && is_complete == complete) {
            status = read_one(attempt, record);
        }
    }
    return status;
}

static enum status read_made(struct attempt *attempt, enum record_kind kind)
{
    if (kind == RECORD_ENGINE) {
        bytes_store_u64(attempt->own + 17, attempt->queue_last);
        bytes_store_u64(attempt->own + 41, attempt->sequence);
        return record_read(attempt->engine, (struct record_key){ RECORD_ENGINE, 0, 0 },
                           slice_make(attempt->own, ENGINE_RECORD_SIZE), NULL);
    }
    enum status status = STATUS_OK;
    for (size_t i = 0; kind == RECORD_QUEUE && i < attempt->queue_count && !status; i++) {
        const struct lost_queue *queue = &attempt->queues[i];
        status = record_read(attempt->engine, (struct record_key){ RECORD_QUEUE, queue->id, 0 },
                             slice_make(queue->bytes, queue->size), NULL);
    }
    return status;
}

// Complete jobs first, so that dependents on them can be distinguished.
static enum status read_kinds(struct attempt *attempt)
{
    enum status status = STATUS_OK;
    for (int kind = RECORD_ENGINE; kind < RECORD_END && !status && !attempt->refused; kind++) {
        struct range range = range_of(attempt->salvage, (enum record_kind)kind);
        status = read_made(attempt, (enum record_kind)kind);
        if (!status && kind != RECORD_ENGINE) {
            status = read_some(attempt, range, true);
            status = status ? status : read_some(attempt, range, false);
        }
    }
    return status;
}

static enum status prepare(struct attempt *attempt)
{
    attempt->refused = 0;
    leave_out_halves(attempt->salvage);
    make_own(attempt);
    enum status status = make_queues(attempt, RECORD_HEAD);
    status = status ? status : make_queues(attempt, RECORD_RECURRING);
    if (!status && engine_new(attempt->salvage->options, &attempt->engine)) {
        status = STATUS_NO_MEMORY;
    }
    if (!status) {
        attempt->engine->mends = true;
    }
    return status;
}

static enum status try_once(struct attempt *attempt, struct error *error)
{
    enum status status = prepare(attempt);
    if (status) {
        return error_set(error, status, "out of memory");
    }
    status = read_kinds(attempt);
    enum status end = record_read_end(attempt->engine, error);
    attempt->engine->mends = false;
    status = status ? status : attempt->refused ? STATUS_OK : end;
    return status ? error_set(error, status, "the records of an engine cannot be read: %s",
                              status_sentence(status))
                  : STATUS_OK;
}

static bool is_sound(const struct salvage *salvage, struct engine *engine)
{
    (void)engine_check(engine, true, salvage->report, salvage->context);
    return engine_check(engine, false, salvage->report, salvage->context) == 0;
}

// Each attempt leaves out at least one more record, so this terminates.
static enum status mend(const struct salvage *salvage, struct engine **out, struct error *error)
{
    struct attempt attempt = { .salvage = salvage };
    enum status status = leave_out_namesakes(salvage);
    do {
        engine_free(attempt.engine);
        attempt.engine = NULL;
        status = status ? status : try_once(&attempt, error);
    } while (!status && attempt.refused);
    if (!status && attempt.engine->mended) {
        report(salvage, "%zu dependencies, tags and locks that contradict others are dropped",
               attempt.engine->mended);
    }
    if (!status && !is_sound(salvage, attempt.engine)) {
        status = error_set(error, STATUS_CORRUPT, "the records do not make an engine");
    }
    if (status) {
        engine_free(attempt.engine);
        attempt.engine = NULL;
    }
    mem_free(salvage->options->allocator, attempt.queues,
             attempt.queue_capacity * sizeof(*attempt.queues));
    *out = attempt.engine;
    return status;
}

// Loads the records as if nothing were missing.
static enum status load(const struct salvage *salvage, struct engine **out, struct error *error)
{
    if (engine_new(salvage->options, out)) {
        return error_set(error, STATUS_NO_MEMORY, "out of memory");
    }
    enum status status = STATUS_OK;
    for (size_t i = 0; i < salvage->count && !status; i++) {
        status = record_read(*out, salvage->records[i].key, salvage->records[i].bytes, error);
    }
    enum status end = record_read_end(*out, status ? NULL : error);
    status = status ? status : end;
    if (!status && engine_check(*out, false, salvage->report, salvage->context)) {
        status = error_set(error, STATUS_CORRUPT, "the consistency check found problems");
    }
    // The engine's own record is written with every change.
    if (!status && salvage->lossy && !find(salvage, RECORD_ENGINE, 0)) {
        status = error_set(error, STATUS_CORRUPT, "the engine's own record is missing");
    }
    if (status) {
        engine_free(*out);
        *out = NULL;
    }
    return status;
}

enum status engine_salvage(const struct salvage *salvage, struct engine **out, bool *as_it_was,
                           struct error *error)
{
    struct error ignored = { 0 };
    error = error ? error : &ignored;
    enum status status = load(salvage, out, error);
    *as_it_was = !status && !salvage->lossy;
    if (!status && salvage->lossy) {
        (*out)->token += AHEAD;
    }
    if (status != STATUS_CORRUPT) {
        return status;
    }
    report(salvage, "%s", error_sentence(error));
    return mend(salvage, out, error);
}

size_t engine_job_count(const struct engine *engine)
{
    return engine->jobs.count;
}
