// SPDX-License-Identifier: MIT
// The text is read twice, without building a tree. The first pass records steps; the second pass
// follows them, moving to and fro in the text, so that it meets all members in sorted order.
//
// An object has a step for its '{', one for each member, and one for its '}'. They form a list in
// which the members are sorted. A step contains the position where reading continues: for a member
// the position after its key, for the last step the position after the '}'. For {"b":{"c":1},"a":2}
// the steps are
//
//     number  0 '{'   1 "b"   2 '{'   3 "c"   4 '}'   5 "a"   6 '}'
//     next    5       6       3       4       none    1       none
//
// Steps are numbered in the order of the text, including those of nested objects. So after step n
// was followed, the next step in the text is n + 1: this is how the second pass finds the step of a
// '{'.
//
// Arrays have no steps; they are copied item by item. Neither pass recurses, and each copies a byte
// at most once.
#include "base/json_sorted.h"

#include "base/bytes.h"
#include "base/checked.h"
#include "base/json.h"
#include "base/json_number.h"
#include "base/json_reader.h"
#include "base/json_writer.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    CAPACITY_MIN = 16,
};

#define NO_STEP SIZE_MAX

struct step {
    struct slice key; // unescaped; empty for the two brackets
    size_t at;        // where reading continues; unused for '{'
    size_t next;      // NO_STEP for '}'
};

// A member while its object is sorted. It contains the prefix of the key so that most comparisons
// read nothing else, because a million keys do not fit into the cache.
struct place {
    uint64_t prefix;
    size_t step;
};

struct sorter {
    struct slice text; // borrowed
    const struct allocator *allocator;
    struct step *steps; // owned
    size_t count;
    size_t capacity;
    struct place *places; // owned; the members of one object, and as many again to merge into
    size_t places_capacity;
    // The values of the strings with escapes; slices of it are kept. It is allocated with room for
    // all of them, and never moves.
    struct buffer unescaped;
};

// The position of a pass.
struct walk {
    size_t at;    // in the text
    size_t step;  // the next one in the text; second pass only
    size_t depth; // containers open
    // For each container: NO_STEP for an array; for an object its first step (first pass) or the
    // last one that was followed (second pass).
    size_t open[JSON_DEPTH_MAX];
};

static void walk_init(struct walk *walk)
{
    // `open` is not cleared: it is large, and its entries are set before they are read.
    walk->at = 0;
    walk->step = 0;
    walk->depth = 0;
}

static enum status enter(struct walk *walk, size_t step)
{
    if (walk->depth == JSON_DEPTH_MAX) {
        return STATUS_INVALID;
    }
    walk->open[walk->depth++] = step;
    return STATUS_OK;
}

static bool in_object(const struct walk *walk)
{
    return walk->depth > 0 && walk->open[walk->depth - 1] != NO_STEP;
}

// The string, with its quotes, that starts there; empty if it does not end.
static struct slice string_at(const struct sorter *sorter, size_t at)
{
    size_t size = json_string_size(slice_sub(sorter->text, at, SIZE_MAX));
    return slice_sub(sorter->text, at, size);
}

static bool has_escape(struct slice raw)
{
    return memchr(raw.data, '\\', raw.size) != NULL;
}

static enum status unescape(struct sorter *sorter, struct slice raw, struct slice *out)
{
    struct buffer *unescaped = &sorter->unescaped;
    // A value is not longer than its JSON text, so all of them fit into the size of the text.
    if (!buffer_reserve(unescaped, unescaped->size_max - unescaped->size)) {
        return unescaped->status;
    }
    size_t start = unescaped->size;
    enum status status = json_unescape(raw, unescaped);
    *out = slice_sub(buffer_slice(unescaped), start, SIZE_MAX);
    return status;
}

// Sorting: merges runs of 1, 2, 4 ... members, which keeps equal keys in their order.

// The first bytes of a key as a number with the same order. Missing bytes are zeros, so for equal
// prefixes the keys must be compared.
static uint64_t prefix_of(struct slice key)
{
    unsigned char bytes[8] = { 0 };
    if (key.size) {
        memcpy(bytes, key.data, key.size < sizeof(bytes) ? key.size : sizeof(bytes));
    }
    return __builtin_bswap64(bytes_load_u64(bytes));
}

static inline bool is_less(const struct step *steps, const struct place *a, const struct place *b)
{
    if (a->prefix != b->prefix) {
        return a->prefix < b->prefix;
    }
    return slice_compare(steps[a->step].key, steps[b->step].key) < 0;
}

// Merges the adjacent runs from `first` and from `second` into `out`.
static void merge(const struct step *steps, const struct place *first, const struct place *second,
                  const struct place *end, struct place *out)
{
    const struct place *middle = second;
    while (first < middle && second < end) {
        *out++ = is_less(steps, second, first) ? *second++ : *first++;
    }
    while (first < middle) {
        *out++ = *first++;
    }
    while (second < end) {
        *out++ = *second++;
    }
}

