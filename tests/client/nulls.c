// SPDX-License-Identifier: MIT
// A program that calls every function of libsluice with NULL for each
// pointer, and then with a queue or a job and NULL for the rest. Nothing may crash; a call that
// returns a status returns INVALID, and names what is NULL. check-exports compares this file with
// the headers.
#include <sluice/async.h>
#include <sluice/list.h>
#include <sluice/pool.h>
#include <sluice/serve.h>
#include <sluice/sluice.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int points, failures;
static struct sluice_error error;

static void point(bool good, const char *call)
{
    printf("%s %d - %s: %s\n", good ? "ok" : "not ok", ++points, call, error.message);
    failures += !good;
}

static void check(enum sluice_status status, const char *call)
{
    point(status == SLUICE_INVALID && error.status == SLUICE_INVALID && error.message[0], call);
    error = (struct sluice_error){ SLUICE_OK, "" };
}
#define REFUSED(call) check((call), #call)
#define NOTHING(call) point(!(call), #call)

static void without_anything(void)
{
    struct sluice_error *e = &error;
    REFUSED(sluice_open(NULL, NULL, NULL, e));
    sluice_close(NULL);
    NOTHING(sluice_namespace(NULL));
    NOTHING(sluice_worker(NULL));
    sluice_interrupt(NULL, true);
    sluice_interrupt_all(NULL, true);
    REFUSED(sluice_put(NULL, NULL, NULL, e));
    REFUSED(sluice_put_many(NULL, NULL, 1, NULL, e));
    REFUSED(sluice_next(NULL, NULL, 0, NULL, e));
    REFUSED(sluice_take(NULL, NULL, NULL, 1, NULL, e));
    REFUSED(sluice_take_job(NULL, NULL, NULL, NULL, e));
    REFUSED(sluice_job_attach(NULL, NULL, NULL, 0, NULL, e));
    NOTHING(sluice_job_jid(NULL));
    NOTHING(sluice_job_klass(NULL));
    NOTHING(sluice_job_queue(NULL));
    NOTHING(sluice_job_data(NULL));
    NOTHING(sluice_job_checkpoint(NULL));
    NOTHING(sluice_job_worker(NULL));
    NOTHING(sluice_job_token(NULL));
    NOTHING(sluice_job_expires(NULL) != 0);
    NOTHING(sluice_job_attempts(NULL));
    NOTHING(sluice_job_priority(NULL));
    NOTHING(sluice_job_remaining(NULL));
    NOTHING(sluice_job_domain(NULL));
    NOTHING(sluice_job_tag(NULL, 0));
    NOTHING(sluice_job_value(NULL));
    NOTHING(sluice_job_lost(NULL));
    REFUSED(sluice_heartbeat(NULL, NULL, e));
    REFUSED(sluice_keepalive(NULL, NULL, NULL, e));
    REFUSED(sluice_start(NULL, 0, e));
    REFUSED(sluice_progress(NULL, 0, NULL, e));
    REFUSED(sluice_checkpoint(NULL, NULL, e));
    REFUSED(sluice_log(NULL, NULL, e));
    REFUSED(sluice_done(NULL, NULL, e));
    REFUSED(sluice_advance(NULL, NULL, NULL, 0, e));
    REFUSED(sluice_fail(NULL, NULL, NULL, e));
    REFUSED(sluice_retry(NULL, 0, NULL, NULL, NULL, e));
    REFUSED(sluice_return(NULL, e));
    REFUSED(sluice_settle(NULL, NULL, e));
    REFUSED(sluice_settle_many(NULL, NULL, 1, NULL, e));
    REFUSED(sluice_heartbeat_many(NULL, 1, NULL, e));
    sluice_job_free(NULL);
    REFUSED(sluice_get(NULL, NULL, NULL, e));
    REFUSED(sluice_wait(NULL, NULL, 0, NULL, e));
    NOTHING(sluice_finish_of(NULL).state);
    REFUSED(sluice_history(NULL, NULL, NULL, e));
    REFUSED(sluice_cancel(NULL, NULL, e));
    REFUSED(sluice_call(NULL, NULL, NULL, 1, NULL, e));
    REFUSED(sluice_listen(NULL, NULL, NULL, e));
    REFUSED(sluice_events_next(NULL, 0, NULL, e));
    REFUSED(sluice_events_next_value(NULL, 0, NULL, e));
    REFUSED(sluice_events_fd(NULL, NULL, e));
    sluice_events_free(NULL);
    REFUSED(sluice_doctor(NULL, SLUICE_CHECK, NULL, NULL, e));
    REFUSED(sluice_list_open(NULL, SLUICE_JOBS, NULL, NULL, e));
    REFUSED(sluice_list_next(NULL, NULL, e));
    sluice_list_free(NULL);
    REFUSED(sluice_pool_new(NULL, NULL, NULL, e));
    REFUSED(sluice_pool_run(NULL, NULL, e));
    sluice_pool_stop(NULL);
    sluice_pool_free(NULL);
    sluice_run_done(NULL, NULL);
    sluice_run_fail(NULL, NULL, NULL);
    sluice_run_retry(NULL, 0, NULL, NULL);
    sluice_run_return(NULL);
    NOTHING(sluice_run_draining(NULL));
    REFUSED(sluice_async_new(NULL, NULL, e));
    NOTHING(sluice_async_fd(NULL) != -1);
    REFUSED(sluice_async_take(NULL, NULL, NULL, 1, NULL, e));
    REFUSED(sluice_async_wait(NULL, NULL, 0, NULL, e));
    REFUSED(sluice_async_put(NULL, NULL, 1, NULL, e));
    REFUSED(sluice_async_settle(NULL, NULL, NULL, 1, NULL, e));
    REFUSED(sluice_async_call(NULL, NULL, NULL, 1, NULL, e));
    REFUSED(sluice_async_finish(NULL, e));
    sluice_async_cancel(NULL);
    sluice_async_free(NULL);
    REFUSED(sluice_serve(NULL, NULL, NULL, e));
    sluice_serve_end(NULL);
}

