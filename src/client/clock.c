// SPDX-License-Identifier: MIT
#include "client/clock.h"

#include "base/num.h"
#include "os/clock.h"

int64_t clock_now_us(void)
{
    return boottime_us();
}

struct clock_ahead clock_assume(void)
{
    int64_t ahead_us = wall_clock_us() - clock_now_us();
    return (struct clock_ahead){ ahead_us, ahead_us };
}

static bool read_part(const struct sluice_value *answer, size_t index, int64_t max, int64_t *out)
{
    const char *text = sluice_value_text(sluice_value_at(answer, index), NULL);
    return text && !num_parse_i64(slice_from_cstr(text), out) && *out >= 0 && *out <= max;
}

enum sluice_status clock_ask(struct link *link, const struct link_call *call,
                             struct clock_ahead *out)
{
    const struct slice word = SLICE("TIME");
    struct link_call whole = *call;
    struct sluice_value *answer = NULL;
    int64_t seconds, us;
    whole.words = (struct slices){ &word, 1 };
    int64_t before_us = clock_now_us();
    enum sluice_status status = link->ops->call(link, &whole, &answer, NULL);
    int64_t after_us = clock_now_us();
    if (!status && (!read_part(answer, 0, INT64_MAX / 2000000, &seconds) ||
                    !read_part(answer, 1, 999999, &us))) {
        status = SLUICE_INVALID;
    }
    sluice_value_free(answer);
    if (!status) {
        int64_t said_us = seconds * 1000000 + us;
        *out = (struct clock_ahead){ said_us - after_us, said_us - before_us };
    }
    return status;
}
