// SPDX-License-Identifier: MIT
// Messages as the words of commands: which command, which argument each field is, and what is
// refused.
#include "grpc_test.h"

#include "fault_alloc.h"
#include "wire/protobuf.h"

#include <stdio.h>
#include <strings.h>

#define HOLDER "lease { jid: 'a' worker: 'w' token: 3 }"

static void test_grpc_words__each_field_is_an_argument(void **state)
{
    static const struct row {
        const char *method, *request, *words;
    } rows[] = {
        { "Add", "queue: 'mail' klass: 'Send' data { json: '{\"to\":1}' }",
          "Q.PUT default mail Send {\"to\":1}" },
        { "Add",
          "namespace: 'app' queue: 'mail' klass: 'Send' data { json: '1' } jid: 'a' request_id: "
          "'r' "
          "priority: -5 delay { seconds: 60 nanos: 500000000 } retries: 0 domain: '' tags: 't' "
          "depends: 'x' tags: 'u' worker: 'w' allow_missing_depends: true",
          "Q.PUT app mail Send 1 JID a PRIORITY -5 DELAY 60.5 RETRIES 0 TAG t TAG u DEPENDS x "
          "ALLOW-MISSING DOMAIN  WORKER w REQUEST r" },
        { "Add",
          "queue: 'q' klass: 'K' data { json: '1' } schedule_time { seconds: 1900000000 nanos: "
          "1999 } "
          "deadline_time { } options { backoff: 'fixed:1' timeout { } lease { nanos: 1 } "
          "result_ttl { seconds: 5 } max_crashes: 0 on_dependency_failure: CANCEL }",
          "Q.PUT default q K 1 AT 1900000000.000001 DEADLINE 0 BACKOFF fixed:1 TIMEOUT 0 "
          "LEASE 0.000001 RESULT-TTL 5 MAX-CRASHES 0 ON-DEPENDENCY-FAILURE cancel" },
        { "Add",
          "queue: 'q' klass: 'K' data { json: '1' } unique { key: 'k' until: TIME ttl { seconds: 9 "
          "} "
          "on_conflict: REPLACE }",
          "Q.PUT default q K 1 UNIQUE k UNIQUE-UNTIL time UNIQUE-FOR 9 ON-CONFLICT replace" },
        { "Add", "queue: 'q' klass: 'K' data { json: '1' } unique { contents: true }",
          "Q.PUT default q K 1 UNIQUE-CONTENTS" },
        { "Add", "queue: 'q' klass: 'K' data { raw: 'hello' }", "Q.PUT default q K \"hello\"" },
        { "Add", "queue: 'q' klass: 'K' data { raw: '{\"a\":1}' }", "Q.PUT default q K {\"a\":1}" },
        { "Add", "queue: 'q' klass: 'K' data { raw: '\\xff\\x00' }",
          "Q.PUT default q K {\"$base64\":\"/wA=\"}" },
        { "Add", "must_exist: true jid: 'a' queue: 'q' klass: 'K' data { json: '1' } priority: 1",
          "Q.REQUEUE default a q K 1 PRIORITY 1" },
        { "StreamAdd", "queue: 'q' klass: 'K' data { json: '1' }", "Q.PUT default q K 1" },
        { "BatchAdd",
          "namespace: 'app' requests { queue: 'q' klass: 'K' data { raw: 'x' } } "
          "requests { namespace: 'app' queue: 'q' klass: 'K' data { json: '2' } priority: 7 }",
          "Q.MPUT app 3 q K \"x\" 5 q K 2 PRIORITY 7" },
        { "BatchAdd", "", "Q.MPUT default" },
        { "Wait", "jid: 'a' timeout { seconds: 30 }", "Q.WAIT default a TIMEOUT 30" },
        { "Cancel", "jids: 'a' jids: 'DEPENDENTS' dependents: true",
          "Q.CANCEL default DEPENDENTS -- a DEPENDENTS" },
        { "Next", "namespace: 'app' queues: 'q' queues: 'r' worker: 'w'", "Q.POP app w 1 -- q r" },
        { "Next",
          "queues: 'q' worker: 'w' max_tasks: 10 wait { seconds: 5 } order: ROUND_ROBIN "
          "lease { seconds: 7 }",
          "Q.POP default w 10 WAIT 5 ORDER round-robin LEASE 7 -- q" },
        { "StreamNext", "queues: 'q' worker: 'w'", "Q.POP default w 1 WAIT 0 -- q" },
        { "StreamNext", "queues: 'q' worker: 'w' max_in_flight: 20 order: BEST",
          "Q.POP default w 20 ORDER best WAIT 0 -- q" },
        { "Keepalive",
          "worker: 'w' leases { jid: 'a' token: 1 } leases { jid: 'b' worker: 'v' lease { seconds: "
          "3 } "
          "data { json: '2' } } lease { seconds: 9 }",
          "Q.MHEARTBEAT default 6 a w TOKEN 1 LEASE 9 6 b v DATA 2 LEASE 3" },
        { "Start", HOLDER " pid: 4711", "Q.START default a w -- 4711 TOKEN 3" },
        { "Start", "lease { jid: 'a' worker: 'w' }", "Q.START default a w" },
        { "Report",
          HOLDER " progress { fraction: 0.25 message: 'm' } log_lines: 'x' log_lines: '' "
                 "checkpoint: 'c'",
          "Q.PROGRESS default a w 0.25 TOKEN 3 MESSAGE m ; Q.LOG default a w x TOKEN 3 ; "
          "Q.LOG default a w  TOKEN 3 ; Q.CHECKPOINT default a w c TOKEN 3" },
        { "Report", HOLDER " progress { }", "Q.PROGRESS default a w 0 TOKEN 3" },
        { "Report", HOLDER " checkpoint: ''", "Q.CHECKPOINT default a w  TOKEN 3" },
        { "Done",
          HOLDER " result { json: '1' } data { json: '2' } next_queue: 'n' delay { seconds: 1 } "
                 "depends: 'x' allow_missing_depends: true",
          "Q.COMPLETE default a w TOKEN 3 RESULT 1 DATA 2 NEXT n DELAY 1 DEPENDS x ALLOW-MISSING" },
        { "Fail", HOLDER " group: 'g' message: 'm' data { json: '1' }",
          "Q.FAIL default a w g m TOKEN 3 DATA 1" },
        { "Fail", "lease { jid: 'a' worker: 'w' } group: 'g' force: true",
          "Q.FAIL default a w g  FORCE" },
        { "Retry", HOLDER " delay { } queue: 'q' group: 'g' message: 'm' uncounted: true",
          "Q.RETRY default a w TOKEN 3 DELAY 0 QUEUE q GROUP g MESSAGE m UNCOUNTED" },
        { "Release", HOLDER, "Q.RETURN default a w TOKEN 3" },
        { "Get", "jid: 'a'", "Q.GET default -- a" },
        { "BatchGet", "jids: 'a' jids: 'b'", "Q.GET default -- a b" },
        { "List", "", "Q.JOBS default" },
        { "List", "queue: 'q'", "Q.JOBS default -- any -- q" },
        { "List",
          "state: FAILED klass: 'K' worker: 'w' tag: 't' domain: 'd' group: 'g' page_size: 5000 "
          "page_token: 'p' skip: 3 jids_only: true data_max: 0",
          "Q.JOBS default -- failed KLASS K WORKER w TAGGED t DOMAIN d GROUP g OFFSET 3 COUNT 1000 "
          "JIDS DATA-MAX 0 CURSOR p" },
        { "ListQueues",
          "order_by: 'waiting' page_size: 7 page_token: 'p' skip: 1 name_pattern: 'm*'",
          "Q.QUEUES default SORT waiting MATCH m* OFFSET 1 COUNT 7 CURSOR p" },
        { "Execute", "words: 'Q.STATS' words: 'app' words: 'mail'", "Q.STATS app mail" },
        { "Execute", "words: 'q.zones' words: 'app'", "q.zones app" },
    };
    struct desk *desk = *state;
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].request); i++) {
        becomes(desk, rows[i].method, rows[i].request, rows[i].words);
    }
}

