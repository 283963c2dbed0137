// SPDX-License-Identifier: MIT
// An authority for a test, and certificates that it signs, as files in PEM.
#ifndef SLUICE_CERTIFICATES_H
#define SLUICE_CERTIFICATES_H

#include <openssl/evp.h>
#include <openssl/x509.h>

struct authority {
    EVP_PKEY *key;
    X509 *certificate;
};

// Makes an authority and writes its certificate.
void authority_init(struct authority *authority, const char *path);
void authority_release(struct authority *authority);

// Writes a certificate in a name that the authority signs, and its key.
void authority_sign(const struct authority *authority, const char *name, const char *certificate,
                    const char *key);

#endif
