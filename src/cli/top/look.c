// SPDX-License-Identifier: MIT
#include "cli/top/look.h"

#include "cli/core/cli.h"
#include "cli/core/moment.h"
#include "cli/top/detail.h"

#include <stdalign.h>
#include <stdarg.h>
#include <string.h>

enum {
    CHUNK_SIZE = 16 << 10,
    RUNNING_QUEUES_MAX = 24, // so many queues are asked for the jobs that run in them
    GROUPS_MAX = 1000,       // the largest page that there is
    PAGE_SLACK = 16,         // rows beyond those in sight, for who scrolls on
    FILTER_ROWS = 200,       // rows to look through for those that match
    ROWS_AT_FIRST = 25,      // before it is known how many are in sight
};

// ---------------------------------------------------------------------------------------------
// Memory

struct look_chunk {
    struct look_chunk *next;
    size_t used, size;
    alignas(max_align_t) char bytes[];
};

void *look_allocate(struct look *look, size_t size)
{
    size = (size + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    struct look_chunk *chunk = look->chunks;
    if (!chunk || chunk->size - chunk->used < size) {
        size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;
        chunk = tool_allocate(sizeof(*chunk) + room);
        chunk->size = room;
        chunk->next = look->chunks;
        look->chunks = chunk;
    }
    void *memory = chunk->bytes + chunk->used;
    chunk->used += size;
    return memory;
}

const char *look_copy(struct look *look, const char *text)
{
    if (!text || !*text) {
        return "";
    }
    size_t size = strlen(text) + 1;
    return memcpy(look_allocate(look, size), text, size);
}

const char *look_format(struct look *look, const char *format, ...)
{
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    int size = vsnprintf(NULL, 0, format, values);
    va_end(values);
    char *text = look_allocate(look, (size_t)(size > 0 ? size : 0) + 1);
    (void)vsnprintf(text, (size_t)(size > 0 ? size : 0) + 1, format, again);
    va_end(again);
    return text;
}

void look_free(struct look *look)
{
    if (!look) {
        return;
    }
    while (look->chunks) {
        struct look_chunk *next = look->chunks->next;
        tool_free(look->chunks);
        look->chunks = next;
    }
    tool_free(look);
}

// ---------------------------------------------------------------------------------------------
// Filters

bool look_matches(const char *filter, const char *const *texts, size_t count)
{
    bool found = !*filter;
    for (size_t i = 0; i < count && !found; i++) {
        found = strcasestr(texts[i], filter);
    }
    return found;
}

bool look_queue_matches(const struct look_queue *queue, const char *filter)
{
    return look_matches(filter, &queue->name, 1);
}

bool look_group_matches(const struct look_group *group, const char *filter)
{
    return look_matches(filter, &group->name, 1);
}

bool look_has_jobs(const struct look *look, const struct look_wish *wish)
{
    return look->wish.list == wish->list && !strcmp(look->wish.name, wish->name);
}

bool look_has_lines(const struct look *look, const struct look_wish *wish)
{
    return look->wish.explain == wish->explain && !strcmp(look->wish.jid, wish->jid);
}

// ---------------------------------------------------------------------------------------------
// Asking

// One look being taken. After an error nothing more is asked.
struct asking {
    struct sluice *queue;
    const struct look_wish *wish;
    const atomic_bool *stop;
    struct look *look;
};

static struct sluice_value *ask_words(struct asking *asking, const char *const *words, size_t count)
{
    struct sluice_error *error = &asking->look->error;
    struct sluice_value *answer = NULL;
    if (!error->status && asking->stop && atomic_load(asking->stop)) {
        error->status = SLUICE_INTERRUPTED;
    }
    if (!error->status) {
        // A call that goes well need not leave the error alone.
        struct sluice_error why = { 0 };
        enum sluice_status status = sluice_call(asking->queue, words, NULL, count, &answer, &why);
        if (status) {
            *error = why;
            error->status = status;
            answer = NULL;
        }
    }
    return answer;
}

#define ASK(asking, ...)                                                                           \
    ask_words(asking, (const char *const[]){ __VA_ARGS__ },                                        \
              sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

static int64_t integer_of(const struct sluice_value *map, const char *key)
{
    return sluice_value_integer(sluice_value_get(map, key));
}

static double number_of(const struct sluice_value *map, const char *key)
{
    return sluice_value_number(sluice_value_get(map, key));
}

static const char *text_of(struct asking *asking, const struct sluice_value *map, const char *key)
{
    return look_copy(asking->look, sluice_value_text(sluice_value_get(map, key), NULL));
}

// A number as a word.
struct digits {
    char text[24];
};

static struct digits digits_of(size_t number)
{
    struct digits digits;
    (void)snprintf(digits.text, sizeof(digits.text), "%zu", number);
    return digits;
}

// How many rows of a list to ask for, so that all in sight are there.
static size_t rows_for(const struct asking *asking, struct look_window window)
{
    size_t count = (window.count ? window.count : ROWS_AT_FIRST) + window.first + PAGE_SLACK;
    if (*asking->wish->filter && count < FILTER_ROWS) {
        count = FILTER_ROWS;
    }
    return count < GROUPS_MAX ? count : GROUPS_MAX;
}

static bool in_sight(struct look_window window, size_t row)
{
    return row >= window.first &&
           row - window.first < (window.count ? window.count : ROWS_AT_FIRST);
}

// ---------------------------------------------------------------------------------------------
// The server

// The value of a line "name:value" of INFO; it ends with the line.
static const char *info_line(const char *info, const char *name, size_t *size)
{
    const char *at = info ? strstr(info, name) : NULL;
    if (!at) {
        return NULL;
    }
    at += strlen(name);
    *size = strcspn(at, "\r\n");
    return at;
}

// A queue in this process has no server that could be asked; a user may lack the right to.
static void look_server(struct asking *asking)
{
    struct look *look = asking->look;
    double before = moment_now();
    struct sluice_value *answer = ASK(asking, "INFO", "server");
    look->when = moment_now();
    switch (look->error.status) {
    case SLUICE_OK:
        break;
    case SLUICE_UNREACHABLE:
    case SLUICE_UNKNOWN:
    case SLUICE_TIMED_OUT:
    case SLUICE_INTERRUPTED:
        return;
    default:
        look->error = (struct sluice_error){ 0 };
    }
    const char *info = sluice_value_text(answer, NULL);
    size_t size;
    const char *version = info_line(info, "sluice_version:", &size);
    look->server = version ? look_format(look, "sluiced %.*s", (int)size, version)
                           : look_format(look, "libsluice %s", sluice_version());
    const char *clock = info_line(info, "server_time_usec:", &size);
    if (clock) {
        look->ahead = strtod(clock, NULL) / 1e6 - (before + look->when) / 2;
    }
    sluice_value_free(answer);
}

// ---------------------------------------------------------------------------------------------
// Queues

// Over the last minute: a rate of the last second would mostly be 0 where little happens.
static void read_rates(const struct sluice_value *rates, double *in, double *out)
{
    *in = number_of(rates, "put");
    *out = number_of(rates, "popped");
}

const char *look_sort_word(enum look_sort sort)
{
    static const char *const words[SORT_COUNT] = {
        "seen", "name", "waiting", "running", "stalled", "failed", "age", "put", "completed",
    };
    return words[sort];
}

static void read_queue(struct asking *asking, const struct sluice_value *map,
                       struct look_queue *queue)
{
    *queue = (struct look_queue){
        .name = text_of(asking, map, "queue"),
        .waiting = integer_of(map, "waiting"),
        .running = integer_of(map, "running"),
        .scheduled = integer_of(map, "scheduled"),
        .stalled = integer_of(map, "stalled"),
        .depends = integer_of(map, "depends"),
        .failed = integer_of(map, "failed"),
        .paused = sluice_value_boolean(sluice_value_get(map, "paused")),
        .seen = true,
    };
    read_rates(sluice_value_get(map, "rates"), &queue->in, &queue->out);
    struct look_totals *totals = &asking->look->totals;
    totals->waiting += queue->waiting;
    totals->running += queue->running;
    totals->scheduled += queue->scheduled;
    totals->stalled += queue->stalled;
    totals->depends += queue->depends;
}

static void look_queues(struct asking *asking)
{
    struct look *look = asking->look;
    struct sluice_value *answer =
        ASK(asking, "Q.QUEUES", "SORT", look_sort_word(asking->wish->sort));
    const struct sluice_value *queues = sluice_value_get(answer, "queues");
    look->queue_count = sluice_value_count(queues);
    look->queues = look_allocate(look, look->queue_count * sizeof(*look->queues));
    size_t row = 0;
    for (size_t i = 0; i < look->queue_count; i++) {
        struct look_queue *queue = &look->queues[i];
        read_queue(asking, sluice_value_at(queues, i), queue);
        queue->in_sight = look_queue_matches(queue, asking->wish->filter) &&
                          in_sight(asking->wish->queues, row++);
    }
    sluice_value_free(answer);
}

static void look_totals(struct asking *asking)
{
    struct look_totals *totals = &asking->look->totals;
    struct sluice_value *all = ASK(asking, "Q.TOTALS");
    const struct sluice_value *jobs = sluice_value_get(all, "jobs");
    totals->failed = integer_of(jobs, "failed");
    totals->complete = integer_of(jobs, "complete");
    read_rates(sluice_value_get(all, "rates"), &totals->in, &totals->out);
    sluice_value_free(all);
}

// ---------------------------------------------------------------------------------------------
// Jobs

static void read_job(struct asking *asking, const struct sluice_value *map, struct look_job *job)
{
    const struct sluice_value *lease = sluice_value_get(map, "lease");
    const struct sluice_value *progress = sluice_value_get(map, "progress");
    const struct sluice_value *failure = sluice_value_get(map, "failure");
    bool made = sluice_value_type(progress) == SLUICE_MAP;
    *job = (struct look_job){
        .jid = text_of(asking, map, "jid"),
        .klass = text_of(asking, map, "klass"),
        .queue = text_of(asking, map, "queue"),
        .state = text_of(asking, map, "state"),
        .stage = text_of(asking, map, "stage"),
        .worker = text_of(asking, lease, "worker"),
        .message = text_of(asking, progress, "message"),
        .failure = text_of(asking, failure, "message"),
        .since = number_of(map, "moved"),
        .expires = number_of(lease, "expires"),
        .fraction = made ? number_of(progress, "fraction") : -1,
        .token = integer_of(lease, "token"),
    };
    if (!strcmp(job->state, "failed")) {
        job->since = number_of(failure, "when");
    }
}

// Jobs from several answers.
struct job_list {
    struct look_job *jobs;
    size_t count, count_max, total;
};

static struct job_list list_of(struct asking *asking, struct look_window window)
{
    struct job_list list = { .count_max = rows_for(asking, window) };
    list.jobs = look_allocate(asking->look, list.count_max * sizeof(*list.jobs));
    return list;
}

// Takes a page as Q.JOBS answers it.
static void add_page(struct asking *asking, const struct sluice_value *page, struct job_list *list)
{
    const struct sluice_value *jobs = sluice_value_get(page, "jobs");
    for (size_t i = 0; i < sluice_value_count(jobs) && list->count < list->count_max; i++) {
        read_job(asking, sluice_value_at(jobs, i), &list->jobs[list->count++]);
    }
    list->total += (size_t)integer_of(page, "total");
}

static void add_jobs(struct asking *asking, const char *state, const char *queue,
                     struct job_list *list)
{
    struct digits count = digits_of(list->count_max - list->count);
    struct sluice_value *page = ASK(asking, "Q.JOBS", state, queue, "COUNT", count.text);
    add_page(asking, page, list);
    sluice_value_free(page);
}

static int by_since(const void *left, const void *right)
{
    const struct look_job *a = left, *b = right;
    if (a->since < b->since || a->since > b->since) {
        return a->since < b->since ? -1 : 1;
    }
    return strcmp(a->jid, b->jid);
}

// Those of the queues that are in sight come first; with thousands of queues not all are asked.
static void look_running(struct asking *asking)
{
    struct look *look = asking->look;
    struct job_list list = list_of(asking, asking->wish->running);
    size_t asked = 0;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < look->queue_count && asked < RUNNING_QUEUES_MAX; i++) {
            const struct look_queue *queue = &look->queues[i];
            if (queue->in_sight != (round == 0) || list.count == list.count_max) {
                continue;
            }
            if (queue->running) {
                add_jobs(asking, "running", queue->name, &list);
            }
            asked += queue->running > 0;
        }
    }
    if (list.count) {
        qsort(list.jobs, list.count, sizeof(*list.jobs), by_since);
    }
    look->running = list.jobs;
    look->running_count = list.count;
}

