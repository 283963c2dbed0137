// SPDX-License-Identifier: MIT
#include "faces/grpc/words.h"

#include "base/body.h"
#include "base/num.h"
#include "wire/protobuf.h"

#include <assert.h>
#include <stdio.h>

enum {
    ARGUMENTS_MAX = 40,    // of a command
    WORDS_MIN = 32,        // that are made room for
    WORDS_KEPT = 4096,     // room for more is given back after use
    TEXT_KEPT = 256 << 10, // likewise
    PLACE_SIZE_MAX = 32,   // "requests[12]."
};

// Of google.protobuf.Timestamp and Duration: 10,000 years, so that they fit in microseconds.
static const int64_t SECONDS_MAX = INT64_C(315576000000);
static const int64_t NANOS_MAX = 999999999;

#define DEFAULT_NAMESPACE SLICE("default")

// ---------------------------------------------------------------------------------------------
// Room

void grpc_words_init(struct grpc_words *words, const struct allocator *allocator)
{
    *words = (struct grpc_words){ .allocator = allocator };
    buffer_init(&words->text, allocator, SIZE_MAX / 2);
}

static void free_items(struct grpc_words *words)
{
    mem_free(words->allocator, words->items, words->capacity * sizeof(words->items[0]));
    mem_free(words->allocator, words->own, words->own_capacity * sizeof(words->own[0]));
    words->items = NULL;
    words->own = NULL;
    words->capacity = words->own_capacity = 0;
}

void grpc_words_release(struct grpc_words *words)
{
    free_items(words);
    buffer_release(&words->text);
}

void grpc_words_clear(struct grpc_words *words)
{
    if (words->capacity > WORDS_KEPT) {
        free_items(words);
    }
    if (words->text.capacity > TEXT_KEPT) {
        buffer_release(&words->text);
    }
    buffer_clear(&words->text);
    words->count = words->own_count = 0;
}

enum status grpc_words_add(struct grpc_words *words, struct slice word)
{
    if (words->count == words->capacity) {
        size_t capacity = words->capacity ? 2 * words->capacity : WORDS_MIN;
        struct slice *items =
            mem_resize(words->allocator, words->items, words->capacity * sizeof(*items),
                       capacity * sizeof(*items));
        if (!items) {
            return STATUS_NO_MEMORY;
        }
        words->items = items;
        words->capacity = capacity;
    }
    words->items[words->count++] = word;
    return STATUS_OK;
}

static enum status add_own_at(struct grpc_words *words, size_t index, size_t start)
{
    if (words->text.status) {
        return words->text.status;
    }
    if (words->own_count == words->own_capacity) {
        size_t capacity = words->own_capacity ? 2 * words->own_capacity : WORDS_MIN;
        struct grpc_own_word *own =
            mem_resize(words->allocator, words->own, words->own_capacity * sizeof(*own),
                       capacity * sizeof(*own));
        if (!own) {
            return STATUS_NO_MEMORY;
        }
        words->own = own;
        words->own_capacity = capacity;
    }
    words->own[words->own_count++] = (struct grpc_own_word){ index, start };
    words->items[index].size = words->text.size - start;
    return STATUS_OK;
}

enum status grpc_words_add_own(struct grpc_words *words, size_t start)
{
    enum status status = grpc_words_add(words, SLICE_EMPTY);
    return status ? status : add_own_at(words, words->count - 1, start);
}

void grpc_words_finish(struct grpc_words *words)
{
    for (size_t i = 0; i < words->own_count; i++) {
        words->items[words->own[i].index].data = words->text.data + words->own[i].offset;
    }
}

// ---------------------------------------------------------------------------------------------
// What was given

// What the message says of an argument.
struct given {
    const struct grpc_field *field; // NULL: nothing
    uint64_t value;                 // of a number
    struct slice bytes;             // of a text
    int64_t seconds, nanos;         // of a Timestamp or Duration
    bool is_raw;                    // of a Payload
    bool is_set;                    // a Payload has a kind
    size_t count;                   // of a repeated field: items
    struct slice within;            // and the message that it is in
};

