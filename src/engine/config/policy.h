// SPDX-License-Identifier: MIT
// Policies: the options of jobs that have none of their own, by klass and by queue.
#ifndef SLUICE_ENGINE_CONFIG_POLICY_H
#define SLUICE_ENGINE_CONFIG_POLICY_H

#include "base/index.h"
#include "engine/engine.h"

enum policy_scope {
    POLICY_KLASS,
    POLICY_QUEUE,
};

// Sets the policy of a klass or a queue, in place of the one it had. Options that say nothing take
// it away. Jobs see it when it matters: at the pop, the retry, the lost lease, the completion.
MUST_USE enum status engine_policy_set(struct engine *engine, int64_t now_us,
                                       enum policy_scope scope, struct slice name,
                                       const struct job_options *options, struct error *error);

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

// What a policy says, all UNSET when there is none.
void policy_find(const struct engine *engine, enum policy_scope scope, struct slice name,
                 struct job_options *out);

// Makes or replaces a policy that says something, with that number if it is new; for loading too.
MUST_USE enum status policy_put(struct engine *engine, enum policy_scope scope, struct slice name,
                                const struct job_options *options, uint64_t id,
                                struct error *error);
void policy_free(struct engine *engine, struct policy *policy);
void policy_free_shell(struct engine *engine, struct policy *policy);

#endif
