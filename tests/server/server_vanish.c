// SPDX-License-Identifier: MIT
// Clients that go away at the very moment they get a job: before it is put, while the answer is on
// its way, with the answer unread, read, or half answered itself. No job may be stuck for longer
// than its lease, none may be done twice, and nothing of those clients may stay in the server.
#include "load.h"

#include "arguments.h"
#include "image.h"
#include "test.h"

#include <poll.h>
#include <string.h>

enum {
    PUTTER = LOAD_WORKERS - 1, // the others wait
    OPEN_MAX = 1000,           // jobs that are lost and have not come back yet
    SPIN_BITS_MAX = 16,
};

static const char *program;
static struct arguments given = { .seed = 1, .count = 10000 };

enum moment {
    BEFORE_PUT,
    PUT_SENT_OFF,
    PUT_ANSWERED,
    ANSWER_THERE, // and unread
    ANSWER_READ,
    COMPLETE_SENT_OFF,
    MOMENTS,
};

struct scene {
    struct load load;
    struct process process;
    uint64_t waits[PUTTER]; // when it began to wait, counted
    uint64_t clock;
    uint64_t vanished[MOMENTS];
    uint64_t handed; // answers that were there, or read, when their client went away
};

static void spin(struct random *random)
{
    uint64_t bits = random_below(random, SPIN_BITS_MAX + 1);
    uint64_t turns = random_below(random, UINT64_C(1) << bits);
    for (volatile uint64_t i = 0; i < turns; i = i + 1) {
    }
}

static const char *namespace_of(size_t waiter)
{
    return ledger_namespaces[waiter % LEDGER_NAMESPACES];
}

static void write_all(struct worker *worker)
{
    assert_true(client_write(&worker->client));
    assert_false(client_has_unsent(&worker->client));
}

static void begin_to_wait(struct scene *scene, size_t i)
{
    struct worker *worker = &scene->load.workers[i];
    load_wait(worker, namespace_of(i));
    write_all(worker);
    scene->waits[i] = ++scene->clock;
}

static void come_back(struct scene *scene, size_t i)
{
    client_connect(&scene->load.workers[i].client, scene->process.port);
    begin_to_wait(scene, i);
}

// Those who were handed a job and stay do it, and wait for the next.
static void work(struct scene *scene, size_t but)
{
    for (size_t i = 0; i < PUTTER; i++) {
        struct worker *worker = &scene->load.workers[i];
        if (i == but || worker->client.fd < 0) {
            continue;
        }
        assert_true(load_take(&scene->load, worker));
        if (worker->held.count) {
            while (worker->held.count) {
                load_act(&scene->load, worker, ACT_COMPLETE);
            }
            begin_to_wait(scene, i);
        }
    }
}

// Until the connection has something to read.
static void await(const struct worker *worker)
{
    struct pollfd ready = { .fd = worker->client.fd, .events = POLLIN };
    if (poll(&ready, 1, PROCESS_WAIT_MS) != 1) {
        fail_msg("no answer");
    }
}

static void await_put(struct scene *scene)
{
    struct worker *putter = &scene->load.workers[PUTTER];
    while (putter->count) {
        await(putter);
        if (!load_take(&scene->load, putter)) {
            fail_msg("the server ended with %d", process_wait(&scene->process));
        }
    }
}

// The one who has waited longest for the next job; now and then another.
static size_t draw_victim(struct scene *scene)
{
    struct random *random = &scene->load.random;
    size_t victim = (size_t)random_below(random, PUTTER);
    if (random_below(random, 4) == 0) {
        return victim;
    }
    for (size_t i = scene->load.ledger.count % LEDGER_NAMESPACES; i < PUTTER;
         i += LEDGER_NAMESPACES) {
        if (victim % LEDGER_NAMESPACES != i % LEDGER_NAMESPACES ||
            scene->waits[i] < scene->waits[victim]) {
            victim = i;
        }
    }
    return victim;
}

static void vanish(struct scene *scene, size_t i, enum moment moment)
{
    struct worker *worker = &scene->load.workers[i];
    struct random *random = &scene->load.random;
    struct pollfd ready = { .fd = worker->client.fd, .events = POLLIN };
    scene->handed += moment >= ANSWER_READ || (poll(&ready, 1, 0) == 1);
    load_vanish(&scene->load, worker, random_below(random, 2) == 0);
    while (worker->held.count) {
        worker->held.count--;
    }
    scene->vanished[moment]++;
}

