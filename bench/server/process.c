// SPDX-License-Identifier: MIT
#include "parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    START_TRIES = 1000, // ten milliseconds apart
};

void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "bench_server: ");
    (void)vfprintf(stderr, format, arguments);
    (void)fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

bool find_program(const char *name, char *path, size_t size)
{
    if (strchr(name, '/')) {
        (void)snprintf(path, size, "%s", name);
        return access(path, X_OK) == 0;
    }
    const char *folders = getenv("PATH");
    while (folders && *folders) {
        int length = (int)strcspn(folders, ":");
        (void)snprintf(path, size, "%.*s/%s", length, folders, name);
        if (access(path, X_OK) == 0) {
            return true;
        }
        folders += length;
        folders += *folders == ':';
    }
    return false;
}

// ---------------------------------------------------------------------------------------------
// Start and stop

// Returns a port that was free a moment ago: Redis cannot choose a free port itself.
static uint16_t free_port(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) ||
        getsockname(fd, (struct sockaddr *)&address, &size)) {
        die("no free port: %s", strerror(errno));
    }
    close(fd);
    return ntohs(address.sin_port);
}

// Its output goes to the file `log` in its folder. It ends when the benchmark ends.
static pid_t spawn(const char *const *arguments, const char *folder)
{
    char log[300];
    (void)snprintf(log, sizeof(log), "%s/log", folder);
    pid_t parent = getpid(), pid = fork();
    if (pid != 0) {
        return pid;
    }
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0 || getppid() != parent) {
        _exit(1);
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): execv changes none of them
    execv(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(1);
}

static bool has_ended(const struct server *server)
{
    return waitpid(server->pid, NULL, WNOHANG) != 0;
}

static void pause_a_little(void)
{
    const struct timespec little = { .tv_nsec = 10000000 };
    nanosleep(&little, NULL);
}

// sluiced chooses its ports and logs them.
static bool find_port(const char *text, const char *what, uint16_t *port)
{
    const char *line = strstr(text, what);
    if (!line || !strchr(line, '\n')) {
        return false;
    }
    *port = (uint16_t)strtoul(strchr(line, ':') + 1, NULL, 10);
    return true;
}

static bool read_ports(struct server *server)
{
    char log[300], text[16384];
    (void)snprintf(log, sizeof(log), "%s/log", server->folder);
    int fd = open(log, O_RDONLY);
    ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    close(fd);
    text[size < 0 ? 0 : size] = '\0';
    return find_port(text, "listening address=127.0.0.1:", &server->port) &&
           find_port(text, "listening http=127.0.0.1:", &server->http_port);
}

static bool answers(const struct server *server)
{
    const struct sockaddr_in address = { .sin_family = AF_INET,
                                         .sin_port = htons(server->port),
                                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool connected = connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
    close(fd);
    return connected;
}

static void start_sluice(struct server *server, const struct server_options *options)
{
    static const char *const words[DURABILITIES] = { "never", "interval:1000", "always" };
    char data[300];
    (void)snprintf(data, sizeof(data), "%s/data", server->folder);
    const char *const arguments[] = {
        options->program,
        "--data",
        data,
        "--listen",
        "127.0.0.1:0",
        "--http",
        "127.0.0.1:0",
        "--grpc",
        "",
        "--durability",
        words[options->durability],
        NULL,
    };
    server->pid = spawn(arguments, server->folder);
}

static void start_redis(struct server *server, const struct server_options *options)
{
    static const char *const words[DURABILITIES] = { "no", "everysec", "always" };
    char port[8];
    server->port = free_port();
    (void)snprintf(port, sizeof(port), "%u", (unsigned)server->port);
    const char *const arguments[] = {
        options->program,
        "--bind",
        "127.0.0.1",
        "--port",
        port,
        "--dir",
        server->folder,
        "--save",
        "",
        "--appendonly",
        options->durability == DURABILITY_NEVER ? "no" : "yes",
        "--appendfsync",
        words[options->durability],
        "--auto-aof-rewrite-percentage",
        "0",
        NULL,
    };
    server->pid = spawn(arguments, server->folder);
}

void server_start(struct server *server, const struct kind *kind,
                  const struct server_options *options)
{
    *server = (struct server){ .kind = kind };
    (void)snprintf(server->folder, sizeof(server->folder), "%s/bench-server.%ld", options->folder,
                   (long)getpid());
    if (mkdir(server->folder, 0700)) {
        die("%s: %s", server->folder, strerror(errno));
    }
    if (kind->is_redis) {
        start_redis(server, options);
    } else {
        start_sluice(server, options);
    }
    for (int i = 0; i < START_TRIES && !has_ended(server); i++) {
        if ((kind->is_redis || read_ports(server)) && answers(server)) {
            return;
        }
        pause_a_little();
    }
    die("%s does not start; %s/log says why", options->program, server->folder);
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *where)
{
    (void)stat, (void)type, (void)where;
    return remove(path);
}

void server_stop(struct server *server)
{
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    (void)nftw(server->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

// ---------------------------------------------------------------------------------------------
// What it uses

uint64_t server_cpu_ns(const struct server *server)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(server->pid, &clock) || clock_gettime(clock, &used)) {
        die("%s is gone", server->kind->name);
    }
    return (uint64_t)used.tv_sec * 1000000000U + (uint64_t)used.tv_nsec;
}

// Reads the numbers after the first word of a file.
static size_t read_numbers(const char *path, uint64_t *numbers, size_t count)
{
    char line[512];
    FILE *file = fopen(path, "r");
    char *at = file ? fgets(line, sizeof(line), file) : NULL;
    size_t found = 0;
    at = at ? strchr(at, ' ') : NULL;
    for (; at && found < count; found++) {
        char *end;
        numbers[found] = strtoull(at, &end, 10);
        if (end == at) {
            break;
        }
        at = end;
    }
    if (file) {
        (void)fclose(file);
    }
    return found;
}

uint64_t server_memory(const struct server *server)
{
    char path[64];
    uint64_t pages;
    (void)snprintf(path, sizeof(path), "/proc/%ld/statm", (long)server->pid);
    if (read_numbers(path, &pages, 1) != 1) {
        die("%s is gone", server->kind->name);
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t machine_busy_ns(void)
{
    uint64_t ticks[8]; // user nice system idle iowait irq softirq steal
    if (read_numbers("/proc/stat", ticks, 8) != 8) {
        return 0;
    }
    uint64_t busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7];
    return busy * (1000000000U / (uint64_t)sysconf(_SC_CLK_TCK));
}
