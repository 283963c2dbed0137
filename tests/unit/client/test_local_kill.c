// SPDX-License-Identifier: MIT
// A process that works on a folder with several threads is killed at any instant, again and again.
// What its calls had acknowledged by then holds: every job that was put is there, and none that was
// done comes again.
//
// The child tells through a pipe, one small write for each call that ended, which is there whole or
// not at all.
#include "local_test.h"

#include "random.h"
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREADS = 4,
    JOBS_MAX = 1 << 17,
};

enum act {
    PUT = 1,
    DONE = 2,
    DONE_ASKED = 4, // whether it was done is not known
};

struct line {
    uint32_t act, number;
};

struct ledger {
    uint8_t acts[JOBS_MAX]; // of enum act, of each job
};

struct labourer {
    struct sluice *queue;
    uint32_t number, limit; // of the jobs it puts
    int pipe;
    pthread_t thread;
};

static void tell(const struct labourer *labourer, enum act act, uint32_t number)
{
    const struct line line = { act, number };
    if (write(labourer->pipe, &line, sizeof(line)) != sizeof(line)) {
        _exit(1);
    }
}

// Calls must not fail in the child, which has no other way to say so.
static void must(enum sluice_status status, const struct sluice_error *error)
{
    if (status) {
        (void)fprintf(stderr, "the child: %s\n", error->message);
        _exit(1);
    }
}

static void *labour(void *context)
{
    struct labourer *labourer = context;
    struct sluice_error error;
    struct sluice_job *job;
    while (labourer->number < labourer->limit) {
        char jid[32];
        uint32_t number = labourer->number++;
        (void)snprintf(jid, sizeof(jid), "%u", number);
        const struct sluice_put_options put =
            SLUICE_PUT(.queue = "mail", .klass = "Test", .data = "{}", .jid = jid);
        must(sluice_put(labourer->queue, &put, NULL, &error), &error);
        tell(labourer, PUT, number);
        if (number % 4 == 0) {
            continue; // some stay
        }
        must(sluice_next(labourer->queue, "mail", FORELONG, &job, &error), &error);
        number = (uint32_t)strtoul(sluice_job_jid(job), NULL, 10);
        tell(labourer, DONE_ASKED, number);
        must(sluice_done(job, NULL, &error), &error);
        tell(labourer, DONE, number);
        sluice_job_free(job);
    }
    return NULL;
}

static void run_child(const char *url, int pipe)
{
    struct labourer labourers[THREADS];
    struct sluice *queue;
    struct sluice_error error;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    must(sluice_open(url, NULL, &queue, &error), &error);
    const uint32_t share = JOBS_MAX / THREADS;
    for (uint32_t i = 0; i < THREADS; i++) {
        labourers[i] = (struct labourer){
            .queue = queue, .number = i * share, .limit = (i + 1) * share, .pipe = pipe
        };
        (void)pthread_create(&labourers[i].thread, NULL, labour, &labourers[i]);
    }
    for (;;) {
        (void)pause();
    }
}

// Notes what the child tells until `lines` of them have come, kills it, and notes the rest.
static void hear_and_kill(struct ledger *ledger, pid_t child, int pipe, uint32_t lines)
{
    struct line line;
    uint32_t heard = 0;
    while (read(pipe, &line, sizeof(line)) == sizeof(line)) {
        assert_true(line.number < JOBS_MAX);
        ledger->acts[line.number] |= (uint8_t)line.act;
        if (++heard == lines) {
            assert_int_equal(kill(child, SIGKILL), 0);
        }
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && heard >= lines);
}

static void check_job(struct local_test *test, uint8_t acts, uint32_t number)
{
    char jid[32];
    struct sluice_value *job;
    (void)snprintf(jid, sizeof(jid), "%u", number);
    enum sluice_status status = sluice_get(test->queue, jid, &job, &test->error);
    if (status == SLUICE_NOT_FOUND) {
        assert_false(acts & PUT);
        return;
    }
    assert_int_equal(status, SLUICE_OK);
    bool complete =
        strcmp(sluice_value_text(sluice_value_get(job, "state"), NULL), "complete") == 0;
    sluice_value_free(job);
    if (complete != ((acts & DONE) != 0) && !(complete && (acts & DONE_ASKED))) {
        fail_msg("job %s is %s", jid, complete ? "done, and no worker did it" : "to be done again");
    }
}

static void check(struct local_test *test, const struct ledger *ledger)
{
    test->queue = local_test_open(test, NULL, NULL);
    for (uint32_t i = 0; i < JOBS_MAX; i++) {
        if (ledger->acts[i]) {
            check_job(test, ledger->acts[i], i);
        }
    }
    local_test_do(test, "Q.CHECK", "FORCE");
    // The next child has other jobs, and finds the queue empty.
    local_test_do(test, "Q.NAMESPACE.DELETE", "default");
    sluice_close(test->queue);
    test->queue = NULL;
}

static void test_kill__what_was_acknowledged_holds(void **state)
{
    (void)state;
    const char *given = getenv("TEST_KILLS");
    long kills = given ? strtol(given, NULL, 10) : 30;
    struct random random;
    struct local_test test;
    static struct ledger ledger;
    random_init(&random);
    local_test_init(&test);
    sluice_close(test.queue);
    test.queue = NULL;
    for (long i = 0; i < kills; i++) {
        int ends[2];
        memset(&ledger, 0, sizeof(ledger));
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            (void)close(ends[0]);
            run_child(test.url, ends[1]);
        }
        (void)close(ends[1]);
        hear_and_kill(&ledger, child, ends[0], 1 + (uint32_t)random_below(&random, 2000));
        (void)close(ends[0]);
        check(&test, &ledger);
    }
    local_test_release(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill__what_was_acknowledged_holds),
    };
    return cmocka_run_group_tests_name("local_kill", tests, NULL, NULL);
}
