// SPDX-License-Identifier: MIT
#include "server/push/rules/sign.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#define PREFIX SLICE("whsec_")

enum {
    KEY_MIN = 16, // bytes; the standard asks for 24 to 64
    DIGEST_SIZE = 32,
    DIGEST_TEXT_SIZE = 45, // in base64, with the terminating zero
};

// Decodes the key of a secret; SIZE_MAX if the secret is invalid.
static size_t read_key(struct slice secret, uint8_t key[PUSH_SECRET_MAX])
{
    if (!slice_starts_with(secret, PREFIX)) {
        memcpy(key, secret.data, secret.size);
        return secret.size;
    }
    struct slice text = slice_sub(secret, PREFIX.size, SIZE_MAX);
    int count =
        text.size % 4 ? -1 : EVP_DecodeBlock(key, (const unsigned char *)text.data, (int)text.size);
    if (count < 0) {
        return SIZE_MAX;
    }
    // The padding of the last four characters is decoded as zero bytes.
    return (size_t)count - (slice_ends_with(text, SLICE("=="))  ? 2
                            : slice_ends_with(text, SLICE("=")) ? 1
                                                                : 0);
}

enum status push_secret_check(struct slice secret, struct error *error)
{
    uint8_t key[PUSH_SECRET_MAX];
    if (secret.size > PUSH_SECRET_MAX) {
        return error_set(error, STATUS_INVALID, "the secret has more than %d bytes",
                         PUSH_SECRET_MAX);
    }
    size_t size = read_key(secret, key);
    OPENSSL_cleanse(key, sizeof(key));
    if (size == SIZE_MAX) {
        return error_set(error, STATUS_INVALID, "what follows whsec_ in the secret is no base64");
    }
    if (size < KEY_MIN) {
        return error_set(error, STATUS_INVALID, "the secret has %zu bytes, and needs at least %d",
                         size, KEY_MIN);
    }
    return STATUS_OK;
}

void push_append_id(struct slice jid, struct buffer *out)
{
    for (size_t i = 0; i < jid.size; i++) {
        unsigned char c = (unsigned char)jid.data[i];
        if (c > ' ' && c < 0x7F && c != '%') {
            buffer_append_char(out, (char)c);
        } else {
            buffer_printf(out, "%%%02X", c);
        }
    }
}

void push_sign(struct slice secret, struct slice content, struct buffer *out)
{
    uint8_t key[PUSH_SECRET_MAX], digest[DIGEST_SIZE];
    unsigned char text[DIGEST_TEXT_SIZE];
    size_t key_size = read_key(secret, key);
    if (HMAC(EVP_sha256(), key, (int)key_size, (const unsigned char *)content.data, content.size,
             digest, NULL)) {
        int count = EVP_EncodeBlock(text, digest, DIGEST_SIZE);
        buffer_append(out, SLICE("v1,"));
        buffer_append(out, slice_make(text, (size_t)count));
    } else {
        out->status = STATUS_NO_MEMORY;
    }
    OPENSSL_cleanse(key, sizeof(key));
}
