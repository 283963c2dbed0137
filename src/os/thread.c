// SPDX-License-Identifier: MIT
#include "os/thread.h"

#include "os/clock.h"

#include <signal.h>

int thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, NULL, run, context);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

int condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    int failed = pthread_condattr_init(&attributes);
    if (!failed) {
        failed = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        failed = failed ? failed : pthread_cond_init(condition, &attributes);
        (void)pthread_condattr_destroy(&attributes);
    }
    return failed;
}

int condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t until_us)
{
    const struct timespec until = timespec_from_us(until_us);
    return pthread_cond_timedwait(condition, mutex, &until);
}
