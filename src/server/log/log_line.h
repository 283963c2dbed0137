// SPDX-License-Identifier: MIT
// Formats one line of the log: time, level, phrase, and name=value pairs.
//
//     2026-11-16T10:00:00.123Z info listening address=127.0.0.1:7711
//     2026-11-16T10:00:01.456Z warning namespaces says="two words, \"quoted\"\n"
//
// Values come from clients, files and other machines. Every value is escaped here, so that no value
// can end the line, start another pair, or send an escape sequence to a terminal. A value is quoted
// if it is empty, if it contains anything other than printable ASCII and valid UTF-8, or if it
// contains a space, '"', '\' or '='. In quotes '"' and '\' are escaped with '\'; line breaks and
// tabs are \n, \r and \t; control characters, bytes that are not UTF-8, and the characters of
// Unicode that break or reorder lines are written as \xNN for each byte.
#ifndef SLUICE_SERVER_LOG_LOG_LINE_H
#define SLUICE_SERVER_LOG_LOG_LINE_H

#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum log_level {
    LOG_LEVEL_DEBUG,
    LOG_LEVEL_INFO,
    LOG_LEVEL_WARNING,
    LOG_LEVEL_ERROR,
};

enum {
    LOG_LINE_MAX = 2048, // with its line break; what does not fit is replaced by "..."
    LOG_VALUE_MAX = 600, // a value with its quotes, likewise
};

enum log_pair_type {
    LOG_PAIR_NONE, // ignored
    LOG_PAIR_TEXT,
    LOG_PAIR_NUMBER,
    LOG_PAIR_SECONDS,
};

struct log_pair {
    const char *name; // a constant of the program
    enum log_pair_type type;
    struct slice text; // borrowed
    long long number;
};

// For callers without pairs.
#define LOG_NO_PAIRS ((struct log_pair){ .type = LOG_PAIR_NONE })
// Bytes.
#define LOG_TEXT(name_, slice_)                                                                    \
    ((struct log_pair){ .name = (name_), .type = LOG_PAIR_TEXT, .text = (slice_) })
// A string that ends with a zero byte.
#define LOG_STRING(name_, string_) LOG_TEXT(name_, slice_from_cstr(string_))
// Any whole number.
#define LOG_NUMBER(name_, number_)                                                                 \
    ((struct log_pair){ .name = (name_), .type = LOG_PAIR_NUMBER, .number = (long long)(number_) })
// Microseconds, shown as seconds with one decimal.
#define LOG_SECONDS(name_, us_)                                                                    \
    ((struct log_pair){ .name = (name_), .type = LOG_PAIR_SECONDS, .number = (long long)(us_) })

struct log_head {
    enum log_level level;
    int64_t now_us;      // since 1970
    bool journal;        // "<6>" in place of time and level, as sd-daemon(3) has it
    const char *what;    // a constant of the program
    uint64_t suppressed; // suppressed lines of this kind before it; 0 is not shown
};

// Writes the line with its line break, without a terminating zero; returns its size.
size_t log_line_format(char line[LOG_LINE_MAX], const struct log_head *head,
                       const struct log_pair *pairs, size_t count);

#endif
