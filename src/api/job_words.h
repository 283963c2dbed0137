// SPDX-License-Identifier: MIT
// What commands that create jobs share: the options of jobs as arguments, and jobs in replies.
#ifndef SLUICE_API_JOB_WORDS_H
#define SLUICE_API_JOB_WORDS_H

#include "api/fit.h"
#include "api/table.h"

// The parsed words for struct job_options.
struct job_option_words {
    struct slice backoff;
    bool has_timeout_us, has_lease_us, has_result_ttl_us, has_crashes_max, has_dependency_policy;
    int64_t timeout_us, lease_us, result_ttl_us, crashes_max, dependency_policy;
};

extern const char *const dependency_policy_words[]; // hold, cancel, fail, run

// The table entries for a struct with a member `struct job_option_words words`.
#define JOB_OPTIONS(of)                                                                            \
    OPTION(of, words.backoff, TEXT, "BACKOFF",                                                     \
           "how long to wait before it is tried again: fixed:S, linear:S, exponential:S or "       \
           "list:S,S,... (up to 16), then perhaps :CAP (seconds) and :JITTER (up to so many "      \
           "percent less, at random). A lost lease is not delayed"),                               \
        OPTION_HAS(of, words.timeout_us, words.has_timeout_us, SECONDS, "TIMEOUT",                 \
                   "the longest run, however well it heartbeats; 0: none", SECONDS_RANGE),         \
        OPTION_HAS(of, words.lease_us, words.has_lease_us, SECONDS, "LEASE",                       \
                   "how long its leases last without a heartbeat, unless the worker says; at "     \
                   "least 0.001; 0: as the heartbeat of its queue says",                           \
                   LEASE_RANGE),                                                                   \
        OPTION_HAS(of, words.result_ttl_us, words.has_result_ttl_us, SECONDS, "RESULT-TTL",        \
                   "how long its result is kept, also when the job is gone; 0: as long as the "    \
                   "job",                                                                          \
                   SECONDS_RANGE),                                                                 \
        OPTION_HAS(of, words.crashes_max, words.has_crashes_max, INTEGER, "MAX-CRASHES",           \
                   "with so many leases lost it fails; 0: no limit", .min = 0, .max = INT32_MAX),  \
        OPTION_HAS(of, words.dependency_policy, words.has_dependency_policy, WORD,                 \
                   "ON-DEPENDENCY-FAILURE",                                                        \
                   "what becomes of it when a job that it depends on fails (hold)",                \
                   .words = dependency_policy_words)

// Whether any option was given; the options. INVALID names the error in the backoff.
bool job_option_words_given(const struct job_option_words *words);
MUST_USE enum status job_option_words_read(const struct job_option_words *words,
                                           struct job_options *out, struct error *error);

// Appends "exponential:1:300:20"; nothing for BACKOFF_UNSET.
void backoff_append(const struct backoff *backoff, struct buffer *out);

// Writes the options of a job as a map; null for what is not set.
void reply_job_options(struct reply *reply, const struct job_options *options);

// Writes a job for the worker that popped it: what it needs for the work, and its lease.
void reply_popped(struct reply *reply, const struct engine *engine, const struct job *job);
// For replies that contain only a list of popped jobs.
void fit_init_popped(struct fit *fit, struct reply *reply, const struct engine *engine);
// A text, truncated between two characters if it is longer.
struct slice text_up_to(struct slice text, size_t size_max);

// Writes all fields of a job. There are separate commands for the history and the log.
void reply_job(struct reply *reply, const struct engine *engine, const struct job *job);
// The same for lists: data and result longer than `data_max` bytes are truncated, between two
// characters, and written as text. `data-cut` and `result-cut` are true then, and `data-size` is
// the size of the data.
void reply_job_cut(struct reply *reply, const struct engine *engine, const struct job *job,
                   size_t data_max);

#endif
