// SPDX-License-Identifier: MIT
#include "server/http/web_admit.h"

#include "base/ascii.h"
#include "server/access/credentials.h"
#include "server/access/logins.h"
#include "server/http/dashboard.h"
#include "server/http/session_page.h"
#include "server/server.h"

#include <openssl/crypto.h>

static enum web_step refuse(struct web_refusal *refusal, unsigned status)
{
    refusal->status = status;
    return WEB_REFUSED;
}

// ---------------------------------------------------------------------------------------------
// Host

static bool is_digits_and_dots(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] != '.' && (text.data[i] < '0' || text.data[i] > '9')) {
            return false;
        }
    }
    return true;
}

// Whether the name can only mean this machine.
static bool is_local_name(struct slice host)
{
    const char *colon = host.size ? memrchr(host.data, ':', host.size) : NULL;
    if (colon && !memchr(colon, ']', (size_t)(host.data + host.size - colon))) {
        host = slice_sub(host, 0, (size_t)(colon - host.data));
    }
    struct slice end = SLICE(".localhost");
    return ascii_equal(host, SLICE("localhost")) || slice_equal(host, SLICE("[::1]")) ||
           (slice_starts_with(host, SLICE("127.")) && is_digits_and_dots(host)) ||
           (host.size > end.size &&
            ascii_equal(slice_sub(host, host.size - end.size, end.size), end));
}

// Without users, every client that can connect is admitted. A web page can use a host name that
// resolves to this machine, but the header Host shows that name. Pages cannot connect to Unix
// sockets.
static enum web_step check_host(const struct connection *connection, struct web_refusal *refusal)
{
    struct slice host = SLICE_EMPTY;
    (void)http_request_header(&connection->web->request, SLICE("Host"), &host, NULL);
    if (is_local_name(host) || slice_equal(connection_host(connection), SLICE("unix"))) {
        return WEB_ADMITTED;
    }
    (void)error_set(&refusal->error, STATUS_DENIED,
                    "without a password this server answers only to localhost, and not to %.*s",
                    SLICE_PRINT(slice_shown(host)));
    return refuse(refusal, 403);
}

// ---------------------------------------------------------------------------------------------
// Origin

static bool is_listed(const struct settings_list *origins, struct slice origin)
{
    for (size_t i = 0; i < origins->count; i++) {
        struct slice listed = slice_from_cstr(origins->items[i]);
        if (slice_equal(listed, SLICE("*")) || ascii_equal(listed, origin)) {
            return true;
        }
    }
    return false;
}

// Whether the page was loaded from this server.
static bool is_same(const struct http_request *request, struct slice origin)
{
    struct slice host = SLICE_EMPTY;
    if (slice_starts_with(origin, SLICE("https://"))) {
        origin = slice_sub(origin, strlen("https://"), SIZE_MAX);
    } else if (slice_starts_with(origin, SLICE("http://"))) {
        origin = slice_sub(origin, strlen("http://"), SIZE_MAX);
    } else {
        return false;
    }
    return http_request_header(request, SLICE("Host"), &host, NULL) && host.size &&
           ascii_equal(host, origin);
}

bool web_is_own_page(const struct http_request *request)
{
    struct slice site = SLICE_EMPTY;
    struct slice origin = SLICE_EMPTY;
    size_t count = 0;
    return (http_request_header(request, SLICE("Sec-Fetch-Site"), &site, NULL) &&
            slice_equal(site, SLICE("same-origin"))) ||
           !http_request_header(request, SLICE("Origin"), &origin, &count) ||
           (count == 1 && is_same(request, origin));
}

static bool is_preflight(const struct http_request *request)
{
    struct slice wanted;
    return slice_equal(request->method, SLICE("OPTIONS")) &&
           http_request_header(request, SLICE("Access-Control-Request-Method"), &wanted, NULL);
}

