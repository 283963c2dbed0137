// SPDX-License-Identifier: MIT
#include "server/config/address.h"

#include "base/num.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <strings.h>
#include <sys/un.h>

static const char allowed[] = "an address is HOST:PORT, [IPV6]:PORT or unix:/path";

static enum status refuse(struct error *error)
{
    return error_set(error, STATUS_INVALID, "%s", allowed);
}

static bool parse_unix(struct slice path, struct address *out)
{
    if (path.size == 0 || path.size >= sizeof(out->path) || path.data[0] != '/' ||
        memchr(path.data, '\0', path.size)) {
        return false;
    }
    *out = (struct address){ .kind = ADDRESS_UNIX };
    memcpy(out->path, path.data, path.size);
    return true;
}

// Digits and dots must be an IPv4 address; anything else may be a name.
static bool host_is_valid(const char *host, bool brackets)
{
    struct in6_addr address;
    if (brackets) {
        return inet_pton(AF_INET6, host, &address) == 1;
    }
    if (strcmp(host, "*") == 0) {
        return true;
    }
    if (strspn(host, "0123456789.") == strlen(host)) {
        return inet_pton(AF_INET, host, &address) == 1;
    }
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    return strspn(host, letters) == strlen(host);
}

enum status address_parse(struct slice text, struct address *out, struct error *error)
{
    struct address address = { .kind = ADDRESS_TCP };
    if (slice_starts_with(text, SLICE("unix:"))) {
        return parse_unix(slice_sub(text, 5, text.size), out) ? STATUS_OK : refuse(error);
    }
    const char *colon = text.size ? memrchr(text.data, ':', text.size) : NULL;
    if (!colon) {
        return refuse(error);
    }
    struct slice host = slice_make(text.data, (size_t)(colon - text.data));
    struct slice port = slice_sub(text, host.size + 1, text.size);
    bool brackets = host.size > 2 && host.data[0] == '[' && host.data[host.size - 1] == ']';
    if (brackets) {
        host = slice_sub(host, 1, host.size - 2);
    }
    uint64_t number;
    if (host.size == 0 || host.size >= sizeof(address.host) || memchr(host.data, '\0', host.size) ||
        num_parse_u64(port, &number) || number > UINT16_MAX) {
        return refuse(error);
    }
    memcpy(address.host, host.data, host.size);
    address.port = (uint16_t)number;
    if (!host_is_valid(address.host, brackets)) {
        return refuse(error);
    }
    *out = address;
    return STATUS_OK;
}

bool address_is_local(const struct address *address)
{
    struct in_addr four;
    struct in6_addr six;
    if (address->kind == ADDRESS_UNIX || strcasecmp(address->host, "localhost") == 0) {
        return true;
    }
    if (inet_pton(AF_INET, address->host, &four) == 1) {
        return ntohl(four.s_addr) >> 24 == 127;
    }
    if (inet_pton(AF_INET6, address->host, &six) == 1) {
        return IN6_IS_ADDR_LOOPBACK(&six) || (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127);
    }
    return false;
}

static void resolve_unix(const struct address *address, struct sockaddr_storage *out,
                         socklen_t *size)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    memcpy(name.sun_path, address->path, sizeof(name.sun_path));
    memcpy(out, &name, sizeof(name));
    *size = sizeof(name);
}

enum status address_resolve(const struct address *address, struct sockaddr_storage *out,
                            socklen_t *size, struct error *error)
{
    memset(out, 0, sizeof(*out));
    if (address->kind == ADDRESS_UNIX) {
        resolve_unix(address, out, size);
        return STATUS_OK;
    }
    const char *host = address->host;
    if (strcmp(host, "*") == 0) {
        host = "::";
    } else if (strcasecmp(host, "localhost") == 0) {
        host = "127.0.0.1";
    }
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
    struct addrinfo *found = NULL;
    int result = getaddrinfo(host, NULL, &hints, &found);
    if (result || !found || found->ai_addrlen > sizeof(*out)) {
        if (found) {
            freeaddrinfo(found);
        }
        return error_set(error, STATUS_NOT_FOUND, "there is no address for '%s': %s", host,
                         gai_strerror(result));
    }
    memcpy(out, found->ai_addr, found->ai_addrlen);
    *size = found->ai_addrlen;
    freeaddrinfo(found);
    if (out->ss_family == AF_INET6) {
        ((struct sockaddr_in6 *)out)->sin6_port = htons(address->port);
    } else {
        ((struct sockaddr_in *)out)->sin_port = htons(address->port);
    }
    return STATUS_OK;
}

static int format_unix(const struct sockaddr_storage *address, socklen_t size,
                       char text[ADDRESS_TEXT_SIZE])
{
    struct sockaddr_un name = { 0 };
    memcpy(&name, address, size < sizeof(name) ? size : sizeof(name));
    size_t start = offsetof(struct sockaddr_un, sun_path);
    size_t used = size > start ? size - start : 0;
    // An abstract name begins with a zero byte, which is written as '@'.
    bool abstract = used > 1 && name.sun_path[0] == '\0';
    return snprintf(text, ADDRESS_TEXT_SIZE, "unix:%s%.*s", abstract ? "@" : "",
                    (int)(used < sizeof(name.sun_path) ? used : sizeof(name.sun_path)) - abstract,
                    name.sun_path + abstract);
}

size_t address_format(const struct sockaddr_storage *address, socklen_t size,
                      char text[ADDRESS_TEXT_SIZE])
{
    char host[INET6_ADDRSTRLEN] = "?";
    int written;
    if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
        (void)inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof(host));
        written =
            snprintf(text, ADDRESS_TEXT_SIZE, "[%s]:%u", host, (unsigned)ntohs(six->sin6_port));
    } else if (address->ss_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)address;
        (void)inet_ntop(AF_INET, &four->sin_addr, host, sizeof(host));
        written = snprintf(text, ADDRESS_TEXT_SIZE, "%s:%u", host, (unsigned)ntohs(four->sin_port));
    } else {
        written = format_unix(address, size, text);
    }
    return written < ADDRESS_TEXT_SIZE ? (size_t)written : ADDRESS_TEXT_SIZE - 1;
}

struct slice address_host(struct slice text)
{
    if (slice_starts_with(text, SLICE("unix:"))) {
        return SLICE("unix");
    }
    size_t size = text.size;
    while (size > 0 && text.data[size - 1] != ':') {
        size--;
    }
    return size ? slice_sub(text, 0, size - 1) : text;
}
