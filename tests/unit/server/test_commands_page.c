// SPDX-License-Identifier: MIT
// docs/commands.md must be what the tables of a server's commands say; with TEST_UPDATE set it is
// written anew.
#include "api/reference.h"
#include "server/redis/tables.h"

#include "document.h"
#include "test.h"

enum {
    SIZE = 1 << 20,
};

static void test_commands_page__is_the_tables(void **state)
{
    (void)state;
    struct commands *commands;
    struct buffer text;
    buffer_init(&text, &allocator_system, SIZE);
    assert_int_equal(server_commands_new(&allocator_system, &commands), STATUS_OK);
    reference_markdown(commands, &text);
    expect_document("commands.md", &text);
    commands_free(commands);
    buffer_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands_page__is_the_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
