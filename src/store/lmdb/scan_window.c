// SPDX-License-Identifier: MIT
#include "store/lmdb/scan_window.h"

#include "os/file.h"

#include <inttypes.h>

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
            status = file_read(file->fd, "data.mdb", window->bytes, count * file->page_size,
                               first * file->page_size, error);
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
