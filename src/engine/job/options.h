// SPDX-License-Identifier: MIT
// The options of jobs. Many jobs have the same options; equal options are stored once, as an
// interned value.
#ifndef SLUICE_ENGINE_JOB_OPTIONS_H
#define SLUICE_ENGINE_JOB_OPTIONS_H

#include "engine/engine.h"

// Checks options that a caller gives.
MUST_USE enum status options_check(const struct job_options *options, struct error *error);

// Whether no option is set.
bool options_are_unset(const struct job_options *options);

// The same options in their stored form: values without a meaning are 0, values below 0 are -1.
struct job_options options_normal(const struct job_options *options);

// Interns options and takes a reference to them; INTERN_NONE if no option is set.
MUST_USE enum status options_acquire(struct engine *engine, const struct job_options *options,
                                     uint32_t *id);
void options_get(const struct engine *engine, uint32_t id, struct job_options *out);
// Whether the interned options are the same as `options`, of which NULL means none.
bool options_are(const struct engine *engine, uint32_t id, const struct job_options *options);

// False if no option can be in effect for the job; cheaper than computing them.
bool job_has_options(const struct engine *engine, const struct job *job);

// Sets the options that are unset to those of `other`.
void options_merge(struct job_options *options, const struct job_options *other);

// The delay after the n-th run; n is above 0.
int64_t backoff_delay(const struct backoff *backoff, uint32_t n, uint64_t random);

#endif
