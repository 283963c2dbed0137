// SPDX-License-Identifier: MIT
// A power loss at any instant loses nothing that was acknowledged, and is never damage.
//
//     crash_power --states 20000 --seed 1
//
// A random workload runs on a store (run.h); the trace of what it did to its files is cut at every
// operation, and from each cut come states that a power loss could have left (power.h). Each must
// open, and hold what the engine was after some step: with durability `always` one that is not
// older than what was acknowledged, otherwise not older than what was synced; nothing that was
// never there. Then the store goes on: some more steps, closed, opened, compared again. Of some
// states the recovery itself is recorded and cut at every operation: a second power loss.
//
// Prints TAP. A failure leaves the trace in a file, and is replayed alone with
//
//     crash_power --seed S --trace FILE --cut C --state N [--keep FOLDER]
#include "power.h"
#include "run.h"
#include "scratch.h"
#include "tap.h"

#include "random.h"

#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    WHY_SIZE = 512,
    RUNS_MIN = 4,
    STATES_A_RUN = 5000,
    WORKERS_MAX = 16,
    HANG_S = 120,
    GO_ON_STEPS = 3,
    GO_ON_EVERY = 2,
    BACKUP_EVERY = 4,
    AGAIN_EVERY = 400, // states from one second power loss to the next
    AGAIN_STATES = 3,  // of each of its cuts
};

struct arguments {
    uint64_t seed;
    uint64_t states;
    unsigned workers;
    const char *trace;
    const char *keep;
    size_t cut, state; // SIZE_MAX: all
};

// What the workers share with their parent.
struct worker {
    atomic_size_t cut, state;
    _Atomic(const char *) doing;
    atomic_ullong done;
};

static struct worker *workers;

// ---------------------------------------------------------------------------------------------
// What must be there at a cut

struct bounds {
    size_t from, to;
    bool backup;
    size_t backup_from, backup_to;
};

// The marks up to a cut.
struct marks {
    const struct trace *trace;
    size_t cut;
    size_t submitted, acknowledged, certain;
    bool backup;
    size_t backup_from, backup_to;
};

static void marks_go(struct marks *marks, size_t cut)
{
    for (; marks->cut < cut; marks->cut++) {
        const struct trace_op *op = &marks->trace->ops[marks->cut];
        if (op->kind != TRACE_MARK) {
            continue;
        }
        size_t step = op->value;
        switch ((enum run_mark)op->mark) {
        case RUN_SUBMITTED:
            marks->submitted = step;
            break;
        case RUN_ACKNOWLEDGED:
            marks->acknowledged = step;
            break;
        case RUN_CERTAIN:
            marks->certain = step;
            break;
        case RUN_BACKUP_FROM:
            marks->backup = true;
            marks->backup_from = step;
            break;
        case RUN_BACKUP_TO:
            marks->backup_to = step;
            break;
        case RUN_BACKUP_GONE:
            marks->backup = false;
            break;
        }
    }
}

// The last step that was acknowledged before that operation.
static size_t acknowledged_before(const struct trace *trace, size_t cut, size_t op)
{
    for (size_t i = op < cut ? op : cut; i-- > 0;) {
        if (trace->ops[i].kind == TRACE_MARK && trace->ops[i].mark == RUN_ACKNOWLEDGED) {
            return trace->ops[i].value;
        }
    }
    return 0;
}

static struct bounds bounds_at(enum store_durability durability, const struct power *power,
                               const struct marks *marks)
{
    struct bounds bounds = {
        .from = marks->certain,
        .to = marks->submitted,
        .backup = marks->backup,
        .backup_from = marks->backup_from,
        .backup_to = marks->backup_to,
    };
    size_t promised = marks->acknowledged;
    if (durability != STORE_ALWAYS) {
        // What was acknowledged is written, and certain when all of the journal up to there is.
        size_t first = power_first_pending(power, "journal-");
        promised = acknowledged_before(marks->trace, marks->cut, first);
    }
    bounds.from = promised > bounds.from ? promised : bounds.from;
    return bounds;
}

// ---------------------------------------------------------------------------------------------
// Looking at a state

struct scene {
    const struct run *run;
    char folder[RUN_PATH_SIZE]; // where states are made
    char store[RUN_PATH_SIZE];
    char backup[RUN_PATH_SIZE];
    struct store_options options;
    struct store_options backup_options;
    struct disk disk;
    struct worker *worker;
    bool quiet;
};

