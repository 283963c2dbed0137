// SPDX-License-Identifier: MIT
#include "engine/lanes/limit.h"

#include "base/glob.h"
#include "engine/lanes/lane.h"
#include "engine/page.h"
#include "engine/queue/queue.h"
#include "engine/state.h"

#include <assert.h>
#include <string.h>

enum {
    KEY_SIZE_MAX = 1 + 2 * ENGINE_NAME_SIZE_MAX,
    WEIGHT_MAX = 1000,
    RATE_COUNT_MAX = 1000000000,
};

#define RATE_PERIOD_MAX_US (INT64_C(366) * 86400 * 1000000)
#define BUCKET_MAX         (INT64_MAX / 4)

struct slice limit_key(const void *entry)
{
    const struct limit_entry *of = entry;
    return slice_make(of->key, of->key_size);
}

struct slice limit_queue(const struct limit_entry *entry)
{
    return slice_make(entry->key + 1, entry->queue_size);
}

struct slice limit_domain(const struct limit_entry *entry)
{
    return slice_sub(limit_key(entry), 1 + (size_t)entry->queue_size, SIZE_MAX);
}

static struct slice make_key(struct slice queue, struct slice domain, char text[KEY_SIZE_MAX])
{
    assert(queue.size <= ENGINE_NAME_SIZE_MAX && domain.size <= ENGINE_NAME_SIZE_MAX);
    text[0] = (char)queue.size;
    memcpy(text + 1, queue.data ? queue.data : "", queue.size);
    memcpy(text + 1 + queue.size, domain.data ? domain.data : "", domain.size);
    return slice_make(text, 1 + queue.size + domain.size);
}

static struct limit_entry *find(const struct engine *engine, struct slice queue,
                                struct slice domain)
{
    char text[KEY_SIZE_MAX];
    return map_find(&engine->limits, make_key(queue, domain, text));
}

// ---------------------------------------------------------------------------------------------
// Patterns

static bool is_pattern(struct slice domain)
{
    return domain.size && memchr(domain.data, '*', domain.size);
}

static size_t literal_count(struct slice pattern)
{
    size_t count = 0;
    for (size_t i = 0; i < pattern.size; i++) {
        count += pattern.data[i] != '*';
    }
    return count;
}

// Whether a pattern takes precedence over another: that of a queue over that of all queues, then
// the more specific one.
static bool more_specific(const struct limit_entry *a, const struct limit_entry *b)
{
    if ((a->queue_size > 0) != (b->queue_size > 0)) {
        return a->queue_size > 0;
    }
    size_t literals_a = literal_count(limit_domain(a)), literals_b = literal_count(limit_domain(b));
    if (literals_a != literals_b) {
        return literals_a > literals_b;
    }
    return slice_compare(limit_domain(a), limit_domain(b)) < 0;
}

static void patterns_add(struct engine *engine, struct limit_entry *entry)
{
    struct limit_entry **at = &engine->patterns;
    while (*at && !more_specific(entry, *at)) {
        at = &(*at)->next_pattern;
    }
    entry->next_pattern = *at;
    *at = entry;
    engine->pattern_count++;
}

static void patterns_remove(struct engine *engine, const struct limit_entry *entry)
{
    assert(engine->pattern_count > 0);
    struct limit_entry **at = &engine->patterns;
    while (*at != entry) {
        assert(*at);
        at = &(*at)->next_pattern;
    }
    *at = entry->next_pattern;
    engine->pattern_count--;
}

// Sets what is not set so far.
static void merge(struct limit *limit, struct limit_sources *sources, struct limit_entry *entry)
{
    if (!entry) {
        return;
    }
    const struct limit *other = &entry->limit;
    if (!limit->has_rate && other->has_rate) {
        limit->has_rate = true;
        limit->rate_count = other->rate_count;
        limit->rate_period_us = other->rate_period_us;
        limit->burst = other->burst;
        sources->of[LIMIT_RATE] = entry;
    }
    if (!limit->has_concurrency && other->has_concurrency) {
        limit->has_concurrency = true;
        limit->concurrency = other->concurrency;
        sources->of[LIMIT_CONCURRENCY] = entry;
    }
    if (!limit->has_weight && other->has_weight) {
        limit->has_weight = true;
        limit->weight = other->weight;
        sources->of[LIMIT_WEIGHT] = entry;
    }
}

