// SPDX-License-Identifier: MIT
#include "base/glob.h"

#include "fault_alloc.h"
#include "random.h"
#include "test.h"

static bool compiled(struct slice pattern, struct slice text, unsigned flags)
{
    struct glob *glob;
    assert_int_equal(glob_new(&allocator_system, pattern, flags, &glob, NULL), STATUS_OK);
    bool matches = glob_matches(glob, text);
    // What matches begins with the prefix.
    assert_true(!matches || slice_starts_with(text, glob_prefix(glob)));
    glob_free(&allocator_system, glob);
    return matches;
}

static bool matches_any_case(struct slice pattern, struct slice text)
{
    return compiled(pattern, text, GLOB_ANY_CASE);
}

static bool matches(struct slice pattern, struct slice text)
{
    return compiled(pattern, text, 0);
}

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
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].pattern); i++) {
        bool did = matches(slice_from_cstr(rows[i].pattern), slice_from_cstr(rows[i].text));
        if (did != rows[i].matches) {
            fail_msg("%s on %s: %s", rows[i].pattern, rows[i].text, did ? "yes" : "no");
        }
    }
}

static void test_glob__any_case_is_for_letters_only(void **state)
{
    (void)state;
    assert_true(matches_any_case(SLICE("MAX-*"), SLICE("max-payload")));
    assert_true(matches_any_case(SLICE("[A-C]x"), SLICE("BX")));
    assert_true(matches_any_case(SLICE("[a-c]x"), SLICE("BX")));
    assert_true(matches_any_case(SLICE("\\A"), SLICE("a")));
    assert_false(matches_any_case(SLICE("["), SLICE("{")));
    assert_false(matches_any_case(SLICE("@"), SLICE("`")));
}

static void test_glob__any_byte_may_be_in_a_text(void **state)
{
    (void)state;
    assert_true(matches(SLICE("a?b"), SLICE("a\0b")));
    assert_true(matches(SLICE("[\x80-\xff]"), SLICE("\x90")));
    assert_false(matches(SLICE("[\x80-\xff]"), SLICE("\x70")));
    assert_true(matches(SLICE("*\0"), SLICE("x\0")));
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
    assert_false(matches(slice_make(pattern, 401), slice_make(text, 2000)));
    text[2000] = 'b';
    assert_true(matches(slice_make(pattern, 401), slice_make(text, 2001)));
}

static void test_glob__with_stars_only_other_bytes_stand_for_themselves(void **state)
{
    (void)state;
    assert_true(compiled(SLICE("a?[b]\\*"), SLICE("a?[b]\\c"), GLOB_STARS_ONLY));
    assert_false(compiled(SLICE("a?"), SLICE("ab"), GLOB_STARS_ONLY));
    assert_false(compiled(SLICE("*[a]"), SLICE("xa"), GLOB_STARS_ONLY));
}

// ---------------------------------------------------------------------------------------------
// Against the rules as they are written down, read anew for each byte, with every way to share the
// text out among the stars tried.

static unsigned char fold(char c, unsigned flags)
{
    bool upper = (flags & GLOB_ANY_CASE) && c >= 'A' && c <= 'Z';
    return (unsigned char)(upper ? c + ('a' - 'A') : c);
}

static bool plain_set(struct slice pattern, size_t *position, char c, unsigned flags)
{
    size_t at = *position;
    bool negated = at < pattern.size && pattern.data[at] == '^';
    at += negated;
    unsigned char wanted = fold(c, flags);
    bool found = false;
    for (; at < pattern.size && pattern.data[at] != ']'; at++) {
        if (pattern.data[at] == '\\' && at + 1 < pattern.size) {
            at++;
            found |= fold(pattern.data[at], flags) == wanted;
        } else if (at + 2 < pattern.size && pattern.data[at + 1] == '-') {
            unsigned char low = fold(pattern.data[at], flags);
            unsigned char high = fold(pattern.data[at + 2], flags);
            found |= (low <= wanted && wanted <= high) || (high <= wanted && wanted <= low);
            at += 2;
        } else {
            found |= fold(pattern.data[at], flags) == wanted;
        }
    }
    *position = at < pattern.size ? at + 1 : at;
    return found != negated;
}

static bool plain(struct slice pattern, struct slice text, unsigned flags)
{
    if (pattern.size == 0) {
        return text.size == 0;
    }
    size_t position = 1;
    char part = pattern.data[0];
    if (part == '*') {
        for (size_t i = 0; i <= text.size; i++) {
            if (plain(slice_sub(pattern, 1, SIZE_MAX), slice_sub(text, i, SIZE_MAX), flags)) {
                return true;
            }
        }
        return false;
    }
    if (!text.size) {
        return false;
    }
    bool has, special = !(flags & GLOB_STARS_ONLY);
    if (special && part == '[') {
        has = plain_set(pattern, &position, text.data[0], flags);
    } else {
        has = special && part == '?';
        if (special && part == '\\' && pattern.size > 1) {
            part = pattern.data[position++];
        }
        has |= fold(part, flags) == fold(text.data[0], flags);
    }
    return has &&
           plain(slice_sub(pattern, position, SIZE_MAX), slice_sub(text, 1, SIZE_MAX), flags);
}

