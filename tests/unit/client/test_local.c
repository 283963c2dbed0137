// SPDX-License-Identifier: MIT
// A queue in this process: what it says, who shares it, what is there when it is opened again.
#include "local_test.h"

#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void expect_call(struct local_test *test, const char *const *words, size_t count,
                        enum sluice_status status, const char *part)
{
    enum sluice_status ended = sluice_call(test->queue, words, NULL, count, NULL, &test->error);
    assert_string_equal(sluice_status_name(ended), sluice_status_name(status));
    if (!strstr(test->error.message, part)) {
        fail_msg("\"%s\" is not in \"%s\"", part, test->error.message);
    }
}

#define EXPECT(test, status, part, ...)                                                            \
    do {                                                                                           \
        const char *const words_[] = { __VA_ARGS__ };                                              \
        expect_call((test), words_, sizeof(words_) / sizeof(words_[0]), (status), (part));         \
    } while (0)

// Takes the job that must be next, or asserts that there is none (NULL).
static void expect_next(struct local_test *test, const char *queue, const char *jid, bool done)
{
    struct sluice_job *job;
    enum sluice_status status = sluice_next(test->queue, queue, 0, &job, &test->error);
    if (!jid) {
        assert_int_equal(status, SLUICE_TIMED_OUT);
        return;
    }
    assert_int_equal(status, SLUICE_OK);
    assert_string_equal(sluice_job_jid(job), jid);
    if (done) {
        assert_int_equal(sluice_done(job, "{\"ok\":true}", NULL), SLUICE_OK);
    }
    sluice_job_free(job);
}

// ---------------------------------------------------------------------------------------------

static void test_local__a_job_lives(void **state)
{
    struct local_test *test = *state;
    local_test_put(test, "mail", "ann");
    expect_next(test, "mail", "ann", true);
    expect_next(test, "mail", NULL, false);
    struct sluice_value *job;
    assert_int_equal(sluice_get(test->queue, "ann", &job, NULL), SLUICE_OK);
    assert_string_equal(sluice_value_text(sluice_value_get(job, "state"), NULL), "complete");
    assert_string_equal(sluice_value_text(sluice_value_get(job, "result"), NULL), "{\"ok\":true}");
    sluice_value_free(job);
}

static void test_local__errors_are_those_of_a_server(void **state)
{
    struct local_test *test = *state;
    EXPECT(test, SLUICE_INVALID, "unknown command 'Q.NOTHING' (Q.HELP lists all commands)",
           "Q.NOTHING");
    EXPECT(test, SLUICE_INVALID, "Q.PUT", "Q.PUT", "mail");
    EXPECT(test, SLUICE_INVALID, "Q.PUT: data", "Q.PUT", "mail", "Send", "{");
    EXPECT(test, SLUICE_NOT_FOUND, "job ann does not exist", "Q.COMPLETE", "ann", "worker");
    EXPECT(test, SLUICE_NOT_FOUND, "there is no namespace \"none\"", "Q.NAMESPACE.DELETE", "none");
    local_test_do(test, "Q.NAMESPACE.CREATE", "other");
    EXPECT(test, SLUICE_EXISTS, "there is a namespace \"other\" already", "Q.NAMESPACE.CREATE",
           "other");
}

static void test_local__reading_makes_no_namespace(void **state)
{
    struct local_test *test = *state;
    local_test_do(test, "Q.LENGTH", "mail");
    expect_next(test, "mail", NULL, false); // to pop is to write
    struct sluice *other = local_test_open(test, "other", NULL);
    struct sluice_value *none;
    assert_int_equal(sluice_get(other, "ann", &none, NULL), SLUICE_NOT_FOUND);
    sluice_close(other);
    struct sluice_value *all = local_test_call(test, "Q.NAMESPACES");
    assert_int_equal(sluice_value_count(all), 1);
    sluice_value_free(all);
}

static void test_local__what_was_done_is_there_when_it_is_opened_again(void **state)
{
    struct local_test *test = *state;
    local_test_put(test, "mail", "ann");
    local_test_put(test, "mail", "bob");
    expect_next(test, "mail", "ann", true);
    local_test_reopen(test);
    expect_next(test, "mail", "bob", true);
    expect_next(test, "mail", NULL, false);
}

