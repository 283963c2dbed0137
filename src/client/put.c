// SPDX-License-Identifier: MIT
// Putting jobs. Each carries its jid, so that one whose answer was lost can be looked for.
#include "base/uuid.h"
#include "client/queue.h"

#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

static enum sluice_status make_jid(char jid[SLUICE_NAME_SIZE], struct sluice_error *error)
{
    struct timespec now;
    uint8_t entropy[UUID_ENTROPY_SIZE];
    struct uuid uuid;
    if (clock_gettime(CLOCK_REALTIME, &now) ||
        getrandom(entropy, sizeof(entropy), 0) != sizeof(entropy)) {
        return fault(error, SLUICE_IO, "the system gives no random numbers");
    }
    uuid_v7((int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000, entropy, &uuid);
    uuid_format(&uuid, jid);
    jid[UUID_TEXT_SIZE] = '\0';
    return SLUICE_OK;
}

static enum sluice_status check_put(const struct sluice_put *put, struct sluice_error *error)
{
    const char *missing = !put->queue   ? "queue"
                          : !put->klass ? "klass"
                          : !put->data  ? "data"
                                        : NULL;
    return missing ? fault(error, SLUICE_INVALID, "a job needs a %s", missing) : SLUICE_OK;
}

// The words of Q.PUT behind the namespace.
static void add_put(struct words *words, const struct sluice_put *put, const char *jid)
{
    words_text(words, put->queue);
    words_text(words, put->klass);
    words_text(words, put->data);
    words_option(words, "JID", jid);
    words_option_integer(words, "PRIORITY", put->priority);
    words_option_seconds(words, "DELAY", put->delay);
    words_option_seconds(words, "AT", put->at);
    words_option_limit(words, "RETRIES", put->retries);
    words_options(words, "TAG", put->tags);
    words_options(words, "DEPENDS", put->depends);
    words_option(words, "DOMAIN", put->domain);
    words_option_seconds(words, "DEADLINE", put->deadline);
    words_option(words, "BACKOFF", put->backoff);
    words_option_seconds(words, "TIMEOUT", put->timeout);
    words_option_seconds(words, "RESULT-TTL", put->result_ttl);
    words_option_limit(words, "MAX-CRASHES", put->max_crashes);
    words_option(words, "ON-DEPENDENCY-FAILURE", put->on_dependency_failure);
    words_option(words, "UNIQUE", put->unique);
    if (put->unique_contents) {
        words_text(words, "UNIQUE-CONTENTS");
    }
    words_option(words, "UNIQUE-UNTIL", put->unique_until);
    words_option_seconds(words, "UNIQUE-FOR", put->unique_for);
    words_option(words, "ON-CONFLICT", put->on_conflict);
}

static bool is_text(const struct sluice_value *value, const char *key, const char *text)
{
    const char *there = sluice_value_text(sluice_value_get(value, key), NULL);
    return there && strcmp(there, text) == 0;
}

// Whether a put whose answer was lost had been heard: the job is there as it was put.
static enum sluice_status look_for(struct sluice *sluice, const struct sluice_put *put,
                                   const char *jid, bool *found, struct sluice_error *error)
{
    struct sluice_value *job;
    enum sluice_status status = sluice_get(sluice, jid, &job, error);
    *found = !status && is_text(job, "klass", put->klass) && is_text(job, "data", put->data) &&
             (is_text(job, "queue", put->queue) ||
              sluice_value_type(sluice_value_get(job, "queue")) == SLUICE_NULL);
    sluice_value_free(job);
    return status == SLUICE_NOT_FOUND ? SLUICE_OK : status;
}

static enum sluice_status put_once(struct sluice *sluice, const struct sluice_put *put, char *jid,
                                   struct sluice_error *error)
{
    struct words words;
    struct sluice_value *answer;
    const struct ask ask = { 0 };
    queue_words(sluice, &words, "Q.PUT");
    add_put(&words, put, jid);
    enum sluice_status status = queue_ask(sluice, &words, &ask, &answer, error);
    const char *given = status ? NULL : sluice_value_text(answer, NULL);
    if (given) {
        (void)snprintf(jid, SLUICE_NAME_SIZE, "%s", given);
    }
    sluice_value_free(answer);
    return status;
}

// Until it is known that it is there, or refused, or the server cannot be reached.
static enum sluice_status put_surely(struct sluice *sluice, const struct sluice_put *put, char *jid,
                                     bool unsure, struct sluice_error *error)
{
    for (;;) {
        bool found = false;
        if (unsure) {
            enum sluice_status status = look_for(sluice, put, jid, &found, error);
            if (status || found) {
                return status == SLUICE_UNREACHABLE ? SLUICE_UNKNOWN : status;
            }
        }
        enum sluice_status status = put_once(sluice, put, jid, error);
        if (status != SLUICE_UNKNOWN) {
            return status;
        }
        unsure = true;
    }
}

// Its jid: the one it has, or one that is made.
static enum sluice_status take_jid(const struct sluice_put *put, char jid[SLUICE_NAME_SIZE],
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

enum sluice_status sluice_put(struct sluice *sluice, const struct sluice_put *put, char *jid,
                              struct sluice_error *error)
{
    char own[SLUICE_NAME_SIZE];
    jid = jid ? jid : own;
    enum sluice_status status = take_jid(put, jid, error);
    return status ? status : put_surely(sluice, put, jid, false, error);
}

// ---------------------------------------------------------------------------------------------
// Many

static void set_result(struct sluice_put_result *result, const struct sluice_value *answer)
{
    const char *text = sluice_value_text(answer, NULL);
    result->status = sluice_value_status(answer);
    if (result->status) {
        (void)snprintf(result->message, sizeof(result->message), "%s", text ? text : "");
    } else {
        (void)snprintf(result->jid, sizeof(result->jid), "%s", text ? text : "");
    }
}

// The jids, and which of them cannot even be asked for.
static bool begin_results(const struct sluice_put *puts, size_t count,
                          struct sluice_put_result *results)
{
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        struct sluice_error why;
        results[i] = (struct sluice_put_result){ 0 };
        results[i].status = take_jid(&puts[i], results[i].jid, &why);
        if (results[i].status) {
            all = false;
            (void)snprintf(results[i].message, sizeof(results[i].message), "%s", why.message);
        }
    }
    return all;
}

// After the answer to all of them was lost.
static void put_each(struct sluice *sluice, const struct sluice_put *puts, size_t count,
                     struct sluice_put_result *results)
{
    for (size_t i = 0; i < count; i++) {
        struct sluice_error why = { 0 };
        results[i].status = put_surely(sluice, &puts[i], results[i].jid, true, &why);
        (void)snprintf(results[i].message, sizeof(results[i].message), "%s", why.message);
    }
}

static void add_many(struct words *words, const struct sluice_put *puts, size_t count,
                     const struct sluice_put_result *results)
{
    struct words one;
    for (size_t i = 0; i < count && !words->failed; i++) {
        words_init(&one);
        add_put(&one, &puts[i], results[i].jid);
        words_integer(words, (int64_t)one.count);
        words->failed |= one.failed;
        words_release(&one);
        add_put(words, &puts[i], results[i].jid);
    }
}

static enum sluice_status first_refused(const struct sluice_put_result *results, size_t count,
                                        struct sluice_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (results[i].status) {
            return fault(error, results[i].status, "%s", results[i].message);
        }
    }
    return SLUICE_OK;
}

