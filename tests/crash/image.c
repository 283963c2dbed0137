// SPDX-License-Identifier: MIT
#include "image.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Noreturn void require_failed(const char *file, int line, const char *what)
{
    (void)fprintf(stderr, "%s:%d: %s (errno: %s)\n", file, line, what, strerrordesc_np(errno));
    abort();
}

static void join(char out[IMAGE_PATH_MAX], const char *folder, const char *name)
{
    int size = snprintf(out, IMAGE_PATH_MAX, "%s%s%s", folder, *folder && *name ? "/" : "", name);
    REQUIRE(size >= 0 && size < IMAGE_PATH_MAX, "a path is too long");
}

// ---------------------------------------------------------------------------------------------
// Folders

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

void folder_remove(const char *path)
{
    struct stat about;
    if (lstat(path, &about)) {
        REQUIRE(errno == ENOENT, path);
        return;
    }
    if (!S_ISDIR(about.st_mode)) {
        REQUIRE(unlink(path) == 0, path);
        return;
    }
    DIR *folder = opendir(path);
    REQUIRE(folder, path);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        if (!is_dots(entry->d_name)) {
            char inner[IMAGE_PATH_MAX];
            join(inner, path, entry->d_name);
            folder_remove(inner);
        }
    }
    (void)closedir(folder);
    REQUIRE(rmdir(path) == 0, path);
}

void folder_copy(const char *from, const char *to)
{
    struct image image;
    image_read(&image, from);
    image_write(&image, to);
    image_release(&image);
}

void folder_make_scratch(char path[IMAGE_PATH_MAX], enum scratch_kind scratch)
{
    const char *where = getenv("TMPDIR");
    if (scratch == SCRATCH_IN_MEMORY && access("/dev/shm", W_OK) == 0) {
        where = "/dev/shm";
    }
    join(path, where ? where : "/tmp", "sluice-kills-XXXXXX");
    REQUIRE(mkdtemp(path), path);
}

// ---------------------------------------------------------------------------------------------
// Files

// Where the next bytes of a file are that are not a hole: from *first up to *end. False at its end.
static bool next_extent(int fd, off_t at, off_t *first, off_t *end)
{
    *first = lseek(fd, at, SEEK_DATA);
    if (*first < 0) {
        REQUIRE(errno == ENXIO, "lseek");
        return false;
    }
    *end = lseek(fd, *first, SEEK_HOLE);
    REQUIRE(*end > *first, "lseek");
    return true;
}

static void read_at(int fd, const char *path, unsigned char *bytes, size_t size, off_t offset)
{
    for (size_t at = 0; at < size;) {
        ssize_t got = pread(fd, bytes + at, size - at, offset + (off_t)at);
        REQUIRE(got > 0, path);
        at += (size_t)got;
    }
}

static int open_file(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    REQUIRE(fd >= 0 && fstat(fd, &about) == 0, path);
    *size = (size_t)about.st_size;
    return fd;
}

static void read_bytes(const char *path, struct image_file *file)
{
    int fd = open_file(path, &file->size);
    file->bytes = calloc(1, file->size + 1);
    REQUIRE(file->bytes, "no memory");
    file->used = 0;
    off_t first, end = 0;
    while (next_extent(fd, end, &first, &end)) {
        read_at(fd, path, file->bytes + first, (size_t)(end - first), first);
        file->used = (size_t)end;
    }
    while (file->used && file->bytes[file->used - 1] == 0) {
        file->used--;
    }
    (void)close(fd);
}

static void write_bytes(const char *path, const struct image_file *file)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    REQUIRE(fd >= 0, path);
    for (size_t at = 0; at < file->used;) {
        ssize_t done = write(fd, file->bytes + at, file->used - at);
        REQUIRE(done > 0, path);
        at += (size_t)done;
    }
    REQUIRE(ftruncate(fd, (off_t)file->size) == 0, path);
    (void)close(fd);
}

static bool is_folder(const struct image_file *file)
{
    return file->name[strlen(file->name) - 1] == '/';
}

// Whether a range of a file is what an image has there.
static bool is_same_range(int fd, const char *path, const struct image_file *file, size_t first,
                          size_t end)
{
    unsigned char part[65536];
    for (size_t at = first; at < end; at += sizeof(part)) {
        size_t size = end - at < sizeof(part) ? end - at : sizeof(part);
        read_at(fd, path, part, size, (off_t)at);
        if (memcmp(part, file->bytes + at, size) != 0) {
            return false;
        }
    }
    return true;
}

// Whether the file at the path, which is there, is as the image has it.
static bool is_same_file(const char *path, const struct image_file *file)
{
    if (is_folder(file)) {
        return true;
    }
    size_t size;
    int fd = open_file(path, &size);
    bool same = size == file->size && is_same_range(fd, path, file, 0, file->used);
    off_t first, end = (off_t)file->used;
    while (same && next_extent(fd, end, &first, &end)) {
        same = is_same_range(fd, path, file, (size_t)first, (size_t)end);
    }
    (void)close(fd);
    return same;
}

// ---------------------------------------------------------------------------------------------
// Images

