// SPDX-License-Identifier: MIT
// Any bytes as decisions of the generator that drives drive_qless (drive.h).
#include "drive.h"
#include "fuzz.h"

enum {
    STEPS_MAX = 200,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t none[1];
    struct draw draw = draw_from_bytes(data ? data : none, size);
    struct drive_counts counts = { .count = 0 };
    drive_qless(&draw, STEPS_MAX, &counts);
    return 0;
}
