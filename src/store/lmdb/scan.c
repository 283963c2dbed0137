// SPDX-License-Identifier: MIT
// LMDB's file consists of two meta pages and, for each of the last two transactions, a snapshot:
// two B+ trees whose leaves are all at the same depth, one of the entries and one of the free
// pages. A transaction writes to free pages and after the last page, and finally overwrites the
// older one of the two meta pages. The format is that of little-endian 64-bit machines
// (scan_page.h).
//
//      scan_file -> read_metas    which snapshot, and whether the other meta page is consistent
//                -> walk_tree     of the free list: receive_free gets each entry
//                -> walk_tree     of the entries: the sink gets each one
//                -> check_pages   each page was reached once
//
// A damaged transaction number can make the older snapshot look like the newer one, and that
// snapshot is valid too. The same happens without damage when the system refuses LMDB the write of
// a meta page. So the caller decides which of the two it is: the journal of a store either
// continues from the older snapshot, or does not reach back that far, and then the store is
// refused.
//
// A hostile file cannot cause unbounded work: a page is claimed before it is read, and only once,
// so the work is limited by the size of the file; a tree is at most as deep as its meta page says,
// and at most 32; and the last page's number is checked against the file's size before memory is
// allocated.
//
// LMDB never writes pages that it has used and freed within one transaction. If these are the last
// pages, the file ends before its last page, which is valid if the pages are in the free list. And
// the file may be longer than its last page says: an interrupted transaction has written there.
#include "store/lmdb/scan.h"

#include "os/file.h"
#include "store/lmdb/scan_page.h"
#include "store/lmdb/scan_window.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

enum {
    WINDOW_SIZE = 256 << 10,
    GAP_PAGES_MAX = 4, // so many unneeded pages are read to reach the pages after them
    ID_SIZE = 8,       // of a transaction or a page in the free list
};

struct scan {
    const struct allocator *allocator;
    const struct scan_sink *sink;
    struct error *error;
    struct window_file file;
    struct window leaves, runs;
    char *branches; // one page for each level above the leaves
    size_t branches_size;
    struct page_meta meta;     // the current one
    struct page_meta previous; // the other one
    uint64_t *used, *free;     // one bit for each page
    size_t bits_size;
    uint64_t used_count, free_count;
};

struct walk {
    struct scan *scan;
    const struct page_tree *tree;
    const char *name;
    bool integer_keys;
    uint64_t entries_max; // the scan ends after so many
    enum status (*receive)(struct scan *scan, struct slice key, struct slice value);
    struct page_tree counted;
    struct slice previous; // the previous key
    char previous_bytes[PAGE_KEY_SIZE_MAX];
};

// The bounds of the keys below a node of a branch: at least `low`, and less than `high`. Empty: no
// bound.
struct bounds {
    struct slice low, high;
};

static bool bit_is_set(const uint64_t *bits, uint64_t index)
{
    return bits[index / 64] >> (index % 64) & 1;
}

static void bit_set(uint64_t *bits, uint64_t index)
{
    bits[index / 64] |= UINT64_C(1) << (index % 64);
}

static void *allocate(struct scan *scan, size_t size)
{
    void *block = mem_zalloc(scan->allocator, size);
    if (!block) {
        (void)error_set(scan->error, STATUS_NO_MEMORY,
                        "there is no memory for %zu bytes to check data.mdb with", size);
    }
    return block;
}

// Claims `count` consecutive pages for a tree.
static enum status claim(struct walk *walk, uint64_t page, uint64_t count)
{
    struct scan *scan = walk->scan;
    uint64_t last = scan->meta.last_page;
    if (page < PAGE_META_COUNT || page > last || count > last - page + 1) {
        return error_set(scan->error, STATUS_CORRUPT,
                         "%s of data.mdb names %" PRIu64 " pages from page %" PRIu64
                         " on, but its last page is %" PRIu64,
                         walk->name, count, page, last);
    }
    if (page >= scan->file.pages || count > scan->file.pages - page) {
        return error_set(scan->error, STATUS_CORRUPT,
                         "page %" PRIu64 " of data.mdb is in use, but the file ends after %" PRIu64
                         " pages",
                         page + count - 1, scan->file.pages);
    }
    for (uint64_t i = page; i < page + count; i++) {
        if (bit_is_set(scan->used, i)) {
            return error_set(scan->error, STATUS_CORRUPT,
                             "page %" PRIu64 " of data.mdb is in use twice", i);
        }
        if (bit_is_set(scan->free, i)) {
            return error_set(scan->error, STATUS_CORRUPT,
                             "page %" PRIu64 " of data.mdb is in use, but listed as free", i);
        }
        bit_set(scan->used, i);
    }
    scan->used_count += count;
    return STATUS_OK;
}