static void test_grpc_words__what_is_wrong_is_named(void **state)
{
    static const struct row {
        const char *method, *request, *why;
    } rows[] = {
        { "Add", "klass: 'K' data { json: '1' }", "3 INVALID_ARGUMENT [queue] queue is missing" },
        { "Add", "queue: 'q' klass: 'K'", "3 INVALID_ARGUMENT [data] data is missing" },
        { "Add", "queue: 'q' klass: 'K' data { }", "3 INVALID_ARGUMENT [data] data is missing" },
        { "Add", "queue: 'q' klass: 'K' data { json: '{' }",
          "3 INVALID_ARGUMENT [data] data is not JSON: ..." },
        { "Add", "queue: '\\xff' klass: 'K' data { json: '1' }",
          "3 INVALID_ARGUMENT [queue] queue must be UTF-8" },
        { "Add", "must_exist: true queue: 'q' klass: 'K' data { json: '1' }",
          "3 INVALID_ARGUMENT [jid] jid is missing" },
        { "Add", "queue: 'q' klass: 'K' data { json: '1' } delay { seconds: -1 }",
          "3 INVALID_ARGUMENT [delay] delay must be from 0 to..." },
        { "Add", "queue: 'q' klass: 'K' data { json: '1' } delay { seconds: 1 nanos: -1 }",
          "3 INVALID_ARGUMENT [delay] delay is not a valid Duration" },
        { "Add", "queue: 'q' klass: 'K' data { json: '1' } delay { seconds: 9223372036854775807 }",
          "3 INVALID_ARGUMENT [delay] delay is not a valid Duration" },
        { "Add", "queue: 'q' klass: 'K' data { json: '1' } schedule_time { nanos: -1 }",
          "3 INVALID_ARGUMENT [schedule_time] schedule_time is not a valid Timestamp" },
        { "Add", "queue: 'q' klass: 'K' data { json: '1' } options { backoff: 'x' }",
          "3 INVALID_ARGUMENT [options.backoff] options.backoff must be as..." },
        { "Add", "queue: 'q' klass: 'K' data { json: '1' } options { on_dependency_failure: 9 }",
          "3 INVALID_ARGUMENT [options.on_dependency_failure] options.on_dependency_failure must "
          "be "
          "one of hold, cancel, fail, run, not \"9\"" },
        { "BatchAdd",
          "requests { queue: 'q' klass: 'K' data { json: '1' } } requests { klass: 'K' }",
          "3 INVALID_ARGUMENT [requests[1].queue] requests[1].queue is missing" },
        { "BatchAdd", "namespace: 'a' requests { namespace: 'b' queue: 'q' klass: 'K' }",
          "3 INVALID_ARGUMENT [requests[0].namespace] requests[0].namespace must be that of all "
          "requests" },
        { "BatchAdd", "requests { must_exist: true queue: 'q' klass: 'K' data { json: '1' } }",
          "3 INVALID_ARGUMENT [requests[0].must_exist] requests[0].must_exist cannot be used in a "
          "batch" },
        { "Next", "worker: 'w'", "3 INVALID_ARGUMENT [queues] queues is missing" },
        { "Next", "queues: 'q'", "3 INVALID_ARGUMENT [worker] worker is missing" },
        { "Next", "queues: 'q' worker: 'w' max_tasks: 1001",
          "3 INVALID_ARGUMENT [max_tasks] max_tasks must be from 1 to 1000, not 1001" },
        { "StreamNext", "queues: 'q' worker: 'w' max_in_flight: 4294967295",
          "3 INVALID_ARGUMENT [max_in_flight] max_in_flight must be from 1 to 1000, not "
          "4294967295" },
        { "Done", "lease { worker: 'w' }", "3 INVALID_ARGUMENT [lease.jid] lease.jid is missing" },
        { "Done", "lease { jid: 'a' worker: 'w' token: 18446744073709551615 }",
          "3 INVALID_ARGUMENT [lease.token] lease.token must be from 1 to 9223372036854775807..." },
        { "Keepalive", "leases { jid: 'a' }",
          "3 INVALID_ARGUMENT [leases[0].worker] leases[0].worker is missing" },
        { "Report", HOLDER,
          "3 INVALID_ARGUMENT one of progress, log_lines, checkpoint must be set" },
        { "Report", HOLDER " progress { fraction: 1.5 }",
          "3 INVALID_ARGUMENT [progress.fraction] progress.fraction must be a number from 0 to 1, "
          "not \"1.5\"" },
        { "Report", HOLDER " progress { fraction: nan }",
          "3 INVALID_ARGUMENT [progress.fraction] progress.fraction must be a number from 0 to 1, "
          "not \"null\"" },
        { "List", "state: CANCELED",
          "3 INVALID_ARGUMENT [state] state must be one of any, waiting, ..." },
        { "List", "page_size: -1",
          "3 INVALID_ARGUMENT [page_size] page_size must be from 0 to 1000, not -1" },
        { "Execute", "", "3 INVALID_ARGUMENT words must have the name of a command" },
        { "Execute", "words: 'Q.PUTT'", "3 INVALID_ARGUMENT unknown command..." },
    };
    struct desk *desk = *state;
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].request); i++) {
        says(desk, rows[i].method, rows[i].request, rows[i].why);
    }
}

