// SPDX-License-Identifier: MIT
#include "loop_test.h"

#include "server/net/listener.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    RECEIVED_MAX = 1 << 20,
};

// ---------------------------------------------------------------------------------------------
// The disk: the store's thread waits in fdatasync while it is closed, however fast the disk is.

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    bool closed;
} gate = { .mutex = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER };

static void gate_set(bool closed)
{
    (void)pthread_mutex_lock(&gate.mutex);
    gate.closed = closed;
    (void)pthread_cond_broadcast(&gate.opened);
    (void)pthread_mutex_unlock(&gate.mutex);
}

// In place of the system's.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): theirs are reserved
int fdatasync(int fd)
{
    (void)pthread_mutex_lock(&gate.mutex);
    while (gate.closed) {
        (void)pthread_cond_wait(&gate.opened, &gate.mutex);
    }
    (void)pthread_mutex_unlock(&gate.mutex);
    return (int)syscall(SYS_fdatasync, fd);
}

// ---------------------------------------------------------------------------------------------

int loop_test_begin(void **state)
{
    struct loop_test *test = calloc(1, sizeof(*test));
    assert_non_null(test);
    settings_test_init(&test->settings);
    char data[128];
    char listen[128];
    (void)snprintf(data, sizeof(data), "--data=%s/data", test->settings.folder);
    (void)snprintf(listen, sizeof(listen), "--listen=unix:%s/socket", test->settings.folder);
    settings_test_flag(&test->settings, data);
    settings_test_flag(&test->settings, listen);
    settings_test_flag(&test->settings, "--http=");
    settings_test_flag(&test->settings, "--grpc=");
    settings_test_flag(&test->settings, "--log-level=error");
    settings_test_flag(&test->settings, "--max-output=64K");
    assert_int_equal(settings_test_load(&test->settings), STATUS_OK);
    enum status status = server_init(&test->server, &test->settings.settings,
                                     test->settings.environment, &test->error);
    test->settings.settings = (struct settings){ 0 }; // the server has them
    if (status) {
        print_error("%s\n", error_sentence(&test->error));
    }
    assert_int_equal(status, STATUS_OK);
    server_end_turn(&test->server);
    *state = test;
    return 0;
}

int loop_test_end(void **state)
{
    struct loop_test *test = *state;
    gate_set(false);
    server_release(&test->server);
    char command[256];
    (void)snprintf(command, sizeof(command), "rm -rf '%s/data' '%s/socket'", test->settings.folder,
                   test->settings.folder);
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c): the names are ours
    settings_test_release(&test->settings);
    free(test);
    return 0;
}

void loop_test_turn(struct loop_test *test)
{
    assert_true(event_base_loop(test->server.loop, EVLOOP_ONCE | EVLOOP_NONBLOCK) >= 0);
    server_end_turn(&test->server);
}

void loop_client_init(struct loop_client *client, struct loop_test *test,
                      const struct protocol *protocol)
{
    int ends[2];
    const struct sockaddr_storage address = { .ss_family = AF_UNIX };
    const struct listener listener = { .server = &test->server, .protocol = protocol };
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    connection_open(&listener, ends[1], &address, sizeof(sa_family_t),
                    (struct crowd_place){ .reserved = false });
    *client = (struct loop_client){ .test = test,
                                    .fd = ends[0],
                                    .connection = test->server.connections.newest };
    assert_non_null(client->connection);
    buffer_init(&client->received, &allocator_system, RECEIVED_MAX);
}

void loop_client_release(struct loop_client *client)
{
    (void)close(client->fd);
    buffer_release(&client->received);
}

void loop_client_send(struct loop_client *client, const char *bytes)
{
    size_t size = strlen(bytes);
    assert_int_equal(send(client->fd, bytes, size, MSG_NOSIGNAL), size);
    loop_test_turn(client->test);
}

static void receive(struct loop_client *client)
{
    char bytes[4096];
    ssize_t size;
    while ((size = recv(client->fd, bytes, sizeof(bytes), 0)) > 0) {
        buffer_append(&client->received, slice_make(bytes, (size_t)size));
    }
    assert_true(size == 0 || errno == EAGAIN);
}

void loop_client_receive(struct loop_client *client)
{
    loop_test_turn(client->test);
    receive(client);
}

void loop_client_expect(struct loop_client *client, const char *bytes)
{
    size_t size = strlen(bytes);
    // The store's thread may need a moment; cmocka's time limit ends a test that waits in vain.
    for (receive(client); client->received.size < size; receive(client)) {
        loop_test_turn(client->test);
    }
    assert_slice_equal(buffer_slice(&client->received), bytes);
    buffer_clear(&client->received);
}

void loop_client_expect_nothing(struct loop_client *client)
{
    loop_test_turn(client->test);
    receive(client);
    assert_int_equal(client->received.size, 0);
}

// A group that the store never reaches, for replies to commands that change nothing. Those of a
// change get the group of the change, which the disk keeps from becoming durable.
enum {
    FAR = 1000000,
};

void loop_test_hold(struct loop_test *test)
{
    gate_set(true);
    test->server.namespaces.group += FAR;
}

static void settle(struct loop_test *test)
{
    test->server.namespaces.group = 0;
    commit_durable(&test->server);
    gate_set(false);
    loop_test_turn(test);
}

void loop_test_release(struct loop_test *test)
{
    struct commit *commit = &test->server.commit;
    for (size_t i = 0; i < commit->count; i++) {
        commit->holds[(commit->first + i) % commit->capacity].group = 0;
    }
    settle(test);
}

void loop_test_fail_store(struct loop_test *test)
{
    test->server.store_state = STORE_FAILED;
    (void)error_set(&test->server.store_why, STATUS_IO, "the disk is gone");
    settle(test);
}
