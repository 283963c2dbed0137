// SPDX-License-Identifier: MIT
#include "store/scan_window.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum {
    // One call of the system is not to be for more; Linux would cut it at 2 GiB.
    READ_SIZE_MAX = 1 << 30,
};

enum status window_pread(int fd, uint64_t offset, char *out, size_t size, struct error *error)
{
    while (size) {
        ssize_t got = pread(fd, out, size < READ_SIZE_MAX ? size : READ_SIZE_MAX, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return error_set(error, STATUS_IO, "data.mdb cannot be read at byte %" PRIu64 ": %s",
                             offset, strerrordesc_np(errno));
        }
        if (got == 0) {
            return error_set(error, STATUS_CORRUPT,
                             "data.mdb ends at byte %" PRIu64 ", where there should be more",
                             offset);
        }
        out += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return STATUS_OK;
}

void window_init(struct window *window, const struct window_file *file,
                 const struct allocator *allocator)
{
    *window = (struct window){ .file = file, .allocator = allocator };
}

void window_release(struct window *window)
{
    mem_free(window->allocator, window->bytes, window->capacity);
    window_init(window, window->file, window->allocator);
}

static enum status reserve(struct window *window, uint64_t size, struct error *error)
{
    if (size <= window->capacity) {
        return STATUS_OK;
    }
    window_release(window);
    window->bytes = mem_alloc(window->allocator, size);
    if (!window->bytes) {
        return error_set(error, STATUS_NO_MEMORY,
                         "there is no memory for %" PRIu64 " bytes of data.mdb", size);
    }
    window->capacity = size;
    return STATUS_OK;
}

enum status window_get(struct window *window, uint64_t first, uint64_t count, uint64_t ahead,
                       const char **out, struct error *error)
{
    const struct window_file *file = window->file;
    if (!window_holds(window, first, count)) {
        uint64_t left = file->pages - first;
        ahead = ahead < left ? ahead : left;
        count = count < ahead ? ahead : count;
        enum status status = reserve(window, count * file->page_size, error);
        window->count = 0;
        if (!status) {
            status = window_pread(file->fd, first * file->page_size, window->bytes,
                                  count * file->page_size, error);
        }
        if (status) {
            return status;
        }
        window->first = first;
        window->count = count;
    }
    *out = window->bytes + (first - window->first) * file->page_size;
    return STATUS_OK;
}
