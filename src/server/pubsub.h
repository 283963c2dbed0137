// SPDX-License-Identifier: MIT
// Messages on channels: who publishes does not know who listens. Subscriptions are to a channel by
// its name or to all whose names match a pattern (`*`, `?`, `[a-z]`, `\` before a character meant
// as such, as in Redis).
//
// What the engines tell goes out on
//
//      sluice:NS:log            all that happens in a namespace
//      sluice:NS:tracked        to jobs that are tracked
//      sluice:NS:worker:NAME    to a worker, such as that its lease is lost
//
// as JSON; in a namespace of qless also as qless's own messages (ql:*). There a pattern that begins
// with a wildcard hears only the latter.
#ifndef SLUICE_SERVER_PUBSUB_H
#define SLUICE_SERVER_PUBSUB_H

#include "base/buffer.h"
#include "base/map.h"
#include "base/slice.h"
#include "base/status.h"
#include "engine/event.h"
#include "server/routes.h"

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

// A channel or a pattern that somebody listens to.
struct channel;

struct pubsub {
    struct map channel_map, pattern_map;
    struct channel *channels, *patterns; // lists of the same, the newest first
    size_t channel_count, pattern_count;
    size_t pattern_subscriptions; // of all connections
    struct routes routes;         // which of them hear a channel
    struct channel *gone;         // the last one that was ended, whose name was handed out
    // Whose command is being run: a message for it would stand in the middle of the answer, and
    // comes behind it.
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
void pubsub_forget(struct connection *connection); // all of them, without a word

// A command of the connection begins to be answered, and has been. May be nested.
void pubsub_answer_begin(struct connection *connection);
void pubsub_answer_end(struct connection *connection);

// Hands a message to all who listen. Gives how many.
size_t pubsub_publish(struct server *server, struct slice channel, struct slice message);

// What users may read has changed, or which user a connection has.
void pubsub_rights_changed(struct server *server);

// The engine of a namespace tells something. Only who may read the namespace hears of it.
void pubsub_event(struct server *server, struct ns *ns, const struct event *event);

// For PUBSUB CHANNELS, NUMSUB, NUMPAT.
size_t pubsub_subscribers(const struct server *server, struct slice channel);
void pubsub_each_channel(const struct server *server, void (*visit)(void *context, struct slice),
                         void *context);

#endif
