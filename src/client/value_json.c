// SPDX-License-Identifier: MIT
// JSON as a tree in one block of memory, like every value (value.h).
#include "client/memory.h"
#include "client/value.h"

#include "base/json.h"
#include "base/json_reader.h"
#include "base/num.h"

#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 32, // deeper parts stay texts
};

struct builder {
    struct buffer scratch;
    char *bytes;               // the place of the next text
    struct sluice_value *free; // the next node
};

static bool is_list(struct json_value value, int depth)
{
    return depth < DEPTH_MAX && (value.type == JSON_TYPE_OBJECT || value.type == JSON_TYPE_ARRAY);
}

static void read_begin(struct json_reader *reader, struct json_value value)
{
    enum status status = value.type == JSON_TYPE_OBJECT
                             ? json_reader_init_object(reader, value.raw, NULL)
                             : json_reader_init_array(reader, value.raw, NULL);
    (void)status; // the text was validated
}

static size_t count_direct(struct json_value value)
{
    struct json_reader reader;
    struct json_member member;
    size_t count = 0;
    read_begin(&reader, value);
    while (json_reader_next(&reader, &member)) {
        count++;
    }
    return count;
}

// Counts the nodes below a value.
static size_t count_nodes(struct json_value value, int depth)
{
    struct json_reader reader;
    struct json_member member;
    size_t count = 0;
    if (!is_list(value, depth)) {
        return 0;
    }
    read_begin(&reader, value);
    while (json_reader_next(&reader, &member)) {
        count += (value.type == JSON_TYPE_OBJECT ? 2 : 1) + count_nodes(member.value, depth + 1);
    }
    return count;
}

static void keep_text(struct builder *builder, struct slice text, struct sluice_value *out)
{
    out->type = SLUICE_TEXT;
    out->text = (struct value_text){ builder->bytes, text.size };
    if (text.size) {
        memcpy(builder->bytes, text.data, text.size);
    }
    builder->bytes[text.size] = '\0';
    builder->bytes += text.size + 1;
}

// Needs no more bytes than the string has with its quotes.
static enum status keep_string(struct builder *builder, struct slice raw, struct sluice_value *out)
{
    buffer_clear(&builder->scratch);
    enum status status = json_unescape(raw, &builder->scratch);
    if (!status) {
        keep_text(builder, buffer_slice(&builder->scratch), out);
    }
    return status;
}

static enum status build(struct builder *builder, struct json_value value, int depth,
                         struct sluice_value *out);

static enum status build_list(struct builder *builder, struct json_value value, int depth,
                              struct sluice_value *out)
{
    struct json_reader reader;
    struct json_member member;
    bool map = value.type == JSON_TYPE_OBJECT;
    size_t count = count_direct(value);
    struct sluice_value *item = builder->free;
    out->type = map ? SLUICE_MAP : SLUICE_LIST;
    out->list = (struct value_list){ item, count };
    builder->free += map ? 2 * count : count;
    enum status status = STATUS_OK;
    read_begin(&reader, value);
    while (!status && json_reader_next(&reader, &member)) {
        status = map ? keep_string(builder, member.key, item++) : STATUS_OK;
        status = status ? status : build(builder, member.value, depth + 1, item++);
    }
    return status ? status : reader.status;
}

static enum status build_number(struct json_value value, struct sluice_value *out)
{
    out->type = SLUICE_INTEGER;
    if (!json_value_int(value, &out->integer)) {
        return STATUS_OK;
    }
    out->type = SLUICE_NUMBER;
    return num_parse_double(value.raw, &out->number);
}

static enum status build(struct builder *builder, struct json_value value, int depth,
                         struct sluice_value *out)
{
    bool truth;
    if (is_list(value, depth)) {
        return build_list(builder, value, depth, out);
    }
    switch (value.type) {
    case JSON_TYPE_NULL:
        out->type = SLUICE_NULL;
        break;
    case JSON_TYPE_BOOL:
        truth = false;
        out->type = SLUICE_BOOLEAN;
        (void)!json_value_bool(value, &truth);
        out->integer = truth;
        break;
    case JSON_TYPE_NUMBER:
        return build_number(value, out);
    case JSON_TYPE_STRING:
        return keep_string(builder, value.raw, out);
    case JSON_TYPE_ARRAY:
    case JSON_TYPE_OBJECT:
        keep_text(builder, value.raw, out);
        break;
    }
    return STATUS_OK;
}

// A text needs as many bytes as it has in the JSON, or one more.
enum sluice_status value_read_json(struct slice json, struct sluice_value **out,
                                   struct sluice_error *error)
{
    struct json_value whole;
    struct error why = { 0 };
    *out = NULL;
    if (json_validate(json, JSON_DEPTH_MAX, &why)) {
        return fault_of(error, &why);
    }
    if (json_value_of(json, &whole)) {
        return fault(error, SLUICE_INVALID, "it is no JSON");
    }
    size_t nodes = 1 + count_nodes(whole, 0);
    struct sluice_value *root = memory_alloc(nodes * (sizeof(*root) + 1) + json.size);
    if (!root) {
        return fault_no_memory(error);
    }
    memset(root, 0, nodes * sizeof(*root));
    struct builder builder = { .bytes = (char *)(root + nodes), .free = root + 1 };
    buffer_init(&builder.scratch, &allocator_system, json.size + 1);
    enum status status = build(&builder, whole, 0, root);
    buffer_release(&builder.scratch);
    if (status) {
        memory_free(root);
        return status == STATUS_NO_MEMORY ? fault_no_memory(error)
                                          : fault(error, SLUICE_INVALID, "malformed JSON");
    }
    *out = root;
    return SLUICE_OK;
}
