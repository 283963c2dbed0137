// SPDX-License-Identifier: MIT
// Taking jobs and settling them.
#include "client/job.h"

#include "client/members.h"
#include "client/memory.h"
#include "client/options.h"
#include "client/repeat.h"
#include "client/value.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Taking

void batch_leave(struct batch *batch)
{
    if (atomic_fetch_sub(&batch->jobs, 1) == 1) {
        sluice_value_free(batch->answer);
        memory_free(batch);
    }
}

static struct batch *batch_new(const char *worker)
{
    struct batch *batch = memory_zalloc(1, sizeof(*batch));
    if (batch) {
        batch->jobs = 1;
        (void)snprintf(batch->worker, sizeof(batch->worker), "%s", worker);
    }
    return batch;
}

// `value` is part of the answer of the batch.
static struct sluice_job *job_new(struct sluice *sluice, struct batch *batch,
                                  const struct sluice_value *value)
{
    struct sluice_job *job = memory_zalloc(1, sizeof(*job));
    if (job) {
        job->sluice = sluice;
        job->batch = batch;
        job->value = value;
        job->expires = sluice_value_number(sluice_value_get(job->value, "expires"));
        job->remaining = sluice_value_integer(sluice_value_get(job->value, "remaining"));
        atomic_fetch_add(&batch->jobs, 1);
    }
    return job;
}

static bool is_job(const struct sluice_value *value)
{
    static const char *const texts[] = { "jid", "klass", "queue", "data" };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (!sluice_value_text(sluice_value_get(value, texts[i]), NULL)) {
            return false;
        }
    }
    return sluice_value_type(sluice_value_get(value, "token")) == SLUICE_INTEGER;
}

// Checks that the answer is a list of at most `room` jobs.
static enum sluice_status check_jobs(const struct sluice_value *answer, size_t room,
                                     struct sluice_error *error)
{
    size_t count = sluice_value_count(answer);
    bool good = sluice_value_type(answer) == SLUICE_LIST && count <= room;
    for (size_t i = 0; i < count && good; i++) {
        good = is_job(sluice_value_at(answer, i));
    }
    return good ? SLUICE_OK
                : fault(error, SLUICE_INVALID, "malformed answer: expected a list of jobs");
}

// A job that there is no memory for is left alone: its lease expires.
static enum sluice_status give_out(struct sluice *sluice, struct batch *batch,
                                   struct sluice_job **jobs, size_t *taken,
                                   struct sluice_error *error)
{
    size_t count = sluice_value_count(batch->answer);
    for (size_t i = 0; i < count; i++) {
        struct sluice_job *job = job_new(sluice, batch, sluice_value_at(batch->answer, i));
        if (job) {
            jobs[(*taken)++] = job;
        }
    }
    if (count == 0) {
        return fault(error, SLUICE_TIMED_OUT, "no job arrived in the given time");
    }
    return *taken ? SLUICE_OK : fault_no_memory(error);
}

// Q.POP ns worker count [WAIT n] [LEASE n] [ORDER order] -- queue ...
static void take_words(const struct sluice *sluice, const struct sluice_take_options *take,
                       size_t count, struct words *words, struct ask *ask)
{
    queue_words(sluice, words, "Q.POP");
    words_text(words, take->worker ? take->worker : sluice->worker);
    words_integer(words, (int64_t)count);
    *ask = (struct ask){ .wait_us = wait_us_of(take->wait), .repeats = true };
    if (ask->wait_us) {
        words_text(words, "WAIT");
        ask->wait_word = words->count;
        words_seconds(words, ask->wait_us == LINK_FOREVER ? 0 : take->wait);
    }
    words_option_seconds(words, "LEASE", take->lease);
    if (take->round_robin) {
        words_option(words, "ORDER", "round-robin");
    } else if (take->best) {
        words_option(words, "ORDER", "best");
    }
    words_text(words, "--");
    for (const char *const *queue = take->queues; *queue; queue++) {
        words_text(words, *queue);
    }
}

static const struct member lease_member = { "lease", "LEASE", MEMBER_SECONDS,
                                            offsetof(struct sluice_take_options, lease), 0 };

static enum sluice_status check_take(const struct sluice_take_options *take,
                                     struct sluice_error *error)
{
    if (!take->queues || !take->queues[0]) {
        return fault(error, SLUICE_INVALID, "there is no queue to take from");
    }
    if (take->round_robin && take->best) {
        return fault(error, SLUICE_INVALID, "either round_robin or best, not both");
    }
    enum sluice_status status = check_name(take->worker, "worker", error);
    return status ? status : member_check_number(&lease_member, take->lease, error);
}

