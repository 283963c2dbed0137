// SPDX-License-Identifier: MIT
#include "server/net/crowd.h"

#include "server/config/throttle.h"
#include "server/log/log.h"
#include "server/server.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    // For all but connections: files of the store, listeners, pipes, pushes.
    OWN_DESCRIPTORS = 48,
    CONNECTIONS_MIN = 8, // with fewer it does not start
    RESERVED_PART = 4,   // of few descriptors the reserve takes a quarter at most
    NEWCOMERS_PART = 16, // and room for newcomers such a part
    RESERVED_PATIENCE_US = 2000000,
    SOURCE_PART = 8, // an address with such a part of all newcomers replaces its own
    KNOWN_COUNT = 8, // newcomers of an administrator's address that are closed last
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
    uint64_t newcomers = settings->reserved_connections * NEWCOMERS_PER_RESERVED;
    uint64_t wanted =
        settings->max_connections + settings->reserved_connections + newcomers + OWN_DESCRIPTORS;
    uint64_t given = descriptors(wanted);
    all->count_max = settings->max_connections;
    all->reserved_max = settings->reserved_connections;
    all->newcomers_max = newcomers;
    if (given >= wanted) {
        return STATUS_OK;
    }
    uint64_t room = given > OWN_DESCRIPTORS ? given - OWN_DESCRIPTORS : 0;
    uint64_t part = room / RESERVED_PART;
    all->reserved_max = part < all->reserved_max ? part : all->reserved_max;
    room -= all->reserved_max;
    part = room / NEWCOMERS_PART;
    all->newcomers_max = part < all->newcomers_max ? part : all->newcomers_max;
    room -= all->newcomers_max;
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

static bool is_anybody(const struct connection *connection)
{
    return connection->user && connection->user == users_anybody(connection->server->users);
}

static struct connection *connection_of(struct newcomer *newcomer)
{
    return (struct connection *)((char *)newcomer - offsetof(struct connection, newcomer));
}

static struct newcomers_of_source *bucket_of(const struct connection *connection)
{
    return &connection->server->connections.newcomers
                .sources[connection->source & (CROWD_SOURCES - 1)];
}

static bool is_known(const struct newcomers *newcomers, uint64_t source)
{
    bool found = source == 0; // a Unix socket
    for (size_t i = 0; i < CROWD_KNOWN_COUNT && !found; i++) {
        found = newcomers->known[i] == source;
    }
    return found;
}

void crowd_enter(struct connection *connection)
{
    struct newcomers *all = &connection->server->connections.newcomers;
    struct newcomers_of_source *same = bucket_of(connection);
    struct newcomer *one = &connection->newcomer;
    *one = (struct newcomer){ .previous = all->last,
                              .source_previous = same->last,
                              .listed = true,
                              .known = is_known(all, connection->source) };
    *(all->last ? &all->last->next : &all->first) = one;
    all->last = one;
    all->count++;
    *(same->last ? &same->last->source_next : &same->first) = one;
    same->last = one;
    same->count++;
}

void crowd_leave(struct connection *connection)
{
    struct newcomers *all = &connection->server->connections.newcomers;
    struct newcomers_of_source *same = bucket_of(connection);
    struct newcomer *one = &connection->newcomer;
    if (!one->listed) {
        return;
    }
    *(one->previous ? &one->previous->next : &all->first) = one->next;
    *(one->next ? &one->next->previous : &all->last) = one->previous;
    all->count--;
    *(one->source_previous ? &one->source_previous->source_next : &same->first) = one->source_next;
    *(one->source_next ? &one->source_next->source_previous : &same->last) = one->source_previous;
    same->count--;
    one->listed = false;
}

// Without users no client authenticates; a newcomer then is one in the reserve without a request.
static bool is_newcomer(const struct connection *connection)
{
    return !connection->user || (is_anybody(connection) && connection->reserved &&
                                 connection->active_us == connection->began_us);
}

// Those that have a user by now are no newcomers, and are taken off the list.
static struct newcomer *skip_users(struct newcomer *at)
{
    while (at && connection_of(at)->user && !is_anybody(connection_of(at))) {
        struct newcomer *next = at->next;
        crowd_leave(connection_of(at));
        at = next;
    }
    return at;
}

