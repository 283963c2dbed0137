// SPDX-License-Identifier: MIT
#include "faces/http/words.h"

#include "base/json_reader.h"
#include "base/num.h"
#include "faces/http/member.h"
#include "wire/http_target.h"

#include <assert.h>

enum {
    ARGUMENTS_MAX = 40,    // of a command
    WORDS_MIN = 32,        // initial capacity
    WORDS_KEPT = 4096,     // a larger allocation is freed after use
    TEXT_KEPT = 256 << 10, // likewise
    TEXT_MORE = 64,        // for short texts in addition
    KEY_MORE = 40,         // for what precedes a key
};

void http_words_init(struct http_words *words, const struct allocator *allocator)
{
    *words = (struct http_words){ .allocator = allocator };
    buffer_init(&words->text, allocator, SIZE_MAX / 2);
}

static void free_items(struct http_words *words)
{
    mem_free(words->allocator, words->items, words->capacity * sizeof(struct slice));
    words->items = NULL;
    words->capacity = 0;
}

void http_words_release(struct http_words *words)
{
    free_items(words);
    buffer_release(&words->text);
}

// How much text the words of Idempotency-Key may need: one for each object.
static size_t keys_size_max(const struct http_words_source *source)
{
    if (source->idempotency_key.size == 0) {
        return 0;
    }
    struct json_reader reader;
    struct json_member item;
    struct error error;
    size_t count = 1;
    if (source->each && json_reader_init_array(&reader, source->body, &error) == STATUS_OK) {
        while (json_reader_next(&reader, &item)) {
            count++;
        }
    }
    return count * (source->idempotency_key.size + KEY_MORE);
}

// How much text the words of a request may need, so that the buffer never moves.
static size_t text_size_max(const struct http_words_source *source)
{
    const struct command *command = source->each ? source->each : source->command;
    size_t lists = 0; // arguments that are lists, each of which is searched in the query
    for (size_t i = 0; i < command->argument_count; i++) {
        lists += (command->arguments[i].flags & ARGUMENT_REPEATED) != 0;
    }
    bool escapes = source->body.size && memchr(source->body.data, '\\', source->body.size);
    size_t body = (escapes ? source->body.size : 0) + (source->each ? source->body.size : 0);
    return (1 + lists) * source->query.size + body + keys_size_max(source) + TEXT_MORE;
}