// A pop whose answer was lost can be repeated: the jobs that it took come back when their leases
// expire.
enum sluice_status sluice_take(struct sluice *sluice, const struct sluice_take_options *given,
                               struct sluice_job **jobs, size_t count, size_t *taken,
                               struct sluice_error *error)
{
    const char *null = !sluice ? "sluice" : !jobs ? "jobs" : !taken ? "taken" : NULL;
    if (taken) {
        *taken = 0;
    }
    if (null) {
        return fault_null(error, null);
    }
    struct sluice_take_options take;
    struct words words;
    struct ask ask;
    enum sluice_status status = take_options_read(given, &take, error);
    if (!status) {
        status = check_take(&take, error);
    }
    if (status) {
        return status;
    }
    struct batch *batch = batch_new(take.worker ? take.worker : sluice->worker);
    if (!batch) {
        return fault_no_memory(error);
    }
    take_words(sluice, &take, count, &words, &ask);
    status = queue_ask(sluice, &words, &ask, &batch->answer, error);
    if (!status) {
        status = check_jobs(batch->answer, count, error);
    }
    if (!status) {
        status = give_out(sluice, batch, jobs, taken, error);
    }
    batch_leave(batch);
    return status;
}

enum sluice_status sluice_next(struct sluice *sluice, const char *queue, double wait,
                               struct sluice_job **out, struct sluice_error *error)
{
    if (out) {
        *out = NULL;
    }
    const char *null = !sluice ? "sluice" : !queue ? "queue" : !out ? "out" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    const char *const queues[] = { queue, NULL };
    const struct sluice_take_options take = SLUICE_TAKE(.queues = queues, .wait = wait);
    size_t taken;
    return sluice_take(sluice, &take, out, 1, &taken, error);
}

// Runs a command whose answer is a job that `worker` holds. Releases the words.
static enum sluice_status ask_job(struct sluice *sluice, struct words *words, const struct ask *ask,
                                  const char *worker, struct sluice_job **out,
                                  struct sluice_error *error)
{
    struct batch *batch = batch_new(worker);
    if (!batch) {
        words_release(words);
        return fault_no_memory(error);
    }
    enum sluice_status status = queue_ask(sluice, words, ask, &batch->answer, error);
    if (!status && !is_job(batch->answer)) {
        status = fault(error, SLUICE_INVALID, "malformed answer: expected a job");
    }
    if (!status) {
        *out = job_new(sluice, batch, batch->answer);
        status = *out ? SLUICE_OK : fault_no_memory(error);
    }
    batch_leave(batch);
    return status;
}

enum sluice_status sluice_take_job(struct sluice *sluice, const char *jid,
                                   const struct sluice_take_options *given, struct sluice_job **out,
                                   struct sluice_error *error)
{
    if (out) {
        *out = NULL;
    }
    const char *null = !sluice ? "sluice" : !out ? "out" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    const struct sluice_take_options none = SLUICE_TAKE();
    struct sluice_take_options take;
    struct words words;
    const struct ask ask = { .wait_us = 0 };
    enum sluice_status status = take_options_read(given ? given : &none, &take, error);
    const char *worker = take.worker ? take.worker : sluice->worker;
    if (!status) {
        status = jid ? check_name(jid, "jid", error) : fault_null(error, "jid");
    }
    if (!status) {
        status = check_name(worker, "worker", error);
    }
    if (!status) {
        status = member_check_number(&lease_member, take.lease, error);
    }
    if (status) {
        return status;
    }
    queue_words(sluice, &words, "Q.TAKE");
    words_text(&words, jid);
    words_text(&words, worker);
    words_option_seconds(&words, "LEASE", take.lease);
    return ask_job(sluice, &words, &ask, worker, out, error);
}

static enum sluice_status check_holder(const char *jid, const char *worker, int64_t token,
                                       struct sluice_error *error)
{
    if (!jid || !worker) {
        return fault(error, SLUICE_INVALID, "a job is attached by its jid and its worker");
    }
    if (token < 1) {
        return fault(error, SLUICE_INVALID, "a job is attached by its token, which is not %lld",
                     (long long)token);
    }
    enum sluice_status status = check_name(jid, "jid", error);
    return status ? status : check_name(worker, "worker", error);
}

enum sluice_status sluice_job_attach(struct sluice *sluice, const char *jid, const char *worker,
                                     int64_t token, struct sluice_job **out,
                                     struct sluice_error *error)
{
    if (out) {
        *out = NULL;
    }
    const char *null = !sluice ? "sluice" : !out ? "out" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    struct words words;
    const struct ask ask = { .repeats = true };
    enum sluice_status status = check_holder(jid, worker, token, error);
    if (status) {
        return status;
    }
    queue_words(sluice, &words, "Q.HELD");
    words_text(&words, jid);
    words_text(&words, worker);
    words_text(&words, "TOKEN");
    words_integer(&words, token);
    return ask_job(sluice, &words, &ask, worker, out, error);
}

