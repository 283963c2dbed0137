// SPDX-License-Identifier: MIT
// Putting jobs. Each put has the id of a request, so that it can be
// repeated if its answer is lost. It also has the jid, so that a server that has forgotten the
// request does not make a second job.
#include "base/uuid.h"
#include "client/members.h"
#include "client/memory.h"
#include "client/options.h"
#include "client/queue.h"
#include "client/repeat.h"
#include "client/results.h"
#include "os/clock.h"

#include <stdlib.h>
#include <sys/random.h>

enum {
    WORD_OVERHEAD = 16, // bytes that a word takes on the wire besides its own, at most
};

static enum sluice_status make_jid(char jid[SLUICE_NAME_SIZE], struct sluice_error *error)
{
    uint8_t entropy[UUID_ENTROPY_SIZE];
    struct uuid uuid;
    if (getrandom(entropy, sizeof(entropy), 0) != sizeof(entropy)) {
        return fault(error, SLUICE_IO, "the system gives no random numbers");
    }
    uuid_v7(wall_clock_us(), entropy, &uuid);
    uuid_format(&uuid, jid);
    jid[UUID_TEXT_SIZE] = '\0';
    return SLUICE_OK;
}

#define MEMBER(member, word, type, flags)                                                          \
    {                                                                                              \
#        member, word, type, offsetof(struct sluice_put_options, member), flags                    \
    }

static const struct member member_table[] = {
    MEMBER(priority, "PRIORITY", MEMBER_INTEGER, MEMBER_ZERO | MEMBER_NEGATIVE),
    MEMBER(delay, "DELAY", MEMBER_SECONDS, MEMBER_ZERO | MEMBER_NONE),
    MEMBER(at, "AT", MEMBER_SECONDS, MEMBER_ZERO | MEMBER_NONE),
    MEMBER(retries, "RETRIES", MEMBER_INTEGER, MEMBER_ZERO | MEMBER_NONE),
    MEMBER(tags, "TAG", MEMBER_TEXTS, 0),
    MEMBER(depends, "DEPENDS", MEMBER_TEXTS, 0),
    MEMBER(allow_missing, "ALLOW-MISSING", MEMBER_FLAG, 0),
    MEMBER(domain, "DOMAIN", MEMBER_TEXT, 0),
    MEMBER(deadline, "DEADLINE", MEMBER_SECONDS, MEMBER_NONE),
    MEMBER(backoff, "BACKOFF", MEMBER_TEXT, 0),
    MEMBER(timeout, "TIMEOUT", MEMBER_SECONDS, MEMBER_NONE),
    MEMBER(lease, "LEASE", MEMBER_SECONDS, MEMBER_NONE),
    MEMBER(result_ttl, "RESULT-TTL", MEMBER_SECONDS, MEMBER_NONE),
    MEMBER(max_crashes, "MAX-CRASHES", MEMBER_INTEGER, MEMBER_NONE),
    MEMBER(on_dependency_failure, "ON-DEPENDENCY-FAILURE", MEMBER_TEXT, 0),
    MEMBER(unique, "UNIQUE", MEMBER_TEXT, 0),
    MEMBER(unique_contents, "UNIQUE-CONTENTS", MEMBER_FLAG, 0),
    MEMBER(unique_until, "UNIQUE-UNTIL", MEMBER_TEXT, 0),
    MEMBER(unique_for, "UNIQUE-FOR", MEMBER_SECONDS, 0),
    MEMBER(on_conflict, "ON-CONFLICT", MEMBER_TEXT, 0),
};
static const struct members members = { member_table,
                                        sizeof(member_table) / sizeof(member_table[0]) };

static enum sluice_status check_put(const struct sluice_put_options *put,
                                    struct sluice_error *error)
{
    const char *missing = !put->queue   ? "queue"
                          : !put->klass ? "klass"
                          : !put->data  ? "data"
                                        : NULL;
    return missing ? fault(error, SLUICE_INVALID, "a job needs a %s", missing)
                   : members_check(members, put, error);
}

// Adds the words of Q.PUT after the namespace.
static void add_put(const struct sluice *sluice, struct words *words,
                    const struct sluice_put_options *put, const char *jid)
{
    words_text(words, put->queue);
    words_text(words, put->klass);
    words_text(words, put->data);
    words_option(words, "JID", jid);
    members_add(members, put, words);
    repeat_option(sluice, words);
}

