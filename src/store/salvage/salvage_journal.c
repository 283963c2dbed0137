// SPDX-License-Identifier: MIT
// Each sector contains its group and its index in the group, so groups are found without the
// headers of the segments, and without knowing the order in which the files were used.
//
// Images of records are complete. So when a group is lost, later groups are still useful: they
// contain the final state of their records. The engine decides whether that state is consistent
// with what was lost.
#include "base/bytes.h"
#include "os/file.h"
#include "store/journal/frame.h"
#include "store/journal/sector.h"
#include "store/salvage/salvage_parts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    FILES_MAX = 4096,
    WINDOW_SECTORS = 256,
    SENTENCES_MAX = 20, // messages about groups
};

#define SHARE_JOURNAL_FROM 0.4 // of the whole work
#define SHARE_JOURNAL_TO   0.6

// A valid sector.
struct part {
    uint64_t group;
    uint32_t index;
    uint32_t file, sector;
    bool last;
};

struct file {
    int fd;
    uint32_t number;
    uint32_t sectors; // complete ones
};

struct salvage_journal {
    const struct allocator *allocator;
    struct reporter *reporter;
    struct segments segments; // the properties with which headers are compared
    bool has_segments;
    struct file *files;
    uint32_t file_count, file_capacity;
    struct part *parts; // sorted by group and index
    size_t count, capacity;
    bool hurt; // some sectors could not be read
    char window[WINDOW_SECTORS * SECTOR_SIZE];
};

// The sectors of a group.
struct parts {
    const struct part *items;
    size_t count;
    bool whole;
};

// ---------------------------------------------------------------------------------------------
// Files

static enum status add_file(struct salvage_journal *journal, struct file file)
{
    if (journal->file_count == journal->file_capacity) {
        uint32_t capacity = 2 * journal->file_capacity + 8;
        void *files = mem_resize(journal->allocator, journal->files,
                                 journal->file_capacity * sizeof(file), capacity * sizeof(file));
        if (!files) {
            return STATUS_NO_MEMORY;
        }
        journal->files = files;
        journal->file_capacity = capacity;
    }
    journal->files[journal->file_count++] = file;
    return STATUS_OK;
}

static enum status open_file(struct salvage_journal *journal, int folder, uint32_t number,
                             const struct base_record *record)
{
    char file_name[SEGMENT_NAME_SIZE];
    struct error error = { 0 };
    struct file file = { .number = number };
    segment_name(file_name, number);
    enum status status = file_open(folder, file_name, O_RDONLY, &file.fd, &error);
    if (status) {
        bool counted = record && number < record->segments;
        if (counted || status != STATUS_NOT_FOUND) {
            reporter_report(journal->reporter, true, "%s%s",
                            status == STATUS_NOT_FOUND ? file_name : error_sentence(&error),
                            status == STATUS_NOT_FOUND ? " is missing" : "");
            journal->hurt = true;
        }
        return STATUS_OK;
    }
    uint64_t size = 0;
    status = file_size(file.fd, file_name, &size, &error);
    if (record && !status && size != record->segment_size) {
        reporter_report(journal->reporter, true, "%s has %llu bytes and should have %llu",
                        file_name, (unsigned long long)size,
                        (unsigned long long)record->segment_size);
        journal->hurt |= size < record->segment_size;
    }
    uint64_t sectors = size / SECTOR_SIZE;
    file.sectors = sectors < UINT32_MAX ? (uint32_t)sectors : UINT32_MAX;
    status = add_file(journal, file);
    if (status) {
        close(file.fd);
    }
    return status;
}

