// SPDX-License-Identifier: MIT
#include "engine/config.h"

#include "base/num.h"
#include "engine/due.h"
#include "engine/queue.h"
#include "engine/state.h"
#include "engine/watch.h"

#include <assert.h>
#include <string.h>

enum {
    US_PER_S = 1000000,
    VALUE_SIZE_MAX = 65536,
};

struct option {
    uint32_t name_size;
    uint32_t value_size;
    char bytes[]; // the name, then the value
};

// The options that have a meaning, by name. All are numbers: seconds, or counts.
static const struct known {
    struct slice name;
    struct slice value;
    size_t offset;
    bool seconds;
} knowns[] = {
    { { "grace-period", 12 }, { "10", 2 }, offsetof(struct config, grace_us), true },
    { { "heartbeat", 9 }, { "60", 2 }, offsetof(struct config, heartbeat_us), true },
    { { "histogram-history", 17 }, { "7", 1 }, offsetof(struct config, histogram_history), false },
    { { "jobs-history", 12 }, { "604800", 6 }, offsetof(struct config, jobs_history_us), true },
    { { "jobs-history-count", 18 },
      { "50000", 5 },
      offsetof(struct config, jobs_history_count),
      false },
    { { "max-bytes", 9 }, { "0", 1 }, offsetof(struct config, max_bytes), false },
    { { "max-dependency-search", 21 },
      { "10000", 5 },
      offsetof(struct config, max_dependency_search),
      false },
    { { "max-dependents", 14 }, { "10000", 5 }, offsetof(struct config, max_dependents), false },
    { { "max-depends", 11 }, { "10000", 5 }, offsetof(struct config, max_depends), false },
    { { "max-job-history", 15 }, { "100", 3 }, offsetof(struct config, max_job_history), false },
    { { "max-job-log", 11 }, { "100", 3 }, offsetof(struct config, max_job_log), false },
    { { "max-jobs", 8 }, { "0", 1 }, offsetof(struct config, max_jobs), false },
    { { "max-limit-patterns", 18 },
      { "100", 3 },
      offsetof(struct config, max_limit_patterns),
      false },
    { { "max-queues", 10 }, { "0", 1 }, offsetof(struct config, max_queues), false },
    { { "max-recurring", 13 }, { "0", 1 }, offsetof(struct config, max_recurring), false },
    { { "max-tags", 8 }, { "100", 3 }, offsetof(struct config, max_tags), false },
    { { "max-worker-age", 14 }, { "86400", 5 }, offsetof(struct config, max_worker_age_us), true },
    { { "min-interval", 12 }, { "0", 1 }, offsetof(struct config, min_interval_us), true },
    { { "missed-after", 12 }, { "60", 2 }, offsetof(struct config, missed_after_us), true },
    { { "rate-catch-up", 13 }, { "0.25", 4 }, offsetof(struct config, rate_catch_up_us), true },
    { { "stats-history", 13 }, { "30", 2 }, offsetof(struct config, stats_history), false },
};

enum {
    KNOWN_COUNT = sizeof(knowns) / sizeof(knowns[0]),
};

static struct slice option_name(const struct option *option)
{
    return slice_make(option->bytes, option->name_size);
}

static struct slice option_value(const struct option *option)
{
    return slice_make(option->bytes + option->name_size, option->value_size);
}

static size_t option_size(const struct option *option)
{
    return sizeof(*option) + option->name_size + option->value_size;
}

static const struct known *known_find(struct slice name)
{
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        if (slice_equal(knowns[i].name, name)) {
            return &knowns[i];
        }
    }
    return NULL;
}

// A number of seconds in microseconds, or a count, which may be written with a fraction too.
static enum status parse_value(struct slice value, bool seconds, int64_t *out)
{
    int64_t us;
    enum status status = num_parse_seconds(value, &us);
    if (status) {
        return status;
    }
    if (us > ENGINE_TIME_MAX || us < -ENGINE_TIME_MAX) {
        return STATUS_TOO_LARGE;
    }
    *out = seconds ? us : us / US_PER_S;
    return STATUS_OK;
}

static void set_known(struct config *config, const struct known *known, struct slice value)
{
    int64_t *field = (int64_t *)(void *)((char *)config + known->offset);
    enum status status = parse_value(value, known->seconds, field);
    assert(!status);
}

void config_init(struct config *config)
{
    *config = (struct config){ 0 };
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        set_known(config, &knowns[i], knowns[i].value);
    }
}

void config_release(const struct allocator *allocator, struct config *config)
{
    for (size_t i = 0; i < config->count; i++) {
        mem_free(allocator, config->options[i], option_size(config->options[i]));
    }
    mem_free(allocator, config->options, config->capacity * sizeof(*config->options));
    config_init(config);
}

