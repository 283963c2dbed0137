// SPDX-License-Identifier: MIT
// Random texts, whole and damaged, against what was meant and against jansson.
#include "base/json.h"

#include "json_oracle.h"
#include "random.h"
#include "test.h"

#include <jansson.h>

enum {
    TEXT_SIZE_MAX = 1 << 20,
};

static enum status validate(struct slice text)
{
    return json_validate(text, JSON_DEPTH_MAX, NULL);
}

// One random text twice: as it is canonically, and with white space put in.
struct sample {
    struct buffer plain;
    struct buffer spaced;
};

static void sample_init(struct sample *sample)
{
    buffer_init(&sample->plain, &allocator_system, TEXT_SIZE_MAX);
    buffer_init(&sample->spaced, &allocator_system, TEXT_SIZE_MAX);
}

static void sample_release(struct sample *sample)
{
    buffer_release(&sample->plain);
    buffer_release(&sample->spaced);
}

static void add_space(struct sample *sample, struct random *random)
{
    while (random_below(random, 4) == 0) {
        buffer_append_char(&sample->spaced, " \t\r\n"[random_below(random, 4)]);
    }
}

static void add(struct sample *sample, const char *text)
{
    buffer_append(&sample->plain, slice_from_cstr(text));
    buffer_append(&sample->spaced, slice_from_cstr(text));
}

#define PICK(random, table) (table)[random_below(random, sizeof(table) / sizeof((table)[0]))]

static void add_string(struct sample *sample, struct random *random)
{
    static const char *const pieces[] = {
        "a",
        "bc",
        " ",
        "0",
        "plain text",
        "{}",
        "[,:]",
        "\\n",
        "\\\"",
        "\\\\",
        "\\/",
        "/",
        "\\u0041",
        "\\u0000",
        "\\ud83d\\ude00",
        "\x7f",
        "\xc3\xa9",
        "\xe2\x82\xac",
        "\xf0\x9f\x98\x80",
        "true",
    };
    add(sample, "\"");
    for (uint64_t count = random_below(random, 6); count > 0; count--) {
        add(sample, PICK(random, pieces));
    }
    add(sample, "\"");
}

static void add_scalar(struct sample *sample, struct random *random)
{
    static const char *const scalars[] = {
        "true",
        "false",
        "null",
        "0",
        "-0",
        "1",
        "-12",
        "0.5",
        "1.25e3",
        "1E-5",
        "-1e+05",
        "1e999",
        "12345678901234567890",
        "9223372036854775807",
        "-0.0",
    };
    if (random_below(random, 2)) {
        add_string(sample, random);
    } else {
        add(sample, PICK(random, scalars));
    }
}

static void add_value(struct sample *sample, struct random *random, int depth);

static void add_container(struct sample *sample, struct random *random, int depth)
{
    bool object = random_below(random, 2);
    add(sample, object ? "{" : "[");
    add_space(sample, random);
    uint64_t count = random_below(random, 4);
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0) {
            add(sample, ",");
            add_space(sample, random);
        }
        if (object) {
            add_string(sample, random);
            add_space(sample, random);
            add(sample, ":");
        }
        add_value(sample, random, depth - 1);
    }
    add(sample, object ? "}" : "]");
}

static void add_value(struct sample *sample, struct random *random, int depth)
{
    add_space(sample, random);
    if (depth > 0 && random_below(random, 3)) {
        add_container(sample, random, depth);
    } else {
        add_scalar(sample, random);
    }
    add_space(sample, random);
}

static void sample_make(struct sample *sample, struct random *random)
{
    buffer_clear(&sample->plain);
    buffer_clear(&sample->spaced);
    add_value(sample, random, 5);
}

