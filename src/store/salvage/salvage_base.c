// SPDX-License-Identifier: MIT
// Every value of the base has a checksum, and the store's own record contains the number of entries
// and the sum of their checksums. So entries may be found in any way, and afterwards it can be
// checked whether they are the right ones:
//
//      walk the tree from a meta page, skipping invalid pages           for both meta pages
//      then read all pages that were not reached and are not free
//
// In a page, entries are searched at every position where one can begin, since the offsets of
// entries may be damaged.
#include "base/buffer.h"
#include "base/bytes.h"
#include "os/file.h"
#include "store/key.h"
#include "store/lmdb/scan_page.h"
#include "store/salvage/salvage_parts.h"

#include <fcntl.h>
#include <unistd.h>

enum {
    NODE_SIZE_MIN = PAGE_NODE_HEADER_SIZE + KEY_SIZE,
    NODE_BIG = 1,
    ID_SIZE = 8,        // of a page in the free list
    SENTENCES_MAX = 20, // messages about pages per walk
    SHARE_PAGES = 1024, // progress is reported after so many pages
};

#define SHARE_BASE 0.4 // of the whole work

static const char name[] = "base/data.mdb";

struct reading {
    const struct allocator *allocator;
    struct reporter *reporter;
    int fd;
    uint32_t page_size;
    uint64_t size, pages;                    // of the file
    struct page_meta metas[PAGE_META_COUNT]; // their contents, valid or not
    bool metas_follow;        // both are valid, and one is of the transaction after the other's
    uint64_t *visited, *free; // one bit for each page
    size_t bits_size;
    char *levels; // a page for each level of a tree
    size_t levels_size;
    struct buffer value; // a value in overflow pages
    uint64_t seen;       // pages read by all walks
    unsigned said;
    bool quiet; // another walk has reported the findings
    enum status status;
    struct error *error;
};

static bool bit_is_set(const uint64_t *bits, uint64_t index)
{
    return bits[index / 64] >> (index % 64) & 1;
}

static void bit_set(uint64_t *bits, uint64_t index)
{
    bits[index / 64] |= UINT64_C(1) << (index % 64);
}

static void find_fault(struct reading *reading, const char *sentence)
{
    if (!reading->quiet && reading->said++ < SENTENCES_MAX) {
        reporter_report(reading->reporter, true, "%s", sentence);
    }
}

static void fail(struct reading *reading, enum status status)
{
    reading->status = reading->status ? reading->status : status;
}

// ---------------------------------------------------------------------------------------------
// Entries

// Copies the value of an entry that is in overflow pages.
static bool read_run(struct reading *reading, uint64_t page, uint32_t size, struct slice *out)
{
    if (page < PAGE_META_COUNT || page >= reading->pages ||
        size > reading->size - page * reading->page_size) {
        return false;
    }
    buffer_clear(&reading->value);
    char *bytes = buffer_reserve(&reading->value, size);
    if (!bytes) {
        fail(reading, STATUS_NO_MEMORY);
        return false;
    }
    if (file_read(reading->fd, name, bytes, size, page * reading->page_size + PAGE_HEADER_SIZE,
                  NULL)) {
        return false;
    }
    *out = slice_make(bytes, size);
    return true;
}

// Returns the key and the value of a possible entry at that position. `*big`: the first overflow
// page of its value.
static bool read_node(struct reading *reading, const char *bytes, uint32_t at, struct slice *key,
                      struct slice *value, uint64_t *big)
{
    const char *node = bytes + at;
    uint32_t size = page_node_data_size(node), room = reading->page_size - at - NODE_SIZE_MIN;
    uint16_t flags = bytes_load_u16(node + 4);
    *key = page_node_key(node);
    *big = 0;
    if (size < BASE_CHECKSUM_SIZE) {
        return false;
    }
    if (flags == NODE_BIG && room >= sizeof(uint64_t)) {
        *big = bytes_load_u64(page_node_data(node));
        return read_run(reading, *big, size, value);
    }
    *value = slice_make(page_node_data(node), size);
    return flags == 0 && size <= room;
}

static enum status take_own(struct reading *reading, struct snapshot *snapshot, struct slice bytes)
{
    struct base_record record;
    enum status status = base_record_read(bytes, &record, reading->error);
    if (!status && (!snapshot->has_record || record.covered > snapshot->record.covered)) {
        snapshot->has_record = true;
        snapshot->record = record;
    }
    return status == STATUS_UNSUPPORTED ? status : STATUS_OK;
}

