// SPDX-License-Identifier: MIT
// A channel exists while it has subscribers. A subscription is in two lists: that of its channel
// and that of its connection.
#include "server/redis/pubsub.h"

#include "base/glob.h"
#include "faces/qless/qless.h"
#include "host/event_json.h"
#include "server/redis/session.h"
#include "server/server.h"

#include <assert.h>

struct channel {
    struct channel *next, *previous; // all channels, or all patterns
    struct subscription *first;      // the newest first
    size_t count;
    struct glob *pattern; // of a pattern: compiled; owned
    size_t name_size;
    char name[];
};

struct subscription {
    struct connection *connection;
    struct channel *channel;
    struct subscription *next, *previous;         // in the channel's list
    struct subscription *own_next, *own_previous; // in the connection's list
};

enum {
    EVENT_JSON_MAX = 64 << 20, // of one event; a value of the configuration may be large
    CHANNEL_NAME_MAX = 1024,   // of the channels that are named here
};

#define NATIVE_PREFIX "sluice:" // prefix of the channels of engines

static struct slice channel_name(const struct channel *channel)
{
    return slice_make(channel->name, channel->name_size);
}

static struct slice channel_key(const void *channel)
{
    return channel_name(channel);
}

void pubsub_init(struct server *server)
{
    struct pubsub *pubsub = &server->pubsub;
    *pubsub = (struct pubsub){ 0 };
    map_init(&pubsub->channel_map, server->settings.allocator, server->seed, channel_key);
    map_init(&pubsub->pattern_map, server->settings.allocator, server->seed, channel_key);
    routes_init(&pubsub->routes, server->settings.allocator, server->seed);
    buffer_init(&pubsub->later, server->settings.allocator, server->settings.max_output);
}

static void channel_free(const struct server *server, struct channel *channel)
{
    if (channel) {
        glob_free(server->settings.allocator, channel->pattern);
        mem_free(server->settings.allocator, channel, sizeof(*channel) + channel->name_size);
    }
}

void pubsub_release(struct server *server)
{
    struct pubsub *pubsub = &server->pubsub;
    assert(!pubsub->channels && !pubsub->patterns);
    channel_free(server, pubsub->gone);
    routes_clear(&pubsub->routes);
    buffer_release(&pubsub->later);
    map_release(&pubsub->channel_map);
    map_release(&pubsub->pattern_map);
    *pubsub = (struct pubsub){ 0 };
}

// ---------------------------------------------------------------------------------------------
// Subscriptions

static struct map *map_of(struct pubsub *pubsub, bool pattern)
{
    return pattern ? &pubsub->pattern_map : &pubsub->channel_map;
}

static struct channel **list_of(struct pubsub *pubsub, bool pattern)
{
    return pattern ? &pubsub->patterns : &pubsub->channels;
}

static enum status channel_add(struct server *server, struct slice name, bool pattern,
                               struct channel **out, struct error *error)
{
    struct pubsub *pubsub = &server->pubsub;
    const struct allocator *allocator = server->settings.allocator;
    struct glob *glob = NULL;
    enum status status = pattern ? glob_new(allocator, name, 0, &glob, error) : STATUS_OK;
    if (status) {
        return status;
    }
    struct channel *channel = mem_alloc(allocator, sizeof(*channel) + name.size);
    if (!channel) {
        glob_free(allocator, glob);
        return error_set(error, STATUS_NO_MEMORY, "out of memory for a subscription");
    }
    *channel = (struct channel){ .pattern = glob, .name_size = name.size };
    if (name.size) {
        memcpy(channel->name, name.data, name.size);
    }
    if (map_insert(map_of(pubsub, pattern), channel)) {
        channel_free(server, channel);
        return error_set(error, STATUS_NO_MEMORY, "out of memory for a subscription");
    }
    struct channel **list = list_of(pubsub, pattern);
    channel->next = *list;
    if (*list) {
        (*list)->previous = channel;
    }
    *list = channel;
    *(pattern ? &pubsub->pattern_count : &pubsub->channel_count) += 1;
    server_update_wanted(server);
    *out = channel;
    return STATUS_OK;
}

