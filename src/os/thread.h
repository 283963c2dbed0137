// SPDX-License-Identifier: MIT
// Threads and conditions.
#ifndef SLUICE_OS_THREAD_H
#define SLUICE_OS_THREAD_H

#include <pthread.h>
#include <stdint.h>

// Starts a thread that receives no signals: signals are for the first thread of the process.
// Returns 0 or the system's error number.
int thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

// Initializes a condition whose timeouts use monotonic_us. Returns 0 or the system's error number.
int condition_init(pthread_cond_t *condition);

// Waits, with the mutex held, until the condition is signaled or monotonic_us reaches `until_us`.
// Returns as pthread_cond_timedwait does.
int condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t until_us);

#endif