// One request's words in the making.
struct making {
    struct grpc_words *words;
    const struct grpc_words_source *source;
    struct grpc_words_found *found;
    struct grpc_fault *fault;
    const struct command *command; // whose arguments they are
    const char *place;             // of the request among several: "requests[3]."; else ""
    struct slice ns;               // that the request names
    struct given given[ARGUMENTS_MAX];
};

static enum status refuse_field(const struct making *making, const char *path, const char *what)
{
    struct grpc_fault *fault = making->fault;
    enum status status =
        grpc_fault_set(fault, GRPC_OK, STATUS_INVALID, "%s%s %s", making->place, path, what);
    (void)snprintf(fault->field, sizeof(fault->field), "%s%s", making->place, path);
    return status;
}

static enum status refuse_argument(const struct making *making, size_t index, const char *what)
{
    char path[GRPC_PATH_SIZE_MAX];
    const struct argument *argument = &making->command->arguments[index];
    bool found = grpc_plan_path(making->source->plan, (int)index, path);
    return refuse_field(making, found ? path : argument->name, what);
}

static enum status refuse_broken(const struct making *making)
{
    return grpc_fault_set(making->fault, GRPC_INTERNAL, STATUS_INVALID, "the message is not a %s",
                          making->source->plan->message->name);
}

static enum status refuse_memory(const struct making *making)
{
    return grpc_fault_set(making->fault, GRPC_OK, STATUS_NO_MEMORY,
                          "no memory for the words of a request");
}

// Whether a field of that type stands so on the wire; what does not is as an unknown field.
static bool wire_fits(const struct grpc_field *field, enum protobuf_wire wire)
{
    switch (field->type) {
    case GRPC_TYPE_STRING:
    case GRPC_TYPE_BYTES:
    case GRPC_TYPE_MESSAGE:
        return wire == PROTOBUF_BYTES;
    case GRPC_TYPE_DOUBLE:
        return wire == PROTOBUF_FIXED64;
    default:
        return wire == PROTOBUF_VARINT;
    }
}

// Seconds and nanoseconds; given twice, as protobuf has it, the fields are merged.
static bool take_time(struct slice message, struct given *out)
{
    struct protobuf_reader reader = protobuf_reader(message);
    struct protobuf_field field;
    while (protobuf_next(&reader, &field)) {
        if (field.wire == PROTOBUF_VARINT && field.number == 1) {
            out->seconds = (int64_t)field.value;
        } else if (field.wire == PROTOBUF_VARINT && field.number == 2) {
            out->nanos = (int32_t)field.value;
        }
    }
    return !reader.broken;
}

static bool take_payload(struct slice message, struct given *out)
{
    struct protobuf_reader reader = protobuf_reader(message);
    struct protobuf_field field;
    while (protobuf_next(&reader, &field)) {
        if (field.wire == PROTOBUF_BYTES && (field.number == 1 || field.number == 2)) {
            out->bytes = field.bytes;
            out->is_raw = field.number == 2;
            out->is_set = true;
        }
    }
    return !reader.broken;
}

static enum status take_message(struct making *making, const struct grpc_plan *plan,
                                struct slice message);

// A field that is an argument.
static enum status take_argument(struct making *making, const struct grpc_plan_field *at,
                                 const struct protobuf_field *field, struct slice within)
{
    struct given *given = &making->given[at->argument];
    if (given->field != at->field) {
        *given = (struct given){ .field = at->field, .within = within };
    }
    given->count++;
    given->value = field->value;
    if (at->field->type == GRPC_TYPE_MESSAGE) {
        bool payload = at->field->message->form == GRPC_FORM_PAYLOAD;
        bool good = payload ? take_payload(field->bytes, given) : take_time(field->bytes, given);
        return good ? STATUS_OK : refuse_broken(making);
    }
    given->bytes = field->bytes;
    if (at->field->type == GRPC_TYPE_STRING && !protobuf_is_text(field->bytes)) {
        return refuse_argument(making, (size_t)at->argument, "must be UTF-8");
    }
    return STATUS_OK;
}

