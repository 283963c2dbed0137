// SPDX-License-Identifier: MIT
#include "process.h"

#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LOG_MAX = 1 << 20,
    LOG_SHOWN = 4000, // of its end
};

int64_t now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void process_init(struct process *process)
{
    *process = (struct process){ .log_fd = -1 };
    buffer_init(&process->log, &allocator_system, LOG_MAX);
}

void process_release(struct process *process)
{
    if (process->pid) {
        (void)process_kill(process);
    }
    buffer_release(&process->log);
}

static void show_log(const struct process *process)
{
    struct slice said = buffer_slice(&process->log);
    if (said.size > LOG_SHOWN) {
        said = slice_sub(said, said.size - LOG_SHOWN, SIZE_MAX);
    }
    (void)fprintf(stderr, "what the server said:\n%.*s\n", (int)said.size, said.data);
}

static size_t list_flags(const char *list[], const char *program, const char *data,
                         const char *const *flags)
{
    const char *const always[] = {
        program,
        "--data",
        data,
        "--listen",
        "127.0.0.1:0",
        "--segment-size",
        "1M",
        "--reserve-size",
        "1M",
        "--http",
        "",
        "--grpc",
        "",
        "--log-level",
        "info",
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
        list[count++] = always[i];
    }
    for (size_t i = 0; flags && flags[i]; i++) {
        assert_true(i < PROCESS_FLAGS_MAX);
        list[count++] = flags[i];
    }
    list[count] = NULL;
    return count;
}

void process_start(struct process *process, const char *program, const char *data,
                   const char *const *flags)
{
    const char *list[2 * PROCESS_FLAGS_MAX];
    (void)list_flags(list, program, data, flags);
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    (void)fflush(NULL);
    buffer_clear(&process->log);
    process->port = 0;
    process->started_us = now_us();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (dup2(ends[1], STDERR_FILENO) == STDERR_FILENO) {
            (void)execv(program, (char *const *)(void *)list);
        }
        _exit(127);
    }
    (void)close(ends[1]);
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    process->pid = pid;
    process->log_fd = ends[0];
}

// False at the end.
static bool hear_some(struct process *process)
{
    for (;;) {
        char bytes[4096];
        ssize_t size = read(process->log_fd, bytes, sizeof(bytes));
        if (size <= 0) {
            return size < 0 && (errno == EAGAIN || errno == EINTR);
        }
        if (process->log.size + (size_t)size > LOG_MAX) {
            buffer_clear(&process->log);
        }
        buffer_append(&process->log, slice_make(bytes, (size_t)size));
    }
}

void process_hear(struct process *process)
{
    (void)hear_some(process);
}

static bool find_port(struct process *process)
{
    static const char before[] = " listening address=127.0.0.1:";
    const char *at = process->log.size
                         ? memmem(process->log.data, process->log.size, before, sizeof(before) - 1)
                         : NULL;
    if (!at) {
        return false;
    }
    at += sizeof(before) - 1;
    const char *end = process->log.data + process->log.size;
    unsigned port = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        port = port * 10 + (unsigned)(*at - '0');
    }
    process->port = at < end ? (uint16_t)port : 0;
    return process->port != 0;
}

bool process_ready(struct process *process)
{
    while (!find_port(process)) {
        struct pollfd ready = { .fd = process->log_fd, .events = POLLIN };
        if (poll(&ready, 1, PROCESS_WAIT_MS) != 1) {
            show_log(process);
            fail_msg("the server does not come to listen");
        }
        if (!hear_some(process) && !find_port(process)) {
            show_log(process);
            return false;
        }
    }
    return true;
}

// The memory of a sanitizer's findings is what the server said last.
static int reap(struct process *process)
{
    int how = 0;
    assert_true(waitpid(process->pid, &how, 0) == process->pid);
    process_hear(process);
    (void)close(process->log_fd);
    process->log_fd = -1;
    process->pid = 0;
    return how;
}

int64_t process_kill(struct process *process)
{
    (void)kill(process->pid, SIGKILL);
    int how = reap(process);
    int64_t dead_us = now_us();
    if (!WIFSIGNALED(how) || WTERMSIG(how) != SIGKILL) {
        show_log(process);
        fail_msg("the server ended by itself (%d)", how);
    }
    return dead_us;
}

int process_wait(struct process *process)
{
    // Its end of the pipe is closed when it ends.
    for (bool open = true; open; open = hear_some(process)) {
        struct pollfd ready = { .fd = process->log_fd, .events = POLLIN };
        if (poll(&ready, 1, PROCESS_WAIT_MS) != 1) {
            show_log(process);
            fail_msg("the server does not end");
        }
    }
    int how = reap(process);
    if (!WIFEXITED(how) || WEXITSTATUS(how)) {
        show_log(process);
    }
    assert_true(WIFEXITED(how));
    return WEXITSTATUS(how);
}
