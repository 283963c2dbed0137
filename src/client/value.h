// SPDX-License-Identifier: MIT
// An answer as a tree in one block of memory: the nodes, then the bytes of their texts.
#ifndef SLUICE_CLIENT_VALUE_H
#define SLUICE_CLIENT_VALUE_H

#include "client/fault.h"

#include <sluice/sluice.h>

struct value_text {
    const char *bytes; // a null byte follows
    size_t size;
};

struct value_list {
    struct sluice_value *items; // of a map: keys and values in turn
    size_t count;               // of a map: of pairs
};

struct sluice_value {
    enum sluice_type type;
    enum sluice_status status; // of a FAULT
    union {
        struct value_text text;
        struct value_list list;
        int64_t integer; // of a BOOLEAN too
        double number;
    };
};

// Reads a complete answer of `items` items (see resp_scan). An answer that is an error becomes the
// status and the message, and `*out` is NULL.
enum sluice_status value_read(struct slice answer, size_t items, struct sluice_value **out,
                              struct sluice_error *error);

// The same for an answer whose items were not counted.
enum sluice_status value_read_whole(struct slice answer, struct sluice_value **out,
                                    struct sluice_error *error);

// Reads a JSON text. Parts that are more than 32 levels deep stay texts.
enum sluice_status value_read_json(struct slice json, struct sluice_value **out,
                                   struct sluice_error *error);

// Replaces a list that is not empty by its first item.
void value_keep_first(struct sluice_value *list);

#endif