static enum status clear(struct http_words *words, size_t text_size)
{
    if (words->capacity > WORDS_KEPT) {
        free_items(words);
    }
    if (words->text.capacity > TEXT_KEPT) {
        buffer_release(&words->text);
    }
    words->count = 0;
    words->field[0] = '\0';
    buffer_clear(&words->text);
    return buffer_reserve(&words->text, text_size) ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status add_word(struct http_words *words, struct slice word, struct error *error)
{
    if (words->count == words->capacity) {
        size_t capacity = words->capacity ? 2 * words->capacity : WORDS_MIN;
        struct slice *items =
            mem_resize(words->allocator, words->items, words->capacity * sizeof(*items),
                       capacity * sizeof(*items));
        if (!items) {
            return error_set(error, STATUS_NO_MEMORY, "no memory for the words of a request");
        }
        words->items = items;
        words->capacity = capacity;
    }
    words->items[words->count++] = word;
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Given values

enum given_kind {
    GIVEN_NOT,
    GIVEN_WORD,
    GIVEN_FLAG,
    GIVEN_LIST,  // an array of JSON
    GIVEN_QUERY, // parameters of the query, the first of which was found
};

struct given {
    enum given_kind kind;
    struct slice word; // or the JSON array
};

// The words of one command while they are made.
struct making {
    struct http_words *words;
    const struct http_words_source *source;
    const struct command *command; // the command of the arguments
    size_t element;                // index in an array, from 0
    struct slice key;              // instead, in an object of several calls: the member's name
    struct error *error;
    struct given given[ARGUMENTS_MAX];
};

static const struct argument *argument_at(const struct making *making, size_t index)
{
    return &making->command->arguments[index];
}

static size_t index_of(const struct making *making, const struct argument *argument)
{
    return (size_t)(argument - making->command->arguments);
}

// Names the wrong member: "priority", or in an array "[2].priority".
static void set_field(const struct making *making, struct slice name)
{
    char *field = making->words->field;
    name = slice_shown(name);
    if (making->key.size) {
        struct slice key = slice_shown(making->key);
        (void)snprintf(field, HTTP_FIELD_SIZE_MAX, "%.*s.%.*s", SLICE_PRINT(key),
                       SLICE_PRINT(name));
    } else if (making->source->each) {
        (void)snprintf(field, HTTP_FIELD_SIZE_MAX, "[%zu].%.*s", making->element,
                       SLICE_PRINT(name));
    } else {
        (void)snprintf(field, HTTP_FIELD_SIZE_MAX, "%.*s", SLICE_PRINT(name));
    }
}

static enum status refuse(const struct making *making, struct slice name, const char *what)
{
    set_field(making, name);
    return error_set(making->error, STATUS_INVALID, "%s %s", making->words->field, what);
}

static enum status refuse_argument(const struct making *making, const struct argument *argument,
                                   const char *what)
{
    struct http_member member;
    http_member_of(argument, &member);
    return refuse(making, member.name, what);
}

// The value of a JSON string, without a copy if it has no escapes.
static enum status string_of(const struct making *making, struct slice raw, struct slice *out)
{
    *out = slice_sub(raw, 1, raw.size - 2);
    if (out->size == 0 || !out->data || !memchr(out->data, '\\', out->size)) {
        return STATUS_OK;
    }
    struct buffer *text = &making->words->text;
    size_t start = text->size;
    enum status status = json_unescape(raw, text);
    *out = slice_make(text->data + start, text->size - start);
    return status ? error_set(making->error, status, "a string is not valid") : STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// From JSON

// The JSON types that an argument accepts, as bits of enum json_type.
#define TYPE(type) (1U << JSON_TYPE_##type)

static unsigned types_of(const struct argument *argument, const char **what)
{
    switch (argument->type) {
    case ARGUMENT_NAME:
    case ARGUMENT_WORD:
        *what = "must be a string";
        return TYPE(STRING);
    case ARGUMENT_TEXT: // values of settings are often numbers
        *what = "must be a string";
        return TYPE(STRING) | TYPE(NUMBER) | TYPE(BOOL);
    case ARGUMENT_MOMENT:
        *what = "must be a number of seconds since 1970, or a string like 2030-01-31T12:00:00Z";
        return TYPE(STRING) | TYPE(NUMBER);
    case ARGUMENT_FLAG:
        *what = "must be true or false";
        return TYPE(BOOL);
    case ARGUMENT_JSON:
        return ~0U;
    case ARGUMENT_INTEGER:
    case ARGUMENT_SECONDS:
    case ARGUMENT_FRACTION:
        break;
    }
    *what = "must be a number";
    return TYPE(NUMBER);
}

static enum status take_value(const struct making *making, const struct argument *argument,
                              struct json_value value, struct given *out)
{
    const char *what = "";
    if (value.type == JSON_TYPE_NULL && argument->type != ARGUMENT_JSON) {
        return STATUS_OK;
    }
    if (argument->or_empty && slice_equal(value.raw, SLICE("\"\""))) {
        return STATUS_OK;
    }
    if (!(types_of(argument, &what) >> value.type & 1)) {
        return refuse_argument(making, argument, what);
    }
    out->kind = GIVEN_WORD;
    out->word = value.raw;
    if (argument->type == ARGUMENT_FLAG) {
        out->kind = value.raw.data[0] == 't' ? GIVEN_FLAG : GIVEN_NOT;
    } else if (value.type == JSON_TYPE_STRING && argument->type != ARGUMENT_JSON) {
        return string_of(making, value.raw, &out->word);
    }
    return STATUS_OK;
}

static enum status take_list(const struct making *making, const struct argument *argument,
                             struct json_value value, struct given *out)
{
    if (value.type == JSON_TYPE_NULL) {
        return STATUS_OK;
    }
    struct json_reader reader;
    struct json_member item;
    enum status status = json_reader_init_array(&reader, value.raw, NULL);
    if (status) {
        return refuse_argument(making, argument, "must be a list of strings");
    }
    while (json_reader_next(&reader, &item)) {
        if (item.value.type != JSON_TYPE_STRING && argument->type != ARGUMENT_JSON) {
            return refuse_argument(making, argument, "must be a list of strings");
        }
    }
    *out = (struct given){ GIVEN_LIST, value.raw };
    return STATUS_OK;
}

static enum status take_member(struct making *making, const struct json_member *member)
{
    struct slice name;
    enum status status = string_of(making, member->key, &name);
    if (status) {
        return status;
    }
    const struct argument *argument = http_member_find(making->command, name, false);
    if (!argument) {
        return refuse(making, name, "is not known here");
    }
    struct given *given = &making->given[index_of(making, argument)];
    if (given->kind != GIVEN_NOT) {
        return refuse(making, name, "is given twice");
    }
    // A single word may be given without a list.
    bool single = argument->type == ARGUMENT_WORD && member->value.type == JSON_TYPE_STRING;
    return argument->flags & ARGUMENT_REPEATED && !single
               ? take_list(making, argument, member->value, given)
               : take_value(making, argument, member->value, given);
}

static enum status take_object(struct making *making, struct slice object)
{
    struct json_reader reader;
    struct json_member member;
    if (json_reader_init_object(&reader, object, NULL)) {
        return error_set(making->error, STATUS_INVALID,
                         making->key.size ? "each member of the body must be an object or a string"
                         : making->source->each ? "the body must be an array of objects"
                                                : "the body must be an object");
    }
    enum status status = STATUS_OK;
    while (!status && json_reader_next(&reader, &member)) {
        status = take_member(making, &member);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// From the path, the query and the defaults

static void take_path(struct making *making)
{
    struct slice rest = slice_from_cstr(making->source->route->path);
    struct slice segment;
    for (size_t i = 0; http_path_next(&rest, &segment); i++) {
        if (!http_route_is_parameter(segment)) {
            continue;
        }
        struct slice name = slice_sub(segment, 1, segment.size - 2);
        const struct argument *argument = http_member_find(making->command, name, true);
        if (argument) { // otherwise it is the namespace
            making->given[index_of(making, argument)] =
                (struct given){ GIVEN_WORD, making->source->path->segments[i] };
        }
    }
}

static enum status take_flag(const struct making *making, struct slice name, struct slice value,
                             struct given *out)
{
    bool yes = value.size == 0 || slice_equal(value, SLICE("true"));
    if (!yes && !slice_equal(value, SLICE("false"))) {
        return refuse(making, name, "must be true or false");
    }
    out->kind = yes ? GIVEN_FLAG : GIVEN_NOT;
    return STATUS_OK;
}

// A parameter of the query, unescaped.
static enum status take_parameter(struct making *making, struct slice name, struct slice value)
{
    const struct argument *argument = http_member_find(making->command, name, false);
    if (!argument) {
        return refuse(making, name, "is not known here");
    }
    struct given *given = &making->given[index_of(making, argument)];
    bool repeated = argument->flags & ARGUMENT_REPEATED;
    if (repeated && given->kind == GIVEN_QUERY) {
        return STATUS_OK; // it is written with the first
    }
    if (given->kind != GIVEN_NOT) {
        return refuse(making, name, "is given twice");
    }
    if (argument->type == ARGUMENT_FLAG) {
        return take_flag(making, name, value, given);
    }
    *given = (struct given){ repeated ? GIVEN_QUERY : GIVEN_WORD, value };
    return STATUS_OK;
}

static enum status unescape_parameter(const struct making *making, struct slice *name,
                                      struct slice *value)
{
    struct buffer *text = &making->words->text;
    if (http_unescape(*name, true, text, name) || http_unescape(*value, true, text, value)) {
        return error_set(making->error, STATUS_INVALID,
                         "the query has a %% that is not followed by two hexadecimal digits, or "
                         "%%00");
    }
    return STATUS_OK;
}

static enum status take_query(struct making *making)
{
    struct slice rest = making->source->query;
    struct slice name;
    struct slice value;
    enum status status = STATUS_OK;
    while (!status && http_query_next(&rest, &name, &value)) {
        status = unescape_parameter(making, &name, &value);
        if (!status) {
            status = take_parameter(making, name, value);
        }
    }
    return status;
}

static void take_default(struct making *making)
{
    struct slice rest =
        making->source->route->given ? slice_from_cstr(making->source->route->given) : SLICE_EMPTY;
    struct slice name;
    struct slice value;
    if (http_query_next(&rest, &name, &value)) {
        const struct argument *argument = http_member_find(making->command, name, false);
        assert(argument);
        struct given *given = &making->given[index_of(making, argument)];
        if (given->kind == GIVEN_NOT) {
            *given = (struct given){ GIVEN_WORD, value };
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Conversion to words

static enum status write_word(const struct making *making, const char *before, struct slice word)
{
    enum status status = STATUS_OK;
    if (before) {
        status = add_word(making->words, slice_from_cstr(before), making->error);
    }
    return status ? status : add_word(making->words, word, making->error);
}

static enum status write_json_list(const struct making *making, const char *before,
                                   const struct argument *argument, struct slice list)
{
    struct json_reader reader;
    struct json_member item;
    enum status status = json_reader_init_array(&reader, list, making->error);
    while (!status && json_reader_next(&reader, &item)) {
        struct slice word = item.value.raw;
        if (argument->type != ARGUMENT_JSON) {
            status = string_of(making, item.value.raw, &word);
        }
        if (!status) {
            status = write_word(making, before, word);
        }
    }
    return status;
}

static enum status write_query_list(const struct making *making, const char *before,
                                    const struct argument *argument)
{
    struct slice rest = making->source->query;
    struct slice name;
    struct slice value;
    enum status status = STATUS_OK;
    while (!status && http_query_next(&rest, &name, &value)) {
        status = unescape_parameter(making, &name, &value);
        if (!status && http_member_find(making->command, name, false) == argument) {
            status = write_word(making, before, value);
        }
    }
    return status;
}

// Writes all words of an argument, each preceded by the name of its option, if it is one.
static enum status write_given(const struct making *making, size_t index)
{
    const struct argument *argument = argument_at(making, index);
    const struct given *given = &making->given[index];
    const char *before = argument->flags & ARGUMENT_OPTION ? argument->name : NULL;
    switch (given->kind) {
    case GIVEN_NOT:
        break;
    case GIVEN_FLAG:
        return write_word(making, NULL, slice_from_cstr(argument->name));
    case GIVEN_WORD:
        return write_word(making, before, given->word);
    case GIVEN_LIST:
        return write_json_list(making, before, argument, given->word);
    case GIVEN_QUERY:
        return write_query_list(making, before, argument);
    }
    return STATUS_OK;
}

// Idempotency-Key is the id of the request.
static enum status write_idempotency(const struct making *making)
{
    struct slice key = making->source->idempotency_key;
    if (key.size == 0) {
        return STATUS_OK;
    }
    const struct argument *argument = http_member_find(making->command, SLICE("request"), false);
    if (making->given[index_of(making, argument)].kind != GIVEN_NOT) {
        return refuse(making, SLICE("request"), "cannot be given beside Idempotency-Key");
    }
    struct buffer *text = &making->words->text;
    size_t start = text->size;
    if (making->source->each) { // each object of the array is a separate request
        num_append_u64(text, making->element);
        buffer_append_char(text, ':');
    }
    buffer_append(text, key);
    return write_word(making, "REQUEST", slice_sub(buffer_slice(text), start, SIZE_MAX));
}

static enum status write_options(const struct making *making)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < making->command->argument_count && !status; i++) {
        if (argument_at(making, i)->flags & ARGUMENT_OPTION) {
            status = write_given(making, i);
        }
    }
    return status ? status : write_idempotency(making);
}

// Writes a repeated last argument: after the options and `--`, so that no name is taken for an
// option.
static enum status write_rest(const struct making *making, size_t index)
{
    enum status status = write_options(making);
    if (!status) {
        status = write_word(making, NULL, SLICE("--"));
    }
    size_t before = making->words->count;
    if (!status) {
        status = write_given(making, index);
    }
    bool none = making->words->count == before;
    if (!status && none && !(argument_at(making, index)->flags & ARGUMENT_OPTIONAL)) {
        return refuse_argument(making, argument_at(making, index), "is missing");
    }
    return status;
}

// Writes a positional argument. An optional one follows `--` for the same reason.
static enum status write_argument(const struct making *making, size_t index, bool *ended)
{
    const struct argument *argument = argument_at(making, index);
    bool optional = argument->flags & ARGUMENT_OPTIONAL;
    if (making->given[index].kind == GIVEN_NOT) {
        *ended = true;
        return optional ? STATUS_OK : refuse_argument(making, argument, "is missing");
    }
    if (*ended) {
        return refuse_argument(making, argument, "is given without what comes before it");
    }
    enum status status = optional ? write_word(making, NULL, SLICE("--")) : STATUS_OK;
    return status ? status : write_given(making, index);
}

static enum status write_all(const struct making *making)
{
    enum status status = STATUS_OK;
    bool ended = false;
    for (size_t i = 0; i < making->command->argument_count && !status; i++) {
        const struct argument *argument = argument_at(making, i);
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

// Reads an object; or a string, which is the argument after the one that is the member's name.
static enum status take_body(struct making *making, struct slice body)
{
    struct json_value value;
    if (making->key.size && !json_value_of(body, &value) && value.type == JSON_TYPE_STRING) {
        return take_value(making, argument_at(making, 1), value, &making->given[1]);
    }
    return take_object(making, body);
}

static enum status make_one(struct making *making, struct slice body)
{
    assert(making->command->argument_count <= ARGUMENTS_MAX);
    memset(making->given, 0, making->command->argument_count * sizeof(making->given[0]));
    take_path(making);
    if (making->key.size) {
        making->given[0] = (struct given){ GIVEN_WORD, making->key };
    }
    enum status status = body.size ? take_body(making, body) : STATUS_OK;
    if (!status) {
        status = take_query(making);
    }
    if (!status) {
        take_default(making);
        status = write_all(making);
    }
    return status;
}

// Reads the name of a member, which must not be empty.
static enum status take_key(struct making *making, const struct json_member *member)
{
    if (!making->source->route->key) {
        return STATUS_OK;
    }
    enum status status = string_of(making, member->key, &making->key);
    return status || making->key.size
               ? status
               : error_set(making->error, STATUS_INVALID, "a member of the body has no name");
}

// For each object of an array, or member of an object: the number of its words, and the words.
static enum status make_each(struct making *making)
{
    struct json_reader reader;
    struct json_member item;
    struct http_words *words = making->words;
    bool keyed = making->source->route->key != NULL;
    enum status status = keyed
                             ? json_reader_init_object(&reader, making->source->body, making->error)
                             : json_reader_init_array(&reader, making->source->body, making->error);
    if (!status && making->source->query.size) {
        return error_set(making->error, STATUS_INVALID,
                         "a query cannot be given beside an array of objects");
    }
    for (; !status && json_reader_next(&reader, &item); making->element++) {
        size_t place = words->count;
        status = add_word(words, SLICE_EMPTY, making->error);
        if (!status) {
            status = take_key(making, &item);
        }
        if (!status) {
            status = make_one(making, item.value.raw);
        }
        if (!status) {
            size_t start = words->text.size;
            num_append_u64(&words->text, words->count - place - 1);
            words->items[place] = slice_sub(buffer_slice(&words->text), start, SIZE_MAX);
        }
    }
    return status;
}

enum status http_words_make(struct http_words *words, const struct http_words_source *source,
                            struct error *error)
{
    struct making making = {
        .words = words,
        .source = source,
        .command = source->each ? source->each : source->command,
        .error = error,
    };
    struct slice ns;
    if (clear(words, text_size_max(source))) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the words of a request");
    }
    const char *where = words->text.data;
    enum status status = add_word(words, slice_from_cstr(source->command->name), error);
    if (!status && (source->command->flags & COMMAND_NAMESPACE) &&
        http_route_parameter(source->route, source->path, SLICE("ns"), &ns)) {
        status = add_word(words, ns, error);
    }
    if (!status) {
        status = source->each ? make_each(&making) : make_one(&making, source->body);
    }
    assert(words->text.data == where); // the words point into it
    return status;
}
