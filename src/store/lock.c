// SPDX-License-Identifier: MIT
#include "store/lock.h"

#include "os/file.h"

#include <errno.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

enum status lock_take(int folder, const char *path, int flags, int *fd, struct error *error)
{
    enum status status = file_open(folder, "lock", flags, fd, error);
    if (status) {
        *fd = -1;
        const struct error what = error ? *error : (struct error){ .status = status };
        return error_set(error, status, "%s (in %s)", error_sentence(&what), path);
    }
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0) {
        return STATUS_OK;
    }
    if (errno != EWOULDBLOCK) {
        status = file_error(error, "lock", path);
    } else {
        char text[32] = "";
        ssize_t size = pread(*fd, text, sizeof(text) - 1, 0);
        text[size > 0 ? size : 0] = '\0';
        status =
            error_set(error, STATUS_BUSY, "%s is open in process %s", path, text[0] ? text : "?");
    }
    close(*fd);
    *fd = -1;
    return status;
}
