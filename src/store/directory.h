// SPDX-License-Identifier: MIT
// The directory of a store, in a space of its own: which namespaces there are, a record each, and
// the notes that their host keeps with them.
#ifndef SLUICE_STORE_DIRECTORY_H
#define SLUICE_STORE_DIRECTORY_H

#include "engine/engine.h"
#include "store/store.h"

enum {
    DIRECTORY_SPACE = 0,
    DIRECTORY_KIND = 1,      // of a namespace
    DIRECTORY_NOTE_KIND = 2, // of a note
    DIRECTORY_RECORD_MAX = 4 + ENGINE_NAME_SIZE_MAX,
    DIRECTORY_NOTE_HEADER = 5, // version (1), the namespace's space (4); then its text
};

// A namespace as its record has it.
struct directory_entry {
    uint32_t space;
    bool deleted; // but what is in it may still be there
    enum engine_clock clock;
    uint8_t qless;     // which generations of qless's clients use it, a bit each; 0: none
    struct slice name; // borrowed
};

struct store_key directory_key(uint32_t space);
struct store_key directory_note_key(uint64_t id);

// The record of a namespace, in `bytes`, from which it is borrowed.
struct store_record directory_write(const struct directory_entry *entry,
                                    char bytes[DIRECTORY_RECORD_MAX]);

// CORRUPT when it makes no sense, UNSUPPORTED when it is of another version.
MUST_USE enum status directory_read(struct record_key key, struct slice bytes,
                                    struct directory_entry *out, struct error *error);

#endif