void sluice_job_free(struct sluice_job *job)
{
    if (job) {
        keeper_remove(job);
        batch_leave(job->batch);
        memory_free(job);
    }
}

// ---------------------------------------------------------------------------------------------
// What is known of a job

static const char *text_of(const struct sluice_job *job, const char *key)
{
    return sluice_value_text(sluice_value_get(sluice_job_value(job), key), NULL);
}

static int64_t integer_of(const struct sluice_job *job, const char *key)
{
    return sluice_value_integer(sluice_value_get(sluice_job_value(job), key));
}

const char *sluice_job_jid(const struct sluice_job *job)
{
    return text_of(job, "jid");
}

const char *sluice_job_klass(const struct sluice_job *job)
{
    return text_of(job, "klass");
}

const char *sluice_job_queue(const struct sluice_job *job)
{
    return text_of(job, "queue");
}

const char *sluice_job_data(const struct sluice_job *job)
{
    return text_of(job, "data");
}

const char *sluice_job_checkpoint(const struct sluice_job *job)
{
    return text_of(job, "checkpoint");
}

const char *sluice_job_worker(const struct sluice_job *job)
{
    return job ? job->batch->worker : NULL;
}

int64_t sluice_job_token(const struct sluice_job *job)
{
    return integer_of(job, "token");
}

double sluice_job_expires(const struct sluice_job *job)
{
    return job ? job->expires : 0;
}

int64_t sluice_job_attempts(const struct sluice_job *job)
{
    return integer_of(job, "attempts");
}

int64_t sluice_job_priority(const struct sluice_job *job)
{
    return integer_of(job, "priority");
}

int64_t sluice_job_remaining(const struct sluice_job *job)
{
    return job ? job->remaining : 0;
}

const char *sluice_job_domain(const struct sluice_job *job)
{
    return text_of(job, "domain");
}

const char *sluice_job_tag(const struct sluice_job *job, size_t index)
{
    return sluice_value_text(
        sluice_value_at(sluice_value_get(sluice_job_value(job), "tags"), index), NULL);
}

const struct sluice_value *sluice_job_value(const struct sluice_job *job)
{
    return job ? job->value : NULL;
}

enum sluice_loss sluice_job_lost(const struct sluice_job *job)
{
    return job ? (enum sluice_loss)atomic_load(&job->lost) : SLUICE_KEPT;
}

// ---------------------------------------------------------------------------------------------
// Calls about a job

void job_words(const struct sluice_job *job, struct words *words, const char *name)
{
    queue_words(job->sluice, words, name);
    words_text(words, sluice_job_jid(job));
    words_text(words, job->batch->worker);
}

void job_token_words(const struct sluice_job *job, struct words *words)
{
    words_text(words, "TOKEN");
    words_integer(words, sluice_job_token(job));
}

enum sluice_loss loss_of(enum sluice_status status)
{
    switch (status) {
    case SLUICE_NOT_FOUND:
        return SLUICE_CANCELED;
    case SLUICE_STALE:
    case SLUICE_STATE:
        return SLUICE_LOST;
    default:
        return SLUICE_KEPT;
    }
}

enum sluice_status job_note(struct sluice_job *job, enum sluice_status status)
{
    int none = SLUICE_KEPT;
    (void)atomic_compare_exchange_strong(&job->lost, &none, (int)loss_of(status));
    return status;
}

// Reports about the job while it runs.
static enum sluice_status tell(struct sluice_job *job, struct words *words,
                               struct sluice_error *error)
{
    const struct ask ask = { .repeats = true };
    job_token_words(job, words);
    return job_note(job, queue_ask(job->sluice, words, &ask, NULL, error));
}

enum sluice_status sluice_heartbeat(struct sluice_job *job, double *expires,
                                    struct sluice_error *error)
{
    const char *null = !job ? "job" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    struct words words;
    struct sluice_value *answer;
    const struct ask ask = { .repeats = true };
    job_words(job, &words, "Q.HEARTBEAT");
    job_token_words(job, &words);
    enum sluice_status status = queue_ask(job->sluice, &words, &ask, &answer, error);
    if (!status) {
        job->expires = sluice_value_number(answer);
        if (expires) {
            *expires = job->expires;
        }
    }
    sluice_value_free(answer);
    return job_note(job, status);
}

enum sluice_status sluice_keepalive(struct sluice_job *job,
                                    void (*lost)(void *context, struct sluice_job *job,
                                                 enum sluice_loss why),
                                    void *context, struct sluice_error *error)
{
    const char *null = !job ? "job" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    return keeper_add(job, lost, context, error);
}

