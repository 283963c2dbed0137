// SPDX-License-Identifier: MIT
#include "base/json_sorted.h"

#include "base/json.h"
#include "fault_alloc.h"
#include "random.h"
#include "test.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum {
    TEXT_SIZE_MAX = 1 << 25,
    MEMBERS_MANY = 200000,
};

static void assert_sorted(struct slice text, struct slice wanted)
{
    struct buffer out;
    buffer_init(&out, &allocator_system, TEXT_SIZE_MAX);
    assert_int_equal(json_validate(text, JSON_DEPTH_MAX, NULL), STATUS_OK);
    assert_int_equal(json_sorted(text, &allocator_system, &out), STATUS_OK);
    if (!slice_equal(buffer_slice(&out), wanted) && text.size < 1000) {
        print_error("%.*s\nbecame %.*s\nnot    %.*s\n", SLICE_PRINT(text),
                    SLICE_PRINT(buffer_slice(&out)), SLICE_PRINT(wanted));
    }
    assert_true(slice_equal(buffer_slice(&out), wanted));
    buffer_release(&out);
}

static void test_json_sorted__members_stand_in_the_order_of_their_keys(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *sorted;
    } cases[] = {
        { "{}", "{}" },
        { "{\"a\":1}", "{\"a\":1}" },
        { "{\"b\":1,\"a\":2}", "{\"a\":2,\"b\":1}" },
        { "{\"c\":1,\"a\":2,\"b\":3,\"\":4}", "{\"\":4,\"a\":2,\"b\":3,\"c\":1}" },
        { "{\"b\":{\"c\":1},\"a\":2}", "{\"a\":2,\"b\":{\"c\":1}}" },
        { "{\"b\":{\"d\":{},\"c\":{\"f\":0,\"e\":{}}},\"a\":{\"h\":[],\"g\":\"\"}}",
          "{\"a\":{\"g\":\"\",\"h\":[]},\"b\":{\"c\":{\"e\":{},\"f\":0},\"d\":{}}}" },
        { "[{\"b\":1,\"a\":2},{\"d\":3,\"c\":[4,{\"f\":5,\"e\":6},7]},8]",
          "[{\"a\":2,\"b\":1},{\"c\":[4,{\"e\":6,\"f\":5},7],\"d\":3},8]" },
        { "{\"b\":[[1,{}],[{\"z\":0,\"y\":0}]],\"a\":[]}",
          "{\"a\":[],\"b\":[[1,{}],[{\"y\":0,\"z\":0}]]}" },
        // A key before those that it starts, capitals before small letters, digits as characters.
        { "{\"ab\":1,\"a\":2,\"B\":3,\"10\":4,\"9\":5}",
          "{\"10\":4,\"9\":5,\"B\":3,\"a\":2,\"ab\":1}" },
        // Keys that differ only behind their first bytes.
        { "{\"customer-3\":1,\"customer-1\":2,\"customer\":3,\"customer-\":4}",
          "{\"customer\":3,\"customer-\":4,\"customer-1\":2,\"customer-3\":1}" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        assert_sorted(slice_from_cstr(cases[i].text), slice_from_cstr(cases[i].sorted));
        assert_sorted(slice_from_cstr(cases[i].sorted), slice_from_cstr(cases[i].sorted));
    }
}

static void test_json_sorted__keys_are_compared_as_the_bytes_they_stand_for(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *sorted;
    } cases[] = {
        { "{\"b\":1,\"\\u0061\":2}", "{\"a\":2,\"b\":1}" },
        // A backslash is not what a control or a quote compares as.
        { "{\"A\":1,\" \":2,\"\\n\":3,\"\\\"\":4,\"\\u0000\":5}",
          "{\"\\u0000\":5,\"\\n\":3,\" \":2,\"\\\"\":4,\"A\":1}" },
        // Nothing is less than a zero byte.
        { "{\"a\\u0000\\u0000\":1,\"aa\":2,\"a\\u0000\":3,\"a\":4}",
          "{\"a\":4,\"a\\u0000\":3,\"a\\u0000\\u0000\":1,\"aa\":2}" },
        // In UTF-8, U+FF61 is less than U+1F600; in UTF-16 it would not be.
        { "{\"\\ud83d\\ude00\":1,\"\\uff61\":2,\"\\u00e9\":3,\"z\":4}",
          "{\"z\":4,\"\xc3\xa9\":3,\"\xef\xbd\xa1\":2,\"\xf0\x9f\x98\x80\":1}" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        assert_sorted(slice_from_cstr(cases[i].text), slice_from_cstr(cases[i].sorted));
    }
}

