// SPDX-License-Identifier: MIT
#include "wire/resp_request.h"

#include "base/buffer.h"
#include "fault_alloc.h"
#include "random.h"
#include "test.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    WORDS_SHOWN = 8, // in a table
    ROUNDS = 2000,
};

// SLICE, for tables.
#define BYTES(literal)                                                                             \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static const struct resp_limits roomy = {
    .words_max = 1024,
    .word_max = 1 << 20,
    .request_max = 1 << 22,
    .line_max = 1 << 16,
};

struct words {
    const char *words[WORDS_SHOWN]; // up to the first NULL
};

struct good {
    struct slice wire;
    struct words words;
};

// Requests, each of them the whole of its text.
static const struct good goods[] = {
    { BYTES("*1\r\n$4\r\nPING\r\n"), { { "PING" } } },
    { BYTES("*5\r\n$5\r\nQ.PUT\r\n$6\r\nemails\r\n$2\r\n{}\r\n$8\r\nPRIORITY\r\n$1\r\n5\r\n"),
      { { "Q.PUT", "emails", "{}", "PRIORITY", "5" } } },
    { BYTES("*1\r\n$0\r\n\r\n"), { { "" } } },
    { BYTES("*3\r\n$0\r\n\r\n$1\r\na\r\n$0\r\n\r\n"), { { "", "a", "" } } },
    { BYTES("*2\r\n$4\r\n\r\n\r\n\r\n$2\r\n$1\r\n"), { { "\r\n\r\n", "$1" } } },
    { BYTES("*1\r\n$12\r\nabcdefghijkl\r\n"), { { "abcdefghijkl" } } },
    { BYTES("*2\r\n$10\r\n*1\r\n$1\r\nx\r\r\n$1\r\n\n\r\n"), { { "*1\r\n$1\r\nx\r", "\n" } } },
    { BYTES("*0\r\n"), { { NULL } } },
    { BYTES("*-0\r\n"), { { NULL } } },
    { BYTES("*-1\r\n"), { { NULL } } },
    { BYTES("*-99999999999999999999999\r\n"), { { NULL } } },
    // A line of words.
    { BYTES("\n"), { { NULL } } },
    { BYTES("\r\n"), { { NULL } } },
    { BYTES("  \t \r\n"), { { NULL } } },
    { BYTES("PING\r\n"), { { "PING" } } },
    { BYTES("PING\n"), { { "PING" } } },
    { BYTES("  PING  \n"), { { "PING" } } },
    { BYTES("Q.PUT emails {}\r\n"), { { "Q.PUT", "emails", "{}" } } },
    { BYTES("a\tb\vc\fd\re\n"), { { "a", "b", "c", "d", "e" } } },
    { BYTES("$3 *1 :5\n"), { { "$3", "*1", ":5" } } },
    { BYTES(" *1\r\n"), { { "*1" } } },
    { BYTES("\xc3\xa4 \xff\n"), { { "\xc3\xa4", "\xff" } } },
    // Double quotes.
    { BYTES("\"\"\n"), { { "" } } },
    { BYTES("a \"\" b\n"), { { "a", "", "b" } } },
    { BYTES("\"a b\" c\n"), { { "a b", "c" } } },
    { BYTES("\" \"\r\n"), { { " " } } },
    { BYTES("a\"b c\"\n"), { { "ab c" } } },
    { BYTES("\"it's\"\n"), { { "it's" } } },
    { BYTES("\"\\n\\r\\t\\b\\a\"\n"), { { "\n\r\t\b\a" } } },
    { BYTES("\"\\\\\" \"\\\"\"\n"), { { "\\", "\"" } } },
    { BYTES("\"\\x41\\x7a\\xFf\\xfF\"\n"), { { "Az\xff\xff" } } },
    { BYTES("\"\\x4\" \"\\xg1\" \"\\x\" \"\\x1g\"\n"), { { "x4", "xg1", "x", "x1g" } } },
    { BYTES("\"\\q\\'\\ \"\n"), { { "q' " } } },
    { BYTES("\"\\x0a\"\r\n"), { { "\n" } } },
    // Single quotes.
    { BYTES("''\n"), { { "" } } },
    { BYTES("'a b' 'c'\n"), { { "a b", "c" } } },
    { BYTES("a'b c'\n"), { { "ab c" } } },
    { BYTES("'it\\'s'\n"), { { "it's" } } },
    { BYTES("'\\n\\x41\\\\ '\n"), { { "\\n\\x41\\\\ " } } },
    { BYTES("'\"'\n"), { { "\"" } } },
    // A backslash outside of quotes is one.
    { BYTES("\\n a\\ b\n"), { { "\\n", "a\\", "b" } } },
};

