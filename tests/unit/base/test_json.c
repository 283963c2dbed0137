// SPDX-License-Identifier: MIT
#include "base/json.h"

#include "fault_alloc.h"
#include "test.h"

#include <stdlib.h>

enum {
    TEXT_SIZE_MAX = 1 << 20,
};

static enum status validate(struct slice text)
{
    return json_validate(text, JSON_DEPTH_MAX, NULL);
}

static void test_json__what_the_grammar_allows_is_valid(void **state)
{
    (void)state;
    static const char *const texts[] = {
        // Any value may stand at the top.
        "null",
        "true",
        "false",
        "0",
        "\"\"",
        "[]",
        "{}",
        "\"text\"",
        // White space is these four, anywhere between two tokens.
        " 1 ",
        "\t\r\n 1\t\r\n ",
        "[ ]",
        "{ }",
        "[ 1 , 2 ]",
        "{ \"a\" : 1 , \"b\" : 2 }",
        "\n[\n]\n",
        // Numbers.
        "-0",
        "-1",
        "1",
        "10",
        "1234567890",
        "123456789012345678901234567890",
        "0.0",
        "-0.5",
        "1.25",
        "0.10",
        "1e5",
        "1E5",
        "1e+5",
        "1e-5",
        "1e05",
        "0e0",
        "0E+00",
        "-1.5e-10",
        "1e999999",
        "-1e999999",
        "1e-999999",
        "0.00000000000000000000000000000000001",
        "[0,-0,1.0,1e1]",
        // Containers.
        "[1]",
        "[1,2]",
        "[[]]",
        "[[],[]]",
        "[{}]",
        "[[[[[[[[]]]]]]]]",
        "{\"a\":1}",
        "{\"\":0}",
        "{\"a\":{}}",
        "{\"a\":[]}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":{\"b\":{\"c\":[1,{\"d\":null}]}}}",
        "[null,true,false,\"\",0]",
        "[[1,2],{\"a\":[3]},4]",
        // Strings of each length around the eight bytes that are looked at together.
        "\"1\"",
        "\"12\"",
        "\"123456\"",
        "\"1234567\"",
        "\"12345678\"",
        "\"123456789\"",
        "\"1234567890123456\"",
        "[\"1234567\",\"12345678\"]",
        // Characters that need no escape.
        "\"/\"",
        "\"\x7f\"",
        "\"'\"",
        "\"{[]}:,\"",
        "\"true\"",
        "\" \"",
        // Escapes.
        "\"\\\"\"",
        "\"\\\\\"",
        "\"\\/\"",
        "\"\\b\\f\\n\\r\\t\"",
        "\"\\u0000\"",
        "\"\\u0041\"",
        "\"\\uabcd\\uABCD\"",
        "\"\\uD7FF\\uE000\\uFFFF\"",
        "\"\\ud83d\\ude00\"",
        "\"\\uD800\\uDC00\\uDBFF\\uDFFF\"",
        "\"\\\\u12\"",
        "\"\\\\\\\"\"",
        "\"\\\\ud800\"",
        "{\"\\u0000\":\"\\\"\"}",
        "\"1234567\\n\"",
        "\"12345678\\n\"",
        // UTF-8 of two, three and four bytes, with the first and the last of each.
        "\"\xc2\x80\xdf\xbf\"",
        "\"\xe0\xa0\x80\xef\xbf\xbf\"",
        "\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"",
        "\"\xed\x9f\xbf\xee\x80\x80\"",
        "\"1234567\xc3\xa9\"",
        "{\"\xe6\x9d\xb1\":\"\xe4\xba\xac\"}",
        // A byte order mark is a character like any other inside a string.
        "\"\xef\xbb\xbf\"",
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, texts, texts[i]); i++) {
        struct error error = { .status = STATUS_OK };
        enum status status = json_validate(slice_from_cstr(texts[i]), JSON_DEPTH_MAX, &error);
        if (status) {
            print_error("%s: %s\n", texts[i], error_sentence(&error));
        }
        assert_int_equal(status, STATUS_OK);
    }
}

