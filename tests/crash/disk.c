// SPDX-License-Identifier: MIT
#include "disk.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WHAT_SIZE = 256,
};

void disk_init(struct disk *disk)
{
    *disk = (struct disk){ 0 };
    disk_file(disk, 0, true);
}

void disk_release(struct disk *disk)
{
    for (uint32_t i = 0; i < disk->count; i++) {
        free(disk->files[i].bytes);
        free(disk->files[i].names);
    }
    free(disk->files);
    *disk = (struct disk){ 0 };
}

struct disk_file *disk_file(struct disk *disk, uint32_t file, bool folder)
{
    if (file >= disk->capacity) {
        uint32_t capacity = file * 2 + 16;
        disk->files = realloc(disk->files, capacity * sizeof(*disk->files));
        assert(disk->files);
        memset(disk->files + disk->capacity, 0, (capacity - disk->capacity) * sizeof(*disk->files));
        disk->capacity = capacity;
    }
    if (file >= disk->count) {
        disk->files[file].folder = folder;
        disk->count = file + 1;
    }
    return &disk->files[file];
}

char *disk_bytes(struct disk_file *file, size_t offset, size_t size)
{
    size_t needed = offset + size;
    if (needed > file->capacity) {
        size_t capacity = needed > 2 * file->capacity ? needed : 2 * file->capacity;
        file->bytes = realloc(file->bytes, capacity);
        assert(file->bytes);
        memset(file->bytes + file->capacity, 0, capacity - file->capacity);
        file->capacity = capacity;
    }
    file->used = needed > file->used ? needed : file->used;
    return file->bytes ? file->bytes + offset : NULL;
}

static void copy_file(struct disk_file *to, const struct disk_file *from)
{
    to->folder = from->folder;
    char *bytes = disk_bytes(to, 0, from->used);
    if (from->used) {
        memcpy(bytes, from->bytes, from->used);
    }
    if (to->used > from->used) {
        memset(to->bytes + from->used, 0, to->used - from->used);
    }
    to->used = from->used;
    to->size = from->size;
    if (to->names_capacity < from->names_count) {
        free(to->names);
        to->names = calloc(from->names_count, sizeof(*to->names));
        assert(to->names);
        to->names_capacity = from->names_count;
    }
    if (from->names_count) {
        memcpy(to->names, from->names, from->names_count * sizeof(*to->names));
    }
    to->names_count = from->names_count;
}

void disk_copy(struct disk *to, const struct disk *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        copy_file(disk_file(to, i, false), &from->files[i]);
    }
    static const struct disk_file none;
    for (uint32_t i = from->count; i < to->count; i++) {
        free(to->files[i].bytes);
        free(to->files[i].names);
        to->files[i] = none;
    }
    to->count = from->count;
}

static struct disk_name *find(const struct disk_file *folder, const char *name)
{
    for (size_t i = 0; i < folder->names_count; i++) {
        if (strcmp(folder->names[i].name, name) == 0) {
            return &folder->names[i];
        }
    }
    return NULL;
}

void disk_set_name(struct disk_file *folder, const char *name, uint32_t file)
{
    struct disk_name *at = find(folder, name);
    if (file == TRACE_NO_FILE) {
        if (at) {
            *at = folder->names[--folder->names_count];
        }
        return;
    }
    if (!at) {
        if (folder->names_count == folder->names_capacity) {
            folder->names_capacity = folder->names_capacity * 2 + 8;
            folder->names = realloc(folder->names, folder->names_capacity * sizeof(*folder->names));
            assert(folder->names);
        }
        at = &folder->names[folder->names_count++];
        memset(at, 0, sizeof(*at));
        size_t size = strlen(name);
        assert(size < sizeof(at->name));
        memcpy(at->name, name, size);
    }
    at->file = file;
}

uint32_t disk_find(const struct disk *disk, uint32_t folder, const char *name)
{
    const struct disk_name *at = find(&disk->files[folder], name);
    return at ? at->file : TRACE_NO_FILE;
}

// What is in a folder but must not be is removed.
static void empty_folder(int fd, const struct disk *disk, const struct disk_file *keep);

static void remove_entry(int folder, const char *name)
{
    if (unlinkat(folder, name, 0) == 0) {
        return;
    }
    assert(errno == EISDIR || errno == EPERM);
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert(fd >= 0);
    empty_folder(fd, NULL, NULL);
    (void)close(fd);
    int gone = unlinkat(folder, name, AT_REMOVEDIR);
    assert(gone == 0);
}

static void empty_folder(int fd, const struct disk *disk, const struct disk_file *keep)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fdopendir(copy);
    assert(folder);
    const struct dirent *entry = NULL;
    while ((entry = readdir(folder))) { // NOLINT(concurrency-mt-unsafe)
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        const struct disk_name *name = keep ? find(keep, entry->d_name) : NULL;
        bool is_folder = entry->d_type == DT_DIR;
        if (!name || disk->files[name->file].folder != is_folder) {
            remove_entry(fd, entry->d_name);
        }
    }
    (void)closedir(folder);
}