void limits_find(const struct engine *engine, struct slice queue, struct slice domain,
                 struct limit *out, struct limit_sources *sources)
{
    struct limit_sources found = { 0 };
    *out = (struct limit){ 0 };
    if (engine->limits.count) {
        if (domain.size) {
            merge(out, &found, find(engine, queue, domain));
            merge(out, &found, find(engine, SLICE_EMPTY, domain));
        }
        for (struct limit_entry *at = engine->patterns; domain.size && at; at = at->next_pattern) {
            if ((at->queue_size == 0 || slice_equal(limit_queue(at), queue)) &&
                glob_matches(at->pattern, domain)) {
                merge(out, &found, at);
            }
        }
        merge(out, &found, find(engine, queue, SLICE_EMPTY));
        merge(out, &found, find(engine, SLICE_EMPTY, SLICE_EMPTY));
    }
    out->weight = out->has_weight ? out->weight : 1;
    out->has_rate = out->has_concurrency = out->has_weight = true;
    if (sources) {
        *sources = found;
    }
}

// ---------------------------------------------------------------------------------------------
// Setting

static enum status check_rate(const struct limit *limit, struct error *error)
{
    if (limit->rate_count < 0 || limit->rate_count > RATE_COUNT_MAX) {
        return error_set(error, STATUS_INVALID, "rate must lie between 0 and %d", RATE_COUNT_MAX);
    }
    if (limit->rate_count == 0) {
        return STATUS_OK;
    }
    if (limit->rate_period_us <= 0 || limit->rate_period_us > RATE_PERIOD_MAX_US) {
        return error_set(error, STATUS_INVALID,
                         "the period of a rate must lie between a microsecond and 366 days");
    }
    if (limit->burst < 0 || limit->burst > BUCKET_MAX / limit->rate_period_us) {
        return error_set(error, STATUS_INVALID, "burst must not be negative, and %lld is too large",
                         (long long)limit->burst);
    }
    return STATUS_OK;
}

static enum status check_names(struct slice queue, struct slice domain, struct error *error)
{
    enum status status = name_check_if_given(queue, "queue", error);
    return status ? status : name_check_if_given(domain, "domain", error);
}

static enum status check(struct slice queue, struct slice domain, const struct limit *limit,
                         struct error *error)
{
    enum status status = check_names(queue, domain, error);
    if (!status && !limit->has_rate && !limit->has_concurrency && !limit->has_weight) {
        status = error_set(error, STATUS_INVALID,
                           "a limit must say something of rate, concurrency "
                           "or weight");
    }
    if (!status && limit->has_rate) {
        status = check_rate(limit, error);
    }
    if (!status && limit->has_concurrency && limit->concurrency < 0) {
        status = error_set(error, STATUS_INVALID, "concurrency must not be negative");
    }
    if (!status && limit->has_weight && (limit->weight < 1 || limit->weight > WEIGHT_MAX)) {
        status = error_set(error, STATUS_INVALID, "weight must lie between 1 and %d", WEIGHT_MAX);
    }
    return status;
}

bool limit_is_valid(const struct limit *limit)
{
    return check(SLICE_EMPTY, SLICE_EMPTY, limit, NULL) == STATUS_OK;
}

// Members without effect are set to 0.
static struct limit normal(const struct limit *limit)
{
    struct limit out = { .has_rate = limit->has_rate,
                         .has_concurrency = limit->has_concurrency,
                         .has_weight = limit->has_weight };
    if (limit->has_rate && limit->rate_count) {
        out.rate_count = limit->rate_count;
        out.rate_period_us = limit->rate_period_us;
        out.burst = limit->burst ? limit->burst : 1;
    }
    out.concurrency = limit->has_concurrency ? limit->concurrency : 0;
    out.weight = limit->has_weight ? limit->weight : 0;
    return out;
}

