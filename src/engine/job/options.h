// SPDX-License-Identifier: MIT
// The options of jobs. Many jobs have the same: they are kept once, among the names.
#ifndef SLUICE_ENGINE_JOB_OPTIONS_H
#define SLUICE_ENGINE_JOB_OPTIONS_H

#include "engine/engine.h"

// Whether these may be options.
MUST_USE enum status options_check(const struct job_options *options, struct error *error);

// Whether they say nothing.
bool options_are_unset(const struct job_options *options);

// The same options in one form: what does not count is 0.
struct job_options options_normal(const struct job_options *options);

// Adds one user of options and gives their number among the names; INTERN_NONE for options that say
// nothing.
MUST_USE enum status options_acquire(struct engine *engine, const struct job_options *options,
                                     uint32_t *id);
void options_get(const struct engine *engine, uint32_t id, struct job_options *out);
// Whether the options with that number say the same as these, which may be NULL for none.
bool options_are(const struct engine *engine, uint32_t id, const struct job_options *options);

// Whether a job may have options in effect at all; it is cheaper to ask than to look.
bool job_has_options(const struct engine *engine, const struct job *job);

// Takes from `other` what `options` do not say.
void options_merge(struct job_options *options, const struct job_options *other);

// How long a job waits after its n-th run, n above 0.
int64_t backoff_delay(const struct backoff *backoff, uint32_t n, uint64_t random);

#endif
