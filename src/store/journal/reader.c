// SPDX-License-Identifier: MIT
#include "store/journal/reader.h"

#include "os/file.h"
#include "store/journal/frame.h"
#include "store/journal/sector.h"

enum {
    WINDOW_SECTORS = 256,
    ROOM_MAX = 1 << 20, // bytes that are allocated before a group is read
};

enum status reader_init(struct reader *reader, struct segments *segments, struct position at,
                        uint64_t group)
{
    *reader = (struct reader){ .segments = segments, .at = at, .group = group, .window_fd = -1 };
    buffer_init(&reader->bytes, segments->allocator, UINT32_MAX);
    reader->window = mem_alloc(segments->allocator, (size_t)WINDOW_SECTORS * SECTOR_SIZE);
    return reader->window ? STATUS_OK : STATUS_NO_MEMORY;
}

void reader_release(struct reader *reader)
{
    buffer_release(&reader->bytes);
    mem_free(reader->segments->allocator, reader->window,
             reader->window ? (size_t)WINDOW_SECTORS * SECTOR_SIZE : 0);
}

enum status reader_sector(struct reader *reader, uint32_t number, uint32_t sector, const char **out,
                          struct error *error)
{
    int fd = segments_get(reader->segments, number).fd;
    if (fd != reader->window_fd || sector < reader->window_first ||
        sector - reader->window_first >= reader->window_count) {
        uint32_t left = reader->segments->sectors - sector;
        uint32_t count = left < WINDOW_SECTORS ? left : WINDOW_SECTORS;
        char name[SEGMENT_NAME_SIZE];
        segment_name(name, number);
        reader->window_fd = -1;
        enum status status = file_read(fd, name, reader->window, (size_t)count * SECTOR_SIZE,
                                       (uint64_t)sector * SECTOR_SIZE, error);
        if (status) {
            return status;
        }
        reader->window_fd = fd;
        reader->window_first = sector;
        reader->window_count = count;
    }
    *out = reader->window + (size_t)(sector - reader->window_first) * SECTOR_SIZE;
    return STATUS_OK;
}

// Reads the sector at `at`, which moves to the next generation at the end of a segment. NULL if
// there is no such segment.
static enum status sector_at(struct reader *reader, struct position *at, const char **out,
                             uint32_t *number, struct error *error)
{
    *at = segments_place(reader->segments, *at);
    int64_t found = segments_find(reader->segments, at->generation);
    *out = NULL;
    if (found < 0) {
        return STATUS_OK;
    }
    *number = (uint32_t)found;
    return reader_sector(reader, *number, at->sector, out, error);
}

// Truncates the bytes to the size that the head of the group contains.
static enum status take_records(struct reader *reader, struct slice *records, struct error *error)
{
    struct slice bytes = buffer_slice(&reader->bytes);
    if (bytes.size >= FRAME_HEAD_SIZE) {
        size_t size = frame_head(bytes.data).size;
        if (size <= bytes.size - FRAME_HEAD_SIZE) {
            *records = slice_make(bytes.data + FRAME_HEAD_SIZE, size);
            return STATUS_OK;
        }
    }
    return error_set(error, STATUS_CORRUPT, "group %llu of the journal says a wrong size",
                     (unsigned long long)reader->group);
}

// The head of a group, in its first sector, contains its size. A wrong size is detected when the
// whole group was read.
static void make_room(struct reader *reader, const char *first)
{
    size_t size = FRAME_HEAD_SIZE + (size_t)frame_head(first + SECTOR_HEAD_SIZE).size + SECTOR_ROOM;
    (void)buffer_reserve(&reader->bytes, size < ROOM_MAX ? size : ROOM_MAX);
}

enum status reader_next(struct reader *reader, bool *found, struct slice *records,
                        struct error *error)
{
    struct position at = reader->at;
    struct sector_stamp stamp = { 0 };
    *found = false;
    buffer_clear(&reader->bytes);
    for (uint32_t index = 0; !stamp.last; index++) {
        const char *sector;
        uint32_t number;
        enum status status = sector_at(reader, &at, &sector, &number, error);
        if (status || !sector) {
            return status;
        }
        enum sector_verdict verdict = sector_read(sector, reader->segments->seed, &stamp);
        if (verdict == SECTOR_DAMAGED) {
            return error_set(
                error, STATUS_CORRUPT, "journal-%03u is damaged at byte %llu (group %llu)", number,
                (unsigned long long)at.sector * SECTOR_SIZE, (unsigned long long)reader->group);
        }
        if (verdict == SECTOR_BLANK || stamp.group != reader->group || stamp.index != index) {
            return STATUS_OK;
        }
        if (index == 0) {
            make_room(reader, sector);
        }
        buffer_append(&reader->bytes, slice_make(sector + SECTOR_HEAD_SIZE, SECTOR_ROOM));
        at.sector++;
    }
    if (reader->bytes.status) {
        return error_set(error, STATUS_NO_MEMORY, "out of memory");
    }
    enum status status = take_records(reader, records, error);
    if (!status) {
        *found = true;
        reader->at = at;
        reader->group++;
    }
    return status;
}
