// SPDX-License-Identifier: MIT
#include "host/zones/zoneinfo.h"

#include "base/buffer.h"
#include "host/zones/tzif.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NAME_SIZE_MAX = 255,
    FILE_SIZE_MAX = 1 << 20,
    ZONES_MAX = 4096, // there are less than 2000 files
};

struct zone_file {
    struct tzif tzif;
    size_t name_size;
    char name[];
};

struct zoneinfo {
    const struct allocator *allocator;
    char *folder; // owned
    size_t folder_size;
    struct zone_file **zones; // owned
    size_t count, capacity;
};

enum status zoneinfo_new(const struct allocator *allocator, const char *folder,
                         struct zoneinfo **out)
{
    const char *variable = getenv("TZDIR");
    if (!folder) {
        folder = variable && *variable ? variable : "/usr/share/zoneinfo";
    }
    struct zoneinfo *zoneinfo = mem_zalloc(allocator, sizeof(*zoneinfo));
    if (!zoneinfo) {
        return STATUS_NO_MEMORY;
    }
    zoneinfo->allocator = allocator;
    zoneinfo->folder = mem_alloc(allocator, strlen(folder) + 1);
    if (!zoneinfo->folder) {
        mem_free(allocator, zoneinfo, sizeof(*zoneinfo));
        return STATUS_NO_MEMORY;
    }
    zoneinfo->folder_size = strlen(folder) + 1;
    memcpy(zoneinfo->folder, folder, zoneinfo->folder_size);
    *out = zoneinfo;
    return STATUS_OK;
}

static void zone_file_free(const struct allocator *allocator, struct zone_file *zone)
{
    tzif_release(&zone->tzif);
    mem_free(allocator, zone, sizeof(*zone) + zone->name_size);
}

void zoneinfo_free(struct zoneinfo *zoneinfo)
{
    if (!zoneinfo) {
        return;
    }
    const struct allocator *allocator = zoneinfo->allocator;
    for (size_t i = 0; i < zoneinfo->count; i++) {
        zone_file_free(allocator, zoneinfo->zones[i]);
    }
    mem_free(allocator, zoneinfo->zones, zoneinfo->capacity * sizeof(struct zone_file *));
    mem_free(allocator, zoneinfo->folder, zoneinfo->folder_size);
    mem_free(allocator, zoneinfo, sizeof(*zoneinfo));
}

bool zoneinfo_name_is_valid(struct slice name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/";
    // Without dots a name cannot lead to a parent folder. A slash separates two parts.
    for (size_t i = 0; i < name.size; i++) {
        bool at_an_edge = i == 0 || i + 1 == name.size || name.data[i - 1] == '/';
        if (!memchr(letters, name.data[i], sizeof(letters) - 1) ||
            (name.data[i] == '/' && at_an_edge)) {
            return false;
        }
    }
    return name.size > 0 && name.size <= NAME_SIZE_MAX;
}

static struct zone_file *find(const struct zoneinfo *zoneinfo, struct slice name)
{
    for (size_t i = 0; i < zoneinfo->count; i++) {
        struct zone_file *zone = zoneinfo->zones[i];
        if (slice_equal(name, slice_make(zone->name, zone->name_size))) {
            return zone;
        }
    }
    return NULL;
}

static enum status not_found(struct slice name, struct error *error)
{
    return error_set(error, STATUS_NOT_FOUND, "there is no time zone '%.*s'", SLICE_PRINT(name));
}

static enum status read_bytes(int fd, struct slice name, struct buffer *out, struct error *error)
{
    struct stat about;
    if (fstat(fd, &about) || !S_ISREG(about.st_mode)) {
        return not_found(name, error);
    }
    ssize_t got;
    do {
        char *room = buffer_reserve(out, 4096);
        if (!room) {
            return error_set(error, out->status == STATUS_TOO_LARGE ? STATUS_CORRUPT : out->status,
                             "the file of time zone '%.*s' is too large", SLICE_PRINT(name));
        }
        got = read(fd, room, 4096);
        if (got > 0) {
            buffer_commit(out, (size_t)got);
        }
    } while (got > 0 || (got < 0 && errno == EINTR));
    if (got < 0) {
        return error_set(error, STATUS_IO, "the file of time zone '%.*s' cannot be read: %s",
                         SLICE_PRINT(name), strerror(errno));
    }
    return STATUS_OK;
}

static enum status read_file(const struct zoneinfo *zoneinfo, struct slice name, struct tzif *out,
                             struct error *error)
{
    struct buffer bytes;
    buffer_init(&bytes, zoneinfo->allocator, FILE_SIZE_MAX);
    buffer_printf(&bytes, "%s/%.*s%c", zoneinfo->folder, SLICE_PRINT(name), '\0');
    if (bytes.status) {
        enum status refused = bytes.status;
        buffer_release(&bytes);
        return error_set(error, refused, "there is no memory for a time zone");
    }
    int fd = open(bytes.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        buffer_release(&bytes);
        return not_found(name, error);
    }
    buffer_clear(&bytes);
    enum status status = read_bytes(fd, name, &bytes, error);
    (void)close(fd);
    if (status == STATUS_OK) {
        status = tzif_read(out, zoneinfo->allocator, name, buffer_slice(&bytes), error);
    }
    buffer_release(&bytes);
    return status;
}

static enum status reserve(struct zoneinfo *zoneinfo, struct error *error)
{
    size_t capacity = zoneinfo->capacity ? zoneinfo->capacity * 2 : 16;
    if (zoneinfo->count < zoneinfo->capacity) {
        return STATUS_OK;
    }
    if (zoneinfo->count >= ZONES_MAX) {
        return error_set(error, STATUS_TOO_LARGE, "there are more than %d time zones in use",
                         ZONES_MAX);
    }
    struct zone_file **zones = mem_resize(zoneinfo->allocator, zoneinfo->zones,
                                          zoneinfo->capacity * sizeof(struct zone_file *),
                                          capacity * sizeof(struct zone_file *));
    if (!zones) {
        return error_set(error, STATUS_NO_MEMORY, "there is no memory for a time zone");
    }
    zoneinfo->zones = zones;
    zoneinfo->capacity = capacity;
    return STATUS_OK;
}

static enum status load(struct zoneinfo *zoneinfo, struct slice name, struct zone_file **out,
                        struct error *error)
{
    struct tzif tzif;
    enum status status = reserve(zoneinfo, error);
    if (status == STATUS_OK) {
        status = read_file(zoneinfo, name, &tzif, error);
    }
    if (status) {
        return status;
    }
    struct zone_file *zone = mem_alloc(zoneinfo->allocator, sizeof(*zone) + name.size);
    if (!zone) {
        tzif_release(&tzif);
        return error_set(error, STATUS_NO_MEMORY, "there is no memory for a time zone");
    }
    zone->tzif = tzif;
    zone->name_size = name.size;
    memcpy(zone->name, name.data, name.size);
    zoneinfo->zones[zoneinfo->count++] = zone;
    *out = zone;
    return STATUS_OK;
}

enum status zoneinfo_find(void *context, struct slice name, struct zone_rules *out,
                          struct error *error)
{
    struct zoneinfo *zoneinfo = context;
    if (!zoneinfo_name_is_valid(name)) {
        return not_found(slice_shown(name), error);
    }
    struct zone_file *zone = find(zoneinfo, name);
    if (!zone) {
        enum status status = load(zoneinfo, name, &zone, error);
        if (status) {
            return status;
        }
    }
    *out = (struct zone_rules){ zone->tzif.offset_s, zone->tzif.transitions, zone->tzif.count };
    return STATUS_OK;
}
