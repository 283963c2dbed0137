// SPDX-License-Identifier: MIT
#include "wire/resp_item.h"

#include "base/buffer.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

struct good {
    const char *wire;
    enum resp_kind kind;
    const char *text; // NULL: none
    int64_t integer;
    size_t count;
};

// Every type, at its edges.
static const struct good goods[] = {
    { "+OK\r\n", RESP_TEXT, "OK", 0, 0 },
    { "+\r\n", RESP_TEXT, "", 0, 0 },
    { "-ERR no such thing\r\n", RESP_ERROR, "ERR no such thing", 0, 0 },
    { "-\r\n", RESP_ERROR, "", 0, 0 },
    { "!9\r\nERR a\r\nbc\r\n", RESP_ERROR, "ERR a\r\nbc", 0, 0 },
    { ":0\r\n", RESP_INTEGER, NULL, 0, 0 },
    { ":-1\r\n", RESP_INTEGER, NULL, -1, 0 },
    { ":9223372036854775807\r\n", RESP_INTEGER, NULL, INT64_MAX, 0 },
    { ":-9223372036854775808\r\n", RESP_INTEGER, NULL, INT64_MIN, 0 },
    { "$0\r\n\r\n", RESP_TEXT, "", 0, 0 },
    { "$4\r\na\r\nb\r\n", RESP_TEXT, "a\r\nb", 4, 0 },
    { "$-1\r\n", RESP_NULL, NULL, -1, 0 },
    { "=8\r\ntxt:abcd\r\n", RESP_TEXT, "abcd", 8, 0 },
    { "=4\r\ntxt:\r\n", RESP_TEXT, "", 4, 0 },
    { "=2\r\nab\r\n", RESP_TEXT, "ab", 2, 0 },
    { "=4\r\nabcd\r\n", RESP_TEXT, "abcd", 4, 0 },
    { "_\r\n", RESP_NULL, NULL, 0, 0 },
    { ",1.5\r\n", RESP_NUMBER, "1.5", 0, 0 },
    { ",-inf\r\n", RESP_NUMBER, "-inf", 0, 0 },
    { "(12345678901234567890123\r\n", RESP_NUMBER, "12345678901234567890123", 0, 0 },
    { "#t\r\n", RESP_BOOLEAN, NULL, 1, 0 },
    { "#f\r\n", RESP_BOOLEAN, NULL, 0, 0 },
    { "*0\r\n", RESP_LIST, NULL, 0, 0 },
    { "*3\r\n", RESP_LIST, NULL, 3, 3 },
    { "*-1\r\n", RESP_NULL, NULL, -1, 0 },
    { "*268435456\r\n", RESP_LIST, NULL, RESP_ITEM_COUNT_MAX, RESP_ITEM_COUNT_MAX },
    { "~2\r\n", RESP_LIST, NULL, 2, 2 },
    { "%2\r\n", RESP_MAP, NULL, 2, 4 },
    { ">3\r\n", RESP_PUSH, NULL, 3, 3 },
};

// A block of just that size, so that a sanitizer sees what is read behind it.
static char *copy_of(struct slice slice)
{
    char *copy = malloc(slice.size ? slice.size : 1);
    assert_non_null(copy);
    memcpy(copy, slice.data, slice.size);
    return copy;
}

static void test_resp_item__every_type_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, goods, goods[i].wire); i++) {
        const struct good *good = &goods[i];
        struct slice wire = slice_from_cstr(good->wire);
        char *copy = copy_of(wire);
        struct resp_item item;
        size_t size = 0;
        struct error error;
        print_message("# item %zu\n", i);
        assert_int_equal(resp_item_read(slice_make(copy, wire.size), &item, &size, &error),
                         RESP_READY);
        assert_int_equal(size, wire.size);
        assert_int_equal(item.kind, good->kind);
        assert_int_equal(item.count, good->count);
        if (good->kind == RESP_INTEGER || good->kind == RESP_BOOLEAN) {
            assert_int_equal(item.integer, good->integer);
        }
        if (good->text) {
            assert_slice_equal(item.text, good->text);
        }
        free(copy);
    }
}

static void test_resp_item__a_part_of_one_is_more_to_come_and_never_broken(void **state)
{
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, goods, goods[i].wire); i++) {
        struct slice wire = slice_from_cstr(goods[i].wire);
        for (size_t part = 0; part < wire.size; part++) {
            char *copy = copy_of(slice_sub(wire, 0, part));
            struct resp_item item;
            size_t size;
            struct error error;
            print_message("# %zu bytes of item %zu\n", part, i);
            assert_int_equal(resp_item_read(slice_make(copy, part), &item, &size, &error),
                             RESP_MORE);
            free(copy);
        }
    }
}

