// SPDX-License-Identifier: MIT
#include "engine/config/policy.h"

#include "engine/job/options.h"
#include "engine/state.h"

#include <assert.h>
#include <string.h>

enum {
    KEY_SIZE_MAX = 1 + ENGINE_NAME_SIZE_MAX,
};

struct slice policy_key(const void *policy)
{
    const struct policy *of = policy;
    return slice_make(of->key, of->key_size);
}

static struct slice make_key(enum policy_scope scope, struct slice name, char text[KEY_SIZE_MAX])
{
    assert(name.size <= ENGINE_NAME_SIZE_MAX);
    text[0] = (char)scope;
    memcpy(text + 1, name.data, name.size);
    return slice_make(text, 1 + name.size);
}

static struct policy *find(const struct engine *engine, enum policy_scope scope, struct slice name)
{
    char text[KEY_SIZE_MAX];
    return map_find(&engine->policies, make_key(scope, name, text));
}

void policy_find(const struct engine *engine, enum policy_scope scope, struct slice name,
                 struct job_options *out)
{
    const struct policy *policy = find(engine, scope, name);
    if (policy) {
        *out = policy->options;
    } else {
        memset(out, 0, sizeof(*out));
    }
}

static void changed(struct engine *engine, struct policy *policy)
{
    ENGINE_NOTE_CHANGE(engine, dirty_policies, policy);
}

static enum status check(const struct engine *engine, enum policy_scope scope, struct slice name,
                         const struct job_options *options, struct error *error)
{
    if ((unsigned)scope > POLICY_QUEUE) {
        return error_set(error, STATUS_INVALID, "a policy is for a klass or a queue");
    }
    enum status status =
        name_check_new(engine, name, scope == POLICY_KLASS ? "klass" : "queue", error);
    return status ? status : options_check(options, error);
}

enum status policy_put(struct engine *engine, enum policy_scope scope, struct slice name,
                       const struct job_options *options, uint64_t id, struct error *error)
{
    enum status status = check(engine, scope, name, options, error);
    if (status) {
        return status;
    }
    char text[KEY_SIZE_MAX];
    struct slice key = make_key(scope, name, text);
    struct policy *policy = map_find(&engine->policies, key);
    if (!policy) {
        if (map_reserve(&engine->policies, key) || index_reserve(&engine->policy_order, 1)) {
            return engine_no_memory(error);
        }
        policy = mem_zalloc(engine->allocator, sizeof(*policy) + key.size);
        if (!policy) {
            return engine_no_memory(error);
        }
        policy->key_size = (uint16_t)key.size;
        memcpy(policy->key, key.data, key.size);
        policy->id = id;
        policy->node.key = (struct index_key){ 0, id };
        index_insert(&engine->policy_order, &policy->node);
        map_add(&engine->policies, policy);
    }
    policy->options = options_normal(options);
    changed(engine, policy);
    return STATUS_OK;
}

void policy_free_shell(struct engine *engine, struct policy *policy)
{
    mem_free(engine->allocator, policy, sizeof(*policy) + policy->key_size);
}

void policy_free(struct engine *engine, struct policy *policy)
{
    assert(!policy->gone);
    map_remove(&engine->policies, policy_key(policy));
    index_remove(&engine->policy_order, &policy->node);
    ENGINE_NOTE_GONE(engine, dirty_policies, policy, policy_free_shell);
}

enum status engine_policy_set(struct engine *engine, int64_t now_us, enum policy_scope scope,
                              struct slice name, const struct job_options *options,
                              struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = check(engine, scope, name, options, error);
    }
    if (status) {
        return status;
    }
    if (options_are_unset(options)) {
        struct policy *policy = find(engine, scope, name);
        if (policy) {
            policy_free(engine, policy);
        }
    } else {
        status = policy_put(engine, scope, name, options, engine->sequence + 1, error);
        engine->sequence += !status;
    }
    engine_settle(engine);
    return status;
}

bool engine_policy_is_set(const struct engine *engine, enum policy_scope scope, struct slice name)
{
    return name.size <= ENGINE_NAME_SIZE_MAX && find(engine, scope, name) != NULL;
}

bool engine_policy_at(const struct engine *engine, size_t index, struct policy_view *view)
{
    struct index_node *node = index_at(&engine->policy_order, index);
    if (node) {
        const struct policy *policy = policy_of_node(node);
        *view = (struct policy_view){ .scope = (enum policy_scope)policy->key[0],
                                      .name = slice_sub(policy_key(policy), 1, SIZE_MAX),
                                      .options = policy->options };
    }
    return node != NULL;
}