static void test_json__what_is_malformed_is_refused_with_its_place_and_reason(void **state)
{
    (void)state;
    static const char *const value = "expected a value";
    static const char *const key = "expected a key in quotes";
    static const char *const colon = "expected ':' after the key";
    static const char *const object = "expected ',' or '}'";
    static const char *const array = "expected ',' or ']'";
    static const char *const behind = "expected nothing behind the value";
    static const char *const literal = "expected true, false or null";
    static const char *const digit = "expected a digit";
    static const char *const zero = "a number must not start with 0";
    static const char *const control = "a control character in a string must be escaped";
    static const char *const escape = "unknown escape in a string";
    static const char *const hex = "expected four hexadecimal digits after \\u";
    static const char *const half = "the \\u escape is half of a surrogate pair";
    static const char *const utf8 = "the string is not UTF-8";
    static const char *const no_value = "the text ends, expected a value";
    static const char *const no_quote = "the text ends, expected the closing quote of a string";
    static const char *const no_digit = "the text ends, expected a digit";
    static const char *const no_comma = "the text ends, expected ',' or ']'";
    const struct {
        const char *text;
        size_t offset;
        const char *reason;
    } cases[] = {
        // Nothing, or too much.
        { "", 0, no_value },
        { "  ", 2, no_value },
        { "1 2", 2, behind },
        { "[] []", 3, behind },
        { "{}}", 2, behind },
        { "[]]", 2, behind },
        { "\"a\"x", 3, behind },
        { "null,", 4, behind },
        { "truetrue", 4, behind },
        { "nulll", 4, behind },
        { "\xef\xbb\xbf{}", 0, value },
        { "\xef\xbb\xbf", 0, value },
        // White space that is none.
        { "\f1", 0, value },
        { "\v1", 0, value },
        { "[\xc2\xa0]", 1, value },
        { "1\xe2\x81\xa0", 1, behind },
        // Things of other languages.
        { "// a\n1", 0, value },
        { "[1,/* a */2]", 3, value },
        { "1 # a", 2, behind },
        { "'a'", 0, value },
        { "{'a':1}", 1, key },
        { "{a:1}", 1, key },
        { "{1:1}", 1, key },
        { "{null:1}", 1, key },
        { "undefined", 0, value },
        { "True", 0, value },
        { "TRUE", 0, value },
        { "nan", 0, literal },
        { "NaN", 0, value },
        { "Infinity", 0, value },
        { "-Infinity", 1, digit },
        { "*", 0, value },
        { "<a>", 0, value },
        // Literals cut short.
        { "t", 0, literal },
        { "tru", 0, literal },
        { "fals", 0, literal },
        { "nul", 0, literal },
        { "trux", 0, literal },
        { "[nul]", 1, literal },
        { "[fals", 1, literal },
        // Numbers.
        { "-", 1, no_digit },
        { "+1", 0, value },
        { "01", 0, zero },
        { "-01", 1, zero },
        { "00", 0, zero },
        { "[1,012]", 3, zero },
        { "1.", 2, no_digit },
        { ".5", 0, value },
        { "-.5", 1, digit },
        { "1.e5", 2, digit },
        { "1.5.5", 3, behind },
        { "1e", 2, no_digit },
        { "1E+", 3, no_digit },
        { "1e-", 3, no_digit },
        { "1e+-5", 3, digit },
        { "1e5.5", 3, behind },
        { "1ee5", 2, digit },
        { "0x10", 1, behind },
        { "0e", 2, no_digit },
        { "--1", 1, digit },
        { "- 1", 1, digit },
        { "1 .5", 2, behind },
        { "1-2", 1, behind },
        { "[1 000]", 3, array },
        { "[-]", 2, digit },
        { "1a", 1, behind },
        { "\xef\xbc\x91", 0, value },
        // Arrays.
        { "[", 1, no_value },
        { "[1", 2, no_comma },
        { "[1,", 3, no_value },
        { "[1,]", 3, value },
        { "[,1]", 1, value },
        { "[,]", 1, value },
        { "[1,,2]", 3, value },
        { "[1 2]", 3, array },
        { "[1}", 2, array },
        { "[1:2]", 2, array },
        { "[\"a\":1]", 4, array },
        { "[}", 1, value },
        { "]", 0, value },
        { "[[1]", 4, no_comma },
        { "[\"a\"\"b\"]", 4, array },
        { "[[]1]", 3, array },
        // Objects.
        { "{", 1, "the text ends, expected a key in quotes" },
        { "{\"a\"", 4, "the text ends, expected ':' after the key" },
        { "{\"a\":", 5, no_value },
        { "{\"a\":1", 6, "the text ends, expected ',' or '}'" },
        { "{\"a\":1,", 7, "the text ends, expected a key in quotes" },
        { "{\"a\":1,}", 7, key },
        { "{,}", 1, key },
        { "{,\"a\":1}", 1, key },
        { "{\"a\":1,,\"b\":2}", 7, key },
        { "{\"a\" 1}", 5, colon },
        { "{\"a\",\"b\"}", 4, colon },
        { "{\"a\"}", 4, colon },
        { "{\"a\"::1}", 5, value },
        { "{\"a\":}", 5, value },
        { "{\"a\":1]", 6, object },
        { "{\"a\":1 \"b\":2}", 7, object },
        { "{\"a\":1:2}", 6, object },
        { "{]", 1, key },
        { "}", 0, value },
        { ":", 0, value },
        { ",", 0, value },
        { "{[]:1}", 1, key },
        { "{{}:1}", 1, key },
        { "[{]}", 2, key },
        { "[{}}", 3, array },
        { "{\"a\":[}]", 6, value },
        { "{\"a\":[1}", 7, array },
        { "[[],{\"a\":[{}]]}", 13, object },
        // Strings.
        { "\"", 1, no_quote },
        { "\"a", 2, no_quote },
        { "\"12345678", 9, no_quote },
        { "\"\\\"", 3, no_quote },
        { "\"a\nb\"", 2, control },
        { "\"\t\"", 1, control },
        { "\"\x1f\"", 1, control },
        { "\"1234567\x01\"", 8, control },
        { "\"12345678\x01\"", 9, control },
        { "{\"a\nb\":1}", 3, control },
        { "\"\\\"a", 4, no_quote },
        { "\"\\", 1, escape },
        { "\"\\x41\"", 1, escape },
        { "\"\\a\"", 1, escape },
        { "\"\\'\"", 1, escape },
        { "\"\\0\"", 1, escape },
        { "\"\\U0041\"", 1, escape },
        { "\"\\\n\"", 1, escape },
        { "\"\\\xc3\xa9\"", 1, escape },
        { "\"\\u\"", 1, hex },
        { "\"\\u004", 1, hex },
        { "\"\\u004\"", 1, hex },
        { "\"\\u004g\"", 1, hex },
        { "\"\\u 041\"", 1, hex },
        { "\"\\u+041\"", 1, hex },
        { "\"\\u00-1\"", 1, hex },
        { "\"\\ud800\"", 1, half },
        { "\"\\udc00\"", 1, half },
        { "\"\\ud800\\ud800\"", 1, half },
        { "\"\\ud800\\u0041\"", 1, half },
        { "\"\\ud800x\"", 1, half },
        { "\"\\ud800\\n\"", 1, half },
        { "\"\\ud800\\u", 1, half },
        { "\"\\ud800\\udc0", 1, half },
        { "\"\\ud800\\udc0\"", 1, half },
        { "\"\\ud83d\\ude00\\ude00\"", 13, half },
        { "\"\\udfff\\udbff\"", 1, half },
        // What is not UTF-8.
        { "\"\x80\"", 1, utf8 },
        { "\"\xbf\"", 1, utf8 },
        { "\"\xc3\"", 1, utf8 },
        { "\"\xc3", 1, utf8 },
        { "\"\xc3\x28\"", 1, utf8 },
        { "\"\xc0\x80\"", 1, utf8 },
        { "\"\xc1\xbf\"", 1, utf8 },
        { "\"\xe0\x80\x80\"", 1, utf8 },
        { "\"\xe0\x9f\xbf\"", 1, utf8 },
        { "\"\xe2\x82\"", 1, utf8 },
        { "\"\xe2\x28\xac\"", 1, utf8 },
        { "\"\xed\xa0\x80\"", 1, utf8 },
        { "\"\xed\xbf\xbf\"", 1, utf8 },
        { "\"\xf0\x80\x80\x80\"", 1, utf8 },
        { "\"\xf0\x8f\xbf\xbf\"", 1, utf8 },
        { "\"\xf0\x9f\x98\"", 1, utf8 },
        { "\"\xf0\x9f\x98", 1, utf8 },
        { "\"\xf4\x90\x80\x80\"", 1, utf8 },
        { "\"\xf5\x80\x80\x80\"", 1, utf8 },
        { "\"\xf8\x88\x80\x80\x80\"", 1, utf8 },
        { "\"\xff\"", 1, utf8 },
        { "\"1234567\xff\"", 8, utf8 },
        { "\"\xc3\xa9\xe9\"", 3, utf8 },
        { "{\"\xe9\":1}", 2, utf8 },
        { "\xe9", 0, value },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        struct error error = { .status = STATUS_OK };
        char wanted[ERROR_DETAIL_SIZE];
        (void)snprintf(wanted, sizeof(wanted), "invalid JSON at byte %zu: %s", cases[i].offset,
                       cases[i].reason);
        struct slice text = slice_from_cstr(cases[i].text);
        enum status status = json_validate(text, JSON_DEPTH_MAX, &error);
        if (status != STATUS_INVALID) {
            print_error("%s was accepted\n", cases[i].text);
        }
        assert_int_equal(status, STATUS_INVALID);
        assert_int_equal(error.status, STATUS_INVALID);
        assert_string_equal(error_sentence(&error), wanted);
    }
}