static void changed(struct engine *engine, struct limit_entry *entry)
{
    ENGINE_NOTE_CHANGE(engine, dirty_limits, entry);
}

static struct limit_entry *entry_new(struct engine *engine, struct slice queue, struct slice key)
{
    if (map_reserve(&engine->limits, key) || index_reserve(&engine->limit_order, 1)) {
        return NULL;
    }
    struct limit_entry *entry = mem_zalloc(engine->allocator, sizeof(*entry) + key.size);
    if (!entry) {
        return NULL;
    }
    entry->queue_size = (uint8_t)queue.size;
    entry->key_size = (uint16_t)key.size;
    memcpy(entry->key, key.data, key.size);
    // A name is never too long for a pattern.
    if (is_pattern(limit_domain(entry)) &&
        glob_new(engine->allocator, limit_domain(entry), GLOB_STARS_ONLY, &entry->pattern, NULL)) {
        limit_free_shell(engine, entry);
        return NULL;
    }
    return entry;
}

enum status limit_put(struct engine *engine, struct slice queue, struct slice domain,
                      const struct limit *limit, uint64_t id, struct error *error)
{
    enum status status = check(queue, domain, limit, error);
    if (!status) {
        status = name_check_new_if_given(engine, queue, "queue", error);
    }
    if (!status) {
        status = name_check_new_if_given(engine, domain, "domain", error);
    }
    if (status) {
        return status;
    }
    char text[KEY_SIZE_MAX];
    struct slice key = make_key(queue, domain, text);
    struct limit_entry *entry = map_find(&engine->limits, key);
    if (!entry) {
        entry = entry_new(engine, queue, key);
        if (!entry) {
            return engine_no_memory(error);
        }
        entry->id = id;
        entry->node.key = (struct index_key){ 0, id };
        index_insert(&engine->limit_order, &entry->node);
        map_add(&engine->limits, entry);
        if (entry->pattern) {
            patterns_add(engine, entry);
        }
    }
    entry->limit = normal(limit);
    changed(engine, entry);
    engine->limits_version++;
    return STATUS_OK;
}

void limit_free_shell(struct engine *engine, struct limit_entry *entry)
{
    if (entry->lanes) {
        entry->orphaned = true;
        return;
    }
    glob_free(engine->allocator, entry->pattern);
    mem_free(engine->allocator, entry, sizeof(*entry) + entry->key_size);
}

void limit_share(struct limit_entry *entry)
{
    entry->lanes++;
}

void limit_drop(struct engine *engine, struct limit_entry *entry)
{
    assert(entry->lanes > 0);
    if (--entry->lanes == 0 && entry->orphaned) {
        limit_free_shell(engine, entry);
    }
}

void limit_free(struct engine *engine, struct limit_entry *entry)
{
    assert(!entry->gone);
    map_remove(&engine->limits, limit_key(entry));
    index_remove(&engine->limit_order, &entry->node);
    if (entry->pattern) {
        patterns_remove(engine, entry);
    }
    ENGINE_NOTE_GONE(engine, dirty_limits, entry, limit_free_shell);
    engine->limits_version++;
}

// Each new lane is matched with each pattern.
static enum status check_pattern_count(const struct engine *engine, struct slice queue,
                                       struct slice domain, struct error *error)
{
    int64_t max = engine->config.max_limit_patterns;
    return !is_pattern(domain) || (int64_t)engine->pattern_count < max ||
                   find(engine, queue, domain)
               ? STATUS_OK
               : error_set(error, STATUS_TOO_LARGE,
                           "%zu limits have patterns of domains; max-limit-patterns allows %lld",
                           engine->pattern_count, (long long)max);
}

