// SPDX-License-Identifier: MIT
// Decodes RESP replies on the client's side. A reply is an item, which may be followed by other
// items that belong to it. A scan finds the end of a reply in a single pass over bytes that arrive
// in pieces; then its items can be read one after the other.
#ifndef SLUICE_WIRE_RESP_ITEM_H
#define SLUICE_WIRE_RESP_ITEM_H

#include "base/slice.h"
#include "base/status.h"
#include "wire/resp_request.h"

#include <stddef.h>
#include <stdint.h>

enum resp_kind {
    RESP_NULL,
    RESP_TEXT,
    RESP_ERROR, // its text is a word in capitals and a message
    RESP_INTEGER,
    RESP_NUMBER, // as text
    RESP_BOOLEAN,
    RESP_LIST, // arrays and sets
    RESP_MAP,
    RESP_PUSH, // a list that is a message and not a reply
};

struct resp_item {
    enum resp_kind kind;
    struct slice text;
    int64_t integer; // also of a BOOLEAN
    size_t count;    // number of items that follow and belong to it; for a MAP two for each pair
};

enum {
    RESP_ITEM_TEXT_MAX = 512 << 20,
    RESP_ITEM_COUNT_MAX = 1 << 28,
};

// Reads the item at the front of `input`. READY: it has `*size` bytes, and its text is borrowed
// from them. MORE: it is incomplete. BROKEN: it is not RESP.
enum resp_result resp_item_read(struct slice input, struct resp_item *out, size_t *size,
                                struct error *error);

struct resp_scan {
    size_t position; // bytes of the reply that were scanned; when READY its size
    size_t items;    // number of items
    uint64_t left;   // number of items that must follow
};

void resp_scan_begin(struct resp_scan *scan);

// Continues with a reply that begins at the front of `input`, which may have grown.
enum resp_result resp_scan_read(struct resp_scan *scan, struct slice input, struct error *error);

#endif
