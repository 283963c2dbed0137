// SPDX-License-Identifier: MIT
// A server in the test's own thread: the test makes its connections and runs its turns one by one.
#ifndef SLUICE_LOOP_TEST_H
#define SLUICE_LOOP_TEST_H

#include "server/server.h"

#include "settings_test.h"
#include "test.h"

struct loop_test {
    struct settings_test settings;
    struct server server;
    struct error error;
};

struct loop_client {
    struct loop_test *test;
    int fd;
    struct connection *connection; // the server's side; freed when it is closed
    struct buffer received;
};

// For cmocka.
int loop_test_begin(void **state);
int loop_test_end(void **state);

#define LOOP_TEST(test) cmocka_unit_test_setup_teardown(test, loop_test_begin, loop_test_end)

// One turn: what the loop has to report, and the end of the turn.
void loop_test_turn(struct loop_test *test);

void loop_client_init(struct loop_client *client, struct loop_test *test,
                      const struct protocol *protocol);
void loop_client_release(struct loop_client *client);

// Sends bytes, and runs the turn in which the server reads them.
void loop_client_send(struct loop_client *client, const char *bytes);
// Runs a turn, and appends what has come to `received`.
void loop_client_receive(struct loop_client *client);
// Runs turns until the server has sent this, exactly, since the last call.
void loop_client_expect(struct loop_client *client, const char *bytes);
// Asserts that the server has sent nothing since.
void loop_client_expect_nothing(struct loop_client *client);

// From now on replies are held until loop_test_release, as if the store took long to sync; then the
// store fails or has synced.
void loop_test_hold(struct loop_test *test);
void loop_test_release(struct loop_test *test);
void loop_test_fail_store(struct loop_test *test);

#endif
