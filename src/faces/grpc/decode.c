// SPDX-License-Identifier: MIT
// Messages: the method finds the command, and the fields become its words.
#include "faces/grpc/face.h"

#include "base/num.h"
#include "wire/http_target.h"
#include "wire/protobuf.h"

#include <assert.h>
#include <inttypes.h>

enum {
    FIELDS_MAX = 1000, // of a message that becomes several commands, each of which reads it again
    ITEMS_MAX = 100,   // commands that a repeated field becomes
};

static enum status refuse_broken(const struct grpc_bound *bound, struct grpc_fault *fault)
{
    return grpc_fault_set(fault, GRPC_INTERNAL, STATUS_INVALID, "the message is not a %s",
                          bound->rpc->request->name);
}

static enum status refuse_memory(struct grpc_fault *fault)
{
    return grpc_fault_set(fault, GRPC_OK, STATUS_NO_MEMORY, "no memory for the words of a request");
}

// ---------------------------------------------------------------------------------------------
// Which command

// How often a field occurs in a message.
static size_t count_field(struct slice message, uint32_t number)
{
    struct protobuf_reader reader = protobuf_reader(message);
    struct protobuf_field field;
    size_t count = 0;
    while (protobuf_next(&reader, &field)) {
        count += field.number == number && field.wire == PROTOBUF_BYTES;
    }
    return count;
}

// Whether a field with that role is set, which is a bool.
static bool is_set(const struct grpc_bound *bound, struct slice message, enum grpc_role role)
{
    struct protobuf_reader reader = protobuf_reader(message);
    struct protobuf_field field;
    bool set = false;
    while (protobuf_next(&reader, &field)) {
        const struct grpc_field *known = grpc_field_find(bound->rpc->request, field.number);
        if (known && known->role == role && field.wire == PROTOBUF_VARINT) {
            set = field.value != 0;
        }
    }
    return set;
}

// How often a step is run for a message.
static size_t step_count(const struct grpc_bound *bound, size_t step, struct slice message)
{
    const struct grpc_step *of = &bound->method.entry->steps[step];
    if (!of->command) {
        return 0;
    }
    if (!of->field) {
        return 1;
    }
    const struct grpc_field *field = grpc_field_find(bound->rpc->request, of->field);
    size_t count = count_field(message, of->field);
    return count && !(field->flags & GRPC_FIELD_REPEATED) ? 1 : count;
}

// Moves on to the first step from (call->step, call->item) on that the message has; false: none.
static bool find_step(const struct grpc_bound *bound, struct slice message, unsigned *step,
                      unsigned *item)
{
    for (; *step < GRPC_STEPS_MAX; (*step)++, *item = 0) {
        if (*item < step_count(bound, *step, message)) {
            return true;
        }
    }
    return false;
}

static enum status check_fields(const struct grpc_bound *bound, struct slice message,
                                struct grpc_fault *fault)
{
    struct protobuf_reader reader = protobuf_reader(message);
    struct protobuf_field field;
    size_t count = 0;
    while (protobuf_next(&reader, &field)) {
        if (++count > FIELDS_MAX) {
            return grpc_fault_set(fault, GRPC_OK, STATUS_TOO_LARGE, "a %s has at most %d fields",
                                  bound->rpc->request->name, FIELDS_MAX);
        }
    }
    for (size_t i = 0; i < GRPC_STEPS_MAX; i++) {
        if (step_count(bound, i, message) > ITEMS_MAX) {
            return grpc_fault_set(
                fault, GRPC_OK, STATUS_TOO_LARGE, "%s has more than %d items",
                grpc_field_find(bound->rpc->request, bound->method.entry->steps[i].field)->name,
                ITEMS_MAX);
        }
    }
    return STATUS_OK;
}

