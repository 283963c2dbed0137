// SPDX-License-Identifier: MIT
#include "store/journal/segments.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "os/file.h"
#include "store/journal/sector.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum {
    MAGIC_SIZE = 8,
    AT_VERSION = 4,
    AT_MAGIC = 8,
    AT_ID = 16,
    AT_GENERATION = 32,
    AT_NUMBER = 40,
};

static const char magic[MAGIC_SIZE + 1] = "SLUICEJ\n";

enum status segments_init(struct segments *segments, const struct allocator *allocator, int folder,
                          const char id[STORE_ID_SIZE], uint64_t segment_size)
{
    *segments = (struct segments){
        .allocator = allocator,
        .folder = folder,
        .seed = bytes_load_u32(id),
        .sectors = (uint32_t)(segment_size / SECTOR_SIZE),
        .pinned = UINT64_MAX,
    };
    memcpy(segments->id, id, STORE_ID_SIZE);
    return pthread_mutex_init(&segments->mutex, NULL) ? STATUS_NO_MEMORY : STATUS_OK;
}

void segments_release(struct segments *segments)
{
    for (uint32_t i = 0; i < segments->count; i++) {
        close(segments->items[i].fd);
    }
    mem_free(segments->allocator, segments->items, segments->capacity * sizeof(*segments->items));
    pthread_mutex_destroy(&segments->mutex);
}

void segment_name(char name[SEGMENT_NAME_SIZE], uint32_t number)
{
    (void)snprintf(name, SEGMENT_NAME_SIZE, "journal-%03u", number);
}

void segment_head(const struct segments *segments, uint32_t number, uint64_t generation,
                  char *sector)
{
    memset(sector, 0, SECTOR_SIZE);
    bytes_store_u32(sector + AT_VERSION, STORE_VERSION);
    memcpy(sector + AT_MAGIC, magic, MAGIC_SIZE);
    memcpy(sector + AT_ID, segments->id, STORE_ID_SIZE);
    bytes_store_u64(sector + AT_GENERATION, generation);
    bytes_store_u32(sector + AT_NUMBER, number);
    bytes_store_u32(sector, crc32c(0, sector + 4, SECTOR_SIZE - 4));
}

static bool is_head(const char *sector)
{
    return bytes_load_u32(sector) == crc32c(0, sector + 4, SECTOR_SIZE - 4) &&
           memcmp(sector + AT_MAGIC, magic, MAGIC_SIZE) == 0;
}

bool segment_is_used(int fd)
{
    char sector[SECTOR_SIZE];
    return !file_read(fd, "a segment", sector, sizeof(sector), 0, NULL) && is_head(sector) &&
           bytes_load_u64(sector + AT_GENERATION) > 0;
}

bool segment_read_id(int fd, char id[STORE_ID_SIZE])
{
    char sector[SECTOR_SIZE];
    if (file_read(fd, "a segment", sector, sizeof(sector), 0, NULL) || !is_head(sector)) {
        return false;
    }
    memcpy(id, sector + AT_ID, STORE_ID_SIZE);
    return true;
}

enum status version_check(uint32_t version, const char *what, struct error *error)
{
    if (version > STORE_VERSION) {
        return error_set(error, STATUS_UNSUPPORTED,
                         "%s has version %u of the file format, and this program reads versions %d "
                         "to %d: it was written by a newer version of Sluice; use that one or a "
                         "later one. Nothing was changed",
                         what, version, STORE_VERSION_FIRST, STORE_VERSION);
    }
    if (version < STORE_VERSION_FIRST) {
        return error_set(error, STATUS_UNSUPPORTED,
                         "%s has version %u of the file format, which does not exist: this program "
                         "reads versions %d to %d. Nothing was changed",
                         what, version, STORE_VERSION_FIRST, STORE_VERSION);
    }
    return STATUS_OK;
}

