// SPDX-License-Identifier: MIT
// Notes of a namespace: texts that its host stores with it, such as pushes. They are stored beside
// the names of the namespaces, so that they are kept by any host that opens the folder, also by one
// that does not use them. Their contents are defined by the code that sets them.
#ifndef SLUICE_HOST_NOTES_H
#define SLUICE_HOST_NOTES_H

#include "base/slice.h"
#include "base/status.h"
#include "store/store.h"

struct namespaces;
struct ns;

enum {
    NOTE_SIZE_MAX = 64 << 10,
};

struct note {
    struct note *next; // of the same namespace
    uint64_t id;
    size_t size;
    char text[];
};

static inline struct slice note_text(const struct note *note)
{
    return slice_make(note->text, note->size);
}

// Stores a text. It replaces the note `before`, which is freed, unless that is NULL.
MUST_USE enum status note_set(struct ns *ns, struct note *before, struct slice text,
                              struct note **out, struct error *error);
MUST_USE enum status note_unset(struct ns *ns, struct note *note, struct error *error);

// The same for notes of the host itself: namespaces.notes.
MUST_USE enum status host_note_set(struct namespaces *all, struct note *before, struct slice text,
                                   struct note **out, struct error *error);
MUST_USE enum status host_note_unset(struct namespaces *all, struct note *note,
                                     struct error *error);
void host_notes_free(struct namespaces *all);

// Deletes all notes of a namespace: first from the store, then from memory.
MUST_USE enum status notes_delete(struct ns *ns, struct error *error);
void notes_free(struct ns *ns);

// Loads the record of a note while the store is opened.
MUST_USE enum status notes_visit(struct namespaces *all, struct record_key key, struct slice bytes,
                                 struct error *error);

#endif