// The children of a branch that are adjacent in the file, from `index` on: returns the end of their
// pages, and the index of the next child.
static uint64_t neighbours_end(const struct scan *scan, const struct scan_page *branch,
                               unsigned index, unsigned *next)
{
    uint64_t first = page_node_child(page_node(branch, index));
    uint64_t limit = first + WINDOW_SIZE / scan->file.page_size;
    limit = limit < scan->file.pages ? limit : scan->file.pages;
    uint64_t end = first + 1;
    for (index++; index < branch->count; index++) {
        uint64_t child = page_node_child(page_node(branch, index));
        if (child < end || child > end + GAP_PAGES_MAX || child >= limit) {
            break;
        }
        end = child + 1;
    }
    *next = index;
    return end;
}

// Asks the operating system to read the leaves ahead, so that the disk does not get one request per
// page.
static void announce_leaves(const struct scan *scan, const struct scan_page *branch)
{
    uint64_t page_size = scan->file.page_size;
    for (unsigned index = 0; index < branch->count;) {
        uint64_t first = page_node_child(page_node(branch, index));
        uint64_t end = neighbours_end(scan, branch, index, &index);
        if (end <= scan->file.pages) {
            (void)posix_fadvise(scan->file.fd, (off_t)(first * page_size),
                                (off_t)((end - first) * page_size), POSIX_FADV_WILLNEED);
        }
    }
}

static bool is_done(const struct walk *walk)
{
    return walk->counted.entries >= walk->entries_max;
}

static int compare_keys(const struct walk *walk, struct slice a, struct slice b)
{
    if (walk->integer_keys) {
        uint64_t left = bytes_load_u64(a.data), right = bytes_load_u64(b.data);
        return (left > right) - (left < right);
    }
    return slice_compare(a, b);
}

static enum status check_key_size(const struct walk *walk, const struct scan_page *page,
                                  struct slice key)
{
    if (walk->integer_keys ? key.size == ID_SIZE : key.size && key.size <= PAGE_KEY_SIZE_MAX) {
        return STATUS_OK;
    }
    return error_set(walk->scan->error, STATUS_CORRUPT,
                     "page %" PRIu64 " of data.mdb has a key of %zu bytes", page->number, key.size);
}

// Returns the value of a node that is in overflow pages.
static enum status read_run(struct walk *walk, const char *node, struct slice *out)
{
    struct scan *scan = walk->scan;
    uint64_t first = bytes_load_u64(page_node_data(node));
    size_t size = page_node_data_size(node);
    uint64_t count_min = (PAGE_HEADER_SIZE + size - 1) / scan->file.page_size + 1;
    uint64_t count = 0;
    const char *bytes = NULL;
    // Values that were written together are usually adjacent.
    bool goes_on = first == scan->runs.first + scan->runs.count;
    enum status status = claim(walk, first, count_min);
    if (!status) {
        status = window_get(&scan->runs, first, count_min,
                            goes_on ? WINDOW_SIZE / scan->file.page_size : 1, &bytes, scan->error);
    }
    if (!status) {
        status = page_run_read(bytes, first, count_min, &count, scan->error);
    }
    if (!status && count > count_min) {
        status = claim(walk, first + count_min, count - count_min);
    }
    if (!status) {
        walk->counted.overflow_pages += count;
        *out = slice_make(bytes + PAGE_HEADER_SIZE, size);
    }
    return status;
}

static enum status receive_entry(struct walk *walk, const struct scan_page *leaf, unsigned index)
{
    const char *node = page_node(leaf, index);
    struct slice key = page_node_key(node);
    enum status status = check_key_size(walk, leaf, key);
    if (status) {
        return status;
    }
    if (walk->counted.entries && compare_keys(walk, walk->previous, key) >= 0) {
        return error_set(walk->scan->error, STATUS_CORRUPT,
                         "key %u of page %" PRIu64 " of data.mdb is not above the one before it",
                         index, leaf->number);
    }
    walk->previous = key;
    walk->counted.entries++;
    struct slice value = slice_make(page_node_data(node), page_node_data_size(node));
    if (page_node_is_big(node)) {
        status = read_run(walk, node, &value);
    }
    return status ? status : walk->receive(walk->scan, key, value);
}

