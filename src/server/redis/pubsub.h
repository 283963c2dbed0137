// SPDX-License-Identifier: MIT
// Publish and subscribe. A subscription is to a channel, or to all channels whose names match a
// pattern (`*`, `?`, `[a-z]`, and `\` before a literal character, as in Redis).
//
// Events of the engines are published as JSON on
//
//      sluice:NS:log            all events of a namespace
//      sluice:NS:tracked        events of tracked jobs
//      sluice:NS:worker:NAME    events for a worker, such as a lost lease
//      sluice:NS:tick           totals and rates, once a second
//
// and, in a namespace of qless, also as qless's own messages (ql:*). There a pattern that begins
// with a wildcard receives only the latter.
#ifndef SLUICE_SERVER_REDIS_PUBSUB_H
#define SLUICE_SERVER_REDIS_PUBSUB_H

#include "base/buffer.h"
#include "base/map.h"
#include "base/slice.h"
#include "base/status.h"
#include "engine/event.h"
#include "server/redis/routes.h"

#include <stdbool.h>
#include <stddef.h>

struct connection;
struct ns;
struct server;

struct subscription; // of one connection to one channel or pattern

// The subscriptions of a connection.
struct subscriptions {
    struct subscription *first;
    size_t channels, patterns; // how many
};

// A channel or a pattern with subscribers.
struct channel;

struct pubsub {
    struct map channel_map, pattern_map;
    struct channel *channels, *patterns; // lists of all, the newest first
    size_t channel_count, pattern_count;
    size_t pattern_subscriptions; // of all connections
    struct routes routes;         // which pattern subscriptions receive the messages of a channel
    struct channel *gone;         // the channel that ended last: its name may still be borrowed
    // The connection whose command runs, or NULL: messages for it are kept in `later`, because they
    // must follow the reply.
    struct connection *answering;
    unsigned answering_depth;
    struct buffer later;
};

void pubsub_init(struct server *server);
void pubsub_release(struct server *server);

// Succeeds if the subscription exists already. NO_MEMORY; TOO_LARGE above one of the limits
// max-subscriptions, max-patterns and max-patterns-total, or for a pattern that is too large
// (glob.h).
MUST_USE enum status pubsub_subscribe(struct connection *connection, struct slice name,
                                      bool pattern, struct error *error);
// Returns whether there was such a subscription.
bool pubsub_unsubscribe(struct connection *connection, struct slice name, bool pattern);
// Ends one subscription of a kind and sets its name, which is borrowed until the next call; false
// when none is left.
bool pubsub_unsubscribe_next(struct connection *connection, bool pattern, struct slice *name);
void pubsub_forget(struct connection *connection); // ends all, without messages

// To be called around the reply to a command of the connection. Calls may be nested.
void pubsub_answer_begin(struct connection *connection);
void pubsub_answer_end(struct connection *connection);

// Sends a message to all subscribers of the channel, and returns their number.
size_t pubsub_publish(struct server *server, struct slice channel, struct slice message);

// To be called when rights of users, or the user of a connection, have changed.
void pubsub_rights_changed(struct server *server);

// Publishes an event of the engine of a namespace, to subscribers that may read the namespace.
void pubsub_event(struct server *server, struct ns *ns, const struct event *event);

// Whether a client subscribes to the ticks of a namespace (sluice:NS:tick). Sends a tick to the
// clients that do. Subscriptions to patterns receive no ticks.
bool pubsub_hears_ticks(struct server *server, const struct ns *ns);
void pubsub_tick(struct server *server, const struct ns *ns, struct slice json);

// Figures for PUBSUB CHANNELS, NUMSUB and NUMPAT.
size_t pubsub_subscribers(const struct server *server, struct slice channel);
void pubsub_each_channel(const struct server *server, void (*visit)(void *context, struct slice),
                         void *context);

#endif
