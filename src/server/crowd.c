// SPDX-License-Identifier: MIT
#include "server/crowd.h"

#include "server/log.h"
#include "server/server.h"
#include "server/throttle.h"

#include <assert.h>
#include <inttypes.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    // For all but connections: files of the store, listeners, pipes, pushes.
    OWN_DESCRIPTORS = 48,
    CONNECTIONS_MIN = 8, // with fewer it does not start
    RESERVED_PART = 4,   // of few descriptors the reserve takes a quarter at most
    RESERVED_PATIENCE_US = 2000000,
};

// ---------------------------------------------------------------------------------------------
// Limits

// What the process may open, after asking for `wanted`.
static uint64_t descriptors(uint64_t wanted)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) {
        return wanted;
    }
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        (void)getrlimit(RLIMIT_NOFILE, &limit);
    }
    return limit.rlim_cur;
}

enum status crowd_limit(struct server *server, struct error *error)
{
    const struct settings *settings = &server->settings;
    struct connections *all = &server->connections;
    uint64_t wanted = settings->max_connections + settings->reserved_connections + OWN_DESCRIPTORS;
    uint64_t given = descriptors(wanted);
    all->count_max = settings->max_connections;
    all->reserved_max = settings->reserved_connections;
    if (given >= wanted) {
        return STATUS_OK;
    }
    uint64_t room = given > OWN_DESCRIPTORS ? given - OWN_DESCRIPTORS : 0;
    uint64_t part = room / RESERVED_PART;
    all->reserved_max = part < all->reserved_max ? part : all->reserved_max;
    room -= all->reserved_max;
    all->count_max = room < all->count_max ? room : all->count_max;
    log_line(LOG_LEVEL_WARNING, "open files limit allows fewer connections than max-connections",
             LOG_NUMBER("connections", all->count_max), LOG_NUMBER("reserved", all->reserved_max),
             LOG_NUMBER("max-connections", settings->max_connections),
             LOG_NUMBER("open-files", given), LOG_NUMBER("open-files-needed", wanted),
             LOG_STRING("hint", "raise ulimit -n, or LimitNOFILE= of the service"));
    uint64_t least =
        settings->max_connections < CONNECTIONS_MIN ? settings->max_connections : CONNECTIONS_MIN;
    if (all->count_max < least) {
        return error_set(
            error, STATUS_STATE,
            "open files limit %" PRIu64 " allows %zu connections; at least %" PRIu64
            " are needed: raise ulimit -n, or LimitNOFILE= of the service, to %" PRIu64,
            given, all->count_max, least, wanted);
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// New connections

static size_t ordinary_count(const struct server *server)
{
    return server->connections.count - server->connections.reserved;
}

static uint64_t source_of(struct server *server, const struct sockaddr_storage *address,
                          socklen_t size)
{
    char text[ADDRESS_TEXT_SIZE];
    if (address->ss_family == AF_UNIX) {
        return 0;
    }
    (void)address_format(address, size, text);
    return throttle_source(users_throttle(server->users), address_host(slice_from_cstr(text)));
}

static size_t count_source(const struct server *server, uint64_t source)
{
    size_t count = 0;
    for (const struct connection *at = server->connections.newest; at; at = at->next) {
        count += at->source == source;
    }
    return count;
}

// Closes the oldest one that is not authenticated, of the reserved or of the ordinary ones. False:
// there is none.
static bool evict(struct server *server, bool reserved)
{
    struct connection *oldest = NULL;
    for (struct connection *at = server->connections.newest; at; at = at->next) {
        if (at->reserved == reserved && !at->user && !at->login && !at->draining) {
            oldest = at; // the list begins with the newest
        }
    }
    if (!oldest) {
        return false;
    }
    log_line(LOG_LEVEL_WARNING, "closing an unauthenticated connection for a new one",
             LOG_STRING("address", oldest->address),
             LOG_STRING("limit", reserved ? "reserved-connections" : "max-connections"));
    server->figures.evicted++;
    connection_refuse(oldest);
    return true;
}

enum status crowd_find_place(struct server *server, const struct sockaddr_storage *address,
                             socklen_t size, struct crowd_place *place, struct error *error)
{
    const struct settings *settings = &server->settings;
    const struct connections *all = &server->connections;
    *place = (struct crowd_place){ .source = source_of(server, address, size) };
    if (settings->max_connections_per_address && place->source &&
        count_source(server, place->source) >= settings->max_connections_per_address) {
        server->figures.refused_address++;
        return error_set(error, STATUS_BUSY, "max-connections-per-address %" PRIu64 " reached",
                         settings->max_connections_per_address);
    }
    if (ordinary_count(server) < all->count_max || evict(server, false)) {
        return STATUS_OK;
    }
    place->reserved = true;
    if (all->reserved < all->reserved_max || evict(server, true)) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_BUSY, "max-connections %zu reached", all->count_max);
}

// ---------------------------------------------------------------------------------------------
// Those that are there

static enum status refuse(const struct connection *connection, struct error *error)
{
    connection->server->figures.refused++;
    return error_set(error, STATUS_BUSY,
                     "max-connections %zu reached; the reserved connections are for "
                     "administrators, /healthz and /readyz",
                     connection->server->connections.count_max);
}

// Whether it is no longer, or never was, in the reserve.
static bool is_ordinary(struct connection *connection)
{
    struct server *server = connection->server;
    if (connection->reserved && ordinary_count(server) < server->connections.count_max) {
        connection->reserved = false;
        server->connections.reserved--;
    }
    return !connection->reserved;
}

static bool is_anybody(const struct connection *connection)
{
    return connection->user && connection->user == users_anybody(connection->server->users);
}

static size_t count_user(const struct connection *connection, const struct user *user)
{
    size_t count = 0;
    for (const struct connection *at = connection->server->connections.newest; at; at = at->next) {
        count += at->user == user && at != connection;
    }
    return count;
}

enum status crowd_check_user(struct connection *connection, const struct user *user,
                             struct error *error)
{
    struct server *server = connection->server;
    uint64_t max = server->settings.max_connections_per_user;
    if (!is_ordinary(connection)) {
        return (user->everywhere & RIGHT_ADMIN) ? STATUS_OK : refuse(connection, error);
    }
    if (max && count_user(connection, user) >= max) {
        server->figures.refused_user++;
        return error_set(error, STATUS_BUSY,
                         "max-connections-per-user %" PRIu64 " reached for user %s", max,
                         user->name);
    }
    return STATUS_OK;
}

enum status crowd_check_command(struct connection *connection, const struct command *command,
                                struct error *error)
{
    bool anybody = is_anybody(connection);
    if (is_ordinary(connection)) {
        return STATUS_OK;
    }
    bool may = !connection->user ? command && (command->flags & COMMAND_ANYBODY)
               : anybody         ? command && !(command->flags & COMMAND_NAMESPACE)
                                 : connection->user->everywhere & RIGHT_ADMIN;
    return may ? STATUS_OK : refuse(connection, error);
}

bool crowd_is_late(const struct connection *connection, int64_t now_us)
{
    const struct settings *settings = &connection->server->settings;
    if (!connection->reserved || connection->login) {
        return false;
    }
    // Without users an administrator cannot be told from others; none keeps the reserve for long.
    return is_anybody(connection)
               ? now_us - connection->active_us > settings->auth_timeout_us
               : !connection->user && now_us - connection->began_us > RESERVED_PATIENCE_US;
}
