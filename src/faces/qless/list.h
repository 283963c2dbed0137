// SPDX-License-Identifier: MIT
// Pages of lists in the order of qless: offsets and counts are those of Redis, and entries with the
// same time are ordered by name, as in a sorted set. Groups of more than QLESS_EQUALS_MAX such
// entries keep the engine's order, because sorting them would cost more than the page.
#ifndef SLUICE_FACES_QLESS_LIST_H
#define SLUICE_FACES_QLESS_LIST_H

#include "faces/qless/ask.h"

enum {
    QLESS_EQUALS_MAX = 1000,
};

struct qless_entry {
    int64_t score;     // the list is ordered by it
    bool alone;        // equals no other entry, whatever its score
    struct slice name; // that is printed
};

// A list in the engine's order.
struct qless_list {
    size_t total;
    bool reverse; // entries with the same score are in descending order of names
    // Reads `count` entries from `offset` on, all of which exist.
    enum status (*read)(struct qless_ask *ask, const struct qless_list *list, size_t offset,
                        size_t count, struct qless_entry *out);
    const void *context;
};

// A part of a list.
struct qless_range {
    size_t offset, count;
};
// The range of ZRANGE and LRANGE with `offset` and `offset + count - 1`: negative numbers count
// from the end.
struct qless_range qless_range_of(size_t total, int64_t offset, int64_t count);
// The range of LIMIT: a negative count means all, and a negative offset nothing.
struct qless_range qless_limit_of(size_t total, int64_t offset, int64_t count);

MUST_USE enum status qless_list_read(struct qless_ask *ask, const struct qless_list *list,
                                     struct qless_range range, struct qless_entry **out);

// ---------------------------------------------------------------------------------------------
// Lists of jobs

// Reads a page from the engine.
struct qless_job_list {
    void (*fill)(struct qless_ask *ask, const struct qless_job_list *list, struct page *page);
    void (*score)(struct qless_ask *ask, const struct qless_job_list *list, const struct job *job,
                  struct qless_entry *out);
    struct slice name; // of the queue, the tag, the worker, the group
    int which;         // used by `fill`
    bool reverse;
};

// All of it as a list; `*jobs` is borrowed.
struct qless_list qless_list_of_jobs(struct qless_ask *ask, const struct qless_job_list *jobs);

// Prints the names as a JSON array, or as the reply.
void qless_print_names(struct buffer *out, const struct qless_entry *entries, size_t count);
void qless_reply_names(struct qless_ask *ask, const struct qless_entry *entries, size_t count);

#endif
