// SPDX-License-Identifier: MIT
#include "server/push/rules/address.h"

#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>

struct row {
    const char *text;
    bool is_public;
};

static const struct row rows[] = {
    { "8.8.8.8", true },
    { "1.1.1.1", true },
    { "193.0.0.1", true },
    { "0.0.0.0", false },
    { "0.1.2.3", false },
    { "9.255.255.255", true },
    { "10.0.0.0", false },
    { "10.255.255.255", false },
    { "11.0.0.0", true },
    { "100.63.255.255", true },
    { "100.64.0.0", false },
    { "100.127.255.255", false },
    { "100.128.0.0", true },
    { "127.0.0.1", false },
    { "127.255.255.254", false },
    { "128.0.0.1", true },
    { "169.253.255.255", true },
    { "169.254.169.254", false }, // where clouds keep credentials
    { "172.15.255.255", true },
    { "172.16.0.0", false },
    { "172.31.255.255", false },
    { "172.32.0.0", true },
    { "192.0.0.8", false },
    { "192.0.2.1", false },
    { "192.88.99.1", false },
    { "192.167.255.255", true },
    { "192.168.0.1", false },
    { "198.17.255.255", true },
    { "198.18.0.1", false },
    { "198.19.255.255", false },
    { "198.51.100.7", false },
    { "203.0.113.7", false },
    { "223.255.255.255", true },
    { "224.0.0.1", false },
    { "239.255.255.255", false },
    { "240.0.0.1", false },
    { "255.255.255.255", false },
    { "2001:4860:4860::8888", true },
    { "2606:4700::1111", true },
    { "::", false },
    { "::1", false },
    { "::2", false },
    { "::8.8.8.8", true },
    { "::127.0.0.1", false },
    { "::ffff:8.8.8.8", true },
    { "::ffff:127.0.0.1", false },
    { "::ffff:10.1.2.3", false },
    { "::ffff:169.254.169.254", false },
    { "::ffff:0:192.168.1.1", false },
    { "64:ff9b::8.8.8.8", true },
    { "64:ff9b::10.0.0.1", false },
    { "64:ff9b:1::1", false },
    { "100::1", false },
    { "2001::1", false },
    { "2001:db8::1", false },
    { "2002:808:808::1", true },
    { "2002:7f00:1::1", false },
    { "2002:a00:1::1", false },
    { "3fff::1", false },
    { "5f00::1", false },
    { "fc00::1", false },
    { "fdff:ffff::1", false },
    { "fe00::1", true },
    { "fe80::1", false },
    { "febf::1", false },
    { "fec0::1", false },
    { "ff02::1", false },
    { "", false },
    { "localhost", false },
    { "127.1", false },
};

static void test_push_address__only_public_ones_are_reached(void **state)
{
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].text); i++) {
        if (push_address_text_is_public(rows[i].text) != rows[i].is_public) {
            fail_msg("%s should be %s", rows[i].text, rows[i].is_public ? "public" : "private");
        }
    }
}

static void test_push_address__sockets_addresses_are_judged_as_their_texts_are(void **state)
{
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].text); i++) {
        struct sockaddr_in v4 = { .sin_family = AF_INET };
        struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
        if (inet_pton(AF_INET, rows[i].text, &v4.sin_addr) == 1) {
            assert_int_equal(push_address_is_public((const struct sockaddr *)&v4),
                             rows[i].is_public);
        } else if (inet_pton(AF_INET6, rows[i].text, &v6.sin6_addr) == 1) {
            assert_int_equal(push_address_is_public((const struct sockaddr *)&v6),
                             rows[i].is_public);
        }
    }
}

static void test_push_address__what_is_no_internet_is_not_reached(void **state)
{
    (void)state;
    const struct sockaddr local = { .sa_family = AF_UNIX };
    assert_false(push_address_is_public(&local));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push_address__only_public_ones_are_reached),
        cmocka_unit_test(test_push_address__sockets_addresses_are_judged_as_their_texts_are),
        cmocka_unit_test(test_push_address__what_is_no_internet_is_not_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
