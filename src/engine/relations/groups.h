// SPDX-License-Identifier: MIT
// Calls about groups of jobs: groups of failures, tags, tracked jobs. engine.h states what holds for
// all calls.
#ifndef SLUICE_ENGINE_RELATIONS_GROUPS_H
#define SLUICE_ENGINE_RELATIONS_GROUPS_H

#include "base/slice.h"
#include "base/status.h"
#include "engine/job/jobs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

struct count_view {
    struct slice name;
    size_t count;
};

// The groups of failures in the order in which they were created: `index` from 0 until the call
// returns false.
bool engine_failure_group(const struct engine *engine, size_t index, struct count_view *view);

// The groups in the same order: `index` counts from the first group behind the key `after`, or with
// NULL from the first of all.
struct failure_group_view {
    struct slice name;
    size_t count;
    int64_t first_us, last_us; // when the first and the last of its jobs failed
    const struct job *newest;  // the one that failed last
    struct index_key place;    // the group's key, for `after`
};
bool engine_failure_group_after(const struct engine *engine, const struct index_key *after,
                                size_t index, struct failure_group_view *view);
size_t engine_failure_group_count(const struct engine *engine);

// The jobs of a group, the newest failure first.
void engine_failed(const struct engine *engine, struct slice name, struct page *page);

MUST_USE enum status engine_tag_add(struct engine *engine, int64_t now_us, struct slice jid,
                                    struct slices tags, const struct job **out,
                                    struct error *error);
MUST_USE enum status engine_tag_remove(struct engine *engine, int64_t now_us, struct slice jid,
                                       struct slices tags, const struct job **out,
                                       struct error *error);
// The jobs with a tag, in the order in which it was added.
void engine_tagged(const struct engine *engine, struct slice name, struct page *page);
// The tags with two jobs or more, the most used first; `index` from 0 until the call returns false.
// When memory was short, the position of a tag may be that of an earlier count.
bool engine_tag_top(const struct engine *engine, size_t index, struct count_view *view);
size_t engine_tag_top_count(const struct engine *engine);

// `*changed`: whether the job was not tracked before, or was.
MUST_USE enum status engine_track(struct engine *engine, int64_t now_us, struct slice jid,
                                  bool *changed, struct error *error);
MUST_USE enum status engine_untrack(struct engine *engine, int64_t now_us, struct slice jid,
                                    bool *changed, struct error *error);
// The tracked jids in the order in which they were tracked; `*job` is NULL if the job is gone.
bool engine_tracked(const struct engine *engine, size_t index, struct slice *jid,
                    const struct job **job);
size_t engine_tracked_count(const struct engine *engine);

#endif