static void take_role(struct making *making, const struct grpc_field *field,
                      const struct protobuf_field *value)
{
    struct grpc_words_found *found = making->found;
    switch (field->role) {
    case GRPC_ROLE_NAMESPACE:
        making->ns = value->bytes;
        break;
    case GRPC_ROLE_WORKER:
        found->worker = value->bytes;
        break;
    case GRPC_ROLE_RAW_PAYLOADS:
        found->raw = value->value != 0;
        break;
    case GRPC_ROLE_IN_FLIGHT:
        found->in_flight_max = (uint32_t)value->value;
        break;
    case GRPC_ROLE_OTHERWISE:
        found->otherwise = value->value != 0;
        break;
    case GRPC_ROLE_RELEASE:
        found->release_on_close = value->value != 0;
        break;
    default:
        break;
    }
}

static enum status take_field(struct making *making, const struct grpc_plan *plan,
                              const struct protobuf_field *field, struct slice within)
{
    const struct grpc_plan_field *at = grpc_plan_at(plan, field->number);
    if (!at || !wire_fits(at->field, field->wire) || at->field->role == GRPC_ROLE_REQUESTS) {
        return STATUS_OK; // requests are read one by one
    }
    take_role(making, at->field, field);
    if (at->argument != GRPC_PLAN_NONE) {
        return take_argument(making, at, field, within);
    }
    return at->inner ? take_message(making, at->inner, field->bytes) : STATUS_OK;
}

static enum status take_message(struct making *making, const struct grpc_plan *plan,
                                struct slice message)
{
    struct protobuf_reader reader = protobuf_reader(message);
    struct protobuf_field field;
    enum status status = STATUS_OK;
    while (!status && protobuf_next(&reader, &field)) {
        status = take_field(making, plan, &field, message);
    }
    return !status && reader.broken ? refuse_broken(making) : status;
}

// Whether it counts as given: a field without presence that is zero or empty does not.
static bool is_given(const struct given *given)
{
    const struct grpc_field *field = given->field;
    if (!field) {
        return false;
    }
    if (field->flags & (GRPC_FIELD_OPTIONAL | GRPC_FIELD_REPEATED)) {
        return true;
    }
    switch (field->type) {
    case GRPC_TYPE_STRING:
    case GRPC_TYPE_BYTES:
        return given->bytes.size > 0 || field->oneof;
    case GRPC_TYPE_MESSAGE:
        return field->message->form != GRPC_FORM_PAYLOAD || given->is_set;
    case GRPC_TYPE_DOUBLE:
        return protobuf_double(given->value) != 0;
    default:
        return given->value != 0;
    }
}

// ---------------------------------------------------------------------------------------------
// Values as words

static enum status append_time(const struct making *making, size_t index, const struct given *given)
{
    bool moment = given->field->message->form == GRPC_FORM_TIMESTAMP;
    bool mixed =
        (given->seconds > 0 && given->nanos < 0) || (given->seconds < 0 && given->nanos > 0);
    if (given->seconds < -SECONDS_MAX || given->seconds > SECONDS_MAX || given->nanos > NANOS_MAX ||
        given->nanos < (moment ? 0 : -NANOS_MAX) || (!moment && mixed)) {
        return refuse_argument(making, index,
                               moment ? "is not a valid Timestamp" : "is not a valid Duration");
    }
    // A length of less than a microsecond is still a length.
    int64_t us = given->nanos > 0 && !moment ? (given->nanos + 999) / 1000 : given->nanos / 1000;
    num_append_seconds(&making->words->text, given->seconds * 1000000 + us);
    return STATUS_OK;
}

