// SPDX-License-Identifier: MIT
#include "base/nearest.h"

#include "base/ascii.h"

#include <stdint.h>

enum {
    COMPARED_SIZE_MAX = 64,
    DISTANCE_MAX = 3,
};

size_t edit_distance(struct slice a, struct slice b)
{
    size_t row[COMPARED_SIZE_MAX + 1];
    if (a.size > COMPARED_SIZE_MAX || b.size > COMPARED_SIZE_MAX) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= b.size; j++) {
        row[j] = j;
    }
    for (size_t i = 0; i < a.size; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b.size; j++) {
            size_t best = diagonal + (ascii_lower(a.data[i]) != ascii_lower(b.data[j]));
            best = row[j] + 1 < best ? row[j] + 1 : best;
            best = row[j + 1] + 1 < best ? row[j + 1] + 1 : best;
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    return row[b.size];
}

struct nearest nearest_to(struct slice word)
{
    size_t most = word.size / 2 < DISTANCE_MAX ? word.size / 2 : DISTANCE_MAX;
    return (struct nearest){ .word = word, .distance = most + 1 };
}

void nearest_offer(struct nearest *nearest, struct slice name)
{
    size_t distance = edit_distance(nearest->word, name);
    if (distance < nearest->distance) {
        nearest->distance = distance;
        nearest->name = name;
    }
}
