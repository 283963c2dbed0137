// SPDX-License-Identifier: MIT
// Deliveries: what the answer of a worker does to its job, to its push and to its lease. The worker
// is the test itself, on a port that the system chooses.
#include "loop_test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    REQUEST_MAX = 1 << 16,
    HREF_SIZE = 64,
};

// A worker that takes one request at a time.
struct target {
    struct loop_test *test;
    struct loop_client client; // of the server, for commands
    struct ns *ns;
    int listener;
    int fd; // the connection with a request, or -1
    char href[HREF_SIZE];
    struct buffer request; // the last one, whole
};

static void command(struct target *target, const char *line)
{
    char bytes[512];
    int size = snprintf(bytes, sizeof(bytes), "%s\r\n", line);
    assert_in_range(size, 1, sizeof(bytes) - 1);
    loop_client_send(&target->client, bytes);
}

// Runs a command and waits for its answer.
static void expect(struct target *target, const char *line, const char *answer)
{
    command(target, line);
    loop_client_expect(&target->client, answer);
}

static void target_init(struct target *target, struct loop_test *test, const char *options)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof(address);
    char line[256];
    *target = (struct target){ .test = test, .fd = -1 };
    test->server.settings.push_allow_private = true;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    target->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(target->listener >= 0);
    assert_int_equal(bind(target->listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(target->listener, 8), 0);
    assert_int_equal(getsockname(target->listener, (struct sockaddr *)&address, &size), 0);
    (void)snprintf(target->href, sizeof(target->href), "http://127.0.0.1:%u/do",
                   ntohs(address.sin_port));
    buffer_init(&target->request, &allocator_system, REQUEST_MAX);
    loop_client_init(&target->client, test, &protocol_resp);
    (void)snprintf(line, sizeof(line), "Q.PUSH.SET app Do %s %s", target->href, options);
    expect(target, line, "+OK\r\n");
    target->ns = namespaces_find(&test->server.namespaces, SLICE("app"));
    assert_non_null(target->ns);
}

static void target_close(struct target *target)
{
    if (target->fd >= 0) {
        (void)close(target->fd);
        target->fd = -1;
    }
}

static void target_release(struct target *target)
{
    target_close(target);
    (void)close(target->listener);
    buffer_release(&target->request);
    loop_client_release(&target->client);
}

static const struct push_entry *entry_of(const struct target *target)
{
    const struct push_namespace *space = target->ns->side;
    return space->entries;
}

// Whether the request has come as a whole.
static bool is_whole(const struct buffer *request)
{
    struct slice all = buffer_slice(request);
    const char *end = all.size == 0 ? NULL : memmem(all.data, all.size, "\r\n\r\n", 4);
    const char *length = end ? memmem(all.data, all.size, "Content-Length: ", 16) : NULL;
    if (!length) {
        return false;
    }
    size_t body = (size_t)strtoul(length + 16, NULL, 10);
    return all.size == (size_t)(end + 4 - all.data) + body;
}

