// SPDX-License-Identifier: MIT
// The literal bytes at the beginning of a pattern are compared directly. The rest is a
// nondeterministic automaton that runs with one bit for each state (Baeza-Yates and Gonnet's
// Shift-And, with Wu and Manber's self-loops). State i means that the first i elements have
// matched. A byte moves state i to i + 1 if element i accepts it; a state with a `*` before its
// element also stays. So one byte of the text costs a shift and two ANDs for each 64 states.
//
// Bytes that the same elements accept share a row of the table, so most patterns need less than
// half a KiB.
#include "base/glob.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

enum {
    BYTES = 256,
    WORD_BITS = 64,
    SET_WORDS = BYTES / WORD_BITS,
    SLOTS = 2 * BYTES, // of the hash table that finds equal rows; a power of two
};

struct glob {
    size_t size; // of the block
    size_t prefix_size;
    unsigned words;   // of a row
    unsigned accepts; // the state in which the whole pattern has matched
    uint8_t row_of[BYTES];
    // `words` words with a bit for each state that stays; then the rows, each with a bit for each
    // element that accepts its bytes; then the prefix.
    uint64_t table[];
};

struct row {
    uint64_t words[GLOB_WORDS_MAX];
};

// The bytes that an element accepts.
struct set {
    uint64_t bits[SET_WORDS];
};

enum element_kind {
    ELEMENT_END,
    ELEMENT_STAR,
    ELEMENT_BYTE,
    ELEMENT_ANY,
    ELEMENT_SET,
};

struct element {
    enum element_kind kind;
    unsigned char byte;
    struct set set;
};

struct reader {
    struct slice pattern;
    size_t position;
    unsigned flags;
};

static bool is_letter(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static unsigned char other_case(unsigned char c)
{
    return is_letter(c) ? c ^ 0x20U : c;
}

static unsigned char lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20U : c;
}

static void set_add(struct set *set, unsigned char byte)
{
    set->bits[byte / WORD_BITS] |= (uint64_t)1 << byte % WORD_BITS;
}

static bool set_has(const struct set *set, unsigned char byte)
{
    return set->bits[byte / WORD_BITS] >> byte % WORD_BITS & 1;
}

static void set_add_range(struct set *set, unsigned char a, unsigned char b)
{
    unsigned low = a < b ? a : b, high = a < b ? b : a;
    for (unsigned word = low / WORD_BITS; word <= high / WORD_BITS; word++) {
        unsigned from = word == low / WORD_BITS ? low % WORD_BITS : 0;
        unsigned to = word == high / WORD_BITS ? high % WORD_BITS : WORD_BITS - 1;
        set->bits[word] |= UINT64_MAX >> (WORD_BITS - 1 - to) & UINT64_MAX << from;
    }
}

// For matching without regard to case, upper-case letters are in the set of their lower-case
// letters.
static void set_fold(struct set *set)
{
    for (unsigned c = 'a'; c <= 'z'; c++) {
        if (set_has(set, (unsigned char)c)) {
            set_add(set, other_case((unsigned char)c));
        } else {
            set->bits[1] &= ~((uint64_t)1 << other_case((unsigned char)c) % WORD_BITS);
        }
    }
}

// Reads a set; its `[` was read.
static void read_set(struct reader *reader, struct set *set)
{
    struct slice pattern = reader->pattern;
    bool folds = reader->flags & GLOB_ANY_CASE;
    size_t at = reader->position;
    bool negated = at < pattern.size && pattern.data[at] == '^';
    *set = (struct set){ { 0 } };
    for (at += negated; at < pattern.size && pattern.data[at] != ']'; at++) {
        bool escaped = pattern.data[at] == '\\' && at + 1 < pattern.size;
        at += escaped;
        unsigned char first = (unsigned char)pattern.data[at], last = first;
        if (!escaped && at + 2 < pattern.size && pattern.data[at + 1] == '-') {
            at += 2;
            last = (unsigned char)pattern.data[at];
        }
        set_add_range(set, folds ? lower(first) : first, folds ? lower(last) : last);
    }
    reader->position = at < pattern.size ? at + 1 : at;
    if (folds) {
        set_fold(set);
    }
    for (size_t i = 0; negated && i < SET_WORDS; i++) {
        set->bits[i] = ~set->bits[i];
    }
}

