// SPDX-License-Identifier: MIT
// Compares the store with a bare log: both write the same groups of records, one after the other.
// The benchmark waits for each group, or prepares the next one in the meantime (ahead).
// The bare log only writes the bytes of a group into a file of zeros and syncs it. The log and the
// store alternate every fraction of a second, so that both see the same state of the disk. Then the
// benchmark measures a store with many jobs: its size on disk, the slowest group, and the time to
// open it.
//
//     bench_store [--folder PATH] [--seconds N] [--only SIZE] [--jobs N]
//
// The folder must be on the disk to be measured.
#include "base/num.h"
#include "engine/engine.h"
#include "engine/records/changes.h"
#include "store/store.h"

#include "bench.h"
#include "load.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    GROUPS = 400,        // created once and then written repeatedly
    LOG_SIZE = 64 << 20, // of the bare log, which starts over at its end
    TURN_US = 250000,
    SPACE = 1,
};

static const char *folder = ".";
static int64_t seconds = 4;
static uint64_t jobs = 1000000;
static uint64_t only; // groups of this size; 0: all

static int64_t wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

// Of all threads.
static uint64_t all_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

// ---------------------------------------------------------------------------------------------
// Groups: what some commands on an engine change

struct groups {
    struct engine *engine;
    int64_t now_us;
    uint64_t commands;
    struct buffer bytes;
    struct store_record *records; // their bytes are offsets until all are made
    size_t count, capacity;
    size_t ends[GROUPS]; // of the records
    size_t byte_ends[GROUPS];
    char data[LOAD_DATA_SIZE];
};

static enum status keep(void *context, struct record_key key, struct slice bytes)
{
    struct groups *groups = context;
    if (groups->count == groups->capacity) {
        groups->capacity = groups->capacity ? 2 * groups->capacity : 1024;
        groups->records = realloc(groups->records, groups->capacity * sizeof(*groups->records));
        if (!groups->records) {
            die("realloc");
        }
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an offset for now
    struct slice at = { (const char *)groups->bytes.size, bytes.size };
    groups->records[groups->count++] = (struct store_record){ { SPACE, key }, at };
    buffer_append(&groups->bytes, bytes);
    return groups->bytes.status;
}

// A life takes two commands here: put, and pop with complete.
static void command(struct groups *groups)
{
    groups->now_us++;
    if (groups->commands++ % 2 == 0) {
        load_put(groups->engine, groups->now_us, groups->commands, groups->data);
    } else {
        load_work(groups->engine, groups->now_us);
    }
}

static void groups_init(struct groups *groups, size_t size)
{
    *groups = (struct groups){ .now_us = 1700000000000000 };
    groups->engine = load_engine(groups->now_us, true);
    load_data(groups->data);
    buffer_init(&groups->bytes, &allocator_system, UINT32_MAX);
    for (size_t i = 0; i < GROUPS; i++) {
        for (size_t j = 0; j < size; j++) {
            command(groups);
        }
        struct error error;
        const struct changes_sink sink = { .receive = keep, .context = groups };
        load_must(engine_changes(groups->engine, &sink), &error);
        groups->ends[i] = groups->count;
        groups->byte_ends[i] = groups->bytes.size;
    }
    for (size_t i = 0; i < groups->count; i++) {
        struct slice *bytes = &groups->records[i].bytes;
        bytes->data = groups->bytes.data + (uintptr_t)bytes->data;
    }
}

static void groups_release(struct groups *groups)
{
    engine_free(groups->engine);
    buffer_release(&groups->bytes);
    free(groups->records);
}

// ---------------------------------------------------------------------------------------------
// A bare log, and the store

struct measured {
    uint64_t groups;
    int64_t took_us, slowest_us;
    uint64_t cpu_ns;
};

struct bare {
    int fd;
    off_t at;
};

static void bare_open(struct bare *bare, const char *path)
{
    static const char zeros[1 << 20];
    bare->fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < LOG_SIZE >> 20; i++) {
        if (bare->fd < 0 || write(bare->fd, zeros, sizeof(zeros)) != sizeof(zeros)) {
            die(path);
        }
    }
    if (fsync(bare->fd)) {
        die(path);
    }
    bare->at = 0;
}

static void bare_write(struct bare *bare, const struct groups *groups, size_t number)
{
    size_t start = number ? groups->byte_ends[number - 1] : 0;
    size_t size = groups->byte_ends[number] - start;
    if (bare->at + (off_t)size > LOG_SIZE) {
        bare->at = 0;
    }
    if (pwrite(bare->fd, groups->bytes.data + start, size, bare->at) != (ssize_t)size ||
        fdatasync(bare->fd)) {
        die("the bare log");
    }
    bare->at += (off_t)size;
}

