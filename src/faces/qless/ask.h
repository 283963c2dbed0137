// SPDX-License-Identifier: MIT
// A call of qless's that is being answered, for the files of the qless face: its words, memory that
// lasts until it is answered, and ways to say no.
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
    struct slices words; // behind the name of the call and the time
    int64_t now_us;
    uint64_t random;
    struct buffer out; // the JSON of the answer
    struct error error;
    struct qless_block *blocks; // owned: what qless_room gave
    struct slice unfit;         // a job that does not fit an answer; of the engine
    bool no_memory;             // there was none: whatever seems to be wrong, that is the reason
    bool split;                 // by a script of the generation that has one for each call
    bool unmet;                 // the reason is the job's state
};

// A call says its answer and returns STATUS_OK, or says nothing, leaves the reason in `error` and
// returns its status.
typedef enum status qless_function(struct qless_ask *ask);

// Says no, in qless's words.
MUST_USE enum status qless_no(struct qless_ask *ask, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// The same where the job is not there, or not in the state that the call needs: calls of the split
// generation are then answered with nil.
MUST_USE enum status qless_unmet(struct qless_ask *ask, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// The engine said no, or STATUS_OK, which stays so. `area` is qless's name for the call ("Put").
MUST_USE enum status qless_engine_no(struct qless_ask *ask, const char *area, enum status status,
                                     const struct error *error);
MUST_USE enum status qless_no_memory(struct qless_ask *ask);

// Whether the answer has room for so many bytes; for calls that change something, before they do.
MUST_USE enum status qless_check_room(struct qless_ask *ask, size_t size);
// The same for a list of so many names, before they are visited.
MUST_USE enum status qless_check_count(struct qless_ask *ask, size_t count);
// The same for so many bytes and these texts.
MUST_USE enum status qless_check_room_for(struct qless_ask *ask, size_t size, struct slices texts);

// Whether `out` is larger than the answer may be: a walk ends there.
bool qless_is_full(const struct qless_ask *ask);
// Whether `out` holds all that was printed.
MUST_USE enum status qless_check_out(struct qless_ask *ask);
// Says `out` as the answer.
MUST_USE enum status qless_say_out(struct qless_ask *ask);

// Memory until the call is answered, not zeroed; NULL when there is none.
void *qless_room(struct qless_ask *ask, size_t count, size_t size);
void qless_rooms_free(struct qless_ask *ask);

// ---------------------------------------------------------------------------------------------
// Words

// Whether there is a word number `index`, which may be empty.
bool qless_has(const struct qless_ask *ask, size_t index);
// The word, or "nil" as Lua prints what is not there.
struct slice qless_word(const struct qless_ask *ask, size_t index);
// The words from number `index` on.
struct slices qless_words(const struct qless_ask *ask, size_t index);

// What Lua's tonumber takes for a number: white space around it, signs, hexadecimal numbers.
bool qless_number(struct slice text, double *out);
// The same in seconds, as microseconds; what is too large or too small is cut.
bool qless_seconds(struct slice text, int64_t *us_out);
// The same without what stands behind the point.
bool qless_integer(struct slice text, int64_t *out);

// A priority or a number of retries: false when it is no number, or one that the engine does not
// know (then a fraction, or outside of int32_t).
bool qless_small_integer(struct slice text, int32_t *out);

// A priority of qless, where higher runs sooner, as one of the engine: the lowest of qless counts as
// the one above it.
static inline int32_t qless_flip_priority(int32_t priority)
{
    return priority == INT32_MIN ? INT32_MAX : -priority;
}

// Whether the text is JSON and, as Lua sees it, true.
bool qless_json_is_true(struct slice text);
// Whether the text is a JSON object or array.
bool qless_json_is_table(struct slice text);
// The strings of a JSON array; numbers count as strings, and an object as an empty array. False
// when it is something else, or there is no memory.
bool qless_json_list(struct qless_ask *ask, struct slice text, struct slices *out);

#endif
