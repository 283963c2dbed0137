// SPDX-License-Identifier: MIT
#include "server/grpc/unpack.h"

#include <assert.h>
#include <limits.h>
#define ZLIB_CONST // what is read is not written to
#include <zlib.h>

enum {
    WINDOW_BITS = 15,
    GZIP_BITS = 16, // added: gzip's head and checksum, not zlib's
    CHUNK = 16 << 10,
};

// zlib's own memory, some 40 KiB, comes from the buffer's allocator. zlib frees without telling the
// size, so it stands in front of each block.
enum {
    HEAD = 16, // keeps the alignment
};

static void *allocate(void *context, unsigned count, unsigned size)
{
    size_t whole = (size_t)count * size + HEAD;
    const struct buffer *out = context;
    char *block = mem_alloc(out->allocator, whole);
    if (!block) {
        return NULL;
    }
    memcpy(block, &whole, sizeof(whole));
    return block + HEAD;
}

static void release(void *context, void *address)
{
    char *block = (char *)address - HEAD;
    const struct buffer *out = context;
    size_t whole;
    memcpy(&whole, block, sizeof(whole));
    mem_free(out->allocator, block, whole);
}

// Room in the buffer for what comes next: its maximum may leave less than a chunk, or nothing.
static enum status reserve(struct buffer *out, z_stream *stream)
{
    size_t left = out->size_max - out->size;
    size_t room = left < CHUNK ? left : CHUNK;
    if (room == 0) {
        return STATUS_TOO_LARGE;
    }
    char *at = buffer_reserve(out, room);
    if (!at) {
        return out->status;
    }
    stream->next_out = (unsigned char *)at;
    stream->avail_out = (unsigned)room;
    return STATUS_OK;
}

// A message that fills the buffer exactly ends without more output; that takes room for a byte that
// is not used.
static enum status finish_full(z_stream *stream)
{
    static unsigned char unused;
    stream->next_out = &unused;
    stream->avail_out = 1;
    int result = inflate(stream, Z_NO_FLUSH);
    return stream->avail_out == 0   ? STATUS_TOO_LARGE
           : result == Z_STREAM_END ? STATUS_OK
           : result == Z_MEM_ERROR  ? STATUS_NO_MEMORY
                                    : STATUS_INVALID;
}

static enum status unpack(z_stream *stream, struct buffer *out)
{
    for (;;) {
        if (out->size == out->size_max) {
            return finish_full(stream);
        }
        enum status status = reserve(out, stream);
        if (status) {
            return status;
        }
        unsigned room = stream->avail_out;
        int result = inflate(stream, Z_NO_FLUSH);
        buffer_commit(out, room - stream->avail_out);
        if (result == Z_STREAM_END) {
            return STATUS_OK;
        }
        if (result == Z_MEM_ERROR) {
            return STATUS_NO_MEMORY;
        }
        if (result != Z_OK || (stream->avail_in == 0 && stream->avail_out > 0)) {
            return STATUS_INVALID;
        }
    }
}

enum status grpc_unpack(enum grpc_encoding encoding, struct slice packed, struct buffer *out)
{
    assert(encoding == GRPC_ENCODING_GZIP || encoding == GRPC_ENCODING_DEFLATE);
    z_stream stream = {
        .zalloc = allocate,
        .zfree = release,
        .opaque = out,
        .next_in = (const unsigned char *)packed.data,
        .avail_in = (unsigned)packed.size,
    };
    size_t start = out->size;
    int bits = WINDOW_BITS + (encoding == GRPC_ENCODING_GZIP ? GZIP_BITS : 0);
    if (packed.size > UINT_MAX) {
        return STATUS_TOO_LARGE;
    }
    if (inflateInit2(&stream, bits) != Z_OK) {
        return STATUS_NO_MEMORY;
    }
    enum status status = unpack(&stream, out);
    if (!status && stream.avail_in > 0) {
        status = STATUS_INVALID;
    }
    (void)inflateEnd(&stream);
    if (status) {
        buffer_truncate(out, start);
        out->status = STATUS_OK;
    }
    return status;
}