// Ends a channel without subscriptions. Its name remains valid until another channel ends.
static void channel_end(struct server *server, struct channel *channel)
{
    struct pubsub *pubsub = &server->pubsub;
    map_remove(map_of(pubsub, channel->pattern), channel_name(channel));
    if (channel->next) {
        channel->next->previous = channel->previous;
    }
    *(channel->previous ? &channel->previous->next : list_of(pubsub, channel->pattern)) =
        channel->next;
    *(channel->pattern ? &pubsub->pattern_count : &pubsub->channel_count) -= 1;
    server_update_wanted(server);
    channel_free(server, pubsub->gone);
    pubsub->gone = channel;
}

static size_t *own_count(struct connection *connection, bool pattern)
{
    return pattern ? &connection->resp->subscriptions.patterns
                   : &connection->resp->subscriptions.channels;
}

// Walks both lists in parallel, so that it takes only as long as the shorter one.
static struct subscription *find(const struct connection *connection, const struct channel *channel)
{
    struct subscription *own = connection->resp->subscriptions.first;
    struct subscription *other = channel->first;
    while (own && other) {
        if (own->channel == channel) {
            return own;
        }
        if (other->connection == connection) {
            return other;
        }
        own = own->own_next;
        other = other->next;
    }
    return NULL;
}

// Counts a subscription that was added or removed. If the set of patterns has changed, all routes
// may be wrong and are dropped.
static void count_patterns(struct server *server, const struct channel *channel, size_t change)
{
    if (channel->pattern) {
        server->pubsub.pattern_subscriptions += change;
        routes_clear(&server->pubsub.routes);
    }
}

void pubsub_rights_changed(struct server *server)
{
    routes_clear(&server->pubsub.routes);
}

static void link_up(struct subscription *subscription)
{
    struct channel *channel = subscription->channel;
    assert(channel);
    subscription->next = channel->first;
    if (channel->first) {
        channel->first->previous = subscription;
    }
    channel->first = subscription;
    channel->count++;
    struct subscriptions *own = &subscription->connection->resp->subscriptions;
    subscription->own_next = own->first;
    if (own->first) {
        own->first->own_previous = subscription;
    }
    own->first = subscription;
    *own_count(subscription->connection, channel->pattern) += 1;
    count_patterns(subscription->connection->server, channel, 1);
}

static void subscription_end(struct subscription *subscription)
{
    struct connection *connection = subscription->connection;
    struct server *server = connection->server;
    struct channel *channel = subscription->channel;
    if (subscription->next) {
        subscription->next->previous = subscription->previous;
    }
    *(subscription->previous ? &subscription->previous->next : &channel->first) =
        subscription->next;
    if (subscription->own_next) {
        subscription->own_next->own_previous = subscription->own_previous;
    }
    *(subscription->own_previous ? &subscription->own_previous->own_next
                                 : &connection->resp->subscriptions.first) = subscription->own_next;
    *own_count(connection, channel->pattern) -= 1;
    count_patterns(server, channel, SIZE_MAX);
    mem_free(server->settings.allocator, subscription, sizeof(*subscription));
    if (--channel->count == 0) {
        channel_end(server, channel);
    }
}

static enum status check_limits(const struct connection *connection, bool pattern,
                                struct error *error)
{
    const struct settings *settings = &connection->server->settings;
    const struct subscriptions *own = &connection->resp->subscriptions;
    const struct {
        bool reached;
        const char *name;
        uint64_t limit;
    } limits[] = {
        { own->channels + own->patterns >= settings->max_subscriptions, "max-subscriptions",
          settings->max_subscriptions },
        { pattern && own->patterns >= settings->max_patterns, "max-patterns",
          settings->max_patterns },
        { pattern &&
              connection->server->pubsub.pattern_subscriptions >= settings->max_patterns_total,
          "max-patterns-total", settings->max_patterns_total },
    };
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (limits[i].reached) {
            return error_set(error, STATUS_TOO_LARGE,
                             "too many subscriptions: the setting %s allows %llu", limits[i].name,
                             (unsigned long long)limits[i].limit);
        }
    }
    return STATUS_OK;
}

