// SPDX-License-Identifier: MIT
#include "cli/core/moment.h"

#include "os/clock.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    MINUTE = 60,
    HOUR = 3600,
    DAY = 86400,
};

double moment_now(void)
{
    return (double)wall_clock_us() / 1e6;
}

// Behind the minutes: ":30", ":30.5", then perhaps "Z".
static bool parse_seconds(const char *text, double *out)
{
    *out = 0;
    if (*text == ':') {
        char *end;
        if (text[1] < '0' || text[1] > '9') {
            return false;
        }
        *out = strtod(text + 1, &end);
        text = end;
    }
    return *out < 61 && (!*text || !strcmp(text, "Z"));
}

static bool parse_calendar(const char *text, double *out)
{
    struct tm parts = { 0 };
    double seconds = 0;
    const char *rest = strptime(text, "%Y-%m-%d", &parts);
    if (rest && (*rest == 'T' || *rest == ' ')) {
        rest = strptime(rest + 1, "%H:%M", &parts);
        if (!rest || !parse_seconds(rest, &seconds)) {
            return false;
        }
    } else if (!rest || *rest) {
        return false;
    }
    int day = parts.tm_mday;
    time_t whole = timegm(&parts);
    *out = (double)whole + seconds;
    return parts.tm_mday == day; // not the 31st of a month that has none
}

bool moment_parse(const char *text, double *out)
{
    if (*text && text[strspn(text, "0123456789.")] == 0) {
        char *end;
        *out = strtod(text, &end);
        return !*end && isfinite(*out);
    }
    return parse_calendar(text, out);
}

void moment_format(double moment, char text[MOMENT_SIZE])
{
    time_t whole = (time_t)moment;
    struct tm parts;
    if (!gmtime_r(&whole, &parts) || !strftime(text, MOMENT_SIZE, "%Y-%m-%d %H:%M:%SZ", &parts)) {
        (void)snprintf(text, MOMENT_SIZE, "%.15g", moment);
    }
}

static bool zone_is_known(const char *zone)
{
    const char *folder = getenv("TZDIR");
    char path[PATH_MAX];
    int size = snprintf(path, sizeof path, "%s/%s", folder ? folder : "/usr/share/zoneinfo", zone);
    return *zone && !strstr(zone, "..") && size > 0 && (size_t)size < sizeof path &&
           !access(path, R_OK);
}

static void format_local(double moment, char text[MOMENT_SIZE])
{
    time_t whole = (time_t)moment;
    struct tm parts;
    tzset();
    if (!localtime_r(&whole, &parts) ||
        !strftime(text, MOMENT_SIZE, "%Y-%m-%d %H:%M:%S %Z", &parts)) {
        (void)snprintf(text, MOMENT_SIZE, "%.15g", moment);
    }
}

void moment_format_in(double moment, const char *zone, char text[MOMENT_SIZE])
{
    if (!zone) {
        format_local(moment, text);
        return;
    }
    if (!zone_is_known(zone)) {
        moment_format(moment, text);
        return;
    }
    const char *set = getenv("TZ");
    char *before = set ? strdup(set) : NULL;
    (void)setenv("TZ", zone, 1);
    format_local(moment, text);
    if (before) {
        (void)setenv("TZ", before, 1);
    } else {
        (void)unsetenv("TZ");
    }
    tzset();
    free(before);
}

// Two units at most: who reads it wants to know about how long.
void length_format(double seconds, char text[MOMENT_SIZE])
{
    double size = fabs(seconds);
    const char *sign = seconds < 0 ? "-" : "";
    if (size == 0) {
        (void)snprintf(text, MOMENT_SIZE, "0s");
    } else if (size < 0.001) {
        (void)snprintf(text, MOMENT_SIZE, "%s%.0fus", sign, size * 1e6);
    } else if (size < 1) {
        (void)snprintf(text, MOMENT_SIZE, "%s%.3gms", sign, size * 1e3);
    } else if (size < MINUTE) {
        (void)snprintf(text, MOMENT_SIZE, "%s%.3gs", sign, size);
    } else {
        static const struct {
            int64_t seconds;
            char name;
        } units[] = { { DAY, 'd' }, { HOUR, 'h' }, { MINUTE, 'm' }, { 1, 's' } };
        int64_t left = size < 1e15 ? (int64_t)size : (int64_t)1e15;
        size_t i = 0;
        while (left < units[i].seconds) {
            i++;
        }
        int64_t rest = left % units[i].seconds / units[i + 1].seconds;
        int used = snprintf(text, MOMENT_SIZE, "%s%lld%c", sign,
                            (long long)(left / units[i].seconds), units[i].name);
        if (rest) {
            (void)snprintf(text + used, MOMENT_SIZE - (size_t)used, "%lld%c", (long long)rest,
                           units[i + 1].name);
        }
    }
}

void moment_relative(double moment, double now, char text[MOMENT_SIZE])
{
    // Parts of a second would only be noise.
    double seconds = trunc(moment - now);
    char length[MOMENT_SIZE];
    length_format(fabs(seconds), length);
    if (seconds == 0) {
        (void)snprintf(text, MOMENT_SIZE, "now");
    } else {
        (void)snprintf(text, MOMENT_SIZE, seconds > 0 ? "in %.40s" : "%.40s ago", length);
    }
}

void moment_show(double moment, enum times times, char text[MOMENT_SIZE])
{
    switch (times) {
    case TIMES_RELATIVE:
        moment_relative(moment, moment_now(), text);
        break;
    case TIMES_UTC:
        moment_format(moment, text);
        break;
    case TIMES_LOCAL:
        moment_format_in(moment, NULL, text);
        break;
    }
}
