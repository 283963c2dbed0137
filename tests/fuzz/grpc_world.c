// SPDX-License-Identifier: MIT
#include "grpc_world.h"

#include "base/json.h"
#include "engine/check/check.h"
#include "faces/grpc/health.h"
#include "faces/grpc/reflection.h"
#include "require.h"
#include "wire/grpc_frame.h"
#include "wire/protobuf.h"

#include <string.h>

enum {
    ANSWER_MAX = 1 << 26,
};

#define BEGINS_US INT64_C(1784000000500000)

static uint64_t next_random(void *context)
{
    struct grpc_world *world = context;
    return ++world->random;
}

static void report(void *context, const char *sentence)
{
    (void)context;
    require(false, sentence);
}

// ---------------------------------------------------------------------------------------------
// Answers

static bool is_text(struct slice text)
{
    while (text.size) {
        size_t size = json_utf8_size(text);
        if (size == 0) {
            return false;
        }
        text = slice_sub(text, size, SIZE_MAX);
    }
    return true;
}

static void check_message(const struct grpc_message *message, struct slice bytes);

static void check_value(const struct grpc_field *field, const struct protobuf_field *value)
{
    switch (field->type) {
    case GRPC_TYPE_MESSAGE:
        require_of(field->name, value->wire == PROTOBUF_BYTES, "is no message");
        check_message(field->message, value->bytes);
        break;
    case GRPC_TYPE_STRING:
        require_of(field->name, value->wire == PROTOBUF_BYTES && is_text(value->bytes),
                   "is not UTF-8");
        break;
    case GRPC_TYPE_BYTES:
        require_of(field->name, value->wire == PROTOBUF_BYTES, "is no bytes");
        break;
    case GRPC_TYPE_DOUBLE:
        require_of(field->name, value->wire == PROTOBUF_FIXED64, "is no double");
        break;
    case GRPC_TYPE_ENUM:
        require_of(field->name,
                   value->wire == PROTOBUF_VARINT && value->value < field->values->value_count,
                   "is no value of its enum");
        break;
    default:
        require_of(field->name, value->wire == PROTOBUF_VARINT, "is no number");
        break;
    }
}

static void check_message(const struct grpc_message *message, struct slice bytes)
{
    struct protobuf_reader reader = protobuf_reader(bytes);
    struct protobuf_field value;
    while (protobuf_next(&reader, &value)) {
        const struct grpc_field *field = grpc_field_find(message, value.number);
        require_of(message->name, field, "has a field that is not known");
        check_value(field, &value);
    }
    require_of(message->name, !reader.broken, "is broken");
}

static size_t check_answer(const struct grpc_world *world, const struct grpc_message *message)
{
    struct slice rest = buffer_slice(&world->answer);
    struct grpc_frame frame;
    size_t count = 0;
    require(!world->answer.status, "an answer does not fit");
    while (grpc_frame_next(&rest, SIZE_MAX, &frame, NULL) == GRPC_FRAME_WHOLE) {
        check_message(message, frame.message);
        count++;
    }
    require(rest.size == 0, "an answer is not whole frames");
    return count;
}

static void check_fault(const struct grpc_fault *fault)
{
    struct grpc_trailers trailers;
    require(fault->error.status, "a fault has no status");
    grpc_trailers_of(&trailers, fault);
    require(strcmp(trailers.status, "0") != 0 && trailers.message_size && trailers.details_size,
            "a fault has no trailers");
}

// ---------------------------------------------------------------------------------------------
// Calls

// The words stand as the command takes them: what is wrong with them is only what they say.
static void check_words(const struct grpc_call *call, enum status status, const struct error *error)
{
    require(call->words.count > 0 && call->command, "there is no command");
    bool whole = call->method->entry->steps[0].command;
    if (whole) {
        require(slice_equal(call->words.items[0], slice_from_cstr(call->command->name)),
                "the first word is not the command's name");
    }
    if (status && whole) {
        require(!strstr(error->detail, "usage:") && !strstr(error->detail, "has no option") &&
                    !strstr(error->detail, "has no value"),
                "words stand at the wrong place");
    }
}

