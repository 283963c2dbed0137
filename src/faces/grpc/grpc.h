// SPDX-License-Identifier: MIT
// The gRPC face: a message becomes the words of a command, the same words that RESP would bring; the
// server runs them like any other command, and the reply of the command becomes messages.
//
//     grpc_call_init(&call, grpc_face_find(face, path)); // NULL: UNIMPLEMENTED
//     for each message of the client (grpc_frame_next, grpc_unpack):
//         if (grpc_face_decode(face, &call, message, &fault)) {
//             ... the call ends with grpc_face_status(&fault) ...
//         }
//         // call.command with call.words: the name, the namespace if the command has one, its
//         // arguments. If the user has the rights and the store accepts it:
//         struct reply *reply = grpc_face_reply(face, &call, out);
//         ... call_run with that reply ...
//         // If the command waits: copy the words; call grpc_face_reply before each further run.
//         // If it worked and call.more is set: grpc_face_decode again with the same message, and so
//         // on; only the last run is answered.
//         status = failed ? grpc_face_refuse(face, &call, &error, out, &fault)
//                         : grpc_face_answer(face, &call, out, &fault);
//         // A status: the call ends with `fault`. OK: `out` has whole frames.
//     }
//
// What a method does besides is told by its `act`. What is in `out` are frames (a prefix of five
// bytes and a message), so the transport sends the bytes as they are.
//
// One face serves all streams of a thread. It does no input or output.
#ifndef SLUICE_FACES_GRPC_GRPC_H
#define SLUICE_FACES_GRPC_GRPC_H

#include "api/command.h"
#include "base/buffer.h"
#include "engine/event.h"
#include "engine/name.h"
#include "faces/grpc/fault.h"

enum grpc_act {
    GRPC_ACT_COMMAND,      // one message in, one command (or several, call.more), one message out
    GRPC_ACT_ADDS,         // StreamAdd: each message is a command; errors are messages too
    GRPC_ACT_NEXTS,        // StreamNext: the one message is popped with again and again
    GRPC_ACT_KEEPALIVE,    // each message is a command; lost leases are told as they happen
    GRPC_ACT_EVENTS,       // no command: call.query is what to listen to
    GRPC_ACT_HEALTH_CHECK, // no command: faces/grpc/health.h
    GRPC_ACT_HEALTH_LIST,
    GRPC_ACT_HEALTH_WATCH,
    GRPC_ACT_REFLECTION, // no command: each message is answered by grpc_reflect
};

struct grpc_method_entry;

struct grpc_method {
    const char *path; // "/sluice.v1.Queue/Add"
    const char *name; // "Add"
    enum grpc_act act;
    bool streams_in;  // the client sends any number of messages; else exactly one
    bool streams_out; // the server does
    bool anybody;     // also for a client that has not authenticated
    const struct grpc_method_entry *entry; // the face's own
};

struct grpc_face_options {
    const struct allocator *allocator;
    // All commands of the host, borrowed. A method whose command is not among them does not exist.
    const struct commands *commands;
    size_t reply_max;   // bytes of the messages that one run of a command may answer
    unsigned depth_max; // of JSON in a request
};

struct grpc_face;

MUST_USE enum status grpc_face_new(const struct grpc_face_options *options, struct grpc_face **out);
void grpc_face_free(struct grpc_face *face);

// The time of what is told from now on: how long leases last is told beside when they end. Call it
// once in a turn.
void grpc_face_set_time(struct grpc_face *face, int64_t now_us);

// The method at a path, or NULL. Valid as long as the face.
const struct grpc_method *grpc_face_find(const struct grpc_face *face, struct slice path);

// ---------------------------------------------------------------------------------------------
// A call

