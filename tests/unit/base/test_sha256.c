// SPDX-License-Identifier: MIT
#include "base/sha256.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

enum {
    MESSAGE_SIZE = 4 * SHA256_BLOCK_SIZE,
};

// The bytes 0, 1, 2 ...
static struct slice message(size_t size)
{
    static uint8_t bytes[MESSAGE_SIZE];
    for (size_t i = 0; i < MESSAGE_SIZE; i++) {
        bytes[i] = (uint8_t)i;
    }
    return slice_make(bytes, size);
}

static void digest(struct slice bytes, uint8_t out[SHA256_SIZE])
{
    struct sha256 sha256;
    sha256_init(&sha256);
    sha256_add(&sha256, bytes);
    sha256_end(&sha256, out);
}

static void assert_digest(const uint8_t bytes[SHA256_SIZE], const char *wanted)
{
    char text[2 * SHA256_SIZE + 1];
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    }
    assert_string_equal(text, wanted);
}

static void test_sha256__matches_the_vectors_of_the_standard(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *digest;
    } vectors[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
        { "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
          "lmnopqrsmnopqrstnopqrstu",
          "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, vectors, vectors[i].text); i++) {
        uint8_t out[SHA256_SIZE];
        digest(slice_from_cstr(vectors[i].text), out);
        assert_digest(out, vectors[i].digest);
    }
}

static void test_sha256__matches_the_standard_on_a_million_bytes(void **state)
{
    (void)state;
    char letters[1000];
    memset(letters, 'a', sizeof(letters));
    struct sha256 sha256;
    sha256_init(&sha256);
    for (int i = 0; i < 1000; i++) {
        sha256_add(&sha256, slice_make(letters, sizeof(letters)));
    }
    uint8_t out[SHA256_SIZE];
    sha256_end(&sha256, out);
    assert_digest(out, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_sha256__every_size_is_padded_right(void **state)
{
    (void)state;
    // The digest of all the digests, one after the other, was made by another implementation.
    struct sha256 all;
    sha256_init(&all);
    uint8_t out[SHA256_SIZE];
    for (size_t size = 0; size <= MESSAGE_SIZE; size++) {
        digest(message(size), out);
        sha256_add(&all, slice_make(out, sizeof(out)));
    }
    sha256_end(&all, out);
    assert_digest(out, "35970715cb0d62a006d72921e886dd4ea67151affe64b55164397fe5bb5c1730");
}

static void test_sha256__the_size_in_the_padding_has_64_bits(void **state)
{
    (void)state;
    // As if 2^60 + 2^40 bytes had come before. Their padding, as a block, must do the same.
    struct sha256 ended;
    sha256_init(&ended);
    ended.size = (UINT64_C(1) << 60) + (UINT64_C(1) << 40);
    uint8_t out[SHA256_SIZE];
    sha256_end(&ended, out);

    const uint8_t padding[SHA256_BLOCK_SIZE] = { [0] = 0x80, [56] = 0x80, [58] = 0x08 };
    struct sha256 added;
    sha256_init(&added);
    sha256_add(&added, slice_make(padding, sizeof(padding)));
    assert_memory_equal(ended.state, added.state, sizeof(ended.state));
}

static void test_sha256__no_bytes_change_nothing(void **state)
{
    (void)state;
    struct sha256 sha256;
    sha256_init(&sha256);
    sha256_add(&sha256, SLICE_EMPTY);
    sha256_add(&sha256, SLICE("ab"));
    sha256_add(&sha256, SLICE_EMPTY);
    sha256_add(&sha256, SLICE(""));
    sha256_add(&sha256, SLICE("c"));
    uint8_t out[SHA256_SIZE];
    sha256_end(&sha256, out);
    assert_digest(out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void test_sha256__is_the_same_however_the_bytes_are_cut(void **state)
{
    (void)state;
    struct slice whole = message(MESSAGE_SIZE - 5);
    uint8_t wanted[SHA256_SIZE];
    digest(whole, wanted);
    // Every way to cut it into three, of which one or two may be empty.
    for (size_t first = 0; first <= whole.size; first++) {
        for (size_t second = first; second <= whole.size; second++) {
            struct sha256 sha256;
            sha256_init(&sha256);
            sha256_add(&sha256, slice_sub(whole, 0, first));
            sha256_add(&sha256, slice_sub(whole, first, second - first));
            sha256_add(&sha256, slice_sub(whole, second, SIZE_MAX));
            uint8_t out[SHA256_SIZE];
            sha256_end(&sha256, out);
            assert_memory_equal(out, wanted, SHA256_SIZE);
        }
    }
    // Pieces of every size.
    for (size_t size = 1; size <= whole.size; size++) {
        struct sha256 sha256;
        sha256_init(&sha256);
        for (size_t start = 0; start < whole.size; start += size) {
            sha256_add(&sha256, slice_sub(whole, start, size));
        }
        uint8_t out[SHA256_SIZE];
        sha256_end(&sha256, out);
        assert_memory_equal(out, wanted, SHA256_SIZE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256__matches_the_vectors_of_the_standard),
        cmocka_unit_test(test_sha256__matches_the_standard_on_a_million_bytes),
        cmocka_unit_test(test_sha256__every_size_is_padded_right),
        cmocka_unit_test(test_sha256__the_size_in_the_padding_has_64_bits),
        cmocka_unit_test(test_sha256__no_bytes_change_nothing),
        cmocka_unit_test(test_sha256__is_the_same_however_the_bytes_are_cut),
    };
    return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
