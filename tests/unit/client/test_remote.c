// SPDX-License-Identifier: MIT
// A call that has no other end than the event it was given: when that is missed, it never returns.
#include "client/remote.h"

#include "client/pause.h"
#include "test.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

// A server that greets, and does not answer what it is asked then.
struct mute {
    int listener;
    int stop;      // is set when it has heard the request
    bool hangs_up; // and ends the connection then, each time
    pthread_t thread;
};

// Requests are short enough to come in one piece each: the other side waits for the greeting.
static void *serve(void *context)
{
    static const char greeting[] = "%1\r\n+server\r\n+mute\r\n";
    struct mute *mute = context;
    char bytes[1024];
    int fd;
    while ((fd = accept4(mute->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        if (recv(fd, bytes, sizeof(bytes), 0) > 0) {
            (void)send(fd, greeting, sizeof(greeting) - 1, MSG_NOSIGNAL);
        }
        if (recv(fd, bytes, sizeof(bytes), 0) > 0) {
            wake_set(mute->stop, true);
        }
        while (!mute->hangs_up && recv(fd, bytes, sizeof(bytes), 0) > 0) {
        }
        close(fd);
    }
    return NULL;
}

static void mute_start(struct mute *mute, struct url *url)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof(address);
    char text[64];
    mute->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(mute->listener >= 0);
    assert_int_equal(bind(mute->listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(mute->listener, 16), 0);
    assert_int_equal(getsockname(mute->listener, (struct sockaddr *)&address, &size), 0);
    (void)snprintf(text, sizeof(text), "sluice://127.0.0.1:%d", ntohs(address.sin_port));
    assert_int_equal(url_read(text, url, NULL), SLUICE_OK);
    assert_int_equal(pthread_create(&mute->thread, NULL, serve, mute), 0);
}

static void mute_end(struct mute *mute)
{
    assert_int_equal(shutdown(mute->listener, SHUT_RDWR), 0);
    assert_int_equal(pthread_join(mute->thread, NULL), 0);
    close(mute->listener);
}

static void expect_stopped(struct mute *mute)
{
    struct url url;
    struct link *link;
    struct sluice_value *answer = NULL;
    const struct slice word = SLICE("PING");
    const struct sluice_open_options given = SLUICE_OPEN();
    mute_start(mute, &url);
    const struct link_options options = { &url, LINK_FOREVER, &given };
    assert_int_equal(remote_open(&options, &link, NULL), SLUICE_OK);
    const struct link_call call = { .words = { &word, 1 }, .repeats = true, .stop = &mute->stop };
    assert_int_equal(link->ops->call(link, &call, &answer, NULL), SLUICE_INTERRUPTED);
    assert_null(answer);
    link->ops->close(link);
    mute_end(mute);
}

static void test_remote__a_call_ends_when_it_is_told_to_though_nobody_answers(void **state)
{
    (void)state;
    struct mute mute = { .stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
    expect_stopped(&mute);
    close(mute.stop);
}

static void test_remote__a_call_that_is_tried_again_ends_when_it_is_told_to(void **state)
{
    (void)state;
    struct mute mute = { .stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .hangs_up = true };
    expect_stopped(&mute);
    close(mute.stop);
}

static void
test_remote__the_event_may_have_the_number_of_a_standard_input_that_was_closed(void **state)
{
    (void)state;
    int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    close(STDIN_FILENO);
    struct mute mute = { .stop = eventfd(0, EFD_NONBLOCK) };
    assert_int_equal(mute.stop, 0);
    expect_stopped(&mute);
    close(mute.stop);
    if (input >= 0) {
        assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
        close(input);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remote__a_call_ends_when_it_is_told_to_though_nobody_answers),
        cmocka_unit_test(test_remote__a_call_that_is_tried_again_ends_when_it_is_told_to),
        cmocka_unit_test(
            test_remote__the_event_may_have_the_number_of_a_standard_input_that_was_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
