// SPDX-License-Identifier: MIT
// Any bytes as a time zone's file: what is refused is refused with a sentence; what is not has
// transitions in order, each with another offset, and no more than the engine takes.
#include "fuzz.h"

#include "host/zones/tzif.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    TRANSITIONS_MAX = 10000,
};

static void require(bool holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_tzif: %s\n", sentence);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tzif tzif;
    struct error error = { 0 };
    if (tzif_read(&tzif, &allocator_system, SLICE("zone"), slice_make(data, size), &error)) {
        require(error.detail[0], "a file was refused without a sentence");
        return 0;
    }
    int32_t offset_s = tzif.offset_s;
    require(tzif.count <= TRANSITIONS_MAX, "there are too many transitions");
    for (size_t i = 0; i < tzif.count; i++) {
        require(i == 0 || tzif.transitions[i].at_us > tzif.transitions[i - 1].at_us,
                "transitions are not in order");
        require(tzif.transitions[i].offset_s != offset_s, "a transition changes nothing");
        offset_s = tzif.transitions[i].offset_s;
        require(offset_s <= ZONE_OFFSET_MAX_S && offset_s >= -ZONE_OFFSET_MAX_S,
                "an offset is too large");
    }
    tzif_release(&tzif);
    return 0;
}