enum status pubsub_subscribe(struct connection *connection, struct slice name, bool pattern,
                             struct error *error)
{
    struct server *server = connection->server;
    struct channel *channel = map_find(map_of(&server->pubsub, pattern), name);
    if (channel && find(connection, channel)) {
        return STATUS_OK;
    }
    enum status status = check_limits(connection, pattern, error);
    if (status) {
        return status;
    }
    struct subscription *subscription =
        mem_zalloc(server->settings.allocator, sizeof(*subscription));
    if (!subscription) {
        return error_set(error, STATUS_NO_MEMORY, "out of memory for a subscription");
    }
    if (!channel) {
        status = channel_add(server, name, pattern, &channel, error);
    }
    if (status) {
        mem_free(server->settings.allocator, subscription, sizeof(*subscription));
        return status;
    }
    subscription->connection = connection;
    subscription->channel = channel;
    link_up(subscription);
    return STATUS_OK;
}

bool pubsub_unsubscribe(struct connection *connection, struct slice name, bool pattern)
{
    struct channel *channel = map_find(map_of(&connection->server->pubsub, pattern), name);
    struct subscription *subscription = channel ? find(connection, channel) : NULL;
    if (subscription) {
        subscription_end(subscription);
    }
    return subscription;
}

bool pubsub_unsubscribe_next(struct connection *connection, bool pattern, struct slice *name)
{
    struct subscription *subscription = connection->resp->subscriptions.first;
    while (subscription && (subscription->channel->pattern != NULL) != pattern) {
        subscription = subscription->own_next;
    }
    if (!subscription) {
        return false;
    }
    *name = channel_name(subscription->channel);
    subscription_end(subscription);
    return true;
}

void pubsub_forget(struct connection *connection)
{
    while (connection->resp->subscriptions.first) {
        subscription_end(connection->resp->subscriptions.first);
    }
}

// ---------------------------------------------------------------------------------------------
// Messages

// A message, and the namespace whose engine published it; an empty name if a client did.
struct message {
    struct slice channel, text, ns;
};

static void hand_over(const struct subscription *subscription, const struct message *message)
{
    struct connection *connection = subscription->connection;
    struct pubsub *pubsub = &connection->server->pubsub;
    bool later = connection == pubsub->answering;
    struct buffer *out = later ? &pubsub->later : &connection->output.bytes;
    if (!later) {
        connection_output_begin(connection);
    }
    bool pattern = subscription->channel->pattern;
    resp_push(out, connection->resp->version, pattern ? 4 : 3);
    if (pattern) {
        resp_bulk(out, SLICE("pmessage"));
        resp_bulk(out, channel_name(subscription->channel));
    } else {
        resp_bulk(out, SLICE("message"));
    }
    resp_bulk(out, message->channel);
    resp_bulk(out, message->text);
    if (!later) {
        connection_output_end(connection, 0);
    }
    connection->server->figures.published++;
}

void pubsub_answer_begin(struct connection *connection)
{
    struct pubsub *pubsub = &connection->server->pubsub;
    assert(!pubsub->answering || pubsub->answering == connection);
    pubsub->answering = connection;
    pubsub->answering_depth++;
}

void pubsub_answer_end(struct connection *connection)
{
    struct pubsub *pubsub = &connection->server->pubsub;
    assert(pubsub->answering == connection);
    if (--pubsub->answering_depth) {
        return;
    }
    pubsub->answering = NULL;
    if (pubsub->later.status) {
        connection_overflow(connection); // as for any subscriber that misses a message
    } else if (pubsub->later.size && !connection->closed) {
        connection_output_begin(connection);
        buffer_append(&connection->output.bytes, buffer_slice(&pubsub->later));
        connection_output_end(connection, 0);
    }
    buffer_clear(&pubsub->later);
}

