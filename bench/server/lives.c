// SPDX-License-Identifier: MIT
// A closed loop in one thread. Each connection has `depth` lives in progress. A life sends its next
// command when all replies to its last one have arrived. Redis and Sluice reply in order, so the
// lives of a connection get their replies in the order of their commands.
//
//     begin -> put -> pop -> complete -> begin ...      (ask; receive moves on)
#include "http.h"

#include "../bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    READ_SIZE = 65536,
    BUFFER_MAX = 64 << 20,
    EVENTS = 256,
    WARM_NS = 500000000,
    FILL_CONNECTIONS = 4,
    FILL_DEPTH = 4,
    FILL_BATCH = 100,
};

struct worker_life {
    struct life life;
    enum operation operation;
    size_t awaited; // replies; 0 if the life has ended and no other has begun
    uint64_t began_ns;
};

struct connection {
    int fd;
    bool waits_to_write;
    char worker[24];
    struct buffer in, out;
    size_t sent; // of out
    struct worker_life *lives;
    size_t first; // the life with the oldest command; the others follow in a ring
    size_t active;
};

struct run {
    const struct kind *kind;
    struct load load;
    enum operation last;
    uint64_t begin_max; // lives to begin
    uint64_t begun, done;
    size_t active; // lives in progress
    int epoll;
    struct connection *connections;
    struct answer answer;
    uint32_t *took_us; // of those measured
    size_t took_count, took_capacity;
    bool measures;
};

static void *need(void *block)
{
    if (!block) {
        die("no memory");
    }
    return block;
}

static int connect_to(uint16_t port)
{
    const struct sockaddr_in address = { .sin_family = AF_INET,
                                         .sin_port = htons(port),
                                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on))) {
        die("cannot connect: %s", strerror(errno));
    }
    return fd;
}

// ---------------------------------------------------------------------------------------------
// Lives

static void ask(struct run *run, struct connection *connection, struct worker_life *life)
{
    life->life.answers = 0;
    life->awaited = run->kind->ask[life->operation](&connection->out, &life->life);
}

static void begin(struct run *run, struct connection *connection, struct worker_life *life,
                  uint64_t now_ns)
{
    if (run->begun >= run->begin_max) {
        life->awaited = 0;
        run->active--;
        connection->active--;
        return;
    }
    run->begun++;
    life->operation = OPERATION_PUT;
    life->life.popped_count = 0;
    life->began_ns = now_ns;
    ask(run, connection, life);
}

static void note(struct run *run, uint64_t took_ns)
{
    if (run->took_count == run->took_capacity) {
        run->took_capacity = run->took_capacity ? 2 * run->took_capacity : 65536;
        run->took_us = need(realloc(run->took_us, run->took_capacity * sizeof(*run->took_us)));
    }
    run->took_us[run->took_count++] = (uint32_t)(took_ns / 1000);
}

// A reply for the life with the oldest command.
static void receive(struct run *run, struct connection *connection, uint64_t now_ns)
{
    static const char *const names[OPERATIONS] = { "put", "pop", "complete" };
    const struct answer *answer = &run->answer;
    if (connection->active == 0) {
        die("%s sent a reply without a request", run->kind->name);
    }
    while (connection->lives[connection->first].awaited == 0) {
        connection->first = (connection->first + 1) % run->load.depth;
    }
    struct worker_life *life = &connection->lives[connection->first];
    if (answer->errors || !run->kind->accept[life->operation](&life->life, answer)) {
        struct slice said = answer->leaf_count ? answer->leaves[0] : SLICE_EMPTY;
        die("%s, %s: %zu errors; the answer begins with \"%.*s\"", run->kind->name,
            names[life->operation], answer->errors, SLICE_PRINT(said));
    }
    if (++life->life.answers < life->awaited) {
        return;
    }
    connection->first = (connection->first + 1) % run->load.depth;
    if (life->operation < run->last) {
        life->operation++;
        ask(run, connection, life);
        return;
    }
    run->done++;
    if (run->measures) {
        note(run, now_ns - life->began_ns);
    }
    begin(run, connection, life, now_ns);
}

// ---------------------------------------------------------------------------------------------
// Connections

