// SPDX-License-Identifier: MIT
// How calls of the library say what went wrong.
#ifndef SLUICE_CLIENT_FAULT_H
#define SLUICE_CLIENT_FAULT_H

#include "base/slice.h"
#include "base/status.h"

#include <sluice/sluice.h>

// Fills `error`, which may be NULL, and gives the status.
enum sluice_status fault(struct sluice_error *error, enum sluice_status status, const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

// INVALID: an argument is NULL that must not be.
enum sluice_status fault_null(struct sluice_error *error, const char *argument);
enum sluice_status fault_no_memory(struct sluice_error *error);
enum sluice_status fault_interrupted(struct sluice_error *error);
enum sluice_status fault_timed_out(struct sluice_error *error);

// The same of an engine's or a store's error.
enum sluice_status fault_of(struct sluice_error *error, const struct error *from);

// Of an error as a server says it: a word in capitals, a sentence.
enum sluice_status fault_said(struct sluice_error *error, struct slice line);

#endif
