// SPDX-License-Identifier: MIT
#include "server/config/address.h"

#include "test.h"

#include <string.h>
#include <sys/un.h>

static void test_address__what_is_one_and_who_can_reach_it(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool valid, local;
    } cases[] = {
        { "127.0.0.1:7711", true, true },
        { "127.9.9.9:0", true, true },
        { "localhost:7711", true, true },
        { "LocalHost:7711", true, true },
        { "[::1]:7711", true, true },
        { "[::ffff:127.0.0.1]:1", true, true },
        { "unix:/run/sluice.sock", true, true },
        { "0.0.0.0:7711", true, false },
        { "*:7711", true, false },
        { "[::]:7711", true, false },
        { "[::ffff:10.0.0.1]:1", true, false },
        { "10.0.0.1:65535", true, false },
        { "localhost.example.org:1", true, false },
        { "queue-1.internal:7711", true, false },
        { "", false, false },
        { ":7711", false, false },
        { "7711", false, false },
        { "127.0.0.1", false, false },
        { "127.0.0.1:", false, false },
        { "127.0.0.1:65536", false, false },
        { "127.0.0.1:-1", false, false },
        { "127.0.0.1:07711", false, false },
        { "127.0.0.1.1:7711", false, false },
        { "256.0.0.1:7711", false, false },
        { "::1:7711", false, false },
        { "[::1]", false, false },
        { "[::1:7711", false, false },
        { "[]:7711", false, false },
        { "[::g]:7711", false, false },
        { "a b:7711", false, false },
        { "unix:", false, false },
        { "unix:here", false, false },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].text); i++) {
        struct address address;
        struct error error = { 0 };
        bool valid = address_parse(slice_from_cstr(cases[i].text), &address, &error) == STATUS_OK;
        if (valid != cases[i].valid || (valid && address_is_local(&address) != cases[i].local)) {
            fail_msg("'%s' is judged wrongly", cases[i].text);
        }
        assert_true(valid || error.detail[0]);
    }
}

static void test_address__a_path_that_is_too_long_is_refused(void **state)
{
    (void)state;
    char text[200] = "unix:/";
    struct address address;
    memset(text + 6, 'a', ADDRESS_PATH_SIZE - 2);
    assert_int_equal(address_parse(slice_make(text, 5 + ADDRESS_PATH_SIZE - 1), &address, NULL),
                     STATUS_OK);
    assert_int_equal(address_parse(slice_make(text, 5 + ADDRESS_PATH_SIZE), &address, NULL),
                     STATUS_INVALID);
}

static void test_address__resolved_and_written_it_is_the_same(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        { "127.0.0.1:7711", "127.0.0.1:7711" },
        { "[::1]:7711", "[::1]:7711" },
        { "localhost:1", "127.0.0.1:1" },
        { "*:80", "[::]:80" },
        { "unix:/run/sluice.sock", "unix:/run/sluice.sock" },
    };
    for (size_t i = 0; TEST_ROW(i, texts); i++) {
        struct address address;
        struct sockaddr_storage storage;
        socklen_t size;
        struct error error;
        char text[ADDRESS_TEXT_SIZE];
        assert_int_equal(address_parse(slice_from_cstr(texts[i][0]), &address, &error), STATUS_OK);
        assert_int_equal(address_resolve(&address, &storage, &size, &error), STATUS_OK);
        size_t written = address_format(&storage, size, text);
        assert_string_equal(text, texts[i][1]);
        assert_int_equal(written, strlen(text));
    }
}

static void test_address__sockets_without_a_path_have_a_text_too(void **state)
{
    (void)state;
    struct sockaddr_storage storage = { .ss_family = AF_UNIX };
    char text[ADDRESS_TEXT_SIZE];
    size_t start = offsetof(struct sockaddr_un, sun_path);
    (void)address_format(&storage, sizeof(sa_family_t), text);
    assert_string_equal(text, "unix:");
    memcpy((char *)&storage + start, "\0hidden", 7);
    (void)address_format(&storage, (socklen_t)(start + 7), text);
    assert_string_equal(text, "unix:@hidden");
    memset((char *)&storage + start, 'p', sizeof(((struct sockaddr_un *)NULL)->sun_path));
    assert_int_equal(address_format(&storage, sizeof(struct sockaddr_un), text), 5 + 108);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_address__what_is_one_and_who_can_reach_it),
        cmocka_unit_test(test_address__a_path_that_is_too_long_is_refused),
        cmocka_unit_test(test_address__resolved_and_written_it_is_the_same),
        cmocka_unit_test(test_address__sockets_without_a_path_have_a_text_too),
    };
    return cmocka_run_group_tests_name("address", tests, NULL, NULL);
}
