// SPDX-License-Identifier: MIT
// Tags, and the jobs that have them. A tag lives as long as a job has it.
#ifndef SLUICE_ENGINE_RELATIONS_TAG_H
#define SLUICE_ENGINE_RELATIONS_TAG_H

#include "engine/engine.h"

#include "base/index.h"

struct tag {
    struct index_node order; // in the engine's list, the most used first
    struct index taggings;   // by when they were made
    uint64_t id;             // 0 until its first job: then it is in the list
    uint32_t pins;           // it stays though it has no job
    uint8_t name_size;
    char name[];
};

// That a job has a tag.
struct tagging {
    struct index_node node; // in the tag's list
    struct tag *tag;
    struct job *job;
    struct tagging *next; // of the job
};

struct slice tag_key(const void *tag);

// Whether these may be tags that are given in one call, and whether something may have so many.
MUST_USE enum status tags_check(const struct engine *engine, struct slices tags,
                                struct error *error);
MUST_USE enum status tags_check_count(const struct engine *engine, size_t count,
                                      struct error *error);

// How many tags a job (NULL for one that has none) would have with these too.
size_t tags_count_with(const struct job *job, struct slices tags);

// Makes room for a job (NULL for one that has none, or will have none) to get tags, and pins them.
// Refuses too many, and names that are none.
MUST_USE enum status tags_reserve(struct engine *engine, const struct job *job, struct slices tags,
                                  struct error *error);
// Ends what tags_reserve began, used or not.
void tags_unreserve(struct engine *engine, struct slices tags);

// Gives the job those of the tags that it has not. Its extra must be there.
void tags_add(struct engine *engine, struct job *job, struct slices tags, int64_t now_us);

// Gives the job a tag with the places it had; for loading. The job's extra must be there. CORRUPT
// when a place is taken.
MUST_USE enum status tags_load(struct engine *engine, struct job *job, struct slice tag,
                               uint64_t tag_id, struct index_key key);

// Takes all tags from the job.
void tags_clear(struct engine *engine, struct job *job);

// The whole of it for a job that is there; without an effect when it fails.
MUST_USE enum status tags_give(struct engine *engine, struct job *job, struct slices tags,
                               int64_t now_us, struct error *error);

// Takes those of the tags from the job that it has. Gives how many.
size_t tags_take(struct engine *engine, struct job *job, struct slices tags);

bool job_has_tag(const struct job *job, struct slice name);

static inline struct tagging *tagging_of_node(struct index_node *node)
{
    return (struct tagging *)(void *)node; // it is the first member
}

#endif
