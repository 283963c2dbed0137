// SPDX-License-Identifier: MIT
// LMDB copies its state at one moment. The journal from that moment on is kept until it was copied
// too. Together they are a store as if it had stopped at the end of the copy. The copy is renamed
// to its final name last, because an incomplete copy could be mistaken for a store whose creation
// was interrupted, and be opened as an empty one.
#include "os/file.h"
#include "store/create.h"
#include "store/journal/sector.h"
#include "store/state.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    COPY_SIZE = 1 << 20,
};

struct backup {
    struct store *store;
    const char *path; // temporary name of the copy
    int folder;       // of the copy
    struct error *error;
};

static enum status copy_base(const struct backup *backup)
{
    int fd;
    if (mkdirat(backup->folder, "base.new", 0700)) {
        return file_error(backup->error, "make", "base.new");
    }
    enum status status = file_open(backup->folder, "base.new/data.mdb", O_WRONLY | O_CREAT | O_EXCL,
                                   &fd, backup->error);
    if (status) {
        return status;
    }
    status = base_copy(backup->store->base, fd, backup->error);
    if (!status) {
        status = file_sync(fd, "base.new/data.mdb", backup->error);
    }
    close(fd);
    return status;
}

// Copies the sectors of a segment up to `count`, including the header.
static enum status copy_sectors(const struct backup *backup, int from, int to, const char *name,
                                uint32_t count)
{
    const struct allocator *allocator = backup->store->allocator;
    char *bytes = mem_alloc(allocator, COPY_SIZE);
    if (!bytes) {
        return error_set(backup->error, STATUS_NO_MEMORY, "out of memory");
    }
    enum status status = STATUS_OK;
    uint64_t size = (uint64_t)count * SECTOR_SIZE;
    for (uint64_t at = 0; !status && at < size; at += COPY_SIZE) {
        size_t part = size - at < COPY_SIZE ? (size_t)(size - at) : COPY_SIZE;
        status = file_read(from, name, bytes, part, at, backup->error);
        if (!status) {
            status = file_write(to, name, bytes, part, at, backup->error);
        }
    }
    mem_free(allocator, bytes, COPY_SIZE);
    return status;
}

// Copies a segment that contains a part of the journal's tail up to the end of the journal. Any
// other segment becomes a new, unused one.
static enum status copy_segment(const struct backup *backup, uint32_t number, struct position first,
                                struct position end)
{
    struct segments *segments = &backup->store->segments;
    struct segment segment = segments_get(segments, number);
    char name[SEGMENT_NAME_SIZE], head[SECTOR_SIZE];
    int fd;
    segment_name(name, number);
    enum status status =
        file_open(backup->folder, name, O_WRONLY | O_CREAT | O_EXCL, &fd, backup->error);
    if (status) {
        return status;
    }
    if (segment.generation >= first.generation && segment.generation <= end.generation) {
        status =
            copy_sectors(backup, segment.fd, fd, name,
                         segment.generation == end.generation ? end.sector : segments->sectors);
    } else {
        segment_head(segments, number, 0, head);
        status = file_write(fd, name, head, sizeof(head), 0, backup->error);
    }
    if (!status && ftruncate(fd, (off_t)segments->sectors * SECTOR_SIZE)) {
        status = file_error(backup->error, "enlarge", name);
    }
    if (!status) {
        status = file_sync(fd, name, backup->error);
    }
    close(fd);
    return status;
}

// There may have been fewer segments when the base was copied.
static enum status recount(const struct backup *backup, uint32_t count)
{
    struct base *base;
    struct base_record record;
    enum status status =
        base_open(backup->path, "base.new", backup->store->allocator, &base, backup->error);
    if (status) {
        return status;
    }
    status = base_record(base, &record, backup->error);
    if (!status && record.segments != count) {
        record.segments = count;
        status = base_commit(base, NULL, &record, backup->error);
    }
    base_close(base);
    return status;
}

