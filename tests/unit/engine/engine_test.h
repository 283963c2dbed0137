// SPDX-License-Identifier: MIT
// An engine to talk to. A test is a list of sentences: who does what at which second, and what the
// answer is. Times are in seconds. Lists of names are texts: "a,b,c".
//
// Every call must succeed, unless the sentence before it was refused(...): then it must fail in
// that way, and must not have changed a byte of what engine_save writes. (With the server clock
// such a call is best made at the time of the call before it.)
//
// A text that a call returns is valid until the next one.
#ifndef SLUICE_ENGINE_TEST_H
#define SLUICE_ENGINE_TEST_H

#include "base/buffer.h"
#include "engine/config/policy.h"
#include "engine/engine.h"
#include "engine/lanes/limit.h"

#include "engine/lease/workers.h"
#include "fault_alloc.h"
#include "test.h"

enum {
    US = 1000000,        // in a second
    DAY = 86400,         // seconds
    RETENTION = 7 * DAY, // of complete jobs, unless another is set
};

struct world {
    struct fault_alloc fault;
    struct engine *engine;
    enum engine_clock clock;
    struct error error;   // of the last call
    struct buffer events; // what happened since expect_events, as a text
    int64_t event_us;     // the time of the last event
    struct buffer ended;  // the jobs whose leases ended since expect_ended, as a text
    struct buffer text;   // what the last call returned
    struct buffer before; // engine_save's bytes when refused() was said
    enum status refused;
    const char *words;
    struct slice slices[256]; // what slices_of gave, the oldest is overwritten
    size_t slice_count;
    double now; // of the last call
};

// For cmocka: a fresh world with the server's or the clients' clock, and its end.
int server(void **state);
int client(void **state);
int world_end(void **state);

#define SERVER_TEST(test) cmocka_unit_test_setup_teardown(test, server, world_end)
#define CLIENT_TEST(test) cmocka_unit_test_setup_teardown(test, client, world_end)

// `seed` is the hash's: nothing may depend on it.
struct world *world_new(enum engine_clock clock, uint64_t seed);
void world_free(struct world *w);

// The next call fails with this status and a sentence that contains `words`.
void refused(struct world *w, enum status status, const char *words);

// Checks a status against what is expected, for calls that have no sentence here. `now` must have
// been said with at().
void said(struct world *w, enum status status);

// Notes the time of a call and gives it in microseconds.
int64_t at(struct world *w, double now);
// When a job that completed then is deleted by itself, as tick says it.
double kept_until(const struct world *w, double completed);

int64_t us(double seconds);

struct slice name_of(const char *text); // NULL: empty
struct slices slices_of(struct world *w, const char *list);

// How many of the engine's invariants are broken; says which. A world's end asserts that none is.
size_t faults_of(struct world *w);

// All that engine_save writes.
void save(const struct world *w, struct buffer *out);
// The records but those of the series, whose open minute is not saved.
void save_but_series(const struct world *w, struct buffer *out);

// Saves the engine and goes on with one that was loaded from the bytes. Saved again it must give
// the same bytes. Waiters are forgotten.
void reload(struct world *w);

// ---------------------------------------------------------------------------------------------
// What clients say

double tick(struct world *w, double now); // when it wants the next; -1: never

void put(struct world *w, double now, const char *queue, const char *jid);
void put_later(struct world *w, double now, const char *queue, const char *jid, double delay);
void put_depending(struct world *w, double now, const char *queue, const char *jid,
                   const char *depends);
// Into a lane of queue q.
void put_in(struct world *w, double now, const char *domain, const char *jid);
// Empty fields become: queue q, klass k, data {}.
void put_with(struct world *w, double now, struct put_request request);
void put_options(struct world *w, double now, const char *jid, struct job_options options);
// The jid of the job that it gives.
const char *put_gives(struct world *w, double now, struct put_request request);

const char *pop_with(struct world *w, double now, struct pop_request request);
const char *pop(struct world *w, double now, const char *queue, const char *worker, size_t count);
const char *pop_queues(struct world *w, double now, const char *queues, enum pop_order order,
                       size_t count); // as worker w1
const char *peek(struct world *w, double now, const char *queue, size_t count);

double heartbeat(struct world *w, double now, const char *worker, const char *jid);
double heartbeat_for(struct world *w, double now, const char *worker, const char *jid,
                     double lease);