static void sleep_until(double moment)
{
    struct timespec now;
    do {
        (void)usleep(10000);
        (void)clock_gettime(CLOCK_REALTIME, &now);
    } while ((double)now.tv_sec + (double)now.tv_nsec / 1e9 < moment);
}

static void test_local__a_lease_outlives_the_time_that_nobody_had_it_open(void **state)
{
    struct local_test *test = *state;
    struct sluice_job *job;
    struct sluice_value *value;
    local_test_do(test, "Q.CONFIG.SET", "heartbeat", "5"); // enough to close it before, on any disk
    local_test_do(test, "Q.CONFIG.SET", "grace-period", "0");
    local_test_put(test, "mail", "ann");
    assert_int_equal(sluice_next(test->queue, "mail", 0, &job, NULL), SLUICE_OK);
    double expires = sluice_job_expires(job);
    sluice_job_free(job);
    local_test_do(test, "Q.CONFIG.SET", "heartbeat", "60");
    sluice_close(test->queue);
    sleep_until(expires);
    test->queue = local_test_open(test, NULL, NULL);
    assert_int_equal(sluice_get(test->queue, "ann", &value, NULL), SLUICE_OK);
    assert_string_equal(sluice_value_text(sluice_value_get(value, "state"), NULL), "running");
    const struct sluice_value *lease = sluice_value_get(value, "lease");
    assert_true(sluice_value_number(sluice_value_get(lease, "expires")) > expires);
    sluice_value_free(value);
}

static void test_local__what_a_deleted_namespace_left_is_removed(void **state)
{
    struct local_test *test = *state;
    struct sluice *other = local_test_open(test, "other", NULL);
    for (int i = 0; i < 3000; i++) {
        const struct sluice_put_options put =
            SLUICE_PUT(.queue = "mail", .klass = "Test", .data = "{}");
        assert_int_equal(sluice_put(other, &put, NULL, NULL), SLUICE_OK);
        if (i == 0) { // the others need not wait for the disk one by one
            sluice_close(other);
            sluice_close(test->queue);
            test->queue = NULL;
            other = local_test_open(test, "other", "never");
        }
    }
    sluice_close(other);
    test->queue = local_test_open(test, NULL, NULL);
    struct taker taker;
    other = local_test_open(test, "other", NULL);
    taker_start(&taker, other, "nothing", FORELONG);
    struct local_test waits = { .queue = other };
    local_test_until_waiting(&waits, 1);
    local_test_do(test, "Q.NAMESPACE.DELETE", "other");
    taker_expect(&taker, SLUICE_NOT_FOUND, NULL);
    assert_non_null(strstr(taker.error.message, "the namespace \"other\" was deleted"));
    sluice_close(other);
    // A namespace of that name is a new one, now and after another start in the middle of it.
    other = local_test_open(test, "other", NULL);
    struct sluice_job *job;
    assert_int_equal(sluice_next(other, "mail", 0, &job, NULL), SLUICE_TIMED_OUT);
    sluice_close(other);
    local_test_reopen(test);
    local_test_reopen(test);
    struct sluice_value *all = local_test_call(test, "Q.NAMESPACES");
    assert_int_equal(sluice_value_count(all), 1);
    sluice_value_free(all);
}

static void test_local__help_and_backups_are_there(void **state)
{
    struct local_test *test = *state;
    char path[96];
    struct sluice_value *help = local_test_call(test, "Q.HELP", "Q.BACKUP");
    assert_non_null(strstr(sluice_value_text(help, NULL), "Q.BACKUP path"));
    sluice_value_free(help);
    local_test_put(test, "mail", "ann");
    EXPECT(test, SLUICE_INVALID, "path must be absolute", "Q.BACKUP", "copy");
    (void)snprintf(path, sizeof(path), "%s/copy", test->folder);
    struct sluice_value *made = local_test_call(test, "Q.BACKUP", path);
    assert_string_equal(sluice_value_text(made, NULL), path);
    sluice_value_free(made);
    EXPECT(test, SLUICE_EXISTS, "copy", "Q.BACKUP", path);
    sluice_close(test->queue);
    (void)snprintf(test->url, sizeof(test->url), "file:%s", path);
    test->queue = local_test_open(test, NULL, NULL);
    expect_next(test, "mail", "ann", true);
}

