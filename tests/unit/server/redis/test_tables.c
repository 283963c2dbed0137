// SPDX-License-Identifier: MIT
#include "server/redis/tables.h"

#include "host/commands/services.h"

#include "test.h"

// libsluice puts the namespace in, and has only what every host has to go by.
static void test_tables__a_command_with_a_namespace_is_known_to_every_host(void **state)
{
    (void)state;
    struct commands *all, *known;
    const struct command *command;
    assert_int_equal(server_commands_new(&allocator_system, &all), STATUS_OK);
    assert_int_equal(host_commands_new(&allocator_system, NULL, 0, &known), STATUS_OK);
    for (size_t i = 0; (command = commands_at(all, i)); i++) {
        if (command->flags & COMMAND_NAMESPACE) {
            assert_ptr_equal(commands_find(known, slice_from_cstr(command->name)), command);
        }
    }
    commands_free(known);
    commands_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables__a_command_with_a_namespace_is_known_to_every_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
