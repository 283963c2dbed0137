// SPDX-License-Identifier: MIT
// The thread that takes jobs: as many at once as there is room for.
#include "cli/work/take.h"

#include "cli/core/steady.h"
#include "cli/work/loop.h"
#include "cli/work/work.h"
#include "os/thread.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <time.h>

enum {
    TAKE_MAX = 1000, // jobs of a call
};

static const double pause_s = 1; // before the queue is asked again that could not be reached

// From a thread of the library's. The loop asks each job what has become of it.
static void on_lost(void *context, struct sluice_job *job, enum sluice_loss why)
{
    (void)job;
    (void)why;
    work_wake(context);
}

// Waits until there is room, and gives how much: all of it, and how many may be taken. False: no
// more are.
static bool wait_for_room(struct work_taker *taker, size_t *room, size_t *most)
{
    pthread_mutex_lock(&taker->mutex);
    while (!taker->stop && taker->left != 0 && taker->room == 0) {
        pthread_cond_wait(&taker->changed, &taker->mutex);
    }
    *room = taker->room;
    *most = *room < TAKE_MAX ? *room : TAKE_MAX;
    if (taker->left >= 0 && (int64_t)*most > taker->left) {
        *most = (size_t)taker->left;
    }
    bool more = !taker->stop && *most > 0;
    pthread_mutex_unlock(&taker->mutex);
    return more;
}

static void hand_over(struct work_taker *taker, struct sluice_job **jobs, size_t count)
{
    struct work *work = taker->work;
    struct sluice_error error;
    for (size_t i = 0; i < count; i++) {
        if (sluice_keepalive(jobs[i], on_lost, work, &error)) {
            work_complain(&work->status, "the lease of job %s will not be renewed: %s",
                          sluice_job_jid(jobs[i]), error.message);
        }
    }
    pthread_mutex_lock(&taker->mutex);
    assert(count <= taker->room && taker->job_count + count <= taker->total);
    memcpy(taker->jobs + taker->job_count, jobs, count * sizeof(struct sluice_job *));
    taker->job_count += count;
    taker->room -= count;
    if (taker->left > 0) {
        taker->left -= (int64_t)count;
    }
    pthread_mutex_unlock(&taker->mutex);
    work_wake(work);
}

// There was nothing. That is the end if nothing ran; otherwise a job that did may come back, and is
// looked for when it has ended. `room` is from before. Whether to go on.
static bool nothing_there(struct work_taker *taker, size_t room)
{
    pthread_mutex_lock(&taker->mutex);
    bool more = room != taker->total;
    while (more && !taker->stop && taker->room == room) {
        pthread_cond_wait(&taker->changed, &taker->mutex);
    }
    pthread_mutex_unlock(&taker->mutex);
    return more;
}

static void rest(struct work_taker *taker)
{
    pthread_mutex_lock(&taker->mutex);
    if (!taker->stop) {
        (void)steady_cond_wait(&taker->changed, &taker->mutex, steady_now() + pause_s);
    }
    pthread_mutex_unlock(&taker->mutex);
}

bool work_error_is_temporary(enum sluice_status status)
{
    return status == SLUICE_UNREACHABLE || status == SLUICE_UNKNOWN || status == SLUICE_BUSY ||
           status == SLUICE_NO_SPACE;
}

// Who works on until stopped waits for the server to come back; who was to end with the jobs ends.
static bool refused(struct work_taker *taker, const struct sluice_error *error, bool said)
{
    const struct work_options *options = taker->work->options;
    // A job that does not fit a reply has to be removed by an operator; other jobs will come.
    bool passes = work_error_is_temporary(error->status) || error->status == SLUICE_TOO_LARGE;
    bool waits =
        passes && !options->once && !options->drain && !tool_given(taker->work->tool, "wait");
    if (!said) {
        work_complain(&taker->work->status, "%s%s", error->message, waits ? "; trying again" : "");
    }
    if (waits) {
        rest(taker);
        return true;
    }
    taker->exit_code = tool_exit_code(error->status);
    return false;
}

// In turn: the next take begins with the queue behind the one that the last job came from.
static void go_round(struct work_taker *taker, const struct sluice_job *last)
{
    size_t count = taker->work->options->queues.count, index = 0;
    const char *queue = sluice_job_queue(last);
    while (index < count && strcmp(taker->queues[index], queue) != 0) {
        index++;
    }
    for (size_t i = 0; index < count && i <= index; i++) {
        const char *first = taker->queues[0];
        memmove(taker->queues, taker->queues + 1, (count - 1) * sizeof(*taker->queues));
        taker->queues[count - 1] = first;
    }
}

