// SPDX-License-Identifier: MIT
// A clock that is never set, and waits that go by it.
#ifndef SLUICE_CLI_STEADY_H
#define SLUICE_CLI_STEADY_H

#include <pthread.h>

// In seconds.
double steady_now(void);

// A condition that can be waited for until a moment of this clock; then such a wait, with the mutex
// held. Returns as pthread_cond_timedwait does.
int steady_cond_init(pthread_cond_t *condition);
int steady_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, double until);

#endif
