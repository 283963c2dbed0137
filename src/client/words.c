// SPDX-License-Identifier: MIT
#include "client/words.h"

#include "base/num.h"
#include "client/memory.h"

#include <sluice/sluice.h>

#include <math.h>
#include <stdlib.h>

enum {
    BLOCK_SIZE = 1000,
    NUMBER_SIZE_MAX = 48,
};

struct word_block {
    struct word_block *next;
    size_t used;
    char bytes[BLOCK_SIZE];
};

void words_init(struct words *words)
{
    *words = (struct words){ 0 };
}

void words_release(struct words *words)
{
    while (words->blocks) {
        struct word_block *block = words->blocks;
        words->blocks = block->next;
        memory_free(block);
    }
    memory_free(words->items);
    words_init(words);
}

static void make_room(struct words *words)
{
    size_t capacity = words->capacity ? 2 * words->capacity : 32;
    struct slice *items = memory_resize(words->items, capacity * sizeof(*items));
    if (!items) {
        words->failed = true;
        return;
    }
    words->items = items;
    words->capacity = capacity;
}

void words_add(struct words *words, struct slice word)
{
    if (words->count == words->capacity && !words->failed) {
        make_room(words);
    }
    if (!words->failed) {
        words->items[words->count++] = word;
    }
}

void words_text(struct words *words, const char *text)
{
    words->missing |= !text;
    words_add(words, slice_from_cstr(text ? text : ""));
}

// Returns room for a number that does not move.
static char *number_room(struct words *words)
{
    struct word_block *block = words->blocks;
    if (!block || block->used + NUMBER_SIZE_MAX > BLOCK_SIZE) {
        block = memory_alloc(sizeof(*block));
        if (!block) {
            words->failed = true;
            return NULL;
        }
        block->next = words->blocks;
        block->used = 0;
        words->blocks = block;
    }
    return block->bytes + block->used;
}

static void add_number(struct words *words, struct buffer *text)
{
    char *room = number_room(words);
    if (room && !text->status && text->size <= NUMBER_SIZE_MAX) {
        memcpy(room, text->data, text->size);
        words->blocks->used += text->size;
        words_add(words, slice_make(room, text->size));
    } else {
        words->failed = true;
    }
    buffer_release(text);
}

void words_copy(struct words *words, struct slice text)
{
    char *room = text.size <= NUMBER_SIZE_MAX ? number_room(words) : NULL;
    if (!room) {
        words->failed = true;
        return;
    }
    memcpy(room, text.data, text.size);
    words->blocks->used += text.size;
    words_add(words, slice_make(room, text.size));
}

void words_set_integer(struct words *words, size_t index, int64_t value)
{
    words_integer(words, value);
    if (!words->failed) {
        words->items[index] = words->items[--words->count];
    }
}

void words_take(struct words *words, struct words *other)
{
    struct word_block **last = &other->blocks;
    while (*last) {
        last = &(*last)->next;
    }
    *last = words->blocks;
    memory_free(words->items);
    *words = *other;
    words_init(other);
}

void words_integer(struct words *words, int64_t value)
{
    struct buffer text;
    buffer_init(&text, &allocator_system, NUM_TEXT_SIZE_MAX);
    num_append_i64(&text, value);
    add_number(words, &text);
}

// A number that is not a duration is sent as it is, so that the command refuses it. A positive
// number never becomes 0, which may mean "none".
void words_seconds(struct words *words, double seconds)
{
    struct buffer text;
    buffer_init(&text, &allocator_system, NUM_TEXT_SIZE_MAX);
    if (isfinite(seconds) && fabs(seconds) < 9e12) {
        int64_t us = (int64_t)llround(seconds * 1e6);
        num_append_seconds(&text, us == 0 && seconds > 0 ? 1 : us);
    } else {
        buffer_printf(&text, "%g", seconds);
    }
    add_number(words, &text);
}

void words_option(struct words *words, const char *name, const char *text)
{
    if (text) {
        words_text(words, name);
        words_text(words, text);
    }
}

static bool is_nothing(double value)
{
    return value == (double)SLUICE_ZERO || value == (double)SLUICE_NONE;
}

void words_option_integer(struct words *words, const char *name, int64_t value)
{
    if (value) {
        words_text(words, name);
        words_integer(words, value == SLUICE_ZERO || value == SLUICE_NONE ? 0 : value);
    }
}

void words_option_seconds(struct words *words, const char *name, double seconds)
{
    if (seconds != 0) {
        words_text(words, name);
        words_seconds(words, is_nothing(seconds) ? 0 : seconds);
    }
}

void words_options(struct words *words, const char *name, const char *const *texts)
{
    for (; texts && *texts; texts++) {
        words_option(words, name, *texts);
    }
}
