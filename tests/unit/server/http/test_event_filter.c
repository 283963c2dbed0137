// SPDX-License-Identifier: MIT
#include "server/http/event_filter.h"

#include "fault_alloc.h"
#include "test.h"

static const struct event put = {
    .kind = EVENT_PUT, .channels = EVENT_TO_LOG, .jid = { "ann", 3 }, .queue = { "te lex", 6 }
};
static const struct event lost = {
    .kind = EVENT_LOCK_LOST,
    .channels = EVENT_TO_LOG | EVENT_TO_WORKER,
    .jid = { "bob", 3 },
    .worker = { "w1", 2 },
};
static const struct event popped = {
    .kind = EVENT_POPPED, .channels = EVENT_TO_TRACKER, .jid = { "ann", 3 }, .queue = { "mail", 4 }
};
static const struct event finished = { .kind = EVENT_FINISHED,
                                       .channels = EVENT_TO_WAITER,
                                       .jid = { "ann", 3 } };

static const struct row {
    const char *query;
    bool put, lost, popped;
} rows[] = {
    { "", true, true, false },
    { "&&", true, true, false },
    { "queue=te+lex", true, false, false },
    { "queue=te%20lex&queue=fax", true, false, false },
    { "queue=te", false, false, false },
    { "queue=te+lex+", false, false, false },
    { "jid=bob", false, true, false },
    { "jid=ann&jid=bob", true, true, false },
    { "kind=put", true, false, false },
    { "kind=put&kind=lock_lost", true, true, false },
    { "kind=popped", false, false, false }, // it does not go to the log
    { "tracked=true", false, false, true },
    { "tracked=true&kind=put", false, false, false },
    { "tracked=true&queue=mail&jid=ann&kind=popped", false, false, true },
    { "tracked=true&tracked=false", true, true, false },
    { "worker=w1", false, true, false },
    { "worker=w2&worker=w1", false, true, false },
    { "worker=w2", false, false, false },
    { "worker=w1&tracked=true", false, true, true },
    { "worker=w1&queue=mail", false, false, false },
    { "last_event_id=17", true, true, false },
};

static void test_event_filter__tells_what_was_asked_for(void **state)
{
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].query); i++) {
        struct event_filter filter;
        struct error error;
        event_filter_init(&filter, &allocator_system);
        if (event_filter_read(&filter, slice_from_cstr(rows[i].query), &error)) {
            fail_msg("%s: %s", rows[i].query, error_sentence(&error));
        }
        if (event_filter_matches(&filter, &put) != rows[i].put ||
            event_filter_matches(&filter, &lost) != rows[i].lost ||
            event_filter_matches(&filter, &popped) != rows[i].popped ||
            event_filter_matches(&filter, &finished)) {
            fail_msg("%s", rows[i].query);
        }
        event_filter_release(&filter);
    }
}

static void test_event_filter__refuses_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *query, *sentence;
    } wrong[] = {
        { "kind=boom", "kind: there is no event boom" },
        { "kind=", "kind: there is no event " },
        { "jid", "jid: it must be a name of 1 to 255 bytes" },
        { "worker=%4", "worker: its value is badly escaped" },
        { "Queue=mail", "there is no parameter Queue; there are queue, jid, kind, tracked, worker "
                        "and last_event_id" },
        { "tracked=1", "tracked: it must be true or false, not 1" },
        { "last_event_id=18446744073709551616",
          "last_event_id: it must be the number of an event, not 18446744073709551616" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, wrong, wrong[i].query); i++) {
        struct event_filter filter;
        struct error error;
        event_filter_init(&filter, &allocator_system);
        assert_int_equal(event_filter_read(&filter, slice_from_cstr(wrong[i].query), &error),
                         STATUS_INVALID);
        assert_string_equal(error_sentence(&error), wrong[i].sentence);
        event_filter_release(&filter);
    }
}

static void test_event_filter__the_header_is_stronger_than_the_query(void **state)
{
    (void)state;
    struct event_filter filter;
    struct error error;
    event_filter_init(&filter, &allocator_system);
    assert_int_equal(event_filter_read_last_id(&filter, SLICE_EMPTY, &error), STATUS_OK);
    assert_false(filter.has_last_id);
    assert_int_equal(event_filter_read(&filter, SLICE("last_event_id=1"), &error), STATUS_OK);
    assert_int_equal(event_filter_read_last_id(&filter, SLICE("2"), &error), STATUS_OK);
    assert_true(filter.has_last_id);
    assert_int_equal(filter.last_id, 2);
    event_filter_release(&filter);
}

static void test_event_filter__without_memory(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct event_filter filter;
        struct error error;
        event_filter_init(&filter, &fault.allocator);
        enum status status =
            event_filter_read(&filter, SLICE("queue=a%20b&jid=c&worker=d"), &error);
        FAULT_ALLOC_EXPECT(&fault, status);
        event_filter_release(&filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_event_filter__tells_what_was_asked_for),
        cmocka_unit_test(test_event_filter__refuses_by_name),
        cmocka_unit_test(test_event_filter__the_header_is_stronger_than_the_query),
        cmocka_unit_test(test_event_filter__without_memory),
    };
    return cmocka_run_group_tests_name("event_filter", tests, NULL, NULL);
}
