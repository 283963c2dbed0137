// SPDX-License-Identifier: MIT
// What an operator should know, one line each on standard error: when, how grave, what, and then
// what it is about as name=value pairs:
//
//     2026-11-16T10:00:00.123Z info listening address=127.0.0.1:7711
//
// Under systemd (JOURNAL_STREAM) the line begins with the level as sd-daemon(3) has it, without the
// time. Values are quoted when they need to be. No secret is ever handed to it.
#ifndef SLUICE_SERVER_LOG_H
#define SLUICE_SERVER_LOG_H

enum log_level {
    LOG_LEVEL_DEBUG,
    LOG_LEVEL_INFO,
    LOG_LEVEL_WARNING,
    LOG_LEVEL_ERROR,
};

// Lines below the level are left out. From any thread.
void log_set_level(enum log_level level);

// `what` is a short phrase; `format`, which may be NULL, makes the pairs: "address=%s". From any
// thread.
void log_line(enum log_level level, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
