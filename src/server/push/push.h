// SPDX-License-Identifier: MIT
// Push: the server is the worker of jobs whose klass has an address (rules/plan.h). It pops them
// under a lease, as any worker does, sends each to its address with POST, and settles it by the
// response (rules/judge.h). A job that is being pushed is a delivery:
//
//            push_take       group durable          response complete
//      queue -----> DELIVERY_HELD ---------> DELIVERY_SENT --------> DELIVERY_DONE --> settled
//                       ^                                            |
//                       | after a restart                            | 202
//                       +------------------- DELIVERY_ACCEPTED <-----+
//
// Nothing is sent before the lease is durable, so that after a crash no two workers have the same
// token. After a restart the pusher still holds its leases: jobs that were sent are sent again, and
// for accepted jobs it waits for the report.
//
// Everything runs in the loop's thread, and all changes are part of the turn's group:
//
//      push_transfer resumes paused responses, up to the turn's share of bytes
//      push_settle   completes, retries or fails jobs whose response is complete; before waiting
//                    commands are served
//      push_take     pops jobs that may be sent; after waiting commands were served
//      push_send     sends deliveries whose group is durable; after the commit
#ifndef SLUICE_SERVER_PUSH_PUSH_H
#define SLUICE_SERVER_PUSH_PUSH_H

#include "base/buffer.h"
#include "base/map.h"
#include "server/loop.h"
#include "server/push/rules/judge.h"
#include "server/push/rules/plan.h"

#include <curl/curl.h>

struct note;
struct ns;
struct server;

// The name of the pusher as a worker in the engine.
#define PUSH_WORKER SLICE("@push")

// The functions of the commands about pushes (commands.c).
extern const struct push_service server_push;

enum {
    PUSH_SCAN_MAX = 10000, // jobs that are examined in a queue whose first job cannot be sent
    PUSH_CAUTIOUS = 16,    // requests to a destination before the first connection is established
};

enum push_breaker {
    BREAKER_CLOSED, // pushes are sent
    BREAKER_OPEN,   // no pushes are sent until `open_us`
    BREAKER_TRYING, // one push is sent as a trial
};

struct push_entry_figures {
    uint64_t sent, completed, accepted, delayed, retried, failed, lost;
};

// A pattern and its address in a namespace. Deliveries continue when the plan changes.
struct push_entry {
    struct push_entry *next; // of the same namespace
    struct push_namespace *space;
    struct push_plan plan;
    struct note *note; // in the store; NULL: the entry is from the config file
    bool gone;         // takes no more jobs; freed with its last delivery
    bool fresh;        // used while the config file is read: it has this entry
    bool reached;      // connected since the last failed attempt to connect
    int64_t running;   // all its deliveries
    int64_t accepted;  // those in DELIVERY_ACCEPTED
    enum push_breaker breaker;
    int64_t failures;     // consecutive
    int64_t open_us;      // the breaker: nothing is sent before this time
    int64_t held_us;      // the destination requested a delay: nothing is sent before this time
    char last_error[160]; // "" when the last answer was a good one
    int64_t error_us;     // when `last_error` was set
    struct push_entry_figures figures;
};

// A queue that may have jobs to push.
struct push_line {
    struct push_line *next; // next in the list `pending`
    bool pending;
    int64_t scan_us; // jobs behind the first one are not examined before this time
    uint8_t name_size;
    char name[];
};

// The pusher's state for a namespace.
struct push_namespace {
    struct push_namespace *next;
    struct push *push;
    struct ns *ns;
    struct push_entry *entries; // owned
    struct map deliveries;      // by jid
    struct map lines;           // by queue
    struct push_line *pending, **pending_last;
    // since jobs behind the first one were examined: a delivery ended, or a queue changed
    bool news;
};

enum delivery_state {
    DELIVERY_HELD,
    DELIVERY_SENT,
    DELIVERY_DONE,
    DELIVERY_ACCEPTED,
};

