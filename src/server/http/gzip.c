// SPDX-License-Identifier: MIT
#include "server/http/gzip.h"

#include <limits.h>
#define ZLIB_CONST // makes the input const
#include <zlib.h>

enum {
    LEVEL = 1,
    WINDOW_BITS = 15 + 16, // with the header and checksum of gzip
    MEMORY_LEVEL = 8,
};

void gzip_init(struct gzip *gzip, const struct allocator *allocator)
{
    *gzip = (struct gzip){ .allocator = allocator };
}

void gzip_release(struct gzip *gzip)
{
    if (gzip->stream) {
        (void)deflateEnd(gzip->stream);
        mem_free(gzip->allocator, gzip->stream, sizeof(*gzip->stream));
        gzip->stream = NULL;
    }
}

// Makes the stream ready for new input.
static enum status prepare(struct gzip *gzip)
{
    if (gzip->stream) {
        return deflateReset(gzip->stream) == Z_OK ? STATUS_OK : STATUS_STATE;
    }
    z_stream *stream = mem_zalloc(gzip->allocator, sizeof(*stream));
    if (!stream) {
        return STATUS_NO_MEMORY;
    }
    if (deflateInit2(stream, LEVEL, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        mem_free(gzip->allocator, stream, sizeof(*stream));
        return STATUS_NO_MEMORY;
    }
    gzip->stream = stream;
    return STATUS_OK;
}

enum status gzip_append(void *context, struct slice body, struct buffer *out)
{
    struct gzip *gzip = context;
    enum status status = prepare(gzip);
    if (status) {
        return status;
    }
    z_stream *stream = gzip->stream;
    size_t room = deflateBound(stream, body.size);
    if (body.size > UINT_MAX || room > UINT_MAX) {
        return STATUS_TOO_LARGE;
    }
    char *at = buffer_reserve(out, room);
    if (!at) {
        return out->status;
    }
    stream->next_in = (const Bytef *)body.data;
    stream->avail_in = (uInt)body.size;
    stream->next_out = (Bytef *)at;
    stream->avail_out = (uInt)room;
    if (deflate(stream, Z_FINISH) != Z_STREAM_END) {
        return STATUS_STATE;
    }
    buffer_commit(out, room - stream->avail_out);
    return STATUS_OK;
}

enum status gzip_expand(struct slice file, size_t size, struct buffer *out)
{
    z_stream stream = { 0 };
    char *at = buffer_reserve(out, size + 1);
    if (!at) {
        return out->status;
    }
    if (file.size > UINT_MAX || size >= UINT_MAX) {
        return STATUS_TOO_LARGE;
    }
    if (inflateInit2(&stream, WINDOW_BITS) != Z_OK) {
        return STATUS_NO_MEMORY;
    }
    stream.next_in = (const Bytef *)file.data;
    stream.avail_in = (uInt)file.size;
    stream.next_out = (Bytef *)at;
    stream.avail_out = (uInt)size + 1;
    int result = inflate(&stream, Z_FINISH);
    (void)inflateEnd(&stream);
    if (result != Z_STREAM_END || stream.total_out != size) {
        return result == Z_MEM_ERROR ? STATUS_NO_MEMORY : STATUS_STATE;
    }
    buffer_commit(out, size);
    return STATUS_OK;
}
