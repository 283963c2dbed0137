// SPDX-License-Identifier: MIT
// cmocka ends a failed test in _fail, which the C compiler calls by its name in every assertion and
// cmocka itself calls through its table of dynamic symbols. So the one here is called first: it
// prints the rows and calls cmocka's.
#include "row.h"

#include "test.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 4,
    NAME_SIZE_MAX = 200,
};

static struct row {
    const char *file;
    int line;
    const char *table;
    size_t index;
    const char *name;
} rows[DEPTH_MAX];
static size_t depth;

// The place of a loop among the rows, or `depth`.
static size_t find(const char *file, int line)
{
    size_t at = 0;
    while (at < depth && (rows[at].line != line || strcmp(rows[at].file, file) != 0)) {
        at++;
    }
    return at;
}

bool test_row(bool present, const char *file, int line, const char *table, size_t index,
              const char *name)
{
    size_t at = find(file, line);
    if (!present) {
        depth = at;
    } else if (at < DEPTH_MAX) {
        rows[at] = (struct row){ file, line, table, index, name };
        depth = at + 1;
    }
    return present;
}

void test_row_clear(void)
{
    depth = 0;
}

static void print_row(const struct row *row)
{
    const char *slash = strrchr(row->file, '/');
    print_error("# %s:%d: row %zu of %s", slash ? slash + 1 : row->file, row->line, row->index,
                row->table);
    if (row->name) {
        print_error(": \"");
        for (size_t i = 0; i < NAME_SIZE_MAX && row->name[i]; i++) {
            unsigned char c = (unsigned char)row->name[i];
            print_error(c < ' ' || c == '"' || c == '\\' ? "\\x%02x" : "%c", c);
        }
        print_error("\"");
    }
    print_error("\n");
}

void _fail(const char *const file, const int line)
{
    for (size_t i = 0; i < depth; i++) {
        print_row(&rows[i]);
    }
    depth = 0;
    void *found = dlsym(RTLD_NEXT, "_fail");
    void (*of_cmocka)(const char *file, int line) = NULL;
    memcpy(&of_cmocka, &found, sizeof(of_cmocka));
    if (of_cmocka) {
        of_cmocka(file, line);
    }
    abort();
}