static void send_all(struct run *run, struct connection *connection)
{
    struct buffer *out = &connection->out;
    if (out->status) {
        die("no memory");
    }
    while (connection->sent < out->size) {
        ssize_t sent = send(connection->fd, out->data + connection->sent,
                            out->size - connection->sent, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            break;
        }
        if (sent < 0) {
            die("send: %s", strerror(errno));
        }
        connection->sent += (size_t)sent;
    }
    bool waits = connection->sent < out->size;
    if (!waits) {
        buffer_clear(out);
        connection->sent = 0;
    }
    if (waits != connection->waits_to_write) {
        struct epoll_event event = { .events = EPOLLIN | (waits ? (uint32_t)EPOLLOUT : 0U),
                                     .data.ptr = connection };
        epoll_ctl(run->epoll, EPOLL_CTL_MOD, connection->fd, &event);
        connection->waits_to_write = waits;
    }
}

static bool read_answer(struct run *run, struct slice input)
{
    return run->kind->is_http ? http_answer_read(&run->answer, input)
                              : answer_read(&run->answer, input);
}

static void receive_all(struct run *run, struct connection *connection)
{
    struct buffer *in = &connection->in;
    char *room = need(buffer_reserve(in, READ_SIZE));
    ssize_t received = recv(connection->fd, room, READ_SIZE, 0);
    if (received < 0 && errno == EAGAIN) {
        return;
    }
    if (received <= 0) {
        die("%s closed a connection", run->kind->name);
    }
    buffer_commit(in, (size_t)received);
    uint64_t now_ns = bench_now_ns();
    size_t used = 0;
    while (used < in->size && read_answer(run, slice_make(in->data + used, in->size - used))) {
        used += run->answer.size;
        receive(run, connection, now_ns);
    }
    buffer_consume(in, used);
}

static void connection_open(struct run *run, struct connection *connection, uint16_t port)
{
    size_t number = (size_t)(connection - run->connections), depth = run->load.depth;
    *connection = (struct connection){ .fd = connect_to(port), .active = depth };
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = connection };
    if (fcntl(connection->fd, F_SETFL, O_NONBLOCK) ||
        epoll_ctl(run->epoll, EPOLL_CTL_ADD, connection->fd, &event)) {
        die("epoll: %s", strerror(errno));
    }
    int size = snprintf(connection->worker, sizeof(connection->worker), "worker-%zu", number);
    buffer_init(&connection->in, &allocator_system, BUFFER_MAX);
    buffer_init(&connection->out, &allocator_system, BUFFER_MAX);
    connection->lives = need(calloc(depth, sizeof(*connection->lives)));
    for (size_t i = 0; i < depth; i++) {
        struct life *life = &connection->lives[i].life;
        life->batch = run->load.batch;
        life->worker = slice_make(connection->worker, (size_t)size);
        life->popped = need(calloc(life->batch, sizeof(*life->popped)));
    }
}

static void connection_close(struct run *run, struct connection *connection)
{
    for (size_t i = 0; i < run->load.depth; i++) {
        free(connection->lives[i].life.popped);
    }
    free(connection->lives);
    buffer_release(&connection->in);
    buffer_release(&connection->out);
    close(connection->fd);
}

// ---------------------------------------------------------------------------------------------
// Runs

static void run_begin(struct run *run, const struct server *server)
{
    run->kind = server->kind;
    run->epoll = epoll_create1(EPOLL_CLOEXEC);
    run->connections = need(calloc(run->load.connections, sizeof(*run->connections)));
    run->active = run->load.connections * run->load.depth;
    for (size_t i = 0; i < run->load.connections; i++) {
        connection_open(run, &run->connections[i],
                        server->kind->is_http ? server->http_port : server->port);
    }
    for (size_t i = 0; i < run->load.connections; i++) {
        for (size_t j = 0; j < run->load.depth; j++) {
            begin(run, &run->connections[i], &run->connections[i].lives[j], bench_now_ns());
        }
        send_all(run, &run->connections[i]);
    }
}