static void test_resp_item__what_is_no_resp_is_broken_and_said_so(void **state)
{
    (void)state;
    static const struct {
        const char *wire, *sentence;
    } bad[] = {
        { "HTTP/1.1 400 Bad Request\r\n", "an item of no known type" },
        { "\r\n", "an item of no known type" },
        { "OK\r\n", "an item of no known type" },
        { "+OK\n", "a line ends without a carriage return" },
        { "_\n", "a line ends without a carriage return" },
        { ":\r\n", "a number is none" },
        { ":1x\r\n", "a number is none" },
        { ":+1\r\n", "a number is none" },
        { ":01\r\n", "a number is none" },
        { ":9223372036854775808\r\n", "a number is none" },
        { "$x\r\n", "a number is none" },
        { "$-2\r\n", "a text of a size that cannot be" },
        { "$536870913\r\n", "a text of a size that cannot be" },
        { "$9223372036854775807\r\n", "a text of a size that cannot be" },
        { "$2\r\nabc\r\n", "a text does not end where it should" },
        { "$2\r\nabXX", "a text does not end where it should" },
        { "*-2\r\n", "a list of a size that cannot be" },
        { "*268435457\r\n", "a list of a size that cannot be" },
        { "%268435457\r\n", "a list of a size that cannot be" },
        { ">9223372036854775807\r\n", "a list of a size that cannot be" },
        { "#x\r\n", "neither true nor false" },
        { "#\r\n", "neither true nor false" },
        { "#tt\r\n", "neither true nor false" },
        { "_x\r\n", "a null that is something" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, bad, bad[i].wire); i++) {
        struct resp_item item;
        size_t size;
        struct error error;
        print_message("# item %zu\n", i);
        assert_int_equal(resp_item_read(slice_from_cstr(bad[i].wire), &item, &size, &error),
                         RESP_BROKEN);
        assert_int_equal(error.status, STATUS_INVALID);
        assert_non_null(strstr(error_sentence(&error), bad[i].sentence));
    }
}

static void test_resp_item__a_line_that_does_not_end_is_given_up(void **state)
{
    (void)state;
    enum {
        SIZE = 64 << 10,
    };
    static char line[SIZE];
    struct resp_item item;
    size_t size;
    struct error error;
    memset(line, 'x', sizeof(line));
    line[0] = '+';
    assert_int_equal(resp_item_read(slice_make(line, SIZE - 1), &item, &size, &error), RESP_MORE);
    assert_int_equal(resp_item_read(slice_make(line, SIZE), &item, &size, &error), RESP_BROKEN);
    line[SIZE - 2] = '\r';
    line[SIZE - 1] = '\n';
    assert_int_equal(resp_item_read(slice_make(line, SIZE), &item, &size, &error), RESP_READY);
    assert_int_equal(item.text.size, SIZE - 3);
}

// An answer, another one behind it, and how many items the first has.
static const struct {
    const char *answer;
    size_t items;
} answers[] = {
    { "+OK\r\n", 1 },
    { "*0\r\n", 1 },
    { "*-1\r\n", 1 },
    { "*2\r\n:1\r\n$3\r\na\r\n\r\n", 3 },
    { "%1\r\n+key\r\n*2\r\n_\r\n#t\r\n", 5 },
    { "*1\r\n*1\r\n*1\r\n*1\r\n,0\r\n", 5 },
    { ">3\r\n+message\r\n+sluice:app:log\r\n$2\r\n{}\r\n", 4 },
    { "%0\r\n", 1 },
    { "*3\r\n-ERR a\r\n!5\r\nERR b\r\n~1\r\n(1\r\n", 5 },
};

static void test_resp_scan__the_end_is_found_in_bytes_that_come_one_by_one(void **state)
{
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, answers, answers[i].answer); i++) {
        struct slice answer = slice_from_cstr(answers[i].answer);
        struct resp_scan scan;
        struct error error;
        resp_scan_begin(&scan);
        print_message("# answer %zu\n", i);
        for (size_t come = 0; come < answer.size; come++) {
            char *copy = copy_of(slice_sub(answer, 0, come));
            assert_int_equal(resp_scan_read(&scan, slice_make(copy, come), &error), RESP_MORE);
            free(copy);
        }
        assert_int_equal(resp_scan_read(&scan, answer, &error), RESP_READY);
        assert_int_equal(scan.position, answer.size);
        assert_int_equal(scan.items, answers[i].items);
    }
}

static void test_resp_scan__what_follows_an_answer_is_left(void **state)
{
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, answers, answers[i].answer); i++) {
        struct buffer both;
        struct resp_scan scan;
        struct error error;
        buffer_init(&both, &allocator_system, 1000);
        buffer_append(&both, slice_from_cstr(answers[i].answer));
        buffer_append(&both, SLICE("*2\r\nno RESP at all"));
        resp_scan_begin(&scan);
        assert_int_equal(resp_scan_read(&scan, buffer_slice(&both), &error), RESP_READY);
        assert_int_equal(scan.position, strlen(answers[i].answer));
        assert_int_equal(scan.items, answers[i].items);
        buffer_release(&both);
    }
}

static void test_resp_scan__it_cannot_be_told_to_wait_for_more_items_than_can_be(void **state)
{
    (void)state;
    struct resp_scan scan;
    struct error error;
    resp_scan_begin(&scan);
    assert_int_equal(resp_scan_read(&scan, SLICE("*268435456\r\n"), &error), RESP_MORE);
    resp_scan_begin(&scan);
    assert_int_equal(resp_scan_read(&scan, SLICE("*268435456\r\n*2\r\n"), &error), RESP_BROKEN);
    resp_scan_begin(&scan);
    assert_int_equal(resp_scan_read(&scan, SLICE("%268435456\r\n"), &error), RESP_BROKEN);
    resp_scan_begin(&scan);
    assert_int_equal(resp_scan_read(&scan, SLICE("*2\r\n:1\r\nx"), &error), RESP_BROKEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resp_item__every_type_is_read),
        cmocka_unit_test(test_resp_item__a_part_of_one_is_more_to_come_and_never_broken),
        cmocka_unit_test(test_resp_item__what_is_no_resp_is_broken_and_said_so),
        cmocka_unit_test(test_resp_item__a_line_that_does_not_end_is_given_up),
        cmocka_unit_test(test_resp_scan__the_end_is_found_in_bytes_that_come_one_by_one),
        cmocka_unit_test(test_resp_scan__what_follows_an_answer_is_left),
        cmocka_unit_test(test_resp_scan__it_cannot_be_told_to_wait_for_more_items_than_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
