// SPDX-License-Identifier: MIT
#include "server/access/credentials.h"

#include "base/ascii.h"

#include <openssl/evp.h>

static struct slice decode_basic(struct slice text, char bytes[CREDENTIALS_SIZE])
{
    int count =
        EVP_DecodeBlock((unsigned char *)bytes, (const unsigned char *)text.data, (int)text.size);
    // What fills the last four characters is decoded as zeros.
    int padding = slice_ends_with(text, SLICE("==")) ? 2 : slice_ends_with(text, SLICE("="));
    return count > padding ? slice_make(bytes, (size_t)(count - padding)) : SLICE_EMPTY;
}

bool credentials_read(struct slice header, char bytes[CREDENTIALS_SIZE], struct slice *name,
                      struct slice *password)
{
    const char *space = header.size ? memchr(header.data, ' ', header.size) : NULL;
    size_t size = space ? (size_t)(space - header.data) : header.size;
    struct slice scheme = slice_sub(header, 0, size);
    struct slice rest = slice_sub(header, size + 1, SIZE_MAX);
    if (rest.size >= CREDENTIALS_SIZE) {
        return false;
    }
    if (ascii_equal(scheme, SLICE("Basic"))) {
        rest = decode_basic(rest, bytes);
    } else if (!ascii_equal(scheme, SLICE("Bearer"))) {
        return false;
    }
    const char *colon = rest.size ? memchr(rest.data, ':', rest.size) : NULL;
    size = colon ? (size_t)(colon - rest.data) : 0;
    *name = slice_sub(rest, 0, size);
    *password = colon ? slice_sub(rest, size + 1, SIZE_MAX) : rest;
    return rest.size > 0;
}