// The store id that most headers contain.
static bool find_id(const struct salvage_journal *journal, char id[STORE_ID_SIZE])
{
    unsigned votes_most = 0;
    for (uint32_t i = 0; i < journal->file_count; i++) {
        char mine[STORE_ID_SIZE], other[STORE_ID_SIZE];
        unsigned votes = 0;
        if (!segment_read_id(journal->files[i].fd, mine)) {
            continue;
        }
        for (uint32_t k = 0; k < journal->file_count; k++) {
            votes += segment_read_id(journal->files[k].fd, other) &&
                     memcmp(mine, other, STORE_ID_SIZE) == 0;
        }
        if (votes > votes_most) {
            votes_most = votes;
            memcpy(id, mine, STORE_ID_SIZE);
        }
    }
    return votes_most > 0;
}

// ---------------------------------------------------------------------------------------------
// Sectors

static enum status add_part(struct salvage_journal *journal, struct part part)
{
    if (journal->count == journal->capacity) {
        size_t capacity = 2 * journal->capacity + 1024;
        void *parts = mem_resize(journal->allocator, journal->parts,
                                 journal->capacity * sizeof(part), capacity * sizeof(part));
        if (!parts) {
            return STATUS_NO_MEMORY;
        }
        journal->parts = parts;
        journal->capacity = capacity;
    }
    journal->parts[journal->count++] = part;
    return STATUS_OK;
}

// Fills the window from a sector on, with zeros for unreadable sectors. Returns the number of
// sectors.
static uint32_t fill_window(struct salvage_journal *journal, const struct file *file,
                            uint32_t first, uint64_t *unreadable)
{
    uint32_t left = file->sectors - first;
    uint32_t count = left < WINDOW_SECTORS ? left : WINDOW_SECTORS;
    uint64_t offset = (uint64_t)first * SECTOR_SIZE;
    if (!file_read(file->fd, "journal", journal->window, (size_t)count * SECTOR_SIZE, offset,
                   NULL)) {
        return count;
    }
    for (uint32_t i = 0; i < count; i++) {
        char *sector = journal->window + (size_t)i * SECTOR_SIZE;
        if (file_read(file->fd, "journal", sector, SECTOR_SIZE, offset + (uint64_t)i * SECTOR_SIZE,
                      NULL)) {
            memset(sector, 0, SECTOR_SIZE);
            ++*unreadable;
        }
    }
    return count;
}

static enum status read_file(struct salvage_journal *journal, uint32_t index)
{
    const struct file *file = &journal->files[index];
    uint64_t damaged = 0, unreadable = 0, first_damaged = 0;
    enum status status = STATUS_OK;
    for (uint32_t at = 1; at < file->sectors && !status;) {
        uint32_t count = fill_window(journal, file, at, &unreadable);
        for (uint32_t i = 0; i < count && !status; i++, at++) {
            struct sector_stamp stamp;
            enum sector_verdict verdict = sector_read(journal->window + (size_t)i * SECTOR_SIZE,
                                                      journal->segments.seed, &stamp);
            if (verdict == SECTOR_VALID) {
                status = add_part(journal,
                                  (struct part){ stamp.group, stamp.index, index, at, stamp.last });
            } else if (verdict == SECTOR_DAMAGED) {
                first_damaged = damaged++ ? first_damaged : (uint64_t)at * SECTOR_SIZE;
            }
        }
    }
    if (damaged) {
        reporter_report(journal->reporter, true,
                        "%llu sectors of journal-%03u are damaged, the first at byte %llu",
                        (unsigned long long)damaged, file->number,
                        (unsigned long long)first_damaged);
    }
    if (unreadable) {
        reporter_report(journal->reporter, true, "%llu sectors of journal-%03u cannot be read",
                        (unsigned long long)unreadable, file->number);
    }
    journal->hurt |= damaged || unreadable;
    return status;
}

static int compare_parts(const void *a, const void *b)
{
    const struct part *left = a, *right = b;
    int order = (left->group > right->group) - (left->group < right->group);
    return order ? order : (left->index > right->index) - (left->index < right->index);
}

