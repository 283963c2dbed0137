// SPDX-License-Identifier: MIT
// Answers for people: tables of rows and columns, and records of a line a field. What a field looks
// like comes from its name: moments, lengths of time and states have names of their own.
#ifndef SLUICE_CLI_CORE_TABLE_H
#define SLUICE_CLI_CORE_TABLE_H

#include "cli/core/cli.h"

// Columns are names of fields between spaces. "lease/worker" is a field of a field; "mean:n" says
// how it is shown (t moment, l length of time, n number, d date, j the rest of the
// line), otherwise its
// name does. "due=scheduled" has another title. On a terminal a table is made to fit its width.

// A list of maps. `columns` may be NULL: then it is a list of texts and numbers, a line each.
void table_print(const struct tool *tool, const struct sluice_value *list, const char *columns);
// The same for lists that come one after the other.
struct table *table_new(const struct tool *tool, const char *columns);
void table_add(struct table *table, const struct sluice_value *list);
void table_add_row(struct table *table, const struct sluice_value *map);
void table_add_cells(struct table *table, char *const *cells);   // a text for each column
void table_finish(const struct tool *tool, struct table *table); // prints and frees it

// A map of maps, its keys in the first column. Sets of columns stand between '|'; a row is shown in
// the first that has all its columns.
void table_print_map(const struct tool *tool, const struct sluice_value *map, const char *columns);
// A map, a line for each of its fields that is not null.
void table_print_record(const struct tool *tool, const struct sluice_value *map);
// Lines of such a form that do not come from an answer: NAME, VALUE.
void table_print_pair(const struct tool *tool, size_t width, const char *name, const char *value);

// A text with what a terminal would act upon written out. What a queue holds may be anything. Given
// back with tool_free.
char *text_clean(const char *text, size_t size);

// The field of a map by its path "lease/worker".
const struct sluice_value *value_at(const struct sluice_value *map, const char *path);
// A value as a text for one line without control characters; given back with tool_free. `key` is
// the field's name, which says what numbers mean; or NULL.
char *value_text(const struct sluice_value *value, const char *key);
// The items of a list, as value_text gives them.
char *value_list_text(const struct sluice_value *list, const char *separator);

#endif
