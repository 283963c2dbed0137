// SPDX-License-Identifier: MIT
// Threads that take no signals: those are for the host's first one.
#ifndef SLUICE_STORE_THREAD_H
#define SLUICE_STORE_THREAD_H

#include <pthread.h>

// 0, or the number of the system's error.
int thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

#endif