static void scene_init(struct scene *scene, const struct run *run, const char *folder,
                       struct worker *worker)
{
    *scene = (struct scene){ .run = run, .worker = worker };
    (void)snprintf(scene->folder, sizeof(scene->folder), "%s", folder);
    (void)snprintf(scene->store, sizeof(scene->store), "%.200s/store", folder);
    (void)snprintf(scene->backup, sizeof(scene->backup), "%.200s/backup", folder);
    scene->options = run_options(run->seed, scene->store);
    scene->backup_options = run_options(run->seed, scene->backup);
    disk_init(&scene->disk);
}

static void doing(const struct scene *scene, const char *what)
{
    scene->worker->doing = what;
}

// Opens, and compares with the steps from..to. The store stays open when it is good.
static bool look(const struct workload *workload, const struct store_options *options, size_t from,
                 size_t to, struct opened *opened, char *why)
{
    if (!run_open(opened, options, why)) {
        return false;
    }
    if (run_is_step(workload, opened->rebuild.engine, from, to, why)) {
        return true;
    }
    (void)store_close(opened->store, NULL);
    rebuild_release(&opened->rebuild);
    return false;
}

static bool go_on_with(const struct scene *scene, struct opened *opened, uint64_t seed,
                       struct workload **workload, char *why)
{
    char other[WHY_SIZE];
    doing(scene, "going on");
    bool good = run_go_on(opened, seed, GO_ON_STEPS, workload, why);
    doing(scene, "closing after going on");
    good = run_close(opened, good ? why : other) && good;
    doing(scene, "opening after going on");
    if (!good || !run_open(opened, &scene->options, why)) {
        return false;
    }
    good = run_is_step(*workload, opened->rebuild.engine, GO_ON_STEPS, GO_ON_STEPS, why);
    doing(scene, "closing at the end");
    return run_close(opened, good ? why : other) && good;
}

static bool go_on(const struct scene *scene, struct opened *opened, uint64_t seed, char *why)
{
    struct workload *workload = NULL;
    char inner[WHY_SIZE] = "";
    bool good = go_on_with(scene, opened, seed, &workload, inner);
    if (!good) {
        (void)snprintf(why, WHY_SIZE, "after it went on: %.490s", inner);
    }
    workload_free(workload);
    return good;
}

static bool look_at_backup(const struct scene *scene, const struct bounds *bounds, char *why)
{
    struct opened opened;
    doing(scene, "opening the backup");
    char inner[WHY_SIZE] = "";
    bool good = look(scene->run->workload, &scene->backup_options, bounds->backup_from,
                     bounds->backup_to, &opened, inner) &&
                run_close(&opened, inner);
    if (!good) {
        (void)snprintf(why, WHY_SIZE, "of the backup: %.490s", inner);
    }
    return good;
}

// Opens the state that is on the disk.
static bool judge(const struct scene *scene, const struct bounds *bounds, size_t number, char *why)
{
    struct opened opened;
    doing(scene, "opening");
    if (!look(scene->run->workload, &scene->options, bounds->from, bounds->to, &opened, why)) {
        return false;
    }
    if (number % GO_ON_EVERY == 0) {
        if (!go_on(scene, &opened, number, why)) {
            return false;
        }
    } else {
        doing(scene, "closing");
        if (!run_close(&opened, why)) {
            return false;
        }
    }
    return !bounds->backup || number % BACKUP_EVERY != 0 || look_at_backup(scene, bounds, why);
}

// Recovers from the state that is on the disk and goes on, under the tap. The workload is that of
// going on; its step 0 is what was recovered.
static bool record_again(struct scene *scene, const struct bounds *bounds, uint64_t seed,
                         struct trace *trace, struct workload **workload, char *why)
{
    struct opened opened;
    char other[WHY_SIZE];
    doing(scene, "opening under the tap");
    tap_watch(scene->folder);
    tap_record(seed * 2 + 1);
    bool good = look(scene->run->workload, &scene->options, bounds->from, bounds->to, &opened, why);
    if (good) {
        doing(scene, "going on under the tap");
        good = run_go_on(&opened, seed, GO_ON_STEPS, workload, why);
        doing(scene, "closing under the tap");
        good = run_close(&opened, good ? why : other) && good;
    }
    tap_end(trace);
    return good;
}

