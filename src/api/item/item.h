// SPDX-License-Identifier: MIT
// The items of a dump: JSON objects with one member, whose key is the kind of the object and whose
// value is the object. They are read with tables of their members; docs/export.md defines the
// format.
#ifndef SLUICE_API_ITEM_ITEM_H
#define SLUICE_API_ITEM_ITEM_H

#include "base/buffer.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "engine/engine.h"

enum item_type {
    ITEM_TEXT,     // struct slice: a string, or {"hex": "..."} for bytes that are not UTF-8
    ITEM_JSON,     // struct slice: any value, unchanged
    ITEM_OBJECT,   // struct slice: an object, unchanged
    ITEM_ARRAY,    // struct slice: an array, unchanged
    ITEM_INTEGER,  // int64_t, from `min` to `max`
    ITEM_SECONDS,  // int64_t in microseconds, from `min` to `max`
    ITEM_MOMENT,   // int64_t in microseconds since 1970: seconds, or a string as in RFC 3339
    ITEM_FRACTION, // int64_t in millionths: 0 to 1
    ITEM_BOOLEAN,  // bool
    ITEM_WORD,     // int64_t: index in `words`
    ITEM_TEXTS,    // struct slices: an array of texts
    ITEM_MOMENTS,  // struct item_moments: an array of moments
};

struct item_moments {
    int64_t *items;
    size_t count;
};

#define ITEM_NO_HAS UINT16_MAX

struct item_field {
    const char *name;
    enum item_type type;
    uint16_t offset; // of its value
    uint16_t has;    // of a bool that is set if it was given, or ITEM_NO_HAS
    bool required;
    int64_t min, max;
    const char *const *words; // end with NULL
};

// Reads a member into `field` of `struct of`. After the kind: the member's name, then further
// fields such as .required, .min and .max, .words.
#define ITEM(of, field, kind, ...)                                                                 \
    {                                                                                              \
        .type = ITEM_##kind, .offset = offsetof(struct of, field), .has = ITEM_NO_HAS,             \
        .name = __VA_ARGS__                                                                        \
    }
// The same; `given` is set if the member was given.
#define ITEM_HAS(of, field, given, kind, ...)                                                      \
    {                                                                                              \
        .type = ITEM_##kind, .offset = offsetof(struct of, field),                                 \
        .has = offsetof(struct of, given), .name = __VA_ARGS__                                     \
    }
#define ITEM_COUNT(fields) (sizeof(fields) / sizeof((fields)[0]))

enum {
    ITEM_BLOCKS_MAX = 16,
};

// An item that is being read. Everything read from it is borrowed until the release.
struct item {
    struct slice text;
    struct slice kind;     // the key, without quotes
    struct slice value;    // an object
    struct buffer strings; // never grows after item_init
    struct {
        void *block;
        size_t size;
    } blocks[ITEM_BLOCKS_MAX];
    size_t block_count;
};

// Parses an item from valid JSON. INVALID if it is not an object with one member that is an object
// too. The item must be released in any case.
MUST_USE enum status item_init(struct item *item, struct slice text, struct error *error);
void item_release(struct item *item);

// Memory that lasts as long as the item; zeroed. NULL if there is none.
void *item_allocate(struct item *item, size_t count, size_t size);

// Reads an object into `out`, which the caller has zeroed or set to the defaults. Members that are
// null count as not given. Unknown, repeated or missing members are INVALID, as is a value of
// another type or out of range. `what` names the object in messages.
MUST_USE enum status item_read(struct item *item, struct slice object, const char *what,
                               const struct item_field *fields, size_t count, void *out,
                               struct error *error);

// The number of items of an array.
size_t item_array_count(struct slice array);

// Writes a text; an object with one member `hex` if its bytes are not UTF-8.
void item_write_text(struct json_writer *writer, struct slice text);
void item_write_hex(struct json_writer *writer, struct slice bytes);
// The same with a key; writes nothing if the text is empty.
void item_write_member(struct json_writer *writer, const char *key, struct slice text);
// Writes a value that should be JSON under a key. If it is not valid JSON, or would not be read as
// the same bytes, it is written as a text under the other key. Writes nothing if it is empty.
void item_write_json(struct json_writer *writer, const char *key, const char *text_key,
                     struct slice bytes);

#endif
