// SPDX-License-Identifier: MIT
// Parsing makes a bit mask of every field, so that the next run is found by finding the next bit:
// first of the month, then of the day, then of the time of day.
//
// "Wall" times are seconds since 1970 as the local clock shows them, regardless of its offset.
#include "engine/recurring/cron.h"

#include "base/ascii.h"
#include "base/timefmt.h"
#include "engine/engine.h"

#define US_PER_S  INT64_C(1000000)
#define S_PER_DAY INT64_C(86400)
#define END_S     (ENGINE_TIME_MAX / US_PER_S + 1) // the first second that is too late

#define NEVER       INT64_MAX
#define NOTHING_YET INT64_MIN

enum {
    DAYS_PER_WEEK = 7,
    ALL_HOURS = (1 << 24) - 1,
    NO_BIT = 64,
    SHOWN_SIZE_MAX = 40, // of what was given, in an error's sentence
};

// ---------------------------------------------------------------------------------------------
// Reading

enum {
    SECOND,
    MINUTE,
    HOUR,
    DAY,
    MONTH,
    WEEKDAY,
    FIELD_COUNT,
};

struct field {
    const char *name;
    unsigned first;
    unsigned last;
    unsigned count;    // of different values
    const char *names; // three letters each, from the first value on
    const char *kind;  // describes a value
};

static const struct field fields[FIELD_COUNT] = {
    [SECOND] = { "second", 0, 59, 60, "", "not a number" },
    [MINUTE] = { "minute", 0, 59, 60, "", "not a number" },
    [HOUR] = { "hour", 0, 23, 24, "", "not a number" },
    [DAY] = { "day of month", 1, 31, 31, "", "not a number" },
    [MONTH] = { "month", 1, 12, 12, "janfebmaraprmayjunjulaugsepoctnovdec",
                "neither a number nor a name from jan to dec" },
    [WEEKDAY] = { "day of week", 0, 7, DAYS_PER_WEEK, "sunmontuewedthufrisat",
                  "neither a number nor a name from sun to sat" },
};

// The parser of a field.
struct reader {
    const struct field *field;
    struct slice text;
    struct error *error;
};

// What was given, as much of it as fits into a sentence.
#define SHOWN(slice) SLICE_PRINT(slice_sub((slice), 0, SHOWN_SIZE_MAX))

#define REFUSE(reader, format, ...)                                                                \
    error_set((reader)->error, STATUS_INVALID, "cron %s: " format, (reader)->field->name,          \
              __VA_ARGS__)

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_star(const struct field *field, struct slice text)
{
    bool is_day = field == &fields[DAY] || field == &fields[WEEKDAY];
    return slice_equal(text, SLICE("*")) || (is_day && slice_equal(text, SLICE("?")));
}

// Splits `text` at the first `separator`. Without one both are unchanged.
static bool cut(struct slice *text, char separator, struct slice *rest)
{
    const char *at = text->size ? memchr(text->data, separator, text->size) : NULL;
    if (!at) {
        return false;
    }
    size_t size = (size_t)(at - text->data);
    *rest = slice_sub(*text, size + 1, SIZE_MAX);
    *text = slice_sub(*text, 0, size);
    return true;
}

// Digits only. Values too large for any field are limited to a value that is too large.
static bool parse_digits(struct slice text, unsigned *out)
{
    unsigned value = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
        value = value > 999 ? value : value * 10 + (unsigned)(text.data[i] - '0');
    }
    *out = value;
    return text.size > 0;
}

static bool parse_name(const struct field *field, struct slice text, unsigned *out)
{
    for (unsigned i = 0; field->names[(size_t)i * 3]; i++) {
        if (ascii_equal(text, slice_make(field->names + (size_t)i * 3, 3))) {
            *out = field->first + i;
            return true;
        }
    }
    return false;
}

static enum status parse_value(const struct reader *reader, struct slice text, unsigned *out)
{
    const struct field *field = reader->field;
    if (text.size == 0) {
        return REFUSE(reader, "a value is missing in %.*s", SHOWN(reader->text));
    }
    if (parse_name(field, text, out)) {
        return STATUS_OK;
    }
    if (slice_equal(text, SLICE("?"))) {
        return REFUSE(reader, "%.*s is only for the two day fields, and stands alone",
                      SLICE_PRINT(text));
    }
    unsigned value;
    if (!parse_digits(text, &value)) {
        return REFUSE(reader, "%.*s is %s", SHOWN(text), field->kind);
    }
    if (value < field->first || value > field->last) {
        return REFUSE(reader, "%.*s is not within %u to %u", SHOWN(text), field->first,
                      field->last);
    }
    *out = value;
    return STATUS_OK;
}

