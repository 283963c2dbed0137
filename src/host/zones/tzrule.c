// SPDX-License-Identifier: MIT
#include "host/zones/tzrule.h"

#include "base/timefmt.h"

enum {
    HOUR = 3600,
    DAY = 86400,
    HOURS_MAX = 24,
    RULE_HOURS_MAX = 167,
    TIME_DEFAULT_S = 2 * HOUR, // of a rule without a time
};

// The text left to parse. The functions below skip what they parse, or return false.
struct cursor {
    const char *at, *end;
};

static char peek(const struct cursor *cursor)
{
    if (cursor->at == cursor->end) {
        return '\0';
    }
    return *cursor->at;
}

static bool skip(struct cursor *cursor, char c)
{
    bool is_there = cursor->at < cursor->end && *cursor->at == c;
    cursor->at += is_there;
    return is_there;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool read_number(struct cursor *cursor, int max, int *out)
{
    int number = 0;
    if (!is_digit(peek(cursor))) {
        return false;
    }
    while (is_digit(peek(cursor))) {
        number = number * 10 + (*cursor->at++ - '0');
        if (number > max) {
            return false;
        }
    }
    *out = number;
    return true;
}

// "EST", or "<-03>".
static bool skip_name(struct cursor *cursor)
{
    const char *start = cursor->at;
    if (skip(cursor, '<')) {
        while (is_letter(peek(cursor)) || is_digit(peek(cursor)) || peek(cursor) == '+' ||
               peek(cursor) == '-') {
            cursor->at++;
        }
        return skip(cursor, '>') && cursor->at - start > 2;
    }
    while (is_letter(peek(cursor))) {
        cursor->at++;
    }
    return cursor->at - start >= 3;
}

// [+-]hh[:mm[:ss]]
static bool read_time(struct cursor *cursor, int hours_max, int32_t *out)
{
    int hours;
    int minutes = 0;
    int seconds = 0;
    bool minus = skip(cursor, '-');
    if (!minus) {
        (void)skip(cursor, '+');
    }
    if (!read_number(cursor, hours_max, &hours) ||
        (skip(cursor, ':') && (!read_number(cursor, 59, &minutes) ||
                               (skip(cursor, ':') && !read_number(cursor, 59, &seconds))))) {
        return false;
    }
    int32_t time = hours * HOUR + minutes * 60 + seconds;
    *out = minus ? -time : time;
    return true;
}

static bool read_day(struct cursor *cursor, struct tzrule_date *out)
{
    if (skip(cursor, 'J')) {
        out->kind = TZRULE_JULIAN;
        return read_number(cursor, 365, &out->day) && out->day >= 1;
    }
    if (!skip(cursor, 'M')) {
        out->kind = TZRULE_ORDINAL;
        return read_number(cursor, 365, &out->day);
    }
    out->kind = TZRULE_WEEKDAY;
    return read_number(cursor, 12, &out->month) && out->month >= 1 && skip(cursor, '.') &&
           read_number(cursor, 5, &out->week) && out->week >= 1 && skip(cursor, '.') &&
           read_number(cursor, 6, &out->day);
}

// ",M3.5.0/3"
static bool read_date(struct cursor *cursor, struct tzrule_date *out)
{
    *out = (struct tzrule_date){ .time_s = TIME_DEFAULT_S };
    return skip(cursor, ',') && read_day(cursor, out) &&
           (!skip(cursor, '/') || read_time(cursor, RULE_HOURS_MAX, &out->time_s));
}

static bool read_summer(struct cursor *cursor, struct tzrule *rule)
{
    rule->has_summer = true;
    rule->summer_s = rule->standard_s + HOUR;
    if (!skip_name(cursor)) {
        return false;
    }
    if (peek(cursor) != ',') {
        if (!read_time(cursor, HOURS_MAX, &rule->summer_s)) {
            return false;
        }
        rule->summer_s = -rule->summer_s; // POSIX counts westwards
    }
    return read_date(cursor, &rule->start) && read_date(cursor, &rule->end);
}

enum status tzrule_parse(struct slice text, struct tzrule *out)
{
    struct tzrule rule = { 0 };
    struct cursor cursor = { text.size ? text.data : "", text.size ? text.data + text.size : "" };
    if (!text.size) {
        cursor.end = cursor.at;
    }
    if (!skip_name(&cursor) || !read_time(&cursor, HOURS_MAX, &rule.standard_s)) {
        return STATUS_INVALID;
    }
    rule.standard_s = -rule.standard_s;
    if (cursor.at < cursor.end && !read_summer(&cursor, &rule)) {
        return STATUS_INVALID;
    }
    if (cursor.at < cursor.end) {
        return STATUS_INVALID;
    }
    *out = rule;
    return STATUS_OK;
}

static int64_t day_of(const struct tzrule_date *date, int64_t year)
{
    int64_t first = timefmt_days_from_civil(year, 1, 1);
    if (date->kind == TZRULE_ORDINAL) {
        return first + date->day;
    }
    if (date->kind == TZRULE_JULIAN) {
        bool leap = timefmt_days_in_month(year, 2) == 29;
        return first + date->day - 1 + (leap && date->day >= 60);
    }
    unsigned month = (unsigned)date->month;
    first = timefmt_days_from_civil(year, month, 1);
    int64_t weekday = ((first + 4) % 7 + 7) % 7; // 1970 began with a Thursday
    int64_t day = (date->day - weekday + 7) % 7 + (int64_t)(date->week - 1) * 7;
    if (day >= timefmt_days_in_month(year, month)) {
        day -= 7;
    }
    return first + day;
}

int64_t tzrule_start(const struct tzrule *rule, int64_t year)
{
    return day_of(&rule->start, year) * DAY + rule->start.time_s - rule->standard_s;
}

int64_t tzrule_end(const struct tzrule *rule, int64_t year)
{
    return day_of(&rule->end, year) * DAY + rule->end.time_s - rule->summer_s;
}
