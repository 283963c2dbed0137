// SPDX-License-Identifier: MIT
#include "engine_test.h"

#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    JOBS_MAX = 400,
};

// One page behind the place where the last one ended: "a,b", then " ..." if others follow.
static const char *next_page(struct world *w, double now, enum list list, struct page *page)
{
    said(w, engine_jobs(w->engine, at(w, now), list, SLICE("q"), page, &w->error));
    buffer_clear(&w->text);
    for (size_t i = 0; i < page->found; i++) {
        struct job_view view;
        job_view(w->engine, page->jobs[i], &view);
        buffer_append(&w->text, i ? SLICE(",") : SLICE_EMPTY);
        buffer_append(&w->text, view.jid);
    }
    buffer_append(&w->text, page->more ? SLICE(" ...") : SLICE_EMPTY);
    buffer_append_char(&w->text, '\0');
    page->has_after = page->found > 0;
    page->after = page->last;
    return w->text.data;
}

static void test_page__goes_on_behind_the_last_job_whatever_came_or_went(void **state)
{
    struct world *w = *state;
    const struct job *room[2];
    struct page page = { .count = 2, .jobs = room };
    put(w, 0, "q", "a");
    put_in(w, 0, "lane", "b");
    put(w, 0, "q", "c");
    put_in(w, 0, "lane", "d");
    put(w, 0, "q", "e");
    assert_string_equal(next_page(w, 1, LIST_WAITING, &page), "a,b ...");
    (void)cancel(w, 1, "a");
    (void)cancel(w, 1, "b"); // the one behind which the next page begins
    put_with(w, 1,
             (struct put_request){ .jid = SLICE("first"), .has_priority = true, .priority = -1 });
    assert_string_equal(next_page(w, 1, LIST_WAITING, &page), "c,d ...");
    put(w, 1, "q", "f");
    assert_string_equal(next_page(w, 1, LIST_WAITING, &page), "e,f");
    assert_int_equal(page.total, 5);
    assert_string_equal(next_page(w, 1, LIST_WAITING, &page), "");
}

static void test_page__goes_on_backwards_too(void **state)
{
    struct world *w = *state;
    const struct job *room[2];
    struct page page = { .count = 2, .jobs = room };
    static const char *const jids[] = { "a", "b", "c", "d", "e" };
    for (size_t i = 0; i < 5; i++) {
        put(w, 0, "q", jids[i]);
    }
    (void)pop(w, 1, "q", "w1", 5);
    for (size_t i = 0; i < 4; i++) {
        complete(w, 2 + (double)i, "w1", jids[i]);
    }
    assert_string_equal(next_page(w, 6, LIST_COMPLETE, &page), "d,c ...");
    complete(w, 6, "w1", "e");
    delete_job(w, 6, "c");
    assert_string_equal(next_page(w, 6, LIST_COMPLETE, &page), "b,a");
}

static void test_page__counts_an_offset_from_behind_its_place(void **state)
{
    struct world *w = *state;
    const struct job *room[2];
    struct page page = { .count = 1, .jobs = room };
    put_later(w, 0, "q", "a", 100);
    put_later(w, 0, "q", "b", 200);
    put_later(w, 0, "q", "c", 300);
    assert_string_equal(next_page(w, 1, LIST_SCHEDULED, &page), "a ...");
    page.offset = 1;
    assert_string_equal(next_page(w, 1, LIST_SCHEDULED, &page), "c");
    page.offset = 0;
    page.count = 0;
    page.has_after = false;
    assert_string_equal(next_page(w, 1, LIST_SCHEDULED, &page), "");
}

static const char *number(size_t n, char text[16])
{
    (void)snprintf(text, 16, "%zu", n);
    return text;
}

// Jobs come and go between pages; those that stay are met once each, in order.
static void test_page__a_walk_meets_all_that_stay_once(void **state)
{
    struct world *w = *state;
    struct random random;
    random_init(&random);
    bool stays[JOBS_MAX] = { false };
    unsigned met[JOBS_MAX] = { 0 };
    size_t count = 0;
    char jid[16];
    for (; count < JOBS_MAX / 2; count++) {
        put_with(
            w, 0,
            (struct put_request){ .jid = name_of(number(count, jid)),
                                  .has_priority = true,
                                  .priority = (int32_t)random_below(&random, 5),
                                  .has_domain = true,
                                  .domain = random_below(&random, 2) ? SLICE("x") : SLICE_EMPTY });
        stays[count] = random_below(&random, 3) > 0;
    }
    const struct job *room[7];
    struct page page = { .count = 7, .jobs = room };
    size_t next = 0;
    do {
        said(w, engine_jobs(w->engine, at(w, 1), LIST_WAITING, SLICE("q"), &page, &w->error));
        for (size_t i = 0; i < page.found; i++) {
            struct job_view view;
            job_view(w->engine, page.jobs[i], &view);
            met[strtoul(view.jid.data, NULL, 10)]++;
        }
        page.has_after = true;
        page.after = page.last;
        for (unsigned i = 0; i < 5 && next < JOBS_MAX / 2; i++, next++) {
            if (!stays[next]) {
                (void)cancel(w, 1, number(next, jid));
            }
        }
        if (count < JOBS_MAX) {
            put_with(w, 1,
                     (struct put_request){ .jid = name_of(number(count++, jid)),
                                           .has_priority = true,
                                           .priority = (int32_t)random_below(&random, 5) });
        }
    } while (page.more);
    for (size_t i = 0; i < JOBS_MAX; i++) {
        assert_true(stays[i] ? met[i] == 1 : met[i] <= 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_page__goes_on_behind_the_last_job_whatever_came_or_went),
        SERVER_TEST(test_page__goes_on_backwards_too),
        SERVER_TEST(test_page__counts_an_offset_from_behind_its_place),
        SERVER_TEST(test_page__a_walk_meets_all_that_stay_once),
    };
    return cmocka_run_group_tests_name("page", tests, NULL, NULL);
}
