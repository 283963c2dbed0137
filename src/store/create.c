// SPDX-License-Identifier: MIT
#include "store/create.h"

#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SEGMENTS_LOOKED_FOR = 64, // if there is no base that says how many there are
};

enum status create_check_unused(int folder, uint32_t number, struct error *error)
{
    char name[SEGMENT_NAME_SIZE];
    segment_name(name, number);
    int fd;
    enum status status = file_open(folder, name, O_RDONLY, &fd, error);
    if (status) {
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    bool used = segment_is_used(fd);
    close(fd);
    return used ? error_set(error, STATUS_CORRUPT, "%s has been used, and no base knows it", name)
                : STATUS_OK;
}

enum status create_check_all_unused(int folder, struct error *error)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; !status && i < SEGMENTS_LOOKED_FOR; i++) {
        status = create_check_unused(folder, i, error);
    }
    return status;
}

void create_remove_base(int folder, const char *base)
{
    static const char *const names[] = { "data.mdb", "lock.mdb" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char name[SEGMENT_NAME_SIZE];
        (void)snprintf(name, sizeof(name), "%s/%s", base, names[i]);
        unlinkat(folder, name, 0);
    }
    unlinkat(folder, base, AT_REMOVEDIR);
}

// An interrupted attempt may have left the folder.
static enum status make_base_folder(int folder, struct error *error)
{
    create_remove_base(folder, "base.new");
    return mkdirat(folder, "base.new", 0700) ? file_error(error, "make", "base.new") : STATUS_OK;
}

static enum status make_base(const struct store *store, struct base_record *record,
                             struct error *error)
{
    struct base *base;
    enum status status = make_base_folder(store->folder, error);
    if (!status) {
        status = base_open(store->path, "base.new", store->allocator, &base, error);
    }
    if (!status) {
        status = base_commit(base, NULL, record, error);
        base_close(base);
    }
    return status;
}

enum status create_sync_above(int folder, struct error *error)
{
    int above;
    enum status status = file_open(folder, "..", O_RDONLY | O_DIRECTORY, &above, error);
    if (!status) {
        status = folder_sync(above, "the folder above the store's", error);
        close(above);
    }
    return status;
}

enum status create_finish(int folder, struct error *error)
{
    int base;
    enum status status = file_open(folder, "base.new", O_RDONLY | O_DIRECTORY, &base, error);
    if (status) {
        return status;
    }
    status = folder_sync(base, "base.new", error);
    close(base);
    if (!status) {
        status = folder_sync(folder, "the store's folder", error);
    }
    // Before the rename: if a base exists, all of this must be durable.
    if (!status) {
        status = create_sync_above(folder, error);
    }
    if (!status && renameat(folder, "base.new", folder, "base")) {
        status = file_error(error, "rename", "base.new");
    }
    return status ? status : folder_sync(folder, "the store's folder", error);
}

static enum status make_segments(const struct store *store, const struct base_record *record,
                                 struct error *error)
{
    struct segments segments;
    if (segments_init(&segments, store->allocator, store->folder, record->id,
                      record->segment_size)) {
        return error_set(error, STATUS_NO_MEMORY, "out of memory");
    }
    enum status status = STATUS_OK;
    for (uint32_t i = 0; !status && i < record->segments; i++) {
        int fd;
        status = segments_make(&segments, i, &fd, error);
        if (!status) {
            close(fd);
        }
    }
    segments_release(&segments);
    return status;
}

enum status create_if_missing(const struct store *store, bool *made, struct error *error)
{
    struct stat stat;
    *made = false;
    if (fstatat(store->folder, "base", &stat, 0) == 0) {
        return STATUS_OK;
    }
    if (errno != ENOENT) {
        return file_error(error, "look at", "base");
    }
    enum status status = create_check_all_unused(store->folder, error);
    if (status) {
        return status;
    }
    struct base_record record = { .next = { 1, 1 },
                                  .segments = SEGMENTS_AT_FIRST,
                                  .segment_size = store->options.segment_size };
    if (getrandom(record.id, sizeof(record.id), 0) != sizeof(record.id)) {
        return file_error(error, "get random numbers for", store->path);
    }
    status = make_segments(store, &record, error);
    if (!status) {
        status = make_base(store, &record, error);
    }
    if (!status) {
        status = create_finish(store->folder, error);
    }
    *made = !status;
    return status;
}
