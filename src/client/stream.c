// SPDX-License-Identifier: MIT
#include "client/stream.h"

#include "client/fork.h"
#include "os/clock.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    // The loss of a server's machine is noticed after a minute, even if a call waits longer.
    PROBE_AFTER_S = 30,
    PROBE_EVERY_S = 10,
    PROBES = 3,
};

// ---------------------------------------------------------------------------------------------
// Trust

static const char *tls_reason(void)
{
    const char *text = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return text ? text : "unknown reason";
}

static enum sluice_status load_files(SSL_CTX *trust, const struct sluice_open_options *options,
                                     struct sluice_error *error)
{
    if (options->ca_file ? SSL_CTX_load_verify_file(trust, options->ca_file) != 1
                         : SSL_CTX_set_default_verify_paths(trust) != 1) {
        return fault(error, SLUICE_INVALID, "ca_file %.100s cannot be used: %s",
                     options->ca_file ? options->ca_file : "of the system", tls_reason());
    }
    if (!options->cert_file) {
        return SLUICE_OK;
    }
    const char *key = options->key_file ? options->key_file : options->cert_file;
    if (SSL_CTX_use_certificate_chain_file(trust, options->cert_file) != 1 ||
        SSL_CTX_use_PrivateKey_file(trust, key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(trust) != 1) {
        return fault(error, SLUICE_INVALID, "cert_file %.100s or its key cannot be used: %s",
                     options->cert_file, tls_reason());
    }
    return SLUICE_OK;
}

enum sluice_status stream_trust(const struct url *url, const struct sluice_open_options *options,
                                struct ssl_ctx_st **out, struct sluice_error *error)
{
    *out = NULL;
    if (!url->tls) {
        return SLUICE_OK;
    }
    SSL_CTX *trust = SSL_CTX_new(TLS_client_method());
    if (!trust) {
        return fault_no_memory(error);
    }
    (void)SSL_CTX_set_min_proto_version(trust, TLS1_2_VERSION);
    (void)SSL_CTX_set_mode(trust, SSL_MODE_ENABLE_PARTIAL_WRITE);
    (void)SSL_CTX_set_options(trust, SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_verify(trust, SSL_VERIFY_PEER, NULL);
    enum sluice_status status = load_files(trust, options, error);
    if (status) {
        SSL_CTX_free(trust);
        return status;
    }
    *out = trust;
    return SLUICE_OK;
}

void stream_distrust(struct ssl_ctx_st *trust)
{
    SSL_CTX_free(trust);
}

// ---------------------------------------------------------------------------------------------
// OpenSSL writes without MSG_NOSIGNAL, and a library cannot ignore SIGPIPE for the program. The
// signal is blocked in this thread during the call, and removed if the call has caused it.

struct quiet {
    sigset_t before;
    bool was_pending;
};

static sigset_t broken_pipe(void)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPIPE);
    return set;
}

static bool pipe_signal_is_pending(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

static struct quiet quiet_begin(void)
{
    struct quiet quiet;
    const sigset_t set = broken_pipe();
    quiet.was_pending = pipe_signal_is_pending();
    (void)pthread_sigmask(SIG_BLOCK, &set, &quiet.before);
    ERR_clear_error();
    return quiet;
}

static void quiet_end(const struct quiet *quiet)
{
    if (!quiet->was_pending && pipe_signal_is_pending()) {
        const sigset_t set = broken_pipe();
        const struct timespec now = { 0 };
        (void)sigtimedwait(&set, NULL, &now);
    }
    (void)pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
}

// ---------------------------------------------------------------------------------------------
// Waiting

static int poll_ms(int64_t deadline_us)
{
    if (deadline_us == INT64_MAX) {
        return -1;
    }
    int64_t left_us = deadline_us - monotonic_us();
    if (left_us <= 0) {
        return 0;
    }
    int64_t ms = (left_us + 999) / 1000;
    return ms > 1000000 ? 1000000 : (int)ms;
}

// Waits until the stream is ready for `events`. If `wake` is readable too, returns OK.
static enum stream_result wait_for(const struct stream *stream, short events, int64_t deadline_us,
                                   int wake)
{
    for (;;) {
        struct pollfd of[] = { { .fd = stream->fd, .events = events },
                               { .fd = wake, .events = POLLIN } };
        int count = poll(of, wake >= 0 ? 2 : 1, poll_ms(deadline_us));
        if (count < 0 && errno != EINTR) {
            return STREAM_CLOSED;
        }
        if (count > 0) {
            return of[0].revents ? STREAM_OK : STREAM_WOKEN;
        }
        if (deadline_us != INT64_MAX && monotonic_us() >= deadline_us) {
            return STREAM_LATE;
        }
    }
}

// A server rejects a certificate with an alert; with TLS 1.3 it arrives when the first answer is
// read.
static bool is_about_certificate(int reason)
{
    switch (reason) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
        return true;
    default:
        return false;
    }
}