// A file with the header of another store contains nothing of this one. Other damage to a header
// does not affect the sectors after it.
static enum status check_head(struct salvage_journal *journal, const struct file *file,
                              bool *foreign, struct error *error)
{
    uint64_t generation;
    char id[STORE_ID_SIZE];
    enum status status =
        segment_read_head(&journal->segments, file->number, file->fd, &generation, error);
    *foreign =
        segment_read_id(file->fd, id) && memcmp(id, journal->segments.id, STORE_ID_SIZE) != 0;
    if (status && status != STATUS_UNSUPPORTED) {
        reporter_report(journal->reporter, true, "%s", error_sentence(error));
    }
    journal->hurt |= *foreign;
    return status == STATUS_UNSUPPORTED ? status : STATUS_OK;
}

static enum status read_files(struct salvage_journal *journal, struct error *error)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < journal->file_count && !status; i++) {
        bool foreign;
        status = check_head(journal, &journal->files[i], &foreign, error);
        if (!status && !foreign && read_file(journal, i)) {
            status = error_set(error, STATUS_NO_MEMORY, "out of memory");
        }
        reporter_share(journal->reporter,
                       SHARE_JOURNAL_FROM +
                           (SHARE_JOURNAL_TO - SHARE_JOURNAL_FROM) * (i + 1) / journal->file_count);
    }
    if (journal->count) {
        qsort(journal->parts, journal->count, sizeof(*journal->parts), compare_parts);
    }
    return status;
}

static enum status open_all(struct salvage_journal *journal, int folder,
                            const struct base_record *record, struct error *error)
{
    char id[STORE_ID_SIZE] = { 0 };
    for (uint32_t i = 0; i < FILES_MAX; i++) {
        if (open_file(journal, folder, i, record)) {
            return error_set(error, STATUS_NO_MEMORY, "out of memory");
        }
    }
    if (record) {
        memcpy(id, record->id, STORE_ID_SIZE);
    } else if (!find_id(journal, id)) {
        reporter_report(journal->reporter, true, "there is no journal whose header can be read");
        journal->hurt = true;
        return STATUS_OK;
    }
    if (segments_init(&journal->segments, journal->allocator, folder, id, SEGMENT_SIZE_MIN)) {
        return error_set(error, STATUS_NO_MEMORY, "out of memory");
    }
    journal->has_segments = true;
    return read_files(journal, error);
}

enum status salvage_journal_open(int folder, const struct allocator *allocator,
                                 struct reporter *reporter, const struct base_record *record,
                                 struct salvage_journal **out, struct error *error)
{
    struct salvage_journal *journal = mem_zalloc(allocator, sizeof(*journal));
    if (!journal) {
        return error_set(error, STATUS_NO_MEMORY, "out of memory");
    }
    journal->allocator = allocator;
    journal->reporter = reporter;
    *out = journal;
    return open_all(journal, folder, record, error);
}

void salvage_journal_close(struct salvage_journal *journal)
{
    if (!journal) {
        return;
    }
    for (uint32_t i = 0; i < journal->file_count; i++) {
        close(journal->files[i].fd);
    }
    if (journal->has_segments) {
        segments_release(&journal->segments);
    }
    mem_free(journal->allocator, journal->files, journal->file_capacity * sizeof(*journal->files));
    mem_free(journal->allocator, journal->parts, journal->capacity * sizeof(*journal->parts));
    mem_free(journal->allocator, journal, sizeof(*journal));
}

// ---------------------------------------------------------------------------------------------
// Groups

// The first sector of that group or a later one.
static size_t first_part(const struct salvage_journal *journal, uint64_t group)
{
    size_t low = 0, high = journal->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool below = journal->parts[middle].group < group;
        low = below ? middle + 1 : low;
        high = below ? high : middle;
    }
    return low;
}

static struct parts parts_of(const struct salvage_journal *journal, uint64_t group)
{
    size_t first = first_part(journal, group), end = first_part(journal, group + 1);
    struct parts parts = { journal->parts + first, end - first, false };
    uint32_t expected = 0;
    for (size_t i = 0; i < parts.count && !parts.whole; i++) {
        const struct part *part = &parts.items[i];
        if (part->index == expected) {
            expected++;
            parts.whole = part->last;
        } else if (part->index > expected) {
            break;
        }
    }
    return parts;
}