static void test_json_sorted__members_with_the_same_key_keep_their_order(void **state)
{
    (void)state;
    assert_sorted(SLICE("{\"b\":1,\"a\":2,\"b\":3,\"\\u0061\":4,\"b\":5,\"a\":6}"),
                  SLICE("{\"a\":2,\"a\":4,\"a\":6,\"b\":1,\"b\":3,\"b\":5}"));

    struct buffer text;
    struct buffer wanted;
    buffer_init(&text, &allocator_system, TEXT_SIZE_MAX);
    buffer_init(&wanted, &allocator_system, TEXT_SIZE_MAX);
    for (int i = 0; i < 1000; i++) {
        buffer_printf(&text, "%s\"long key %d\":%d", i ? "," : "{", i * 7 % 10, i);
    }
    buffer_append_char(&text, '}');
    for (int key = 0; key < 10; key++) {
        for (int i = 0; i < 1000; i++) {
            if (i * 7 % 10 == key) {
                buffer_printf(&wanted, "%s\"long key %d\":%d", wanted.size ? "," : "{", key, i);
            }
        }
    }
    buffer_append_char(&wanted, '}');
    assert_sorted(buffer_slice(&text), buffer_slice(&wanted));
    buffer_release(&text);
    buffer_release(&wanted);
}

static void test_json_sorted__a_string_is_escaped_in_one_way(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *sorted;
    } cases[] = {
        { "\"\"", "\"\"" },
        { "\"plain\"", "\"plain\"" },
        { "\"\\u0061\\u0062\"", "\"ab\"" },
        { "\"\\/ /\"", "\"/ /\"" },
        { "\"\\u000a \\u000A \\n\"", "\"\\n \\n \\n\"" },
        { "\"\\b\\f\\r\\t\\u0008\\u000c\\u000d\\u0009\"", "\"\\b\\f\\r\\t\\b\\f\\r\\t\"" },
        { "\"\\u0000\\u001F\\u001f\\u007f\"", "\"\\u0000\\u001f\\u001f\x7f\"" },
        { "\"\\u0022\\u005c\\\"\\\\\"", "\"\\\"\\\\\\\"\\\\\"" },
        { "\"\\u00e9\xc3\xa9 \\u20AC \\ud83d\\ude00\"",
          "\"\xc3\xa9\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"" },
        { "{\"\\u006b\\/\\u0001\":[\"\\u0076\",\"{\\\"\",\"}\",\"\\u005b,:\"]}",
          "{\"k/\\u0001\":[\"v\",\"{\\\"\",\"}\",\"[,:\"]}" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        assert_sorted(slice_from_cstr(cases[i].text), slice_from_cstr(cases[i].sorted));
    }
}

static void test_json_sorted__white_space_goes_and_the_rest_stays(void **state)
{
    (void)state;
    assert_sorted(SLICE(" \t\r\n{ \"b\" : [ 1 ,\n2 ] , \"a\"\t:\r{ } , \"c\" : \" \" } "),
                  SLICE("{\"a\":{},\"b\":[1,2],\"c\":\" \"}"));
    assert_sorted(SLICE(" [ ] "), SLICE("[]"));
    assert_sorted(SLICE(" true\n"), SLICE("true"));
    assert_sorted(SLICE("[null,false , true]"), SLICE("[null,false,true]"));
}

static void test_json_sorted__numbers_with_one_value_have_one_form(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *sorted;
    } cases[] = {
        { "0", "0" },
        { "-0", "0" },
        { "0.000", "0" },
        { "-0e999999999999999999999", "0" },
        { "1", "1" },
        { "1.0", "1" },
        { "1e0", "1" },
        { "1E+00", "1" },
        { "10e-1", "1" },
        { "0.1e1", "1" },
        { "-12.50", "-12.5" },
        { "-1250E-2", "-12.5" },
        { "100", "100" },
        { "1e2", "100" },
        { "0.01e+4", "100" },
        { "12345678901234567890123", "12345678901234567890123" },
        { "12345678901234567890123.0", "12345678901234567890123" },
        { "9007199254740993", "9007199254740993" },
        { "9007199254740993e0", "9007199254740993" },
        { "0.1", "0.1" },
        { "0.10000000000000000001", "0.10000000000000000001" },
        { "1e20", "100000000000000000000" },
        { "1e21", "1e21" },
        { "1000000000000000000000", "1e21" },
        { "1.5e31", "15e30" },
        { "0.0000001", "0.0000001" },
        { "1e-7", "0.0000001" },
        { "0.00000001", "1e-8" },
        { "1e999", "1e999" },
        { "10e998", "1e999" },
        { "1e-0999", "1e-999" },
        { "1e12345678901234567", "1e12345678901234567" }, // as it is written
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        const char *sorted = cases[i].sorted;
        assert_sorted(slice_from_cstr(cases[i].text), slice_from_cstr(sorted));
        assert_sorted(slice_from_cstr(sorted), slice_from_cstr(sorted));
        char text[100];
        (void)snprintf(text, sizeof(text), "{\"b\": %s ,\"a\":[%s]}", cases[i].text, cases[i].text);
        char wanted[100];
        (void)snprintf(wanted, sizeof(wanted), "{\"a\":[%s],\"b\":%s}", sorted, sorted);
        assert_sorted(slice_from_cstr(text), slice_from_cstr(wanted));
    }
}

