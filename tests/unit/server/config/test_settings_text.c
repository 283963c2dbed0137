// SPDX-License-Identifier: MIT
// The texts that come from the table. docs/sluiced.conf and docs/settings.md must be what the table
// says; with TEST_UPDATE set they are written anew.
#include "server/config/settings_table.h"

#include "document.h"
#include "settings_test.h"
#include "test.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIZE = 1 << 16,
};

static void test_settings_text__help_names_every_setting_in_80_columns(void **state)
{
    (void)state;
    struct buffer help;
    buffer_init(&help, &allocator_system, SIZE);
    settings_help(&help);
    buffer_append_char(&help, '\0');
    assert_int_equal(help.status, STATUS_OK);
    for (size_t i = 0; settings_name(i); i++) {
        char flag[64];
        (void)snprintf(flag, sizeof(flag), "\n  --%s ", settings_name(i));
        assert_non_null(strstr(help.data, flag));
    }
    for (const char *line = help.data; *line;) {
        size_t size = strcspn(line, "\n");
        assert_true(size <= 80);
        assert_true(size == 0 || line[size - 1] != ' ');
        line += size + (line[size] == '\n');
    }
    buffer_release(&help);
}

static void test_settings_text__the_example_in_the_documents_is_the_tables(void **state)
{
    (void)state;
    struct buffer text;
    buffer_init(&text, &allocator_system, SIZE);
    settings_example(&text);
    expect_document("sluiced.conf", &text);
    buffer_append_char(&text, '\0');
    for (size_t i = 0; settings_name(i); i++) {
        assert_non_null(strstr(text.data, settings_name(i)));
    }
    buffer_release(&text);
}

static void test_settings_text__the_reference_in_the_documents_is_the_tables(void **state)
{
    (void)state;
    struct buffer text;
    buffer_init(&text, &allocator_system, SIZE);
    settings_markdown(&text);
    expect_document("settings.md", &text);
    buffer_release(&text);
}

// Lines of the example that have a default, with the '#' before them gone, change nothing.
static void test_settings_text__the_example_holds_the_defaults(void **state)
{
    (void)state;
    struct settings_test test;
    struct buffer example;
    struct buffer file;
    buffer_init(&example, &allocator_system, SIZE);
    buffer_init(&file, &allocator_system, SIZE);
    settings_example(&example);
    buffer_append_char(&example, '\0');
    for (const char *line = example.data; *line;) {
        size_t size = strcspn(line, "\n");
        struct slice name = slice_make(line + 1, strcspn(line, " \n") - 1);
        if (line[0] == '#' && size > 1 && islower((unsigned char)line[1])) {
            if (*settings_table[settings_find(name)].initial) {
                buffer_append(&file, slice_make(line + 1, size));
            }
        }
        line += size + (line[size] == '\n');
    }
    buffer_append_char(&file, '\0');
    settings_test_init(&test);
    settings_test_file(&test, file.data);
    assert_int_equal(settings_test_load(&test), STATUS_OK);
    settings_test_expect(&test, "listen", "127.0.0.1:7711");
    settings_test_expect(&test, "max-payload", "1MiB");
    assert_int_equal(test.settings.sources[settings_find(SLICE("log-level"))], SETTING_FILE);
    settings_test_release(&test);
    buffer_release(&file);
    buffer_release(&example);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_text__help_names_every_setting_in_80_columns),
        cmocka_unit_test(test_settings_text__the_example_in_the_documents_is_the_tables),
        cmocka_unit_test(test_settings_text__the_reference_in_the_documents_is_the_tables),
        cmocka_unit_test(test_settings_text__the_example_holds_the_defaults),
    };
    return cmocka_run_group_tests_name("settings_text", tests, NULL, NULL);
}
