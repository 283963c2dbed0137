// SPDX-License-Identifier: MIT
// Options of jobs, in and out: how a job is run, for put, recurring jobs and policies.
#ifndef SLUICE_TESTS_MODEL_SHELL_OPTIONS_H
#define SLUICE_TESTS_MODEL_SHELL_OPTIONS_H

#include "shell.h"

// The member `options` of `from`; all unset when it is not there.
struct job_options arg_options(const json_t *from);

// All of them, also those that are unset.
void write_options(struct json_writer *out, const struct job_options *options);

#endif
