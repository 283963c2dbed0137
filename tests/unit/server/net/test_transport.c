// SPDX-License-Identifier: MIT
// Both ends of a connection in one thread, over a pair of sockets that do not block.
#include "server/net/transport.h"

#include "server/net/tls.h"

#include "certificates.h"
#include "random.h"
#include "settings_test.h"
#include "test.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TURNS = 100000, // a conversation that takes longer hangs
    PATH_SIZE = 128,
};

#define FLAGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

// Files of the whole program, made once: two authorities, and certificates of the first.
static struct {
    char folder[64];
    char ca[PATH_SIZE], other_ca[PATH_SIZE];
    char server[PATH_SIZE], server_key[PATH_SIZE];
    char ann[PATH_SIZE], ann_key[PATH_SIZE];
    char stranger[PATH_SIZE], stranger_key[PATH_SIZE]; // of the other authority
} files;

static char *paths[] = { files.ca,  files.other_ca, files.server,   files.server_key,
                         files.ann, files.ann_key,  files.stranger, files.stranger_key };
static const char *const names[] = { "ca",  "other-ca", "server",   "server-key",
                                     "ann", "ann-key",  "stranger", "stranger-key" };

static int set_up(void **state)
{
    (void)state;
    const char *root = getenv("TMPDIR");
    struct authority authority;
    struct authority other;
    (void)signal(SIGPIPE, SIG_IGN);
    (void)snprintf(files.folder, sizeof(files.folder), "%s/sluice-XXXXXX", root ? root : "/tmp");
    assert_non_null(mkdtemp(files.folder));
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        (void)snprintf(paths[i], PATH_SIZE, "%s/%s", files.folder, names[i]);
    }
    authority_init(&authority, files.ca);
    authority_init(&other, files.other_ca);
    authority_sign(&authority, "localhost", files.server, files.server_key);
    authority_sign(&authority, "ann", files.ann, files.ann_key);
    authority_sign(&other, "ann", files.stranger, files.stranger_key);
    authority_release(&authority);
    authority_release(&other);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        (void)unlink(paths[i]);
    }
    (void)rmdir(files.folder);
    return 0;
}

// ---------------------------------------------------------------------------------------------

struct pair {
    struct transport server;
    int client_fd;
    SSL_CTX *context; // the client's
    SSL *client;      // NULL in the clear
};

static void make_sockets(int fds[2])
{
    int size = 4096; // so that writing has to wait soon
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)), 0);
    }
}

static void pair_init_plain(struct pair *pair)
{
    int fds[2];
    make_sockets(fds);
    *pair = (struct pair){ .client_fd = fds[1] };
    transport_init(&pair->server, fds[0]);
}

static void pair_init_tls(struct pair *pair, const struct tls *tls, const char *certificate,
                          const char *key)
{
    int fds[2];
    make_sockets(fds);
    *pair = (struct pair){ .client_fd = fds[1], .context = SSL_CTX_new(TLS_client_method()) };
    assert_int_equal(transport_init_tls(&pair->server, tls, fds[0]), STATUS_OK);
    assert_int_equal(SSL_CTX_load_verify_file(pair->context, files.ca), 1);
    SSL_CTX_set_verify(pair->context, SSL_VERIFY_PEER, NULL);
    (void)SSL_CTX_set_mode(pair->context, SSL_MODE_ENABLE_PARTIAL_WRITE);
    if (certificate) {
        assert_int_equal(SSL_CTX_use_certificate_file(pair->context, certificate, SSL_FILETYPE_PEM),
                         1);
        assert_int_equal(SSL_CTX_use_PrivateKey_file(pair->context, key, SSL_FILETYPE_PEM), 1);
    }
    pair->client = SSL_new(pair->context);
    assert_non_null(pair->client);
    assert_int_equal(SSL_set_fd(pair->client, pair->client_fd), 1);
    SSL_set_connect_state(pair->client);
}

static void pair_release(struct pair *pair)
{
    transport_close(&pair->server);
    transport_close(&pair->server);
    assert_int_equal(pair->server.fd, -1);
    SSL_free(pair->client);
    SSL_CTX_free(pair->context);
    if (pair->client_fd >= 0) {
        (void)close(pair->client_fd);
    }
}

