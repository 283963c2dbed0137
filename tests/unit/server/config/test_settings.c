// SPDX-License-Identifier: MIT
#include "server/config/settings.h"

#include "host/limits.h"
#include "server/config/password.h"
#include "server/config/settings_table.h"

#include "fault_alloc.h"
#include "settings_test.h"
#include "test.h"

#include <string.h>

static void load(struct settings_test *test)
{
    enum status status = settings_test_load(test);
    if (status) {
        print_error("%s\n", error_sentence(&test->error));
    }
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(test->request, SETTINGS_RUN);
}

static void refused(struct settings_test *test, const char *sentence)
{
    assert_int_not_equal(settings_test_load(test), STATUS_OK);
    assert_string_equal(test->error.detail, sentence);
}

static void test_settings__defaults_are_safe_and_those_of_the_table(void **state)
{
    (void)state;
    struct settings_test test;
    settings_test_init(&test);
    load(&test);
    struct error error;
    assert_int_equal(settings_check(&test.settings, &error), STATUS_OK);
    for (size_t i = 0; settings_name(i); i++) {
        settings_test_expect(&test, settings_name(i), settings_table[i].initial);
        assert_int_equal(test.settings.sources[i], SETTING_DEFAULT);
    }
    assert_int_equal(test.settings.max_payload, MAX_PAYLOAD_DEFAULT);
    assert_int_equal(test.settings.max_request, MAX_REQUEST_DEFAULT);
    assert_int_equal(test.settings.max_arguments, MAX_ARGUMENTS_DEFAULT);
    assert_int_equal(test.settings.durability, STORE_ALWAYS);
    assert_int_equal(test.settings.auth_timeout_us, 10000000);
    assert_true(test.settings.create_namespaces);
    assert_false(test.settings.allow_flush);
    settings_test_release(&test);
}

static void test_settings__flags_win_over_variables_and_those_over_the_file(void **state)
{
    (void)state;
    struct settings_test test;
    settings_test_init(&test);
    settings_test_file(&test, "max-payload 2M\nmax-request 32M\nmax-output 32M\n"
                              "listen 127.0.0.1:1\nlisten 127.0.0.1:2\n");
    settings_test_variable(&test, "SLUICE_MAX_REQUEST=33M");
    settings_test_variable(&test, "SLUICE_MAX_OUTPUT=33M");
    settings_test_variable(&test, "SLUICE_LISTEN=127.0.0.1:3, 127.0.0.1:4;[::1]:5");
    settings_test_variable(&test, "SLUICES_MAX_OUTPUT=1");
    settings_test_flag(&test, "--max-output=34M");
    load(&test);
    settings_test_expect(&test, "max-payload", "2MiB");
    settings_test_expect(&test, "max-request", "33MiB");
    settings_test_expect(&test, "max-output", "34MiB");
    settings_test_expect(&test, "listen", "127.0.0.1:3\n127.0.0.1:4\n[::1]:5");
    assert_int_equal(test.settings.sources[settings_find(SLICE("max-payload"))], SETTING_FILE);
    settings_test_flag(&test, "--listen");
    settings_test_flag(&test, "unix:/a");
    settings_test_flag(&test, "--listen=unix:/b");
    load(&test);
    settings_test_expect(&test, "listen", "unix:/a\nunix:/b");
    settings_test_release(&test);
}

static void test_settings__what_a_stronger_one_replaces_is_checked_all_the_same(void **state)
{
    (void)state;
    struct settings_test test;
    settings_test_init(&test);
    settings_test_variable(&test, "SLUICE_MAX_REQUEST=many");
    settings_test_flag(&test, "--max-request=1M");
    refused(&test,
            "SLUICE_MAX_REQUEST 'many' is not a size such as 64k or 1MiB, from 64KiB to 2GiB");
    settings_test_release(&test);
}

static void test_settings__flags_of_booleans_need_no_value(void **state)
{
    (void)state;
    struct settings_test test;
    settings_test_init(&test);
    settings_test_flag(&test, "--allow-flush");
    settings_test_flag(&test, "--create-namespaces");
    settings_test_flag(&test, "no");
    load(&test);
    settings_test_expect(&test, "allow-flush", "yes");
    settings_test_expect(&test, "create-namespaces", "no");
    settings_test_release(&test);
}