struct bad {
    struct slice wire;
    const char *sentence;
};

#define UNBALANCED                                                                                 \
    "an inline request has unbalanced quotes; JSON is written in single ones: "                    \
    "'{\"to\":\"ann\"}'"

static const struct bad bads[] = {
    { BYTES("*\r\n"), "the number of words in a request is not a whole number" },
    { BYTES("*a\r\n"), "the number of words in a request is not a whole number" },
    { BYTES("*+1\r\n"), "the number of words in a request is not a whole number" },
    { BYTES("*-\r\n"), "the number of words in a request is not a whole number" },
    { BYTES("*--1\r\n"), "the number of words in a request is not a whole number" },
    { BYTES("* 1\r\n"), "the number of words in a request is not a whole number" },
    { BYTES("*1 \r\n"), "the number of words in a request is not a whole number" },
    { BYTES("*01\r\n"), "the number of words in a request is not a whole number" },
    { BYTES("*00\r\n"), "the number of words in a request is not a whole number" },
    { BYTES("*1.0\r\n"), "the number of words in a request is not a whole number" },
    { BYTES("*1e3\r\n"), "the number of words in a request is not a whole number" },
    { BYTES("*1\r\r\n"), "the number of words in a request is not a whole number" },
    { BYTES("*1\0\r\n"), "the number of words in a request is not a whole number" },
    { BYTES("*\xff\r\n"), "the number of words in a request is not a whole number" },
    { BYTES("*/\r\n"), "the number of words in a request is not a whole number" },
    { BYTES("*:\r\n"), "the number of words in a request is not a whole number" },
    { BYTES("*1\n"), "the number of words in a request does not end with \\r\\n" },
    { BYTES("*\n"), "the number of words in a request does not end with \\r\\n" },
    { BYTES("*1234567890123456789012345678901"),
      "the number of words in a request has a line of more than 32 bytes" },
    { BYTES("*                              \r\n"),
      "the number of words in a request has a line of more than 32 bytes" },
    { BYTES("*18446744073709551617\r\n"),
      "a request of 18446744073709551617 words; at most 1024 are allowed" },
    { BYTES("*1\r\n$\r\n"), "the length of word 1 of a request is not a whole number" },
    { BYTES("*1\r\n$x\r\n"), "the length of word 1 of a request is not a whole number" },
    { BYTES("*1\r\n$+1\r\na\r\n"), "the length of word 1 of a request is not a whole number" },
    { BYTES("*1\r\n$01\r\na\r\n"), "the length of word 1 of a request is not a whole number" },
    { BYTES("*1\r\n$-1\r\n"), "the length of word 1 of a request is negative" },
    { BYTES("*1\r\n$-0\r\n\r\n"), "the length of word 1 of a request is negative" },
    { BYTES("*1\r\n$-99999999999999999999\r\n"), "the length of word 1 of a request is negative" },
    { BYTES("*2\r\n$1\r\na\r\n$1\nb\r\n"),
      "the length of word 2 of a request does not end with \\r\\n" },
    { BYTES("*2\r\n$1\r\na\r\n$1234567890123456789012345678901"),
      "the length of word 2 of a request has a line of more than 32 bytes" },
    { BYTES("*1\r\n$99999999999999999999\r\n"),
      "a word of 99999999999999999999 bytes; at most 1048576 are allowed" },
    { BYTES("*1\r\n:1\r\n"), "word 1 of a request does not begin with '$'" },
    { BYTES("*1\r\n*1\r\n"), "word 1 of a request does not begin with '$'" },
    { BYTES("*2\r\n$1\r\na\r\nb"), "word 2 of a request does not begin with '$'" },
    { BYTES("*2\r\n$1\r\na\r\n\r\n"), "word 2 of a request does not begin with '$'" },
    { BYTES("*1\r\n$1\r\nab\r\n"),
      "word 1 of a request does not end with \\r\\n after its 1 bytes" },
    { BYTES("*1\r\n$1\r\na\n\n"),
      "word 1 of a request does not end with \\r\\n after its 1 bytes" },
    { BYTES("*1\r\n$1\r\na\r\r"),
      "word 1 of a request does not end with \\r\\n after its 1 bytes" },
    { BYTES("*2\r\n$1\r\na\r\n$3\r\n\r\n$12"),
      "word 2 of a request does not end with \\r\\n after its 3 bytes" },
    { BYTES("\"\n"), UNBALANCED },
    { BYTES("\"a\r\n"), UNBALANCED },
    { BYTES("a \"b\n"), UNBALANCED },
    { BYTES("\"a\\\"\n"), UNBALANCED },
    { BYTES("\"a\\\n"), UNBALANCED },
    { BYTES("\"\\x4\n"), UNBALANCED },
    { BYTES("\"a\"b\n"), UNBALANCED },
    { BYTES("\"a\"\"b\"\n"), UNBALANCED },
    { BYTES("'\n"), UNBALANCED },
    { BYTES("'a\n"), UNBALANCED },
    { BYTES("'a\\'\n"), UNBALANCED },
    { BYTES("'a'b\n"), UNBALANCED },
    { BYTES("it's\n"), UNBALANCED },
};