// ---------------------------------------------------------------------------------------------
// Every option of every command

// Arguments that are no field, and why.
static const struct {
    const char *method, *argument;
} without_field[] = {
    { "StreamNext", "WAIT" }, // it waits until the call ends
    { "Report", "REQUEST" },  // a call has several lines, each a command of its own
};

static bool is_without_field(const char *method, const char *argument)
{
    for (size_t i = 0; i < sizeof(without_field) / sizeof(without_field[0]); i++) {
        if (strcmp(without_field[i].method, method) == 0 &&
            strcmp(without_field[i].argument, argument) == 0) {
            return true;
        }
    }
    return false;
}

static const struct grpc_field *field_of(const struct grpc_plan *plan, int argument)
{
    for (uint32_t i = 0; i < GRPC_NUMBER_MAX; i++) {
        const struct grpc_plan_field *at = grpc_plan_at(plan, i);
        const struct grpc_field *inner = NULL;
        if (at && at->argument == argument) {
            return at->field;
        }
        if (at && at->inner) {
            inner = field_of(at->inner, argument);
        }
        if (inner) {
            return inner;
        }
    }
    return NULL;
}

static bool type_fits(const struct argument *argument, const struct grpc_field *field)
{
    enum grpc_form form =
        field->type == GRPC_TYPE_MESSAGE ? field->message->form : GRPC_FORM_FIELDS;
    switch (argument->type) {
    case ARGUMENT_NAME:
        return field->type == GRPC_TYPE_STRING;
    case ARGUMENT_TEXT:
        return field->type == GRPC_TYPE_STRING || field->type == GRPC_TYPE_BYTES;
    case ARGUMENT_JSON:
        return form == GRPC_FORM_PAYLOAD;
    case ARGUMENT_INTEGER:
        return field->type == GRPC_TYPE_INT32 || field->type == GRPC_TYPE_INT64 ||
               field->type == GRPC_TYPE_UINT32 || field->type == GRPC_TYPE_UINT64;
    case ARGUMENT_SECONDS:
        return form == GRPC_FORM_DURATION;
    case ARGUMENT_MOMENT:
        return form == GRPC_FORM_TIMESTAMP;
    case ARGUMENT_FRACTION:
        return field->type == GRPC_TYPE_DOUBLE;
    case ARGUMENT_WORD:
        return field->type == GRPC_TYPE_ENUM || field->type == GRPC_TYPE_STRING;
    case ARGUMENT_FLAG:
        return field->type == GRPC_TYPE_BOOL;
    }
    return false;
}

