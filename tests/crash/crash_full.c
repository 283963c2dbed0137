// SPDX-License-Identifier: MIT
// A full disk stops what makes the store larger, and nothing else: what was acknowledged stays,
// what makes it smaller still gets durable, and when there is space again the store goes on by
// itself. What the journal has no room for at all waits for that.
//
// Prints TAP.
#include "power.h"
#include "run.h"
#include "scratch.h"
#include "tap.h"

#include "base/hash.h"
#include "random.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    WHY_SIZE = 512,
    RECORDS = 20000,
    CHANGES = 2 * RECORDS,
    SIZE_FIRST = 1000,
    SIZE_MAX_PUT = 3000,
    FIRST = 100,       // records before the disk is full
    MORE = 50,         // and after there is space again
    BATCH = 50,        // records that go at a time
    AHEAD = 20,        // puts that are not durable yet, at most
    WITHIN_MS = 15000, // something that has to happen by itself
    HANG_S = 120,
    CUTS = 60,
    STATES = 2,
    RESERVE = 12 << 20,
    RESERVE_SMALL = 256 << 10,
    STUCK_LEFT_MAX = 300000,
    SIZE_LARGE = 8 << 20, // of a record that finds no room, beside what is left
};

static const struct hash_seed seed = { 17, 19 };

// Records that are there have a size. A digest of them after each change.
struct shelf {
    uint32_t sizes[RECORDS];
    uint64_t digests[CHANGES + 1];
    uint64_t groups[CHANGES + 1];
    size_t count; // changes made
    size_t acknowledged;
};

struct stage {
    char *why; // shared with the parent
    int64_t left;
    char folder[RUN_PATH_SIZE];
    char path[RUN_PATH_SIZE];
    struct store_options options;
    struct store *store;
    struct shelf *shelf;
    size_t records;
};

