// SPDX-License-Identifier: MIT
// Writes a google.protobuf.FileDescriptorSet of all files that reflection gives.
#include "faces/grpc/descriptor.h"
#include "faces/grpc/files.h"
#include "wire/protobuf.h"

#include <stdio.h>

enum {
    SIZE_LIMIT = 1 << 20,
    SET_FILE = 1,
};

int main(void)
{
    struct buffer out;
    buffer_init(&out, &allocator_system, SIZE_LIMIT);
    for (size_t i = 0; grpc_files[i]; i++) {
        size_t file = protobuf_begin(&out, SET_FILE);
        grpc_descriptor_write(grpc_files[i], &out);
        protobuf_end(&out, file);
    }
    bool written = !out.status && fwrite(out.data, 1, out.size, stdout) == out.size;
    buffer_release(&out);
    return !written;
}