static void test_json__a_zero_byte_is_never_white_space_or_the_end(void **state)
{
    (void)state;
    assert_int_equal(validate(SLICE("\0")), STATUS_INVALID);
    assert_int_equal(validate(SLICE("1\0")), STATUS_INVALID);
    assert_int_equal(validate(SLICE("[1\0]")), STATUS_INVALID);
    assert_int_equal(validate(SLICE("[1]\0")), STATUS_INVALID);
    assert_int_equal(validate(SLICE("true\0")), STATUS_INVALID);
    assert_int_equal(validate(SLICE("\"\0\"")), STATUS_INVALID);
    assert_int_equal(validate(SLICE("\"12345678\0\"")), STATUS_INVALID);
    assert_int_equal(validate(SLICE_EMPTY), STATUS_INVALID);
}

static void test_json__each_byte_alone_in_a_string_is_judged_by_its_own(void **state)
{
    (void)state;
    for (size_t before = 0; before < 20; before++) {
        for (unsigned c = 0; c < 256; c++) {
            char text[48] = "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"";
            struct slice whole = slice_from_cstr(text);
            text[1 + before] = (char)c;
            bool valid = c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
            assert_int_equal(validate(whole), valid ? STATUS_OK : STATUS_INVALID);
        }
    }
}

static void test_json__every_character_of_unicode_is_valid_and_nothing_beside_them(void **state)
{
    (void)state;
    size_t valid = 0;
    for (unsigned code = 0x80; code < 0x120000; code++) {
        char text[] = { '"', 0, 0, 0, 0, '"' };
        size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        static const unsigned leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
        for (size_t i = 0; i < size; i++) {
            unsigned bits = code >> (6 * (size - 1 - i));
            text[1 + i] = (char)(i == 0 ? leads[size] | bits : 0x80 | (bits & 0x3f));
        }
        text[1 + size] = '"';
        bool good = (code < 0xd800 || code > 0xdfff) && code <= 0x10ffff;
        assert_int_equal(validate(slice_make(text, size + 2)), good ? STATUS_OK : STATUS_INVALID);
        assert_int_equal(json_utf8_size(slice_make(text + 1, size)), good ? size : 0);
        valid += good;
    }
    assert_int_equal(valid, 0x110000 - 0x80 - 0x800);
}

