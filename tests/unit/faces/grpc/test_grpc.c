// SPDX-License-Identifier: MIT
// The gRPC face from the message to the answer, over a real engine.
#include "grpc_test.h"

#include "fault_alloc.h"
#include "wire/grpc_frame.h"
#include "wire/protobuf.h"

#include <stdio.h>

#define LEASE "lease { jid: 'a' worker: 'w' token: 1 }"

static void test_grpc__a_job_is_put_popped_and_completed(void **state)
{
    struct desk *desk = *state;
    says(desk, "Add",
         "namespace: 'app' queue: 'mail' klass: 'Send' data { json: '{\"to\":1}' } jid: 'a' tags: "
         "'t' "
         "domain: 'd'",
         "jid: 'a'");
    says(
        desk, "Next", "namespace: 'app' queues: 'mail' worker: 'w' lease { seconds: 30 }",
        "tasks { namespace: 'app' jid: 'a' klass: 'Send' queue: 'mail' data { json: '{\"to\":1}' } "
        "token: 1 expire_time { +30s } lease_duration { 30s } remaining: 5 attempts: 1 domain: 'd' "
        "tags: 't' }");
    says(desk, "Start", "namespace: 'app' " LEASE " pid: 4711", "{}");
    says(desk, "Report",
         "namespace: 'app' " LEASE " progress { fraction: 0.5 message: 'half' } log_lines: 'one' "
         "log_lines: 'two' checkpoint: 'page-4\\xff'",
         "{}");
    says(desk, "Keepalive",
         "namespace: 'app' worker: 'w' leases { jid: 'a' token: 1 lease { seconds: 60 } } "
         "leases { jid: 'x' token: 9 } leases { jid: 'a' token: 2 }",
         "leases { jid: 'a' token: 1 lease_duration { 60s } expire_time { +60s } } "
         "leases { jid: 'x' token: 9 lost { code: 5 reason: 'NOT_FOUND' message: 'job x does not "
         "exist' } } leases { jid: 'a' token: 2 lost { code: 10 reason: 'STALE' message: '...");
    says(desk, "Get", "namespace: 'app' jid: 'a'",
         "namespace: 'app' jid: 'a' klass: 'Send' queue: 'mail' state: RUNNING stage: STARTED "
         "data { json: '{\"to\":1}' } retries: 5 remaining: 5 attempts: 1 domain: 'd' tags: 't' "
         "create_time { +0s } move_time { +0s } update_time { +0s } "
         "lease { worker: 'w' token: 1 expire_time { +60s } length { 60s } pid: 4711 } "
         "last_run { worker: 'w' pop_time { +0s } start_time { +0s } pid: 4711 } "
         "progress { fraction: 0.5 message: 'half' } checkpoint: 'page-4\xff' members { }");
    says(desk, "Done", "namespace: 'app' " LEASE " result { json: '7' }", "state: COMPLETE");
    says(desk, "Done", "namespace: 'app' " LEASE " result { json: '7' }", "state: COMPLETE");
    says(desk, "Wait", "namespace: 'app' jid: 'a'", "state: COMPLETE result { json: '7' }");
    says(desk, "Cancel", "namespace: 'app' jids: 'a'", "{}");
    says(desk, "Execute", "words: 'Q.DELETE' words: 'app' words: 'a'", "value { ...");
    says(desk, "Get", "namespace: 'app' jid: 'a'", "5 NOT_FOUND there is no such job");
}

