// SPDX-License-Identifier: MIT
#include "faces/grpc/descriptor.h"

#include "base/ascii.h"
#include "faces/grpc/files.h"
#include "wire/protobuf.h"

// Numbers of fields in google/protobuf/descriptor.proto.
enum {
    NAME = 1, // of all of them
    FILE_PACKAGE = 2,
    FILE_DEPENDENCY = 3,
    FILE_MESSAGE = 4,
    FILE_ENUM = 5,
    FILE_SERVICE = 6,
    FILE_OPTIONS = 8,
    FILE_SYNTAX = 12,
    MESSAGE_FIELD = 2,
    MESSAGE_NESTED = 3,
    MESSAGE_ENUM = 4,
    MESSAGE_OPTIONS = 7,
    MESSAGE_ONEOF = 8,
    MESSAGE_OPTION_MAP_ENTRY = 7,
    FIELD_NUMBER = 3,
    FIELD_LABEL = 4,
    FIELD_TYPE = 5,
    FIELD_TYPE_NAME = 6,
    FIELD_ONEOF = 9,
    FIELD_JSON_NAME = 10,
    FIELD_PROTO3_OPTIONAL = 17,
    ENUM_VALUE = 2,
    VALUE_NUMBER = 2,
    SERVICE_METHOD = 2,
    METHOD_INPUT = 2,
    METHOD_OUTPUT = 3,
    METHOD_CLIENT_STREAMING = 5,
    METHOD_SERVER_STREAMING = 6,
};

enum {
    LABEL_OPTIONAL = 1,
    LABEL_REPEATED = 3,
    NAME_SIZE_MAX = 64,
};

// The last part of a full name.
static struct slice short_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    return slice_from_cstr(dot ? dot + 1 : name);
}

static void write_cstr(struct buffer *out, uint32_t number, const char *text)
{
    protobuf_write_bytes(out, number, slice_from_cstr(text));
}

// A full name, with a dot in front.
static void write_type_name(struct buffer *out, uint32_t number, const char *name)
{
    size_t place = protobuf_begin(out, number);
    buffer_append_char(out, '.');
    buffer_append(out, slice_from_cstr(name));
    protobuf_end(out, place);
}

// "next_queue" as "nextQueue".
static void write_json_name(struct buffer *out, const char *name)
{
    size_t place = protobuf_begin(out, FIELD_JSON_NAME);
    for (size_t i = 0; name[i]; i++) {
        if (name[i] != '_') {
            char upper = ascii_upper(name[i]);
            bool begins_word = i > 0 && name[i - 1] == '_';
            buffer_append(out, slice_make(begins_word ? &upper : &name[i], 1));
        }
    }
    protobuf_end(out, place);
}

// ---------------------------------------------------------------------------------------------
// Oneofs: those that are named come first; then each optional field has one of its own.

static bool begins_oneof(const struct grpc_message *message, size_t index)
{
    const struct grpc_field *field = &message->fields[index];
    return field->oneof && (index == 0 || !message->fields[index - 1].oneof ||
                            strcmp(message->fields[index - 1].oneof, field->oneof) != 0);
}

// How many oneofs are named before that field.
static size_t count_named(const struct grpc_message *message, size_t before)
{
    size_t count = 0;
    for (size_t i = 0; i < before; i++) {
        count += begins_oneof(message, i);
    }
    return count;
}

static size_t count_optional(const struct grpc_message *message, size_t before)
{
    size_t count = 0;
    for (size_t i = 0; i < before; i++) {
        count += (message->fields[i].flags & GRPC_FIELD_OPTIONAL) != 0;
    }
    return count;
}

static void write_oneof(struct buffer *out, const char *prefix, const char *name)
{
    size_t oneof = protobuf_begin(out, MESSAGE_ONEOF);
    size_t place = protobuf_begin(out, NAME);
    buffer_append(out, slice_from_cstr(prefix));
    buffer_append(out, slice_from_cstr(name));
    protobuf_end(out, place);
    protobuf_end(out, oneof);
}

