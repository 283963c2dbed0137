// SPDX-License-Identifier: MIT
#include "client/fault.h"

#include "test.h"

static void test_fault__every_status_has_a_word_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < SLUICE_STATUS_COUNT; i++) {
        const char *name = sluice_status_name((enum sluice_status)i);
        assert_true(strlen(name) > 1);
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(name, sluice_status_name((enum sluice_status)j));
        }
    }
    assert_string_equal(sluice_status_name(SLUICE_OK), "ok");
    assert_string_equal(sluice_status_name(SLUICE_NOT_FOUND), "not_found");
    assert_string_equal(sluice_status_name(SLUICE_UNKNOWN), "unknown");
}

static void test_fault__what_is_no_status_has_no_word(void **state)
{
    (void)state;
    static const int odd[] = { SLUICE_STATUS_COUNT, -1, 1 << 20 };
    for (size_t i = 0; TEST_ROW(i, odd); i++) {
        assert_string_equal(sluice_status_name((enum sluice_status)odd[i]), "?");
    }
}

static void test_fault__a_servers_error_is_a_status_and_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum sluice_status status;
        const char *message;
    } said[] = {
        { "STALE job a: the lease is not yours", SLUICE_STALE, "job a: the lease is not yours" },
        { "NOT_FOUND job a does not exist", SLUICE_NOT_FOUND, "job a does not exist" },
        { "not_found in small letters", SLUICE_NOT_FOUND, "in small letters" },
        { "NO_SPACE the disk is full", SLUICE_NO_SPACE, "the disk is full" },
        { "NOAUTH Authentication required.", SLUICE_DENIED, "Authentication required." },
        { "WRONGPASS who?", SLUICE_DENIED, "who?" },
        { "NOPERM no", SLUICE_DENIED, "no" },
        { "LOADING not yet", SLUICE_BUSY, "not yet" },
        { "NOPROTO 3?", SLUICE_UNSUPPORTED, "3?" },
        { "READONLY a copy", SLUICE_UNSUPPORTED, "a copy" },
        { "MISCONF disk", SLUICE_IO, "disk" },
        // Nothing that would move a terminal's cursor.
        { "ERR a\r\nb\x1b[2J", SLUICE_INVALID, "a??b?[2J" },
        { "ERR something", SLUICE_INVALID, "something" },
        { "ERR", SLUICE_INVALID, "ERR" },
        { "ERR ", SLUICE_INVALID, "" },
        { "", SLUICE_INVALID, "" },
        // No server can make an answer that failed one that did not.
        { "OK fine", SLUICE_INVALID, "fine" },
        // Nor say what only the library can know.
        { "UNKNOWN x", SLUICE_INVALID, "x" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, said, said[i].line); i++) {
        struct sluice_error error;
        print_message("# line %zu\n", i);
        assert_int_equal(fault_said(&error, slice_from_cstr(said[i].line)), said[i].status);
        assert_int_equal(error.status, said[i].status);
        assert_string_equal(error.message, said[i].message);
        assert_int_equal(fault_said(NULL, slice_from_cstr(said[i].line)), said[i].status);
    }
}

static void test_fault__a_sentence_is_cut_between_characters(void **state)
{
    (void)state;
    struct sluice_error error;
    char line[4 + 2 * SLUICE_MESSAGE_SIZE + 1] = "ERR ";
    for (size_t i = 4; i < sizeof(line) - 1; i += 2) {
        line[i] = '\xc3';
        line[i + 1] = '\xa9';
    }
    assert_int_equal(fault_said(&error, slice_make(line, sizeof(line) - 1)), SLUICE_INVALID);
    size_t size = strlen(error.message);
    assert_true(size < SLUICE_MESSAGE_SIZE);
    assert_int_equal(size % 2, 0);
    assert_memory_equal(error.message, line + 4, size);
}

static void test_fault__an_inner_error_keeps_its_status(void **state)
{
    (void)state;
    struct error inner;
    struct sluice_error error;
    (void)error_set(&inner, STATUS_NO_SPACE, "no room for %d", 7);
    assert_int_equal(fault_of(&error, &inner), SLUICE_NO_SPACE);
    assert_non_null(strstr(error.message, "no room for 7"));
    assert_int_equal(fault_of(NULL, &inner), SLUICE_NO_SPACE);
    assert_int_equal(fault_no_memory(NULL), SLUICE_NO_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fault__every_status_has_a_word_of_its_own),
        cmocka_unit_test(test_fault__what_is_no_status_has_no_word),
        cmocka_unit_test(test_fault__a_servers_error_is_a_status_and_a_sentence),
        cmocka_unit_test(test_fault__a_sentence_is_cut_between_characters),
        cmocka_unit_test(test_fault__an_inner_error_keeps_its_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