// Returns the array that contains the result; the other one is temporary.
static const struct place *sort(const struct step *steps, struct place *places, struct place *other,
                                size_t count)
{
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            size_t middle = count - start < width ? count : start + width;
            size_t end = count - middle < width ? count : middle + width;
            merge(steps, places + start, places + middle, places + end, other + start);
        }
        struct place *merged = other;
        other = places;
        places = merged;
    }
    return places;
}

static enum status reserve_places(struct sorter *sorter, size_t count)
{
    if (count <= sorter->places_capacity) {
        return STATUS_OK;
    }
    size_t size;
    if (!checked_size_mul(count, sizeof(*sorter->places), &size)) {
        return STATUS_NO_MEMORY;
    }
    struct place *places = mem_resize(sorter->allocator, sorter->places,
                                      sorter->places_capacity * sizeof(*places), size);
    if (!places) {
        return STATUS_NO_MEMORY;
    }
    sorter->places = places;
    sorter->places_capacity = count;
    return STATUS_OK;
}

// Sorts the members in the list that starts with `first`, which has them in reverse order, and
// appends `last`.
static enum status sort_members(struct sorter *sorter, size_t first, size_t last)
{
    struct step *steps = sorter->steps;
    size_t count = 0;
    for (size_t step = steps[first].next; step != NO_STEP; step = steps[step].next) {
        count++;
    }
    if (count == 0) {
        steps[first].next = last;
        return STATUS_OK;
    }
    enum status status = reserve_places(sorter, 2 * count);
    if (status) {
        return status;
    }
    struct place *end = sorter->places + count;
    struct place *place = end;
    for (size_t step = steps[first].next; step != NO_STEP; step = steps[step].next) {
        *--place = (struct place){ prefix_of(steps[step].key), step };
    }
    const struct place *sorted = sort(steps, place, end, count);
    size_t *link = &steps[first].next;
    for (size_t i = 0; i < count; i++) {
        *link = sorted[i].step;
        link = &steps[*link].next;
    }
    *link = last;
    return STATUS_OK;
}

// The first pass: noting the steps

static enum status note(struct sorter *sorter, struct step step)
{
    if (sorter->count == sorter->capacity) {
        size_t capacity = CAPACITY_MIN;
        size_t size;
        if ((sorter->capacity && !checked_size_mul(sorter->capacity, 2, &capacity)) ||
            !checked_size_mul(capacity, sizeof(step), &size)) {
            return STATUS_NO_MEMORY;
        }
        struct step *steps =
            mem_resize(sorter->allocator, sorter->steps, sorter->capacity * sizeof(step), size);
        if (!steps) {
            return STATUS_NO_MEMORY;
        }
        sorter->steps = steps;
        sorter->capacity = capacity;
    }
    sorter->steps[sorter->count++] = step;
    return STATUS_OK;
}

static enum status note_begin(struct sorter *sorter, struct walk *walk)
{
    enum status status = enter(walk, sorter->count);
    return status ? status : note(sorter, (struct step){ .next = NO_STEP });
}

// Inserts the member at the front of its object's list.
static enum status note_member(struct sorter *sorter, const struct walk *walk, struct slice raw)
{
    size_t first = walk->open[walk->depth - 1];
    struct step member = {
        .key = slice_sub(raw, 1, raw.size - 2),
        .at = walk->at,
        .next = sorter->steps[first].next,
    };
    enum status status = has_escape(raw) ? unescape(sorter, raw, &member.key) : STATUS_OK;
    if (!status) {
        status = note(sorter, member);
    }
    if (!status) {
        sorter->steps[first].next = sorter->count - 1;
    }
    return status;
}

// To be called when the text is after the '}'.
static enum status note_end(struct sorter *sorter, struct walk *walk)
{
    if (!in_object(walk)) {
        return STATUS_INVALID;
    }
    size_t last = sorter->count;
    enum status status = note(sorter, (struct step){ .at = walk->at, .next = NO_STEP });
    if (status) {
        return status;
    }
    return sort_members(sorter, walk->open[--walk->depth], last);
}

static enum status note_array_end(struct walk *walk)
{
    if (walk->depth == 0 || in_object(walk)) {
        return STATUS_INVALID;
    }
    walk->depth--;
    return STATUS_OK;
}

static enum status note_string(struct sorter *sorter, struct walk *walk, bool key)
{
    struct slice raw = string_at(sorter, walk->at);
    walk->at += raw.size;
    if (raw.size == 0) {
        return STATUS_INVALID;
    }
    return key ? note_member(sorter, walk, raw) : STATUS_OK;
}

