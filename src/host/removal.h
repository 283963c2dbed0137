// SPDX-License-Identifier: MIT
// The records that a deleted namespace left in the store, which are removed in slices. An engine may
// hold millions of jobs: a thread lists its records and frees it, while the loop goes on.
#ifndef SLUICE_HOST_REMOVAL_H
#define SLUICE_HOST_REMOVAL_H

#include "base/alloc.h"
#include "store/store.h"

struct namespaces_options;
struct removal;

// NULL without memory. Its list is empty and not ready.
struct removal *removal_new(const struct allocator *allocator, uint32_t space);
void removal_free(struct removal *removal);

// Lists of removals: the last, the first taken out, the one of a space or NULL, the next or NULL.
void removal_add(struct removal **list, struct removal *removal);
struct removal *removal_take(struct removal **list);
struct removal *removal_find(struct removal *list, uint32_t space);
struct removal *removal_next(const struct removal *removal);

// Notes a record that is to be removed; then that there are no others.
MUST_USE enum status removal_note(struct removal *removal, struct record_key key);
void removal_ready(struct removal *removal);

// Notes all records of an engine and frees it, which it takes over, in a thread of its own if it
// can be had. `options`, which say whom to tell of trouble, are borrowed until it is ready.
void removal_empty(struct removal *removal, struct engine *engine,
                   const struct namespaces_options *options);

bool removal_is_ready(const struct removal *removal);
uint32_t removal_space(const struct removal *removal);

// Removes some more of them. `*done`: there are no more.
MUST_USE enum status removal_run(struct removal *removal, struct store *store, uint64_t *group,
                                 bool *done, struct error *error);

#endif
