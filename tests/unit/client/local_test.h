// SPDX-License-Identifier: MIT
// A queue in a folder that goes away again, and threads that ask it.
#ifndef SLUICE_LOCAL_TEST_H
#define SLUICE_LOCAL_TEST_H

#include <sluice/sluice.h>

#include <pthread.h>

#define FORELONG 60.0 // seconds: longer than that is taken for never

struct local_test {
    char folder[64];
    char url[128];
    struct sluice *queue;
    struct sluice_error error;
};

void local_test_init(struct local_test *test);
void local_test_release(struct local_test *test);

// The same for a test whose state it is.
int local_test_setup(void **state);
int local_test_teardown(void **state);

// Opens another handle of the folder; asserts that it can.
struct sluice *local_test_open(struct local_test *test, const char *ns, const char *durability);

// Closes the queue and opens it anew.
void local_test_reopen(struct local_test *test);

// A command in words, the last of them NULL; asserts that it is done. The answer is to be freed.
struct sluice_value *local_test_ask(struct local_test *test, const char *const *words);
#define local_test_call(test, ...)                                                                 \
    local_test_ask((test), (const char *const[]){ __VA_ARGS__, NULL })
// The same without its answer.
#define local_test_do(test, ...) sluice_value_free(local_test_call(test, __VA_ARGS__))

// Puts a job of that jid; asserts that it can.
void local_test_put(struct local_test *test, const char *queue, const char *jid);

// Waits until so many calls wait in the queue's namespace.
void local_test_until_waiting(struct local_test *test, int64_t count);

// sluice_next by a thread of its own.
struct taker {
    struct sluice *queue;
    const char *name;
    double wait;
    pthread_t thread;
    struct sluice_job *job;
    enum sluice_status status;
    struct sluice_error error;
};

void taker_start(struct taker *taker, struct sluice *queue, const char *name, double wait);
// Waits for it and asserts that it ended so. With a jid: it got this one, which is freed.
void taker_expect(struct taker *taker, enum sluice_status status, const char *jid);

#endif
