// SPDX-License-Identifier: MIT
// Push: the server is itself the worker of jobs whose klass has an address (push_plan.h). It takes
// them under a lease, as any worker would, POSTs each to its address, and does with it what the
// answer says (push_judge.h). A job that is being pushed is a delivery:
//
//            take           group durable          answer came
//      queue -----> DELIVERY_HELD ---------> DELIVERY_SENT --------> DELIVERY_DONE --> settled
//                       ^                                            |
//                       | after a restart                            | 202
//                       +------------------- DELIVERY_ACCEPTED <-------+
//
// Nothing is sent before the lease is durable, so that after a crash no two workers have the same
// token. After a restart the pusher still has its leases and goes on with them: sent jobs are sent
// again, accepted jobs are waited for.
//
// All of it runs in the loop's thread, and what it changes is part of the turn's group:
//
//      push_transfer paused answers go on, up to the turn's share of bytes
//      push_settle   answers become completions, retries, failures: before waiting commands are
//                    served
//      push_take     jobs that may be sent are taken: after that
//      push_send     what is durable by now is sent: after the commit
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

// Who the engine sees. Its name cannot be taken for a host's.
#define PUSH_WORKER SLICE("@push")

// What the commands about pushes do (push_commands.c).
extern const struct push_service server_push;

enum {
    PUSH_SCAN_MAX = 10000, // jobs that are looked at in a queue whose first one cannot be sent
    PUSH_CAUTIOUS = 16,    // that are under way to where no connection has been made yet
};

enum push_breaker {
    BREAKER_CLOSED, // all is sent
    BREAKER_OPEN,   // nothing is sent until its time
    BREAKER_TRYING, // one is
};

struct push_entry_figures {
    uint64_t sent, completed, accepted, delayed, retried, failed, lost;
};

// An address that jobs of a namespace are pushed to. What is running survives a change of plan.
struct push_entry {
    struct push_entry *next; // of the same namespace
    struct push_namespace *space;
    struct push_plan plan;
    struct note *note; // in the store; NULL: it is in the config file
    bool gone;         // no job is taken any more; it ends with its last delivery
    bool fresh;        // seen in the config file that is being read
    bool reached;      // there was a connection since it was last in vain
    int64_t running;   // deliveries
    int64_t accepted;  // of these
    enum push_breaker breaker;
    int64_t failures;     // in a row
    int64_t open_us;      // until when nothing is sent: the breaker
    int64_t held_us;      // the same: the other side asked for it
    char last_error[160]; // "" when the last answer was a good one
    int64_t error_us;     // when it was noted
    struct push_entry_figures figures;
};

// A queue in which there may be something for the pusher.
struct push_line {
    struct push_line *next; // of those to be looked at
    bool pending;
    int64_t scan_us; // not before is it looked behind its first job again
    uint8_t name_size;
    char name[];
};

// What push keeps for a namespace.
struct push_namespace {
    struct push_namespace *next;
    struct push *push;
    struct ns *ns;
    struct push_entry *entries; // owned
    struct map deliveries;      // by jid
    struct map lines;           // by queue
    struct push_line *pending, **pending_last;
    bool news; // a delivery ended or a queue was told of, since a look behind the first job of one
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
    struct push_socket *socket; // while it has one (push_socket.c)
    struct push_delivery *socket_next, *socket_previous;
    struct push_socket *opened; // for it, of which none is connected yet
    struct push_entry *entry;
    enum delivery_state state;
    bool lost; // the job is not the pusher's any more
    uint64_t group;
    uint64_t token;
    CURL *easy;        // while it is sent
    uint64_t settings; // by which the handle was made: push.settings
    struct curl_slist *headers;
    struct buffer content; // "ID.SECONDS." and the body
    size_t body;           // where the body begins
    struct buffer answer;  // its body
    uint64_t header_bytes; // of its headers
    struct push_answer outcome;
    struct loop_event *beat; // renews the lease
    int64_t accepted_until_us;
    char trace[64]; // traceparent, or ""
    char error[CURL_ERROR_SIZE];
    uint8_t jid_size;
    char jid[];
};

// Flights whose answers have to wait for the next turn, oldest first (push_curl.c).
struct paused_list {
    struct push_delivery *first, *last;
};

// Sockets whose bytes have to wait for the next turn, oldest first.
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
    struct push_socket *socket_first;  // a list of all
    struct map sockets;                // struct push_socket, by descriptor
    struct map sockets_named;          // those that have carried a request, by their addresses
    struct loop_event *more;           // the loop does not sleep while some are paused or deferred
    uint64_t received;                 // bytes of answers, headers and bodies, since the start
    int64_t share;                     // bytes that may still be read in this turn
    struct loop_event *timer;          // curl's
    struct loop_event *due;            // when something may be sent again
    struct push_namespace *namespaces; // owned
    struct delivery_list lists[4];     // by state
    struct delivery_list lost;
    CURL **idle; // owned: handles to be used again, made by the settings there are
    size_t idle_count;
    uint64_t settings;         // how often they were applied
    const struct job **peeked; // owned, room for a look into a queue
    bool stopping;
};

