// SPDX-License-Identifier: MIT
#include "server/http/event_ring.h"

#include "fault_alloc.h"
#include "test.h"

#include <stdio.h>

enum {
    PLENTY = 1 << 20,
};

static void add(struct event_ring *ring, const char *jid)
{
    char text[64];
    int size = snprintf(text, sizeof(text), "%llu %s", (unsigned long long)ring->last_id + 1, jid);
    const struct event event = { .kind = EVENT_FAILED,
                                 .channels = EVENT_TO_LOG | EVENT_TO_WORKER,
                                 .jid = slice_from_cstr(jid),
                                 .queue = SLICE("mail"),
                                 .worker = SLICE("w1") };
    event_ring_add(ring, &event, slice_make(text, (size_t)size));
}

static void expect_text(const struct event_ring *ring, size_t index, const char *wanted)
{
    struct event event;
    struct slice text;
    assert_true(event_ring_at(ring, index, &event, &text));
    assert_slice_equal(text, wanted);
    assert_slice_equal(event.queue, "mail");
    assert_slice_equal(event.worker, "w1");
    assert_slice_equal(event.jid, strchr(wanted, ' ') + 1);
    assert_int_equal(event.kind, EVENT_FAILED);
    assert_int_equal(event.channels, EVENT_TO_LOG | EVENT_TO_WORKER);
}

static void expect_end(const struct event_ring *ring, size_t index)
{
    struct event event;
    struct slice text;
    assert_false(event_ring_at(ring, index, &event, &text));
}

static void test_event_ring__keeps_the_newest(void **state)
{
    (void)state;
    struct event_ring ring;
    event_ring_init(&ring, &allocator_system, 3, PLENTY, 100);
    expect_end(&ring, 0);
    add(&ring, "a");
    add(&ring, "b");
    add(&ring, "c");
    expect_text(&ring, 0, "101 a");
    add(&ring, "d");
    add(&ring, "e");
    expect_text(&ring, 0, "103 c");
    expect_text(&ring, 1, "104 d");
    expect_text(&ring, 2, "105 e");
    expect_end(&ring, 3);
    assert_int_equal(ring.last_id, 105);
    event_ring_release(&ring);
}

static void test_event_ring__knows_how_far_back_it_reaches(void **state)
{
    (void)state;
    struct event_ring ring;
    event_ring_init(&ring, &allocator_system, 2, PLENTY, 100);
    assert_false(event_ring_reaches(&ring, 99));
    assert_true(event_ring_reaches(&ring, 100)); // nothing has happened since
    assert_false(event_ring_reaches(&ring, 101));
    add(&ring, "a");
    add(&ring, "b");
    assert_true(event_ring_reaches(&ring, 100));
    add(&ring, "c");
    assert_false(event_ring_reaches(&ring, 100));
    assert_true(event_ring_reaches(&ring, 101));
    assert_true(event_ring_reaches(&ring, 103));
    assert_false(event_ring_reaches(&ring, 104));
    assert_false(event_ring_reaches(&ring, 0));
    assert_false(event_ring_reaches(&ring, UINT64_MAX));
    event_ring_release(&ring);
}

static void test_event_ring__what_cannot_be_kept_leaves_no_hole(void **state)
{
    (void)state;
    struct event_ring ring;
    event_ring_init(&ring, &allocator_system, 10, 200, 100);
    add(&ring, "a");
    char large[200];
    memset(large, 'x', sizeof(large));
    event_ring_add(&ring, &(struct event){ .kind = EVENT_PUT }, slice_make(large, sizeof(large)));
    assert_int_equal(ring.count, 0);
    assert_int_equal(ring.bytes, 0);
    assert_false(event_ring_reaches(&ring, 101));
    assert_true(event_ring_reaches(&ring, 102));
    add(&ring, "b");
    expect_text(&ring, 0, "103 b");
    event_ring_skip(&ring);
    expect_end(&ring, 0);
    assert_false(event_ring_reaches(&ring, 103));
    assert_true(event_ring_reaches(&ring, 104));
    event_ring_release(&ring);
}

static void test_event_ring__is_bounded_in_bytes(void **state)
{
    (void)state;
    struct event_ring ring;
    event_ring_init(&ring, &allocator_system, 1000, 1000, 0);
    for (int i = 0; i < 1000; i++) {
        add(&ring, "job");
        assert_true(ring.bytes <= 1000);
        assert_true(event_ring_reaches(&ring, ring.last_id - ring.count));
    }
    assert_true(ring.count > 5 && ring.count < 50);
    event_ring_release(&ring);
}

static void test_event_ring__without_memory_there_is_a_gap(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct event_ring ring;
        event_ring_init(&ring, &fault.allocator, 2, PLENTY, 0);
        add(&ring, "a");
        add(&ring, "b");
        add(&ring, "c");
        assert_int_equal(ring.last_id, 3);
        assert_true(event_ring_reaches(&ring, 3));
        assert_true(fault.failed || event_ring_reaches(&ring, 1));
        struct event event;
        struct slice text;
        for (size_t i = 0; event_ring_at(&ring, i, &event, &text); i++) {
            char wanted[32];
            (void)snprintf(wanted, sizeof(wanted), "%zu",
                           (size_t)ring.last_id - ring.count + 1 + i);
            assert_slice_equal(slice_sub(text, 0, 1), wanted);
        }
        event_ring_release(&ring);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_event_ring__keeps_the_newest),
        cmocka_unit_test(test_event_ring__knows_how_far_back_it_reaches),
        cmocka_unit_test(test_event_ring__what_cannot_be_kept_leaves_no_hole),
        cmocka_unit_test(test_event_ring__is_bounded_in_bytes),
        cmocka_unit_test(test_event_ring__without_memory_there_is_a_gap),
    };
    return cmocka_run_group_tests_name("event_ring", tests, NULL, NULL);
}
