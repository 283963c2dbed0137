// SPDX-License-Identifier: MIT
#include "run.h"

#include "disk.h"
#include "engine/records/changes.h"
#include "power.h"
#include "random.h"
#include "scratch.h"
#include "tap.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    WHY_SIZE = 512,
    STEPS_MIN = 80,
    STEPS_MORE = 120,
    BACKUP_STEPS = 6, // that are made while a backup is, at most
    LOG_LINES = 12,
    LOG_LINE_SIZE = 320,
    BUSY_WAIT_US = 200,
    BUSY_WAITS_MAX = 100000,
};

// ---------------------------------------------------------------------------------------------
// What stores said

static struct {
    pthread_mutex_t lock;
    char lines[LOG_LINES][LOG_LINE_SIZE];
    size_t count;
} said = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void say(void *context, enum store_level level, const char *sentence)
{
    (void)context;
    static const char *const levels[] = { "info", "warning", "error" };
    (void)pthread_mutex_lock(&said.lock);
    (void)snprintf(said.lines[said.count++ % LOG_LINES], LOG_LINE_SIZE, "%s: %s", levels[level],
                   sentence);
    (void)pthread_mutex_unlock(&said.lock);
}

void run_print_log(void)
{
    size_t first = said.count > LOG_LINES ? said.count - LOG_LINES : 0;
    for (size_t i = first; i < said.count; i++) {
        printf("# the store said: %s\n", said.lines[i % LOG_LINES]);
    }
    said.count = 0;
}

// ---------------------------------------------------------------------------------------------
// Options

static struct random random_for(uint64_t seed, uint64_t purpose)
{
    return (struct random){ seed * 0x9E3779B97F4A7C15U + purpose };
}

// Every other run is the one that promises most.
static enum store_durability durability_of(uint64_t seed)
{
    static const enum store_durability each[] = { STORE_ALWAYS, STORE_INTERVAL, STORE_ALWAYS,
                                                  STORE_NEVER };
    return each[seed % 4];
}

const char *run_durability(uint64_t seed)
{
    static const char *const names[] = { "always", "interval", "never" };
    return names[durability_of(seed)];
}

struct store_options run_options(uint64_t seed, const char *path)
{
    struct random random = random_for(seed, 1);
    return (struct store_options){
        .path = path,
        .allocator = &allocator_system,
        .durability = durability_of(seed),
        .interval_us = 500 + (int64_t)random_below(&random, 5000),
        .segment_size = (uint64_t)8192 << random_below(&random, 3),
        .segments_max = 2 + (uint32_t)random_below(&random, 10),
        .gather_max = (uint64_t)1 << (17 + random_below(&random, 4)),
        .reserve_size = 65536,
        .compact_min = (uint64_t)4096 << random_below(&random, 6),
        .checkpoint_us = 1 + (int64_t)random_below(&random, 2000),
        .stall_us = 100 + (int64_t)random_below(&random, 5000),
        .log = say,
    };
}

// ---------------------------------------------------------------------------------------------
// Opening and closing

bool run_open(struct opened *opened, const struct store_options *options, char *why)
{
    *opened = (struct opened){ 0 };
    struct error error = { 0 };
    struct store_visitor visitor = rebuild_visitor(&opened->rebuild);
    enum status status = store_open(options, &visitor, &opened->store, &error);
    if (status) {
        (void)snprintf(why, WHY_SIZE, "the store does not open (%s): %s", status_name(status),
                       error_sentence(&error));
        rebuild_release(&opened->rebuild);
        return false;
    }
    if (!rebuild_end(&opened->rebuild)) {
        (void)snprintf(why, WHY_SIZE, "the records make no engine");
        (void)store_close(opened->store, NULL);
        rebuild_release(&opened->rebuild);
        return false;
    }
    return true;
}

bool run_close(struct opened *opened, char *why)
{
    struct error error = { 0 };
    enum status status = store_close(opened->store, &error);
    rebuild_release(&opened->rebuild);
    if (status) {
        (void)snprintf(why, WHY_SIZE, "the store does not close well (%s): %s", status_name(status),
                       error_sentence(&error));
    }
    return !status;
}

size_t run_find_step(const struct workload *workload, const struct engine *engine, size_t from,
                     size_t to)
{
    uint64_t digest = engine_digest(engine);
    for (size_t n = to + 1; n-- > from;) {
        if (workload_digest(workload, n) == digest) {
            return n;
        }
    }
    return SIZE_MAX;
}

bool run_is_step(const struct workload *workload, const struct engine *engine, size_t from,
                 size_t to, char *why)
{
    if (run_find_step(workload, engine, from, to) != SIZE_MAX) {
        return true;
    }
    size_t other = run_find_step(workload, engine, 0, workload_steps(workload));
    if (other == SIZE_MAX) {
        (void)snprintf(why, WHY_SIZE, "it holds what was never there; wanted step %zu to %zu", from,
                       to);
    } else {
        (void)snprintf(why, WHY_SIZE, "it holds step %zu; wanted %zu to %zu", other, from, to);
    }
    return false;
}

