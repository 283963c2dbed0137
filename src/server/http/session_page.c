// SPDX-License-Identifier: MIT
#include "server/http/session_page.h"

#include "base/json_reader.h"
#include "server/access/logins.h"
#include "server/http/web_admit.h"
#include "server/server.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

enum {
    BODY_MAX = 4 << 10,
    TEXT_MAX = 1 << 10, // of a user's name, or of a password
    PORT_DIGITS_MAX = 5,
    COOKIE_SIZE = 256,
};

#define PATH "/v1/session"

// ---------------------------------------------------------------------------------------------
// Checks of headers

static struct slice header_of(const struct http_request *request, struct slice name)
{
    struct slice value = SLICE_EMPTY;
    (void)http_request_header(request, name, &value, NULL);
    return value;
}

bool session_is_asked(const struct http_request *request)
{
    return slice_equal(request->path, SLICE(PATH)) &&
           (slice_equal(request->method, SLICE("POST")) ||
            slice_equal(request->method, SLICE("DELETE")));
}

enum status session_check_head(const struct http_request *request, struct error *error)
{
    if (request->chunked || request->body_size > BODY_MAX) {
        return error_set(error, STATUS_TOO_LARGE,
                         "a login has a body of at most %d bytes and says its Content-Length",
                         BODY_MAX);
    }
    return STATUS_OK;
}

static bool is_safe(struct slice method)
{
    return slice_equal(method, SLICE("GET")) || slice_equal(method, SLICE("HEAD"));
}