static void values(void)
{
    size_t size = 7;
    NOTHING(sluice_value_type(NULL));
    NOTHING(sluice_value_text(NULL, &size));
    NOTHING(sluice_value_text(NULL, NULL) || size);
    NOTHING(sluice_value_integer(NULL));
    NOTHING(sluice_value_number(NULL) != 0);
    NOTHING(sluice_value_boolean(NULL));
    NOTHING(sluice_value_status(NULL));
    NOTHING(sluice_value_count(NULL));
    NOTHING(sluice_value_at(NULL, 0));
    NOTHING(sluice_value_key(NULL, 0));
    NOTHING(sluice_value_get(NULL, NULL));
    char *json = sluice_value_json(NULL);
    point(json && strcmp(json, "null") == 0, "sluice_value_json(NULL)");
    sluice_free(json);
    sluice_free(NULL);
    sluice_value_free(NULL);
    point(sluice_set_memory(NULL, NULL, &error) == SLUICE_OK, "the C library's memory");
    REFUSED(sluice_set_memory(realloc, NULL, &error));
    REFUSED(sluice_set_memory(NULL, free, &error));
    NOTHING(!sluice_version());
    NOTHING(!sluice_status_name((enum sluice_status)12345));
    NOTHING(sluice_deadline(SLUICE_FOREVER) != SLUICE_FOREVER);
}

