// SPDX-License-Identifier: MIT
// Any bytes as requests behind each other: the same must come of them at once, byte by byte and in
// random pieces, and the words of a request, written as an array, must be read as the same words.
#include "wire/resp_reply.h"
#include "wire/resp_request.h"

#include "base/buffer.h"

#include "fuzz.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Within reach of a short input.
static const struct resp_limits limits = {
    .words_max = 40,
    .word_max = 200,
    .request_max = 400,
    .line_max = 100,
};

// The words of a line are longer as an array, and no line is among what is written.
static const struct resp_limits limits_again = {
    .words_max = 40,
    .word_max = 200,
    .request_max = 4000,
    .line_max = 0,
};

static void require(bool holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_resp: %s\n", sentence);
        abort();
    }
}

static void append_words(struct buffer *out, const struct resp_request *request)
{
    resp_array(out, request->count);
    for (size_t i = 0; i < request->count; i++) {
        resp_bulk(out, request->words[i]);
    }
    require(!out->status, "the words do not fit");
}

// The words as an array, and what that is read as, as an array: the same. An array that was read is
// written as it was.
static void check_words(const struct resp_request *request, struct slice wire)
{
    struct buffer once;
    struct buffer twice;
    buffer_init(&once, &allocator_system, 1 << 16);
    buffer_init(&twice, &allocator_system, 1 << 16);
    append_words(&once, request);
    struct resp_request again;
    struct error error;
    resp_request_init(&again, &allocator_system, &limits_again);
    require(resp_request_read(&again, buffer_slice(&once), &error) == RESP_READY,
            "words as an array are not a request");
    require(again.size == once.size, "words as an array are more than a request");
    append_words(&twice, &again);
    require(slice_equal(buffer_slice(&once), buffer_slice(&twice)),
            "words as an array are read as others");
    if (wire.data[0] == '*' && request->count) {
        require(slice_equal(buffer_slice(&once), wire), "an array has two forms");
    }
    resp_request_release(&again);
    buffer_release(&once);
    buffer_release(&twice);
}

// The sizes of the pieces that the input comes in.
struct pieces {
    size_t size_max; // 0 for all at once
    uint64_t state;  // of a generator: any number
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

// Reads all requests and writes down what they are, and how it ends.
static void read_all(struct slice all, struct pieces pieces, struct buffer *transcript)
{
    struct resp_request request;
    resp_request_init(&request, &allocator_system, &limits);
    size_t dropped = 0;
    size_t come = pieces.size_max ? 0 : all.size;
    char *moved = NULL;
    for (;;) {
        struct error error = { 0 };
        struct slice input = slice_sub(all, dropped, come - dropped);
        moved = move_input(moved, input);
        input.data = moved;
        enum resp_result result = resp_request_read(&request, input, &error);
        if (result == RESP_READY) {
            require(request.size && request.size <= input.size, "a request has an odd size");
            append_words(transcript, &request);
            check_words(&request, slice_sub(input, 0, request.size));
            dropped += request.size;
        } else if (result == RESP_BROKEN) {
            require(error.status && error.detail[0], "nothing is said about what is broken");
            resp_error(transcript, SLICE("BROKEN"), slice_from_cstr(error_sentence(&error)));
            break;
        } else if (come == all.size) {
            resp_simple(transcript, SLICE("MORE"));
            break;
        } else {
            require(resp_request_needs(&request) > input.size, "it needs no more than it has");
            size_t piece = next_piece(&pieces);
            come = piece < all.size - come ? come + piece : all.size;
        }
    }
    require(!transcript->status, "the transcript does not fit");
    resp_request_release(&request);
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
        read_all(all, (struct pieces){ .size_max = sizes[i], .state = seed }, &given);
        require(slice_equal(buffer_slice(&given), buffer_slice(&wanted)),
                "pieces make a difference");
    }
    buffer_release(&wanted);
    buffer_release(&given);
    return 0;
}