static void write_oneofs(struct buffer *out, const struct grpc_message *message)
{
    for (size_t i = 0; i < message->field_count; i++) {
        if (begins_oneof(message, i)) {
            write_oneof(out, "", message->fields[i].oneof);
        }
    }
    for (size_t i = 0; i < message->field_count; i++) {
        if (message->fields[i].flags & GRPC_FIELD_OPTIONAL) {
            write_oneof(out, "_", message->fields[i].name);
        }
    }
}

// ---------------------------------------------------------------------------------------------

static void write_field(struct buffer *out, const struct grpc_message *message, size_t index)
{
    const struct grpc_field *field = &message->fields[index];
    bool optional = field->flags & GRPC_FIELD_OPTIONAL;
    size_t place = protobuf_begin(out, MESSAGE_FIELD);
    write_cstr(out, NAME, field->name);
    protobuf_write_varint(out, FIELD_NUMBER, field->number);
    protobuf_write_varint(out, FIELD_LABEL,
                          field->flags & GRPC_FIELD_REPEATED ? LABEL_REPEATED : LABEL_OPTIONAL);
    protobuf_write_varint(out, FIELD_TYPE, (uint64_t)field->type);
    if (field->message || field->values) {
        write_type_name(out, FIELD_TYPE_NAME,
                        field->message ? field->message->name : field->values->name);
    }
    if (field->oneof) {
        protobuf_write_varint(out, FIELD_ONEOF, count_named(message, index + 1) - 1);
    } else if (optional) {
        protobuf_write_varint(out, FIELD_ONEOF,
                              count_named(message, message->field_count) +
                                  count_optional(message, index));
    }
    write_json_name(out, field->name);
    if (optional) {
        protobuf_write_varint(out, FIELD_PROTO3_OPTIONAL, 1);
    }
    protobuf_end(out, place);
}

static void write_enum(struct buffer *out, uint32_t number, const struct grpc_enum *values)
{
    size_t place = protobuf_begin(out, number);
    protobuf_write_bytes(out, NAME, short_name(values->name));
    for (size_t i = 0; i < values->value_count; i++) {
        size_t value = protobuf_begin(out, ENUM_VALUE);
        write_cstr(out, NAME, values->values[i]);
        protobuf_write_varint(out, VALUE_NUMBER, i);
        protobuf_end(out, value);
    }
    protobuf_end(out, place);
}

// Messages are at most two deep in one another.
static void write_message(struct buffer *out, uint32_t number, const struct grpc_message *message)
{
    size_t place = protobuf_begin(out, number);
    protobuf_write_bytes(out, NAME, short_name(message->name));
    for (size_t i = 0; i < message->field_count; i++) {
        write_field(out, message, i);
    }
    for (size_t i = 0; message->messages && message->messages[i]; i++) {
        write_message(out, MESSAGE_NESTED, message->messages[i]);
    }
    for (size_t i = 0; message->enums && message->enums[i]; i++) {
        write_enum(out, MESSAGE_ENUM, message->enums[i]);
    }
    if (message->map_entry) {
        size_t options = protobuf_begin(out, MESSAGE_OPTIONS);
        protobuf_write_varint(out, MESSAGE_OPTION_MAP_ENTRY, 1);
        protobuf_end(out, options);
    }
    write_oneofs(out, message);
    protobuf_end(out, place);
}

static void write_service(struct buffer *out, const struct grpc_service *service)
{
    size_t place = protobuf_begin(out, FILE_SERVICE);
    protobuf_write_bytes(out, NAME, short_name(service->name));
    for (size_t i = 0; i < service->rpc_count; i++) {
        const struct grpc_rpc *rpc = &service->rpcs[i];
        size_t method = protobuf_begin(out, SERVICE_METHOD);
        write_cstr(out, NAME, rpc->name);
        write_type_name(out, METHOD_INPUT, rpc->request->name);
        write_type_name(out, METHOD_OUTPUT, rpc->reply->name);
        if (rpc->streams_in) {
            protobuf_write_varint(out, METHOD_CLIENT_STREAMING, 1);
        }
        if (rpc->streams_out) {
            protobuf_write_varint(out, METHOD_SERVER_STREAMING, 1);
        }
        protobuf_end(out, method);
    }
    protobuf_end(out, place);
}