static bool wrong(struct stage *stage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool wrong(struct stage *stage, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(stage->why, WHY_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

static uint64_t record_digest(uint64_t id, uint32_t size)
{
    const uint64_t both[] = { id, size };
    return size ? hash_bytes(&seed, slice_make(both, sizeof(both))) : 0;
}

static void shelf_change(struct shelf *shelf, uint64_t id, uint32_t size, uint64_t group)
{
    uint64_t before = shelf->digests[shelf->count];
    shelf->count++;
    shelf->digests[shelf->count] =
        before ^ record_digest(id, shelf->sizes[id]) ^ record_digest(id, size);
    shelf->groups[shelf->count] = group;
    shelf->sizes[id] = size;
}

static void shelf_acknowledge(struct shelf *shelf, uint64_t durable)
{
    while (shelf->acknowledged < shelf->count &&
           shelf->groups[shelf->acknowledged + 1] <= durable) {
        shelf->acknowledged++;
    }
}

// ---------------------------------------------------------------------------------------------
// The store

static enum status visit(void *context, struct store_key key, struct slice bytes,
                         struct error *error)
{
    uint64_t *digest = context;
    char letter = (char)('a' + key.record.id % 26);
    for (size_t i = 0; i < bytes.size; i++) {
        if (bytes.data[i] != letter) {
            return error_set(error, STATUS_CORRUPT, "record %" PRIu64 " has other bytes",
                             key.record.id);
        }
    }
    *digest ^= record_digest(key.record.id, (uint32_t)bytes.size);
    return STATUS_OK;
}

// Opens it, and finds what it should hold: any of what it was since the last that is acknowledged.
static bool open_store(struct stage *stage, size_t from, size_t to)
{
    uint64_t digest = 0;
    struct error error = { 0 };
    const struct store_visitor visitor = { visit, &digest };
    enum status status = store_open(&stage->options, &visitor, &stage->store, &error);
    if (status) {
        stage->store = NULL;
        return wrong(stage, "it does not open (%s): %s", status_name(status),
                     error_sentence(&error));
    }
    for (size_t i = from; i <= to; i++) {
        if (stage->shelf->digests[i] == digest) {
            return true;
        }
    }
    (void)store_close(stage->store, NULL);
    stage->store = NULL;
    return wrong(stage, "it holds none of what it was from change %zu to %zu", from, to);
}

static bool append(struct stage *stage, uint64_t first, size_t count, uint32_t size)
{
    static char bytes[SIZE_LARGE + STUCK_LEFT_MAX];
    struct store_record records[BATCH];
    for (size_t i = 0; i < count; i++) {
        records[i] = (struct store_record){ .key = { 0, { RECORD_BODY, first + i, 0 } } };
    }
    if (size) {
        memset(bytes, (int)('a' + first % 26), size);
        records[0].bytes = slice_make(bytes, size);
    }
    uint64_t group = 0;
    struct error error = { 0 };
    enum status status = store_append(stage->store, records, count, &group, &error);
    if (status) {
        return wrong(stage, "it does not take a record (%s): %s", status_name(status),
                     error_sentence(&error));
    }
    for (size_t i = 0; i < count; i++) {
        shelf_change(stage->shelf, first + i, size, group);
    }
    return true;
}

static bool put(struct stage *stage, uint32_t size)
{
    return append(stage, stage->records++, 1, size);
}

// Waits for what has to become durable by itself.
static bool wait_for(struct stage *stage, size_t change, const char *what)
{
    for (int i = 0; i < WITHIN_MS; i++) {
        shelf_acknowledge(stage->shelf, store_durable(stage->store));
        if (stage->shelf->acknowledged >= change) {
            return true;
        }
        (void)usleep(1000);
    }
    return wrong(stage, "%s does not get durable", what);
}

static bool wait_for_state(struct stage *stage, enum store_state wanted, const char *what)
{
    struct error error = { 0 };
    for (int i = 0; i < WITHIN_MS; i++) {
        enum store_state state = store_state(stage->store, &error);
        if (state == wanted) {
            return true;
        }
        if (state == STORE_FAILED) {
            return wrong(stage, "it has failed: %s", error_sentence(&error));
        }
        (void)usleep(1000);
    }
    return wrong(stage, "%s: state %d, %s", what, (int)store_state(stage->store, &error),
                 error_sentence(&error));
}

// ---------------------------------------------------------------------------------------------
// What happens

static bool put_first(struct stage *stage)
{
    for (size_t i = 0; i < FIRST; i++) {
        if (!put(stage, SIZE_FIRST)) {
            return false;
        }
    }
    return wait_for(stage, stage->shelf->count, "what was put at first");
}

// Puts until the store says that it is full.
static bool put_until_full(struct stage *stage)
{
    struct error error = { 0 };
    int waited = 0;
    while (stage->records < RECORDS) {
        enum store_state state = store_state(stage->store, &error);
        if (state == STORE_FULL) {
            return true;
        }
        if (state == STORE_FAILED) {
            return wrong(stage, "it has failed: %s", error_sentence(&error));
        }
        shelf_acknowledge(stage->shelf, store_durable(stage->store));
        if (stage->shelf->count - stage->shelf->acknowledged > AHEAD) {
            (void)usleep(1000);
            if (++waited > WITHIN_MS) {
                return wrong(stage, "puts do not get durable, and it does not say that it is full");
            }
            continue;
        }
        waited = 0;
        if (!put(stage, SIZE_MAX_PUT)) {
            return false;
        }
    }
    return wrong(stage, "it never says that it is full");
}

static bool remove_half(struct stage *stage)
{
    size_t half = stage->records / 2 / BATCH * BATCH;
    for (size_t i = 0; i < half; i += BATCH) {
        if (!append(stage, i, BATCH, 0) ||
            !wait_for(stage, stage->shelf->count, "what makes it smaller, on a full disk,")) {
            return false;
        }
    }
    return true;
}

static bool close_store(struct stage *stage, bool may_lack_space)
{
    struct error error = { 0 };
    uint64_t durable = store_durable(stage->store);
    enum status status = store_close(stage->store, &error);
    stage->store = NULL;
    shelf_acknowledge(stage->shelf, durable);
    if (!status) {
        stage->shelf->acknowledged = stage->shelf->count;
    }
    if (status && !(may_lack_space && status == STATUS_NO_SPACE)) {
        return wrong(stage, "it does not close (%s): %s", status_name(status),
                     error_sentence(&error));
    }
    return true;
}

static bool go_on(struct stage *stage)
{
    tap_disk_left(-1);
    if (!wait_for_state(stage, STORE_READY, "it is still full though there is space again")) {
        return false;
    }
    for (size_t i = 0; i < MORE; i++) {
        if (!put(stage, SIZE_FIRST)) {
            return false;
        }
    }
    return wait_for(stage, stage->shelf->count, "what was put when there was space again");
}

// States that a power loss could have left at some instants of all that.
static bool lose_power(struct stage *stage, const struct trace *trace)
{
    struct power *power = power_new(trace, NULL);
    struct disk disk;
    disk_init(&disk);
    struct random random = { 1 };
    size_t submitted = 0;
    size_t acknowledged = 0;
    size_t seen = 0;
    bool good = true;
    for (size_t i = 0; good && i < CUTS; i++) {
        size_t cut = trace->count * (i + 1) / CUTS;
        for (; seen < cut; seen++) {
            const struct trace_op *op = &trace->ops[seen];
            bool mark = op->kind == TRACE_MARK;
            acknowledged = mark && op->mark == RUN_ACKNOWLEDGED ? op->value : acknowledged;
        }
        submitted = stage->shelf->count;
        power_go(power, cut);
        for (size_t j = 0; good && j < STATES; j++) {
            power_state(power, 1, random_below(&random, 20), &disk);
            disk_store(&disk, stage->folder);
            good = open_store(stage, acknowledged, submitted) && !store_close(stage->store, NULL);
        }
        if (!good) {
            printf("# after a power loss at %zu of %zu\n", cut, trace->count);
        }
    }
    disk_release(&disk);
    power_free(power);
    return good;
}

// A record for which there is no room, in a group of its own since nothing else is under way.
static bool put_large(struct stage *stage)
{
    return put(stage, (uint32_t)(SIZE_LARGE + stage->left)) &&
           wait_for_state(stage, STORE_STUCK, "it does not say that it is stuck");
}

static bool play(struct stage *stage, bool stuck)
{
    return open_store(stage, 0, 0) && put_first(stage) && (tap_disk_left(stage->left), true) &&
           (stuck ? put_large(stage) : put_until_full(stage));
}

// Stuck, space again.
static bool stuck_and_on(struct stage *stage)
{
    tap_mark(RUN_ACKNOWLEDGED, stage->shelf->acknowledged);
    if (store_durable(stage->store) >= stage->shelf->groups[stage->shelf->count]) {
        return wrong(stage, "what there is no room for is durable");
    }
    if (!go_on(stage) || !close_store(stage, false)) {
        return false;
    }
    size_t last = stage->shelf->count;
    tap_mark(RUN_ACKNOWLEDGED, last);
    return open_store(stage, last, last) && close_store(stage, false);
}

// Stuck, given up: what was acknowledged is there, and what was not is not.
static bool given_up_when_stuck(struct stage *stage)
{
    size_t acknowledged = stage->shelf->acknowledged;
    store_give_up(stage->store);
    for (int i = 0; i < WITHIN_MS && store_state(stage->store, NULL) != STORE_FAILED; i++) {
        (void)usleep(1000);
    }
    if (store_state(stage->store, NULL) != STORE_FAILED) {
        return wrong(stage, "it does not give up");
    }
    struct error error = { 0 };
    enum status status = store_close(stage->store, &error);
    if (status != STATUS_NO_SPACE) {
        return wrong(stage, "it is closed with %s and not with NO_SPACE", status_name(status));
    }
    stage->store = NULL;
    if (!open_store(stage, acknowledged, acknowledged)) {
        return false;
    }
    tap_disk_left(-1);
    return wait_for_state(stage, STORE_READY, "it is still full though there is space again") &&
           close_store(stage, false);
}

// Full, smaller, space again.
static bool smaller_and_on(struct stage *stage)
{
    tap_mark(RUN_ACKNOWLEDGED, stage->shelf->acknowledged);
    if (!remove_half(stage)) {
        return false;
    }
    tap_mark(RUN_ACKNOWLEDGED, stage->shelf->acknowledged);
    size_t last = 0;
    bool good = go_on(stage) && close_store(stage, false);
    last = stage->shelf->count;
    tap_mark(RUN_ACKNOWLEDGED, last);
    return good && open_store(stage, last, last) && close_store(stage, false);
}

// Full, closed, opened while still full.
static bool closed_when_full(struct stage *stage)
{
    if (!close_store(stage, true) ||
        !open_store(stage, stage->shelf->acknowledged, stage->shelf->count)) {
        return false;
    }
    // What was not acknowledged may be gone: from here on it is another story.
    tap_disk_left(-1);
    return wait_for_state(stage, STORE_READY, "it is still full though there is space again") &&
           close_store(stage, false);
}

// ---------------------------------------------------------------------------------------------

struct plan {
    const char *sentence;
    bool (*rest)(struct stage *stage);
    bool power; // is lost at some instants too
    bool stuck; // with a record for which there is no room
};

static const struct plan plans[] = {
    { "records go while it is full, and it goes on with space", smaller_and_on, true, false },
    { "it is closed and opened while it is full", closed_when_full, false, false },
    { "what the journal has no room for waits for space", stuck_and_on, true, true },
    { "what the journal has no room for is given up", given_up_when_stuck, false, true },
};

static const int64_t lefts[] = { 0, 10000, 300000, 2000000, 6000000 };

static bool run(struct stage *stage, const struct plan *plan)
{
    stage->shelf = calloc(1, sizeof(*stage->shelf));
    if (!stage->shelf) {
        abort();
    }
    stage->options = run_options(4, stage->path);
    stage->options.segment_size = 16384;
    stage->options.reserve_size = plan->stuck ? RESERVE_SMALL : RESERVE;
    tap_watch(stage->folder);
    if (plan->power) {
        tap_record(0);
    }
    bool good = play(stage, plan->stuck) && plan->rest(stage);
    struct trace trace;
    tap_end(&trace);
    good = good && (!plan->power || lose_power(stage, &trace));
    if (!good) {
        run_print_log();
        (void)fflush(stdout);
    }
    trace_release(&trace);
    free(stage->shelf);
    return good;
}

static bool in_child(struct stage *stage, const struct plan *plan)
{
    (void)fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        abort();
    }
    if (child == 0) {
        (void)alarm(HANG_S);
        _exit(run(stage, plan) ? 0 : 1);
    }
    int status = 0;
    (void)waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
        (void)wrong(stage, "%s",
                    WTERMSIG(status) == SIGALRM ? "there is no answer" : "the process crashed");
    }
    return status == 0;
}

int main(void)
{
    struct stage stage = { 0 };
    stage.why = mmap(NULL, WHY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (stage.why == MAP_FAILED) {
        return 2;
    }
    scratch_make(stage.folder, "full");
    (void)snprintf(stage.path, sizeof(stage.path), "%.230s/store", stage.folder);
    unsigned points = 0;
    bool good = true;
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        for (size_t j = 0; j < sizeof(lefts) / sizeof(lefts[0]); j++) {
            if (plans[i].stuck && lefts[j] > STUCK_LEFT_MAX) {
                continue;
            }
            scratch_empty(stage.folder);
            stage.left = lefts[j];
            stage.why[0] = 0;
            bool fine = in_child(&stage, &plans[i]);
            if (!fine) {
                printf("# %s\n", stage.why);
            }
            printf("%sok %u - a disk with %" PRId64 " bytes left: %s\n", fine ? "" : "not ",
                   ++points, lefts[j], plans[i].sentence);
            good = good && fine;
        }
    }
    printf("1..%u\n", points);
    scratch_remove(stage.folder);
    return good ? 0 : 1;
}
