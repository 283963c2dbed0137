// SPDX-License-Identifier: MIT
// The log: one line on standard error for each fact that an operator should know (log_line.h):
//
//     log_line(LOG_LEVEL_INFO, "listening", LOG_STRING("address", text));
//     log_line(LOG_LEVEL_INFO, "stopped", LOG_NO_PAIRS);
//
// Under systemd (JOURNAL_STREAM) a line begins with the level as sd-daemon(3) defines it, and has
// no time. Callers never pass secrets.
//
// No caller waits for standard error, which may be a full pipe, a stopped terminal or a slow disk:
//
//      log_line: any thread          the writer's thread
//      format --> rate of its kind --> gathered --(swap)--> writing --> write(2)
//                      |                  |                               |
//                      v suppressed       v dropped: no room              v dropped: refused
//
// The number of suppressed and dropped lines of a kind is logged as soon as possible, and is shown
// by INFO and /metrics. Before log_start and after log_stop the caller itself writes the lines.
#ifndef SLUICE_SERVER_LOG_LOG_H
#define SLUICE_SERVER_LOG_LOG_H

#include "base/status.h"
#include "server/log/log_kinds.h"
#include "server/log/log_line.h"

// `what` is the kind of the line: a short phrase that is a constant of the program, never text from
// outside. At least one pair follows. May be called from any thread.
#define log_line(level_, what_, ...)                                                               \
    log_write((level_), (what_), (const struct log_pair[]){ __VA_ARGS__ },                         \
              sizeof((const struct log_pair[]){ __VA_ARGS__ }) / sizeof(struct log_pair))

// The kind that is never suppressed: entries of the audit log.
#define LOG_UNLIMITED "audit"

void log_write(enum log_level level, const char *what, const struct log_pair *pairs, size_t count);

// Lines below the level are not written. May be called from any thread.
void log_set_level(enum log_level level);

// Whether lines of that level are written, for callers whose lines cost something to make. From any
// thread.
bool log_has_level(enum log_level level);

// Sets the rate above which lines of a kind are suppressed. Before the first call there is no
// limit, so all lines of the start are written. May be called from any thread.
void log_set_rate(struct log_rate rate);

enum {
    LOG_BUFFER_MIN = 4096, // room for any line
};

// Starts the writer, which keeps up to `size` bytes of unwritten lines. If the process crashes, the
// crash waits a short time until these are written.
MUST_USE enum status log_start(size_t size, struct error *error);

// Waits until all lines are written, at most for a short time.
void log_flush(void);

// Does the same, and stops the writer. If the writer does not stop in time, further lines are
// dropped.
void log_stop(void);

// A kind that has lost lines since the start.
struct log_loss {
    const char *what;
    uint64_t suppressed, dropped;
};

struct log_figures {
    uint64_t written, suppressed, dropped;
    size_t loss_count;
    struct log_loss losses[LOG_KINDS_MAX];
};
void log_figures(struct log_figures *figures);

#endif
