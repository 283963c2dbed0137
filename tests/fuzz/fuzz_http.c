// SPDX-License-Identifier: MIT
// Any bytes as HTTP requests behind each other: the same must come of them at once, byte by byte
// and in random pieces, with and without a look at the head before the body; and a request that was
// read, written anew in its plainest form, must be read as the same request and no other.
#include "wire/http_request.h"

#include "base/ascii.h"
#include "base/buffer.h"

#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

// Within reach of a short input.
static const struct http_limits limits = {
    .line_max = 150,
    .head_max = 300,
    .headers_max = 8,
    .body_max = 100,
    .chunk_overhead_max = 50,
};

// A request is longer in its plainest form.
static const struct http_limits limits_again = {
    .line_max = 200,
    .head_max = 1000,
    .headers_max = 16,
    .body_max = 100,
    .chunk_overhead_max = 0,
};

static void require(bool holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_http: %s\n", sentence);
        abort();
    }
}

static bool is_within(struct slice part, struct slice whole)
{
    return part.size == 0 ||
           (part.data >= whole.data && part.data + part.size <= whole.data + whole.size);
}

static struct slice header_text(const struct http_request *request, uint32_t start, uint32_t size)
{
    return slice_make(request->input + start, size);
}

// What says how to read on is said anew.
static bool is_framing(struct slice name)
{
    return ascii_equal(name, SLICE("content-length")) ||
           ascii_equal(name, SLICE("transfer-encoding")) || ascii_equal(name, SLICE("host"));
}

static void append_plain(struct buffer *out, const struct http_request *request)
{
    buffer_append(out, request->method);
    buffer_append_char(out, ' ');
    buffer_append(out, request->path);
    if (request->query.size) {
        buffer_append_char(out, '?');
        buffer_append(out, request->query);
    }
    buffer_printf(out, " HTTP/1.%d\r\nHost: a\r\nContent-Length: %zu\r\n",
                  request->http_1_0 ? 0 : 1, request->body.size);
    for (size_t i = 0; i < request->header_count; i++) {
        const struct http_span *header = &request->headers[i];
        struct slice name = header_text(request, header->name, header->name_size);
        if (!is_framing(name)) {
            buffer_append(out, name);
            buffer_append(out, SLICE(": "));
            buffer_append(out, header_text(request, header->value, header->value_size));
            buffer_append(out, SLICE("\r\n"));
        }
    }
    buffer_append(out, SLICE("\r\n"));
    buffer_append(out, request->body);
    buffer_printf(out, "%d", request->keep_alive);
    require(!out->status, "a request does not fit");
}

static void check_plain(const struct http_request *request)
{
    struct buffer once;
    struct buffer twice;
    buffer_init(&once, &allocator_system, 1 << 16);
    buffer_init(&twice, &allocator_system, 1 << 16);
    append_plain(&once, request);
    struct http_request again;
    struct error error;
    http_request_init(&again, &allocator_system, &limits_again);
    struct slice wire = slice_sub(buffer_slice(&once), 0, once.size - 1);
    require(http_request_read(&again, wire, &error) == HTTP_READY,
            "a request in its plainest form is none");
    require(again.size == wire.size, "a request in its plainest form is more than one");
    append_plain(&twice, &again);
    require(slice_equal(buffer_slice(&once), buffer_slice(&twice)),
            "a request in its plainest form is another");
    http_request_release(&again);
    buffer_release(&once);
    buffer_release(&twice);
}

static void check_request(const struct http_request *request, struct slice input)
{
    require(request->size && request->size <= input.size, "a request has an odd size");
    require(is_within(request->method, input) && is_within(request->query, input),
            "a part of a request lies outside");
    require(request->method.size && request->path.size, "a request has no method or no path");
    require(request->body.size <= limits.body_max, "a body is too large");
    require(!memchr(input.data, '\0', request->size - request->body.size) || request->body.size,
            "a head has a zero");
    check_plain(request);
}

// The sizes of the pieces that the input comes in.
struct pieces {
    size_t size_max; // 0 for all at once
    uint64_t state;  // of a generator: any number
    bool pauses;
};

static size_t next_piece(struct pieces *pieces)
{
    pieces->state = pieces->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return 1 + (size_t)((pieces->state >> 33) % pieces->size_max);
}

// Another block for the input, of just its size, so that a sanitizer sees what is read elsewhere.
static char *move_input(char *before, struct slice input)
{
    free(before);
    char *copy = malloc(input.size ? input.size : 1);
    require(copy, "there is no memory");
    if (input.size) {
        memcpy(copy, input.data, input.size);
    }
    return copy;
}

// Goes on behind the pause, in which the head must be there.
static enum http_result read_on(struct http_request *request, struct slice input, bool *paused,
                                struct error *error)
{
    enum http_result result = http_request_read(request, input, error);
    if (result == HTTP_MORE && request->pauses && !*paused && http_request_in_body(request)) {
        *paused = true;
        require(is_within(request->method, input) && request->method.size && request->path.size,
                "a head has no method or no path");
        result = http_request_read(request, input, error);
    }
    require(result != HTTP_READY || *paused == request->pauses, "a head was not shown");
    if (result == HTTP_READY) {
        *paused = false;
    }
    return result;
}

static void read_all(struct slice all, struct pieces pieces, struct buffer *transcript)
{
    struct http_request request;
    http_request_init(&request, &allocator_system, &limits);
    request.pauses = pieces.pauses;
    bool paused = false;
    size_t dropped = 0;
    size_t come = pieces.size_max ? 0 : all.size;
    char *moved = NULL;
    for (;;) {
        struct error error = { 0 };
        struct slice input = slice_sub(all, dropped, come - dropped);
        moved = move_input(moved, input);
        input.data = moved;
        enum http_result result = read_on(&request, input, &paused, &error);
        if (result == HTTP_READY) {
            append_plain(transcript, &request);
            check_request(&request, input);
            dropped += request.size;
        } else if (result == HTTP_BROKEN) {
            require(error.status && error.detail[0] && request.answer >= 400,
                    "nothing is said about what is broken");
            buffer_printf(transcript, "%u %s", request.answer, error_sentence(&error));
            break;
        } else if (come == all.size) {
            buffer_append(transcript, SLICE("more"));
            break;
        } else {
            require(http_request_needs(&request) > input.size, "it needs no more than it has");
            size_t piece = next_piece(&pieces);
            come = piece < all.size - come ? come + piece : all.size;
        }
    }
    require(!transcript->status, "the transcript does not fit");
    http_request_release(&request);
    free(moved);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice all = slice_make(data, size);
    uint64_t seed = size;
    for (size_t i = 0; i < size; i++) {
        seed = seed * 31 + data[i];
    }
    struct buffer wanted;
    struct buffer given;
    buffer_init(&wanted, &allocator_system, 1 << 24);
    buffer_init(&given, &allocator_system, 1 << 24);
    read_all(all, (struct pieces){ .size_max = 1 }, &wanted);
    static const size_t sizes[] = { 0, 2, 7, 30, 200 };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        buffer_clear(&given);
        read_all(all, (struct pieces){ .size_max = sizes[i], .state = seed, .pauses = i % 2 == 0 },
                 &given);
        require(slice_equal(buffer_slice(&given), buffer_slice(&wanted)),
                "pieces make a difference");
    }
    buffer_release(&wanted);
    buffer_release(&given);
    return 0;
}
