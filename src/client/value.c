// SPDX-License-Identifier: MIT
#include "client/value.h"

#include "base/json.h"
#include "base/json_writer.h"
#include "base/num.h"
#include "client/memory.h"
#include "wire/resp_item.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static_assert((int)SLUICE_JSON_DEPTH_MAX == (int)JSON_VALUE_DEPTH_MAX,
              "the limit that programs see is the queue's");

enum {
    DEPTH_MAX = 32,
    JSON_SIZE_MAX = 1 << 30,
};

// ---------------------------------------------------------------------------------------------
// From bytes

struct builder {
    struct slice rest;          // of the answer
    char *bytes;                // where texts go
    struct sluice_value *free;  // the next node
    struct sluice_error *error; // why it failed
};

static enum sluice_status broken(const struct builder *builder, const char *what)
{
    return fault(builder->error, SLUICE_INVALID, "malformed answer: %s", what);
}

static struct value_text keep_text(struct builder *builder, struct slice text)
{
    char *kept = builder->bytes;
    if (text.size) {
        memcpy(kept, text.data, text.size);
    }
    kept[text.size] = '\0';
    builder->bytes += text.size + 1;
    return (struct value_text){ kept, text.size };
}

static void build_fault(struct builder *builder, struct slice line, struct sluice_value *out)
{
    struct sluice_error said;
    out->type = SLUICE_FAULT;
    out->status = fault_said(&said, line);
    const char *space = memchr(line.data, ' ', line.size);
    out->text = keep_text(
        builder, space ? slice_sub(line, (size_t)(space - line.data) + 1, SIZE_MAX) : line);
}

static enum sluice_status build_number(const struct builder *builder, struct slice text,
                                       struct sluice_value *out)
{
    static const struct {
        struct slice text;
        double number;
    } others[] = {
        { { "inf", 3 }, INFINITY },
        { { "-inf", 4 }, -INFINITY },
        { { "nan", 3 }, NAN },
    };
    out->type = SLUICE_NUMBER;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (slice_equal(text, others[i].text)) {
            out->number = others[i].number;
            return SLUICE_OK;
        }
    }
    return num_parse_double(text, &out->number) ? broken(builder, "a number is none") : SLUICE_OK;
}

static enum sluice_status build(struct builder *builder, struct sluice_value *out, int depth);

static enum sluice_status build_list(struct builder *builder, const struct resp_item *item,
                                     struct sluice_value *out, int depth)
{
    bool map = item->kind == RESP_MAP;
    out->type = map ? SLUICE_MAP : SLUICE_LIST;
    out->list = (struct value_list){ builder->free, map ? item->count / 2 : item->count };
    builder->free += item->count;
    if (depth == DEPTH_MAX) {
        return broken(builder, "too many lists in one another");
    }
    enum sluice_status status = SLUICE_OK;
    for (size_t i = 0; i < item->count && !status; i++) {
        status = build(builder, &out->list.items[i], depth + 1);
        if (!status && map && i % 2 == 0 && out->list.items[i].type != SLUICE_TEXT) {
            status = broken(builder, "a key is no text");
        }
    }
    return status;
}

static enum sluice_status build(struct builder *builder, struct sluice_value *out, int depth)
{
    struct resp_item item;
    size_t size;
    if (resp_item_read(builder->rest, &item, &size, NULL) != RESP_READY) {
        return broken(builder, "it is not whole");
    }
    builder->rest = slice_sub(builder->rest, size, SIZE_MAX);
    switch (item.kind) {
    case RESP_NULL:
        out->type = SLUICE_NULL;
        break;
    case RESP_TEXT:
        out->type = SLUICE_TEXT;
        out->text = keep_text(builder, item.text);
        break;
    case RESP_ERROR:
        build_fault(builder, item.text, out);
        break;
    case RESP_INTEGER:
    case RESP_BOOLEAN:
        out->type = item.kind == RESP_INTEGER ? SLUICE_INTEGER : SLUICE_BOOLEAN;
        out->integer = item.integer;
        break;
    case RESP_NUMBER:
        return build_number(builder, item.text, out);
    case RESP_LIST:
    case RESP_MAP:
    case RESP_PUSH:
        return build_list(builder, &item, out, depth);
    }
    return SLUICE_OK;
}

// Every text takes at least as many bytes in the answer as here: its header is longer than the null
// byte.
enum sluice_status value_read(struct slice answer, size_t items, struct sluice_value **out,
                              struct sluice_error *error)
{
    *out = NULL;
    struct resp_item first;
    size_t size;
    if (resp_item_read(answer, &first, &size, NULL) == RESP_READY && first.kind == RESP_ERROR) {
        return fault_said(error, first.text);
    }
    struct sluice_value *root = memory_alloc(items * sizeof(*root) + answer.size);
    if (!root) {
        return fault_no_memory(error);
    }
    memset(root, 0, items * sizeof(*root));
    struct builder builder = {
        .rest = answer,
        .bytes = (char *)(root + items),
        .free = root + 1,
        .error = error,
    };
    enum sluice_status status = build(&builder, root, 0);
    if (status) {
        memory_free(root);
        return status;
    }
    *out = root;
    return SLUICE_OK;
}

enum sluice_status value_read_whole(struct slice answer, struct sluice_value **out,
                                    struct sluice_error *error)
{
    struct resp_scan scan;
    struct error why;
    resp_scan_begin(&scan);
    *out = NULL;
    if (resp_scan_read(&scan, answer, &why) != RESP_READY) {
        return fault(error, SLUICE_INVALID, "malformed answer: it is not complete");
    }
    return value_read(slice_sub(answer, 0, scan.position), scan.items, out, error);
}

