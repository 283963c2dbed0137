// SPDX-License-Identifier: MIT
#include "client/password.h"

#include "client/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

// Reads up to `capacity` bytes. Returns how many, or -1 with errno set.
static ssize_t read_start(const char *path, char *out, size_t capacity)
{
    size_t size = 0;
    ssize_t count = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return -1;
    }
    do {
        count = read(fd, out + size, capacity - size);
        size += count > 0 ? (size_t)count : 0;
    } while ((count > 0 && size < capacity) || (count < 0 && errno == EINTR));
    int failed = errno;
    (void)close(fd);
    errno = failed;
    return count < 0 ? -1 : (ssize_t)size;
}

enum sluice_status password_read(const char *path, char out[URL_PART_SIZE],
                                 struct sluice_error *error)
{
    char bytes[URL_PART_SIZE + 2]; // with the end of the line
    const char *problem = NULL;
    out[0] = '\0';
    ssize_t got = read_start(path, bytes, sizeof(bytes));
    if (got < 0) {
        return fault(error, SLUICE_INVALID, "password_file %.100s cannot be read: %s", path,
                     strerrordesc_np(errno));
    }
    size_t all = (size_t)got;
    const char *end = memchr(bytes, '\n', all);
    size_t size = end ? (size_t)(end - bytes) : all;
    size -= size && bytes[size - 1] == '\r';
    if (size == 0) {
        problem = "has no password in its first line";
    } else if (size >= URL_PART_SIZE) {
        problem = "has a first line that is too long";
    } else if (memchr(bytes, '\0', size)) {
        problem = "contains a null byte";
    } else {
        memcpy(out, bytes, size);
        out[size] = '\0';
    }
    explicit_bzero(bytes, sizeof(bytes));
    return problem ? fault(error, SLUICE_INVALID, "password_file %.100s %s", path, problem)
                   : SLUICE_OK;
}
