// SPDX-License-Identifier: MIT
// The kinds of log lines, each with its rate and with the number of its lines that were left out.
// A kind is the phrase that a line begins with. Knows neither clocks nor threads.
//
// There is room for `burst` lines at once, and for `rate` more each second; what comes faster is
// suppressed. The number of suppressed lines is shown by the next line of the kind, or by the log
// itself when none has come for a second.
#ifndef SLUICE_SERVER_LOG_LOG_KINDS_H
#define SLUICE_SERVER_LOG_LOG_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LOG_KINDS_MAX = 256, // the last one stands for all further ones
    LOG_SUMMARY_US = 1000000,
};

struct log_rate {
    uint64_t rate; // lines a second of a kind; 0: no limit
    uint64_t burst;
};

struct log_kind {
    const char *what;      // a constant of the program
    int64_t full_us;       // when there is room for a whole burst again; monotonic
    int64_t suppressed_us; // when the first of `suppressed` was; monotonic
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

// Whether a line may be written now; if not it is counted as suppressed.
bool log_kind_admit(struct log_kind *kind, const struct log_rate *rate, int64_t now_us);

// A line that was admitted is lost since it cannot be written.
void log_kind_drop(struct log_kind *kind);

// When the log itself has to show what was suppressed; INT64_MAX for never.
int64_t log_kind_due_us(const struct log_kind *kind);

#endif