static void test_json__random_texts_are_valid_and_canonical_is_what_was_meant(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    struct sample sample;
    sample_init(&sample);
    struct buffer out;
    buffer_init(&out, &allocator_system, TEXT_SIZE_MAX);
    for (int round = 0; round < 5000; round++) {
        sample_make(&sample, &random);
        assert_int_equal(validate(buffer_slice(&sample.plain)), STATUS_OK);
        assert_int_equal(validate(buffer_slice(&sample.spaced)), STATUS_OK);
        buffer_clear(&out);
        json_canonical(buffer_slice(&sample.spaced), &out);
        assert_true(slice_equal(buffer_slice(&out), buffer_slice(&sample.plain)));
        buffer_clear(&out);
        json_canonical(buffer_slice(&sample.plain), &out);
        assert_true(slice_equal(buffer_slice(&out), buffer_slice(&sample.plain)));
    }
    buffer_release(&out);
    sample_release(&sample);
}

static char random_byte(struct random *random)
{
    static const char telling[] =
        "{}[]:,\"\\/ \t\n0123456789+-.eEtrufalsn\x80\xc3\xa9\xed\xa0\xf0\xff";
    if (random_below(random, 8) == 0) {
        return (char)random_below(random, 256);
    }
    return telling[random_below(random, sizeof(telling))];
}

// Changes, inserts or deletes one byte.
static void mutate(struct buffer *text, struct random *random)
{
    size_t index = (size_t)random_below(random, text->size + 1);
    uint64_t act = random_below(random, 3);
    if (act == 0) {
        buffer_append_char(text, '\0');
        memmove(text->data + index + 1, text->data + index, text->size - index - 1);
        text->data[index] = random_byte(random);
    } else if (index < text->size && act == 1) {
        text->data[index] = random_byte(random);
    } else if (index < text->size) {
        memmove(text->data + index, text->data + index + 1, text->size - index - 1);
        text->size--;
    }
}

static void test_json__agrees_with_jansson_on_random_damage(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    struct sample sample;
    sample_init(&sample);
    int valid = 0;
    int invalid = 0;
    for (int round = 0; round < 20000; round++) {
        sample_make(&sample, &random);
        struct buffer *text = random_below(&random, 2) ? &sample.plain : &sample.spaced;
        for (uint64_t count = random_below(&random, 4); count > 0; count--) {
            mutate(text, &random);
        }
        bool accepted = json_oracle_accepts(buffer_slice(text));
        enum status status = validate(buffer_slice(text));
        if (status != (accepted ? STATUS_OK : STATUS_INVALID)) {
            print_error("jansson %s: %.*s\n", accepted ? "accepts" : "refuses",
                        SLICE_PRINT(buffer_slice(text)));
        }
        assert_int_equal(status, accepted ? STATUS_OK : STATUS_INVALID);
        valid += accepted;
        invalid += !accepted;
    }
    // Otherwise the test tells nothing.
    assert_true(valid > 1000 && invalid > 1000);
    sample_release(&sample);
}

static void test_json__differs_from_jansson_only_where_that_is_meant(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "\"\\u0000\"", "{\"\\u0000\":1}",     "1e999",
        "-1e999",      "9223372036854775808", "-9223372036854775809",
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, texts, texts[i]); i++) {
        assert_null(json_loads(texts[i], JSON_DECODE_ANY, NULL));
        assert_true(json_oracle_accepts(slice_from_cstr(texts[i])));
        assert_int_equal(validate(slice_from_cstr(texts[i])), STATUS_OK);
    }
    // The other way round: a depth between our maximum and its own.
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, TEXT_SIZE_MAX);
    for (unsigned depth = 0; depth <= JSON_DEPTH_MAX; depth++) {
        buffer_append_char(&buffer, '[');
    }
    for (unsigned depth = 0; depth <= JSON_DEPTH_MAX; depth++) {
        buffer_append_char(&buffer, ']');
    }
    struct slice text = buffer_slice(&buffer);
    assert_true(json_oracle_accepts(text));
    assert_int_equal(validate(text), STATUS_TOO_LARGE);
    buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json__random_texts_are_valid_and_canonical_is_what_was_meant),
        cmocka_unit_test(test_json__agrees_with_jansson_on_random_damage),
        cmocka_unit_test(test_json__differs_from_jansson_only_where_that_is_meant),
    };
    return cmocka_run_group_tests_name("json_random", tests, NULL, NULL);
}
