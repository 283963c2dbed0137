// SPDX-License-Identifier: MIT
// docs/openapi.json must be what the tables of routes and of a server's commands say, laid out for
// people; with TEST_UPDATE set it is written anew.
#include "base/json.h"
#include "faces/http/http.h"
#include "server/redis/tables.h"

#include "document.h"
#include "test.h"

enum {
    SIZE = 4 << 20,
};

static void break_line(struct buffer *out, int depth)
{
    buffer_append_char(out, '\n');
    while (depth-- > 0) {
        buffer_append_char(out, ' ');
    }
}

// A line for each member and each item; what is empty stays as it is.
static void lay_out(struct slice json, struct buffer *out)
{
    int depth = 0;
    for (size_t i = 0; i < json.size; i++) {
        char c = json.data[i];
        char next = (char)(i + 1 < json.size ? json.data[i + 1] : '\0');
        if (c == '"') {
            size_t size = json_string_size(slice_sub(json, i, SIZE_MAX));
            buffer_append(out, slice_sub(json, i, size));
            i += size - 1;
        } else if ((c == '{' || c == '[') && next != c + 2) {
            buffer_append_char(out, c);
            break_line(out, ++depth);
        } else if ((c == '}' || c == ']') && json.data[i - 1] != c - 2) {
            break_line(out, --depth);
            buffer_append_char(out, c);
        } else {
            buffer_append_char(out, c);
            if (c == ',') {
                break_line(out, depth);
            } else if (c == ':') {
                buffer_append_char(out, ' ');
            }
        }
    }
    buffer_append_char(out, '\n');
}

static void test_openapi_page__is_the_tables(void **state)
{
    (void)state;
    struct commands *commands;
    struct http_face *face;
    struct buffer json;
    struct buffer text;
    buffer_init(&json, &allocator_system, SIZE);
    buffer_init(&text, &allocator_system, SIZE);
    assert_int_equal(server_commands_new(&allocator_system, &commands), STATUS_OK);
    const struct http_face_options options = { .allocator = &allocator_system,
                                               .commands = commands,
                                               .version = SLUICE_VERSION };
    assert_int_equal(http_face_new(&options, &face), STATUS_OK);
    http_face_openapi(face, &json);
    assert_int_equal(json.status, STATUS_OK);
    assert_int_equal(json_validate(buffer_slice(&json), JSON_DEPTH_MAX, NULL), STATUS_OK);
    lay_out(buffer_slice(&json), &text);
    expect_document("openapi.json", &text);
    http_face_free(face);
    commands_free(commands);
    buffer_release(&json);
    buffer_release(&text);
}

// All commands that are Sluice's own have a route: only what is about a connection of RESP has
// none.
static void test_openapi_page__every_native_command_has_a_route(void **state)
{
    (void)state;
    struct commands *commands;
    assert_int_equal(server_commands_new(&allocator_system, &commands), STATUS_OK);
    for (size_t i = 0; commands_at(commands, i); i++) {
        const char *name = commands_at(commands, i)->name;
        bool found = strncmp(name, "Q.", 2) != 0;
        for (size_t j = 0; j < http_routes.count && !found; j++) {
            const struct http_route *route = &http_routes.items[j];
            found = (route->command && strcmp(route->command, name) == 0) ||
                    (route->many && strcmp(route->many, name) == 0);
        }
        if (!found) {
            fail_msg("%s has no route", name);
        }
    }
    commands_free(commands);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_openapi_page__is_the_tables),
        cmocka_unit_test(test_openapi_page__every_native_command_has_a_route),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
