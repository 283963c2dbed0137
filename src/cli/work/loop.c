// SPDX-License-Identifier: MIT
#include "cli/work/loop.h"

#include "cli/core/steady.h"
#include "cli/work/work.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    REPORTS_MAX = 64, // of a slot: what it writes is not read while as many are not yet told
};

static const double hurry_s = 2; // how long calls are waited for in a hurry

// The process's signals, for the loop to see.
static volatile sig_atomic_t signal_count, signal_last;
static int signal_wake = -1;

static void on_signal(int number)
{
    int before = errno;
    signal_count = signal_count + 1;
    signal_last = number;
    (void)eventfd_write(signal_wake, 1);
    errno = before;
}

void work_wake(const struct work *work)
{
    (void)eventfd_write(work->wake, 1);
}

// ---------------------------------------------------------------------------------------------
// Ending

void work_drain(struct work *work)
{
    if (!work->draining) {
        work->draining = true;
        work->drain_until = steady_now() + work->options->drain_timeout;
        work->status.note = "ending";
        work_taker_stop(&work->taker);
    }
}

// Ends what runs still; its jobs are given back.
static void end_all(struct work *work, int signal)
{
    for (size_t i = 0; i < work->slot_count; i++) {
        if (work_slot_runs(&work->slots[i])) {
            work_slot_end(&work->slots[i], WORK_ENDING_RETURN);
        }
    }
    for (size_t i = 0; i < work->runner_count && signal == SIGKILL; i++) {
        work_runner_signal(&work->runners[i], signal);
    }
}

// Stops waiting for calls and processes. What cannot be reported soon is left to the leases, and to
// the next worker on this host.
static void hurry(struct work *work, double now)
{
    if (!atomic_load(&work->hurry)) {
        atomic_store(&work->hurry, true);
        work->hurry_until = now + hurry_s;
        end_all(work, SIGKILL);
    }
}

// First the running jobs may end by themselves, then their processes are ended, and at last they
// are left. A server that does not answer does not delay the end.
static void see_drain(struct work *work, double now)
{
    if (work->drain_until > 0 && now >= work->drain_until) {
        work->drain_until = 0;
        work->hurry_at = now + work->options->grace;
        end_all(work, SIGTERM);
    }
    if (work->hurry_at > 0 && now >= work->hurry_at) {
        work->hurry_at = 0;
        hurry(work, now);
    }
}

// The first signal drains, the second one ends at once.
static void see_signals(struct work *work)
{
    if (signal_count >= 1 && !work->draining) {
        work_complain(&work->status, "ending: %zu running; again to end at once",
                      work->status.running);
        work_drain(work);
    }
    if (signal_count >= 2) {
        hurry(work, steady_now());
    }
}

bool work_signals_catch(const struct work *work)
{
    struct sigaction action = { .sa_handler = on_signal }, before;
    (void)sigfillset(&action.sa_mask);
    signal_wake = work->wake;
    bool good = sigaction(SIGTERM, &action, NULL) == 0 && sigaction(SIGINT, &action, NULL) == 0 &&
                sigaction(SIGHUP, NULL, &before) == 0;
    // Under nohup the worker is to go on without its terminal.
    if (good && before.sa_handler != SIG_IGN) {
        good = sigaction(SIGHUP, &action, NULL) == 0;
    }
    action.sa_handler = SIG_IGN;
    return good && sigaction(SIGPIPE, &action, NULL) == 0;
}

// ---------------------------------------------------------------------------------------------
// A turn

// What poll looks at, for each runner in this order. A file of -1 is passed over.
enum {
    FILE_END,
    FILE_OUT,
    FILE_ERR,
    FILE_IN,
    FILES,
};

static bool is_behind(const struct work_slot *slot)
{
    return atomic_load(&slot->reports) > REPORTS_MAX;
}

static void gather(const struct work *work, struct pollfd *files)
{
    *files++ = (struct pollfd){ .fd = work->wake, .events = POLLIN };
    for (size_t i = 0; i < work->runner_count; i++, files += FILES) {
        const struct work_runner *runner = &work->runners[i];
        const struct work_child *child = &runner->child;
        bool alive = child->pid != 0, behind = work_runner_count(runner, is_behind) > 0;
        bool sends = runner->input.sent < runner->input.size;
        files[FILE_END] = (struct pollfd){ .fd = alive ? child->pidfd : -1, .events = POLLIN };
        files[FILE_OUT] =
            (struct pollfd){ .fd = alive && !behind ? child->out : -1, .events = POLLIN };
        files[FILE_ERR] =
            (struct pollfd){ .fd = alive && !behind ? child->err : -1, .events = POLLIN };
        files[FILE_IN] =
            (struct pollfd){ .fd = alive && sends ? child->in : -1, .events = POLLOUT };
    }
}