static void test_settings__flags_that_are_wrong_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        { "--max-payloads=1", NULL,
          "--max-payloads: unknown setting \"max-payloads\"; did you mean max-payload?" },
        { "--completely-different", NULL,
          "--completely-different: unknown setting \"completely-different\"; sluiced --help lists "
          "all settings" },
        { "--max-payload", NULL, "--max-payload needs a value: --max-payload SIZE" },
        { "--max-payload", "--help", "--max-payload needs a value: --max-payload SIZE" },
        { "sluiced.conf", NULL,
          "'sluiced.conf' is not a flag; settings are given as --name value" },
        { "--", NULL, "'--' is not a flag; settings are given as --name value" },
        { "-h", NULL, "'-h' is not a flag; settings are given as --name value" },
        { "--allow-flush", "maybe", "'maybe' is not a flag; settings are given as --name value" },
        { "--config", "/nowhere/a.conf",
          "the config file /nowhere/a.conf cannot be opened: No such file or directory" },
    };
    for (size_t i = 0; TEST_ROW(i, cases); i++) {
        struct settings_test test;
        settings_test_init(&test);
        settings_test_flag(&test, cases[i][0]);
        if (cases[i][1]) {
            settings_test_flag(&test, cases[i][1]);
        }
        refused(&test, cases[i][2]);
        settings_test_release(&test);
    }
}

static void test_settings__lines_that_are_wrong_are_refused_with_their_number(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "\n# x\nmax-payload 12q\n",
          "3: max-payload '12q' is not a size such as 64k or 1MiB, from 4KiB to 512MiB" },
        { "max-paload 1M", "1: unknown setting \"max-paload\"; did you mean max-payload?" },
        { "max-payload\n",
          "1: max-payload has 0 values and needs one: a size such as 64k or 1MiB, from 4KiB to "
          "512MiB" },
        { "data a b\n", "1: data has 2 values and needs one: a text" },
        { "http\n", "1: http has 0 values and needs one: an address such as 127.0.0.1:7711, "
                    "[::1]:7711 or unix:/path, or \"\" for none" },
        { "data 'a\n", "1: a quote is not closed" },
        { "data a\n\ndata b\n", "3: data is set a second time" },
        { "config b.conf\n", "1: config cannot stand in a config file" },
        { "user ann secret\n",
          "1: user: a user is a name, a password or its hash, and rights such as app:write" },
    };
    for (size_t i = 0; TEST_ROW(i, cases); i++) {
        struct settings_test test;
        char sentence[ERROR_DETAIL_SIZE];
        settings_test_init(&test);
        settings_test_file(&test, cases[i][0]);
        (void)snprintf(sentence, sizeof(sentence), "%s:%s", test.path, cases[i][1]);
        refused(&test, sentence);
        settings_test_release(&test);
    }
}

static void test_settings__unknown_variables_are_refused_but_for_those_of_containers(void **state)
{
    (void)state;
    struct settings_test test;
    settings_test_init(&test);
    settings_test_variable(&test, "SLUICE_PORT=tcp://10.0.0.1:7711");
    settings_test_variable(&test, "SLUICE_PORT_7711_TCP=tcp://10.0.0.1:7711");
    settings_test_variable(&test, "SLUICE_SERVICE_HOST=10.0.0.1");
    load(&test);
    settings_test_variable(&test, "SLUICE_LOG_LEVL=debug");
    refused(&test, "SLUICE_LOG_LEVL: unknown setting \"log-levl\"; did you mean log-level?");
    settings_test_release(&test);
}

static void test_settings__variables_of_the_tool_and_its_jobs_are_no_settings(void **state)
{
    (void)state;
    struct settings_test test;
    settings_test_init(&test);
    settings_test_variable(&test, "SLUICE_URL=sluice://127.0.0.1:7711/app");
    settings_test_variable(&test, "SLUICE_NS=app");
    settings_test_variable(&test, "SLUICE_DATA=a");
    load(&test);
    settings_test_expect(&test, "data", "a");
    settings_test_variable(&test, "SLUICE_JID=ann");
    load(&test);
    settings_test_expect(&test, "data", "./sluice-data");
    settings_test_release(&test);
}

