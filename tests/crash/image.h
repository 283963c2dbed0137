// SPDX-License-Identifier: MIT
// The files of a folder in memory: to be looked at, changed, written out again and compared. What
// the system refuses ends the process, since a test cannot go on then.
#ifndef SLUICE_TESTS_CRASH_IMAGE_H
#define SLUICE_TESTS_CRASH_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

enum {
    IMAGE_PATH_MAX = 512,
};

struct image_file {
    char *name; // from the folder on: "base/data.mdb"; "base/" for a folder, which has no bytes
    unsigned char *bytes;
    size_t size;
    size_t used; // from there on it was all zeros when it was read; these are no bytes on disk
};

struct image {
    struct image_file *files; // by name
    size_t count;
};

void image_read(struct image *image, const char *path);
void image_copy(struct image *image, const struct image *from);
void image_release(struct image *image);

// NULL when there is none.
struct image_file *image_find(const struct image *image, const char *name);
// A caller that changes bytes behind `used` says so.
void image_use(struct image_file *file, size_t upto);
void image_remove(struct image *image, const char *name);
void image_resize(struct image *image, const char *name, size_t size); // new bytes are zeros

// Makes the folder hold exactly these files. Files that are as they should be are not touched.
void image_write(const struct image *image, const char *path);

// Whether the folder holds exactly these files, but for one that is not looked at. If not, says on
// stderr which one differs.
bool image_is_at(const struct image *image, const char *path, const char *but);

enum scratch_kind {
    SCRATCH_IN_MEMORY, // if the system has such a file system
    SCRATCH_ON_DISK,
};

// A new folder of the caller's.
void folder_make_scratch(char path[IMAGE_PATH_MAX], enum scratch_kind scratch);
void folder_remove(const char *path); // or a file; no error when there is none
void folder_copy(const char *from, const char *to);

// Ends the process with a sentence if `holds` is not true.
#define REQUIRE(holds, what)                                                                       \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            require_failed(__FILE__, __LINE__, what);                                              \
        }                                                                                          \
    } while (0)

_Noreturn void require_failed(const char *file, int line, const char *what);

#endif
