// SPDX-License-Identifier: MIT
#include "settings_test.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void settings_test_init(struct settings_test *test)
{
    const char *root = getenv("TMPDIR");
    *test = (struct settings_test){ 0 };
    (void)snprintf(test->folder, sizeof(test->folder), "%s/sluice-XXXXXX", root ? root : "/tmp");
    assert_non_null(mkdtemp(test->folder));
    (void)snprintf(test->path, sizeof(test->path), "%s/a.conf", test->folder);
    settings_test_flag(test, "sluiced");
}

void settings_test_release(struct settings_test *test)
{
    settings_release(&test->settings);
    for (int i = 0; i < test->argc; i++) {
        free(test->argv[i]);
    }
    for (size_t i = 0; i < test->variables; i++) {
        free(test->environment[i]);
    }
    (void)unlink(test->path);
    (void)rmdir(test->folder);
}

void settings_test_write(struct settings_test *test, const char *text)
{
    FILE *file = fopen(test->path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

void settings_test_file(struct settings_test *test, const char *text)
{
    settings_test_write(test, text);
    settings_test_flag(test, "--config");
    settings_test_flag(test, test->path);
}

void settings_test_flag(struct settings_test *test, const char *word)
{
    assert_true(test->argc < SETTINGS_TEST_WORDS - 1);
    test->argv[test->argc++] = strdup(word);
}

void settings_test_variable(struct settings_test *test, const char *entry)
{
    assert_true(test->variables < SETTINGS_TEST_WORDS - 1);
    test->environment[test->variables++] = strdup(entry);
}

enum status settings_test_load(struct settings_test *test)
{
    settings_release(&test->settings);
    return settings_load(&test->settings, &allocator_system, test->argc, test->argv,
                         test->environment, &test->request, &test->error);
}

void settings_test_expect(const struct settings_test *test, const char *name, const char *value)
{
    struct buffer text;
    buffer_init(&text, &allocator_system, 1 << 16);
    settings_append_value(&test->settings, settings_find(slice_from_cstr(name)), &text);
    buffer_append_char(&text, '\0');
    assert_int_equal(text.status, STATUS_OK);
    assert_string_equal(text.data, value);
    buffer_release(&text);
}

void settings_test_of(struct settings_test *test, const char *const *flags)
{
    settings_test_init(test);
    for (; *flags; flags++) {
        settings_test_flag(test, *flags);
    }
    enum status status = settings_test_load(test);
    if (status) {
        print_error("%s\n", error_sentence(&test->error));
    }
    assert_int_equal(status, STATUS_OK);
}
