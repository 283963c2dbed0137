// SPDX-License-Identifier: MIT
// Searches: all jobs that match a filter and have certain texts in them, in slices: the first in the
// call itself, then one with each engine_tick, which asks to be called at once until it is done.
// After that one search goes on at a time. A search keeps the first FIND_KEPT_MAX jobs that it
// finds, and ends with them. Searches are not saved.
#ifndef SLUICE_ENGINE_LOOK_FIND_H
#define SLUICE_ENGINE_LOOK_FIND_H

#include "engine/look/list.h"

enum {
    FIND_KEPT_MAX = 1000,
    FINDS_MAX = 8, // searches that are known; a further one replaces the oldest done
    FIND_WORDS_MAX = 16,
    FIND_WORD_SIZE_MAX = 1024,
    FIND_DATA_MAX = 256 << 10, // bytes at the start of a job's data that are looked at
};

// All of it must match. ASCII letters of either case are the same in the texts.
struct find_request {
    struct list_request list; // only its filter
    struct slice jid;         // a part of the jid; empty: any
    struct slices words;      // each of them in the data
    struct slices texts;      // each of them in the jid, the klass or the data
};

struct find_view {
    uint64_t id;
    bool done;
    bool full; // it ended with the last job that is kept: there may be more
    int64_t began_us;
    uint64_t looked_at;
    size_t total; // how many jobs there were when it began; of a queue or all
    size_t found;
};

// Gives the search's number. BUSY while FINDS_MAX are under way.
MUST_USE enum status engine_find(struct engine *engine, int64_t now_us,
                                 const struct find_request *request, uint64_t *id,
                                 struct error *error);
// False when there is none with that number; those known, the oldest first.
bool engine_find_get(const struct engine *engine, uint64_t id, struct find_view *view);
bool engine_find_at(const struct engine *engine, size_t index, struct find_view *view);
// A job that was found, in the order in which they were: `index` from 0 until it returns false.
// `*job` is NULL when it is gone since.
bool engine_find_job(const struct engine *engine, uint64_t id, size_t index, struct slice *jid,
                     const struct job **job);
// Ends a search wherever it is, and forgets it. NOT_FOUND when there is none.
MUST_USE enum status engine_find_drop(struct engine *engine, uint64_t id, struct error *error);

// ---------------------------------------------------------------------------------------------
// For the other files of the engine

// Does a slice of what is under way. Says whether there is more.
bool find_run(struct engine *engine, int64_t now_us);
void finds_free(struct engine *engine);

#endif
