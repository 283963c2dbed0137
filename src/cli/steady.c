// SPDX-License-Identifier: MIT
#include "cli/steady.h"

#include <math.h>
#include <time.h>

double steady_now(void)
{
    struct timespec now = { 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int steady_cond_init(pthread_cond_t *condition)
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

int steady_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, double until)
{
    double whole = floor(until);
    const struct timespec time = { .tv_sec = (time_t)whole,
                                   .tv_nsec = (long)((until - whole) * 1e9) };
    return pthread_cond_timedwait(condition, mutex, &time);
}