static void repeat(struct buffer *buffer, const char *piece, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        buffer_append(buffer, slice_from_cstr(piece));
    }
}

static void test_json_sorted__any_valid_depth_is_sorted(void **state)
{
    (void)state;
    static const struct {
        const char *before;
        const char *after;
        const char *sorted_before;
        const char *sorted_after;
        unsigned levels;
    } cases[] = {
        { "[", "]", "[", "]", 1 },
        { "{\"b\":", ",\"a\":1}", "{\"a\":1,\"b\":", "}", 1 },
        { "{\"b\":", ",\"c\":1,\"a\":1}", "{\"a\":1,\"b\":", ",\"c\":1}", 1 },
        { "[1,{\"b\":", ",\"a\":[]}]", "[1,{\"a\":[],\"b\":", "}]", 2 },
    };
    struct buffer text;
    struct buffer wanted;
    buffer_init(&text, &allocator_system, TEXT_SIZE_MAX);
    buffer_init(&wanted, &allocator_system, TEXT_SIZE_MAX);
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].before); i++) {
        // The innermost object is a level of its own.
        unsigned count = (JSON_DEPTH_MAX - 1) / cases[i].levels;
        buffer_clear(&text);
        buffer_clear(&wanted);
        repeat(&text, cases[i].before, count);
        buffer_append(&text, SLICE("{\"y\":0,\"x\":0}"));
        repeat(&text, cases[i].after, count);
        repeat(&wanted, cases[i].sorted_before, count);
        buffer_append(&wanted, SLICE("{\"x\":0,\"y\":0}"));
        repeat(&wanted, cases[i].sorted_after, count);
        assert_sorted(buffer_slice(&text), buffer_slice(&wanted));
    }
    buffer_release(&text);
    buffer_release(&wanted);
}

static void test_json_sorted__many_members_are_sorted(void **state)
{
    (void)state;
    struct buffer text;
    struct buffer wanted;
    buffer_init(&text, &allocator_system, TEXT_SIZE_MAX);
    buffer_init(&wanted, &allocator_system, TEXT_SIZE_MAX);
    for (unsigned i = 0; i < MEMBERS_MANY; i++) {
        // 7919 has no factor in common with the count, so each key comes once.
        unsigned key = (unsigned)((uint64_t)i * 7919 % MEMBERS_MANY);
        buffer_printf(&text, "%s\"a key with %06u\":%u", i ? "," : "{", key, key);
        buffer_printf(&wanted, "%s\"a key with %06u\":%u", i ? "," : "{", i, i);
    }
    buffer_append_char(&text, '}');
    buffer_append_char(&wanted, '}');
    assert_sorted(buffer_slice(&text), buffer_slice(&wanted));
    buffer_release(&text);
    buffer_release(&wanted);
}

static void test_json_sorted__is_appended_to_what_is_there(void **state)
{
    (void)state;
    struct buffer out;
    buffer_init(&out, &allocator_system, 100);
    buffer_append(&out, SLICE("job "));
    assert_int_equal(json_sorted(SLICE("{\"b\":1, \"a\":2}"), &allocator_system, &out), STATUS_OK);
    assert_int_equal(json_sorted(SLICE("[]"), &allocator_system, &out), STATUS_OK);
    assert_slice_equal(buffer_slice(&out), "job {\"a\":2,\"b\":1}[]");
    buffer_release(&out);
}

