// SPDX-License-Identifier: MIT
// What keys do.
#ifndef SLUICE_CLI_TOP_ACT_H
#define SLUICE_CLI_TOP_ACT_H

#include "cli/top/asker.h"
#include "cli/top/screen.h"
#include "cli/top/view.h"

#define TOP_INTERVAL_MIN 0.1
#define TOP_INTERVAL_MAX 3600.0

struct top {
    struct sluice *queue;
    struct asker *asker;
    struct screen screen;
    struct top_view view;
    struct look *look;  // the last good one; NULL: none yet
    double answered;    // when that came, by steady_now
    double noted;       // when the view's note was made, by steady_now
    struct order order; // that waits for a yes
    char trouble[SLUICE_MESSAGE_SIZE];
    int switch_by; // to another namespace, so many further in their list; 0: not
    bool touched;  // something else may be in sight
    bool over;
};

void top_key(struct top *top, int key);

__attribute__((format(printf, 3, 4))) void top_note(struct top *top, bool bad, const char *format,
                                                    ...);

#endif