static void store_file(const struct disk_file *file, int folder, const char *name)
{
    int fd = openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert(fd >= 0);
    size_t written = file->used < file->size ? file->used : file->size;
    for (size_t at = 0; at < written;) {
        ssize_t done = pwrite(fd, file->bytes + at, written - at, (off_t)at);
        assert(done > 0);
        at += (size_t)done;
    }
    // What was there behind it becomes zeros.
    int failed = ftruncate(fd, (off_t)written);
    assert(!failed);
    failed = written < file->size ? ftruncate(fd, (off_t)file->size) : 0;
    assert(!failed);
    (void)close(fd);
}

static void store_folder(const struct disk *disk, const struct disk_file *folder, int fd)
{
    empty_folder(fd, disk, folder);
    for (size_t i = 0; i < folder->names_count; i++) {
        const struct disk_name *name = &folder->names[i];
        const struct disk_file *file = &disk->files[name->file];
        if (!file->folder) {
            store_file(file, fd, name->name);
            continue;
        }
        int made = mkdirat(fd, name->name, 0700);
        assert(made == 0 || errno == EEXIST);
        int inner = openat(fd, name->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert(inner >= 0);
        store_folder(disk, file, inner);
        (void)close(inner);
    }
}

void disk_store(const struct disk *disk, const char *path)
{
    int made = mkdir(path, 0700);
    assert(made == 0 || errno == EEXIST);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert(fd >= 0);
    store_folder(disk, &disk->files[0], fd);
    (void)close(fd);
}

static void load_folder(struct disk *disk, uint32_t number, int fd)
{
    DIR *folder = fdopendir(fd);
    assert(folder);
    const struct dirent *entry = NULL;
    while ((entry = readdir(folder))) { // NOLINT(concurrency-mt-unsafe)
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        uint32_t file = disk->count;
        bool is_folder = entry->d_type == DT_DIR;
        struct disk_file *made = disk_file(disk, file, is_folder);
        disk_set_name(&disk->files[number], entry->d_name, file);
        int inner = openat(fd, entry->d_name, O_RDONLY | O_CLOEXEC);
        assert(inner >= 0);
        if (is_folder) {
            load_folder(disk, file, inner);
            continue;
        }
        struct stat is;
        int known = fstat(inner, &is);
        assert(known == 0);
        made->size = (size_t)is.st_size;
        if (made->size) {
            ssize_t got = pread(inner, disk_bytes(made, 0, made->size), made->size, 0);
            assert(got == (ssize_t)made->size);
        }
        (void)close(inner);
    }
    (void)closedir(folder);
}

void disk_load(struct disk *disk, const char *path)
{
    disk_init(disk);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert(fd >= 0);
    load_folder(disk, 0, fd);
}

static bool same_bytes(struct disk_file *a, struct disk_file *b, size_t *where)
{
    const char *one = disk_bytes(a, 0, a->size);
    const char *two = disk_bytes(b, 0, a->size);
    for (size_t i = 0; i < a->size; i++) {
        if (one[i] != two[i]) {
            *where = i;
            return false;
        }
    }
    return true;
}

static bool same_file(const struct disk *a, const struct disk *b, uint32_t x, uint32_t y,
                      const char *name, char *what);

static bool same_folder(const struct disk *a, const struct disk *b, uint32_t x, uint32_t y,
                        char *what)
{
    const struct disk_file *one = &a->files[x];
    const struct disk_file *two = &b->files[y];
    for (size_t i = 0; i < two->names_count; i++) {
        if (!find(one, two->names[i].name)) {
            (void)snprintf(what, WHAT_SIZE, "%s is there only in the second", two->names[i].name);
            return false;
        }
    }
    for (size_t i = 0; i < one->names_count; i++) {
        const struct disk_name *other = find(two, one->names[i].name);
        if (!other) {
            (void)snprintf(what, WHAT_SIZE, "%s is there only in the first", one->names[i].name);
            return false;
        }
        if (!same_file(a, b, one->names[i].file, other->file, other->name, what)) {
            return false;
        }
    }
    return true;
}

static bool is_lock(const char *name)
{
    return strcmp(name, "lock.mdb") == 0 || strcmp(name, "compact.mdb-lock") == 0;
}

static bool same_file(const struct disk *a, const struct disk *b, uint32_t x, uint32_t y,
                      const char *name, char *what)
{
    struct disk_file *one = &a->files[x];
    struct disk_file *two = &b->files[y];
    if (one->folder != two->folder || one->size != two->size) {
        (void)snprintf(what, WHAT_SIZE, "%s has %zu bytes in the first, %zu in the second", name,
                       one->size, two->size);
        return false;
    }
    if (one->folder) {
        return same_folder(a, b, x, y, what);
    }
    size_t where = 0;
    if (!is_lock(name) && !same_bytes(one, two, &where)) {
        (void)snprintf(what, WHAT_SIZE, "%s differs at %zu", name, where);
        return false;
    }
    return true;
}

bool disk_same(const struct disk *a, const struct disk *b, char *what)
{
    return same_folder(a, b, 0, 0, what);
}
