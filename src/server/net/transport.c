// SPDX-License-Identifier: MIT
#include "server/net/transport.h"

#include "server/net/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <errno.h>
#include <limits.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    RECORD_SIZE = 16384, // what TLS sends at once at most
};

void transport_init(struct transport *transport, int fd)
{
    *transport = (struct transport){ .fd = fd, .greeted = true };
}

enum status transport_init_tls(struct transport *transport, const struct tls *tls, int fd)
{
    struct ssl_st *ssl;
    enum status status = tls_accept(tls, fd, &ssl);
    if (status == STATUS_OK) {
        *transport = (struct transport){ .fd = fd, .ssl = ssl };
    }
    return status;
}

void transport_set_protocol(struct transport *transport, char *name)
{
    if (transport->ssl) {
        (void)SSL_set_app_data(transport->ssl, name);
    }
}

// The other side went away, which is no failure of ours.
static bool is_gone(int error_number)
{
    return error_number == ECONNRESET || error_number == EPIPE || error_number == ETIMEDOUT ||
           error_number == ENOTCONN;
}

static enum transport_result fail_plain(struct transport *transport, int error_number,
                                        enum transport_result again)
{
    if (error_number == EAGAIN || error_number == EWOULDBLOCK) {
        return again;
    }
    transport->error_number = error_number;
    return is_gone(error_number) ? TRANSPORT_CLOSED : TRANSPORT_FAILED;
}