// Builds a pattern and a text with some of the same bytes in them.
static void compare(struct random *random, const char *alphabet, size_t size_max, size_t stars_max)
{
    char pattern[512], text[512];
    size_t stars = 0;
    size_t pattern_size = (size_t)random_below(random, size_max + 1);
    size_t text_size = (size_t)random_below(random, size_max + 1);
    for (size_t i = 0; i < text_size; i++) {
        text[i] = "abABz^-"[random_below(random, random_below(random, 8) ? 2 : 7)];
    }
    for (size_t i = 0; i < pattern_size; i++) {
        // Mostly what stands in the text, so that long ones match too.
        bool copies = i < text_size && size_max > 16 && random_below(random, 64);
        const char *from = copies ? text + i : alphabet + random_below(random, strlen(alphabet));
        pattern[i] = *from;
        stars += pattern[i] == '*';
        if (pattern[i] == '*' && stars > stars_max) {
            pattern[i] = 'a';
        }
    }
    static const unsigned flags[] = { 0, GLOB_ANY_CASE, GLOB_STARS_ONLY };
    struct slice of = slice_make(pattern, pattern_size), given = slice_make(text, text_size);
    for (size_t i = 0; TEST_ROW(i, flags); i++) {
        if (!glob_check(of, flags[i], NULL) &&
            compiled(of, given, flags[i]) != plain(of, given, flags[i])) {
            fail_msg("%.*s on %.*s, flags %u", SLICE_PRINT(of), SLICE_PRINT(given), flags[i]);
        }
    }
}

static void test_glob__says_what_a_plain_matcher_says(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    for (int i = 0; i < 20000; i++) {
        compare(&random, "ab*?*", 8, 8);
        compare(&random, "aAb*?[]^-\\z", 12, 4);
    }
    for (int i = 0; i < 2000; i++) {
        compare(&random, "ab*?[a]", 300, 2);
    }
}

static void test_glob__long_patterns_cross_words_of_states(void **state)
{
    (void)state;
    char pattern[GLOB_ELEMENTS_MAX + 1], text[GLOB_ELEMENTS_MAX + 1];
    for (size_t size = 1; size <= GLOB_ELEMENTS_MAX; size++) {
        memset(pattern, '?', size + 1);
        pattern[0] = '*';
        memset(text, 'x', size + 1);
        assert_true(matches(slice_make(pattern, size + 1), slice_make(text, size)));
        assert_true(matches(slice_make(pattern, size + 1), slice_make(text, size + 1)));
        assert_false(matches(slice_make(pattern, size + 1), slice_make(text, size - 1)));
        pattern[size] = 'y';
        assert_false(matches(slice_make(pattern, size + 1), slice_make(text, size)));
        text[size - 1] = 'y';
        assert_true(matches(slice_make(pattern, size + 1), slice_make(text, size)));
    }
}

static void test_glob__too_long_and_too_many_elements_are_refused(void **state)
{
    (void)state;
    char pattern[GLOB_SIZE_MAX + 1];
    struct error error;
    struct glob *glob = NULL;
    memset(pattern, 'a', sizeof(pattern));
    assert_true(matches(slice_make(pattern, GLOB_SIZE_MAX), slice_make(pattern, GLOB_SIZE_MAX)));
    assert_int_equal(
        glob_new(&allocator_system, slice_make(pattern, sizeof(pattern)), 0, &glob, &error),
        STATUS_TOO_LARGE);
    assert_string_equal(error.detail,
                        "pattern of 1025 bytes is too long: at most 1024 are allowed");
    memset(pattern, '?', sizeof(pattern));
    assert_int_equal(glob_check(slice_make(pattern, GLOB_ELEMENTS_MAX), 0, NULL), STATUS_OK);
    assert_int_equal(
        glob_new(&allocator_system, slice_make(pattern, GLOB_ELEMENTS_MAX + 1), 0, &glob, &error),
        STATUS_TOO_LARGE);
    assert_string_equal(error.detail, "pattern has 256 elements behind its literal beginning: at "
                                      "most 255 are allowed");
    assert_null(glob);
}

static void test_glob__the_prefix_is_what_stands_before_the_first_special_byte(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *prefix;
    } cases[] = { { "sluice:app:*", "sluice:app:" },
                  { "*", "" },
                  { "a\\*b?", "a*b" },
                  { "a[b]", "a" },
                  { "all", "all" } };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].pattern); i++) {
        struct glob *glob;
        assert_int_equal(
            glob_new(&allocator_system, slice_from_cstr(cases[i].pattern), 0, &glob, NULL), 0);
        assert_true(slice_equal(glob_prefix(glob), slice_from_cstr(cases[i].prefix)));
        glob_free(&allocator_system, glob);
    }
}

static void test_glob__without_memory_there_is_none(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct glob *glob = NULL;
        enum status status = glob_new(&fault.allocator, SLICE("a*[b-d]"), 0, &glob, NULL);
        FAULT_ALLOC_EXPECT(&fault, status);
        glob_free(&fault.allocator, glob);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_glob__says_what_redis_says),
        cmocka_unit_test(test_glob__any_case_is_for_letters_only),
        cmocka_unit_test(test_glob__any_byte_may_be_in_a_text),
        cmocka_unit_test(test_glob__a_pattern_of_many_stars_does_not_take_for_ever),
        cmocka_unit_test(test_glob__with_stars_only_other_bytes_stand_for_themselves),
        cmocka_unit_test(test_glob__says_what_a_plain_matcher_says),
        cmocka_unit_test(test_glob__long_patterns_cross_words_of_states),
        cmocka_unit_test(test_glob__too_long_and_too_many_elements_are_refused),
        cmocka_unit_test(test_glob__the_prefix_is_what_stands_before_the_first_special_byte),
        cmocka_unit_test(test_glob__without_memory_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
