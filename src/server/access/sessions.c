// SPDX-License-Identifier: MIT
#include "server/access/sessions.h"

#include "base/ascii.h"

#include <assert.h>
#include <string.h>

static struct slice key_of(const void *value)
{
    const struct session *session = value;
    return slice_make((const char *)session->digest, sizeof(session->digest));
}

void sessions_init(struct sessions *sessions, const struct allocator *allocator,
                   struct hash_seed seed)
{
    *sessions = (struct sessions){ .allocator = allocator };
    map_init(&sessions->by_digest, allocator, seed, key_of);
}

void sessions_release(struct sessions *sessions)
{
    while (sessions->first) {
        sessions_end(sessions, sessions->first);
    }
    map_release(&sessions->by_digest);
}

// ---------------------------------------------------------------------------------------------
// Order of last use

static void link_last(struct sessions *sessions, struct session *session)
{
    session->next = NULL;
    session->previous = sessions->last;
    *(sessions->last ? &sessions->last->next : &sessions->first) = session;
    sessions->last = session;
    sessions->count++;
}

static void link_out(struct sessions *sessions, struct session *session)
{
    *(session->previous ? &session->previous->next : &sessions->first) = session->next;
    *(session->next ? &session->next->previous : &sessions->last) = session->previous;
    sessions->count--;
}

static void touch(struct sessions *sessions, struct session *session, int64_t now_us)
{
    session->used_us = now_us;
    link_out(sessions, session);
    link_last(sessions, session);
}

static bool is_over(const struct sessions *sessions, const struct session *session, int64_t now_us)
{
    return now_us - session->used_us >= sessions->limits.idle_us ||
           now_us - session->began_us >= sessions->limits.age_us || user_is_gone(session->user);
}

// ---------------------------------------------------------------------------------------------

static void make_token(const uint8_t random[SESSION_RANDOM_SIZE], char token[SESSION_TOKEN_SIZE])
{
    (void)ascii_hex_write(token, random, SESSION_RANDOM_SIZE);
}

static void make_digest(struct slice token, uint8_t digest[SHA256_SIZE])
{
    struct sha256 sha256;
    sha256_init(&sha256);
    sha256_add(&sha256, token);
    sha256_end(&sha256, digest);
}

static struct session *first_of(const struct sessions *sessions, const struct user *user,
                                size_t *count)
{
    struct session *first = NULL;
    *count = 0;
    for (struct session *at = sessions->first; at; at = at->next) {
        if (at->user == user) {
            first = first ? first : at;
            ++*count;
        }
    }
    return first;
}

static void make_room(struct sessions *sessions, const struct user *user)
{
    while (sessions->count > 0 && sessions->count >= sessions->limits.count_max) {
        size_t count;
        struct session *own = first_of(sessions, user, &count);
        bool has_many = count > 0 && count >= sessions->limits.count_max / 8;
        sessions_end(sessions, has_many ? own : sessions->first);
    }
}

enum status sessions_begin(struct sessions *sessions, const struct user *user,
                           const uint8_t random[SESSION_RANDOM_SIZE], int64_t now_us,
                           char token[SESSION_TOKEN_SIZE])
{
    struct session *session = mem_zalloc(sessions->allocator, sizeof(*session));
    if (!session) {
        return STATUS_NO_MEMORY;
    }
    make_token(random, token);
    make_digest(slice_make(token, SESSION_TOKEN_SIZE), session->digest);
    session->user = user;
    session->began_us = session->used_us = now_us;
    enum status status = map_insert(&sessions->by_digest, session);
    if (status) {
        mem_free(sessions->allocator, session, sizeof(*session));
        return status;
    }
    make_room(sessions, user);
    session->id = ++sessions->last_id;
    link_last(sessions, session);
    return STATUS_OK;
}

struct session *sessions_use(struct sessions *sessions, struct slice token, int64_t now_us)
{
    uint8_t digest[SHA256_SIZE];
    if (token.size != SESSION_TOKEN_SIZE) {
        return NULL;
    }
    make_digest(token, digest);
    struct session *session =
        map_find(&sessions->by_digest, slice_make((const char *)digest, sizeof(digest)));
    if (session && is_over(sessions, session, now_us)) {
        sessions_end(sessions, session);
        session = NULL;
    }
    if (session) {
        touch(sessions, session, now_us);
    }
    return session;
}

bool sessions_go_on(struct sessions *sessions, uint64_t id, int64_t now_us)
{
    // A session with a stream in progress was used recently.
    for (struct session *at = sessions->last; at; at = at->previous) {
        if (at->id == id) {
            bool over = is_over(sessions, at, now_us);
            if (!over) {
                touch(sessions, at, now_us);
            }
            return !over;
        }
    }
    return false;
}

void sessions_end(struct sessions *sessions, struct session *session)
{
    const void *removed = map_remove(&sessions->by_digest, key_of(session));
    assert(removed == session);
    (void)removed;
    link_out(sessions, session);
    mem_free(sessions->allocator, session, sizeof(*session));
}

void sessions_end_revoked(struct sessions *sessions)
{
    struct session *next;
    for (struct session *at = sessions->first; at; at = next) {
        next = at->next;
        if (at->user->revoked || user_is_gone(at->user)) {
            sessions_end(sessions, at);
        }
    }
}

void sessions_expire(struct sessions *sessions, int64_t now_us)
{
    struct session *next;
    for (struct session *at = sessions->first; at; at = next) {
        next = at->next;
        if (is_over(sessions, at, now_us)) {
            sessions_end(sessions, at);
        }
    }
}
