// SPDX-License-Identifier: MIT
#include "client/pause.h"

#include "client/weak_random.h"
#include "os/clock.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>

enum {
    PAUSE_US = 20000, // before the second attempt
    PAUSE_MAX_US = 2000000,
};

void wake_set(int wake, bool on)
{
    int before = errno;
    eventfd_t count = 1;
    if (on) {
        (void)eventfd_write(wake, count);
    } else {
        (void)eventfd_read(wake, &count);
    }
    errno = before;
}

bool wake_is_set(int wake)
{
    struct pollfd of = { .fd = wake, .events = POLLIN };
    return wake >= 0 && poll(&of, 1, 0) > 0;
}

bool pause_before(unsigned attempt, int64_t deadline_us, int wake)
{
    int64_t pause_us = attempt < 7 ? (int64_t)PAUSE_US << attempt : PAUSE_MAX_US;
    pause_us = pause_us < PAUSE_MAX_US ? pause_us : PAUSE_MAX_US;
    // Clients that have lost the same server do not come back at the same moment.
    pause_us = pause_us / 2 + weak_random() % (pause_us / 2);
    if (deadline_us != INT64_MAX && monotonic_us() + pause_us >= deadline_us) {
        return false;
    }
    struct pollfd of = { .fd = wake, .events = POLLIN };
    return poll(&of, 1, (int)(pause_us / 1000)) <= 0;
}