static double wait_of(const struct work *work)
{
    if (work->options->once || work->options->drain) {
        return 0;
    }
    return tool_given(work->tool, "wait") ? work->options->wait : SLUICE_FOREVER;
}

// `said`: that the queue cannot be reached was said already.
static bool take_some(struct work_taker *taker, struct sluice_job **jobs, bool *said)
{
    struct work *work = taker->work;
    size_t room, most, taken = 0;
    if (!wait_for_room(taker, &room, &most)) {
        return false;
    }
    const struct sluice_take_options take =
        SLUICE_TAKE(.queues = taker->queues, .wait = wait_of(work),
                    .round_robin = work->options->round_robin, .best = work->options->best,
                    .lease = work->options->lease, .worker = work->worker);
    struct sluice_error error = { 0 };
    enum sluice_status status = sluice_take(work->queue, &take, jobs, most, &taken, &error);
    if (status == SLUICE_INTERRUPTED) {
        return true;
    }
    if (status == SLUICE_OK && taken) {
        *said = false;
        if (work->options->round_robin) {
            go_round(taker, jobs[taken - 1]);
        }
        hand_over(taker, jobs, taken);
        return true;
    }
    if (status == SLUICE_OK || status == SLUICE_TIMED_OUT) {
        return nothing_there(taker, room);
    }
    bool goes_on = refused(taker, &error, *said);
    *said = true;
    return goes_on;
}

static void *run(void *context)
{
    struct work_taker *taker = context;
    struct work *work = taker->work;
    struct sluice_job **jobs = tool_allocate(TAKE_MAX * sizeof(struct sluice_job *));
    bool said = false;
    (void)work_orphans_reap(&work->orphans, work->queue, work->options->grace, &work->status);
    while (take_some(taker, jobs, &said)) {
    }
    tool_free(jobs);
    pthread_mutex_lock(&taker->mutex);
    taker->ended = true;
    pthread_mutex_unlock(&taker->mutex);
    work_wake(work);
    return NULL;
}

bool work_taker_start(struct work_taker *taker, struct work *work)
{
    const struct texts *queues = &work->options->queues;
    *taker = (struct work_taker){
        .work = work,
        .room = work->slot_count,
        .total = work->slot_count,
        .left = work->options->count ? work->options->count : -1,
        .jobs = tool_allocate(work->slot_count * sizeof(struct sluice_job *)),
        .queues = tool_allocate((queues->count + 1) * sizeof(*queues->items)),
    };
    memcpy(taker->queues, queues->items, queues->count * sizeof(*queues->items));
    pthread_mutex_init(&taker->mutex, NULL);
    (void)condition_init(&taker->changed);
    return thread_start(&taker->thread, run, taker) == 0;
}

void work_taker_stop(struct work_taker *taker)
{
    pthread_mutex_lock(&taker->mutex);
    taker->stop = true;
    pthread_cond_signal(&taker->changed);
    pthread_mutex_unlock(&taker->mutex);
    sluice_interrupt(taker->work->queue, true);
}

void work_taker_join(struct work_taker *taker)
{
    (void)pthread_join(taker->thread, NULL);
    pthread_mutex_destroy(&taker->mutex);
    pthread_cond_destroy(&taker->changed);
}

void work_taker_allow(struct work_taker *taker)
{
    pthread_mutex_lock(&taker->mutex);
    taker->room++;
    assert(taker->room <= taker->total);
    pthread_cond_signal(&taker->changed);
    pthread_mutex_unlock(&taker->mutex);
}

struct sluice_job *work_taker_next(struct work_taker *taker)
{
    struct sluice_job *job = NULL;
    pthread_mutex_lock(&taker->mutex);
    if (taker->job_count) {
        job = taker->jobs[0];
        memmove(taker->jobs, taker->jobs + 1, --taker->job_count * sizeof(struct sluice_job *));
    }
    pthread_mutex_unlock(&taker->mutex);
    return job;
}

bool work_taker_ended(struct work_taker *taker)
{
    pthread_mutex_lock(&taker->mutex);
    bool ended = taker->ended && taker->job_count == 0;
    pthread_mutex_unlock(&taker->mutex);
    return ended;
}
