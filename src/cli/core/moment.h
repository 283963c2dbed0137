// SPDX-License-Identifier: MIT
// Moments and lengths of time as people read and write them. Moments are in UTC unless it is said.
#ifndef SLUICE_CLI_CORE_MOMENT_H
#define SLUICE_CLI_CORE_MOMENT_H

#include "cli/core/cli.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    MOMENT_SIZE = 64,
};

double moment_now(void);

// "1784000000.5", "2030-01-31", "2030-01-31T12:00" or "2030-01-31T12:00:00Z": seconds since 1970.
bool moment_parse(const char *text, double *out);

void moment_format(double moment, char text[MOMENT_SIZE]); // "2030-01-31 12:00:00Z"
// In a time zone of this machine, or in its own (NULL): "2030-01-31 13:00:00 CET". In UTC when this
// machine does not know the zone. Sets the zone of the process: of one thread at a time.
void moment_format_in(double moment, const char *zone, char text[MOMENT_SIZE]);
void moment_relative(double moment, double now, char text[MOMENT_SIZE]); // "3m20s ago", "in 2h"
// As the tool was told to show times.
void moment_show(double moment, enum times times, char text[MOMENT_SIZE]);
void length_format(double seconds, char text[MOMENT_SIZE]); // "250ms", "42s", "3d4h"

#endif