static void read_and_vanish(struct scene *scene, size_t i, enum moment moment)
{
    struct worker *worker = &scene->load.workers[i];
    struct pollfd ready = { .fd = worker->client.fd, .events = POLLIN };
    // Its job comes soon after the answer to the put, if it is its turn at all.
    (void)poll(&ready, 1, 1);
    if (moment >= ANSWER_READ) {
        assert_true(load_take(&scene->load, worker));
        if (worker->held.count == 0) {
            moment = ANSWER_THERE; // it was not its turn
        } else if (moment == COMPLETE_SENT_OFF) {
            load_act(&scene->load, worker, ACT_COMPLETE);
            write_all(worker);
            spin(&scene->load.random);
        }
    }
    vanish(scene, i, moment);
}

static void run_once(struct scene *scene)
{
    struct random *random = &scene->load.random;
    struct worker *putter = &scene->load.workers[PUTTER];
    size_t victim = draw_victim(scene);
    enum moment moment = (enum moment)random_below(random, MOMENTS);
    if (moment == BEFORE_PUT) {
        vanish(scene, victim, moment);
    }
    load_put(&scene->load, putter);
    write_all(putter);
    if (moment == PUT_SENT_OFF) {
        spin(random);
        vanish(scene, victim, moment);
    }
    await_put(scene);
    if (moment == PUT_ANSWERED) {
        spin(random);
        vanish(scene, victim, moment);
    } else if (moment >= ANSWER_THERE) {
        read_and_vanish(scene, victim, moment);
    }
    work(scene, victim);
    come_back(scene, victim);
    process_hear(&scene->process);
}

// Jobs whose lease was lost come back, and there is a client for them.
static void let_come_back(struct scene *scene)
{
    while (scene->load.ledger.open > OPEN_MAX) {
        struct pollfd ready[PUTTER];
        for (size_t i = 0; i < PUTTER; i++) {
            ready[i] = (struct pollfd){ .fd = scene->load.workers[i].client.fd, .events = POLLIN };
        }
        if (poll(ready, PUTTER, PROCESS_WAIT_MS) < 1) {
            fail_msg("violation: %zu jobs do not come back", scene->load.ledger.open);
        }
        work(scene, PUTTER);
    }
}

static void check_nobody_is_left(uint16_t port)
{
    struct client client;
    client_init(&client);
    client_connect(&client, port);
    client_ask(&client, "INFO", "clients");
    struct slice text = client_await(&client)->parts[0].text;
    static const char *const wanted[] = { "connected_clients:1\r\n", "blocked_clients:0\r\n" };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (!memmem(text.data, text.size, wanted[i], strlen(wanted[i]))) {
            fail_msg("violation: a client is left: %.*s", SLICE_PRINT(text));
        }
    }
    client_release(&client);
}

static void test_vanish__no_job_is_stuck_or_done_twice_when_its_client_goes_away(void **state)
{
    (void)state;
    struct scene scene = { 0 };
    char folder[IMAGE_PATH_MAX];
    folder_make_scratch(folder, SCRATCH_ON_DISK);
    load_init(&scene.load, given.seed);
    process_init(&scene.process);
    process_start(&scene.process, program, folder, NULL);
    assert_true(process_ready(&scene.process));
    load_configure(scene.process.port);
    client_connect(&scene.load.workers[PUTTER].client, scene.process.port);
    for (size_t i = 0; i < PUTTER; i++) {
        come_back(&scene, i);
    }
    for (uint64_t i = 0; i < given.count; i++) {
        run_once(&scene);
        let_come_back(&scene);
    }
    for (size_t i = 0; i < LOAD_WORKERS; i++) {
        load_vanish(&scene.load, &scene.load.workers[i], i % 2);
    }
    load_drain(&scene.load, scene.process.port);
    check_nobody_is_left(scene.process.port);
    printf("# %llu clients gone: %llu before the put, %llu after it, %llu after its answer, %llu "
           "with their own answer unread, %llu read, %llu in the middle of completing; %llu had "
           "been handed a job; %llu jobs handed out again\n",
           (unsigned long long)given.count, (unsigned long long)scene.vanished[BEFORE_PUT],
           (unsigned long long)scene.vanished[PUT_SENT_OFF],
           (unsigned long long)scene.vanished[PUT_ANSWERED],
           (unsigned long long)scene.vanished[ANSWER_THERE],
           (unsigned long long)scene.vanished[ANSWER_READ],
           (unsigned long long)scene.vanished[COMPLETE_SENT_OFF], (unsigned long long)scene.handed,
           (unsigned long long)scene.load.ledger.again);
    process_release(&scene.process);
    load_release(&scene.load);
    folder_remove(folder);
}

int main(int argc, char **argv)
{
    program = arguments_read(&given, argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vanish__no_job_is_stuck_or_done_twice_when_its_client_goes_away),
    };
    return cmocka_run_group_tests_name("server_vanish", tests, NULL, NULL);
}
