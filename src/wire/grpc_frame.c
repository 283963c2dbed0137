// SPDX-License-Identifier: MIT
#include "wire/grpc_frame.h"

#include <stdint.h>

static uint32_t load_size(const char *bytes)
{
    uint32_t size = 0;
    for (size_t i = 0; i < 4; i++) {
        size = size << 8 | (unsigned char)bytes[i];
    }
    return size;
}

enum grpc_frame_step grpc_frame_next(struct slice *input, size_t size_max, struct grpc_frame *out,
                                     size_t *missing)
{
    size_t none = 0;
    missing = missing ? missing : &none;
    *missing = 0;
    if (input->size > 0 && (unsigned char)input->data[0] > 1) {
        return GRPC_FRAME_BROKEN;
    }
    if (input->size < GRPC_FRAME_HEAD) {
        *missing = GRPC_FRAME_HEAD - input->size;
        return GRPC_FRAME_MORE;
    }
    size_t size = load_size(input->data + 1);
    if (size > size_max) {
        return GRPC_FRAME_TOO_LARGE;
    }
    if (input->size - GRPC_FRAME_HEAD < size) {
        *missing = size - (input->size - GRPC_FRAME_HEAD);
        return GRPC_FRAME_MORE;
    }
    *out = (struct grpc_frame){ .compressed = input->data[0] == 1,
                                .message = slice_sub(*input, GRPC_FRAME_HEAD, size) };
    *input = slice_sub(*input, GRPC_FRAME_HEAD + size, SIZE_MAX);
    return GRPC_FRAME_WHOLE;
}

size_t grpc_frame_begin(struct buffer *out)
{
    static const char head[GRPC_FRAME_HEAD];
    buffer_append(out, slice_make(head, sizeof(head)));
    return out->size;
}

void grpc_frame_end(struct buffer *out, size_t begin)
{
    if (out->status) {
        return;
    }
    size_t size = out->size - begin;
    for (size_t i = 0; i < 4; i++) {
        out->data[begin - 1 - i] = (char)(size >> 8 * i);
    }
}