enum status session_check_request(const struct connection *connection, struct error *error)
{
    const struct http_request *request = &connection->web->request;
    struct slice site = header_of(request, SLICE("Sec-Fetch-Site"));
    bool safe = is_safe(request->method);
    // `none`: the user has entered the address. Browsers send no Sec-Fetch-Site with plain HTTP to
    // another machine.
    bool own = site.size ? slice_equal(site, SLICE("same-origin")) ||
                               (slice_equal(site, SLICE("none")) && safe)
                         : web_is_own_page(request);
    if (!own) {
        return error_set(error, STATUS_DENIED, "a session counts only for pages of this server");
    }
    if (!safe && !header_of(request, SLICE("X-Sluice")).size) {
        return error_set(error, STATUS_DENIED,
                         "with a session this request needs the header X-Sluice");
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Cookies

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Browsers send a cookie to all ports of a host, so the name contains the port that the browser
// uses.
static void name_cookie(const struct http_request *request, char name[SESSION_COOKIE_NAME_SIZE])
{
    struct slice host = header_of(request, SLICE("Host"));
    size_t digits = 0;
    while (digits < host.size && digits <= PORT_DIGITS_MAX &&
           is_digit(host.data[host.size - digits - 1])) {
        digits++;
    }
    bool port = digits > 0 && digits <= PORT_DIGITS_MAX && digits < host.size &&
                host.data[host.size - digits - 1] == ':';
    (void)snprintf(name, SESSION_COOKIE_NAME_SIZE, "sluice%s%.*s", port ? "_" : "",
                   port ? (int)digits : 0, host.data + host.size - (port ? digits : 0));
}

// Removes the next pair from the value of a header Cookie; false at its end.
static bool next_cookie(struct slice *list, struct slice *name, struct slice *value)
{
    while (list->size) {
        const char *semicolon = memchr(list->data, ';', list->size);
        size_t size = semicolon ? (size_t)(semicolon - list->data) : list->size;
        struct slice pair = slice_sub(*list, 0, size);
        *list = slice_sub(*list, semicolon ? size + 1 : size, SIZE_MAX);
        while (pair.size && pair.data[0] == ' ') {
            pair = slice_sub(pair, 1, SIZE_MAX);
        }
        const char *equals = pair.size ? memchr(pair.data, '=', pair.size) : NULL;
        if (equals) {
            *name = slice_sub(pair, 0, (size_t)(equals - pair.data));
            *value = slice_sub(pair, (size_t)(equals - pair.data) + 1, SIZE_MAX);
            return true;
        }
    }
    return false;
}

struct session *session_of_request(struct connection *connection, bool *stale)
{
    struct server *server = connection->server;
    const struct http_request *request = &connection->web->request;
    char wanted[SESSION_COOKIE_NAME_SIZE];
    struct slice list = header_of(request, SLICE("Cookie"));
    struct slice name;
    struct slice value;
    *stale = false;
    name_cookie(request, wanted);
    // A browser may send several, of different paths.
    while (next_cookie(&list, &name, &value)) {
        if (slice_equal(name, slice_from_cstr(wanted))) {
            struct session *session =
                sessions_use(&server->sessions, value, server_elapsed(server));
            if (session) {
                return session;
            }
            *stale = true;
        }
    }
    return NULL;
}

// Without a path the browser uses the directory of the request's path, and so sends the cookie to
// the API even if a proxy serves it under another path.
static void answer_with_cookie(struct connection *connection, const char *value, const char *more)
{
    const struct session_cookie *cookie = &connection->web->cookie;
    struct http_call *call = &connection->web->call;
    char headers[WEB_CORS_SIZE + COOKIE_SIZE];
    int size = snprintf(
        headers, sizeof(headers), "%.*sSet-Cookie: %s=%s; HttpOnly; SameSite=Strict%s%s\r\n",
        SLICE_PRINT(call->more), cookie->name, value, cookie->secure ? "; Secure" : "", more);
    struct slice before = call->more;
    call->more = slice_make(headers, (size_t)size);
    web_write_page(connection, call, 204, NULL, SLICE_EMPTY);
    call->more = before;
    OPENSSL_cleanse(headers, sizeof(headers));
}

// Keeps what the reply needs of the request, because the request is released before the login is
// decided.
static void keep_cookie(struct connection *connection)
{
    const struct http_request *request = &connection->web->request;
    struct session_cookie *cookie = &connection->web->cookie;
    name_cookie(request, cookie->name);
    cookie->secure = connection->socket.transport.ssl ||
                     slice_starts_with(header_of(request, SLICE("Origin")), SLICE("https://"));
}

// ---------------------------------------------------------------------------------------------
// Logging in

static void refuse(struct connection *connection, const struct error *error, unsigned status)
{
    struct server *server = connection->server;
    server->figures.errors++;
    connection_output_begin(connection);
    http_face_refuse(server->web.face, &connection->web->call, status, error,
                     &connection->output.bytes);
    connection_output_end(connection, 1);
    if (connection->web->call.close) {
        connection_drain(connection);
    }
}

static void refuse_login(struct connection *connection, const struct error *error)
{
    refuse(connection, error,
           error->status == STATUS_DENIED ? 401
           : error->status == STATUS_BUSY ? 429
                                          : 0);
}

static void begin(struct connection *connection, const struct user *user)
{
    struct server *server = connection->server;
    uint8_t random[SESSION_RANDOM_SIZE];
    char token[SESSION_TOKEN_SIZE + 1] = { 0 };
    struct error error;
    if (RAND_bytes(random, sizeof(random)) != 1) {
        (void)error_set(&error, STATUS_IO, "the system gives no random numbers");
        refuse(connection, &error, 0);
    } else if (sessions_begin(&server->sessions, user, random, server_elapsed(server), token)) {
        (void)error_set(&error, STATUS_NO_MEMORY, "no memory for a session");
        refuse(connection, &error, 0);
    } else {
        answer_with_cookie(connection, token, "");
    }
    OPENSSL_cleanse(random, sizeof(random));
    OPENSSL_cleanse(token, sizeof(token));
}

static void decided(struct connection *connection, enum status status, const struct user *user,
                    const struct error *error)
{
    if (status) {
        refuse_login(connection, error);
    } else {
        begin(connection, user);
    }
}

// Reads a member that is a string.
static enum status read_member(const struct json_member *member, struct buffer *out,
                               struct error *error)
{
    buffer_clear(out);
    return json_value_string(member->value, out)
               ? error_set(error, STATUS_INVALID, "%.*s must be a string of at most %d bytes",
                           SLICE_PRINT(slice_shown(member->key)), TEXT_MAX)
               : STATUS_OK;
}

static enum status read_body(struct slice body, struct buffer *user, struct buffer *password,
                             struct error *error)
{
    struct json_reader reader;
    struct json_member member;
    enum status status = json_reader_init_object(&reader, body, error);
    while (!status && json_reader_next(&reader, &member)) {
        if (json_string_is(member.key, SLICE("user"))) {
            status = read_member(&member, user, error);
        } else if (json_string_is(member.key, SLICE("password"))) {
            status = read_member(&member, password, error);
        } else {
            status = error_set(error, STATUS_INVALID, "a login has no member %.*s",
                               SLICE_PRINT(slice_shown(member.key)));
        }
    }
    if (!status && !password->size) {
        status = error_set(error, STATUS_INVALID, "a login needs a password");
    }
    return status;
}

void session_begin_page(struct connection *connection, const struct http_call *call)
{
    (void)call;
    char user_bytes[TEXT_MAX + 1];
    char password_bytes[TEXT_MAX + 1];
    struct buffer name = { .data = user_bytes, .capacity = TEXT_MAX, .size_max = TEXT_MAX };
    struct buffer password = { .data = password_bytes, .capacity = TEXT_MAX, .size_max = TEXT_MAX };
    struct error error;
    const struct user *user = NULL;
    struct slice body = connection->web->request.body;
    keep_cookie(connection);
    enum status status = read_body(body.size ? body : SLICE("{}"), &name, &password, &error);
    if (!status) {
        status = login_start(connection, buffer_slice(&name), buffer_slice(&password), decided,
                             &user, &error);
    }
    OPENSSL_cleanse(password_bytes, sizeof(password_bytes));
    if (status) {
        refuse_login(connection, &error);
    } else if (user) {
        begin(connection, user);
    }
}

// ---------------------------------------------------------------------------------------------
// Logging out

// Ends the event streams of the session.
static void end_streams(struct server *server, uint64_t id)
{
    struct connection *next;
    for (struct connection *at = server->connections.newest; at; at = next) {
        next = at->next;
        if (at->web && at->events && at->web->session == id) {
            event_stream_finish(at);
            connection_flush(at);
        }
    }
}

void session_end_page(struct connection *connection, const struct http_call *call)
{
    (void)call;
    struct server *server = connection->server;
    bool stale;
    struct session *session = session_of_request(connection, &stale);
    struct error error;
    if (session && session_check_request(connection, &error)) {
        refuse(connection, &error, 403);
        return;
    }
    if (session) {
        uint64_t id = session->id;
        sessions_end(&server->sessions, session);
        end_streams(server, id);
    }
    keep_cookie(connection);
    answer_with_cookie(connection, "", "; Max-Age=0");
}