MUST_USE enum status push_init(struct server *server, struct error *error);
void push_release(struct server *server);

// The store is open: makes entries of what it holds and of the config file, and goes on with what
// was under way.
MUST_USE enum status push_start(struct server *server, struct error *error);

// The settings have changed.
void push_apply_settings(struct server *server);

// The parts of a turn. push_take says whether something was taken.
void push_transfer(struct server *server);
void push_settle(struct server *server);
MUST_USE bool push_take(struct server *server);
void push_send(struct server *server);

// What the namespaces tell.
void push_woken(struct server *server, struct ns *ns, struct slice queue);
void push_lease_ended(const struct ns *ns, struct slice jid);
void push_leaving(struct server *server, struct ns *ns);

// The server's time was set: what is waited for comes when it would have come.
void push_shift(struct server *server, int64_t change_us);

// Takes no more jobs; and whether nothing is being sent any more. Then, when time is over, gives
// back what still is.
void push_stop(struct server *server);
bool push_is_drained(const struct server *server);
void push_give_back(struct server *server);

// ---------------------------------------------------------------------------------------------
// For the files push*.c

// The entries of a namespace, by pattern.
MUST_USE enum status push_namespace_acquire(struct push *push, struct ns *ns,
                                            struct push_namespace **out);
struct push_entry *push_entry_find(const struct push_namespace *space, struct slice pattern);
// Sets one; the plan is taken over in any case. `note` is NULL for the config file.
MUST_USE enum status push_entry_set(struct push_namespace *space, struct push_plan *plan,
                                    struct note *note, struct error *error);
void push_entry_drop(struct push_entry *entry);
// The one for a job, or NULL.
struct push_entry *push_entry_for(const struct push_namespace *space, const struct job *job);
// All queues of the namespace are looked at at the end of the turn.
void push_namespace_look(struct push_namespace *space);
void push_lines_free(struct push_namespace *space);
struct slice push_line_key(const void *line);
// The loop wakes when something may be sent that may not be now.
void push_set_due(struct push *push, int64_t now_us);
// STATE when the server cannot work in it.
MUST_USE enum status push_check_namespace(const struct ns *ns, struct error *error);

// A delivery for a job that the pusher has: its body, its place among those held.
MUST_USE enum status delivery_new(struct push_entry *entry, const struct job *job, int64_t now_us,
                                  struct push_delivery **out);
void delivery_free(struct push_delivery *delivery);
// Those whose jobs are not the pusher's any more end.
void push_drop_lost(struct push *push);
void delivery_move(struct push_delivery *delivery, enum delivery_state state);
static inline struct slice delivery_jid(const struct push_delivery *delivery)
{
    return slice_make(delivery->jid, delivery->jid_size);
}

// Whether the worker has answered 202 to the job under that lease, be it to an earlier server.
bool push_was_accepted(const struct engine *engine, const struct job *job, uint64_t token);

// Does with its job what the outcome says; the delivery is freed, or accepted.
void delivery_settle(struct push_delivery *delivery);
// Its job goes back into line after `delay_us`, as if it had not been taken.
void delivery_return(struct push_delivery *delivery, int64_t delay_us);

// The request: begun; ended before its time.
MUST_USE enum status delivery_send(struct push_delivery *delivery);
void delivery_abort(struct push_delivery *delivery);

// Sockets of libcurl's (push_socket.c): what curl calls, and what the deliveries on them may receive.
void push_socket_init(struct push *push);
void push_socket_release(struct push *push);
int push_socket_want(CURL *easy, curl_socket_t fd, int what, void *user, void *context);
curl_socket_t push_socket_open(struct push_delivery *delivery, const struct curl_sockaddr *address);
int push_socket_close(void *user, curl_socket_t fd);
// The delivery's request goes over the socket between these addresses. NO_MEMORY; NOT_FOUND when
// there is none, which cannot be.
struct push_ends {
    const char *here, *there;
    int port_here, port_there;
};
MUST_USE enum status push_socket_use(struct push_delivery *delivery, const struct push_ends *ends);
// It goes over none any more; and waits for none any more either.
void push_socket_detach(struct push_delivery *delivery);
void push_socket_forget(struct push_delivery *delivery);
// Handles the socket that has been deferred for the longest time. False: there is none.
bool push_socket_resume(struct push *push);

// Tells curl what happened to a socket, and collects what has ended.
void push_curl_act(struct push *push, curl_socket_t fd, int what);
// Ends a request whose answer is too large.
void delivery_reject(struct push_delivery *delivery);

MUST_USE enum status push_curl_init(struct push *push, struct error *error);
void push_curl_release(struct push *push);
void push_curl_apply(struct push *push);

// Appends the body of a push, and notes what goes into headers.
void push_body_write(const struct push_entry *entry, const struct job *job, struct buffer *out,
                     char trace[64]);

#endif
