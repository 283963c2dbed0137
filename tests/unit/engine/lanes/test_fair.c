// SPDX-License-Identifier: MIT
// Fair queues: lanes take turns.
#include "engine_test.h"
#include "random.h"

#include <stdio.h>
#include <string.h>

static void put_from_to(struct world *w, double now, const char *domain, int from, int to)
{
    for (int i = from; i <= to; i++) {
        char jid[32];
        (void)snprintf(jid, sizeof(jid), "%s%d", domain, i);
        put_in(w, now, domain, jid);
    }
}

// How many of the jids in a list begin so.
static size_t count_of(const char *list, const char *start)
{
    size_t count = 0, size = strlen(start);
    for (const char *at = list; *at; at += strspn(at, ",")) {
        count += strncmp(at, start, size) == 0;
        at += strcspn(at, ",");
    }
    return count;
}

static void test_fair__lanes_take_turns(void **state)
{
    struct world *w = *state;
    set(w, "q-fair", "1");
    put_from_to(w, 0, "a", 1, 4);
    put_from_to(w, 1, "b", 1, 2);
    put(w, 2, "q", "plain1");
    put(w, 2, "q", "plain2");
    put(w, 2, "q", "plain3");
    assert_string_equal(pop(w, 3, "q", "w1", 4), "a1,b1,plain1,a2");
    assert_string_equal(pop(w, 3, "q", "w1", 1), "b2");
    assert_string_equal(pop(w, 3, "q", "w1", 9), "plain2,a3,plain3,a4");
}

static void test_fair__within_a_lane_the_order_is_that_of_the_line(void **state)
{
    struct world *w = *state;
    set(w, "q-fair", "1");
    put_from_to(w, 0, "a", 1, 2);
    put_from_to(w, 0, "b", 1, 2);
    put_with(w, 1,
             (struct put_request){ .jid = SLICE("urgent"),
                                   .has_domain = true,
                                   .domain = SLICE("b"),
                                   .has_priority = true,
                                   .priority = -9 });
    assert_string_equal(pop(w, 2, "q", "w1", 9), "a1,urgent,a2,b1,b2");
    // Lists show the line as it is.
    put_from_to(w, 3, "a", 3, 4);
    put_from_to(w, 4, "b", 3, 4);
    assert_string_equal(jobs(w, 5, LIST_WAITING, "q", 0, 9), "4: a3,a4,b3,b4");
    assert_string_equal(peek(w, 5, "q", 9), "a3,a4,b3,b4");
    assert_string_equal(pop(w, 5, "q", "w1", 9), "a3,b3,a4,b4");
}

static void test_fair__without_it_the_oldest_comes_first(void **state)
{
    struct world *w = *state;
    put_from_to(w, 0, "a", 1, 3);
    put_from_to(w, 1, "b", 1, 3);
    assert_string_equal(pop(w, 2, "q", "w1", 4), "a1,a2,a3,b1");
    set(w, "q-fair", "0");
    assert_string_equal(pop(w, 2, "q", "w1", 1), "b2");
}

static void test_fair__weights_are_kept_exactly(void **state)
{
    struct world *w = *state;
    enum {
        ROUNDS = 50,
    };
    set(w, "q-fair", "1");
    limit_set(w, 0, "q", "two", weight(2));
    limit_set(w, 0, NULL, "five", weight(5));
    put_from_to(w, 0, "one", 1, ROUNDS);
    put_from_to(w, 0, "two", 1, 2 * ROUNDS);
    put_from_to(w, 0, "five", 1, 5 * ROUNDS);
    for (int i = 0; i < ROUNDS; i++) {
        // Eight in a row, however they are asked for.
        size_t one = 0, two = 0, five = 0;
        for (size_t left = 8, size; left > 0; left -= size) {
            size = 1 + (size_t)i % 8 < left ? 1 + (size_t)i % 8 : left;
            const char *popped = pop(w, 1, "q", "w1", size);
            one += count_of(popped, "one");
            two += count_of(popped, "two");
            five += count_of(popped, "five");
        }
        assert_int_equal(one, 1);
        assert_int_equal(two, 2);
        assert_int_equal(five, 5);
    }
    assert_string_equal(pop(w, 1, "q", "w1", 9), "");
}

