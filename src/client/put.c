// SPDX-License-Identifier: MIT
// Putting jobs. Each carries its jid, so that one whose answer was lost can be looked for.
#include "base/uuid.h"
#include "client/heard.h"
#include "client/pause.h"
#include "store/file.h"

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
    if (put->allow_missing) {
        words_text(words, "ALLOW-MISSING");
    }
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

// The jid that the queue has given it.
static enum sluice_status copy_jid(const struct sluice_value *answer, char jid[SLUICE_NAME_SIZE],
                                   struct sluice_error *error)
{
    const char *given = sluice_value_text(answer, NULL);
    if (!given || strlen(given) >= SLUICE_NAME_SIZE) {
        return fault(error, SLUICE_INVALID, "the answer makes no sense: it is no jid");
    }
    (void)snprintf(jid, SLUICE_NAME_SIZE, "%s", given);
    return SLUICE_OK;
}

static enum sluice_status put_once(const struct putting *putting, char *jid,
                                   struct sluice_error *error)
{
    struct words words;
    struct sluice_value *answer;
    const struct ask ask = { .until_us = putting->until_us };
    queue_words(putting->sluice, &words, "Q.PUT");
    add_put(&words, putting->put, jid);
    enum sluice_status status = queue_ask(putting->sluice, &words, &ask, &answer, error);
    if (!status) {
        status = copy_jid(answer, jid, error);
    }
    sluice_value_free(answer);
    return status;
}

static enum sluice_status unsure_of_it(struct sluice_error *error)
{
    return fault(error, SLUICE_UNKNOWN,
                 "the connection was lost before the answer came: it may have been put, or not");
}

// After its answer was lost: until it is known that it was heard, or refused, or the time is over.
static enum sluice_status put_again(struct putting *putting, char *jid, struct sluice_error *error)
{
    enum sluice_status status = SLUICE_UNKNOWN;
    for (unsigned attempts = 0; status == SLUICE_UNKNOWN; attempts++) {
        bool late = attempts ? !pause_before(attempts, putting->until_us, -1)
                             : monotonic_us() >= putting->until_us;
        switch (late ? HEARD_UNSURE : put_heard(putting, jid)) {
        case HEARD:
            return SLUICE_OK;
        case HEARD_UNSURE:
            return unsure_of_it(error);
        case HEARD_NOT:
            status = put_once(putting, jid, error);
            break;
        }
    }
    return status;
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
    struct putting putting = {
        .sluice = sluice, .put = put, .began_us = clock_now_us(), .until_us = queue_until_us(sluice)
    };
    enum sluice_status status = take_jid(put, jid, error);
    if (!status) {
        status = put_once(&putting, jid, error);
    }
    return status == SLUICE_UNKNOWN ? put_again(&putting, jid, error) : status;
}

// ---------------------------------------------------------------------------------------------
// Many

// What became of one of them.
static void set_result(struct sluice_put_result *result, enum sluice_status status,
                       const char *message)
{
    result->status = status;
    (void)snprintf(result->message, sizeof(result->message), "%s", status ? message : "");
}

static void read_result(struct sluice_put_result *result, const struct sluice_value *answer)
{
    struct sluice_error why = { 0 };
    enum sluice_status status = sluice_value_status(answer);
    if (status) {
        const char *text = sluice_value_text(answer, NULL);
        set_result(result, status, text ? text : "");
    } else {
        status = answer ? copy_jid(answer, result->jid, &why) : unsure_of_it(&why);
        set_result(result, status, why.message);
    }
}

// The jids, and which of them cannot even be asked for.
static size_t begin_results(const struct sluice_put *puts, size_t count,
                            struct sluice_put_result *results)
{
    size_t good = 0;
    for (size_t i = 0; i < count; i++) {
        struct sluice_error why = { 0 };
        results[i] = (struct sluice_put_result){ 0 };
        set_result(&results[i], take_jid(&puts[i], results[i].jid, &why), why.message);
        good += !results[i].status;
    }
    return good;
}

// After the answer to all of them was lost; `putting` says when they were put.
static void put_each(struct putting *putting, const struct sluice_put *puts, size_t count,
                     struct sluice_put_result *results)
{
    for (size_t i = 0; i < count; i++) {
        struct sluice_error why = { 0 };
        putting->put = &puts[i];
        if (!results[i].status) {
            set_result(&results[i], put_again(putting, results[i].jid, &why), why.message);
        }
    }
}

static void add_many(struct words *words, const struct sluice_put *puts, size_t count,
                     const struct sluice_put_result *results)
{
    struct words one;
    for (size_t i = 0; i < count && !words->failed; i++) {
        if (results[i].status) {
            continue;
        }
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

// Puts those that have no result yet.
static void put_all(struct sluice *sluice, const struct sluice_put *puts, size_t count,
                    struct sluice_put_result *results)
{
    struct words words;
    struct sluice_value *answer;
    struct sluice_error why = { 0 };
    struct putting putting = { .sluice = sluice,
                               .began_us = clock_now_us(),
                               .until_us = queue_until_us(sluice) };
    const struct ask ask = { .until_us = putting.until_us };
    queue_words(sluice, &words, "Q.MPUT");
    add_many(&words, puts, count, results);
    enum sluice_status status = queue_ask(sluice, &words, &ask, &answer, &why);
    if (status == SLUICE_UNKNOWN) {
        put_each(&putting, puts, count, results);
        return;
    }
    size_t index = 0;
    for (size_t i = 0; i < count; i++) {
        if (!results[i].status && status) {
            set_result(&results[i], status, why.message);
        } else if (!results[i].status) {
            read_result(&results[i], sluice_value_at(answer, index++));
        }
    }
    sluice_value_free(answer);
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
    if (begin_results(puts, count, own)) {
        put_all(sluice, puts, count, own);
    }
    enum sluice_status status = first_refused(own, count, error);
    if (!results) {
        free(own);
    }
    return status;
}
