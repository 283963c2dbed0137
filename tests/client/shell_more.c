// SPDX-License-Identifier: MIT
// More calls of libsluice, one function each: for many, lists, and those that do not block.
#include "shell.h"

#include <sluice/async.h>
#include <sluice/list.h>
#include <sluice/serve.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MANY_MAX = 20000,
    TEXTS_MAX = 64,
};

static json_t *json_of(const struct sluice_value *value)
{
    char *text = sluice_value_json(value);
    json_t *json = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    if (!json) {
        (void)fprintf(stderr, "shell: this is no JSON: %s\n", text ? text : "(no memory)");
        exit(2);
    }
    sluice_free(text);
    return json;
}

static void answer(struct request *request, const char *key, json_t *value)
{
    json_object_set_new(request->answer, key, value);
}

static const char *member(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

// ---------------------------------------------------------------------------------------------
// Many

// ["put_numbered", queue, count, bad, quiet]: jobs n-0, n-1, ..., of which each `bad`th has data
// that is no JSON; how many ended with each status, and whether each was told its own jid.
static enum sluice_status put_numbered(struct request *request)
{
    size_t count = (size_t)json_integer_value(word(request, 1));
    size_t bad = (size_t)json_integer_value(word(request, 2));
    bool quiet = json_is_true(word(request, 3)), own = true;
    size_t tally[SLUICE_STATUS_COUNT] = { 0 };
    char(*jids)[32] = calloc(count, sizeof(*jids));
    struct sluice_put_options *puts = calloc(count, sizeof(*puts));
    struct sluice_result *results = quiet ? NULL : calloc(count, sizeof(*results));
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(jids[i], sizeof(jids[i]), "n-%zu", i);
        puts[i] = SLUICE_PUT(.queue = "q", .klass = "k", .jid = jids[i],
                             .data = i % bad == bad - 1 ? "no JSON" : "{}");
    }
    enum sluice_status status =
        sluice_put_many(find_thing(word_text(request, 0)), puts, count, results, &request->error);
    for (size_t i = 0; results && i < count; i++) {
        tally[results[i].status]++;
        own = own && strcmp(results[i].jid, jids[i]) == 0;
    }
    json_t *all = json_object();
    for (int i = 0; i < SLUICE_STATUS_COUNT; i++) {
        if (tally[i]) {
            json_object_set_new(all, sluice_status_name((enum sluice_status)i),
                                json_integer((json_int_t)tally[i]));
        }
    }
    json_object_set_new(request->answer, "tally", all);
    json_object_set_new(request->answer, "own", json_boolean(own));
    free(jids);
    free(puts);
    free(results);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Many

static struct sluice_settle_options settle_of(const json_t *given)
{
    static const char *const verdicts[] = { "done", "fail", "retry", "return" };
    struct sluice_settle_options options =
        SLUICE_SETTLE(.result = member(given, "result"), .group = member(given, "group"),
                      .message = member(given, "message"), .delay = number(given, "delay"));
    const char *verdict = member(given, "verdict");
    options.verdict = (enum sluice_verdict)9; // which there is not
    for (int i = 0; i < 4; i++) {
        if (strcmp(verdict, verdicts[i]) == 0) {
            options.verdict = (enum sluice_verdict)i;
        }
    }
    if (json_is_true(json_object_get(given, "now"))) {
        options.delay = (double)SLUICE_ZERO;
    }
    return options;
}

struct many {
    size_t count;
    struct sluice_job **jobs;
    struct sluice_settle_options *options; // NULL: for heartbeats
    struct sluice_result *results;
};

static struct many many_new(const json_t *names, const json_t *given)
{
    struct many many = { .count = json_array_size(names) };
    many.jobs = calloc(many.count + 1, sizeof(struct sluice_job *));
    many.options = given ? calloc(many.count + 1, sizeof(*many.options)) : NULL;
    many.results = calloc(many.count + 1, sizeof(*many.results));
    for (size_t i = 0; i < many.count; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        many.jobs[i] = name ? find_thing(name) : NULL;
        if (given) {
            many.options[i] = settle_of(json_array_get(given, i));
        }
    }
    return many;
}

static void many_free(struct many *many)
{
    free(many->jobs);
    free(many->options);
    free(many->results);
}

static json_t *results_of(const struct sluice_result *results, size_t count)
{
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(all, json_pack("[s, s, s]", sluice_status_name(results[i].status),
                                             results[i].jid, results[i].message));
    }
    return all;
}

