// SPDX-License-Identifier: MIT
// What one page of LMDB's file says, and whether it can be true. Pages are read as the bytes that
// LMDB wrote: in the order and the word size of the machine, so this is for little-endian machines
// of 64 bits.
//
// A page starts with a header of 16 bytes: its own number [8], unused [2], flags [2], and then the
// bounds of its free space, lower [2] and upper [2], or, for an overflow page, how many pages the
// run has [4]. A branch or a leaf goes on with the offsets [2] of its nodes, in order of their
// keys, up to `lower`. The nodes fill the page from `upper` to the end without a gap, in any order:
//
//      size of the data, or low 32 bits of the child's page number  [4]
//      flags, or the next 16 bits of it                             [2]
//      size of the key                                              [2]
//      the key, then the data or the number of an overflow page; a zero byte if that is odd
#ifndef SLUICE_STORE_LMDB_SCAN_PAGE_H
#define SLUICE_STORE_LMDB_SCAN_PAGE_H

#include "base/bytes.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PAGE_SIZE_MIN = 4096,
    PAGE_SIZE_MAX = 32768,
    PAGE_HEADER_SIZE = 16,
    PAGE_META_SIZE = 152, // of a meta page: what is read of it
    PAGE_META_COUNT = 2,  // pages 0 and 1
    PAGE_KEY_SIZE_MAX = 511,
    PAGE_DEPTH_MAX = 32,
    PAGE_NODE_HEADER_SIZE = 8,
};

enum page_kind {
    PAGE_BRANCH = 0x01,
    PAGE_LEAF = 0x02,
    PAGE_OVERFLOW = 0x04,
    PAGE_META = 0x08,
};

#define PAGE_NONE UINT64_MAX // the root of an empty tree

struct page_tree {
    uint32_t pad;
    uint16_t flags;
    uint16_t depth;
    uint64_t branch_pages, leaf_pages, overflow_pages;
    uint64_t entries;
    uint64_t root;
};

struct page_meta {
    uint32_t page_size;
    uint64_t map_size;
    struct page_tree free, main;
    uint64_t last_page;
    uint64_t transaction;
};

// `bytes` are the first PAGE_META_SIZE of page `number`. Checks all that can be told from this page
// alone.
MUST_USE enum status page_meta_read(const char *bytes, uint64_t number, struct page_meta *out,
                                    struct error *error);

// The same without a check: what the bytes say, whether it can be true or not.
struct page_meta page_meta_load(const char *bytes);

// A branch or a leaf.
struct scan_page {
    const char *bytes; // borrowed
    uint64_t number;
    enum page_kind kind;
    unsigned count; // of nodes
};

// Makes `out` of the bytes of page `number`, if they are a page of that kind with at least one node
// and the nodes are in their places; then the functions below stay inside the page.
MUST_USE enum status page_read(const char *bytes, uint32_t page_size, uint64_t number,
                               enum page_kind kind, struct scan_page *out, struct error *error);

// Checks the header of an overflow page, of a run that has to have at least `count_min` pages, and
// says how many it has.
MUST_USE enum status page_run_read(const char *bytes, uint64_t number, uint64_t count_min,
                                   uint64_t *count, struct error *error);

static inline const char *page_node(const struct scan_page *page, unsigned index)
{
    return page->bytes + bytes_load_u16(page->bytes + PAGE_HEADER_SIZE + 2 * (size_t)index);
}

static inline struct slice page_node_key(const char *node)
{
    return slice_make(node + PAGE_NODE_HEADER_SIZE, bytes_load_u16(node + 6));
}

static inline uint64_t page_node_child(const char *node)
{
    return bytes_load_u32(node) | (uint64_t)bytes_load_u16(node + 4) << 32;
}

static inline uint32_t page_node_data_size(const char *node)
{
    return bytes_load_u32(node);
}

// Whether the data stands in a run of overflow pages, and its number stands in the node.
static inline bool page_node_is_big(const char *node)
{
    return bytes_load_u16(node + 4) != 0;
}

static inline const char *page_node_data(const char *node)
{
    return node + PAGE_NODE_HEADER_SIZE + bytes_load_u16(node + 6);
}

#endif
