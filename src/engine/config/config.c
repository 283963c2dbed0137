// SPDX-License-Identifier: MIT
#include "engine/config/config.h"

#include "base/nearest.h"
#include "base/num.h"
#include "engine/due.h"
#include "engine/lanes/watch.h"
#include "engine/queue/queue.h"
#include "engine/state.h"

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

// The valid values of an option. Seconds are in microseconds here.
struct range {
    bool seconds;
    // also with the client clock, where most options of qless may be any number
    bool with_any_clock;
    int64_t least, most;
};

#define VALUE_MAX (ENGINE_TIME_MAX / US_PER_S)
#define SECONDS_FROM(least_us)                                                                     \
    {                                                                                              \
        .seconds = true, .least = (least_us), .most = ENGINE_TIME_MAX                              \
    }
#define COUNT_FROM(least_count)                                                                    \
    {                                                                                              \
        .least = (least_count), .most = VALUE_MAX                                                  \
    }
#define LEASE_SECONDS SECONDS_FROM(LEASE_US_MIN)
#define RATE_CATCH_UP_RANGE                                                                        \
    {                                                                                              \
        .seconds = true, .with_any_clock = true, .least = 0, .most = RATE_CATCH_UP_MAX_US          \
    }

// The known options by name. All values are numbers: seconds, or counts.
static const struct known {
    struct slice name;
    struct slice value;
    size_t offset;
    struct range range;
} knowns[] = {
#define KNOWN(name, value, field, range)                                                           \
    {                                                                                              \
        SLICE_OF(name), SLICE_OF(value), offsetof(struct config, field), range                     \
    }
#define SLICE_OF(literal)                                                                          \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }
    KNOWN("grace-period", "10", grace_us, SECONDS_FROM(0)),
    KNOWN("heartbeat", "60", heartbeat_us, LEASE_SECONDS),
    KNOWN("histogram-history", "7", histogram_history, COUNT_FROM(0)),
    KNOWN("jobs-history", "604800", jobs_history_us, SECONDS_FROM(0)),
    KNOWN("jobs-history-count", "50000", jobs_history_count, COUNT_FROM(-1)),
    KNOWN("jobs-history-jids", "500000", jobs_history_jids, COUNT_FROM(0)),
    KNOWN("max-bytes", "0", max_bytes, COUNT_FROM(0)),
    KNOWN("max-dependency-search", "10000", max_dependency_search, COUNT_FROM(0)),
    KNOWN("max-dependents", "10000", max_dependents, COUNT_FROM(0)),
    KNOWN("max-depends", "10000", max_depends, COUNT_FROM(0)),
    KNOWN("max-job-history", "100", max_job_history, COUNT_FROM(0)),
    KNOWN("max-job-log", "100", max_job_log, COUNT_FROM(0)),
    KNOWN("max-jobs", "0", max_jobs, COUNT_FROM(0)),
    KNOWN("max-limit-patterns", "100", max_limit_patterns, COUNT_FROM(0)),
    KNOWN("max-promise-bytes", "0", max_promise_bytes, COUNT_FROM(0)),
    KNOWN("max-queues", "0", max_queues, COUNT_FROM(0)),
    KNOWN("max-recurring", "0", max_recurring, COUNT_FROM(0)),
    KNOWN("max-tags", "100", max_tags, COUNT_FROM(0)),
    KNOWN("max-worker-age", "86400", max_worker_age_us, SECONDS_FROM(US_PER_S)),
    KNOWN("min-interval", "0", min_interval_us, SECONDS_FROM(0)),
    KNOWN("missed-after", "60", missed_after_us, SECONDS_FROM(0)),
    KNOWN("rate-catch-up", "0.25", rate_catch_up_us, RATE_CATCH_UP_RANGE),
    KNOWN("request-history", "86400", request_history_us, SECONDS_FROM(0)),
    KNOWN("request-history-count", "100000", request_history_count, COUNT_FROM(0)),
    KNOWN("stats-history", "30", stats_history, COUNT_FROM(0)),
};