static uint64_t store_write(struct store *store, const struct groups *groups, size_t number)
{
    size_t start = number ? groups->ends[number - 1] : 0;
    uint64_t group;
    struct error error;
    load_must(
        store_append(store, groups->records + start, groups->ends[number] - start, &group, &error),
        &error);
    return group;
}

enum way {
    BARE,
    WAITED, // the store: each group is waited for
    AHEAD,  // the store: the next one is made meanwhile, as a server does
};

static void take_turn(struct measured *measured, const struct groups *groups, struct bare *bare,
                      struct store *store, enum way way)
{
    uint64_t group = 0;
    struct error error;
    int64_t start_us = wall_us(), now_us = start_us;
    uint64_t start_ns = bench_cpu_ns();
    while (now_us - start_us < TURN_US) {
        size_t number = measured->groups++ % GROUPS;
        int64_t before_us = now_us;
        if (way == BARE) {
            bare_write(bare, groups, number);
        } else {
            uint64_t next = store_write(store, groups, number);
            load_must(store_wait(store, way == AHEAD ? group : next, &error), &error);
            group = next;
        }
        now_us = wall_us();
        int64_t took_us = now_us - before_us;
        measured->slowest_us = took_us > measured->slowest_us ? took_us : measured->slowest_us;
    }
    measured->took_us += now_us - start_us;
    measured->cpu_ns += bench_cpu_ns() - start_ns;
}

static enum status ignore(void *context, struct store_key key, struct slice bytes,
                          struct error *error)
{
    (void)context;
    (void)key;
    (void)bytes;
    (void)error;
    return STATUS_OK;
}

static void to_stderr(void *context, enum store_level level, const char *sentence)
{
    (void)context;
    (void)level;
    (void)fprintf(stderr, "bench: %s\n", sentence);
}

static struct store *open_store(const char *path, const struct store_visitor *visitor)
{
    const struct store_options options = { .path = path,
                                           .allocator = &allocator_system,
                                           .log = to_stderr };
    struct store *store;
    struct error error;
    load_must(store_open(&options, visitor, &store, &error), &error);
    return store;
}

static void compare(size_t size, const char *path)
{
    struct groups groups;
    struct bare bare;
    struct measured of_bare = { 0 }, of_store = { 0 }, of_ahead = { 0 };
    char log[512];
    const struct store_visitor visitor = { .visit = ignore };
    (void)snprintf(log, sizeof(log), "%s.log", path);
    groups_init(&groups, size);
    bare_open(&bare, log);
    struct store *store = open_store(path, &visitor);
    int64_t end_us = wall_us() + seconds * 1000000;
    uint64_t start_ns = all_cpu_ns();
    while (wall_us() < end_us) {
        take_turn(&of_bare, &groups, &bare, store, BARE);
        take_turn(&of_store, &groups, &bare, store, WAITED);
        take_turn(&of_ahead, &groups, &bare, store, AHEAD);
    }
    struct store_figures figures;
    store_figures(store, &figures);
    // All its threads, also while it was the bare log's turn.
    of_store.cpu_ns = all_cpu_ns() - start_ns - of_bare.cpu_ns;
    double bare_us = (double)of_bare.took_us / (double)of_bare.groups;
    double store_us = (double)of_store.took_us / (double)of_store.groups;
    double ahead_us = (double)of_ahead.took_us / (double)of_ahead.groups;
    int64_t slowest_us =
        of_store.slowest_us > of_ahead.slowest_us ? of_store.slowest_us : of_ahead.slowest_us;
    printf("%8zu %8zu | %8.0f %8.0f %5.2f %8.0f %5.2f | %5.0f %5.0f | %6.1f %6.1f %6.1f | %8.0f\n",
           size, groups.bytes.size / GROUPS, bare_us, store_us, bare_us / store_us, ahead_us,
           bare_us / ahead_us, (double)of_bare.cpu_ns / 1e3 / (double)of_bare.groups,
           (double)of_store.cpu_ns / 1e3 / (double)(of_store.groups + of_ahead.groups),
           (double)of_bare.slowest_us / 1e3, (double)slowest_us / 1e3,
           (double)figures.checkpoint_us_max / 1e3, (double)size / 2 * 1e6 / ahead_us);
    (void)fflush(stdout);
    struct error error;
    load_must(store_close(store, &error), &error);
    close(bare.fd);
    unlink(log);
    groups_release(&groups);
}

// ---------------------------------------------------------------------------------------------
// Many jobs

static enum status rebuild(void *context, struct store_key key, struct slice bytes,
                           struct error *error)
{
    return record_read(context, key.record, bytes, error);
}

static uint64_t size_of(const char *path, const char *name)
{
    char full[512];
    struct stat stat_of;
    (void)snprintf(full, sizeof(full), "%s/%s", path, name);
    return stat(full, &stat_of) ? 0 : (uint64_t)stat_of.st_blocks * 512;
}