static double sooner(double one, double other)
{
    return one == 0 || (other > 0 && other < one) ? other : one;
}

static int milliseconds_until_due(struct work *work, double now)
{
    // They come one after the other.
    double due = work->hurry_until > 0 ? work->hurry_until
                 : work->hurry_at > 0  ? work->hurry_at
                                       : work->drain_until;
    for (size_t i = 0; i < work->slot_count; i++) {
        due = sooner(due, work_slot_due(&work->slots[i]));
    }
    for (size_t i = 0; i < work->runner_count; i++) {
        due = sooner(due, work_runner_due(&work->runners[i]));
    }
    double line = work_status_due(&work->status, now);
    due = line >= 0 ? sooner(due, now + line) : due;
    if (due == 0) {
        return -1;
    }
    return due <= now ? 0 : (int)fmin(ceil((due - now) * 1000), 60000);
}

static void see_files(struct work_runner *runner, const struct pollfd *files)
{
    // Any of these may close another.
    if (files[FILE_ERR].revents && runner->child.err >= 0) {
        work_runner_errors(runner);
    }
    if (files[FILE_OUT].revents && runner->child.out >= 0) {
        runner->work->model->readable(runner);
    }
    if (files[FILE_IN].revents && runner->child.in >= 0) {
        runner->work->model->writable(runner);
    }
    if (files[FILE_END].revents && runner->child.pid) {
        work_runner_exited(runner);
    }
}

static void see_slot(struct work_slot *slot, double now)
{
    if (atomic_load(&slot->settled)) {
        work_slot_settled(slot, now);
    }
    bool ours = slot->state == WORK_SLOT_RUNNING && slot->ending != WORK_ENDING_LOST;
    if (ours && sluice_job_lost(slot->job) != SLUICE_KEPT) {
        work_slot_end(slot, WORK_ENDING_LOST);
    }
    work_slot_tick(slot, now);
}

static struct work_slot *free_slot_of(const struct work_runner *runner)
{
    for (size_t i = 0; i < runner->slot_count; i++) {
        if (runner->slots[i].state == WORK_SLOT_FREE) {
            return &runner->slots[i];
        }
    }
    return NULL;
}

// There are as many as the taker has room and jobs. The process with the fewest jobs gets the next,
// one that gets no more only what no other has a slot for.
static struct work_slot *free_slot(struct work *work)
{
    struct work_slot *best = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < work->runner_count && least > 0; i++) {
        const struct work_runner *runner = &work->runners[i];
        struct work_slot *slot = free_slot_of(runner);
        size_t burden =
            work_runner_count(runner, work_slot_taken) + (runner->full ? runner->slot_count : 0);
        if (slot && burden < least) {
            best = slot;
            least = burden;
        }
    }
    return best;
}

static void assign_jobs(struct work *work)
{
    struct work_slot *slot;
    struct sluice_job *job;
    while ((slot = free_slot(work)) && (job = work_taker_next(&work->taker))) {
        work_slot_assign(slot, job);
    }
}

// Whether all is over.
static bool is_over(struct work *work, double now)
{
    if (atomic_load(&work->hurry) && now >= work->hurry_until) {
        work->abandoned = true;
        return true;
    }
    bool busy = !work_taker_ended(&work->taker), alive = false;
    for (size_t i = 0; i < work->slot_count; i++) {
        busy = busy || work_slot_taken(&work->slots[i]);
    }
    for (size_t i = 0; i < work->runner_count; i++) {
        alive = alive || work->runners[i].child.pid;
    }
    if (!busy && !work->closing) {
        work->closing = true;
        work_wake(work); // for the processes of the pool to be told
    }
    return !busy && !alive;
}

static void turn(struct work *work, struct pollfd *files)
{
    eventfd_t woken;
    double now = steady_now();
    gather(work, files);
    (void)poll(files, 1 + work->runner_count * FILES, milliseconds_until_due(work, now));
    (void)eventfd_read(work->wake, &woken);
    see_signals(work);
    for (size_t i = 0; i < work->runner_count; i++) {
        see_files(&work->runners[i], files + 1 + i * FILES);
    }
    now = steady_now();
    for (size_t i = 0; i < work->slot_count; i++) {
        see_slot(&work->slots[i], now);
    }
    for (size_t i = 0; i < work->runner_count; i++) {
        work_runner_tick(&work->runners[i], now);
    }
    assign_jobs(work);
    see_drain(work, now);
    work_status_draw(&work->status, now);
}

int work_loop(struct work *work)
{
    struct pollfd *files = tool_allocate((1 + work->runner_count * FILES) * sizeof(*files));
    work_wake(work); // the processes of a pool are started before there are jobs
    while (!is_over(work, steady_now())) {
        turn(work, files);
    }
    tool_free(files);
    work_status_end(&work->status, steady_now());
    return signal_count >= 2 || work->abandoned ? signal_last : 0;
}
