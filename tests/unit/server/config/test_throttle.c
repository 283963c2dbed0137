// SPDX-License-Identifier: MIT
#include "server/config/throttle.h"

#include "test.h"

#include <stdio.h>

#define SECOND ((int64_t)1000000)

static struct throttle throttle;
static const struct throttle_who here = { { "10.0.0.1", 8 }, { "ann", 3 } };

static struct throttle_who ann_from(struct slice address)
{
    return (struct throttle_who){ address, SLICE("ann") };
}

static int set_up(void **state)
{
    (void)state;
    throttle_init(&throttle, (struct hash_seed){ 1, 2 });
    return 0;
}

static void test_throttle__the_fifth_failure_within_a_minute_makes_wait(void **state)
{
    (void)state;
    int64_t now = 1000 * SECOND;
    for (int i = 0; i < THROTTLE_FAILURES_FREE; i++) {
        assert_int_equal(throttle_wait_us(&throttle, here, now), 0);
        (void)throttle_failed(&throttle, here, now);
    }
    assert_int_equal(throttle_wait_us(&throttle, here, now), SECOND);
    assert_int_equal(throttle_wait_us(&throttle, here, now + SECOND), 0);
    assert_int_equal(throttle_wait_us(&throttle, ann_from(SLICE("10.0.0.2")), now), 0);
}

static void test_throttle__failures_far_apart_do_not_count_together(void **state)
{
    (void)state;
    int64_t now = 1000 * SECOND;
    for (int i = 0; i < 50; i++) {
        assert_int_equal(throttle_failed(&throttle, here, now), 0);
        now += 20 * SECOND;
    }
}

static void test_throttle__the_wait_grows_and_has_a_maximum(void **state)
{
    (void)state;
    int64_t now = 1000 * SECOND;
    int64_t wait = 0;
    for (int i = 0; i < THROTTLE_FAILURES_FREE; i++) {
        (void)throttle_failed(&throttle, here, now);
    }
    for (int i = 0; i < 60; i++) {
        int64_t next = throttle_wait_us(&throttle, here, now);
        assert_int_equal(next, wait == 0                 ? SECOND
                               : wait * 2 < 300 * SECOND ? wait * 2
                                                         : 300 * SECOND);
        wait = next;
        now += wait;
        assert_int_equal(throttle_wait_us(&throttle, here, now), 0);
        (void)throttle_failed(&throttle, here, now);
    }
    now += 601 * SECOND;
    (void)throttle_failed(&throttle, here, now);
    assert_int_equal(throttle_wait_us(&throttle, here, now), 0);
}

static void test_throttle__a_network_of_ipv6_is_one_address(void **state)
{
    (void)state;
    for (int i = 0; i < THROTTLE_FAILURES_FREE; i++) {
        char text[64];
        int size = snprintf(text, sizeof(text), "[2001:db8:1:2:%x::1]", (unsigned)i + 1);
        (void)throttle_failed(&throttle, ann_from(slice_make(text, (size_t)size)), 0);
    }
    assert_int_equal(throttle_wait_us(&throttle, ann_from(SLICE("2001:db8:1:2::9")), 0), SECOND);
    assert_int_equal(throttle_wait_us(&throttle, ann_from(SLICE("2001:db8:1:3::9")), 0), 0);
}

static void test_throttle__an_ipv4_address_is_the_same_in_ipv6(void **state)
{
    (void)state;
    for (int i = 0; i < THROTTLE_FAILURES_FREE; i++) {
        (void)throttle_failed(&throttle, i % 2 ? ann_from(SLICE("::ffff:10.0.0.1")) : here, 0);
    }
    assert_int_equal(throttle_wait_us(&throttle, here, 0), SECOND);
    assert_int_equal(throttle_wait_us(&throttle, ann_from(SLICE("::ffff:10.0.0.1")), 0), SECOND);
    assert_int_equal(throttle_wait_us(&throttle, ann_from(SLICE("unix")), 0), 0);
    assert_int_equal(throttle_wait_us(&throttle, ann_from(SLICE_EMPTY), 0), 0);
}

static void fail_from_everywhere(int count, int64_t now)
{
    for (int i = 0; i < count; i++) {
        char text[32];
        int size =
            snprintf(text, sizeof(text), "10.%d.%d.%d", i >> 16 & 255, i >> 8 & 255, i & 255);
        (void)throttle_failed(&throttle, ann_from(slice_make(text, (size_t)size)), now);
    }
}

static void test_throttle__failures_from_everywhere_refuse_no_fresh_address(void **state)
{
    (void)state;
    int64_t now = 1000 * SECOND;
    for (int i = 0; i < 20; i++) {
        fail_from_everywhere(10000, now);
        assert_int_equal(throttle_wait_us(&throttle, ann_from(SLICE("192.0.2.1")), now), 0);
    }
}

