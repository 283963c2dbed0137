// SPDX-License-Identifier: MIT
#include "kill.h"

#include "image.h"
#include "random.h"
#include "workload.h"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DELIVERY_MAX = 64,     // steps that were appended and not acknowledged
    EVENT_WAIT_MS = 30000, // longer than that is taken for never
};

struct child {
    const struct child_options *options;
    struct store *store;
    struct workload *workload;
    struct random random;
    uint64_t groups[DELIVERY_MAX]; // of the steps in flight, by step modulo DELIVERY_MAX
    uint64_t submitted, acknowledged;

    // The bystander: a thread that makes checkpoints and backups while steps are made.
    pthread_t bystander;
    sem_t wanted; // one for each thing to do
    atomic_bool ends;
};

struct store_options kill_store_options(const char *path, enum store_durability durability)
{
    return (struct store_options){ .path = path,
                                   .allocator = &allocator_system,
                                   .durability = durability,
                                   .interval_us = 2000,
                                   .segment_size = UINT64_C(64) * 1024,
                                   .gather_max = UINT64_C(512) * 1024,
                                   .reserve_size = UINT64_C(64) * 1024,
                                   .checkpoint_us = 3000 };
}

static void say(enum message_kind kind, uint64_t n, uint64_t digest)
{
    const struct message message = { kind, n, digest };
    REQUIRE(write(CHILD_PIPE, &message, sizeof(message)) == sizeof(message),
            "the parent does not listen");
}

static void check(enum status status, const struct error *error, const char *what)
{
    if (status) {
        (void)fprintf(stderr, "child: %s: %s: %s\n", what, status_name(status),
                      error_sentence(error));
        abort();
    }
}

// ---------------------------------------------------------------------------------------------
// The bystander

static void make_backup(struct child *child, unsigned number)
{
    char path[IMAGE_PATH_MAX];
    int size =
        snprintf(path, sizeof(path), "%s/" CHILD_BACKUPS "/%u", child->options->root, number);
    REQUIRE(size > 0 && size < IMAGE_PATH_MAX, "a path is too long");
    struct error error = { 0 };
    say(MESSAGE_BACKUP, number, 0);
    check(store_backup(child->store, path, &error), &error, "backup");
    say(MESSAGE_BACKED_UP, number, 0);
}

static void *stand_by(void *context)
{
    struct child *child = context;
    struct random random = { child->options->seed ^ 1 };
    unsigned backups = 0;
    for (;;) {
        while (sem_wait(&child->wanted)) {
        }
        if (atomic_load(&child->ends)) {
            return NULL;
        }
        if (backups < CHILD_BACKUPS_MAX && random_below(&random, 4) == 0) {
            make_backup(child, backups++);
        } else {
            struct error error = { 0 };
            check(store_checkpoint(child->store, &error), &error, "checkpoint");
        }
    }
}

static void bystander_start(struct child *child)
{
    REQUIRE(sem_init(&child->wanted, 0, 0) == 0, "no semaphore");
    REQUIRE(pthread_create(&child->bystander, NULL, stand_by, child) == 0, "no thread");
}

static void bystander_end(struct child *child)
{
    atomic_store(&child->ends, true);
    REQUIRE(sem_post(&child->wanted) == 0, "no semaphore");
    REQUIRE(pthread_join(child->bystander, NULL) == 0, "no thread");
    REQUIRE(sem_destroy(&child->wanted) == 0, "no semaphore");
}

// ---------------------------------------------------------------------------------------------
// Steps

static void acknowledge(struct child *child)
{
    // In this order: what becomes durable in between makes the descriptor readable again.
    store_event_clear(child->store);
    uint64_t durable = store_durable(child->store);
    while (child->acknowledged < child->submitted &&
           child->groups[(child->acknowledged + 1) % DELIVERY_MAX] <= durable) {
        say(MESSAGE_ACKNOWLEDGED, ++child->acknowledged, 0);
    }
}

// A waiting thread has looked at what is durable since the last step: a step that changed nothing
// is durable without an event.
static void wait_for_event(struct child *child)
{
    struct pollfd event = { .fd = store_event(child->store), .events = POLLIN };
    int ready = poll(&event, 1, EVENT_WAIT_MS);
    REQUIRE(ready == 1, "the store's event never came");
    acknowledge(child);
}