// The root is the first node of the block.
void value_keep_first(struct sluice_value *list)
{
    const struct sluice_value first = list->list.items[0];
    *list = first;
}

void sluice_free(char *text)
{
    memory_free(text);
}

void sluice_value_free(struct sluice_value *value)
{
    memory_free(value);
}

// ---------------------------------------------------------------------------------------------
// Reading

enum sluice_type sluice_value_type(const struct sluice_value *value)
{
    return value ? value->type : SLUICE_NULL;
}

const char *sluice_value_text(const struct sluice_value *value, size_t *size)
{
    bool has = value && (value->type == SLUICE_TEXT || value->type == SLUICE_FAULT);
    if (size) {
        *size = has ? value->text.size : 0;
    }
    return has ? value->text.bytes : NULL;
}

int64_t sluice_value_integer(const struct sluice_value *value)
{
    switch (sluice_value_type(value)) {
    case SLUICE_INTEGER:
    case SLUICE_BOOLEAN:
        return value->integer;
    case SLUICE_NUMBER:
        return value->number > -9e18 && value->number < 9e18 ? (int64_t)value->number : 0;
    default:
        return 0;
    }
}

double sluice_value_number(const struct sluice_value *value)
{
    return sluice_value_type(value) == SLUICE_NUMBER ? value->number
                                                     : (double)sluice_value_integer(value);
}

bool sluice_value_boolean(const struct sluice_value *value)
{
    return sluice_value_integer(value) != 0;
}

enum sluice_status sluice_value_status(const struct sluice_value *value)
{
    return sluice_value_type(value) == SLUICE_FAULT ? value->status : SLUICE_OK;
}

size_t sluice_value_count(const struct sluice_value *value)
{
    enum sluice_type type = sluice_value_type(value);
    return type == SLUICE_LIST || type == SLUICE_MAP ? value->list.count : 0;
}

const struct sluice_value *sluice_value_at(const struct sluice_value *value, size_t index)
{
    if (index >= sluice_value_count(value)) {
        return NULL;
    }
    return &value->list.items[value->type == SLUICE_MAP ? 2 * index + 1 : index];
}

const char *sluice_value_key(const struct sluice_value *value, size_t index)
{
    bool has = sluice_value_type(value) == SLUICE_MAP && index < value->list.count;
    return has ? value->list.items[2 * index].text.bytes : NULL;
}

const struct sluice_value *sluice_value_get(const struct sluice_value *value, const char *key)
{
    for (size_t i = 0; key && sluice_value_type(value) == SLUICE_MAP && i < value->list.count;
         i++) {
        if (strcmp(sluice_value_key(value, i), key) == 0) {
            return sluice_value_at(value, i);
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// As JSON

static struct slice text_of(const struct sluice_value *value)
{
    return slice_make(value->text.bytes, value->text.size);
}

// The data and the result of a job are JSON already.
static bool is_json(const char *key, const struct sluice_value *value)
{
    return key && (strcmp(key, "data") == 0 || strcmp(key, "result") == 0) &&
           value->type == SLUICE_TEXT && !json_validate(text_of(value), JSON_DEPTH_MAX, NULL);
}

static void write_text(struct json_writer *writer, const char *key,
                       const struct sluice_value *value)
{
    if (is_json(key, value)) {
        json_write_raw(writer, text_of(value));
    } else {
        json_write_string(writer, text_of(value));
    }
}

static void write_value(struct json_writer *writer, const char *key,
                        const struct sluice_value *value);

static void write_list(struct json_writer *writer, const struct sluice_value *value)
{
    bool map = value->type == SLUICE_MAP;
    if (map) {
        json_write_begin_object(writer);
    } else {
        json_write_begin_array(writer);
    }
    for (size_t i = 0; i < value->list.count; i++) {
        if (map) {
            json_write_key(writer, text_of(&value->list.items[2 * i]));
        }
        write_value(writer, map ? sluice_value_key(value, i) : NULL, sluice_value_at(value, i));
    }
    if (map) {
        json_write_end_object(writer);
    } else {
        json_write_end_array(writer);
    }
}

static void write_value(struct json_writer *writer, const char *key,
                        const struct sluice_value *value)
{
    switch (value->type) {
    case SLUICE_NULL:
        json_write_null(writer);
        break;
    case SLUICE_TEXT:
        write_text(writer, key, value);
        break;
    case SLUICE_INTEGER:
        json_write_int(writer, value->integer);
        break;
    case SLUICE_NUMBER:
        json_write_double(writer, value->number);
        break;
    case SLUICE_BOOLEAN:
        json_write_bool(writer, value->integer != 0);
        break;
    case SLUICE_LIST:
    case SLUICE_MAP:
        write_list(writer, value);
        break;
    case SLUICE_FAULT:
        json_write_begin_object(writer);
        json_write_key(writer, SLICE("error"));
        json_write_string(writer, slice_from_cstr(sluice_status_name(value->status)));
        json_write_key(writer, SLICE("message"));
        json_write_string(writer, text_of(value));
        json_write_end_object(writer);
        break;
    }
}

char *sluice_value_json(const struct sluice_value *value)
{
    static const struct sluice_value null = { .type = SLUICE_NULL };
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, &allocator_system, JSON_SIZE_MAX);
    json_writer_init(&writer, &out);
    write_value(&writer, NULL, value ? value : &null);
    char *text = out.status ? NULL : memory_alloc(out.size + 1);
    if (text) {
        memcpy(text, out.data, out.size);
        text[out.size] = '\0';
    }
    buffer_release(&out);
    return text;
}