// Input that lies elsewhere with every call, in a block of exactly its size, so that a sanitizer
// sees what is read beyond it or where it was.
struct input {
    char *data;
    size_t size;
};

static struct slice move_input(struct input *input, struct slice bytes)
{
    free(input->data);
    input->size = bytes.size;
    input->data = malloc(bytes.size ? bytes.size : 1);
    assert_non_null(input->data);
    if (bytes.size) {
        memcpy(input->data, bytes.data, bytes.size);
    }
    return slice_make(input->data, bytes.size);
}

// One piece of input up to each cut, until there is an outcome.
static enum resp_result feed(struct resp_request *request, struct input *input, struct slice wire,
                             const size_t *cuts, size_t count, struct error *error)
{
    enum resp_result result = RESP_MORE;
    for (size_t i = 0; i < count && result == RESP_MORE; i++) {
        struct slice piece = move_input(input, slice_sub(wire, 0, cuts[i]));
        result = resp_request_read(request, piece, error);
        if (result == RESP_MORE) {
            assert_true(resp_request_needs(request) > piece.size);
        }
    }
    return result;
}

static enum resp_result feed_at_once(struct resp_request *request, struct input *input,
                                     struct slice wire, struct error *error)
{
    return feed(request, input, wire, &wire.size, 1, error);
}

static enum resp_result feed_bytes(struct resp_request *request, struct input *input,
                                   struct slice wire, struct error *error)
{
    enum resp_result result = RESP_MORE;
    for (size_t size = 0; size <= wire.size && result == RESP_MORE; size++) {
        result = feed(request, input, wire, &size, 1, error);
    }
    return result;
}

static void assert_words(const struct resp_request *request, const struct words *wanted)
{
    size_t count = 0;
    while (count < WORDS_SHOWN && wanted->words[count]) {
        assert_true(count < request->count);
        assert_slice_equal(request->words[count], wanted->words[count]);
        count++;
    }
    assert_int_equal(request->count, count);
}

static void assert_broken(enum resp_result result, const struct error *error, enum status status,
                          const char *sentence)
{
    assert_int_equal(result, RESP_BROKEN);
    assert_string_equal(error_sentence(error), sentence);
    assert_int_equal(error->status, status);
}

static void test_resp_request__is_read_at_once_and_what_follows_is_left_alone(void **state)
{
    (void)state;
    struct buffer wire;
    buffer_init(&wire, &allocator_system, 1000);
    for (size_t i = 0; TEST_ROW(i, goods); i++) {
        static const char *const tails[] = { "", "\r\n", "*", "*1\r\n$4\r\nPING\r\n", "x y\n" };
        for (size_t j = 0; TEST_ROW_NAMED(j, tails, tails[j]); j++) {
            buffer_clear(&wire);
            buffer_append(&wire, goods[i].wire);
            buffer_append(&wire, slice_from_cstr(tails[j]));
            struct resp_request request;
            struct input input = { 0 };
            struct error error;
            resp_request_init(&request, &allocator_system, &roomy);
            assert_int_equal(feed_at_once(&request, &input, buffer_slice(&wire), &error),
                             RESP_READY);
            assert_int_equal(request.size, goods[i].wire.size);
            assert_words(&request, &goods[i].words);
            resp_request_release(&request);
            free(input.data);
        }
    }
    buffer_release(&wire);
}

static void test_resp_request__is_read_byte_by_byte_while_the_input_moves(void **state)
{
    (void)state;
    struct resp_request request;
    struct input input = { 0 };
    struct error error;
    resp_request_init(&request, &allocator_system, &roomy);
    for (size_t i = 0; TEST_ROW(i, goods); i++) {
        struct slice wire = goods[i].wire;
        assert_int_equal(feed_bytes(&request, &input, wire, &error), RESP_READY);
        assert_int_equal(input.size, wire.size);
        assert_int_equal(request.size, wire.size);
        assert_words(&request, &goods[i].words);
    }
    resp_request_release(&request);
    free(input.data);
}

