// SPDX-License-Identifier: MIT
// The server is killed again and again while workers use it, and started again on the same folder.
// Nothing that it acknowledged may be lost or undone, no client may get what another client holds,
// and in the end every job is accounted for. It is the process that dies, not the machine: so this
// holds for every durability that hands its data to the system before it answers, which is all but
// never.
#include "load.h"

#include "arguments.h"
#include "image.h"
#include "test.h"

#include <time.h>

enum {
    GENERATION = 50, // kills, after which a new folder is begun
    RUN_MAX_US = 200000,
    ANSWER_BITS = 12,
    OPENING_MAX_US = 4000,
    DOWN_MAX_US = 450000,
};

static const char *program;
static struct arguments given = { .seed = 1, .count = 500 };

struct tally {
    uint64_t kills, kills_opening, answers, puts, pops, acts, refusals, cheats, again, renewed,
        unknown, repeated_puts, repeats[ACTS];
};

struct scene {
    struct load load;
    struct process process;
    char folder[IMAGE_PATH_MAX];
    char data[IMAGE_PATH_MAX];
    const char *durability;
    struct tally *tally;
};

// Time itself is what is needed here.
static void let_pass(int64_t us)
{
    const struct timespec time = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };
    (void)nanosleep(&time, NULL);
}

static void start(struct scene *scene)
{
    const char *const flags[] = { "--durability", scene->durability, NULL };
    process_start(&scene->process, program, scene->data, flags);
}

static void end(struct scene *scene)
{
    int64_t dead_us = process_kill(&scene->process);
    load_disconnect(&scene->load);
    struct random *random = &scene->load.random;
    if (random_below(random, 12) == 0) {
        let_pass((int64_t)random_below(random, DOWN_MAX_US));
    }
    start(scene);
    ledger_down(&scene->load.ledger, dead_us, scene->process.started_us);
    scene->tally->kills++;
}

static void run(struct scene *scene)
{
    struct random *random = &scene->load.random;
    if (random_below(random, 10) == 0) {
        let_pass((int64_t)random_below(random, OPENING_MAX_US));
        scene->tally->kills_opening++;
    } else {
        uint64_t bits = random_below(random, ANSWER_BITS + 1);
        uint64_t answers = 1 + random_below(random, UINT64_C(1) << bits);
        assert_true(process_ready(&scene->process));
        load_connect(&scene->load, scene->process.port);
        (void)load_run(&scene->load, &scene->process, answers, now_us() + RUN_MAX_US, false);
        // Also in the midst of what it does with the requests that came last.
        let_pass((int64_t)random_below(random, 300));
    }
    end(scene);
}

static void add_up(struct scene *scene)
{
    const struct ledger *ledger = &scene->load.ledger;
    struct tally *tally = scene->tally;
    tally->answers += scene->load.answers;
    tally->cheats += scene->load.cheats;
    tally->puts += ledger->puts;
    tally->pops += ledger->pops;
    tally->acts += ledger->acts;
    tally->refusals += ledger->refusals;
    tally->again += ledger->again;
    tally->renewed += ledger->renewed;
    tally->unknown += ledger->unknown;
    tally->repeated_puts += scene->load.repeated_puts;
    for (size_t act = 0; act < ACTS; act++) {
        tally->repeats[act] += scene->load.repeats[act];
    }
}

// One folder, from its beginning to the last job.
static void live(struct tally *tally, const char *durability, uint64_t kills, uint64_t seed)
{
    struct scene scene = { .durability = durability, .tally = tally };
    folder_make_scratch(scene.folder, SCRATCH_ON_DISK);
    (void)snprintf(scene.data, sizeof(scene.data), "%.200s/data", scene.folder);
    load_init(&scene.load, seed);
    process_init(&scene.process);
    start(&scene);
    assert_true(process_ready(&scene.process));
    load_configure(scene.process.port);
    for (uint64_t i = 0; i < kills; i++) {
        run(&scene);
    }
    assert_true(process_ready(&scene.process));
    load_drain(&scene.load, scene.process.port);
    add_up(&scene);
    process_release(&scene.process);
    load_release(&scene.load);
    folder_remove(scene.folder);
}

static void live_often(const char *durability, uint64_t kills, uint64_t seed)
{
    struct tally tally = { 0 };
    while (tally.kills < kills) {
        uint64_t left = kills - tally.kills;
        live(&tally, durability, left < GENERATION ? left : GENERATION, seed);
        seed += 1000003;
    }
    printf("# %s: %llu kills (%llu while it started), %llu answers: %llu puts, %llu jobs handed "
           "out (%llu again), %llu acts, %llu refusals, %llu cheats; %llu requests of unknown "
           "fate, %llu leases that ran out without a server\n",
           durability, (unsigned long long)tally.kills, (unsigned long long)tally.kills_opening,
           (unsigned long long)tally.answers, (unsigned long long)tally.puts,
           (unsigned long long)tally.pops, (unsigned long long)tally.again,
           (unsigned long long)tally.acts, (unsigned long long)tally.refusals,
           (unsigned long long)tally.cheats, (unsigned long long)tally.unknown,
           (unsigned long long)tally.renewed);
    printf("# repeated: %llu puts, %llu completes, %llu fails, %llu retries, %llu completes with a "
           "next queue\n",
           (unsigned long long)tally.repeated_puts, (unsigned long long)tally.repeats[ACT_COMPLETE],
           (unsigned long long)tally.repeats[ACT_FAIL],
           (unsigned long long)tally.repeats[ACT_RETRY],
           (unsigned long long)tally.repeats[ACT_NEXT]);
}

static void test_kill__nothing_acknowledged_is_lost_or_undone_when_all_is_synced(void **state)
{
    (void)state;
    live_often("always", given.count - given.count / 5 * 2, given.seed);
}

static void test_kill__nothing_acknowledged_is_lost_or_undone_when_synced_at_intervals(void **state)
{
    (void)state;
    live_often("interval:20", given.count / 5 * 2, given.seed + 1);
}

int main(int argc, char **argv)
{
    program = arguments_read(&given, argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill__nothing_acknowledged_is_lost_or_undone_when_all_is_synced),
        cmocka_unit_test(
            test_kill__nothing_acknowledged_is_lost_or_undone_when_synced_at_intervals),
    };
    return cmocka_run_group_tests_name("server_kill", tests, NULL, NULL);
}