// Runs until that time, or until no life is in progress.
static void run_until(struct run *run, uint64_t until_ns)
{
    struct epoll_event events[EVENTS];
    while (run->active > 0 && bench_now_ns() < until_ns) {
        int count = epoll_wait(run->epoll, events, EVENTS, 100);
        for (int i = 0; i < count; i++) {
            if (events[i].events & ~(uint32_t)EPOLLOUT) {
                receive_all(run, events[i].data.ptr);
            }
            send_all(run, events[i].data.ptr);
        }
    }
}

// Finishes the lives in progress, so that the server has the same jobs as before.
static void run_end(struct run *run)
{
    run->begin_max = 0;
    run_until(run, UINT64_MAX);
    for (size_t i = 0; i < run->load.connections; i++) {
        connection_close(run, &run->connections[i]);
    }
    free(run->connections);
    free(run->took_us);
    close(run->epoll);
}

void lives_say(const struct server *server, const char *line)
{
    static struct answer answer;
    char text[1024];
    size_t size = 0;
    int fd = connect_to(server->port);
    if (send(fd, line, strlen(line), MSG_NOSIGNAL) != (ssize_t)strlen(line)) {
        die("send: %s", strerror(errno));
    }
    while (!answer_read(&answer, slice_make(text, size))) {
        ssize_t received = recv(fd, text + size, sizeof(text) - size, 0);
        if (received <= 0) {
            die("%s closed a connection", server->kind->name);
        }
        size += (size_t)received;
    }
    if (answer.errors) {
        die("%s: %.*s", server->kind->name, SLICE_PRINT(answer.leaves[0]));
    }
    close(fd);
}

void lives_fill(const struct server *server, uint64_t jobs)
{
    static struct run run;
    size_t batch = server->kind->is_http ? 1 : FILL_BATCH;
    run = (struct run){ .load = { FILL_CONNECTIONS, FILL_DEPTH, batch, OPERATION_PUT },
                        .last = OPERATION_PUT,
                        .begin_max = jobs / batch };
    run_begin(&run, server);
    run_until(&run, UINT64_MAX);
    run_end(&run);
}

static uint64_t own_cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000U + (uint64_t)used.tv_nsec;
}

static int compare_us(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

struct snapshot {
    uint64_t wall_ns, server_ns, client_ns, busy_ns, done;
};

static struct snapshot look(const struct run *run, const struct server *server)
{
    return (struct snapshot){ .wall_ns = bench_now_ns(),
                              .server_ns = server_cpu_ns(server),
                              .client_ns = own_cpu_ns(),
                              .busy_ns = machine_busy_ns(),
                              .done = run->done };
}

void lives_measure(const struct server *server, const struct load *load, double seconds,
                   double figures[FIGURES])
{
    static struct run run;
    run = (struct run){ .load = *load, .last = load->last, .begin_max = UINT64_MAX };
    run_begin(&run, server);
    run_until(&run, bench_now_ns() + WARM_NS);
    struct snapshot before = look(&run, server);
    run.measures = true;
    run_until(&run, before.wall_ns + (uint64_t)(seconds * 1e9));
    struct snapshot after = look(&run, server);
    run.measures = false;
    if (run.took_count == 0) {
        die("%s: no life came to its end in %g seconds", server->kind->name, seconds);
    }

    double lives = (double)((after.done - before.done) * load->batch);
    double wall_ns = (double)(after.wall_ns - before.wall_ns);
    double server_ns = (double)(after.server_ns - before.server_ns);
    double client_ns = (double)(after.client_ns - before.client_ns);
    double machine_ns = wall_ns * (double)sysconf(_SC_NPROCESSORS_ONLN);
    qsort(run.took_us, run.took_count, sizeof(*run.took_us), compare_us);
    figures[FIGURE_LIVES] = lives / wall_ns * 1e9;
    figures[FIGURE_SERVER] = server_ns / lives / 1e3;
    figures[FIGURE_CLIENT] = client_ns / lives / 1e3;
    size_t middle = run.took_count / 2, late = run.took_count * 99 / 100;
    figures[FIGURE_P50] = run.took_us[middle];
    figures[FIGURE_P99] = run.took_us[late];
    figures[FIGURE_OTHERS] =
        100 * ((double)(after.busy_ns - before.busy_ns) - server_ns - client_ns) / machine_ns;
    run_end(&run);
}
