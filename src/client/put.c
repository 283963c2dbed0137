// SPDX-License-Identifier: MIT
// Putting jobs. Each is a request with an id of its own, so that one whose answer was lost is asked
// again until it is known; and carries its jid, so that not even a server that has forgotten the
// request makes a second job.
#include "base/uuid.h"
#include "client/members.h"
#include "client/options.h"
#include "client/queue.h"
#include "client/repeat.h"
#include "os/clock.h"

#include <stdlib.h>
#include <sys/random.h>

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

// The words of Q.PUT behind the namespace.
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

// The jid that the queue has given it.
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

// Its jid: the one it has, or one that is made.
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

// What became of one of them.
static void set_result(struct sluice_result *result, enum sluice_status status, const char *message)
{
    result->status = status;
    (void)snprintf(result->message, sizeof(result->message), "%s", status ? message : "");
}

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
                        : fault(&why, SLUICE_UNKNOWN, "the server has not said what became of it");
    }
    set_result(result, status, why.message);
}

// The jids, and which of them cannot even be asked for.
static size_t begin_results(const struct sluice_put_options *puts, size_t count,
                            struct sluice_result *results)
{
    size_t good = 0;
    for (size_t i = 0; i < count; i++) {
        struct sluice_error why = { 0 };
        struct sluice_put_options put;
        results[i] = (struct sluice_result){ 0 };
        enum sluice_status status = put_options_read(put_options_at(puts, i), &put, &why);
        if (!status) {
            status = take_jid(&put, results[i].jid, &why);
        }
        set_result(&results[i], status, why.message);
        good += !results[i].status;
    }
    return good;
}

static void add_many(const struct sluice *sluice, struct words *words,
                     const struct sluice_put_options *puts, size_t count,
                     const struct sluice_result *results)
{
    for (size_t i = 0; i < count && !words->failed; i++) {
        if (results[i].status) {
            continue;
        }
        size_t place = words->count;
        words_integer(words, 0);
        struct sluice_put_options put;
        (void)put_options_read(put_options_at(puts, i), &put, NULL); // good, or it had a result
        add_put(sluice, words, &put, results[i].jid);
        if (!words->failed) {
            words_set_integer(words, place, (int64_t)(words->count - place - 1));
        }
    }
}

static enum sluice_status first_refused(const struct sluice_result *results, size_t count,
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
static void put_all(struct sluice *sluice, const struct sluice_put_options *puts, size_t count,
                    struct sluice_result *results)
{
    struct words words;
    struct sluice_value *answer;
    struct sluice_error why = { 0 };
    const struct ask ask = { .repeats = true };
    queue_words(sluice, &words, "Q.MPUT");
    add_many(sluice, &words, puts, count, results);
    enum sluice_status status = queue_ask(sluice, &words, &ask, &answer, &why);
    size_t index = 0;
    for (size_t i = 0; i < count; i++) {
        if (!results[i].status && status) {
            set_result(&results[i], status, why.message);
        } else if (!results[i].status) {
            read_result(sluice, &results[i], sluice_value_at(answer, index++));
        }
    }
    sluice_value_free(answer);
}

enum sluice_status sluice_put_many(struct sluice *sluice, const struct sluice_put_options *puts,
                                   size_t count, struct sluice_result *results,
                                   struct sluice_error *error)
{
    if (count == 0) {
        return SLUICE_OK;
    }
    struct sluice_result *own = results ? results : calloc(count, sizeof(*own));
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
