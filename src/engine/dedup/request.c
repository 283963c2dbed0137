// SPDX-License-Identifier: MIT
#include "engine/dedup/request.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "engine/name.h"
#include "engine/state.h"

#include <assert.h>
#include <string.h>

enum {
    FORGOTTEN_MAX = 100, // per call, so that a lower limit is reached gradually
};

struct slice request_key(const void *request)
{
    const struct request *of = request;
    return slice_make(of->bytes, of->key_size);
}

struct slice request_answer(const struct request *request)
{
    return slice_make(request->bytes + request->key_size, request->answer_size);
}

// Each word is hashed separately, with the hash of the words before it as the seed.
uint64_t request_digest(struct slice command, struct slices words)
{
    struct hash_seed seed = { 0x736c7569636521ULL, 0x72657175657374ULL };
    seed.k0 = hash_bytes(&seed, command);
    for (size_t i = 0; i < words.count; i++) {
        seed.k0 = hash_bytes(&seed, words.items[i]);
    }
    return seed.k0;
}

// ---------------------------------------------------------------------------------------------
// The list

void requests_init(struct engine *engine, struct hash_seed seed)
{
    map_init(&engine->requests.by_key, engine->allocator, seed, request_key);
}

static size_t size_of(const struct request *request)
{
    return sizeof(*request) + request->key_size + request->answer_max;
}

void request_free_shell(struct engine *engine, struct request *request)
{
    mem_free(engine->allocator, request, size_of(request));
}

void requests_release(struct engine *engine)
{
    assert(!engine->requests.pending);
    for (struct request *at = engine->requests.first; at;) {
        struct request *next = at->next;
        request_free_shell(engine, at);
        at = next;
    }
    map_release(&engine->requests.by_key);
}

static struct request *make(struct engine *engine, const struct request_words *words)
{
    size_t size = sizeof(struct request) + words->id.size + words->answer_max;
    struct request *request = mem_alloc(engine->allocator, size);
    if (request) {
        *request = (struct request){ .digest = words->digest,
                                     .answer_max = (uint32_t)words->answer_max,
                                     .key_size = (uint8_t)words->id.size };
        memcpy(request->bytes, words->id.data, words->id.size);
    }
    return request;
}

// Inserts a request after the last older one.
static void insert(struct requests *requests, struct request *request)
{
    struct request *before = requests->last;
    while (before && before->id > request->id) {
        before = before->previous;
    }
    request->previous = before;
    request->next = before ? before->next : requests->first;
    *(before ? &before->next : &requests->first) = request;
    *(request->next ? &request->next->previous : &requests->last) = request;
    requests->count++;
}

static void forget(struct engine *engine, struct request *request)
{
    struct requests *requests = &engine->requests;
    map_remove(&requests->by_key, request_key(request));
    *(request->previous ? &request->previous->next : &requests->first) = request->next;
    *(request->next ? &request->next->previous : &requests->last) = request->previous;
    requests->count--;
    engine_step(engine);
    ENGINE_NOTE_GONE(engine, dirty_requests, request, request_free_shell);
}

void requests_forget_old(struct engine *engine, int64_t now_us)
{
    struct requests *requests = &engine->requests;
    for (int i = 0; i < FORGOTTEN_MAX; i++) {
        if (!requests_have_old(requests, engine->config.request_history_us, now_us)) {
            break;
        }
        forget(engine, requests->first);
    }
}

static void forget_beyond(struct engine *engine, size_t count_max)
{
    for (int i = 0; i < FORGOTTEN_MAX && engine->requests.count > count_max; i++) {
        forget(engine, engine->requests.first);
    }
}

static size_t count_max(const struct engine *engine)
{
    int64_t count = engine->config.request_history_count;
    return engine->config.request_history_us <= 0 || count < 0 ? 0 : (size_t)count;
}

// ---------------------------------------------------------------------------------------------
// A request

