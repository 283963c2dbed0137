// SPDX-License-Identifier: MIT
// The bytes: "SLUICE\r\n", the version (4), then the records, each with its kind (1), id (8), extra
// (8) and size (4) in front; then a record of kind 0 and the CRC-32C of all before it (4).
#include "engine/snapshot.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "engine/bulk.h"
#include "engine/job.h"
#include "engine/lane.h"
#include "engine/limit.h"
#include "engine/policy.h"
#include "engine/queue.h"
#include "engine/record.h"
#include "engine/recurring.h"
#include "engine/state.h"
#include "engine/stats.h"
#include "engine/walk.h"
#include "engine/worker.h"

#include <string.h>

enum {
    VERSION = 3,
    MAGIC_SIZE = 8,
    HEADER_SIZE = MAGIC_SIZE + 4,
    FRAME_SIZE = 1 + 8 + 8 + 4,
    CRC_SIZE = 4,
};

static const char magic[MAGIC_SIZE + 1] = "SLUICE\r\n";

// Room for a frame; what is written until frame_end is its record.
static size_t frame_begin(struct buffer *out, struct record_key key)
{
    char frame[FRAME_SIZE] = { (char)key.kind };
    bytes_store_u64(frame + 1, key.id);
    bytes_store_u64(frame + 9, (uint64_t)key.extra);
    buffer_append(out, slice_make(frame, sizeof(frame)));
    return out->size;
}

static void frame_end(struct buffer *out, size_t start)
{
    if (!out->status) {
        bytes_store_u32(out->data + start - 4, (uint32_t)(out->size - start));
    }
}

struct saving {
    const struct engine *engine;
    struct buffer *out;
};

static void save_queue(void *context, struct queue *queue)
{
    const struct saving *saving = context;
    // It may only wait for the host to be told that it is gone.
    if (queue_is_unused(queue)) {
        return;
    }
    size_t start = frame_begin(saving->out, (struct record_key){ RECORD_QUEUE, queue->id, 0 });
    record_write_queue(queue, saving->out);
    frame_end(saving->out, start);
}

static void save_stats(void *context, struct queue *queue)
{
    const struct saving *saving = context;
    for (const struct stats_day *day = queue->days; day; day = day->older) {
        size_t start =
            frame_begin(saving->out, (struct record_key){ RECORD_STATS, queue->id, day->day });
        record_write_stats(day, saving->out);
        frame_end(saving->out, start);
    }
}

static void save_recurring(void *context, struct queue *queue)
{
    const struct saving *saving = context;
    struct index_cursor cursor = index_cursor_at(&queue->recurring, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        const struct recurring *recurring = recurring_of_node(node);
        size_t start =
            frame_begin(saving->out, (struct record_key){ RECORD_RECURRING, recurring->id, 0 });
        record_write_recurring(saving->engine, recurring, saving->out);
        frame_end(saving->out, start);
    }
}

static void save_body(void *context, struct job *job)
{
    const struct saving *saving = context;
    size_t start = frame_begin(saving->out, (struct record_key){ RECORD_BODY, job->id, 0 });
    record_write_body(saving->engine, job, saving->out);
    frame_end(saving->out, start);
}

static void save_head(void *context, struct job *job)
{
    const struct saving *saving = context;
    size_t start = frame_begin(saving->out, (struct record_key){ RECORD_HEAD, job->id, 0 });
    record_write_head(saving->engine, job, saving->out);
    frame_end(saving->out, start);
}

static void save_one(const struct saving *saving, enum record_kind kind,
                     void (*write)(const struct engine *engine, struct buffer *out))
{
    size_t start = frame_begin(saving->out, (struct record_key){ kind, 0, 0 });
    write(saving->engine, saving->out);
    frame_end(saving->out, start);
}

// What was set or handed over.
static void save_settings(const struct saving *saving)
{
    const struct engine *engine = saving->engine;
    struct buffer *out = saving->out;
    struct index_cursor cursor = index_cursor_at(&engine->limit_order, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        size_t start = frame_begin(out, (struct record_key){ RECORD_LIMIT, node->key.low, 0 });
        record_write_limit(limit_of_node(node), out);
        frame_end(out, start);
    }
    cursor = index_cursor_at(&engine->policy_order, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        size_t start = frame_begin(out, (struct record_key){ RECORD_POLICY, node->key.low, 0 });
        record_write_policy(policy_of_node(node), out);
        frame_end(out, start);
    }
    cursor = index_cursor_at(&engine->zone_order, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        size_t start = frame_begin(out, (struct record_key){ RECORD_ZONE, node->key.low, 0 });
        record_write_zone(zone_of_node(node), out);
        frame_end(out, start);
    }
}