// Whether the answer of a run went well; `*fault` otherwise.
static bool run(struct grpc_world *world, struct grpc_call *call, struct grpc_fault *fault)
{
    size_t front = call->command->flags & COMMAND_NAMESPACE ? 2 : 1;
    struct error error = { 0 };
    struct call run = { .command = call->command,
                        .ns = call->ns,
                        .engine = world->engine,
                        .now_us = world->now_us,
                        .host = &world->host,
                        .last = true,
                        .waiter = 1 };
    if (call->words.count < front) {
        return false; // Execute of a command without its namespace, which the server refuses
    }
    run.reply = grpc_face_reply(world->face, call, &world->answer);
    struct slices words = { call->words.items + front, call->words.count - front };
    enum status status = call_run(&run, words, &world->scratch, &error);
    check_words(call, status, &error);
    enum status told = status ? grpc_face_refuse(world->face, call, &error, &world->answer, fault)
                              : grpc_face_answer(world->face, call, &world->answer, fault);
    require_of(call->command->name, world->face->writer.misfits == 0,
               "says something that no field holds");
    if (told) {
        check_fault(fault);
    }
    return !status && !told;
}

static bool ask_command(struct grpc_world *world, const struct grpc_bound *bound,
                        struct slice message)
{
    struct grpc_call call;
    struct grpc_fault fault;
    bool worked;
    grpc_call_init(&call, &bound->method);
    do {
        if (grpc_face_decode(world->face, &call, message, &fault)) {
            check_fault(&fault);
            return false;
        }
        worked = run(world, &call, &fault);
    } while (worked && call.more);
    size_t count = check_answer(world, bound->rpc->reply);
    if (bound->method.act != GRPC_ACT_NEXTS && bound->method.act != GRPC_ACT_ADDS) {
        require_of(bound->path, count == worked, "has another number of answers");
    }
    struct grpc_tasks tasks;
    struct grpc_task task;
    grpc_tasks_init(&tasks, &bound->method, buffer_slice(&world->answer));
    while (call.command && strcmp(call.command->name, "Q.POP") == 0 &&
           bound->method.entry->steps[0].command && grpc_tasks_next(&tasks, &task)) {
        require(task.jid.size && task.token, "a task has no lease");
    }
    return worked;
}

bool grpc_world_ask(struct grpc_world *world, size_t method, struct slice message)
{
    const struct grpc_bound *bound = &world->face->methods[method % world->face->method_count];
    struct grpc_call call;
    struct grpc_fault fault = { .code = GRPC_OK };
    enum status status = STATUS_OK;
    bool known;
    buffer_clear(&world->answer);
    grpc_face_set_time(world->face, world->now_us);
    switch (bound->method.act) {
    case GRPC_ACT_HEALTH_CHECK:
    case GRPC_ACT_HEALTH_WATCH:
        status = grpc_health_read(message, &known, &fault);
        break;
    case GRPC_ACT_REFLECTION:
        status = grpc_reflect(message, &world->answer, &fault);
        (void)check_answer(world, bound->rpc->reply);
        break;
    case GRPC_ACT_EVENTS:
        grpc_call_init(&call, &bound->method);
        status = grpc_face_decode(world->face, &call, message, &fault);
        break;
    case GRPC_ACT_HEALTH_LIST:
        break;
    default:
        return ask_command(world, bound, message);
    }
    if (status) {
        check_fault(&fault);
    }
    return false;
}

void grpc_world_check(struct grpc_world *world)
{
    (void)engine_check(world->engine, false, report, NULL);
}

void grpc_world_init(struct grpc_world *world)
{
    *world = (struct grpc_world){ .now_us = BEGINS_US };
    bounded_init(&world->memory);
    const struct engine_options options = { .allocator = &world->memory.allocator,
                                            .seed = { 1, 2 } };
    require(!engine_new(&options, &world->engine) &&
                !commands_new(&allocator_system, api_tables, API_TABLES, &world->commands),
            "no memory");
    const struct grpc_face_options face_options = { .allocator = &allocator_system,
                                                    .commands = world->commands,
                                                    .reply_max = ANSWER_MAX / 2 };
    require(!grpc_face_new(&face_options, &world->face), "no memory");
    world->host = (struct host){ .random = next_random, .context = world };
    scratch_init(&world->scratch, &allocator_system);
    buffer_init(&world->answer, &allocator_system, ANSWER_MAX);
    (void)engine_tick(world->engine, world->now_us);
}

void grpc_world_release(struct grpc_world *world)
{
    buffer_release(&world->answer);
    scratch_release(&world->scratch);
    grpc_face_free(world->face);
    commands_free(world->commands);
    engine_free(world->engine);
}
