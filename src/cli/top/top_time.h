// SPDX-License-Identifier: MIT
// Times and large numbers in little room.
#ifndef SLUICE_CLI_TOP_TOP_TIME_H
#define SLUICE_CLI_TOP_TOP_TIME_H

#include <stddef.h>
#include <stdint.h>

enum {
    BRIEF_SIZE = 32,
};

struct brief {
    char text[BRIEF_SIZE];
};

// "12s", "4m12s", "3h04m", "5d03h", "400d": at most six columns.
struct brief brief_length(double seconds);
// The time of the day in UTC: "12:34:56".
struct brief brief_clock(double when);
// As it is where that fits into the columns, otherwise as "12.3k", "4M"; of at least 4 columns.
struct brief brief_count(int64_t count, int width);
// A rate in at most five columns: "0", "0.25", "12.5", "1250", "12.5k".
struct brief brief_rate(double rate);

#endif
