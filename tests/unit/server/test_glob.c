// SPDX-License-Identifier: MIT
#include "server/glob.h"

#include "random.h"
#include "test.h"

struct row {
    const char *pattern, *text;
    bool matches;
};

// What Redis says to each of them.
static const struct row rows[] = {
    { "", "", true },
    { "", "a", false },
    { "a", "", false },
    { "abc", "abc", true },
    { "abc", "abd", false },
    { "abc", "ab", false },
    { "ab", "abc", false },
    { "*", "", true },
    { "*", "anything", true },
    { "**", "", true },
    { "***", "ab", true },
    { "a*", "a", true },
    { "a*", "abc", true },
    { "a*", "ba", false },
    { "*a", "ba", true },
    { "*a", "ab", false },
    { "a*c", "abbbc", true },
    { "a*c", "abbbd", false },
    { "a*b*c", "aXbYc", true },
    { "a*b*c", "abcbc", true },
    { "a*b*c", "acb", false },
    { "*ab*ab", "ababab", true },
    { "*aab", "aaaaab", true },
    { "?", "", false },
    { "?", "a", true },
    { "?", "ab", false },
    { "??", "ab", true },
    { "a?c", "abc", true },
    { "h?llo", "hello", true },
    { "*?", "", false },
    { "*?", "ab", true },
    { "?*", "a", true },
    { "h[ae]llo", "hello", true },
    { "h[ae]llo", "hallo", true },
    { "h[ae]llo", "hillo", false },
    { "h[^e]llo", "hallo", true },
    { "h[^e]llo", "hello", false },
    { "h[a-b]llo", "hbllo", true },
    { "h[a-b]llo", "hcllo", false },
    { "[a-c]", "", false },
    { "[c-a]", "b", true },   // the ends in whatever order
    { "[a-c-e]", "-", true }, // a to c, a hyphen, an e
    { "[a-c-e]", "d", false },
    { "[a-]", "]", true }, // a to ]: the set is not closed
    { "[a-]x", "bx", false },
    { "[]", "a", false },    // an empty set
    { "[]a]", "a]", false }, // the first ] closes it
    { "[^]", "a", true },    // all but nothing
    { "[^]", "", false },
    { "[", "a", false },
    { "[", "", false },
    { "[abc", "b", true }, // the pattern's end closes it
    { "[abc", "d", false },
    { "[^abc", "d", true },
    { "[\\]]", "]", true },
    { "[\\]]", "\\", false },
    { "[\\^a]", "^", true },
    { "[a\\-c]", "b", false },
    { "[a\\-c]", "-", true },
    { "[*]", "*", true },
    { "[*]", "a", false },
    { "[?]", "?", true },
    { "\\*", "*", true },
    { "\\*", "a", false },
    { "\\?", "?", true },
    { "\\[a]", "[a]", true },
    { "\\a", "a", true },
    { "\\\\", "\\", true },
    { "\\", "\\", true }, // nothing follows it: it stands for itself
    { "a\\", "a\\", true },
    { "a\\", "a", false },
    { "*\\*", "ab*", true },
    { "ql:*", "ql:log", true },
    { "ql:w:*", "ql:w:host-1", true },
    { "sluice:*:log", "sluice:app:log", true },
    { "sluice:*:log", "sluice:app:logs", false },
    { "A", "a", false },
    { "[A-C]", "b", false },
};

static void test_glob__says_what_redis_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool matches =
            glob_matches(slice_from_cstr(rows[i].pattern), slice_from_cstr(rows[i].text));
        if (matches != rows[i].matches) {
            fail_msg("%s on %s: %s", rows[i].pattern, rows[i].text, matches ? "yes" : "no");
        }
    }
}

static void test_glob__any_case_is_for_letters_only(void **state)
{
    (void)state;
    assert_true(glob_matches_any_case(SLICE("MAX-*"), SLICE("max-payload")));
    assert_true(glob_matches_any_case(SLICE("[A-C]x"), SLICE("BX")));
    assert_true(glob_matches_any_case(SLICE("[a-c]x"), SLICE("BX")));
    assert_true(glob_matches_any_case(SLICE("\\A"), SLICE("a")));
    assert_false(glob_matches_any_case(SLICE("["), SLICE("{")));
    assert_false(glob_matches_any_case(SLICE("@"), SLICE("`")));
}

static void test_glob__any_byte_may_be_in_a_text(void **state)
{
    (void)state;
    assert_true(glob_matches(SLICE("a?b"), SLICE("a\0b")));
    assert_true(glob_matches(SLICE("[\x80-\xff]"), SLICE("\x90")));
    assert_false(glob_matches(SLICE("[\x80-\xff]"), SLICE("\x70")));
    assert_true(glob_matches(SLICE("*\0"), SLICE("x\0")));
}

static void test_glob__a_pattern_of_many_stars_does_not_take_for_ever(void **state)
{
    (void)state;
    char pattern[401], text[2001];
    for (size_t i = 0; i < 400; i++) {
        pattern[i] = i % 2 ? 'a' : '*';
    }
    pattern[400] = 'b';
    memset(text, 'a', sizeof(text));
    assert_false(glob_matches(slice_make(pattern, 401), slice_make(text, 2000)));
    text[2000] = 'b';
    assert_true(glob_matches(slice_make(pattern, 401), slice_make(text, 2001)));
}

// The rules once more, as they are written down: every way to share the text out is tried.
static bool plain(struct slice pattern, struct slice text)
{
    if (pattern.size == 0) {
        return text.size == 0;
    }
    struct slice rest = slice_sub(pattern, 1, SIZE_MAX);
    if (pattern.data[0] == '*') {
        for (size_t i = 0; i <= text.size; i++) {
            if (plain(rest, slice_sub(text, i, SIZE_MAX))) {
                return true;
            }
        }
        return false;
    }
    return text.size && (pattern.data[0] == '?' || pattern.data[0] == text.data[0]) &&
           plain(rest, slice_sub(text, 1, SIZE_MAX));
}

static void test_glob__stars_are_shared_out_in_every_way(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    for (int i = 0; i < 20000; i++) {
        char pattern[8], text[8];
        size_t pattern_size = (size_t)random_below(&random, 9);
        size_t text_size = (size_t)random_below(&random, 9);
        for (size_t j = 0; j < pattern_size; j++) {
            pattern[j] = "ab*?*"[random_below(&random, 5)];
        }
        for (size_t j = 0; j < text_size; j++) {
            text[j] = "ab"[random_below(&random, 2)];
        }
        struct slice of = slice_make(pattern, pattern_size), given = slice_make(text, text_size);
        if (glob_matches(of, given) != plain(of, given)) {
            fail_msg("%.*s on %.*s", SLICE_PRINT(of), SLICE_PRINT(given));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_glob__says_what_redis_says),
        cmocka_unit_test(test_glob__any_case_is_for_letters_only),
        cmocka_unit_test(test_glob__any_byte_may_be_in_a_text),
        cmocka_unit_test(test_glob__a_pattern_of_many_stars_does_not_take_for_ever),
        cmocka_unit_test(test_glob__stars_are_shared_out_in_every_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