static void test_fair__a_changed_weight_counts_from_the_next_turn(void **state)
{
    struct world *w = *state;
    set(w, "q-fair", "1");
    put_from_to(w, 0, "a", 1, 100);
    put_from_to(w, 0, "b", 1, 100);
    assert_string_equal(pop(w, 1, "q", "w1", 4), "a1,b1,a2,b2");
    limit_set(w, 2, NULL, "b", weight(3));
    const char *popped = pop(w, 2, "q", "w1", 40);
    assert_int_equal(count_of(popped, "a"), 10);
    assert_int_equal(count_of(popped, "b"), 30);
    limit_unset(w, 3, NULL, "b");
    popped = pop(w, 3, "q", "w1", 40);
    assert_true(count_of(popped, "a") >= 19 && count_of(popped, "a") <= 21);
}

static void test_fair__a_new_lane_neither_overtakes_nor_starves(void **state)
{
    struct world *w = *state;
    set(w, "q-fair", "1");
    put_from_to(w, 0, "a", 1, 200);
    put_from_to(w, 0, "b", 1, 200);
    (void)pop(w, 1, "q", "w1", 100);
    // It has not saved up the turns of the time before it came.
    put_from_to(w, 2, "new", 1, 50);
    const char *popped = pop(w, 2, "q", "w1", 30);
    assert_int_equal(count_of(popped, "a"), 10);
    assert_int_equal(count_of(popped, "b"), 10);
    assert_int_equal(count_of(popped, "new"), 10);
    // And it waits for no more than a turn of each.
    put_from_to(w, 3, "newer", 1, 1);
    assert_int_equal(count_of(pop(w, 3, "q", "w1", 4), "newer"), 1);
}

static void test_fair__who_was_away_has_saved_up_nothing(void **state)
{
    struct world *w = *state;
    set(w, "q-fair", "1");
    put_from_to(w, 0, "a", 1, 100);
    put_from_to(w, 0, "b", 1, 1);
    assert_string_equal(pop(w, 1, "q", "w1", 2), "a1,b1");
    (void)pop(w, 2, "q", "w1", 50);
    put_from_to(w, 3, "b", 2, 10);
    assert_string_equal(pop(w, 4, "q", "w1", 6), "a52,b2,a53,b3,a54,b4");
}

// Who comes and goes with a single job each time does not get more than its turn.
static void test_fair__single_jobs_give_no_advantage(void **state)
{
    struct world *w = *state;
    set(w, "q-fair", "1");
    put_from_to(w, 0, "busy", 1, 100);
    size_t singles = 0;
    for (int i = 1; i <= 40; i++) {
        if (strcmp(lane_of(w, i, "q", "single"), "") == 0) {
            put_from_to(w, i, "single", i, i);
        }
        char jid[32];
        (void)snprintf(jid, sizeof(jid), "%s", pop(w, i, "q", "w1", 1));
        complete(w, i, "w1", jid);
        singles += jid[0] == 's';
    }
    assert_int_equal(singles, 20);
}

static void test_fair__one_busy_tenant_does_not_hold_up_the_small_ones(void **state)
{
    struct world *w = *state;
    set(w, "q-fair", "1");
    set(w, "heartbeat", "1000000");
    put_from_to(w, 0, "busy", 1, 10000);
    char domain[16];
    for (int i = 0; i < 20; i++) {
        (void)snprintf(domain, sizeof(domain), "small%c", 'a' + i);
        put_from_to(w, 1, domain, 1, 3);
    }
    // Three rounds of 21, and the rest is the busy one's.
    const char *popped = pop(w, 2, "q", "w1", 63);
    assert_int_equal(count_of(popped, "busy"), 3);
    assert_int_equal(count_of(popped, "small"), 60);
    assert_int_equal(count_of(pop(w, 2, "q", "w1", 4000), "busy"), 4000);
    put_from_to(w, 3, "late", 1, 2);
    assert_string_equal(pop(w, 3, "q", "w1", 4), "busy4004,late1,busy4005,late2");
    assert_int_equal(count_of(pop(w, 3, "q", "w1", 4000), "busy"), 4000);
    assert_int_equal(count_of(pop(w, 3, "q", "w1", 4000), "busy"), 1995);
}

static void test_fair__can_be_switched_on_and_off(void **state)
{
    struct world *w = *state;
    put_from_to(w, 0, "a", 1, 6);
    put_from_to(w, 1, "b", 1, 6);
    assert_string_equal(pop(w, 2, "q", "w1", 2), "a1,a2");
    set(w, "q-fair", "1");
    assert_string_equal(pop(w, 3, "q", "w1", 3), "a3,b1,a4");
    unset(w, "q-fair");
    assert_string_equal(pop(w, 4, "q", "w1", 3), "a5,a6,b2");
    put_from_to(w, 5, "a", 7, 9);
    set(w, "q-fair", "1");
    // All begin anew.
    assert_string_equal(pop(w, 5, "q", "w1", 9), "b3,a7,b4,a8,b5,a9,b6");
    set(w, "q-fair", "0");
    put_from_to(w, 6, "a", 10, 11);
    put_from_to(w, 7, "b", 7, 7);
    assert_string_equal(pop(w, 7, "q", "w1", 9), "a10,a11,b7");
}

