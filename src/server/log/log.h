// SPDX-License-Identifier: MIT
// What an operator should know, one line each on standard error (log_line.h):
//
//     log_line(LOG_LEVEL_INFO, "listening", LOG_STRING("address", text));
//     log_line(LOG_LEVEL_INFO, "stopped", LOG_NO_PAIRS);
//
// Under systemd (JOURNAL_STREAM) the line begins with the level as sd-daemon(3) has it, without the
// time. No secret is ever handed to it.
//
// No caller waits for standard error, which may be a full pipe, a stopped terminal or a slow disk:
//
//      log_line: any thread          the writer's thread
//      format --> rate of its kind --> gathered --(swap)--> writing --> write(2)
//                      |                  |                               |
//                      v suppressed       v dropped: no room              v dropped: refused
//
// How many lines of a kind were suppressed or dropped is logged as soon as that is possible, and
// counted for INFO and /metrics. Until log_start, and after log_stop, lines are written by the
// caller itself.
#ifndef SLUICE_SERVER_LOG_LOG_H
#define SLUICE_SERVER_LOG_LOG_H

#include "base/status.h"
#include "server/log/log_kinds.h"
#include "server/log/log_line.h"

// `what` is the line's kind: a short phrase that is a constant of the program, never text from
// outside. Then at least one pair. From any thread.
#define log_line(level_, what_, ...)                                                               \
    log_write((level_), (what_), (const struct log_pair[]){ __VA_ARGS__ },                         \
              sizeof((const struct log_pair[]){ __VA_ARGS__ }) / sizeof(struct log_pair))

// The kind whose lines are never suppressed: what administrators did.
#define LOG_UNLIMITED "audit"

void log_write(enum log_level level, const char *what, const struct log_pair *pairs, size_t count);

// Lines below the level are left out. From any thread.
void log_set_level(enum log_level level);

// Lines of a kind that come faster are suppressed. Until it is called there is no limit, so that
// all lines about the start are written. From any thread.
void log_set_rate(struct log_rate rate);

enum {
    LOG_BUFFER_MIN = 4096, // room for any line
};

// Starts the writer, which keeps up to `size` bytes that are not written yet. When the process
// crashes, what is left is written first, for which the crash waits a short time.
MUST_USE enum status log_start(size_t size, struct error *error);

// Waits until all lines are written, at most for a short time.
void log_flush(void);

// The same, and ends the writer. When it is stuck, further lines are dropped.
void log_stop(void);

// One kind of which lines were left out, since the start.
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
