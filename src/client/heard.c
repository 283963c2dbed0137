// SPDX-License-Identifier: MIT
#include "client/heard.h"

#include "client/value.h"

#include <math.h>
#include <stdlib.h>

enum {
    // A server has one time for all that it does in a turn, and clocks are set right while they
    // run: what lies closer together than this may have been the other way round.
    SLACK_US = 1000000,
    ROUNDING_US = 10, // of a moment in seconds
};

static int64_t us_of(double seconds)
{
    return fabs(seconds) < 9e12 ? (int64_t)llround(seconds * 1e6) : 0;
}

static int64_t moment_of(const struct sluice_value *job, const char *key)
{
    return us_of(sluice_value_number(sluice_value_get(job, key)));
}

// What the put left to its default is whatever the job has.
static bool has_number(const struct sluice_value *job, const char *key, int64_t given, int64_t said)
{
    return given == 0 || sluice_value_integer(sluice_value_get(job, key)) == said;
}

// A job that is due has no moment any more, whichever it was put with.
static bool is_due_as_put(const struct sluice_value *job, const struct sluice_put *put,
                          int64_t now_us)
{
    int64_t due_us = moment_of(job, "scheduled");
    int64_t meant_us = put->at != 0      ? us_of(put->at)
                       : put->delay != 0 ? moment_of(job, "moved") + us_of(put->delay)
                                         : 0;
    return due_us == 0 ? meant_us <= now_us : llabs(due_us - meant_us) <= ROUNDING_US;
}

// Whether it is the job that was put. What is not looked at here makes a difference only when the
// same jid was put a moment before, in the same way but for that.
static bool is_same(const struct sluice_value *job, const struct sluice_put *put)
{
    int64_t retries = put->retries == SLUICE_NONE ? 0 : put->retries;
    return value_has_text(job, "queue", put->queue) && value_has_text(job, "klass", put->klass) &&
           value_has_text(job, "data", put->data) &&
           has_number(job, "priority", put->priority, put->priority) &&
           has_number(job, "retries", put->retries, retries);
}

static bool is_untouched(const struct sluice_value *job)
{
    return sluice_value_integer(sluice_value_get(job, "attempts")) == 0 &&
           !value_has_text(job, "state", "complete") && !value_has_text(job, "state", "failed");
}

static bool know_clock(struct putting *putting)
{
    const struct link_call call = { .repeats = true, .until_us = putting->until_us };
    if (!putting->clock_asked) {
        putting->clock_asked = true;
        putting->clock_known = !clock_ask(putting->sluice->link, &call, &putting->ahead);
    }
    return putting->clock_known;
}

static enum heard judge(const struct putting *putting, const struct sluice_value *job)
{
    const struct clock_ahead *ahead = &putting->ahead;
    int64_t moved_us = moment_of(job, "moved"), now_us = clock_now_us();
    if (moved_us > now_us + ahead->most_us + SLACK_US) {
        // The server's clock was set back. The moments of its jobs do not follow, so that they say
        // nothing about what came first.
        return HEARD_UNSURE;
    }
    if (moved_us < putting->began_us + ahead->least_us - SLACK_US) {
        return HEARD_NOT;
    }
    if (!is_same(job, putting->put)) {
        return HEARD_UNSURE;
    }
    if (is_untouched(job)) {
        return is_due_as_put(job, putting->put, now_us + ahead->least_us) ? HEARD : HEARD_UNSURE;
    }
    bool popped_since = value_has_text(job, "state", "running") &&
                        moved_us > putting->began_us + ahead->most_us + SLACK_US;
    return popped_since ? HEARD : HEARD_UNSURE;
}

enum heard put_heard(struct putting *putting, const char *jid)
{
    struct sluice_value *job;
    enum sluice_status status = queue_get(putting->sluice, jid, putting->until_us, &job, NULL);
    enum heard heard = HEARD_UNSURE;
    if (status == SLUICE_NOT_FOUND) {
        heard = HEARD_NOT;
    } else if (!status && !putting->put->jid) {
        heard = HEARD;
    } else if (!status && know_clock(putting)) {
        heard = judge(putting, job);
    }
    sluice_value_free(job);
    return heard;
}