static void test_json_sorted__a_full_buffer_is_refused_and_keeps_what_it_had(void **state)
{
    (void)state;
    const struct slice text = SLICE("{\"b\": \"\\u0061\", \"a\": [1, 2]}");
    const struct slice sorted = SLICE("{\"a\":[1,2],\"b\":\"a\"}");
    for (size_t room = 0; room <= sorted.size; room++) {
        struct fault_alloc fault;
        fault_alloc_init(&fault);
        struct buffer out;
        buffer_init(&out, &allocator_system, room + 4);
        buffer_append(&out, SLICE("job "));
        enum status status = json_sorted(text, &fault.allocator, &out);
        assert_int_equal(status, room < sorted.size ? STATUS_TOO_LARGE : STATUS_OK);
        assert_int_equal(out.status, status);
        assert_int_equal(out.size, status ? 4 : 4 + sorted.size);
        fault_alloc_release(&fault);

        // What failed before fails again.
        if (status) {
            assert_int_equal(json_sorted(SLICE("1"), &fault.allocator, &out), STATUS_TOO_LARGE);
            assert_slice_equal(buffer_slice(&out), "job ");
        }
        buffer_release(&out);
    }
}

static void test_json_sorted__without_memory_it_fails_and_keeps_none(void **state)
{
    (void)state;
    struct buffer text;
    buffer_init(&text, &allocator_system, TEXT_SIZE_MAX);
    for (int i = 0; i < 100; i++) {
        buffer_printf(&text, "%s\"key %d\\n\":{\"b\":\"\\u0061\",\"a\":[{\"d\":1,\"c\":{}}]}",
                      i ? "," : "{", i * 37 % 100);
    }
    buffer_append_char(&text, '}');
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct buffer out;
        buffer_init(&out, &fault.allocator, TEXT_SIZE_MAX);
        buffer_append(&out, SLICE("job "));
        enum status status = out.status;
        if (!status) {
            status = json_sorted(buffer_slice(&text), &fault.allocator, &out);
            assert_int_equal(status == STATUS_OK, out.size > 4);
            assert_true(slice_starts_with(buffer_slice(&out), SLICE("job ")));
        }
        FAULT_ALLOC_EXPECT(&fault, status);
        buffer_release(&out);
    }
    buffer_release(&text);
}

static void test_json_sorted__text_without_objects_and_escapes_costs_no_memory(void **state)
{
    (void)state;
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    struct buffer out;
    buffer_init(&out, &allocator_system, 100);
    assert_int_equal(json_sorted(SLICE("[1, \"a\", [true]]"), &fault.allocator, &out), STATUS_OK);
    assert_int_equal(fault.calls, 0);
    buffer_release(&out);
}

static void test_json_sorted__brackets_that_do_not_match_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{",
        "}",
        "[",
        "]",
        "{]",
        "[}",
        "{\"a\":[}]",
        "[{]}",
        "{\"a\":1",
        "\"a",
        "{\"a",
        "{\"a\":\"\\\"}",
        "{\"a\":1}}",
        "{\"\\x\":1}",
        "[\"\\ud800\"]",
        "{\"a\":\"\\u12\"}",
    };
    struct buffer out;
    buffer_init(&out, &allocator_system, 100);
    for (size_t i = 0; TEST_ROW_NAMED(i, texts, texts[i]); i++) {
        struct fault_alloc fault;
        fault_alloc_init(&fault);
        assert_int_equal(json_sorted(slice_from_cstr(texts[i]), &fault.allocator, &out),
                         STATUS_INVALID);
        assert_int_equal(out.size, 0);
        fault_alloc_release(&fault);
    }
    buffer_release(&out);

    struct buffer deep;
    buffer_init(&deep, &allocator_system, TEXT_SIZE_MAX);
    buffer_init(&out, &allocator_system, TEXT_SIZE_MAX);
    repeat(&deep, "[", JSON_DEPTH_MAX + 1);
    repeat(&deep, "]", JSON_DEPTH_MAX + 1);
    assert_int_equal(json_sorted(buffer_slice(&deep), &allocator_system, &out), STATUS_INVALID);
    buffer_release(&deep);
    buffer_release(&out);
}

// Random values
//
// What a value means follows from a seed alone, so nothing needs to be kept to write it twice; how
// it is written (the order of the members, white space, escapes) follows from `form`.

struct form {
    struct buffer *out;
    struct random *random;
};

