// SPDX-License-Identifier: MIT
// What the system knows of this process.
#ifndef SLUICE_SERVER_PROCESS_H
#define SLUICE_SERVER_PROCESS_H

#include <stdint.h>

// Pages that lie in memory.
uint64_t process_resident_bytes(void);

// Time on a processor, of all threads, in microseconds.
int64_t process_cpu_us(void);

#endif