// A value of an argument that 0 would be must be told apart from none, unless 0 is what none means.
static void check_field(const char *method, const struct argument *argument,
                        const struct grpc_field *field)
{
    if (!type_fits(argument, field)) {
        fail_msg("%s: the type of %s does not fit %s", method, field->name, argument->name);
    }
    if (field->type != GRPC_TYPE_ENUM) {
        return;
    }
    for (size_t i = 0; argument->words[i]; i++) {
        bool any = strcmp(argument->words[i], "any") == 0;
        if (!any && !grpc_enum_number(field->values, slice_from_cstr(argument->words[i]))) {
            fail_msg("%s: %s has no value for %s", method, field->values->name, argument->words[i]);
        }
    }
}

static size_t check_command(const char *method, const struct grpc_bound_command *of)
{
    const struct command *command = of->command->each ? of->command->each : of->command;
    for (size_t i = 0; i < command->argument_count; i++) {
        const struct argument *argument = &command->arguments[i];
        const struct grpc_field *field = field_of(of->plan, (int)i);
        if (!field && !is_without_field(method, argument->name)) {
            fail_msg("%s has no field for %s of %s", method, argument->name, command->name);
        }
        if (field) {
            check_field(method, argument, field);
        }
    }
    return command->argument_count;
}

static void test_grpc_words__every_argument_of_a_command_is_a_field(void **state)
{
    const struct desk *desk = *state;
    size_t count = 0;
    for (size_t i = 0; i < desk->face->method_count; i++) {
        const struct grpc_bound *bound = &desk->face->methods[i];
        for (size_t j = 0; j < GRPC_STEPS_MAX; j++) {
            if (bound->steps[j].command) {
                count += check_command(bound->method.name, &bound->steps[j]);
            }
        }
        if (bound->otherwise.command) {
            count += check_command(bound->method.name, &bound->otherwise);
        }
    }
    assert_true(count > 150);
}