// ---------------------------------------------------------------------------------------------
// Who shares it

static void test_local__two_handles_have_one_folder(void **state)
{
    struct local_test *test = *state;
    struct sluice *second = local_test_open(test, NULL, NULL);
    struct sluice *other = local_test_open(test, "other", "always");
    struct taker taker, stranger;
    taker_start(&taker, second, "mail", FORELONG);
    taker_start(&stranger, other, "mail", 0);
    local_test_until_waiting(test, 1);
    local_test_put(test, "mail", "ann");
    taker_expect(&taker, SLUICE_OK, "ann");
    taker_expect(&stranger, SLUICE_TIMED_OUT, NULL);
    // The first one to open it need not be the last one to close it.
    sluice_close(test->queue);
    test->queue = second;
    local_test_put(test, "mail", "bob");
    expect_next(test, "mail", "bob", true);
    sluice_close(other);
}

static void test_local__one_folder_has_one_durability(void **state)
{
    struct local_test *test = *state;
    struct sluice *second;
    const struct sluice_open_options options = SLUICE_OPEN(.durability = "never");
    assert_int_equal(sluice_open(test->url, &options, &second, &test->error), SLUICE_STATE);
    assert_non_null(strstr(test->error.message, "another durability"));
    assert_null(second);
}

static void test_local__a_durability_is_one_of_three(void **state)
{
    struct local_test *test = *state;
    static const char *const bad[] = { "sometimes", "interval:0", "interval:", "interval:x" };
    static const char *const good[] = { "always", "interval", "interval:5", "never" };
    struct sluice *queue;
    for (size_t i = 0; TEST_ROW_NAMED(i, bad, bad[i]); i++) {
        const struct sluice_open_options options = SLUICE_OPEN(.durability = bad[i]);
        assert_int_equal(sluice_open(test->url, &options, &queue, &test->error), SLUICE_INVALID);
        assert_non_null(strstr(test->error.message, bad[i]));
    }
    for (size_t i = 0; TEST_ROW_NAMED(i, good, good[i]); i++) {
        sluice_close(test->queue);
        test->queue = local_test_open(test, NULL, good[i]);
        local_test_put(test, "mail", good[i]);
        expect_next(test, "mail", good[i], true);
    }
}

static void test_local__a_path_is_found_again_from_elsewhere(void **state)
{
    struct local_test *test = *state;
    char before[512];
    struct sluice *second;
    struct sluice_job *job;
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(test->folder), 0);
    assert_int_equal(sluice_open("file:queue", NULL, &second, &test->error), SLUICE_OK);
    assert_int_equal(chdir("/"), 0);
    local_test_put(test, "mail", "ann");
    assert_int_equal(sluice_next(second, "mail", 0, &job, NULL), SLUICE_OK);
    assert_int_equal(sluice_keepalive(job, NULL, NULL, &test->error), SLUICE_OK);
    assert_int_equal(sluice_done(job, NULL, &test->error), SLUICE_OK);
    sluice_job_free(job);
    sluice_close(second);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(access("/queue", F_OK), -1);
}

// What a child process sees goes through a pipe.
struct seen {
    enum sluice_status status;
    char message[SLUICE_MESSAGE_SIZE];
};

static struct seen see_in_child(struct local_test *test,
                                void (*look)(struct local_test *test, struct seen *seen))
{
    int ends[2];
    struct seen seen = { .status = SLUICE_STATUS_COUNT };
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        look(test, &seen);
        _exit(write(ends[1], &seen, sizeof(seen)) == sizeof(seen) ? 0 : 1);
    }
    (void)close(ends[1]);
    assert_int_equal(read(ends[0], &seen, sizeof(seen)), sizeof(seen));
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return seen;
}

static void open_anew(struct local_test *test, struct seen *seen)
{
    struct sluice *queue;
    struct sluice_error error;
    seen->status = sluice_open(test->url, NULL, &queue, &error);
    memcpy(seen->message, error.message, sizeof(seen->message));
}

