// SPDX-License-Identifier: MIT
// Decodes and checks one page of LMDB's file. LMDB writes pages in the byte order and the word size
// of the machine, so this code is for little-endian 64-bit machines.
//
// A page starts with a header of 16 bytes: its own number [8], unused [2], flags [2], and then the
// bounds of its free space, lower [2] and upper [2], or, for an overflow page, the number of pages
// of the run [4]. In a branch or a leaf the offsets [2] of its nodes follow, in the order of their
// keys, up to `lower`. The nodes fill the page from `upper` to the end without gaps, in any order:
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
    PAGE_META_SIZE = 152, // of a meta page: the part that is read
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

// `bytes` are the first PAGE_META_SIZE bytes of page `number`. Does all checks that need only this
// page.
MUST_USE enum status page_meta_read(const char *bytes, uint64_t number, struct page_meta *out,
                                    struct error *error);

// The same without checks: the contents, valid or not.
struct page_meta page_meta_load(const char *bytes);

// A branch or a leaf.
struct scan_page {
    const char *bytes; // borrowed
    uint64_t number;
    enum page_kind kind;
    unsigned count; // of nodes
};

// Sets `out` from the bytes of page `number`, if they are a page of that kind with at least one
// node and valid positions. Then the functions below stay inside the page.
MUST_USE enum status page_read(const char *bytes, uint32_t page_size, uint64_t number,
                               enum page_kind kind, struct scan_page *out, struct error *error);

// Checks the header of an overflow page whose run must have at least `count_min` pages, and returns
// the number of pages.
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

// Whether the data is in a run of overflow pages; then the node contains the number of the first
// one.
static inline bool page_node_is_big(const char *node)
{
    return bytes_load_u16(node + 4) != 0;
}

static inline const char *page_node_data(const char *node)
{
    return node + PAGE_NODE_HEADER_SIZE + bytes_load_u16(node + 6);
}

#endif