static bool may_read(const struct connection *connection, struct slice ns)
{
    return ns.size == 0 || (connection->user && user_may(connection->user, ns, RIGHT_READ));
}

static bool hand_to(const struct subscription *subscription, const struct message *message)
{
    const struct connection *connection = subscription->connection;
    bool hears = !connection->closed && !connection->draining && may_read(connection, message->ns);
    if (hears) {
        hand_over(subscription, message);
    }
    return hears;
}

// Whether a pattern receives the events of a channel. In a namespace of qless, a pattern that
// begins with a wildcard, such as "*", receives events as qless's messages and not also on the
// native channels: qless clients subscribe to such patterns and take each message for one of qless.
// A pattern that begins with a letter matches channels of only one kind.
static bool pattern_hears(const struct channel *pattern, struct slice channel, bool qless)
{
    return glob_matches(pattern->pattern, channel) &&
           (!qless || !slice_starts_with(channel, SLICE(NATIVE_PREFIX)) ||
            slice_starts_with(channel_name(pattern), SLICE("s")));
}

// Finds the pattern subscriptions that receive the messages of a channel. Returns how many there
// are, also without `out`.
static size_t find_listeners(struct server *server, struct slice ns, struct slice channel,
                             struct subscription **out)
{
    size_t count = 0;
    const struct ns *of = ns.size ? namespaces_find(&server->namespaces, ns) : NULL;
    for (const struct channel *at = server->pubsub.patterns; at; at = at->next) {
        if (!pattern_hears(at, channel, of && of->qless)) {
            continue;
        }
        for (struct subscription *listener = at->first; listener; listener = listener->next) {
            if (!may_read(listener->connection, ns)) {
                continue;
            }
            if (out) {
                out[count] = listener;
            }
            count++;
        }
    }
    return count;
}

// Returns the route of a channel. NULL if there are no patterns, or no memory: then the pattern
// subscribers miss the message.
static const struct route *route_of(struct server *server, struct slice ns, struct slice channel)
{
    struct pubsub *pubsub = &server->pubsub;
    if (!pubsub->patterns) {
        return NULL;
    }
    const struct route *known = routes_find(&pubsub->routes, ns, channel);
    if (known) {
        return known;
    }
    size_t count = find_listeners(server, ns, channel, NULL);
    struct route *route = routes_add(&pubsub->routes, ns, channel, count);
    if (route) {
        (void)find_listeners(server, ns, channel, route->listeners);
    }
    return route;
}

static size_t publish(struct server *server, const struct message *message)
{
    const struct channel *channel = map_find(&server->pubsub.channel_map, message->channel);
    size_t count = 0;
    for (const struct subscription *at = channel ? channel->first : NULL, *next; at; at = next) {
        next = at->next;
        count += hand_to(at, message);
    }
    const struct route *route = route_of(server, message->ns, message->channel);
    for (size_t i = 0; route && i < route->count; i++) {
        count += hand_to(route->listeners[i], message);
    }
    return count;
}

size_t pubsub_publish(struct server *server, struct slice channel, struct slice message)
{
    return publish(server, &(struct message){ .channel = channel, .text = message });
}

// ---------------------------------------------------------------------------------------------
// Events of engines

static bool has_listener(struct server *server, struct slice ns, struct slice name)
{
    if (map_find(&server->pubsub.channel_map, name)) {
        return true;
    }
    const struct route *route = route_of(server, ns, name);
    return route && route->count;
}

static struct slice native_channel(struct buffer *text, struct slice ns, const char *kind,
                                   struct slice name)
{
    buffer_append(text, SLICE(NATIVE_PREFIX));
    buffer_append(text, ns);
    buffer_append_char(text, ':');
    buffer_append(text, slice_from_cstr(kind));
    buffer_append(text, name);
    assert(!text->status);
    return buffer_slice(text);
}