static void test_resp_request__is_read_in_two_pieces_wherever_it_is_cut(void **state)
{
    (void)state;
    struct resp_request request;
    struct input input = { 0 };
    struct error error;
    resp_request_init(&request, &allocator_system, &roomy);
    for (size_t i = 0; TEST_ROW(i, goods); i++) {
        struct slice wire = goods[i].wire;
        for (size_t cut = 0; cut < wire.size; cut++) {
            size_t cuts[] = { cut, wire.size };
            assert_int_equal(feed(&request, &input, wire, cuts, 1, &error), RESP_MORE);
            assert_int_equal(feed(&request, &input, wire, cuts + 1, 1, &error), RESP_READY);
            assert_int_equal(request.size, wire.size);
            assert_words(&request, &goods[i].words);
        }
    }
    resp_request_release(&request);
    free(input.data);
}

static void test_resp_request__what_is_malformed_is_broken_however_it_comes(void **state)
{
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, bads, bads[i].sentence); i++) {
        struct slice wire = bads[i].wire;
        enum status status =
            strstr(bads[i].sentence, "allowed") ? STATUS_TOO_LARGE : STATUS_INVALID;
        for (size_t cut = 0; cut <= wire.size + 1; cut++) {
            struct resp_request request;
            struct input input = { 0 };
            struct error error = { 0 };
            resp_request_init(&request, &allocator_system, &roomy);
            size_t cuts[] = { cut, wire.size };
            enum resp_result result = cut > wire.size
                                          ? feed_bytes(&request, &input, wire, &error)
                                          : feed(&request, &input, wire, cuts, 2, &error);
            assert_broken(result, &error, status, bads[i].sentence);
            // To ask again gives the same answer.
            error = (struct error){ 0 };
            result = feed_at_once(&request, &input, wire, &error);
            assert_broken(result, &error, status, bads[i].sentence);
            resp_request_release(&request);
            free(input.data);
        }
    }
}

static void test_resp_request__the_sentence_may_go_nowhere(void **state)
{
    (void)state;
    for (size_t i = 0; TEST_ROW_NAMED(i, bads, bads[i].sentence); i++) {
        struct resp_request request;
        resp_request_init(&request, &allocator_system, &roomy);
        assert_int_equal(resp_request_read(&request, bads[i].wire, NULL), RESP_BROKEN);
        resp_request_release(&request);
    }
}

static void test_resp_request__words_may_hold_any_byte(void **state)
{
    (void)state;
    char wire[7 + 6 + 256 + 2] = "*1\r\n$256\r\n";
    size_t head = strlen(wire);
    for (size_t i = 0; i < 256; i++) {
        wire[head + i] = (char)i;
    }
    wire[head + 256] = '\r';
    wire[head + 257] = '\n';
    struct slice all = slice_make(wire, head + 258);
    struct resp_request request;
    struct input input = { 0 };
    struct error error;
    resp_request_init(&request, &allocator_system, &roomy);
    assert_int_equal(feed_bytes(&request, &input, all, &error), RESP_READY);
    assert_int_equal(request.count, 1);
    assert_int_equal(request.words[0].size, 256);
    assert_memory_equal(request.words[0].data, wire + head, 256);

    // Inline, all but white space, quotes and the line's end; a zero byte too.
    struct slice line = SLICE("a\0b \"\0\\x00\"\n");
    assert_int_equal(feed_bytes(&request, &input, line, &error), RESP_READY);
    assert_int_equal(request.count, 2);
    assert_int_equal(request.words[0].size, 3);
    assert_memory_equal(request.words[0].data, "a\0b", 3);
    assert_int_equal(request.words[1].size, 2);
    assert_memory_equal(request.words[1].data, "\0\0", 2);
    resp_request_release(&request);
    free(input.data);
}

static void test_resp_request__words_of_an_array_are_not_copied(void **state)
{
    (void)state;
    struct slice wire = SLICE("*2\r\n$3\r\nabc\r\n$1\r\nd\r\n");
    struct resp_request request;
    resp_request_init(&request, &allocator_system, &roomy);
    assert_int_equal(resp_request_read(&request, wire, NULL), RESP_READY);
    assert_ptr_equal(request.words[0].data, wire.data + 8);
    assert_ptr_equal(request.words[1].data, wire.data + 17);
    resp_request_release(&request);
}

// All requests of the table behind each other, a random number of times.
static void make_pipeline(struct random *random, struct buffer *wire, size_t *indices, size_t count)
{
    buffer_clear(wire);
    for (size_t i = 0; i < count; i++) {
        indices[i] = (size_t)random_below(random, sizeof(goods) / sizeof(goods[0]));
        buffer_append(wire, goods[indices[i]].wire);
    }
    assert_int_equal(wire->status, STATUS_OK);
}

