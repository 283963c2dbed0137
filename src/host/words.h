// SPDX-License-Identifier: MIT
// Copies the words of a request into a block of the caller: first their slices, then their bytes.
#ifndef SLUICE_HOST_WORDS_H
#define SLUICE_HOST_WORDS_H

#include "engine/engine.h"

// The size of the block.
static inline size_t words_size(struct slices words)
{
    size_t size = words.count * sizeof(struct slice);
    for (size_t i = 0; i < words.count; i++) {
        size += words.items[i].size;
    }
    return size;
}

// Copies the words to `room`, which must be aligned for a pointer, and returns the copy.
static inline struct slices words_copy(struct slices words, void *room)
{
    struct slice *items = room;
    char *bytes = (char *)(items + words.count);
    for (size_t i = 0; i < words.count; i++) {
        struct slice word = words.items[i];
        if (word.data) {
            memcpy(bytes, word.data, word.size);
        }
        items[i] = slice_make(bytes, word.size);
        bytes += word.size;
    }
    return (struct slices){ items, words.count };
}

#endif