// All cuts of that.
static bool cut_again(struct scene *scene, const struct trace *trace,
                      const struct workload *workload, uint64_t seed, char *why)
{
    struct power *power = power_new(trace, &scene->disk);
    struct marks marks = { .trace = trace };
    struct disk state;
    disk_init(&state);
    doing(scene, "opening after a second power loss");
    bool good = true;
    for (size_t cut = 0; good && cut <= trace->count; cut++) {
        power_go(power, cut);
        marks_go(&marks, cut);
        if (!power_changes_next(power)) {
            continue;
        }
        struct bounds bounds = bounds_at(scene->options.durability, power, &marks);
        size_t states = power_states(power) < AGAIN_STATES ? power_states(power) : AGAIN_STATES;
        for (size_t i = 0; good && i < states; i++) {
            // None and all of it once each, the rest is drawn.
            size_t drawn = i < 2 ? i : i + 2 + cut % 4;
            power_state(power, seed, drawn, &state);
            disk_store(&state, scene->folder);
            struct opened opened;
            char inner[WHY_SIZE] = "";
            good = look(workload, &scene->options, bounds.from, bounds.to, &opened, inner) &&
                   run_close(&opened, inner);
            scene->worker->done++;
            if (!good) {
                (void)snprintf(why, WHY_SIZE, "after a second power loss: %.480s", inner);
                if (!scene->quiet) {
                    printf("# the second power loss:\n");
                    power_explain(power, seed, drawn, stdout);
                }
            }
        }
    }
    disk_release(&state);
    power_free(power);
    return good;
}

// A second power loss, while the first one is recovered from or soon after.
static bool judge_again(struct scene *scene, const struct bounds *bounds, uint64_t seed, char *why)
{
    struct trace trace;
    struct workload *workload = NULL;
    disk_store(&scene->disk, scene->folder);
    bool good = record_again(scene, bounds, seed, &trace, &workload, why) &&
                cut_again(scene, &trace, workload, seed, why);
    trace_release(&trace);
    if (workload) {
        workload_free(workload);
    }
    return good;
}

static bool try_state(struct scene *scene, const struct power *power, const struct marks *marks,
                      size_t cut, size_t state, bool again, char *why)
{
    struct bounds bounds = bounds_at(scene->options.durability, power, marks);
    uint64_t seed = scene->run->seed;
    scene->worker->cut = cut;
    scene->worker->state = state;
    scene->worker->done++;
    (void)alarm(HANG_S);
    power_state(power, seed, state, &scene->disk);
    disk_store(&scene->disk, scene->folder);
    bool good = judge(scene, &bounds, cut + state, why) &&
                (!again || judge_again(scene, &bounds, seed, why));
    (void)alarm(0);
    if (!good && !scene->quiet) {
        printf("# %s\n# must hold step %zu to %zu\n", why, bounds.from, bounds.to);
        power_explain(power, seed, state, stdout);
        run_print_log();
        (void)fflush(stdout);
    }
    return good;
}

// ---------------------------------------------------------------------------------------------
// All states of a run

// Which cuts have states of their own.
static size_t list_cuts(const struct trace *trace, size_t **cuts)
{
    struct power *power = power_new(trace, NULL);
    *cuts = calloc(trace->count + 1, sizeof(**cuts));
    if (!*cuts) {
        abort();
    }
    size_t count = 0;
    for (size_t cut = 0; cut <= trace->count; cut++) {
        power_go(power, cut);
        if (power_changes_next(power)) {
            (*cuts)[count++] = cut;
        }
    }
    power_free(power);
    return count;
}

struct share {
    const size_t *cuts;
    size_t count;
    uint64_t states; // of the whole run
    unsigned worker, workers;
};

// Every cut has as many states as come to it; the first ones are the four that each cut has.
static bool try_cut(struct scene *scene, struct power *power, struct marks *marks,
                    const struct share *share, size_t index)
{
    size_t cut = share->cuts[index];
    power_go(power, cut);
    marks_go(marks, cut);
    size_t wanted =
        (index + 1) * share->states / share->count - index * share->states / share->count;
    size_t there = power_states(power);
    size_t states = wanted < there ? wanted : there;
    // With fewer states than those four it is the turn of others at each cut.
    size_t first = states < 4 && states < there ? cut % 6 : 0;
    char why[WHY_SIZE] = "";
    for (size_t i = 0; i < states; i++) {
        bool again = (cut * 31 + i * 7) % AGAIN_EVERY == 0;
        if (!try_state(scene, power, marks, cut, first + i, again, why)) {
            return false;
        }
    }
    return true;
}