bool run_go_on(struct opened *opened, uint64_t seed, size_t steps, struct workload **out, char *why)
{
    struct workload *workload = workload_new(seed, opened->rebuild.engine);
    opened->rebuild.engine = NULL;
    struct error error = { 0 };
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < steps; i++) {
        uint64_t group = 0;
        workload_step(workload);
        tap_mark(RUN_SUBMITTED, i + 1);
        status = store_take(opened->store, 0, workload_engine(workload), &group, &error);
        if (!status) {
            status = store_wait(opened->store, group, &error);
        }
        if (!status) {
            tap_mark(RUN_ACKNOWLEDGED, i + 1);
        }
    }
    if (status) {
        (void)snprintf(why, WHY_SIZE, "the store does not go on (%s): %s", status_name(status),
                       error_sentence(&error));
    }
    *out = workload;
    return !status;
}

// ---------------------------------------------------------------------------------------------
// Recording

struct recorder {
    struct run *run;
    struct random random;
    struct store_options options;
    char store_path[RUN_PATH_SIZE];
    char backup_path[RUN_PATH_SIZE];
    struct opened opened;
    uint64_t *groups; // by step
    size_t acknowledged;
    char why[WHY_SIZE];
    // The backup, which a thread of its own makes
    pthread_t thread;
    bool runs, there;
    size_t from;  // the step that is in it for certain
    size_t until; // it is to be done before this step
    enum status status;
    struct error error;
};

static bool refuse(struct recorder *recorder, const char *what, enum status status,
                   const struct error *error)
{
    (void)snprintf(recorder->why, WHY_SIZE, "%s (%s): %s", what, status_name(status),
                   error_sentence(error));
    return false;
}

static void acknowledge(struct recorder *recorder, int mark, size_t step)
{
    tap_mark(mark, step);
    if (step > recorder->acknowledged) {
        recorder->acknowledged = step;
    }
}

// What is durable without having been waited for.
static void look(struct recorder *recorder)
{
    uint64_t durable = store_durable(recorder->opened.store);
    size_t step = workload_steps(recorder->run->workload);
    while (step > recorder->acknowledged && recorder->groups[step] > durable) {
        step--;
    }
    if (step > recorder->acknowledged) {
        acknowledge(recorder, RUN_ACKNOWLEDGED, step);
    }
}

static bool wait_while_busy(struct recorder *recorder)
{
    struct error error = { 0 };
    for (int i = 0; i < BUSY_WAITS_MAX; i++) {
        enum store_state state = store_state(recorder->opened.store, &error);
        if (state == STORE_READY) {
            return true;
        }
        if (state != STORE_BUSY) {
            return refuse(recorder, "the store is full or has failed", error.status, &error);
        }
        (void)usleep(BUSY_WAIT_US);
    }
    return refuse(recorder, "the store stays busy", error.status, &error);
}

static bool step(struct recorder *recorder)
{
    struct workload *workload = recorder->run->workload;
    struct store *store = recorder->opened.store;
    if (!wait_while_busy(recorder)) {
        return false;
    }
    workload_step(workload);
    size_t number = workload_steps(workload);
    tap_mark(RUN_SUBMITTED, number);
    struct error error = { 0 };
    enum status status =
        store_take(store, 0, workload_engine(workload), &recorder->groups[number], &error);
    if (status) {
        return refuse(recorder, "the store does not take a step", status, &error);
    }
    if (random_below(&recorder->random, 2)) {
        status = store_wait(store, recorder->groups[number], &error);
        if (status) {
            return refuse(recorder, "a step does not get durable", status, &error);
        }
        acknowledge(recorder, RUN_ACKNOWLEDGED, number);
    }
    look(recorder);
    return true;
}

static bool checkpoint(struct recorder *recorder)
{
    look(recorder);
    size_t until = recorder->acknowledged;
    struct error error = { 0 };
    enum status status = store_checkpoint(recorder->opened.store, &error);
    if (status) {
        return refuse(recorder, "a checkpoint fails", status, &error);
    }
    acknowledge(recorder, RUN_CERTAIN, until);
    return true;
}

static void remove_backup(struct recorder *recorder)
{
    tap_mark(RUN_BACKUP_GONE, 0);
    scratch_remove(recorder->backup_path);
    recorder->there = false;
}

static void *make_backup(void *context)
{
    struct recorder *recorder = context;
    recorder->status =
        store_backup(recorder->opened.store, recorder->backup_path, &recorder->error);
    return NULL;
}

static void begin_backup(struct recorder *recorder)
{
    if (recorder->there) {
        remove_backup(recorder);
    }
    look(recorder);
    recorder->from = recorder->acknowledged;
    recorder->until =
        workload_steps(recorder->run->workload) + random_below(&recorder->random, BACKUP_STEPS + 1);
    if (pthread_create(&recorder->thread, NULL, make_backup, recorder) != 0) {
        abort();
    }
    recorder->runs = true;
}