static void test_throttle__a_source_is_the_same_for_a_network_in_any_notation(void **state)
{
    (void)state;
    uint64_t source = throttle_source(&throttle, SLICE("[2001:db8:1:2::1]"));
    assert_int_equal(source, throttle_source(&throttle, SLICE("2001:db8:1:2:ffff::9")));
    assert_int_equal(source, throttle_source(&throttle, SLICE("2001:db8:1:2::1%eth0")));
    assert_int_not_equal(source, throttle_source(&throttle, SLICE("[2001:db8:1:3::1]")));
    assert_int_equal(throttle_source(&throttle, SLICE("[::ffff:10.0.0.1]")),
                     throttle_source(&throttle, SLICE("10.0.0.1")));
    assert_int_equal(throttle_failures(&throttle, source, 0), 0);
    assert_int_equal(throttle_failed(&throttle, ann_from(SLICE("[2001:db8:1:2::7]")), 0), 0);
    assert_int_equal(throttle_failures(&throttle, source, 0), 1);
    assert_int_equal(throttle_failures(&throttle, source, 61 * SECOND), 0);
}

static void test_throttle__a_flood_of_addresses_pushes_out_no_good_one(void **state)
{
    (void)state;
    int64_t now = 1000 * SECOND;
    const struct throttle_who worker = ann_from(SLICE("192.0.2.2"));
    throttle_succeeded(&throttle, worker, now);
    fail_from_everywhere(100000, now);
    assert_int_equal(throttle_wait_us(&throttle, worker, now), 0);
}

static void test_throttle__a_good_address_that_fails_has_to_wait_too(void **state)
{
    (void)state;
    throttle_succeeded(&throttle, here, 0);
    for (int i = 0; i < THROTTLE_FAILURES_FREE; i++) {
        (void)throttle_failed(&throttle, here, SECOND);
        throttle_succeeded(&throttle, here, SECOND);
    }
    assert_int_equal(throttle_wait_us(&throttle, here, SECOND), SECOND);
}

static void test_throttle__other_users_from_the_same_address_go_on(void **state)
{
    (void)state;
    const struct throttle_who bob = { here.address, SLICE("bob") };
    for (int i = 0; i < 30; i++) {
        if (!throttle_wait_us(&throttle, here, 0)) {
            (void)throttle_failed(&throttle, here, 0);
        }
        assert_int_equal(throttle_wait_us(&throttle, bob, 0), 0);
    }
    assert_true(throttle_wait_us(&throttle, here, 0) > 0);
}

static void test_throttle__one_user_who_fails_for_hours_holds_up_no_other(void **state)
{
    (void)state;
    const struct throttle_who bob = { here.address, SLICE("bob") };
    for (int64_t now = 0; now < 7200 * SECOND; now += SECOND) {
        if (throttle_wait_us(&throttle, here, now) == 0) {
            (void)throttle_failed(&throttle, here, now);
        }
        assert_int_equal(throttle_wait_us(&throttle, bob, now), 0);
    }
}

static void test_throttle__who_tries_many_names_has_to_wait(void **state)
{
    (void)state;
    const struct throttle_who known = { here.address, SLICE("known") };
    throttle_succeeded(&throttle, known, 0);
    for (int i = 0; i < THROTTLE_ADDRESS_FAILURES_FREE; i++) {
        char name[16];
        int size = snprintf(name, sizeof(name), "name-%d", i);
        const struct throttle_who who = { here.address, slice_make(name, (size_t)size) };
        assert_int_equal(throttle_wait_us(&throttle, who, 0), 0);
        (void)throttle_failed(&throttle, who, 0);
    }
    assert_int_equal(throttle_wait_us(&throttle, here, 0), SECOND);
    assert_int_equal(throttle_wait_us(&throttle, known, 0), 0);
    assert_int_equal(throttle_wait_us(&throttle, ann_from(SLICE("10.0.0.2")), 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_throttle__the_fifth_failure_within_a_minute_makes_wait, set_up),
        cmocka_unit_test_setup(test_throttle__failures_far_apart_do_not_count_together, set_up),
        cmocka_unit_test_setup(test_throttle__the_wait_grows_and_has_a_maximum, set_up),
        cmocka_unit_test_setup(test_throttle__a_network_of_ipv6_is_one_address, set_up),
        cmocka_unit_test_setup(test_throttle__an_ipv4_address_is_the_same_in_ipv6, set_up),
        cmocka_unit_test_setup(test_throttle__failures_from_everywhere_refuse_no_fresh_address,
                               set_up),
        cmocka_unit_test_setup(test_throttle__a_source_is_the_same_for_a_network_in_any_notation,
                               set_up),
        cmocka_unit_test_setup(test_throttle__a_flood_of_addresses_pushes_out_no_good_one, set_up),
        cmocka_unit_test_setup(test_throttle__a_good_address_that_fails_has_to_wait_too, set_up),
        cmocka_unit_test_setup(test_throttle__other_users_from_the_same_address_go_on, set_up),
        cmocka_unit_test_setup(test_throttle__one_user_who_fails_for_hours_holds_up_no_other,
                               set_up),
        cmocka_unit_test_setup(test_throttle__who_tries_many_names_has_to_wait, set_up),
    };
    return cmocka_run_group_tests_name("throttle", tests, NULL, NULL);
}
