// SPDX-License-Identifier: MIT
#include "real.h"

#include <assert.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WEAK __attribute__((weak))

int sanitizer_close(int fd) __asm__("__interceptor_close") WEAK;
ssize_t sanitizer_read(int fd, void *bytes, size_t size) __asm__("__interceptor_read") WEAK;
ssize_t sanitizer_pread(int fd, void *bytes, size_t size,
                        off_t offset) __asm__("__interceptor_pread") WEAK;
ssize_t sanitizer_write(int fd, const void *bytes, size_t size) __asm__("__interceptor_write") WEAK;
ssize_t sanitizer_pwrite(int fd, const void *bytes, size_t size,
                         off_t offset) __asm__("__interceptor_pwrite") WEAK;

int real_openat(int folder, const char *path, int flags, mode_t mode)
{
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

int real_close(int fd)
{
    return sanitizer_close ? sanitizer_close(fd) : (int)syscall(SYS_close, fd);
}

ssize_t real_read(int fd, void *bytes, size_t size)
{
    return sanitizer_read ? sanitizer_read(fd, bytes, size) : syscall(SYS_read, fd, bytes, size);
}

ssize_t real_pread(int fd, void *bytes, size_t size, off_t offset)
{
    return sanitizer_pread ? sanitizer_pread(fd, bytes, size, offset)
                           : syscall(SYS_pread64, fd, bytes, size, offset);
}

ssize_t real_write(int fd, const void *bytes, size_t size)
{
    return sanitizer_write ? sanitizer_write(fd, bytes, size) : syscall(SYS_write, fd, bytes, size);
}

ssize_t real_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    return sanitizer_pwrite ? sanitizer_pwrite(fd, bytes, size, offset)
                            : syscall(SYS_pwrite64, fd, bytes, size, offset);
}

int real_ftruncate(int fd, off_t size)
{
    return (int)syscall(SYS_ftruncate, fd, size);
}

int real_fallocate(int fd, int mode, off_t offset, off_t size)
{
    return (int)syscall(SYS_fallocate, fd, mode, offset, size);
}

int real_mkdirat(int folder, const char *path, mode_t mode)
{
    return (int)syscall(SYS_mkdirat, folder, path, mode);
}

int real_renameat2(int folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    return (int)syscall(SYS_renameat2, folder, from, to_folder, to, flags);
}

int real_unlinkat(int folder, const char *path, int flags)
{
    return (int)syscall(SYS_unlinkat, folder, path, flags);
}

size_t real_list(const char *path, char ***names)
{
    DIR *folder = opendir(path);
    assert(folder);
    size_t count = 0;
    *names = NULL;
    const struct dirent *entry = NULL;
    while ((entry = readdir(folder))) { // NOLINT(concurrency-mt-unsafe)
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        *names = realloc((void *)*names, (count + 1) * sizeof(**names));
        assert(*names);
        (*names)[count] = strdup(entry->d_name);
        assert((*names)[count]);
        count++;
    }
    (void)closedir(folder);
    return count;
}
