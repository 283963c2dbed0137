// SPDX-License-Identifier: MIT
// A saved engine with changed bytes and a checksum that is right all the same: it must load or be
// refused, and what loads must work. The input is a list of changes: two bytes of where, one of
// what.
#include "engine/snapshot.h"

#include "base/bytes.h"
#include "base/crc32c.h"

#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER_SIZE = 12,
    CRC_SIZE = 4,
    SECOND = 1000000,
};

static const struct engine_options options = { .allocator = &allocator_system, .seed = { 1, 2 } };
static const struct slice queue = { "q", 1 }, worker = { "w", 1 };

static void require(int holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_snapshot: %s\n", sentence);
        abort();
    }
}

static void put(struct engine *engine, const char *jid, const struct slice *depends,
                int64_t delay_us)
{
    const struct slice tag = SLICE("red");
    const struct job *job;
    const struct put_request request = { .queue = queue,
                                         .jid = slice_from_cstr(jid),
                                         .klass = SLICE("k"),
                                         .data = SLICE("{}"),
                                         .has_tags = true,
                                         .tags = { &tag, 1 },
                                         .delay_us = delay_us,
                                         .depends = { depends, depends ? 1 : 0 } };
    require(!engine_put(engine, SECOND, &request, &job, NULL), "a job cannot be put");
}

// An engine with a job in every state.
static void make(struct buffer *out)
{
    struct engine *engine;
    const struct slice first = SLICE("first");
    const struct job *jobs[3];
    size_t popped;
    bool changed;
    enum job_state state;
    require(!engine_new(&options, &engine), "no engine");
    put(engine, "first", NULL, 0);
    put(engine, "second", NULL, 0);
    put(engine, "third", NULL, 0);
    put(engine, "waits", NULL, 0);
    put(engine, "depends", &first, 0);
    put(engine, "later", NULL, 100 * (int64_t)SECOND);
    const struct pop_request pop = { .worker = worker, .queues = { &queue, 1 }, .count = 3 };
    require(!engine_pop(engine, SECOND, &pop, jobs, &popped, NULL) && popped == 3, "no pop");
    const struct fail_request fail = { .holder = { .jid = SLICE("second"), .worker = worker },
                                       .group = SLICE("group"),
                                       .message = SLICE("message") };
    require(!engine_fail(engine, SECOND, &fail, NULL), "no fail");
    const struct complete_request complete = {
        .holder = { .jid = SLICE("third"), .worker = worker }, .result = SLICE("1")
    };
    require(!engine_complete(engine, SECOND, &complete, &state, NULL), "no complete");
    const struct recur_request recur = { .queue = queue,
                                         .jid = SLICE("again"),
                                         .klass = SLICE("k"),
                                         .data = SLICE("{}"),
                                         .interval_us = 60 * (int64_t)SECOND,
                                         .offset_us = 60 * (int64_t)SECOND };
    require(!engine_recur(engine, SECOND, &recur, NULL), "no recur");
    require(!engine_track(engine, SECOND, SLICE("waits"), &changed, NULL), "no track");
    require(!engine_config_set(engine, SECOND, SLICE("heartbeat"), SLICE("20"), NULL), "no config");
    require(!engine_save(engine, out), "it cannot be saved");
    engine_free(engine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer bytes;
    buffer_init(&bytes, &allocator_system, 1 << 20);
    make(&bytes);
    size_t end = bytes.size - CRC_SIZE;
    for (size_t i = 0; i + 3 <= size; i += 3) {
        size_t where = HEADER_SIZE + bytes_load_u16(data + i) % (end - HEADER_SIZE);
        bytes.data[where] = (char)data[i + 2];
    }
    bytes_store_u32(bytes.data + end, crc32c(0, bytes.data, end));

    struct engine *engine = NULL;
    struct error error = { 0 };
    enum status status = engine_load(&options, buffer_slice(&bytes), &engine, &error);
    require(!status || error.detail[0], "it was refused without a reason");
    if (!status) {
        // What is due happens, and the rest of the calls find their way.
        const struct pop_request pop = { .worker = worker, .queues = { &queue, 1 }, .count = 2 };
        const struct job *jobs[2];
        size_t popped;
        (void)engine_tick(engine, 100 * (int64_t)SECOND);
        (void)!engine_pop(engine, 100 * (int64_t)SECOND, &pop, jobs, &popped, NULL);
    }
    engine_free(engine);
    buffer_release(&bytes);
    return 0;
}
