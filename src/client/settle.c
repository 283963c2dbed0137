// SPDX-License-Identifier: MIT
// Settling jobs, and heartbeats, one or many in one round trip. The jobs of one call that end in
// the same way share commands, each of which stays within what a server accepts by default.
#include "client/job.h"
#include "client/options.h"
#include "client/value.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_JOBS = 1000,
    CHUNK_BYTES = 4 << 20,
    ELEMENT_BYTES = 1024, // of the words of an element, besides the texts that the caller gives
};

// How one kind of call about a job is asked.
struct form {
    const char *one, *many; // commands; `many` may be NULL
    // Appends the words behind the jid and the worker.
    void (*add)(const struct sluice_job *job, const struct sluice_settle_options *options,
                struct words *words);
    // Keeps what the answer says of the job. May be NULL.
    void (*heard)(struct sluice_job *job, const struct sluice_value *answer);
    bool settles;
};

// ---------------------------------------------------------------------------------------------
// Words

static void add_done(const struct sluice_job *job, const struct sluice_settle_options *options,
                     struct words *words)
{
    job_token_words(job, words);
    words_option(words, "RESULT", options->result);
}

static void add_fail(const struct sluice_job *job, const struct sluice_settle_options *options,
                     struct words *words)
{
    words_text(words, options->group);
    words_text(words, options->message);
    job_token_words(job, words);
}

static void add_retry(const struct sluice_job *job, const struct sluice_settle_options *options,
                      struct words *words)
{
    job_token_words(job, words);
    if (options->delay != 0) {
        words_text(words, "DELAY");
        words_seconds(words, options->delay == (double)SLUICE_ZERO ? 0 : options->delay);
    }
    words_option(words, "GROUP", options->group);
    words_option(words, "MESSAGE", options->message);
}

static void add_token(const struct sluice_job *job, const struct sluice_settle_options *options,
                      struct words *words)
{
    (void)options;
    job_token_words(job, words);
}

static void hear_remaining(struct sluice_job *job, const struct sluice_value *answer)
{
    job->remaining = sluice_value_integer(answer);
}

static void hear_expires(struct sluice_job *job, const struct sluice_value *answer)
{
    job->expires = sluice_value_number(answer);
}

static const struct form verdicts[] = {
    [SLUICE_DONE] = { "Q.COMPLETE", "Q.MCOMPLETE", add_done, NULL, true },
    [SLUICE_FAIL] = { "Q.FAIL", "Q.MFAIL", add_fail, NULL, true },
    [SLUICE_RETRY] = { "Q.RETRY", "Q.MRETRY", add_retry, hear_remaining, true },
    [SLUICE_RETURN] = { "Q.RETURN", NULL, add_token, NULL, true },
};
static const size_t verdict_count = sizeof(verdicts) / sizeof(verdicts[0]);

static const struct form heartbeat = { "Q.HEARTBEAT", "Q.MHEARTBEAT", add_token, hear_expires,
                                       false };

// ---------------------------------------------------------------------------------------------
// One command

// The jobs of a call, and those of them that the next command is about.
struct chunk {
    struct sluice_job *const *jobs;
    const struct sluice_settle_options *options; // of each job; NULL: for heartbeats
    struct sluice_result *results;
    const struct form *form;
    size_t items[CHUNK_JOBS]; // indices
    size_t count, bytes;
};

static void begin(const struct form *form, struct sluice_job *job)
{
    if (form->settles) {
        keeper_set_settling(job, true);
    }
}

static void end(const struct form *form, struct sluice_job *job, const struct sluice_value *answer,
                enum sluice_status status)
{
    if (!status && form->heard) {
        form->heard(job, answer);
    }
    if (form->settles && status) {
        keeper_set_settling(job, false);
    } else if (form->settles) {
        keeper_remove(job);
    }
    (void)job_note(job, status);
}

static void set_result(struct sluice_result *result, enum sluice_status status, const char *message)
{
    result->status = status;
    (void)snprintf(result->message, sizeof(result->message), "%s", status ? message : "");
}