static enum status take_entry(struct reading *reading, struct snapshot *snapshot, struct slice key,
                              struct slice value)
{
    static const char zeros[KEY_SIZE];
    struct slice bytes =
        slice_make(value.data + BASE_CHECKSUM_SIZE, value.size - BASE_CHECKSUM_SIZE);
    if (memcmp(key.data, zeros, KEY_SIZE) == 0) {
        return take_own(reading, snapshot, bytes);
    }
    struct store_key at = key_read(key.data);
    const struct image *there = images_find(&snapshot->images, &at);
    if (there) {
        snapshot->undecided += !slice_equal(there->bytes, bytes);
        return STATUS_OK;
    }
    snapshot->count++;
    snapshot->sum += bytes_load_u32(value.data);
    return images_put(&snapshot->images, at, bytes);
}

// Whether the offsets at the beginning of a page contain that position.
static bool is_named(const char *bytes, uint32_t page_size, uint32_t at)
{
    uint32_t lower = bytes_load_u16(bytes + 12);
    lower = lower < page_size ? lower : page_size;
    for (uint32_t i = PAGE_HEADER_SIZE; i + 2 <= lower; i += 2) {
        if (bytes_load_u16(bytes + i) == at) {
            return true;
        }
    }
    return false;
}

// Takes all entries of a possible leaf. Everything after the page's free space is in use. Entries
// inside the free space are old ones, unless the offsets contain their position.
static uint64_t take_entries(struct reading *reading, struct snapshot *snapshot, const char *bytes)
{
    uint64_t taken = 0;
    uint32_t upper = bytes_load_u16(bytes + 14);
    for (uint32_t at = PAGE_HEADER_SIZE; at + NODE_SIZE_MIN <= reading->page_size; at += 2) {
        struct slice key, value;
        uint64_t big;
        if (bytes_load_u16(bytes + at + 6) != KEY_SIZE ||
            (at < upper && !is_named(bytes, reading->page_size, at)) ||
            !read_node(reading, bytes, at, &key, &value, &big) ||
            base_checksum(key, slice_sub(value, BASE_CHECKSUM_SIZE, value.size)) !=
                bytes_load_u32(value.data)) {
            continue;
        }
        for (uint64_t i = 0; big && i <= (value.size + PAGE_HEADER_SIZE - 1) / reading->page_size;
             i++) {
            bit_set(reading->visited, big + i);
        }
        fail(reading, take_entry(reading, snapshot, key, value));
        taken++;
    }
    return taken;
}

// ---------------------------------------------------------------------------------------------
// Trees

static bool read_page(struct reading *reading, uint64_t number, char *bytes)
{
    uint64_t page_size = reading->page_size;
    struct error error = { 0 };
    if (++reading->seen % SHARE_PAGES == 0) {
        reporter_share(reading->reporter,
                       SHARE_BASE * (double)reading->seen / (double)(4 * reading->pages + 1));
    }
    if (file_read(reading->fd, name, bytes, page_size, number * page_size, &error)) {
        find_fault(reading, error_sentence(&error));
        return false;
    }
    return true;
}

static void take_leaf(struct reading *reading, struct snapshot *snapshot, const char *bytes,
                      uint64_t number)
{
    struct scan_page leaf;
    struct error error = { 0 };
    uint64_t taken = take_entries(reading, snapshot, bytes);
    if (page_read(bytes, reading->page_size, number, PAGE_LEAF, &leaf, &error)) {
        find_fault(reading, error_sentence(&error));
    } else if (taken < leaf.count) {
        char sentence[ERROR_DETAIL_SIZE];
        (void)snprintf(sentence, sizeof(sentence),
                       "%llu entries of page %llu of data.mdb are damaged: their checksums differ",
                       (unsigned long long)(leaf.count - taken), (unsigned long long)number);
        find_fault(reading, sentence);
    }
}

// With `but_free`, pages in the free list are not part of the tree.
static void walk(struct reading *reading, struct snapshot *snapshot, uint64_t number,
                 unsigned depth, bool but_free)
{
    if (reading->status || depth >= PAGE_DEPTH_MAX || number < PAGE_META_COUNT ||
        number >= reading->pages || bit_is_set(reading->visited, number) ||
        (but_free && bit_is_set(reading->free, number))) {
        return;
    }
    char *bytes = reading->levels + (size_t)depth * reading->page_size;
    struct scan_page branch;
    bit_set(reading->visited, number);
    if (!read_page(reading, number, bytes)) {
        return;
    }
    if (page_read(bytes, reading->page_size, number, PAGE_BRANCH, &branch, NULL)) {
        take_leaf(reading, snapshot, bytes, number);
        return;
    }
    for (unsigned i = 0; i < branch.count; i++) {
        walk(reading, snapshot, page_node_child(page_node(&branch, i)), depth + 1, but_free);
    }
}