// Both greet until the server is done with it, well or not. The client reads a byte too, so that
// under TLS 1.3 it hears of being refused.
static enum transport_result greet(struct pair *pair)
{
    enum transport_result result = TRANSPORT_AGAIN_READ;
    for (int i = 0; i < TURNS; i++) {
        ERR_clear_error();
        if (pair->client) {
            (void)SSL_do_handshake(pair->client);
        }
        result = transport_handshake(&pair->server);
        if (result != TRANSPORT_AGAIN_READ && result != TRANSPORT_AGAIN_WRITE) {
            break;
        }
    }
    ERR_clear_error();
    return result;
}

// What the client reads and writes; -1 when it has to wait.
static ssize_t client_read(struct pair *pair, void *bytes, size_t size)
{
    size_t got;
    if (!pair->client) {
        return read(pair->client_fd, bytes, size);
    }
    ERR_clear_error();
    return SSL_read_ex(pair->client, bytes, size, &got) == 1 ? (ssize_t)got : -1;
}

static ssize_t client_write(struct pair *pair, const void *bytes, size_t size)
{
    size_t put;
    if (!pair->client) {
        return write(pair->client_fd, bytes, size);
    }
    ERR_clear_error();
    return SSL_write_ex(pair->client, bytes, size, &put) == 1 ? (ssize_t)put : -1;
}

static struct tls *tls_of(const char *const *flags)
{
    struct settings_test settings;
    struct tls *tls = NULL;
    struct error error = { 0 };
    settings_test_of(&settings, flags);
    enum status status = tls_new(&allocator_system, &settings.settings, &tls, &error);
    if (status) {
        print_error("%s\n", error_sentence(&error));
    }
    assert_int_equal(status, STATUS_OK);
    settings_test_release(&settings);
    return tls;
}

static struct tls *tls_plain(void)
{
    return tls_of(FLAGS("--tls-cert", files.server, "--tls-key", files.server_key));
}

// ---------------------------------------------------------------------------------------------
// Bytes both ways

enum {
    STREAM_SIZE = 600000,
};

static char sent[STREAM_SIZE];

// The server writes the bytes from `done` on, in random pieces, after AGAIN from another place.
static size_t write_some(struct pair *pair, struct random *random, size_t done)
{
    struct iovec pieces[8];
    static char moved[STREAM_SIZE];
    size_t count = 1 + random_below(random, 8);
    char *from = random_below(random, 2) ? moved : sent;
    size_t at = done;
    if (from == moved) {
        memcpy(moved + done, sent + done, STREAM_SIZE - done);
    }
    for (size_t i = 0; i < count; i++) {
        size_t size =
            random_below(random, 4) ? random_below(random, 100) : random_below(random, 60000);
        // The last piece is large, so that a second try never has less than the first.
        if (i + 1 == count || size > STREAM_SIZE - at) {
            size = STREAM_SIZE - at;
        }
        pieces[i] = (struct iovec){ from + at, size };
        at += size;
    }
    size_t written = 0;
    enum transport_result result = transport_write(&pair->server, pieces, count, &written);
    assert_true(result == TRANSPORT_OK || result == TRANSPORT_AGAIN_WRITE);
    assert_true((result == TRANSPORT_OK) == (written > 0));
    return written;
}

static void stream_out(struct pair *pair, struct random *random)
{
    static char got[STREAM_SIZE];
    size_t written = 0;
    size_t read_size = 0;
    for (int i = 0; i < TURNS && read_size < STREAM_SIZE; i++) {
        if (written < STREAM_SIZE) {
            written += write_some(pair, random, written);
        }
        ssize_t more = client_read(pair, got + read_size, STREAM_SIZE - read_size);
        read_size += more > 0 ? (size_t)more : 0;
    }
    assert_int_equal(read_size, STREAM_SIZE);
    assert_memory_equal(got, sent, STREAM_SIZE);
}

