// SPDX-License-Identifier: MIT
// Any frames of HTTP/2 behind a right beginning, from a client that takes what it is sent. Whatever
// they are, each stream that is opened is closed at most once and told nothing afterwards, no more
// streams are open than the client was told, the session takes little memory, and unless it ends the
// connection the same comes of the bytes at once and in pieces.
#include "fuzz.h"

#include "bounded.h"
#include "server/h2/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STREAMS_MAX = 8,
    CALLS_MAX = 4096,
    OUT_MAX = 1 << 16,
    ANSWER_SIZE = 3,
    MEMORY_MAX = 8 << 20,
    PING_US = 1000,
};

// The preface and empty SETTINGS.
static const char beginning[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";

struct call {
    int32_t stream;
    bool open, answered;
    size_t said;
};

struct world {
    struct h2_session *session;
    struct bounded memory;
    struct call calls[CALLS_MAX];
    size_t count, open, received, ended, to_answer;
};

static struct world *current; // of the ops, which know a call only

static void require(bool holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_h2: %s\n", sentence);
        abort();
    }
}

static void *on_opened(void *owner, int32_t stream, const struct h2_head *head)
{
    struct world *world = owner;
    struct slice path;
    (void)h2_head_find(head, SLICE(":path"), &path);
    require(head->bytes.size <= H2_HEAD_SIZE_MAX, "a head is larger than it may be");
    require(head->count <= H2_HEAD_FIELDS_MAX || h2_head_is_too_large(head),
            "a head has more fields than it may have");
    if (world->count == CALLS_MAX || (path.size && path.data[path.size - 1] == '!')) {
        return NULL;
    }
    struct call *call = &world->calls[world->count++];
    *call = (struct call){ .stream = stream, .open = true };
    world->open++;
    require(world->open <= STREAMS_MAX, "more streams are open than the client was told");
    return call;
}

static void on_received(void *stream, struct slice bytes)
{
    struct call *call = stream;
    require(call->open && bytes.size, "a closed stream receives bytes");
    current->received += bytes.size;
    h2_session_consumed(current->session, bytes.size);
    h2_stream_consumed(current->session, call->stream, bytes.size);
}

static void on_ended(void *stream)
{
    require(((struct call *)stream)->open, "a closed stream ends");
    current->ended++;
}

static void on_closed(void *stream)
{
    struct call *call = stream;
    require(call->open, "a stream is closed twice");
    call->open = false;
    current->open--;
}

static size_t on_read(void *stream, char *bytes, size_t size, struct h2_tail *tail)
{
    static struct h2_field end;
    struct call *call = stream;
    size_t count = ANSWER_SIZE - call->said < size ? ANSWER_SIZE - call->said : size;
    require(call->open && call->answered, "a stream that is not open is read");
    memset(bytes, 'x', count);
    call->said += count;
    if (call->said == ANSWER_SIZE) {
        end = (struct h2_field){ SLICE("grpc-status"), SLICE("0") };
        *tail = (struct h2_tail){ .ended = true, .fields = &end, .count = 1 };
    }
    return count;
}

static const struct h2_ops ops = { on_opened, on_received, on_ended, on_closed, on_read };

// Every other stream is answered, and the client takes all that it is sent.
static void answer_and_send(struct world *world, struct buffer *out)
{
    const struct h2_field ok = { SLICE(":status"), SLICE("200") };
    for (; world->to_answer < world->count; world->to_answer++) {
        struct call *call = &world->calls[world->to_answer];
        if (call->open && world->to_answer % 2) {
            call->answered = true;
            require(!h2_stream_answer(world->session, call->stream, &ok, 1), "no memory");
        }
    }
    do {
        buffer_clear(out);
        (void)h2_session_send(world->session, out, OUT_MAX);
    } while (out->size && h2_session_has_output(world->session));
    require(world->memory.used <= MEMORY_MAX, "a session takes more memory than it may");
}

// False: the session has ended the connection. With `answers` streams are answered in between.
static bool run(struct world *world, struct slice bytes, size_t piece, bool answers)
{
    struct buffer out;
    bool goes_on = true;
    memset(world, 0, sizeof(*world));
    current = world;
    bounded_init(&world->memory);
    buffer_init(&out, &allocator_system, 4 * (size_t)OUT_MAX);
    const struct h2_options options = { .allocator = &world->memory.allocator,
                                        .ops = &ops,
                                        .owner = world,
                                        .streams_max = STREAMS_MAX,
                                        .min_ping_us = PING_US };
    require(!h2_session_new(&options, &world->session), "no memory");
    int64_t now_us = PING_US;
    goes_on = h2_session_receive(world->session, slice_make(beginning, sizeof(beginning) - 1), 1);
    h2_session_widen(world->session);
    for (; goes_on && bytes.size; bytes = slice_sub(bytes, piece, SIZE_MAX)) {
        goes_on = h2_session_receive(world->session, slice_sub(bytes, 0, piece), now_us);
        if (answers) {
            answer_and_send(world, &out);
        }
    }
    answer_and_send(world, &out);
    h2_session_free(world->session);
    require(world->memory.used == 0, "a session leaves memory behind");
    buffer_release(&out);
    return goes_on;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world at_once, in_pieces;
    if (size == 0) {
        return 0;
    }
    size_t piece = 1 + data[0] % 64;
    struct slice bytes = slice_make(data + 1, size - 1);
    bool first = run(&at_once, bytes, SIZE_MAX, false);
    bool second = run(&in_pieces, bytes, piece, false);
    if (first && second) {
        require(at_once.count == in_pieces.count && at_once.received == in_pieces.received &&
                    at_once.ended == in_pieces.ended,
                "pieces make a difference");
    }
    (void)run(&in_pieces, bytes, piece, true);
    return 0;
}
