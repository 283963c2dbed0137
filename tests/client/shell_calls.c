// SPDX-License-Identifier: MIT
// The calls of libsluice, one function each.
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIST_MAX = 1024,
};

static const char *texts_of(const json_t *list, const char **texts)
{
    size_t i = 0;
    for (; i < json_array_size(list); i++) {
        texts[i] = json_string_value(json_array_get(list, i));
    }
    texts[i] = NULL;
    return texts[0];
}

static void answer_value(struct request *request, const char *key, const struct sluice_value *value)
{
    char *text = sluice_value_json(value);
    json_error_t why;
    json_t *json = text ? json_loads(text, JSON_DECODE_ANY, &why) : NULL;
    if (!json) {
        (void)fprintf(stderr, "shell: this is no JSON: %s\n", text ? text : "(no memory)");
        exit(2);
    }
    json_object_set_new(request->answer, key, json);
    sluice_free(text);
}

static void answer_text(struct request *request, const char *key, const char *text)
{
    json_object_set_new(request->answer, key, text ? json_string(text) : json_null());
}

// ---------------------------------------------------------------------------------------------
// Queues

static void log_sentence(void *context, enum sluice_log_level level, const char *sentence)
{
    (void)context;
    (void)level;
    say(json_pack("{s:s, s:s}", "label", "log", "sentence", sentence));
}

static enum sluice_status open_queue(struct request *request)
{
    struct sluice *sluice;
    const json_t *given = word(request, 2);
    struct sluice_open_options options =
        SLUICE_OPEN(.ns = json_string_value(json_object_get(given, "ns")),
                    .worker = json_string_value(json_object_get(given, "worker")),
                    .timeout = json_number_value(json_object_get(given, "timeout")),
                    .durability = json_string_value(json_object_get(given, "durability")),
                    .ca_file = json_string_value(json_object_get(given, "ca_file")),
                    .cert_file = json_string_value(json_object_get(given, "cert_file")),
                    .key_file = json_string_value(json_object_get(given, "key_file")),
                    .password_file = json_string_value(json_object_get(given, "password_file")),
                    .log = log_sentence);
    enum sluice_status status =
        sluice_open(word_text(request, 1), given ? &options : NULL, &sluice, &request->error);
    if (!status) {
        keep_thing(word_text(request, 0), sluice);
        interrupt_on_signal(sluice);
        answer_text(request, "ns", sluice_namespace(sluice));
        answer_text(request, "worker", sluice_worker(sluice));
    }
    return status;
}

static enum sluice_status close_queue(struct request *request)
{
    interrupt_on_signal(NULL);
    sluice_close(find_thing(word_text(request, 0)));
    forget_thing(word_text(request, 0));
    return SLUICE_OK;
}

static enum sluice_status interrupt(struct request *request)
{
    sluice_interrupt(find_thing(word_text(request, 0)), json_is_true(word(request, 1)));
    return SLUICE_OK;
}

static enum sluice_status interrupt_all(struct request *request)
{
    sluice_interrupt_all(find_thing(word_text(request, 0)), json_is_true(word(request, 1)));
    return SLUICE_OK;
}

// ["within", seconds, call, ...]: the call, with a deadline of its thread.
static enum sluice_status within(struct request *request)
{
    json_t *words = json_array();
    for (size_t i = 1; i < json_array_size(request->words) - 2; i++) {
        if (i == 1) {
            json_array_append(words, json_array_get(request->words, 0));
        }
        json_array_append(words, json_array_get(request->words, i + 2));
    }
    struct request inner = { words, request->answer, request->error };
    double before = sluice_deadline(word_number(request, 0));
    enum sluice_status status = find_call(json_string_value(json_array_get(words, 1)))->run(&inner);
    double left = sluice_deadline(before);
    request->error = inner.error;
    json_object_set_new(request->answer, "left", json_real(left));
    json_object_set_new(request->answer, "before", json_real(before));
    json_decref(words);
    return status;
}

static enum sluice_status say_version(struct request *request)
{
    answer_text(request, "version", sluice_version());
    return SLUICE_OK;
}

// ---------------------------------------------------------------------------------------------
// Putting

