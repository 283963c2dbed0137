// SPDX-License-Identifier: MIT
#include "client/url.h"

#include "base/ascii.h"
#include "base/num.h"
#include "client/fault.h"
#include "host/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char default_port[] = "7711";

// Copies a part of the address; %41 stands for A.
static enum sluice_status put_part(char *out, size_t capacity, struct slice part, const char *what,
                                   struct sluice_error *error)
{
    size_t size = 0;
    for (size_t i = 0; i < part.size; i++) {
        char c = part.data[i];
        if (c == '%') {
            int high = i + 2 < part.size ? ascii_hex_digit(part.data[i + 1]) : -1;
            int low = i + 2 < part.size ? ascii_hex_digit(part.data[i + 2]) : -1;
            if (high < 0 || low < 0 || (high == 0 && low == 0)) {
                return fault(error, SLUICE_INVALID,
                             "the address's %s has a %% that two hexadecimal digits do not follow",
                             what);
            }
            c = (char)(16 * high + low);
            i += 2;
        }
        if (size + 1 >= capacity) {
            return fault(error, SLUICE_INVALID, "the address's %s is too long", what);
        }
        out[size++] = c;
    }
    out[size] = '\0';
    return SLUICE_OK;
}

// Returns what is before the first `c`; `rest` becomes what is behind it. Without a `c`:
// everything.
static struct slice cut(struct slice *rest, char c)
{
    const char *at = rest->size ? memchr(rest->data, c, rest->size) : NULL;
    size_t size = at ? (size_t)(at - rest->data) : rest->size;
    struct slice before = slice_sub(*rest, 0, size);
    *rest = slice_sub(*rest, size + (at != NULL), SIZE_MAX);
    return before;
}

static enum sluice_status read_create(struct slice value, struct url *out,
                                      struct sluice_error *error)
{
    out->existing = slice_equal(value, SLICE("no"));
    return out->existing || slice_equal(value, SLICE("yes"))
               ? SLUICE_OK
               : fault(error, SLUICE_INVALID, "the address's create is neither yes nor no");
}

static enum sluice_status read_max_payload(struct slice value, struct url *out,
                                           struct sluice_error *error)
{
    int64_t size = 0;
    if (num_parse_i64(value, &size) || size < MAX_PAYLOAD_MIN || size > MAX_PAYLOAD_MAX) {
        return fault(error, SLUICE_INVALID,
                     "the address's max-payload is no number of bytes from %d to %d",
                     MAX_PAYLOAD_MIN, MAX_PAYLOAD_MAX);
    }
    out->max_payload = (size_t)size;
    return SLUICE_OK;
}

static enum sluice_status read_query(struct slice query, struct url *out,
                                     struct sluice_error *error)
{
    enum sluice_status status = SLUICE_OK;
    while (query.size && !status) {
        struct slice value = cut(&query, '&');
        struct slice name = cut(&value, '=');
        if (slice_equal(name, SLICE("ns"))) {
            status = put_part(out->ns, sizeof(out->ns), value, "namespace", error);
        } else if (slice_equal(name, SLICE("user")) && out->socket[0]) {
            status = put_part(out->user, sizeof(out->user), value, "user", error);
        } else if (slice_equal(name, SLICE("durability")) && out->kind == URL_FILE) {
            status = put_part(out->durability, sizeof(out->durability), value, "durability", error);
        } else if (slice_equal(name, SLICE("create")) && out->kind == URL_FILE) {
            status = read_create(value, out, error);
        } else if (slice_equal(name, SLICE("max-payload")) && out->kind == URL_FILE) {
            status = read_max_payload(value, out, error);
        } else {
            status = fault(error, SLUICE_INVALID,
                           "the address has an option \"%.*s\", which it "
                           "cannot have",
                           SLICE_PRINT(slice_shown(name)));
        }
    }
    return status;
}

// The program may change its working directory before it connects.
static enum sluice_status make_absolute(struct url *out, struct sluice_error *error)
{
    char folder[URL_PART_SIZE] = "";
    char whole[2 * URL_PART_SIZE];
    if (out->path[0] != '/' && !getcwd(folder, sizeof(folder) - 1)) {
        return fault(error, SLUICE_IO, "cannot find the working directory: %s",
                     strerrordesc_np(errno));
    }
    (void)snprintf(whole, sizeof(whole), "%s%s%s", folder, folder[0] ? "/" : "", out->path);
    if (strlen(whole) >= sizeof(out->socket)) {
        return fault(error, SLUICE_INVALID,
                     "the path of a socket must have at most %d bytes, and %.100s... has %zu",
                     URL_SOCKET_SIZE - 1, whole, strlen(whole));
    }
    memcpy(out->socket, whole, strlen(whole) + 1);
    out->path[0] = '\0';
    (void)snprintf(out->place, sizeof(out->place), "unix:%s", out->socket);
    return SLUICE_OK;
}

// unix:PATH, also as unix:///PATH.
static enum sluice_status read_unix(struct slice rest, struct url *out, struct sluice_error *error)
{
    out->kind = URL_SERVER;
    struct slice query = rest;
    struct slice path = cut(&query, '?');
    if (slice_starts_with(path, SLICE("///"))) {
        path = slice_sub(path, 2, SIZE_MAX);
    }
    if (path.size == 0) {
        return fault(error, SLUICE_INVALID, "the address unix: lacks a path");
    }
    enum sluice_status status = put_part(out->path, sizeof(out->path), path, "path", error);
    status = status ? status : make_absolute(out, error);
    return status ? status : read_query(query, out, error);
}