static void test_fair__other_queues_are_as_they_were(void **state)
{
    struct world *w = *state;
    set(w, "q-fair", "1");
    for (int i = 0; i < 6; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "r%d", i);
        put_with(w, 0,
                 (struct put_request){ .queue = SLICE("r"),
                                       .jid = name_of(jid),
                                       .has_domain = true,
                                       .domain = i < 3 ? SLICE("a") : SLICE("b") });
    }
    assert_string_equal(pop(w, 1, "r", "w1", 9), "r0,r1,r2,r3,r4,r5");
}

static void test_fair__a_lane_that_may_not_run_loses_its_turn_to_the_others(void **state)
{
    struct world *w = *state;
    set(w, "q-fair", "1");
    limit_set(w, 0, NULL, "a", concurrency(1));
    put_from_to(w, 0, "a", 1, 5);
    put_from_to(w, 0, "b", 1, 5);
    put_from_to(w, 0, "c", 1, 5);
    assert_string_equal(pop(w, 1, "q", "w1", 6), "a1,b1,c1,b2,c2,b3");
    complete(w, 2, "w1", "a1");
    // Its turn is long over, so it is next.
    assert_string_equal(pop(w, 2, "q", "w1", 2), "a2,c3");
}

static void test_fair__together_with_a_rate(void **state)
{
    struct world *w = *state;
    set(w, "q-fair", "1");
    limit_set(w, 0, NULL, "a", rate(1, 10, 2));
    put_from_to(w, 0, "a", 1, 5);
    put_from_to(w, 0, "b", 1, 9);
    assert_string_equal(pop(w, 0, "q", "w1", 7), "a1,b1,a2,b2,b3,b4,b5");
    assert_string_equal(pop(w, 10, "q", "w1", 2), "a3,b6");
    assert_string_equal(pop(w, 19, "q", "w1", 1), "b7");
    // It could not run for a while: it is next, and then one of two whose turn is the same.
    assert_string_equal(pop(w, 30, "q", "w1", 9), "a4,a5,b8,b9");
}

static void test_fair__a_lane_that_could_not_run_saves_up_no_turns(void **state)
{
    struct world *w = *state;
    set(w, "q-fair", "1");
    limit_set(w, 0, NULL, "a", concurrency(1));
    put_from_to(w, 0, "a", 1, 9);
    put_from_to(w, 0, "b", 1, 9);
    assert_string_equal(pop(w, 0, "q", "w1", 6), "a1,b1,b2,b3,b4,b5");
    limit_unset(w, 0, NULL, "a");
    assert_string_equal(pop(w, 0, "q", "w1", 6), "a2,a3,b6,a4,b7,a5");
}

static void test_fair__turns_survive_being_saved(void **state)
{
    struct world *given = *state;
    struct random random;
    random_init(&random);
    for (int run = 0; run < 20; run++) {
        // Two worlds with the same conversation, one of them saved and loaded all the time.
        struct world *plain = world_new(given->clock, 1);
        struct world *saved = world_new(given->clock, 2);
        struct world *both[] = { plain, saved };
        for (int i = 0; i < 2; i++) {
            set(both[i], "q-fair", "1");
            limit_set(both[i], 0, NULL, "d1", weight(3));
            limit_set(both[i], 0, NULL, "d2", rate(1, 3, 2));
            limit_set(both[i], 0, NULL, "d3", concurrency(2));
        }
        int made = 0;
        for (int step = 0; step < 60; step++) {
            uint64_t what = random_below(&random, 10), domain = random_below(&random, 5);
            uint64_t which = random_below(&random, 100);
            char name[16], jid[16], popped[2][256];
            (void)snprintf(name, sizeof(name), "d%d", (int)domain);
            (void)snprintf(jid, sizeof(jid), "j%d", what < 6 ? ++made : (int)which % (made + 1));
            for (int i = 0; i < 2; i++) {
                struct world *w = both[i];
                if (what < 6) {
                    put_in(w, step, domain ? name : NULL, jid);
                } else if (what < 8) {
                    (void)snprintf(popped[i], sizeof(popped[i]), "%s",
                                   pop(w, step, "q", "w1", 1 + (size_t)which % 3));
                } else if (what == 8 && strcmp(state_of(w, jid), "running") == 0) {
                    complete(w, step, "w1", jid);
                } else if (which < 30) {
                    set(w, "q-fair", which < 10 ? "0" : "1");
                }
            }
            if (what == 6 || what == 7) {
                assert_string_equal(popped[0], popped[1]);
            }
            reload(saved);
        }
        world_free(plain);
        world_free(saved);
    }
}