struct put_lists {
    const char *tags[LIST_MAX], *depends[LIST_MAX];
};

static struct sluice_put_options put_of(const json_t *given, struct put_lists *lists)
{
#define TEXT(name)    .name = json_string_value(json_object_get(given, #name))
#define INTEGER(name) .name = json_integer_value(json_object_get(given, #name))
#define NUMBER(name)  .name = json_number_value(json_object_get(given, #name))
    struct sluice_put_options put =
        SLUICE_PUT(TEXT(queue), TEXT(klass), TEXT(data), TEXT(jid), INTEGER(priority),
                   NUMBER(delay), NUMBER(at), INTEGER(retries), TEXT(domain), NUMBER(deadline),
                   TEXT(backoff), NUMBER(timeout), NUMBER(result_ttl), INTEGER(max_crashes),
                   TEXT(unique), TEXT(on_dependency_failure), TEXT(unique_until),
                   NUMBER(unique_for), TEXT(on_conflict), NUMBER(lease));
#undef TEXT
#undef INTEGER
#undef NUMBER
    put.unique_contents = json_is_true(json_object_get(given, "unique_contents"));
    put.tags = texts_of(json_object_get(given, "tags"), lists->tags) ? lists->tags : NULL;
    put.depends =
        texts_of(json_object_get(given, "depends"), lists->depends) ? lists->depends : NULL;
    return put;
}

static enum sluice_status put_job(struct request *request)
{
    struct put_lists lists;
    char jid[SLUICE_NAME_SIZE] = "";
    const struct sluice_put_options put = put_of(word(request, 1), &lists);
    enum sluice_status status =
        sluice_put(find_thing(word_text(request, 0)), &put, jid, &request->error);
    answer_text(request, "jid", jid);
    return status;
}

static enum sluice_status put_jobs(struct request *request)
{
    const json_t *given = word(request, 1);
    size_t count = json_array_size(given);
    struct put_lists *lists = calloc(count + 1, sizeof(*lists));
    struct sluice_put_options *puts = calloc(count + 1, sizeof(*puts));
    struct sluice_result *results = calloc(count + 1, sizeof(*results));
    for (size_t i = 0; i < count; i++) {
        puts[i] = put_of(json_array_get(given, i), &lists[i]);
    }
    bool quiet = json_is_true(word(request, 2));
    enum sluice_status status = sluice_put_many(find_thing(word_text(request, 0)), puts, count,
                                                quiet ? NULL : results, &request->error);
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(all, json_pack("[s, s, s]", sluice_status_name(results[i].status),
                                             results[i].jid, results[i].message));
    }
    json_object_set_new(request->answer, "results", all);
    free(lists);
    free(puts);
    free(results);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Taking

static void keep_job(struct request *request, const char *name, struct sluice_job *job)
{
    keep_thing(name, job);
    json_t *jobs = json_object_get(request->answer, "jobs");
    if (!jobs) {
        jobs = json_array();
        json_object_set_new(request->answer, "jobs", jobs);
    }
    json_array_append_new(jobs, json_string(sluice_job_jid(job)));
}

static enum sluice_status next_job(struct request *request)
{
    struct sluice_job *job;
    enum sluice_status status =
        sluice_next(find_thing(word_text(request, 0)), word_text(request, 1),
                    word_number(request, 2), &job, &request->error);
    if (!status) {
        keep_job(request, word_text(request, 3), job);
    }
    return status;
}

// ["take", queue, {"queues": [...], "count": 3, ...}, "name-"]: jobs name-0, name-1, ...
static enum sluice_status take_jobs(struct request *request)
{
    const char *queues[LIST_MAX];
    const json_t *given = word(request, 1);
    size_t count = (size_t)json_integer_value(json_object_get(given, "count")), taken = 99;
    struct sluice_job **jobs = calloc(count + 1, sizeof(struct sluice_job *));
    (void)texts_of(json_object_get(given, "queues"), queues);
    const struct sluice_take_options take =
        SLUICE_TAKE(.queues = queues, .wait = json_number_value(json_object_get(given, "wait")),
                    .round_robin = json_is_true(json_object_get(given, "round_robin")),
                    .best = json_is_true(json_object_get(given, "best")),
                    .worker = json_string_value(json_object_get(given, "worker")),
                    .lease = json_number_value(json_object_get(given, "lease")));
    enum sluice_status status =
        sluice_take(find_thing(word_text(request, 0)), &take, jobs, count, &taken, &request->error);
    for (size_t i = 0; i < taken; i++) {
        char name[100];
        (void)snprintf(name, sizeof(name), "%s%zu", word_text(request, 2), i);
        keep_job(request, name, jobs[i]);
    }
    json_object_set_new(request->answer, "taken", json_integer((json_int_t)taken));
    free(jobs);
    return status;
}