void time_out(struct world *w, double now, const char *jids);
void complete(struct world *w, double now, const char *worker, const char *jid);
const char *complete_with(struct world *w, double now, struct complete_request request);
void fail_job(struct world *w, double now, const char *worker, const char *jid, const char *group);
int32_t retry(struct world *w, double now, const char *worker, const char *jid);
int32_t retry_with(struct world *w, double now, struct retry_request request);
size_t unfail(struct world *w, double now, const char *queue, const char *group, size_t count);
size_t cancel(struct world *w, double now, const char *jids);
void delete_job(struct world *w, double now, const char *jid);
void progress(struct world *w, double now, const char *worker, const char *jid, int32_t ppm,
              const char *message);
void checkpoint(struct world *w, double now, const char *worker, const char *jid,
                const char *value);
void log_line(struct world *w, double now, const char *worker, const char *jid, const char *line);
// Whether it is finished already.
bool wait_for(struct world *w, double now, const char *jid, uint64_t waiter);
void tag(struct world *w, double now, const char *jid, const char *tags);
void untag(struct world *w, double now, const char *jid, const char *tags);
bool track(struct world *w, double now, const char *jid);
bool untrack(struct world *w, double now, const char *jid);
void recur(struct world *w, double now, const char *queue, const char *jid, double interval);
// Empty fields become: klass k, data {}; retries 5.
void recur_with(struct world *w, double now, struct recur_request request);
// A queue or a domain that is NULL is not said.
void limit_set(struct world *w, double now, const char *queue, const char *domain,
               struct limit limit);
void limit_unset(struct world *w, double now, const char *queue, const char *domain);
// `count` runs in `period` seconds.
struct limit rate(int64_t count, double period, int64_t burst);
struct limit concurrency(int64_t leases);
struct limit weight(int64_t turns);
void policy_set(struct world *w, double now, enum policy_scope scope, const char *name,
                struct job_options options);
void set(struct world *w, const char *option, const char *value); // at the time of the last call
void unset(struct world *w, const char *option);

// ---------------------------------------------------------------------------------------------
// What they find

// "none" when there is no such job.
const char *state_of(const struct world *w, const char *jid);
struct job_view view_of(const struct world *w, const char *jid);
const char *tags_of(struct world *w, const char *jid);
const char *dependencies_of(struct world *w, const char *jid);
const char *dependents_of(struct world *w, const char *jid);

// "0 put q; 1 popped by w1; 2 failed by w1 as group; 3 note {}".
const char *history_of(struct world *w, const char *jid);

// "1 a line; 2 another".
const char *log_of(struct world *w, const char *jid);

// What holds for a lane and how it stands: "waiting 2, running 1, rate 1/2 burst 3, concurrency 4,
// weight 5, ready 7.5", but for what is nothing; "busy" when it has as many leases as it may.
const char *lane_of(struct world *w, double now, const char *queue, const char *domain);
// "q/*: rate 1/2 burst 3, weight 5; /a: concurrency 1".
const char *limits(struct world *w);
// How many lanes there are besides the default lanes.
size_t lane_count(const struct world *w);

// "log: put a in q; worker+log: lock_lost a by w1; tracker: popped a"; then forgets them.
void expect_events(struct world *w, const char *events);
void forget_events(struct world *w);
// The jobs whose leases ended: "a,b"; then forgets them.
void expect_ended(struct world *w, const char *jids);

// A part of a list: "how many in all: jids".
const char *jobs(struct world *w, double now, enum list list, const char *queue, size_t offset,
                 size_t count);
const char *failed(struct world *w, const char *group, size_t offset, size_t count);
const char *tagged(struct world *w, const char *tag, size_t offset, size_t count);
const char *held(struct world *w, double now, const char *worker, bool expired);

// What is not zero: "waiting 2, running 1, paused".
const char *queue_of(struct world *w, double now, const char *queue);
const char *queues(struct world *w);              // names
const char *groups(struct world *w);              // "group 2,group 1"
const char *top_tags(struct world *w);            // "tag 3,tag 2"
const char *tracked(struct world *w);             // jids; those of jobs that are gone in brackets
const char *workers(struct world *w, double now); // "w1 running 1 expired 0,w2 offline"
const char *config(struct world *w, const char *option);

struct stats_view stats_of(const struct world *w, const char *queue, double date);
struct recurring_view recurring_of(const struct world *w, const char *jid);

#endif
