// SPDX-License-Identifier: MIT
// Measures how fast an engine is loaded from its records, as when a server starts: jobs per second
// of CPU time in one thread.
//
//     bench_load [BACKLOG...]      default: 1,000,000 waiting jobs
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/num.h"
#include "engine/records/changes.h"

#include "bench.h"
#include "load.h"

#include <malloc.h>
#include <stdlib.h>

enum {
    FRAME_SIZE = 21, // kind (1), id (8), extra (8), size (4)
};

// The records in the order of their keys, each after its frame. Jobs arrive in the order of their
// ids. Of the other kinds there is one record each, and the last one counts.
struct records {
    struct buffer kinds[RECORD_TAG + 1];
};

static enum status receive(void *context, struct record_key key, struct slice bytes)
{
    struct records *records = context;
    struct buffer *out = &records->kinds[key.kind];
    if (key.kind != RECORD_BODY && key.kind != RECORD_HEAD) {
        buffer_clear(out);
    }
    char frame[FRAME_SIZE] = { (char)key.kind };
    bytes_store_u64(frame + 1, key.id);
    bytes_store_u64(frame + 9, (uint64_t)key.extra);
    bytes_store_u32(frame + 17, (uint32_t)bytes.size);
    buffer_append(out, slice_make(frame, FRAME_SIZE));
    buffer_append(out, bytes);
    return out->status;
}

static void take_changes(struct engine *engine, struct records *records)
{
    const struct changes_sink sink = { .receive = receive, .context = records };
    load_must(engine_changes(engine, &sink), &(struct error){ .detail = "out of memory" });
}

static void collect(struct records *records, size_t backlog)
{
    int64_t now_us = 1700000000000000;
    char data[LOAD_DATA_SIZE];
    load_data(data);
    struct engine *engine = load_engine(now_us, true);
    take_changes(engine, records);
    for (size_t i = 0; i < backlog; i++) {
        load_put(engine, ++now_us, i, data);
        take_changes(engine, records);
    }
    engine_free(engine);
    // Returns free memory to the system, so that loading allocates as in a process that has just
    // started.
    malloc_trim(0);
}

static void load_all(struct engine *engine, struct slice bytes)
{
    struct error error;
    for (size_t at = 0; at < bytes.size;) {
        const char *frame = bytes.data + at;
        struct record_key key = { (enum record_kind)(unsigned char)frame[0],
                                  bytes_load_u64(frame + 1), (int64_t)bytes_load_u64(frame + 9) };
        struct slice record = slice_make(frame + FRAME_SIZE, bytes_load_u32(frame + 17));
        load_must(record_read(engine, key, record, &error), &error);
        at += FRAME_SIZE + record.size;
    }
}

static void bench_backlog(size_t backlog)
{
    struct records records;
    for (size_t i = 0; i <= RECORD_TAG; i++) {
        buffer_init(&records.kinds[i], &allocator_system, SIZE_MAX - 1);
    }
    collect(&records, backlog);
    size_t size = 0;
    for (size_t i = 0; i <= RECORD_TAG; i++) {
        size += records.kinds[i].size;
    }
    const struct engine_options options = { .allocator = &allocator_system,
                                            .seed = { 3, 4 },
                                            .keeps_changes = true };
    struct engine *engine;
    struct error error;
    uint64_t start = bench_now_ns(), cpu = bench_cpu_ns();
    if (engine_new(&options, &engine)) {
        exit(1);
    }
    for (size_t i = 0; i <= RECORD_TAG; i++) {
        load_all(engine, buffer_slice(&records.kinds[i]));
    }
    load_must(record_read_end(engine, &error), &error);
    uint64_t took = bench_now_ns() - start, cpu_took = bench_cpu_ns() - cpu;
    if (engine_length(engine, load_queue) != backlog) {
        (void)fputs("bench_load: jobs are missing\n", stderr);
        exit(1);
    }
    printf("backlog %zu, %zu bytes of records\n", backlog, size);
    printf("%-58s %10.0f /s  (%.2f us of CPU each)\n", "  jobs loaded, by the clock",
           (double)backlog * 1e9 / (double)took, (double)cpu_took / (double)backlog / 1000);
    printf("%-58s %10.0f /s\n", "  jobs loaded, by CPU time",
           (double)backlog * 1e9 / (double)cpu_took);
    (void)fflush(stdout);
    engine_free(engine);
    for (size_t i = 0; i <= RECORD_TAG; i++) {
        buffer_release(&records.kinds[i]);
    }
}

int main(int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        int64_t backlog;
        if (num_parse_i64(slice_from_cstr(arguments[i]), &backlog) || backlog < 1) {
            (void)fputs("usage: bench_load [BACKLOG...]\n", stderr);
            return 2;
        }
        bench_backlog((size_t)backlog);
    }
    if (count == 1) {
        bench_backlog(1000000);
    }
    return 0;
}