// What is known of a call. It owns nothing. It may be copied and kept, except for `command`'s words,
// `ns` and `query`.
struct grpc_call {
    const struct grpc_method *method;
    // Set by grpc_face_decode:
    const struct command *command; // the command to run; NULL: `query` says what to do
    struct slices words;           // borrowed from the face and the message, until the next decode
    struct slice ns;               // likewise
    struct slice query;  // GRPC_ACT_EVENTS: as the query of GET /v1/ns/NS/events; likewise
    bool more;           // after the run another decode of the same message follows
    unsigned step, item; // which of the commands of the message it is; the face's own
    bool raw;            // payloads are answered as bytes
    // Keepalive, Next, StreamNext: what the stream is about, from its first message.
    char stream_ns[ENGINE_NAME_SIZE_MAX], worker[ENGINE_NAME_SIZE_MAX];
    uint8_t stream_ns_size, worker_size;
    // StreamNext.
    uint32_t in_flight_max; // leases at once
    bool release_on_close;  // the leases that it gave are given back when the call ends
    uint32_t count; // set by the server before a decode: pop at most so many; 0: in_flight_max
};

void grpc_call_init(struct grpc_call *call, const struct grpc_method *method);

// Reads a message (without its prefix, unpacked). On failure `fault` says with what status the call
// ends, except for GRPC_ACT_ADDS, where the fault's error may be said with grpc_face_refuse if
// `fault->code` is 0: the message was well-formed.
MUST_USE enum status grpc_face_decode(struct grpc_face *face, struct grpc_call *call,
                                      struct slice message, struct grpc_fault *fault);

// The reply that a command writes to, for messages that will be appended to `out`. Discards what was
// written before. Valid until the next call with this face.
struct reply *grpc_face_reply(struct grpc_face *face, const struct grpc_call *call,
                              const struct buffer *out);

// How many errors the reply has, for the metrics.
uint64_t grpc_face_errors(const struct grpc_face *face);

// Appends the reply since grpc_face_reply as whole frames: none for a step before the last
// (call->more) and for a StreamNext that found nothing. Fails with NOT_FOUND where null means that
// there is no such thing, and with TOO_LARGE; then nothing was appended.
MUST_USE enum status grpc_face_answer(struct grpc_face *face, const struct grpc_call *call,
                                      struct buffer *out, struct grpc_fault *fault);

// The command failed, or was not run. GRPC_ACT_ADDS: appends a message that says so, and the call
// goes on (OK). Otherwise fills `fault`, with which the call ends. `error` may be &fault->error.
MUST_USE enum status grpc_face_refuse(struct grpc_face *face, const struct grpc_call *call,
                                      const struct error *error, struct buffer *out,
                                      struct grpc_fault *fault);

// ---------------------------------------------------------------------------------------------
// Leases in an answer

// A task of Next and StreamNext in what grpc_face_answer has appended.
struct grpc_task {
    struct slice jid; // borrowed from the bytes
    uint64_t token;
};

// Takes the first task off the front of whole frames; false when there is none left. `frames` is
// then behind the frame that the task was in, or within it (Next: several in one frame).
struct grpc_tasks {
    struct slice frames; // what is left
    struct slice tasks;  // of the frame that was begun
    bool stream;         // each frame is a task; else a list of them
};
void grpc_tasks_init(struct grpc_tasks *tasks, const struct grpc_method *method,
                     struct slice frames);
bool grpc_tasks_next(struct grpc_tasks *tasks, struct grpc_task *out);

// ---------------------------------------------------------------------------------------------
// What happens by itself. These can be called while a command runs.

// Keepalive: appends a frame that tells of a lease that the stream's worker has lost, if the event
// is one of a lost lease (lock_lost, canceled); false: it is not, nothing was appended.
bool grpc_face_lost(const struct event *event, struct buffer *out);

// Events: appends an event as a frame. `json` is its text (host/event_json.h).
void grpc_face_event(uint64_t id, struct slice json, struct buffer *out);

// Events: events between the number that the client named and the oldest that is kept are lost.
void grpc_face_gap(uint64_t id, struct buffer *out);

#endif
