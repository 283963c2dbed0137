// SPDX-License-Identifier: MIT
#include "certificates.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "test.h"

static X509 *make(const char *name, EVP_PKEY *key, const struct authority *authority)
{
    static long serial = 1;
    X509 *certificate = X509_new();
    assert_non_null(certificate);
    assert_int_equal(X509_set_version(certificate, 2), 1);
    assert_int_equal(ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++), 1);
    assert_non_null(X509_gmtime_adj(X509_getm_notBefore(certificate), -3600));
    assert_non_null(X509_gmtime_adj(X509_getm_notAfter(certificate), 3600));
    X509_NAME *subject = X509_get_subject_name(certificate);
    assert_int_equal(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                                                (const unsigned char *)name, -1, -1, 0),
                     1);
    X509 *issuer = authority ? authority->certificate : certificate;
    assert_int_equal(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)), 1);
    assert_int_equal(X509_set_pubkey(certificate, key), 1);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints,
                                                    authority ? "CA:FALSE" : "critical,CA:TRUE");
    assert_non_null(extension);
    assert_int_equal(X509_add_ext(certificate, extension, -1), 1);
    X509_EXTENSION_free(extension);
    assert_true(X509_sign(certificate, authority ? authority->key : key, EVP_sha256()) > 0);
    return certificate;
}

static void write_certificate(X509 *certificate, const char *path)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(PEM_write_X509(file, certificate), 1);
    assert_int_equal(fclose(file), 0);
}

void authority_init(struct authority *authority, const char *path)
{
    authority->key = EVP_EC_gen("P-256");
    assert_non_null(authority->key);
    authority->certificate = make(path, authority->key, NULL);
    write_certificate(authority->certificate, path);
}

void authority_release(struct authority *authority)
{
    X509_free(authority->certificate);
    EVP_PKEY_free(authority->key);
}

void authority_sign(const struct authority *authority, const char *name, const char *certificate,
                    const char *key)
{
    EVP_PKEY *made = EVP_EC_gen("P-256");
    assert_non_null(made);
    X509 *signed_one = make(name, made, authority);
    write_certificate(signed_one, certificate);
    FILE *file = fopen(key, "we");
    assert_non_null(file);
    assert_int_equal(PEM_write_PrivateKey(file, made, NULL, NULL, 0, NULL, NULL), 1);
    assert_int_equal(fclose(file), 0);
    X509_free(signed_one);
    EVP_PKEY_free(made);
}
