// SPDX-License-Identifier: MIT
// Members of options: which numbers have a meaning, and messages in words of C.
#include "client/members.h"

#include "host/commands/services.h"

#include "test.h"

#include <math.h>
#include <string.h>

struct options {
    int64_t count;
    double length;
    const char *text;
    bool flag;
};

static enum sluice_status check(unsigned flags, double value, struct sluice_error *error)
{
    const struct member member = { .name = "length", .type = MEMBER_SECONDS, .flags = flags };
    return member_check_number(&member, value, error);
}

static void test_members__a_number_without_a_meaning_is_refused_by_name(void **state)
{
    static const struct {
        unsigned flags;
        double value;
        const char *message; // NULL: it is good
    } rows[] = {
        { 0, 0, NULL },
        { 0, 7, NULL },
        { 0, -7, "length must not be negative, and is -7" },
        { MEMBER_NEGATIVE, -7, NULL },
        { MEMBER_ZERO, -7, "length must not be negative, and is -7" },
        { 0, (double)SLUICE_ZERO, "length cannot be SLUICE_ZERO" },
        { MEMBER_NONE, (double)SLUICE_ZERO, "length cannot be SLUICE_ZERO; SLUICE_NONE is none" },
        { MEMBER_NEGATIVE, (double)SLUICE_ZERO, "length cannot be SLUICE_ZERO" },
        { MEMBER_ZERO, (double)SLUICE_ZERO, NULL },
        { MEMBER_NEGATIVE, (double)SLUICE_NONE, "length cannot be SLUICE_NONE" },
        { MEMBER_ZERO, (double)SLUICE_NONE, "length cannot be SLUICE_NONE; SLUICE_ZERO is zero" },
        { MEMBER_NONE, (double)SLUICE_NONE, NULL },
        { MEMBER_NEGATIVE, NAN, "length must be a number" },
        { MEMBER_NONE, INFINITY, "length must be a number" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sluice_error error = { .status = SLUICE_OK };
        enum sluice_status status = check(rows[i].flags, rows[i].value, &error);
        if (status != (rows[i].message ? SLUICE_INVALID : SLUICE_OK) ||
            (rows[i].message && strcmp(error.message, rows[i].message) != 0)) {
            fail_msg("row %zu: %s", i, error.message);
        }
    }
}

static void test_members__integers_are_told_apart_from_each_other(void **state)
{
    static const struct member table[] = {
        { "count", "COUNT", MEMBER_INTEGER, offsetof(struct options, count), MEMBER_NEGATIVE },
        { "length", "LENGTH", MEMBER_SECONDS, offsetof(struct options, length), MEMBER_NONE },
        { "text", "TEXT", MEMBER_TEXT, offsetof(struct options, text), 0 },
        { "flag", "FLAG", MEMBER_FLAG, offsetof(struct options, flag), 0 },
    };
    const struct members members = { table, 4 };
    const struct options options = { .count = -1, .length = SLUICE_NONE, .text = "", .flag = true };
    (void)state;
    assert_int_equal(members_check(members, &options, NULL), SLUICE_OK);
    struct words words;
    words_init(&words);
    members_add(members, &options, &words);
    static const char *const wanted[] = { "COUNT", "-1", "LENGTH", "0", "TEXT", "", "FLAG" };
    assert_int_equal(words.count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_slice_equal(words.items[i], wanted[i]);
    }
    words_release(&words);
}

static void test_members__messages_speak_of_members_and_not_of_words(void **state)
{
    static const struct {
        const char *command, *message, *wanted;
    } rows[] = {
        { "Q.PUT", "Q.PUT: RETRIES must be from 0 to 7, not 8",
          "retries must be from 0 to 7, not 8" },
        { "Q.PUT", "Q.PUT: either DELAY or AT, not both", "either delay or at, not both" },
        { "Q.PUT", "Q.PUT: TAG must not be empty", "tags must not be empty" },
        { "Q.PUT", "UNIQUE-FOR and UNIQUE-UNTIL time", "unique_for and unique_until time" },
        { "Q.PUT", "data is not JSON: UTF-8", "data is not JSON: UTF-8" },
        { "Q.PUT", "one of a, not \"DELAY\"; DELAY", "one of a, not \"DELAY\"; delay" },
        { "Q.COMPLETE", "Q.COMPLETE: NEXT must not be empty", "queue must not be empty" },
        { "Q.WAIT", "Q.WAIT: TIMEOUT must be", "wait must be" },
        { "Q.GET", "Q.PUT: DELAY stays", "Q.PUT: DELAY stays" },
    };
    struct commands *commands = NULL;
    (void)state;
    assert_int_equal(host_commands_new(&allocator_system, NULL, 0, &commands), STATUS_OK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sluice_error error = { .status = SLUICE_INVALID };
        (void)snprintf(error.message, sizeof(error.message), "%s", rows[i].message);
        members_translate(commands_find(commands, slice_from_cstr(rows[i].command)), &error);
        assert_string_equal(error.message, rows[i].wanted);
    }
    // The longest message there can be, each option of which becomes longer.
    struct sluice_error error = { .status = SLUICE_INVALID };
    memset(error.message, '.', sizeof(error.message));
    for (size_t i = 0; i + 4 < sizeof(error.message); i += 4) {
        memcpy(error.message + i, "TAG ", 4);
    }
    error.message[sizeof(error.message) - 1] = '\0';
    members_translate(commands_find(commands, SLICE("Q.PUT")), &error);
    assert_int_equal(strlen(error.message), sizeof(error.message) - 1);
    commands_free(commands);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members__a_number_without_a_meaning_is_refused_by_name),
        cmocka_unit_test(test_members__integers_are_told_apart_from_each_other),
        cmocka_unit_test(test_members__messages_speak_of_members_and_not_of_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
