// SPDX-License-Identifier: MIT
#include "server/net/output.h"

#include <assert.h>

enum {
    COMPACT_SIZE = 1 << 16, // with so many sent bytes at its front, the rest is moved there
};

void output_init(struct output *output, const struct allocator *allocator, size_t size_max)
{
    *output = (struct output){ 0 };
    buffer_init(&output->bytes, allocator, size_max);
}

void output_release(struct output *output)
{
    buffer_release(&output->bytes);
}

void output_check(const struct output *output)
{
    assert(output->sent <= output->bytes.size);
    assert(output_sent_position(output) <= output->free);
    assert(output->free <= output_end(output));
    assert(!output->in_turn || output->free <= output->turn_start);
    assert(!output->in_turn || output->turn_start <= output_end(output));
    assert(output->in_turn || output->replies == 0);
    assert(output->holds || output->replies_held == 0);
    assert(output->holds ||
           output->free == (output->in_turn ? output->turn_start : output_end(output)));
    assert(!output->failing || output->holds);
}

// ---------------------------------------------------------------------------------------------
// Writing

static void drop_sent(struct output *output)
{
    buffer_consume(&output->bytes, output->sent);
    output->start += output->sent;
    output->sent = 0;
}

// Bytes that were sent take no room from new ones. Few bytes are not worth the move: so each byte is
// moved a few times at most.
static void make_room(struct output *output)
{
    const struct buffer *bytes = &output->bytes;
    if (bytes->size > bytes->size_max / 2 && output->sent >= bytes->size / 8) {
        drop_sent(output);
    }
}

bool output_turn_begin(struct output *output)
{
    if (output->in_turn) {
        return false;
    }
    make_room(output);
    output->in_turn = true;
    output->turn_start = output_end(output);
    return true;
}

void output_count(struct output *output, uint32_t count)
{
    assert(output->in_turn || count == 0);
    output->replies += count;
}

void output_take_back(struct output *output, uint64_t position)
{
    assert(output->in_turn && position >= output->turn_start);
    buffer_truncate(&output->bytes, (size_t)(position - output->start));
    if (output->bytes.status == STATUS_TOO_LARGE) {
        output->bytes.status = STATUS_OK;
    }
}

// ---------------------------------------------------------------------------------------------
// The end of a turn

void output_turn_leave(struct output *output)
{
    output->in_turn = false;
    output->replies = 0;
}

void output_turn_free(struct output *output)
{
    assert(output->holds == 0);
    output_turn_leave(output);
    output->free = output_end(output);
    output_check(output);
}

struct output_hold output_turn_hold(struct output *output)
{
    assert(output->in_turn);
    struct output_hold hold = {
        .start = output->turn_start,
        .end = output_end(output),
        .replies = output->replies,
    };
    output->holds++;
    output->replies_held += output->replies;
    output_turn_leave(output);
    output_check(output);
    return hold;
}

void output_hold_forget(struct output *output, const struct output_hold *hold)
{
    assert(output->holds && output->replies_held >= hold->replies);
    output->holds--;
    output->replies_held -= hold->replies;
}

void output_hold_release(struct output *output, const struct output_hold *hold)
{
    assert(output->free <= hold->start && hold->end <= output_end(output));
    output_hold_forget(output, hold);
    output->free = hold->end;
    output_check(output);
}

// The first hold that fails removes the bytes of all later ones as well. Those fail next: a group is
// durable only when all earlier ones are.
void output_hold_fail(struct output *output, const struct output_hold *hold)
{
    if (!output->failing) {
        assert(output->free <= hold->start && hold->start >= output->start);
        buffer_truncate(&output->bytes, (size_t)(hold->start - output->start));
        output->failing = true;
    }
    output_hold_forget(output, hold);
}

bool output_hold_failed(struct output *output)
{
    assert(output->failing);
    if (output->holds) {
        return false;
    }
    output->failing = false;
    output->free = output_end(output);
    output_check(output);
    return true;
}

// ---------------------------------------------------------------------------------------------
// Sending

struct slice output_sendable(const struct output *output)
{
    return slice_make(output->bytes.data ? output->bytes.data + output->sent : NULL,
                      (size_t)(output->free - output_sent_position(output)));
}

void output_sent(struct output *output, size_t size)
{
    output->sent += size;
    assert(output_sent_position(output) <= output->free);
}

void output_compact(struct output *output)
{
    struct buffer *bytes = &output->bytes;
    if (output->sent == bytes->size) {
        output->start += bytes->size;
        buffer_clear(bytes);
        output->sent = 0;
    } else if (output->sent > COMPACT_SIZE && output->sent > bytes->size / 2) {
        drop_sent(output);
    }
}

void output_trim(struct output *output, size_t size)
{
    if (output->bytes.size == 0 && output->bytes.capacity > size) {
        buffer_release(&output->bytes);
    }
}