static enum status note_steps(struct sorter *sorter)
{
    struct walk walk;
    walk_init(&walk);
    bool key_next = false; // whether a string that follows is a key
    enum status status = STATUS_OK;
    while (!status && walk.at < sorter->text.size) {
        char c = sorter->text.data[walk.at];
        if (c == '"') {
            status = note_string(sorter, &walk, key_next);
            key_next = false;
            continue;
        }
        walk.at++;
        switch (c) {
        case '{':
            status = note_begin(sorter, &walk);
            key_next = true;
            break;
        case '[':
            status = enter(&walk, NO_STEP);
            key_next = false;
            break;
        case ',':
            key_next = in_object(&walk);
            break;
        case '}':
            status = note_end(sorter, &walk);
            key_next = false;
            break;
        case ']':
            status = note_array_end(&walk);
            break;
        default:
            break;
        }
    }
    return !status && walk.depth > 0 ? STATUS_INVALID : status;
}

// The second pass: taking them. That the brackets match was seen by the first.

static void write_string(struct slice unescaped, struct buffer *out)
{
    struct json_writer writer;
    json_writer_init(&writer, out);
    json_write_string(&writer, unescaped);
}

static void copy_char(struct walk *walk, char c, struct buffer *out)
{
    buffer_append_char(out, c);
    walk->at++;
}

// Copies a number or a literal, up to the byte after it.
static void copy_scalar(const struct sorter *sorter, struct walk *walk, struct buffer *out)
{
    static const bool ends[256] = {
        ['\t'] = true, ['\n'] = true, ['\r'] = true, [' '] = true, [','] = true, [']'] = true,
        ['}'] = true,  ['"'] = true,  ['{'] = true,  ['['] = true, [':'] = true,
    };
    size_t start = walk->at;
    do {
        walk->at++;
    } while (walk->at < sorter->text.size && !ends[(unsigned char)sorter->text.data[walk->at]]);
    struct slice scalar = slice_sub(sorter->text, start, walk->at - start);
    bool number = scalar.data[0] == '-' || (scalar.data[0] >= '0' && scalar.data[0] <= '9');
    if (number) {
        json_number_append(scalar, out);
    } else {
        buffer_append(out, scalar);
    }
}

static enum status copy_string(struct sorter *sorter, struct walk *walk, struct buffer *out)
{
    struct slice raw = string_at(sorter, walk->at);
    walk->at += raw.size;
    if (!has_escape(raw)) {
        buffer_append(out, raw);
        return STATUS_OK;
    }
    struct slice unescaped = SLICE_EMPTY;
    enum status status = unescape(sorter, raw, &unescaped);
    if (!status) {
        write_string(unescaped, out);
    }
    return status;
}

// Moves from the '{' or the end of a member to the next one, or out of the object.
static void take_step(const struct sorter *sorter, struct walk *walk, bool first,
                      struct buffer *out)
{
    size_t *taken = &walk->open[walk->depth - 1];
    *taken = sorter->steps[*taken].next;
    const struct step *step = &sorter->steps[*taken];
    walk->at = step->at;
    walk->step = *taken + 1;
    if (step->next == NO_STEP) {
        buffer_append_char(out, '}');
        walk->depth--;
        return;
    }
    if (!first) {
        buffer_append_char(out, ',');
    }
    write_string(step->key, out);
    buffer_append_char(out, ':');
}

static void take_first_step(const struct sorter *sorter, struct walk *walk, struct buffer *out)
{
    enum status status = enter(walk, walk->step);
    assert(!status && walk->step < sorter->count);
    buffer_append_char(out, '{');
    take_step(sorter, walk, true, out);
}

static enum status take_steps(struct sorter *sorter, struct buffer *out)
{
    struct walk walk;
    walk_init(&walk);
    enum status status = STATUS_OK;
    while (!status && !out->status && walk.at < sorter->text.size) {
        char c = sorter->text.data[walk.at];
        switch (c) {
        case '\t':
        case '\n':
        case '\r':
        case ' ':
        case ':':
            walk.at++;
            break;
        case '"':
            status = copy_string(sorter, &walk, out);
            break;
        case '{':
            take_first_step(sorter, &walk, out);
            break;
        case '}':
            take_step(sorter, &walk, false, out);
            break;
        case ',':
            if (in_object(&walk)) {
                take_step(sorter, &walk, false, out);
            } else {
                copy_char(&walk, c, out);
            }
            break;
        case '[':
            status = enter(&walk, NO_STEP);
            copy_char(&walk, c, out);
            break;
        case ']':
            walk.depth--;
            copy_char(&walk, c, out);
            break;
        default:
            copy_scalar(sorter, &walk, out);
            break;
        }
    }
    return status ? status : out->status;
}

enum status json_sorted(struct slice valid_text, const struct allocator *allocator,
                        struct buffer *out)
{
    struct sorter sorter = { .text = valid_text, .allocator = allocator };
    buffer_init(&sorter.unescaped, allocator, valid_text.size);
    size_t size_before = out->size;
    enum status status = note_steps(&sorter);
    if (!status) {
        status = take_steps(&sorter, out);
    }
    if (status) {
        buffer_truncate(out, size_before);
    }
    buffer_release(&sorter.unescaped);
    mem_free(allocator, sorter.places, sorter.places_capacity * sizeof(*sorter.places));
    mem_free(allocator, sorter.steps, sorter.capacity * sizeof(*sorter.steps));
    return status;
}