static void test_grpc__a_job_fails_is_retried_and_released(void **state)
{
    struct desk *desk = *state;
    for (int i = 0; i < 3; i++) {
        char request[80];
        (void)snprintf(request, sizeof(request),
                       "queue: 'q' klass: 'K' data { json: '1' } jid: '%c'", 'a' + i);
        (void)ask(desk, "Add", request);
    }
    says(desk, "Next", "queues: 'q' worker: 'w' max_tasks: 3", "tasks {...");
    says(desk, "Fail", LEASE " group: 'smtp' message: 'refused'", "{}");
    says(desk, "Retry",
         "lease { jid: 'b' worker: 'w' } delay { seconds: 5 } group: 'g' message: 'm'",
         "remaining: 4");
    says(desk, "Release", "lease { jid: 'c' worker: 'w' }", "{}");
    says(desk, "Release", "lease { jid: 'c' worker: 'w' token: 9 }", "10 ABORTED ...");
    says(desk, "Done", "lease { jid: 'a' worker: 'w' }",
         "9 FAILED_PRECONDITION job a is not running: failed");
    says(desk, "List", "state: FAILED group: 'smtp' jids_only: true", "total_size: 1 jids: 'a'");
    says(desk, "BatchGet", "jids: 'x' jids: 'a' jids: 'b'",
         "jobs { namespace: 'default' jid: 'a' klass: 'K' queue: 'q' state: FAILED data { json: "
         "'1' } "
         "retries: 5 remaining: 5 attempts: 1 create_time { +0s } move_time { +0s } "
         "update_time { +0s } last_run { worker: 'w' pop_time { +0s } } failure { group: 'smtp' "
         "message: 'refused' worker: 'w' fail_time { +0s } } members { } } jobs {...");
    says(desk, "Wait", "jid: 'a'", "state: FAILED group: 'smtp' message: 'refused'");
    says(
        desk, "ListQueues", "order_by: 'failed'",
        "total_size: 1 queues { queue: 'q' stalled: 1 scheduled: 1 listeners: 1 failed: 1 bytes: 3 "
        "age { } rates { } }");
    says(desk, "Cancel", "jids: 'b' jids: 'c' jids: 'x'", "canceled: 2");
}

static void test_grpc__each_of_many_has_its_own_result(void **state)
{
    struct desk *desk = *state;
    says(desk, "BatchAdd",
         "requests { queue: 'q' klass: 'K' data { json: '1' } jid: 'a' } "
         "requests { queue: 'q' klass: 'K' data { json: 'x' } } "
         "requests { queue: 'q' klass: 'K' data { json: '1' } options { backoff: 'y' } }",
         "results { jid: 'a' } results { error { code: 3 reason: 'INVALID' message: 'data is not "
         "JSON: invalid JSON at byte 0: expected a value' field: 'data' } } results { error { "
         "code: 3 "
         "reason: 'INVALID' message: 'options.backoff must be as exponential:1:300:20 (fixed, "
         "linear, "
         "exponential or list; seconds; the longest; percent of jitter), not \"y\"' "
         "field: 'options.backoff' } }");
    assert_int_equal(grpc_face_errors(desk->face), 2);
    says(desk, "BatchAdd", "", "{}");
}

static void test_grpc__a_stream_of_puts_goes_on_behind_an_error(void **state)
{
    struct desk *desk = *state;
    says(desk, "StreamAdd", "queue: 'q' klass: 'K' data { json: '1' } jid: 'a'", "jid: 'a'");
    says_next(
        desk, "queue: 'q' klass: 'K' data { json: 'x' } jid: 'b'",
        "error { code: 3 reason: 'INVALID' message: 'data is not JSON: invalid JSON at byte 0: "
        "expected a value' field: 'data' }");
    says_next(desk, "klass: 'K' data { json: 'x' } jid: 'b'",
              "error { code: 3 reason: 'INVALID' message: 'queue is missing' field: 'queue' }");
    says_next(desk, "must_exist: true jid: 'x' queue: 'q' klass: 'K' data { json: '1' }",
              "error { code: 5 reason: 'NOT_FOUND' message: 'job x does not exist' }");
    says_next(desk, "queue: 'q' klass: 'K' data { json: '1' } jid: 'c'", "jid: 'c'");
}

