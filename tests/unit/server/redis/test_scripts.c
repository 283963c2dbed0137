// SPDX-License-Identifier: MIT
#include "server/redis/scripts.h"

#include "test.h"

#include <stdio.h>

// As little as makes a script one of qless's.
#define CLASSES                                                                                    \
    "local Qless = {ns = 'ql:'} Qless.config = {} local QlessQueue = {} local QlessWorker = {} "   \
    "local QlessJob = {} local QlessRecurringJob = {} "
#define API CLASSES "local QlessAPI = {} return QlessAPI[ARGV[1]]"

static const char *sha_of(const struct script *script)
{
    static char text[SCRIPT_SHA_SIZE + 1];
    memcpy(text, script->sha, SCRIPT_SHA_SIZE);
    return text;
}

static void test_scripts__are_found_by_their_sha1_in_either_case(void **state)
{
    (void)state;
    struct scripts scripts = { .count = 0 };
    const struct script *script;
    assert_int_equal(scripts_load(&scripts, SLICE(API), &script, NULL), STATUS_OK);
    assert_int_equal(script->kind, QLESS_API);
    // As sha1sum says.
    assert_string_equal(sha_of(script), "dc1e2b1369ae1711628739f17eef751b9892e448");
    assert_ptr_equal(scripts_find(&scripts, SLICE("dc1e2b1369ae1711628739f17eef751b9892e448")),
                     script);
    assert_ptr_equal(scripts_find(&scripts, SLICE("DC1E2B1369AE1711628739F17EEF751B9892E448")),
                     script);
    assert_null(scripts_find(&scripts, SLICE("dc1e2b1369ae1711628739f17eef751b9892e4480")));
    assert_null(scripts_find(&scripts, SLICE("0000000000000000000000000000000000000000")));
    assert_null(scripts_find(&scripts, SLICE_EMPTY));
}

static void test_scripts__the_library_alone_is_another_one(void **state)
{
    (void)state;
    struct scripts scripts = { .count = 0 };
    const struct script *api, *lib;
    assert_int_equal(scripts_load(&scripts, SLICE(API), &api, NULL), STATUS_OK);
    assert_int_equal(scripts_load(&scripts, SLICE(CLASSES), &lib, NULL), STATUS_OK);
    assert_int_equal(lib->kind, QLESS_LIB);
    assert_ptr_not_equal(api, lib);
    assert_int_equal(scripts.count, 2);
}

static void test_scripts__a_script_that_is_loaded_again_is_kept_once(void **state)
{
    (void)state;
    struct scripts scripts = { .count = 0 };
    const struct script *first, *second;
    assert_int_equal(scripts_load(&scripts, SLICE(API), &first, NULL), STATUS_OK);
    assert_int_equal(scripts_load(&scripts, SLICE(API), &second, NULL), STATUS_OK);
    assert_ptr_equal(first, second);
    assert_int_equal(scripts.count, 1);
}

static void test_scripts__others_are_refused_and_not_kept(void **state)
{
    (void)state;
    struct scripts scripts = { .count = 0 };
    const struct script *script;
    struct error error;
    assert_int_equal(scripts_load(&scripts, SLICE("return 1"), &script, &error),
                     STATUS_UNSUPPORTED);
    assert_non_null(strstr(error_sentence(&error), "qless"));
    assert_int_equal(scripts_load(&scripts, SLICE_EMPTY, &script, &error), STATUS_UNSUPPORTED);
    assert_int_equal(scripts.count, 0);
}

static void test_scripts__the_oldest_makes_room_for_the_newest(void **state)
{
    (void)state;
    struct scripts scripts = { .count = 0 };
    char first[SCRIPT_SHA_SIZE] = "", second[SCRIPT_SHA_SIZE] = "", last[SCRIPT_SHA_SIZE] = "";
    for (int i = 0; i <= SCRIPTS_MAX; i++) {
        char text[512];
        int size = snprintf(text, sizeof(text), API " -- version %d", i);
        const struct script *script;
        assert_int_equal(scripts_load(&scripts, slice_make(text, (size_t)size), &script, NULL),
                         STATUS_OK);
        memcpy(i == 0 ? first : i == 1 ? second : last, script->sha, SCRIPT_SHA_SIZE);
    }
    assert_int_equal(scripts.count, SCRIPTS_MAX);
    assert_null(scripts_find(&scripts, slice_make(first, sizeof(first))));
    assert_non_null(scripts_find(&scripts, slice_make(second, sizeof(second))));
    assert_non_null(scripts_find(&scripts, slice_make(last, sizeof(last))));
    scripts_flush(&scripts);
    assert_null(scripts_find(&scripts, slice_make(last, sizeof(last))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scripts__are_found_by_their_sha1_in_either_case),
        cmocka_unit_test(test_scripts__the_library_alone_is_another_one),
        cmocka_unit_test(test_scripts__a_script_that_is_loaded_again_is_kept_once),
        cmocka_unit_test(test_scripts__others_are_refused_and_not_kept),
        cmocka_unit_test(test_scripts__the_oldest_makes_room_for_the_newest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