struct push_delivery {
    struct push_delivery *next, *previous; // of those in the same state
    struct push_delivery *paused_next, *paused_previous;
    bool is_paused;
    struct push_socket *socket; // NULL: none (socket.c)
    struct push_delivery *socket_next, *socket_previous;
    struct push_socket *opened; // opened for this delivery, not connected yet; there may be several
    struct push_entry *entry;
    enum delivery_state state;
    bool lost; // the pusher no longer holds the job
    uint64_t group;
    uint64_t token;
    CURL *easy;        // while it is sent, else NULL
    uint64_t settings; // the value of push.settings that `easy` was made with
    struct curl_slist *headers;
    struct buffer content; // "ID.SECONDS." and the body
    size_t body;           // offset of the body in `content`
    struct buffer answer;  // body of the response
    uint64_t header_bytes; // of the response
    struct push_answer outcome;
    struct loop_event *beat; // timer: renews the lease
    int64_t accepted_until_us;
    char trace[64]; // traceparent, or ""
    char error[CURL_ERROR_SIZE];
    uint8_t jid_size;
    char jid[];
};

// Deliveries whose responses are paused until a later turn, oldest first (curl.c).
struct paused_list {
    struct push_delivery *first, *last;
};

// Sockets that are handled in a later turn, oldest first.
struct deferred_list {
    struct push_socket *first, *last;
};

struct delivery_list {
    struct push_delivery *first, *last;
    size_t count;
};

struct push {
    struct server *server;
    CURLM *multi;
    struct paused_list paused;
    struct deferred_list deferred;
    struct push_socket *socket_first; // all sockets
    struct map sockets;               // struct push_socket, by descriptor
    struct map sockets_named;         // those that have carried a request, by their addresses
    // due at once while a delivery is paused or a socket deferred
    struct loop_event *more;
    uint64_t received;                 // bytes of responses, headers and bodies, since the start
    int64_t share;                     // bytes that may still be read in this turn
    struct loop_event *timer;          // timer that libcurl asks for
    struct loop_event *due;            // timer: when a push may be sent again
    struct push_namespace *namespaces; // owned
    struct delivery_list lists[4];     // by state
    struct delivery_list lost;
    CURL **idle; // owned: handles for reuse, made with the current settings
    size_t idle_count;
    uint64_t settings;         // counts how often the settings were applied
    const struct job **peeked; // owned; room for the jobs that engine_peek returns
    bool stopping;
};

MUST_USE enum status push_init(struct server *server, struct error *error);
void push_release(struct server *server);

// To be called when the store is open: makes the entries of the store and of the config file, and
// resumes the deliveries from before the restart.
MUST_USE enum status push_start(struct server *server, struct error *error);

// To be called after the settings have changed.
void push_apply_settings(struct server *server);

// The parts of a turn. push_take returns whether a job was popped.
void push_transfer(struct server *server);
void push_settle(struct server *server);
MUST_USE bool push_take(struct server *server);
void push_send(struct server *server);

// The namespaces call these: a job of the queue may have become available; a lease ended.
void push_woken(struct server *server, struct ns *ns, struct slice queue);
void push_lease_ended(const struct ns *ns, struct slice jid);
void push_leaving(struct server *server, struct ns *ns);

// The wall clock was stepped by `change_us`: shifts the times that the pusher waits for.
void push_shift(struct server *server, int64_t change_us);

// push_stop: no more jobs are taken. push_is_drained: only accepted deliveries are left.
// push_give_back: returns the jobs of the remaining requests to their queues when the time to stop
// is over.
void push_stop(struct server *server);
bool push_is_drained(const struct server *server);
void push_give_back(struct server *server);

// ---------------------------------------------------------------------------------------------
// For the files of this folder