// The names of the fields, one of which must be set: "progress, log_lines or checkpoint".
static enum status refuse_empty(const struct grpc_bound *bound, struct grpc_fault *fault)
{
    char names[128] = "";
    for (size_t i = 0; i < GRPC_STEPS_MAX; i++) {
        const struct grpc_step *step = &bound->method.entry->steps[i];
        size_t size = strlen(names);
        if (step->command) {
            (void)snprintf(names + size, sizeof(names) - size, "%s%s", i ? ", " : "",
                           grpc_field_find(bound->rpc->request, step->field)->name);
        }
    }
    return grpc_fault_set(fault, GRPC_OK, STATUS_INVALID, "one of %s must be set", names);
}

// Chooses the command of the message, or of its next step.
static enum status choose(const struct grpc_bound *bound, struct grpc_call *call,
                          struct slice message, const struct grpc_bound_command **out,
                          struct grpc_fault *fault)
{
    bool several = bound->method.entry->steps[0].field != 0;
    bool goes_on = call->more;
    unsigned step = goes_on ? call->step : 0;
    unsigned item = goes_on ? call->item + 1 : 0;
    call->more = false;
    if (several && !goes_on) {
        enum status status = check_fields(bound, message, fault);
        if (status) {
            return status;
        }
    }
    if (!find_step(bound, message, &step, &item)) {
        return refuse_empty(bound, fault);
    }
    call->step = step;
    call->item = item;
    unsigned next_step = step;
    unsigned next_item = item + 1;
    call->more = find_step(bound, message, &next_step, &next_item);
    bool other = bound->otherwise.command && is_set(bound, message, GRPC_ROLE_OTHERWISE);
    *out = other ? &bound->otherwise : &bound->steps[step];
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Commands

static uint8_t keep_name(char kept[ENGINE_NAME_SIZE_MAX], struct slice name)
{
    if (name.size > ENGINE_NAME_SIZE_MAX) {
        return 0; // which the command refuses
    }
    if (name.size) {
        memmove(kept, name.data, name.size);
    }
    return (uint8_t)name.size;
}

static enum status decode_command(struct grpc_face *face, struct grpc_call *call,
                                  const struct grpc_bound *bound, struct slice message,
                                  struct grpc_fault *fault)
{
    const struct grpc_bound_command *of = NULL;
    struct grpc_words_found found;
    enum status status = choose(bound, call, message, &of, fault);
    if (status) {
        return status;
    }
    call->command = of->command;
    status = grpc_words_make(&face->words,
                             &(struct grpc_words_source){
                                 .plan = of->plan,
                                 .command = of->command,
                                 .each = of->command->each,
                                 .fixed = &bound->method.entry->fixed,
                                 .message = message,
                                 .ns = slice_make(call->stream_ns, call->stream_ns_size),
                                 .worker = slice_make(call->worker, call->worker_size),
                                 .item = call->item,
                                 .count = call->count,
                             },
                             &found, fault);
    if (status) {
        call->more = false;
        return status;
    }
    call->words = (struct slices){ face->words.items, face->words.count };
    call->ns = found.ns;
    call->raw = found.raw;
    call->release_on_close = found.release_on_close;
    call->in_flight_max = found.in_flight_max;
    if (bound->method.act == GRPC_ACT_NEXTS || bound->method.act == GRPC_ACT_KEEPALIVE ||
        found.worker.size) {
        call->stream_ns_size = keep_name(call->stream_ns, found.ns);
        call->worker_size = keep_name(call->worker, found.worker);
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Execute: the words of any command

// Commands about a connection of RESP, and about what it has begun.
static bool is_about_connection(const struct command *command)
{
    static const char *const groups[] = { "connection", "pubsub", "transactions", "scripts" };
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        if (strcmp(command->group, groups[i]) == 0) {
            return true;
        }
    }
    return false;
}

static enum status take_words(struct grpc_face *face, const struct grpc_bound *bound,
                              struct slice message, struct grpc_fault *fault)
{
    struct protobuf_reader reader = protobuf_reader(message);
    struct protobuf_field field;
    grpc_words_clear(&face->words);
    while (protobuf_next(&reader, &field)) {
        const struct grpc_field *known = grpc_field_find(bound->rpc->request, field.number);
        if (known && known->role == GRPC_ROLE_WORDS && field.wire == PROTOBUF_BYTES &&
            grpc_words_add(&face->words, field.bytes)) {
            return refuse_memory(fault);
        }
    }
    return reader.broken ? refuse_broken(bound, fault) : STATUS_OK;
}

static enum status decode_words(struct grpc_face *face, struct grpc_call *call,
                                const struct grpc_bound *bound, struct slice message,
                                struct grpc_fault *fault)
{
    struct grpc_words *words = &face->words;
    enum status status = take_words(face, bound, message, fault);
    if (status) {
        return status;
    }
    if (words->count == 0) {
        return grpc_fault_set(fault, GRPC_OK, STATUS_INVALID,
                              "words must have the name of a command");
    }
    const struct command *command = commands_find(face->options.commands, words->items[0]);
    if (!command) {
        commands_explain_unknown(face->options.commands, words->items[0], &fault->error);
        return grpc_fault_of(fault, NULL, &fault->error);
    }
    if (is_about_connection(command)) {
        return grpc_fault_set(fault, GRPC_OK, STATUS_UNSUPPORTED,
                              "%s is about a connection of RESP", command->name);
    }
    bool named = command->flags & COMMAND_NAMESPACE && words->count > 1;
    call->command = command;
    call->words = (struct slices){ words->items, words->count };
    call->ns = named ? words->items[1] : SLICE_EMPTY;
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Events: what to listen to

static void append_parameter(struct buffer *text, const struct grpc_field *known,
                             const struct protobuf_field *field)
{
    buffer_append(text, text->size ? SLICE("&") : SLICE(""));
    buffer_append(text, slice_from_cstr(known->as));
    buffer_append_char(text, '=');
    if (known->type == GRPC_TYPE_STRING) {
        http_escape(field->bytes, text);
    } else if (known->type == GRPC_TYPE_BOOL) {
        buffer_append(text, field->value ? SLICE("true") : SLICE("false"));
    } else {
        num_append_u64(text, field->value);
    }
}

static enum status decode_query(struct grpc_face *face, struct grpc_call *call,
                                const struct grpc_bound *bound, struct slice message,
                                struct grpc_fault *fault)
{
    struct protobuf_reader reader = protobuf_reader(message);
    struct protobuf_field field;
    struct buffer *text = &face->words.text;
    grpc_words_clear(&face->words);
    call->ns = SLICE_EMPTY;
    while (protobuf_next(&reader, &field)) {
        const struct grpc_field *known = grpc_field_find(bound->rpc->request, field.number);
        enum protobuf_wire wire =
            known && known->type == GRPC_TYPE_STRING ? PROTOBUF_BYTES : PROTOBUF_VARINT;
        if (!known || field.wire != wire) {
            continue;
        }
        if (known->role == GRPC_ROLE_NAMESPACE) {
            call->ns = field.bytes;
        } else if (known->role == GRPC_ROLE_QUERY) {
            append_parameter(text, known, &field);
        }
    }
    if (reader.broken) {
        return refuse_broken(bound, fault);
    }
    if (text->status) {
        return refuse_memory(fault);
    }
    call->ns = call->ns.size ? call->ns : SLICE("default");
    call->query = buffer_slice(text);
    return STATUS_OK;
}

enum status grpc_face_decode(struct grpc_face *face, struct grpc_call *call, struct slice message,
                             struct grpc_fault *fault)
{
    const struct grpc_bound *bound = grpc_face_bound(face, call);
    call->command = NULL;
    call->words = (struct slices){ NULL, 0 };
    call->query = SLICE_EMPTY;
    if (!protobuf_is_valid(message)) {
        return refuse_broken(bound, fault);
    }
    if (bound->method.act == GRPC_ACT_EVENTS) {
        return decode_query(face, call, bound, message, fault);
    }
    assert(bound->method.act <= GRPC_ACT_KEEPALIVE);
    return bound->steps[0].command ? decode_command(face, call, bound, message, fault)
                                   : decode_words(face, call, bound, message, fault);
}
