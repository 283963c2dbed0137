// SPDX-License-Identifier: MIT
// Errors of the library's calls.
#ifndef SLUICE_CLIENT_FAULT_H
#define SLUICE_CLIENT_FAULT_H

#include "base/slice.h"
#include "base/status.h"

#include <sluice/sluice.h>

// Fills `error`, which may be NULL, and returns the status.
enum sluice_status fault(struct sluice_error *error, enum sluice_status status, const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

// INVALID: an argument is NULL that must not be.
enum sluice_status fault_null(struct sluice_error *error, const char *argument);
enum sluice_status fault_no_memory(struct sluice_error *error);
enum sluice_status fault_interrupted(struct sluice_error *error);
enum sluice_status fault_timed_out(struct sluice_error *error);

// The same for an error of an engine or a store.
enum sluice_status fault_of(struct sluice_error *error, const struct error *from);

// The same for an error of a server: a word in capitals and a message.
enum sluice_status fault_said(struct sluice_error *error, struct slice line);

#endif
