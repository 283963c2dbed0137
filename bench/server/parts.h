// SPDX-License-Identifier: MIT
// Shared by the parts of the server benchmark: starting and stopping servers of several kinds, the
// commands of a job's life for each kind, and the load, which is one life after another.
//
// A benchmark cannot continue after an error: every function here ends the program with a message.
#ifndef SLUICE_BENCH_SERVER_PARTS_H
#define SLUICE_BENCH_SERVER_PARTS_H

#include "base/buffer.h"

#include "answer.h"

#include <stdint.h>
#include <sys/types.h>

__attribute__((format(printf, 1, 2), noreturn)) void die(const char *format, ...);

enum {
    PAYLOAD_SIZE = 200,
    ID_SIZE = 32, // of a job id, which the benchmark chooses
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

// The id of a popped job as the server returned it; for a bare list, the payload itself.
struct job_name {
    size_t size;
    char text[PAYLOAD_SIZE];
};

// One life; with a batch above 1, as many lives as one command serves.
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
    bool is_http;        // its lives use HTTP; sluiced serves RESP as well
    const char *prepare; // a command that prepares a new server; NULL for none
    // Each appends the requests of an operation and returns the number of expected replies.
    size_t (*ask[OPERATIONS])(struct buffer *out, const struct life *life);
    // Checks each reply; returns false if it is not the expected one.
    bool (*accept[OPERATIONS])(struct life *life, const struct answer *answer);
};

// A job with an id that no other job has.
struct fresh_job {
    char payload[PAYLOAD_SIZE];
    struct slice id; // a part of the payload
};

void make_job(struct fresh_job *job);

// Stores the id of a popped job; returns false if there are too many, or if it is too long.
bool keep_name(struct life *life, struct slice name);

extern const struct kind kinds[];
extern const size_t kind_count;

// Makes sluiced keep nothing of a finished job, as the other servers do.
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
    const char *folder; // the server gets a subfolder of it
    enum durability durability;
};

void server_start(struct server *server, const struct kind *kind,
                  const struct server_options *options);
void server_stop(struct server *server); // its folder is removed

uint64_t server_cpu_ns(const struct server *server); // of all its threads
uint64_t server_memory(const struct server *server); // bytes that are resident
uint64_t machine_busy_ns(void);                      // of all cores

// Finds a program, by PATH unless its name has a slash; returns false if it does not exist.
bool find_program(const char *name, char *path, size_t size);

// ---------------------------------------------------------------------------------------------
// lives.c: the load

struct load {
    size_t connections, depth, batch;
    enum operation last; // the last operation of a life
};

enum figure {
    FIGURE_LIVES,  // per second
    FIGURE_SERVER, // us of CPU for each life
    FIGURE_CLIENT,
    FIGURE_P50, // us that a life took
    FIGURE_P99,
    FIGURE_OTHERS, // per cent of the machine used by other processes than these two
    FIGURES,
};

// Sends a command and waits for the reply.
void lives_say(const struct server *server, const char *line);

// Puts so many jobs and leaves them there.
void lives_fill(const struct server *server, uint64_t jobs);

void lives_measure(const struct server *server, const struct load *load, double seconds,
                   double figures[FIGURES]);

#endif