static enum status walk_leaf(struct walk *walk, uint64_t number, const char *bytes,
                             struct bounds bounds)
{
    struct scan *scan = walk->scan;
    struct scan_page leaf;
    enum status status =
        page_read(bytes, scan->file.page_size, number, PAGE_LEAF, &leaf, scan->error);
    if (status) {
        return status;
    }
    walk->counted.leaf_pages++;
    struct slice first = page_node_key(page_node(&leaf, 0));
    struct slice last = page_node_key(page_node(&leaf, leaf.count - 1));
    status = check_key_size(walk, &leaf, first);
    status = status ? status : check_key_size(walk, &leaf, last);
    if (status) {
        return status;
    }
    // The bounds of the direct parent are sufficient: the leaf is not empty and all keys are
    // sorted, so the bounds of higher levels hold too.
    if ((bounds.low.size && compare_keys(walk, first, bounds.low) < 0) ||
        (bounds.high.size && compare_keys(walk, last, bounds.high) >= 0)) {
        return error_set(scan->error, STATUS_CORRUPT,
                         "page %" PRIu64 " of data.mdb has keys that belong to another page",
                         number);
    }
    for (unsigned i = 0; i < leaf.count && !status && !is_done(walk); i++) {
        status = receive_entry(walk, &leaf, i);
    }
    // Copied, because the page is invalid when the window moves.
    memcpy(walk->previous_bytes, last.data, last.size);
    walk->previous = slice_make(walk->previous_bytes, last.size);
    return status;
}

static enum status walk_branch(struct walk *walk, uint64_t number, unsigned depth,
                               struct bounds bounds);

static enum status walk_child(struct walk *walk, const struct scan_page *branch, unsigned index,
                              unsigned depth, struct bounds bounds)
{
    struct scan *scan = walk->scan;
    uint64_t child = page_node_child(page_node(branch, index));
    // LMDB ignores the first key of a branch.
    if (index > 0) {
        bounds.low = page_node_key(page_node(branch, index));
    }
    if (index + 1 < branch->count) {
        bounds.high = page_node_key(page_node(branch, index + 1));
        enum status status = check_key_size(walk, branch, bounds.high);
        if (status) {
            return status;
        }
    }
    if (depth + 2 < walk->tree->depth) {
        return walk_branch(walk, child, depth + 1, bounds);
    }
    enum status status = claim(walk, child, 1);
    if (status) {
        return status;
    }
    const char *bytes;
    uint64_t ahead = 1;
    if (!window_holds(&scan->leaves, child, 1)) {
        unsigned next;
        ahead = neighbours_end(scan, branch, index, &next) - child;
    }
    status = window_get(&scan->leaves, child, 1, ahead, &bytes, scan->error);
    return status ? status : walk_leaf(walk, child, bytes, bounds);
}

static enum status walk_branch(struct walk *walk, uint64_t number, unsigned depth,
                               struct bounds bounds)
{
    struct scan *scan = walk->scan;
    uint32_t page_size = scan->file.page_size;
    char *bytes = scan->branches + (size_t)depth * page_size;
    struct scan_page branch;
    enum status status = claim(walk, number, 1);
    if (!status) {
        status =
            file_read(scan->file.fd, "data.mdb", bytes, page_size, number * page_size, scan->error);
    }
    if (!status) {
        status = page_read(bytes, page_size, number, PAGE_BRANCH, &branch, scan->error);
    }
    if (status) {
        return status;
    }
    walk->counted.branch_pages++;
    if (depth + 2 == walk->tree->depth) {
        announce_leaves(scan, &branch);
    }
    for (unsigned i = 0; i < branch.count && !status && !is_done(walk); i++) {
        status = walk_child(walk, &branch, i, depth, bounds);
    }
    return status;
}

static enum status check_counts(const struct walk *walk)
{
    const struct page_tree *said = walk->tree, *counted = &walk->counted;
    const struct {
        const char *what;
        uint64_t said, counted;
    } counts[] = {
        { "branch pages", said->branch_pages, counted->branch_pages },
        { "leaf pages", said->leaf_pages, counted->leaf_pages },
        { "overflow pages", said->overflow_pages, counted->overflow_pages },
        { "entries", said->entries, counted->entries },
    };
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        if (counts[i].said != counts[i].counted) {
            return error_set(walk->scan->error, STATUS_CORRUPT,
                             "page %u of data.mdb says that %s has %" PRIu64
                             " %s, but it has %" PRIu64,
                             (unsigned)(walk->scan->meta.transaction % PAGE_META_COUNT), walk->name,
                             counts[i].said, counts[i].what, counts[i].counted);
        }
    }
    return STATUS_OK;
}

