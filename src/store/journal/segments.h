// SPDX-License-Identifier: MIT
// The files of the journal. Each is either in use, under the generation it has, or free. Generations follow one
// another without a gap: where one ends the next begins.
//
// May be called from any thread.
#ifndef SLUICE_STORE_JOURNAL_SEGMENTS_H
#define SLUICE_STORE_JOURNAL_SEGMENTS_H

#include "base/alloc.h"
#include "base/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STORE_VERSION = 2,       // of the file format, as it is written
    STORE_VERSION_FIRST = 1, // the oldest that is read
    STORE_ID_SIZE = 16,
    SEGMENT_NAME_SIZE = 24,
    SEGMENT_SIZE_MIN = 8192,
    SEGMENTS_AT_FIRST = 4, // and no fewer later
};

// A place in the journal: the sector of a generation's segment.
struct position {
    uint64_t generation;
    uint32_t sector;
};

struct segment {
    int fd;
    uint64_t generation; // 0: never used
    bool free;           // nothing in it is needed
};

struct segments {
    const struct allocator *allocator;
    int folder; // borrowed
    char id[STORE_ID_SIZE];
    uint32_t seed;    // of the checksums
    uint32_t sectors; // of a segment, its header among them
    pthread_mutex_t mutex;
    struct segment *items; // owned; by number of the file
    uint32_t count, capacity;
    bool read_only;  // the files are only looked at
    uint64_t pinned; // segments from this generation on are not to be freed; UINT64_MAX: none
};

MUST_USE enum status segments_init(struct segments *segments, const struct allocator *allocator,
                                   int folder, const char id[STORE_ID_SIZE], uint64_t segment_size);
void segments_release(struct segments *segments);

void segment_name(char name[SEGMENT_NAME_SIZE], uint32_t number);

// Makes the next file, full of zeros and free. It counts once segments_add was called.
MUST_USE enum status segments_make(const struct segments *segments, uint32_t number, int *fd,
                                   struct error *error);
// Room for one more, so that the next segments_add cannot fail.
MUST_USE enum status segments_reserve(struct segments *segments);
MUST_USE enum status segments_add(struct segments *segments, struct segment segment);
// Takes the last file out, which then belongs to the caller. False when it is in use.
bool segments_remove_last(struct segments *segments, struct segment *out);

// Opens all files that there should be, 0 to count - 1. All are in use.
MUST_USE enum status segments_open(struct segments *segments, uint32_t count, struct error *error);

// The header of the file `number` for a generation, into a sector.
void segment_head(const struct segments *segments, uint32_t number, uint64_t generation,
                  char *sector);

// Whether this program reads that version of the file format, which `what` has: UNSUPPORTED with a
// sentence otherwise.
MUST_USE enum status version_check(uint32_t version, const char *what, struct error *error);

// Reads a header. CORRUPT or UNSUPPORTED when it does not check.
MUST_USE enum status segment_read_head(const struct segments *segments, uint32_t number, int fd,
                                       uint64_t *generation, struct error *error);

// Whether a file is a segment that was ever written to, of whatever store.
bool segment_is_used(int fd);

// The store that a file's header names. False when the header does not check.
bool segment_read_id(int fd, char id[STORE_ID_SIZE]);

// The number of the file in use for a generation; below 0 when there is none.
int64_t segments_find(struct segments *segments, uint64_t generation);
struct segment segments_get(struct segments *segments, uint32_t number);

// The same place, and where a segment ends the beginning of the next generation.
static inline struct position segments_place(const struct segments *segments, struct position at)
{
    return at.sector == segments->sectors ? (struct position){ at.generation + 1, 1 } : at;
}

MUST_USE enum status segments_sync(struct segments *segments, uint32_t number, struct error *error);

// Takes a free file into use, one of the first ones if it can be; below 0 when there is none.
int64_t segments_take(struct segments *segments, uint64_t generation);
uint32_t segments_free_count(struct segments *segments);

// How many sectors can be written from there on: the rest of the files that are in use, and those
// that are free. It stays the same when one of these is taken into use.
uint64_t segments_room(struct segments *segments, struct position from);

// Nothing before `generation` is needed any more.
void segments_free_before(struct segments *segments, uint64_t generation);

// Keeps what is in use from `generation` on in use; UINT64_MAX lets it go.
void segments_pin(struct segments *segments, uint64_t generation);

#endif