// An entry of the free list: the number of pages, then the pages.
static void note_free(struct reading *reading, struct slice list)
{
    uint64_t room = list.size / ID_SIZE;
    uint64_t count = room ? bytes_load_u64(list.data) : 0;
    for (uint64_t i = 1; i <= count && i < room; i++) {
        uint64_t page = bytes_load_u64(list.data + i * ID_SIZE);
        if (page >= PAGE_META_COUNT && page < reading->pages) {
            bit_set(reading->free, page);
        }
    }
}

// Marks the pages of the free list itself as visited.
static void walk_free(struct reading *reading, uint64_t number, unsigned depth)
{
    if (reading->status || depth >= PAGE_DEPTH_MAX || number < PAGE_META_COUNT ||
        number >= reading->pages || bit_is_set(reading->visited, number)) {
        return;
    }
    char *bytes = reading->levels + (size_t)depth * reading->page_size;
    struct scan_page page;
    bit_set(reading->visited, number);
    if (!read_page(reading, number, bytes)) {
        return;
    }
    if (!page_read(bytes, reading->page_size, number, PAGE_BRANCH, &page, NULL)) {
        for (unsigned i = 0; i < page.count; i++) {
            walk_free(reading, page_node_child(page_node(&page, i)), depth + 1);
        }
        return;
    }
    struct error error = { 0 };
    if (page_read(bytes, reading->page_size, number, PAGE_LEAF, &page, &error)) {
        find_fault(reading, error_sentence(&error));
        return;
    }
    for (unsigned i = 0; i < page.count; i++) {
        const char *node = page_node(&page, i);
        struct slice list = slice_make(page_node_data(node), page_node_data_size(node));
        bool big = page_node_is_big(node);
        uint64_t run = big ? bytes_load_u64(page_node_data(node)) : 0;
        if (page_node_key(node).size == ID_SIZE &&
            (!big || read_run(reading, run, page_node_data_size(node), &list))) {
            note_free(reading, list);
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Snapshots

static void snapshot_clear(struct snapshot *snapshot, const struct allocator *allocator)
{
    images_release(&snapshot->images);
    *snapshot = (struct snapshot){ 0 };
    images_init(&snapshot->images, allocator);
}

static void judge(struct snapshot *snapshot)
{
    snapshot->whole = snapshot->has_record && snapshot->count == snapshot->record.count &&
                      snapshot->sum == snapshot->record.sum && !snapshot->undecided;
}

static void start_walks(struct reading *reading, const struct page_meta *meta)
{
    memset(reading->visited, 0, reading->bits_size);
    memset(reading->free, 0, reading->bits_size);
    walk_free(reading, meta->free.root, 0);
}

// If a page is free and in the tree, one of the two is wrong.
static void read_snapshot(struct reading *reading, const struct page_meta *meta,
                          struct snapshot *out)
{
    for (int but_free = 0; but_free < 2 && !out->whole && !reading->status; but_free++) {
        snapshot_clear(out, reading->allocator);
        start_walks(reading, meta);
        walk(reading, out, meta->main.root, 0, but_free);
        judge(out);
        reading->quiet = true;
    }
}

// Reads the pages that no other page refers to.
static void read_rest(struct reading *reading, const struct page_meta *meta, struct snapshot *out)
{
    bool knows_end = meta->last_page && meta->last_page < reading->pages;
    uint64_t end = knows_end ? meta->last_page + 1 : reading->pages;
    for (uint64_t i = PAGE_META_COUNT; i < end && !reading->status; i++) {
        if (!bit_is_set(reading->visited, i) && !bit_is_set(reading->free, i) &&
            read_page(reading, i, reading->levels)) {
            take_entries(reading, out, reading->levels);
        }
    }
    judge(out);
}

static bool is_newer(const struct snapshot *a, const struct snapshot *b)
{
    return a->has_record && b->has_record && a->record.covered > b->record.covered;
}

static void read_snapshots(struct reading *reading, struct salvage_base *out)
{
    const struct page_meta *newest = &reading->metas[0], *before = &reading->metas[1];
    if (before->transaction > newest->transaction) {
        newest = &reading->metas[1];
        before = &reading->metas[0];
    }
    reading->quiet = false;
    read_snapshot(reading, newest, &out->newest);
    if (out->newest.whole && reading->metas_follow) {
        return;
    }
    reading->quiet = reading->metas_follow;
    read_snapshot(reading, before, &out->before);
    if (is_newer(&out->before, &out->newest) ||
        (out->before.has_record && !out->newest.has_record && !out->before.whole)) {
        struct snapshot snapshot = out->newest;
        out->newest = out->before;
        out->before = snapshot;
        newest = before;
    }
    if (out->newest.whole || (out->before.whole && !out->newest.has_record)) {
        return;
    }
    reading->quiet = true;
    snapshot_clear(&out->newest, reading->allocator);
    start_walks(reading, newest);
    walk(reading, &out->newest, newest->main.root, 0, true);
    read_rest(reading, newest, &out->newest);
}

// ---------------------------------------------------------------------------------------------
// The file

static bool is_page_size(uint32_t size)
{
    return size >= PAGE_SIZE_MIN && size <= PAGE_SIZE_MAX && (size & (size - 1)) == 0;
}

static bool read_meta(struct reading *reading, unsigned number, uint64_t offset, bool say)
{
    char bytes[PAGE_META_SIZE] = { 0 };
    struct error error = { 0 };
    struct page_meta meta;
    enum status status = file_read(reading->fd, name, bytes, sizeof(bytes), offset, &error);
    status = status ? status : page_meta_read(bytes, number, &meta, &error);
    reading->metas[number] = page_meta_load(bytes);
    if (status && say) {
        find_fault(reading, error_sentence(&error));
    }
    return !status;
}

// Both meta pages contain the page size, which is also the position of the second one.
static void find_page_size(struct reading *reading)
{
    reading->page_size = PAGE_SIZE_MIN;
    if (read_meta(reading, 0, 0, false) && is_page_size(reading->metas[0].page_size)) {
        reading->page_size = reading->metas[0].page_size;
        return;
    }
    for (uint32_t size = PAGE_SIZE_MIN; size <= PAGE_SIZE_MAX; size *= 2) {
        if (read_meta(reading, 1, size, false) && reading->metas[1].page_size == size) {
            reading->page_size = size;
            return;
        }
    }
}

static void read_metas(struct reading *reading)
{
    find_page_size(reading);
    bool first = read_meta(reading, 0, 0, true);
    bool second = read_meta(reading, 1, reading->page_size, true);
    uint64_t a = reading->metas[0].transaction, b = reading->metas[1].transaction;
    reading->metas_follow = first && second && (a > b ? a - b : b - a) <= 1;
    reading->pages = reading->size / reading->page_size;
}

static enum status allocate(struct reading *reading)
{
    // An overflow run that begins in the file may end after it.
    reading->bits_size = (size_t)(reading->pages / 64 + 2) * sizeof(uint64_t);
    reading->levels_size = (size_t)PAGE_DEPTH_MAX * reading->page_size;
    reading->visited = mem_zalloc(reading->allocator, reading->bits_size);
    reading->free = mem_zalloc(reading->allocator, reading->bits_size);
    reading->levels = mem_alloc(reading->allocator, reading->levels_size);
    return reading->visited && reading->free && reading->levels ? STATUS_OK : STATUS_NO_MEMORY;
}

static void release(struct reading *reading)
{
    const struct allocator *allocator = reading->allocator;
    mem_free(allocator, reading->visited, reading->visited ? reading->bits_size : 0);
    mem_free(allocator, reading->free, reading->free ? reading->bits_size : 0);
    mem_free(allocator, reading->levels, reading->levels ? reading->levels_size : 0);
    buffer_release(&reading->value);
}

static enum status read_file(struct reading *reading, struct salvage_base *out)
{
    enum status status = file_size(reading->fd, name, &reading->size, reading->error);
    if (status) {
        return status;
    }
    read_metas(reading);
    fail(reading, allocate(reading));
    if (!reading->status) {
        read_snapshots(reading, out);
    }
    release(reading);
    if (reading->said > SENTENCES_MAX) {
        reporter_report(reading->reporter, true,
                        "%u more findings about base/data.mdb are not named",
                        reading->said - SENTENCES_MAX);
    }
    return reading->status == STATUS_NO_MEMORY
               ? error_set(reading->error, STATUS_NO_MEMORY, "out of memory")
               : reading->status;
}

enum status salvage_base_read(int folder, const struct allocator *allocator,
                              struct reporter *reporter, struct salvage_base *out,
                              struct error *error)
{
    struct reading reading = { .allocator = allocator, .reporter = reporter, .error = error };
    struct error missing = { 0 };
    *out = (struct salvage_base){ 0 };
    images_init(&out->newest.images, allocator);
    images_init(&out->before.images, allocator);
    buffer_init(&reading.value, allocator, UINT32_MAX);
    enum status status = file_open(folder, name, O_RDONLY, &reading.fd, &missing);
    if (status) {
        reporter_report(reporter, true, "%s",
                        status == STATUS_NOT_FOUND ? "base/data.mdb is missing"
                                                   : error_sentence(&missing));
    } else {
        status = read_file(&reading, out);
        close(reading.fd);
        if (status) {
            return status;
        }
    }
    reporter_share(reporter, SHARE_BASE);
    return status == STATUS_DENIED ? error_copy(error, &missing) : STATUS_OK;
}

void salvage_base_release(struct salvage_base *base)
{
    images_release(&base->newest.images);
    images_release(&base->before.images);
}
