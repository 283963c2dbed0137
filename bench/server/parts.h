// SPDX-License-Identifier: MIT
// What the parts of the server's benchmark share: servers of several kinds that are started and
// stopped, what each is told in the life of a job, and the load: lives one after the other.
//
// A benchmark has no use for going on after an error: every function here ends the program with a
// sentence instead.
#ifndef SLUICE_BENCH_SERVER_PARTS_H
#define SLUICE_BENCH_SERVER_PARTS_H

#include "base/buffer.h"

#include "answer.h"

#include <stdint.h>
#include <sys/types.h>

__attribute__((format(printf, 1, 2), noreturn)) void die(const char *format, ...);

enum {
    PAYLOAD_SIZE = 200,
    ID_SIZE = 32, // of a job, as we name it
};

enum operation {
    OPERATION_PUT,
    OPERATION_POP,
    OPERATION_COMPLETE,
    OPERATIONS,
};

enum durability {
    DURABILITY_NEVER,
    DURABILITY_INTERVAL, // of a second
    DURABILITY_ALWAYS,
    DURABILITIES,
};

// What the server gave us to name a popped job by: of a bare list, the payload itself.
struct job_name {
    size_t size;
    char text[PAYLOAD_SIZE];
};

// A life, or with a batch above 1 as many of them as one command can serve.
struct life {
    size_t batch;
    struct slice worker; // borrowed
    struct job_name *popped;
    size_t popped_count;
    size_t answers; // of this operation, that came
};

// ---------------------------------------------------------------------------------------------
// kinds.c: what each kind of server is told

struct kind {
    const char *name;
    bool is_redis;
    bool is_http;        // its lives are; a server of ours speaks RESP as well
    const char *prepare; // a line that makes a fresh server ready; NULL for none
    // Each appends the requests of an operation and returns how many answers there will be.
    size_t (*ask[OPERATIONS])(struct buffer *out, const struct life *life);
    // Looks at each answer; false when it is not what it should be.
    bool (*accept[OPERATIONS])(struct life *life, const struct answer *answer);
};

// A job with an id that no other job has.
struct fresh_job {
    char payload[PAYLOAD_SIZE];
    struct slice id; // a part of the payload
};

void make_job(struct fresh_job *job);

// What a popped job is named by; false when there are too many, or it is too long.
bool keep_name(struct life *life, struct slice name);

extern const struct kind kinds[];
extern const size_t kind_count;

// What lets sluiced keep nothing of a job that is done, as the others do.
extern const char *const kind_keep_nothing;

// ---------------------------------------------------------------------------------------------
// process.c: servers

struct server {
    const struct kind *kind;
    pid_t pid;
    uint16_t port, http_port;
    char folder[256];
};

struct server_options {
    const char *program;
    const char *folder; // in which the server gets one of its own
    enum durability durability;
};

void server_start(struct server *server, const struct kind *kind,
                  const struct server_options *options);
void server_stop(struct server *server); // its folder is removed

uint64_t server_cpu_ns(const struct server *server); // of all its threads
uint64_t server_memory(const struct server *server); // bytes that are resident
uint64_t machine_busy_ns(void);                      // of all cores

// Where a program is, by PATH unless it has a slash; false when it is not there.
bool find_program(const char *name, char *path, size_t size);

// ---------------------------------------------------------------------------------------------
// lives.c: the load

struct load {
    size_t connections, depth, batch;
    enum operation last; // with which a life ends
};

enum figure {
    FIGURE_LIVES,  // per second
    FIGURE_SERVER, // us of CPU for each life
    FIGURE_CLIENT,
    FIGURE_P50, // us that a life took
    FIGURE_P99,
    FIGURE_OTHERS, // per cent of the machine that neither of the two used
    FIGURES,
};

// Says a line and waits for the answer.
void lives_say(const struct server *server, const char *line);

// Puts so many jobs and leaves them there.
void lives_fill(const struct server *server, uint64_t jobs);

void lives_measure(const struct server *server, const struct load *load, double seconds,
                   double figures[FIGURES]);

#endif