static void stream_in(struct pair *pair, struct random *random)
{
    static char got[STREAM_SIZE];
    size_t written = 0;
    size_t read_size = 0;
    for (int i = 0; i < TURNS && read_size < STREAM_SIZE; i++) {
        if (written < STREAM_SIZE) {
            ssize_t more = client_write(pair, sent + written, STREAM_SIZE - written);
            written += more > 0 ? (size_t)more : 0;
        }
        size_t room = 1 + random_below(random, 5000);
        size_t more = 0;
        room = room < STREAM_SIZE - read_size ? room : STREAM_SIZE - read_size;
        enum transport_result result = transport_read(&pair->server, got + read_size, room, &more);
        assert_true(result == TRANSPORT_OK || result == TRANSPORT_AGAIN_READ);
        assert_true(result == TRANSPORT_OK ? more > 0 : !transport_pending(&pair->server));
        read_size += more;
    }
    assert_int_equal(read_size, STREAM_SIZE);
    assert_memory_equal(got, sent, STREAM_SIZE);
}

static void converse(struct pair *pair)
{
    struct random random;
    random_init(&random);
    for (size_t i = 0; i < STREAM_SIZE; i++) {
        sent[i] = (char)random_u64(&random);
    }
    assert_int_equal(greet(pair), TRANSPORT_OK);
    stream_out(pair, &random);
    stream_in(pair, &random);
}

static void test_transport__bytes_arrive_in_the_clear(void **state)
{
    (void)state;
    struct pair pair;
    pair_init_plain(&pair);
    converse(&pair);
    pair_release(&pair);
}

static void test_transport__bytes_arrive_under_tls(void **state)
{
    (void)state;
    static const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };
    static const char *const version_names[] = { "TLSv1.2", "TLSv1.3" };
    struct tls *tls = tls_plain();
    for (size_t i = 0; i < 2; i++) {
        struct pair pair;
        pair_init_tls(&pair, tls, NULL, NULL);
        assert_int_equal(SSL_set_max_proto_version(pair.client, versions[i]), 1);
        converse(&pair);
        assert_string_equal(SSL_get_version(pair.client), version_names[i]);
        pair_release(&pair);
    }
    tls_free(tls);
}

static void test_transport__bytes_that_tls_holds_are_told_of(void **state)
{
    (void)state;
    struct tls *tls = tls_plain();
    struct pair pair;
    char byte;
    size_t size;
    pair_init_tls(&pair, tls, NULL, NULL);
    assert_int_equal(greet(&pair), TRANSPORT_OK);
    assert_int_equal(client_write(&pair, "abc", 3), 3);
    assert_int_equal(transport_read(&pair.server, &byte, 1, &size), TRANSPORT_OK);
    assert_true(transport_pending(&pair.server));
    assert_int_equal(transport_read(&pair.server, &byte, 1, &size), TRANSPORT_OK);
    assert_int_equal(transport_read(&pair.server, &byte, 1, &size), TRANSPORT_OK);
    assert_int_equal(byte, 'c');
    assert_false(transport_pending(&pair.server));
    assert_int_equal(transport_read(&pair.server, &byte, 1, &size), TRANSPORT_AGAIN_READ);
    pair_release(&pair);
    tls_free(tls);
}

// ---------------------------------------------------------------------------------------------
// Ends

static void expect_closed(struct pair *pair)
{
    char byte;
    size_t size;
    assert_int_equal(transport_read(&pair->server, &byte, 1, &size), TRANSPORT_CLOSED);
}

