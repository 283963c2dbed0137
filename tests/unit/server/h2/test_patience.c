// SPDX-License-Identifier: MIT
#include "server/h2/patience.h"

#include "test.h"

enum {
    SECOND = 1000000,
    MIN_PING = 10 * SECOND,
};

static void test_patience__pings_at_the_allowed_pace_are_no_strikes(void **state)
{
    (void)state;
    struct patience patience = { .min_ping_us = MIN_PING };
    for (int64_t at_us = SECOND; at_us < 1000 * (int64_t)MIN_PING; at_us += MIN_PING) {
        assert_true(patience_ping(&patience, at_us));
    }
}

static void test_patience__the_third_ping_that_is_too_soon_is_one_too_many(void **state)
{
    (void)state;
    struct patience patience = { .min_ping_us = MIN_PING };
    int64_t at_us = SECOND;
    assert_true(patience_ping(&patience, at_us));
    assert_true(patience_ping(&patience, at_us += SECOND));
    assert_true(patience_ping(&patience, at_us += SECOND));
    assert_false(patience_ping(&patience, at_us + SECOND));
}

static void test_patience__an_answer_clears_the_strikes(void **state)
{
    (void)state;
    struct patience patience = { .min_ping_us = MIN_PING };
    for (int64_t at_us = SECOND; at_us < 1000 * (int64_t)SECOND; at_us += SECOND) {
        assert_true(patience_ping(&patience, at_us));
        patience_answered(&patience);
    }
}

static void test_patience__without_a_limit_pings_count_as_other_frames_do(void **state)
{
    (void)state;
    struct patience patience = { .min_ping_us = 0 };
    for (int i = 0; i < PATIENCE_IDLE_FRAMES_MAX; i++) {
        assert_true(patience_ping(&patience, SECOND));
    }
    assert_false(patience_ping(&patience, SECOND));
    patience_answered(&patience);
    assert_true(patience_idle_frame(&patience));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patience__pings_at_the_allowed_pace_are_no_strikes),
        cmocka_unit_test(test_patience__the_third_ping_that_is_too_soon_is_one_too_many),
        cmocka_unit_test(test_patience__an_answer_clears_the_strikes),
        cmocka_unit_test(test_patience__without_a_limit_pings_count_as_other_frames_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
