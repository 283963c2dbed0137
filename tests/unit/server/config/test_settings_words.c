// SPDX-License-Identifier: MIT
#include "server/config/settings_words.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

// The words with a '|' behind each, or "!" when the line is refused.
static const char *split(const char *line)
{
    static char out[512];
    struct slice words[SETTINGS_WORDS_MAX];
    size_t count;
    size_t size = strlen(line);
    // As large as promised to be enough, so that a byte more shows.
    char *memory = malloc(size ? size : 1);
    char *copy = malloc(size ? size : 1);
    struct error error = { 0 };
    memcpy(copy, line, size); // NOLINT(bugprone-not-null-terminated-result): no zero is the point
    out[0] = '\0';
    if (settings_split(slice_make(copy, size), memory, words, &count, &error)) {
        assert_true(error.detail[0]);
        (void)snprintf(out, sizeof(out), "!");
    } else {
        for (size_t i = 0; i < count; i++) {
            size_t used = strlen(out);
            (void)snprintf(out + used, sizeof(out) - used, "%.*s|", SLICE_PRINT(words[i]));
        }
    }
    free(copy);
    free(memory);
    return out;
}

static void test_settings_words__lines_are_split(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "", "" },
        { "   \t\r", "" },
        { "# all of it", "" },
        { "  max-payload   2M\t# why\r", "max-payload|2M|" },
        { "password a#b", "password|a#b|" },
        { "password 'a # b'", "password|a # b|" },
        { "password \"a \\\"b\\\" \\\\ \\n\"", "password|a \"b\" \\ \\n|" },
        { "http \"\"", "http||" },
        { "http ''", "http||" },
        { "a it's", "a|it's|" },
        { "a 'b", "!" },
        { "a \"b\\\"", "!" },
        { "a 'b'c", "!" },
        { "a \"", "!" },
        { "a \"\\", "!" },
    };
    for (size_t i = 0; TEST_ROW(i, cases); i++) {
        assert_string_equal(split(cases[i][0]), cases[i][1]);
    }
}

static void test_settings_words__there_is_a_limit(void **state)
{
    (void)state;
    char line[2 * SETTINGS_WORDS_MAX + 2];
    char memory[sizeof(line)];
    struct slice words[SETTINGS_WORDS_MAX];
    struct error error;
    size_t count;
    for (size_t i = 0; i < sizeof(line); i++) {
        line[i] = i % 2 ? ' ' : 'a';
    }
    assert_int_equal(
        settings_split(slice_make(line, sizeof(line) - 2), memory, words, &count, &error),
        STATUS_OK);
    assert_int_equal(count, SETTINGS_WORDS_MAX);
    assert_int_equal(settings_split(slice_make(line, sizeof(line)), memory, words, &count, &error),
                     STATUS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_words__lines_are_split),
        cmocka_unit_test(test_settings_words__there_is_a_limit),
    };
    return cmocka_run_group_tests_name("settings_words", tests, NULL, NULL);
}
