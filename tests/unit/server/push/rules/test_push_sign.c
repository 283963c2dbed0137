// SPDX-License-Identifier: MIT
#include "server/push/rules/sign.h"

#include "base/alloc.h"
#include "test.h"

static struct slice slice(const char *text)
{
    return slice_from_cstr(text);
}

// The example of the standard's own libraries.
static void test_push_sign__signs_as_standard_webhooks_does(void **state)
{
    (void)state;
    struct buffer out;
    buffer_init(&out, &allocator_system, 128);
    push_sign(slice("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
              slice("msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{\"test\": 2432232314}"), &out);
    buffer_append_char(&out, '\0');
    assert_string_equal(out.data, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    buffer_release(&out);
}

static void test_push_sign__secrets_are_base64_or_text_of_a_decent_size(void **state)
{
    (void)state;
    char large[PUSH_SECRET_MAX + 1];
    memset(large, 'a', sizeof(large));
    static const struct {
        const char *secret, *words;
    } rows[] = {
        { "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", NULL },
        { "whsec_MDEyMzQ1Njc4OWFiY2RlZg==", NULL },
        { "0123456789abcdef", NULL },
        { "0123456789abcde", "has 15 bytes" },
        { "whsec_MDEyMzQ1Njc4OWFiY2Rl", "has 15 bytes" },
        { "whsec_MDEyMzQ1Njc4OWFiY2RlZg", "base64" },
        { "whsec_%%%%", "base64" },
        { "whsec_", "has 0 bytes" },
    };
    struct error error;
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].secret); i++) {
        enum status status = push_secret_check(slice(rows[i].secret), &error);
        assert_int_equal(status, rows[i].words ? STATUS_INVALID : STATUS_OK);
        if (rows[i].words) {
            assert_non_null(strstr(error_sentence(&error), rows[i].words));
            assert_null(strstr(error_sentence(&error), rows[i].secret));
        }
    }
    assert_int_equal(push_secret_check(slice_make(large, PUSH_SECRET_MAX), &error), STATUS_OK);
    assert_int_equal(push_secret_check(slice_make(large, sizeof(large)), &error), STATUS_INVALID);
}

static void test_push_sign__an_id_has_nothing_that_a_header_cannot_have(void **state)
{
    (void)state;
    struct buffer out;
    buffer_init(&out, &allocator_system, 1024);
    push_append_id(slice("0199-aF_~\"\r\n \x7F%\xC3\xA9"), &out);
    buffer_append_char(&out, '\0');
    assert_string_equal(out.data, "0199-aF_~\"%0D%0A%20%7F%25%C3%A9");
    buffer_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push_sign__signs_as_standard_webhooks_does),
        cmocka_unit_test(test_push_sign__secrets_are_base64_or_text_of_a_decent_size),
        cmocka_unit_test(test_push_sign__an_id_has_nothing_that_a_header_cannot_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
