// SPDX-License-Identifier: MIT
#include "draw.h"

bool draw_is_over(const struct draw *draw)
{
    return draw->bytes && draw->at >= draw->size;
}

static uint32_t next_byte(struct draw *draw)
{
    return draw->at < draw->size ? draw->bytes[draw->at++] : 0;
}

uint32_t draw_below(struct draw *draw, uint32_t limit)
{
    if (limit <= 1) {
        return 0;
    }
    if (!draw->bytes) {
        return (uint32_t)random_below(&draw->random, limit);
    }
    uint32_t value = next_byte(draw);
    if (limit > 256) {
        value = value << 8 | next_byte(draw);
    }
    return value % limit;
}

bool draw_chance(struct draw *draw, uint32_t of_256)
{
    return draw_below(draw, 256) < of_256;
}