// The options of a queue: the queue's name, followed by one of these.
static const struct suffix {
    struct slice text;
    struct range range;
} suffixes[] = {
    { SLICE_OF("-heartbeat"), LEASE_SECONDS }, { SLICE_OF("-max-concurrency"), COUNT_FROM(0) },
    { SLICE_OF("-fair"), COUNT_FROM(0) },      { SLICE_OF("-max-jobs"), COUNT_FROM(0) },
    { SLICE_OF("-max-bytes"), COUNT_FROM(0) },
};

// This option precedes the queue's name, as in qless.
static const struct slice heartbeat_prefix = SLICE_OF("heartbeat-");
static const struct range heartbeat_range = LEASE_SECONDS;

enum {
    KNOWN_COUNT = sizeof(knowns) / sizeof(knowns[0]),
    SUFFIX_COUNT = sizeof(suffixes) / sizeof(suffixes[0]),
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
    enum status status = parse_value(value, known->range.seconds, field);
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

// The position of the option, or where it would be inserted.
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

// Both lists are sorted by name; a default is listed only if the option was not set.
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

// Returns the part of an option's name that is a queue's name: `<queue>-heartbeat`,
// `heartbeat-<queue>`, `<queue>-max-concurrency`, `<queue>-fair`, `<queue>-max-jobs`,
// `<queue>-max-bytes`. Also returns its range; NULL for other options.
static const struct range *names_queue(struct slice option, struct slice *queue)
{
    for (size_t i = 0; i < SUFFIX_COUNT; i++) {
        struct slice suffix = suffixes[i].text;
        if (i == 1 && option.size > heartbeat_prefix.size &&
            slice_starts_with(option, heartbeat_prefix)) {
            *queue = slice_sub(option, heartbeat_prefix.size, SIZE_MAX);
            return &heartbeat_range;
        }
        if (option.size > suffix.size && slice_ends_with(option, suffix)) {
            *queue = slice_sub(option, 0, option.size - suffix.size);
            return &suffixes[i].range;
        }
    }
    return NULL;
}

// NULL if the option is unknown.
static const struct range *range_of(struct slice option)
{
    struct slice queue;
    const struct known *known = known_find(option);
    return known ? &known->range : names_queue(option, &queue);
}

// The value of the option whose name consists of the two parts, if it was set.
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

void config_queue_quotas(const struct engine *engine, struct slice queue, int64_t *jobs_max,
                         int64_t *bytes_max)
{
    *jobs_max = *bytes_max = 0;
    (void)queue_option(engine, queue, SLICE("-max-jobs"), false, jobs_max);
    (void)queue_option(engine, queue, SLICE("-max-bytes"), false, bytes_max);
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
    config_queue_quotas(engine, name, &queue->jobs_max, &queue->bytes_max);
    int64_t fair = 0;
    (void)queue_option(engine, name, SLICE("-fair"), false, &fair);
    queue->fair = fair != 0;
}

// Updates the state that depends on an option.
static void apply(struct engine *engine, struct slice option)
{
    const struct known *known = known_find(option);
    if (known) {
        set_known(&engine->config, known, engine_config_get(engine, option));
        return;
    }
    struct slice name;
    if (names_queue(option, &name)) {
        struct queue *queue = queue_find(engine, name);
        bool fair = queue && queue->fair;
        if (queue) {
            config_apply_to_queue(engine, queue);
            watch_wake(engine, queue);
        }
        if (queue && queue->fair != fair) {
            // The lanes of the queue are ordered differently now.
            engine->limits_version++;
            lanes_refresh(engine, LANES_AT_ONCE);
        }
    }
}

bool engine_config_narrows(struct slice option, struct slice value)
{
    // The quota options; the host sets their defaults.
    static const struct slice quotas[] = {
        SLICE_OF("max-jobs"),      SLICE_OF("max-bytes"),    SLICE_OF("max-queues"),
        SLICE_OF("max-recurring"), SLICE_OF("min-interval"), SLICE_OF("max-promise-bytes"),
    };
    static const struct slice counts[] = {
        SLICE_OF("max-tags"),           SLICE_OF("max-depends"),
        SLICE_OF("max-dependents"),     SLICE_OF("max-dependency-search"),
        SLICE_OF("max-limit-patterns"),
    };
    for (size_t i = 0; i < sizeof(quotas) / sizeof(quotas[0]); i++) {
        if (slice_equal(option, quotas[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        int64_t own, usual;
        if (slice_equal(option, counts[i])) {
            return !parse_value(value, false, &own) &&
                   !parse_value(known_find(option)->value, false, &usual) && own < usual;
        }
    }
    return slice_ends_with(option, SLICE("-max-jobs")) ||
           slice_ends_with(option, SLICE("-max-bytes"));
}

static enum status refuse_range(struct slice option, const struct range *range, struct slice value,
                                struct error *error)
{
    int64_t unit = range->seconds ? US_PER_S : 1;
    return error_set(error, STATUS_INVALID, "option %.*s must lie between %g and %lld%s, not %.*s",
                     SLICE_PRINT(option), (double)range->least / (double)unit,
                     (long long)(range->most / unit), range->seconds ? " seconds" : "",
                     SLICE_PRINT(slice_sub(value, 0, 40)));
}

enum status config_check(enum engine_clock clock, struct slice option, struct slice value,
                         struct error *error)
{
    if (value.size > VALUE_SIZE_MAX) {
        return error_set(error, STATUS_TOO_LARGE,
                         "the value of option %.*s has %zu bytes, and at most %d are allowed",
                         SLICE_PRINT(option), value.size, VALUE_SIZE_MAX);
    }
    const struct range *range = range_of(option);
    if (!range) {
        return STATUS_OK;
    }
    int64_t parsed = 0;
    enum status status = parse_value(value, range->seconds, &parsed);
    if (status == STATUS_TOO_LARGE) {
        return refuse_range(option, range, value, error);
    }
    if (status) {
        return error_set(error, STATUS_INVALID, "option %.*s must be a number, not %.*s",
                         SLICE_PRINT(option), SLICE_PRINT(slice_sub(value, 0, 40)));
    }
    bool bounded = range->with_any_clock || clock == ENGINE_CLOCK_SERVER;
    if (bounded && (parsed < range->least || parsed > range->most)) {
        return refuse_range(option, range, value, error);
    }
    return STATUS_OK;
}

// For a misspelled option of a queue: writes the queue's name with each suffix into `name`, and
// offers it.
static void offer_queue_options(struct nearest *nearest, char *name)
{
    struct slice option = nearest->word;
    for (size_t i = 1; i < option.size; i++) {
        for (size_t j = 0; option.data[i] == '-' && j < SUFFIX_COUNT; j++) {
            size_t distance = edit_distance(slice_sub(option, i, SIZE_MAX), suffixes[j].text);
            if (distance < nearest->distance) {
                nearest->distance = distance;
                memcpy(name, option.data, i);
                memcpy(name + i, suffixes[j].text.data, suffixes[j].text.size);
                nearest->name = slice_make(name, i + suffixes[j].text.size);
            }
        }
    }
}

enum status engine_config_check_name(struct slice option, struct error *error)
{
    enum status status = name_check(option, "option", error);
    if (status || range_of(option) || slice_starts_with(option, SLICE("x-"))) {
        return status;
    }
    char name[2 * ENGINE_NAME_SIZE_MAX];
    struct nearest nearest = nearest_to(option);
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        nearest_offer(&nearest, knowns[i].name);
    }
    offer_queue_options(&nearest, name);
    if (nearest.name.size) {
        return error_set(error, STATUS_INVALID, "unknown option \"%.*s\"; did you mean %.*s?",
                         SLICE_PRINT(slice_shown(option)), SLICE_PRINT(nearest.name));
    }
    return error_set(error, STATUS_INVALID,
                     "unknown option \"%.*s\"; options of your own begin with x-",
                     SLICE_PRINT(slice_shown(option)));
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
        status = name_check_new(engine, option, "option", error);
    }
    if (!status) {
        status = config_check(engine->clock, option, value, error);
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
