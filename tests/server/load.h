// SPDX-License-Identifier: MIT
// Workers that put, pop, complete, fail, retry, renew, forget and cheat, each on a connection of
// its own with many requests under way, all in one thread. What they are told goes into a ledger.
// Puts and what ends a lease are repeated: when the answer was lost, which counts as sent once more;
// and when it was heard, which must be answered the same.
#ifndef SLUICE_TESTS_SERVER_LOAD_H
#define SLUICE_TESTS_SERVER_LOAD_H

#include "client.h"
#include "ledger.h"
#include "process.h"
#include "random.h"

enum {
    LOAD_WORKERS = 8,
    LOAD_DEPTH_MAX = 64, // requests under way on a connection
    LOAD_QUEUES = 4,
    LOAD_LEASES_MAX = 256, // that a worker knows of, held or lost
    LOAD_AGAIN_MAX = 128,  // requests of a worker that are to be repeated
    LOAD_ANSWER_SIZE = 24,
};

extern const char *const load_queues[LOAD_QUEUES];

struct lease {
    size_t job;
    uint64_t token;
};

enum request_kind {
    REQUEST_PUT,
    REQUEST_POP,
    REQUEST_ACT,
    REQUEST_CHEAT,     // must be refused
    REQUEST_PUT_AGAIN, // must be answered as it was
    REQUEST_ACT_AGAIN, // the same, or refused when the job was handed out since
};

struct request {
    enum request_kind kind;
    enum lease_act act;
    struct lease lease;            // of an act or a cheat; of a put the job
    bool repeats;                  // it was sent before
    char answer[LOAD_ANSWER_SIZE]; // of one that is repeated though it was heard
};

struct leases {
    struct lease list[LOAD_LEASES_MAX];
    size_t count;
};

struct worker {
    char name[16];
    struct client client;
    struct request requests[LOAD_DEPTH_MAX]; // under way; a ring
    size_t first, count;
    size_t depth; // so many are to be under way
    struct leases held, lost;
    struct request again[LOAD_AGAIN_MAX]; // to be repeated
    size_t again_count;
};

struct load {
    struct ledger ledger;
    struct random random;
    struct worker workers[LOAD_WORKERS];
    size_t open_max; // jobs that are not done: with more none are put
    uint64_t answers, cheats;
    uint64_t repeats[ACTS], repeated_puts; // that were answered and not refused
};

void load_init(struct load *load, uint64_t seed);
void load_release(struct load *load);

// For a new server: what the ledger relies on.
void load_configure(uint16_t port);

// Single requests of a worker, and the answers that have come for it.
void load_put(struct load *load, struct worker *worker);
void load_wait(struct worker *worker, const char *ns); // a pop that waits without end
void load_act(struct load *load, struct worker *worker, enum lease_act act); // on a lease it holds
bool load_take(struct load *load, struct worker *worker); // false when the connection is over
// Closes the connection; what became of its requests is unknown.
void load_vanish(struct load *load, struct worker *worker, bool reset);

void load_connect(struct load *load, uint16_t port);
// Works until so many answers have come or the time is over. Fails when a connection ends, unless
// `may_end`; then it gives false when all have ended.
bool load_run(struct load *load, struct process *process, uint64_t answers, int64_t until_us,
              bool may_end);
// The server is gone: takes the answers that it sent before, and gives up the rest.
void load_disconnect(struct load *load);

// Without any kills: does all jobs that there are, and holds what became of each against the
// ledger.
void load_drain(struct load *load, uint16_t port);

#endif