static enum status copy_all(const struct backup *backup, struct position first)
{
    struct store *store = backup->store;
    enum status status = copy_base(backup);
    if (status) {
        return status;
    }
    pthread_mutex_lock(&store->mutex);
    struct position end = store->end;
    uint32_t count = store->segments.count;
    pthread_mutex_unlock(&store->mutex);
    for (uint32_t i = 0; !status && i < count; i++) {
        status = copy_segment(backup, i, first, end);
    }
    if (!status) {
        status = recount(backup, count);
    }
    return status ? status : create_finish(backup->folder, backup->error);
}

// Removes an incomplete copy. Segments are created in ascending order and removed in descending
// order, so that an interrupted removal leaves a copy that can be removed too.
static void remove_copy(const struct backup *backup)
{
    char name[SEGMENT_NAME_SIZE];
    uint32_t count = 0;
    do {
        segment_name(name, count++);
    } while (faccessat(backup->folder, name, F_OK, 0) == 0);
    while (count-- > 0) {
        segment_name(name, count);
        unlinkat(backup->folder, name, 0);
    }
    create_remove_base(backup->folder, "base.new");
    create_remove_base(backup->folder, "base");
    rmdir(backup->path);
}

// Makes the folder for the copy. An interrupted backup may have left one. If the folder has a lock,
// it is a store that a process uses.
static enum status make_folder(struct backup *backup)
{
    if (!file_open(AT_FDCWD, backup->path, O_RDONLY | O_DIRECTORY, &backup->folder, NULL)) {
        if (faccessat(backup->folder, "lock", F_OK, 0)) {
            remove_copy(backup);
        }
        close(backup->folder);
    }
    if (mkdir(backup->path, 0700)) {
        return file_error(backup->error, "make", backup->path);
    }
    return file_open(AT_FDCWD, backup->path, O_RDONLY | O_DIRECTORY, &backup->folder,
                     backup->error);
}

// Renames the copy to the requested name, which makes it a backup.
static enum status give_name(const struct backup *backup, const char *path)
{
    if (rename(backup->path, path)) {
        return file_error(backup->error, "make", path);
    }
    enum status status = create_sync_above(backup->folder, backup->error);
    if (status) {
        (void)rename(path, backup->path);
    }
    return status;
}

static enum status make_copy(struct backup *backup, const char *path)
{
    struct store *store = backup->store;
    enum status status = make_folder(backup);
    if (status) {
        return status;
    }
    pthread_mutex_lock(&store->mutex);
    struct position first = store->record.next;
    segments_pin(&store->segments, first.generation);
    pthread_mutex_unlock(&store->mutex);
    status = copy_all(backup, first);
    if (!status) {
        status = give_name(backup, path);
    }
    if (status) {
        remove_copy(backup);
    }
    pthread_mutex_lock(&store->mutex);
    segments_pin(&store->segments, UINT64_MAX);
    segments_free_before(&store->segments, store->record.next.generation);
    pthread_cond_signal(&store->work);
    pthread_mutex_unlock(&store->mutex);
    close(backup->folder);
    return status;
}

enum status store_backup(struct store *store, const char *path, struct error *error)
{
    char made_in[BASE_PATH_SIZE_MAX];
    struct stat there;
    if (lstat(path, &there) == 0) {
        return error_set(error, STATUS_EXISTS, "%s is there already", path);
    }
    int length = (int)strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    int size = snprintf(made_in, sizeof(made_in), "%.*s.part", length, path);
    if (size < 0 || size >= (int)sizeof(made_in)) {
        return error_set(error, STATUS_TOO_LARGE, "the path of the backup is too long");
    }
    struct backup backup = { .store = store, .path = made_in, .error = error };
    pthread_mutex_lock(&store->backup);
    enum status status = make_copy(&backup, path);
    pthread_mutex_unlock(&store->backup);
    pthread_mutex_lock(&store->mutex);
    // compaction and trimming may have waited for the end of the backup
    pthread_cond_signal(&store->wake);
    pthread_mutex_unlock(&store->mutex);
    return status;
}
