// SPDX-License-Identifier: MIT
// The replies of one connection, from the first byte that is written until the client's system has
// it. Replies are written in turns (server.h) and held until what they report is durable (commit.h):
//
//           sent       may be sent          held        written in this turn
//      |...........|.................|...............|.......................|
//    start     start + sent        free          turn_start                 end
//
// Positions count from the first byte ever written, so they stay valid when bytes that were sent
// leave the buffer. Outside of a turn nothing stands between turn_start and the end.
//
// Code that writes replies appends to `bytes`, between output_turn_begin and the end of the turn. All
// other fields are changed by the functions below only. This file knows no protocol and no
// descriptor.
#ifndef SLUICE_SERVER_NET_OUTPUT_H
#define SLUICE_SERVER_NET_OUTPUT_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output {
    struct buffer bytes;   // from position `start` on
    uint64_t start;        // the position of the first byte of `bytes`
    size_t sent;           // bytes at the front of `bytes` that were sent
    uint64_t free;         // up to which position bytes may be sent
    uint64_t turn_start;   // where this turn's bytes begin; valid in a turn
    uint32_t replies;      // to requests, written in this turn
    uint64_t replies_held; // to requests
    size_t holds;          // that are not released
    bool in_turn;          // something may have been written in this turn
    bool failing;          // held replies are being replaced by errors
};

// Bytes of one turn that wait until a commit group is durable.
struct output_hold {
    uint64_t start, end; // positions
    uint32_t replies;    // in it
};

void output_init(struct output *output, const struct allocator *allocator, size_t size_max);
void output_release(struct output *output);

// Asserts what holds between calls, of an output whose connection is open.
void output_check(const struct output *output);

// ---------------------------------------------------------------------------------------------
// Writing

// Bytes are about to be appended. The first call of a turn gives true.
bool output_turn_begin(struct output *output);

// `count` replies to requests were appended in this turn.
void output_count(struct output *output, uint32_t count);

// The position behind the last byte.
static inline uint64_t output_end(const struct output *output)
{
    return output->start + output->bytes.size;
}

// Removes what was appended in this turn from a position on, and with it the error of an append that
// was too large.
void output_take_back(struct output *output, uint64_t position);

// How many bytes may still be appended.
static inline size_t output_room(const struct output *output)
{
    return output->bytes.size_max - output->bytes.size;
}

// ---------------------------------------------------------------------------------------------
// The end of a turn

// Lets everything be sent. Nothing may be held.
void output_turn_free(struct output *output);

// Holds what was appended in the turn. The caller releases the hold, in the order of the turns.
struct output_hold output_turn_hold(struct output *output);

// Leaves the turn without either: for a connection that is closed, or a server that ends.
void output_turn_leave(struct output *output);

// The oldest hold ends and its bytes may be sent.
void output_hold_release(struct output *output, const struct output_hold *hold);

// The oldest hold ends since its bytes must never be sent: removes all that is held. The caller
// appends an error for each of its replies, then calls output_hold_failed.
void output_hold_fail(struct output *output, const struct output_hold *hold);
// Gives true when that was the last hold: the errors may be sent.
bool output_hold_failed(struct output *output);

// The oldest hold ends, of a connection that is closed.
void output_hold_forget(struct output *output, const struct output_hold *hold);

// ---------------------------------------------------------------------------------------------
// Sending

// What may be sent and was not; borrowed until the output changes.
struct slice output_sendable(const struct output *output);

// So many bytes at the front of output_sendable were sent.
void output_sent(struct output *output, size_t size);

// Takes bytes that were sent out of the buffer, if that is worth the move.
void output_compact(struct output *output);

// Gives back memory when nothing is kept and the buffer is larger than `size`.
void output_trim(struct output *output, size_t size);

// The bytes that were written and not sent, be they held or not.
static inline size_t output_unsent(const struct output *output)
{
    return output->bytes.size - output->sent;
}

// How many bytes were sent, ever.
static inline uint64_t output_sent_position(const struct output *output)
{
    return output->start + output->sent;
}

// Replies to requests that were written and may not be sent yet.
static inline uint64_t output_replies_pending(const struct output *output)
{
    return output->replies_held + output->replies;
}

#endif
