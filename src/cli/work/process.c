// SPDX-License-Identifier: MIT
#include "cli/work/process.h"

#include "cli/core/cli.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/pidfd.h>
#include <unistd.h>

enum {
    FILE_SIZE_MAX = 1024 * 1024,
};

// A whole file, for tool_free; NULL: it cannot be read. Also of /proc, whose files have no size.
char *work_file_read(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return NULL;
    }
    size_t capacity = 4096;
    char *data = tool_allocate(capacity);
    ssize_t got = 1;
    *size = 0;
    while (got > 0 && *size < FILE_SIZE_MAX) {
        if (capacity - *size < 2048) {
            data = tool_resize(data, capacity *= 2);
        }
        got = read(fd, data + *size, capacity - *size - 1);
        *size += got > 0 ? (size_t)got : 0;
    }
    (void)close(fd);
    data[*size] = '\0';
    return data;
}

uint64_t work_process_start(pid_t pid)
{
    size_t size;
    char *path = tool_format("/proc/%lld/stat", (long long)pid);
    char *text = work_file_read(path, &size);
    tool_free(path);
    // The program's name, in parentheses, may hold anything. The first word behind it is the state,
    // Z for one that has ended and was not waited for; the 20th is the start.
    char *at = text ? strrchr(text, ')') : NULL;
    if (at && (strncmp(at, ") Z", 3) == 0 || strncmp(at, ") X", 3) == 0)) {
        at = NULL;
    }
    for (int i = 0; at && i < 20; i++) {
        at = strchr(at + 1, ' ');
    }
    uint64_t start = at ? strtoull(at, NULL, 10) : 0;
    tool_free(text);
    return start;
}

static bool has_mark(pid_t pid, bool (*is_ours)(const void *context, pid_t pid, const char *mark),
                     const void *context)
{
    static const char name[] = "SLUICE_RUN=";
    size_t size = 0;
    char *path = tool_format("/proc/%lld/environ", (long long)pid);
    char *text = work_file_read(path, &size);
    tool_free(path);
    const char *end = text ? text + size : NULL;
    bool found = false;
    for (const char *at = text; at < end && !found; at += strlen(at) + 1) {
        found = strncmp(at, name, sizeof(name) - 1) == 0 &&
                is_ours(context, pid, at + sizeof(name) - 1);
    }
    tool_free(text);
    return found;
}

size_t work_marked_signal(bool (*is_ours)(const void *context, pid_t pid, const char *mark),
                          const void *context, int signal)
{
    size_t count = 0;
    DIR *list = opendir("/proc");
    struct dirent *entry;
    while (list && (entry = readdir(list))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        int pidfd = pid > 1 ? pidfd_open(pid, 0) : -1;
        if (pidfd >= 0 && has_mark(pid, is_ours, context)) {
            count += pidfd_send_signal(pidfd, signal, NULL, 0) == 0;
        }
        if (pidfd >= 0) {
            (void)close(pidfd);
        }
    }
    if (list) {
        (void)closedir(list);
    }
    return count;
}