static uint64_t clamped(const struct making *making, size_t index, const struct given *given)
{
    const struct argument *argument = &making->command->arguments[index];
    bool clamps = given->field->flags & GRPC_FIELD_CLAMPED;
    return clamps && (int64_t)given->value > argument->max ? (uint64_t)argument->max : given->value;
}

static void append_enum(struct buffer *text, const struct given *given)
{
    char word[GRPC_WORD_SIZE_MAX];
    size_t size = grpc_enum_word(given->field->values, given->value, word);
    if (size) {
        buffer_append(text, slice_make(word, size));
    } else {
        num_append_u64(text,
                       given->value); // which the command refuses with the words that there are
    }
}

// Appends the word of a value that is no text.
static enum status append_value(const struct making *making, size_t index,
                                const struct given *given)
{
    struct buffer *text = &making->words->text;
    switch (given->field->type) {
    case GRPC_TYPE_INT32:
        num_append_i64(text, (int32_t)clamped(making, index, given));
        break;
    case GRPC_TYPE_INT64:
        num_append_i64(text, (int64_t)clamped(making, index, given));
        break;
    case GRPC_TYPE_UINT32:
        num_append_u64(text, (uint32_t)given->value);
        break;
    case GRPC_TYPE_DOUBLE:
        num_append_double(text, protobuf_double(given->value));
        break;
    case GRPC_TYPE_ENUM:
        append_enum(text, given);
        break;
    case GRPC_TYPE_MESSAGE:
        if (given->field->message->form != GRPC_FORM_PAYLOAD) {
            return append_time(making, index, given);
        }
        return body_encode(given->bytes, text) ? refuse_memory(making) : STATUS_OK;
    default:
        num_append_u64(text, given->value);
        break;
    }
    return STATUS_OK;
}

// Whether the word of a value is bytes of the message.
static bool is_borrowed(const struct given *given)
{
    const struct grpc_field *field = given->field;
    return field->type == GRPC_TYPE_STRING || field->type == GRPC_TYPE_BYTES ||
           (field->type == GRPC_TYPE_MESSAGE && field->message->form == GRPC_FORM_PAYLOAD &&
            !given->is_raw);
}

static enum status write_word(const struct making *making, struct slice word)
{
    return grpc_words_add(making->words, word) ? refuse_memory(making) : STATUS_OK;
}

static enum status write_name(const struct making *making, size_t index)
{
    const struct argument *argument = &making->command->arguments[index];
    return argument->flags & ARGUMENT_OPTION ? write_word(making, slice_from_cstr(argument->name))
                                             : STATUS_OK;
}

// The items of a repeated field, or the one that is asked for. They are texts.
static enum status write_items(const struct making *making, size_t index)
{
    const struct given *given = &making->given[index];
    bool all = making->command->arguments[index].flags & ARGUMENT_REPEATED;
    struct protobuf_reader reader = protobuf_reader(given->within);
    struct protobuf_field field;
    enum status status = STATUS_OK;
    size_t count = 0;
    while (!status && protobuf_next(&reader, &field)) {
        if (field.number != given->field->number || !wire_fits(given->field, field.wire) ||
            (count++ != making->source->item && !all)) {
            continue;
        }
        status = write_name(making, index);
        if (!status) {
            status = write_word(making, field.bytes);
        }
    }
    return status;
}