static enum status walk_tree(struct walk *walk)
{
    struct scan *scan = walk->scan;
    const struct page_tree *tree = walk->tree;
    const struct bounds none = { SLICE_EMPTY, SLICE_EMPTY };
    enum status status = STATUS_OK;
    if (tree->depth > 1) {
        status = walk_branch(walk, tree->root, 0, none);
    } else if (tree->depth == 1) {
        const char *bytes = NULL;
        status = claim(walk, tree->root, 1);
        status = status ? status : window_get(&scan->leaves, tree->root, 1, 1, &bytes, scan->error);
        status = status ? status : walk_leaf(walk, tree->root, bytes, none);
    }
    return status || is_done(walk) ? status : check_counts(walk);
}

// An entry of the free list: a transaction, and the pages that it freed, or that are left of the
// free pages of an earlier one. A list contains its length, its pages in descending order, and
// possibly unused space.
static enum status receive_free(struct scan *scan, struct slice key, struct slice value)
{
    uint64_t transaction = bytes_load_u64(key.data);
    if (transaction < 1 || transaction > scan->meta.transaction) {
        return error_set(scan->error, STATUS_CORRUPT,
                         "the free list of data.mdb has an entry of transaction %" PRIu64
                         ", but the last one was %" PRIu64,
                         transaction, scan->meta.transaction);
    }
    uint64_t room = value.size / ID_SIZE;
    uint64_t count = room ? bytes_load_u64(value.data) : 0;
    if (!room || value.size % ID_SIZE || count > room - 1) {
        return error_set(scan->error, STATUS_CORRUPT,
                         "the free list of data.mdb has an entry, of transaction %" PRIu64
                         ", of %" PRIu64 " pages in %zu bytes",
                         transaction, count, value.size);
    }
    uint64_t previous = scan->meta.last_page + 1;
    for (uint64_t i = 1; i <= count; i++) {
        uint64_t page = bytes_load_u64(value.data + i * ID_SIZE);
        if (page < PAGE_META_COUNT || page >= previous || bit_is_set(scan->free, page) ||
            bit_is_set(scan->used, page)) {
            return error_set(scan->error, STATUS_CORRUPT,
                             "page %" PRIu64 " is in the free list of data.mdb, in the entry of "
                             "transaction %" PRIu64 ", but should not be",
                             page, transaction);
        }
        bit_set(scan->free, page);
        previous = page;
    }
    scan->free_count += count;
    return STATUS_OK;
}

static enum status receive_main(struct scan *scan, struct slice key, struct slice value)
{
    return scan->sink->receive(scan->sink->context, key, value);
}

// As LMDB does: the newer one is current, and if there has not been a transaction, the first.
static enum status choose_meta(struct scan *scan, const struct page_meta metas[])
{
    unsigned newer = metas[1].transaction > metas[0].transaction;
    scan->meta = metas[newer];
    scan->previous = metas[!newer];
    if (scan->meta.page_size != scan->previous.page_size) {
        return error_set(scan->error, STATUS_CORRUPT,
                         "page 0 of data.mdb says that pages have %" PRIu32
                         " bytes, and page 1 that they have %" PRIu32,
                         metas[0].page_size, metas[1].page_size);
    }
    uint64_t apart = scan->meta.transaction - scan->previous.transaction;
    if (apart != (scan->meta.transaction > 0) || scan->meta.last_page < scan->previous.last_page) {
        return error_set(
            scan->error, STATUS_CORRUPT,
            "pages 0 and 1 of data.mdb are of transactions %" PRIu64 " and %" PRIu64
            ", up to pages %" PRIu64 " and %" PRIu64 ", which do not follow one another",
            metas[0].transaction, metas[1].transaction, metas[0].last_page, metas[1].last_page);
    }
    return STATUS_OK;
}