static void announce(const struct engine *engine, enum event_kind kind, struct slice queue,
                     struct slice domain, int64_t now_us)
{
    if (engine_wanted(engine, EVENT_TO_WATCHER)) {
        engine_emit(engine, &(struct event){ .kind = kind,
                                             .channels = EVENT_TO_WATCHER,
                                             .when_us = now_us,
                                             .queue = queue,
                                             .domain = domain });
    }
}

enum status engine_limit_set(struct engine *engine, int64_t now_us, struct slice queue,
                             struct slice domain, const struct limit *limit, struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = check_names(queue, domain, error);
    }
    if (!status) {
        status = check_pattern_count(engine, queue, domain, error);
    }
    if (!status) {
        status = limit_put(engine, queue, domain, limit, engine->sequence + 1, error);
    }
    if (!status) {
        engine->sequence++;
        lanes_refresh(engine, LANES_AT_ONCE);
        announce(engine, EVENT_LIMIT_SET, queue, domain, now_us);
    }
    engine_settle(engine);
    return status;
}

enum status engine_limit_unset(struct engine *engine, int64_t now_us, struct slice queue,
                               struct slice domain, struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = check_names(queue, domain, error);
    }
    struct limit_entry *entry = status ? NULL : find(engine, queue, domain);
    if (entry) {
        limit_free(engine, entry);
        lanes_refresh(engine, LANES_AT_ONCE);
        announce(engine, EVENT_LIMIT_UNSET, queue, domain, now_us);
    }
    return status;
}

bool engine_limit_is_set(const struct engine *engine, struct slice queue, struct slice domain)
{
    return queue.size <= ENGINE_NAME_SIZE_MAX && domain.size <= ENGINE_NAME_SIZE_MAX &&
           find(engine, queue, domain) != NULL;
}

static struct limit_view view_limit(struct index_node *node)
{
    const struct limit_entry *entry = limit_of_node(node);
    return (struct limit_view){ .queue = limit_queue(entry),
                                .domain = limit_domain(entry),
                                .limit = entry->limit,
                                .use = entry->use,
                                .place = node->key };
}

bool engine_limit_at(const struct engine *engine, size_t index, struct limit_view *view)
{
    struct index_node *node = index_at(&engine->limit_order, index);
    if (node) {
        *view = view_limit(node);
    }
    return node != NULL;
}

enum status engine_limits(struct engine *engine, int64_t now_us, struct limit_page *page,
                          struct error *error)
{
    enum status status = engine_begin(engine, &now_us, error);
    if (status) {
        return status;
    }
    const struct index *index = &engine->limit_order;
    page->total = index->count;
    page->found = 0;
    size_t from = page->has_after ? index_rank(index, page_key_after(page->after)) : 0;
    struct index_cursor cursor = index_cursor_at(index, from);
    struct index_node *node;
    while (page->found < page->count && (node = index_cursor_next(&cursor))) {
        page->rows[page->found++] = view_limit(node);
    }
    page->more = page->found && from + page->found < page->total;
    return STATUS_OK;
}

enum status engine_lane(const struct engine *engine, int64_t now_us, struct slice name,
                        struct slice domain, struct lane_view *view, struct error *error)
{
    enum status status = name_check(name, "queue", error);
    if (!status) {
        status = name_check_if_given(domain, "domain", error);
    }
    if (status) {
        return status;
    }
    *view = (struct lane_view){ .ready_us = now_us };
    limits_find(engine, name, domain, &view->limit, NULL);
    struct queue *queue = queue_find(engine, name);
    uint32_t id = domain.size ? intern_find(&engine->names, domain) : INTERN_NONE;
    const struct lane *lane =
        queue && (!domain.size || id != INTERN_NONE) ? lane_find(engine, queue, id) : NULL;
    if (lane) {
        view->waiting = lane->line.count;
        view->running = lane->running;
        view->ready_us = lane_room(lane) ? lane_ready_us(engine, lane, now_us, 0) : INT64_MAX;
    }
    return STATUS_OK;
}
