// SPDX-License-Identifier: MIT
// The row of a table that a test is at, printed when an assertion of cmocka fails:
//
//     for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
//         assert_int_equal(parse(cases[i].text), cases[i].value);
//     }
//
//     # test_num.c:120: row 7 of cases: "1e400"
//
// Loops can be nested, up to 4 deep. A loop that is left by break or return calls test_row_clear.
#ifndef SLUICE_TEST_ROW_H
#define SLUICE_TEST_ROW_H

#include <stdbool.h>
#include <stddef.h>

#define TEST_ROW_COUNT_(table) (sizeof(table) / sizeof((table)[0]))

// Whether the table has a row with this index; if so, that is the row which the test is at.
#define TEST_ROW(index, table)                                                                     \
    test_row((index) < TEST_ROW_COUNT_(table), __FILE__, __LINE__, #table, (index), NULL)

// The same with a name, a string that must live as long as the row, or NULL.
#define TEST_ROW_NAMED(index, table, name)                                                         \
    test_row((index) < TEST_ROW_COUNT_(table), __FILE__, __LINE__, #table, (index),                \
             (index) < TEST_ROW_COUNT_(table) ? (name) : NULL)

// Returns `present`.
bool test_row(bool present, const char *file, int line, const char *table, size_t index,
              const char *name);

// The test is at no row.
void test_row_clear(void);

#endif
