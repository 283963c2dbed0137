// SPDX-License-Identifier: MIT
// An answer as a tree, in one block: the nodes, then the bytes that their texts lie in.
#ifndef SLUICE_CLIENT_VALUE_H
#define SLUICE_CLIENT_VALUE_H

#include "client/fault.h"

#include <sluice/sluice.h>

struct value_text {
    const char *bytes; // a 0 follows
    size_t size;
};

struct value_list {
    struct sluice_value *items; // of a map a key and a value in turn
    size_t count;               // of a map the pairs
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

// The tree of a whole answer of `items` items (see resp_scan). An answer that is an error is its
// status and sentence, and `*out` is NULL.
enum sluice_status value_read(struct slice answer, size_t items, struct sluice_value **out,
                              struct sluice_error *error);

// The same of an answer that stands in a buffer as a whole, and whose items were not counted.
enum sluice_status value_read_whole(struct slice answer, struct sluice_value **out,
                                    struct sluice_error *error);

// The tree of a JSON text. What lies more than 32 levels deep stays a text.
enum sluice_status value_read_json(struct slice json, struct sluice_value **out,
                                   struct sluice_error *error);

// A list, not empty, becomes its first item.
void value_keep_first(struct sluice_value *list);

#endif
