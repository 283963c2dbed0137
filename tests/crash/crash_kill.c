// SPDX-License-Identifier: MIT
// Real kills. A child works on a store and says what it does; it is killed at some instant, while
// it opens the store, works on it or closes it. Then the store must be what the child's engine was
// after some step: not before the last one that was acknowledged, not after the last one that was
// submitted. The next child goes on with the same store.
#include "kill_scene.h"

#include "test.h"

enum {
    SPIN_BITS_MAX = 21,
    STEPS_MANY = 1000000000, // more than it will come to
};

static uint64_t seed_given = 1;
static unsigned kills_given = 67; // with each durability

static uint64_t draw_spin(struct scene *scene)
{
    uint64_t bits = random_below(&scene->random, SPIN_BITS_MAX + 1);
    return random_below(&scene->random, (UINT64_C(1) << bits) + 1);
}

static void draw_plan(struct scene *scene, struct plan *plan)
{
    *plan = (struct plan){ .messages = 1, .steps = STEPS_MANY, .spin = draw_spin(scene) };
    uint64_t draw = random_below(&scene->random, 10);
    if (draw < 2) {
        plan->from = MESSAGE_OPENS;
    } else if (draw < 4) {
        plan->from = MESSAGE_CLOSES;
        plan->steps = random_below(&scene->random, 100);
    } else {
        plan->from = MESSAGE_ACKNOWLEDGED;
        plan->messages = 1 + random_below(&scene->random, 400);
    }
}

static void kill_at_random(enum store_durability durability, enum scratch_kind scratch)
{
    struct scene scene;
    scene_init(&scene, durability, seed_given * 1000 + (uint64_t)durability, scratch);
    while (scene.kills < kills_given) {
        struct plan plan;
        draw_plan(&scene, &plan);
        (void)scene_run(&scene, &plan);
        // Not each time: a kill may also come upon what another one left.
        if (random_below(&scene.random, 4)) {
            scene_check(&scene);
        }
    }
    scene_check(&scene);
    scene_tell(&scene);
    scene_release(&scene);
}

static void test_kill__nothing_acknowledged_is_lost_when_all_is_synced(void **state)
{
    (void)state;
    kill_at_random(STORE_ALWAYS, SCRATCH_ON_DISK);
}

static void test_kill__nothing_acknowledged_is_lost_when_it_is_synced_at_intervals(void **state)
{
    (void)state;
    kill_at_random(STORE_INTERVAL, SCRATCH_IN_MEMORY);
}

static void test_kill__nothing_acknowledged_is_lost_when_nothing_is_synced(void **state)
{
    (void)state;
    kill_at_random(STORE_NEVER, SCRATCH_IN_MEMORY);
}

int main(int argc, char **argv)
{
    struct child_options options;
    if (child_read_arguments(argc, argv, &options)) {
        return child_run(&options, NULL);
    }
    scene_read_arguments(argc, argv, &seed_given, &kills_given);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill__nothing_acknowledged_is_lost_when_all_is_synced),
        cmocka_unit_test(test_kill__nothing_acknowledged_is_lost_when_it_is_synced_at_intervals),
        cmocka_unit_test(test_kill__nothing_acknowledged_is_lost_when_nothing_is_synced),
    };
    return cmocka_run_group_tests_name("kill", tests, NULL, NULL);
}
