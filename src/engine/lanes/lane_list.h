// SPDX-License-Identifier: MIT
// The lanes of a queue, page by page.
#ifndef SLUICE_ENGINE_LANES_LANE_LIST_H
#define SLUICE_ENGINE_LANES_LANE_LIST_H

#include "engine/lanes/limit.h"

struct lane_row {
    struct slice domain; // empty: the default lane
    struct lane_view view;
    int64_t tokens; // runs that its rate allows at once now; 0 without a rate
};

struct lane_page {
    bool has_after;
    struct index_key after; // `last` of the page before
    size_t count;
    struct lane_row *rows; // room for `count`
    // Filled in:
    size_t total, found;
    bool more;
    struct index_key last;
};

// The default lane first, then those that are there, in an order that stays as long as they do. The
// limits are those that were applied to them: new ones reach many lanes with the calls that follow.
MUST_USE enum status engine_lanes(struct engine *engine, int64_t now_us, struct slice queue,
                                  struct lane_page *page, struct error *error);

#endif