// file:PATH, also as file:///PATH.
static enum sluice_status read_file(struct slice rest, struct url *out, struct sluice_error *error)
{
    out->kind = URL_FILE;
    struct slice query = rest;
    struct slice path = cut(&query, '?');
    if (slice_starts_with(path, SLICE("///"))) {
        path = slice_sub(path, 2, SIZE_MAX);
    } else if (slice_starts_with(path, SLICE("//"))) {
        return fault(error, SLUICE_INVALID,
                     "file://HOST/... names another machine; a folder is file:PATH");
    }
    if (path.size == 0) {
        return fault(error, SLUICE_INVALID, "the address file: lacks a path");
    }
    enum sluice_status status = put_part(out->path, sizeof(out->path), path, "path", error);
    return status ? status : read_query(query, out, error);
}

static enum sluice_status read_user(struct slice user, struct url *out, struct sluice_error *error)
{
    struct slice password = user;
    struct slice name = cut(&password, ':');
    enum sluice_status status = put_part(out->user, sizeof(out->user), name, "user", error);
    return status ? status
                  : put_part(out->password, sizeof(out->password), password, "password", error);
}

// HOST, HOST:PORT or [HOST]:PORT.
static enum sluice_status read_host(struct slice place, struct url *out, struct sluice_error *error)
{
    struct slice port = place, host;
    if (place.size && place.data[0] == '[') {
        host = cut(&port, ']');
        if (host.size == place.size) {
            return fault(error, SLUICE_INVALID, "the address's host lacks its ]");
        }
        host = slice_sub(host, 1, SIZE_MAX);
        if (port.size && port.data[0] != ':') {
            return fault(error, SLUICE_INVALID, "the address has something behind its host's ]");
        }
        port = slice_sub(port, 1, SIZE_MAX);
    } else {
        host = cut(&port, ':');
    }
    int64_t number = 0;
    if (port.size && (num_parse_i64(port, &number) || number < 1 || number > 65535)) {
        return fault(error, SLUICE_INVALID,
                     "the address's port is no number from 1 to 65535 (an IPv6 address stands in "
                     "[ ], and a : or @ in a password is written %%3A or %%40)");
    }
    enum sluice_status status = put_part(out->host, sizeof(out->host),
                                         host.size ? host : SLICE("127.0.0.1"), "host", error);
    return status ? status
                  : put_part(out->port, sizeof(out->port),
                             port.size ? port : slice_from_cstr(default_port), "port", error);
}

// A password that was not escaped may contain characters that divide an address. It must not change
// the address, and no part of it may appear in a message.
static enum sluice_status check_marks(struct slice rest, struct sluice_error *error)
{
    bool behind_place = false;
    for (size_t i = 0; i < rest.size; i++) {
        behind_place |= rest.data[i] == '/' || rest.data[i] == '?';
        if (rest.data[i] == '#' || (rest.data[i] == '@' && behind_place)) {
            return fault(error, SLUICE_INVALID,
                         "the address has a # or an @ where it cannot be; in a name or a password "
                         "/ is written %%2F, ? %%3F, # %%23 and @ %%40");
        }
    }
    return SLUICE_OK;
}

static enum sluice_status read_server(struct slice rest, struct url *out,
                                      struct sluice_error *error)
{
    out->kind = URL_SERVER;
    enum sluice_status status = check_marks(rest, error);
    if (status) {
        return status;
    }
    struct slice query = rest;
    struct slice path = cut(&query, '?');
    struct slice place = cut(&path, '/');
    // A password may hold an @ of its own.
    size_t at = place.size;
    while (at && place.data[at - 1] != '@') {
        at--;
    }
    if (at) {
        status = read_user(slice_sub(place, 0, at - 1), out, error);
    }
    if (!status) {
        status = read_host(slice_sub(place, at, SIZE_MAX), out, error);
    }
    (void)snprintf(out->place, sizeof(out->place), "%.120s:%s", out->host, out->port);
    if (!status && path.size) {
        status = put_part(out->ns, sizeof(out->ns), path, "namespace", error);
    }
    return status ? status : read_query(query, out, error);
}

static const struct {
    const char *prefix;
    bool tls;
} servers[] = {
    { "sluice://", false },
    { "redis://", false },
    { "sluices://", true },
    { "rediss://", true },
};

enum sluice_status url_read(const char *text, struct url *out, struct sluice_error *error)
{
    struct slice all = slice_from_cstr(text);
    *out = (struct url){ 0 };
    if (slice_starts_with(all, SLICE("file:"))) {
        return read_file(slice_sub(all, 5, SIZE_MAX), out, error);
    }
    if (slice_starts_with(all, SLICE("unix:"))) {
        return read_unix(slice_sub(all, 5, SIZE_MAX), out, error);
    }
    for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
        struct slice prefix = slice_from_cstr(servers[i].prefix);
        if (slice_starts_with(all, prefix)) {
            out->tls = servers[i].tls;
            return read_server(slice_sub(all, prefix.size, SIZE_MAX), out, error);
        }
    }
    return fault(
        error, SLUICE_INVALID,
        "an address begins with file:, sluice://, sluices://, unix:, redis:// or rediss://");
}
