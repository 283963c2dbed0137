// SPDX-License-Identifier: MIT
// Any bytes as a cron expression: what is refused is refused with a sentence; the runs of what is
// not go forwards, match the expression and do not depend on when one asks.
#include "fuzz.h"

#include "base/timefmt.h"
#include "engine/engine.h"
#include "engine/recurring/cron.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    RUNS = 20,
    HOUR = 3600,
};

#define US_PER_S  INT64_C(1000000)
#define S_PER_DAY INT64_C(86400)

// A zone with what zones can do: daylight saving, a day left out, a day that comes twice, two
// changes within an hour, a change in mid-second and one that changes nothing.
static const struct zone_transition transitions[] = {
    { INT64_C(951786000000000), 2 * HOUR },   // 2000-02-29 01:00:00
    { INT64_C(972781200000000), 1 * HOUR },   // 2000-10-29 01:00:00
    { INT64_C(1325199600000000), 25 * HOUR }, // 2011-12-29 23:00:00
    { INT64_C(1330513200000000), 1 * HOUR },  // 2012-02-29 11:00:00
    { INT64_C(1330516800000000), 2 * HOUR },  // an hour later
    { INT64_C(1330518600000000), -1802 },     // half an hour later
    { INT64_C(1330518600500000), 1 * HOUR },  // half a second later
    { INT64_C(1609455600000000), 1 * HOUR },  // 2020-12-31 23:00:00
    { INT64_C(4107546000000000), 2 * HOUR },  // 2100-03-01 01:00:00
};
static const struct zone_rules zone = { 1 * HOUR, transitions,
                                        sizeof(transitions) / sizeof(transitions[0]) };
static const struct zone_rules utc;

static void require(bool holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_cron: %s\n", sentence);
        abort();
    }
}

static bool matches(const struct cron *cron, int64_t wall_s)
{
    int64_t day = wall_s >= 0 ? wall_s / S_PER_DAY : -((S_PER_DAY - 1 - wall_s) / S_PER_DAY);
    int64_t time = wall_s - day * S_PER_DAY;
    int64_t year;
    unsigned month;
    unsigned day_of_month;
    timefmt_civil_from_days(day, &year, &month, &day_of_month);
    bool by_day = cron->days >> day_of_month & 1;
    bool by_weekday = cron->weekdays >> (day + 7000 + 4) % 7 & 1; // 1970 began on a Thursday
    return cron->seconds >> time % 60 & 1 && cron->minutes >> time / 60 % 60 & 1 &&
           cron->hours >> time / HOUR & 1 && cron->months >> month & 1 &&
           (cron->either_day ? by_day || by_weekday : by_day && by_weekday);
}

// Whether the clock shows a time that matches, or was changed just now.
static bool may_run(const struct cron *cron, const struct zone_rules *rules, int64_t at_us)
{
    int32_t offset_s = rules->offset_s;
    bool changed = false;
    for (size_t i = 0; i < rules->count && rules->transitions[i].at_us <= at_us; i++) {
        offset_s = rules->transitions[i].offset_s;
        changed = rules->transitions[i].at_us > at_us - US_PER_S;
    }
    bool is_open = cron->hours == (1U << 24) - 1;
    return matches(cron, at_us / US_PER_S + offset_s) || (changed && !is_open);
}

static void check_runs(const struct cron *cron, const struct zone_rules *rules, int64_t after_us)
{
    for (int i = 0; i < RUNS; i++) {
        int64_t next_us = cron_next(cron, rules, after_us);
        require(next_us > after_us, "a run is not after the one before");
        int64_t middle_us = after_us + (next_us - after_us) / 2;
        require(cron_next(cron, rules, middle_us) == next_us, "a run depends on when one asks");
        require(cron_next(cron, rules, next_us - 1) == next_us, "a run is not after what it is");
        if (next_us == INT64_MAX) {
            break;
        }
        require(next_us <= ENGINE_TIME_MAX, "a run is after the end of time");
        require(next_us % US_PER_S == 0, "a run is not on a whole second");
        require(may_run(cron, rules, next_us), "a run does not match");
        after_us = next_us;
    }
}

static void check_cron(const struct cron *cron)
{
    static const int64_t starts_us[] = {
        0,
        INT64_C(951700000000000),
        INT64_C(972780000000123),
        INT64_C(1325100000000000),
        INT64_C(1330510000000000),
        INT64_C(4107500000000000),
        INT64_C(253402200000000000),
    };
    require(cron->seconds && cron->minutes && cron->hours && cron->days && cron->months &&
                cron->weekdays,
            "a field is empty");
    require(cron_next(cron, &utc, 0) < INT64_C(4107542400000000), "it does not run for 130 years");
    for (size_t i = 0; i < sizeof(starts_us) / sizeof(starts_us[0]); i++) {
        check_runs(cron, &utc, starts_us[i]);
        check_runs(cron, &zone, starts_us[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cron cron = { .minutes = 77 };
    struct error error = { 0 };
    if (cron_parse(slice_make(data, size), &cron, &error)) {
        require(error.status == STATUS_INVALID && error.detail[0], "it is refused without a word");
        require(cron.minutes == 77 && !cron.hours, "what is refused left something");
        return 0;
    }
    check_cron(&cron);
    return 0;
}
