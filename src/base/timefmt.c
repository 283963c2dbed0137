// SPDX-License-Identifier: MIT
#include "base/timefmt.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define US_PER_MS  INT64_C(1000)
#define US_PER_S   INT64_C(1000000)
#define S_PER_MIN  INT64_C(60)
#define S_PER_HOUR INT64_C(3600)
#define S_PER_DAY  INT64_C(86400)
#define US_PER_DAY (S_PER_DAY * US_PER_S)

// The calendar
//
// It repeats every 400 years. Within those, a year is taken to begin in March, so that the day
// which comes and goes is the last of a year and the months before it have fixed places: day
// (153 * m + 2) / 5 is where month m, counted from March, begins.
enum {
    DAYS_PER_400_YEARS = 146097,
    DAYS_PER_100_YEARS = 36524,
    DAYS_PER_4_YEARS = 1461,
    DAYS_PER_YEAR = 365,
    DAYS_FROM_0000_03_01_TO_1970 = 719468,
};

// Rounds down, where C's division rounds towards zero.
static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

int64_t timefmt_days_from_civil(int64_t year, unsigned month, unsigned day)
{
    assert(month >= 1 && month <= 12);
    unsigned month_from_march = month > 2 ? month - 3 : month + 9;
    int64_t year_from_march = year - (month <= 2);
    int64_t era = floor_div(year_from_march, 400);
    int64_t year_of_era = year_from_march - era * 400;
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    int64_t day_of_era =
        year_of_era * DAYS_PER_YEAR + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DAYS_PER_400_YEARS + day_of_era - DAYS_FROM_0000_03_01_TO_1970;
}

