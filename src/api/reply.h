// SPDX-License-Identifier: MIT
// What a command answers: one value, said piece by piece, and made into bytes by the face that was
// asked (RESP here, JSON there). Whoever answers says what a value means, not how it is written.
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

struct reply_form {
    void (*null)(struct reply *reply);
    void (*word)(struct reply *reply, struct slice word);   // a fixed word, such as OK
    void (*text)(struct reply *reply, struct slice bytes);  // any bytes
    void (*json)(struct reply *reply, struct slice valid);  // a value that is JSON
    void (*prose)(struct reply *reply, struct slice lines); // for people to read
    void (*integer)(struct reply *reply, int64_t value);
    void (*boolean)(struct reply *reply, bool value);
    void (*number)(struct reply *reply, double value);
    void (*seconds)(struct reply *reply, int64_t us); // a length of time
    void (*moment)(struct reply *reply, int64_t us);  // since 1970
    void (*error)(struct reply *reply, const struct error *error);
    void (*list)(struct reply *reply, size_t count);
    void (*map)(struct reply *reply, size_t pairs);
    void (*end)(struct reply *reply); // of the innermost list or map, which is full
    // The answer, which follows, is about something that has this number: made just now, or there
    // before. NULL: this form has no place to say so.
    void (*made)(struct reply *reply, uint64_t id, bool is_new);
};

// A face puts this first in a struct of its own.
struct reply {
    const struct reply_form *form;
};

static inline void reply_null(struct reply *reply)
{
    reply->form->null(reply);
}

static inline void reply_word(struct reply *reply, struct slice word)
{
    reply->form->word(reply, word);
}

static inline void reply_ok(struct reply *reply)
{
    reply->form->word(reply, SLICE("OK"));
}

static inline void reply_text(struct reply *reply, struct slice bytes)
{
    reply->form->text(reply, bytes);
}

// An empty text says that there is none.
static inline void reply_text_or_null(struct reply *reply, struct slice bytes)
{
    if (bytes.size) {
        reply->form->text(reply, bytes);
    } else {
        reply->form->null(reply);
    }
}

static inline void reply_json(struct reply *reply, struct slice valid)
{
    reply->form->json(reply, valid);
}

static inline void reply_json_or_null(struct reply *reply, struct slice valid)
{
    if (valid.size) {
        reply->form->json(reply, valid);
    } else {
        reply->form->null(reply);
    }
}

static inline void reply_prose(struct reply *reply, struct slice lines)
{
    reply->form->prose(reply, lines);
}

static inline void reply_integer(struct reply *reply, int64_t value)
{
    reply->form->integer(reply, value);
}

static inline void reply_count(struct reply *reply, uint64_t count)
{
    reply->form->integer(reply, count > INT64_MAX ? INT64_MAX : (int64_t)count);
}

static inline void reply_boolean(struct reply *reply, bool value)
{
    reply->form->boolean(reply, value);
}

static inline void reply_number(struct reply *reply, double value)
{
    reply->form->number(reply, value);
}

static inline void reply_seconds(struct reply *reply, int64_t us)
{
    reply->form->seconds(reply, us);
}

static inline void reply_moment(struct reply *reply, int64_t us)
{
    reply->form->moment(reply, us);
}

// 0 says that there is none.
static inline void reply_moment_or_null(struct reply *reply, int64_t us)
{
    if (us) {
        reply->form->moment(reply, us);
    } else {
        reply->form->null(reply);
    }
}

static inline void reply_error(struct reply *reply, const struct error *error)
{
    reply->form->error(reply, error);
}

static inline void reply_list(struct reply *reply, size_t count)
{
    reply->form->list(reply, count);
}

static inline void reply_map(struct reply *reply, size_t pairs)
{
    reply->form->map(reply, pairs);
}

static inline void reply_end(struct reply *reply)
{
    reply->form->end(reply);
}

static inline void reply_made(struct reply *reply, uint64_t id, bool is_new)
{
    if (reply->form->made) {
        reply->form->made(reply, id, is_new);
    }
}

// A key of a map.
#define reply_key(reply, literal) reply_text((reply), SLICE(literal))

#endif