enum status segment_read_head(const struct segments *segments, uint32_t number, int fd,
                              uint64_t *generation, struct error *error)
{
    char name[SEGMENT_NAME_SIZE], sector[SECTOR_SIZE];
    segment_name(name, number);
    enum status status = file_read(fd, name, sector, sizeof(sector), 0, error);
    if (status) {
        return status;
    }
    uint32_t version = bytes_load_u32(sector + AT_VERSION);
    if (!is_head(sector)) {
        return error_set(error, STATUS_CORRUPT, "the header of %s is damaged", name);
    }
    status = version_check(version, name, error);
    if (status) {
        return status;
    }
    if (memcmp(sector + AT_ID, segments->id, STORE_ID_SIZE) != 0) {
        return error_set(error, STATUS_CORRUPT, "%s belongs to another store", name);
    }
    if (bytes_load_u32(sector + AT_NUMBER) != number) {
        return error_set(error, STATUS_CORRUPT, "%s was made as journal-%03u", name,
                         bytes_load_u32(sector + AT_NUMBER));
    }
    *generation = bytes_load_u64(sector + AT_GENERATION);
    return STATUS_OK;
}

enum status segments_make(const struct segments *segments, uint32_t number, int *fd,
                          struct error *error)
{
    char name[SEGMENT_NAME_SIZE], head[SECTOR_SIZE];
    segment_name(name, number);
    segment_head(segments, number, 0, head);
    enum status status = file_open(segments->folder, name, O_RDWR | O_CREAT | O_TRUNC, fd, error);
    if (status) {
        return status;
    }
    // Allocating first detects a full disk before anything is written.
    uint64_t size = (uint64_t)segments->sectors * SECTOR_SIZE;
    status = file_allocate(*fd, name, 0, size, error);
    if (!status || status == STATUS_UNSUPPORTED) {
        status = file_fill(*fd, name, size, error);
    }
    if (!status) {
        status = file_write(*fd, name, head, sizeof(head), 0, error);
    }
    // Syncs the contents and the size, which fdatasync includes.
    if (!status) {
        status = file_sync(*fd, name, error);
    }
    if (!status) {
        status = folder_sync(segments->folder, name, error);
    }
    if (status) {
        close(*fd);
        unlinkat(segments->folder, name, 0);
    }
    return status;
}

// With the mutex held.
static enum status reserve(struct segments *segments)
{
    enum status status = STATUS_OK;
    if (segments->count == segments->capacity) {
        uint32_t capacity = segments->capacity ? 2 * segments->capacity : 8;
        void *items = mem_resize(segments->allocator, segments->items,
                                 segments->capacity * sizeof(*segments->items),
                                 capacity * sizeof(*segments->items));
        if (items) {
            segments->items = items;
            segments->capacity = capacity;
        } else {
            status = STATUS_NO_MEMORY;
        }
    }
    return status;
}

enum status segments_reserve(struct segments *segments)
{
    pthread_mutex_lock(&segments->mutex);
    enum status status = reserve(segments);
    pthread_mutex_unlock(&segments->mutex);
    return status;
}

enum status segments_add(struct segments *segments, struct segment segment)
{
    pthread_mutex_lock(&segments->mutex);
    enum status status = reserve(segments);
    if (!status) {
        segments->items[segments->count++] = segment;
    }
    pthread_mutex_unlock(&segments->mutex);
    return status;
}

bool segments_remove_last(struct segments *segments, struct segment *out)
{
    pthread_mutex_lock(&segments->mutex);
    bool free = segments->count > 0 && segments->items[segments->count - 1].free;
    if (free) {
        *out = segments->items[--segments->count];
    }
    pthread_mutex_unlock(&segments->mutex);
    return free;
}