static int compare_names(const void *a, const void *b)
{
    const struct image_file *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static struct image_file *add(struct image *image, const char *name)
{
    image->files = realloc(image->files, (image->count + 1) * sizeof(*image->files));
    REQUIRE(image->files, "no memory");
    struct image_file *file = &image->files[image->count++];
    *file = (struct image_file){ .name = strdup(name) };
    REQUIRE(file->name, "no memory");
    return file;
}

static void add_folder(struct image *image, const char *name)
{
    char marked[IMAGE_PATH_MAX];
    int size = snprintf(marked, sizeof(marked), "%s/", name);
    REQUIRE(size >= 0 && size < IMAGE_PATH_MAX, "a path is too long");
    add(image, marked);
}

// The names, without the bytes.
static void list_folder(struct image *image, const char *root, const char *name)
{
    char path[IMAGE_PATH_MAX];
    join(path, root, name);
    DIR *folder = opendir(path);
    REQUIRE(folder, path);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        if (is_dots(entry->d_name)) {
            continue;
        }
        char inner[IMAGE_PATH_MAX];
        join(inner, name, entry->d_name);
        join(path, root, inner);
        struct stat about;
        REQUIRE(lstat(path, &about) == 0, path);
        if (S_ISDIR(about.st_mode)) {
            add_folder(image, inner);
            list_folder(image, root, inner);
        } else {
            add(image, inner);
        }
    }
    (void)closedir(folder);
}

void image_read(struct image *image, const char *path)
{
    *image = (struct image){ 0 };
    list_folder(image, path, "");
    if (image->count) {
        qsort(image->files, image->count, sizeof(*image->files), compare_names);
    }
    for (size_t i = 0; i < image->count; i++) {
        struct image_file *file = &image->files[i];
        if (!is_folder(file)) {
            char inner[IMAGE_PATH_MAX];
            join(inner, path, file->name);
            read_bytes(inner, file);
        }
    }
}

void image_copy(struct image *image, const struct image *from)
{
    *image = (struct image){ 0 };
    for (size_t i = 0; i < from->count; i++) {
        struct image_file *file = add(image, from->files[i].name);
        file->size = from->files[i].size;
        file->used = from->files[i].used;
        file->bytes = calloc(1, file->size + 1);
        REQUIRE(file->bytes, "no memory");
        if (file->used) {
            memcpy(file->bytes, from->files[i].bytes, file->used);
        }
    }
}

void image_release(struct image *image)
{
    for (size_t i = 0; i < image->count; i++) {
        free(image->files[i].name);
        free(image->files[i].bytes);
    }
    free(image->files);
    *image = (struct image){ 0 };
}

struct image_file *image_find(const struct image *image, const char *name)
{
    for (size_t i = 0; i < image->count; i++) {
        if (strcmp(image->files[i].name, name) == 0) {
            return &image->files[i];
        }
    }
    return NULL;
}

void image_remove(struct image *image, const char *name)
{
    struct image_file *file = image_find(image, name);
    REQUIRE(file, name);
    free(file->name);
    free(file->bytes);
    image->count--;
    size_t at = (size_t)(file - image->files);
    memmove(file, file + 1, (image->count - at) * sizeof(*file));
}

void image_resize(struct image *image, const char *name, size_t size)
{
    struct image_file *file = image_find(image, name);
    REQUIRE(file, name);
    file->bytes = realloc(file->bytes, size + 1);
    REQUIRE(file->bytes, "no memory");
    if (size > file->size) {
        memset(file->bytes + file->size, 0, size - file->size);
    }
    file->size = size;
    file->used = file->used < size ? file->used : size;
}

void image_use(struct image_file *file, size_t upto)
{
    file->used = file->used < upto ? upto : file->used;
}

// Removes what the image does not have.
static void remove_others(const struct image *image, const char *path)
{
    struct image there = { 0 };
    list_folder(&there, path, "");
    for (size_t i = 0; i < there.count; i++) {
        if (!image_find(image, there.files[i].name)) {
            char inner[IMAGE_PATH_MAX];
            join(inner, path, there.files[i].name);
            folder_remove(inner);
        }
    }
    image_release(&there);
}

void image_write(const struct image *image, const char *path)
{
    REQUIRE(mkdir(path, 0700) == 0 || errno == EEXIST, path);
    remove_others(image, path);
    for (size_t i = 0; i < image->count; i++) {
        const struct image_file *file = &image->files[i];
        char inner[IMAGE_PATH_MAX];
        join(inner, path, file->name);
        if (is_folder(file)) {
            REQUIRE(mkdir(inner, 0700) == 0 || errno == EEXIST, inner);
        } else if (access(inner, F_OK) || !is_same_file(inner, file)) {
            write_bytes(inner, file);
        }
    }
}

bool image_is_at(const struct image *image, const char *path, const char *but)
{
    struct image there = { 0 };
    list_folder(&there, path, "");
    const char *differs = NULL;
    for (size_t i = 0; i < image->count && !differs; i++) {
        const struct image_file *file = &image->files[i];
        char inner[IMAGE_PATH_MAX];
        join(inner, path, file->name);
        if (strcmp(file->name, but) != 0 &&
            (!image_find(&there, file->name) || !is_same_file(inner, file))) {
            differs = file->name;
        }
    }
    for (size_t i = 0; i < there.count && !differs; i++) {
        const char *name = there.files[i].name;
        differs = strcmp(name, but) == 0 || image_find(image, name) ? NULL : name;
    }
    if (differs) {
        (void)fprintf(stderr, "%s is not as it was\n", differs);
    }
    image_release(&there);
    return !differs;
}
