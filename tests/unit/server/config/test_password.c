// SPDX-License-Identifier: MIT
#include "server/config/password.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

// From another implementation (Python's hashlib.pbkdf2_hmac).
static const char known[] = "pbkdf2-sha256$1000$00112233445566778899aabbccddeeff$"
                            "111d7870ba309c2ec0f57e584e4e314fc577046f365a791c67e56fab8127b1fa";

static void test_password__a_hash_made_elsewhere_matches_its_password_only(void **state)
{
    (void)state;
    struct password password;
    struct error error;
    char text[PASSWORD_TEXT_SIZE];
    assert_int_equal(password_parse(slice_from_cstr(known), &password, &error), STATUS_OK);
    assert_int_equal(password_check(&password, SLICE("open sesame")), STATUS_OK);
    assert_int_equal(password_check(&password, SLICE("open sesam")), STATUS_DENIED);
    assert_int_equal(password_check(&password, SLICE_EMPTY), STATUS_DENIED);
    password_format(&password, text);
    assert_string_equal(text, known);
}

static void test_password__equal_passwords_have_different_hashes(void **state)
{
    (void)state;
    struct password a;
    struct password b;
    struct error error;
    assert_int_equal(password_hash(SLICE("secret"), 1000, &a, &error), STATUS_OK);
    assert_int_equal(password_hash(SLICE("secret"), 1000, &b, &error), STATUS_OK);
    assert_memory_not_equal(a.hash, b.hash, sizeof(a.hash));
    assert_int_equal(a.iterations, 1000);
    assert_int_equal(password_check(&a, SLICE("secret")), STATUS_OK);
    assert_int_equal(password_check(&b, SLICE("secret")), STATUS_OK);
}

static void test_password__malformed_hashes_are_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "secret",
        "pbkdf2-sha256$",
        "pbkdf2-sha256$1000$",
        "pbkdf2-sha256$1000$0011223344556677$",
        "pbkdf2-sha256$1000$0011223344556677$00",
        "pbkdf2-sha256$999$0011223344556677$"
        "0000000000000000000000000000000000000000000000000000000000000000",
        "pbkdf2-sha256$1000001$0011223344556677$"
        "0000000000000000000000000000000000000000000000000000000000000000",
        "pbkdf2-sha256$1000$00112233445566$"
        "0000000000000000000000000000000000000000000000000000000000000000",
        "pbkdf2-sha256$1000$0011223344556677$"
        "000000000000000000000000000000000000000000000000000000000000000g",
        "pbkdf2-sha256$1000$0011223344556677$"
        "00000000000000000000000000000000000000000000000000000000000000000",
        "pbkdf2-sha256$1000$0011223344556677$"
        "000000000000000000000000000000000000000000000000000000000000000000",
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i]); i++) {
        struct password password;
        struct error error;
        assert_int_equal(password_parse(slice_from_cstr(cases[i]), &password, &error),
                         STATUS_INVALID);
    }
}

static void test_password__empty_and_endless_ones_are_refused(void **state)
{
    (void)state;
    static char endless[PASSWORD_SIZE_MAX + 1];
    struct password password;
    struct error error;
    memset(endless, 'a', sizeof(endless));
    assert_int_equal(password_hash(SLICE_EMPTY, 1000, &password, &error), STATUS_INVALID);
    assert_int_equal(password_hash(slice_make(endless, sizeof(endless)), 1000, &password, &error),
                     STATUS_INVALID);
    assert_int_equal(
        password_hash(slice_make(endless, sizeof(endless) - 1), 1000, &password, &error),
        STATUS_OK);
}

// What --hash-password prints for a text on standard input, or NULL.
static char *hash_line(const char *input)
{
    char *printed = NULL;
    size_t size = 0;
    struct error error;
    FILE *in = tmpfile();
    FILE *out = open_memstream(&printed, &size);
    assert_true(in && out);
    assert_true(fputs(input, in) >= 0);
    rewind(in);
    enum status status = password_hash_line(in, out, &error);
    assert_int_equal(fclose(in), 0);
    assert_int_equal(fclose(out), 0);
    if (status) {
        free(printed);
        return NULL;
    }
    return printed;
}

static void test_password__a_line_on_standard_input_is_hashed(void **state)
{
    (void)state;
    static const char *const inputs[] = { "a b\n", "a b", "a b\r\n", "a b\nmore\n" };
    for (size_t i = 0; TEST_ROW_NAMED(i, inputs, inputs[i]); i++) {
        struct password password;
        struct error error;
        char *printed = hash_line(inputs[i]);
        assert_non_null(printed);
        size_t size = strlen(printed);
        assert_int_equal(printed[size - 1], '\n');
        assert_int_equal(password_parse(slice_make(printed, size - 1), &password, &error),
                         STATUS_OK);
        assert_int_equal(password.iterations, PASSWORD_ITERATIONS);
        assert_int_equal(password_check(&password, SLICE("a b")), STATUS_OK);
        free(printed);
    }
    assert_null(hash_line(""));
    assert_null(hash_line("\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_password__a_hash_made_elsewhere_matches_its_password_only),
        cmocka_unit_test(test_password__equal_passwords_have_different_hashes),
        cmocka_unit_test(test_password__malformed_hashes_are_refused),
        cmocka_unit_test(test_password__empty_and_endless_ones_are_refused),
        cmocka_unit_test(test_password__a_line_on_standard_input_is_hashed),
    };
    return cmocka_run_group_tests_name("password", tests, NULL, NULL);
}
