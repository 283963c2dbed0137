// SPDX-License-Identifier: MIT
#include "patient.h"

#include "base/bytes.h"
#include "engine/check/check.h"
#include "engine/records/changes.h"
#include "store/store.h"
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 9 * WORKLOAD_EXACT_EVERY, // so the last leaves an operation in progress
    CHECKPOINT_AT = 70,                // and at half of that
    PUT_AT = 20,
    PUT_COUNT = 150,
    DIRECTORY_HEADER = 4,
};

static const char *const names[PATIENT_SPACES] = { "alpha", "beta", "gone" };

static struct store_options patient_options(const char *path)
{
    return (struct store_options){ .path = path,
                                   .allocator = &allocator_system,
                                   .segment_size = UINT64_C(16) * 1024,
                                   .reserve_size = 4096,
                                   // Only when it is asked for.
                                   .checkpoint_us = INT64_C(3600) * 1000000 };
}

// ---------------------------------------------------------------------------------------------
// Making

struct batch {
    struct patient *patient;
    uint32_t space;
    struct store_record *records;
    size_t count, capacity;
};

static struct slice copy(struct slice bytes)
{
    char *mine = malloc(bytes.size + 1);
    REQUIRE(mine, "no memory");
    if (bytes.size) {
        memcpy(mine, bytes.data, bytes.size);
    }
    return slice_make(mine, bytes.size);
}

static enum status receive(void *context, struct record_key key, struct slice bytes)
{
    struct batch *batch = context;
    if (batch->count == batch->capacity) {
        batch->capacity = 2 * batch->capacity + 64;
        batch->records = realloc(batch->records, batch->capacity * sizeof(*batch->records));
        REQUIRE(batch->records, "no memory");
    }
    batch->records[batch->count++] = (struct store_record){ { batch->space, key }, copy(bytes) };
    return STATUS_OK;
}

static struct patient_job *find_job(const struct patient *patient, uint32_t space, uint64_t id)
{
    for (size_t i = 0; i < patient->count; i++) {
        if (patient->jobs[i].space == space && patient->jobs[i].id == id) {
            return &patient->jobs[i];
        }
    }
    return NULL;
}

static struct patient_job *make_job(struct patient *patient, uint32_t space, uint64_t id)
{
    struct patient_job *job = find_job(patient, space, id);
    if (job) {
        return job;
    }
    if (patient->count == patient->capacity) {
        patient->capacity = 2 * patient->capacity + 64;
        patient->jobs = realloc(patient->jobs, patient->capacity * sizeof(*patient->jobs));
        REQUIRE(patient->jobs, "no memory");
    }
    job = &patient->jobs[patient->count++];
    *job = (struct patient_job){ .space = space, .id = id };
    return job;
}

// The jid, with which a body begins.
static void read_jid(struct slice body, char jid[PATIENT_JID_MAX])
{
    size_t size = bytes_load_u32(body.data);
    REQUIRE(size < PATIENT_JID_MAX && size + 4 <= body.size, "a body without a jid");
    memcpy(jid, body.data + 4, size);
    jid[size] = '\0';
}

static void note(struct patient *patient, const struct store_record *record, uint64_t group)
{
    uint64_t id = record->key.record.id;
    if (record->key.record.kind != RECORD_BODY && record->key.record.kind != RECORD_HEAD) {
        return;
    }
    if (record->bytes.size == 0) {
        struct patient_job *job = find_job(patient, record->key.space, id);
        if (job) {
            *job = patient->jobs[--patient->count];
        }
        return;
    }
    struct patient_job *job = make_job(patient, record->key.space, id);
    if (record->key.record.kind == RECORD_BODY) {
        job->body_group = group;
        read_jid(record->bytes, job->jid);
    } else {
        job->head_group = group;
    }
}

// One group on disk.
static void append(struct patient *patient, struct store *store, struct batch *batch)
{
    uint64_t group;
    REQUIRE(!store_append(store, batch->records, batch->count, &group, NULL), "an append failed");
    REQUIRE(!store_wait(store, group, NULL), "a group was lost");
    for (size_t i = 0; i < batch->count; i++) {
        note(patient, &batch->records[i], group);
        free((char *)batch->records[i].bytes.data);
    }
    batch->count = 0;
    patient->last = group;
}

static void write_directory(struct patient *patient, struct store *store, uint32_t space,
                            bool deleted)
{
    struct batch batch = { .patient = patient, .space = 0 };
    char bytes[32] = { 1, (char)deleted, 0, 0 };
    size_t size = strlen(names[space - 1]);
    memcpy(bytes + DIRECTORY_HEADER, names[space - 1], size);
    (void)receive(&batch, (struct record_key){ .kind = (enum record_kind)1, .id = space },
                  slice_make(bytes, DIRECTORY_HEADER + size));
    append(patient, store, &batch);
    free(batch.records);
}