static void list_worker(struct asking *asking, struct job_list *list)
{
    struct digits count = digits_of(list->count_max);
    struct sluice_value *answer = ASK(asking, "Q.WORKER", asking->wish->name, "COUNT", count.text);
    add_page(asking, sluice_value_get(answer, "running"), list);
    sluice_value_free(answer);
}

static void list_group(struct asking *asking, struct job_list *list)
{
    struct digits count = digits_of(list->count_max);
    struct sluice_value *answer = ASK(asking, "Q.FAILED", asking->wish->name, "COUNT", count.text);
    add_page(asking, answer, list);
    sluice_value_free(answer);
}

static void list_queue(struct asking *asking, struct job_list *list)
{
    static const char *const states[] = { "running", "stalled", "waiting", "scheduled", "depends" };
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        add_jobs(asking, states[i], asking->wish->name, list);
    }
}

static void look_list(struct asking *asking)
{
    static void (*const lists[])(struct asking *, struct job_list *) = {
        [LIST_QUEUE] = list_queue,
        [LIST_GROUP] = list_group,
        [LIST_WORKER] = list_worker,
    };
    if (asking->wish->list != LIST_NONE) {
        struct job_list list = list_of(asking, asking->wish->jobs);
        lists[asking->wish->list](asking, &list);
        asking->look->jobs = list.jobs;
        asking->look->job_count = list.count;
        asking->look->job_total = list.total;
    }
}