bool salvage_journal_has(const struct salvage_journal *journal, uint64_t first, uint64_t last)
{
    bool has = true;
    for (uint64_t group = first; group <= last && has; group++) {
        has = parts_of(journal, group).whole;
    }
    return has;
}

uint64_t salvage_journal_last(const struct salvage_journal *journal)
{
    return journal->count ? journal->parts[journal->count - 1].group : 0;
}

static bool read_part(const struct salvage_journal *journal, const struct part *part,
                      char sector[SECTOR_SIZE])
{
    return !file_read(journal->files[part->file].fd, "journal", sector, SECTOR_SIZE,
                      (uint64_t)part->sector * SECTOR_SIZE, NULL);
}

// Copies the bytes of a group up to the first missing sector.
static enum status read_parts(const struct salvage_journal *journal, struct parts parts,
                              struct buffer *out)
{
    uint32_t expected = 0;
    buffer_clear(out);
    for (size_t i = 0; i < parts.count && parts.items[i].index <= expected; i++) {
        char sector[SECTOR_SIZE];
        if (parts.items[i].index < expected) {
            continue; // the same file was found twice
        }
        if (!read_part(journal, &parts.items[i], sector)) {
            break;
        }
        buffer_append(out, slice_make(sector + SECTOR_HEAD_SIZE, SECTOR_ROOM));
        expected++;
    }
    return out->status;
}

// The records that are complete.
static struct slice whole_records(struct slice bytes)
{
    if (bytes.size < FRAME_HEAD_SIZE) {
        return SLICE_EMPTY;
    }
    struct slice all = slice_sub(bytes, FRAME_HEAD_SIZE, frame_head(bytes.data).size), left = all;
    struct store_record record;
    enum status status;
    while (frame_next(&left, &record, &status)) {
    }
    return slice_sub(all, 0, all.size - left.size);
}

// Whether a later group proves that this group was on disk.
static bool was_on_disk(const struct salvage_journal *journal, uint64_t group)
{
    for (size_t i = first_part(journal, group + 1); i < journal->count; i++) {
        char sector[SECTOR_SIZE];
        const struct part *part = &journal->parts[i];
        if (part->index == 0 && read_part(journal, part, sector) &&
            frame_head(sector + SECTOR_HEAD_SIZE).synced >= group) {
            return true;
        }
    }
    return false;
}

// State for applying groups and reporting incomplete ones.
struct applying {
    const struct salvage_journal *journal;
    struct images *images;
    struct buffer bytes;
    unsigned said;
    bool lossy;
};

static enum status apply_group(struct applying *applying, struct parts parts)
{
    enum status status = read_parts(applying->journal, parts, &applying->bytes);
    return status ? status
                  : images_add(applying->images, whole_records(buffer_slice(&applying->bytes)));
}

static void write_lost(struct applying *applying, uint64_t first, uint64_t last)
{
    applying->lossy = true;
    if (applying->said++ < SENTENCES_MAX) {
        reporter_report(
            applying->journal->reporter, true,
            "groups %llu to %llu of the journal, which may have been acknowledged, are lost",
            (unsigned long long)first, (unsigned long long)last);
    }
}

static void write_damaged(struct applying *applying, struct parts parts)
{
    applying->lossy = true;
    if (applying->said++ < SENTENCES_MAX) {
        bool is_last =
            parts.items + parts.count == applying->journal->parts + applying->journal->count;
        reporter_report(
            applying->journal->reporter, true,
            "%sgroup %llu of the journal, which may have been acknowledged, is damaged; "
            "the first %zu of its bytes can be read",
            is_last ? "the last group, " : "", (unsigned long long)parts.items->group,
            applying->bytes.size);
    }
}

