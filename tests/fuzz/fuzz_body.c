// SPDX-License-Identifier: MIT
// Any bytes as a body: its data must be valid JSON without white space, and stand for the same
// bytes. The same bytes, where they are JSON, as data: they stand for some body.
#include "base/body.h"
#include "base/json.h"

#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    SIZE_BYTES_MAX = 1 << 26,
};

static void require(int holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_body: %s\n", sentence);
        abort();
    }
}

static void check_body(struct slice body)
{
    struct buffer data, back;
    buffer_init(&data, &allocator_system, SIZE_BYTES_MAX);
    buffer_init(&back, &allocator_system, SIZE_BYTES_MAX);
    require(body_encode(body, &data) == STATUS_OK, "a body was not encoded");
    require(json_validate(buffer_slice(&data), JSON_VALUE_DEPTH_MAX, NULL) == STATUS_OK,
            "the data is not valid");
    json_canonical(buffer_slice(&data), &back);
    require(slice_equal(buffer_slice(&data), buffer_slice(&back)), "the data has white space");
    buffer_clear(&back);
    require(body_decode(buffer_slice(&data), &back) == STATUS_OK, "the data was not decoded");
    require(slice_equal(buffer_slice(&back), body), "another body came back");
    buffer_release(&data);
    buffer_release(&back);
}

static void check_data(struct slice data)
{
    struct buffer body;
    buffer_init(&body, &allocator_system, SIZE_BYTES_MAX);
    require(body_decode(data, &body) == STATUS_OK, "valid data was not decoded");
    require(body.size <= data.size, "the body is larger than its data");
    buffer_release(&body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice bytes = slice_make(data, size);
    check_body(bytes);
    if (!json_validate(bytes, JSON_VALUE_DEPTH_MAX, NULL)) {
        check_data(bytes);
    }
    return 0;
}