// Headers that tell the browser to let the page read the reply.
static void write_cors_headers(struct web_side *web, struct slice origin, bool preflight)
{
    static const char may[] =
        "Access-Control-Allow-Methods: GET, HEAD, POST, PUT, PATCH, DELETE\r\n"
        "Access-Control-Allow-Headers: Authorization, Content-Type, Idempotency-Key, "
        "If-None-Match, Last-Event-ID\r\n"
        "Access-Control-Max-Age: 600\r\n";
    static const char sees[] = "Access-Control-Expose-Headers: ETag, Location, Retry-After\r\n";
    int size = snprintf(web->cors, sizeof(web->cors),
                        "Access-Control-Allow-Origin: %.*s\r\nVary: Origin\r\n%s",
                        SLICE_PRINT(origin), preflight ? may : sees);
    web->call.more = slice_make(web->cors, (size_t)size);
}

// A request without Origin changes nothing, and the page that made it cannot read the reply. But
// replies take time to make, so requests of other sites' pages, for example for images and scripts,
// are refused too. Following a link from another site is allowed.
static enum web_step check_site(const struct http_request *request, struct web_refusal *refusal)
{
    struct slice site = SLICE_EMPTY;
    struct slice mode = SLICE_EMPTY;
    (void)http_request_header(request, SLICE("Sec-Fetch-Site"), &site, NULL);
    (void)http_request_header(request, SLICE("Sec-Fetch-Mode"), &mode, NULL);
    if (slice_equal(mode, SLICE("navigate")) ||
        (!slice_equal(site, SLICE("cross-site")) && !slice_equal(site, SLICE("same-site")))) {
        return WEB_ADMITTED;
    }
    (void)error_set(&refusal->error, STATUS_DENIED,
                    "pages of other origins may not ask this server (http-origins names those "
                    "that may)");
    return refuse(refusal, 403);
}

static enum web_step check_origin(struct connection *connection, struct web_refusal *refusal)
{
    struct web_side *web = connection->web;
    struct slice origin;
    size_t count;
    if (!http_request_header(&web->request, SLICE("Origin"), &origin, &count)) {
        return check_site(&web->request, refusal);
    }
    bool listed = count == 1 && origin.size <= ORIGIN_SIZE_MAX &&
                  is_listed(&connection->server->settings.http_origins, origin);
    bool preflight = is_preflight(&web->request);
    if (listed) {
        write_cors_headers(web, origin, preflight);
    } else if (count > 1 || !web_is_own_page(&web->request)) {
        (void)error_set(&refusal->error, STATUS_DENIED,
                        "pages of %.*s may not ask this server (http-origins names those that may)",
                        SLICE_PRINT(slice_shown(origin)));
        return refuse(refusal, 403);
    }
    return preflight ? WEB_PREFLIGHT : WEB_ADMITTED;
}

// ---------------------------------------------------------------------------------------------
// Authorization

// Checking a password is slow by design. A password that was accepted on this connection is
// recognised by its digest, until the users change.
static bool is_known(const struct connection *connection, const uint8_t digest[SHA256_SIZE])
{
    const struct web_side *web = connection->web;
    return web->known && web->known_since == connection->server->web.reloads &&
           !user_is_gone(web->known) && CRYPTO_memcmp(digest, web->known_digest, SHA256_SIZE) == 0;
}

static void remember(struct connection *connection, const struct user *user)
{
    struct web_side *web = connection->web;
    web->known = user;
    web->known_since = connection->server->web.reloads;
}

// The request is checked again, and then known_digest decides.
static void decided(struct connection *connection, enum status status, const struct user *user,
                    const struct error *error)
{
    if (status) {
        connection->web->login_error = *error;
    } else {
        remember(connection, user);
    }
}

static enum web_step refuse_login(struct connection *connection, struct web_refusal *refusal)
{
    struct error *error = &connection->web->login_error;
    refusal->error = *error;
    error->status = STATUS_OK;
    enum status status = refusal->error.status;
    return refuse(refusal, status == STATUS_BUSY ? 429 : status == STATUS_NO_MEMORY ? 503 : 401);
}

