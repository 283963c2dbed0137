// SPDX-License-Identifier: MIT
// Removes the records of a deleted namespace from the store, in slices. An engine may have millions
// of jobs, so a thread lists its records and frees it while the loop continues.
#ifndef SLUICE_HOST_REMOVAL_H
#define SLUICE_HOST_REMOVAL_H

#include "base/alloc.h"
#include "store/store.h"

struct namespaces_options;
struct removal;

// NULL if there is no memory. Its list is empty and not ready.
struct removal *removal_new(const struct allocator *allocator, uint32_t space);
void removal_free(struct removal *removal);

// Lists of removals: append one; remove the first one; find the one of a space, or NULL; the next
// one, or NULL.
void removal_add(struct removal **list, struct removal *removal);
struct removal *removal_take(struct removal **list);
struct removal *removal_find(struct removal *list, uint32_t space);
struct removal *removal_next(const struct removal *removal);

// Adds a record that is to be removed; marks the list as complete.
MUST_USE enum status removal_note(struct removal *removal, struct record_key key);
void removal_ready(struct removal *removal);

// Lists all records of an engine and frees it, in a thread of its own if one can be started. Takes
// over the engine. `options`, which say where to log errors, are borrowed until it is ready.
void removal_empty(struct removal *removal, struct engine *engine,
                   const struct namespaces_options *options);

bool removal_is_ready(const struct removal *removal);
uint32_t removal_space(const struct removal *removal);

// Removes some of the records. `*done`: there are no more.
MUST_USE enum status removal_run(struct removal *removal, struct store *store, uint64_t *group,
                                 bool *done, struct error *error);

#endif