static void step(struct patient *patient, struct store *store, struct workload *workload,
                 uint32_t space)
{
    struct batch batch = { .patient = patient, .space = space };
    const struct changes_sink sink = { receive, &batch };
    workload_step(workload);
    REQUIRE(!engine_changes(workload_engine(workload), &sink), "there are no changes");
    if (batch.count) {
        append(patient, store, &batch);
    }
    free(batch.records);
}

// A lock for a time that outlives its job.
static void leave_promise(struct engine *engine)
{
    const struct job *job;
    struct slice jid = SLICE("canceled"), gone;
    size_t canceled;
    REQUIRE(!engine_put(engine, 0,
                        &(struct put_request){ .queue = SLICE("plain"),
                                               .jid = jid,
                                               .klass = SLICE("Plain"),
                                               .data = SLICE("{}"),
                                               .gone = &gone,
                                               .unique = { .by = UNIQUE_BY_KEY,
                                                           .key = SLICE("for years"),
                                                           .until = UNIQUE_FOR_TIME,
                                                           .for_us = INT64_C(100000000000000) } },
                        &job, NULL) &&
                !engine_cancel(engine, 0, (struct slices){ &jid, 1 }, &canceled, NULL, NULL),
            "a job was not put and canceled");
}

// Many plain jobs, some of which wait for the one before, so that the base has a tree worth the
// name.
static void put_many(struct patient *patient, struct store *store, struct workload *workload,
                     uint32_t space)
{
    struct engine *engine = workload_engine(workload);
    struct batch batch = { .patient = patient, .space = space };
    const struct changes_sink sink = { receive, &batch };
    char jid[32], before[32] = "";
    leave_promise(engine);
    for (unsigned i = 0; i < PUT_COUNT; i++) {
        const struct job *job;
        (void)snprintf(jid, sizeof(jid), "plain-%u-%u", space, i);
        struct slice depends = slice_from_cstr(before);
        REQUIRE(!engine_put(engine, 0,
                            &(struct put_request){ .queue = SLICE("plain"),
                                                   .jid = slice_from_cstr(jid),
                                                   .klass = SLICE("Plain"),
                                                   .data = SLICE("{\"some\":\"data\"}"),
                                                   .depends = { &depends, i % 10 == 9 } },
                            &job, NULL),
                "a put failed");
        memcpy(before, jid, sizeof(before));
        if (i % 10 == 9) {
            REQUIRE(!engine_changes(engine, &sink), "there are no changes");
            append(patient, store, &batch);
        }
    }
    free(batch.records);
}

// The deleted one's jobs do not count.
static void forget_deleted(struct patient *patient)
{
    for (size_t i = patient->count; i > 0; i--) {
        if (patient->jobs[i - 1].space == PATIENT_SPACES) {
            patient->jobs[i - 1] = patient->jobs[--patient->count];
        }
    }
}

static enum status ignore(void *context, struct store_key key, struct slice bytes,
                          struct error *error)
{
    (void)context;
    (void)key;
    (void)bytes;
    (void)error;
    return STATUS_OK;
}

struct store *folder_open(const char *path)
{
    const struct store_options options = patient_options(path);
    const struct store_visitor visitor = { .visit = ignore };
    struct store *store;
    return store_open(&options, &visitor, &store, NULL) ? NULL : store;
}

void patient_init(struct patient *patient, uint64_t seed)
{
    char root[IMAGE_PATH_MAX], path[IMAGE_PATH_MAX + 8];
    struct workload *workloads[PATIENT_SPACES];
    *patient = (struct patient){ 0 };
    folder_make_scratch(root, SCRATCH_IN_MEMORY);
    (void)snprintf(path, sizeof(path), "%s/store", root);
    struct store *store = folder_open(path);
    REQUIRE(store, "a new store cannot be opened");
    for (uint32_t i = 0; i < PATIENT_SPACES; i++) {
        workloads[i] = workload_new(seed + i, NULL);
        write_directory(patient, store, i + 1, false);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < PATIENT_SPACES; i++) {
            if (round == PUT_AT) {
                put_many(patient, store, workloads[i], i + 1);
            }
            if (i + 1 < PATIENT_SPACES || round < ROUNDS / 2) {
                step(patient, store, workloads[i], i + 1);
            }
        }
        if (round == ROUNDS / 2) {
            write_directory(patient, store, PATIENT_SPACES, true);
        }
        if (round == CHECKPOINT_AT || round == CHECKPOINT_AT / 2) {
            REQUIRE(!store_checkpoint(store, NULL), "a checkpoint failed");
        }
    }
    struct store_figures figures;
    store_figures(store, &figures);
    patient->covered = patient->last - figures.groups_behind;
    forget_deleted(patient);
    image_read(&patient->killed, path);
    REQUIRE(!store_close(store, NULL), "a store cannot be closed");
    image_read(&patient->closed, path);
    for (uint32_t i = 0; i < PATIENT_SPACES; i++) {
        workload_free(workloads[i]);
    }
    folder_remove(root);
}

