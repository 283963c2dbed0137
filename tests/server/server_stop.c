// SPDX-License-Identifier: MIT
// The server is asked to stop while workers use it. What it was asked for is either done and
// answered, or not done at all: the answers reach their clients, the exit code says that all is on
// disk, and a new server has all of it.
#include "load.h"

#include "arguments.h"
#include "image.h"
#include "test.h"

#include <signal.h>
#include <time.h>

enum {
    ANSWER_BITS = 11,
    RUN_MAX_US = 200000,
    STOP_MAX_US = 60000000,
};

static const char *program;
static struct arguments given = { .seed = 1, .count = 60 };

// The puts that were not answered.
struct unanswered {
    size_t jobs[LOAD_WORKERS * LOAD_DEPTH_MAX];
    size_t count;
};

static void note_unanswered(const struct load *load, struct unanswered *unanswered)
{
    for (size_t i = 0; i < LOAD_WORKERS; i++) {
        const struct worker *worker = &load->workers[i];
        for (size_t k = 0; k < worker->count; k++) {
            const struct request *request = &worker->requests[(worker->first + k) % LOAD_DEPTH_MAX];
            if (request->kind == REQUEST_PUT) {
                unanswered->jobs[unanswered->count++] = request->lease.job;
            }
        }
    }
}

static void check_not_done(const struct unanswered *unanswered, uint16_t port)
{
    struct client client;
    client_init(&client);
    client_connect(&client, port);
    for (size_t i = 0; i < unanswered->count; i++) {
        size_t job = unanswered->jobs[i];
        char jid[LEDGER_JID_SIZE];
        ledger_jid(job, jid);
        client_ask(&client, "Q.GET", ledger_namespaces[ledger_namespace(job)], jid);
        if (client_await(&client)->parts[1].kind != ANSWER_NULL) {
            fail_msg("violation: %s was put, but that was not answered", jid);
        }
    }
    client_release(&client);
}

static void stop(struct load *load, struct process *process, struct unanswered *unanswered)
{
    (void)kill(process->pid, SIGTERM);
    if (load_run(load, process, UINT64_MAX / 2, now_us() + STOP_MAX_US, true)) {
        fail_msg("violation: the server does not close its connections");
    }
    int code = process_wait(process);
    if (code) {
        fail_msg("violation: the server ended with %d", code);
    }
    note_unanswered(load, unanswered);
    load_disconnect(load);
}

static void test_stop__what_is_answered_is_there_and_what_is_not_was_not_done(void **state)
{
    (void)state;
    struct load load;
    struct process process;
    struct unanswered unanswered = { .count = 0 };
    uint64_t not_done = 0;
    char folder[IMAGE_PATH_MAX];
    folder_make_scratch(folder, SCRATCH_ON_DISK);
    load_init(&load, given.seed);
    process_init(&process);
    process_start(&process, program, folder, NULL);
    assert_true(process_ready(&process));
    load_configure(process.port);
    for (uint64_t i = 0; i < given.count; i++) {
        uint64_t bits = random_below(&load.random, ANSWER_BITS + 1);
        uint64_t answers = 1 + random_below(&load.random, UINT64_C(1) << bits);
        load_connect(&load, process.port);
        (void)load_run(&load, &process, answers, now_us() + RUN_MAX_US, false);
        stop(&load, &process, &unanswered);
        int64_t dead_us = now_us();
        process_start(&process, program, folder, NULL);
        ledger_down(&load.ledger, dead_us, process.started_us);
        assert_true(process_ready(&process));
        check_not_done(&unanswered, process.port);
        not_done += unanswered.count;
        unanswered.count = 0;
    }
    load_drain(&load, process.port);
    printf("# %llu stops, %llu answers, %llu puts that were neither answered nor done\n",
           (unsigned long long)given.count, (unsigned long long)load.answers,
           (unsigned long long)not_done);
    process_release(&process);
    load_release(&load);
    folder_remove(folder);
}

int main(int argc, char **argv)
{
    program = arguments_read(&given, argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stop__what_is_answered_is_there_and_what_is_not_was_not_done),
    };
    return cmocka_run_group_tests_name("server_stop", tests, NULL, NULL);
}
