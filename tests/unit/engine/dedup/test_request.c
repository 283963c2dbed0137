// SPDX-License-Identifier: MIT
// A request that is repeated with its id is answered as the first time.
#include "engine_test.h"

#include "engine/dedup/request.h"

static const struct request_words *words_of(const char *id, uint64_t digest)
{
    static struct request_words words;
    words = (struct request_words){ .id = name_of(id), .digest = digest, .answer_max = 20 };
    return &words;
}

// What it is answered; "new" when it is to be done, and "not asked" when that was refused.
static const char *ask(struct world *w, double now, const char *id, uint64_t digest)
{
    bool known = false;
    struct slice answer;
    said(w, engine_request_begin(w->engine, at(w, now), words_of(id, digest), &known, &answer,
                                 &w->error));
    buffer_clear(&w->text);
    buffer_append(&w->text, known ? answer : SLICE("new"));
    buffer_append_char(&w->text, '\0');
    return w->text.data;
}

static void done(struct world *w, double now, const char *id, const char *answer)
{
    assert_string_equal(ask(w, now, id, 7), "new");
    engine_request_end(w->engine, slice_from_cstr(answer));
}

// Whether it is remembered, with this answer.
static bool knows(struct world *w, double now, const char *id, const char *answer)
{
    bool known = strcmp(ask(w, now, id, 7), answer) == 0;
    engine_request_cancel(w->engine);
    return known;
}

static void test_request__is_answered_as_the_first_time(void **state)
{
    struct world *w = *state;
    done(w, 1, "r1", "ann");
    assert_string_equal(ask(w, 2, "r1", 7), "ann");
    reload(w);
    assert_string_equal(ask(w, 2, "r1", 7), "ann");
    assert_true(knows(w, 86400, "r1", "ann"));
}

static void test_request__that_was_refused_is_tried_again(void **state)
{
    struct world *w = *state;
    assert_string_equal(ask(w, 1, "r1", 7), "new");
    engine_request_cancel(w->engine);
    done(w, 1, "r1", "ann");
}

static void test_request__with_other_words_is_refused(void **state)
{
    struct world *w = *state;
    done(w, 1, "r1", "ann");
    refused(w, STATUS_INVALID, "request r1 was another one before");
    ask(w, 1, "r1", 8);
    refused(w, STATUS_INVALID, "request");
    ask(w, 1, "", 8);
}

static void test_request__is_forgotten_after_a_time(void **state)
{
    struct world *w = *state;
    set(w, "request-history", "60");
    done(w, 1, "r1", "ann");
    assert_true(knows(w, 60.9, "r1", "ann"));
    reload(w);
    done(w, 61, "r1", "bob");
    assert_true(knows(w, 62, "r1", "bob"));
}

static void test_request__the_oldest_is_forgotten_when_there_are_too_many(void **state)
{
    struct world *w = *state;
    set(w, "request-history-count", "2");
    done(w, 1, "r1", "1");
    done(w, 1, "r2", "2");
    done(w, 1, "r3", "3");
    reload(w);
    assert_false(knows(w, 1, "r1", "1"));
    assert_true(knows(w, 1, "r2", "2"));
    assert_true(knows(w, 1, "r3", "3"));
    set(w, "request-history-count", "0");
    assert_string_equal(ask(w, 1, "r4", 7), "new");
    engine_request_end(w->engine, SLICE("4"));
    assert_false(knows(w, 1, "r4", "4"));
}

static void test_request__those_that_are_too_old_go_by_themselves(void **state)
{
    struct world *w = *state;
    struct buffer empty, after;
    buffer_init(&empty, &allocator_system, SIZE_MAX / 2);
    buffer_init(&after, &allocator_system, SIZE_MAX / 2);
    tick(w, 1);
    save(w, &empty);
    for (int i = 0; i < 150; i++) {
        char id[20];
        (void)snprintf(id, sizeof(id), "r%d", i);
        done(w, 1, id, "a");
    }
    tick(w, 86401);
    tick(w, 86402);
    save(w, &after);
    assert_int_equal(after.size, empty.size);
    buffer_release(&empty);
    buffer_release(&after);
}

static void test_request__an_answer_can_be_amended(void **state)
{
    struct world *w = *state;
    done(w, 1, "r1", "r-r");
    engine_request_amend(w->engine, SLICE("r1"), SLICE("rrr"));
    engine_request_amend(w->engine, SLICE("r2"), SLICE("rrr"));
    reload(w);
    assert_true(knows(w, 1, "r1", "rrr"));
}

static void test_request__without_memory_nothing_changes(void **state)
{
    struct world *w = *state;
    done(w, 1, "r0", "0");
    bool known = true;
    struct slice answer;
    enum status status = STATUS_NO_MEMORY;
    for (size_t i = 1; status == STATUS_NO_MEMORY; i++) {
        w->fault.calls = 0;
        w->fault.fail_at = i;
        status = engine_request_begin(w->engine, at(w, 1), words_of("r1", 7), &known, &answer,
                                      &w->error);
    }
    assert_int_equal(status, STATUS_OK);
    assert_false(known);
    w->fault.fail_at = 0;
    engine_request_end(w->engine, SLICE("1"));
    assert_true(knows(w, 1, "r1", "1"));
}

static void test_request__the_digest_tells_words_apart(void **state)
{
    (void)state;
    const struct slice ab_c[] = { SLICE("ab"), SLICE("c") }, a_bc[] = { SLICE("a"), SLICE("bc") };
    const struct slice abc[] = { SLICE("abc") };
    uint64_t one = request_digest(SLICE("Q.PUT"), (struct slices){ ab_c, 2 });
    assert_int_equal(one, request_digest(SLICE("Q.PUT"), (struct slices){ ab_c, 2 }));
    assert_int_not_equal(one, request_digest(SLICE("Q.PUT"), (struct slices){ a_bc, 2 }));
    assert_int_not_equal(one, request_digest(SLICE("Q.PUT"), (struct slices){ abc, 1 }));
    assert_int_not_equal(one, request_digest(SLICE("Q.RECUR"), (struct slices){ ab_c, 2 }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_request__is_answered_as_the_first_time),
        SERVER_TEST(test_request__that_was_refused_is_tried_again),
        SERVER_TEST(test_request__with_other_words_is_refused),
        SERVER_TEST(test_request__is_forgotten_after_a_time),
        CLIENT_TEST(test_request__is_forgotten_after_a_time),
        SERVER_TEST(test_request__the_oldest_is_forgotten_when_there_are_too_many),
        SERVER_TEST(test_request__those_that_are_too_old_go_by_themselves),
        SERVER_TEST(test_request__an_answer_can_be_amended),
        SERVER_TEST(test_request__without_memory_nothing_changes),
        cmocka_unit_test(test_request__the_digest_tells_words_apart),
    };
    return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
