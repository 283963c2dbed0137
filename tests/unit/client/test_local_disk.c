// SPDX-License-Identifier: MIT
// A disk that fails, and one that is full, under a queue in this process: what could not be stored
// is refused, never acknowledged, and all that was acknowledged is there afterwards. A child has
// the queue open, since what is done to it does not go away; it tells by its exit code.
#include "local_test.h"

#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREADS = 4,
    JOBS = 2000, // of each thread, at most
    LARGE = 500000,
    SKIPPED = 77, // the system does not allow it
};

#define MUST(holds)                                                                                \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            (void)fprintf(stderr, "the child, line %d: %s\n", __LINE__, #holds);                   \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

// Runs in a child, whose folder this one checks afterwards.
static int in_child(struct local_test *test, void (*run)(struct local_test *test))
{
    int status;
    sluice_close(test->queue);
    test->queue = NULL;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        run(test);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static enum sluice_status put(struct sluice *queue, const char *data, int number,
                              struct sluice_error *error)
{
    char jid[32];
    (void)snprintf(jid, sizeof(jid), "%d", number);
    const struct sluice_put_options job =
        SLUICE_PUT(.queue = "mail", .klass = "Test", .data = data, .jid = jid);
    return sluice_put(queue, &job, NULL, error);
}

// ---------------------------------------------------------------------------------------------
// It fails

static bool *acknowledged; // of each job; parent and child share it

struct putter {
    struct sluice *queue;
    int first;
    pthread_t thread;
    enum sluice_status refusal;
};

static atomic_int put_count;

static void *put_until_refused(void *context)
{
    struct putter *putter = context;
    struct sluice_error error;
    for (int i = 0; i < JOBS; i++) {
        putter->refusal = put(putter->queue, "{}", putter->first + i, &error);
        if (putter->refusal) {
            break;
        }
        acknowledged[putter->first + i] = true;
        if (++put_count == 200) {
            // Every write fails from now on, and none is torn.
            (void)setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 0, RLIM_INFINITY });
        }
    }
    return NULL;
}

