// SPDX-License-Identifier: MIT
// Calls about workers and the configuration.
#include "base/num.h"
#include "engine/lease/workers.h"
#include "faces/qless/calls.h"
#include "faces/qless/cjson.h"
#include "faces/qless/list.h"

// ---------------------------------------------------------------------------------------------
// Configuration

// The values that qless returns for options that were not set. All except the name are numbers.
static const struct fallback {
    struct slice option;
    int64_t number;
    struct slice text;
    bool unified; // the split generation does not have it
} fallbacks[] = {
    { { "application", 11 }, 0, { "qless", 5 }, false },
    { { "heartbeat", 9 }, 60, { NULL, 0 }, false },
    { { "grace-period", 12 }, 10, { NULL, 0 }, true },
    { { "stats-history", 13 }, 30, { NULL, 0 }, false },
    { { "histogram-history", 17 }, 7, { NULL, 0 }, false },
    { { "jobs-history-count", 18 }, 50000, { NULL, 0 }, false },
    { { "jobs-history", 12 }, 604800, { NULL, 0 }, false },
};

enum {
    FALLBACK_COUNT = sizeof(fallbacks) / sizeof(fallbacks[0]),
};

static bool is_known(const struct qless_ask *ask, const struct fallback *fallback)
{
    return !ask->split || !fallback->unified;
}

static void print_option(struct qless_ask *ask, size_t *printed, struct slice option)
{
    if (++*printed > 1) {
        buffer_append_char(&ask->out, ',');
    }
    qless_cjson_string(&ask->out, option);
    buffer_append_char(&ask->out, ':');
}

static enum status print_config(struct qless_ask *ask)
{
    size_t printed = 0;
    struct slice option, value;
    buffer_append_char(&ask->out, '{');
    for (size_t i = 0; i < FALLBACK_COUNT; i++) {
        if (!is_known(ask, &fallbacks[i]) ||
            engine_config_is_set(ask->engine, fallbacks[i].option)) {
            continue;
        }
        print_option(ask, &printed, fallbacks[i].option);
        if (fallbacks[i].text.size) {
            qless_cjson_string(&ask->out, fallbacks[i].text);
        } else {
            qless_cjson_integer(&ask->out, fallbacks[i].number);
        }
    }
    for (size_t i = 0; engine_config_at(ask->engine, i, &option, &value); i++) {
        if (engine_config_is_set(ask->engine, option)) {
            print_option(ask, &printed, option);
            qless_cjson_string(&ask->out, value);
        }
    }
    buffer_append_char(&ask->out, '}');
    return qless_reply_out(ask);
}

enum status qless_config_get(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return print_config(ask);
    }
    struct slice option = ask->words.items[0];
    if (engine_config_is_set(ask->engine, option)) {
        reply_text(ask->reply, engine_config_get(ask->engine, option));
        return STATUS_OK;
    }
    for (size_t i = 0; i < FALLBACK_COUNT; i++) {
        if (!is_known(ask, &fallbacks[i]) || !slice_equal(fallbacks[i].option, option)) {
            continue;
        }
        if (fallbacks[i].text.size) {
            reply_text(ask->reply, fallbacks[i].text);
        } else {
            reply_integer(ask->reply, fallbacks[i].number);
        }
        return STATUS_OK;
    }
    reply_null(ask->reply);
    return STATUS_OK;
}

enum status qless_config_set(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, "config.set(): Arg \"option\" missing");
    }
    if (!qless_has(ask, 1)) {
        return qless_no(ask, "config.set(): Arg \"value\" missing");
    }
    struct error error;
    enum status status = engine_config_set(ask->engine, ask->now_us, ask->words.items[0],
                                           ask->words.items[1], &error);
    if (status) {
        return qless_engine_no(ask, "config.set", status, &error);
    }
    reply_null(ask->reply);
    return STATUS_OK;
}

