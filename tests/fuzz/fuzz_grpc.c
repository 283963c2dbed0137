// SPDX-License-Identifier: MIT
// Any bytes as calls of gRPC: a byte that chooses the method, a frame with its message, and so on.
// What must hold then is said in grpc_world.h.
#include "fuzz.h"
#include "grpc_world.h"
#include "wire/grpc_frame.h"

enum {
    CALLS_MAX = 30,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct grpc_world world;
    struct grpc_frame frame;
    struct slice rest = slice_make(data, size);
    grpc_world_init(&world);
    for (size_t i = 0; i < CALLS_MAX && rest.size; i++) {
        size_t method = (unsigned char)rest.data[0];
        rest = slice_sub(rest, 1, SIZE_MAX);
        if (grpc_frame_next(&rest, size, &frame, NULL) != GRPC_FRAME_WHOLE) {
            break;
        }
        (void)grpc_world_ask(&world, method, frame.message);
    }
    grpc_world_check(&world);
    grpc_world_release(&world);
    return 0;
}
