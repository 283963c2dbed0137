// SPDX-License-Identifier: MIT
// The server as a whole: what its parts share, and the turns that it works in.
//
// One thread runs the loop and all engines. In a turn all connections that are readable are read,
// and all complete requests in them are run, until the turn's time or bytes are used up; then the
// rest waits in the schedule (schedule.h) for the next turn. At the end of a turn clients that wait
// are served, what has changed in the engines is appended to the store as one group, and the
// replies of the turn are held until that group is durable, while the next turn runs already:
//
//      loop:  read, run, run, run | serve waiters, append | read, run, ... | ...
//      store:                       write and sync group 1 -------> durable
//      loop:                                                            replies of group 1 go out
//
// So many clients share one sync, and nobody is told what could be lost.
#ifndef SLUICE_SERVER_SERVER_H
#define SLUICE_SERVER_SERVER_H

#include "api/call.h"
#include "base/histogram.h"
#include "host/memory.h"
#include "host/namespaces.h"
#include "host/random_source.h"
#include "host/services.h"
#include "server/address.h"
#include "server/audit.h"
#include "server/background.h"
#include "server/commit.h"
#include "server/connection.h"
#include "server/event_stream.h"
#include "server/logins.h"
#include "server/loop.h"
#include "server/notify.h"
#include "server/pubsub.h"
#include "server/push.h"
#include "server/scripts.h"
#include "server/settings.h"
#include "server/slow_commands.h"
#include "server/web.h"

enum {
    SERVER_SCRATCH_SIZE = 256 << 10, // what is read from a connection at a time
};

struct listener;
struct tls;
struct users;
struct zoneinfo;

struct server_figures {
    uint64_t connections; // ever accepted
    uint64_t refused;     // beyond max-connections
    uint64_t commands;
    uint64_t errors;        // replies that are errors
    struct histogram turns; // how long they took, in microseconds
    uint64_t input_bytes, output_bytes;
    uint64_t published; // messages handed to subscribers
    uint64_t slow;      // connections closed since they did not read
    uint64_t held;      // times a connection was not served on since it did not read
    uint64_t oversized; // connections closed since a request was larger than the allowance
    uint64_t auth_timeouts;
    uint64_t evicted;         // connections closed for others, or from the reserve
    uint64_t refused_address; // beyond max-connections-per-address
    uint64_t refused_user;    // logins beyond max-connections-per-user
};

struct server {
    struct settings settings;
    struct event_base *loop;
    struct store *store;
    struct commands *commands;
    struct users *users;
    struct tls *tls; // NULL without tls-listen
    struct zoneinfo *zones;
    struct notify notify;
    struct services services;
    struct namespaces namespaces;
    struct memory memory;
    struct pubsub pubsub;
    struct event_feeds events;
    struct push push;
    struct background background;
    struct logins logins;
    struct audit audit;
    struct commit commit;
    struct connections connections;
    struct schedule schedule;
    struct slow_commands slow_commands;
    struct web web;
    struct scripts scripts;
    struct listener *listeners; // owned
    size_t listener_count;
    struct scratch scratch; // of the command that is run
    char *input;            // what is read, SERVER_SCRATCH_SIZE
    struct hash_seed seed;
    struct random_source random;
    struct loop_event *store_event, *due_event, *sweep_event, *accept_event;
    struct loop_event *signal_events[4];
    struct host_clock clock;
    int64_t turn_us;          // the time of this turn; 0: not looked at yet
    int64_t turn_began_us;    // the same as server_elapsed has it
    bool turn_changes;        // something may have changed in it
    int64_t began_us;         // host time
    int64_t began_elapsed_us; // the same as server_elapsed has it
    int64_t due_us;           // when the loop was asked to do what is due; INT64_MAX: not at all
    enum store_state store_state;
    struct error store_why;      // when it is not READY
    enum store_state said_state; // to the operator
    struct error memory_why;     // of the last refusal for want of memory
    bool memory_refused;         // in this turn
    bool said_full;              // to the operator: that memory is
    bool accept_paused;
    bool stopping, stopped;
    struct server_figures figures;
};

// Opens the store, loads the namespaces and listens. The settings are taken over in any case. When
// it fails there is nothing to release.
MUST_USE enum status server_init(struct server *server, struct settings *settings,
                                 char *const *environment, struct error *error);
// Runs until it is told to stop. The status says whether all that was acknowledged is on disk.
MUST_USE enum status server_run(struct server *server, struct error *error);
void server_release(struct server *server);

// The time that counts for all of this turn, in all engines; for moments. It goes forward, but for
// when a step of the wall clock is followed (host_clock.h).
int64_t server_now(struct server *server);

// The beginning of this turn by the monotonic clock; for durations.
int64_t server_elapsed(struct server *server);

// Takes no more connections and requests, lets what was asked for be answered, and stops.
void server_stop(struct server *server);

// Reads the settings again.
void server_reload(struct server *server);
// Takes over what the settings say now.
void server_apply_settings(struct server *server);

// Addresses it listens to: `index` from 0 until it is false. For tests and the log.
bool server_address(const struct server *server, size_t index, char text[ADDRESS_TEXT_SIZE]);

#endif