// What a call of OpenSSL that gave `result` means. errno is that call's.
static enum transport_result fail_tls(struct transport *transport, int result)
{
    int error_number = errno;
    switch (SSL_get_error(transport->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        return TRANSPORT_AGAIN_READ;
    case SSL_ERROR_WANT_WRITE:
        return TRANSPORT_AGAIN_WRITE;
    case SSL_ERROR_ZERO_RETURN:
        return TRANSPORT_CLOSED;
    case SSL_ERROR_SYSCALL:
        transport->broken = true;
        transport->error_number = error_number;
        ERR_clear_error();
        return error_number == 0 || is_gone(error_number) ? TRANSPORT_CLOSED : TRANSPORT_FAILED;
    default:
        transport->broken = true;
        transport->error_code = ERR_get_error();
        ERR_clear_error();
        return TRANSPORT_FAILED;
    }
}

// OpenSSL's errors are the thread's: those of another connection must not be taken for ours.
static void begin_tls(void)
{
    ERR_clear_error();
    errno = 0;
}

enum transport_result transport_handshake(struct transport *transport)
{
    if (transport->greeted) {
        return TRANSPORT_OK;
    }
    if (transport->broken) {
        return TRANSPORT_FAILED;
    }
    begin_tls();
    int result = SSL_do_handshake(transport->ssl);
    if (result != 1) {
        return fail_tls(transport, result);
    }
    transport->greeted = true;
    return TRANSPORT_OK;
}

static enum transport_result read_tls(struct transport *transport, void *bytes, size_t size,
                                      size_t *read_size)
{
    if (transport->broken) {
        return TRANSPORT_FAILED;
    }
    begin_tls();
    int result = SSL_read_ex(transport->ssl, bytes, size, read_size);
    return result == 1 ? TRANSPORT_OK : fail_tls(transport, result);
}

enum transport_result transport_discard(struct transport *transport, void *bytes, size_t size,
                                        size_t *read_size)
{
    ssize_t got;
    do {
        got = recv(transport->fd, bytes, size, 0);
    } while (got < 0 && errno == EINTR);
    if (got > 0) {
        *read_size = (size_t)got;
        return TRANSPORT_OK;
    }
    return got == 0 ? TRANSPORT_CLOSED : fail_plain(transport, errno, TRANSPORT_AGAIN_READ);
}

enum transport_result transport_read(struct transport *transport, void *bytes, size_t size,
                                     size_t *read_size)
{
    return transport->ssl ? read_tls(transport, bytes, size, read_size)
                          : transport_discard(transport, bytes, size, read_size);
}

// The next record's bytes, from `skip` bytes into the pieces on: where they are, or gathered into
// `record` when they are in several. How many they are depends on nothing but the pieces, so that a
// second try has no fewer than the first.
static struct slice next_record(const struct iovec *pieces, size_t count, size_t skip,
                                char record[RECORD_SIZE])
{
    size_t size = 0;
    for (size_t i = 0; i < count && size < RECORD_SIZE; i++) {
        struct slice piece = slice_make(pieces[i].iov_base, pieces[i].iov_len);
        size_t skipped = skip < piece.size ? skip : piece.size;
        skip -= skipped;
        piece = slice_sub(piece, skipped, RECORD_SIZE - size);
        if (size == 0 && (piece.size == RECORD_SIZE || i + 1 == count)) {
            return piece;
        }
        if (piece.size && piece.data) {
            memcpy(record + size, piece.data, piece.size);
            size += piece.size;
        }
    }
    return slice_make(record, size);
}

static enum transport_result write_tls(struct transport *transport, const struct iovec *pieces,
                                       size_t count, size_t *written_size)
{
    char record[RECORD_SIZE];
    size_t done = 0;
    if (transport->broken) {
        return TRANSPORT_FAILED;
    }
    for (;;) {
        struct slice bytes = next_record(pieces, count, done, record);
        if (bytes.size == 0) {
            *written_size = done;
            return TRANSPORT_OK;
        }
        size_t written = 0;
        begin_tls();
        int result = SSL_write_ex(transport->ssl, bytes.data, bytes.size, &written);
        if (result != 1) {
            enum transport_result failure = fail_tls(transport, result);
            *written_size = done;
            // What has been written counts; the failure shows again with the next call.
            return done ? TRANSPORT_OK : failure;
        }
        done += written;
    }
}

// One piece, which is the rule, costs less by send.
static ssize_t put_plain(int fd, const struct iovec *pieces, size_t count)
{
    return count == 1 ? send(fd, pieces->iov_base, pieces->iov_len, MSG_NOSIGNAL)
                      : writev(fd, pieces, count < IOV_MAX ? (int)count : IOV_MAX);
}

enum transport_result transport_write(struct transport *transport, const struct iovec *pieces,
                                      size_t count, size_t *written_size)
{
    if (transport->ssl) {
        return write_tls(transport, pieces, count, written_size);
    }
    ssize_t put;
    do {
        put = put_plain(transport->fd, pieces, count);
    } while (put < 0 && errno == EINTR);
    if (put >= 0) {
        *written_size = (size_t)put;
        return TRANSPORT_OK;
    }
    return fail_plain(transport, errno, TRANSPORT_AGAIN_WRITE);
}

bool transport_pending(const struct transport *transport)
{
    return transport->ssl && SSL_pending(transport->ssl) > 0;
}

static void end_tls(struct transport *transport)
{
    if (transport->ssl && transport->greeted && !transport->broken) {
        begin_tls();
        (void)SSL_shutdown(transport->ssl);
        ERR_clear_error();
        transport->broken = true;
    }
}

void transport_end(struct transport *transport)
{
    end_tls(transport);
    (void)shutdown(transport->fd, SHUT_WR);
}

void transport_close(struct transport *transport)
{
    end_tls(transport);
    if (transport->ssl) {
        SSL_free(transport->ssl);
        ERR_clear_error();
        transport->ssl = NULL;
    }
    if (transport->fd >= 0) {
        (void)close(transport->fd);
        transport->fd = -1;
    }
}

void transport_reason(const struct transport *transport, struct error *error)
{
    const char *text = "the connection has failed";
    long verdict = transport->ssl ? SSL_get_verify_result(transport->ssl) : X509_V_OK;
    if (verdict != X509_V_OK) {
        text = X509_verify_cert_error_string(verdict); // of the peer's certificate
    } else if (transport->error_code) {
        text = ERR_reason_error_string(transport->error_code);
    } else if (transport->error_number) {
        text = strerror(transport->error_number);
    }
    (void)error_set(error, STATUS_IO, "%s", text ? text : "unknown reason");
}

static bool read_name(X509 *certificate, char out[TRANSPORT_NAME_SIZE])
{
    const X509_NAME *subject = X509_get_subject_name(certificate);
    int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0) {
        return false;
    }
    unsigned char *text = NULL;
    int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    bool good = size > 0 && size < TRANSPORT_NAME_SIZE && !memchr(text, '\0', (size_t)size);
    if (good) {
        memcpy(out, text, (size_t)size);
        out[size] = '\0';
    }
    if (size >= 0) {
        OPENSSL_free(text);
    }
    return good;
}

bool transport_client_name(const struct transport *transport, char name[TRANSPORT_NAME_SIZE])
{
    if (!transport->ssl || !(SSL_get_verify_mode(transport->ssl) & SSL_VERIFY_PEER) ||
        SSL_get_verify_result(transport->ssl) != X509_V_OK) {
        return false;
    }
    X509 *certificate = SSL_get1_peer_certificate(transport->ssl);
    bool found = certificate && read_name(certificate, name);
    X509_free(certificate);
    return found;
}
