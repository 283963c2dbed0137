// SPDX-License-Identifier: MIT
// Requests make calls idempotent. The answer of a request is kept for `request-history` under the id
// that the client gave, the newest `request-history-count` of them. A client that did not receive the
// answer repeats the call with the same id; it gets the first answer and nothing changes, whatever
// happened to the job meanwhile.
//
//     engine_request_begin ---> engine_put, ... ---> engine_request_end      the call succeeded
//                                               ---> engine_request_cancel   the call failed
//
// A call that failed changed nothing and is not kept: repeated, it is tried again. All of this happens
// in one turn of the host, so that the answer is stored together with the change.
#ifndef SLUICE_ENGINE_DEDUP_REQUEST_H
#define SLUICE_ENGINE_DEDUP_REQUEST_H

#include "engine/engine.h"

#include "base/map.h"

struct request {
    struct request *next, *previous; // by age
    struct request *dirty_next;
    uint64_t id; // of its record; ids increase
    int64_t when_us;
    uint64_t digest;
    uint32_t answer_size;
    uint32_t answer_max;
    uint8_t key_size;
    bool dirty, gone; // gone: kept as a shell until the host has taken the change
    char bytes[];     // the client's id, then the answer
};

struct requests {
    struct map by_key;
    struct request *first, *last;
    size_t count;
    struct request *pending; // begun and not ended; in the map only
};

// A request: its id, and the digest of its words. The same id with other words is rejected.
struct request_words {
    struct slice id;
    uint64_t digest;
    size_t answer_max; // the largest size of the answer
};

// If `*known`, the request succeeded before and `*answer` (borrowed) is its answer. Otherwise the
// caller carries it out. INVALID if the id was used for other words.
MUST_USE enum status engine_request_begin(struct engine *engine, int64_t now_us,
                                          const struct request_words *words, bool *known,
                                          struct slice *answer, struct error *error);

// The request succeeded, with this answer. The oldest request may be forgotten.
void engine_request_end(struct engine *engine, struct slice answer);

// The request failed.
void engine_request_cancel(struct engine *engine);

// Replaces the answer of a known request by one of the same size.
void engine_request_amend(struct engine *engine, struct slice id, struct slice answer);

// The digest of the words of a request, the same in every process.
uint64_t request_digest(struct slice command, struct slices words);

// ---------------------------------------------------------------------------------------------
// For the engine

struct slice request_key(const void *request);
struct slice request_answer(const struct request *request);

void requests_init(struct engine *engine, struct hash_seed seed);
void requests_release(struct engine *engine);
void request_free_shell(struct engine *engine, struct request *request);

// Forgets requests that are too old, at most a slice of them.
void requests_forget_old(struct engine *engine, int64_t now_us);

static inline bool requests_have_old(const struct requests *requests, int64_t kept_us,
                                     int64_t now_us)
{
    return requests->first && requests->first->when_us <= now_us - kept_us;
}

// Loads a request from its record; CORRUPT if the record is invalid.
MUST_USE enum status request_load(struct engine *engine, uint64_t id, int64_t when_us,
                                  const struct request_words *words, struct slice answer);

// Whether list and map agree.
bool requests_check(const struct engine *engine);

#endif