static void test_local__a_folder_that_is_not_to_be_made_is_not(void **state)
{
    struct local_test *test = *state;
    struct sluice *queue;
    char url[sizeof(test->url) + 32];
    (void)snprintf(url, sizeof(url), "file:%s/elsewhere?create=no", test->folder);
    assert_int_equal(sluice_open(url, NULL, &queue, &test->error), SLUICE_NOT_FOUND);
    assert_non_null(strstr(test->error.message, "there is no queue in"));
    (void)snprintf(url, sizeof(url), "%s/elsewhere", test->folder);
    assert_int_equal(access(url, F_OK), -1);
    // A folder of something else is none either, and stays as it is.
    assert_int_equal(mkdir(url, 0700), 0);
    (void)snprintf(url, sizeof(url), "file:%s/elsewhere?create=no", test->folder);
    assert_int_equal(sluice_open(url, NULL, &queue, &test->error), SLUICE_NOT_FOUND);
    (void)snprintf(url, sizeof(url), "%s/elsewhere", test->folder);
    assert_int_equal(rmdir(url), 0);
    // One that is there is opened, now and again.
    sluice_close(test->queue);
    (void)snprintf(url, sizeof(url), "%s?create=no", test->url);
    assert_int_equal(sluice_open(url, NULL, &test->queue, &test->error), SLUICE_OK);
    assert_int_equal(sluice_open(url, NULL, &queue, &test->error), SLUICE_OK);
    sluice_close(queue);
}

static void test_local__another_process_is_told_who_has_it(void **state)
{
    struct local_test *test = *state;
    char pid[32];
    struct seen seen = see_in_child(test, open_anew);
    assert_int_equal(seen.status, SLUICE_BUSY);
    (void)snprintf(pid, sizeof(pid), "is open in process %ld", (long)getpid());
    assert_non_null(strstr(seen.message, pid));
}

static void use_on(struct local_test *test, struct seen *seen)
{
    struct sluice_value *job;
    struct sluice_error error;
    seen->status = sluice_get(test->queue, "ann", &job, &error);
    memcpy(seen->message, error.message, sizeof(seen->message));
    sluice_close(test->queue);
}

static void test_local__a_child_cannot_use_what_its_parent_opened(void **state)
{
    struct local_test *test = *state;
    local_test_put(test, "mail", "ann");
    struct seen seen = see_in_child(test, use_on);
    assert_int_equal(seen.status, SLUICE_STATE);
    assert_non_null(strstr(seen.message, "before fork()"));
    expect_next(test, "mail", "ann", true); // and the parent still can
}

// A text that is NULL where there must be one is refused, and nothing happens.
static void test_local__what_is_missing_is_said(void **state)
{
    struct local_test *test = *state;
    struct sluice *queue;
    struct sluice_value *value;
    struct sluice_events *events;
    struct sluice_job *job;
    assert_int_equal(sluice_open(NULL, NULL, &queue, &test->error), SLUICE_INVALID);
    assert_int_equal(sluice_get(test->queue, NULL, &value, &test->error), SLUICE_INVALID);
    assert_int_equal(sluice_wait(test->queue, NULL, 0, &value, &test->error), SLUICE_INVALID);
    assert_int_equal(sluice_cancel(test->queue, NULL, &test->error), SLUICE_INVALID);
    assert_int_equal(sluice_next(test->queue, NULL, 0, &job, &test->error), SLUICE_INVALID);
    assert_int_equal(sluice_listen(test->queue, NULL, &events, &test->error), SLUICE_INVALID);
    local_test_put(test, "mail", "ann");
    assert_int_equal(sluice_next(test->queue, "mail", 0, &job, &test->error), SLUICE_OK);
    assert_int_equal(sluice_fail(job, NULL, "no", &test->error), SLUICE_INVALID);
    assert_int_equal(sluice_fail(job, "smtp", NULL, &test->error), SLUICE_INVALID);
    assert_int_equal(sluice_log(job, NULL, &test->error), SLUICE_INVALID);
    assert_int_equal(sluice_checkpoint(job, NULL, &test->error), SLUICE_INVALID);
    assert_int_equal(sluice_advance(job, NULL, NULL, 0, &test->error), SLUICE_INVALID);
    assert_non_null(strstr(test->error.message, "NULL"));
    assert_int_equal(sluice_done(job, NULL, &test->error), SLUICE_OK);
    sluice_job_free(job);
}

