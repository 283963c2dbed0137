// SPDX-License-Identifier: MIT
// Between fork and exec only calls that are safe in a signal handler: other threads may have held
// any lock at the time of the fork. What needs memory is made before.
#include "cli/work/child.h"

#include "cli/core/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ; // NOLINT(readability-redundant-declaration)

// ---------------------------------------------------------------------------------------------
// In the new process

// What the new process says when it cannot go on. It ends with exec, which closes the pipe.
enum step {
    STEP_SESSION,
    STEP_FILES,
    STEP_LIMITS,
    STEP_NICE,
    STEP_FOLDER,
    STEP_EXEC,
};

static const char *const step_names[] = {
    [STEP_SESSION] = "a new session", [STEP_FILES] = "standard input and output",
    [STEP_LIMITS] = "its limits",     [STEP_NICE] = "its niceness",
    [STEP_FOLDER] = "its own folder", [STEP_EXEC] = "the program",
};

struct refusal {
    int step, error;
};

struct new_process {
    const struct work_spawn *spawn;
    int in, out, err, report;
    pid_t parent;
};

static _Noreturn void refuse(const struct new_process *process, enum step step)
{
    struct refusal refusal = { (int)step, errno };
    (void)!write(process->report, &refusal, sizeof(refusal));
    _exit(127);
}

static bool limit(__rlimit_resource_t resource, uint64_t value)
{
    const struct rlimit limits = { .rlim_cur = value, .rlim_max = value };
    return value == 0 || setrlimit(resource, &limits) == 0;
}

// A second more before SIGKILL, so that SIGXCPU is seen.
static bool limit_cpu(uint64_t seconds)
{
    const struct rlimit limits = { .rlim_cur = seconds, .rlim_max = seconds + 1 };
    return seconds == 0 || setrlimit(RLIMIT_CPU, &limits) == 0;
}

static bool limit_files(const struct work_limits *limits)
{
    struct rlimit now;
    if (limits->files || !limits->files_soft) {
        return limit(RLIMIT_NOFILE, limits->files);
    }
    if (getrlimit(RLIMIT_NOFILE, &now) != 0) {
        return false;
    }
    now.rlim_cur = limits->files_soft;
    return setrlimit(RLIMIT_NOFILE, &now) == 0;
}

static bool set_limits(const struct work_limits *limits)
{
    return limit_cpu(limits->cpu_s) && limit(RLIMIT_AS, limits->memory) && limit_files(limits) &&
           limit(RLIMIT_FSIZE, limits->file_size);
}

static void reset_signals(void)
{
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL); // the only one that we ignore
}

static _Noreturn void become(const struct new_process *process)
{
    const struct work_spawn *spawn = process->spawn;
    if (setsid() < 0) {
        refuse(process, STEP_SESSION);
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != process->parent) {
        _exit(127); // it was killed before we could ask to be told
    }
    if (spawn->guard) {
        (void)work_guard_add(spawn->guard, getpid());
    }
    reset_signals();
    if (dup2(process->in, STDIN_FILENO) < 0 || dup2(process->out, STDOUT_FILENO) < 0 ||
        dup2(process->err, STDERR_FILENO) < 0) {
        refuse(process, STEP_FILES);
    }
    // Files that a library has opened without O_CLOEXEC.
    (void)close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    if (spawn->folder && chdir(spawn->folder) != 0) {
        refuse(process, STEP_FOLDER);
    }
    if (spawn->limits->nice && setpriority(PRIO_PROCESS, 0, spawn->limits->nice) != 0) {
        refuse(process, STEP_NICE);
    }
    if (!set_limits(spawn->limits)) {
        refuse(process, STEP_LIMITS);
    }
    (void)execve(spawn->program, spawn->arguments, spawn->environment);
    refuse(process, STEP_EXEC);
}

// ---------------------------------------------------------------------------------------------
// Starting

enum {
    READ_END,
    WRITE_END,
};

// Everything that is open while a process is started.
struct files {
    int in[2], out[2], err[2], report[2];
};

static void close_pair(int pair[2])
{
    work_child_close_fd(&pair[READ_END]);
    work_child_close_fd(&pair[WRITE_END]);
}

static void close_all(struct files *files)
{
    close_pair(files->in);
    close_pair(files->out);
    close_pair(files->err);
    close_pair(files->report);
}

void work_child_close_fd(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
        *fd = -1;
    }
}

// A file in memory that holds what the process reads.
static bool open_input(const struct work_spawn *spawn, int in[2])
{
    if (!spawn->input) {
        return pipe2(in, O_CLOEXEC) == 0;
    }
    in[READ_END] = memfd_create("job", MFD_CLOEXEC);
    if (in[READ_END] < 0) {
        return false;
    }
    for (size_t sent = 0; sent < spawn->input_size;) {
        ssize_t size = write(in[READ_END], spawn->input + sent, spawn->input_size - sent);
        if (size < 0) {
            return false;
        }
        sent += (size_t)size;
    }
    return lseek(in[READ_END], 0, SEEK_SET) == 0;
}

static bool open_files(const struct work_spawn *spawn, struct files *files)
{
    *files = (struct files){ { -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 } };
    return open_input(spawn, files->in) && pipe2(files->out, O_CLOEXEC) == 0 &&
           pipe2(files->err, O_CLOEXEC) == 0 && pipe2(files->report, O_CLOEXEC) == 0;
}