// Runs turns until a request is here.
static void target_receive(struct target *target)
{
    char bytes[4096];
    buffer_clear(&target->request);
    while (target->fd < 0) {
        loop_test_turn(target->test);
        target->fd = accept4(target->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        assert_true(target->fd >= 0 || errno == EAGAIN);
    }
    while (!is_whole(&target->request)) {
        loop_test_turn(target->test);
        ssize_t size = recv(target->fd, bytes, sizeof(bytes), 0);
        assert_true(size > 0 || errno == EAGAIN);
        if (size > 0) {
            buffer_append(&target->request, slice_make(bytes, (size_t)size));
        }
    }
}

// Sends an answer, and ends the connection; runs turns until the server has taken it.
static void target_answer(struct target *target, const char *answer)
{
    size_t size = strlen(answer);
    assert_int_equal(send(target->fd, answer, size, MSG_NOSIGNAL), size);
    target_close(target);
    while (!push_is_drained(&target->test->server)) {
        loop_test_turn(target->test);
    }
}

static struct job_view job_of(const struct target *target, const char *jid)
{
    struct job_view view;
    const struct job *job = engine_get(target->ns->engine, slice_from_cstr(jid));
    assert_non_null(job);
    job_view(target->ns->engine, job, &view);
    return view;
}

struct row {
    const char *what;
    const char *options; // of the push
    const char *answer;
    enum job_state state;
    int32_t remaining;
    const char *group, *message, *result;
};

#define HEAD(status, size)                                                                         \
    "HTTP/1.1 " status "\r\nConnection: close\r\nContent-Length: " size "\r\n"

static const struct row rows[] = {
    { "JSON", "", HEAD("200 OK", "10") "\r\n{ \"a\": 1 }", JOB_COMPLETE, 5, "", "", "{\"a\":1}" },
    { "text", "", HEAD("200 OK", "4") "\r\ndone", JOB_COMPLETE, 5, "", "", "\"done\"" },
    { "nothing", "", "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", JOB_COMPLETE, 5, "",
      "", "" },
    { "an error", "", HEAD("500 Oops", "4") "\r\nwhat", JOB_SCHEDULED, 4, "push:500",
      "HTTP status 500: what", "" },
    { "not found", "", HEAD("404 No", "0") "\r\n", JOB_SCHEDULED, 4, "push:404", "HTTP status 404",
      "" },
    { "not found, which fails", "FAIL-4XX", HEAD("404 No", "0") "\r\n", JOB_FAILED, 5, "push:404",
      "HTTP status 404", "" },
    { "later", "", HEAD("429 Later", "0") "Retry-After: 3600\r\n\r\n", JOB_SCHEDULED, 5, "", "",
      "" },
    { "later, beyond the free attempts", "FREE-ATTEMPTS 0",
      HEAD("503 Later", "0") "Retry-After: 3600\r\n\r\n", JOB_SCHEDULED, 4, "push:503",
      "HTTP status 503", "" },
};

static void test_push_delivery__the_answer_settles_the_job(void **state)
{
    (void)state;
    for (size_t i = 0; TEST_ROW(i, rows); i++) {
        const struct row *row = &rows[i];
        void *of_row = NULL;
        struct target target;
        assert_int_equal(loop_test_begin(&of_row), 0);
        target_init(&target, of_row, row->options);
        expect(&target, "Q.PUT app q Do '{\"n\":1}' JID j", "$1\r\nj\r\n");
        target_receive(&target);
        assert_int_equal(job_of(&target, "j").state, JOB_RUNNING);
        target_answer(&target, row->answer);
        struct job_view view = job_of(&target, "j");
        assert_int_equal(view.state, row->state);
        assert_int_equal(view.remaining, row->remaining);
        assert_slice_equal(view.failure_group, row->group);
        assert_slice_equal(view.failure_message, row->message);
        assert_slice_equal(view.result, row->result);
        assert_int_equal(entry_of(&target)->running, 0);
        target_release(&target);
        assert_int_equal(loop_test_end(&of_row), 0);
    }
}

static void test_push_delivery__the_request_has_the_job_and_its_data(void **state)
{
    struct target target;
    target_init(&target, *state, "HEADER 'X-From: sluice'");
    expect(&target, "Q.PUT app q Do '{\"n\":1}' JID j", "$1\r\nj\r\n");
    target_receive(&target);
    buffer_append_char(&target.request, '\0');
    const char *text = target.request.data;
    assert_ptr_equal(strstr(text, "POST /do HTTP/1.1\r\n"), text);
    assert_non_null(strstr(text, "\r\nX-From: sluice\r\n"));
    assert_non_null(strstr(text, "\"id\":\"j\""));
    assert_non_null(strstr(text, "\"args\":{\"n\":1}"));
    target_answer(&target, HEAD("200 OK", "0") "\r\n");
    target_release(&target);
}

// The lease stays the server's, so that the worker can report; a restart finds the note.
static void test_push_delivery__an_accepted_job_stays_leased_until_the_worker_reports(void **state)
{
    struct loop_test *test = *state;
    struct target target;
    target_init(&target, test, "");
    expect(&target, "Q.PUT app q Do {} JID j", "$1\r\nj\r\n");
    target_receive(&target);
    target_answer(&target, HEAD("202 Accepted", "0") "\r\n");
    struct job_view view = job_of(&target, "j");
    assert_int_equal(view.state, JOB_RUNNING);
    assert_slice_equal(view.worker, "@push");
    assert_int_equal(entry_of(&target)->accepted, 1);
    const struct job *job = engine_get(target.ns->engine, SLICE("j"));
    assert_true(push_was_accepted(target.ns->engine, job, view.token));
    assert_false(push_was_accepted(target.ns->engine, job, view.token + 1));
    char line[128];
    (void)snprintf(line, sizeof(line), "Q.COMPLETE app j @push TOKEN %llu",
                   (unsigned long long)view.token);
    expect(&target, line, "$8\r\ncomplete\r\n");
    loop_test_turn(test); // the delivery ends with a turn
    assert_int_equal(entry_of(&target)->accepted, 0);
    assert_int_equal(entry_of(&target)->running, 0);
    target_release(&target);
}

static void test_push_delivery__a_job_that_is_taken_away_ends_its_request(void **state)
{
    struct loop_test *test = *state;
    struct target target;
    target_init(&target, test, "");
    expect(&target, "Q.PUT app q Do {} JID j", "$1\r\nj\r\n");
    target_receive(&target);
    expect(&target, "Q.CANCEL app j", ":1\r\n");
    while (!push_is_drained(&test->server)) {
        loop_test_turn(test);
    }
    assert_int_equal(entry_of(&target)->figures.lost, 1);
    assert_int_equal(entry_of(&target)->figures.completed, 0);
    assert_int_equal(entry_of(&target)->running, 0);
    target_release(&target);
}

static void test_push_delivery__after_failures_in_a_row_nothing_is_sent_for_a_while(void **state)
{
    struct loop_test *test = *state;
    struct target target;
    target_init(&target, test, "FAILURES 1 COOLDOWN 3600 CONCURRENCY 1");
    expect(&target, "Q.PUT app q Do {} JID a", "$1\r\na\r\n");
    target_receive(&target);
    expect(&target, "Q.PUT app q Do {} JID b", "$1\r\nb\r\n");
    target_answer(&target, HEAD("500 Oops", "0") "\r\n");
    assert_int_equal(entry_of(&target)->breaker, BREAKER_OPEN);
    assert_string_equal(entry_of(&target)->last_error, "HTTP status 500");
    loop_test_turn(test);
    assert_int_equal(job_of(&target, "b").state, JOB_WAITING);
    assert_int_equal(entry_of(&target)->figures.sent, 1);
    target_release(&target);
}

static void test_push_delivery__a_server_that_stops_gives_back_what_it_has_sent(void **state)
{
    struct loop_test *test = *state;
    struct target target;
    target_init(&target, test, "");
    expect(&target, "Q.PUT app q Do {} JID a", "$1\r\na\r\n");
    target_receive(&target);
    push_stop(&test->server);
    expect(&target, "Q.PUT app q Do {} JID b", "$1\r\nb\r\n");
    assert_false(push_is_drained(&test->server));
    push_give_back(&test->server);
    assert_true(push_is_drained(&test->server));
    struct job_view view = job_of(&target, "a");
    assert_int_equal(view.state, JOB_WAITING);
    assert_int_equal(view.remaining, 5); // no retry was counted
    assert_int_equal(job_of(&target, "b").state, JOB_WAITING);
    assert_int_equal(entry_of(&target)->figures.delayed, 1);
    target_release(&target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push_delivery__the_answer_settles_the_job),
        LOOP_TEST(test_push_delivery__the_request_has_the_job_and_its_data),
        LOOP_TEST(test_push_delivery__an_accepted_job_stays_leased_until_the_worker_reports),
        LOOP_TEST(test_push_delivery__a_job_that_is_taken_away_ends_its_request),
        LOOP_TEST(test_push_delivery__after_failures_in_a_row_nothing_is_sent_for_a_while),
        LOOP_TEST(test_push_delivery__a_server_that_stops_gives_back_what_it_has_sent),
    };
    return cmocka_run_group_tests_name("push_delivery", tests, NULL, NULL);
}