static void test_json__a_prefix_of_a_valid_object_is_never_valid(void **state)
{
    (void)state;
    struct slice text =
        SLICE("{\"a\":[1.5e+3,\"\\ud83d\\ude00 \xe2\x82\xac\",null,{\"b\":true}],\"c\":-0}");
    for (size_t size = 0; size < text.size; size++) {
        // A block of its own, so that a read behind the end is caught.
        char *copy = malloc(size ? size : 1);
        assert_non_null(copy);
        memcpy(copy, text.data, size);
        assert_int_equal(validate(slice_make(copy, size)), STATUS_INVALID);
        free(copy);
    }
    assert_int_equal(validate(text), STATUS_OK);
}

// `depth` containers in one another, objects and arrays mixed by the bits of `mix`.
static struct slice nested(struct buffer *buffer, unsigned depth, unsigned mix)
{
    buffer_clear(buffer);
    for (unsigned i = 0; i < depth; i++) {
        buffer_append(buffer, mix >> (i % 16) & 1 ? SLICE("{\"a\":") : SLICE("[1,"));
    }
    buffer_append(buffer, SLICE("{}"));
    for (unsigned i = depth; i > 0; i--) {
        buffer_append_char(buffer, mix >> ((i - 1) % 16) & 1 ? '}' : ']');
    }
    return buffer_slice(buffer);
}

