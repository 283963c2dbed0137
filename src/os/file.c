// SPDX-License-Identifier: MIT
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILL_SIZE = 1 << 20,
};

enum status file_error(struct error *error, const char *what, const char *name)
{
    int number = errno;
    enum status status = STATUS_IO;
    switch (number) {
    case ENOSPC:
    case EDQUOT:
        status = STATUS_NO_SPACE;
        break;
    case EACCES:
    case EPERM:
    case EROFS:
        status = STATUS_DENIED;
        break;
    case ENOENT:
        status = STATUS_NOT_FOUND;
        break;
    default:
        break;
    }
    return error_set(error, status, "cannot %s %s: %s", what, name, strerrordesc_np(number));
}

enum status file_open(int folder, const char *name, int flags, int *fd, struct error *error)
{
    do {
        *fd = openat(folder, name, flags | O_CLOEXEC, 0600);
    } while (*fd < 0 && errno == EINTR);
    return *fd < 0 ? file_error(error, flags & O_CREAT ? "make" : "open", name) : STATUS_OK;
}

enum status file_size(int fd, const char *name, uint64_t *size, struct error *error)
{
    struct stat stat;
    if (fstat(fd, &stat)) {
        return file_error(error, "look at", name);
    }
    *size = (uint64_t)stat.st_size;
    return STATUS_OK;
}

enum status file_read(int fd, const char *name, void *bytes, size_t size, uint64_t offset,
                      struct error *error)
{
    char *to = bytes;
    while (size > 0) {
        ssize_t count = pread(fd, to, size, (off_t)offset);
        if (count < 0 && errno != EINTR) {
            return error_set(error, STATUS_IO, "%s cannot be read at byte %llu: %s", name,
                             (unsigned long long)offset, strerrordesc_np(errno));
        }
        if (count == 0) {
            return error_set(error, STATUS_CORRUPT,
                             "%s ends at byte %llu, where there should be more", name,
                             (unsigned long long)offset);
        }
        if (count > 0) {
            to += count;
            size -= (size_t)count;
            offset += (uint64_t)count;
        }
    }
    return STATUS_OK;
}

enum status file_write(int fd, const char *name, const void *bytes, size_t size, uint64_t offset,
                       struct error *error)
{
    const char *from = bytes;
    while (size > 0) {
        ssize_t count = pwrite(fd, from, size, (off_t)offset);
        if (count < 0 && errno != EINTR) {
            return file_error(error, "write", name);
        }
        if (count > 0) {
            from += count;
            size -= (size_t)count;
            offset += (uint64_t)count;
        }
    }
    return STATUS_OK;
}

enum status file_sync(int fd, const char *name, struct error *error)
{
    // An interrupted call is repeated. A sync that failed is not: the kernel may have dropped the
    // pages that it could not write, and then report success.
    int result;
    do {
        result = fdatasync(fd);
    } while (result && errno == EINTR);
    return result ? file_error(error, "sync", name) : STATUS_OK;
}

enum status file_fill(int fd, const char *name, uint64_t size, struct error *error)
{
    static const char zeros[FILL_SIZE];
    enum status status = STATUS_OK;
    for (uint64_t at = 0; !status && at < size; at += FILL_SIZE) {
        uint64_t left = size - at;
        status =
            file_write(fd, name, zeros, left < FILL_SIZE ? (size_t)left : FILL_SIZE, at, error);
        if (!status) {
            status = file_sync(fd, name, error);
        }
    }
    return status;
}

enum status file_allocate(int fd, const char *name, uint64_t offset, uint64_t size,
                          struct error *error)
{
    int result;
    do {
        result = fallocate(fd, 0, (off_t)offset, (off_t)size);
    } while (result && errno == EINTR);
    if (result && (errno == EOPNOTSUPP || errno == ENOSYS)) {
        return STATUS_UNSUPPORTED;
    }
    return result ? file_error(error, "enlarge", name) : STATUS_OK;
}

enum status folder_sync(int folder, const char *name, struct error *error)
{
    int result;
    do {
        result = fsync(folder);
    } while (result && errno == EINTR);
    return result ? file_error(error, "sync", name) : STATUS_OK;
}