static enum sluice_status put_all(struct sluice *sluice, const struct sluice_put *puts,
                                  size_t count, struct sluice_put_result *results,
                                  struct sluice_error *error)
{
    struct words words;
    struct sluice_value *answer;
    const struct ask ask = { 0 };
    queue_words(sluice, &words, "Q.MPUT");
    add_many(&words, puts, count, results);
    enum sluice_status status = queue_ask(sluice, &words, &ask, &answer, error);
    if (status == SLUICE_UNKNOWN) {
        put_each(sluice, puts, count, results);
        status = SLUICE_OK;
    } else {
        for (size_t i = 0; i < count && !status; i++) {
            set_result(&results[i], sluice_value_at(answer, i));
        }
    }
    sluice_value_free(answer);
    return status ? status : first_refused(results, count, error);
}

enum sluice_status sluice_put_many(struct sluice *sluice, const struct sluice_put *puts,
                                   size_t count, struct sluice_put_result *results,
                                   struct sluice_error *error)
{
    if (count == 0) {
        return SLUICE_OK;
    }
    struct sluice_put_result *own = results ? results : calloc(count, sizeof(*own));
    if (!own) {
        return fault_no_memory(error);
    }
    enum sluice_status status = begin_results(puts, count, own)
                                    ? put_all(sluice, puts, count, own, error)
                                    : first_refused(own, count, error);
    if (!results) {
        free(own);
    }
    return status;
}