static const struct channel *tick_channel(const struct server *server, const struct ns *ns)
{
    char room[CHANNEL_NAME_MAX];
    struct buffer text = { .data = room,
                           .capacity = sizeof(room) - 1,
                           .size_max = sizeof(room) - 1 };
    return map_find(&server->pubsub.channel_map,
                    native_channel(&text, ns_name(ns), "tick", SLICE_EMPTY));
}

bool pubsub_hears_ticks(struct server *server, const struct ns *ns)
{
    return server->pubsub.channel_count && tick_channel(server, ns);
}

void pubsub_tick(struct server *server, const struct ns *ns, struct slice json)
{
    const struct channel *channel = tick_channel(server, ns);
    if (!channel) {
        return;
    }
    const struct message message = { .channel = channel_name(channel),
                                     .text = json,
                                     .ns = ns_name(ns) };
    for (const struct subscription *at = channel->first, *next; at; at = next) {
        next = at->next;
        (void)hand_to(at, &message);
    }
}

// An event to publish. Its JSON is written when the first channel with subscribers is found.
struct publication {
    struct server *server;
    struct ns *ns;
    const struct event *event;
    struct buffer json;
};

static void publish_to_channel(struct publication *publication, const char *kind, struct slice name)
{
    char channel[CHANNEL_NAME_MAX];
    // Appended without snprintf, because a name may contain a zero byte.
    struct buffer text = { .data = channel,
                           .capacity = sizeof(channel) - 1,
                           .size_max = sizeof(channel) - 1 };
    struct server *server = publication->server;
    struct message message = { .ns = ns_name(publication->ns) };
    message.channel = native_channel(&text, message.ns, kind, name);
    if (!has_listener(server, message.ns, message.channel)) {
        return;
    }
    if (publication->json.size == 0) {
        event_json(publication->event, &publication->json);
    }
    if (publication->json.status) {
        return; // out of memory: the message is lost
    }
    message.text = buffer_slice(&publication->json);
    publish(server, &message);
}

static void publish_of_qless(void *context, struct slice channel, struct slice message)
{
    const struct publication *publication = context;
    publish(
        publication->server,
        &(struct message){ .channel = channel, .text = message, .ns = ns_name(publication->ns) });
}

static void publish_to_channels(struct publication *publication)
{
    unsigned channels = publication->event->channels;
    if (channels & (EVENT_TO_LOG | EVENT_TO_WATCHER)) {
        publish_to_channel(publication, "log", SLICE_EMPTY);
    }
    if (channels & EVENT_TO_TRACKER) {
        publish_to_channel(publication, "tracked", SLICE_EMPTY);
    }
    if (channels & EVENT_TO_WORKER) {
        publish_to_channel(publication, "worker:", publication->event->worker);
    }
}

void pubsub_event(struct server *server, struct ns *ns, const struct event *event)
{
    const struct pubsub *pubsub = &server->pubsub;
    if (pubsub->channel_count + pubsub->pattern_count == 0) {
        return;
    }
    struct publication publication = { .server = server, .ns = ns, .event = event };
    buffer_init(&publication.json, server->settings.allocator, EVENT_JSON_MAX);
    publish_to_channels(&publication);
    if (ns->qless) {
        buffer_clear(&publication.json);
        qless_publish(event, ns->qless, &publication.json,
                      &(struct qless_sink){ .publish = publish_of_qless, .context = &publication });
    }
    buffer_release(&publication.json);
}

// ---------------------------------------------------------------------------------------------

size_t pubsub_subscribers(const struct server *server, struct slice channel)
{
    const struct channel *found = map_find(&server->pubsub.channel_map, channel);
    return found ? found->count : 0;
}

void pubsub_each_channel(const struct server *server, void (*visit)(void *context, struct slice),
                         void *context)
{
    for (const struct channel *channel = server->pubsub.channels; channel;
         channel = channel->next) {
        visit(context, channel_name(channel));
    }
}