// The other way round: a field of a request that is no argument of any command and has no role
// would be ignored.
static void check_known(const struct grpc_bound *bound, const struct grpc_message *message)
{
    for (size_t i = 0; i < message->field_count; i++) {
        const struct grpc_field *field = &message->fields[i];
        bool fields = field->type == GRPC_TYPE_MESSAGE && field->message->form == GRPC_FORM_FIELDS;
        bool known = field->role != GRPC_ROLE_NONE || fields;
        for (size_t j = 0; j <= GRPC_STEPS_MAX && field->as; j++) {
            const struct grpc_bound_command *of =
                j < GRPC_STEPS_MAX ? &bound->steps[j] : &bound->otherwise;
            const struct command *command = of->command;
            command = command && command->each ? command->each : command;
            for (size_t k = 0; command && k < command->argument_count; k++) {
                known |= strcasecmp(command->arguments[k].name, field->as) == 0;
            }
        }
        if (!known) {
            fail_msg("%s: %s of %s is no argument", bound->method.name, field->name, message->name);
        }
        if (fields) {
            check_known(bound, field->message);
        }
    }
}

static void test_grpc_words__every_field_of_a_request_is_used(void **state)
{
    const struct desk *desk = *state;
    for (size_t i = 0; i < desk->face->method_count; i++) {
        if (desk->face->methods[i].steps[0].command) {
            check_known(&desk->face->methods[i], desk->face->methods[i].rpc->request);
        }
    }
}

// ---------------------------------------------------------------------------------------------

static void test_grpc_words__the_stream_keeps_namespace_and_worker(void **state)
{
    struct desk *desk = *state;
    becomes(desk, "Keepalive", "namespace: 'app' worker: 'w'", "Q.MHEARTBEAT app");
    assert_int_equal(desk->call.worker_size, 1);
    buffer_clear(&desk->message);
    desk_encode(grpc_face_bound(desk->face, &desk->call)->rpc->request,
                "leases { jid: 'a' } leases { jid: 'b' worker: 'v' }", &desk->message);
    assert_int_equal(
        grpc_face_decode(desk->face, &desk->call, buffer_slice(&desk->message), &desk->fault),
        STATUS_OK);
    static const char *const words[] = { "Q.MHEARTBEAT", "app", "2", "a", "w", "2", "b", "v" };
    assert_int_equal(desk->call.words.count, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_slice_equal(desk->call.words.items[i], words[i]);
    }
}

