// SPDX-License-Identifier: MIT
// The kinds of log lines, each with its rate and the number of its lines that were lost. A kind is
// the phrase that a line begins with. This file uses neither clocks nor threads.
//
// A kind may log `burst` lines at once, and `rate` more each second; further lines are suppressed.
// The next line of the kind shows the number of suppressed lines, or the log itself does if none
// comes within a second.
#ifndef SLUICE_SERVER_LOG_LOG_KINDS_H
#define SLUICE_SERVER_LOG_LOG_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LOG_KINDS_MAX = 256, // the last one is for all further kinds
    LOG_SUMMARY_US = 1000000,
};

struct log_rate {
    uint64_t rate; // lines a second of a kind; 0: no limit
    uint64_t burst;
};

struct log_kind {
    const char *what;      // a constant of the program
    int64_t full_us;       // monotonic time at which a whole burst is available again
    int64_t suppressed_us; // monotonic time of the first suppressed line that was not shown yet
    // Not shown yet.
    uint64_t suppressed, dropped;
    // Since the start.
    uint64_t suppressed_total, dropped_total;
};

struct log_kinds {
    struct log_kind items[LOG_KINDS_MAX];
    size_t count;
};

// Never fails.
struct log_kind *log_kinds_find(struct log_kinds *kinds, const char *what);

// Whether a line may be written now. If not, it is counted as suppressed.
bool log_kind_admit(struct log_kind *kind, const struct log_rate *rate, int64_t now_us);

// Counts a line that was admitted but cannot be written.
void log_kind_drop(struct log_kind *kind);

// When the log itself has to show the number of suppressed lines; INT64_MAX for never.
int64_t log_kind_due_us(const struct log_kind *kind);

#endif
