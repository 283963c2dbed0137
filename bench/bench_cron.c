// SPDX-License-Identifier: MIT
// Measures the time to compute the next run of cron expressions, in UTC and in a time zone that
// changes its offset twice a year until 2100.
#include "base/timefmt.h"
#include "engine/recurring/cron.h"

#include "bench.h"

#include <stdlib.h>

enum {
    ROUNDS = 1000000,
    YEARS = 130,
    HOUR = 3600,
};

#define US_PER_S   INT64_C(1000000)
#define US_PER_DAY (86400 * US_PER_S)
#define START_US   INT64_C(1700000000000000)
#define END_US     INT64_C(2300000000000000) // well before the last transition

static void bench_text(const char *text, const char *zone_name, const struct zone_rules *zone)
{
    struct cron cron;
    if (cron_parse(slice_from_cstr(text), &cron, NULL)) {
        (void)fprintf(stderr, "bench_cron: %s\n", text);
        exit(1);
    }
    int64_t at_us = START_US;
    uint64_t start = bench_cpu_ns();
    for (int i = 0; i < ROUNDS; i++) {
        at_us = at_us < END_US ? cron_next(&cron, zone, at_us) : START_US;
    }
    uint64_t total_ns = bench_cpu_ns() - start;
    char what[80];
    (void)snprintf(what, sizeof(what), "next run of %s, %s", text, zone_name);
    bench_report(what, total_ns, ROUNDS);
}

static void bench_parse(const char *text)
{
    struct cron cron;
    uint64_t start = bench_cpu_ns();
    for (int i = 0; i < ROUNDS; i++) {
        if (cron_parse(slice_from_cstr(text), &cron, NULL)) {
            exit(1);
        }
    }
    char what[80];
    (void)snprintf(what, sizeof(what), "reading %s", text);
    bench_report(what, bench_cpu_ns() - start, ROUNDS);
}

int main(void)
{
    static struct zone_transition transitions[2 * YEARS];
    static const struct zone_rules utc;
    const struct zone_rules zone = { 1 * HOUR, transitions, 2 * (size_t)YEARS };
    for (size_t i = 0; i < YEARS; i++) {
        int64_t year = 1970 + (int64_t)i;
        transitions[2 * i] = (struct zone_transition){
            timefmt_days_from_civil(year, 3, 28) * US_PER_DAY + HOUR * US_PER_S, 2 * HOUR
        };
        transitions[2 * i + 1] = (struct zone_transition){
            timefmt_days_from_civil(year, 10, 28) * US_PER_DAY + HOUR * US_PER_S, 1 * HOUR
        };
    }
    static const char *const texts[] = { "*/10 * * * *", "0 9 * * mon-fri", "0 0 29 2 *" };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        bench_text(texts[i], "UTC", &utc);
        bench_text(texts[i], "with changes", &zone);
        bench_parse(texts[i]);
    }
    return 0;
}