static void test_grpc_words__the_server_says_how_many_a_stream_pops(void **state)
{
    struct desk *desk = *state;
    becomes(desk, "StreamNext", "queues: 'q' worker: 'w' max_in_flight: 20 release_on_close: true",
            "Q.POP default w 20 WAIT 0 -- q");
    assert_int_equal(desk->call.in_flight_max, 20);
    assert_true(desk->call.release_on_close);
    assert_memory_equal(desk->call.stream_ns, "default", desk->call.stream_ns_size);
    desk->call.count = 3;
    assert_int_equal(
        grpc_face_decode(desk->face, &desk->call, buffer_slice(&desk->message), &desk->fault),
        STATUS_OK);
    assert_slice_equal(desk->call.words.items[3], "3");
}

static void test_grpc_words__events_become_a_query(void **state)
{
    struct desk *desk = *state;
    (void)words_of(desk, "Events", "");
    assert_slice_equal(desk->call.ns, "default");
    assert_slice_equal(desk->call.query, "");
    (void)words_of(desk, "Events",
                   "namespace: 'app' queues: 'a b' queues: 'c' jids: 'j' kinds: 'put' workers: 'w' "
                   "tracked: true last_event_id: 18446744073709551615");
    assert_null(desk->call.command);
    assert_slice_equal(desk->call.ns, "app");
    assert_slice_equal(desk->call.query, "queue=a%20b&queue=c&jid=j&kind=put&worker=w&tracked=true&"
                                         "last_event_id=18446744073709551615");
}

// Each is refused as a whole, with the code that says that it is not the message that was wanted.
static void test_grpc_words__what_is_no_message_is_refused(void **state)
{
    static const struct row {
        const char *method;
        struct slice bytes;
    } rows[] = {
        { "Add", { "\x0a", 1 } },                  // a text without its size
        { "Add", { "\x0a\x05q", 3 } },             // which is cut off
        { "Add", { "\x00\x00", 2 } },              // field 0
        { "Add", { "\x22\x02\x0a\x05", 4 } },      // a Payload that is cut off
        { "Add", { "\x4a\x01\x08", 3 } },          // a Duration that is cut off
        { "Add", { "\x7a\x02\x0a\x05", 4 } },      // Options
        { "Events", { "\x0a\x05q", 3 } },          //
        { "Execute", { "\x0a\x05q", 3 } },         //
        { "BatchAdd", { "\x12\x02\x0a\x05", 4 } }, // a request in it
    };
    struct desk *desk = *state;
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].method); i++) {
        grpc_call_init(&desk->call, desk_method(desk, rows[i].method));
        assert_int_equal(grpc_face_decode(desk->face, &desk->call, rows[i].bytes, &desk->fault),
                         STATUS_INVALID);
        assert_int_equal(desk->fault.code, GRPC_INTERNAL);
    }
}

static void test_grpc_words__unknown_fields_are_ignored(void **state)
{
    struct desk *desk = *state;
    buffer_clear(&desk->message);
    desk_encode(
        grpc_face_bound(desk->face, &(struct grpc_call){ .method = desk_method(desk, "Get") })
            ->rpc->request,
        "jid: 'a'", &desk->message);
    protobuf_write_varint(&desk->message, 99, 7);
    protobuf_write_bytes(&desk->message, 5000, SLICE("\xff"));
    protobuf_write_varint(&desk->message, 2, 7); // the number of jid, with another type
    buffer_append(&desk->message, SLICE("\x53\x08\x01\x54")); // a group
    grpc_call_init(&desk->call, desk_method(desk, "Get"));
    assert_int_equal(
        grpc_face_decode(desk->face, &desk->call, buffer_slice(&desk->message), &desk->fault),
        STATUS_OK);
    assert_int_equal(desk->call.words.count, 4);
    assert_slice_equal(desk->call.words.items[3], "a");
}