static uint64_t seed_of(uint64_t seed, uint64_t index)
{
    struct random random = { seed ^ (index + 1) * UINT64_C(0x9e3779b97f4a7c15) };
    return random_u64(&random);
}

static void form_space(const struct form *form)
{
    while (random_below(form->random, 4) == 0) {
        buffer_append_char(form->out, " \t\r\n"[random_below(form->random, 4)]);
    }
}

static void form_char(const struct form *form, char c)
{
    form_space(form);
    buffer_append_char(form->out, c);
    form_space(form);
}

// Each character in all the ways there are to write it.
static void form_string(const struct form *form, uint64_t seed, const char *end)
{
    static const char *const characters[][4] = {
        { "a", "\\u0061", "a", "a" },
        { "b", "\\u0062", "b", "b" },
        { "/", "\\/", "\\u002f", "\\u002F" },
        { "\\n", "\\u000a", "\\u000A", "\\n" },
        { "\\u0000", "\\u0000", "\\u0000", "\\u0000" },
        { "\\\"", "\\u0022", "\\\"", "\\u0022" },
        { "\\\\", "\\u005c", "\\u005C", "\\\\" },
        { "{", "\\u007b", "\\u007B", "{" },
        { "\x7f", "\\u007f", "\\u007F", "\x7f" },
        { "\xc3\xa9", "\\u00e9", "\\u00E9", "\xc3\xa9" },
        { "\xef\xbd\xa1", "\\uff61", "\\uFF61", "\\uFf61" },
        { "\xf0\x9f\x98\x80", "\\ud83d\\ude00", "\\uD83D\\uDE00", "\xf0\x9f\x98\x80" },
    };
    struct random content = { seed };
    buffer_append_char(form->out, '"');
    for (uint64_t count = random_below(&content, 12); count > 0; count--) {
        uint64_t which = random_below(&content, sizeof(characters) / sizeof(characters[0]));
        uint64_t way = random_below(form->random, 4);
        buffer_append(form->out, slice_from_cstr(characters[which][way]));
    }
    buffer_append(form->out, slice_from_cstr(end));
    buffer_append_char(form->out, '"');
}

static void form_scalar(const struct form *form, uint64_t seed)
{
    static const char *const scalars[] = {
        "true", "false", "null", "0", "-0", "1", "1.0", "-12", "1.25e3", "1E-5", "9007199254740993",
    };
    struct random content = { seed };
    if (random_below(&content, 2)) {
        form_string(form, random_u64(&content), "");
    } else {
        uint64_t which = random_below(&content, sizeof(scalars) / sizeof(scalars[0]));
        buffer_append(form->out, slice_from_cstr(scalars[which]));
    }
}

// The numbers below `count` in random order.
static void shuffle(uint64_t *numbers, uint64_t count, struct random *random)
{
    for (uint64_t i = 0; i < count; i++) {
        numbers[i] = i;
    }
    for (uint64_t i = 1; i < count; i++) {
        uint64_t other = random_below(random, i + 1);
        uint64_t number = numbers[i];
        numbers[i] = numbers[other];
        numbers[other] = number;
    }
}

static void form_value(const struct form *form, uint64_t seed, int depth);

static void form_object(const struct form *form, uint64_t seed, uint64_t count, int depth)
{
    uint64_t order[16] = { 0 };
    shuffle(order, count, form->random);
    form_char(form, '{');
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0) {
            form_char(form, ',');
        }
        // The end makes each key another one.
        const char end[] = { (char)('a' + order[i]), '\0' };
        form_string(form, seed_of(seed, 2 * order[i]), end);
        form_char(form, ':');
        form_value(form, seed_of(seed, 2 * order[i] + 1), depth - 1);
    }
    form_char(form, '}');
}

static void form_array(const struct form *form, uint64_t seed, uint64_t count, int depth)
{
    form_char(form, '[');
    for (uint64_t i = 0; i < count; i++) {
        if (i > 0) {
            form_char(form, ',');
        }
        form_value(form, seed_of(seed, i), depth - 1);
    }
    form_char(form, ']');
}

static void form_value(const struct form *form, uint64_t seed, int depth)
{
    struct random content = { seed };
    if (depth == 0 || random_below(&content, 4) == 0) {
        form_scalar(form, random_u64(&content));
    } else if (random_below(&content, 3) == 0) {
        form_array(form, random_u64(&content), random_below(&content, 4), depth);
    } else {
        form_object(form, random_u64(&content), random_below(&content, 17), depth);
    }
}

