// SPDX-License-Identifier: MIT
// What the operating system reports about this process.
#ifndef SLUICE_SERVER_PROCESS_H
#define SLUICE_SERVER_PROCESS_H

#include <stdint.h>

// The resident set in bytes.
uint64_t process_resident_bytes(void);

// The CPU time of all threads, in microseconds.
int64_t process_cpu_us(void);

#endif
