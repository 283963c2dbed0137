// SPDX-License-Identifier: MIT
// Any bytes as a request to the HTTP face: a line of a method, a path and a query, then lines of
// headers, an empty line and the body, all without what HTTP puts around them. What must hold then
// is said in http_world.h.
#include "fuzz.h"
#include "http_world.h"
#include "require.h"

#include <string.h>

enum {
    WIRE_MAX = 1 << 24,
    REQUESTS_MAX = 20,
};

// Puts what HTTP wants around a request.
static void dress(struct buffer *wire, struct slice text)
{
    const char *blank = text.size ? memmem(text.data, text.size, "\n\n", 2) : NULL;
    struct slice head = slice_sub(text, 0, blank ? (size_t)(blank - text.data) : text.size);
    struct slice body = slice_sub(text, head.size + 2, SIZE_MAX);
    const char *line_end = head.size ? memchr(head.data, '\n', head.size) : NULL;
    struct slice line = slice_sub(head, 0, line_end ? (size_t)(line_end - head.data) : head.size);
    buffer_clear(wire);
    buffer_append(wire, line);
    buffer_printf(wire, " HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n", body.size);
    for (size_t i = line.size + 1; i < head.size; i++) {
        if (head.data[i] == '\n') {
            buffer_append_char(wire, '\r');
        }
        buffer_append_char(wire, head.data[i]);
    }
    if (head.size > line.size + 1) {
        buffer_append(wire, SLICE("\r\n"));
    }
    if (body.size) {
        buffer_append(wire, SLICE("Content-Type: application/json\r\n"));
    }
    buffer_append(wire, SLICE("\r\n"));
    buffer_append(wire, body);
    require(!wire->status, "a request does not fit");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_world world;
    struct buffer wire;
    http_world_init(&world);
    buffer_init(&wire, &allocator_system, WIRE_MAX);
    struct slice rest = slice_make(data, size);
    for (size_t i = 0; i < REQUESTS_MAX && rest.size; i++) {
        const char *end = memmem(rest.data, rest.size, "\n---\n", 5);
        size_t part = end ? (size_t)(end - rest.data) : rest.size;
        dress(&wire, slice_sub(rest, 0, part));
        (void)http_world_ask(&world, buffer_slice(&wire));
        rest = slice_sub(rest, end ? part + 5 : part, SIZE_MAX);
    }
    http_world_check(&world);
    buffer_release(&wire);
    http_world_release(&world);
    return 0;
}