// push_namespace_acquire creates the pusher's state for a namespace if there is none.
// push_entry_find: the entry of a pattern, or NULL.
MUST_USE enum status push_namespace_acquire(struct push *push, struct ns *ns,
                                            struct push_namespace **out);
struct push_entry *push_entry_find(const struct push_namespace *space, struct slice pattern);
// Sets an entry. Takes over the plan, also when it fails. `note` is NULL for the config file.
MUST_USE enum status push_entry_set(struct push_namespace *space, struct push_plan *plan,
                                    struct note *note, struct error *error);
void push_entry_drop(struct push_entry *entry);
// The entry for a job, or NULL.
struct push_entry *push_entry_for(const struct push_namespace *space, const struct job *job);
// Marks all queues of the namespace to be examined at the end of the turn.
void push_namespace_look(struct push_namespace *space);
void push_lines_free(struct push_namespace *space);
struct slice push_line_key(const void *line);
// Sets the timer for the next push that may not be sent now.
void push_set_due(struct push *push, int64_t now_us);
// STATE if the pusher cannot work in the namespace.
MUST_USE enum status push_check_namespace(const struct ns *ns, struct error *error);

// Creates a delivery in DELIVERY_HELD for a job that the pusher holds, with its body.
MUST_USE enum status delivery_new(struct push_entry *entry, const struct job *job, int64_t now_us,
                                  struct push_delivery **out);
void delivery_free(struct push_delivery *delivery);
// Frees the deliveries whose jobs the pusher no longer holds.
void push_drop_lost(struct push *push);
void delivery_move(struct push_delivery *delivery, enum delivery_state state);
static inline struct slice delivery_jid(const struct push_delivery *delivery)
{
    return slice_make(delivery->jid, delivery->jid_size);
}

// Whether the worker has replied 202 to the job under that lease, to this server process or an
// earlier one.
bool push_was_accepted(const struct engine *engine, const struct job *job, uint64_t token);

// Settles the job by the outcome of its request. The delivery is freed, or becomes
// DELIVERY_ACCEPTED.
void delivery_settle(struct push_delivery *delivery);
// Returns the job to its queue after `delay_us`, as if it had not been popped; frees the delivery.
void delivery_return(struct push_delivery *delivery, int64_t delay_us);

// Start and abort the request.
MUST_USE enum status delivery_send(struct push_delivery *delivery);
void delivery_abort(struct push_delivery *delivery);

// The sockets of libcurl (socket.c): callbacks, and how much the deliveries on a socket may
// receive.
void push_socket_init(struct push *push);
void push_socket_release(struct push *push);
int push_socket_want(CURL *easy, curl_socket_t fd, int what, void *user, void *context);
curl_socket_t push_socket_open(struct push_delivery *delivery, const struct curl_sockaddr *address);
int push_socket_close(void *user, curl_socket_t fd);
// Records that the delivery's request uses the socket between these addresses. NO_MEMORY; NOT_FOUND
// if there is no such socket, which cannot happen.
struct push_ends {
    const char *here, *there;
    int port_here, port_there;
};
MUST_USE enum status push_socket_use(struct push_delivery *delivery, const struct push_ends *ends);
// Ends the delivery's use of its socket, and of the sockets opened for it.
void push_socket_detach(struct push_delivery *delivery);
void push_socket_forget(struct push_delivery *delivery);
// Handles the socket that was deferred first. False: none is deferred.
bool push_socket_resume(struct push *push);

// Reports an event of a socket to libcurl, and collects the requests that have ended.
void push_curl_act(struct push *push, curl_socket_t fd, int what);
// Ends a request whose response is too large.
void delivery_reject(struct push_delivery *delivery);

MUST_USE enum status push_curl_init(struct push *push, struct error *error);
void push_curl_release(struct push *push);
void push_curl_apply(struct push *push);

// Appends the body of a push, and sets what is sent in headers.
void push_body_write(const struct push_entry *entry, const struct job *job, struct buffer *out,
                     char trace[64]);

#endif