static void test_resp_request__pipelines_are_read_in_order_however_they_come(void **state)
{
    (void)state;
    enum {
        REQUESTS = 20
    };
    struct random random;
    random_init(&random);
    struct buffer wire;
    buffer_init(&wire, &allocator_system, 1 << 16);
    struct resp_request request;
    struct input input = { 0 };
    struct error error;
    resp_request_init(&request, &allocator_system, &roomy);
    for (size_t round = 0; round < ROUNDS; round++) {
        size_t indices[REQUESTS];
        make_pipeline(&random, &wire, indices, REQUESTS);
        struct slice all = buffer_slice(&wire);
        size_t piece_max = 1 + (size_t)random_below(&random, 100);
        size_t dropped = 0;
        size_t come = 0;
        size_t done = 0;
        while (done < REQUESTS) {
            struct slice piece = slice_sub(all, dropped, come - dropped);
            switch (resp_request_read(&request, move_input(&input, piece), &error)) {
            case RESP_READY:
                assert_words(&request, &goods[indices[done]].words);
                dropped += request.size;
                done++;
                break;
            case RESP_MORE:
                assert_true(come < all.size);
                assert_true(dropped + resp_request_needs(&request) <= all.size);
                come += 1 + (size_t)random_below(&random, piece_max);
                come = come < all.size ? come : all.size;
                break;
            case RESP_BROKEN:
                fail_msg("%s", error_sentence(&error));
            }
        }
        assert_int_equal(dropped, all.size);
    }
    resp_request_release(&request);
    buffer_release(&wire);
    free(input.data);
}

static void test_resp_request__limits_are_refused_when_declared(void **state)
{
    (void)state;
    static const struct resp_limits tight = {
        .words_max = 3,
        .word_max = 12,
        .request_max = 40,
        .line_max = 32,
    };
    static const struct {
        struct slice wire;
        const char *sentence; // NULL when it is within the limits
    } cases[] = {
        { BYTES("*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"), NULL },
        { BYTES("*4\r\n"), "a request of 4 words; at most 3 are allowed" },
        { BYTES("*1000000\r\n"), "a request of 1000000 words; at most 3 are allowed" },
        { BYTES("*999999999\r\n"), "a request of 999999999 words; at most 3 are allowed" },
        { BYTES("*9999999999\r\n"), "a request of 9999999999 words; at most 3 are allowed" },
        { BYTES("*9223372036854775807\r\n"),
          "a request of 9223372036854775807 words; at most 3 are allowed" },
        { BYTES("*9223372036854775808\r\n"),
          "a request of 9223372036854775808 words; at most 3 are allowed" },
        { BYTES("*2\r\n$12\r\nabcdefghijkl\r\n$1\r\nb\r\n"), NULL },
        { BYTES("*1\r\n$13\r\n"), "a word of 13 bytes; at most 12 are allowed" },
        { BYTES("*1\r\n$1000000000\r\n"), "a word of 1000000000 bytes; at most 12 are allowed" },
        { BYTES("*1\r\n$9223372036854775807\r\n"),
          "a word of 9223372036854775807 bytes; at most 12 are allowed" },
        { BYTES("*2\r\n$12\r\nabcdefghijkl\r\n$10\r\nabcdefghij\r\n"), NULL },
        { BYTES("*2\r\n$12\r\nabcdefghijkl\r\n$10\r\nabcdefghij\r\n"),
          "a request of at least 40 bytes; at most 39 are allowed" },
        { BYTES("*3\r\n$12\r\nabcdefghijkl\r\n$6\r\n"),
          "a request of at least 41 bytes; at most 40 are allowed" },
        { BYTES("*3\r\n$12\r\nabcdefghijkl\r\n$5\r\nabcde\r\n$0\r\n\r\n"), NULL },
        { BYTES("a b c\n"), NULL },
        { BYTES("a b c   \n"), NULL },
        { BYTES("a b c d\n"), "an inline request of more than 3 words; at most 3 are allowed" },
        { BYTES("abcdefghijkl\n"), NULL },
        { BYTES("abcdefghijklm\n"), "a word of 13 bytes; at most 12 are allowed" },
        { BYTES("'abcdefghijkl'\n"), NULL },
        { BYTES("a                             \r\n"), NULL },
        { BYTES("a                              \r\n"),
          "an inline request of more than 32 bytes; at most 32 are allowed" },
        { BYTES("a                              \n"), NULL },
        { BYTES("a                               "),
          "an inline request of more than 32 bytes; at most 32 are allowed" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].sentence); i++) {
        struct slice wire = cases[i].wire;
        bool one_less = cases[i].sentence && strstr(cases[i].sentence, "most 39");
        struct resp_limits limits = tight;
        limits.request_max -= one_less ? 1 : 0;
        for (size_t cut = 0; cut <= wire.size; cut++) {
            struct fault_alloc fault;
            fault_alloc_init(&fault);
            struct resp_request request;
            struct input input = { 0 };
            struct error error = { 0 };
            resp_request_init(&request, &fault.allocator, &limits);
            size_t cuts[] = { cut, wire.size };
            enum resp_result result = feed(&request, &input, wire, cuts, 2, &error);
            if (cases[i].sentence) {
                assert_broken(result, &error, STATUS_TOO_LARGE, cases[i].sentence);
            } else {
                assert_int_equal(result, RESP_READY);
            }
            resp_request_release(&request);
            fault_alloc_release(&fault);
            free(input.data);
        }
    }
}

