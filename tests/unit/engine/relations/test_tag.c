// SPDX-License-Identifier: MIT
#include "engine_test.h"

static void test_tag__tags_stand_in_the_order_in_which_they_were_given(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    tag(w, 1, "a", "red,blue");
    tag(w, 2, "a", "green,red,green");
    assert_string_equal(tags_of(w, "a"), "red,blue,green");
    expect_events(w, "log: put a in q");
}

static void test_tag__removing_what_is_not_there_is_passed_over(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    tag(w, 1, "a", "red,blue,green");
    untag(w, 2, "a", "blue,pink,blue");
    assert_string_equal(tags_of(w, "a"), "red,green");
    tag(w, 3, "a", "blue");
    assert_string_equal(tags_of(w, "a"), "red,green,blue");
    untag(w, 4, "a", "red,green,blue");
    assert_string_equal(tags_of(w, "a"), "");
}

static void test_tag__a_tag_that_is_there_already_fits_at_the_limit(void **state)
{
    struct world *w = *state;
    set(w, "max-tags", "2");
    put(w, 0, "q", "a");
    tag(w, 1, "a", "red,blue");
    tag(w, 1, "a", "blue");
    tag(w, 1, "a", "blue,red");
    refused(w, STATUS_TOO_LARGE, "3 tags; max-tags allows 2");
    tag(w, 1, "a", "blue,green");
    put_with(w, 2,
             (struct put_request){
                 .jid = SLICE("b"), .has_tags = true, .tags = slices_of(w, "red,red") });
    tag(w, 2, "b", "blue,blue");
    assert_string_equal(tags_of(w, "b"), "red,blue");
    recur_with(w, 3,
               (struct recur_request){ .queue = SLICE("q"),
                                       .jid = SLICE("r"),
                                       .klass = SLICE("k"),
                                       .data = SLICE("{}"),
                                       .interval_us = us(60),
                                       .tags = slices_of(w, "red,blue") });
    said(w, engine_recur_tag(w->engine, at(w, 3), SLICE("r"), slices_of(w, "blue"), &w->error));
    refused(w, STATUS_TOO_LARGE, "3 tags; max-tags allows 2");
    said(w, engine_recur_tag(w->engine, at(w, 3), SLICE("r"), slices_of(w, "green"), &w->error));
}

static void test_tag__of_a_job_that_does_not_exist_is_refused(void **state)
{
    struct world *w = *state;
    refused(w, STATUS_NOT_FOUND, "a does not exist");
    tag(w, 0, "a", "red");
    refused(w, STATUS_NOT_FOUND, "a does not exist");
    untag(w, 0, "a", "red");
}

static void test_tag__jobs_are_listed_in_the_order_in_which_they_got_it(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "c");
    put(w, 0, "q", "b");
    put(w, 0, "q", "a");
    tag(w, 1, "b", "red");
    tag(w, 2, "c", "red");
    tag(w, 3, "a", "red");
    tag(w, 4, "b", "red");
    assert_string_equal(tagged(w, "red", 0, 9), "3: b,c,a");
    assert_string_equal(tagged(w, "red", 1, 1), "3: c");
    assert_string_equal(tagged(w, "red", 2, 9), "3: a");
    assert_string_equal(tagged(w, "red", 3, 9), "3: ");
    assert_string_equal(tagged(w, "blue", 0, 9), "0: ");
    untag(w, 5, "b", "red");
    tag(w, 6, "b", "red");
    assert_string_equal(tagged(w, "red", 0, 9), "3: c,a,b");
    assert_int_equal(job_tag_time(engine_get(w->engine, SLICE("c")), SLICE("red")), us(2));
    assert_int_equal(job_tag_time(engine_get(w->engine, SLICE("b")), SLICE("red")), us(6));
}

static void test_tag__the_most_used_come_first_and_those_of_one_job_not_at_all(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    put(w, 0, "q", "c");
    tag(w, 1, "a", "two,three,one");
    tag(w, 1, "b", "three,two");
    tag(w, 1, "c", "three");
    assert_string_equal(top_tags(w), "three 3,two 2");
    // A tag that a job has already does not count twice.
    tag(w, 2, "a", "one");
    assert_string_equal(top_tags(w), "three 3,two 2");
    untag(w, 3, "a", "three");
    untag(w, 3, "b", "three");
    assert_string_equal(top_tags(w), "two 2");
}

static void test_tag__a_job_that_goes_takes_its_tags_along(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    put(w, 0, "q", "b");
    tag(w, 1, "a", "red");
    tag(w, 1, "b", "red");
    assert_string_equal(top_tags(w), "red 2");
    cancel(w, 2, "a");
    assert_string_equal(tagged(w, "red", 0, 9), "1: b");
    assert_string_equal(top_tags(w), "");
}

static void test_tag__stays_over_the_life_of_a_job(void **state)
{
    struct world *w = *state;
    put(w, 0, "q", "a");
    tag(w, 0, "a", "red");
    pop(w, 1, "q", "w1", 1);
    retry(w, 2, "w1", "a");
    pop(w, 3, "q", "w1", 1);
    complete(w, 4, "w1", "a");
    assert_string_equal(tags_of(w, "a"), "red");
    assert_string_equal(tagged(w, "red", 0, 9), "1: a");
    tag(w, 5, "a", "blue");
    assert_string_equal(tags_of(w, "a"), "red,blue");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_tag__tags_stand_in_the_order_in_which_they_were_given),
        SERVER_TEST(test_tag__removing_what_is_not_there_is_passed_over),
        SERVER_TEST(test_tag__a_tag_that_is_there_already_fits_at_the_limit),
        SERVER_TEST(test_tag__of_a_job_that_does_not_exist_is_refused),
        SERVER_TEST(test_tag__jobs_are_listed_in_the_order_in_which_they_got_it),
        CLIENT_TEST(test_tag__jobs_are_listed_in_the_order_in_which_they_got_it),
        SERVER_TEST(test_tag__the_most_used_come_first_and_those_of_one_job_not_at_all),
        SERVER_TEST(test_tag__a_job_that_goes_takes_its_tags_along),
        SERVER_TEST(test_tag__stays_over_the_life_of_a_job),
    };
    return cmocka_run_group_tests_name("tag", tests, NULL, NULL);
}