static enum status read_metas(struct scan *scan, int fd)
{
    struct stat stat;
    if (fstat(fd, &stat)) {
        return error_set(scan->error, STATUS_IO, "the size of data.mdb cannot be read");
    }
    uint64_t size = (uint64_t)stat.st_size;
    uint64_t offset = 0;
    struct page_meta metas[PAGE_META_COUNT];
    for (unsigned i = 0; i < PAGE_META_COUNT; i++) {
        char bytes[PAGE_META_SIZE];
        enum status status = file_read(fd, "data.mdb", bytes, sizeof(bytes), offset, scan->error);
        status = status ? status : page_meta_read(bytes, i, &metas[i], scan->error);
        if (status) {
            return status;
        }
        offset += metas[0].page_size;
    }
    enum status status = choose_meta(scan, metas);
    if (status) {
        return status;
    }
    uint32_t page_size = scan->meta.page_size;
    scan->file = (struct window_file){ fd, page_size, size / page_size };
    // Each page is in the file, or its number is in the free list.
    uint64_t pages_max = size / page_size + size / ID_SIZE;
    if (scan->file.pages < PAGE_META_COUNT || scan->meta.last_page >= pages_max) {
        return error_set(scan->error, STATUS_CORRUPT,
                         "the last page of data.mdb is %" PRIu64
                         ", but the file ends after %" PRIu64 " pages",
                         scan->meta.last_page, scan->file.pages);
    }
    return STATUS_OK;
}

static enum status allocate_all(struct scan *scan)
{
    unsigned depth = scan->meta.main.depth > scan->meta.free.depth ? scan->meta.main.depth
                                                                   : scan->meta.free.depth;
    size_t words = (size_t)(scan->meta.last_page / 64 + 1);
    scan->bits_size = words * sizeof(uint64_t);
    scan->used = allocate(scan, scan->bits_size);
    scan->free = scan->used ? allocate(scan, scan->bits_size) : NULL;
    if (scan->free && depth > 1) {
        scan->branches_size = (depth - 1) * (size_t)scan->file.page_size;
        scan->branches = allocate(scan, scan->branches_size);
    }
    return scan->free && (depth <= 1 || scan->branches) ? STATUS_OK : STATUS_NO_MEMORY;
}

static void release_all(struct scan *scan)
{
    mem_free(scan->allocator, scan->branches, scan->branches_size);
    mem_free(scan->allocator, scan->free, scan->bits_size);
    mem_free(scan->allocator, scan->used, scan->bits_size);
    window_release(&scan->runs);
    window_release(&scan->leaves);
}

static enum status check_pages(const struct scan *scan)
{
    uint64_t count = scan->meta.last_page + 1;
    uint64_t met = PAGE_META_COUNT + scan->used_count + scan->free_count;
    if (met == count) {
        return STATUS_OK;
    }
    uint64_t lost = PAGE_META_COUNT;
    while (lost < count - 1 && (bit_is_set(scan->used, lost) || bit_is_set(scan->free, lost))) {
        lost++;
    }
    return error_set(scan->error, STATUS_CORRUPT,
                     "%" PRIu64 " pages of data.mdb are neither in use nor free, the first is page "
                     "%" PRIu64,
                     count - met, lost);
}

static enum status walk_entries(struct scan *scan, uint64_t entries_max)
{
    struct walk entries = { .scan = scan,
                            .tree = &scan->meta.main,
                            .name = "the database",
                            .entries_max = entries_max,
                            .receive = receive_main };
    return walk_tree(&entries);
}

static enum status walk_all(struct scan *scan)
{
    struct walk free_list = { .scan = scan,
                              .tree = &scan->meta.free,
                              .name = "the free list",
                              .integer_keys = true,
                              .entries_max = UINT64_MAX,
                              .receive = receive_free };
    enum status status = walk_tree(&free_list);
    status = status ? status : walk_entries(scan, UINT64_MAX);
    return status ? status : check_pages(scan);
}

static enum status begin(struct scan *scan, int fd)
{
    window_init(&scan->leaves, &scan->file, scan->allocator);
    window_init(&scan->runs, &scan->file, scan->allocator);
    enum status status = read_metas(scan, fd);
    return status ? status : allocate_all(scan);
}

enum status scan_first(int fd, const struct allocator *allocator, const struct scan_sink *sink,
                       struct error *error)
{
    struct scan scan = { .allocator = allocator, .sink = sink, .error = error };
    enum status status = begin(&scan, fd);
    status = status ? status : walk_entries(&scan, 1);
    release_all(&scan);
    return status;
}

enum status scan_file(int fd, const struct allocator *allocator, const struct scan_sink *sink,
                      struct scan_result *out, struct error *error)
{
    struct scan scan = { .allocator = allocator, .sink = sink, .error = error };
    enum status status = begin(&scan, fd);
    status = status ? status : walk_all(&scan);
    if (!status) {
        *out = (struct scan_result){ .transaction = scan.meta.transaction,
                                     .entries = scan.meta.main.entries,
                                     .pages = scan.meta.last_page + 1,
                                     .pages_free = scan.free_count,
                                     .page_size = scan.meta.page_size };
    }
    release_all(&scan);
    return status;
}