static enum status parse_step(const struct reader *reader, struct slice text, unsigned *out)
{
    unsigned value;
    if (text.size == 0) {
        return REFUSE(reader, "a step is missing in %.*s", SHOWN(reader->text));
    }
    if (!parse_digits(text, &value)) {
        return REFUSE(reader, "the step %.*s is not a number", SHOWN(text));
    }
    if (value < 1 || value > reader->field->count) {
        return REFUSE(reader, "the step %.*s is not within 1 to %u", SHOWN(text),
                      reader->field->count);
    }
    *out = value;
    return STATUS_OK;
}

// The values from `*first` to `*last`. A weekday after Saturday is in the next week.
static enum status parse_range(const struct reader *reader, struct slice text, bool has_step,
                               unsigned *first, unsigned *last)
{
    const struct field *field = reader->field;
    bool is_weekday = field == &fields[WEEKDAY];
    unsigned end = field->first + field->count - 1;
    if (is_star(field, text)) {
        *first = field->first;
        *last = end;
        return STATUS_OK;
    }
    struct slice whole = text;
    struct slice rest;
    bool is_range = cut(&text, '-', &rest);
    enum status status = parse_value(reader, text, first);
    if (status) {
        return status;
    }
    if (!is_range) {
        *first = is_weekday ? *first % DAYS_PER_WEEK : *first;
        *last = has_step ? end : *first;
        return STATUS_OK;
    }
    status = parse_value(reader, rest, last);
    if (status || *last >= *first) {
        return status;
    }
    if (!is_weekday) {
        return REFUSE(reader, "the range %.*s runs backwards; only weekdays may do so",
                      SHOWN(whole));
    }
    *last += DAYS_PER_WEEK;
    return STATUS_OK;
}

static enum status parse_item(const struct reader *reader, struct slice item, uint64_t *mask)
{
    struct slice step_text = SLICE_EMPTY;
    unsigned first;
    unsigned last;
    unsigned step = 1;
    bool has_step = cut(&item, '/', &step_text);
    enum status status = parse_range(reader, item, has_step, &first, &last);
    if (!status && has_step) {
        status = parse_step(reader, step_text, &step);
    }
    if (status) {
        return status;
    }
    for (unsigned value = first; value <= last; value += step) {
        bool is_weekday = reader->field == &fields[WEEKDAY];
        *mask |= UINT64_C(1) << (is_weekday ? value % DAYS_PER_WEEK : value);
    }
    return STATUS_OK;
}

static enum status parse_field(const struct reader *reader, uint64_t *mask)
{
    for (size_t i = 0; i < reader->text.size; i++) {
        if (reader->text.data[i] < 0x21 || reader->text.data[i] > 0x7e) {
            return REFUSE(reader, "byte %zu of it is not printable ASCII", i + 1);
        }
    }
    struct slice rest = reader->text;
    bool more;
    *mask = 0;
    do {
        struct slice item = rest;
        more = cut(&item, ',', &rest);
        enum status status = parse_item(reader, item, mask);
        if (status) {
            return status;
        }
    } while (more);
    return STATUS_OK;
}

// Splits the text into fields; fields after FIELD_COUNT are only counted.
static size_t split(struct slice text, struct slice out[FIELD_COUNT])
{
    size_t count = 0;
    for (size_t i = 0; i < text.size;) {
        size_t start = i;
        while (i < text.size && !is_blank(text.data[i])) {
            i++;
        }
        if (i > start) {
            if (count < FIELD_COUNT) {
                out[count] = slice_sub(text, start, i - start);
            }
            count++;
        } else {
            i++;
        }
    }
    return count;
}

static enum status parse_word(struct slice word, struct cron *out, struct error *error)
{
    static const struct {
        const char *word;
        const char *text;
    } words[] = {
        { "@yearly", "0 0 1 1 *" }, { "@annually", "0 0 1 1 *" }, { "@monthly", "0 0 1 * *" },
        { "@weekly", "0 0 * * 0" }, { "@daily", "0 0 * * *" },    { "@midnight", "0 0 * * *" },
        { "@hourly", "0 * * * *" },
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (ascii_equal(word, slice_from_cstr(words[i].word))) {
            return cron_parse(slice_from_cstr(words[i].text), out, error);
        }
    }
    return error_set(error, STATUS_INVALID,
                     "a cron expression that begins with @ must be @yearly, @annually, @monthly, "
                     "@weekly, @daily, @midnight or @hourly");
}

static bool is_restricted(struct slice text)
{
    return text.data[0] != '*' && text.data[0] != '?';
}

// Some month must have the day; all combinations of years and weekdays occur at some time.
static enum status check_runs(const struct cron *cron, struct error *error)
{
    unsigned day = (unsigned)__builtin_ctz(cron->days);
    if (cron->either_day) {
        return STATUS_OK;
    }
    for (unsigned month = 1; month <= 12; month++) {
        if (cron->months >> month & 1 && day <= timefmt_days_in_month(2000, month)) {
            return STATUS_OK;
        }
    }
    return error_set(error, STATUS_INVALID,
                     "cron day of month: no month that is given has a day %u, so it can never run",
                     day);
}

