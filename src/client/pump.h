// SPDX-License-Identifier: MIT
// Events with a descriptor: a thread fetches them, up to a limit, and makes an event readable.
#ifndef SLUICE_CLIENT_PUMP_H
#define SLUICE_CLIENT_PUMP_H

#include "client/link.h"

struct pump;

// From now on `listening` is the pump's to ask, until pump_free.
enum sluice_status pump_new(struct listening *listening, struct pump **out,
                            struct sluice_error *error);
void pump_free(struct pump *pump); // may be NULL

// As the `next` of a listening.
enum sluice_status pump_next(struct pump *pump, int64_t wait_us, const char **out,
                             struct sluice_error *error);
int pump_fd(const struct pump *pump);

#endif
