// SPDX-License-Identifier: MIT
#include "store/reserve.h"

#include "os/file.h"

#include <fcntl.h>
#include <unistd.h>

static const char name[] = "reserve";

// If the file system cannot allocate, zeros are written.
static enum status allocate(int fd, uint64_t size, struct error *error)
{
    enum status status = file_allocate(fd, name, 0, size, error);
    return status == STATUS_UNSUPPORTED ? file_fill(fd, name, size, error) : status;
}

enum status reserve_take(int folder, uint64_t size, struct error *error)
{
    int fd;
    uint64_t present = 0;
    enum status status = file_open(folder, name, O_RDWR | O_CREAT, &fd, error);
    if (status) {
        return status;
    }
    status = file_size(fd, name, &present, error);
    if (!status && present != size) {
        status = ftruncate(fd, 0) ? file_error(error, "make", name) : allocate(fd, size, error);
    }
    close(fd);
    if (status) {
        reserve_give(folder);
    }
    return status;
}

void reserve_give(int folder)
{
    unlinkat(folder, name, 0);
}