static void test_grpc__payloads_come_back_as_they_were_put(void **state)
{
    static const struct row {
        const char *put, *json, *raw;
    } rows[] = {
        { "json: '{\"a\":1}'", "json: '{\"a\":1}'", "raw: '{\"a\":1}'" },
        { "json: '\"hello\"'", "json: '\"hello\"'", "raw: 'hello'" },
        { "raw: 'hello'", "json: '\"hello\"'", "raw: 'hello'" },
        { "raw: '\"hello\"'", "json: '\"\\\"hello\\\"\"'", "raw: '\"hello\"'" },
        { "raw: '\\xfe\\x01'", "raw: '\xfe\\x01'", "raw: '\xfe\\x01'" },
        { "raw: ''", "json: '\"\"'", "raw: ''" },
        { "raw: '[1, 2]'", "json: '\"[1, 2]\"'", "raw: '[1, 2]'" },
        { "json: '{\"$base64\":\"/gE=\"}'", "raw: '\xfe\\x01'", "raw: '\xfe\\x01'" },
    };
    struct desk *desk = *state;
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].put); i++) {
        char request[160];
        char wanted[200];
        (void)snprintf(request, sizeof(request), "queue: 'q' klass: 'K' jid: 'a' data { %s }",
                       rows[i].put);
        says(desk, "Add", request, "jid: 'a'");
        says(desk, "List", "queue: 'q' jids_only: true", "total_size: 1 jids: 'a'");
        (void)snprintf(wanted, sizeof(wanted),
                       "tasks { namespace: 'default' jid: 'a' klass: 'K' "
                       "queue: 'q' data { %s } ...",
                       rows[i].json);
        says(desk, "Next", "queues: 'q' worker: 'w'", wanted);
        (void)snprintf(wanted, sizeof(wanted),
                       "namespace: 'default' jid: 'a' klass: 'K' queue: 'q' "
                       "state: RUNNING stage: RESERVED data { %s } ...",
                       rows[i].raw);
        says(desk, "Get", "jid: 'a' raw_payloads: true", wanted);
    }
}

static void test_grpc__what_is_cut_is_bytes(void **state)
{
    struct desk *desk = *state;
    says(desk, "Add", "queue: 'q' klass: 'K' jid: 'a' data { json: '\"abcdef\"' }", "jid: 'a'");
    says(desk, "List", "data_max: 3",
         "total_size: 1 jobs { namespace: 'default' jid: 'a' klass: 'K' queue: 'q' state: WAITING "
         "data { raw: '\"ab' } ...");
    assert_non_null(strstr(desk->text.data, "data_size: 8 data_cut: true }"));
}

static void test_grpc__a_stream_gives_each_task_a_message(void **state)
{
    struct desk *desk = *state;
    says(desk, "StreamNext", "queues: 'q' worker: 'w' max_in_flight: 5", "(waits)");
    (void)ask(desk, "Add", "queue: 'q' klass: 'K' jid: 'a' data { json: '1' }");
    (void)ask(desk, "Add", "queue: 'q' klass: 'K' jid: 'b' data { json: '2' }");
    desk->last = true;
    says(desk, "StreamNext", "queues: 'q' worker: 'w' max_in_flight: 5",
         "namespace: 'default' jid: 'a' klass: 'K' queue: 'q' data { json: '1' } token: 1 "
         "expire_time { +60s } lease_duration { 60s } remaining: 5 attempts: 1 | "
         "namespace: 'default' jid: 'b' klass: 'K' queue: 'q' data { json: '2' } token: 2 "
         "expire_time { +60s } lease_duration { 60s } remaining: 5 attempts: 1");
    struct grpc_tasks tasks;
    struct grpc_task task;
    grpc_tasks_init(&tasks, desk->call.method, buffer_slice(&desk->reply));
    assert_true(grpc_tasks_next(&tasks, &task));
    assert_slice_equal(task.jid, "a");
    assert_int_equal(task.token, 1);
    assert_true(grpc_tasks_next(&tasks, &task));
    assert_slice_equal(task.jid, "b");
    assert_int_equal(task.token, 2);
    assert_false(grpc_tasks_next(&tasks, &task));
    says(desk, "StreamNext", "queues: 'q' worker: 'w' max_in_flight: 5", "(nothing)");
    says(desk, "Next", "queues: 'q' worker: 'w'", "{}");
}

