// SPDX-License-Identifier: MIT
// Answers in RESP, as a client reads them: an answer is an item, and some items are followed by
// others that they hold. A scan finds the end of an answer in bytes that come bit by bit, in one
// pass; then its items can be read one after another.
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
    RESP_ERROR, // its text is a word in capitals and a sentence
    RESP_INTEGER,
    RESP_NUMBER, // as text
    RESP_BOOLEAN,
    RESP_LIST, // arrays and sets
    RESP_MAP,
    RESP_PUSH, // a list that is no answer but a message
};

struct resp_item {
    enum resp_kind kind;
    struct slice text;
    int64_t integer; // of a BOOLEAN too
    size_t count;    // how many items follow that belong to it; of a MAP two for each pair
};

enum {
    RESP_ITEM_TEXT_MAX = 512 << 20,
    RESP_ITEM_COUNT_MAX = 1 << 28,
};

// The item at the front of `input`. READY: it took `*size` bytes, and its text is borrowed from
// them. MORE: it is not whole yet. BROKEN: what is there is no RESP.
enum resp_result resp_item_read(struct slice input, struct resp_item *out, size_t *size,
                                struct error *error);

struct resp_scan {
    size_t position; // bytes of the answer that were seen; when READY its size
    size_t items;    // how many
    uint64_t left;   // that must follow
};

void resp_scan_begin(struct resp_scan *scan);

// Goes on with an answer that begins at the front of `input`, of which more may have come.
enum resp_result resp_scan_read(struct resp_scan *scan, struct slice input, struct error *error);

#endif
