// SPDX-License-Identifier: MIT
// Requests that must not be done twice: what each was answered is kept for `request-history` under
// the id that its client gave it, the newest `request-history-count` of them. A client that did not
// hear the answer asks again with the same id, and is answered as the first time, whatever became
// of the job meanwhile.
//
//     engine_request_begin ---> engine_put, ... ---> engine_request_end      it was done
//                                               ---> engine_request_cancel   it was refused
//
// What was refused changed nothing and is not kept: asked again it is tried again. All of it happens
// in one turn of the host, so that the answer is stored with what was done.
#ifndef SLUICE_ENGINE_DEDUP_REQUEST_H
#define SLUICE_ENGINE_DEDUP_REQUEST_H

#include "engine/engine.h"

#include "base/map.h"

struct request {
    struct request *next, *previous; // by age
    struct request *dirty_next;
    uint64_t id; // of its record; a later one has a larger one
    int64_t when_us;
    uint64_t digest;
    uint32_t answer_size;
    uint32_t answer_max;
    uint8_t key_size;
    bool dirty, gone; // gone: it waits as a shell until the host has been told
    char bytes[];     // the client's id, then the answer
};

struct requests {
    struct map by_key;
    struct request *first, *last;
    size_t count;
    struct request *pending; // that is being done; in the map alone
};

// What a client asks for, under which id. The digest is that of the words: with others the id is
// refused.
struct request_words {
    struct slice id;
    uint64_t digest;
    size_t answer_max; // how long the answer may become
};

// With `*known` it was done before, and this is what it was answered (borrowed). Otherwise it is to
// be done now. INVALID when something else was done under that id.
MUST_USE enum status engine_request_begin(struct engine *engine, int64_t now_us,
                                          const struct request_words *words, bool *known,
                                          struct slice *answer, struct error *error);

// It was done, and answered so. The oldest may be forgotten for it.
void engine_request_end(struct engine *engine, struct slice answer);

// It was refused.
void engine_request_cancel(struct engine *engine);

// Another answer to one that is known, of the same size.
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

// Forgets those that are too old, at most a slice of them.
void requests_forget_old(struct engine *engine, int64_t now_us);

static inline bool requests_have_old(const struct requests *requests, int64_t kept_us,
                                     int64_t now_us)
{
    return requests->first && requests->first->when_us <= now_us - kept_us;
}

// One as it was saved; for loading. CORRUPT when it cannot be one.
MUST_USE enum status request_load(struct engine *engine, uint64_t id, int64_t when_us,
                                  const struct request_words *words, struct slice answer);

// Whether list and map agree.
bool requests_check(const struct engine *engine);

#endif
