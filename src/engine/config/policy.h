// SPDX-License-Identifier: MIT
// Policies: options for all jobs of a klass or a queue, for those that the jobs do not set.
#ifndef SLUICE_ENGINE_CONFIG_POLICY_H
#define SLUICE_ENGINE_CONFIG_POLICY_H

#include "base/index.h"
#include "engine/engine.h"

enum policy_scope {
    POLICY_KLASS,
    POLICY_QUEUE,
};

// Sets or replaces the policy of a klass or a queue. Options that are all unset remove it. The policy
// that a job has at a pop, a retry, a lost lease or a completion applies.
MUST_USE enum status engine_policy_set(struct engine *engine, int64_t now_us,
                                       enum policy_scope scope, struct slice name,
                                       const struct job_options *options, struct error *error);

bool engine_policy_is_set(const struct engine *engine, enum policy_scope scope, struct slice name);

struct policy_view {
    enum policy_scope scope;
    struct slice name;
    struct job_options options;
};

// The policies in the order in which they were first set: `index` from 0 until it returns false.
bool engine_policy_at(const struct engine *engine, size_t index, struct policy_view *view);

// ---------------------------------------------------------------------------------------------
// For the other files of the engine

struct policy {
    struct index_node node; // by its number
    uint64_t id;
    struct job_options options;
    struct policy *dirty_next;
    bool dirty, gone;
    uint16_t key_size;
    char key[]; // the scope (1), the name
};

static inline struct policy *policy_of_node(struct index_node *node)
{
    return (struct policy *)(void *)node; // it is the first member
}

struct slice policy_key(const void *policy);

// The options of a policy, all UNSET if there is none.
void policy_find(const struct engine *engine, enum policy_scope scope, struct slice name,
                 struct job_options *out);

// Creates or replaces a policy with at least one option; `id` is its number if it is new. Also used
// for loading.
MUST_USE enum status policy_put(struct engine *engine, enum policy_scope scope, struct slice name,
                                const struct job_options *options, uint64_t id,
                                struct error *error);
void policy_free(struct engine *engine, struct policy *policy);
void policy_free_shell(struct engine *engine, struct policy *policy);

#endif
