// SPDX-License-Identifier: MIT
#include "store/lmdb/scan_page.h"

#include <inttypes.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && sizeof(size_t) == sizeof(uint64_t),
               "LMDB's file is read only on little-endian machines of 64 bits");

enum {
    VERSION = 1,
    FLAG_INTEGER_KEYS = 0x08, // always set for the free list
    FLAG_NO_FOLDER = 0x4000,  // stored with them: the file was opened by its own name
    NODE_BIG = 0x01,
    NODE_TREE = 0x02,
    NODE_DUPLICATES = 0x04,
};

#define MAGIC        UINT32_C(0xBEEFC0DE)
#define MAP_SIZE_MAX (UINT64_C(1) << 46) // the address space of a process, halved

// Offsets after the page header.
enum {
    META_MAGIC = 0,
    META_VERSION = 4,
    META_ADDRESS = 8,
    META_MAP_SIZE = 16,
    META_FREE = 24,
    META_MAIN = 72,
    META_LAST_PAGE = 120,
    META_TRANSACTION = 128,
};

static enum status check_header(const char *bytes, uint64_t number, enum page_kind kind,
                                struct error *error)
{
    static const char *const names[] = { [PAGE_BRANCH] = "branch",
                                         [PAGE_LEAF] = "leaf",
                                         [PAGE_OVERFLOW] = "overflow",
                                         [PAGE_META] = "meta" };
    if (bytes_load_u64(bytes) != number) {
        return error_set(error, STATUS_CORRUPT,
                         "page %" PRIu64 " of data.mdb says that it is page %" PRIu64, number,
                         bytes_load_u64(bytes));
    }
    if (bytes_load_u16(bytes + 10) != kind) {
        return error_set(error, STATUS_CORRUPT,
                         "page %" PRIu64 " of data.mdb should be a %s page, but its flags are %#x",
                         number, names[kind], (unsigned)bytes_load_u16(bytes + 10));
    }
    return STATUS_OK;
}

static struct page_tree tree_load(const char *bytes)
{
    return (struct page_tree){ .pad = bytes_load_u32(bytes),
                               .flags = bytes_load_u16(bytes + 4),
                               .depth = bytes_load_u16(bytes + 6),
                               .branch_pages = bytes_load_u64(bytes + 8),
                               .leaf_pages = bytes_load_u64(bytes + 16),
                               .overflow_pages = bytes_load_u64(bytes + 24),
                               .entries = bytes_load_u64(bytes + 32),
                               .root = bytes_load_u64(bytes + 40) };
}

// Checks that need only the meta page; the pages of a tree are counted when it is walked.
static bool tree_is_sane(const struct page_tree *tree)
{
    if (tree->root == PAGE_NONE) {
        return tree->depth == 0 && tree->branch_pages == 0 && tree->leaf_pages == 0 &&
               tree->overflow_pages == 0 && tree->entries == 0;
    }
    return tree->depth >= 1 && tree->depth <= PAGE_DEPTH_MAX && tree->leaf_pages >= 1 &&
           tree->entries >= tree->leaf_pages && tree->branch_pages >= tree->depth - 1U;
}

struct page_meta page_meta_load(const char *bytes)
{
    const char *meta = bytes + PAGE_HEADER_SIZE;
    return (struct page_meta){ .page_size = bytes_load_u32(meta + META_FREE),
                               .map_size = bytes_load_u64(meta + META_MAP_SIZE),
                               .free = tree_load(meta + META_FREE),
                               .main = tree_load(meta + META_MAIN),
                               .last_page = bytes_load_u64(meta + META_LAST_PAGE),
                               .transaction = bytes_load_u64(meta + META_TRANSACTION) };
}

enum status page_meta_read(const char *bytes, uint64_t number, struct page_meta *out,
                           struct error *error)
{
    enum status status = check_header(bytes, number, PAGE_META, error);
    if (status) {
        return status;
    }
    const char *meta = bytes + PAGE_HEADER_SIZE;
    const char *wrong = NULL;
    *out = page_meta_load(bytes);
    uint32_t page_size = out->page_size;
    if (bytes_load_u32(meta + META_MAGIC) != MAGIC) {
        wrong = "does not begin as LMDB's meta pages do";
    } else if (bytes_load_u32(meta + META_VERSION) != VERSION) {
        wrong = "is of another version of LMDB's format";
    } else if (page_size < PAGE_SIZE_MIN || page_size > PAGE_SIZE_MAX ||
               (page_size & (page_size - 1))) {
        wrong = "names a page size that cannot be";
    } else if ((out->free.flags & ~FLAG_NO_FOLDER) != FLAG_INTEGER_KEYS || out->main.flags ||
               out->main.pad || bytes_load_u64(meta + META_ADDRESS)) {
        wrong = "names flags that this database does not have";
    } else if (!tree_is_sane(&out->free) || !tree_is_sane(&out->main)) {
        wrong = "has counts that contradict each other";
    } else if (out->map_size > MAP_SIZE_MAX || out->last_page < PAGE_META_COUNT - 1 ||
               out->last_page >= out->map_size / page_size) {
        wrong = "names a size of the file that cannot be";
    } else if (out->transaction && out->transaction % PAGE_META_COUNT != number) {
        wrong = "names a transaction that does not belong there";
    }
    return wrong
               ? error_set(error, STATUS_CORRUPT, "page %" PRIu64 " of data.mdb %s", number, wrong)
               : STATUS_OK;
}

