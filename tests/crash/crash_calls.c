// SPDX-License-Identifier: MIT
// Real kills, each right before a system call that changes files (tap.h): one call after the other
// in the first life of a store, and some of those of a store that has been in use for long.
#include "kill_scene.h"

#include "tap.h"
#include "test.h"

enum {
    FIRST_STEPS = 12,
    CALLS_MAX = 2000, // that a first life may take
    IN_USE_STEPS = 200,
};

static uint64_t seed_given = 1;
static unsigned kills_given = 34; // with each durability

// In the child.
static void arm(const struct child_options *options)
{
    const struct tap_fault fault = { .kinds = 1U << TAP_WRITE | 1U << TAP_RESIZE | 1U << TAP_SYNC |
                                              1U << TAP_ENTRY | 1U << TAP_OPEN,
                                     .call = options->kill_at,
                                     .harm = TAP_KILL };
    tap_watch(options->root);
    tap_fault(&fault);
}

static void test_calls__a_kill_at_each_call_of_a_first_life(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, STORE_ALWAYS, seed_given * 1000 + 7, SCRATCH_IN_MEMORY);
    bool killed = true;
    uint64_t call = 0;
    while (killed && call < CALLS_MAX) {
        scene_clear(&scene);
        killed = scene_run(&scene, &(struct plan){ .kill_at = ++call, .steps = FIRST_STEPS });
        // Once more, sooner: what the first one left is not lost when it is come upon.
        uint64_t again = 1 + random_below(&scene.random, call);
        (void)scene_run(&scene, &(struct plan){ .kill_at = again, .steps = FIRST_STEPS });
        scene_check(&scene);
    }
    assert_false(killed);
    printf("# a first life has %llu calls\n", (unsigned long long)call - 1);
    scene_tell(&scene);
    scene_release(&scene);
}

static void kill_in_use(enum store_durability durability)
{
    struct scene scene;
    scene_init(&scene, durability, seed_given * 1000 + (uint64_t)durability, SCRATCH_IN_MEMORY);
    while (scene.kills < kills_given) {
        // Half of them while it is opened.
        uint64_t bits = 1 + random_below(&scene.random, 10);
        const struct plan plan = { .kill_at = 1 + random_below(&scene.random, UINT64_C(1) << bits),
                                   .steps = IN_USE_STEPS };
        (void)scene_run(&scene, &plan);
        if (random_below(&scene.random, 4)) {
            scene_check(&scene);
        }
    }
    scene_check(&scene);
    scene_tell(&scene);
    scene_release(&scene);
}

static void test_calls__kills_in_use_when_all_is_synced(void **state)
{
    (void)state;
    kill_in_use(STORE_ALWAYS);
}

static void test_calls__kills_in_use_when_it_is_synced_at_intervals(void **state)
{
    (void)state;
    kill_in_use(STORE_INTERVAL);
}

static void test_calls__kills_in_use_when_nothing_is_synced(void **state)
{
    (void)state;
    kill_in_use(STORE_NEVER);
}

int main(int argc, char **argv)
{
    struct child_options options;
    if (child_read_arguments(argc, argv, &options)) {
        return child_run(&options, arm);
    }
    scene_read_arguments(argc, argv, &seed_given, &kills_given);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls__a_kill_at_each_call_of_a_first_life),
        cmocka_unit_test(test_calls__kills_in_use_when_all_is_synced),
        cmocka_unit_test(test_calls__kills_in_use_when_it_is_synced_at_intervals),
        cmocka_unit_test(test_calls__kills_in_use_when_nothing_is_synced),
    };
    return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