// Waits for what a call of OpenSSL that returned `result` needs.
static enum stream_result wait_for_tls(struct stream *stream, int result, int64_t deadline_us,
                                       int wake)
{
    switch (SSL_get_error(stream->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        return wait_for(stream, POLLIN, deadline_us, wake);
    case SSL_ERROR_WANT_WRITE:
        return wait_for(stream, POLLOUT, deadline_us, wake);
    default:
        stream->turned_away |= is_about_certificate(ERR_GET_REASON(ERR_peek_last_error()));
        ERR_clear_error();
        return STREAM_CLOSED;
    }
}

// ---------------------------------------------------------------------------------------------
// Opening

// A Unix socket has none of them.
static void set_options(int fd)
{
    const int on = 1, after = PROBE_AFTER_S, every = PROBE_EVERY_S, probes = PROBES;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &after, sizeof(after));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof(every));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

// Returns 0 or an errno.
static int connect_one(struct stream *stream, const struct addrinfo *address, struct until until)
{
    stream->fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                        address->ai_protocol);
    if (stream->fd < 0) {
        return errno;
    }
    int failed = connect(stream->fd, address->ai_addr, address->ai_addrlen) ? errno : 0;
    if (failed == EINPROGRESS) {
        socklen_t size = sizeof(failed);
        enum stream_result result = wait_for(stream, POLLOUT, until.deadline_us, until.wake);
        if (result != STREAM_OK) {
            failed = result == STREAM_WOKEN ? EINTR : ETIMEDOUT;
        } else if (getsockopt(stream->fd, SOL_SOCKET, SO_ERROR, &failed, &size)) {
            failed = errno;
        }
    }
    if (failed) {
        close(stream->fd);
        stream->fd = -1;
        return failed;
    }
    set_options(stream->fd);
    return 0;
}

static enum sluice_status connect_socket(struct stream *stream, const struct url *url,
                                         struct until until, struct sluice_error *error)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    const struct addrinfo address = {
        .ai_family = AF_UNIX,
        .ai_socktype = SOCK_STREAM,
        .ai_addr = (struct sockaddr *)&name,
        .ai_addrlen = sizeof(name),
    };
    static_assert(sizeof(name.sun_path) == URL_SOCKET_SIZE, "a path that was read fits");
    memcpy(name.sun_path, url->socket, sizeof(name.sun_path));
    int failed = connect_one(stream, &address, until);
    if (failed == EINTR) {
        return fault_interrupted(error);
    }
    return failed ? fault(error, SLUICE_UNREACHABLE, "%s cannot be reached: %s", url->place,
                          strerrordesc_np(failed))
                  : SLUICE_OK;
}

