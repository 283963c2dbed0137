// SPDX-License-Identifier: MIT
#include "server/notify.h"

#include "test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A manager that listens on a socket, with a path or with an abstract name.
struct manager {
    char folder[64];
    char path[96];
    char variable[128];
    int fd;
};

static void manager_init(struct manager *manager, bool abstract)
{
    const char *root = getenv("TMPDIR");
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    (void)snprintf(manager->folder, sizeof(manager->folder), "%s/sluice-XXXXXX",
                   root ? root : "/tmp");
    assert_non_null(mkdtemp(manager->folder));
    (void)snprintf(manager->path, sizeof(manager->path), "%s/notify", manager->folder);
    manager->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(manager->fd >= 0);
    // The folder's name is unique, so the abstract one is too.
    size_t size = strlen(manager->path);
    memcpy(address.sun_path + abstract, manager->path, size);
    socklen_t address_size =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size + (abstract ? 1 : 0));
    assert_int_equal(bind(manager->fd, (const struct sockaddr *)&address, address_size), 0);
    (void)snprintf(manager->variable, sizeof(manager->variable), "NOTIFY_SOCKET=%s%s",
                   abstract ? "@" : "", manager->path);
}

static void manager_release(struct manager *manager)
{
    (void)close(manager->fd);
    (void)unlink(manager->path);
    (void)rmdir(manager->folder);
}

static void expect(const struct manager *manager, const char *text)
{
    char got[1024];
    ssize_t size = recv(manager->fd, got, sizeof(got) - 1, 0);
    assert_true(size >= 0);
    got[size] = '\0';
    assert_string_equal(got, text);
}

static void converse(bool abstract)
{
    struct manager manager;
    struct notify notify;
    struct error error;
    manager_init(&manager, abstract);
    char *environment[] = { (char[]){ "A=b" }, manager.variable, NULL };
    assert_int_equal(notify_init(&notify, environment, &error), STATUS_OK);
    assert_int_equal(notify.watchdog_us, 0);
    notify_ready(&notify);
    expect(&manager, "READY=1");
    notify_status(&notify, "%d connections\nand more", 5);
    expect(&manager, "STATUS=5 connections and more");
    notify_reloading(&notify, 123456789);
    expect(&manager, "RELOADING=1\nMONOTONIC_USEC=123456789");
    notify_watchdog(&notify);
    expect(&manager, "WATCHDOG=1");
    notify_stopping(&notify);
    expect(&manager, "STOPPING=1");
    notify_release(&notify);
    manager_release(&manager);
}

static void test_notify__a_socket_with_a_path_is_told(void **state)
{
    (void)state;
    converse(false);
}

static void test_notify__a_socket_with_an_abstract_name_is_told(void **state)
{
    (void)state;
    converse(true);
}

static void test_notify__without_a_socket_nothing_happens(void **state)
{
    (void)state;
    struct notify notify;
    struct error error;
    char *environment[] = { (char[]){ "NOTIFY_SOCKET=" }, NULL };
    assert_int_equal(notify_init(&notify, environment, &error), STATUS_OK);
    assert_int_equal(notify.fd, -1);
    notify_ready(&notify);
    notify_status(&notify, "%s", "fine");
    notify_release(&notify);
}

static void test_notify__a_manager_that_is_gone_or_does_not_read_holds_nobody_up(void **state)
{
    (void)state;
    struct manager manager;
    struct notify notify;
    struct error error;
    manager_init(&manager, false);
    char *environment[] = { manager.variable, NULL };
    assert_int_equal(notify_init(&notify, environment, &error), STATUS_OK);
    for (int i = 0; i < 5000; i++) {
        notify_watchdog(&notify);
    }
    manager_release(&manager);
    notify_ready(&notify);
    notify_release(&notify);
}

static void test_notify__malformed_names_are_refused(void **state)
{
    (void)state;
    char endless[256] = "NOTIFY_SOCKET=/";
    memset(endless + 15, 'a', 200);
    char *const cases[] = { (char[]){ "NOTIFY_SOCKET=here" }, (char[]){ "NOTIFY_SOCKET=@" },
                            (char[]){ "NOTIFY_SOCKET=vsock:2:1" }, endless };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i]); i++) {
        struct notify notify;
        struct error error;
        char *environment[] = { cases[i], NULL };
        assert_int_equal(notify_init(&notify, environment, &error), STATUS_INVALID);
        notify_ready(&notify);
        notify_release(&notify);
    }
}

static void test_notify__the_watchdog_is_that_of_this_process(void **state)
{
    (void)state;
    struct manager manager;
    manager_init(&manager, false);
    for (int ours = 0; ours < 2; ours++) {
        struct notify notify;
        struct error error;
        char pid[64];
        (void)snprintf(pid, sizeof(pid), "WATCHDOG_PID=%ld", (long)getpid() + !ours);
        char *environment[] = { manager.variable, (char[]){ "WATCHDOG_USEC=30000000" }, pid, NULL };
        assert_int_equal(notify_init(&notify, environment, &error), STATUS_OK);
        assert_int_equal(notify.watchdog_us, ours ? 30000000 : 0);
        notify_release(&notify);
    }
    manager_release(&manager);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_notify__a_socket_with_a_path_is_told),
        cmocka_unit_test(test_notify__a_socket_with_an_abstract_name_is_told),
        cmocka_unit_test(test_notify__without_a_socket_nothing_happens),
        cmocka_unit_test(test_notify__a_manager_that_is_gone_or_does_not_read_holds_nobody_up),
        cmocka_unit_test(test_notify__malformed_names_are_refused),
        cmocka_unit_test(test_notify__the_watchdog_is_that_of_this_process),
    };
    return cmocka_run_group_tests_name("notify", tests, NULL, NULL);
}
