// SPDX-License-Identifier: MIT
#include "host/host_clock.h"

#include "os/clock.h"

#include <stddef.h>

enum {
    DRIFT_PART = 16, // drift is corrected by at most this part of the elapsed time
};

static int64_t distance(int64_t difference_us)
{
    return difference_us < 0 ? -difference_us : difference_us;
}

void host_clock_init(struct host_clock *clock, struct clock_reading reading)
{
    *clock = (struct host_clock){ .ahead_us = reading.wall_us - reading.monotonic_us,
                                  .compared_us = reading.monotonic_us };
}

static void make_up_for_drift(struct host_clock *clock, int64_t passed_us)
{
    int64_t most_us = passed_us > 0 ? passed_us / DRIFT_PART : 0;
    int64_t change_us = clock->difference_us;
    change_us = change_us > most_us ? most_us : change_us;
    change_us = change_us < -most_us ? -most_us : change_us;
    clock->ahead_us += change_us;
    clock->difference_us -= change_us;
}

static struct clock_news end_step(struct host_clock *clock)
{
    if (!clock->pending_us) {
        return (struct clock_news){ CLOCK_STEADY, 0 };
    }
    const struct clock_news news = { CLOCK_RETURNED, clock->pending_us };
    clock->pending_us = 0;
    clock->returned++;
    return news;
}

static struct clock_news begin_step(struct host_clock *clock, int64_t now_us)
{
    clock->pending_us = clock->difference_us;
    clock->pending_since_us = now_us;
    clock->steps++;
    return (struct clock_news){ CLOCK_STEPPED, clock->pending_us };
}

static struct clock_news follow(struct host_clock *clock)
{
    const struct clock_news news = { CLOCK_FOLLOWED, clock->pending_us };
    clock->ahead_us += clock->pending_us;
    clock->difference_us -= clock->pending_us;
    clock->pending_us = 0;
    clock->followed++;
    return news;
}

struct clock_news host_clock_compare(struct host_clock *clock, struct clock_reading reading)
{
    int64_t passed_us = reading.monotonic_us - clock->compared_us;
    clock->compared_us = reading.monotonic_us;
    clock->difference_us = reading.wall_us - host_clock_time(clock, reading.monotonic_us);
    if (distance(clock->difference_us) <= HOST_CLOCK_STEP_US) {
        make_up_for_drift(clock, passed_us);
        return end_step(clock);
    }
    if ((clock->pending_us > 0) != (clock->difference_us > 0) || !clock->pending_us) {
        return begin_step(clock, reading.monotonic_us);
    }
    if (distance(clock->difference_us) < distance(clock->pending_us)) {
        clock->pending_us = clock->difference_us;
    }
    return reading.monotonic_us - clock->pending_since_us < HOST_CLOCK_WAIT_US
               ? (struct clock_news){ CLOCK_STEADY, 0 }
               : follow(clock);
}

int64_t host_clock_monotonic(void)
{
    return boottime_us();
}

struct clock_reading host_clock_look(void)
{
    return (struct clock_reading){ wall_clock_us(), boottime_us() };
}

const char *clock_change_word(enum clock_change change)
{
    static const char *const words[] = {
        [CLOCK_STEADY] = NULL,
        [CLOCK_STEPPED] = "waiting",
        [CLOCK_RETURNED] = "ignored",
        [CLOCK_FOLLOWED] = "followed",
    };
    return words[change];
}