static void use_failing_disk(struct local_test *test)
{
    struct putter putters[THREADS];
    struct taker taker;
    struct sluice_error error;
    struct sluice_value *length;
    (void)signal(SIGXFSZ, SIG_IGN);
    MUST(sluice_open(test->url, NULL, &test->queue, &error) == SLUICE_OK);
    taker_start(&taker, test->queue, "nothing", FORELONG);
    for (int i = 0; i < THREADS; i++) {
        putters[i] = (struct putter){ .queue = test->queue, .first = i * JOBS };
        MUST(!pthread_create(&putters[i].thread, NULL, put_until_refused, &putters[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        MUST(!pthread_join(putters[i].thread, NULL));
        MUST(putters[i].refusal == SLUICE_IO);
    }
    // Who waits does not wait for ever, nothing is taken any more, and it can still be looked at.
    MUST(!pthread_join(taker.thread, NULL));
    MUST(taker.status == SLUICE_IO);
    MUST(put(test->queue, "{}", 0, &error) == SLUICE_IO);
    const char *words[] = { "Q.LENGTH", "mail" };
    MUST(sluice_call(test->queue, words, NULL, 2, &length, &error) == SLUICE_OK);
    sluice_value_free(length);
    sluice_close(test->queue);
}

static void test_disk__nothing_is_acknowledged_after_a_write_failed(void **state)
{
    (void)state;
    struct local_test test;
    const size_t size = (size_t)THREADS * JOBS;
    acknowledged = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(acknowledged, MAP_FAILED);
    local_test_init(&test);
    assert_int_equal(in_child(&test, use_failing_disk), 0);
    test.queue = local_test_open(&test, NULL, NULL);
    for (size_t i = 0; i < size; i++) {
        char jid[32];
        struct sluice_value *job;
        (void)snprintf(jid, sizeof(jid), "%zu", i);
        if (acknowledged[i]) {
            assert_int_equal(sluice_get(test.queue, jid, &job, NULL), SLUICE_OK);
            sluice_value_free(job);
        }
    }
    local_test_do(&test, "Q.CHECK", "FORCE");
    local_test_release(&test);
    (void)munmap(acknowledged, size);
}

// ---------------------------------------------------------------------------------------------
// It is full

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0) {
        (void)close(fd);
    }
    return written;
}

// A memory file system of its own, in a namespace that needs no privileges.
static bool mount_small_disk(const char *folder)
{
    char users[64], groups[64];
    (void)snprintf(users, sizeof(users), "0 %u 1", (unsigned)getuid());
    (void)snprintf(groups, sizeof(groups), "0 %u 1", (unsigned)getgid());
    return !unshare(CLONE_NEWUSER | CLONE_NEWNS) && write_text("/proc/self/setgroups", "deny") &&
           write_text("/proc/self/uid_map", users) && write_text("/proc/self/gid_map", groups) &&
           !mount("none", folder, "tmpfs", 0, "size=200m");
}

// More than the store keeps back, which it takes again first.
static void make_ballast(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    MUST(fd >= 0 && !posix_fallocate(fd, 0, 64 << 20));
    (void)close(fd);
}

// The last one may be there all the same; it is put again.
static bool is_refusal(enum sluice_status status)
{
    return status == SLUICE_NO_SPACE || status == SLUICE_BUSY || status == SLUICE_UNKNOWN;
}

static int fill(struct sluice *queue, const char *data)
{
    struct sluice_error error;
    enum sluice_status status;
    int count = 0;
    while (!(status = put(queue, data, count, &error))) {
        count++;
    }
    MUST(is_refusal(status));
    return count;
}

static void use_full_disk(struct local_test *test)
{
    char ballast[96];
    struct sluice_error error;
    struct sluice_value *value;
    const struct sluice_open_options options = SLUICE_OPEN(.timeout = 1);
    char *data = malloc(LARGE);
    if (!mount_small_disk(test->folder)) {
        _exit(SKIPPED);
    }
    memset(data, 'x', LARGE);
    data[0] = data[LARGE - 2] = '"';
    data[LARGE - 1] = '\0';
    (void)snprintf(ballast, sizeof(ballast), "%s/ballast", test->folder);
    make_ballast(ballast);
    MUST(sluice_open(test->url, &options, &test->queue, &error) == SLUICE_OK);
    int count = fill(test->queue, data);
    MUST(count > 0);
    MUST(sluice_get(test->queue, "0", &value, &error) == SLUICE_OK);
    sluice_value_free(value);
    // With room again all is taken again.
    MUST(!unlink(ballast));
    while (put(test->queue, "{}", count, &error)) {
        MUST(is_refusal(error.status));
        (void)usleep(1000);
    }
    sluice_close(test->queue);
    MUST(sluice_open(test->url, &options, &test->queue, &error) == SLUICE_OK);
    const char *words[] = { "Q.LENGTH", "mail" };
    MUST(sluice_call(test->queue, words, NULL, 2, &value, &error) == SLUICE_OK);
    MUST(sluice_value_integer(value) == count + 1);
    sluice_value_free(value);
    sluice_close(test->queue);
    free(data);
}

static void test_disk__a_full_one_refuses_what_it_cannot_hold(void **state)
{
    (void)state;
    struct local_test test;
    local_test_init(&test);
    int code = in_child(&test, use_full_disk);
    local_test_release(&test);
    if (code == SKIPPED) {
        print_message("# the system allows no mounts in a user namespace\n");
        return;
    }
    assert_int_equal(code, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disk__nothing_is_acknowledged_after_a_write_failed),
        cmocka_unit_test(test_disk__a_full_one_refuses_what_it_cannot_hold),
    };
    return cmocka_run_group_tests_name("local_disk", tests, NULL, NULL);
}