static void take_step(struct child *child)
{
    workload_step(child->workload);
    uint64_t n = ++child->submitted;
    say(MESSAGE_SUBMITTED, n, workload_digest(child->workload, n));
    struct error error = { 0 };
    enum status status = store_take(child->store, 0, workload_engine(child->workload),
                                    &child->groups[n % DELIVERY_MAX], &error);
    check(status, &error, "take");
}

static void take_steps(struct child *child)
{
    uint64_t delivery_max = 1 + random_below(&child->random, DELIVERY_MAX - 1);
    while (child->submitted < child->options->steps) {
        struct error why = { 0 };
        enum store_state state = store_state(child->store, &why);
        if (state == STORE_BUSY || child->submitted - child->acknowledged >= delivery_max) {
            wait_for_event(child);
            continue;
        }
        if (state != STORE_READY) {
            check(STATUS_IO, &why, "state");
        }
        take_step(child);
        if (child->submitted - child->acknowledged >= delivery_max ||
            random_below(&child->random, 4) == 0) {
            acknowledge(child);
        }
        if (random_below(&child->random, 40) == 0) {
            REQUIRE(sem_post(&child->wanted) == 0, "no semaphore");
        }
    }
    // What is not acknowledged by now must be there after the closing all the same.
    if (random_below(&child->random, 2)) {
        acknowledge(child);
        while (child->acknowledged < child->submitted) {
            wait_for_event(child);
        }
    }
}

int child_run(const struct child_options *options, void (*arm)(const struct child_options *options))
{
    char path[IMAGE_PATH_MAX];
    int size = snprintf(path, sizeof(path), "%s/" CHILD_STORE, options->root);
    REQUIRE(size > 0 && size < IMAGE_PATH_MAX, "a path is too long");
    struct child child = { .options = options, .random = { options->seed } };
    struct store_options store_options = kill_store_options(path, options->durability);
    struct rebuild rebuild;
    struct store_visitor visitor = rebuild_visitor(&rebuild);
    struct error error = { 0 };
    if (arm) {
        arm(options);
    }
    say(MESSAGE_OPENS, 0, 0);
    check(store_open(&store_options, &visitor, &child.store, &error), &error, "open");
    REQUIRE(rebuild_end(&rebuild), "the store's records make no engine");
    child.workload = workload_new(options->seed, rebuild.engine);
    say(MESSAGE_OPENED, 0, workload_digest(child.workload, 0));
    bystander_start(&child);
    take_steps(&child);
    bystander_end(&child);
    say(MESSAGE_CLOSES, 0, 0);
    check(store_close(child.store, &error), &error, "close");
    say(MESSAGE_CLOSED, 0, 0);
    workload_free(child.workload);
    return 0;
}

// ---------------------------------------------------------------------------------------------
// Arguments

void child_write_arguments(const struct child_options *options, struct child_arguments *out)
{
    const unsigned long long numbers[] = { options->seed, (unsigned)options->durability,
                                           options->steps, options->kill_at };
    const char *const words[] = { "child", "--child", options->root };
    for (size_t i = 0; i < CHILD_ARGUMENTS; i++) {
        int size = i < 3 ? snprintf(out->bytes[i], CHILD_ARGUMENT_SIZE, "%s", words[i])
                         : snprintf(out->bytes[i], CHILD_ARGUMENT_SIZE, "%llu", numbers[i - 3]);
        REQUIRE(size > 0 && size < CHILD_ARGUMENT_SIZE, "an argument is too long");
        out->list[i] = out->bytes[i];
    }
    out->list[CHILD_ARGUMENTS] = NULL;
}

bool child_read_arguments(int count, char **list, struct child_options *out)
{
    if (count != CHILD_ARGUMENTS || strcmp(list[1], "--child") != 0) {
        return false;
    }
    *out = (struct child_options){ .root = list[2],
                                   .seed = strtoull(list[3], NULL, 10),
                                   .durability = (enum store_durability)strtoul(list[4], NULL, 10),
                                   .steps = strtoull(list[5], NULL, 10),
                                   .kill_at = strtoull(list[6], NULL, 10) };
    return true;
}