static int work(const struct run *run, const char *folder, const struct share *share, bool quiet)
{
    struct scene scene;
    scene_init(&scene, run, folder, &workers[share->worker]);
    scene.quiet = quiet;
    struct power *power = power_new(&run->trace, NULL);
    struct marks marks = { .trace = &run->trace };
    bool good = true;
    for (size_t i = share->worker; good && i < share->count; i += share->workers) {
        good = try_cut(&scene, power, &marks, share, i);
    }
    power_free(power);
    disk_release(&scene.disk);
    return good ? 0 : 1;
}

static void report(const struct run *run, const struct worker *worker, int status)
{
    if (WIFSIGNALED(status)) {
        printf("# a worker %s while %s\n",
               WTERMSIG(status) == SIGALRM ? "got no answer" : "was ended by a signal",
               worker->doing ? worker->doing : "starting");
    }
    char path[RUN_PATH_SIZE];
    (void)snprintf(path, sizeof(path), "crash-power-%" PRIu64 ".trace", run->seed);
    bool saved = trace_save(&run->trace, path);
    printf("# replay with --seed %" PRIu64 " --trace %s --cut %zu --state %zu%s\n", run->seed, path,
           worker->cut, worker->state, saved ? "" : " (but it could not be written)");
    (void)fflush(stdout);
}

// Divides the states among processes. True when all of them were good.
static bool try_run(const struct run *run, const char *folder, uint64_t states, unsigned count,
                    bool quiet, uint64_t *done)
{
    size_t *cuts = NULL;
    struct share share = { .states = states, .workers = count };
    share.count = list_cuts(&run->trace, &cuts);
    share.cuts = cuts;
    pid_t children[WORKERS_MAX];
    (void)fflush(stdout);
    for (unsigned i = 0; i < count; i++) {
        workers[i].cut = workers[i].state = 0;
        workers[i].done = 0;
        workers[i].doing = NULL;
        share.worker = i;
        char path[RUN_PATH_SIZE];
        (void)snprintf(path, sizeof(path), "%.200s/worker-%u", folder, i);
        children[i] = fork();
        if (children[i] == 0) {
            int code = work(run, path, &share, quiet);
            (void)fflush(stdout);
            free(cuts);
            _exit(code);
        }
        if (children[i] < 0) {
            abort();
        }
    }
    bool good = true;
    for (unsigned i = 0; i < count; i++) {
        int status = 0;
        pid_t ended = waitpid(children[i], &status, 0);
        bool fine = ended == children[i] && status == 0;
        if (!fine && !quiet) {
            report(run, &workers[i], status);
        }
        good = good && fine;
        *done += workers[i].done;
        char path[RUN_PATH_SIZE];
        (void)snprintf(path, sizeof(path), "%.200s/worker-%u", folder, i);
        scratch_remove(path);
    }
    free(cuts);
    return good;
}

// ---------------------------------------------------------------------------------------------

static unsigned points;

