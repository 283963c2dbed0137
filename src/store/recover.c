// SPDX-License-Identifier: MIT
// The order: the store's own record, which is the first entry of the base and says where the
// journal continues; the journal from there, into memory; then all entries of the base, merged with
// the images from the journal.
#include "store/recover.h"

#include "base/bytes.h"
#include "os/file.h"
#include "store/create.h"
#include "store/journal/frame.h"
#include "store/journal/reader.h"
#include "store/journal/sector.h"
#include "store/key.h"
#include "store/lmdb/images.h"
#include "store/lmdb/scan.h"

#include <fcntl.h>
#include <unistd.h>

struct recovery {
    struct store *store;
    const struct store_visitor *visitor;
    struct error *error;
    bool read_only;
    bool made;            // the store was just created, so the journal is all zeros
    struct images images; // of the records in the journal's tail
    size_t next_image;
    bool has_record;
    uint64_t count;     // entries of the base that were read, including the store's own record
    uint64_t sum;       // of their checksums, except for the record's
    uint64_t group;     // the first group that is not in the journal
    uint64_t left_over; // sectors of that group or later ones
};

// ---------------------------------------------------------------------------------------------
// The store's own record

// Returns an entry of the base without its checksum, which must be right.
static enum status check_entry(struct recovery *recovery, struct slice key, struct slice value,
                               struct slice *bytes)
{
    *bytes = slice_sub(value, BASE_CHECKSUM_SIZE, value.size);
    if (key.size != KEY_SIZE || value.size < BASE_CHECKSUM_SIZE ||
        base_checksum(key, *bytes) != bytes_load_u32(value.data)) {
        return error_set(recovery->error, STATUS_CORRUPT,
                         "entry %llu of base/data.mdb is damaged: its checksum differs",
                         (unsigned long long)recovery->count);
    }
    return STATUS_OK;
}

static enum status check_record(const struct recovery *recovery)
{
    const struct base_record *record = &recovery->store->record;
    if (record->segment_size < SEGMENT_SIZE_MIN || record->segment_size % SECTOR_SIZE ||
        record->segment_size / SECTOR_SIZE > UINT32_MAX || record->segments < 2) {
        return error_set(recovery->error, STATUS_CORRUPT,
                         "the base says that there are %u segments of %llu bytes", record->segments,
                         (unsigned long long)record->segment_size);
    }
    return STATUS_OK;
}

static enum status receive_record(void *context, struct slice key, struct slice value)
{
    static const char zeros[KEY_SIZE];
    struct recovery *recovery = context;
    struct slice bytes;
    enum status status = check_entry(recovery, key, value, &bytes);
    if (status) {
        return status;
    }
    if (memcmp(key.data, zeros, KEY_SIZE) != 0) {
        return error_set(recovery->error, STATUS_CORRUPT,
                         "base/data.mdb does not begin with the store's own record");
    }
    recovery->has_record = true;
    status = base_record_read(bytes, &recovery->store->record, recovery->error);
    return status ? status : check_record(recovery);
}

