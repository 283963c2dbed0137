// SPDX-License-Identifier: MIT
// What the files of the gRPC face share: grpc.c (the face itself), decode.c (a message becomes a
// command) and answer.c (a reply becomes messages).
#ifndef SLUICE_FACES_GRPC_FACE_H
#define SLUICE_FACES_GRPC_FACE_H

#include "faces/grpc/grpc.h"
#include "faces/grpc/methods.h"
#include "faces/grpc/plan.h"
#include "faces/grpc/words.h"
#include "faces/grpc/writer.h"

enum {
    GRPC_METHOD_PATH_SIZE = 80,
};

// A command that a message may become.
struct grpc_bound_command {
    const struct command *command; // NULL: there is none
    struct grpc_plan *plan;        // owned
};

// A method with what its table says looked up.
struct grpc_bound {
    struct grpc_method method; // first, so that the one is found from the other
    char path[GRPC_METHOD_PATH_SIZE];
    const struct grpc_rpc *rpc;
    struct grpc_bound_command steps[GRPC_STEPS_MAX];
    struct grpc_bound_command otherwise;
};

struct grpc_face {
    struct grpc_face_options options;
    struct grpc_bound *methods; // owned: those whose commands exist
    size_t method_count;
    struct grpc_words words;
    struct grpc_writer writer; // into `body`
    struct buffer body;        // the messages of the answer
    int64_t now_us;
};

// The method of a call, as the face knows it.
const struct grpc_bound *grpc_face_bound(const struct grpc_face *face,
                                         const struct grpc_call *call);

// The plan by which the message of a call was read, or NULL.
const struct grpc_plan *grpc_face_plan(const struct grpc_face *face, const struct grpc_call *call);

#endif