static enum status open_one(struct segments *segments, uint32_t number, struct error *error)
{
    char name[SEGMENT_NAME_SIZE];
    segment_name(name, number);
    struct segment segment = { .fd = -1 };
    enum status status = file_open(segments->folder, name, segments->read_only ? O_RDONLY : O_RDWR,
                                   &segment.fd, error);
    if (status == STATUS_NOT_FOUND) {
        return error_set(error, STATUS_CORRUPT, "%s is missing", name);
    }
    if (status) {
        return status;
    }
    uint64_t size = 0, wanted = (uint64_t)segments->sectors * SECTOR_SIZE;
    status = file_size(segment.fd, name, &size, error);
    if (!status && size != wanted) {
        status = error_set(error, STATUS_CORRUPT, "%s has %llu bytes and should have %llu", name,
                           (unsigned long long)size, (unsigned long long)wanted);
    }
    if (!status) {
        status = segment_read_head(segments, number, segment.fd, &segment.generation, error);
    }
    if (!status && segments_add(segments, segment)) {
        status = error_set(error, STATUS_NO_MEMORY, "out of memory");
    }
    if (status) {
        close(segment.fd);
    }
    return status;
}

enum status segments_open(struct segments *segments, uint32_t count, struct error *error)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; !status && i < count; i++) {
        status = open_one(segments, i, error);
    }
    return status;
}

int64_t segments_find(struct segments *segments, uint64_t generation)
{
    int64_t found = -1;
    pthread_mutex_lock(&segments->mutex);
    for (uint32_t i = 0; i < segments->count; i++) {
        if (segments->items[i].generation == generation && generation && !segments->items[i].free) {
            found = i;
        }
    }
    pthread_mutex_unlock(&segments->mutex);
    return found;
}

struct segment segments_get(struct segments *segments, uint32_t number)
{
    pthread_mutex_lock(&segments->mutex);
    struct segment segment = segments->items[number];
    pthread_mutex_unlock(&segments->mutex);
    return segment;
}

enum status segments_sync(struct segments *segments, uint32_t number, struct error *error)
{
    char name[SEGMENT_NAME_SIZE];
    segment_name(name, number);
    return file_sync(segments_get(segments, number).fd, name, error);
}

// Prefers the files with low numbers, so that the others can be removed; among these, the least
// recently used one.
static bool is_better(const struct segments *segments, int64_t number, int64_t than)
{
    bool early = number < SEGMENTS_AT_FIRST, than_early = than < SEGMENTS_AT_FIRST;
    return early == than_early
               ? segments->items[number].generation < segments->items[than].generation
               : early;
}

int64_t segments_take(struct segments *segments, uint64_t generation)
{
    int64_t taken = -1;
    pthread_mutex_lock(&segments->mutex);
    for (uint32_t i = 0; i < segments->count; i++) {
        if (segments->items[i].free && (taken < 0 || is_better(segments, i, taken))) {
            taken = i;
        }
    }
    if (taken >= 0) {
        segments->items[taken].free = false;
        segments->items[taken].generation = generation;
    }
    pthread_mutex_unlock(&segments->mutex);
    return taken;
}

uint32_t segments_free_count(struct segments *segments)
{
    uint32_t count = 0;
    pthread_mutex_lock(&segments->mutex);
    for (uint32_t i = 0; i < segments->count; i++) {
        count += segments->items[i].free;
    }
    pthread_mutex_unlock(&segments->mutex);
    return count;
}

uint64_t segments_room(struct segments *segments, struct position from)
{
    uint64_t last = from.generation - 1, files = 0;
    pthread_mutex_lock(&segments->mutex);
    for (uint32_t i = 0; i < segments->count; i++) {
        const struct segment *segment = &segments->items[i];
        files += segment->free;
        last = !segment->free && segment->generation > last ? segment->generation : last;
    }
    pthread_mutex_unlock(&segments->mutex);
    files += last + 1 - from.generation;
    return files * (segments->sectors - 1) - (last < from.generation ? 0 : from.sector - 1);
}

void segments_free_before(struct segments *segments, uint64_t generation)
{
    pthread_mutex_lock(&segments->mutex);
    generation = generation < segments->pinned ? generation : segments->pinned;
    for (uint32_t i = 0; i < segments->count; i++) {
        segments->items[i].free |= segments->items[i].generation < generation;
    }
    pthread_mutex_unlock(&segments->mutex);
}

void segments_pin(struct segments *segments, uint64_t generation)
{
    pthread_mutex_lock(&segments->mutex);
    segments->pinned = generation;
    pthread_mutex_unlock(&segments->mutex);
}
