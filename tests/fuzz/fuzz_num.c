// SPDX-License-Identifier: MIT
// Any bytes as a number, a moment and a UUID: what parses must print, and the print must parse to
// the same value.
#include "fuzz.h"

#include "base/num.h"
#include "base/timefmt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_num: %s\n", sentence);
        abort();
    }
}

static struct slice printed(const struct buffer *buffer)
{
    require(buffer->status == STATUS_OK, "a number was too long to print");
    return buffer_slice(buffer);
}

static void check_i64(struct slice text, struct buffer *buffer)
{
    int64_t value;
    int64_t again = 0;
    if (num_parse_i64(text, &value)) {
        return;
    }
    buffer_clear(buffer);
    num_append_i64(buffer, value);
    require(!num_parse_i64(printed(buffer), &again) && again == value,
            "a signed integer did not survive being printed");
    require(slice_equal(printed(buffer), text) || value == 0,
            "a signed integer other than 0 has two texts");
    double real;
    require(!num_parse_double(text, &real) && real == (double)value,
            "a signed integer is another number as a double");
}

static void check_u64(struct slice text, struct buffer *buffer)
{
    uint64_t value;
    uint64_t again = 0;
    if (num_parse_u64(text, &value)) {
        return;
    }
    buffer_clear(buffer);
    num_append_u64(buffer, value);
    require(!num_parse_u64(printed(buffer), &again) && again == value,
            "an unsigned integer did not survive being printed");
}

// Zero has two signs, and they are told apart.
static int same_double(double a, double b)
{
    return a == b && !signbit(a) == !signbit(b);
}

static void check_double(struct slice text, struct buffer *buffer)
{
    double value;
    double again = 0;
    if (num_parse_double(text, &value)) {
        return;
    }
    buffer_clear(buffer);
    num_append_double(buffer, value);
    require(!num_parse_double(printed(buffer), &again) && same_double(again, value),
            "a double did not survive being printed");

    // The copy ends it, as the C library needs.
    char copy[NUM_TEXT_SIZE_MAX + 1] = { 0 };
    memcpy(copy, text.data, text.size);
    double wanted = strtod(copy, NULL);
    require(same_double(wanted, value), "a double is another than the C library's");
}

static void check_seconds(struct slice text, struct buffer *buffer)
{
    int64_t us;
    int64_t again = 0;
    double seconds;
    enum status status = num_parse_seconds(text, &us);
    if (status) {
        require(status == STATUS_TOO_LARGE || num_parse_double(text, &seconds) == STATUS_INVALID,
                "seconds and doubles differ on what a number is");
        return;
    }
    buffer_clear(buffer);
    num_append_seconds(buffer, us);
    require(!num_parse_seconds(printed(buffer), &again) && again == us,
            "seconds did not survive being printed");
    require(!num_parse_double(text, &seconds), "seconds that are not a double");
    double difference = seconds * 1e6 - (double)us;
    double allowed = 1 + (seconds < 0 ? -seconds : seconds) * 1e-9;
    require(difference <= allowed && difference >= -allowed,
            "seconds are far from what they are as a double");
}

static void check_moment(struct slice text, struct buffer *buffer)
{
    int64_t us;
    int64_t again = 0;
    if (timefmt_parse(text, &us)) {
        return;
    }
    buffer_clear(buffer);
    char formatted[TIMEFMT_SIZE_MAX];
    buffer_append(buffer, slice_make(formatted, timefmt_format(us, formatted)));
    require(!timefmt_parse(printed(buffer), &again) && again == us,
            "a moment did not survive being printed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_make(data, size);
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, 64);
    check_i64(text, &buffer);
    check_u64(text, &buffer);
    check_double(text, &buffer);
    check_seconds(text, &buffer);
    check_moment(text, &buffer);
    buffer_release(&buffer);
    return 0;
}