static void test_resp_request__what_is_only_declared_takes_no_memory(void **state)
{
    (void)state;
    static const struct resp_limits none = { SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX };
    static const struct {
        const char *wire;
        enum resp_result result;
    } cases[] = {
        { "*999999999999999999\r\n", RESP_MORE },
        { "*999999999999999999\r\n$999999999999999999\r\n", RESP_MORE },
        { "*1\r\n$999999999999999999\r\nabc", RESP_MORE },
        { "*1000000000000000000\r\n", RESP_BROKEN },
        { "*1\r\n$1000000000000000000\r\n", RESP_BROKEN },
        { "*1\r\n$18446744073709551615\r\n\r\n", RESP_BROKEN },
        { "*1\r\n$18446744073709551614\r\n\r\n", RESP_BROKEN },
        { "no end", RESP_MORE },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].wire); i++) {
        struct fault_alloc fault;
        fault_alloc_init(&fault);
        struct resp_request request;
        struct error error;
        resp_request_init(&request, &fault.allocator, &none);
        struct slice wire = slice_from_cstr(cases[i].wire);
        assert_int_equal(resp_request_read(&request, wire, &error), cases[i].result);
        assert_int_equal(fault.calls, 0);
        assert_true(cases[i].result == RESP_BROKEN || resp_request_needs(&request) > wire.size);
        resp_request_release(&request);
        fault_alloc_release(&fault);
    }
}

static void test_resp_request__limits_may_change_between_requests(void **state)
{
    (void)state;
    struct resp_limits limits = { .words_max = 1, .word_max = 9, .request_max = 99, .line_max = 9 };
    struct resp_request request;
    struct error error;
    resp_request_init(&request, &allocator_system, &limits);
    assert_int_equal(resp_request_read(&request, SLICE("PING\r\n"), &error), RESP_READY);
    limits.words_max = 2;
    assert_int_equal(resp_request_read(&request, SLICE("PING 1\r\n"), &error), RESP_READY);
    limits.line_max = 0;
    assert_int_equal(resp_request_read(&request, SLICE("PING\r\n"), &error), RESP_BROKEN);
    resp_request_release(&request);
}

static void test_resp_request__says_how_many_bytes_it_needs(void **state)
{
    (void)state;
    static const struct {
        const char *wire;
        size_t needs;
    } cases[] = {
        { "", 1 },
        { "P", 2 },
        { "PIN", 4 },
        { "*", 2 },
        { "*3\r", 4 },
        { "*3\r\n", 4 + 3 * 6 },
        { "*3\r\n$", 4 + 3 * 6 },
        { "*3\r\n$1000\r\n", 4 + 7 + 1000 + 2 + 2 * 6 },
        { "*3\r\n$1000\r\nabc", 4 + 7 + 1000 + 2 + 2 * 6 },
        { "*1\r\n$10000000", 4 + 9 + 1 },
        { "*2\r\n$1\r\na\r\n", 4 + 7 + 6 },
        { "*2\r\n$1\r\na\r\n$1\r\nb", 4 + 7 + 7 },
        { "*2\r\n$1\r\na\r\n$1\r\nb\r", 4 + 7 + 7 },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].wire); i++) {
        struct resp_request request;
        resp_request_init(&request, &allocator_system, &roomy);
        struct slice wire = slice_from_cstr(cases[i].wire);
        assert_int_equal(resp_request_read(&request, wire, NULL), RESP_MORE);
        assert_int_equal(resp_request_needs(&request), cases[i].needs);
        resp_request_release(&request);
    }
    struct resp_request request;
    resp_request_init(&request, &allocator_system, &roomy);
    assert_int_equal(resp_request_needs(&request), 1);
    assert_int_equal(resp_request_read(&request, SLICE("PING\r\n"), NULL), RESP_READY);
    assert_int_equal(resp_request_needs(&request), 1);
    resp_request_release(&request);
}