static void do_not_block(int fd)
{
    if (fd >= 0) {
        (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    }
}

static int keep(int *fd)
{
    int kept = *fd;
    *fd = -1;
    do_not_block(kept);
    return kept;
}

// Waits until it has become the program, or says why it has not.
static bool became(struct files *files, struct work_spawn_error *error)
{
    struct refusal refusal;
    ssize_t size;
    work_child_close_fd(&files->report[WRITE_END]);
    do {
        size = read(files->report[READ_END], &refusal, sizeof(refusal));
    } while (size < 0 && errno == EINTR);
    if (size != (ssize_t)sizeof(refusal)) {
        return true;
    }
    *error = (struct work_spawn_error){ step_names[refusal.step], refusal.error };
    return false;
}

bool work_child_spawn(const struct work_spawn *spawn, struct work_child *child,
                      struct work_spawn_error *error)
{
    struct files files;
    *error = (struct work_spawn_error){ "a process", 0 };
    pid_t pid = -1;
    if (open_files(spawn, &files)) {
        const struct new_process process = {
            spawn,
            files.in[READ_END],
            files.out[WRITE_END],
            files.err[WRITE_END],
            files.report[WRITE_END],
            getpid(),
        };
        pid = fork();
        if (pid == 0) {
            become(&process);
        }
    }
    error->error = errno;
    int pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
    bool good = pid > 0 && became(&files, error);
    if (good && pidfd < 0) {
        error->error = errno;
        good = false;
    }
    if (good) {
        *child = (struct work_child){ pid, pidfd, keep(&files.in[WRITE_END]),
                                      keep(&files.out[READ_END]), keep(&files.err[READ_END]) };
    } else if (pid > 0) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        work_child_close_fd(&pidfd);
    }
    close_all(&files);
    return good;
}

bool work_spawn_is_for_good(const struct work_spawn_error *error)
{
    switch (error->error) {
    case ENOENT:
    case EACCES:
    case EPERM:
    case ENOEXEC:
    case ENOTDIR:
    case ELOOP:
    case EINVAL:
        return true;
    default:
        return false;
    }
}

// ---------------------------------------------------------------------------------------------
// Ending

void work_child_signal(const struct work_child *child, int signal)
{
    if (child->pid) {
        (void)kill(-child->pid, signal);
    }
}

int work_child_reap(struct work_child *child)
{
    // As long as it is not waited for, no other process or group gets its number.
    work_child_signal(child, SIGKILL);
    int status = 0;
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
    }
    child->pid = 0;
    work_child_close_fd(&child->pidfd);
    return status;
}

void work_child_close(struct work_child *child)
{
    work_child_close_fd(&child->in);
    work_child_close_fd(&child->out);
    work_child_close_fd(&child->err);
}

// ---------------------------------------------------------------------------------------------
// What it is started with

static bool is_named(const char *const *names, const char *variable)
{
    size_t size = strcspn(variable, "=");
    for (; *names; names++) {
        if (strlen(*names) == size && strncmp(*names, variable, size) == 0) {
            return true;
        }
    }
    return false;
}

char **work_environment_make(char *const *added, const char *const *left_out)
{
    size_t count = 1;
    for (char *const *at = added; *at; at++) {
        count++;
    }
    for (char *const *at = environ; *at; at++) {
        count++;
    }
    char **environment = tool_allocate(count * sizeof(*environment)), **end = environment;
    for (char *const *at = added; *at; at++) {
        *end++ = tool_copy(*at, strlen(*at));
    }
    for (char *const *at = environ; *at; at++) {
        if (!is_named(left_out, *at)) {
            *end++ = tool_copy(*at, strlen(*at));
        }
    }
    return environment;
}

void work_environment_free(char **environment)
{
    for (char **at = environment; at && *at; at++) {
        tool_free(*at);
    }
    tool_free(environment);
}

static bool is_program(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        return false;
    }
    if (!S_ISREG(about.st_mode)) {
        errno = EACCES;
        return false;
    }
    return access(path, X_OK) == 0;
}

static char *from_root(const char *path)
{
    if (path[0] == '/') {
        return tool_copy(path, strlen(path));
    }
    char *here = getcwd(NULL, 0);
    char *whole = here ? tool_format("%s/%s", here, path) : NULL;
    free(here);
    return whole;
}

static char *program_at(const char *path)
{
    char *whole = from_root(path);
    if (whole && is_program(whole)) {
        return whole;
    }
    int failed = errno;
    tool_free(whole);
    errno = failed;
    return NULL;
}

char *work_program_find(const char *name)
{
    if (strchr(name, '/')) {
        return program_at(name);
    }
    const char *folders = getenv("PATH");
    for (const char *at = folders ? folders : "/usr/bin:/bin"; at;) {
        size_t size = strcspn(at, ":");
        char *path = size ? tool_format("%.*s/%s", (int)size, at, name) : tool_format("./%s", name);
        char *found = program_at(path);
        tool_free(path);
        if (found) {
            return found;
        }
        at = at[size] ? at + size + 1 : NULL;
    }
    errno = ENOENT;
    return NULL;
}

bool work_size_parse(const char *text, uint64_t *out)
{
    static const char units[] = "kMGT";
    char *end;
    double value = strtod(text, &end);
    if (end == text || text[0] < '0' || text[0] > '9' || !isfinite(value)) {
        return false;
    }
    const char *unit = *end ? strchr(units, *end == 'K' ? 'k' : *end) : NULL;
    for (const char *at = units; unit && at <= unit; at++) {
        value *= 1024;
    }
    if ((*end && !unit) || (unit && end[1]) || value > (double)INT64_MAX) {
        return false;
    }
    *out = (uint64_t)value;
    return true;
}
