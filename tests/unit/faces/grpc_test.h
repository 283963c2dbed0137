// SPDX-License-Identifier: MIT
// Calls of the gRPC face over a real engine, as a transcript in protobuf's text format:
//
//     says(desk, "Add", "queue: 'mail' klass: 'Send' data { json: '{}' } jid: 'a'", "jid: 'a'");
//     says(desk, "Get", "jid: 'x'", "5 NOT_FOUND there is no such job");
//
// Time stands still, and random numbers are 1, 2, 3, ..., so that the same requests have the same
// answers each time.
#ifndef SLUICE_GRPC_TEST_H
#define SLUICE_GRPC_TEST_H

#include "api/call.h"
#include "faces/grpc/face.h"

#include "test.h"

#define DESK_BEGINS_US INT64_C(1784000000500000) // 2026-07-14T03:33:20.500Z

struct desk {
    struct engine *engine;
    struct commands *commands;
    struct grpc_face *face;
    struct scratch scratch;
    struct host host;
    uint64_t random;
    int64_t now_us;
    bool last;               // a command that could wait answers at once
    struct grpc_call call;   // the last one
    struct grpc_fault fault; // why it failed
    struct buffer message;   // the last request
    struct buffer reply;     // its answer: frames
    struct buffer text;      // the same as text, with a zero behind it
    uint64_t misfits;        // of all replies
};

// For cmocka. At the end the engine's invariants hold, and every reply has found its fields.
int desk_begin(void **state);
int desk_end(void **state);

#define DESK_TEST(test) cmocka_unit_test_setup_teardown(test, desk_begin, desk_end)

struct desk *desk_new(const struct allocator *allocator, size_t reply_max);
void desk_free(struct desk *desk);

// A message of the method's request, appended.
void desk_encode(const struct grpc_message *message, const char *text, struct buffer *out);

// A message as text, appended.
void desk_print(const struct grpc_message *message, struct slice bytes, struct buffer *out);

const struct grpc_method *desk_method(const struct desk *desk, const char *name);

// Sends a message; gives the messages of the answer with " | " between them, "(nothing)", "(waits)",
// or "CODE REASON [field] sentence", until the next call. `next` goes on with the last call, as the
// next message of its stream.
const char *ask(struct desk *desk, const char *method, const char *request);
const char *ask_next(struct desk *desk, const char *request);

// What a message becomes: words with blanks between, those of the next steps behind " ; ".
const char *words_of(struct desk *desk, const char *method, const char *request);

// Asks, and asserts the answer. When `wanted` ends with "..." only what comes before it counts.
#define says(desk, method, request, wanted)                                                        \
    says_at((desk), ask((desk), (method), (request)), (request), (wanted), __FILE__, __LINE__)
#define says_next(desk, request, wanted)                                                           \
    says_at((desk), ask_next((desk), (request)), (request), (wanted), __FILE__, __LINE__)
#define becomes(desk, method, request, wanted)                                                     \
    says_at((desk), words_of((desk), (method), (request)), (request), (wanted), __FILE__, __LINE__)
void says_at(struct desk *desk, const char *shown, const char *request, const char *wanted,
             const char *file, int line);

#endif