// An array of as many empty words.
static void make_empty_words(struct buffer *wire, size_t count)
{
    buffer_clear(wire);
    buffer_printf(wire, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++) {
        buffer_append(wire, SLICE("$0\r\n\r\n"));
    }
    assert_int_equal(wire->status, STATUS_OK);
}

static void test_resp_request__a_warm_decoder_allocates_nothing(void **state)
{
    (void)state;
    struct buffer wire;
    buffer_init(&wire, &allocator_system, 1 << 16);
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    struct resp_request request;
    resp_request_init(&request, &fault.allocator, &roomy);
    make_empty_words(&wire, 1024);
    struct slice line = SLICE("Q.PUT 'e mails' {}\r\n");
    assert_int_equal(resp_request_read(&request, buffer_slice(&wire), NULL), RESP_READY);
    assert_int_equal(request.count, 1024);
    assert_int_equal(resp_request_read(&request, line, NULL), RESP_READY);
    size_t calls = fault.calls;
    for (size_t count = 0; count <= 1024; count++) {
        make_empty_words(&wire, count);
        assert_int_equal(resp_request_read(&request, buffer_slice(&wire), NULL), RESP_READY);
        assert_int_equal(request.count, count);
        assert_int_equal(resp_request_read(&request, line, NULL), RESP_READY);
    }
    assert_int_equal(fault.calls, calls);
    resp_request_release(&request);
    fault_alloc_release(&fault);
    buffer_release(&wire);
}

static void test_resp_request__room_that_grew_large_is_given_back_after_use(void **state)
{
    (void)state;
    struct resp_limits limits = roomy;
    limits.words_max = 10000;
    struct buffer wire;
    buffer_init(&wire, &allocator_system, 1 << 20);
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    struct resp_request request;
    resp_request_init(&request, &fault.allocator, &limits);
    make_empty_words(&wire, 10000);
    assert_int_equal(resp_request_read(&request, buffer_slice(&wire), NULL), RESP_READY);
    assert_int_equal(request.count, 10000);
    assert_true(fault.bytes >= 10000 * sizeof(struct slice));
    assert_int_equal(resp_request_read(&request, SLICE_EMPTY, NULL), RESP_MORE);
    assert_int_equal(fault.bytes, 0);

    buffer_clear(&wire);
    for (size_t i = 0; i < 30000; i++) {
        buffer_append_char(&wire, 'a');
    }
    buffer_append_char(&wire, '\n');
    assert_int_equal(resp_request_read(&request, buffer_slice(&wire), NULL), RESP_READY);
    assert_true(fault.bytes >= 30000);
    assert_int_equal(resp_request_read(&request, SLICE_EMPTY, NULL), RESP_MORE);
    assert_true(fault.bytes < 4096);
    resp_request_release(&request);
    fault_alloc_release(&fault);
    buffer_release(&wire);
}

static void test_resp_request__after_release_it_begins_anew(void **state)
{
    (void)state;
    struct resp_request request;
    resp_request_init(&request, &allocator_system, &roomy);
    assert_int_equal(resp_request_read(&request, SLICE("*2\r\n$1\r\na\r\n$5"), NULL), RESP_MORE);
    resp_request_release(&request);
    assert_int_equal(resp_request_read(&request, SLICE("*1\r\n$1\r\nb\r\n"), NULL), RESP_READY);
    assert_words(&request, &(struct words){ { "b" } });
    resp_request_release(&request);
    resp_request_release(&request);
}

static enum status read_all(struct resp_request *request, struct slice wire, size_t count)
{
    struct error error = { 0 };
    if (resp_request_read(request, wire, &error) != RESP_READY) {
        return error.status;
    }
    assert_int_equal(request->count, count);
    return STATUS_OK;
}

// Warms a decoder up from nothing, with every allocation it has.
static enum status script(struct resp_request *request, struct slice array)
{
    static const struct slice line = BYTES("a b c d e f g h i j k l m n o p q r s t\r\n");
    static const struct slice longer =
        BYTES("0123456789 0123456789 0123456789 0123456789 0123456789 0123456789\n");
    enum status status = read_all(request, line, 20);
    status = status ? status : read_all(request, array, 100);
    status = status ? status : read_all(request, longer, 6);
    return status;
}