static void make(struct buffer *out, uint64_t seed, struct random *random)
{
    buffer_clear(out);
    const struct form form = { out, random };
    form_space(&form);
    form_value(&form, seed, 3);
    form_space(&form);
    assert_int_equal(out->status, STATUS_OK);
}

static json_t *load(struct slice text)
{
    return json_loadb(text.data, text.size,
                      JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
}

// Whether jansson could read it, which has no keys with a zero.
static bool assert_same_meaning(struct slice text, struct slice other)
{
    json_t *tree = load(text);
    json_t *tree_other = load(other);
    assert_int_equal(!tree, !tree_other);
    assert_true(!tree || json_equal(tree, tree_other));
    bool read = tree != NULL;
    json_decref(tree);
    json_decref(tree_other);
    return read;
}

static void test_json_sorted__all_ways_to_write_a_value_have_one_sorted_form(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    struct buffer text;
    struct buffer sorted;
    buffer_init(&text, &allocator_system, TEXT_SIZE_MAX);
    buffer_init(&sorted, &allocator_system, TEXT_SIZE_MAX);
    int read = 0;
    for (int round = 0; round < 300; round++) {
        uint64_t seed = random_u64(&random);
        make(&text, seed, &random);
        buffer_clear(&sorted);
        assert_int_equal(json_sorted(buffer_slice(&text), &allocator_system, &sorted), STATUS_OK);
        struct slice result = buffer_slice(&sorted);
        assert_int_equal(json_validate(result, JSON_DEPTH_MAX, NULL), STATUS_OK);
        read += assert_same_meaning(buffer_slice(&text), result);
        assert_sorted(result, result);
        for (int again = 0; again < 4; again++) {
            make(&text, seed, &random);
            assert_sorted(buffer_slice(&text), result);
        }
    }
    // Otherwise the comparison tells nothing.
    assert_true(read > 30);
    buffer_release(&text);
    buffer_release(&sorted);
}

static void test_json_sorted__values_that_differ_have_another_sorted_form(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"a\":1}",
        "{\"a\":1.5}",
        "{\"a\":\"1\"}",
        "{\"A\":1}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":2,\"a\":1}",
        "[1,2]",
        "[2,1]",
        "{\"a\":null}",
        "{}",
        "[]",
        "[{}]",
        "\"\"",
        "\"{}\"",
        "{\"a\":{\"b\":1}}",
        "{\"a\":{},\"b\":1}",
    };
    enum {
        COUNT = sizeof(texts) / sizeof(texts[0]),
    };
    struct buffer sorted[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        buffer_init(&sorted[i], &allocator_system, 100);
        assert_int_equal(json_sorted(slice_from_cstr(texts[i]), &allocator_system, &sorted[i]),
                         STATUS_OK);
        for (size_t j = 0; j < i; j++) {
            assert_false(slice_equal(buffer_slice(&sorted[i]), buffer_slice(&sorted[j])));
        }
    }
    for (size_t i = 0; i < COUNT; i++) {
        buffer_release(&sorted[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_sorted__members_stand_in_the_order_of_their_keys),
        cmocka_unit_test(test_json_sorted__keys_are_compared_as_the_bytes_they_stand_for),
        cmocka_unit_test(test_json_sorted__members_with_the_same_key_keep_their_order),
        cmocka_unit_test(test_json_sorted__a_string_is_escaped_in_one_way),
        cmocka_unit_test(test_json_sorted__white_space_goes_and_the_rest_stays),
        cmocka_unit_test(test_json_sorted__numbers_with_one_value_have_one_form),
        cmocka_unit_test(test_json_sorted__any_valid_depth_is_sorted),
        cmocka_unit_test(test_json_sorted__many_members_are_sorted),
        cmocka_unit_test(test_json_sorted__is_appended_to_what_is_there),
        cmocka_unit_test(test_json_sorted__a_full_buffer_is_refused_and_keeps_what_it_had),
        cmocka_unit_test(test_json_sorted__without_memory_it_fails_and_keeps_none),
        cmocka_unit_test(test_json_sorted__text_without_objects_and_escapes_costs_no_memory),
        cmocka_unit_test(test_json_sorted__brackets_that_do_not_match_are_refused),
        cmocka_unit_test(test_json_sorted__all_ways_to_write_a_value_have_one_sorted_form),
        cmocka_unit_test(test_json_sorted__values_that_differ_have_another_sorted_form),
    };
    return cmocka_run_group_tests_name("json_sorted", tests, NULL, NULL);
}
