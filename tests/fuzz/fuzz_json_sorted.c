// SPDX-License-Identifier: MIT
// Any bytes as JSON to sort. Of a valid text the sorted form must be valid, mean the same to
// jansson, have its keys in order, and be its own sorted form and that of the text without white
// space.
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_sorted.h"

#include "fuzz.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SIZE_BYTES_MAX = 1 << 26,
};

static void require(int holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_json_sorted: %s\n", sentence);
        abort();
    }
}

static void require_sorted_is(struct slice text, struct slice wanted, const char *sentence)
{
    struct buffer sorted;
    buffer_init(&sorted, &allocator_system, SIZE_BYTES_MAX);
    require(json_sorted(text, &allocator_system, &sorted) == STATUS_OK, sentence);
    require(slice_equal(buffer_slice(&sorted), wanted), sentence);
    buffer_release(&sorted);
}

static json_t *load(struct slice text)
{
    // 1.0 becomes 1, which is the same number and to jansson another type.
    return json_loadb(text.data, text.size,
                      JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
}

// Where jansson can hold the values, they must be the same ones.
static void require_same_meaning(struct slice text, struct slice other)
{
    json_t *tree = load(text);
    json_t *tree_other = load(other);
    require(!tree == !tree_other && (!tree || json_equal(tree, tree_other)),
            "the sorted text means something else");
    json_decref(tree);
    json_decref(tree_other);
}

// `keys` holds the key before and the one that is looked at.
static void require_keys_ascend(struct json_value value, struct buffer keys[2])
{
    bool object = value.type == JSON_TYPE_OBJECT;
    if (!object && value.type != JSON_TYPE_ARRAY) {
        return;
    }
    struct json_reader reader;
    struct json_member member;
    enum status status = object ? json_reader_init_object(&reader, value.raw, NULL)
                                : json_reader_init_array(&reader, value.raw, NULL);
    for (size_t i = 0; object && !status && json_reader_next(&reader, &member); i++) {
        buffer_clear(&keys[i % 2]);
        require(json_unescape(member.key, &keys[i % 2]) == STATUS_OK, "a key was not unescaped");
        require(i == 0 || slice_compare(buffer_slice(&keys[(i + 1) % 2]),
                                        buffer_slice(&keys[i % 2])) <= 0,
                "a key stands behind a greater one");
    }
    status = object ? json_reader_init_object(&reader, value.raw, NULL)
                    : json_reader_init_array(&reader, value.raw, NULL);
    while (!status && json_reader_next(&reader, &member)) {
        require_keys_ascend(member.value, keys);
    }
    require(!status && !reader.status, "the sorted text was not read to its end");
}

static void check_valid(struct slice text)
{
    struct buffer sorted;
    buffer_init(&sorted, &allocator_system, SIZE_BYTES_MAX);
    require(json_sorted(text, &allocator_system, &sorted) == STATUS_OK,
            "a valid text was not sorted");
    struct slice result = buffer_slice(&sorted);
    require(result.size <= 6 * text.size, "the text grew too much");
    require(json_validate(result, JSON_DEPTH_MAX, NULL) == STATUS_OK,
            "the sorted text is not valid");
    require_same_meaning(text, result);
    require_sorted_is(result, result, "the sorted text changed when it was sorted again");

    struct buffer other;
    buffer_init(&other, &allocator_system, SIZE_BYTES_MAX);
    json_canonical(text, &other);
    require_sorted_is(buffer_slice(&other), result, "white space had a meaning");
    buffer_release(&other);

    struct json_value value;
    require(json_value_of(result, &value) == STATUS_OK, "the sorted text is no value");
    struct buffer keys[2];
    buffer_init(&keys[0], &allocator_system, SIZE_BYTES_MAX);
    buffer_init(&keys[1], &allocator_system, SIZE_BYTES_MAX);
    require_keys_ascend(value, keys);
    buffer_release(&keys[0]);
    buffer_release(&keys[1]);
    buffer_release(&sorted);
}

// It may say what it likes of a text that is not valid; the sanitizers watch its steps.
static void check_malformed(struct slice text)
{
    struct buffer sorted;
    buffer_init(&sorted, &allocator_system, SIZE_BYTES_MAX);
    enum status status = json_sorted(text, &allocator_system, &sorted);
    require(status == STATUS_OK || status == STATUS_INVALID, "a status that was not announced");
    require(status == STATUS_OK || sorted.size == 0, "a failure left bytes behind");
    buffer_release(&sorted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    // Otherwise jansson takes its seed from the system, and a finding may not come again.
    json_object_seed(1);
    struct slice text = slice_make(data, size);
    if (json_validate(text, JSON_DEPTH_MAX, NULL)) {
        check_malformed(text);
    } else {
        check_valid(text);
    }
    return 0;
}
