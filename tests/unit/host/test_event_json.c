// SPDX-License-Identifier: MIT
#include "host/event_json.h"

#include "test.h"

static void expect(const struct event *event, const char *json)
{
    struct buffer out;
    buffer_init(&out, &allocator_system, 1 << 16);
    event_json(event, &out);
    assert_int_equal(out.status, STATUS_OK);
    assert_slice_equal(buffer_slice(&out), json);
    buffer_release(&out);
}

static void test_event_json__has_only_the_fields_that_apply(void **state)
{
    (void)state;
    expect(&(struct event){ .kind = EVENT_PUT,
                            .when_us = 1784000000500000,
                            .jid = SLICE("bob"),
                            .queue = SLICE("mail") },
           "{\"event\":\"put\",\"when\":1784000000.5,\"jid\":\"bob\",\"queue\":\"mail\"}");
    expect(
        &(struct event){ .kind = EVENT_ADVANCED,
                         .when_us = 1000000,
                         .jid = SLICE("bob"),
                         .queue = SLICE("mail"),
                         .to = SLICE("sent") },
        "{\"event\":\"advanced\",\"when\":1,\"jid\":\"bob\",\"queue\":\"mail\",\"to\":\"sent\"}");
    expect(&(struct event){ .kind = EVENT_FAILED,
                            .when_us = 1,
                            .jid = SLICE("bob"),
                            .worker = SLICE("w1"),
                            .group = SLICE("smtp"),
                            .message = SLICE("connection \"refused\"\n") },
           "{\"event\":\"failed\",\"when\":0.000001,\"jid\":\"bob\",\"worker\":\"w1\",\"group\":"
           "\"smtp\",\"message\":\"connection \\\"refused\\\"\\n\"}");
    expect(&(struct event){ .kind = EVENT_CONFIG_SET,
                            .option = SLICE("heartbeat"),
                            .value = SLICE("60") },
           "{\"event\":\"config_set\",\"when\":0,\"option\":\"heartbeat\",\"value\":\"60\"}");
}

static void test_event_json__progress_is_a_part_of_one(void **state)
{
    (void)state;
    expect(&(struct event){ .kind = EVENT_PROGRESS,
                            .when_us = 2000000,
                            .jid = SLICE("bob"),
                            .message = SLICE("page 4"),
                            .progress_ppm = 400000 },
           "{\"event\":\"progress\",\"when\":2,\"jid\":\"bob\",\"message\":\"page "
           "4\",\"progress\":0.4}");
    expect(&(struct event){ .kind = EVENT_PROGRESS, .jid = SLICE("bob") },
           "{\"event\":\"progress\",\"when\":0,\"jid\":\"bob\",\"progress\":0}");
}

static void test_event_json__what_is_not_utf_8_is_still_json(void **state)
{
    (void)state;
    expect(&(struct event){ .kind = EVENT_CANCELED, .jid = SLICE("a\xff") },
           "{\"event\":\"canceled\",\"when\":0,\"jid\":\"a\xef\xbf\xbd\"}");
}

static void test_event_json__without_room_the_buffer_says_so(void **state)
{
    (void)state;
    struct buffer out;
    buffer_init(&out, &allocator_system, 20);
    event_json(&(struct event){ .kind = EVENT_PUT, .jid = SLICE("bob") }, &out);
    assert_int_equal(out.status, STATUS_TOO_LARGE);
    buffer_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_event_json__has_only_the_fields_that_apply),
        cmocka_unit_test(test_event_json__progress_is_a_part_of_one),
        cmocka_unit_test(test_event_json__what_is_not_utf_8_is_still_json),
        cmocka_unit_test(test_event_json__without_room_the_buffer_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