// Copies the jid in the answer.
static enum sluice_status copy_jid(const struct sluice_value *answer, char jid[SLUICE_NAME_SIZE],
                                   struct sluice_error *error)
{
    const char *given = sluice_value_text(answer, NULL);
    if (!given || strlen(given) >= SLUICE_NAME_SIZE) {
        return fault(error, SLUICE_INVALID, "malformed answer: expected a jid");
    }
    (void)snprintf(jid, SLUICE_NAME_SIZE, "%s", given);
    return SLUICE_OK;
}

// Copies the jid of the job, or makes one.
static enum sluice_status take_jid(const struct sluice_put_options *put, char jid[SLUICE_NAME_SIZE],
                                   struct sluice_error *error)
{
    enum sluice_status status = check_put(put, error);
    if (status) {
        return status;
    }
    if (!put->jid) {
        return make_jid(jid, error);
    }
    if (strlen(put->jid) >= SLUICE_NAME_SIZE) {
        return fault(error, SLUICE_INVALID, "a jid has at most %d bytes", SLUICE_NAME_SIZE - 1);
    }
    (void)snprintf(jid, SLUICE_NAME_SIZE, "%s", put->jid);
    return SLUICE_OK;
}

enum sluice_status sluice_put(struct sluice *sluice, const struct sluice_put_options *given,
                              char *jid, struct sluice_error *error)
{
    const char *null = !sluice ? "sluice" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    char own[SLUICE_NAME_SIZE];
    struct sluice_put_options put;
    struct words words;
    struct sluice_value *answer;
    const struct ask ask = { .repeats = true };
    jid = jid ? jid : own;
    enum sluice_status status = put_options_read(given, &put, error);
    if (!status) {
        status = take_jid(&put, jid, error);
    }
    if (status) {
        return status;
    }
    queue_words(sluice, &words, "Q.PUT");
    add_put(sluice, &words, &put, jid);
    status = queue_ask(sluice, &words, &ask, &answer, error);
    if (!status) {
        status = copy_jid(answer, jid, error);
    }
    sluice_value_free(answer);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Many

static void read_result(const struct sluice *sluice, struct sluice_result *result,
                        const struct sluice_value *answer)
{
    struct sluice_error why = { 0 };
    enum sluice_status status = sluice_value_status(answer);
    if (status) {
        const char *text = sluice_value_text(answer, NULL);
        (void)fault(&why, status, "%s", text ? text : "");
        members_translate(commands_find(sluice->commands, SLICE("Q.PUT")), &why);
    } else {
        status = answer ? copy_jid(answer, result->jid, &why)
                        : fault(&why, SLUICE_UNKNOWN, "the answer does not tell the result");
    }
    result_set(result, status, why.message);
}

// Jobs of a call, and the commands that put them.
struct chunk {
    struct sluice *sluice;
    const struct sluice_put_options *puts;
    struct sluice_result *results;
    size_t first, count;     // of the next command
    size_t words, bytes;     // of the next command
    struct sluice_error why; // the rest is not put
};

// How large the words of a job are.
static void measure(const struct chunk *chunk, size_t index, size_t *words, size_t *bytes)
{
    struct words all;
    struct sluice_put_options put;
    words_init(&all);
    (void)put_options_read(put_options_at(chunk->puts, index), &put, NULL);
    add_put(chunk->sluice, &all, &put, chunk->results[index].jid);
    *words = all.count + 1;
    *bytes = 0;
    for (size_t i = 0; i < all.count; i++) {
        *bytes += all.items[i].size + WORD_OVERHEAD;
    }
    words_release(&all);
}

static size_t add_jobs(const struct chunk *chunk, size_t first, size_t count, struct words *words)
{
    size_t jobs = 0;
    for (size_t i = first; i < first + count && !words->failed; i++) {
        struct sluice_put_options put;
        if (chunk->results[i].status) {
            continue;
        }
        size_t place = words->count;
        words_integer(words, 0);
        (void)put_options_read(put_options_at(chunk->puts, i), &put, NULL); // was read before
        add_put(chunk->sluice, words, &put, chunk->results[i].jid);
        if (!words->failed) {
            words_set_integer(words, place, (int64_t)(words->count - place - 1));
        }
        jobs++;
    }
    return jobs;
}

// Puts those that have no result yet. A command that is too large for the server is divided.
static void put_range(struct chunk *chunk, size_t first, size_t count)
{
    struct words words;
    struct sluice_value *answer;
    struct sluice_error why = { 0 };
    const struct ask ask = { .repeats = true };
    queue_words(chunk->sluice, &words, "Q.MPUT");
    size_t jobs = add_jobs(chunk, first, count, &words);
    if (!jobs) {
        words_release(&words);
        return;
    }
    enum sluice_status status = queue_ask(chunk->sluice, &words, &ask, &answer, &why);
    if (status == SLUICE_TOO_LARGE && jobs > 1) {
        put_range(chunk, first, count / 2);
        put_range(chunk, first + count / 2, count - count / 2);
        return;
    }
    size_t index = 0;
    for (size_t i = first; i < first + count; i++) {
        if (!chunk->results[i].status && status) {
            result_set(&chunk->results[i], status, why.message);
        } else if (!chunk->results[i].status) {
            read_result(chunk->sluice, &chunk->results[i], sluice_value_at(answer, index++));
        }
    }
    sluice_value_free(answer);
    if (results_of_rest(status)) {
        (void)fault(&chunk->why, results_of_rest(status), "%s", why.message);
    }
}

static void flush(struct chunk *chunk)
{
    put_range(chunk, chunk->first, chunk->count);
    chunk->first += chunk->count;
    chunk->count = chunk->words = chunk->bytes = 0;
}

static void add(struct chunk *chunk, size_t index)
{
    struct sluice_result *result = &chunk->results[index];
    struct sluice_error why = { 0 };
    struct sluice_put_options put;
    size_t words = 0, bytes = 0;
    *result = (struct sluice_result){ 0 };
    enum sluice_status status = put_options_read(put_options_at(chunk->puts, index), &put, &why);
    status = status ? status : take_jid(&put, result->jid, &why);
    result_set(result, status, why.message);
    if (!status) {
        measure(chunk, index, &words, &bytes);
    }
    if (chunk->words + words > CHUNK_WORDS || chunk->bytes + bytes > CHUNK_BYTES) {
        flush(chunk);
    }
    if (!status && chunk->why.status) {
        result_set(result, chunk->why.status, chunk->why.message);
    }
    chunk->count++;
    chunk->words += words;
    chunk->bytes += bytes;
}

// Without room for all results, those of a part at a time are kept.
static enum sluice_status put_all(struct chunk *chunk, size_t count, size_t room,
                                  struct sluice_error *error)
{
    struct sluice_error first = { .status = SLUICE_OK };
    struct sluice_error why;
    for (size_t done = 0; done < count; done += room) {
        size_t part = count - done < room ? count - done : room;
        for (size_t i = 0; i < part; i++) {
            add(chunk, i);
            if (chunk->count == CHUNK_ELEMENTS) {
                flush(chunk);
            }
        }
        flush(chunk);
        if (!first.status && results_first_refused(chunk->results, part, &why)) {
            first = why;
        }
        chunk->first = 0;
        chunk->puts = put_options_at(chunk->puts, part);
    }
    return first.status ? fault(error, first.status, "%s", first.message) : SLUICE_OK;
}

enum sluice_status sluice_put_many(struct sluice *sluice, const struct sluice_put_options *puts,
                                   size_t count, struct sluice_result *results,
                                   struct sluice_error *error)
{
    const char *null = !sluice ? "sluice" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    struct sluice_put_options put;
    if (count == 0) {
        return SLUICE_OK;
    }
    enum sluice_status status = put_options_read(puts, &put, error); // the size of each
    if (status) {
        return status;
    }
    size_t room = results || count < CHUNK_ELEMENTS ? count : CHUNK_ELEMENTS;
    struct chunk chunk = { .sluice = sluice, .puts = puts, .results = results };
    if (!results) {
        chunk.results = memory_zalloc(room, sizeof(*chunk.results));
    }
    if (!chunk.results) {
        return fault_no_memory(error);
    }
    status = put_all(&chunk, count, room, error);
    if (!results) {
        memory_free(chunk.results);
    }
    return status;
}
