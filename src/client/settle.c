// SPDX-License-Identifier: MIT
// Settling jobs, and heartbeats: one, or many in one round trip. The
// jobs of a call that end in the same way share commands.
#include "client/job.h"
#include "client/memory.h"
#include "client/options.h"
#include "client/results.h"
#include "client/value.h"

#include <stdlib.h>
#include <string.h>

enum {
    ELEMENT_BYTES = 1024, // of the words of an element, besides the texts that the caller gives
};

// The commands of one kind of call about a job.
struct form {
    const char *one, *many; // commands; `many` may be NULL
    // Appends the words after the jid and the worker.
    void (*add)(const struct sluice_job *job, const struct sluice_settle_options *options,
                struct words *words);
    // Keeps the answer in the job. May be NULL.
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
    size_t items[CHUNK_ELEMENTS]; // indices
    size_t count, bytes;
    struct sluice_error why; // the rest is not asked for
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

// Reads the result of one of many.
static void read_one(const struct chunk *chunk, size_t index, const struct sluice_value *answer)
{
    enum sluice_status status = answer ? sluice_value_status(answer) : SLUICE_UNKNOWN;
    const char *text = sluice_value_text(answer, NULL);
    result_set(&chunk->results[index], status, text ? text : "the answer does not tell the result");
    end(chunk->form, chunk->jobs[index], answer, status);
}

// A command that is too large for the server is divided.
static void ask_many(struct chunk *chunk, const size_t *items, size_t count)
{
    struct words words;
    struct sluice_value *answer;
    struct sluice_error why = { 0 };
    const struct ask ask = { .repeats = true };
    struct sluice *sluice = chunk->jobs[items[0]]->sluice;
    queue_words(sluice, &words, chunk->form->many);
    for (size_t i = 0; i < count; i++) {
        add_element(chunk, items[i], &words);
        begin(chunk->form, chunk->jobs[items[i]]);
    }
    enum sluice_status status = queue_ask(sluice, &words, &ask, &answer, &why);
    if (status == SLUICE_TOO_LARGE && count > 1) {
        ask_many(chunk, items, count / 2);
        ask_many(chunk, items + count / 2, count - count / 2);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (status) {
            result_set(&chunk->results[items[i]], status, why.message);
            // The status of the whole command says nothing about a lease.
            end(chunk->form, chunk->jobs[items[i]], NULL, SLUICE_UNKNOWN);
        } else {
            read_one(chunk, items[i], sluice_value_at(answer, i));
        }
    }
    sluice_value_free(answer);
    if (results_of_rest(status)) {
        (void)fault(&chunk->why, results_of_rest(status), "%s", why.message);
    }
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
    if (chunk->why.status) {
        for (size_t i = 0; i < chunk->count; i++) {
            result_set(&chunk->results[chunk->items[i]], chunk->why.status, chunk->why.message);
        }
    } else if (chunk->count == 1) {
        struct sluice_error why = { 0 };
        size_t index = chunk->items[0];
        enum sluice_status status = ask_one(chunk->form, chunk->jobs[index],
                                            chunk->options ? &chunk->options[index] : NULL, &why);
        result_set(&chunk->results[index], status, why.message);
    } else if (chunk->count) {
        ask_many(chunk, chunk->items, chunk->count);
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
    if (chunk->count == CHUNK_ELEMENTS || (chunk->count && !chunk->form->many) ||
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
    enum sluice_status status =
        job ? settle_options_read(options, &own, error) : fault_null(error, "job");
    status = status ? status : check(&own, error);
    return status ? status : ask_one(&verdicts[own.verdict], job, &own, error);
}

// Fills in the jids, and the results of jobs that cannot be settled.
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
        result_set(&results[i], status, why.message);
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
        return fault_null(error, "jobs");
    }
    struct chunk *chunk = memory_zalloc(1, sizeof(*chunk));
    struct sluice_settle_options *read = memory_zalloc(count, sizeof(*read));
    struct sluice_result *own = results ? results : memory_zalloc(count, sizeof(*own));
    enum sluice_status status = SLUICE_NO_MEMORY;
    if (!chunk || !read || !own) {
        (void)fault_no_memory(error);
    } else {
        begin_results(jobs, options, count, read, own);
        *chunk = (struct chunk){ .jobs = jobs, .options = options ? read : NULL, .results = own };
        run_all(chunk, count);
        status = results_first_refused(own, count, error);
    }
    if (!results) {
        memory_free(own);
    }
    memory_free(read);
    memory_free(chunk);
    return status;
}

enum sluice_status sluice_settle_many(struct sluice_job *const *jobs,
                                      const struct sluice_settle_options *options, size_t count,
                                      struct sluice_result *results, struct sluice_error *error)
{
    if (count && !options) {
        return fault_null(error, "options");
    }
    return many(jobs, options, count, results, error);
}

enum sluice_status sluice_heartbeat_many(struct sluice_job *const *jobs, size_t count,
                                         struct sluice_result *results, struct sluice_error *error)
{
    return many(jobs, NULL, count, results, error);
}