static bool point(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool point(bool good, const char *format, ...)
{
    char sentence[WHY_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    printf("%sok %u - %s\n", good ? "" : "not ", ++points, sentence);
    (void)fflush(stdout);
    return good;
}

static char base_folder[RUN_PATH_SIZE];

static void remove_base_folder(void)
{
    scratch_remove(base_folder);
}

static bool record(struct run *run, uint64_t seed, const char *left_out)
{
    char folder[RUN_PATH_SIZE];
    (void)snprintf(folder, sizeof(folder), "%.200s/run", base_folder);
    scratch_empty(folder);
    (void)alarm(HANG_S);
    bool good = run_record(run, seed, folder, left_out);
    (void)alarm(0);
    scratch_remove(folder);
    return good;
}

// Runs with seeds from the given one on until there were enough states.
static bool try_all(const struct arguments *arguments)
{
    uint64_t runs = arguments->states / STATES_A_RUN;
    runs = runs < RUNS_MIN ? RUNS_MIN : runs;
    bool good = true;
    uint64_t total = 0;
    for (uint64_t i = 0; good && i < runs; i++) {
        uint64_t seed = arguments->seed + i;
        struct run run;
        uint64_t done = 0;
        if (!record(&run, seed, NULL)) {
            good = false;
            point(good, "a run with seed %" PRIu64 ", durability %s", seed, run_durability(seed));
        } else {
            good = try_run(&run, base_folder, arguments->states / runs, arguments->workers, false,
                           &done);
            point(good, "durability %s, seed %" PRIu64 ": %zu operations, %" PRIu64 " states",
                  run_durability(seed), seed, run.trace.count, done);
        }
        run_release(&run);
        total += done;
    }
    printf("# %" PRIu64 " states\n", total);
    return good;
}

// A store that forgets to sync must be found out.
static bool try_left_out(const struct arguments *arguments, const char *file, const char *what)
{
    struct run run;
    uint64_t done = 0;
    uint64_t seed = arguments->seed / 4 * 4; // durability always
    bool good = record(&run, seed, file) &&
                !try_run(&run, base_folder, STATES_A_RUN, arguments->workers, true, &done);
    run_release(&run);
    return point(good, "it is noticed when %s is not synced", what);
}

static int replay(const struct arguments *arguments)
{
    struct run run;
    run_replay(&run, arguments->seed);
    if (!trace_load(&run.trace, arguments->trace)) {
        perror(arguments->trace);
        return 2;
    }
    char folder[RUN_PATH_SIZE];
    (void)snprintf(folder, sizeof(folder), "%.200s/worker-0", base_folder);
    struct scene scene;
    scene_init(&scene, &run, folder, &workers[0]);
    struct power *power = power_new(&run.trace, NULL);
    struct marks marks = { .trace = &run.trace };
    size_t cut = arguments->cut < run.trace.count ? arguments->cut : run.trace.count;
    power_go(power, cut);
    marks_go(&marks, cut);
    if (arguments->keep) {
        power_state(power, run.seed, arguments->state, &scene.disk);
        disk_store(&scene.disk, arguments->keep);
    }
    char why[WHY_SIZE] = "";
    bool good = try_state(&scene, power, &marks, cut, arguments->state, true, why);
    power_free(power);
    disk_release(&scene.disk);
    scratch_remove(folder);
    run_release(&run);
    point(good, "cut %zu, state %zu of seed %" PRIu64, cut, arguments->state, arguments->seed);
    return good ? 0 : 1;
}

static void read_arguments(int argc, char **argv, struct arguments *arguments)
{
    static const struct option options[] = {
        { "states", required_argument, NULL, 'n' },  { "seed", required_argument, NULL, 's' },
        { "workers", required_argument, NULL, 'w' }, { "trace", required_argument, NULL, 't' },
        { "cut", required_argument, NULL, 'c' },     { "state", required_argument, NULL, 'i' },
        { "keep", required_argument, NULL, 'k' },    { 0 },
    };
    int option = 0;
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'n':
            arguments->states = argument_number(optarg);
            break;
        case 's':
            arguments->seed = argument_number(optarg);
            break;
        case 'w':
            arguments->workers = (unsigned)argument_number(optarg) % (WORKERS_MAX + 1);
            break;
        case 't':
            arguments->trace = optarg;
            break;
        case 'c':
            arguments->cut = argument_number(optarg);
            break;
        case 'i':
            arguments->state = argument_number(optarg);
            break;
        case 'k':
            arguments->keep = optarg;
            break;
        default:
            exit(2); // NOLINT(concurrency-mt-unsafe)
        }
    }
}

int main(int argc, char **argv)
{
    struct timespec now = { 0 };
    (void)timespec_get(&now, TIME_UTC);
    struct arguments arguments = {
        .seed = (uint64_t)now.tv_sec * 1000,
        .states = 20000,
        .workers = 2,
        .cut = SIZE_MAX,
    };
    read_arguments(argc, argv, &arguments);
    workers = mmap(NULL, WORKERS_MAX * sizeof(*workers), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (workers == MAP_FAILED) {
        perror("mmap");
        return 2;
    }
    scratch_make(base_folder, "crash");
    (void)atexit(remove_base_folder);
    if (arguments.trace) {
        return replay(&arguments);
    }
    printf("# --seed %" PRIu64 " --states %" PRIu64 "\n", arguments.seed, arguments.states);
    bool good = try_all(&arguments);
    good = good && try_left_out(&arguments, "journal-", "the journal");
    good = good && try_left_out(&arguments, "data.mdb", "the base");
    good = good && try_left_out(&arguments, "store", "the store's folder");
    good = good && try_left_out(&arguments, ".", "the folder above it");
    printf("1..%u\n", points);
    return good ? 0 : 1;
}