static struct connection *oldest_of_source(const struct newcomers_of_source *same)
{
    for (struct newcomer *at = same->first; at; at = at->source_next) {
        if (is_newcomer(connection_of(at)) && !connection_of(at)->login) {
            return connection_of(at);
        }
    }
    return NULL;
}

static struct connection *oldest_of_all(struct newcomers *newcomers)
{
    struct connection *last_resort = NULL;
    for (struct newcomer *at = skip_users(newcomers->first); at; at = skip_users(at->next)) {
        struct connection *connection = connection_of(at);
        bool known = at->known && bucket_of(connection)->count <= KNOWN_COUNT;
        if (!is_newcomer(connection) || known) {
            continue;
        }
        if (!connection->login) {
            return connection;
        }
        last_resort = last_resort ? last_resort : connection;
    }
    return last_resort;
}

// Closes a newcomer for a new connection from that source. False: there is none.
static bool evict(struct server *server, uint64_t source)
{
    struct newcomers *newcomers = &server->connections.newcomers;
    const struct newcomers_of_source *same = &newcomers->sources[source & (CROWD_SOURCES - 1)];
    struct connection *victim = NULL;
    if (same->count && same->count >= newcomers->count / SOURCE_PART) {
        victim = oldest_of_source(same);
    }
    victim = victim ? victim : oldest_of_all(newcomers);
    if (!victim) {
        return false;
    }
    log_line(LOG_LEVEL_WARNING, "closing an unauthenticated connection for a new one",
             LOG_STRING("address", victim->address),
             LOG_STRING("limit", victim->reserved ? "reserved-connections" : "max-connections"));
    server->figures.evicted++;
    connection_refuse(victim);
    return true;
}

// Whether there is room, and where. Without users all in the reserve have authenticated.
static bool has_room(const struct server *server, bool *reserved)
{
    const struct connections *all = &server->connections;
    size_t newcomers_max = users_anybody(server->users) ? 0 : all->newcomers_max;
    *reserved = ordinary_count(server) >= all->count_max;
    return !*reserved || all->reserved < all->reserved_max + newcomers_max;
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
    if (has_room(server, &place->reserved) ||
        (evict(server, place->source) && has_room(server, &place->reserved))) {
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

// An ordinary newcomer changes places with one that has a user, or is about to.
static bool swap_in(struct connection *connection)
{
    struct newcomers *newcomers = &connection->server->connections.newcomers;
    struct newcomer *at = skip_users(newcomers->first);
    while (at && (connection_of(at)->reserved || connection_of(at)->user)) {
        at = skip_users(at->next);
    }
    if (at) {
        connection_of(at)->reserved = true;
        connection->reserved = false;
    }
    return at;
}

// How many of the reserve have a user.
static size_t count_administrators(const struct connection *connection)
{
    size_t count = 0;
    for (const struct connection *at = connection->server->connections.newest; at; at = at->next) {
        count += at->reserved && at->user && at != connection;
    }
    return count;
}

static void remember(struct connection *connection)
{
    struct newcomers *newcomers = &connection->server->connections.newcomers;
    if (!is_known(newcomers, connection->source)) {
        newcomers->known[newcomers->known_next] = connection->source;
        newcomers->known_next = (newcomers->known_next + 1) % CROWD_KNOWN_COUNT;
    }
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
    bool is_admin = user->everywhere & RIGHT_ADMIN;
    if (is_admin) {
        remember(connection);
    }
    if (!is_ordinary(connection) && !swap_in(connection)) {
        bool may = is_admin && count_administrators(connection) < server->connections.reserved_max;
        if (!may) {
            return refuse(connection, error);
        }
        crowd_leave(connection);
        return STATUS_OK;
    }
    if (max && count_user(connection, user) >= max) {
        server->figures.refused_user++;
        return error_set(error, STATUS_BUSY,
                         "max-connections-per-user %" PRIu64 " reached for user %s", max,
                         user->name);
    }
    crowd_leave(connection);
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
