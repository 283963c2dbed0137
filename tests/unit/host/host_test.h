// SPDX-License-Identifier: MIT
// Namespaces in a store of their own, with waiters that pop one job each.
#ifndef SLUICE_HOST_TEST_H
#define SLUICE_HOST_TEST_H

#include "host/namespaces.h"

#include "test.h"

struct host_test {
    char folder[64];
    struct host_clock clock;
    struct namespaces all;
    struct error error;
    struct buffer said; // what waiters got: "name=jid; name!sentence; ..."
    size_t records;     // visited when the store was opened last
};

// A waiter with a name.
struct host_waiter {
    struct waiter waiter; // first
    const char *name;
    struct slice queues[4];
    size_t queue_count;
};

// For cmocka.
int host_test_begin(void **state);
int host_test_end(void **state);

#define HOST_TEST(test) cmocka_unit_test_setup_teardown(test, host_test_begin, host_test_end)

// Closes the store and opens it again.
void host_test_reopen(struct host_test *test);

struct ns *host_test_use(struct host_test *test, const char *name);
void host_test_put(struct host_test *test, struct ns *ns, const char *queue, const char *jid);
// Appends what has changed.
void host_test_append(struct host_test *test);

// A waiter for the jobs of up to four queues, named with blanks between; and one for a job's end.
struct host_waiter *host_test_wait(struct host_test *test, struct ns *ns, const char *name,
                                   const char *queues);
struct host_waiter *host_test_wait_finish(struct host_test *test, struct ns *ns, const char *name,
                                          const char *jid);

// What waiters got since the last call.
void host_test_expect(struct host_test *test, const char *wanted);

#endif