static void test_grpc__the_tasks_of_an_answer_can_be_walked(void **state)
{
    struct desk *desk = *state;
    for (int i = 0; i < 3; i++) {
        (void)ask(desk, "Add", "queue: 'q' klass: 'K' data { json: '1' }");
    }
    says(desk, "Next", "queues: 'q' worker: 'w' max_tasks: 3", "tasks {...");
    struct grpc_tasks tasks;
    struct grpc_task task;
    grpc_tasks_init(&tasks, desk->call.method, buffer_slice(&desk->reply));
    for (uint64_t i = 1; i <= 3; i++) {
        assert_true(grpc_tasks_next(&tasks, &task));
        assert_int_equal(task.token, i);
        assert_int_equal(task.jid.size, 36);
    }
    assert_false(grpc_tasks_next(&tasks, &task));
}

static void test_grpc__a_wait_that_is_over_has_no_state(void **state)
{
    struct desk *desk = *state;
    says(desk, "Add", "queue: 'q' klass: 'K' jid: 'a' data { json: '1' }", "jid: 'a'");
    says(desk, "Wait", "jid: 'a' timeout { seconds: 1 }", "(waits)");
    desk->last = true;
    says(desk, "Wait", "jid: 'a' timeout { seconds: 1 }", "{}");
    says(desk, "Wait", "jid: 'x'", "5 NOT_FOUND ...");
}

static void test_grpc__a_page_follows_the_one_before(void **state)
{
    struct desk *desk = *state;
    for (int i = 0; i < 3; i++) {
        char request[80];
        (void)snprintf(request, sizeof(request),
                       "queue: 'q' klass: 'K' data { json: '1' } jid: '%c'", 'a' + i);
        (void)ask(desk, "Add", request);
    }
    says(desk, "List", "state: WAITING queue: 'q' page_size: 2 jids_only: true",
         "total_size: 3 jids: 'a' jids: 'b' next_page_token: '...");
    char request[160];
    const char *token = strstr(desk->text.data, "token: '") + strlen("token: '");
    (void)snprintf(request, sizeof(request),
                   "state: WAITING queue: 'q' page_size: 2 jids_only: true page_token: '%.*s'",
                   (int)strcspn(token, "'"), token);
    says(desk, "List", request, "total_size: 3 jids: 'c'");
    says(desk, "List", "state: WAITING queue: 'q' page_token: 'x'",
         "3 INVALID_ARGUMENT [page_token] ...");
}