static void with_a_queue(struct sluice *queue)
{
    struct sluice_error *e = &error;
    struct sluice_job *job;
    struct sluice_value *value;
    struct sluice_events *events;
    struct sluice_list *list;
    struct sluice_pool *pool;
    struct sluice_async *async;
    const char *const no_words[] = { "Q.GET", NULL };
    struct sluice *other;
    size_t taken = 7;
    REFUSED(sluice_open(NULL, NULL, &other, e));
    NOTHING(other);
    REFUSED(sluice_put(queue, NULL, NULL, e));
    REFUSED(sluice_put(queue, &SLUICE_PUT(.queue = "q"), NULL, e));
    REFUSED(sluice_put_many(queue, NULL, 1, NULL, e));
    REFUSED(sluice_next(queue, NULL, 0, &job, e));
    NOTHING(job);
    REFUSED(sluice_next(queue, "q", 0, NULL, e));
    REFUSED(sluice_take(queue, NULL, &job, 1, &taken, e));
    NOTHING(taken);
    REFUSED(sluice_take(queue, &SLUICE_TAKE(.wait = 1), &job, 1, &taken, e));
    REFUSED(sluice_take_job(queue, NULL, NULL, &job, e));
    REFUSED(sluice_job_attach(queue, NULL, NULL, 1, &job, e));
    REFUSED(sluice_get(queue, NULL, &value, e));
    NOTHING(value);
    REFUSED(sluice_get(queue, "a", NULL, e));
    REFUSED(sluice_wait(queue, NULL, 0, &value, e));
    REFUSED(sluice_history(queue, NULL, &value, e));
    REFUSED(sluice_cancel(queue, NULL, e));
    REFUSED(sluice_call(queue, NULL, NULL, 1, NULL, e));
    REFUSED(sluice_call(queue, no_words, NULL, 2, NULL, e));
    REFUSED(sluice_call(queue, no_words, NULL, 0, NULL, e));
    REFUSED(sluice_listen(queue, NULL, &events, e));
    REFUSED(sluice_list_open(queue, SLUICE_JOBS, NULL, NULL, e));
    REFUSED(sluice_list_open(queue, (enum sluice_listed)99, NULL, &list, e));
    REFUSED(sluice_pool_new(queue, NULL, &pool, e));
    REFUSED(sluice_pool_new(queue, &SLUICE_POOL_NEW(.concurrency = 1), &pool, e));
    REFUSED(sluice_async_new(queue, NULL, e));
    REFUSED(sluice_serve(queue, NULL, NULL, e));
    point(sluice_async_new(queue, &async, e) == SLUICE_OK, "a handle for calls");
    REFUSED(sluice_async_take(async, NULL, NULL, 1, NULL, e));
    REFUSED(sluice_async_wait(async, NULL, 0, NULL, e));
    sluice_async_free(async);
    point(sluice_set_memory(realloc, free, e) == SLUICE_STATE, "memory while a queue is open");
    // Without anything to do nothing is refused.
    point(sluice_put_many(queue, NULL, 0, NULL, e) == SLUICE_OK, "no puts");
    point(sluice_settle_many(NULL, NULL, 0, NULL, e) == SLUICE_OK, "no settlings");
    point(sluice_heartbeat_many(NULL, 0, NULL, e) == SLUICE_OK, "no heartbeats");
}

static void with_a_job(struct sluice *queue)
{
    struct sluice_error *e = &error;
    struct sluice_job *job;
    struct sluice_events *events;
    point(sluice_put(queue, &SLUICE_PUT(.queue = "q", .klass = "k", .data = "{}"), NULL, e) ==
              SLUICE_OK,
          "put");
    point(sluice_next(queue, "q", 0, &job, e) == SLUICE_OK, "next");
    REFUSED(sluice_checkpoint(job, NULL, e));
    REFUSED(sluice_log(job, NULL, e));
    REFUSED(sluice_advance(job, NULL, NULL, 0, e));
    REFUSED(sluice_fail(job, NULL, "message", e));
    REFUSED(sluice_fail(job, "group", NULL, e));
    REFUSED(sluice_settle(job, NULL, e));
    REFUSED(sluice_settle(job, &SLUICE_SETTLE(.verdict = SLUICE_FAIL), e));
    REFUSED(sluice_settle_many(&job, NULL, 1, NULL, e));
    NOTHING(sluice_job_tag(job, 0));
    point(sluice_heartbeat(job, NULL, NULL) == SLUICE_OK, "heartbeat");
    point(sluice_progress(job, 0.5, NULL, NULL) == SLUICE_OK, "progress");
    point(sluice_keepalive(job, NULL, NULL, NULL) == SLUICE_OK, "keepalive");
    point(sluice_retry(job, 0, NULL, NULL, NULL, NULL) == SLUICE_OK, "retry");
    sluice_job_free(job);
    point(sluice_listen(queue, "log", &events, e) == SLUICE_OK, "listen");
    REFUSED(sluice_events_next(events, 0, NULL, e));
    REFUSED(sluice_events_next_value(events, 0, NULL, e));
    REFUSED(sluice_events_fd(events, NULL, e));
    sluice_events_free(events);
}

int main(int argc, char **argv)
{
    struct sluice *queue;
    char url[64];
    if (argc != 2) {
        return 2;
    }
    without_anything();
    values();
    (void)snprintf(url, sizeof(url), "sluice://127.0.0.1:%s/app", argv[1]);
    point(sluice_open(url, NULL, &queue, &error) == SLUICE_OK, "open");
    with_a_queue(queue);
    with_a_job(queue);
    sluice_close(queue);
    printf("1..%d\n", points);
    return failures != 0;
}