// ["settle", job, {"verdict": ..., ...}]
static enum sluice_status settle(struct request *request)
{
    const struct sluice_settle_options options = settle_of(word(request, 1));
    return sluice_settle(find_thing(word_text(request, 0)), &options, &request->error);
}

// ["settle_many", [job, ...], [{"verdict": ..., ...}, ...], quiet]
static enum sluice_status settle_many(struct request *request)
{
    struct many many = many_new(word(request, 0), word(request, 1));
    bool quiet = json_is_true(word(request, 2));
    enum sluice_status status = sluice_settle_many(many.jobs, many.options, many.count,
                                                   quiet ? NULL : many.results, &request->error);
    answer(request, "results", results_of(many.results, many.count));
    many_free(&many);
    return status;
}

static enum sluice_status heartbeat_many(struct request *request)
{
    struct many many = many_new(word(request, 0), NULL);
    enum sluice_status status =
        sluice_heartbeat_many(many.jobs, many.count, many.results, &request->error);
    answer(request, "results", results_of(many.results, many.count));
    many_free(&many);
    return status;
}

static enum sluice_status about(struct request *request)
{
    const struct sluice_job *job = find_thing(word_text(request, 0));
    const char *tag;
    json_t *tags = json_array();
    for (size_t i = 0; (tag = sluice_job_tag(job, i)); i++) {
        json_array_append_new(tags, json_string(tag));
    }
    answer(request, "attempts", json_integer(sluice_job_attempts(job)));
    answer(request, "priority", json_integer(sluice_job_priority(job)));
    answer(request, "remaining", json_integer(sluice_job_remaining(job)));
    answer(request, "domain", text_or_null(sluice_job_domain(job)));
    answer(request, "tags", tags);
    return SLUICE_OK;
}

static enum sluice_status history(struct request *request)
{
    struct sluice_value *value;
    enum sluice_status status = sluice_history(find_thing(word_text(request, 0)),
                                               word_text(request, 1), &value, &request->error);
    answer(request, "value", json_of(value));
    sluice_value_free(value);
    return status;
}

static void answer_finish(struct request *request, const struct sluice_value *value)
{
    const struct sluice_finish finish = sluice_finish_of(value);
    answer(request, "state", text_or_null(finish.state));
    answer(request, "result", text_or_null(finish.result));
    answer(request, "group", text_or_null(finish.group));
    answer(request, "why", text_or_null(finish.message));
}

