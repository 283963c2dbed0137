// SPDX-License-Identifier: MIT
#include "cli/core/steady.h"

#include "os/clock.h"
#include "os/thread.h"

double steady_now(void)
{
    return (double)monotonic_us() / 1e6;
}

int steady_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, double until)
{
    return condition_wait_until(condition, mutex, (int64_t)(until * 1e6));
}