static struct element next_element(struct reader *reader)
{
    struct element element = { .kind = ELEMENT_END };
    if (reader->position == reader->pattern.size) {
        return element;
    }
    char c = reader->pattern.data[reader->position++];
    bool stars_only = reader->flags & GLOB_STARS_ONLY;
    element.kind = c == '*' ? ELEMENT_STAR : stars_only || c != '?' ? ELEMENT_BYTE : ELEMENT_ANY;
    if (c == '[' && !stars_only) {
        element.kind = ELEMENT_SET;
        read_set(reader, &element.set);
    }
    if (c == '\\' && !stars_only && reader->position < reader->pattern.size) {
        c = reader->pattern.data[reader->position++];
    }
    element.byte = (unsigned char)c;
    return element;
}

// Skips the literal bytes at the beginning of a pattern, which are copied to `out` unless that is
// NULL.
static size_t read_prefix(struct reader *reader, char *out)
{
    size_t size = 0;
    while (!(reader->flags & GLOB_ANY_CASE)) {
        size_t start = reader->position;
        struct element element = next_element(reader);
        if (element.kind != ELEMENT_BYTE) {
            reader->position = start;
            break;
        }
        if (out) {
            out[size] = (char)element.byte;
        }
        size++;
    }
    return size;
}

static enum status check_size(const char *what, size_t size, struct error *error)
{
    return size <= GLOB_SIZE_MAX ? STATUS_OK
                                 : error_set(error, STATUS_TOO_LARGE,
                                             "%s of %zu bytes is too long: at most %d are allowed",
                                             what, size, GLOB_SIZE_MAX);
}

enum status glob_check_text(const char *what, struct slice word, struct error *error)
{
    return check_size(what, word.size, error);
}

enum status glob_check(struct slice pattern, unsigned flags, struct error *error)
{
    enum status status = check_size("pattern", pattern.size, error);
    if (status) {
        return status;
    }
    struct reader reader = { .pattern = pattern, .flags = flags };
    (void)read_prefix(&reader, NULL);
    size_t count = 0;
    for (struct element element; (element = next_element(&reader)).kind != ELEMENT_END;) {
        count += element.kind != ELEMENT_STAR;
    }
    return count <= GLOB_ELEMENTS_MAX
               ? STATUS_OK
               : error_set(error, STATUS_TOO_LARGE,
                           "pattern has %zu elements behind its literal beginning: at most %d are "
                           "allowed",
                           count, GLOB_ELEMENTS_MAX);
}

// ---------------------------------------------------------------------------------------------
// Compiling

// A pattern with one row for each byte.
struct plan {
    struct row rows[BYTES];
    struct row stays;
    unsigned accepts;
    // Which bytes share a row, and the first byte of each row.
    uint8_t row_of[BYTES];
    uint8_t first_of[BYTES];
    unsigned row_count;
};

static void row_set(struct row *row, unsigned state)
{
    row->words[state / WORD_BITS] |= (uint64_t)1 << state % WORD_BITS;
}

static void plan_element(struct plan *plan, const struct element *element, unsigned flags,
                         struct row *any)
{
    unsigned state = plan->accepts;
    switch (element->kind) {
    case ELEMENT_STAR:
        row_set(&plan->stays, state);
        return;
    case ELEMENT_ANY:
        row_set(any, state);
        break;
    case ELEMENT_BYTE:
        row_set(&plan->rows[element->byte], state);
        if (flags & GLOB_ANY_CASE) {
            row_set(&plan->rows[other_case(element->byte)], state);
        }
        break;
    case ELEMENT_SET:
        for (unsigned byte = 0; byte < BYTES; byte++) {
            if (set_has(&element->set, (unsigned char)byte)) {
                row_set(&plan->rows[byte], state);
            }
        }
        break;
    case ELEMENT_END:
        assert(false);
    }
    plan->accepts++;
}