static enum sluice_status finish(struct request *request)
{
    struct sluice_value *value;
    enum sluice_status status =
        sluice_wait(find_thing(word_text(request, 0)), word_text(request, 1),
                    word_number(request, 2), &value, &request->error);
    answer_finish(request, value);
    sluice_value_free(value);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Lists

static enum sluice_listed listed_of(const char *name)
{
    static const char *const names[] = { "jobs", "queues", "failures", "workers", "recurring" };
    for (int i = 0; i < 5; i++) {
        if (strcmp(name, names[i]) == 0) {
            return (enum sluice_listed)i;
        }
    }
    return (enum sluice_listed)9; // which there is not
}

// ["list_open", queue, "jobs", {"state": ..., ...}, name]
static enum sluice_status open_list(struct request *request)
{
    const json_t *given = word(request, 2);
    const struct sluice_list_open_options options =
        SLUICE_LIST_OPEN(.state = member(given, "state"), .queue = member(given, "queue"),
                         .klass = member(given, "klass"), .worker = member(given, "worker"),
                         .tag = member(given, "tag"), .domain = member(given, "domain"),
                         .group = member(given, "group"), .sort = member(given, "sort"),
                         .jids = json_is_true(json_object_get(given, "jids")),
                         .data_max = (int64_t)number(given, "data_max"),
                         .page = (int64_t)number(given, "page"));
    struct sluice_list *list;
    enum sluice_status status =
        sluice_list_open(find_thing(word_text(request, 0)), listed_of(word_text(request, 1)),
                         json_is_object(given) ? &options : NULL, &list, &request->error);
    if (!status) {
        keep_thing(word_text(request, 3), list);
    }
    return status;
}

// ["list_next", list, how many]: "items", and "end" when there are no more.
static enum sluice_status next_items(struct request *request)
{
    struct sluice_list *list = find_thing(word_text(request, 0));
    json_t *items = json_array();
    const struct sluice_value *item = NULL;
    enum sluice_status status = SLUICE_OK;
    bool end = false;
    for (long i = (long)word_number(request, 1); i > 0 && !status && !end; i--) {
        status = sluice_list_next(list, &item, &request->error);
        end = !status && !item;
        if (item) {
            json_array_append_new(items, json_of(item));
        }
    }
    answer(request, "items", items);
    answer(request, "end", json_boolean(end));
    return status;
}

static enum sluice_status close_list(struct request *request)
{
    sluice_list_free(find_thing(word_text(request, 0)));
    forget_thing(word_text(request, 0));
    return SLUICE_OK;
}

// ---------------------------------------------------------------------------------------------
// Events

static enum sluice_status next_value(struct request *request)
{
    const struct sluice_value *value;
    enum sluice_status status = sluice_events_next_value(
        find_thing(word_text(request, 0)), word_number(request, 1), &value, &request->error);
    answer(request, "value", json_of(value));
    return status;
}

static void answer_readable(struct request *request, int fd, double wait)
{
    struct pollfd of = { .fd = fd, .events = POLLIN };
    int count = poll(&of, 1, (int)(wait * 1000));
    answer(request, "readable", json_boolean(count > 0 && (of.revents & POLLIN)));
}

// ["poll_events", events, seconds]
static enum sluice_status poll_events(struct request *request)
{
    int fd;
    enum sluice_status status =
        sluice_events_fd(find_thing(word_text(request, 0)), &fd, &request->error);
    if (!status) {
        answer_readable(request, fd, word_number(request, 1));
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Calls that do not block

// A handle with what its call borrows.
struct pending {
    struct sluice_async *async;
    json_t *words; // of the request
    const char *texts[TEXTS_MAX];
    struct sluice_take_options take;
    struct sluice_put_options put;
    struct sluice_job *jobs[TEXTS_MAX];
    size_t taken;
    bool takes, settles;
    struct sluice_value *value;
    struct many many;
    struct sluice_result result;
};

static const char **texts(struct pending *pending, const json_t *list)
{
    size_t count = json_array_size(list);
    for (size_t i = 0; i < count && i + 1 < TEXTS_MAX; i++) {
        pending->texts[i] = json_string_value(json_array_get(list, i));
    }
    pending->texts[count] = NULL;
    return pending->texts;
}

static struct pending *begin(struct request *request)
{
    struct pending *pending = find_thing(word_text(request, 0));
    if (!pending->words) {
        pending->words = json_deep_copy(request->words);
    }
    return pending;
}

static const json_t *kept_word(const struct pending *pending, size_t index)
{
    return json_array_get(pending->words, index + 2);
}

static enum sluice_status begun(struct pending *pending, enum sluice_status status)
{
    if (status && status != SLUICE_BUSY) {
        json_decref(pending->words);
        pending->words = NULL;
    }
    return status;
}

static enum sluice_status async_new(struct request *request)
{
    struct pending *pending = calloc(1, sizeof(*pending));
    enum sluice_status status =
        sluice_async_new(find_thing(word_text(request, 0)), &pending->async, &request->error);
    if (status) {
        free(pending);
    } else {
        keep_thing(word_text(request, 1), pending);
    }
    return status;
}

// ["async_take", handle, [queue, ...], count, wait]
static enum sluice_status async_take(struct request *request)
{
    struct pending *pending = begin(request);
    pending->take = SLUICE_TAKE(.queues = texts(pending, kept_word(pending, 1)),
                                .wait = json_number_value(kept_word(pending, 3)));
    pending->takes = true;
    return begun(pending, sluice_async_take(pending->async, &pending->take, pending->jobs,
                                            (size_t)json_integer_value(kept_word(pending, 2)),
                                            &pending->taken, &request->error));
}

// ["async_wait", handle, jid, wait]
static enum sluice_status async_wait(struct request *request)
{
    struct pending *pending = begin(request);
    return begun(pending,
                 sluice_async_wait(pending->async, json_string_value(kept_word(pending, 1)),
                                   json_number_value(kept_word(pending, 2)), &pending->value,
                                   &request->error));
}

// ["async_put", handle, {"queue": ..., ...}]
static enum sluice_status async_put(struct request *request)
{
    struct pending *pending = begin(request);
    const json_t *given = kept_word(pending, 1);
    pending->put = SLUICE_PUT(.queue = member(given, "queue"), .klass = member(given, "klass"),
                              .data = member(given, "data"), .jid = member(given, "jid"));
    return begun(pending, sluice_async_put(pending->async, &pending->put, 1, &pending->result,
                                           &request->error));
}

// ["async_settle", handle, [job, ...], [{"verdict": ..., ...}, ...]]
static enum sluice_status async_settle(struct request *request)
{
    struct pending *pending = begin(request);
    pending->many = many_new(kept_word(pending, 1), kept_word(pending, 2));
    pending->settles = true;
    return begun(pending,
                 sluice_async_settle(pending->async, pending->many.jobs, pending->many.options,
                                     pending->many.count, pending->many.results, &request->error));
}

// ["async_call", handle, [word, ...]]
static enum sluice_status async_call(struct request *request)
{
    struct pending *pending = begin(request);
    const json_t *list = kept_word(pending, 1);
    return begun(pending,
                 sluice_async_call(pending->async, texts(pending, list), NULL,
                                   json_array_size(list), &pending->value, &request->error));
}

static enum sluice_status async_poll(struct request *request)
{
    const struct pending *pending = find_thing(word_text(request, 0));
    answer_readable(request, sluice_async_fd(pending->async), word_number(request, 1));
    return SLUICE_OK;
}

static void forget_call(struct pending *pending)
{
    if (pending->settles) {
        many_free(&pending->many);
    }
    json_decref(pending->words);
    sluice_value_free(pending->value);
    pending->words = NULL;
    pending->value = NULL;
    pending->takes = pending->settles = false;
    pending->taken = 0;
}

// ["async_finish", handle]: jobs are kept by their jids.
static enum sluice_status async_finish(struct request *request)
{
    struct pending *pending = find_thing(word_text(request, 0));
    enum sluice_status status = sluice_async_finish(pending->async, &request->error);
    if (status == SLUICE_BUSY && pending->words) {
        return status;
    }
    json_t *jids = json_array();
    for (size_t i = 0; pending->takes && !status && i < pending->taken; i++) {
        keep_thing(sluice_job_jid(pending->jobs[i]), pending->jobs[i]);
        json_array_append_new(jids, json_string(sluice_job_jid(pending->jobs[i])));
    }
    answer(request, "jobs", jids);
    answer(request, "value", json_of(pending->value));
    answer(request, "jid", json_string(pending->result.jid));
    if (pending->settles) {
        answer(request, "results", results_of(pending->many.results, pending->many.count));
    }
    forget_call(pending);
    return status;
}

static enum sluice_status async_cancel(struct request *request)
{
    sluice_async_cancel(((struct pending *)find_thing(word_text(request, 0)))->async);
    return SLUICE_OK;
}

static enum sluice_status async_free(struct request *request)
{
    struct pending *pending = find_thing(word_text(request, 0));
    sluice_async_free(pending->async);
    pending->value = NULL; // freed with it
    forget_call(pending);
    free(pending);
    forget_thing(word_text(request, 0));
    return SLUICE_OK;
}

// ---------------------------------------------------------------------------------------------
// Serving

// ["serve", queue, "unix:PATH", name]
static enum sluice_status serve(struct request *request)
{
    struct sluice_server *server;
    enum sluice_status status = sluice_serve(find_thing(word_text(request, 0)),
                                             word_text(request, 1), &server, &request->error);
    if (!status) {
        keep_thing(word_text(request, 2), server);
    }
    return status;
}

static enum sluice_status end_serving(struct request *request)
{
    sluice_serve_end(find_thing(word_text(request, 0)));
    forget_thing(word_text(request, 0));
    return SLUICE_OK;
}

const struct call more_calls[] = {
    { "put_numbered", put_numbered },
    { "settle", settle },
    { "settle_many", settle_many },
    { "heartbeat_many", heartbeat_many },
    { "about", about },
    { "history", history },
    { "finish", finish },
    { "list_open", open_list },
    { "list_next", next_items },
    { "list_free", close_list },
    { "event_value", next_value },
    { "poll_events", poll_events },
    { "async_new", async_new },
    { "async_take", async_take },
    { "async_wait", async_wait },
    { "async_put", async_put },
    { "async_settle", async_settle },
    { "async_call", async_call },
    { "async_poll", async_poll },
    { "async_finish", async_finish },
    { "async_cancel", async_cancel },
    { "async_free", async_free },
    { "serve", serve },
    { "serve_end", end_serving },
    { NULL, NULL },
};
