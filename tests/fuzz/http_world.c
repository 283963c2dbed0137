// SPDX-License-Identifier: MIT
#include "http_world.h"

#include "base/json.h"
#include "engine/check/check.h"
#include "require.h"

#include <string.h>

enum {
    ANSWER_MAX = 1 << 26,
    DEPTH_MAX = 32,
};

#define BEGINS_US INT64_C(1784000000500000)

static const struct http_limits limits = {
    .line_max = 4 << 20,
    .head_max = 4 << 20,
    .headers_max = 64,
    .body_max = 4 << 20,
};

static uint64_t next_random(void *context)
{
    struct http_world *world = context;
    return ++world->random;
}

static void report(void *context, const char *sentence)
{
    (void)context;
    require(false, sentence);
}

// A whole answer: a head, and a body of the size that it says.
static void check_answer(const struct http_world *world, bool head)
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

static bool run(struct http_world *world, struct http_call *call)
{
    size_t front = call->command->flags & COMMAND_NAMESPACE ? 2 : 1;
    struct error error = { 0 };
    struct call run = { .command = call->command,
                        .ns = call->ns,
                        .engine = world->engine,
                        .now_us = world->now_us,
                        .reply = http_face_reply(world->face, call, &world->answer),
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
    return status == STATUS_OK;
}

bool http_world_ask(struct http_world *world, struct slice wire)
{
    struct http_request request;
    struct http_call call = { 0 };
    struct error error;
    bool worked = false;
    http_request_init(&request, &allocator_system, &limits);
    buffer_clear(&world->answer);
    if (http_request_read(&request, wire, &error) == HTTP_READY) {
        enum http_step step = http_face_parse(world->face, &request, &call, &world->answer);
        if (step == HTTP_RUN) {
            worked = run(world, &call);
        }
        if (step != HTTP_PAGE) {
            require(!world->answer.status, "an answer does not fit");
            check_answer(world, call.head);
        }
    }
    http_request_release(&request);
    return worked;
}

void http_world_check(struct http_world *world)
{
    (void)engine_check(world->engine, false, report, NULL);
}

void http_world_init(struct http_world *world)
{
    *world = (struct http_world){ .now_us = BEGINS_US };
    bounded_init(&world->memory);
    const struct engine_options options = { .allocator = &world->memory.allocator,
                                            .seed = { 1, 2 } };
    require(!engine_new(&options, &world->engine) &&
                !commands_new(&allocator_system, api_tables, API_TABLES, &world->commands),
            "no memory");
    const struct http_face_options face_options = { .allocator = &allocator_system,
                                                    .commands = world->commands,
                                                    .reply_max = ANSWER_MAX / 2,
                                                    .depth_max = DEPTH_MAX,
                                                    .version = "1" };
    require(!http_face_new(&face_options, &world->face), "no memory");
    world->host = (struct host){ .random = next_random, .context = world };
    scratch_init(&world->scratch, &allocator_system);
    buffer_init(&world->answer, &allocator_system, ANSWER_MAX);
    (void)engine_tick(world->engine, world->now_us);
}

void http_world_release(struct http_world *world)
{
    buffer_release(&world->answer);
    scratch_release(&world->scratch);
    http_face_free(world->face);
    commands_free(world->commands);
    engine_free(world->engine);
}