static void test_settings__a_file_named_by_a_variable_gives_way_to_one_of_a_flag(void **state)
{
    (void)state;
    struct settings_test test;
    char entry[128];
    settings_test_init(&test);
    settings_test_write(&test, "max-payload 2M\n");
    (void)snprintf(entry, sizeof(entry), "SLUICE_CONFIG=%s", test.path);
    settings_test_variable(&test, entry);
    load(&test);
    settings_test_expect(&test, "max-payload", "2MiB");
    settings_test_flag(&test, "--config=");
    load(&test);
    settings_test_expect(&test, "max-payload", "1MiB");
    settings_test_release(&test);
}

static void test_settings__systemd_says_where_the_data_goes_unless_a_setting_does(void **state)
{
    (void)state;
    struct settings_test test;
    settings_test_init(&test);
    settings_test_variable(&test, "STATE_DIRECTORY=/var/lib/sluice:/var/lib/other");
    load(&test);
    settings_test_expect(&test, "data", "/var/lib/sluice");
    settings_test_flag(&test, "--data=here");
    load(&test);
    settings_test_expect(&test, "data", "here");
    settings_test_release(&test);
}

static void test_settings__help_and_version_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *flag;
        enum settings_request request;
    } cases[] = {
        { "--help", SETTINGS_HELP },
        { "--version", SETTINGS_VERSION },
        { "--hash-password", SETTINGS_HASH_PASSWORD },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].flag); i++) {
        struct settings_test test;
        settings_test_init(&test);
        settings_test_flag(&test, cases[i].flag);
        assert_int_equal(settings_test_load(&test), STATUS_OK);
        assert_int_equal(test.request, cases[i].request);
        assert_null(test.settings.data);
        settings_test_release(&test);
    }
}

static void test_settings__no_password_is_kept_in_plain_text(void **state)
{
    (void)state;
    struct settings_test test;
    settings_test_init(&test);
    settings_test_file(&test, "password 'open sesame'\nuser ann tulip app:write\n"
                              "user bob \"red rose\" *:read # all\n");
    load(&test);
    struct password password;
    struct error error;
    assert_int_equal(password_parse(slice_from_cstr(test.settings.password), &password, &error),
                     STATUS_OK);
    assert_int_equal(password_check(&password, SLICE("open sesame")), STATUS_OK);
    assert_int_equal(test.settings.user.count, 2);
    assert_null(strstr(test.settings.user.items[0], "tulip"));
    settings_test_expect(&test, "user", "ann (hidden) app:write\nbob (hidden) *:read");
    settings_test_expect(&test, "password", "(hidden)");
    settings_test_release(&test);
}

static void test_settings__a_lack_of_memory_is_told_and_leaves_nothing(void **state)
{
    (void)state;
    struct fault_alloc fault;
    struct settings_test test;
    settings_test_init(&test);
    settings_test_file(&test, "password secret\nlisten unix:/a\nlisten unix:/b\n"
                              "user ann secret app:write\n");
    FAULT_ALLOC_EACH(&fault)
    {
        struct settings settings;
        enum status status = settings_load(&settings, &fault.allocator, test.argc, test.argv,
                                           test.environment, &test.request, &test.error);
        FAULT_ALLOC_EXPECT(&fault, status);
        if (status == STATUS_OK) {
            settings_release(&settings);
        }
    }
    settings_test_release(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings__defaults_are_safe_and_those_of_the_table),
        cmocka_unit_test(test_settings__flags_win_over_variables_and_those_over_the_file),
        cmocka_unit_test(test_settings__what_a_stronger_one_replaces_is_checked_all_the_same),
        cmocka_unit_test(test_settings__flags_of_booleans_need_no_value),
        cmocka_unit_test(test_settings__flags_that_are_wrong_are_refused),
        cmocka_unit_test(test_settings__lines_that_are_wrong_are_refused_with_their_number),
        cmocka_unit_test(test_settings__unknown_variables_are_refused_but_for_those_of_containers),
        cmocka_unit_test(test_settings__variables_of_the_tool_and_its_jobs_are_no_settings),
        cmocka_unit_test(test_settings__a_file_named_by_a_variable_gives_way_to_one_of_a_flag),
        cmocka_unit_test(test_settings__systemd_says_where_the_data_goes_unless_a_setting_does),
        cmocka_unit_test(test_settings__help_and_version_are_told_apart),
        cmocka_unit_test(test_settings__no_password_is_kept_in_plain_text),
        cmocka_unit_test(test_settings__a_lack_of_memory_is_told_and_leaves_nothing),
    };
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