static void test_local__refused_tasks_are_listed(void **state)
{
    struct local_test *test = *state;
    EXPECT(test, SLUICE_INVALID, "args must be an array", "T.PUT", "Mail", "{}");
    struct sluice_value *listed = local_test_call(test, "T.INVALID");
    assert_int_equal(sluice_value_count(listed), 1);
    const struct sluice_value *entry = sluice_value_at(listed, 0);
    assert_string_equal(sluice_value_text(sluice_value_get(entry, "sent"), NULL), "Mail {}");
    assert_string_equal(sluice_value_text(sluice_value_get(entry, "reason"), NULL),
                        "T.PUT: args must be an array, not an object");
    sluice_value_free(listed);
    struct sluice_value *all = local_test_call(test, "Q.NAMESPACES");
    assert_int_equal(sluice_value_count(all), 0);
    sluice_value_free(all);
}

// The descriptors that a program has which this process starts: their numbers and what they are, a
// line each. The descriptors of the shell and of ls are the same each time.
static void child_descriptors(char *out, size_t size)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)execl("/bin/sh", "sh", "-c",
                    "for fd in /proc/self/fd/*; do echo \"${fd##*/} $(readlink "
                    "/proc/$$/fd/${fd##*/})\"; done",
                    (char *)NULL);
        _exit(127);
    }
    (void)close(ends[1]);
    size_t used = 0;
    ssize_t got;
    while (used + 1 < size && (got = read(ends[0], out + used, size - used - 1)) > 0) {
        used += (size_t)got;
    }
    out[used] = '\0';
    (void)close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_local__a_program_that_is_started_gets_no_descriptor(void **state)
{
    struct local_test *test = *state;
    char after[8192];
    local_test_put(test, "mail", "ann");
    struct sluice_job *job; // its keeper runs
    assert_int_equal(sluice_next(test->queue, "mail", 0, &job, &test->error), SLUICE_OK);
    child_descriptors(after, sizeof(after));
    if (strstr(after, test->folder)) {
        fail_msg("a child has files of %s open:\n%s", test->folder, after);
    }
    // Of what has no name (eventfd, epoll, sockets) there is as much as without a queue.
    assert_int_equal(sluice_done(job, NULL, NULL), SLUICE_OK);
    sluice_job_free(job);
    sluice_close(test->queue);
    test->queue = NULL;
    char before[8192];
    child_descriptors(before, sizeof(before));
    size_t lines[2] = { 0 };
    for (const char *at = before; (at = strchr(at, '\n')); at++) {
        lines[0]++;
    }
    for (const char *at = after; (at = strchr(at, '\n')); at++) {
        lines[1]++;
    }
    assert_int_equal(lines[1], lines[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(test_local__##name, local_test_setup, local_test_teardown)
        TEST(a_job_lives),
        TEST(errors_are_those_of_a_server),
        TEST(reading_makes_no_namespace),
        TEST(what_was_done_is_there_when_it_is_opened_again),
        TEST(a_lease_outlives_the_time_that_nobody_had_it_open),
        TEST(what_a_deleted_namespace_left_is_removed),
        TEST(help_and_backups_are_there),
        TEST(refused_tasks_are_listed),
        TEST(two_handles_have_one_folder),
        TEST(one_folder_has_one_durability),
        TEST(a_durability_is_one_of_three),
        TEST(a_path_is_found_again_from_elsewhere),
        TEST(a_folder_that_is_not_to_be_made_is_not),
        TEST(another_process_is_told_who_has_it),
        TEST(a_child_cannot_use_what_its_parent_opened),
        TEST(what_is_missing_is_said),
        TEST(a_program_that_is_started_gets_no_descriptor),
    };
    return cmocka_run_group_tests_name("local", tests, NULL, NULL);
}
