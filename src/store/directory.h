// SPDX-License-Identifier: MIT
// The directory of a store, in a space of its own: a record for each namespace, and the notes of
// the host about namespaces.
#ifndef SLUICE_STORE_DIRECTORY_H
#define SLUICE_STORE_DIRECTORY_H

#include "engine/engine.h"
#include "store/store.h"

enum {
    DIRECTORY_SPACE = 0,
    DIRECTORY_KIND = 1,      // of a namespace
    DIRECTORY_NOTE_KIND = 2, // of a note
    DIRECTORY_RECORD_MAX = 4 + ENGINE_NAME_SIZE_MAX,
    DIRECTORY_NOTE_HEADER = 5, // version (1), the namespace's space (4); the text follows
};

// The contents of a namespace's record.
struct directory_entry {
    uint32_t space;
    bool deleted; // its records may not be erased yet
    enum engine_clock clock;
    uint8_t qless;     // generations of qless clients that use it, one bit each; 0: none
    struct slice name; // borrowed
};

struct store_key directory_key(uint32_t space);
struct store_key directory_note_key(uint64_t id);

// Writes the record of a namespace into `bytes`, from which it is borrowed.
struct store_record directory_write(const struct directory_entry *entry,
                                    char bytes[DIRECTORY_RECORD_MAX]);

// CORRUPT if the record is invalid, UNSUPPORTED if it has another version.
MUST_USE enum status directory_read(struct record_key key, struct slice bytes,
                                    struct directory_entry *out, struct error *error);

#endif
