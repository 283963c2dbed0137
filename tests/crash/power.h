// SPDX-License-Identifier: MIT
// What a power loss may leave on a disk, worked out from a trace (trace.h) for any instant of it.
//
// What was synced is there: everything that had ended before the sync began, once the sync has
// ended; and a direct write when it has returned. When a sync fails the system may have dropped
// what it could not write, and no later sync brings it back. All else is pending. Of what is
// pending
//
//   - a write may be there as a whole, not at all, or in part: any of its sectors of 512 bytes.
//   What
//     a sector holds is what the file held there after one of the writes to it;
//   - a new size, also that which a write beyond the end makes, may have come or not, apart from
//   the
//     bytes; what was never written reads as zeros;
//   - a name may stand for what it stood for before or after, in any order with all the rest; a
//   sync
//     of the file does not help, only one of its folder. The two names of a rename go together.
//
// A cut is an index into the trace: all before it was done. The states of a cut are numbered; the
// first four are none of what is pending, all of it, all but the first and only the last; the
// others are drawn from a seed, the same from the same.
#ifndef SLUICE_TESTS_CRASH_POWER_H
#define SLUICE_TESTS_CRASH_POWER_H

#include "disk.h"
#include "trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct power;

// Stands before the first operation. `start` is the disk as it was then (NULL: an empty folder); it
// is copied. The trace is borrowed.
struct power *power_new(const struct trace *trace, const struct disk *start);
void power_free(struct power *power);

// Goes on to a cut; never back.
void power_go(struct power *power, size_t cut);

// Whether the operation at the cut could change what a power loss leaves. Where it cannot, the next
// cut has the same states.
bool power_changes_next(const struct power *power);

// How many operations are pending, and the index of the first whose file's name begins like that
// (SIZE_MAX: none).
size_t power_pending(const struct power *power);
size_t power_first_pending(const struct power *power, const char *name);

// How many states of the cut differ at most: 1 when nothing is pending, 2 when it is one sector.
size_t power_states(const struct power *power);

// Makes a state. `out` was initialised.
void power_state(const struct power *power, uint64_t seed, size_t state, struct disk *out);

// The disk as the process saw it.
const struct disk *power_seen(const struct power *power);

// Says what is pending and what the state made of it, a line each, each behind `# `.
void power_explain(const struct power *power, uint64_t seed, size_t state, FILE *file);

#endif