static void add_element(const struct chunk *chunk, size_t index, struct words *words)
{
    const struct sluice_job *job = chunk->jobs[index];
    size_t place = words->count;
    words_integer(words, 0);
    words_text(words, sluice_job_jid(job));
    words_text(words, job->batch->worker);
    chunk->form->add(job, chunk->options ? &chunk->options[index] : NULL, words);
    if (!words->failed) {
        words_set_integer(words, place, (int64_t)(words->count - place - 1));
    }
}

// What became of one of many.
static void read_one(const struct chunk *chunk, size_t index, const struct sluice_value *answer)
{
    enum sluice_status status = answer ? sluice_value_status(answer) : SLUICE_UNKNOWN;
    const char *text = sluice_value_text(answer, NULL);
    set_result(&chunk->results[index], status,
               text ? text : "the server has not said what became of it");
    end(chunk->form, chunk->jobs[index], answer, status);
}

static void ask_many(const struct chunk *chunk)
{
    struct words words;
    struct sluice_value *answer;
    struct sluice_error why = { 0 };
    const struct ask ask = { .repeats = true };
    struct sluice *sluice = chunk->jobs[chunk->items[0]]->sluice;
    queue_words(sluice, &words, chunk->form->many);
    for (size_t i = 0; i < chunk->count; i++) {
        add_element(chunk, chunk->items[i], &words);
        begin(chunk->form, chunk->jobs[chunk->items[i]]);
    }
    enum sluice_status status = queue_ask(sluice, &words, &ask, &answer, &why);
    for (size_t i = 0; i < chunk->count; i++) {
        size_t index = chunk->items[i];
        if (status) {
            set_result(&chunk->results[index], status, why.message);
            // What is said of the whole call is nothing about a lease.
            end(chunk->form, chunk->jobs[index], NULL, SLUICE_UNKNOWN);
        } else {
            read_one(chunk, index, sluice_value_at(answer, i));
        }
    }
    sluice_value_free(answer);
}

static enum sluice_status ask_one(const struct form *form, struct sluice_job *job,
                                  const struct sluice_settle_options *options,
                                  struct sluice_error *error)
{
    struct words words;
    struct sluice_value *answer;
    const struct ask ask = { .repeats = true };
    job_words(job, &words, form->one);
    form->add(job, options, &words);
    begin(form, job);
    enum sluice_status status = queue_ask(job->sluice, &words, &ask, &answer, error);
    end(form, job, answer, status);
    sluice_value_free(answer);
    return status;
}

static void flush(struct chunk *chunk)
{
    if (chunk->count == 1) {
        struct sluice_error why = { 0 };
        size_t index = chunk->items[0];
        enum sluice_status status = ask_one(chunk->form, chunk->jobs[index],
                                            chunk->options ? &chunk->options[index] : NULL, &why);
        set_result(&chunk->results[index], status, why.message);
    } else if (chunk->count) {
        ask_many(chunk);
    }
    chunk->count = chunk->bytes = 0;
}

static size_t text_size(const char *text)
{
    return text ? strlen(text) : 0;
}

static void add(struct chunk *chunk, size_t index)
{
    const struct sluice_settle_options *options = chunk->options ? &chunk->options[index] : NULL;
    size_t bytes = ELEMENT_BYTES;
    if (options) {
        bytes +=
            text_size(options->result) + text_size(options->group) + text_size(options->message);
    }
    if (chunk->count == CHUNK_JOBS || (chunk->count && !chunk->form->many) ||
        (chunk->count && chunk->bytes + bytes > CHUNK_BYTES) ||
        (chunk->count && chunk->jobs[chunk->items[0]]->sluice != chunk->jobs[index]->sluice)) {
        flush(chunk);
    }
    chunk->items[chunk->count++] = index;
    chunk->bytes += bytes;
}

// ---------------------------------------------------------------------------------------------

