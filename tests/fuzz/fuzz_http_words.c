// SPDX-License-Identifier: MIT
// Any bytes as a request to the HTTP face: a line of a method, a path and a query, then lines of
// headers, an empty line and the body, all without what HTTP puts around them. Whatever is asked,
// there is one whole answer whose body is JSON; what becomes words is a command that the table
// knows, and its words are either run or refused for what they say, never for how they stand.
#include "api/call.h"
#include "base/json.h"
#include "engine/check.h"
#include "faces/http.h"

#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ANSWER_MAX = 1 << 24,
    DEPTH_MAX = 32,
    REQUESTS_MAX = 20,
};

#define NOW_US INT64_C(1784000000500000)

static const struct http_limits limits = {
    .line_max = 1 << 20,
    .head_max = 1 << 20,
    .headers_max = 64,
    .body_max = 1 << 20,
};

static void require(bool holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_http_words: %s\n", sentence);
        abort();
    }
}

struct world {
    struct engine *engine;
    struct commands *commands;
    struct http_face *face;
    struct scratch scratch;
    struct host host;
    uint64_t random;
    struct buffer wire, answer;
};

static uint64_t next_random(void *context)
{
    struct world *world = context;
    return ++world->random;
}

static void report(void *context, const char *sentence)
{
    (void)context;
    require(false, sentence);
}

// A whole answer: a head, and a body of the size that it says.
static void check_answer(const struct world *world, bool head)
{
    struct slice answer = buffer_slice(&world->answer);
    require(slice_starts_with(answer, SLICE("HTTP/1.1 ")), "there is no answer");
    const char *end = memmem(answer.data, answer.size, "\r\n\r\n", 4);
    require(end, "an answer has no end of its head");
    struct slice body = slice_sub(answer, (size_t)(end - answer.data) + 4, SIZE_MAX);
    const char *length = memmem(answer.data, answer.size - body.size, "Content-Length: ", 16);
    size_t size = length ? (size_t)strtoull(length + 16, NULL, 10) : 0;
    require(body.size == (head ? 0 : size), "a body has another size than is said");
    if (body.size) {
        require(!json_validate(body, JSON_DEPTH_MAX, NULL), "an answer is not JSON");
    }
}

// The words stand as the command takes them: what is wrong with them is only what they say.
static void check_words(const struct http_call *call, enum status status, const struct error *error)
{
    require(call->words.count > 0 && call->command, "there is no command");
    require(slice_equal(call->words.items[0], slice_from_cstr(call->command->name)),
            "the first word is not the command's name");
    if (status) {
        require(!strstr(error->detail, "usage:") && !strstr(error->detail, "has no option") &&
                    !strstr(error->detail, "has no value"),
                "words stand at the wrong place");
    }
}

static void run(struct world *world, struct http_call *call)
{
    size_t front = call->command->flags & COMMAND_NAMESPACE ? 2 : 1;
    struct error error = { 0 };
    struct call run = { .command = call->command,
                        .ns = call->ns,
                        .engine = world->engine,
                        .now_us = NOW_US,
                        .reply = http_face_reply(world->face, call),
                        .host = &world->host,
                        .last = true,
                        .waiter = 1 };
    require(call->words.count >= front, "there are too few words");
    struct slices words = { call->words.items + front, call->words.count - front };
    enum status status = call_run(&run, words, &world->scratch, &error);
    check_words(call, status, &error);
    if (status) {
        http_face_refuse(world->face, call, 0, &error, &world->answer);
    } else {
        http_face_answer(world->face, call, &world->answer);
    }
}

static void ask(struct world *world, struct slice wire)
{
    struct http_request request;
    struct http_call call = { 0 };
    struct error error;
    http_request_init(&request, &allocator_system, &limits);
    buffer_clear(&world->answer);
    if (http_request_read(&request, wire, &error) == HTTP_READY) {
        enum http_step step = http_face_ask(world->face, &request, &call, &world->answer);
        if (step == HTTP_RUN) {
            run(world, &call);
        }
        if (step != HTTP_PAGE) {
            require(!world->answer.status, "an answer does not fit");
            check_answer(world, call.head);
        }
    }
    http_request_release(&request);
}

// Puts what HTTP wants around a request.
static void dress(struct world *world, struct slice text)
{
    struct buffer *wire = &world->wire;
    const char *blank = text.size ? memmem(text.data, text.size, "\n\n", 2) : NULL;
    struct slice head = slice_sub(text, 0, blank ? (size_t)(blank - text.data) : text.size);
    struct slice body = slice_sub(text, head.size + 2, SIZE_MAX);
    const char *line_end = head.size ? memchr(head.data, '\n', head.size) : NULL;
    struct slice line = slice_sub(head, 0, line_end ? (size_t)(line_end - head.data) : head.size);
    buffer_clear(wire);
    buffer_append(wire, line);
    buffer_printf(wire, " HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n", body.size);
    for (size_t i = line.size + 1; i < head.size; i++) {
        if (head.data[i] == '\n') {
            buffer_append_char(wire, '\r');
        }
        buffer_append_char(wire, head.data[i]);
    }
    if (head.size > line.size + 1) {
        buffer_append(wire, SLICE("\r\n"));
    }
    if (body.size) {
        buffer_append(wire, SLICE("Content-Type: application/json\r\n"));
    }
    buffer_append(wire, SLICE("\r\n"));
    buffer_append(wire, body);
    require(!wire->status, "a request does not fit");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world world = { 0 };
    const struct engine_options options = { .allocator = &allocator_system, .seed = { 1, 2 } };
    require(!engine_new(&options, &world.engine) &&
                !commands_new(&allocator_system, api_tables, API_TABLES, &world.commands),
            "no memory");
    const struct http_face_options face_options = { .allocator = &allocator_system,
                                                    .commands = world.commands,
                                                    .reply_max = ANSWER_MAX / 2,
                                                    .depth_max = DEPTH_MAX,
                                                    .version = "1" };
    require(!http_face_new(&face_options, &world.face), "no memory");
    world.host = (struct host){ .random = next_random, .context = &world };
    scratch_init(&world.scratch, &allocator_system);
    buffer_init(&world.wire, &allocator_system, ANSWER_MAX);
    buffer_init(&world.answer, &allocator_system, ANSWER_MAX);
    (void)engine_tick(world.engine, NOW_US);
    struct slice rest = slice_make(data, size);
    for (size_t i = 0; i < REQUESTS_MAX && rest.size; i++) {
        const char *end = memmem(rest.data, rest.size, "\n---\n", 5);
        size_t part = end ? (size_t)(end - rest.data) : rest.size;
        dress(&world, slice_sub(rest, 0, part));
        ask(&world, buffer_slice(&world.wire));
        rest = slice_sub(rest, end ? part + 5 : part, SIZE_MAX);
    }
    (void)engine_check(world.engine, false, report, NULL);
    buffer_release(&world.wire);
    buffer_release(&world.answer);
    scratch_release(&world.scratch);
    http_face_free(world.face);
    commands_free(world.commands);
    engine_free(world.engine);
    return 0;
}