static bool is_address(const char *host)
{
    unsigned char bytes[16];
    return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

// Which addresses the machine can reach is asked for names alone: libc holds a lock meanwhile.
static int look_up(const struct url *url, struct addrinfo **addresses)
{
    const struct addrinfo hints = {
        .ai_socktype = SOCK_STREAM,
        .ai_flags = is_address(url->host) ? AI_NUMERICHOST : AI_ADDRCONFIG,
    };
    fork_hold();
    int result = getaddrinfo(url->host, url->port, &hints, addresses);
    fork_release();
    return result;
}

static enum sluice_status connect_any(struct stream *stream, const struct url *url,
                                      struct until until, struct sluice_error *error)
{
    struct addrinfo *addresses = NULL;
    if (url->socket[0]) {
        return connect_socket(stream, url, until, error);
    }
    int result = look_up(url, &addresses);
    if (result) {
        return fault(error, SLUICE_UNREACHABLE, "%.120s is not found: %s", url->host,
                     gai_strerror(result));
    }
    int failed = EADDRNOTAVAIL;
    for (const struct addrinfo *at = addresses; at && failed && failed != EINTR; at = at->ai_next) {
        failed = connect_one(stream, at, until);
    }
    freeaddrinfo(addresses);
    if (failed == EINTR) {
        return fault_interrupted(error);
    }
    return failed ? fault(error, SLUICE_UNREACHABLE, "%s cannot be reached: %s", url->place,
                          strerrordesc_np(failed))
                  : SLUICE_OK;
}

// The certificate must be that of the host in the address.
static bool expect_host(SSL *ssl, const char *host)
{
    X509_VERIFY_PARAM *checks = SSL_get0_param(ssl);
    if (is_address(host)) {
        return X509_VERIFY_PARAM_set1_ip_asc(checks, host) == 1;
    }
    return X509_VERIFY_PARAM_set1_host(checks, host, 0) == 1 &&
           SSL_set_tlsext_host_name(ssl, host) == 1;
}

enum sluice_status stream_turned_away(const struct url *url, struct sluice_error *error)
{
    return fault(error, SLUICE_DENIED, "%s rejects the client's certificate, or requires one",
                 url->place);
}

static enum sluice_status greet(struct stream *stream, const struct url *url, SSL_CTX *trust,
                                struct until until, struct sluice_error *error)
{
    stream->ssl = SSL_new(trust);
    if (!stream->ssl || SSL_set_fd(stream->ssl, stream->fd) != 1 ||
        !expect_host(stream->ssl, url->host)) {
        return fault_no_memory(error);
    }
    for (;;) {
        struct quiet quiet = quiet_begin();
        int result = SSL_connect(stream->ssl);
        quiet_end(&quiet);
        if (result == 1) {
            return SLUICE_OK;
        }
        long verdict = SSL_get_verify_result(stream->ssl);
        if (verdict != X509_V_OK) {
            return fault(error, SLUICE_DENIED, "the certificate of %.100s is not trusted: %s",
                         url->host, X509_verify_cert_error_string(verdict));
        }
        switch (wait_for_tls(stream, result, until.deadline_us, until.wake)) {
        case STREAM_OK:
            break;
        case STREAM_WOKEN:
            return fault_interrupted(error);
        default:
            if (stream->turned_away) {
                return stream_turned_away(url, error);
            }
            return fault(error, SLUICE_UNREACHABLE, "no TLS connection with %s", url->place);
        }
    }
}

enum sluice_status stream_open(struct stream *stream, const struct url *url,
                               struct ssl_ctx_st *trust, struct until until,
                               struct sluice_error *error)
{
    *stream = (struct stream){ .fd = -1 };
    enum sluice_status status = connect_any(stream, url, until, error);
    if (status == SLUICE_UNREACHABLE && until.no_connection) {
        *until.no_connection = true;
    }
    if (!status && trust) {
        status = greet(stream, url, trust, until, error);
    }
    if (status) {
        stream_close(stream);
    }
    return status;
}

void stream_abandon(struct stream *stream)
{
    if (stream->fd >= 0) {
        (void)close(stream->fd);
        stream->fd = -1;
    }
}

void stream_close(struct stream *stream)
{
    SSL_free(stream->ssl);
    stream->ssl = NULL;
    stream_abandon(stream);
}

// ---------------------------------------------------------------------------------------------
// Bytes

static bool would_block(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

enum stream_result stream_write(struct stream *stream, struct slice bytes, struct until until)
{
    enum stream_result result = stream->fd < 0 ? STREAM_CLOSED : STREAM_OK;
    while (bytes.size && result == STREAM_OK) {
        size_t written = 0;
        if (stream->ssl) {
            struct quiet quiet = quiet_begin();
            int ok = SSL_write_ex(stream->ssl, bytes.data, bytes.size, &written);
            quiet_end(&quiet);
            result = ok == 1 ? STREAM_OK : wait_for_tls(stream, ok, until.deadline_us, until.wake);
        } else {
            ssize_t size = send(stream->fd, bytes.data, bytes.size, MSG_NOSIGNAL);
            if (size < 0) {
                result = would_block() ? wait_for(stream, POLLOUT, until.deadline_us, until.wake)
                                       : STREAM_CLOSED;
            } else {
                written = (size_t)size;
            }
        }
        bytes = slice_sub(bytes, written, SIZE_MAX);
    }
    return result;
}

static enum stream_result read_plain(struct stream *stream, void *bytes, size_t size,
                                     size_t *read_size, int64_t deadline_us, int wake)
{
    ssize_t got = recv(stream->fd, bytes, size, 0);
    if (got < 0) {
        return would_block() ? wait_for(stream, POLLIN, deadline_us, wake) : STREAM_CLOSED;
    }
    *read_size = (size_t)got;
    return got ? STREAM_OK : STREAM_CLOSED;
}

enum stream_result stream_read(struct stream *stream, void *bytes, size_t size, size_t *read_size,
                               int64_t deadline_us, int wake)
{
    enum stream_result result = stream->fd < 0 ? STREAM_CLOSED : STREAM_OK;
    *read_size = 0;
    while (result == STREAM_OK && *read_size == 0) {
        if (stream->ssl) {
            struct quiet quiet = quiet_begin();
            int ok = SSL_read_ex(stream->ssl, bytes, size, read_size);
            quiet_end(&quiet);
            result = ok == 1 ? STREAM_OK : wait_for_tls(stream, ok, deadline_us, wake);
        } else {
            result = read_plain(stream, bytes, size, read_size, deadline_us, wake);
        }
    }
    return result;
}

void stream_end(struct stream *stream)
{
    if (stream->ssl) {
        struct quiet quiet = quiet_begin();
        (void)SSL_shutdown(stream->ssl);
        quiet_end(&quiet);
    }
    (void)shutdown(stream->fd, SHUT_WR);
}

bool stream_is_idle(const struct stream *stream)
{
    struct pollfd of = { .fd = stream->fd, .events = POLLIN };
    return stream->fd >= 0 && poll(&of, 1, 0) == 0;
}