static enum web_step log_in(struct connection *connection, struct slice header,
                            struct web_refusal *refusal)
{
    struct web_side *web = connection->web;
    char bytes[CREDENTIALS_SIZE];
    struct slice name, password;
    if (!credentials_read(header, bytes, &name, &password)) {
        (void)error_set(&refusal->error, STATUS_DENIED,
                        "Authorization is neither Basic nor Bearer with a user and a password");
        return refuse(refusal, 401);
    }
    const struct user *user;
    enum status status = login_start(connection, name, password, decided, &user, &web->login_error);
    OPENSSL_cleanse(bytes, sizeof(bytes));
    if (status) {
        return refuse_login(connection, refusal);
    }
    if (!user) {
        return WEB_WAITS;
    }
    remember(connection, user);
    connection->user = user;
    return WEB_ADMITTED;
}

static enum web_step use_session(struct connection *connection, const struct session *session,
                                 struct web_refusal *refusal)
{
    if (session_check_request(connection, &refusal->error)) {
        return refuse(refusal, 403);
    }
    connection->user = session->user;
    connection->web->session = session->id;
    return WEB_ADMITTED;
}

static enum web_step check_user(struct connection *connection, struct web_refusal *refusal)
{
    struct web_side *web = connection->web;
    struct slice header;
    size_t count;
    uint8_t digest[SHA256_SIZE];
    if (!http_request_header(&web->request, SLICE("Authorization"), &header, &count)) {
        bool stale;
        const struct session *session = session_of_request(connection, &stale);
        if (session) {
            return use_session(connection, session, refusal);
        }
        if (connection->certified && !user_is_gone(connection->certified)) {
            connection->user = connection->certified;
            return WEB_ADMITTED;
        }
        (void)error_set(&refusal->error, STATUS_DENIED,
                        stale ? "this session has ended: log in again"
                              : "this server wants to know who asks: send Authorization");
        return refuse(refusal, 401);
    }
    if (count > 1) {
        (void)error_set(&refusal->error, STATUS_INVALID,
                        "a request has more than one Authorization");
        return refuse(refusal, 400);
    }
    struct sha256 sha256;
    sha256_init(&sha256);
    sha256_add(&sha256, header);
    sha256_end(&sha256, digest);
    if (is_known(connection, digest)) {
        connection->user = web->known;
        return WEB_ADMITTED;
    }
    if (web->login_error.status) {
        return refuse_login(connection, refusal);
    }
    web->known = NULL;
    memcpy(web->known_digest, digest, SHA256_SIZE);
    return log_in(connection, header, refusal);
}

// ---------------------------------------------------------------------------------------------

// Monitoring probes do not log in and may use any host name. The files of the dashboard contain no
// data, and its page is where users log in.
static bool is_for_everybody(const struct connection *connection)
{
    struct slice path = connection->web->request.path;
    return dashboard_owns(connection->server, path) || slice_equal(path, SLICE("/healthz")) ||
           slice_equal(path, SLICE("/readyz")) ||
           (connection->server->settings.metrics_open && slice_equal(path, SLICE("/metrics")));
}

// Checks a request that logs in or out. Without users there is nothing to log in as.
static enum web_step check_login(struct connection *connection, struct web_refusal *refusal)
{
    if (users_anybody(connection->server->users)) {
        return check_host(connection, refusal);
    }
    return session_check_head(&connection->web->request, &refusal->error) ? refuse(refusal, 413)
                                                                          : WEB_ADMITTED;
}

enum web_step web_admit(struct connection *connection, struct web_refusal *refusal)
{
    const struct user *anybody = users_anybody(connection->server->users);
    connection->web->call.more = SLICE_EMPTY;
    connection->web->session = 0;
    connection->user = NULL;
    enum web_step step = check_origin(connection, refusal);
    if (step == WEB_ADMITTED && session_is_asked(&connection->web->request)) {
        return check_login(connection, refusal);
    }
    if (step == WEB_ADMITTED && !is_for_everybody(connection)) {
        step = anybody ? check_host(connection, refusal) : check_user(connection, refusal);
    }
    if (step == WEB_ADMITTED && anybody) {
        connection->user = anybody;
    }
    if (step == WEB_ADMITTED && !is_for_everybody(connection) &&
        (crowd_check_command(connection, NULL, &refusal->error) ||
         (!anybody && crowd_check_user(connection, connection->user, &refusal->error)))) {
        connection->user = NULL;
        return refuse(refusal, 503);
    }
    return step;
}
