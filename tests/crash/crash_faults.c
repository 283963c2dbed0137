// SPDX-License-Identifier: MIT
// Whatever a system call answers, nothing is acknowledged that is not there afterwards.
//
//     crash_faults --every 1
//
// A workload (run.h) runs on a store again and again. Each time another call of those that it makes
// fails: once, or from then on, or is cut short, or is the last thing that the process does. Then
// the store is opened without faults, as it is and as a power loss could have left it: it must hold
// what was acknowledged, and go on. A sync that failed must have ended the store.
//
// The same with the recovery from a power loss: it must come to the same end after it was
// disturbed.
//
// Prints TAP. A failure names the call; `--harm H --call K` makes it again, with `--recovery` that
// of a recovery.
#include "power.h"
#include "run.h"
#include "scratch.h"
#include "tap.h"

#include "random.h"

#include <errno.h>
#include <getopt.h>
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
    STEPS = 14,
    CHECKPOINT_AT = 4,
    BACKUP_AT = 7,
    REOPEN_AT = 10,
    HANG_S = 60,
    FAILED_WITHIN_MS = 5000,
    GO_ON_STEPS = 2,
    POWER_STATES = 5,
    WORKERS = 2,
    SEED = 4, // durability always
};

struct harm {
    const char *sentence;
    enum tap_harm harm;
    int error;
    bool from_then_on;
};

static const struct harm harms[] = {
    { "fails once with EIO", TAP_ERROR, EIO, false },
    { "and all after it fail with EIO", TAP_ERROR, EIO, true },
    { "fails once with ENOSPC", TAP_ERROR, ENOSPC, false },
    { "is interrupted", TAP_ERROR, EINTR, false },
    { "does only half of it", TAP_SHORT, 0, false },
    { "is never made, since the process is killed", TAP_KILL, 0, false },
};

enum {
    HARMS = sizeof(harms) / sizeof(harms[0]),
};

// What a trial leaves for its parent.
struct trial {
    size_t submitted, acknowledged;
    uint64_t calls;
    char doing[64];
    char harmed[256];
    char why[WHY_SIZE];
};

static struct trial *trials; // one a worker
static char base_folder[RUN_PATH_SIZE];

struct stage {
    struct trial *trial;
    const struct harm *harm;
    char folder[RUN_PATH_SIZE];
    char store[RUN_PATH_SIZE];
    char backup[RUN_PATH_SIZE];
    struct store_options options;
    struct workload *workload;
    struct opened opened;
    bool harmed; // has been, and what it led to was seen
};

static void stage_init(struct stage *stage, unsigned worker, const struct harm *harm)
{
    *stage = (struct stage){ .trial = &trials[worker], .harm = harm };
    (void)snprintf(stage->folder, sizeof(stage->folder), "%.200s/worker-%u", base_folder, worker);
    (void)snprintf(stage->store, sizeof(stage->store), "%.230s/store", stage->folder);
    (void)snprintf(stage->backup, sizeof(stage->backup), "%.230s/backup", stage->folder);
    stage->options = run_options(SEED, stage->store);
    stage->options.segment_size = 16384;
}

static void doing(struct stage *stage, const char *what)
{
    (void)snprintf(stage->trial->doing, sizeof(stage->trial->doing), "%s", what);
}

