// SPDX-License-Identifier: MIT
// A store in a folder that goes away again, and a plain memory of what should be in it.
#ifndef SLUICE_STORE_TEST_H
#define SLUICE_STORE_TEST_H

#include "store/store.h"

#include "random.h"

enum {
    TEST_KEYS = 200,
};

struct store_test {
    char folder[64];
    char path[96]; // of the store, in the folder
    struct store_options options;
    struct store *store;
    struct error error;
    struct random random;
    uint32_t values[TEST_KEYS]; // what a record's bytes are made of; 0: it is not there
    size_t found;               // records that the last opening gave
    uint64_t group;             // the last one appended
    char log[512];              // the last sentence
};

void store_test_init(struct store_test *test);
void store_test_release(struct store_test *test);

// Opens it, and asserts that all that should be there is, and nothing else.
void store_test_open(struct store_test *test);
void store_test_close(struct store_test *test);

// Some random records in one append.
void store_test_append(struct store_test *test);
void store_test_wait(struct store_test *test);

// Opening must give this status.
void store_test_refused(struct store_test *test, enum status status);

// A visitor that compares.
struct store_visitor store_test_visitor(struct store_test *test);

// Copies a folder as a crash would leave it.
void store_test_copy(const char *from, const char *to);

#endif