static void test_fair__the_clock_goes_on_when_all_lanes_are_empty(void **state)
{
    struct world *w = *state;
    set(w, "q-fair", "1");
    put_from_to(w, 0, "a", 1, 3);
    assert_string_equal(pop(w, 1, "q", "w1", 9), "a1,a2,a3");
    for (int i = 1; i <= 3; i++) {
        char jid[8];
        (void)snprintf(jid, sizeof(jid), "a%d", i);
        complete(w, 2, "w1", jid);
    }
    assert_int_equal(lane_count(w), 0);
    reload(w);
    put_from_to(w, 3, "b", 1, 3);
    put_from_to(w, 3, "a", 4, 6);
    assert_string_equal(pop(w, 4, "q", "w1", 9), "b1,a4,b2,a5,b3,a6");
}

static void test_fair__moving_within_the_line_costs_no_turn(void **state)
{
    struct world *w = *state;
    set(w, "q-fair", "1");
    put_from_to(w, 0, "a", 1, 1);
    put_from_to(w, 0, "b", 1, 2);
    put_from_to(w, 0, "c", 1, 2);
    assert_string_equal(pop(w, 1, "q", "w1", 1), "a1");
    put_from_to(w, 1, "a", 2, 2);
    said(w, engine_priority(w->engine, at(w, 2), SLICE("b1"), 9, &w->error));
    said(w, engine_priority(w->engine, at(w, 2), SLICE("a2"), -9, &w->error));
    assert_string_equal(pop(w, 2, "q", "w1", 9), "b2,c1,b1,c2,a2");
}

static void test_fair__the_option_must_be_a_number(void **state)
{
    struct world *w = *state;
    refused(w, STATUS_INVALID, "q-fair");
    set(w, "q-fair", "yes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_fair__lanes_take_turns),
        CLIENT_TEST(test_fair__lanes_take_turns),
        SERVER_TEST(test_fair__within_a_lane_the_order_is_that_of_the_line),
        SERVER_TEST(test_fair__without_it_the_oldest_comes_first),
        SERVER_TEST(test_fair__weights_are_kept_exactly),
        CLIENT_TEST(test_fair__weights_are_kept_exactly),
        SERVER_TEST(test_fair__a_changed_weight_counts_from_the_next_turn),
        SERVER_TEST(test_fair__a_new_lane_neither_overtakes_nor_starves),
        CLIENT_TEST(test_fair__a_new_lane_neither_overtakes_nor_starves),
        SERVER_TEST(test_fair__who_was_away_has_saved_up_nothing),
        SERVER_TEST(test_fair__single_jobs_give_no_advantage),
        SERVER_TEST(test_fair__one_busy_tenant_does_not_hold_up_the_small_ones),
        SERVER_TEST(test_fair__can_be_switched_on_and_off),
        CLIENT_TEST(test_fair__can_be_switched_on_and_off),
        SERVER_TEST(test_fair__other_queues_are_as_they_were),
        SERVER_TEST(test_fair__a_lane_that_may_not_run_loses_its_turn_to_the_others),
        CLIENT_TEST(test_fair__a_lane_that_may_not_run_loses_its_turn_to_the_others),
        SERVER_TEST(test_fair__together_with_a_rate),
        SERVER_TEST(test_fair__a_lane_that_could_not_run_saves_up_no_turns),
        CLIENT_TEST(test_fair__together_with_a_rate),
        SERVER_TEST(test_fair__turns_survive_being_saved),
        CLIENT_TEST(test_fair__turns_survive_being_saved),
        SERVER_TEST(test_fair__the_clock_goes_on_when_all_lanes_are_empty),
        SERVER_TEST(test_fair__moving_within_the_line_costs_no_turn),
        SERVER_TEST(test_fair__the_option_must_be_a_number),
    };
    return cmocka_run_group_tests_name("fair", tests, NULL, NULL);
}
