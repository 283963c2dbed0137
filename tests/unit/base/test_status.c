// SPDX-License-Identifier: MIT
#include "base/status.h"

#include "test.h"

#include <string.h>

static void test_status__each_has_its_own_name_and_a_sentence(void **state)
{
    (void)state;
    for (int i = 0; i < STATUS_COUNT; i++) {
        const char *name = status_name((enum status)i);
        assert_non_null(name);
        assert_true(name[0] != '\0');
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(name, status_name((enum status)j));
            assert_string_not_equal(status_sentence((enum status)i),
                                    status_sentence((enum status)j));
        }
        const char *sentence = status_sentence((enum status)i);
        assert_non_null(sentence);
        assert_true(strlen(sentence) > 4);
        assert_true(sentence[strlen(sentence) - 1] != '.');
    }
    assert_string_equal(status_name(STATUS_OK), "ok");
    assert_string_equal(status_name(STATUS_NOT_FOUND), "not_found");
}

static void test_status__an_error_holds_its_status_and_its_words(void **state)
{
    (void)state;
    struct error error;
    assert_int_equal(error_set(&error, STATUS_STATE, "job %s is %s", "j1", "running"),
                     STATUS_STATE);
    assert_int_equal(error.status, STATUS_STATE);
    assert_string_equal(error.detail, "job j1 is running");
    assert_string_equal(error_sentence(&error), "job j1 is running");
}

static void test_status__a_reply_that_is_too_large_is_told_apart(void **state)
{
    (void)state;
    struct error error, copy;
    assert_int_equal(error_set_reply(NULL, "%d bytes", 9), STATUS_TOO_LARGE);
    assert_int_equal(error_set_reply(&error, "%d bytes", 9), STATUS_TOO_LARGE);
    assert_int_equal(error.status, STATUS_TOO_LARGE);
    assert_string_equal(error.detail, "9 bytes");
    (void)error_copy(&copy, &error);
    assert_true(copy.of_reply);
    (void)error_set(&error, STATUS_TOO_LARGE, "a name of %d bytes", 256);
    assert_false(error.of_reply);
}

static void test_status__without_words_the_general_sentence_stands_in(void **state)
{
    (void)state;
    struct error error;
    (void)error_set(&error, STATUS_NO_MEMORY, "%s", "");
    assert_string_equal(error_sentence(&error), status_sentence(STATUS_NO_MEMORY));
    error = (struct error){ 0 };
    assert_string_equal(error_sentence(&error), status_sentence(STATUS_OK));
}

static void test_status__nobody_need_take_the_words(void **state)
{
    (void)state;
    assert_int_equal(error_set(NULL, STATUS_INVALID, "argument %d", 3), STATUS_INVALID);
}

static void test_status__the_last_error_replaces_the_one_before(void **state)
{
    (void)state;
    struct error error;
    (void)error_set(&error, STATUS_INVALID, "a long sentence about the first thing");
    (void)error_set(&error, STATUS_IO, "short");
    assert_int_equal(error.status, STATUS_IO);
    assert_string_equal(error.detail, "short");
}

static void test_status__control_characters_become_question_marks(void **state)
{
    (void)state;
    struct error error;
    (void)error_set(&error, STATUS_INVALID, "queue %s.", "a\r\nb\tc\x1b[31m\x7f\x01");
    assert_string_equal(error.detail, "queue a??b?c?[31m??.");
    (void)error_set(&error, STATUS_INVALID, "%s", " ~caf\xc3\xa9 \xf0\x9f\x9a\xb0");
    assert_string_equal(error.detail, " ~caf\xc3\xa9 \xf0\x9f\x9a\xb0");
}

// `letters` letters and then the character, so that the cut falls at every place of it in turn.
static void assert_cut(const char *character, size_t letters, size_t size_wanted)
{
    char text[2 * ERROR_DETAIL_SIZE];
    memset(text, 'x', letters);
    memcpy(text + letters, character, strlen(character) + 1);
    struct error error;
    (void)error_set(&error, STATUS_INVALID, "%s", text);
    assert_int_equal(strlen(error.detail), size_wanted);
    assert_memory_equal(error.detail, text, size_wanted);
}

static void test_status__words_too_long_are_cut_between_characters(void **state)
{
    (void)state;
    static const char *const characters[] = {
        "y",
        "\xc3\xa9",
        "\xe2\x82\xac",
        "\xf0\x9f\x9a\xb0",
    };
    const size_t room = ERROR_DETAIL_SIZE - 1;
    for (size_t i = 0; TEST_ROW_NAMED(i, characters, characters[i]); i++) {
        size_t length = strlen(characters[i]);
        for (size_t letters = room - 8; letters <= room + 8; letters++) {
            size_t all = letters + length;
            size_t wanted = all <= room ? all : letters <= room ? letters : room;
            assert_cut(characters[i], letters, wanted);
        }
    }
}

static void test_status__a_cut_in_a_run_of_long_characters_keeps_whole_ones(void **state)
{
    (void)state;
    char text[3 * 200 + 1] = { 0 };
    for (size_t i = 0; i < sizeof(text) - 1; i++) {
        text[i] = "\xe2\x82\xac"[i % 3];
    }
    static const char *const fronts[] = { "", "x", "xx" };
    for (size_t i = 0; i < 3; i++) {
        struct error error;
        (void)error_set(&error, STATUS_INVALID, "%s%s", fronts[i], text);
        size_t whole = (ERROR_DETAIL_SIZE - 1 - i) / 3;
        assert_int_equal(strlen(error.detail), i + 3 * whole);
    }
}

static void test_status__bytes_that_are_no_characters_do_no_harm(void **state)
{
    (void)state;
    char text[2 * ERROR_DETAIL_SIZE] = { 0 };
    static const unsigned char bytes[] = { 0x80, 0xbf, 0xc3, 0xe2, 0xf0, 0xff };
    for (size_t i = 0; i < sizeof(bytes); i++) {
        memset(text, bytes[i], sizeof(text) - 1);
        struct error error;
        (void)error_set(&error, STATUS_INVALID, "%s", text);
        size_t size = strlen(error.detail);
        assert_in_range(size, ERROR_DETAIL_SIZE - 2, ERROR_DETAIL_SIZE - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status__each_has_its_own_name_and_a_sentence),
        cmocka_unit_test(test_status__an_error_holds_its_status_and_its_words),
        cmocka_unit_test(test_status__a_reply_that_is_too_large_is_told_apart),
        cmocka_unit_test(test_status__without_words_the_general_sentence_stands_in),
        cmocka_unit_test(test_status__nobody_need_take_the_words),
        cmocka_unit_test(test_status__the_last_error_replaces_the_one_before),
        cmocka_unit_test(test_status__control_characters_become_question_marks),
        cmocka_unit_test(test_status__words_too_long_are_cut_between_characters),
        cmocka_unit_test(test_status__a_cut_in_a_run_of_long_characters_keeps_whole_ones),
        cmocka_unit_test(test_status__bytes_that_are_no_characters_do_no_harm),
    };
    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
