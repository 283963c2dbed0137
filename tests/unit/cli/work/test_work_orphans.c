// SPDX-License-Identifier: MIT
#include "cli/work/orphans.h"
#include "cli/work/process.h"

#include "cli/work/sandbox.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
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
        "pid 55\nstart 5\ntoken 0\nboot b\njid j\nworker w\nmark m\nend\n",
        "pid 55\nstart 5\ntoken 1\nboot b\nmark m\nend\n",
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, texts, texts[i]); i++) {
        struct work_run run;
        char *boot;
        assert_false(work_run_read(texts[i], &run, &boot));
        work_run_release(&run);
        tool_free(boot);
    }
}

static void test_run__a_process_without_a_job_is_one(void **state)
{
    (void)state;
    struct work_run run = sample(), again;
    run.jid = run.worker = NULL;
    run.token = 0;
    char *boot, *text = work_run_write(&run, "boot-1");
    assert_true(work_run_read(text, &again, &boot));
    assert_null(again.jid);
    assert_string_equal(again.sandbox, run.sandbox);
    work_run_release(&again);
    tool_free(boot);
    tool_free(text);
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
    assert_int_equal(work_process_start(child), 0); // no process has waited for it
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
    // Nothing ran there, so no server is asked.
    assert_int_equal(work_orphans_reap(&four, NULL, 0, NULL), 0);
    assert_int_equal(entries(), 3);
    work_orphans_close(&two);
    work_orphans_close(&three);
    work_orphans_close(&four);
    assert_int_equal(entries(), 0);
}

// A process in a group of its own that does nothing; noted as that of a job that is no more.
static pid_t leave_behind(const struct work_orphans *orphans, size_t slot)
{
    pid_t child = fork();
    if (child == 0) {
        (void)pause();
        _exit(0);
    }
    assert_int_equal(setpgid(child, child), 0);
    struct work_run run = sample();
    run.pid = child;
    run.start = work_process_start(child);
    work_orphans_note(orphans, slot, &run);
    return child;
}

// Two more files can be open from now on; gives the limit that was.
static struct rlimit leave_two_files(void)
{
    struct rlimit before, less;
    int one = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int two = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(one >= 0 && two > one);
    (void)close(one);
    (void)close(two);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    less = before;
    less.rlim_cur = (rlim_t)two + 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &less), 0);
    return before;
}

static void test_reap__all_processes_end_though_few_files_can_be_open(void **state)
{
    (void)state;
    struct work_orphans dead, heir;
    struct sluice *queue;
    char *error, *url = tool_format("file:%s/jobs?durability=never", state_folder);
    pid_t children[4];
    const size_t count = sizeof(children) / sizeof(children[0]);
    assert_int_equal(sluice_open(url, NULL, &queue, NULL), SLUICE_OK);
    assert_true(work_orphans_open(&dead, state_folder, "queue-3\n", &error));
    for (size_t i = 0; i < count; i++) {
        children[i] = leave_behind(&dead, i);
    }
    assert_int_equal(flock(dead.lock, LOCK_UN), 0); // the processes have it open too
    (void)close(dead.lock);
    assert_true(work_orphans_open(&heir, state_folder, "queue-3\n", &error));
    struct rlimit before = leave_two_files(); // a process, and what is read about it
    assert_int_equal(work_orphans_reap(&heir, queue, 60, NULL), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    size_t ended = 0;
    for (size_t i = 0; i < count; i++) {
        int how = 0;
        (void)kill(children[i], SIGKILL); // does nothing to those that have ended
        assert_int_equal(waitpid(children[i], &how, 0), children[i]);
        ended += WIFSIGNALED(how) && WTERMSIG(how) == SIGTERM;
    }
    assert_int_equal(ended, count);
    work_orphans_close(&heir);
    assert_int_equal(entries(), 0);
    sluice_close(queue);
    tool_free(url);
}

static void test_state__a_folder_that_others_may_write_to_is_refused(void **state)
{
    (void)state;
    struct work_orphans orphans;
    char *error, *open_to_all = tool_format("%s/open", state_folder);
    assert_int_equal(mkdir(open_to_all, 0700), 0);
    assert_int_equal(chmod(open_to_all, 0777), 0);
    assert_false(work_orphans_open(&orphans, open_to_all, "queue", &error));
    assert_non_null(strstr(error, "can be written by other users"));
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
        cmocka_unit_test(test_run__a_process_without_a_job_is_one),
        cmocka_unit_test(test_process__its_start_tells_it_from_others),
        cmocka_unit_test(test_state__only_the_folders_of_the_dead_of_the_same_queue_are_claimed),
        cmocka_unit_test(test_reap__all_processes_end_though_few_files_can_be_open),
        cmocka_unit_test(test_state__a_folder_that_others_may_write_to_is_refused),
    };
    int failed = cmocka_run_group_tests(tests, make_state, remove_state);
    tool_free_all();
    return failed;
}
