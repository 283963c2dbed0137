// SPDX-License-Identifier: MIT
#include "faces/http/json.h"

#include "base/json.h"
#include "faces/http/problem.h"

enum {
    KEY_SIZE_MAX = 64, // of a key that is rewritten; all fixed keys are shorter
};

static struct http_json *json_of(struct reply *reply)
{
    return (struct http_json *)(void *)reply; // it is the first member
}

// Whether the next value is a whole answer, not a part of one.
static bool at_answer(const struct http_json *json)
{
    return json->depth == (json->options.each || json->options.first ? 1 : 0);
}

// A list whose brackets are not written.
static bool is_dropped_list(const struct http_json *json)
{
    return json->options.first && json->depth == 0;
}

static struct http_json *begin_value(struct reply *reply)
{
    struct http_json *json = json_of(reply);
    if (json->options.wrap && at_answer(json)) {
        json_write_begin_object(&json->writer);
        json_write_key(&json->writer, slice_from_cstr(json->options.wrap));
        json->wrapped = true;
    }
    return json;
}

static void end_value(struct http_json *json)
{
    if (json->wrapped && at_answer(json)) {
        json_write_end_object(&json->writer);
        json->wrapped = false;
    }
}

static void write_null(struct reply *reply)
{
    struct http_json *json = json_of(reply);
    json->null = json->null || at_answer(json);
    json_write_null(&json->writer);
}

static void write_key(struct http_json *json, struct slice key)
{
    char text[KEY_SIZE_MAX];
    if (json->options.names || key.size > sizeof(text) || !memchr(key.data, '-', key.size)) {
        json_write_key(&json->writer, key);
        return;
    }
    for (size_t i = 0; i < key.size; i++) {
        text[i] = (char)(key.data[i] == '-' ? '_' : key.data[i]);
    }
    json_write_key(&json->writer, slice_make(text, key.size));
}

static void write_text(struct reply *reply, struct slice bytes)
{
    struct http_json *json = json_of(reply);
    if (json_writer_wants_key(&json->writer)) {
        write_key(json, bytes);
        return;
    }
    if (json->options.named && at_answer(json) && bytes.size <= sizeof(json->name)) {
        memcpy(json->name, bytes.data, bytes.size);
        json->name_size = bytes.size;
    }
    json_write_string(&begin_value(reply)->writer, bytes);
    end_value(json);
}

// A word such as OK is omitted; the HTTP status says it.
static void write_word(struct reply *reply, struct slice word)
{
    struct http_json *json = json_of(reply);
    if (at_answer(json) && slice_equal(word, SLICE("OK"))) {
        json_write_begin_object(&json->writer);
        json_write_end_object(&json->writer);
    } else {
        write_text(reply, word);
    }
}

// Data from qless clients may be valid only by the more lenient rules of cjson; then it is written
// as a string.
static void write_json(struct reply *reply, struct slice valid)
{
    struct http_json *json = begin_value(reply);
    if (json_validate(valid, JSON_DEPTH_MAX, NULL)) {
        json_write_string(&json->writer, valid);
    } else {
        json_write_raw(&json->writer, valid);
    }
    end_value(json);
}

static void write_integer(struct reply *reply, int64_t value)
{
    struct http_json *json = begin_value(reply);
    json_write_int(&json->writer, value);
    end_value(json);
}

static void write_boolean(struct reply *reply, bool value)
{
    struct http_json *json = begin_value(reply);
    json_write_bool(&json->writer, value);
    end_value(json);
}

static void write_number(struct reply *reply, double value)
{
    struct http_json *json = begin_value(reply);
    json_write_double(&json->writer, value);
    end_value(json);
}

static void write_seconds(struct reply *reply, int64_t us)
{
    struct http_json *json = begin_value(reply);
    json_write_seconds(&json->writer, us);
    end_value(json);
}

static void write_error(struct reply *reply, const struct error *error)
{
    struct http_json *json = json_of(reply);
    json->errors++;
    http_problem_write(&json->writer,
                       &(struct http_problem){ .error = error, .command = json->options.command });
}

static void write_list(struct reply *reply, size_t count)
{
    (void)count;
    struct http_json *json = json_of(reply);
    if (!is_dropped_list(json)) {
        json_write_begin_array(&begin_value(reply)->writer);
    }
    json->depth++;
}

static void write_map(struct reply *reply, size_t pairs)
{
    (void)pairs;
    struct http_json *json = json_of(reply);
    json_write_begin_object(&json->writer);
    json->depth++;
}

static void write_end(struct reply *reply)
{
    struct http_json *json = json_of(reply);
    json->depth--;
    if (is_dropped_list(json)) {
        return;
    }
    if (json_writer_wants_key(&json->writer)) {
        json_write_end_object(&json->writer);
    } else {
        json_write_end_array(&json->writer);
        end_value(json);
    }
}

static void write_made(struct reply *reply, uint64_t id, bool is_new)
{
    struct http_json *json = json_of(reply);
    json->made = id;
    json->existing = !is_new;
}

static size_t room(const struct reply *reply)
{
    const struct buffer *out = ((const struct http_json *)(const void *)reply)->writer.buffer;
    return out->status ? 0 : out->size_max - out->size;
}

static size_t room_max(const struct reply *reply)
{
    return ((const struct http_json *)(const void *)reply)->options.size_max;
}

// What surrounds an element of an answer is small.
static size_t measure(struct reply *reply, reply_writer *write, const void *about)
{
    const struct http_json *json = json_of(reply);
    const struct http_json_options options = { .names = json->options.names,
                                               .size_max = json->options.size_max };
    struct buffer bytes;
    struct http_json apart;
    buffer_init(&bytes, json->writer.buffer->allocator, options.size_max);
    http_json_init(&apart, &bytes, &options);
    write(&apart.reply, about);
    size_t size = bytes.status ? SIZE_MAX : bytes.size;
    buffer_release(&bytes);
    return size;
}

static const struct reply_ops form_functions = {
    .null = write_null,
    .word = write_word,
    .text = write_text,
    .json = write_json,
    .prose = write_text,
    .integer = write_integer,
    .boolean = write_boolean,
    .number = write_number,
    .seconds = write_seconds,
    .moment = write_seconds,
    .error = write_error,
    .list = write_list,
    .map = write_map,
    .end = write_end,
    .made = write_made,
    .room = room,
    .room_max = room_max,
    .measure = measure,
    .growth = 6,                           // \u001f
    .error_size = REPLY_SHORT_ERROR + 160, // the other members of a problem
};

void http_json_init(struct http_json *json, struct buffer *out,
                    const struct http_json_options *options)
{
    *json = (struct http_json){ .reply = { &form_functions }, .options = *options };
    json_writer_init(&json->writer, out);
}