// Applies all groups from `group` on, skipping missing ones.
static enum status apply_rest(struct applying *applying, uint64_t group)
{
    const struct salvage_journal *journal = applying->journal;
    enum status status = STATUS_OK;
    for (size_t at; (at = first_part(journal, group)) < journal->count && !status;) {
        uint64_t next = journal->parts[at].group;
        if (next > group) {
            write_lost(applying, group, next - 1);
        }
        struct parts parts = parts_of(journal, next);
        status = apply_group(applying, parts);
        if (!status && !parts.whole) {
            write_damaged(applying, parts);
        }
        group = next + 1;
    }
    return status;
}

// The end of the journal. What follows the last complete group is treated as torn by a power loss,
// unless a later group proves that it was on disk.
static enum status end_at(struct applying *applying, uint64_t group)
{
    const struct salvage_journal *journal = applying->journal;
    size_t left = journal->count - first_part(journal, group);
    if (journal->hurt || was_on_disk(journal, group)) {
        enum status status = apply_rest(applying, group);
        if (!status && journal->hurt) {
            applying->lossy = true;
            reporter_report(journal->reporter, true,
                            "the journal ends with group %llu; the one after it may have been "
                            "acknowledged and be lost",
                            (unsigned long long)(left ? salvage_journal_last(journal) : group - 1));
        }
        return status;
    }
    if (left) {
        reporter_report(
            journal->reporter, false,
            "the journal ends with group %llu; %zu sectors of what came after it were not "
            "acknowledged and are left out",
            (unsigned long long)group - 1, left);
    }
    return STATUS_OK;
}

// The first of the consecutive complete groups that end with `last`; last + 1 if `last` is
// incomplete.
static uint64_t first_of_run(const struct salvage_journal *journal, uint64_t last)
{
    uint64_t group = last + 1;
    while (group > 1 && parts_of(journal, group - 1).whole) {
        group--;
    }
    return group;
}

// The last complete group.
static uint64_t last_whole(const struct salvage_journal *journal)
{
    uint64_t last = 0;
    for (size_t i = journal->count; i > 0 && last == 0;) {
        uint64_t group = journal->parts[i - 1].group;
        last = parts_of(journal, group).whole ? group : 0;
        i = first_part(journal, group);
    }
    return last;
}

// Adds records of earlier groups that are found nowhere else.
static enum status fill_in(struct applying *applying, uint64_t end)
{
    struct images *images = applying->images, earlier;
    struct applying filling = *applying;
    images_init(&earlier, images->allocator);
    filling.images = &earlier;
    enum status status = STATUS_OK;
    const struct salvage_journal *journal = applying->journal;
    for (size_t at = 0; at < first_part(journal, end) && !status;) {
        uint64_t group = journal->parts[at].group;
        struct parts parts = parts_of(journal, group);
        status = parts.whole ? apply_group(&filling, parts) : STATUS_OK;
        at = first_part(journal, group + 1);
    }
    for (size_t i = 0; i < earlier.count && !status; i++) {
        const struct image *image = &earlier.items[i];
        if (image->bytes.size && !images_find(images, &image->key)) {
            status = images_put(images, image->key, image->bytes);
        }
    }
    applying->bytes = filling.bytes;
    images_release(&earlier);
    return status;
}

enum status salvage_journal_apply(const struct salvage_journal *journal,
                                  const struct base_record *record, struct images *images,
                                  bool *lossy, struct error *error)
{
    struct applying applying = { .journal = journal, .images = images };
    buffer_init(&applying.bytes, journal->allocator, UINT32_MAX);
    uint64_t group = first_of_run(journal, record ? record->covered : last_whole(journal));
    enum status status = record ? STATUS_OK : fill_in(&applying, group);
    for (struct parts parts; !status && (parts = parts_of(journal, group)).whole; group++) {
        status = apply_group(&applying, parts);
    }
    status = status ? status : end_at(&applying, group);
    buffer_release(&applying.bytes);
    *lossy |= applying.lossy;
    return status
               ? error_set(error, status, "cannot apply the journal: %s", status_sentence(status))
               : STATUS_OK;
}