// The distance from a node to the next one.
static uint64_t node_size(const char *node, enum page_kind kind)
{
    uint64_t size = PAGE_NODE_HEADER_SIZE + (uint64_t)bytes_load_u16(node + 6);
    if (kind == PAGE_LEAF) {
        size += page_node_is_big(node) ? sizeof(uint64_t) : page_node_data_size(node);
    }
    return size + size % 2;
}

static enum status check_leaf_flags(const struct scan_page *page, struct error *error)
{
    for (unsigned i = 0; i < page->count; i++) {
        unsigned flags = bytes_load_u16(page_node(page, i) + 4);
        if (flags & ~(unsigned)NODE_BIG) {
            return error_set(
                error, STATUS_CORRUPT, "node %u of page %" PRIu64 " of data.mdb has flags %#x%s", i,
                page->number, flags,
                flags & (NODE_TREE | NODE_DUPLICATES) ? ", of a kind of database that this is not"
                                                      : "");
        }
    }
    return STATUS_OK;
}

// Marks the positions that the offsets contain, then walks from node to node. If the walk meets the
// same number of nodes, each at a marked position, and the last one ends at the end of the page,
// then all nodes are inside the page and none overlap.
static bool nodes_are_in_place(const struct scan_page *page, unsigned upper, uint32_t page_size)
{
    uint64_t starts[PAGE_SIZE_MAX / 2 / 64];
    memset(starts, 0, page_size / 16);
    for (unsigned i = 0; i < page->count; i++) {
        unsigned offset = bytes_load_u16(page->bytes + PAGE_HEADER_SIZE + 2 * (size_t)i);
        if (offset % 2 || offset < upper || offset > page_size - PAGE_NODE_HEADER_SIZE) {
            return false;
        }
        starts[offset / 128] |= UINT64_C(1) << (offset / 2 % 64);
    }
    uint64_t at = upper;
    for (unsigned i = 0; i < page->count; i++) {
        if (at >= page_size || !(starts[at / 128] >> (at / 2 % 64) & 1)) {
            return false;
        }
        at += node_size(page->bytes + at, page->kind);
    }
    return at == page_size;
}

enum status page_read(const char *bytes, uint32_t page_size, uint64_t number, enum page_kind kind,
                      struct scan_page *out, struct error *error)
{
    enum status status = check_header(bytes, number, kind, error);
    if (status) {
        return status;
    }
    unsigned lower = bytes_load_u16(bytes + 12);
    unsigned upper = bytes_load_u16(bytes + 14);
    // LMDB itself cannot handle a branch with one child.
    unsigned count_min = kind == PAGE_BRANCH ? 2 : 1;
    if (lower < PAGE_HEADER_SIZE + 2 * count_min || lower % 2 || upper < lower || upper % 2 ||
        upper > page_size) {
        return error_set(error, STATUS_CORRUPT,
                         "page %" PRIu64 " of data.mdb says that its free space is from %u to %u",
                         number, lower, upper);
    }
    *out = (struct scan_page){ bytes, number, kind, (lower - PAGE_HEADER_SIZE) / 2 };
    if (!nodes_are_in_place(out, upper, page_size)) {
        return error_set(error, STATUS_CORRUPT,
                         "the nodes of page %" PRIu64 " of data.mdb are not in their places",
                         number);
    }
    return kind == PAGE_LEAF ? check_leaf_flags(out, error) : STATUS_OK;
}

enum status page_run_read(const char *bytes, uint64_t number, uint64_t count_min, uint64_t *count,
                          struct error *error)
{
    enum status status = check_header(bytes, number, PAGE_OVERFLOW, error);
    if (status) {
        return status;
    }
    // The run may be longer than necessary: a value that is overwritten in the same transaction by
    // a shorter one keeps its pages.
    *count = bytes_load_u32(bytes + 12);
    if (*count < count_min) {
        return error_set(error, STATUS_CORRUPT,
                         "page %" PRIu64 " of data.mdb begins a value of %" PRIu64
                         " pages, but says that it has %" PRIu64,
                         number, count_min, *count);
    }
    return STATUS_OK;
}