static void look_job(struct asking *asking)
{
    const char *jid = asking->wish->jid;
    if (!*jid) {
        return;
    }
    struct detail detail = { .look = asking->look, .now = moment_now() + asking->look->ahead };
    struct sluice_value *jobs = ASK(asking, "Q.GET", jid);
    if (sluice_value_type(sluice_value_at(jobs, 0)) == SLUICE_MAP) {
        struct sluice_value *why = ASK(asking, "Q.EXPLAIN", jid);
        detail_explain(&detail, why, asking->wish->explain);
        if (!asking->wish->explain) {
            struct sluice_value *logged = ASK(asking, "Q.LOGS", jid);
            detail_map(&detail, sluice_value_at(jobs, 0));
            detail_log(&detail, logged);
            sluice_value_free(logged);
        }
        sluice_value_free(why);
    } else {
        detail_add(&detail, "", "There is no such job any more.");
    }
    sluice_value_free(jobs);
    // It may have gone between the questions.
    if (asking->look->error.status == SLUICE_NOT_FOUND) {
        asking->look->error = (struct sluice_error){ 0 };
    }
    asking->look->lines = detail.items;
    asking->look->line_count = detail.count;
}

// ---------------------------------------------------------------------------------------------
// Failures and workers

static int by_count(const void *left, const void *right)
{
    const struct look_group *a = left, *b = right;
    if (a->count != b->count) {
        return a->count > b->count ? -1 : 1;
    }
    return strcmp(a->name, b->name);
}

