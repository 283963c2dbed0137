// SPDX-License-Identifier: MIT
// Events with a descriptor: a thread fetches them, up to a limit, and makes an event readable.
#ifndef SLUICE_CLIENT_PUMP_H
#define SLUICE_CLIENT_PUMP_H

#include "client/link.h"

struct pump;

// From now on only the pump asks `listening`, until pump_free.
enum sluice_status pump_new(struct listening *listening, struct pump **out,
                            struct sluice_error *error);
// May be NULL. False: the thread of a parent process uses `listening`, whose copy in this process
// must be neither used nor freed.
bool pump_free(struct pump *pump);

// As the `next` of a listening. STATE: after a fork(), in the child.
enum sluice_status pump_next(struct pump *pump, int64_t wait_us, const char **out,
                             struct sluice_error *error);
int pump_fd(const struct pump *pump);

#endif
