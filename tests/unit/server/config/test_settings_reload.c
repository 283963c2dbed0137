// SPDX-License-Identifier: MIT
#include "server/config/settings.h"

#include "fault_alloc.h"
#include "settings_test.h"
#include "test.h"

#include <string.h>

struct told {
    char text[2048];
};

static void tell(void *context, const char *name, const char *sentence)
{
    struct told *told = context;
    size_t used = strlen(told->text);
    (void)name;
    (void)snprintf(told->text + used, sizeof(told->text) - used, "%s\n", sentence);
}

static void start(struct settings_test *test, const char *file)
{
    settings_test_init(test);
    settings_test_file(test, file);
    settings_test_flag(test, "--max-output=1M");
    assert_int_equal(settings_test_load(test), STATUS_OK);
}

static void test_settings_reload__takes_over_what_can_change_and_tells(void **state)
{
    (void)state;
    struct settings_test test;
    struct told told = { "" };
    const struct settings_listener listener = { .report = tell, .context = &told };
    start(&test, "max-payload 2M\ndata a\nlog-level debug\ndurability never\npassword a\n");
    const char *data = test.settings.data;
    settings_test_write(&test, "max-payload 3M\ndata b\nmax-output 2M\nuser ann a app:read\n"
                               "durability interval:7\nlisten unix:/a\n");
    assert_int_equal(settings_reload(&test.settings, &listener, &test.error), STATUS_OK);
    settings_test_expect(&test, "max-payload", "3MiB");
    settings_test_expect(&test, "log-level", "info");
    settings_test_expect(&test, "user", "ann (hidden) app:read");
    settings_test_expect(&test, "password", "");
    settings_test_expect(&test, "max-output", "1MiB");
    settings_test_expect(&test, "data", "a");
    settings_test_expect(&test, "durability", "never");
    settings_test_expect(&test, "listen", "127.0.0.1:7711");
    assert_ptr_equal(test.settings.data, data);
    assert_string_equal(told.text, "listen has changed and needs a restart\n"
                                   "data has changed and needs a restart\n"
                                   "durability has changed and needs a restart\n"
                                   "max-payload is now '3MiB'\n"
                                   "password is now ''\n"
                                   "user is now 'ann (hidden) app:read'\n"
                                   "log-level is now 'info'\n");
    settings_test_release(&test);
}

static void test_settings_reload__nothing_changes_when_a_line_is_wrong(void **state)
{
    (void)state;
    struct settings_test test;
    start(&test, "max-payload 2M\n");
    settings_test_write(&test, "max-payload 3M\nmax-request lots\n");
    assert_int_equal(settings_reload(&test.settings, NULL, &test.error), STATUS_INVALID);
    assert_non_null(strstr(test.error.detail, "a.conf:2: max-request 'lots'"));
    settings_test_expect(&test, "max-payload", "2MiB");
    settings_test_release(&test);
}

static void test_settings_reload__nothing_changes_when_it_would_open_the_door(void **state)
{
    (void)state;
    struct settings_test test;
    start(&test, "listen 0.0.0.0:1\npassword secret\nmax-payload 2M\n");
    // The address of the file is a safe one, but the server still listens on the other.
    settings_test_write(&test, "listen 127.0.0.1:1\nmax-payload 3M\n");
    assert_int_equal(settings_reload(&test.settings, NULL, &test.error), STATUS_INVALID);
    assert_non_null(strstr(test.error.detail, "listen 0.0.0.0:1 can be reached"));
    settings_test_expect(&test, "password", "(hidden)");
    settings_test_expect(&test, "max-payload", "2MiB");
    settings_test_expect(&test, "listen", "0.0.0.0:1");
    settings_test_release(&test);
}

static enum status refuse(void *context, const struct settings *fresh, struct error *error)
{
    *(uint64_t *)context = fresh->max_payload;
    return error_set(error, STATUS_IO, "the moon is full");
}

static void test_settings_reload__nothing_changes_when_it_is_not_accepted(void **state)
{
    (void)state;
    struct settings_test test;
    start(&test, "listen 127.0.0.1:1\nmax-payload 2M\n");
    settings_test_write(&test, "listen 127.0.0.1:2\nmax-payload 3M\n");
    uint64_t seen = 0;
    const struct settings_listener listener = { .context = &seen, .accept = refuse };
    assert_int_equal(settings_reload(&test.settings, &listener, &test.error), STATUS_IO);
    assert_int_equal(seen, 3 << 20);
    settings_test_expect(&test, "listen", "127.0.0.1:1");
    settings_test_expect(&test, "max-payload", "2MiB");
    settings_test_release(&test);
}

static void test_settings_reload__a_lack_of_memory_changes_nothing(void **state)
{
    (void)state;
    struct settings_test test;
    struct fault_alloc fault;
    settings_test_init(&test);
    settings_test_file(&test, "user ann a app:read\n");
    FAULT_ALLOC_EACH(&fault)
    {
        struct settings settings;
        settings_test_write(&test, "user ann a app:read\n");
        enum status status = settings_load(&settings, &fault.allocator, test.argc, test.argv,
                                           test.environment, &test.request, &test.error);
        if (status == STATUS_OK) {
            settings_test_write(&test, "user ann a app:read\ndata b\n");
            status = settings_reload(&settings, NULL, &test.error);
            settings_release(&settings);
        }
        FAULT_ALLOC_EXPECT(&fault, status);
    }
    settings_test_release(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_reload__takes_over_what_can_change_and_tells),
        cmocka_unit_test(test_settings_reload__nothing_changes_when_a_line_is_wrong),
        cmocka_unit_test(test_settings_reload__nothing_changes_when_it_would_open_the_door),
        cmocka_unit_test(test_settings_reload__nothing_changes_when_it_is_not_accepted),
        cmocka_unit_test(test_settings_reload__a_lack_of_memory_changes_nothing),
    };
    return cmocka_run_group_tests_name("settings_reload", tests, NULL, NULL);
}