static void test_grpc_words__messages_of_several_commands_are_bounded(void **state)
{
    struct desk *desk = *state;
    buffer_clear(&desk->message);
    for (int i = 0; i < 101; i++) {
        protobuf_write_bytes(&desk->message, 4, SLICE("line"));
    }
    grpc_call_init(&desk->call, desk_method(desk, "Report"));
    assert_int_equal(
        grpc_face_decode(desk->face, &desk->call, buffer_slice(&desk->message), &desk->fault),
        STATUS_TOO_LARGE);
    assert_string_equal(desk->fault.error.detail, "log_lines has more than 100 items");
    for (int i = 0; i < 1000; i++) {
        protobuf_write_varint(&desk->message, 99, 1);
    }
    assert_int_equal(
        grpc_face_decode(desk->face, &desk->call, buffer_slice(&desk->message), &desk->fault),
        STATUS_TOO_LARGE);
    assert_string_equal(desk->fault.error.detail,
                        "a sluice.v1.ReportRequest has at most 1000 fields");
}

static void test_grpc_words__commands_about_a_connection_are_not_executed(void **state)
{
    static const struct command commands[] = {
        { .name = "MULTI", .group = "transactions" },
        { .name = "AUTH", .group = "connection" },
        { .name = "SUBSCRIBE", .group = "pubsub" },
        { .name = "EVAL", .group = "scripts" },
    };
    static const struct command_table table = { commands, 4 };
    static const struct command_table *const tables[] = { &table };
    struct desk *desk = *state;
    grpc_face_free(desk->face);
    commands_free(desk->commands);
    assert_int_equal(commands_new(&allocator_system, tables, 1, &desk->commands), STATUS_OK);
    assert_int_equal(grpc_face_new(&(struct grpc_face_options){ .allocator = &allocator_system,
                                                                .commands = desk->commands,
                                                                .reply_max = 1000 },
                                   &desk->face),
                     STATUS_OK);
    assert_null(grpc_face_find(desk->face, SLICE("/sluice.v1.Queue/Add")));
    for (size_t i = 0; i < 4; i++) {
        char request[40];
        (void)snprintf(request, sizeof(request), "words: '%s'", commands[i].name);
        (void)words_of(desk, "Execute", request);
        assert_int_equal(grpc_code_of(&desk->fault.error), GRPC_UNIMPLEMENTED);
    }
}

static enum status decode_script(const struct allocator *allocator)
{
    struct commands *commands;
    struct grpc_face *face = NULL;
    struct grpc_fault fault;
    struct grpc_call call;
    struct buffer message;
    buffer_init(&message, &allocator_system, 1 << 20);
    assert_int_equal(commands_new(&allocator_system, api_tables, API_TABLES, &commands), 0);
    const struct grpc_face_options options = { .allocator = allocator,
                                               .commands = commands,
                                               .reply_max = 1000 };
    enum status status = grpc_face_new(&options, &face);
    if (!status) {
        grpc_call_init(&call, grpc_face_find(face, SLICE("/sluice.v1.Queue/BatchAdd")));
        for (int i = 0; i < 40; i++) {
            desk_encode(grpc_face_bound(face, &call)->rpc->request,
                        "requests { queue: 'q' klass: 'K' data { raw: 'x' } priority: 3 }",
                        &message);
        }
        status = grpc_face_decode(face, &call, buffer_slice(&message), &fault);
    }
    grpc_face_free(face);
    commands_free(commands);
    buffer_release(&message);
    return status;
}

static void test_grpc_words__running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        enum status status = decode_script(&fault.allocator);
        FAULT_ALLOC_EXPECT(&fault, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(test_grpc_words__each_field_is_an_argument),
        DESK_TEST(test_grpc_words__what_is_wrong_is_named),
        DESK_TEST(test_grpc_words__every_argument_of_a_command_is_a_field),
        DESK_TEST(test_grpc_words__every_field_of_a_request_is_used),
        DESK_TEST(test_grpc_words__the_stream_keeps_namespace_and_worker),
        DESK_TEST(test_grpc_words__the_server_says_how_many_a_stream_pops),
        DESK_TEST(test_grpc_words__events_become_a_query),
        DESK_TEST(test_grpc_words__what_is_no_message_is_refused),
        DESK_TEST(test_grpc_words__unknown_fields_are_ignored),
        DESK_TEST(test_grpc_words__messages_of_several_commands_are_bounded),
        DESK_TEST(test_grpc_words__commands_about_a_connection_are_not_executed),
        cmocka_unit_test(test_grpc_words__running_out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
