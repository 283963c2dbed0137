// SPDX-License-Identifier: MIT
// What the commands that make jobs have in common: how a job is run, as options; and how jobs are
// said in answers.
#ifndef SLUICE_API_JOB_WORDS_H
#define SLUICE_API_JOB_WORDS_H

#include "api/fit.h"
#include "api/table.h"

// The options of engine.h's struct job_options as they are given.
struct job_option_words {
    struct slice backoff;
    bool has_timeout_us, has_lease_us, has_result_ttl_us, has_crashes_max, has_dependency_policy;
    int64_t timeout_us, lease_us, result_ttl_us, crashes_max, dependency_policy;
};

extern const char *const dependency_policy_words[]; // hold, cancel, fail, run

// The entries for a struct that has `struct job_option_words words` in it.
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

// Whether any was given; what they say. INVALID names what is wrong with the backoff.
bool job_option_words_given(const struct job_option_words *words);
MUST_USE enum status job_option_words_read(const struct job_option_words *words,
                                           struct job_options *out, struct error *error);

// "exponential:1:300:20", appended; nothing for BACKOFF_UNSET.
void backoff_append(const struct backoff *backoff, struct buffer *out);

// How jobs are run, as a map; null for what is not said.
void reply_job_options(struct reply *reply, const struct job_options *options);

// A job as a worker receives it: what it needs to do the work, and its lease.
void reply_popped(struct reply *reply, const struct engine *engine, const struct job *job);
// How many of them fit the answer, with nothing but a list around them.
void fit_init_popped(struct fit *fit, struct reply *reply, const struct engine *engine);
// A text, cut between two characters when it is longer.
struct slice text_up_to(struct slice text, size_t size_max);

// All that there is to know of a job. The history and the log are commands of their own.
void reply_job(struct reply *reply, const struct engine *engine, const struct job *job);
// The same for lists: data and result longer than `data_max` bytes are cut, between two characters,
// and are texts then. `data-cut` and `result-cut` say so, `data-size` how long the data is.
void reply_job_cut(struct reply *reply, const struct engine *engine, const struct job *job,
                   size_t data_max);

#endif
