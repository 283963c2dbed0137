// SPDX-License-Identifier: MIT
// One generator, three ways in: calls that are made up by the tables of commands (generate.h) go to
// an engine as native commands, as HTTP requests, and as calls of qless. Each makes at most so many
// steps, fewer when the bytes of the draw are used up.
#ifndef SLUICE_FUZZ_DRIVE_H
#define SLUICE_FUZZ_DRIVE_H

#include "draw.h"

enum {
    DRIVE_CHECK_EVERY = 32, // steps between two consistency checks of the engine
    DRIVE_COUNTS_MAX = 256,
    DRIVE_STEPS_MAX = 2500, // with one engine, after which a new one is begun
};

// How often each command, route or call was made, and how often it worked: a generator whose calls
// are all refused finds nothing.
struct drive_counts {
    struct drive_count {
        const char *method, *name;
        size_t tried, worked;
    } items[DRIVE_COUNTS_MAX];
    size_t count;
};

void drive_command(struct draw *draw, size_t steps, struct drive_counts *counts);
void drive_http(struct draw *draw, size_t steps, struct drive_counts *counts);
void drive_qless(struct draw *draw, size_t steps, struct drive_counts *counts);

// Which of so many is made next: `put` and `pop` more often than the others, for most calls are
// about what these make.
static inline uint32_t drive_pick(struct draw *draw, uint32_t count, uint32_t put, uint32_t pop)
{
    uint32_t kind = draw_below(draw, 8);
    return kind == 0 ? put : kind == 1 ? pop : draw_below(draw, count);
}

static inline void drive_note(struct drive_counts *counts, size_t index, const char *method,
                              const char *name, bool worked)
{
    struct drive_count *item = &counts->items[index];
    counts->count = index >= counts->count ? index + 1 : counts->count;
    item->method = method;
    item->name = name;
    item->tried++;
    item->worked += worked;
}

#endif
