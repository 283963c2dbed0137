// SPDX-License-Identifier: MIT
#include "server/config/settings_value.h"

#include "settings_test.h"
#include "test.h"

#include <string.h>

static void test_settings_value__sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t size; // -1: refused
    } cases[] = {
        { "0", 0 },
        { "4096", 4096 },
        { "64k", 65536 },
        { "64K", 65536 },
        { "1M", 1 << 20 },
        { "1MiB", 1 << 20 },
        { "1mib", 1 << 20 },
        { "2KiB", 2048 },
        { "1G", 1 << 30 },
        { "", -1 },
        { "k", -1 },
        { "1.5M", -1 },
        { "-1", -1 },
        { "1 M", -1 },
        { "1MB", -1 },
        { "1T", -1 },
        { "01k", -1 },
        { "1kk", -1 },
        { "99999999999G", -1 },
        { "0x10", -1 },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        uint64_t size = 0;
        enum status status = setting_parse_size(slice_from_cstr(cases[i].text), &size);
        if (status ? cases[i].size != -1 : (int64_t)size != cases[i].size) {
            fail_msg("'%s' is read wrongly", cases[i].text);
        }
    }
}

static void test_settings_value__times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t us; // -1: refused
    } cases[] = {
        { "0", 0 },
        { "10", 10000000 },
        { "10s", 10000000 },
        { "500ms", 500000 },
        { "5m", 300000000 },
        { "2h", 7200000000 },
        { "1d", 86400000000 },
        { "1.5s", 1500000 },
        { "0.5", 500000 },
        { "250us", 250 },
        { "1S", 1000000 },
        { "", -1 },
        { "s", -1 },
        { "-1s", -1 },
        { "1 s", -1 },
        { "1w", -1 },
        { "1e3", -1 },
        { "1..5s", -1 },
        { ".5s", -1 },
        { "9999999999999d", -1 },
        { "99999999999999999999", -1 },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        int64_t us = 0;
        enum status status = setting_parse_time(slice_from_cstr(cases[i].text), &us);
        if (status ? cases[i].us != -1 : us != cases[i].us) {
            fail_msg("'%s' is read wrongly", cases[i].text);
        }
    }
}

static void test_settings_value__every_value_reads_back_as_it_is_written(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        { "--max-payload", "2M", "2MiB" },
        { "--max-payload", "65537", "65537" },
        { "--max-payload", "4096", "4KiB" },
        { "--idle-timeout", "5m", "300s" },
        { "--idle-timeout", "1500ms", "1500ms" },
        { "--idle-timeout", "1000001us", "1000001us" },
        { "--idle-timeout", "0", "0" },
        { "--durability", "interval", "interval:100" },
        { "--durability", "interval:5", "interval:5" },
        { "--durability", "NEVER", "never" },
        { "--durability", "always", "always" },
        { "--log-level", "Warning", "warning" },
        { "--allow-flush", "on", "yes" },
        { "--create-namespaces", "false", "no" },
        { "--max-connections", "1", "1" },
        { "--http", "", "" },
        { "--data", "/a folder/b", "/a folder/b" },
        { "--password", "secret", "(hidden)" },
        { "--password", "", "" },
        { "--user", "ann secret app:write *:read", "ann (hidden) app:write *:read" },
        { "--listen", "unix:/a", "unix:/a" },
        { "--listen", "", "" },
    };
    for (size_t i = 0; TEST_ROW(i, cases); i++) {
        struct settings_test test;
        const char *const flags[] = { cases[i][0], cases[i][1], NULL };
        settings_test_of(&test, flags);
        settings_test_expect(&test, cases[i][0] + 2, cases[i][2]);
        settings_test_release(&test);
    }
}

static void test_settings_value__what_is_not_one_is_refused_with_what_is_allowed(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        { "--max-payload", "12q",
          "--max-payload '12q' is not a size such as 64k or 1MiB, from 4KiB to 512MiB" },
        { "--max-payload", "1k",
          "--max-payload '1k' is not a size such as 64k or 1MiB, from 4KiB to 512MiB" },
        { "--idle-timeout", "soon",
          "--idle-timeout 'soon' is not a time such as 500ms, 10s or 5m, from 1s to 31536000s, "
          "or 0" },
        { "--checkpoint-interval", "0",
          "--checkpoint-interval '0' is not a time such as 500ms, 10s or 5m, from 10ms to 3600s" },
        { "--max-connections", "0", "--max-connections '0' is not a number from 1 to 1000000" },
        { "--durability", "interval:0",
          "--durability 'interval:0' is not always, interval, interval:MS or never" },
        { "--log-level", "loud", "--log-level 'loud' is not debug, info, warning or error" },
        { "--listen", "here",
          "--listen 'here' is not an address such as 127.0.0.1:7711, [::1]:7711 or unix:/path" },
        { "--qless-namespace", "a b",
          "--qless-namespace 'a b' is not a name of 1 to 255 bytes without spaces" },
        { "--allow-flush=maybe", NULL, "--allow-flush 'maybe' is not yes or no" },
        { "--password", "pbkdf2-sha256$1$aa$bb",
          "--password: a hash is pbkdf2-sha256$ITERATIONS$SALT$HASH, as 'sluiced --hash-password' "
          "prints it" },
        { "--user", "ann secret",
          "--user: a user is a name, a password or its hash, and rights such as app:write" },
        { "--user", "ann secret app:own",
          "--user: 'app:own' is not a right: NAMESPACE[/QUEUE]:RIGHT[+RIGHT], where names may "
          "end with * and rights are read, put, work, operate, write and, without a queue, "
          "admin" },
        { "--user", "ann 'secret app:read", "--user: a quote is not closed" },
    };
    for (size_t i = 0; TEST_ROW(i, cases); i++) {
        struct settings_test test;
        settings_test_init(&test);
        settings_test_flag(&test, cases[i][0]);
        if (cases[i][1]) {
            settings_test_flag(&test, cases[i][1]);
        }
        assert_int_equal(settings_test_load(&test), STATUS_INVALID);
        assert_string_equal(test.error.detail, cases[i][2]);
        settings_test_release(&test);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_value__sizes),
        cmocka_unit_test(test_settings_value__times),
        cmocka_unit_test(test_settings_value__every_value_reads_back_as_it_is_written),
        cmocka_unit_test(test_settings_value__what_is_not_one_is_refused_with_what_is_allowed),
    };
    return cmocka_run_group_tests_name("settings_value", tests, NULL, NULL);
}