void patient_release(struct patient *patient)
{
    image_release(&patient->killed);
    image_release(&patient->closed);
    free(patient->jobs);
}

bool folder_opens(const char *path)
{
    struct store *store = folder_open(path);
    return store && !store_close(store, NULL);
}

// ---------------------------------------------------------------------------------------------
// Looking

struct looking {
    struct inventory *inventory;
    struct engine *engine; // of the namespace that is being loaded
    uint32_t space;
    uint32_t named, deleted; // a bit for each space
    bool bad;
};

static void report(void *context, const char *sentence)
{
    const struct looking *looking = context;
    (void)fprintf(stderr, "namespace %u: %s\n", looking->space, sentence);
}

static void end_space(struct looking *looking)
{
    struct error error = { 0 };
    if (!looking->engine) {
        return;
    }
    if (record_read_end(looking->engine, &error)) {
        report(looking, error_sentence(&error));
        looking->bad = true;
    } else {
        looking->bad |= engine_check(looking->engine, false, report, looking) != 0;
    }
    engine_free(looking->engine);
    looking->engine = NULL;
}

static enum status begin_space(struct looking *looking, uint32_t space, struct error *error)
{
    const struct engine_options options = { .allocator = &allocator_system, .seed = { 1, 2 } };
    end_space(looking);
    looking->space = space;
    if (space >= 32 || !(looking->named >> space & 1)) {
        return error_set(error, STATUS_CORRUPT, "namespace %u has no name", space);
    }
    return engine_new(&options, &looking->engine);
}

static void add_job(struct inventory *inventory, uint32_t space, struct slice body)
{
    if (inventory->count == inventory->capacity) {
        inventory->capacity = 2 * inventory->capacity + 64;
        inventory->jobs = realloc(inventory->jobs, inventory->capacity * sizeof(*inventory->jobs));
        REQUIRE(inventory->jobs, "no memory");
    }
    inventory->jobs[inventory->count].space = space;
    read_jid(body, inventory->jobs[inventory->count++].jid);
}

static enum status visit(void *context, struct store_key key, struct slice bytes,
                         struct error *error)
{
    struct looking *looking = context;
    if (key.space == 0) {
        uint32_t bit = key.record.id < 32 ? 1U << key.record.id : 0;
        looking->named |= bit;
        looking->deleted |= bytes.size > 1 && bytes.data[1] ? bit : 0;
        return STATUS_OK;
    }
    if (key.space < 32 && looking->deleted >> key.space & 1) {
        return STATUS_OK;
    }
    if (!looking->engine || looking->space != key.space) {
        enum status status = begin_space(looking, key.space, error);
        if (status) {
            return status;
        }
    }
    enum status status = record_read(looking->engine, key.record, bytes, error);
    if (!status && key.record.kind == RECORD_BODY) {
        add_job(looking->inventory, key.space, bytes);
    }
    return status;
}

bool inventory_take(struct inventory *inventory, const char *path)
{
    *inventory = (struct inventory){ 0 };
    struct looking looking = { .inventory = inventory };
    const struct store_options options = patient_options(path);
    const struct store_visitor visitor = { .visit = visit, .context = &looking };
    struct store *store;
    struct error error = { 0 };
    enum status status = store_open(&options, &visitor, &store, &error);
    end_space(&looking);
    if (status) {
        (void)fprintf(stderr, "%s does not open: %s\n", path, error_sentence(&error));
        return false;
    }
    status = store_close(store, &error);
    return !status && !looking.bad;
}

bool inventory_has(const struct inventory *inventory, const struct patient_job *job)
{
    for (size_t i = 0; i < inventory->count; i++) {
        if (inventory->jobs[i].space == job->space &&
            strcmp(inventory->jobs[i].jid, job->jid) == 0) {
            return true;
        }
    }
    return false;
}

void inventory_release(struct inventory *inventory)
{
    free(inventory->jobs);
}
