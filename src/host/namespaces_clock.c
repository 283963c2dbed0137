// SPDX-License-Identifier: MIT
// The time of namespaces, and of the host that runs them. An engine's time never goes back by
// itself: it stands still until the host's time has caught up. So the host sets it when it follows
// a step of the wall clock back, and when a namespace was stored with a clock that was ahead.
#include "host/namespaces.h"

#include <stdio.h>

static void log_step(const struct ns *ns, const char *what, int64_t by_us)
{
    char sentence[512];
    (void)snprintf(sentence, sizeof(sentence), "namespace \"%.*s\": %s by %.1f s",
                   SLICE_PRINT(ns_name(ns)), what, (double)by_us / 1e6);
    ns->all->options.log(ns->all->options.context, sentence);
}

int64_t ns_ahead_us(const struct ns *ns, int64_t now_us)
{
    int64_t time_us = ns->clock == ENGINE_CLOCK_SERVER ? engine_time(ns->engine) : 0;
    return time_us > now_us ? time_us - now_us : 0;
}

void ns_note_ahead(struct ns *ns, int64_t now_us)
{
    struct namespaces *all = ns->all;
    int64_t ahead_us = ns_ahead_us(ns, now_us);
    if (ahead_us > HOST_CLOCK_STEP_US) {
        log_step(ns, "its time lies ahead of the clock, and stands until it is set back,",
                 ahead_us);
        all->set_back_us = all->options.clock->compared_us + HOST_CLOCK_WAIT_US;
    }
}

enum status ns_set_back(struct ns *ns, int64_t now_us, struct error *error)
{
    int64_t ahead_us = ns_ahead_us(ns, now_us);
    if (ahead_us == 0) {
        return STATUS_OK;
    }
    enum status status = engine_set_time(ns->engine, now_us, now_us, error);
    if (!status) {
        log_step(ns, "its time was set back", ahead_us);
        ns_touch(ns);
    }
    return status;
}

// Namespaces that stay ahead for lack of memory are tried again with the next comparison.
static void set_back_all(struct namespaces *all, int64_t now_us, int64_t again_us)
{
    struct error error;
    all->set_back_us = 0;
    for (struct ns *ns = all->first; ns; ns = ns->next) {
        if (ns_ahead_us(ns, now_us) > HOST_CLOCK_STEP_US && ns_set_back(ns, now_us, &error)) {
            all->options.log(all->options.context, error_sentence(&error));
            all->set_back_us = again_us;
        }
    }
}

static void follow(struct namespaces *all, int64_t from_us, int64_t to_us, int64_t again_us)
{
    struct error error;
    for (struct ns *ns = all->first; ns; ns = ns->next) {
        if (ns->clock == ENGINE_CLOCK_SERVER &&
            engine_set_time(ns->engine, from_us, to_us, &error)) {
            all->options.log(all->options.context, error_sentence(&error));
            all->set_back_us = again_us;
        }
        ns_touch(ns);
    }
}

struct clock_news namespaces_check_clock(struct namespaces *all, struct clock_reading reading)
{
    struct host_clock *clock = all->options.clock;
    int64_t again_us = reading.monotonic_us + HOST_CLOCK_CHECK_US;
    int64_t from_us = host_clock_time(clock, reading.monotonic_us);
    struct clock_news news = host_clock_compare(clock, reading);
    int64_t now_us = host_clock_time(clock, reading.monotonic_us);
    if (news.change == CLOCK_FOLLOWED) {
        follow(all, from_us, now_us, again_us);
    }
    if (all->set_back_us && all->set_back_us <= reading.monotonic_us) {
        set_back_all(all, now_us, again_us);
    }
    return news;
}