static enum sluice_status show_job(struct request *request)
{
    static const char *const losses[] = { "kept", "lost", "canceled" };
    const struct sluice_job *job = find_thing(word_text(request, 0));
    answer_text(request, "jid", sluice_job_jid(job));
    answer_text(request, "klass", sluice_job_klass(job));
    answer_text(request, "queue", sluice_job_queue(job));
    answer_text(request, "data", sluice_job_data(job));
    answer_text(request, "checkpoint", sluice_job_checkpoint(job));
    answer_text(request, "worker", sluice_job_worker(job));
    json_object_set_new(request->answer, "token", json_integer(sluice_job_token(job)));
    json_object_set_new(request->answer, "expires", json_real(sluice_job_expires(job)));
    answer_text(request, "lost", losses[sluice_job_lost(job)]);
    answer_value(request, "value", sluice_job_value(job));
    return SLUICE_OK;
}

static enum sluice_status free_job(struct request *request)
{
    struct sluice_job *job = find_thing(word_text(request, 0));
    forget_thing(word_text(request, 0));
    sluice_job_free(job);
    return SLUICE_OK;
}

static enum sluice_status attach(struct request *request)
{
    struct sluice_job *job;
    enum sluice_status status = sluice_job_attach(
        find_thing(word_text(request, 0)), word_text(request, 1), word_text(request, 2),
        json_integer_value(word(request, 3)), &job, &request->error);
    if (!status) {
        keep_thing(word_text(request, 4), job);
    }
    return status;
}

// ["take_job", queue, jid, {"worker": ..., "lease": ...} or null, name]
static enum sluice_status take_job(struct request *request)
{
    const json_t *given = word(request, 2);
    const struct sluice_take_options take =
        SLUICE_TAKE(.worker = json_string_value(json_object_get(given, "worker")),
                    .lease = json_number_value(json_object_get(given, "lease")));
    struct sluice_job *job;
    enum sluice_status status =
        sluice_take_job(find_thing(word_text(request, 0)), word_text(request, 1),
                        json_is_object(given) ? &take : NULL, &job, &request->error);
    if (!status) {
        keep_thing(word_text(request, 3), job);
    }
    return status;
}

static enum sluice_status heartbeat(struct request *request)
{
    double expires = 0;
    enum sluice_status status =
        sluice_heartbeat(find_thing(word_text(request, 0)), &expires, &request->error);
    json_object_set_new(request->answer, "expires", json_real(expires));
    return status;
}

static void tell_loss(void *context, struct sluice_job *job, enum sluice_loss why)
{
    (void)context;
    say(json_pack("{s:s, s:s, s:s}", "label", "lost", "jid", sluice_job_jid(job), "why",
                  why == SLUICE_CANCELED ? "canceled" : "lost"));
}

static enum sluice_status keep_alive(struct request *request)
{
    return sluice_keepalive(find_thing(word_text(request, 0)), tell_loss, NULL, &request->error);
}

static enum sluice_status start(struct request *request)
{
    return sluice_start(find_thing(word_text(request, 0)), json_integer_value(word(request, 1)),
                        &request->error);
}

static enum sluice_status progress(struct request *request)
{
    return sluice_progress(find_thing(word_text(request, 0)), word_number(request, 1),
                           word_text(request, 2), &request->error);
}

static enum sluice_status checkpoint(struct request *request)
{
    return sluice_checkpoint(find_thing(word_text(request, 0)), word_text(request, 1),
                             &request->error);
}

static enum sluice_status log_line(struct request *request)
{
    return sluice_log(find_thing(word_text(request, 0)), word_text(request, 1), &request->error);
}

