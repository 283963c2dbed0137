// SPDX-License-Identifier: MIT
// Many threads at one folder: each job is done exactly once, whatever happens to those who wait.
#include "local_test.h"

#include "test.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PUTTERS = 3,
    WORKERS = 5,
    JOBS = 300, // of each putter
    ALL = PUTTERS * JOBS,
};

struct field {
    struct sluice *queue;
    atomic_int done[ALL]; // how often
    atomic_int left;      // to be done
    atomic_int wrong;     // calls that ended as they must not
};

struct actor {
    struct field *field;
    struct sluice *queue;
    int number;
    pthread_t thread;
};

static void *put_all(void *context)
{
    struct actor *actor = context;
    for (int i = 0; i < JOBS; i++) {
        char jid[32];
        (void)snprintf(jid, sizeof(jid), "%d", actor->number * JOBS + i);
        const struct sluice_put_options put =
            SLUICE_PUT(.queue = "mail", .klass = "Test", .data = "{}", .jid = jid,
                       // Some fall due by themselves.
                       .delay = i % 7 == 0 ? 0.002 : 0);
        struct sluice_error error;
        if (sluice_put(actor->queue, &put, NULL, &error)) {
            (void)fprintf(stderr, "put: %s\n", error.message);
            actor->field->wrong++;
        }
    }
    return NULL;
}

static void settle(struct field *field, struct sluice_job *job)
{
    struct sluice_error error;
    long number = strtol(sluice_job_jid(job), NULL, 10);
    const struct sluice_value *attempts = sluice_value_get(sluice_job_value(job), "attempts");
    if (number % 5 == 0 && sluice_value_integer(attempts) == 1) {
        // Once more, by any thread.
        if (sluice_retry(job, 0, NULL, NULL, NULL, &error)) {
            (void)fprintf(stderr, "retry: %s\n", error.message);
            field->wrong++;
        }
    } else if (sluice_done(job, NULL, &error)) {
        (void)fprintf(stderr, "done: %s\n", error.message);
        field->wrong++;
    } else {
        field->done[number]++;
        field->left--;
    }
    sluice_job_free(job);
}

static void *work(void *context)
{
    struct actor *actor = context;
    struct field *field = actor->field;
    // Each waits in its own way: briefly, so that it gives up again and again, or for long.
    double wait = actor->number % 2 ? 0.001 : FORELONG;
    while (field->left > 0) {
        struct sluice_job *job;
        struct sluice_error error;
        enum sluice_status status = sluice_next(actor->queue, "mail", wait, &job, &error);
        if (status == SLUICE_OK) {
            settle(field, job);
        } else if (status != SLUICE_TIMED_OUT && status != SLUICE_INTERRUPTED) {
            (void)fprintf(stderr, "next: %s\n", error.message);
            field->wrong++;
        }
    }
    // Others may wait for a job that does not come.
    sluice_interrupt(actor->queue, true);
    return NULL;
}

// A thread that interrupts all the time, and one that listens.
static void *disturb(void *context)
{
    struct field *field = context;
    struct sluice_events *events;
    if (sluice_listen(field->queue, "log", &events, NULL)) {
        field->wrong++;
        return NULL;
    }
    while (field->left > 0) {
        const char *json;
        sluice_interrupt(field->queue, true);
        sluice_interrupt(field->queue, false);
        (void)sluice_events_next(events, 0.001, &json, NULL);
    }
    sluice_interrupt(field->queue, true);
    sluice_events_free(events);
    return NULL;
}

static void run(const char *durability)
{
    struct local_test test;
    struct actor actors[PUTTERS + WORKERS];
    pthread_t disturber;
    static struct field field;
    memset(&field, 0, sizeof(field));
    field.left = ALL;
    local_test_init(&test);
    sluice_close(test.queue);
    test.queue = field.queue = local_test_open(&test, NULL, durability);
    struct sluice *second = local_test_open(&test, NULL, durability);
    for (int i = 0; i < PUTTERS + WORKERS; i++) {
        bool puts = i < PUTTERS;
        actors[i] = (struct actor){ .field = &field,
                                    .queue = i % 2 ? test.queue : second,
                                    .number = puts ? i : i - PUTTERS };
        assert_int_equal(pthread_create(&actors[i].thread, NULL, puts ? put_all : work, &actors[i]),
                         0);
    }
    assert_int_equal(pthread_create(&disturber, NULL, disturb, &field), 0);
    for (int i = 0; i < PUTTERS + WORKERS; i++) {
        assert_int_equal(pthread_join(actors[i].thread, NULL), 0);
    }
    assert_int_equal(pthread_join(disturber, NULL), 0);
    assert_int_equal(field.wrong, 0);
    for (int i = 0; i < ALL; i++) {
        assert_int_equal(field.done[i], 1);
    }
    sluice_close(second);
    sluice_interrupt(test.queue, false);
    struct sluice_value *all = local_test_call(&test, "Q.COUNT", "STATE", "complete");
    assert_int_equal(sluice_value_integer(all), ALL);
    sluice_value_free(all);
    local_test_do(&test, "Q.CHECK");
    local_test_release(&test);
}

static void test_threads__each_job_is_done_once(void **state)
{
    (void)state;
    run("never");
}

static void test_threads__each_job_is_done_once_on_disk(void **state)
{
    (void)state;
    run("always");
}

// Folders that are opened and closed by all at once.
static void *open_and_close(void *context)
{
    struct actor *actor = context;
    const char *url = (const char *)actor->queue; // of the folder
    for (int i = 0; i < 30; i++) {
        struct sluice *queue;
        struct sluice_error error;
        const struct sluice_put_options put =
            SLUICE_PUT(.queue = "mail", .klass = "Test", .data = "{}");
        if (sluice_open(url, NULL, &queue, &error) || sluice_put(queue, &put, NULL, &error)) {
            (void)fprintf(stderr, "%s\n", error.message);
            actor->field->wrong++;
            return NULL;
        }
        sluice_close(queue);
    }
    return NULL;
}

static void test_threads__open_and_close_as_they_like(void **state)
{
    (void)state;
    struct local_test test;
    struct actor actors[4];
    static struct field field;
    memset(&field, 0, sizeof(field));
    local_test_init(&test);
    sluice_close(test.queue);
    for (int i = 0; i < 4; i++) {
        actors[i] = (struct actor){ .field = &field, .queue = (struct sluice *)(void *)test.url };
        assert_int_equal(pthread_create(&actors[i].thread, NULL, open_and_close, &actors[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(actors[i].thread, NULL), 0);
    }
    assert_int_equal(field.wrong, 0);
    test.queue = local_test_open(&test, NULL, NULL);
    struct sluice_value *count = local_test_call(&test, "Q.LENGTH", "mail");
    assert_int_equal(sluice_value_integer(count), 4 * 30);
    sluice_value_free(count);
    local_test_release(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads__each_job_is_done_once),
        cmocka_unit_test(test_threads__each_job_is_done_once_on_disk),
        cmocka_unit_test(test_threads__open_and_close_as_they_like),
    };
    return cmocka_run_group_tests_name("local_threads", tests, NULL, NULL);
}
