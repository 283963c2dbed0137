// SPDX-License-Identifier: MIT
#include "document.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DOCUMENT_SIZE = 4 << 20,
};

void expect_document(const char *name, const struct buffer *text)
{
    const char *root = getenv("TEST_SOURCE");
    char path[512];
    static char found[DOCUMENT_SIZE];
    assert_non_null(root);
    assert_int_equal(text->status, STATUS_OK);
    (void)snprintf(path, sizeof(path), "%s/docs/%s", root, name);
    if (getenv("TEST_UPDATE")) {
        FILE *out = fopen(path, "we");
        assert_non_null(out);
        assert_int_equal(fwrite(text->data, 1, text->size, out), text->size);
        assert_int_equal(fclose(out), 0);
    }
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    size_t size = fread(found, 1, sizeof(found), file);
    assert_int_equal(fclose(file), 0);
    if (size != text->size || memcmp(found, text->data, size) != 0) {
        fail_msg("docs/%s differs from the table; run this test with TEST_UPDATE=1", name);
    }
}