// A read that goes on until there is data, through any number of records without, would hold up the
// loop for as long as the client sends them.
static void test_transport__a_read_takes_one_record_without_data(void **state)
{
    (void)state;
    struct tls *tls = tls_plain();
    struct pair pair;
    char bytes[64];
    size_t size = 0;
    int unread = 0, before, reads = 0;
    pair_init_tls(&pair, tls, NULL, NULL);
    assert_int_equal(greet(&pair), TRANSPORT_OK);
    assert_string_equal(SSL_get_version(pair.client), "TLSv1.3");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(SSL_key_update(pair.client, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
        assert_int_equal(SSL_do_handshake(pair.client), 1);
    }
    assert_int_equal(SSL_write(pair.client, "end", 3), 3);
    assert_int_equal(ioctl(pair.server.fd, FIONREAD, &unread), 0);
    before = unread;
    while (transport_read(&pair.server, bytes, sizeof(bytes), &size) == TRANSPORT_AGAIN_READ) {
        assert_int_equal(ioctl(pair.server.fd, FIONREAD, &unread), 0);
        assert_true(before - unread < 64); // a record
        before = unread;
        assert_true(++reads < 100);
    }
    assert_true(reads >= 4);
    assert_int_equal(size, 3);
    assert_memory_equal(bytes, "end", 3);
    pair_release(&pair);
    tls_free(tls);
}

static void test_transport__an_end_is_seen(void **state)
{
    (void)state;
    struct tls *tls = tls_plain();
    struct pair pair;
    // In the clear.
    pair_init_plain(&pair);
    (void)close(pair.client_fd);
    pair.client_fd = -1;
    expect_closed(&pair);
    const struct iovec piece = { (char[]){ "a" }, 1 };
    size_t written;
    assert_int_equal(transport_write(&pair.server, &piece, 1, &written), TRANSPORT_CLOSED);
    pair_release(&pair);
    // Under TLS, with a farewell and without.
    for (int farewell = 0; farewell < 2; farewell++) {
        pair_init_tls(&pair, tls, NULL, NULL);
        assert_int_equal(greet(&pair), TRANSPORT_OK);
        if (farewell) {
            (void)SSL_shutdown(pair.client);
        }
        (void)close(pair.client_fd);
        pair.client_fd = -1;
        expect_closed(&pair);
        pair_release(&pair);
    }
    tls_free(tls);
}

static void test_transport__the_client_sees_the_farewell(void **state)
{
    (void)state;
    struct tls *tls = tls_plain();
    struct pair pair;
    char byte;
    pair_init_tls(&pair, tls, NULL, NULL);
    assert_int_equal(greet(&pair), TRANSPORT_OK);
    transport_close(&pair.server);
    assert_int_equal(client_read(&pair, &byte, 1), -1);
    assert_int_equal(SSL_get_shutdown(pair.client) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);
    pair_release(&pair);
    tls_free(tls);
}

static void test_transport__who_does_not_speak_tls_is_refused_with_a_reason(void **state)
{
    (void)state;
    struct tls *tls = tls_plain();
    struct pair pair;
    struct error error;
    pair_init_tls(&pair, tls, NULL, NULL);
    assert_int_equal(write(pair.client_fd, "PING\r\nPING\r\nPING\r\n", 18), 18);
    SSL_free(pair.client);
    pair.client = NULL;
    assert_int_equal(greet(&pair), TRANSPORT_FAILED);
    transport_reason(&pair.server, &error);
    assert_string_equal(error.detail, "wrong version number");
    assert_int_equal(transport_handshake(&pair.server), TRANSPORT_FAILED);
    pair_release(&pair);
    tls_free(tls);
}

static void test_transport__versions_before_1_2_are_refused(void **state)
{
    (void)state;
    struct tls *tls = tls_plain();
    struct pair pair;
    pair_init_tls(&pair, tls, NULL, NULL);
    SSL_set_security_level(pair.client, 0);
    assert_int_equal(SSL_set_min_proto_version(pair.client, TLS1_VERSION), 1);
    assert_int_equal(SSL_set_max_proto_version(pair.client, TLS1_1_VERSION), 1);
    assert_int_equal(greet(&pair), TRANSPORT_FAILED);
    pair_release(&pair);
    tls_free(tls);
}

// ---------------------------------------------------------------------------------------------
// Certificates

static void expect_greeting(const struct tls *tls, const char *certificate, const char *key,
                            enum transport_result result)
{
    struct pair pair;
    pair_init_tls(&pair, tls, certificate, key);
    assert_int_equal(greet(&pair), result);
    pair_release(&pair);
}

static void test_transport__with_an_authority_clients_need_its_certificate(void **state)
{
    (void)state;
    struct tls *tls = tls_of(
        FLAGS("--tls-cert", files.server, "--tls-key", files.server_key, "--tls-ca", files.ca));
    expect_greeting(tls, files.ann, files.ann_key, TRANSPORT_OK);
    expect_greeting(tls, NULL, NULL, TRANSPORT_FAILED);
    expect_greeting(tls, files.stranger, files.stranger_key, TRANSPORT_FAILED);
    tls_free(tls);
}

static void test_transport__with_names_the_certificate_needs_one_of_them(void **state)
{
    (void)state;
    struct tls *tls =
        tls_of(FLAGS("--tls-cert", files.server, "--tls-key", files.server_key, "--tls-ca",
                     files.ca, "--tls-client-names=bob", "--tls-client-names=ann"));
    expect_greeting(tls, files.ann, files.ann_key, TRANSPORT_OK);
    expect_greeting(tls, files.server, files.server_key, TRANSPORT_FAILED);
    tls_free(tls);
}

static void test_transport__a_connection_goes_on_without_what_it_was_made_with(void **state)
{
    (void)state;
    struct tls *tls = tls_plain();
    struct pair pair;
    pair_init_tls(&pair, tls, NULL, NULL);
    tls_free(tls);
    converse(&pair);
    pair_release(&pair);
}

static void test_transport__files_that_cannot_be_used_are_named(void **state)
{
    (void)state;
    struct settings_test settings;
    struct tls *tls;
    struct error error;
    char sentence[ERROR_DETAIL_SIZE];
    settings_test_of(&settings, FLAGS("--tls-cert=/nowhere/a", "--tls-key", files.server_key));
    assert_int_equal(tls_new(&allocator_system, &settings.settings, &tls, &error), STATUS_INVALID);
    assert_string_equal(error.detail,
                        "tls-cert /nowhere/a cannot be used: No such file or directory");
    settings_test_release(&settings);
    settings_test_of(&settings, FLAGS("--tls-cert", files.server, "--tls-key", files.ann_key));
    assert_int_equal(tls_new(&allocator_system, &settings.settings, &tls, &error), STATUS_INVALID);
    (void)snprintf(sentence, sizeof(sentence), "tls-key %s cannot be used: key values mismatch",
                   files.ann_key);
    assert_string_equal(error.detail, sentence);
    settings_test_release(&settings);
    settings_test_of(&settings, FLAGS("--tls-cert", files.server_key, "--tls-key", files.server));
    assert_int_equal(tls_new(&allocator_system, &settings.settings, &tls, &error), STATUS_INVALID);
    (void)snprintf(sentence, sizeof(sentence), "tls-cert %s cannot be used: no start line",
                   files.server_key);
    assert_string_equal(error.detail, sentence);
    settings_test_release(&settings);
    settings_test_of(&settings, FLAGS("--tls-cert", files.server, "--tls-key", files.server_key,
                                      "--tls-ca=/nowhere/ca"));
    assert_int_equal(tls_new(&allocator_system, &settings.settings, &tls, &error), STATUS_INVALID);
    assert_string_equal(error.detail,
                        "tls-ca /nowhere/ca cannot be used: No such file or directory");
    settings_test_release(&settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transport__bytes_arrive_in_the_clear),
        cmocka_unit_test(test_transport__bytes_arrive_under_tls),
        cmocka_unit_test(test_transport__bytes_that_tls_holds_are_told_of),
        cmocka_unit_test(test_transport__a_read_takes_one_record_without_data),
        cmocka_unit_test(test_transport__an_end_is_seen),
        cmocka_unit_test(test_transport__the_client_sees_the_farewell),
        cmocka_unit_test(test_transport__who_does_not_speak_tls_is_refused_with_a_reason),
        cmocka_unit_test(test_transport__versions_before_1_2_are_refused),
        cmocka_unit_test(test_transport__with_an_authority_clients_need_its_certificate),
        cmocka_unit_test(test_transport__with_names_the_certificate_needs_one_of_them),
        cmocka_unit_test(test_transport__a_connection_goes_on_without_what_it_was_made_with),
        cmocka_unit_test(test_transport__files_that_cannot_be_used_are_named),
    };
    return cmocka_run_group_tests_name("transport", tests, set_up, tear_down);
}
