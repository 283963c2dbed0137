// SPDX-License-Identifier: MIT
// A folder with all that is in it, in memory; and the same on a file system, where a store can be
// opened on it.
#ifndef SLUICE_TESTS_CRASH_DISK_H
#define SLUICE_TESTS_CRASH_DISK_H

#include "trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disk_name {
    char name[TRACE_NAME_SIZE];
    uint32_t file;
};

struct disk_file {
    bool folder;
    // Of a file. All bytes from `used` on are zero, and have no memory; `size` may be less or more.
    char *bytes;
    size_t size, used, capacity;
    // Of a folder.
    struct disk_name *names;
    size_t names_count, names_capacity;
};

// Files by their numbers; 0 is the folder itself. What no name stands for is not there for others.
struct disk {
    struct disk_file *files;
    uint32_t count, capacity;
};

void disk_init(struct disk *disk); // an empty folder
void disk_release(struct disk *disk);

// Memory that `to` has is used again.
void disk_copy(struct disk *to, const struct disk *from);

// The file with that number, made if it is not there.
struct disk_file *disk_file(struct disk *disk, uint32_t file, bool folder);

// Bytes of a file that can be set; its size stays.
char *disk_bytes(struct disk_file *file, size_t offset, size_t size);

// A name in a folder stands for that file, or for none (TRACE_NO_FILE).
void disk_set_name(struct disk_file *folder, const char *name, uint32_t file);
uint32_t disk_find(const struct disk *disk, uint32_t folder, const char *name);

// Makes `path` what the disk is; files that are there are written over.
void disk_store(const struct disk *disk, const char *path);

// Reads a folder.
void disk_load(struct disk *disk, const char *path);

// Compares what is reachable. False: `what` (256 bytes) says where they differ. The contents of
// LMDB's lock files are left out, which are written through a mapping and mean nothing after a
// crash.
bool disk_same(const struct disk *a, const struct disk *b, char *what);

#endif
