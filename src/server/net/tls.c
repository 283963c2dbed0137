// SPDX-License-Identifier: MIT
#include "server/net/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

struct tls {
    const struct allocator *allocator;
    SSL_CTX *context; // counted: each connection has a share
};

// The first error is the one nearest to the cause.
static const char *reason(void)
{
    unsigned long code = ERR_get_error();
    const char *text =
        ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);
    ERR_clear_error();
    return text ? text : "unknown reason";
}

static enum status refuse(const char *setting, const char *path, struct error *error)
{
    return error_set(error, STATUS_INVALID, "%s %.120s cannot be used: %s", setting, path,
                     reason());
}

// A key with a passphrase is refused: there is no terminal to ask at.
static int no_passphrase(char *buffer, int size, int writing, void *context)
{
    (void)buffer;
    (void)size;
    (void)writing;
    (void)context;
    return -1;
}

// For TLS 1.2: suites with forward secrecy and authenticated encryption. All of TLS 1.3 are such,
// and its list is OpenSSL's and the system's.
#define TLS_1_2_SUITES "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL"

// A connection that speaks one protocol only (transport_set_protocol) refuses clients that offer others
// and not that one. Other connections say nothing about it.
static int select_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_size,
                           const unsigned char *offered, unsigned int offered_size, void *context)
{
    (void)context;
    const char *name = SSL_get_app_data(ssl);
    size_t size = name ? strlen(name) : 0;
    if (size == 0) {
        return SSL_TLSEXT_ERR_NOACK;
    }
    for (unsigned int i = 0; i < offered_size; i += 1U + offered[i]) {
        if (offered[i] == size && size < offered_size - i &&
            memcmp(offered + i + 1, name, size) == 0) {
            *out = offered + i + 1;
            *out_size = (unsigned char)size;
            return SSL_TLSEXT_ERR_OK;
        }
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

static bool set_up(SSL_CTX *context)
{
    (void)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    // A client that just goes away is as good as one that says farewell: requests have their sizes.
    (void)SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                           SSL_OP_CIPHER_SERVER_PREFERENCE |
                                           SSL_OP_IGNORE_UNEXPECTED_EOF);
    (void)SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS);
    // A read returns after each record, though it may have no data (a key update): otherwise it goes
    // on as long as the client sends such records, and holds up the loop.
    (void)SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
    (void)SSL_CTX_set_session_id_context(context, (const unsigned char *)"sluice", 6);
    SSL_CTX_set_default_passwd_cb(context, no_passphrase);
    SSL_CTX_set_alpn_select_cb(context, select_protocol, NULL);
    return SSL_CTX_set_cipher_list(context, TLS_1_2_SUITES) == 1;
}

static enum status load_own(SSL_CTX *context, const struct settings *settings, struct error *error)
{
    if (SSL_CTX_use_certificate_chain_file(context, settings->tls_cert) != 1) {
        return refuse("tls-cert", settings->tls_cert, error);
    }
    if (SSL_CTX_use_PrivateKey_file(context, settings->tls_key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context) != 1) {
        return refuse("tls-key", settings->tls_key, error);
    }
    return STATUS_OK;
}

static enum status load_authority(SSL_CTX *context, const struct settings *settings,
                                  struct error *error)
{
    if (!*settings->tls_ca) {
        return STATUS_OK;
    }
    STACK_OF(X509_NAME) *names = NULL;
    if (SSL_CTX_load_verify_file(context, settings->tls_ca) == 1) {
        names = SSL_load_client_CA_file(settings->tls_ca);
    }
    if (!names) {
        return refuse("tls-ca", settings->tls_ca, error);
    }
    SSL_CTX_set_client_CA_list(context, names); // takes them over
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    X509_VERIFY_PARAM *checks = SSL_CTX_get0_param(context);
    X509_VERIFY_PARAM_set_hostflags(checks, X509_CHECK_FLAG_NO_WILDCARDS);
    for (size_t i = 0; i < settings->tls_client_names.count; i++) {
        const char *name = settings->tls_client_names.items[i];
        if (X509_VERIFY_PARAM_add1_host(checks, name, 0) != 1) {
            return refuse("tls-client-names", name, error);
        }
    }
    return STATUS_OK;
}

// Every certificate of a client's chain is looked up, so that each authority needs a list.
static enum status load_revoked(SSL_CTX *context, const struct settings *settings,
                                struct error *error)
{
    if (!*settings->tls_crl) {
        return STATUS_OK;
    }
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    X509_LOOKUP *lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
    if (!lookup || X509_load_crl_file(lookup, settings->tls_crl, X509_FILETYPE_PEM) < 1) {
        return refuse("tls-crl", settings->tls_crl, error);
    }
    (void)X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context),
                                      X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
    return STATUS_OK;
}

static enum status make(const struct settings *settings, SSL_CTX **out, struct error *error)
{
    ERR_clear_error();
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!context) {
        return error_set(error, STATUS_NO_MEMORY, "TLS cannot be set up: %s", reason());
    }
    enum status status = set_up(context) ? STATUS_OK
                                         : error_set(error, STATUS_UNSUPPORTED,
                                                     "TLS cannot be set up: %s", reason());
    if (!status) {
        status = load_own(context, settings, error);
    }
    if (!status) {
        status = load_authority(context, settings, error);
    }
    if (!status) {
        status = load_revoked(context, settings, error);
    }
    if (status) {
        SSL_CTX_free(context);
        return status;
    }
    *out = context;
    return STATUS_OK;
}

enum status tls_new(const struct allocator *allocator, const struct settings *settings,
                    struct tls **out, struct error *error)
{
    struct tls *tls = mem_zalloc(allocator, sizeof(*tls));
    if (!tls) {
        return error_set(error, STATUS_NO_MEMORY, "there is no memory for TLS");
    }
    tls->allocator = allocator;
    enum status status = make(settings, &tls->context, error);
    if (status) {
        tls_free(tls);
        return status;
    }
    *out = tls;
    return STATUS_OK;
}

void tls_free(struct tls *tls)
{
    if (tls) {
        SSL_CTX_free(tls->context);
        mem_free(tls->allocator, tls, sizeof(*tls));
    }
}

enum status tls_accept(const struct tls *tls, int fd, struct ssl_st **out)
{
    SSL *ssl = SSL_new(tls->context);
    if (!ssl || SSL_set_fd(ssl, fd) != 1) {
        SSL_free(ssl);
        ERR_clear_error();
        return STATUS_NO_MEMORY;
    }
    SSL_set_accept_state(ssl);
    *out = ssl;
    return STATUS_OK;
}