static void test_json__deeper_than_allowed_is_too_large(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, TEXT_SIZE_MAX);
    struct error error;

    assert_int_equal(json_validate(SLICE("1"), 0, NULL), STATUS_OK);
    assert_int_equal(json_validate(SLICE("[]"), 0, &error), STATUS_TOO_LARGE);
    assert_string_equal(error_sentence(&error), "JSON too deep at byte 0: more than 0 levels");
    assert_int_equal(json_validate(SLICE("[1,[],[[]]]"), 2, &error), STATUS_TOO_LARGE);
    assert_string_equal(error_sentence(&error), "JSON too deep at byte 7: more than 2 levels");
    assert_int_equal(json_validate(SLICE("[1,[],[[]]]"), 3, NULL), STATUS_OK);
    // Siblings do not add up.
    assert_int_equal(json_validate(SLICE("[[],[],{},[],[]]"), 2, NULL), STATUS_OK);

    for (unsigned depth = 1; depth <= JSON_DEPTH_MAX; depth += depth < 130 ? 1 : 149) {
        for (unsigned mix = 0; mix < 0x10000; mix += 0x2bcd) {
            struct slice text = nested(&buffer, depth - 1, mix);
            assert_int_equal(json_validate(text, depth, NULL), STATUS_OK);
            assert_int_equal(json_validate(text, depth - 1, NULL), STATUS_TOO_LARGE);
        }
    }
    buffer_release(&buffer);
}

static void test_json__a_depth_above_the_maximum_means_the_maximum(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, TEXT_SIZE_MAX);
    struct slice text = nested(&buffer, JSON_DEPTH_MAX - 1, 0x5a3c);
    assert_int_equal(json_validate(text, UINT32_MAX, NULL), STATUS_OK);
    text = nested(&buffer, JSON_DEPTH_MAX, 0x5a3c);
    assert_int_equal(json_validate(text, UINT32_MAX, NULL), STATUS_TOO_LARGE);

    buffer_clear(&buffer);
    for (int i = 0; i < TEXT_SIZE_MAX; i++) {
        buffer_append_char(&buffer, '[');
    }
    assert_int_equal(json_validate(buffer_slice(&buffer), UINT32_MAX, NULL), STATUS_TOO_LARGE);
    buffer_release(&buffer);
}

static void test_json__a_closing_bracket_of_the_wrong_kind_is_refused_at_any_depth(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, TEXT_SIZE_MAX);
    for (unsigned wrong = 0; wrong < 200; wrong++) {
        struct slice text = nested(&buffer, 200, 0x5a3c);
        assert_int_equal(validate(text), STATUS_OK);
        char *bracket = &buffer.data[text.size - 1 - wrong];
        *bracket = *bracket == ']' ? '}' : ']';
        assert_int_equal(validate(text), STATUS_INVALID);
    }
    buffer_release(&buffer);
}

static void test_json__canonical_drops_white_space_outside_strings_alone(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *wanted;
    } cases[] = {
        { "1", "1" },
        { " \t\r\n1 \t\r\n", "1" },
        { "\" \\\" \"", "\" \\\" \"" },
        { "[ 1 , 2 ]", "[1,2]" },
        { "[ \"a b\" , \" c\" ]", "[\"a b\",\" c\"]" },
        { "{ \"a b\" : \"\\\\\" , \"c\" : \" \\\\\\\" \" }",
          "{\"a b\":\"\\\\\",\"c\":\" \\\\\\\" \"}" },
        { "{\n  \"a\": [\n    true,\n    null\n  ]\n}\n", "{\"a\":[true,null]}" },
        { "{\"already\":[1,2,3],\"canonical\":\"x y z\"}",
          "{\"already\":[1,2,3],\"canonical\":\"x y z\"}" },
        // What a number or a key looks like is not changed.
        { "[1.0, 1e2, -0, \"\\u0041\"]", "[1.0,1e2,-0,\"\\u0041\"]" },
        { "{\"b\":1, \"a\":2, \"b\":3}", "{\"b\":1,\"a\":2,\"b\":3}" },
        { " \"12345678 \xe2\x82\xac 12345678\" ", "\"12345678 \xe2\x82\xac 12345678\"" },
        { " \"1234567\\\\\" ", "\"1234567\\\\\"" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        struct buffer out;
        buffer_init(&out, &allocator_system, 1000);
        buffer_append(&out, SLICE("="));
        assert_int_equal(validate(slice_from_cstr(cases[i].text)), STATUS_OK);
        json_canonical(slice_from_cstr(cases[i].text), &out);
        assert_int_equal(out.status, STATUS_OK);
        buffer_consume(&out, 1);
        assert_slice_equal(buffer_slice(&out), cases[i].wanted);
        buffer_release(&out);
    }
}