static size_t row_hash(const struct row *row)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < GLOB_WORDS_MAX; i++) {
        hash = (hash ^ row->words[i]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return (size_t)(hash % SLOTS);
}

// Finds the bytes with equal rows. There are more slots than rows, so each search ends.
static void plan_share(struct plan *plan)
{
    uint16_t slots[SLOTS] = { 0 }; // 0: empty, else 1 + the number of a row
    for (unsigned byte = 0; byte < BYTES; byte++) {
        const struct row *row = &plan->rows[byte];
        size_t slot = row_hash(row);
        while (slots[slot] &&
               memcmp(row, &plan->rows[plan->first_of[slots[slot] - 1]], sizeof(*row)) != 0) {
            slot = (slot + 1) % SLOTS;
        }
        if (!slots[slot]) {
            plan->first_of[plan->row_count] = (uint8_t)byte;
            slots[slot] = (uint16_t)++plan->row_count;
        }
        plan->row_of[byte] = (uint8_t)(slots[slot] - 1);
    }
}

static void plan_make(struct plan *plan, struct reader *reader)
{
    struct row any = { { 0 } };
    *plan = (struct plan){ .accepts = 0 };
    for (struct element element; (element = next_element(reader)).kind != ELEMENT_END;) {
        plan_element(plan, &element, reader->flags, &any);
    }
    for (size_t byte = 0; byte < BYTES; byte++) {
        for (size_t i = 0; i < GLOB_WORDS_MAX; i++) {
            plan->rows[byte].words[i] |= any.words[i];
        }
    }
    plan_share(plan);
}

static const char *prefix_bytes(const struct glob *glob)
{
    return (const char *)glob + glob->size - glob->prefix_size;
}

enum status glob_new(const struct allocator *allocator, struct slice pattern, unsigned flags,
                     struct glob **out, struct error *error)
{
    enum status status = glob_check(pattern, flags, error);
    if (status) {
        return status;
    }
    char prefix[GLOB_SIZE_MAX];
    struct reader reader = { .pattern = pattern, .flags = flags };
    size_t prefix_size = read_prefix(&reader, prefix);
    struct plan plan;
    plan_make(&plan, &reader);
    unsigned words = plan.accepts / WORD_BITS + 1;
    size_t size =
        sizeof(struct glob) + ((size_t)1 + plan.row_count) * words * sizeof(uint64_t) + prefix_size;
    struct glob *glob = mem_alloc(allocator, size);
    if (!glob) {
        return error_set(error, STATUS_NO_MEMORY, "out of memory for a pattern");
    }
    *glob = (struct glob){
        .size = size, .prefix_size = prefix_size, .words = words, .accepts = plan.accepts
    };
    memcpy(glob->row_of, plan.row_of, sizeof(glob->row_of));
    memcpy(glob->table, plan.stays.words, words * sizeof(uint64_t));
    for (size_t i = 0; i < plan.row_count; i++) {
        memcpy(glob->table + (1 + i) * words, plan.rows[plan.first_of[i]].words,
               words * sizeof(uint64_t));
    }
    memcpy((char *)glob + size - prefix_size, prefix, prefix_size);
    *out = glob;
    return STATUS_OK;
}

void glob_free(const struct allocator *allocator, struct glob *glob)
{
    if (glob) {
        mem_free(allocator, glob, glob->size);
    }
}

// ---------------------------------------------------------------------------------------------
// Matching

struct slice glob_prefix(const struct glob *glob)
{
    return slice_make(prefix_bytes(glob), glob->prefix_size);
}

static const uint64_t *row_for(const struct glob *glob, char byte)
{
    return glob->table + (size_t)(1U + glob->row_of[(unsigned char)byte]) * glob->words;
}

// For patterns of up to 63 elements, which nearly all have.
static bool matches_word(const struct glob *glob, struct slice text)
{
    uint64_t state = 1, stays = glob->table[0];
    for (size_t i = 0; i < text.size && state; i++) {
        state = (state & *row_for(glob, text.data[i])) << 1 | (state & stays);
    }
    return state >> glob->accepts & 1;
}

static bool matches_words(const struct glob *glob, struct slice text)
{
    uint64_t state[GLOB_WORDS_MAX] = { 1 };
    uint64_t alive = 1;
    for (size_t i = 0; i < text.size && alive; i++) {
        const uint64_t *row = row_for(glob, text.data[i]);
        uint64_t carry = 0;
        alive = 0;
        for (size_t word = 0; word < glob->words; word++) {
            uint64_t moved = state[word] & row[word];
            state[word] = moved << 1 | carry | (state[word] & glob->table[word]);
            carry = moved >> (WORD_BITS - 1);
            alive |= state[word];
        }
    }
    return state[glob->accepts / WORD_BITS] >> glob->accepts % WORD_BITS & 1;
}

bool glob_matches(const struct glob *glob, struct slice text)
{
    if (!slice_starts_with(text, glob_prefix(glob))) {
        return false;
    }
    text = slice_sub(text, glob->prefix_size, SIZE_MAX);
    return glob->words == 1 ? matches_word(glob, text) : matches_words(glob, text);
}
