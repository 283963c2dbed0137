// SPDX-License-Identifier: MIT
// What messages are made of, as data: proto/sluice/v1/sluice.proto, and with each field what it is in
// a command. Requests and replies are read and written by these tables, and reflection describes
// them. A test compares the tables with the .proto file.
#ifndef SLUICE_FACES_GRPC_SCHEMA_H
#define SLUICE_FACES_GRPC_SCHEMA_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// As in google.protobuf.FieldDescriptorProto.Type.
enum grpc_type {
    GRPC_TYPE_DOUBLE = 1,
    GRPC_TYPE_INT64 = 3,
    GRPC_TYPE_UINT64 = 4,
    GRPC_TYPE_INT32 = 5,
    GRPC_TYPE_BOOL = 8,
    GRPC_TYPE_STRING = 9,
    GRPC_TYPE_MESSAGE = 11,
    GRPC_TYPE_BYTES = 12,
    GRPC_TYPE_UINT32 = 13,
    GRPC_TYPE_ENUM = 14,
};

enum {
    GRPC_FIELD_REPEATED = 1,
    GRPC_FIELD_OPTIONAL = 2, // whether it is set is known, also when it is zero
    GRPC_FIELD_CLAMPED = 4, // of a number: more than the argument allows becomes the most it allows
};

// What a field is besides an argument of the command, or a key of its reply.
enum grpc_role {
    GRPC_ROLE_NONE,
    GRPC_ROLE_NAMESPACE,
    GRPC_ROLE_WORKER,       // kept for the stream
    GRPC_ROLE_REQUESTS,     // each item is a request of its own
    GRPC_ROLE_OTHERWISE,    // another command is meant
    GRPC_ROLE_RAW_PAYLOADS, // payloads are answered as bytes
    GRPC_ROLE_IN_FLIGHT,
    GRPC_ROLE_RELEASE,
    GRPC_ROLE_WORDS, // of any command
    GRPC_ROLE_QUERY, // a parameter of GET /v1/ns/NS/events
    GRPC_ROLE_JID,   // in a reply: of the request that it answers
    GRPC_ROLE_TOKEN, // likewise
};

// What a field of a reply holds when the reply is no map.
#define GRPC_AS_VALUE "=" // a single value
#define GRPC_AS_LIST  "*" // the items of a list
#define GRPC_AS_ERROR "!" // an error in place of the value

struct grpc_message;
struct grpc_enum;

struct grpc_field {
    const char *name;
    uint32_t number;
    enum grpc_type type;
    unsigned flags;
    const char *oneof;                  // NULL: of none
    const struct grpc_message *message; // of a message
    const struct grpc_enum *values;     // of an enum
    // In a request: the argument ("PRIORITY", "queue"), or NULL for the fields in a message that are
    // arguments themselves. In a reply: the key, or GRPC_AS_*. NULL: neither.
    const char *as;
    enum grpc_role role;
    const char *given; // the word of a field that is not set
};

// Messages with a meaning of their own.
enum grpc_form {
    GRPC_FORM_FIELDS,
    GRPC_FORM_PAYLOAD,
    GRPC_FORM_TIMESTAMP,
    GRPC_FORM_DURATION,
    GRPC_FORM_ERROR,
    GRPC_FORM_VALUE,
};

enum {
    GRPC_NUMBER_MAX = 40, // of a field in these messages
};

struct grpc_message {
    const char *name; // with its package: "sluice.v1.AddRequest"
    const struct grpc_field *fields;
    size_t field_count;
    enum grpc_form form;
    const struct grpc_enum *const *enums;       // in it, ends with NULL; or NULL
    const struct grpc_message *const *messages; // likewise
    bool map_entry;
};

// A value's number is its place. The word of a value is its name in small letters, with '-' for '_';
// the first stands for none.
struct grpc_enum {
    const char *name; // "sluice.v1.Job.State"
    const char *const *values;
    size_t value_count;
};

struct grpc_rpc {
    const char *name;
    const struct grpc_message *request, *reply;
    bool streams_in, streams_out;
};

struct grpc_service {
    const char *name; // "sluice.v1.Queue"
    const struct grpc_rpc *rpcs;
    size_t rpc_count;
};

// An option of a file, by its number in google.protobuf.FileOptions: a text, or `true` (NULL).
struct grpc_file_option {
    uint32_t number;
    const char *text;
};

struct grpc_file {
    const char *name; // "sluice/v1/sluice.proto"
    const char *package;
    const struct grpc_file *const *imports; // these lists end with NULL; NULL is none
    const struct grpc_message *const *messages;
    const struct grpc_enum *const *enums;
    const struct grpc_service *const *services;
    const struct grpc_file_option *options; // ends with number 0
};

// The field with that number, or NULL.
const struct grpc_field *grpc_field_find(const struct grpc_message *message, uint32_t number);

// The word of a value of an enum ("round-robin"), without a zero behind it; gives its size. 0: it is
// the first, or not known.
enum {
    GRPC_WORD_SIZE_MAX = 32,
};
size_t grpc_enum_word(const struct grpc_enum *values, uint64_t number,
                      char word[GRPC_WORD_SIZE_MAX]);

// The number of a word; 0 when it has none.
uint64_t grpc_enum_number(const struct grpc_enum *values, struct slice word);

#endif