static void test_json__canonical_counts_only_what_stays_against_the_maximum(void **state)
{
    (void)state;
    struct buffer out;
    buffer_init(&out, &allocator_system, 5);
    json_canonical(SLICE(" [ 1 , 2 ] "), &out);
    assert_int_equal(out.status, STATUS_OK);
    assert_slice_equal(buffer_slice(&out), "[1,2]");
    buffer_clear(&out);
    json_canonical(SLICE("[1,23]"), &out);
    assert_int_equal(out.status, STATUS_TOO_LARGE);
    buffer_release(&out);
}

static void test_json__canonical_reads_nothing_outside_a_malformed_text(void **state)
{
    (void)state;
    static const char *const texts[] = { "", "\"", "\"\\", "\"a\\", "[\"12345678", "\"\\\"", "}" };
    for (size_t i = 0; TEST_ROW_NAMED(i, texts, texts[i]); i++) {
        size_t size = strlen(texts[i]);
        char *copy = malloc(size ? size : 1);
        assert_non_null(copy);
        memcpy(copy, texts[i], size);
        struct buffer out;
        buffer_init(&out, &allocator_system, 1000);
        json_canonical(slice_make(copy, size), &out);
        assert_int_equal(out.size, size);
        buffer_release(&out);
        free(copy);
    }
}

static void test_json__canonical_without_memory_says_so(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct buffer out;
        buffer_init(&out, &fault.allocator, 10000);
        for (int i = 0; i < 100; i++) {
            json_canonical(SLICE(" { \"key\" : [ 1 , 2 ] } "), &out);
        }
        FAULT_ALLOC_EXPECT(&fault, out.status);
        buffer_release(&out);
    }
}

static void test_json__plain_size_stops_at_the_first_byte_that_is_not(void **state)
{
    (void)state;
    assert_int_equal(json_plain_size(SLICE_EMPTY), 0);
    assert_int_equal(json_plain_size(SLICE("abc")), 3);
    assert_int_equal(json_plain_size(SLICE("12345678901234567890")), 20);
    assert_int_equal(json_plain_size(SLICE("ab\"c")), 2);
    assert_int_equal(json_plain_size(SLICE("12345678\\90123456")), 8);
    assert_int_equal(json_plain_size(SLICE("1234567\n\n\"\\012345")), 7);
    assert_int_equal(json_plain_size(SLICE("12345\xc3\xa9 and more")), 5);
}

static void test_json__string_size_counts_to_the_quote_that_ends_it(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
    } cases[] = {
        { "", 0 },
        { "\"", 0 },
        { "\"\"", 2 },
        { "\"a\" \"b\"", 3 },
        { "\"\\\"\"", 4 },
        { "\"\\\\\"\"", 4 },
        { "\"\\\"", 0 },
        { "\"\\", 0 },
        { "\"12345678901234567\",", 19 },
        { "\"1234567\\\"12345678\\\\\",\"", 21 },
        { "\"\xe2\x82\xac\xa2\xdc and more text\" 1", 21 },
        { "\"1234567890123456", 0 },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        assert_int_equal(json_string_size(slice_from_cstr(cases[i].text)), cases[i].size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json__what_the_grammar_allows_is_valid),
        cmocka_unit_test(test_json__what_is_malformed_is_refused_with_its_place_and_reason),
        cmocka_unit_test(test_json__a_zero_byte_is_never_white_space_or_the_end),
        cmocka_unit_test(test_json__each_byte_alone_in_a_string_is_judged_by_its_own),
        cmocka_unit_test(test_json__every_character_of_unicode_is_valid_and_nothing_beside_them),
        cmocka_unit_test(test_json__a_prefix_of_a_valid_object_is_never_valid),
        cmocka_unit_test(test_json__deeper_than_allowed_is_too_large),
        cmocka_unit_test(test_json__a_depth_above_the_maximum_means_the_maximum),
        cmocka_unit_test(test_json__a_closing_bracket_of_the_wrong_kind_is_refused_at_any_depth),
        cmocka_unit_test(test_json__canonical_drops_white_space_outside_strings_alone),
        cmocka_unit_test(test_json__canonical_counts_only_what_stays_against_the_maximum),
        cmocka_unit_test(test_json__canonical_reads_nothing_outside_a_malformed_text),
        cmocka_unit_test(test_json__canonical_without_memory_says_so),
        cmocka_unit_test(test_json__plain_size_stops_at_the_first_byte_that_is_not),
        cmocka_unit_test(test_json__string_size_counts_to_the_quote_that_ends_it),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