static void fill(struct store *store, struct engine *engine)
{
    enum {
        SIZE = 256
    };
    int64_t start_us = wall_us(), slowest_us = 0, now_us = 1700000000000000;
    char data[LOAD_DATA_SIZE];
    load_data(data);
    for (uint64_t made = 0; made < jobs;) {
        int64_t before_us = wall_us();
        for (int i = 0; i < SIZE && made < jobs; i++, made++) {
            load_put(engine, ++now_us, made, data);
        }
        uint64_t group;
        struct error error;
        load_must(store_take(store, SPACE, engine, &group, &error), &error);
        load_must(store_wait(store, group, &error), &error);
        int64_t took_us = wall_us() - before_us;
        slowest_us = took_us > slowest_us ? took_us : slowest_us;
    }
    double took_s = (double)(wall_us() - start_us) / 1e6;
    struct store_figures figures;
    store_figures(store, &figures);
    printf("  put in groups of %d: %.0f jobs/s; slowest group %.1f ms, slowest sync %.1f ms, "
           "slowest transaction of the base %.1f ms\n",
           SIZE, (double)jobs / took_s, (double)slowest_us / 1e3, (double)figures.sync_us_max / 1e3,
           (double)figures.checkpoint_us_max / 1e3);
}

static void measure_many(const char *path)
{
    const struct store_visitor nothing = { .visit = ignore };
    struct error error;
    printf("\n%" PRIu64 " waiting jobs\n", jobs);
    struct store *store = open_store(path, &nothing);
    struct engine *engine = load_engine(1700000000000000, true);
    fill(store, engine);
    int64_t start_us = wall_us();
    load_must(store_close(store, &error), &error);
    printf("  close: %.2f s\n", (double)(wall_us() - start_us) / 1e6);
    engine_free(engine);
    printf("  on disk: base %.0f bytes a job\n",
           (double)size_of(path, "base/data.mdb") / (double)jobs);
    (void)fflush(stdout);

    const struct engine_options options = { .allocator = &allocator_system, .seed = { 1, 2 } };
    load_must(engine_new(&options, &engine), &error);
    const struct store_visitor visitor = { .visit = rebuild, .context = engine };
    uint64_t cpu_ns = bench_cpu_ns();
    start_us = wall_us();
    store = open_store(path, &visitor);
    load_must(record_read_end(engine, &error), &error);
    double took_s = (double)(wall_us() - start_us) / 1e6;
    printf("  open: %.2f s (%.2f s of CPU), %.0f jobs/s\n", took_s,
           (double)(bench_cpu_ns() - cpu_ns) / 1e9, (double)jobs / took_s);
    load_must(store_close(store, &error), &error);
    engine_free(engine);
}

static void remove_store(const char *path)
{
    static const char *const names[] = { "base/data.mdb", "base/lock.mdb", "lock", "reserve" };
    char full[512];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(full, sizeof(full), "%s/%s", path, names[i]);
        unlink(full);
    }
    (void)snprintf(full, sizeof(full), "%s/base", path);
    rmdir(full);
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(full, sizeof(full), "%s/journal-%03d", path, i);
        unlink(full);
    }
    rmdir(path);
}

static void read_arguments(int count, char **arguments)
{
    for (int i = 1; i + 1 < count; i += 2) {
        int64_t number = 0;
        if (strcmp(arguments[i], "--folder") == 0) {
            folder = arguments[i + 1];
            continue;
        }
        if (num_parse_i64(slice_from_cstr(arguments[i + 1]), &number)) {
            number = 0;
        }
        if (strcmp(arguments[i], "--seconds") == 0) {
            seconds = number;
        } else if (strcmp(arguments[i], "--jobs") == 0) {
            jobs = (uint64_t)number;
        } else if (strcmp(arguments[i], "--only") == 0) {
            only = (uint64_t)number;
        }
    }
}

int main(int count, char **arguments)
{
    static const size_t sizes[] = { 1, 16, 64, 256, 1024 };
    char path[256];
    read_arguments(count, arguments);
    (void)snprintf(path, sizeof(path), "%s/bench-store.%ld", folder, (long)getpid());
    if (seconds > 0) {
        printf(
            "                  | us a group                            | CPU us      | slowest, ms "
            "         | lives/s\n"
            "commands    bytes |     bare   waited ratio    ahead ratio |  bare store |   bare  "
            "store checkp.| ahead\n");
    }
    for (size_t i = 0; seconds > 0 && i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (only == 0 || only == sizes[i]) {
            compare(sizes[i], path);
            remove_store(path);
        }
    }
    if (jobs > 0) {
        measure_many(path);
        remove_store(path);
    }
    return 0;
}