enum sluice_status sluice_start(struct sluice_job *job, int64_t pid, struct sluice_error *error)
{
    const char *null = !job ? "job" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    static const struct member pid_argument = { .name = "pid" };
    struct words words;
    enum sluice_status status = member_check_number(&pid_argument, (double)pid, error);
    if (status) {
        return status;
    }
    job_words(job, &words, "Q.START");
    words_integer(&words, pid);
    return tell(job, &words, error);
}

enum sluice_status sluice_progress(struct sluice_job *job, double fraction, const char *message,
                                   struct sluice_error *error)
{
    const char *null = !job ? "job" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    struct words words;
    job_words(job, &words, "Q.PROGRESS");
    words_seconds(&words, fraction);
    words_option(&words, "MESSAGE", message);
    return tell(job, &words, error);
}

enum sluice_status sluice_checkpoint(struct sluice_job *job, const char *value,
                                     struct sluice_error *error)
{
    const char *null = !job ? "job" : !value ? "value" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    struct words words;
    job_words(job, &words, "Q.CHECKPOINT");
    words_text(&words, value);
    return tell(job, &words, error);
}

enum sluice_status sluice_log(struct sluice_job *job, const char *line, struct sluice_error *error)
{
    const char *null = !job ? "job" : !line ? "line" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    struct words words;
    job_words(job, &words, "Q.LOG");
    words_text(&words, line);
    repeat_option(job->sluice, &words); // a repetition does not add a second line
    return tell(job, &words, error);
}

// ---------------------------------------------------------------------------------------------
// Settling

static const struct member delay_argument = { .name = "delay" };

// Repeated with the token of the lease, a settling is answered as the first time.
static enum sluice_status settle(struct sluice_job *job, struct words *words,
                                 struct sluice_value **answer, struct sluice_error *error)
{
    const struct ask ask = { .repeats = true };
    keeper_set_settling(job, true);
    enum sluice_status status = queue_ask(job->sluice, words, &ask, answer, error);
    if (status) {
        keeper_set_settling(job, false);
    } else {
        keeper_remove(job);
    }
    return job_note(job, status);
}

enum sluice_status sluice_done(struct sluice_job *job, const char *result,
                               struct sluice_error *error)
{
    const char *null = !job ? "job" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    struct words words;
    job_words(job, &words, "Q.COMPLETE");
    job_token_words(job, &words);
    words_option(&words, "RESULT", result);
    return settle(job, &words, NULL, error);
}

enum sluice_status sluice_advance(struct sluice_job *job, const char *queue, const char *data,
                                  double delay, struct sluice_error *error)
{
    const char *null = !job ? "job" : !queue ? "queue" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    struct words words;
    enum sluice_status status = member_check_number(&delay_argument, delay, error);
    if (status) {
        return status;
    }
    job_words(job, &words, "Q.COMPLETE");
    job_token_words(job, &words);
    words_option(&words, "DATA", data);
    words_text(&words, "NEXT");
    words_text(&words, queue);
    words_option_seconds(&words, "DELAY", delay);
    return settle(job, &words, NULL, error);
}

enum sluice_status sluice_fail(struct sluice_job *job, const char *group, const char *message,
                               struct sluice_error *error)
{
    const char *null = !job ? "job" : !group ? "group" : !message ? "message" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    struct words words;
    job_words(job, &words, "Q.FAIL");
    words_text(&words, group);
    words_text(&words, message);
    job_token_words(job, &words);
    return settle(job, &words, NULL, error);
}

enum sluice_status sluice_retry(struct sluice_job *job, double delay, const char *group,
                                const char *message, int64_t *remaining, struct sluice_error *error)
{
    const char *null = !job ? "job" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    struct words words;
    struct sluice_value *answer;
    enum sluice_status status =
        delay == SLUICE_BACKOFF ? SLUICE_OK : member_check_number(&delay_argument, delay, error);
    if (status) {
        return status;
    }
    job_words(job, &words, "Q.RETRY");
    job_token_words(job, &words);
    if (delay != SLUICE_BACKOFF) {
        words_text(&words, "DELAY");
        words_seconds(&words, delay);
    }
    words_option(&words, "GROUP", group);
    words_option(&words, "MESSAGE", message);
    status = settle(job, &words, &answer, error);
    if (!status && remaining) {
        *remaining = sluice_value_integer(answer);
    }
    sluice_value_free(answer);
    return status;
}

enum sluice_status sluice_return(struct sluice_job *job, struct sluice_error *error)
{
    const char *null = !job ? "job" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    struct words words;
    job_words(job, &words, "Q.RETURN");
    job_token_words(job, &words);
    return settle(job, &words, NULL, error);
}