static void test_grpc__any_command_is_executed(void **state)
{
    struct desk *desk = *state;
    says(desk, "Execute",
         "words: 'Q.PUT' words: 'app' words: 'q' words: 'K' words: '{}' words: 'JID' "
         "words: 'a'",
         "value { text: 'a' }");
    says(desk, "Execute", "words: 'Q.LENGTH' words: 'app' words: 'q'", "value { integer: 1 }");
    says(desk, "Execute", "words: 'Q.PAUSE' words: 'app' words: 'q'", "value { ...");
    says(desk, "Execute", "words: 'Q.POP' words: 'app' words: 'w' words: '1' words: 'q'",
         "value { list { } }");
    says(desk, "Execute", "words: 'Q.UNPAUSE' words: 'app' words: 'q'", "value { ...");
    says(desk, "Execute", "words: 'Q.POP' words: 'app' words: 'w' words: '1' words: 'q'",
         "value { list { items { map { pairs { key: 'jid' value { text: 'a' } } "
         "pairs { key: 'klass' value { text: 'K' } } pairs { key: 'queue' value { text: 'q' } } "
         "pairs { key: 'data' value { json: '{}' } } pairs { key: 'token' value { integer: 1 } } "
         "pairs { key: 'expires' value { time { +60s } } } pairs { key: 'priority' value { "
         "integer: 0 "
         "} } pairs { key: 'remaining' value { integer: 5 } } pairs { key: 'attempts' value { "
         "integer: "
         "1 } } pairs { key: 'domain' value { null: true } } pairs { key: 'checkpoint' value { "
         "null: "
         "true } } pairs { key: 'tags' value { list { } } } } } } }");
    says(desk, "Execute",
         "words: 'Q.MCOMPLETE' words: 'app' words: '2' words: 'a' words: 'w' words: '2' "
         "words: 'x' words: 'w'",
         "value { list { items { text: 'complete' } items { error { code: 5 reason: 'NOT_FOUND' "
         "message: 'job x does not exist' } } } }");
    says(desk, "Execute", "words: 'Q.EXPLAIN' words: 'app' words: 'x'", "5 NOT_FOUND ...");
    says(desk, "Execute", "words: 'Q.WAIT' words: 'app' words: 'a'",
         "value { map { pairs { key: 'state' value { text: 'complete' } } ...");
    says(desk, "Execute", "words: 'Q.METRICS' words: 'app'", "value { map { ...");
    // The server refuses a namespace that is missing.
    (void)words_of(desk, "Execute", "words: 'Q.LENGTH'");
    assert_int_equal(desk->call.words.count, 1);
    assert_int_equal(desk->call.ns.size, 0);
}

static void test_grpc__text_that_is_not_utf8_is_mended(void **state)
{
    struct desk *desk = *state;
    says(desk, "Add", "queue: 'q' klass: 'K' jid: 'a' data { json: '1' }", "jid: 'a'");
    says(desk, "Next", "queues: 'q' worker: 'w'", "tasks {...");
    says(desk, "Execute",
         "words: 'Q.FAIL' words: 'default' words: 'a' words: 'w' words: 'g' "
         "words: 'x\\xffy'",
         "value { text: 'OK' }");
    (void)ask(desk, "Wait", "jid: 'a'");
    assert_string_equal(desk->text.data, "state: FAILED group: 'g' message: 'x\xEF\xBF\xBDy'");
}

static void test_grpc__an_answer_that_is_too_large_is_refused(void **state)
{
    struct desk *desk = desk_new(&allocator_system, 20000);
    (void)state;
    for (int i = 0; i < 200; i++) {
        (void)ask(desk, "Add", "queue: 'q' klass: 'K' data { json: '1' }");
    }
    says(desk, "List", "page_size: 1000",
         "8 RESOURCE_EXHAUSTED the answer is larger than is allowed");
    assert_int_equal(desk->reply.size, 0);
    says(desk, "Next", "queues: 'q' worker: 'w' max_tasks: 1000", "tasks {...");
    assert_in_range(desk->reply.size, 3000, 20010);
    desk_free(desk);
}

static enum status answer_script(const struct allocator *allocator)
{
    struct desk *desk = desk_new(&allocator_system, 1 << 20);
    enum status status = STATUS_OK;
    for (int i = 0; i < 3; i++) {
        (void)ask(desk, "Add", "queue: 'q' klass: 'K' data { json: '1' }");
    }
    grpc_face_free(desk->face);
    desk->face = NULL;
    const struct grpc_face_options options = { .allocator = allocator,
                                               .commands = desk->commands,
                                               .reply_max = 1 << 20 };
    status = grpc_face_new(&options, &desk->face);
    if (!status) {
        (void)ask(desk, "List", "queue: 'q'");
        desk->fault.error.status = *desk->text.data == 'j' ? STATUS_OK : desk->fault.error.status;
        status = desk->fault.error.status;
    }
    desk_free(desk);
    return status;
}

static void test_grpc__running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        enum status status = answer_script(&fault.allocator);
        FAULT_ALLOC_EXPECT(&fault, status);
    }
}

