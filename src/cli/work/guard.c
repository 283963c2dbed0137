// SPDX-License-Identifier: MIT
#include "cli/work/guard.h"

#include "cli/core/cli.h"
#include "cli/core/steady.h"
#include "cli/work/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    PREFIX_SIZE = 40,
    PAUSE_MS_MAX = 100, // between two looks at what still runs
};

// How long processes are sent SIGKILL that do not end, such as one that waits for a broken disk.
static const double kill_s = 5;

// One write to the pipe each, which is smaller than PIPE_BUF and so never torn.
enum message_kind {
    MESSAGE_MARK,
    MESSAGE_ADD,
    MESSAGE_REMOVE,
    MESSAGE_GOODBYE,
};

struct message {
    enum message_kind kind;
    pid_t pid;
    char prefix[PREFIX_SIZE];
};

// ---------------------------------------------------------------------------------------------
// In the guard

// A group, by the process that leads it. Its number belongs to no other process as long as the
// group has one left.
struct group {
    pid_t pid;
    uint64_t start; // of its leader; 0: that had ended already
};

struct watch {
    int pipe;
    double grace;
    char prefix[PREFIX_SIZE];
    struct group *groups;
    size_t count, capacity;
};

static void add(struct watch *watch, pid_t pid)
{
    if (watch->count == watch->capacity) {
        watch->capacity = watch->capacity ? watch->capacity * 2 : 16;
        watch->groups = tool_resize(watch->groups, watch->capacity * sizeof(*watch->groups));
    }
    watch->groups[watch->count++] = (struct group){ pid, work_process_start(pid) };
}

static void remove_group(struct watch *watch, pid_t pid)
{
    for (size_t i = 0; i < watch->count; i++) {
        if (watch->groups[i].pid == pid) {
            watch->groups[i] = watch->groups[--watch->count];
            return;
        }
    }
}

// Until the worker ends; whether by itself.
static bool said_goodbye(struct watch *watch)
{
    struct message message;
    ssize_t size;
    while ((size = read(watch->pipe, &message, sizeof(message))) != 0) {
        if (size < 0 && errno != EINTR) {
            return false;
        }
        if (size != (ssize_t)sizeof(message)) {
            continue;
        }
        switch (message.kind) {
        case MESSAGE_MARK:
            memcpy(watch->prefix, message.prefix, sizeof(watch->prefix));
            break;
        case MESSAGE_ADD:
            add(watch, message.pid);
            break;
        case MESSAGE_REMOVE:
            remove_group(watch, message.pid);
            break;
        case MESSAGE_GOODBYE:
            return true;
        }
    }
    return false;
}

static bool is_another(const struct group *group)
{
    uint64_t start = work_process_start(group->pid);
    return start != 0 && start != group->start;
}

// To all groups; gives how many there still are. One that is gone is forgotten at once: another may
// get its number.
static size_t signal_groups(struct watch *watch, int signal)
{
    for (size_t i = watch->count; i-- > 0;) {
        if (is_another(&watch->groups[i]) || kill(-watch->groups[i].pid, signal) != 0) {
            watch->groups[i] = watch->groups[--watch->count];
        }
    }
    return watch->count;
}

// One of a group gets the group's signal, and no second one.
static bool is_alone(const struct watch *watch, pid_t pid)
{
    pid_t group = getpgid(pid);
    for (size_t i = 0; i < watch->count; i++) {
        if (watch->groups[i].pid == group) {
            return false;
        }
    }
    return true;
}

static bool is_ours(const void *context, pid_t pid, const char *mark)
{
    const struct watch *watch = context;
    size_t size = strlen(watch->prefix);
    return size && strncmp(mark, watch->prefix, size) == 0 && is_alone(watch, pid);
}

// `signal` 0 only looks. Gives how many processes and groups there are.
static size_t signal_all(struct watch *watch, int signal)
{
    return signal_groups(watch, signal) + work_marked_signal(is_ours, watch, signal);
}

static void pause_ms(long milliseconds)
{
    const struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000L };
    (void)nanosleep(&time, NULL);
}

// Sends `signal` on each look, and looks until nothing is left or the time is over. Whether nothing
// is.
static bool signal_until_gone(struct watch *watch, int signal, double until)
{
    for (long wait = 5; signal_all(watch, signal); wait *= 2) {
        if (steady_now() >= until) {
            return false;
        }
        pause_ms(wait < PAUSE_MS_MAX ? wait : PAUSE_MS_MAX);
    }
    return true;
}

static void end_all(struct watch *watch)
{
    if (signal_all(watch, SIGTERM) && !signal_until_gone(watch, 0, steady_now() + watch->grace)) {
        (void)signal_until_gone(watch, SIGKILL, steady_now() + kill_s);
    }
}

// Closes all files of the worker but the pipe: a reader may wait for the end of the worker's
// output.
static int keep_only(int pipe)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        (void)dup2(null, fd);
    }
    pipe = dup2(pipe, STDERR_FILENO + 1);
    (void)close_range((unsigned)STDERR_FILENO + 2, ~0U, 0);
    return pipe;
}

static _Noreturn void guard(int pipe, double grace)
{
    static const int ignored[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP };
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++) {
        (void)signal(ignored[i], SIG_IGN);
    }
    (void)setsid();
    (void)!chdir("/");
    (void)prctl(PR_SET_NAME, "sluice-guard");
    struct watch watch = { .pipe = keep_only(pipe), .grace = grace };
    if (!said_goodbye(&watch)) {
        end_all(&watch);
    }
    _exit(0);
}

// ---------------------------------------------------------------------------------------------
// In the worker

bool work_guard_start(struct work_guard *started, double grace)
{
    int ends[2];
    *started = (struct work_guard){ 0 };
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        guard(ends[0], grace);
    }
    int failed = errno;
    (void)close(ends[0]);
    if (pid < 0) {
        (void)close(ends[1]);
        errno = failed;
        return false;
    }
    // One that is stopped does not hold up the worker.
    (void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
    started->pipe = ends[1];
    return true;
}

static bool tell(const struct work_guard *guard, const struct message *message)
{
    ssize_t size;
    if (!guard->pipe) {
        return true;
    }
    do {
        size = write(guard->pipe, message, sizeof(*message));
    } while (size < 0 && errno == EINTR);
    return size > 0 || errno == EAGAIN;
}

bool work_guard_mark(const struct work_guard *guard, const char *prefix)
{
    struct message message = { .kind = MESSAGE_MARK };
    (void)snprintf(message.prefix, sizeof(message.prefix), "%s", prefix);
    return tell(guard, &message);
}

bool work_guard_add(const struct work_guard *guard, pid_t pid)
{
    return tell(guard, &(struct message){ .kind = MESSAGE_ADD, .pid = pid });
}

bool work_guard_remove(const struct work_guard *guard, pid_t pid)
{
    return tell(guard, &(struct message){ .kind = MESSAGE_REMOVE, .pid = pid });
}

void work_guard_end(struct work_guard *guard)
{
    if (guard->pipe) {
        (void)tell(guard, &(struct message){ .kind = MESSAGE_GOODBYE });
        (void)close(guard->pipe);
        guard->pipe = 0;
    }
}