static bool end_backup(struct recorder *recorder)
{
    if (!recorder->runs) {
        return true;
    }
    (void)pthread_join(recorder->thread, NULL);
    recorder->runs = false;
    if (recorder->status) {
        return refuse(recorder, "a backup fails", recorder->status, &recorder->error);
    }
    recorder->there = true;
    tap_mark(RUN_BACKUP_TO, workload_steps(recorder->run->workload));
    tap_mark(RUN_BACKUP_FROM, recorder->from);
    return true;
}

static bool open_again(struct recorder *recorder)
{
    size_t steps = workload_steps(recorder->run->workload);
    if (!end_backup(recorder)) {
        (void)store_close(recorder->opened.store, NULL);
        return false;
    }
    if (!run_close(&recorder->opened, recorder->why)) {
        return false;
    }
    acknowledge(recorder, RUN_CERTAIN, steps);
    if (!run_open(&recorder->opened, &recorder->options, recorder->why)) {
        return false;
    }
    size_t found =
        run_find_step(recorder->run->workload, recorder->opened.rebuild.engine, steps, steps);
    if (found != steps) {
        (void)snprintf(recorder->why, WHY_SIZE, "another engine after closing and opening");
        (void)store_close(recorder->opened.store, NULL);
    }
    rebuild_release(&recorder->opened.rebuild);
    return found == steps;
}

static bool play(struct recorder *recorder, size_t steps)
{
    if (!run_open(&recorder->opened, &recorder->options, recorder->why)) {
        return false;
    }
    rebuild_release(&recorder->opened.rebuild);
    bool good = true;
    for (size_t i = 0; good && i < steps; i++) {
        good = step(recorder);
        uint64_t number = random_below(&recorder->random, 100);
        if (good && recorder->runs && i >= recorder->until) {
            good = end_backup(recorder);
        }
        if (good && number < 6) {
            good = checkpoint(recorder);
        } else if (good && number < 8 && !recorder->runs) {
            begin_backup(recorder);
        } else if (good && number >= 98 && !open_again(recorder)) {
            return false;
        }
    }
    good = end_backup(recorder) && good;
    if (!good) {
        (void)store_close(recorder->opened.store, NULL);
        return false;
    }
    good = run_close(&recorder->opened, recorder->why);
    if (good) {
        acknowledge(recorder, RUN_CERTAIN, steps);
    }
    return good;
}

// Whether the trace tells all that happened.
static bool trace_is_true(const struct trace *trace, const char *folder, char *why)
{
    struct power *power = power_new(trace, NULL);
    power_go(power, trace->count);
    struct disk disk;
    disk_load(&disk, folder);
    char what[256] = "";
    bool same = disk_same(power_seen(power), &disk, what);
    if (!same) {
        (void)snprintf(why, WHY_SIZE, "the trace does not give the folder as it is: %s", what);
    }
    disk_release(&disk);
    power_free(power);
    return same;
}

static size_t steps_of(uint64_t seed)
{
    struct random random = random_for(seed, 2);
    return STEPS_MIN + random_below(&random, STEPS_MORE);
}

bool run_record(struct run *run, uint64_t seed, const char *folder, const char *left_out)
{
    *run = (struct run){ .seed = seed, .workload = workload_new(seed, NULL) };
    size_t steps = steps_of(seed);
    struct recorder recorder = { .run = run, .random = random_for(seed, 3) };
    recorder.groups = calloc(steps + 1, sizeof(*recorder.groups));
    if (!recorder.groups) {
        abort();
    }
    (void)snprintf(recorder.store_path, sizeof(recorder.store_path), "%s/store", folder);
    (void)snprintf(recorder.backup_path, sizeof(recorder.backup_path), "%s/backup", folder);
    recorder.options = run_options(seed, recorder.store_path);
    tap_watch(folder);
    if (left_out) {
        tap_leave_out_syncs(left_out);
    }
    tap_record(seed * 2 + 1);
    bool good = play(&recorder, steps);
    tap_end(&run->trace);
    good = good && trace_is_true(&run->trace, folder, recorder.why);
    if (!good) {
        printf("# seed %llu, step %zu: %s\n", (unsigned long long)seed,
               workload_steps(run->workload), recorder.why);
        run_print_log();
    }
    free(recorder.groups);
    return good;
}

static enum status forget(void *context, struct record_key key, struct slice bytes)
{
    (void)context, (void)key, (void)bytes;
    return STATUS_OK;
}

struct workload *run_steps(uint64_t seed, size_t steps)
{
    struct workload *workload = workload_new(seed, NULL);
    const struct changes_sink sink = { .receive = forget };
    for (size_t i = 0; i < steps; i++) {
        workload_step(workload);
        // A store would have heard of it.
        if (engine_has_changes(workload_engine(workload)) &&
            engine_changes(workload_engine(workload), &sink)) {
            abort();
        }
    }
    return workload;
}

void run_replay(struct run *run, uint64_t seed)
{
    *run = (struct run){ .seed = seed, .workload = run_steps(seed, steps_of(seed)) };
}

void run_release(struct run *run)
{
    trace_release(&run->trace);
    workload_free(run->workload);
}
