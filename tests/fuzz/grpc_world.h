// SPDX-License-Identifier: MIT
// An engine behind the gRPC face, and what must hold whatever it is asked: what becomes words is a
// command that the table knows, and its words are either run or refused for what they say, never for
// how they stand; the answer is whole frames of the method's message, with nothing in it that the
// tables do not know, and nothing of the reply left out.
#ifndef SLUICE_FUZZ_GRPC_WORLD_H
#define SLUICE_FUZZ_GRPC_WORLD_H

#include "api/call.h"
#include "bounded.h"
#include "faces/grpc/face.h"

struct grpc_world {
    struct bounded memory; // the engine's; a world must stay where it is
    struct engine *engine;
    struct commands *commands;
    struct grpc_face *face;
    struct scratch scratch;
    struct host host;
    uint64_t random;
    int64_t now_us;
    struct buffer answer;
};

void grpc_world_init(struct grpc_world *world);
void grpc_world_release(struct grpc_world *world);

// A message of the method with that index. Gives whether a command was run and worked.
bool grpc_world_ask(struct grpc_world *world, size_t method, struct slice message);

// The engine's consistency check.
void grpc_world_check(struct grpc_world *world);

#endif
