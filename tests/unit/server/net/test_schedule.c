// SPDX-License-Identifier: MIT
#include "server/net/schedule.h"

#include "test.h"

enum {
    TURN_US = 5000,
    SHARE_US = 1000,
    BYTES = 1 << 20,
};

static int64_t clock_us;

static int64_t read_clock(void)
{
    return clock_us;
}

// A connection whose requests take the same time each.
struct client {
    struct schedule_entry entry;
    int64_t cost_us;
    int64_t used_us;
    unsigned served;
};

static struct schedule *setup(void)
{
    static struct schedule schedule;
    clock_us = 1000000;
    schedule_init(&schedule, read_clock);
    schedule_new_turn(&schedule, TURN_US, BYTES);
    return &schedule;
}

static void serve(struct schedule *schedule, struct client *client, int requests)
{
    schedule_begin(schedule);
    for (int i = 0; i < requests && schedule_goes_on(schedule); i++) {
        clock_us += client->cost_us;
        client->used_us += client->cost_us;
        client->served++;
        (void)schedule_now(schedule);
    }
    schedule_end(schedule, &client->entry);
}

// Serves all that wait, each of which has more to do afterwards, until the turn is used up.
static void run_turn(struct schedule *schedule)
{
    struct schedule_entry *entry;
    while ((entry = schedule_next(schedule))) {
        serve(schedule, (struct client *)entry, 1000000);
        schedule_add(schedule, entry);
    }
    schedule_new_turn(schedule, TURN_US, BYTES);
}

static void test_schedule__connections_that_are_always_busy_get_the_same_time(void **state)
{
    (void)state;
    struct schedule *schedule = setup();
    struct client clients[] = {
        { .cost_us = 20 }, { .cost_us = 300 }, { .cost_us = 10000 }, { .cost_us = 40000 }
    };
    for (size_t i = 0; i < 4; i++) {
        schedule_add(schedule, &clients[i].entry);
    }
    int64_t began_us = clock_us;
    while (clock_us - began_us < 80000000) {
        run_turn(schedule);
    }
    for (size_t i = 0; i < 4; i++) {
        // As near as the longest request and the shares allow.
        assert_in_range(clients[i].used_us, 20000000 - 90000, 20000000 + 90000);
    }
}

static void test_schedule__a_cheap_request_waits_for_one_expensive_one_at_most(void **state)
{
    (void)state;
    enum {
        MANY = 50
    };
    struct schedule *schedule = setup();
    static struct client expensive[MANY];
    struct client cheap = { .cost_us = 20 };
    for (size_t i = 0; i < MANY; i++) {
        expensive[i] = (struct client){ .cost_us = 100000 };
        schedule_add(schedule, &expensive[i].entry);
    }
    for (size_t i = 0; i < 3 * (size_t)MANY; i++) {
        run_turn(schedule); // what its requests take is known after the first one
    }
    for (int i = 0; i < 1000; i++) {
        unsigned before = 0, after = 0;
        for (size_t at = 0; at < MANY; at++) {
            before += expensive[at].served;
        }
        unsigned served = cheap.served;
        schedule_add(schedule, &cheap.entry); // behind all of them
        while (cheap.served == served) {
            struct schedule_entry *entry = schedule_next(schedule);
            if (!entry) {
                schedule_new_turn(schedule, TURN_US, BYTES);
            } else if (entry == &cheap.entry) {
                serve(schedule, &cheap, 1);
            } else {
                serve(schedule, (struct client *)entry, 1000000);
                schedule_add(schedule, entry);
            }
        }
        for (size_t at = 0; at < MANY; at++) {
            after += expensive[at].served;
        }
        assert_in_range(after - before, 0, 1);
        run_turn(schedule);
    }
}

static void test_schedule__a_connection_alone_need_not_wait(void **state)
{
    (void)state;
    struct schedule *schedule = setup();
    struct client alone = { .cost_us = 100000 };
    schedule_add(schedule, &alone.entry);
    for (unsigned i = 1; i <= 100; i++) {
        run_turn(schedule);
        assert_int_equal(alone.served, i);
    }
}

static void test_schedule__a_turn_ends_when_its_time_is_used_up(void **state)
{
    (void)state;
    struct schedule *schedule = setup();
    struct client a = { .cost_us = 400 }, b = { .cost_us = 400 };
    schedule_add(schedule, &a.entry);
    schedule_add(schedule, &b.entry);
    clock_us += 77777; // the loop slept before the turn began
    int64_t began_us = clock_us;
    run_turn(schedule);
    assert_in_range(clock_us - began_us, TURN_US, TURN_US + 400);
    assert_int_equal(schedule->turns_cut, 1);
    assert_true(a.served > 3 && b.served > 3); // more than one share each
    struct client other = { .cost_us = 400 };
    assert_false(schedule_is_free(schedule, &other.entry)); // others wait
    assert_non_null(schedule_take(schedule));
    assert_non_null(schedule_take(schedule));
    assert_null(schedule_take(schedule));
    assert_true(schedule_is_free(schedule, &other.entry));
}

static void test_schedule__a_turn_ends_when_its_bytes_are_used_up(void **state)
{
    (void)state;
    struct schedule *schedule = setup();
    struct client a = { .cost_us = 1 };
    schedule_begin(schedule);
    assert_true(schedule_goes_on(schedule));
    schedule_spend(schedule, BYTES + 1);
    assert_false(schedule_goes_on(schedule));
    schedule_add(schedule, &a.entry);
    assert_null(schedule_next(schedule));
    assert_int_equal(schedule->turns_cut, 0);
    schedule_new_turn(schedule, TURN_US, BYTES);
    assert_ptr_equal(schedule_next(schedule), &a.entry);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedule__connections_that_are_always_busy_get_the_same_time),
        cmocka_unit_test(test_schedule__a_cheap_request_waits_for_one_expensive_one_at_most),
        cmocka_unit_test(test_schedule__a_connection_alone_need_not_wait),
        cmocka_unit_test(test_schedule__a_turn_ends_when_its_time_is_used_up),
        cmocka_unit_test(test_schedule__a_turn_ends_when_its_bytes_are_used_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