enum status cron_parse(struct slice text, struct cron *out, struct error *error)
{
    struct slice texts[FIELD_COUNT];
    uint64_t masks[FIELD_COUNT] = { [SECOND] = 1 };
    if (text.size > CRON_TEXT_SIZE_MAX) {
        return error_set(error, STATUS_INVALID,
                         "the cron expression is %zu bytes long, and at most %d are allowed",
                         text.size, CRON_TEXT_SIZE_MAX);
    }
    size_t count = split(text, texts);
    if (count == 1 && texts[0].data[0] == '@') {
        return parse_word(texts[0], out, error);
    }
    if (count != FIELD_COUNT && count != FIELD_COUNT - 1) {
        return error_set(error, STATUS_INVALID,
                         "a cron expression has five fields, or six with the second in front; "
                         "this one has %zu",
                         count);
    }
    size_t skipped = FIELD_COUNT - count;
    for (size_t i = skipped; i < FIELD_COUNT; i++) {
        struct reader reader = { &fields[i], texts[i - skipped], error };
        enum status status = parse_field(&reader, &masks[i]);
        if (status) {
            return status;
        }
    }
    struct cron cron = {
        .seconds = masks[SECOND],
        .minutes = masks[MINUTE],
        .hours = (uint32_t)masks[HOUR],
        .days = (uint32_t)masks[DAY],
        .months = (uint16_t)masks[MONTH],
        .weekdays = (uint8_t)masks[WEEKDAY],
        .either_day =
            is_restricted(texts[DAY - skipped]) && is_restricted(texts[WEEKDAY - skipped]),
    };
    enum status status = check_runs(&cron, error);
    if (!status) {
        *out = cron;
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Wall times

static unsigned next_bit(uint64_t mask, unsigned from)
{
    mask = mask >> from << from;
    return mask ? (unsigned)__builtin_ctzll(mask) : NO_BIT;
}

static int64_t time_of_day(unsigned hour, unsigned minute, unsigned second)
{
    return (int64_t)hour * 3600 + (int64_t)minute * 60 + second;
}

// The first time of day from `from_s` on, or NEVER.
static int64_t next_time(const struct cron *cron, int64_t from_s)
{
    unsigned hour = (unsigned)from_s / 3600;
    unsigned minute = (unsigned)from_s / 60 % 60;
    if (cron->hours >> hour & 1) {
        unsigned second = next_bit(cron->seconds, (unsigned)from_s % 60);
        if (cron->minutes >> minute & 1 && second != NO_BIT) {
            return time_of_day(hour, minute, second);
        }
        minute = next_bit(cron->minutes, minute + 1);
        if (minute != NO_BIT) {
            return time_of_day(hour, minute, next_bit(cron->seconds, 0));
        }
    }
    hour = next_bit(cron->hours, hour + 1);
    if (hour == NO_BIT) {
        return NEVER;
    }
    return time_of_day(hour, next_bit(cron->minutes, 0), next_bit(cron->seconds, 0));
}

// The days of a month that match, bit n for the nth. `first` is its first day.
static uint32_t days_of_month(const struct cron *cron, int64_t year, unsigned month, int64_t first)
{
    // 1970 began on a Thursday; the day may be before it.
    unsigned weekday = (unsigned)(first % DAYS_PER_WEEK + DAYS_PER_WEEK + 4) % DAYS_PER_WEEK;
    // The week is rotated so that it begins with the month, and repeated five times.
    uint64_t week = ((uint64_t)cron->weekdays << DAYS_PER_WEEK | cron->weekdays) >> weekday & 0x7f;
    uint64_t by_weekday = (week | week << 7 | week << 14 | week << 21 | week << 28) << 1;
    uint64_t days = cron->either_day ? cron->days | by_weekday : cron->days & by_weekday;
    uint64_t existing = (UINT64_C(2) << timefmt_days_in_month(year, month)) - 2;
    return (uint32_t)(days & existing);
}

// The first day from `from` on, or NEVER if there is none up to the month of `limit`.
static int64_t next_day(const struct cron *cron, int64_t from, int64_t limit)
{
    int64_t year;
    unsigned month;
    unsigned day;
    timefmt_civil_from_days(from, &year, &month, &day);
    for (int64_t first = from - day + 1; first <= limit;) {
        if (cron->months >> month & 1) {
            unsigned found = next_bit(days_of_month(cron, year, month, first), day);
            if (found != NO_BIT) {
                return first + found - 1;
            }
        }
        first += timefmt_days_in_month(year, month);
        day = 1;
        year += month == 12;
        month = month % 12 + 1;
    }
    return NEVER;
}

static int64_t day_of(int64_t wall_s)
{
    return wall_s / S_PER_DAY - (wall_s % S_PER_DAY < 0);
}

// The first match from `from_s` on. If it is not before `limit_s`, any value not before it is
// returned.
static int64_t next_wall(const struct cron *cron, int64_t from_s, int64_t limit_s)
{
    int64_t today = day_of(from_s);
    int64_t limit = day_of(limit_s);
    int64_t day = next_day(cron, today, limit);
    int64_t time_s = next_time(cron, day == today ? from_s - today * S_PER_DAY : 0);
    if (time_s == NEVER) {
        day = next_day(cron, today + 1, limit);
        time_s = next_time(cron, 0);
    }
    return day == NEVER ? NEVER : day * S_PER_DAY + time_s;
}

// ---------------------------------------------------------------------------------------------
// Segments: the times between two transitions, with a constant offset

struct segment {
    int64_t start_s;
    int64_t end_s; // exclusive; not after the start if the segment is empty
    int64_t offset_s;
};

// The first whole second that is not before `us`; runs are at whole seconds.
static int64_t second_from(int64_t us)
{
    return us / US_PER_S + (us % US_PER_S > 0);
}

// Segment n ends with transition n; the last one has no end.
static struct segment segment_at(const struct zone_rules *zone, size_t index)
{
    struct segment segment = { NOTHING_YET, END_S, zone->offset_s };
    if (index > 0) {
        segment.start_s = second_from(zone->transitions[index - 1].at_us);
        segment.offset_s = zone->transitions[index - 1].offset_s;
    }
    if (index < zone->count) {
        int64_t end_s = second_from(zone->transitions[index].at_us);
        segment.end_s = end_s < END_S ? end_s : END_S;
    }
    return segment;
}

// The segment that contains a second.
static size_t segment_find(const struct zone_rules *zone, int64_t s)
{
    size_t low = 0;
    size_t high = zone->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->transitions[middle].at_us <= s * US_PER_S) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// The latest wall time shown by the end of a segment, if it was `passed_s` before.
static int64_t pass(int64_t passed_s, const struct segment *segment)
{
    int64_t wall_s = segment->end_s + segment->offset_s;
    return segment->start_s < segment->end_s && wall_s > passed_s ? wall_s : passed_s;
}

// The latest wall time shown before a segment began: later times are shown for the first time.
// Segments that ended long ago are ignored, because offsets differ less than that.
static int64_t passed_before(const struct zone_rules *zone, size_t index)
{
    int64_t passed_s = NOTHING_YET;
    int64_t start_s = segment_at(zone, index).start_s;
    while (index-- > 0) {
        struct segment segment = segment_at(zone, index);
        passed_s = pass(passed_s, &segment);
        if (segment.start_s < start_s - INT64_C(2) * ZONE_OFFSET_MAX_S) {
            break;
        }
    }
    return passed_s;
}

// The first run in a segment from `from_s` on, or NEVER. Wall times that were shown before do not
// run again; those that the transition has skipped run at once.
static int64_t next_in_segment(const struct cron *cron, const struct segment *segment,
                               int64_t from_s, int64_t passed_s)
{
    int64_t start_s = from_s > segment->start_s ? from_s : segment->start_s;
    int64_t start_wall_s = start_s + segment->offset_s;
    int64_t end_wall_s = segment->end_s + segment->offset_s;
    if (start_s >= segment->end_s) {
        return NEVER;
    }
    if (passed_s != NOTHING_YET && start_s == segment->start_s && passed_s < start_wall_s &&
        next_wall(cron, passed_s, start_wall_s) < start_wall_s) {
        return start_s;
    }
    start_wall_s = start_wall_s > passed_s ? start_wall_s : passed_s;
    int64_t wall_s = next_wall(cron, start_wall_s, end_wall_s);
    return wall_s < end_wall_s ? wall_s - segment->offset_s : NEVER;
}

int64_t cron_next(const struct cron *cron, const struct zone_rules *zone, int64_t after_us)
{
    if (after_us >= ENGINE_TIME_MAX) {
        return INT64_MAX;
    }
    int64_t from_s = after_us < 0 ? 0 : after_us / US_PER_S + 1;
    bool is_on_wall = cron->hours != ALL_HOURS;
    size_t index = segment_find(zone, from_s);
    int64_t passed_s = is_on_wall ? passed_before(zone, index) : NOTHING_YET;
    for (; index <= zone->count; index++) {
        struct segment segment = segment_at(zone, index);
        int64_t run_s = next_in_segment(cron, &segment, from_s, passed_s);
        if (run_s != NEVER) {
            return run_s * US_PER_S;
        }
        passed_s = is_on_wall ? pass(passed_s, &segment) : NOTHING_YET;
    }
    return INT64_MAX;
}
