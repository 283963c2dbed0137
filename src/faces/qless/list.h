// SPDX-License-Identifier: MIT
// Pages of lists as qless gives them: the numbers of a page mean what they mean to Redis, and
// entries of the same time are in the order of their names, as in a sorted set. To sort more than
// QLESS_EQUALS_MAX would cost more than the page: they keep the engine's order.
#ifndef SLUICE_FACES_QLESS_LIST_H
#define SLUICE_FACES_QLESS_LIST_H

#include "faces/qless/ask.h"

enum {
    QLESS_EQUALS_MAX = 1000,
};

struct qless_entry {
    int64_t score;     // that the list is ordered by
    bool alone;        // it equals no other entry, whatever its score
    struct slice name; // that is shown
};

// A list in the engine's order.
struct qless_list {
    size_t total;
    bool reverse; // among equals the larger name is first
    // Reads `count` entries from `offset` on, all of which are there.
    enum status (*read)(struct qless_ask *ask, const struct qless_list *list, size_t offset,
                        size_t count, struct qless_entry *out);
    const void *context;
};

// A part of a list.
struct qless_range {
    size_t offset, count;
};
// As ZRANGE and LRANGE with `offset` and `offset + count - 1`: numbers below 0 count from the end.
struct qless_range qless_range_of(size_t total, int64_t offset, int64_t count);
// As LIMIT: below 0 a count means all, and an offset nothing.
struct qless_range qless_limit_of(size_t total, int64_t offset, int64_t count);

MUST_USE enum status qless_list_read(struct qless_ask *ask, const struct qless_list *list,
                                     struct qless_range range, struct qless_entry **out);

// ---------------------------------------------------------------------------------------------
// Lists of jobs

// Fills a page from the engine.
struct qless_job_list {
    void (*fill)(struct qless_ask *ask, const struct qless_job_list *list, struct page *page);
    void (*score)(struct qless_ask *ask, const struct qless_job_list *list, const struct job *job,
                  struct qless_entry *out);
    struct slice name; // of the queue, the tag, the worker, the group
    int which;         // for `fill`
    bool reverse;
};

// The whole of it as a list; `*jobs` is borrowed.
struct qless_list qless_list_of_jobs(struct qless_ask *ask, const struct qless_job_list *jobs);

// The names as an array of JSON, or as an answer.
void qless_print_names(struct buffer *out, const struct qless_entry *entries, size_t count);
void qless_say_names(struct qless_ask *ask, const struct qless_entry *entries, size_t count);

#endif