static bool wrong(struct stage *stage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool wrong(struct stage *stage, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(stage->trial->why, WHY_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

// ---------------------------------------------------------------------------------------------
// The script

// A call of the store has come back. False: its answer does not fit what happened.
static bool fits(struct stage *stage, enum status status, bool refusal_is_enough)
{
    bool was_harmed = tap_harmed() > 0;
    bool now = was_harmed && !stage->harmed;
    stage->harmed = was_harmed;
    if (status && !was_harmed) {
        return wrong(stage, "%s failed without a reason (%s)", stage->trial->doing,
                     status_name(status));
    }
    // Without space a file may be made once more; what was only interrupted may be done again.
    bool sync = tap_harmed_kind() == TAP_SYNC && stage->harm->error == EIO;
    if (!now || !sync || (status && refusal_is_enough)) {
        return true;
    }
    struct store *store = stage->opened.store;
    for (int i = 0; i < FAILED_WITHIN_MS && store_state(store, NULL) != STORE_FAILED; i++) {
        (void)usleep(1000);
    }
    if (store_state(store, NULL) != STORE_FAILED) {
        return wrong(stage, "a sync failed during %s, and the store goes on", stage->trial->doing);
    }
    uint64_t group = 0;
    struct error error = { 0 };
    const struct store_record record = {
        .key = { 1, { RECORD_ENGINE, 0, 0 } },
        .bytes = SLICE("x"),
    };
    if (!store_append(store, &record, 1, &group, &error)) {
        return wrong(stage, "a store that has failed takes a record");
    }
    return true;
}

enum outcome {
    GOES_ON,
    ENDS, // for a reason
    WRONG,
};

static enum outcome outcome(struct stage *stage, enum status status, bool refusal_is_enough)
{
    if (!fits(stage, status, refusal_is_enough)) {
        return WRONG;
    }
    return status ? ENDS : GOES_ON;
}

static enum outcome open_store(struct stage *stage)
{
    doing(stage, "opening");
    struct error error = { 0 };
    stage->opened = (struct opened){ 0 };
    struct store_visitor visitor = rebuild_visitor(&stage->opened.rebuild);
    enum status status = store_open(&stage->options, &visitor, &stage->opened.store, &error);
    if (status) {
        rebuild_release(&stage->opened.rebuild);
        stage->opened.store = NULL;
        if (tap_harmed() && status == STATUS_CORRUPT) {
            (void)wrong(stage, "a call that fails is taken for damage: %s", error_sentence(&error));
            return WRONG;
        }
        return outcome(stage, status, true);
    }
    bool whole = rebuild_end(&stage->opened.rebuild);
    size_t steps = workload_steps(stage->workload);
    bool same = whole &&
                run_find_step(stage->workload, stage->opened.rebuild.engine, steps, steps) == steps;
    rebuild_release(&stage->opened.rebuild);
    if (!same) {
        (void)wrong(stage, "another engine after closing and opening");
        return WRONG;
    }
    return outcome(stage, status, true);
}

static enum outcome close_store(struct stage *stage)
{
    doing(stage, "closing");
    struct store *store = stage->opened.store;
    stage->opened.store = NULL;
    bool failed = store_state(store, NULL) == STORE_FAILED;
    enum status status = store_close(store, NULL);
    if (failed && !status) {
        (void)wrong(stage, "a store that has failed closes as if all were on disk");
        return WRONG;
    }
    if (!status) {
        stage->trial->acknowledged = workload_steps(stage->workload);
    }
    bool hit = tap_harmed() > 0 && !stage->harmed;
    if (hit && !status && tap_harmed_kind() == TAP_SYNC && stage->harm->error == EIO) {
        (void)wrong(stage, "a sync failed while closing, and it says that all is well");
        return WRONG;
    }
    stage->harmed |= hit;
    if (status && !stage->harmed) {
        (void)wrong(stage, "closing failed without a reason");
        return WRONG;
    }
    return status ? ENDS : GOES_ON;
}

static enum outcome one_step(struct stage *stage)
{
    struct store *store = stage->opened.store;
    struct trial *trial = stage->trial;
    workload_step(stage->workload);
    trial->submitted = workload_steps(stage->workload);
    uint64_t group = 0;
    doing(stage, "taking a step");
    enum status status = store_take(store, 0, workload_engine(stage->workload), &group, NULL);
    enum outcome result = outcome(stage, status, false);
    if (result != GOES_ON) {
        return result;
    }
    doing(stage, "waiting for a step");
    status = store_wait(store, group, NULL);
    if (!status) {
        trial->acknowledged = trial->submitted;
    }
    return outcome(stage, status, false);
}

static enum outcome one_more(struct stage *stage, size_t number)
{
    struct error error = { 0 };
    enum outcome result = GOES_ON;
    if (number == CHECKPOINT_AT) {
        doing(stage, "a checkpoint");
        result = outcome(stage, store_checkpoint(stage->opened.store, &error), false);
    } else if (number == BACKUP_AT) {
        doing(stage, "a backup");
        result = outcome(stage, store_backup(stage->opened.store, stage->backup, &error), true);
        result = result == ENDS ? GOES_ON : result;
    } else if (number == REOPEN_AT) {
        result = close_store(stage);
        result = result == GOES_ON ? open_store(stage) : result;
    }
    return result;
}

// False: something was not as it must be; trial->why says what.
static bool play(struct stage *stage)
{
    stage->workload = workload_new(SEED, NULL);
    enum outcome result = open_store(stage);
    for (size_t i = 0; result == GOES_ON && i < STEPS; i++) {
        result = one_step(stage);
        if (result == GOES_ON) {
            result = one_more(stage, i);
        }
    }
    if (stage->opened.store && result != WRONG) {
        enum outcome last = close_store(stage);
        result = last == WRONG ? WRONG : result;
    }
    (void)snprintf(stage->trial->harmed, sizeof(stage->trial->harmed), "%s", tap_harmed_what());
    stage->trial->calls = tap_calls();
    return result != WRONG;
}

// ---------------------------------------------------------------------------------------------
// Afterwards

// Opens the store without faults; then goes on, and opens it again.
static bool judge(struct stage *stage, const struct workload *workload)
{
    struct opened opened;
    struct trial *trial = stage->trial;
    doing(stage, "opening afterwards");
    if (!run_open(&opened, &stage->options, trial->why)) {
        return false;
    }
    bool good = run_is_step(workload, opened.rebuild.engine, trial->acknowledged, trial->submitted,
                            trial->why);
    struct workload *more = NULL;
    doing(stage, "going on afterwards");
    char why[WHY_SIZE];
    good = good && run_go_on(&opened, 1, GO_ON_STEPS, &more, trial->why);
    good = run_close(&opened, good ? trial->why : why) && good;
    if (good && run_open(&opened, &stage->options, trial->why)) {
        good = run_is_step(more, opened.rebuild.engine, GO_ON_STEPS, GO_ON_STEPS, trial->why);
        good = run_close(&opened, good ? trial->why : why) && good;
    } else {
        good = false;
    }
    if (more) {
        workload_free(more);
    }
    return good;
}

// What a power loss leaves after all that.
static bool judge_power(struct stage *stage, const struct trace *trace,
                        const struct workload *workload, uint64_t call)
{
    struct power *power = power_new(trace, NULL);
    struct disk disk;
    disk_init(&disk);
    power_go(power, trace->count);
    size_t states = power_states(power) < POWER_STATES ? power_states(power) : POWER_STATES;
    bool good = true;
    for (size_t i = 0; good && i < states; i++) {
        size_t state = i < 4 ? i : 4 + call % 16;
        power_state(power, call, state, &disk);
        disk_store(&disk, stage->folder);
        good = judge(stage, workload);
        if (!good) {
            printf("# after a power loss:\n");
            power_explain(power, call, state, stdout);
        }
    }
    disk_release(&disk);
    power_free(power);
    return good;
}

// ---------------------------------------------------------------------------------------------
// The recovery from a power loss

static struct disk torn;     // a state with a torn tail
static uint64_t torn_digest; // of the engine that it holds

static bool open_torn(struct stage *stage, uint64_t *digest)
{
    struct opened opened;
    if (!run_open(&opened, &stage->options, stage->trial->why)) {
        return false;
    }
    *digest = engine_digest(opened.rebuild.engine);
    return run_close(&opened, stage->trial->why);
}

// Opens the torn state while a call fails, then without; in a process of its own.
static bool recovery_run(struct stage *stage, const struct tap_fault *fault)
{
    uint64_t digest = 0;
    disk_store(&torn, stage->folder);
    tap_watch(stage->folder);
    tap_fault(fault);
    doing(stage, "recovering");
    bool opened = open_torn(stage, &digest);
    (void)snprintf(stage->trial->harmed, sizeof(stage->trial->harmed), "%s", tap_harmed_what());
    stage->trial->calls = tap_calls();
    bool harmed = tap_harmed() > 0;
    tap_end(NULL);
    if (!opened && (!harmed || strstr(stage->trial->why, "(corrupt)"))) {
        return false; // and `why` says why
    }
    if (opened && digest != torn_digest) {
        return wrong(stage, "another engine");
    }
    doing(stage, "recovering afterwards");
    return open_torn(stage, &digest) && (digest == torn_digest || wrong(stage, "another engine"));
}

static bool recovery_judge(struct stage *stage, const struct tap_fault *fault)
{
    (void)fault;
    uint64_t digest = 0;
    doing(stage, "recovering afterwards");
    return open_torn(stage, &digest) && (digest == torn_digest || wrong(stage, "another engine"));
}

// Looks for a state of a run whose recovery has the most to do.
static bool find_torn(void)
{
    struct stage stage;
    stage_init(&stage, 0, &harms[0]);
    struct run run;
    scratch_empty(stage.folder);
    if (!run_record(&run, SEED, stage.folder, NULL)) {
        return false;
    }
    struct power *power = power_new(&run.trace, NULL);
    struct disk disk;
    disk_init(&disk);
    disk_init(&torn);
    stage.options = run_options(SEED, stage.store);
    uint64_t most = 0;
    bool good = true;
    for (size_t cut = run.trace.count / 2; good && cut < run.trace.count; cut++) {
        power_go(power, cut);
        if (!power_changes_next(power) || power_first_pending(power, "journal-") == SIZE_MAX) {
            continue;
        }
        power_state(power, SEED, 4 + cut % 8, &disk);
        disk_store(&disk, stage.folder);
        tap_watch(stage.folder);
        tap_fault(&(struct tap_fault){ .kinds = 1U << TAP_WRITE });
        uint64_t digest = 0;
        good = open_torn(&stage, &digest);
        if (tap_calls() > most) {
            most = tap_calls();
            torn_digest = digest;
            disk_copy(&torn, &disk);
        }
        tap_end(NULL);
    }
    disk_release(&disk);
    power_free(power);
    run_release(&run);
    return good && most > 0;
}

// ---------------------------------------------------------------------------------------------

// Runs in a process of its own.
static bool trial_run(struct stage *stage, const struct tap_fault *fault)
{
    scratch_empty(stage->folder);
    tap_watch(stage->folder);
    tap_record(0);
    tap_fault(fault);
    bool good = play(stage);
    struct trace trace;
    tap_end(&trace);
    if (good && fault->call) {
        struct workload *workload = run_steps(SEED, STEPS);
        good = judge(stage, workload) && judge_power(stage, &trace, workload, fault->call);
        workload_free(workload);
    }
    trace_release(&trace);
    workload_free(stage->workload);
    return good;
}

static bool judge_run(struct stage *stage, const struct tap_fault *fault)
{
    (void)fault;
    struct workload *workload = run_steps(SEED, STEPS);
    bool good = judge(stage, workload);
    workload_free(workload);
    return good;
}

// ---------------------------------------------------------------------------------------------
// Processes

// True: `run` was content. `killed` says whether the process was killed.
static bool in_child(bool (*run)(struct stage *, const struct tap_fault *), struct stage *stage,
                     const struct tap_fault *fault, bool *killed)
{
    (void)fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        abort();
    }
    if (child == 0) {
        (void)alarm(HANG_S);
        bool good = run(stage, fault);
        if (!good) {
            run_print_log();
        }
        (void)fflush(stdout);
        _exit(good ? 0 : 1);
    }
    int status = 0;
    (void)waitpid(child, &status, 0);
    *killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (WIFSIGNALED(status) && !*killed) {
        (void)wrong(stage, "%s",
                    WTERMSIG(status) == SIGALRM ? "there is no answer" : "the process crashed");
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// What is done, and how it is looked at when that process was killed.
struct script {
    const char *sentence;
    bool (*run)(struct stage *stage, const struct tap_fault *fault);
    bool (*judge)(struct stage *stage, const struct tap_fault *fault);
};

static const struct script scripts[] = {
    { "a call", trial_run, judge_run },
    { "a call of a recovery", recovery_run, recovery_judge },
};

// The calls that are made when nothing fails.
static uint64_t count_calls(const struct script *script, const struct harm *harm, bool *good)
{
    struct stage stage;
    stage_init(&stage, 0, harm);
    const struct tap_fault fault = { .harm = harm->harm };
    bool killed = false;
    *good = in_child(script->run, &stage, &fault, &killed);
    if (!*good) {
        printf("# without a fault: %s\n", stage.trial->why);
    }
    return stage.trial->calls;
}

static bool try_call(const struct script *script, unsigned worker, unsigned harm, uint64_t call)
{
    struct stage stage;
    stage_init(&stage, worker, &harms[harm]);
    *stage.trial = (struct trial){ 0 };
    const struct tap_fault fault = {
        .call = call,
        .harm = harms[harm].harm,
        .error = harms[harm].error,
        .from_then_on = harms[harm].from_then_on,
    };
    bool killed = false;
    bool good = in_child(script->run, &stage, &fault, &killed);
    if (killed && harms[harm].harm == TAP_KILL) {
        good = in_child(script->judge, &stage, &fault, &killed);
    }
    if (!good) {
        const struct trial *trial = stage.trial;
        printf("# %s, number %" PRIu64 " (%s), %s; while %s: %s\n", script->sentence, call,
               trial->harmed, harms[harm].sentence, trial->doing, trial->why);
        printf("# acknowledged %zu, submitted %zu; --harm %u --call %" PRIu64 "\n",
               trial->acknowledged, trial->submitted, harm, call);
        (void)fflush(stdout);
    }
    return good;
}

// Calls that this worker has to try.
static int work(const struct script *script, unsigned worker, unsigned harm, uint64_t calls,
                uint64_t every)
{
    int bad = 0;
    for (uint64_t call = 1 + worker * every; call <= calls && bad < 3; call += WORKERS * every) {
        bad += !try_call(script, worker, harm, call);
    }
    return bad;
}

static bool try_harm(const struct script *script, unsigned harm, uint64_t every, uint64_t *tried)
{
    bool good = true;
    uint64_t calls = count_calls(script, &harms[harm], &good);
    calls += calls / 20; // the store's threads do not meet in the same way each time
    *tried = calls / every;
    if (!good) {
        return false;
    }
    pid_t children[WORKERS];
    for (unsigned i = 0; i < WORKERS; i++) {
        children[i] = fork();
        if (children[i] < 0) {
            abort();
        }
        if (children[i] == 0) {
            _exit(work(script, i, harm, calls, every));
        }
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        int status = 0;
        (void)waitpid(children[i], &status, 0);
        good = good && status == 0;
    }
    return good;
}

// ---------------------------------------------------------------------------------------------

static unsigned points;

static void remove_base_folder(void)
{
    scratch_remove(base_folder);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "every", required_argument, NULL, 'e' },
        { "harm", required_argument, NULL, 'h' },
        { "call", required_argument, NULL, 'c' },
        { "recovery", no_argument, NULL, 'r' },
        { 0 },
    };
    uint64_t every = 1;
    uint64_t harm = 0;
    uint64_t call = 0;
    bool recovery = false;
    int option = 0;
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'e':
            every = argument_number(optarg);
            break;
        case 'h':
            harm = argument_number(optarg);
            break;
        case 'c':
            call = argument_number(optarg);
            break;
        case 'r':
            recovery = true;
            break;
        default:
            return 2;
        }
    }
    trials = mmap(NULL, WORKERS * sizeof(*trials), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (trials == MAP_FAILED || every == 0 || harm >= HARMS) {
        return 2;
    }
    scratch_make(base_folder, "faults");
    (void)atexit(remove_base_folder);
    if (!find_torn()) {
        printf("Bail out! There is no power loss to recover from.\n");
        return 1;
    }
    if (call) {
        return try_call(&scripts[recovery], 0, (unsigned)harm, call) ? 0 : 1;
    }
    bool good = true;
    for (unsigned i = 0; i < HARMS * sizeof(scripts) / sizeof(scripts[0]); i++) {
        const struct script *script = &scripts[i / HARMS];
        uint64_t tried = 0;
        bool fine = try_harm(script, i % HARMS, every, &tried);
        printf("%sok %u - %s %s: %" PRIu64 " of them\n", fine ? "" : "not ", ++points,
               script->sentence, harms[i % HARMS].sentence, tried);
        (void)fflush(stdout);
        good = good && fine;
    }
    disk_release(&torn);
    printf("1..%u\n", points);
    return good ? 0 : 1;
}