// ---------------------------------------------------------------------------------------------
// What happens by itself

static const char *print_frame(struct desk *desk, const char *method)
{
    struct slice rest = buffer_slice(&desk->reply);
    struct grpc_frame frame;
    struct grpc_call call = { .method = desk_method(desk, method) };
    buffer_clear(&desk->text);
    assert_int_equal(grpc_frame_next(&rest, SIZE_MAX, &frame, NULL), GRPC_FRAME_WHOLE);
    assert_int_equal(rest.size, 0);
    desk_print(grpc_face_bound(desk->face, &call)->rpc->reply, frame.message, &desk->text);
    buffer_append_char(&desk->text, '\0');
    buffer_clear(&desk->reply);
    return desk->text.data;
}

static void test_grpc__lost_leases_are_told(void **state)
{
    struct desk *desk = *state;
    struct event event = { .kind = EVENT_LOCK_LOST, .jid = SLICE("a"), .worker = SLICE("w") };
    assert_true(grpc_face_lost(&event, &desk->reply));
    assert_string_equal(
        print_frame(desk, "Keepalive"),
        "leases { jid: 'a' lost { code: 10 reason: 'STALE' message: 'the lease of job a "
        "is lost' } }");
    event.kind = EVENT_CANCELED;
    assert_true(grpc_face_lost(&event, &desk->reply));
    assert_string_equal(print_frame(desk, "Keepalive"),
                        "leases { jid: 'a' lost { code: 5 reason: 'NOT_FOUND' message: 'job a was "
                        "canceled' } }");
    event.kind = EVENT_STALLED;
    assert_false(grpc_face_lost(&event, &desk->reply));
    assert_int_equal(desk->reply.size, 0);
}

static void test_grpc__events_are_told_with_their_text(void **state)
{
    struct desk *desk = *state;
    grpc_face_event(17,
                    SLICE("{\"event\":\"completed\",\"when\":1784000001.5,\"jid\":\"b\\\"c\","
                          "\"queue\":\"q\",\"worker\":\"w\",\"more\":[1]}"),
                    &desk->reply);
    assert_string_equal(print_frame(desk, "Events"),
                        "id: 17 kind: 'completed' event_time { +1s } jid: 'b\"c' queue: 'q' "
                        "worker: 'w' json: '{\"event\":\"completed\",\"when\":1784000001.5,\"jid\":"
                        "\"b\\\"c\",\"queue\":\"q\",\"worker\":\"w\",\"more\":[1]}'");
    grpc_face_gap(18, &desk->reply);
    assert_string_equal(print_frame(desk, "Events"), "id: 18 kind: 'gap'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(test_grpc__a_job_is_put_popped_and_completed),
        DESK_TEST(test_grpc__a_job_fails_is_retried_and_released),
        DESK_TEST(test_grpc__each_of_many_has_its_own_result),
        DESK_TEST(test_grpc__a_stream_of_puts_goes_on_behind_an_error),
        DESK_TEST(test_grpc__payloads_come_back_as_they_were_put),
        DESK_TEST(test_grpc__what_is_cut_is_bytes),
        DESK_TEST(test_grpc__a_stream_gives_each_task_a_message),
        DESK_TEST(test_grpc__the_tasks_of_an_answer_can_be_walked),
        DESK_TEST(test_grpc__a_wait_that_is_over_has_no_state),
        DESK_TEST(test_grpc__a_page_follows_the_one_before),
        DESK_TEST(test_grpc__any_command_is_executed),
        DESK_TEST(test_grpc__text_that_is_not_utf8_is_mended),
        cmocka_unit_test(test_grpc__an_answer_that_is_too_large_is_refused),
        cmocka_unit_test(test_grpc__running_out_of_memory_is_an_error),
        DESK_TEST(test_grpc__lost_leases_are_told),
        DESK_TEST(test_grpc__events_are_told_with_their_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