static enum status write_given(const struct making *making, size_t index)
{
    const struct given *given = &making->given[index];
    struct grpc_words *words = making->words;
    if (given->field->flags & GRPC_FIELD_REPEATED) {
        return write_items(making, index);
    }
    if (making->command->arguments[index].type == ARGUMENT_FLAG) {
        return write_word(making, slice_from_cstr(making->command->arguments[index].name));
    }
    enum status status = write_name(making, index);
    if (!status && is_borrowed(given)) {
        return write_word(making, given->bytes);
    }
    size_t start = words->text.size;
    if (!status) {
        status = append_value(making, index, given);
    }
    if (!status && grpc_words_add_own(words, start)) {
        status = refuse_memory(making);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Words in their order

// The word of a field that is not set, or NULL.
static const char *default_in(const struct grpc_plan *plan, int argument)
{
    for (uint32_t i = 0; i < GRPC_NUMBER_MAX; i++) {
        const struct grpc_plan_field *at = grpc_plan_at(plan, i);
        const char *given = NULL;
        if (at && at->argument == argument) {
            given = at->field->given;
        } else if (at && at->inner) {
            given = default_in(at->inner, argument);
        }
        if (given) {
            return given;
        }
    }
    return NULL;
}

static enum status write_options(const struct making *making)
{
    const struct grpc_fixed_option *fixed = making->source->fixed;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < making->command->argument_count && !status; i++) {
        if (making->command->arguments[i].flags & ARGUMENT_OPTION && is_given(&making->given[i])) {
            status = write_given(making, i);
        }
    }
    if (!status && fixed && fixed->name) {
        status = write_word(making, slice_from_cstr(fixed->name));
        status = status ? status : write_word(making, slice_from_cstr(fixed->value));
    }
    return status;
}

// The last argument when it is repeated: behind the options, and behind `--`, so that no name is
// taken for an option.
static enum status write_rest(const struct making *making, size_t index)
{
    enum status status = write_options(making);
    if (!status) {
        status = write_word(making, SLICE("--"));
    }
    if (!status && !is_given(&making->given[index])) {
        return refuse_argument(making, index, "is missing");
    }
    return status ? status : write_given(making, index);
}

// Whether an argument that is behind this one is given.
static bool is_given_behind(const struct making *making, size_t index)
{
    for (size_t i = index + 1; i < making->command->argument_count; i++) {
        if (!(making->command->arguments[i].flags & ARGUMENT_OPTION) &&
            is_given(&making->given[i])) {
            return true;
        }
    }
    return false;
}

// An argument at its place. One that may be missing stands behind `--`.
static enum status write_argument(const struct making *making, size_t index, bool *ended)
{
    const struct argument *argument = &making->command->arguments[index];
    bool optional = argument->flags & ARGUMENT_OPTIONAL;
    bool given = is_given(&making->given[index]);
    const char *word = given ? NULL : default_in(making->source->plan, (int)index);
    if (!given && (!word || (optional && !is_given_behind(making, index)))) {
        bool empty = argument->type == ARGUMENT_TEXT && !optional;
        *ended |= optional;
        return empty      ? write_word(making, SLICE(""))
               : optional ? STATUS_OK
                          : refuse_argument(making, index, "is missing");
    }
    if (*ended) {
        return refuse_argument(making, index, "is given without what comes before it");
    }
    enum status status = optional ? write_word(making, SLICE("--")) : STATUS_OK;
    if (!status) {
        status = word ? write_word(making, slice_from_cstr(word)) : write_given(making, index);
    }
    return status;
}

static enum status write_all(const struct making *making)
{
    enum status status = STATUS_OK;
    bool ended = false;
    for (size_t i = 0; i < making->command->argument_count && !status; i++) {
        const struct argument *argument = &making->command->arguments[i];
        if (argument->flags & ARGUMENT_OPTION) {
            break;
        }
        if (argument->flags & ARGUMENT_REPEATED) {
            return write_rest(making, i);
        }
        status = write_argument(making, i, &ended);
    }
    return status ? status : write_options(making);
}

// ---------------------------------------------------------------------------------------------

// The argument of a field with that role, at the top of the message; GRPC_PLAN_NONE: there is none.
static int find_role(const struct grpc_plan *plan, enum grpc_role role)
{
    for (uint32_t i = 0; i < GRPC_NUMBER_MAX; i++) {
        const struct grpc_plan_field *at = grpc_plan_at(plan, i);
        if (at && at->field->role == role) {
            return at->argument;
        }
    }
    return GRPC_PLAN_NONE;
}

static const struct grpc_plan_field *find_requests(const struct grpc_plan *plan)
{
    for (uint32_t i = 0; i < GRPC_NUMBER_MAX; i++) {
        const struct grpc_plan_field *at = grpc_plan_at(plan, i);
        if (at && at->field->role == GRPC_ROLE_REQUESTS) {
            return at;
        }
    }
    return NULL;
}

// What the stream says, where the message does not.
static void take_stream(struct making *making)
{
    const struct grpc_words_source *source = making->source;
    struct grpc_words_found *found = making->found;
    found->ns = making->ns.size ? making->ns : source->ns.size ? source->ns : DEFAULT_NAMESPACE;
    found->worker = found->worker.size ? found->worker : source->worker;
    int worker = find_role(source->plan, GRPC_ROLE_WORKER);
    if (worker != GRPC_PLAN_NONE && found->worker.size && !is_given(&making->given[worker])) {
        static const struct grpc_field text = { .type = GRPC_TYPE_STRING };
        making->given[worker] = (struct given){ .field = &text, .bytes = found->worker };
    }
    int count = find_role(source->plan, GRPC_ROLE_IN_FLIGHT);
    if (count != GRPC_PLAN_NONE && source->count) {
        static const struct grpc_field number = { .type = GRPC_TYPE_UINT32 };
        making->given[count] = (struct given){ .field = &number, .value = source->count };
    }
    found->in_flight_max = found->in_flight_max ? found->in_flight_max : 1;
}

// One of several requests: what stands beside them counts for each that does not say it itself.
static enum status make_request(const struct making *all, const struct grpc_plan_field *at,
                                size_t number, struct slice message)
{
    char place[PLACE_SIZE_MAX];
    struct grpc_words_found found = { 0 };
    struct making making = *all;
    (void)snprintf(place, sizeof(place), "%s[%zu].", at->field->name, number);
    making.place = place;
    making.found = &found;
    making.ns = SLICE_EMPTY;
    enum status status = take_message(&making, at->inner, message);
    if (!status && making.ns.size && !slice_equal(making.ns, all->found->ns)) {
        return refuse_field(&making, "namespace", "must be that of all requests");
    }
    if (!status && found.otherwise) {
        return refuse_field(&making, "must_exist", "cannot be used in a batch");
    }
    return status ? status : write_all(&making);
}

// For each request the number of its words, and its words.
static enum status make_requests(struct making *making)
{
    struct grpc_words *words = making->words;
    const struct grpc_plan_field *at = find_requests(making->source->plan);
    struct protobuf_reader reader = protobuf_reader(making->source->message);
    struct protobuf_field field;
    enum status status = STATUS_OK;
    for (size_t number = 0; !status && protobuf_next(&reader, &field);) {
        if (field.number != at->field->number || field.wire != PROTOBUF_BYTES) {
            continue;
        }
        size_t place = words->count;
        status = write_word(making, SLICE_EMPTY);
        if (!status) {
            status = make_request(making, at, number++, field.bytes);
        }
        if (!status) {
            size_t start = words->text.size;
            num_append_u64(&words->text, words->count - place - 1);
            status = add_own_at(words, place, start) ? refuse_memory(making) : STATUS_OK;
        }
    }
    return status;
}

enum status grpc_words_make(struct grpc_words *words, const struct grpc_words_source *source,
                            struct grpc_words_found *found, struct grpc_fault *fault)
{
    struct making making = {
        .words = words,
        .source = source,
        .found = found,
        .fault = fault,
        .command = source->each ? source->each : source->command,
        .place = "",
    };
    assert(making.command->argument_count <= ARGUMENTS_MAX);
    *found = (struct grpc_words_found){ 0 };
    grpc_words_clear(words);
    enum status status = take_message(&making, source->plan, source->message);
    if (!status) {
        take_stream(&making);
        status = write_word(&making, slice_from_cstr(source->command->name));
    }
    if (!status && source->command->flags & COMMAND_NAMESPACE) {
        status = write_word(&making, found->ns);
    }
    if (!status) {
        status = source->each ? make_requests(&making) : write_all(&making);
    }
    grpc_words_finish(words);
    return status;
}