static enum sluice_status check(const struct sluice_settle_options *options,
                                struct sluice_error *error)
{
    if ((size_t)options->verdict >= verdict_count) {
        return fault(error, SLUICE_INVALID, "verdict %d does not exist", (int)options->verdict);
    }
    if (options->verdict == SLUICE_FAIL && (!options->group || !options->message)) {
        return fault(error, SLUICE_INVALID, "SLUICE_FAIL needs a group and a message");
    }
    if (options->verdict != SLUICE_DONE && options->result) {
        return fault(error, SLUICE_INVALID, "a result is only for SLUICE_DONE");
    }
    if (options->verdict != SLUICE_RETRY && options->delay != 0) {
        return fault(error, SLUICE_INVALID, "a delay is only for SLUICE_RETRY");
    }
    return SLUICE_OK;
}

enum sluice_status sluice_settle(struct sluice_job *job,
                                 const struct sluice_settle_options *options,
                                 struct sluice_error *error)
{
    struct sluice_settle_options own;
    enum sluice_status status = job ? settle_options_read(options, &own, error)
                                    : fault(error, SLUICE_INVALID, "job is NULL");
    status = status ? status : check(&own, error);
    return status ? status : ask_one(&verdicts[own.verdict], job, &own, error);
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

// The jids, and what cannot be asked for.
static void begin_results(struct sluice_job *const *jobs,
                          const struct sluice_settle_options *options, size_t count,
                          struct sluice_settle_options *read, struct sluice_result *results)
{
    for (size_t i = 0; i < count; i++) {
        struct sluice_error why = { 0 };
        enum sluice_status status =
            jobs[i] ? SLUICE_OK : fault(&why, SLUICE_INVALID, "job %zu is NULL", i);
        if (!status && options) {
            status = settle_options_read(settle_options_at(options, i), &read[i], &why);
            status = status ? status : check(&read[i], &why);
        }
        results[i] = (struct sluice_result){ 0 };
        set_result(&results[i], status, why.message);
        if (jobs[i]) {
            (void)snprintf(results[i].jid, sizeof(results[i].jid), "%s", sluice_job_jid(jobs[i]));
        }
    }
}

static void run(struct chunk *chunk, const struct form *form, size_t count)
{
    chunk->form = form;
    for (size_t i = 0; i < count; i++) {
        if (chunk->results[i].status) {
            continue; // it cannot be asked for, or was refused
        }
        if (!chunk->options || &verdicts[chunk->options[i].verdict] == form) {
            add(chunk, i);
        }
    }
    flush(chunk);
}

static void run_all(struct chunk *chunk, size_t count)
{
    if (!chunk->options) {
        run(chunk, &heartbeat, count);
    }
    for (size_t i = 0; chunk->options && i < verdict_count; i++) {
        run(chunk, &verdicts[i], count);
    }
}

static enum sluice_status many(struct sluice_job *const *jobs,
                               const struct sluice_settle_options *options, size_t count,
                               struct sluice_result *results, struct sluice_error *error)
{
    if (count == 0) {
        return SLUICE_OK;
    }
    if (!jobs) {
        return fault(error, SLUICE_INVALID, "jobs is NULL");
    }
    struct chunk *chunk = calloc(1, sizeof(*chunk));
    struct sluice_settle_options *read = calloc(count, sizeof(*read));
    struct sluice_result *own = results ? results : calloc(count, sizeof(*own));
    enum sluice_status status = SLUICE_NO_MEMORY;
    if (!chunk || !read || !own) {
        (void)fault_no_memory(error);
    } else {
        begin_results(jobs, options, count, read, own);
        *chunk = (struct chunk){ .jobs = jobs, .options = options ? read : NULL, .results = own };
        run_all(chunk, count);
        status = first_refused(own, count, error);
    }
    if (!results) {
        free(own);
    }
    free(read);
    free(chunk);
    return status;
}

enum sluice_status sluice_settle_many(struct sluice_job *const *jobs,
                                      const struct sluice_settle_options *options, size_t count,
                                      struct sluice_result *results, struct sluice_error *error)
{
    if (count && !options) {
        return fault(error, SLUICE_INVALID, "options is NULL");
    }
    return many(jobs, options, count, results, error);
}

enum sluice_status sluice_heartbeat_many(struct sluice_job *const *jobs, size_t count,
                                         struct sluice_result *results, struct sluice_error *error)
{
    return many(jobs, NULL, count, results, error);
}
