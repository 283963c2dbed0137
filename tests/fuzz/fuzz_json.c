// SPDX-License-Identifier: MIT
// Any bytes as JSON. Jansson must agree on whether they are valid; what is valid must be so again,
// and mean the same, without its white space and when it is read and written anew.

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"

#include "fuzz.h"
#include "json_oracle.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SIZE_BYTES_MAX = 1 << 26,
};

static void require(int holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_json: %s\n", sentence);
        abort();
    }
}

static json_t *load(struct slice text, size_t flags)
{
    return json_loadb(text.size ? text.data : "", text.size, JSON_DECODE_ANY | flags, NULL);
}

// The most brackets that are open at a time.
static size_t depth_of(struct slice text)
{
    size_t depth = 0;
    size_t depth_max = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c == '"') {
            in_string = !in_string;
        } else if (in_string) {
            i += c == '\\';
        } else if (c == '{' || c == '[') {
            depth++;
            depth_max = depth > depth_max ? depth : depth_max;
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        }
    }
    return depth_max;
}

static bool check_verdict(struct slice text)
{
    struct error error = { .status = STATUS_OK };
    enum status status = json_validate(text, JSON_DEPTH_MAX, &error);
    require(error.status == status, "the error's status is another than the one returned");
    require((status == STATUS_OK) == (error.detail[0] == '\0'), "a refusal without a sentence");
    if (status == STATUS_TOO_LARGE) {
        // Jansson goes twice as deep.
        require(depth_of(text) > JSON_DEPTH_MAX, "too deep was said of a text that is not");
        return false;
    }
    require((status == STATUS_OK) == json_oracle_accepts(text),
            status ? "a text that jansson accepts was refused"
                   : "a text that jansson refuses was accepted");
    require(status || depth_of(text) <= JSON_DEPTH_MAX, "a text that is too deep was accepted");

    unsigned depth = (unsigned)depth_of(text);
    require(status || json_validate(text, depth, NULL) == STATUS_OK,
            "a text was refused at the depth that it has");
    require(status || depth == 0 || json_validate(text, depth - 1, NULL) == STATUS_TOO_LARGE,
            "a text was accepted at less than the depth that it has");
    return status == STATUS_OK;
}

static void rewrite_string(struct json_writer *writer, struct slice raw, bool key)
{
    struct buffer unescaped;
    buffer_init(&unescaped, &allocator_system, SIZE_BYTES_MAX);
    require(json_unescape(raw, &unescaped) == STATUS_OK, "a valid string was not unescaped");
    require(json_string_is(raw, buffer_slice(&unescaped)), "a string is not what it stands for");
    if (key) {
        json_write_key(writer, buffer_slice(&unescaped));
    } else {
        json_write_string(writer, buffer_slice(&unescaped));
    }
    buffer_release(&unescaped);
}

static void rewrite_scalar(struct json_writer *writer, struct json_value value)
{
    int64_t number;
    bool flag = false;
    if (value.type == JSON_TYPE_STRING) {
        rewrite_string(writer, value.raw, false);
    } else if (value.type == JSON_TYPE_BOOL) {
        require(json_value_bool(value, &flag) == STATUS_OK, "a bool was not read");
        json_write_bool(writer, flag);
    } else if (value.type == JSON_TYPE_NULL) {
        json_write_null(writer);
    } else if (json_value_int(value, &number) == STATUS_OK) {
        json_write_int(writer, number);
    } else {
        json_write_raw(writer, value.raw);
    }
}

// Recursion ends at the writer's depth; what is deeper is handed over as it stands.
static void rewrite(struct json_writer *writer, struct json_value value)
{
    bool object = value.type == JSON_TYPE_OBJECT;
    if (!object && value.type != JSON_TYPE_ARRAY) {
        rewrite_scalar(writer, value);
        return;
    }
    if (writer->depth == JSON_WRITER_DEPTH_MAX) {
        json_write_raw(writer, value.raw);
        return;
    }
    struct json_reader reader;
    struct json_member member;
    enum status status = object ? json_reader_init_object(&reader, value.raw, NULL)
                                : json_reader_init_array(&reader, value.raw, NULL);
    require(status == STATUS_OK, "a valid container was not opened");
    (object ? json_write_begin_object : json_write_begin_array)(writer);
    while (json_reader_next(&reader, &member)) {
        if (object) {
            rewrite_string(writer, member.key, true);
        }
        rewrite(writer, member.value);
    }
    require(reader.status == STATUS_OK, "a valid container was not read to its end");
    (object ? json_write_end_object : json_write_end_array)(writer);
}

// Where jansson can hold the values, they must be the same ones.
static void require_same(struct slice text, struct slice other, const char *sentence)
{
    require(json_validate(other, JSON_DEPTH_MAX, NULL) == STATUS_OK, sentence);
    json_t *tree = load(text, JSON_ALLOW_NUL);
    json_t *tree_other = load(other, JSON_ALLOW_NUL);
    require(!tree == !tree_other && (!tree || json_equal(tree, tree_other)), sentence);
    json_decref(tree);
    json_decref(tree_other);
}

static void check_canonical(struct slice text, struct buffer *scratch)
{
    buffer_clear(scratch);
    json_canonical(text, scratch);
    require(scratch->status == STATUS_OK && scratch->size <= text.size,
            "the text grew without its white space");
    require_same(text, buffer_slice(scratch), "the text changed without its white space");

    struct buffer again;
    buffer_init(&again, &allocator_system, SIZE_BYTES_MAX);
    json_canonical(buffer_slice(scratch), &again);
    require(slice_equal(buffer_slice(&again), buffer_slice(scratch)),
            "white space was left for a second time");
    buffer_release(&again);
}

static void check_rewritten(struct slice text, struct buffer *scratch)
{
    struct json_value value;
    require(json_value_of(text, &value) == STATUS_OK, "a valid text is no value");
    buffer_clear(scratch);
    struct json_writer writer;
    json_writer_init(&writer, scratch);
    rewrite(&writer, value);
    require(scratch->status == STATUS_OK && writer.depth == 0, "a text was not written to its end");
    require_same(text, buffer_slice(scratch), "the text changed when read and written anew");
}

// The reader may say what it likes of a text that is not valid; the sanitizers watch its steps.
static void read_malformed(struct slice text, struct buffer *scratch)
{
    struct json_reader reader;
    struct json_member member;
    for (int object = 0; object < 2; object++) {
        enum status status = object ? json_reader_init_object(&reader, text, NULL)
                                    : json_reader_init_array(&reader, text, NULL);
        while (status == STATUS_OK && json_reader_next(&reader, &member)) {
            buffer_clear(scratch);
            struct slice raw = object ? member.key : member.value.raw;
            require(json_unescape(raw, scratch) == STATUS_OK || scratch->size == 0,
                    "a string that was not unescaped left bytes behind");
        }
    }
    buffer_clear(scratch);
    json_canonical(text, scratch);
    buffer_clear(scratch);
    struct json_writer writer;
    json_writer_init(&writer, scratch);
    json_write_string(&writer, text);
    require(json_validate(buffer_slice(scratch), 0, NULL) == STATUS_OK,
            "bytes written as a string are not valid");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    // Otherwise jansson takes its seed from the system, and a finding may not come again.
    json_object_seed(1);
    struct slice text = slice_make(data, size);
    struct buffer scratch;
    buffer_init(&scratch, &allocator_system, SIZE_BYTES_MAX);
    if (check_verdict(text)) {
        check_canonical(text, &scratch);
        check_rewritten(text, &scratch);
    } else {
        read_malformed(text, &scratch);
    }
    buffer_release(&scratch);
    return 0;
}
