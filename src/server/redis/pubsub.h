// SPDX-License-Identifier: MIT
// Messages on channels. Subscriptions are to a channel by its name or to all whose names match a
// pattern (`*`, `?`, `[a-z]`, `\` before a character meant
// as such, as in Redis).
//
// Events of the engines are published on
//
//      sluice:NS:log            all events of a namespace
//      sluice:NS:tracked        events of tracked jobs
//      sluice:NS:worker:NAME    events for a worker, such as a lost lease
//      sluice:NS:tick           totals and rates, once a second
//
// as JSON; in a namespace of qless also as qless's own messages (ql:*). There a pattern that begins
// with a wildcard hears only the latter.
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

// Of a connection.
struct subscriptions {
    struct subscription *first;
    size_t channels, patterns; // how many
};

// A channel or a pattern with subscribers.
struct channel;

struct pubsub {
    struct map channel_map, pattern_map;
    struct channel *channels, *patterns; // lists of the same, the newest first
    size_t channel_count, pattern_count;
    size_t pattern_subscriptions; // of all connections
    struct routes routes;         // which of them hear a channel
    struct channel *gone;         // the last one that ended, whose name is still borrowed
    // The connection whose command runs: messages for it are kept in `later`, since they must follow
    // the reply.
    struct connection *answering;
    unsigned answering_depth;
    struct buffer later;
};

void pubsub_init(struct server *server);
void pubsub_release(struct server *server);

// A subscription that is there already is no error. NO_MEMORY, or TOO_LARGE past one of the limits
// max-subscriptions, max-patterns and max-patterns-total, or of a pattern (glob.h).
MUST_USE enum status pubsub_subscribe(struct connection *connection, struct slice name,
                                      bool pattern, struct error *error);
// Says whether it was there.
bool pubsub_unsubscribe(struct connection *connection, struct slice name, bool pattern);
// All of a kind, one after the other: gives the name of one that was ended, borrowed until the next
// call; false when there is none left.
bool pubsub_unsubscribe_next(struct connection *connection, bool pattern, struct slice *name);
void pubsub_forget(struct connection *connection); // all of them, without messages

// The reply to a command of the connection begins, and ends. May be nested.
void pubsub_answer_begin(struct connection *connection);
void pubsub_answer_end(struct connection *connection);

// Sends a message to all subscribers. Gives how many.
size_t pubsub_publish(struct server *server, struct slice channel, struct slice message);

// The rights of users have changed, or the user of a connection.
void pubsub_rights_changed(struct server *server);

// Publishes an event of the engine of a namespace, to subscribers that may read the namespace.
void pubsub_event(struct server *server, struct ns *ns, const struct event *event);

// Whether a client subscribes to the ticks of a namespace (sluice:NS:tick); sends one to those that do.
// Subscriptions to patterns do not receive ticks.
bool pubsub_hears_ticks(struct server *server, const struct ns *ns);
void pubsub_tick(struct server *server, const struct ns *ns, struct slice json);

// For PUBSUB CHANNELS, NUMSUB, NUMPAT.
size_t pubsub_subscribers(const struct server *server, struct slice channel);
void pubsub_each_channel(const struct server *server, void (*visit)(void *context, struct slice),
                         void *context);

#endif