static void test_resp_request__every_failing_allocation_is_told_and_may_be_tried_again(void **state)
{
    (void)state;
    struct buffer wire;
    buffer_init(&wire, &allocator_system, 1000);
    make_empty_words(&wire, 100);
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct resp_request request;
        resp_request_init(&request, &fault.allocator, &roomy);
        enum status status = script(&request, buffer_slice(&wire));
        FAULT_ALLOC_EXPECT(&fault, status);
        resp_request_release(&request);
    }

    // The same input once more, when there is memory again.
    fault_alloc_init(&fault);
    struct resp_request request;
    resp_request_init(&request, &fault.allocator, &roomy);
    struct input input = { 0 };
    struct error error = { 0 };
    for (size_t calls = 0; calls < 4; calls++) {
        fault.fail_at = fault.calls + 1;
        enum resp_result result = feed_at_once(&request, &input, buffer_slice(&wire), &error);
        assert_broken(result, &error, STATUS_NO_MEMORY,
                      "there is no memory for the words of a request");
        fault.fail_at += 2;
    }
    fault.fail_at = 0;
    assert_int_equal(feed_at_once(&request, &input, buffer_slice(&wire), &error), RESP_READY);
    assert_int_equal(request.count, 100);
    for (size_t i = 0; i < 100; i++) {
        assert_ptr_equal(request.words[i].data, input.data + 6 + i * 6 + 4);
    }
    resp_request_release(&request);
    fault_alloc_release(&fault);
    buffer_release(&wire);
    free(input.data);
}

// What comes by no wire is measured as if it did: the parser and this must agree at the limits.
static void test_resp_limits__words_are_measured_as_on_the_wire(void **state)
{
    (void)state;
    static const struct slice words[] = { BYTES("abcdefghijkl"), BYTES(""), BYTES("abcdefghij") };
    static const struct {
        struct resp_limits limits;
        const char *sentence;
    } cases[] = {
        { { .words_max = 3, .word_max = 12, .request_max = 46 }, NULL },
        { { .words_max = 3, .word_max = 12, .request_max = 45 },
          "a request of at least 46 bytes; at most 45 are allowed" },
        { { .words_max = 3, .word_max = 11, .request_max = 46 },
          "a word of 12 bytes; at most 11 are allowed" },
        { { .words_max = 2, .word_max = 12, .request_max = 46 },
          "a request of 3 words; at most 2 are allowed" },
    };
    static const struct slice wire =
        BYTES("*3\r\n$12\r\nabcdefghijkl\r\n$0\r\n\r\n$10\r\nabcdefghij\r\n");
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].sentence); i++) {
        struct error error = { 0 };
        enum status status = resp_limits_check(&cases[i].limits, words, 3, &error);
        struct resp_request request;
        resp_request_init(&request, &allocator_system, &cases[i].limits);
        enum resp_result result = resp_request_read(&request, wire, &(struct error){ 0 });
        resp_request_release(&request);
        assert_int_equal(status, cases[i].sentence ? STATUS_TOO_LARGE : STATUS_OK);
        assert_int_equal(result, cases[i].sentence ? RESP_BROKEN : RESP_READY);
        assert_true(!cases[i].sentence || strcmp(error.detail, cases[i].sentence) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resp_request__is_read_at_once_and_what_follows_is_left_alone),
        cmocka_unit_test(test_resp_request__is_read_byte_by_byte_while_the_input_moves),
        cmocka_unit_test(test_resp_request__is_read_in_two_pieces_wherever_it_is_cut),
        cmocka_unit_test(test_resp_request__what_is_malformed_is_broken_however_it_comes),
        cmocka_unit_test(test_resp_request__the_sentence_may_go_nowhere),
        cmocka_unit_test(test_resp_request__words_may_hold_any_byte),
        cmocka_unit_test(test_resp_request__words_of_an_array_are_not_copied),
        cmocka_unit_test(test_resp_request__pipelines_are_read_in_order_however_they_come),
        cmocka_unit_test(test_resp_request__limits_are_refused_when_declared),
        cmocka_unit_test(test_resp_limits__words_are_measured_as_on_the_wire),
        cmocka_unit_test(test_resp_request__what_is_only_declared_takes_no_memory),
        cmocka_unit_test(test_resp_request__limits_may_change_between_requests),
        cmocka_unit_test(test_resp_request__says_how_many_bytes_it_needs),
        cmocka_unit_test(test_resp_request__a_warm_decoder_allocates_nothing),
        cmocka_unit_test(test_resp_request__room_that_grew_large_is_given_back_after_use),
        cmocka_unit_test(test_resp_request__after_release_it_begins_anew),
        cmocka_unit_test(
            test_resp_request__every_failing_allocation_is_told_and_may_be_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