static enum status begin_new(struct engine *engine, int64_t now_us,
                             const struct request_words *words, struct error *error)
{
    struct requests *requests = &engine->requests;
    if (count_max(engine) == 0) {
        return STATUS_OK;
    }
    struct request *request = make(engine, words);
    if (!request || map_insert(&requests->by_key, request)) {
        if (request) {
            request_free_shell(engine, request);
        }
        return engine_no_memory(error);
    }
    request->when_us = now_us;
    requests->pending = request;
    return STATUS_OK;
}

enum status engine_request_begin(struct engine *engine, int64_t now_us,
                                 const struct request_words *words, bool *known,
                                 struct slice *answer, struct error *error)
{
    struct requests *requests = &engine->requests;
    assert(!requests->pending);
    *known = false;
    enum status status = engine_begin(engine, &now_us, error);
    if (!status) {
        status = name_check(words->id, "request", error);
    }
    if (status) {
        return status;
    }
    requests_forget_old(engine, now_us);
    struct request *found = requests->count ? map_find(&requests->by_key, words->id) : NULL;
    if (found && found->when_us <= now_us - engine->config.request_history_us) {
        forget(engine, found);
        found = NULL;
    }
    if (!found) {
        return begin_new(engine, now_us, words, error);
    }
    if (found->digest != words->digest) {
        return error_set(error, STATUS_INVALID,
                         "request %.*s was another one before: its words differ",
                         SLICE_PRINT(slice_shown(words->id)));
    }
    *known = true;
    *answer = request_answer(found);
    return STATUS_OK;
}

void engine_request_end(struct engine *engine, struct slice answer)
{
    struct requests *requests = &engine->requests;
    struct request *request = requests->pending;
    if (!request) {
        return;
    }
    assert(answer.size <= request->answer_max);
    requests->pending = NULL;
    if (answer.size) {
        memcpy(request->bytes + request->key_size, answer.data, answer.size);
    }
    request->answer_size = (uint32_t)answer.size;
    request->id = ++engine->sequence;
    insert(requests, request);
    ENGINE_NOTE_CHANGE(engine, dirty_requests, request);
    forget_beyond(engine, count_max(engine));
}

void engine_request_cancel(struct engine *engine)
{
    struct request *request = engine->requests.pending;
    if (request) {
        engine->requests.pending = NULL;
        map_remove(&engine->requests.by_key, request_key(request));
        request_free_shell(engine, request);
    }
}

void engine_request_amend(struct engine *engine, struct slice id, struct slice answer)
{
    struct request *request = map_find(&engine->requests.by_key, id);
    if (request && request->answer_size == answer.size && answer.size) {
        memcpy(request->bytes + request->key_size, answer.data, answer.size);
        ENGINE_NOTE_CHANGE(engine, dirty_requests, request);
    }
}

// ---------------------------------------------------------------------------------------------
// Loading and checking

enum status request_load(struct engine *engine, uint64_t id, int64_t when_us,
                         const struct request_words *words, struct slice answer)
{
    if (when_us < 0 || when_us > ENGINE_TIME_MAX) {
        return STATUS_CORRUPT;
    }
    struct request *request = make(engine, words);
    enum status status = request ? map_insert(&engine->requests.by_key, request) : STATUS_NO_MEMORY;
    if (status) {
        if (request) {
            request_free_shell(engine, request);
        }
        return status == STATUS_EXISTS ? STATUS_CORRUPT : status;
    }
    request->id = id;
    request->when_us = when_us;
    request->answer_size = (uint32_t)answer.size;
    if (answer.size) {
        memcpy(request->bytes + request->key_size, answer.data, answer.size);
    }
    insert(&engine->requests, request);
    return STATUS_OK;
}

bool requests_check(const struct engine *engine)
{
    const struct requests *requests = &engine->requests;
    size_t count = 0;
    uint64_t before = 0;
    for (const struct request *at = requests->first; at; at = at->next, count++) {
        if (at->id <= before || at->id > engine->sequence ||
            map_find(&requests->by_key, request_key(at)) != at) {
            return false;
        }
        before = at->id;
    }
    return count == requests->count &&
           count + (requests->pending != NULL) == requests->by_key.count;
}