static enum status read_record(struct recovery *recovery, int fd)
{
    const struct scan_sink sink = { .receive = receive_record, .context = recovery };
    enum status status = scan_first(fd, recovery->store->allocator, &sink, recovery->error);
    if (!status && !recovery->has_record) {
        return error_set(recovery->error, STATUS_CORRUPT, "base/data.mdb is empty");
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// The journal

static enum status check_position(struct recovery *recovery)
{
    const struct base_record *record = &recovery->store->record;
    struct segments *segments = &recovery->store->segments;
    if (record->next.generation == 0 || record->next.sector == 0 ||
        record->next.sector >= segments->sectors) {
        return error_set(recovery->error, STATUS_CORRUPT,
                         "the base says that the journal goes on at sector %u of generation %llu",
                         record->next.sector, (unsigned long long)record->next.generation);
    }
    if (record->next.sector > 1 && segments_find(segments, record->next.generation) < 0) {
        return error_set(
            recovery->error, STATUS_CORRUPT,
            "the journal should go on in the segment of generation %llu, and none has it",
            (unsigned long long)record->next.generation);
    }
    return STATUS_OK;
}

static enum status read_tail(struct recovery *recovery, struct reader *reader)
{
    bool found = true;
    enum status status = STATUS_OK;
    while (!status && found) {
        struct slice records;
        status = reader_next(reader, &found, &records, recovery->error);
        if (!status && found) {
            status = images_add(&recovery->images, records);
            if (status) {
                error_set(recovery->error, status, "cannot apply group %llu of the journal: %s",
                          (unsigned long long)(reader->group - 1), status_sentence(status));
            }
        }
    }
    return status;
}

// Checks a sector after the end of the journal.
static enum status judge_sector(struct recovery *recovery, const char *sector, uint32_t number,
                                uint32_t at, bool in_use)
{
    struct sector_stamp stamp;
    uint64_t group = recovery->group;
    enum sector_verdict verdict = sector_read(sector, recovery->store->segments.seed, &stamp);
    if (verdict == SECTOR_DAMAGED && in_use) {
        return error_set(recovery->error, STATUS_CORRUPT,
                         "journal-%03u is damaged at byte %llu, behind group %llu", number,
                         (unsigned long long)at * SECTOR_SIZE, (unsigned long long)group - 1);
    }
    if (verdict != SECTOR_VALID || stamp.group < group) {
        return STATUS_OK;
    }
    recovery->left_over++;
    if (stamp.group > group && stamp.index == 0 &&
        frame_head(sector + SECTOR_HEAD_SIZE).synced >= group) {
        return error_set(recovery->error, STATUS_CORRUPT,
                         "group %llu is missing from the journal, though it was on disk when group "
                         "%llu was written (journal-%03u, byte %llu)",
                         (unsigned long long)group, (unsigned long long)stamp.group, number,
                         (unsigned long long)at * SECTOR_SIZE);
    }
    return STATUS_OK;
}

// Returns the first sector of a file after the end of the journal.
static uint32_t behind_end(const struct recovery *recovery, const struct segment *segment)
{
    struct position end = recovery->store->end;
    return segment->generation == end.generation ? end.sector : 1;
}

// Checks all sectors of the journal's files that are not part of the journal.
static enum status judge_rest(struct recovery *recovery, struct reader *reader)
{
    struct segments *segments = &recovery->store->segments;
    const struct base_record *record = &recovery->store->record;
    enum status status = STATUS_OK;
    for (uint32_t i = 0; !status && i < segments->count; i++) {
        const struct segment *segment = &segments->items[i];
        bool in_use = segment->generation >= recovery->store->end.generation;
        if (segment->generation >= record->next.generation &&
            segment->generation < recovery->store->end.generation) {
            continue; // it was read as part of the journal
        }
        for (uint32_t at = behind_end(recovery, segment); !status && at < segments->sectors; at++) {
            const char *sector;
            status = reader_sector(reader, i, at, &sector, recovery->error);
            if (!status) {
                status = judge_sector(recovery, sector, i, at, in_use);
            }
        }
    }
    return status;
}

static enum status read_journal(struct recovery *recovery)
{
    struct store *store = recovery->store;
    const struct base_record *record = &store->record;
    if (segments_init(&store->segments, store->allocator, store->folder, record->id,
                      record->segment_size)) {
        return error_set(recovery->error, STATUS_NO_MEMORY, "out of memory");
    }
    store->segments.read_only = recovery->read_only;
    enum status status = segments_open(&store->segments, record->segments, recovery->error);
    if (!status) {
        status = check_position(recovery);
    }
    if (status) {
        return status;
    }
    struct reader reader;
    if (reader_init(&reader, &store->segments, record->next, record->covered + 1)) {
        return error_set(recovery->error, STATUS_NO_MEMORY, "out of memory");
    }
    status = read_tail(recovery, &reader);
    if (!status) {
        images_sort(&recovery->images);
        store->end = segments_place(&store->segments, reader.at);
        recovery->group = reader.group;
        status = recovery->made ? STATUS_OK : judge_rest(recovery, &reader);
    }
    reader_release(&reader);
    return status;
}

// ---------------------------------------------------------------------------------------------
// The base

static enum status visit(struct recovery *recovery, struct store_key key, struct slice bytes)
{
    return recovery->visitor->visit(recovery->visitor->context, key, bytes, recovery->error);
}

// Passes on the journal's images up to a key, or all of them. Returns whether that key is among
// them.
static enum status visit_images(struct recovery *recovery, const struct store_key *key,
                                bool *replaced)
{
    *replaced = false;
    while (recovery->next_image < recovery->images.count) {
        const struct image *image = &recovery->images.items[recovery->next_image];
        int order = key ? key_compare(&image->key, key) : -1;
        if (order > 0) {
            break;
        }
        recovery->next_image++;
        *replaced = order == 0;
        enum status status =
            image->bytes.size ? visit(recovery, image->key, image->bytes) : STATUS_OK;
        if (status || *replaced) {
            return status;
        }
    }
    return STATUS_OK;
}

static enum status receive_entry(void *context, struct slice key, struct slice value)
{
    struct recovery *recovery = context;
    struct slice bytes;
    enum status status = check_entry(recovery, key, value, &bytes);
    if (status || recovery->count++ == 0) {
        return status; // the first entry is the store's own record
    }
    recovery->sum += bytes_load_u32(value.data);
    struct store_key at = key_read(key.data);
    bool replaced;
    status = visit_images(recovery, &at, &replaced);
    return status || replaced ? status : visit(recovery, at, bytes);
}

static enum status check_sums(const struct recovery *recovery)
{
    const struct base_record *record = &recovery->store->record;
    uint64_t count = recovery->count - 1; // the record does not count itself
    if (count != record->count || recovery->sum != record->sum) {
        return error_set(recovery->error, STATUS_CORRUPT,
                         "base/data.mdb holds %llu entries and should hold %llu%s",
                         (unsigned long long)count, (unsigned long long)record->count,
                         count == record->count ? ", but others" : "");
    }
    return STATUS_OK;
}

static enum status read_base(struct recovery *recovery, int fd)
{
    struct scan_result result;
    const struct scan_sink sink = { .receive = receive_entry, .context = recovery };
    enum status status = scan_file(fd, recovery->store->allocator, &sink, &result, recovery->error);
    if (!status) {
        status = check_sums(recovery);
    }
    bool replaced;
    return status ? status : visit_images(recovery, NULL, &replaced);
}

// ---------------------------------------------------------------------------------------------
// After the base was read

// Checks for a file that was created but not counted, because of a crash.
static enum status check_uncounted(const struct recovery *recovery)
{
    const struct store *store = recovery->store;
    return create_check_unused(store->folder, store->record.segments, recovery->error);
}

static enum status cut_file(struct recovery *recovery, struct reader *reader, uint32_t number)
{
    static const char zeros[SECTOR_SIZE];
    struct segments *segments = &recovery->store->segments;
    struct segment *segment = &segments->items[number];
    char name[SEGMENT_NAME_SIZE];
    segment_name(name, number);
    enum status status = STATUS_OK;
    for (uint32_t at = behind_end(recovery, segment); !status && at < segments->sectors; at++) {
        const char *sector;
        struct sector_stamp stamp;
        status = reader_sector(reader, number, at, &sector, recovery->error);
        if (!status && sector_read(sector, segments->seed, &stamp) == SECTOR_VALID &&
            stamp.group >= recovery->group) {
            status = file_write(segment->fd, name, zeros, SECTOR_SIZE, (uint64_t)at * SECTOR_SIZE,
                                recovery->error);
        }
    }
    if (!status && segment->generation > recovery->store->end.generation) {
        char head[SECTOR_SIZE];
        segment_head(segments, number, 0, head);
        status = file_write(segment->fd, name, head, sizeof(head), 0, recovery->error);
        segment->generation = 0;
    }
    return status ? status : segments_sync(segments, number, recovery->error);
}

// Overwrites what a crash has left after the end of the journal, so that it cannot be mistaken for
// later writes.
static enum status cut_tail(struct recovery *recovery)
{
    struct store *store = recovery->store;
    struct segments *segments = &store->segments;
    bool has_later = false;
    for (uint32_t i = 0; i < segments->count; i++) {
        has_later |= segments->items[i].generation > store->end.generation;
    }
    if (recovery->left_over == 0 && !has_later) {
        return STATUS_OK;
    }
    store_log(store, STORE_WARNING,
              "the journal ends with group %llu; %llu sectors of what came after it were not "
              "acknowledged and are cut",
              (unsigned long long)recovery->group - 1, (unsigned long long)recovery->left_over);
    struct reader reader;
    if (reader_init(&reader, segments, store->end, recovery->group)) {
        return error_set(recovery->error, STATUS_NO_MEMORY, "out of memory");
    }
    enum status status = STATUS_OK;
    for (uint32_t i = 0; !status && i < segments->count; i++) {
        uint64_t generation = segments->items[i].generation;
        if (generation < store->record.next.generation || generation >= store->end.generation) {
            status = cut_file(recovery, &reader, i);
        }
    }
    reader_release(&reader);
    return status;
}

static void take_over(struct recovery *recovery)
{
    struct store *store = recovery->store;
    for (uint32_t i = 0; i < store->segments.count; i++) {
        struct segment *segment = &store->segments.items[i];
        segment->free = segment->generation < store->record.next.generation;
    }
    store->durable = store->synced = recovery->group - 1;
    store->synced_generation = store->end.generation;
    store->gathering = recovery->group;
    store->behind_size = recovery->images.bytes;
    store_check(store);
}

static enum status open_base(const struct recovery *recovery, int *fd)
{
    enum status status =
        file_open(recovery->store->folder, "base/data.mdb", O_RDONLY, fd, recovery->error);
    return status == STATUS_NOT_FOUND
               ? error_set(recovery->error, STATUS_CORRUPT, "base/data.mdb is missing")
               : status;
}

static enum status read_all(struct recovery *recovery)
{
    int fd;
    enum status status = open_base(recovery, &fd);
    if (status) {
        return status;
    }
    status = read_record(recovery, fd);
    status = status ? status : read_journal(recovery);
    status = status ? status : read_base(recovery, fd);
    close(fd);
    return status ? status : check_uncounted(recovery);
}

enum status recover(struct store *store, const struct store_visitor *visitor, struct error *error)
{
    struct recovery recovery = { .store = store, .visitor = visitor, .error = error };
    enum status status = create_if_missing(store, &recovery.made, error);
    if (status) {
        return status;
    }
    images_init(&recovery.images, store->allocator);
    status = read_all(&recovery);
    if (!status) {
        status = cut_tail(&recovery);
    }
    if (!status) {
        take_over(&recovery);
    }
    images_release(&recovery.images);
    return status;
}

enum status recover_look(struct store *store, const struct store_visitor *visitor,
                         uint64_t *left_over, struct error *error)
{
    struct recovery recovery = {
        .store = store, .visitor = visitor, .error = error, .read_only = true
    };
    images_init(&recovery.images, store->allocator);
    enum status status = read_all(&recovery);
    *left_over = recovery.left_over;
    images_release(&recovery.images);
    return status;
}