static void save_lanes(const struct saving *saving)
{
    struct index_cursor cursor = index_cursor_at(&saving->engine->lanes_saved, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        size_t start =
            frame_begin(saving->out, (struct record_key){ RECORD_LANE, node->key.low, 0 });
        record_write_lane(saving->engine, lane_of_saved(node), saving->out);
        frame_end(saving->out, start);
    }
}

static void save_bulks(const struct saving *saving)
{
    struct index_cursor cursor = index_cursor_at(&saving->engine->bulks, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        size_t start =
            frame_begin(saving->out, (struct record_key){ RECORD_BULK, node->key.low, 0 });
        record_write_bulk(bulk_of_node(node), saving->out);
        frame_end(saving->out, start);
    }
}

enum status engine_save(const struct engine *engine, struct buffer *out)
{
    struct saving saving = { engine, out };
    size_t start = out->size;
    char header[HEADER_SIZE];
    memcpy(header, magic, MAGIC_SIZE);
    bytes_store_u32(header + MAGIC_SIZE, VERSION);
    buffer_append(out, slice_make(header, sizeof(header)));

    save_one(&saving, RECORD_ENGINE, record_write_engine);
    save_one(&saving, RECORD_CONFIG, record_write_config);
    save_settings(&saving);
    walk_queues(engine, save_queue, &saving);
    walk_queues(engine, save_stats, &saving);
    save_lanes(&saving);
    struct index_cursor cursor = index_cursor_at(&engine->worker_order, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        const struct worker *worker = worker_of_node(node);
        size_t at = frame_begin(out, (struct record_key){ RECORD_WORKER, worker->id, 0 });
        record_write_worker(worker, out);
        frame_end(out, at);
    }
    walk_queues(engine, save_recurring, &saving);
    walk_jobs(engine, save_body, &saving);
    walk_jobs(engine, save_head, &saving);
    save_one(&saving, RECORD_TRACKED, record_write_tracked);
    save_bulks(&saving);

    frame_end(out, frame_begin(out, (struct record_key){ 0 }));
    char crc[CRC_SIZE];
    bytes_store_u32(crc, out->status ? 0 : crc32c(0, out->data + start, out->size - start));
    buffer_append(out, slice_make(crc, sizeof(crc)));
    return out->status;
}

static enum status check_frame(struct slice bytes, struct error *error)
{
    if (bytes.size < HEADER_SIZE + FRAME_SIZE + CRC_SIZE ||
        memcmp(bytes.data, magic, MAGIC_SIZE) != 0) {
        return error_set(error, STATUS_CORRUPT, "these %zu bytes are not a saved engine",
                         bytes.size);
    }
    uint32_t version = bytes_load_u32(bytes.data + MAGIC_SIZE);
    if (version != VERSION) {
        return error_set(error, STATUS_UNSUPPORTED,
                         "the saved engine has version %u, and this program knows version %d",
                         version, VERSION);
    }
    size_t covered = bytes.size - CRC_SIZE;
    if (crc32c(0, bytes.data, covered) != bytes_load_u32(bytes.data + covered)) {
        return error_set(error, STATUS_CORRUPT,
                         "the saved engine is damaged: its checksum differs");
    }
    return STATUS_OK;
}

static enum status load_records(struct engine *engine, struct slice bytes, struct error *error)
{
    size_t end = bytes.size - CRC_SIZE;
    for (size_t at = HEADER_SIZE; at + FRAME_SIZE <= end;) {
        const char *frame = bytes.data + at;
        struct record_key key = { (enum record_kind)(unsigned char)frame[0],
                                  bytes_load_u64(frame + 1), (int64_t)bytes_load_u64(frame + 9) };
        size_t size = bytes_load_u32(frame + 17);
        at += FRAME_SIZE;
        if (size > end - at) {
            break;
        }
        if (frame[0] == 0) {
            return at == end ? STATUS_OK
                             : error_set(error, STATUS_CORRUPT, "the saved engine ends too late");
        }
        enum status status = record_read(engine, key, slice_make(bytes.data + at, size), error);
        if (status) {
            return status;
        }
        at += size;
    }
    return error_set(error, STATUS_CORRUPT, "the saved engine ends too early");
}

enum status engine_load(const struct engine_options *options, struct slice bytes,
                        struct engine **out, struct error *error)
{
    struct engine *engine;
    enum status status = check_frame(bytes, error);
    if (status) {
        return status;
    }
    if (engine_new(options, &engine)) {
        return engine_no_memory(error);
    }
    status = load_records(engine, bytes, error);
    enum status end = record_read_end(engine, status ? NULL : error);
    status = status ? status : end;
    if (status) {
        engine_free(engine);
        return status;
    }
    *out = engine;
    return STATUS_OK;
}