void timefmt_civil_from_days(int64_t days, int64_t *year, unsigned *month, unsigned *day)
{
    int64_t days_from_march = days + DAYS_FROM_0000_03_01_TO_1970;
    int64_t era = floor_div(days_from_march, DAYS_PER_400_YEARS);
    int64_t day_of_era = days_from_march - era * DAYS_PER_400_YEARS;
    // Subtracts the leap days so far, so that each year has 365 days. The last day of a period of
    // four, one hundred or four hundred years would otherwise count as the next year.
    int64_t year_of_era =
        (day_of_era - day_of_era / (DAYS_PER_4_YEARS - 1) + day_of_era / DAYS_PER_100_YEARS -
         day_of_era / (DAYS_PER_400_YEARS - 1)) /
        DAYS_PER_YEAR;
    int64_t day_of_year =
        day_of_era - (year_of_era * DAYS_PER_YEAR + year_of_era / 4 - year_of_era / 100);
    unsigned month_from_march = (unsigned)((5 * day_of_year + 2) / 153);
    *day = (unsigned)day_of_year - (153 * month_from_march + 2) / 5 + 1;
    *month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    *year = era * 400 + year_of_era + (*month <= 2);
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

unsigned timefmt_days_in_month(int64_t year, unsigned month)
{
    static const unsigned char days[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    assert(month >= 1 && month <= 12);
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

// Writes `count` digits with leading zeros; returns their end.
static char *put_digits(char *text, int64_t value, int count)
{
    for (int i = count - 1; i >= 0; i--) {
        text[i] = (char)('0' + value % 10);
        value /= 10;
    }
    return text + count;
}

static char *put_year(char *text, int64_t year)
{
    if (year >= 0 && year <= 9999) {
        return put_digits(text, year, 4);
    }
    *text++ = year < 0 ? '-' : '+';
    return put_digits(text, year < 0 ? -year : year, 6);
}

size_t timefmt_format(int64_t us, char text[TIMEFMT_SIZE_MAX])
{
    int64_t days = floor_div(us, US_PER_DAY);
    // The alternative, days * US_PER_DAY, would overflow for the first day that can be represented.
    int64_t us_of_day = us % US_PER_DAY + (us % US_PER_DAY < 0 ? US_PER_DAY : 0);
    int64_t s_of_day = us_of_day / US_PER_S;
    int64_t us_of_s = us_of_day % US_PER_S;
    int64_t year;
    unsigned month;
    unsigned day;
    timefmt_civil_from_days(days, &year, &month, &day);

    char *end = put_year(text, year);
    *end++ = '-';
    end = put_digits(end, month, 2);
    *end++ = '-';
    end = put_digits(end, day, 2);
    *end++ = 'T';
    end = put_digits(end, s_of_day / S_PER_HOUR, 2);
    *end++ = ':';
    end = put_digits(end, s_of_day % S_PER_HOUR / S_PER_MIN, 2);
    *end++ = ':';
    end = put_digits(end, s_of_day % S_PER_MIN, 2);
    *end++ = '.';
    end = us_of_s % US_PER_MS == 0 ? put_digits(end, us_of_s / US_PER_MS, 3)
                                   : put_digits(end, us_of_s, 6);
    *end++ = 'Z';
    return (size_t)(end - text);
}

// The text left to read. Each take_ function moves past what it reads, or returns false.
struct reader {
    struct slice rest;
};

static bool take_one_of(struct reader *reader, const char *choices, char *taken)
{
    if (reader->rest.size == 0 || reader->rest.data[0] == '\0' ||
        !strchr(choices, reader->rest.data[0])) {
        return false;
    }
    *taken = reader->rest.data[0];
    reader->rest = slice_sub(reader->rest, 1, SIZE_MAX);
    return true;
}

static bool take_char(struct reader *reader, char c)
{
    char taken;
    return take_one_of(reader, (const char[]){ c, '\0' }, &taken);
}

// Exactly `count` digits.
static bool take_number(struct reader *reader, int count, int64_t max, int64_t *out)
{
    int64_t value = 0;
    for (int i = 0; i < count; i++) {
        char digit;
        if (!take_one_of(reader, "0123456789", &digit)) {
            return false;
        }
        value = value * 10 + (digit - '0');
    }
    *out = value;
    return value <= max;
}

static bool take_date(struct reader *reader, int64_t *days)
{
    int64_t year;
    int64_t month;
    int64_t day;
    if (!take_number(reader, 4, 9999, &year) || !take_char(reader, '-') ||
        !take_number(reader, 2, 12, &month) || !take_char(reader, '-') ||
        !take_number(reader, 2, 31, &day)) {
        return false;
    }
    if (month < 1 || day < 1 || day > timefmt_days_in_month(year, (unsigned)month)) {
        return false;
    }
    *days = timefmt_days_from_civil(year, (unsigned)month, (unsigned)day);
    return true;
}

static bool take_hour_and_minute(struct reader *reader, int64_t *s)
{
    int64_t hour;
    int64_t minute;
    if (!take_number(reader, 2, 23, &hour) || !take_char(reader, ':') ||
        !take_number(reader, 2, 59, &minute)) {
        return false;
    }
    *s = hour * S_PER_HOUR + minute * S_PER_MIN;
    return true;
}

// Reads a fraction of a second, if there is one.
static bool take_fraction(struct reader *reader, int64_t *us)
{
    *us = 0;
    if (!take_char(reader, '.')) {
        return true;
    }
    char digit;
    bool any = false;
    for (int64_t unit = US_PER_S / 10; take_one_of(reader, "0123456789", &digit); unit /= 10) {
        *us += (digit - '0') * unit;
        any = true;
    }
    return any;
}

// Reads the offset of local time from UTC.
static bool take_offset(struct reader *reader, int64_t *s)
{
    char sign;
    if (!take_one_of(reader, "Zz+-", &sign)) {
        return false;
    }
    *s = 0;
    if (sign == 'Z' || sign == 'z') {
        return true;
    }
    if (!take_hour_and_minute(reader, s)) {
        return false;
    }
    *s = sign == '-' ? -*s : *s;
    return true;
}

enum status timefmt_parse(struct slice text, int64_t *us_out)
{
    struct reader reader = { text };
    char separator;
    int64_t days;
    int64_t s_of_day;
    int64_t second;
    int64_t us_of_s;
    int64_t offset_s;
    if (!take_date(&reader, &days) || !take_one_of(&reader, "Tt ", &separator) ||
        !take_hour_and_minute(&reader, &s_of_day) || !take_char(&reader, ':') ||
        !take_number(&reader, 2, 60, &second) || !take_fraction(&reader, &us_of_s) ||
        !take_offset(&reader, &offset_s) || reader.rest.size) {
        return STATUS_INVALID;
    }
    int64_t s = days * S_PER_DAY + s_of_day + second - offset_s;
    if (second == 60) {
        if (s % S_PER_DAY) {
            return STATUS_INVALID;
        }
        us_of_s = 0;
    }
    if (s < timefmt_days_from_civil(0, 1, 1) * S_PER_DAY ||
        s >= timefmt_days_from_civil(10000, 1, 1) * S_PER_DAY) {
        return STATUS_TOO_LARGE;
    }
    *us_out = s * US_PER_S + us_of_s;
    return STATUS_OK;
}
