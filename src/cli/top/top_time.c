// SPDX-License-Identifier: MIT
#include "cli/top/top_time.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct brief brief_length(double seconds)
{
    struct brief brief;
    long long s = seconds > 0 && seconds < 1e15 ? (long long)seconds : 0;
    if (s < 60) {
        (void)snprintf(brief.text, BRIEF_SIZE, "%llds", s);
    } else if (s < 3600) {
        (void)snprintf(brief.text, BRIEF_SIZE, "%lldm%02llds", s / 60, s % 60);
    } else if (s < 86400) {
        (void)snprintf(brief.text, BRIEF_SIZE, "%lldh%02lldm", s / 3600, s / 60 % 60);
    } else if (s < 100 * 86400LL) {
        (void)snprintf(brief.text, BRIEF_SIZE, "%lldd%02lldh", s / 86400, s / 3600 % 24);
    } else {
        (void)snprintf(brief.text, BRIEF_SIZE, "%lldd", s / 86400);
    }
    return brief;
}

struct brief brief_clock(double when)
{
    struct brief brief = { "" };
    struct tm parts;
    time_t seconds = when > 0 && when < 2e11 ? (time_t)when : 0;
    if (gmtime_r(&seconds, &parts)) {
        (void)strftime(brief.text, BRIEF_SIZE, "%H:%M:%S", &parts);
    }
    return brief;
}

// Three figures and a letter. What would be rounded up to 1000 takes the next letter.
static struct brief with_letter(double value)
{
    static const char letters[] = { 'k', 'M', 'G', 'T', 'P', 'E' };
    struct brief brief;
    size_t letter = 0;
    for (value /= 1000; value >= 999.5 && letter + 1 < sizeof(letters); letter++) {
        value /= 1000;
    }
    (void)snprintf(brief.text, BRIEF_SIZE, "%.*f%c", value < 99.95 ? 1 : 0, value, letters[letter]);
    return brief;
}

struct brief brief_count(int64_t count, int width)
{
    struct brief brief;
    int digits = snprintf(brief.text, BRIEF_SIZE, "%lld", (long long)count);
    return digits <= width ? brief : with_letter((double)count);
}

struct brief brief_rate(double rate)
{
    struct brief brief;
    if (!(rate > 0)) {
        return (struct brief){ "0" };
    }
    if (rate >= 9999.5) {
        return with_letter(rate);
    }
    int places = rate >= 100 || fabs(rate - round(rate)) < 0.005 ? 0 : rate >= 10 ? 1 : 2;
    (void)snprintf(brief.text, BRIEF_SIZE, "%.*f", places, rate);
    return brief;
}