static void write_options(struct buffer *out, const struct grpc_file_option *options)
{
    size_t place = protobuf_begin(out, FILE_OPTIONS);
    for (size_t i = 0; options[i].number; i++) {
        if (options[i].text) {
            write_cstr(out, options[i].number, options[i].text);
        } else {
            protobuf_write_varint(out, options[i].number, 1);
        }
    }
    protobuf_end(out, place);
}

void grpc_descriptor_write(const struct grpc_file *file, struct buffer *out)
{
    write_cstr(out, NAME, file->name);
    write_cstr(out, FILE_PACKAGE, file->package);
    for (size_t i = 0; file->imports && file->imports[i]; i++) {
        write_cstr(out, FILE_DEPENDENCY, file->imports[i]->name);
    }
    for (size_t i = 0; file->messages[i]; i++) {
        write_message(out, FILE_MESSAGE, file->messages[i]);
    }
    for (size_t i = 0; file->enums && file->enums[i]; i++) {
        write_enum(out, FILE_ENUM, file->enums[i]);
    }
    for (size_t i = 0; file->services && file->services[i]; i++) {
        write_service(out, file->services[i]);
    }
    write_options(out, file->options);
    write_cstr(out, FILE_SYNTAX, "proto3");
}

// ---------------------------------------------------------------------------------------------
// Looking for names

// Whether `name` is that of the symbol, or the symbol is one of its parts, whose short name is
// `*part`.
static bool is_name(struct slice symbol, const char *name, struct slice *part)
{
    struct slice whole = slice_from_cstr(name);
    *part = SLICE_EMPTY;
    if (!slice_starts_with(symbol, whole)) {
        return false;
    }
    struct slice rest = slice_sub(symbol, whole.size, SIZE_MAX);
    if (rest.size > 1 && rest.data[0] == '.') {
        *part = slice_sub(rest, 1, SIZE_MAX);
    }
    return rest.size == 0 || part->size > 0;
}

static bool has_message(const struct grpc_message *message, struct slice symbol)
{
    struct slice part;
    struct slice inner;
    if (!is_name(symbol, message->name, &part)) {
        return false;
    }
    bool found = part.size == 0;
    for (size_t i = 0; i < message->field_count; i++) {
        found |= slice_equal(slice_from_cstr(message->fields[i].name), part);
    }
    for (size_t i = 0; message->messages && message->messages[i]; i++) {
        found |= has_message(message->messages[i], symbol);
    }
    for (size_t i = 0; message->enums && message->enums[i]; i++) {
        found |= is_name(symbol, message->enums[i]->name, &inner) && inner.size == 0;
    }
    return found;
}

static bool has_service(const struct grpc_service *service, struct slice symbol)
{
    struct slice part;
    if (!is_name(symbol, service->name, &part)) {
        return false;
    }
    bool found = part.size == 0;
    for (size_t i = 0; i < service->rpc_count; i++) {
        found |= slice_equal(slice_from_cstr(service->rpcs[i].name), part);
    }
    return found;
}

static bool has_symbol(const struct grpc_file *file, struct slice symbol)
{
    struct slice part;
    bool found = false;
    for (size_t i = 0; file->messages[i] && !found; i++) {
        found = has_message(file->messages[i], symbol);
    }
    for (size_t i = 0; file->enums && file->enums[i] && !found; i++) {
        found = is_name(symbol, file->enums[i]->name, &part) && part.size == 0;
    }
    for (size_t i = 0; file->services && file->services[i] && !found; i++) {
        found = has_service(file->services[i], symbol);
    }
    return found;
}

const struct grpc_file *grpc_descriptor_find(struct slice symbol)
{
    for (size_t i = 0; grpc_files[i]; i++) {
        if (has_symbol(grpc_files[i], symbol)) {
            return grpc_files[i];
        }
    }
    return NULL;
}

const struct grpc_file *grpc_descriptor_file(struct slice name)
{
    for (size_t i = 0; grpc_files[i]; i++) {
        if (slice_equal(slice_from_cstr(grpc_files[i]->name), name)) {
            return grpc_files[i];
        }
    }
    return NULL;
}
