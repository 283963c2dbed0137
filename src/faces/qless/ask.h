// SPDX-License-Identifier: MIT
// A qless call in progress, for the files of the qless face: its arguments, memory that lasts until
// the reply, and functions that refuse it.
#ifndef SLUICE_FACES_QLESS_ASK_H
#define SLUICE_FACES_QLESS_ASK_H

#include "api/reply.h"
#include "base/buffer.h"
#include "engine/engine.h"

struct qless_block;

struct qless_ask {
    struct engine *engine;
    const struct allocator *allocator;
    struct reply *reply;
    struct slices words; // after the name of the call and the time
    int64_t now_us;
    uint64_t random;
    struct buffer out; // the JSON of the reply
    struct error error;
    struct qless_block *blocks; // owned: memory from qless_room
    struct slice unfit;         // a job that is too large for a reply; borrowed from the engine
    bool no_memory;             // an allocation failed; takes precedence over any other error
    // by a script of the split generation, which has one script for each call
    bool split;
    bool unmet; // the call failed because of the job's state
};

// Writes the reply of a call and returns STATUS_OK, or writes nothing, sets `error` and returns its
// status.
typedef enum status qless_function(struct qless_ask *ask);

// Refuses the call with a message in qless's words.
MUST_USE enum status qless_no(struct qless_ask *ask, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// The same if the job does not exist, or is not in the state that the call needs: the split
// generation replies with nil.
MUST_USE enum status qless_unmet(struct qless_ask *ask, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Converts an error of the engine; STATUS_OK remains. `area` is qless's name for the call ("Put").
MUST_USE enum status qless_engine_no(struct qless_ask *ask, const char *area, enum status status,
                                     const struct error *error);
MUST_USE enum status qless_no_memory(struct qless_ask *ask);

// Whether the reply has room for so many bytes. Calls that change something check this before the
// change.
MUST_USE enum status qless_check_room(struct qless_ask *ask, size_t size);
// The same for a list of so many names, before the list is read.
MUST_USE enum status qless_check_count(struct qless_ask *ask, size_t count);
// The same for so many bytes and these texts.
MUST_USE enum status qless_check_room_for(struct qless_ask *ask, size_t size, struct slices texts);

// Whether `out` is larger than the reply may be, so that a walk can end early.
bool qless_is_full(const struct qless_ask *ask);
// Whether `out` contains everything that was printed.
MUST_USE enum status qless_check_out(struct qless_ask *ask);
// Writes `out` as the reply.
MUST_USE enum status qless_reply_out(struct qless_ask *ask);

// Memory that lasts until the reply, not zeroed; NULL if there is none.
void *qless_room(struct qless_ask *ask, size_t count, size_t size);
void qless_rooms_free(struct qless_ask *ask);

// ---------------------------------------------------------------------------------------------
// Words

// Whether there is a word with that index, which may be empty.
bool qless_has(const struct qless_ask *ask, size_t index);
// The word, or "nil", which Lua prints for a missing value.
struct slice qless_word(const struct qless_ask *ask, size_t index);
// The words from `index` on.
struct slices qless_words(const struct qless_ask *ask, size_t index);

// Accepts what Lua's tonumber accepts: white space around the number, signs, hexadecimal numbers.
bool qless_number(struct slice text, double *out);
// The same as seconds, in microseconds; values out of range are limited.
bool qless_seconds(struct slice text, int64_t *us_out);
// The same without the fraction.
bool qless_integer(struct slice text, int64_t *out);

// A priority or a number of retries: false if it is not a number, or one that the engine does not
// accept (with a fraction, or outside of int32_t).
bool qless_small_integer(struct slice text, int32_t *out);

// Converts a priority of qless, where higher values run first, to one of the engine. The lowest
// value of qless is treated as the one above it.
static inline int32_t qless_flip_priority(int32_t priority)
{
    return priority == INT32_MIN ? INT32_MAX : -priority;
}

// Whether the text is JSON with a value that Lua treats as true.
bool qless_json_is_true(struct slice text);
// Whether the text is a JSON object or array.
bool qless_json_is_table(struct slice text);
// The strings of a JSON array; numbers are converted to strings, and an object is an empty array.
// False for anything else, or if there is no memory.
bool qless_json_list(struct qless_ask *ask, struct slice text, struct slices *out);

#endif
