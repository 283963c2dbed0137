// SPDX-License-Identifier: MIT
// Lists of jobs by any state, queue, klass, worker, tag, domain and group of failures. Where there
// is an index of what is asked for (a worker's leases, a tag's jobs, a lane, a queue's jobs in a
// state) the list comes from it. What has none, such as a klass, is looked for in the smallest index
// that has it, and one call looks at LIST_LOOKS_MAX jobs at most: a page may then have fewer jobs
// than asked for, even none, and a cursor that leads on.
//
// The list is one of jobs that come and go: a job that stays where it is appears once.
#ifndef SLUICE_ENGINE_LOOK_LIST_H
#define SLUICE_ENGINE_LOOK_LIST_H

#include "engine/engine.h"

#include "base/index.h"

enum {
    LIST_LOOKS_MAX = 1000,         // jobs, and indexes without any, that one call looks at
    LIST_COUNT = LIST_EXPIRED + 1, // a list of a walk is one of the states, or LIST_EXPIRED
};

// Where a list is: behind the job with that key in an index. Kept by the caller of pages.
struct list_cursor {
    bool set;    // otherwise: at the start
    bool inside; // otherwise: at the start of the index
    uint8_t stage;
    uint8_t part;
    uint64_t container; // the number of a queue
    struct index_key key;
};

// What is empty matches every job.
struct list_request {
    unsigned lists; // 1 << enum list, one or more; 0: any
    struct slice queue, klass, worker, tag, domain, group;
    struct list_cursor from;
    size_t count;
    const struct job **jobs; // room for `count`
    // Asked for each job that matches besides, and before each job whether the call is to end; or
    // NULL, both.
    bool (*accepts)(void *context, const struct job *job);
    bool (*is_enough)(void *context);
    void *context;
};

struct list_result {
    size_t found;
    size_t looked_at;
    size_t jobs_looked_at; // of these
    bool has_total;        // there is an index or a count of exactly what was asked for
    size_t total;
    bool more; // there may be others behind `next`
    struct list_cursor next;
};

// Queues in the order in which they were first seen, each from its waiting jobs to its finished
// ones; jobs in line, scheduled and depending in the order in which their turn comes, running ones
// by the ends of their leases, failed and complete ones from the newest on. Without a queue the
// failed and the complete jobs of all queues come last.
MUST_USE enum status engine_list(struct engine *engine, int64_t now_us,
                                 const struct list_request *request, struct list_result *out,
                                 struct error *error);

// ---------------------------------------------------------------------------------------------
// For the other files of the engine

MUST_USE enum status list_check(const struct list_request *request, struct error *error);
// The same as engine_list for a request that was checked, within a call.
void list_walk(struct engine *engine, int64_t now_us, const struct list_request *request,
               struct list_result *out);

#endif
