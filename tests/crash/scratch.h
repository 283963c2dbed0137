// SPDX-License-Identifier: MIT
// A folder on a memory file system, where there is one, for what a test makes and throws away; and
// what the programs of the crash tests read from their arguments.
#ifndef SLUICE_TESTS_CRASH_SCRATCH_H
#define SLUICE_TESTS_CRASH_SCRATCH_H

#include <stdint.h>

enum {
    SCRATCH_PATH_SIZE = 256,
};

// Makes a new one. Ends the process when it cannot.
void scratch_make(char path[SCRATCH_PATH_SIZE], const char *name);

// Makes a folder empty, or makes it.
void scratch_empty(const char *path);
void scratch_remove(const char *path);

// Ends the process when it is not a number.
uint64_t argument_number(const char *text);

#endif
