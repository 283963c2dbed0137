// SPDX-License-Identifier: MIT
#include "server/config/settings.h"

#include "settings_test.h"
#include "test.h"

#include <string.h>
#include <sys/stat.h>

#define FLAGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_settings_check__what_others_can_reach_needs_users(void **state)
{
    (void)state;
    static const struct {
        const char *flags[8];
        const char *sentence; // NULL: allowed
    } cases[] = {
        { { "--listen=0.0.0.0:7711" },
          "listen 0.0.0.0:7711 can be reached from other machines: set password or user, or "
          "listen on 127.0.0.1" },
        { { "--listen=127.0.0.1:1", "--listen=*:1" },
          "listen *:1 can be reached from other machines: set password or user, or listen on "
          "127.0.0.1" },
        { { "--http=[::]:1" },
          "http [::]:1 can be reached from other machines: set password or user, or listen on "
          "127.0.0.1" },
        { { "--grpc=[::]:1" },
          "grpc [::]:1 can be reached from other machines: set password or user, or listen on "
          "127.0.0.1" },
        { { "--tls-grpc=0.0.0.0:1", "--tls-cert=a", "--tls-key=b", "--tls-ca=c" },
          "tls-grpc 0.0.0.0:1 can be reached from other machines: set password or user, or listen "
          "on 127.0.0.1" },
        { { "--tls-listen=0.0.0.0:1", "--tls-cert=a", "--tls-key=b" },
          "tls-listen 0.0.0.0:1 can be reached from other machines: set password, user or tls-ca, "
          "or listen on 127.0.0.1" },
        { { "--listen=0.0.0.0:1", "--tls-cert=a", "--tls-key=b", "--tls-ca=c" },
          "listen 0.0.0.0:1 can be reached from other machines: set password or user, or listen "
          "on 127.0.0.1" },
        { { "--listen=0.0.0.0:1", "--password=secret" }, NULL },
        { { "--listen=0.0.0.0:1", "--user=ann secret app:read" }, NULL },
        { { "--http=0.0.0.0:1", "--password=secret" }, NULL },
        { { "--tls-listen=0.0.0.0:1", "--tls-cert=a", "--tls-key=b", "--tls-ca=c" }, NULL },
        { { "--tls-listen=0.0.0.0:1", "--tls-cert=a", "--tls-key=b", "--password=c" }, NULL },
        { { "--listen=unix:/a", "--http=" }, NULL },
        { { "--listen=", "--http=", "--grpc=" },
          "there is nothing to listen on: set listen, tls-listen, http, tls-http, grpc or "
          "tls-grpc" },
        { { "--listen=", "--http=" }, NULL },
        { { "--tls-listen=127.0.0.1:1" }, "tls-listen needs tls-cert and tls-key" },
        { { "--tls-grpc=127.0.0.1:1" }, "tls-grpc needs tls-cert and tls-key" },
        { { "--tls-cert=a" }, "tls-cert and tls-key need each other; tls-key is missing" },
        { { "--tls-key=a" }, "tls-cert and tls-key need each other; tls-cert is missing" },
        { { "--tls-crl=a" }, "tls-crl needs tls-ca: without it clients show no certificate" },
        { { "--tls-client-names=a" },
          "tls-client-names needs tls-ca: without it clients show no certificate" },
        { { "--user=ann a app:read", "--user=bob a app:read", "--user=ann b *:read" },
          "user 'ann' is set twice" },
        { { "--user=default a app:read", "--password=b" },
          "password and 'user default' are the same user: set one of them" },
        { { "--max-payload=32M" },
          "max-payload is larger than max-request, which it has to fit in" },
        { { "--segment-size=70000" }, "segment-size is not a multiple of 4KiB" },
        { { "--push=app Mail http://localhost:8080/" },
          "the href has the private address localhost, and push-allow-private is off" },
        { { "--push=app Mail http://10.0.0.7/", "--push-allow-private=yes" }, NULL },
        { { "--push=app Mail http://jobs.example.com/" }, NULL },
        { { "--data=" }, "data is empty and needs a folder" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].sentence); i++) {
        struct settings_test test;
        struct error error = { 0 };
        settings_test_of(&test, cases[i].flags);
        enum status status = settings_check(&test.settings, &error);
        assert_int_equal(status, cases[i].sentence ? STATUS_INVALID : STATUS_OK);
        assert_string_equal(error.detail, cases[i].sentence ? cases[i].sentence : "");
        settings_test_release(&test);
    }
}

struct told {
    char text[2048];
};

static void tell(void *context, const char *name, const char *sentence)
{
    struct told *told = context;
    size_t used = strlen(told->text);
    (void)snprintf(told->text + used, sizeof(told->text) - used, "%s: %s\n", name, sentence);
}

static void test_settings_check__secrets_that_others_can_read_are_warned_of(void **state)
{
    (void)state;
    struct settings_test test;
    struct told told = { "" };
    const struct settings_listener listener = { .report = tell, .context = &told };
    char sentence[512];
    settings_test_init(&test);
    settings_test_file(&test, "password secret\n");
    assert_int_equal(settings_test_load(&test), STATUS_OK);
    assert_int_equal(chmod(test.path, 0640), 0);
    settings_warn(&test.settings, &listener);
    assert_string_equal(told.text, "");
    assert_int_equal(chmod(test.path, 0644), 0);
    settings_warn(&test.settings, &listener);
    (void)snprintf(sentence, sizeof(sentence),
                   "config: %s holds passwords and is readable by all users of this machine: chmod "
                   "o-r\n",
                   test.path);
    assert_string_equal(told.text, sentence);
    settings_test_release(&test);
}

static void test_settings_check__a_file_without_secrets_may_be_read(void **state)
{
    (void)state;
    struct settings_test test;
    struct told told = { "" };
    const struct settings_listener listener = { .report = tell, .context = &told };
    settings_test_init(&test);
    settings_test_file(&test, "max-payload 2M\n");
    assert_int_equal(settings_test_load(&test), STATUS_OK);
    assert_int_equal(chmod(test.path, 0644), 0);
    settings_warn(&test.settings, &listener);
    assert_string_equal(told.text, "");
    settings_test_release(&test);
}

static void test_settings_check__a_password_on_the_command_line_is_warned_of(void **state)
{
    (void)state;
    struct settings_test test;
    struct told told = { "" };
    const struct settings_listener listener = { .report = tell, .context = &told };
    settings_test_of(&test, FLAGS("--password=secret"));
    settings_warn(&test.settings, &listener);
    assert_string_equal(told.text, "password: --password is on the command line, which all "
                                   "users of this machine can read: put it into the config file\n");
    settings_test_release(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_check__what_others_can_reach_needs_users),
        cmocka_unit_test(test_settings_check__secrets_that_others_can_read_are_warned_of),
        cmocka_unit_test(test_settings_check__a_file_without_secrets_may_be_read),
        cmocka_unit_test(test_settings_check__a_password_on_the_command_line_is_warned_of),
    };
    return cmocka_run_group_tests_name("settings_check", tests, NULL, NULL);
}
