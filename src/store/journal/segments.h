// SPDX-License-Identifier: MIT
// The files of the journal. Each is either free, or in use with a generation. Generations are
// consecutive: where one ends the next begins.
//
// The functions may be called from any thread.
#ifndef SLUICE_STORE_JOURNAL_SEGMENTS_H
#define SLUICE_STORE_JOURNAL_SEGMENTS_H

#include "base/alloc.h"
#include "base/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STORE_VERSION = 2,       // of the file format that is written
    STORE_VERSION_FIRST = 1, // the oldest that can be read
    STORE_ID_SIZE = 16,
    SEGMENT_NAME_SIZE = 24,
    SEGMENT_SIZE_MIN = 8192,
    SEGMENTS_AT_FIRST = 4, // the minimum, also later
};

// A position in the journal: a sector of the segment of a generation.
struct position {
    uint64_t generation;
    uint32_t sector;
};

struct segment {
    int fd;
    uint64_t generation; // 0: never used
    bool free;           // its contents are not needed
};

struct segments {
    const struct allocator *allocator;
    int folder; // borrowed
    char id[STORE_ID_SIZE];
    uint32_t seed;    // of the checksums
    uint32_t sectors; // of a segment, including its header
    pthread_mutex_t mutex;
    struct segment *items; // owned; indexed by the number of the file
    uint32_t count, capacity;
    bool read_only;  // the files are only read
    uint64_t pinned; // segments from this generation on must not be freed; UINT64_MAX: none
};

MUST_USE enum status segments_init(struct segments *segments, const struct allocator *allocator,
                                   int folder, const char id[STORE_ID_SIZE], uint64_t segment_size);
void segments_release(struct segments *segments);

void segment_name(char name[SEGMENT_NAME_SIZE], uint32_t number);

// Creates the next file, free and full of zeros. It is not part of the journal until segments_add.
MUST_USE enum status segments_make(const struct segments *segments, uint32_t number, int *fd,
                                   struct error *error);
// Allocates room for one more file, so that the next segments_add cannot fail.
MUST_USE enum status segments_reserve(struct segments *segments);
MUST_USE enum status segments_add(struct segments *segments, struct segment segment);
// Removes the last file from the table; it then belongs to the caller. False if it is in use.
bool segments_remove_last(struct segments *segments, struct segment *out);

// Opens the files 0 to count - 1. All are in use afterwards.
MUST_USE enum status segments_open(struct segments *segments, uint32_t count, struct error *error);

// Writes the header of the file `number` for a generation into a sector.
void segment_head(const struct segments *segments, uint32_t number, uint64_t generation,
                  char *sector);

// Whether this program can read that version of the file format. UNSUPPORTED otherwise, with a
// message about `what`.
MUST_USE enum status version_check(uint32_t version, const char *what, struct error *error);

// Reads a header. CORRUPT or UNSUPPORTED if it is not valid.
MUST_USE enum status segment_read_head(const struct segments *segments, uint32_t number, int fd,
                                       uint64_t *generation, struct error *error);

// Whether a file is a segment of any store that was ever written to.
bool segment_is_used(int fd);

// Reads the store id from a file's header. False if the header is not valid.
bool segment_read_id(int fd, char id[STORE_ID_SIZE]);

// The number of the file in use with a generation; negative if there is none.
int64_t segments_find(struct segments *segments, uint64_t generation);
struct segment segments_get(struct segments *segments, uint32_t number);

// The same position, or at the end of a segment the beginning of the next generation.
static inline struct position segments_place(const struct segments *segments, struct position at)
{
    return at.sector == segments->sectors ? (struct position){ at.generation + 1, 1 } : at;
}

MUST_USE enum status segments_sync(struct segments *segments, uint32_t number, struct error *error);

// Takes a free file into use, preferably one with a low number; negative if there is none.
int64_t segments_take(struct segments *segments, uint64_t generation);
uint32_t segments_free_count(struct segments *segments);

// How many sectors can be written from there on: the rest of the files in use, and the free files.
// Taking a free file into use does not change the number.
uint64_t segments_room(struct segments *segments, struct position from);

// Frees the files with generations before `generation`.
void segments_free_before(struct segments *segments, uint64_t generation);

// Prevents the files from `generation` on from being freed; UINT64_MAX ends that.
void segments_pin(struct segments *segments, uint64_t generation);

#endif