// Where the option stands, or would stand.
static size_t option_position(const struct config *config, struct slice name)
{
    size_t low = 0, high = config->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (slice_compare(option_name(config->options[middle]), name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static const struct option *option_find(const struct config *config, struct slice name)
{
    size_t position = option_position(config, name);
    if (position < config->count && slice_equal(option_name(config->options[position]), name)) {
        return config->options[position];
    }
    return NULL;
}

struct slice engine_config_get(const struct engine *engine, struct slice option)
{
    const struct option *found = option_find(&engine->config, option);
    if (found) {
        return option_value(found);
    }
    const struct known *known = known_find(option);
    return known ? known->value : SLICE_EMPTY;
}

bool engine_config_is_set(const struct engine *engine, struct slice option)
{
    return option_find(&engine->config, option) != NULL;
}

// Both lists are sorted by name; a default counts only when it was not set.
bool engine_config_at(const struct engine *engine, size_t index, struct slice *option,
                      struct slice *value)
{
    const struct config *config = &engine->config;
    size_t set = 0, known = 0;
    for (;; index--) {
        bool has_set = set < config->count, has_known = known < KNOWN_COUNT;
        if (!has_set && !has_known) {
            return false;
        }
        int order = !has_set ? 1
                    : !has_known
                        ? -1
                        : slice_compare(option_name(config->options[set]), knowns[known].name);
        *option = order <= 0 ? option_name(config->options[set]) : knowns[known].name;
        *value = order <= 0 ? option_value(config->options[set]) : knowns[known].value;
        set += order <= 0;
        known += order >= 0;
        if (index == 0) {
            return true;
        }
    }
}

// The part of an option's name that names a queue, when it is one of those that say something of a
// queue: `<queue>-heartbeat`, `heartbeat-<queue>`, `<queue>-max-concurrency`, `<queue>-fair`,
// `<queue>-max-jobs`, `<queue>-max-bytes`.
static bool names_queue(struct slice option, struct slice *queue, bool *seconds)
{
    static const struct slice suffixes[] = {
        { "-heartbeat", 10 }, // the only one in seconds
        { "-max-concurrency", 16 }, { "-fair", 5 }, { "-max-jobs", 9 }, { "-max-bytes", 10 },
    };
    const struct slice prefix = SLICE("heartbeat-");
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (i == 1 && option.size > prefix.size && slice_starts_with(option, prefix)) {
            *seconds = true;
            *queue = slice_sub(option, prefix.size, SIZE_MAX);
            return true;
        }
        if (option.size > suffixes[i].size && slice_ends_with(option, suffixes[i])) {
            *seconds = i == 0;
            *queue = slice_sub(option, 0, option.size - suffixes[i].size);
            return true;
        }
    }
    return false;
}

// The value of the option whose name is the two parts together, when it was set.
static bool queue_option(const struct engine *engine, struct slice first, struct slice second,
                         bool seconds, int64_t *out)
{
    char name[2 * ENGINE_NAME_SIZE_MAX];
    assert(first.size <= ENGINE_NAME_SIZE_MAX && second.size <= ENGINE_NAME_SIZE_MAX);
    memcpy(name, first.data, first.size);
    memcpy(name + first.size, second.data, second.size);
    const struct option *option =
        option_find(&engine->config, slice_make(name, first.size + second.size));
    return option && !parse_value(option_value(option), seconds, out);
}

void config_apply_to_queue(const struct engine *engine, struct queue *queue)
{
    queue->has_heartbeat = false;
    queue->concurrency_max = 0;
    queue->jobs_max = queue->bytes_max = 0;
    queue->fair = false;
    if (engine->config.count == 0) {
        return;
    }
    struct slice name = queue_name(queue);
    queue->has_heartbeat =
        queue_option(engine, name, SLICE("-heartbeat"), true, &queue->heartbeat_us) ||
        queue_option(engine, SLICE("heartbeat-"), name, true, &queue->heartbeat_us);
    (void)queue_option(engine, name, SLICE("-max-concurrency"), false, &queue->concurrency_max);
    (void)queue_option(engine, name, SLICE("-max-jobs"), false, &queue->jobs_max);
    (void)queue_option(engine, name, SLICE("-max-bytes"), false, &queue->bytes_max);
    int64_t fair = 0;
    (void)queue_option(engine, name, SLICE("-fair"), false, &fair);
    queue->fair = fair != 0;
}

// Brings what depends on an option into line with it.
static void apply(struct engine *engine, struct slice option)
{
    const struct known *known = known_find(option);
    if (known) {
        set_known(&engine->config, known, engine_config_get(engine, option));
        return;
    }
    struct slice name;
    bool seconds;
    if (names_queue(option, &name, &seconds)) {
        struct queue *queue = queue_find(engine, name);
        bool fair = queue && queue->fair;
        if (queue) {
            config_apply_to_queue(engine, queue);
            watch_wake(engine, queue);
        }
        if (queue && queue->fair != fair) {
            // Its lanes stand in another order now.
            engine->limits_version++;
            lanes_refresh(engine, LANES_AT_ONCE);
        }
    }
}

enum status config_check(struct slice option, struct slice value, struct error *error)
{
    struct slice queue;
    bool seconds;
    const struct known *known = known_find(option);
    if (known || names_queue(option, &queue, &seconds)) {
        int64_t parsed;
        if (parse_value(value, known ? known->seconds : seconds, &parsed)) {
            return error_set(error, STATUS_INVALID, "option %.*s must be a number, not %.*s",
                             SLICE_PRINT(option), SLICE_PRINT(slice_sub(value, 0, 40)));
        }
        if (known && known->offset == offsetof(struct config, rate_catch_up_us) &&
            (parsed < 0 || parsed > RATE_CATCH_UP_MAX_US)) {
            return error_set(error, STATUS_INVALID,
                             "option %.*s must lie between 0 and %lld seconds, not %.*s",
                             SLICE_PRINT(option), (long long)(RATE_CATCH_UP_MAX_US / US_PER_S),
                             SLICE_PRINT(slice_sub(value, 0, 40)));
        }
    }
    if (value.size > VALUE_SIZE_MAX) {
        return error_set(error, STATUS_TOO_LARGE, "the value of option %.*s is too large",
                         SLICE_PRINT(option));
    }
    return STATUS_OK;
}

static enum status reserve_option(struct engine *engine)
{
    struct config *config = &engine->config;
    if (config->count < config->capacity) {
        return STATUS_OK;
    }
    size_t capacity = config->capacity ? config->capacity * 2 : 8;
    struct option **options =
        mem_resize(engine->allocator, config->options, config->capacity * sizeof(*options),
                   capacity * sizeof(*options));
    if (!options) {
        return STATUS_NO_MEMORY;
    }
    config->options = options;
    config->capacity = capacity;
    return STATUS_OK;
}

enum status config_put(struct engine *engine, struct slice option, struct slice value)
{
    struct config *config = &engine->config;
    struct option *made =
        reserve_option(engine)
            ? NULL
            : mem_alloc(engine->allocator, sizeof(*made) + option.size + value.size);
    if (!made) {
        return STATUS_NO_MEMORY;
    }
    made->name_size = (uint32_t)option.size;
    made->value_size = (uint32_t)value.size;
    memcpy(made->bytes, option.data, option.size);
    if (value.size) {
        memcpy(made->bytes + option.size, value.data, value.size);
    }

    size_t position = option_position(config, option);
    if (option_find(config, option)) {
        struct option *old = config->options[position];
        mem_free(engine->allocator, old, option_size(old));
    } else {
        memmove(config->options + position + 1, config->options + position,
                (config->count - position) * sizeof(*config->options));
        config->count++;
    }
    config->options[position] = made;
    config->dirty = true;
    apply(engine, option);
    return STATUS_OK;
}

bool config_option(const struct config *config, size_t index, struct slice *name,
                   struct slice *value)
{
    if (index >= config->count) {
        return false;
    }
    *name = option_name(config->options[index]);
    *value = option_value(config->options[index]);
    return true;
}

enum status engine_config_set(struct engine *engine, int64_t now_us, struct slice option,
                              struct slice value, struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check(option, "option", error);
    }
    if (!status) {
        status = config_check(option, value, error);
    }
    if (status) {
        return status;
    }
    if (config_put(engine, option, value)) {
        return engine_no_memory(error);
    }
    engine_emit(engine, &(struct event){ .kind = EVENT_CONFIG_SET,
                                         .channels = EVENT_TO_LOG,
                                         .when_us = now_us,
                                         .option = option,
                                         .value = value });
    return STATUS_OK;
}

enum status engine_config_unset(struct engine *engine, int64_t now_us, struct slice option,
                                struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check(option, "option", error);
    }
    if (status) {
        return status;
    }
    struct config *config = &engine->config;
    if (option_find(config, option)) {
        size_t position = option_position(config, option);
        struct option *old = config->options[position];
        memmove(config->options + position, config->options + position + 1,
                (config->count - position - 1) * sizeof(*config->options));
        config->count--;
        config->dirty = true;
        apply(engine, option);
        mem_free(engine->allocator, old, option_size(old));
    }
    engine_emit(engine, &(struct event){ .kind = EVENT_CONFIG_UNSET,
                                         .channels = EVENT_TO_LOG,
                                         .when_us = now_us,
                                         .option = option });
    return STATUS_OK;
}
