// SPDX-License-Identifier: MIT
// Settings from flags, variables and a file that a test gives as texts.
#ifndef SLUICE_SETTINGS_TEST_H
#define SLUICE_SETTINGS_TEST_H

#include "server/config/settings.h"

enum {
    SETTINGS_TEST_WORDS = 16,
};

struct settings_test {
    char folder[64];
    char path[96]; // of the config file
    char *argv[SETTINGS_TEST_WORDS];
    int argc;
    char *environment[SETTINGS_TEST_WORDS];
    size_t variables;
    struct settings settings;
    enum settings_request request;
    struct error error;
};

void settings_test_init(struct settings_test *test);
void settings_test_release(struct settings_test *test);

// Writes the config file and gives it as a flag.
void settings_test_file(struct settings_test *test, const char *text);
// Writes it only.
void settings_test_write(struct settings_test *test, const char *text);

void settings_test_flag(struct settings_test *test, const char *word);
void settings_test_variable(struct settings_test *test, const char *entry);

enum status settings_test_load(struct settings_test *test);

// A setting's value, loaded before, must read so.
void settings_test_expect(const struct settings_test *test, const char *name, const char *value);

// Settings of flags alone, ends with NULL; asserts that they load.
void settings_test_of(struct settings_test *test, const char *const *flags);

#endif
