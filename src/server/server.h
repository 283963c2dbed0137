// SPDX-License-Identifier: MIT
// The server as a whole: what its parts share, and the turns that it works in.
//
// One thread runs the loop and all engines. In a turn the readable connections are read, and their
// complete requests are run, until the turn's time or bytes are used up; the rest waits in the
// schedule (schedule.h) for the next turn. At the end of a turn waiting commands are served and the
// changes of the engines are appended to the store as one group. The replies of the turn are held
// until that group is durable, while the next turn runs:
//
//      loop:  read, run, run, run | serve waiters, append | read, run, ... | ...
//      store:                       write and sync group 1 -------> durable
//      loop:                                                            replies of group 1 go out
//
// So many clients share one sync, and no reply reports a change that could be lost.
#ifndef SLUICE_SERVER_SERVER_H
#define SLUICE_SERVER_SERVER_H

#include "api/call.h"
#include "base/histogram.h"
#include "host/commands/services.h"
#include "host/memory.h"
#include "host/namespaces.h"
#include "os/random_source.h"
#include "server/access/audit.h"
#include "server/access/logins.h"
#include "server/access/sessions.h"
#include "server/background.h"
#include "server/commit.h"
#include "server/config/address.h"
#include "server/config/settings.h"
#include "server/http/event_stream.h"
#include "server/http/web.h"
#include "server/loop.h"
#include "server/net/connection.h"
#include "server/notify.h"
#include "server/push/push.h"
#include "server/redis/pubsub.h"
#include "server/redis/scripts.h"
#include "server/redis/slow_commands.h"

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
    uint64_t slow;      // connections closed because a reply or message did not fit
    uint64_t held;      // times a connection became stalled: its client did not read
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
    unsigned wanted; // which of the events that have to be asked for are, of enum event_channel
    struct push push;
    struct background background;
    struct logins logins;
    struct sessions sessions;
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
    int64_t due_us;           // when the timer for due work fires; INT64_MAX: never
    enum store_state store_state;
    struct error store_why;        // when it is not READY
    enum store_state logged_state; // that was logged last
    struct error memory_why;       // of the last refusal for want of memory
    bool memory_refused;           // in this turn
    bool logged_full;              // that memory is full was logged last
    bool accept_paused;
    bool draining; // see server_drain
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

// The end of a turn, after the events of the loop: server_run calls it. For tests, which run the loop
// themselves.
void server_end_turn(struct server *server);

// The time that counts for all of this turn, in all engines; for moments. It goes forward, but for
// when a step of the wall clock is followed (host_clock.h).
int64_t server_now(struct server *server);

// The beginning of this turn by the monotonic clock; for durations.
int64_t server_elapsed(struct server *server);

// Takes no more connections and requests, lets what was asked for be answered, and stops.
void server_stop(struct server *server);

// While a server drains it refuses puts (server_check_drain), recurring jobs make no jobs, and all
// other work goes on. A server that starts does not drain.
void server_drain(struct server *server, bool on);
// BUSY when it drains.
MUST_USE enum status server_check_drain(const struct server *server, struct error *error);

// Reads the settings again.
void server_reload(struct server *server);
// Takes over what the settings say now.
void server_apply_settings(struct server *server);

// Who listens to events has changed.
void server_update_wanted(struct server *server);

// Addresses it listens to: `index` from 0 until it is false. For tests and the log.
bool server_address(const struct server *server, size_t index, char text[ADDRESS_TEXT_SIZE]);

#endif
