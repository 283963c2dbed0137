// SPDX-License-Identifier: MIT
// The reply of a command: one value, written piece by piece, which the face encodes (as RESP or as
// JSON). The command specifies what a value means, and the face how it is encoded.
//
//     reply_map(reply, 2);
//     reply_text(reply, SLICE("jid"));     // keys are texts
//     reply_text(reply, jid);
//     reply_text(reply, SLICE("expires"));
//     reply_moment(reply, expires_us);
//     reply_end(reply);
#ifndef SLUICE_API_REPLY_H
#define SLUICE_API_REPLY_H

#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reply;

// Writes a part of a reply.
typedef void reply_writer(struct reply *reply, const void *about);

struct reply_ops {
    void (*null)(struct reply *reply);
    void (*word)(struct reply *reply, struct slice word);   // a fixed word, such as OK
    void (*text)(struct reply *reply, struct slice bytes);  // any bytes
    void (*json)(struct reply *reply, struct slice valid);  // a value that is valid JSON
    void (*prose)(struct reply *reply, struct slice lines); // for people to read
    void (*integer)(struct reply *reply, int64_t value);
    void (*boolean)(struct reply *reply, bool value);
    void (*number)(struct reply *reply, double value);
    void (*seconds)(struct reply *reply, int64_t us); // a duration
    void (*moment)(struct reply *reply, int64_t us);  // a time since 1970
    void (*error)(struct reply *reply, const struct error *error);
    void (*list)(struct reply *reply, size_t count);
    void (*map)(struct reply *reply, size_t pairs);
    void (*end)(struct reply *reply); // of the innermost list or map, which must be complete
    // The following reply is about an object with this number, which was created now or existed
    // before. NULL: the format cannot express that.
    void (*made)(struct reply *reply, uint64_t id, bool is_new);
    // How many bytes can still be written, and how many could be if nothing had been written. NULL,
    // both: there is no limit.
    size_t (*room)(const struct reply *reply);
    size_t (*room_max)(const struct reply *reply);
    // How many bytes `write` would write; SIZE_MAX: more than `room_max`.
    size_t (*measure)(struct reply *reply, reply_writer *write, const void *about);
    size_t growth;     // a byte of a text takes at most so many in the reply
    size_t error_size; // the maximum size of a short error, see REPLY_SHORT_ERROR
};

// A command that changes something is run only if there is this much room, so that it cannot fail
// because of its reply. Commands with larger replies check the room themselves (COMMAND_FITS,
// COMMAND_ECHOES).
enum {
    REPLY_SIZE_LEAST = 8 << 10,
    REPLY_SHORT_ERROR = 40, // bytes of the message of a short error
};

// A face embeds this as the first member of a struct of its own.
struct reply {
    const struct reply_ops *ops;
};

static inline void reply_null(struct reply *reply)
{
    reply->ops->null(reply);
}

static inline void reply_word(struct reply *reply, struct slice word)
{
    reply->ops->word(reply, word);
}

static inline void reply_ok(struct reply *reply)
{
    reply->ops->word(reply, SLICE("OK"));
}

static inline void reply_text(struct reply *reply, struct slice bytes)
{
    reply->ops->text(reply, bytes);
}

// An empty text is written as null.
static inline void reply_text_or_null(struct reply *reply, struct slice bytes)
{
    if (bytes.size) {
        reply->ops->text(reply, bytes);
    } else {
        reply->ops->null(reply);
    }
}

static inline void reply_json(struct reply *reply, struct slice valid)
{
    reply->ops->json(reply, valid);
}

static inline void reply_json_or_null(struct reply *reply, struct slice valid)
{
    if (valid.size) {
        reply->ops->json(reply, valid);
    } else {
        reply->ops->null(reply);
    }
}

static inline void reply_prose(struct reply *reply, struct slice lines)
{
    reply->ops->prose(reply, lines);
}

static inline void reply_integer(struct reply *reply, int64_t value)
{
    reply->ops->integer(reply, value);
}

static inline void reply_count(struct reply *reply, uint64_t count)
{
    reply->ops->integer(reply, count > INT64_MAX ? INT64_MAX : (int64_t)count);
}

static inline void reply_boolean(struct reply *reply, bool value)
{
    reply->ops->boolean(reply, value);
}

static inline void reply_number(struct reply *reply, double value)
{
    reply->ops->number(reply, value);
}

static inline void reply_seconds(struct reply *reply, int64_t us)
{
    reply->ops->seconds(reply, us);
}

static inline void reply_moment(struct reply *reply, int64_t us)
{
    reply->ops->moment(reply, us);
}

// 0 is written as null.
static inline void reply_moment_or_null(struct reply *reply, int64_t us)
{
    if (us) {
        reply->ops->moment(reply, us);
    } else {
        reply->ops->null(reply);
    }
}

static inline void reply_error(struct reply *reply, const struct error *error)
{
    reply->ops->error(reply, error);
}

static inline void reply_list(struct reply *reply, size_t count)
{
    reply->ops->list(reply, count);
}

static inline void reply_map(struct reply *reply, size_t pairs)
{
    reply->ops->map(reply, pairs);
}

static inline void reply_end(struct reply *reply)
{
    reply->ops->end(reply);
}

static inline void reply_made(struct reply *reply, uint64_t id, bool is_new)
{
    if (reply->ops->made) {
        reply->ops->made(reply, id, is_new);
    }
}

static inline size_t reply_room(const struct reply *reply)
{
    return reply->ops->room ? reply->ops->room(reply) : SIZE_MAX;
}

static inline size_t reply_room_max(const struct reply *reply)
{
    return reply->ops->room_max ? reply->ops->room_max(reply) : SIZE_MAX;
}

static inline size_t reply_measure(struct reply *reply, reply_writer *write, const void *about)
{
    return reply->ops->measure ? reply->ops->measure(reply, write, about) : 0;
}

// The maximum size of so many texts with so many bytes in total.
static inline size_t reply_texts_max(const struct reply *reply, size_t count, size_t bytes)
{
    enum {
        FRAME = 16, // of a text, in addition to its bytes
    };
    size_t growth = reply->ops->growth ? reply->ops->growth : 1;
    return growth * bytes + FRAME * count;
}

// A key of a map.
#define reply_key(reply, literal) reply_text((reply), SLICE(literal))

#endif