static enum sluice_status done(struct request *request)
{
    return sluice_done(find_thing(word_text(request, 0)), word_text(request, 1), &request->error);
}

static enum sluice_status advance(struct request *request)
{
    return sluice_advance(find_thing(word_text(request, 0)), word_text(request, 1),
                          word_text(request, 2), word_number(request, 3), &request->error);
}

static enum sluice_status fail_job(struct request *request)
{
    return sluice_fail(find_thing(word_text(request, 0)), word_text(request, 1),
                       word_text(request, 2), &request->error);
}

static enum sluice_status retry(struct request *request)
{
    int64_t remaining = -99;
    enum sluice_status status =
        sluice_retry(find_thing(word_text(request, 0)), word_number(request, 1),
                     word_text(request, 2), word_text(request, 3), &remaining, &request->error);
    json_object_set_new(request->answer, "remaining", json_integer(remaining));
    return status;
}

static enum sluice_status return_job(struct request *request)
{
    return sluice_return(find_thing(word_text(request, 0)), &request->error);
}

// ---------------------------------------------------------------------------------------------
// Looking

static enum sluice_status get(struct request *request)
{
    struct sluice_value *value;
    enum sluice_status status = sluice_get(find_thing(word_text(request, 0)), word_text(request, 1),
                                           &value, &request->error);
    answer_value(request, "value", value);
    sluice_value_free(value);
    return status;
}

static enum sluice_status wait_for(struct request *request)
{
    struct sluice_value *value;
    enum sluice_status status =
        sluice_wait(find_thing(word_text(request, 0)), word_text(request, 1),
                    word_number(request, 2), &value, &request->error);
    answer_value(request, "value", value);
    sluice_value_free(value);
    return status;
}

static enum sluice_status cancel(struct request *request)
{
    return sluice_cancel(find_thing(word_text(request, 0)), word_text(request, 1), &request->error);
}

static enum sluice_status call_words(struct request *request)
{
    const char *words[LIST_MAX];
    struct sluice_value *value;
    (void)texts_of(word(request, 1), words);
    enum sluice_status status =
        sluice_call(find_thing(word_text(request, 0)), words, NULL,
                    json_array_size(word(request, 1)), &value, &request->error);
    answer_value(request, "value", value);
    sluice_value_free(value);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Events

static enum sluice_status listen_to(struct request *request)
{
    struct sluice_events *events;
    enum sluice_status status = sluice_listen(find_thing(word_text(request, 0)),
                                              word_text(request, 1), &events, &request->error);
    if (!status) {
        keep_thing(word_text(request, 2), events);
    }
    return status;
}

static enum sluice_status next_event(struct request *request)
{
    const char *event = NULL;
    enum sluice_status status = sluice_events_next(
        find_thing(word_text(request, 0)), word_number(request, 1), &event, &request->error);
    json_object_set_new(request->answer, "event", event ? json_loads(event, 0, NULL) : json_null());
    return status;
}

static enum sluice_status stop_listening(struct request *request)
{
    sluice_events_free(find_thing(word_text(request, 0)));
    forget_thing(word_text(request, 0));
    return SLUICE_OK;
}

const struct call calls[] = {
    { "open", open_queue },
    { "close", close_queue },
    { "interrupt", interrupt },
    { "interrupt_all", interrupt_all },
    { "within", within },
    { "version", say_version },
    { "put", put_job },
    { "put_many", put_jobs },
    { "next", next_job },
    { "take", take_jobs },
    { "show", show_job },
    { "free", free_job },
    { "attach", attach },
    { "take_job", take_job },
    { "heartbeat", heartbeat },
    { "keepalive", keep_alive },
    { "start", start },
    { "progress", progress },
    { "checkpoint", checkpoint },
    { "log", log_line },
    { "done", done },
    { "advance", advance },
    { "fail", fail_job },
    { "retry", retry },
    { "return", return_job },
    { "get", get },
    { "wait", wait_for },
    { "cancel", cancel },
    { "call", call_words },
    { "listen", listen_to },
    { "event", next_event },
    { "unlisten", stop_listening },
    { NULL, NULL },
};
