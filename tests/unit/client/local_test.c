// SPDX-License-Identifier: MIT
#include "local_test.h"

#include "test.h"

#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *walk)
{
    (void)about;
    (void)type;
    (void)walk;
    return remove(path);
}

void local_test_init(struct local_test *test)
{
    *test = (struct local_test){ .folder = "/tmp/sluice-local-XXXXXX" };
    assert_non_null(mkdtemp(test->folder));
    (void)snprintf(test->url, sizeof(test->url), "file:%s/queue", test->folder);
    test->queue = local_test_open(test, NULL, NULL);
}

void local_test_release(struct local_test *test)
{
    sluice_close(test->queue);
    (void)nftw(test->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int local_test_setup(void **state)
{
    struct local_test *test = calloc(1, sizeof(*test));
    local_test_init(test);
    *state = test;
    return 0;
}

int local_test_teardown(void **state)
{
    local_test_release(*state);
    free(*state);
    return 0;
}

struct sluice *local_test_open(struct local_test *test, const char *ns, const char *durability)
{
    struct sluice *queue;
    const struct sluice_open_options options = SLUICE_OPEN(.ns = ns, .durability = durability);
    if (sluice_open(test->url, &options, &queue, &test->error)) {
        fail_msg("%s", test->error.message);
    }
    return queue;
}

void local_test_reopen(struct local_test *test)
{
    sluice_close(test->queue);
    test->queue = local_test_open(test, NULL, NULL);
}

struct sluice_value *local_test_ask(struct local_test *test, const char *const *words)
{
    struct sluice_value *out;
    size_t count = 0;
    while (words[count]) {
        count++;
    }
    if (sluice_call(test->queue, words, NULL, count, &out, &test->error)) {
        fail_msg("%s: %s", words[0], test->error.message);
    }
    return out;
}

void local_test_put(struct local_test *test, const char *queue, const char *jid)
{
    const struct sluice_put_options put =
        SLUICE_PUT(.queue = queue, .klass = "Test", .data = "{}", .jid = jid);
    if (sluice_put(test->queue, &put, NULL, &test->error)) {
        fail_msg("%s", test->error.message);
    }
}

void local_test_until_waiting(struct local_test *test, int64_t count)
{
    int64_t waiting = -1;
    while (waiting != count) {
        (void)sched_yield();
        struct sluice_value *all = local_test_call(test, "Q.NAMESPACES");
        for (size_t i = 0; i < sluice_value_count(all); i++) {
            const struct sluice_value *ns = sluice_value_at(all, i);
            const char *name = sluice_value_text(sluice_value_get(ns, "name"), NULL);
            if (strcmp(name, sluice_namespace(test->queue)) == 0) {
                waiting = sluice_value_integer(sluice_value_get(ns, "clients_waiting"));
            }
        }
        sluice_value_free(all);
    }
}

static void *take(void *context)
{
    struct taker *taker = context;
    taker->status = sluice_next(taker->queue, taker->name, taker->wait, &taker->job, &taker->error);
    return NULL;
}

void taker_start(struct taker *taker, struct sluice *queue, const char *name, double wait)
{
    *taker = (struct taker){ .queue = queue, .name = name, .wait = wait };
    assert_int_equal(pthread_create(&taker->thread, NULL, take, taker), 0);
}

void taker_expect(struct taker *taker, enum sluice_status status, const char *jid)
{
    assert_int_equal(pthread_join(taker->thread, NULL), 0);
    assert_string_equal(sluice_status_name(taker->status), sluice_status_name(status));
    if (jid) {
        assert_string_equal(sluice_job_jid(taker->job), jid);
        sluice_job_free(taker->job);
    }
}
