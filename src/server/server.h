// SPDX-License-Identifier: MIT
// The state that the parts of the server share, and the turns of its loop.
//
// One thread runs the loop and all engines. In a turn it reads the readable connections and runs
// their complete requests, until the turn's time or bytes are used up; the rest waits in the
// schedule (net/schedule.h) for the next turn. At the end of a turn it serves waiting commands, and
// appends the changes of the engines to the store as one group. The replies of the turn are held
// until that group is durable, while the next turn runs:
//
//      loop:  read, run, run, run | serve waiters, append | read, run, ... | ...
//      store:                       write and sync group 1 -------> durable
//      loop:                                                        send replies of group 1
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
#include "server/grpc/grpc.h"
#include "server/http/event_stream.h"
#include "server/http/metrics_stream.h"
#include "server/http/web.h"
#include "server/loop.h"
#include "server/net/connection.h"
#include "server/notify.h"
#include "server/push/push.h"
#include "server/redis/pubsub.h"
#include "server/redis/scripts.h"
#include "server/redis/slow_commands.h"

enum {
    SERVER_SCRATCH_SIZE = 256 << 10, // bytes that are read from a connection at a time
};

struct listener;
struct tls;
struct users;
struct zoneinfo;

struct server_figures {
    uint64_t connections; // ever accepted
    uint64_t refused;     // beyond max-connections
    uint64_t commands;
    uint64_t errors;        // error replies
    struct histogram turns; // durations of turns in microseconds
    uint64_t input_bytes, output_bytes;
    uint64_t published; // messages handed to subscribers
    uint64_t slow;      // connections closed because a reply or message exceeded the output limit
    uint64_t held;      // times a connection stalled because its client did not read
    uint64_t oversized; // connections closed because a request was larger than the allowance
    uint64_t auth_timeouts;
    // connections closed to make room for others, or because the reserve was full
    uint64_t evicted;
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
    struct metrics_streams metrics_streams;
    unsigned wanted; // bits of enum event_channel: the optional events that have listeners
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
    struct grpc grpc;
    struct scripts scripts;
    struct listener *listeners; // owned
    size_t listener_count;
    struct scratch scratch; // for the command that is running
    char *input;            // input buffer of SERVER_SCRATCH_SIZE bytes
    struct hash_seed seed;
    struct random_source random;
    struct loop_event *store_event, *due_event, *sweep_event, *accept_event;
    struct loop_event *signal_events[4];
    struct host_clock clock;
    int64_t turn_us;          // wall-clock time of this turn; 0: not read yet
    int64_t turn_began_us;    // monotonic time at the start of this turn
    bool turn_changes;        // a command may have changed something in this turn
    int64_t began_us;         // wall-clock time of the start
    int64_t began_elapsed_us; // monotonic time of the start
    int64_t due_us;           // when the timer for due work fires; INT64_MAX: never
    enum store_state store_state;
    struct error store_why;        // why the store is not STORE_READY
    enum store_state logged_state; // the state that was logged last
    struct error memory_why;       // the last refusal because memory was full
    bool memory_refused;           // in this turn
    bool logged_full;              // the last line about memory says that it is full
    bool accept_paused;
    bool draining; // see server_drain
    bool stopping, stopped;
    struct server_figures figures;
};

// Opens the store, loads the namespaces and starts listening. Takes over the settings, also when it
// fails. When it fails there is nothing to release.
MUST_USE enum status server_init(struct server *server, struct settings *settings,
                                 char *const *environment, struct error *error);
// Runs until the server is stopped. STATUS_OK: all acknowledged changes are on disk.
MUST_USE enum status server_run(struct server *server, struct error *error);
void server_release(struct server *server);

// Ends a turn, after the events of the loop. server_run calls it; tests that run the loop
// themselves call it too.
void server_end_turn(struct server *server);

// The time of this turn for all engines, for points in time. It never goes back, except when a step
// of the wall clock is followed (host_clock.h).
int64_t server_now(struct server *server);

// The monotonic time at the start of this turn, for durations.
int64_t server_elapsed(struct server *server);

// Accepts no more connections and requests, completes the requests in progress, and stops.
void server_stop(struct server *server);

// Starts or ends draining. A draining server refuses puts (server_check_drain) and its recurring
// jobs spawn no jobs; everything else continues. A server starts without draining.
void server_drain(struct server *server, bool on);
// BUSY while the server drains.
MUST_USE enum status server_check_drain(const struct server *server, struct error *error);

// Reads the settings again and applies them. On failure the log has told, and nothing changes.
enum status server_reload(struct server *server, struct error *error);
// Applies the current settings.
void server_apply_settings(struct server *server);

// To be called when listeners to optional events came or went.
void server_update_wanted(struct server *server);

// The addresses that the server listens to: call it with `index` from 0 until it returns false.
bool server_address(const struct server *server, size_t index, char text[ADDRESS_TEXT_SIZE]);

#endif
