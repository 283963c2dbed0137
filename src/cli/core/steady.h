// SPDX-License-Identifier: MIT
// The monotonic clock in seconds, as the tool counts time.
#ifndef SLUICE_CLI_CORE_STEADY_H
#define SLUICE_CLI_CORE_STEADY_H

#include "os/thread.h"

double steady_now(void);

// Waits, with the mutex held, until the condition (condition_init) is signaled or steady_now reaches
// `until`. Returns as pthread_cond_timedwait does.
int steady_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, double until);

#endif