static void look_newest(struct asking *asking, struct look_group *group)
{
    struct sluice_value *page = ASK(asking, "Q.FAILED", group->name, "COUNT", "1");
    struct look_job job;
    read_job(asking, sluice_value_at(sluice_value_get(page, "jobs"), 0), &job);
    group->jid = job.jid;
    group->message = job.failure;
    group->when = job.since;
    group->seen = !asking->look->error.status;
    sluice_value_free(page);
}

static void look_groups(struct asking *asking)
{
    struct look *look = asking->look;
    struct digits count = digits_of(GROUPS_MAX);
    struct sluice_value *answer = ASK(asking, "Q.FAILURES", "COUNT", count.text);
    const struct sluice_value *groups = sluice_value_get(answer, "failures");
    look->group_count = sluice_value_count(groups);
    look->groups = look_allocate(look, look->group_count * sizeof(*look->groups));
    for (size_t i = 0; i < look->group_count; i++) {
        const struct sluice_value *map = sluice_value_at(groups, i);
        look->groups[i] = (struct look_group){
            .name = text_of(asking, map, "group"),
            .count = integer_of(map, "count"),
            .jid = "",
            .message = "",
        };
    }
    sluice_value_free(answer);
    if (look->group_count) {
        qsort(look->groups, look->group_count, sizeof(*look->groups), by_count);
    }
    size_t row = 0;
    for (size_t i = 0; i < look->group_count; i++) {
        if (look_group_matches(&look->groups[i], asking->wish->filter) &&
            in_sight(asking->wish->groups, row++)) {
            look_newest(asking, &look->groups[i]);
        }
    }
}

static void look_workers(struct asking *asking)
{
    struct look *look = asking->look;
    struct digits count = digits_of(rows_for(asking, asking->wish->workers));
    struct sluice_value *answer = ASK(asking, "Q.WORKERS", "COUNT", count.text);
    const struct sluice_value *workers = sluice_value_get(answer, "workers");
    look->worker_total = (size_t)integer_of(answer, "total");
    look->worker_count = sluice_value_count(workers);
    look->workers = look_allocate(look, look->worker_count * sizeof(*look->workers));
    for (size_t i = 0; i < look->worker_count; i++) {
        const struct sluice_value *map = sluice_value_at(workers, i);
        look->workers[i] = (struct look_worker){
            .name = text_of(asking, map, "worker"),
            .running = integer_of(map, "running"),
            .expired = integer_of(map, "expired"),
            .seen = number_of(map, "seen"),
            .offline = sluice_value_boolean(sluice_value_get(map, "offline")),
        };
    }
    sluice_value_free(answer);
}

struct look *look_take(struct sluice *queue, const struct look_wish *wish, const atomic_bool *stop)
{
    struct look *look = tool_allocate(sizeof(*look));
    struct asking asking = { .queue = queue, .wish = wish, .stop = stop, .look = look };
    look->wish = *wish;
    look->server = "";
    look_server(&asking);
    look_queues(&asking);
    look_totals(&asking);
    look_running(&asking);
    look_groups(&asking);
    look_workers(&asking);
    look_list(&asking);
    look_job(&asking);
    return look;
}
