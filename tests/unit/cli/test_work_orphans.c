// SPDX-License-Identifier: MIT
#include "cli/work_orphans.h"

#include "cli/work_sandbox.h"
#include "test.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char state_folder[] = "/tmp/sluice-orphans-XXXXXX";

static int make_state(void **state)
{
    (void)state;
    return mkdtemp(state_folder) ? 0 : -1;
}

static int remove_state(void **state)
{
    (void)state;
    return work_sandbox_remove(state_folder) ? 0 : -1;
}

static struct work_run sample(void)
{
    return (struct work_run){ .pid = 4711,
                              .start = 123456789,
                              .token = 42,
                              .jid = "a job\nwith % and %41",
                              .worker = "host-1",
                              .mark = "abc-1",
                              .sandbox = "/tmp/a b" };
}

static void test_run__is_read_as_it_was_written(void **state)
{
    (void)state;
    struct work_run run = sample(), again;
    char *boot, *text = work_run_write(&run, "boot-1");
    assert_true(work_run_read(text, &again, &boot));
    assert_string_equal(boot, "boot-1");
    assert_int_equal(again.pid, run.pid);
    assert_int_equal(again.start, run.start);
    assert_int_equal(again.token, run.token);
    assert_string_equal(again.jid, run.jid);
    assert_string_equal(again.worker, run.worker);
    assert_string_equal(again.mark, run.mark);
    assert_string_equal(again.sandbox, run.sandbox);
    work_run_release(&again);
    tool_free(boot);
    tool_free(text);
}

static void test_run__a_part_of_one_is_none(void **state)
{
    (void)state;
    struct work_run run = sample(), again;
    char *boot, *text = work_run_write(&run, "boot-1");
    for (size_t size = 0; size < strlen(text); size++) {
        char *part = tool_copy(text, size);
        assert_false(work_run_read(part, &again, &boot));
        work_run_release(&again);
        tool_free(boot);
        tool_free(part);
    }
    tool_free(text);
}

static void test_run__one_that_names_no_process_is_none(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "pid 1\nstart 5\ntoken 1\nboot b\njid j\nworker w\nmark m\nend\n",
        "pid -5\nstart 5\ntoken 1\nboot b\njid j\nworker w\nmark m\nend\n",
        "pid 55\nstart 0\ntoken 1\nboot b\njid j\nworker w\nmark m\nend\n",
        "pid 55\nstart 5\ntoken 1\nboot b\njid j\nworker w\nend\n",
        "pid 55\nstart 5\ntoken 1\nboot b\njid j\nworker w\nmark \nend\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct work_run run;
        char *boot;
        assert_false(work_run_read(texts[i], &run, &boot));
        work_run_release(&run);
        tool_free(boot);
    }
}

static void test_process__its_start_tells_it_from_others(void **state)
{
    (void)state;
    uint64_t ours = work_process_start(getpid());
    assert_true(ours > 0);
    assert_int_equal(work_process_start(getpid()), ours);
    pid_t child = fork();
    if (child == 0) {
        (void)pause();
        _exit(0);
    }
    assert_true(work_process_start(child) >= ours);
    (void)kill(child, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(work_process_start(child), 0); // nobody has waited for it
    (void)waitpid(child, NULL, 0);
    assert_int_equal(work_process_start(child), 0);
}

static size_t entries(void)
{
    size_t count = 0;
    DIR *list = opendir(state_folder);
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));) {
        count += strncmp(entry->d_name, "worker-", 7) == 0;
    }
    (void)closedir(list);
    return count;
}

static void test_state__only_the_folders_of_the_dead_of_the_same_queue_are_claimed(void **state)
{
    (void)state;
    struct work_orphans one, two, three, four;
    char *error;
    assert_true(work_orphans_open(&one, state_folder, "queue-1\n", &error));
    assert_true(work_orphans_open(&two, state_folder, "queue-1\n", &error));
    assert_int_equal(two.claimed_count, 0); // it lives
    (void)close(one.lock);                  // as the system does when it is killed
    assert_true(work_orphans_open(&three, state_folder, "queue-2\n", &error));
    assert_int_equal(three.claimed_count, 0);
    assert_true(work_orphans_open(&four, state_folder, "queue-1\n", &error));
    assert_int_equal(four.claimed_count, 1);
    assert_string_equal(four.claimed[0], one.folder);
    assert_int_equal(entries(), 4);
    // Nothing ran there, so nobody is asked.
    assert_int_equal(work_orphans_reap(&four, NULL, 0, NULL), 0);
    assert_int_equal(entries(), 3);
    work_orphans_close(&two);
    work_orphans_close(&three);
    work_orphans_close(&four);
    assert_int_equal(entries(), 0);
}

static void test_state__a_folder_that_others_may_write_to_is_refused(void **state)
{
    (void)state;
    struct work_orphans orphans;
    char *error, *open_to_all = tool_format("%s/open", state_folder);
    assert_int_equal(mkdir(open_to_all, 0700), 0);
    assert_int_equal(chmod(open_to_all, 0777), 0);
    assert_false(work_orphans_open(&orphans, open_to_all, "queue", &error));
    assert_non_null(strstr(error, "only this user"));
    char *link = tool_format("%s/link", state_folder);
    assert_int_equal(symlink(state_folder, link), 0);
    assert_false(work_orphans_open(&orphans, link, "queue", &error));
    assert_int_equal(unlink(link), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run__is_read_as_it_was_written),
        cmocka_unit_test(test_run__a_part_of_one_is_none),
        cmocka_unit_test(test_run__one_that_names_no_process_is_none),
        cmocka_unit_test(test_process__its_start_tells_it_from_others),
        cmocka_unit_test(test_state__only_the_folders_of_the_dead_of_the_same_queue_are_claimed),
        cmocka_unit_test(test_state__a_folder_that_others_may_write_to_is_refused),
    };
    int failed = cmocka_run_group_tests(tests, make_state, remove_state);
    tool_free_all();
    return failed;
}