enum status qless_config_unset(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, "config.unset(): Arg \"option\" missing");
    }
    struct error error;
    enum status status = engine_config_unset(ask->engine, ask->now_us, ask->words.items[0], &error);
    if (status) {
        return qless_engine_no(ask, "config.unset", status, &error);
    }
    reply_null(ask->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Workers

static enum status read_workers(struct qless_ask *ask, const struct qless_list *list, size_t offset,
                                size_t count, struct qless_entry *out)
{
    (void)list;
    for (size_t i = 0; i < count; i++) {
        struct worker_view view = { 0 };
        (void)engine_worker(ask->engine, ask->now_us, offset + i, &view);
        out[i] = (struct qless_entry){ .score = view.seen_us, .name = view.name };
    }
    return STATUS_OK;
}

static void fill_worker(struct qless_ask *ask, const struct qless_job_list *list, struct page *page)
{
    engine_worker_jobs(ask->engine, ask->now_us, list->name,
                       list->which ? LIST_EXPIRED : LIST_UNEXPIRED, page);
}

static void score_lease(struct qless_ask *ask, const struct qless_job_list *list,
                        const struct job *job, struct qless_entry *out)
{
    (void)list;
    struct job_view view;
    job_view(ask->engine, job, &view);
    out->score = view.expires_us;
}

// The jobs of a worker whose lease has expired, or has not.
static enum status list_jobs(struct qless_ask *ask, struct slice worker, bool stalled,
                             struct qless_entry **out, size_t *count)
{
    const struct qless_job_list jobs = {
        .fill = fill_worker, .score = score_lease, .name = worker, .which = stalled, .reverse = true
    };
    const struct qless_list list = qless_list_of_jobs(ask, &jobs);
    *count = list.total;
    return qless_list_read(ask, &list, (struct qless_range){ 0, list.total }, out);
}

static enum status print_jobs(struct qless_ask *ask, const char *key, struct slice worker,
                              bool stalled)
{
    struct qless_entry *entries;
    size_t count;
    enum status status = list_jobs(ask, worker, stalled, &entries, &count);
    if (!status) {
        qless_cjson_key(&ask->out, key);
        qless_print_names(&ask->out, entries, count);
    }
    return status;
}

static enum status print_worker(struct qless_ask *ask, struct slice worker)
{
    buffer_append_char(&ask->out, '{');
    enum status status = print_jobs(ask, "jobs", worker, false);
    if (!status) {
        status = print_jobs(ask, "stalled", worker, true);
    }
    buffer_append_char(&ask->out, '}');
    return status;
}

static size_t count_jobs(struct qless_ask *ask, struct slice worker, bool stalled)
{
    struct page page = { 0 };
    engine_worker_jobs(ask->engine, ask->now_us, worker, stalled ? LIST_EXPIRED : LIST_UNEXPIRED,
                       &page);
    return page.total;
}

// The minimum that is printed for a worker.
#define WORKER_LEAST "{\"name\":\"\",\"jobs\":0,\"stalled\":0}"

static enum status print_workers(struct qless_ask *ask)
{
    struct qless_list list = { .reverse = true, .read = read_workers };
    list.total = engine_worker_count(ask->engine, ask->now_us);
    struct qless_entry *entries;
    enum status status = qless_check_room(ask, list.total * (sizeof(WORKER_LEAST) - 1));
    if (!status) {
        status = qless_list_read(ask, &list, (struct qless_range){ 0, list.total }, &entries);
    }
    if (status) {
        return status;
    }
    struct buffer *out = &ask->out;
    struct qless_cjson_array array = qless_cjson_begin(out);
    for (size_t i = 0; i < list.total && !qless_is_full(ask); i++) {
        qless_cjson_next(&array);
        buffer_append_char(out, '{');
        qless_cjson_key(out, "name");
        qless_cjson_string(out, entries[i].name);
        qless_cjson_key(out, "jobs");
        qless_cjson_integer(out, (int64_t)count_jobs(ask, entries[i].name, false));
        qless_cjson_key(out, "stalled");
        qless_cjson_integer(out, (int64_t)count_jobs(ask, entries[i].name, true));
        buffer_append_char(out, '}');
    }
    qless_cjson_end(&array);
    return STATUS_OK;
}

enum status qless_workers(struct qless_ask *ask)
{
    struct error error;
    enum status status = engine_workers_prune(ask->engine, ask->now_us, &error);
    if (status) {
        return qless_engine_no(ask, "Workers", status, &error);
    }
    status = qless_has(ask, 0) ? print_worker(ask, ask->words.items[0]) : print_workers(ask);
    return status ? status : qless_reply_out(ask);
}

enum status qless_worker_deregister(struct qless_ask *ask)
{
    if (ask->words.count == 0) {
        return qless_no(ask, "Wrong number of args calling Redis command From Lua script");
    }
    struct error error;
    enum status status = engine_worker_deregister(ask->engine, ask->now_us, ask->words, &error);
    if (status) {
        return qless_engine_no(ask, "Deregister", status, &error);
    }
    reply_null(ask->reply);
    return STATUS_OK;
}
