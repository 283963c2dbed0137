// SPDX-License-Identifier: MIT
#include "client/keeper.h"

#include "base/json_reader.h"
#include "client/clock.h"
#include "client/fork.h"
#include "client/job.h"
#include "client/memory.h"
#include "client/pause.h"
#include "client/value.h"
#include "os/clock.h"
#include "os/thread.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    BEATS_MAX = 256,       // in one command
    BEATS_OF_A_LEASE = 3,  // heartbeats in the time of a lease
    SLACK_US = 50000,      // heartbeats that are due so soon are sent together
    PAUSE_US = 200000,     // before another attempt to reach the server
    PATIENCE_US = 5000000, // time limit of a call
    DEAF_US = 60000000,    // between attempts to subscribe where that is not permitted
    COMPARE_US = 30000000, // maximum age of a comparison of the clocks: the queue's may be set
};

static const double lease_max_us = 1e15; // longer leases are cut to this

struct keeper {
    struct fork_guard guard;
    bool orphan; // of a parent process: its thread is not in this one
    struct keeper *next;
    struct sluice *sluice;
    struct link *link; // of its own: interrupts of the program do not reach it
    struct listening *listening;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t told;
    struct sluice_job *first;
    struct sluice_job *telling; // its callback is running
    uint64_t numbers;
    bool stopping;
    int stop; // an event that is readable when the keeper stops; it ends the current call
    int64_t deaf_until_us;
    bool has_clock;      // the offset below is known
    int64_t ahead_us;    // offset of the queue's clock from clock_now_us
    int64_t compared_us; // when the clocks were compared
    char worker[SLUICE_NAME_SIZE];
};

// ---------------------------------------------------------------------------------------------
// Times

static enum sluice_status ask_clock(struct keeper *keeper, struct clock_ahead *out)
{
    const struct link_call call = { .repeats = true, .stop = &keeper->stop };
    if (keeper->link->ops->ahead_us) {
        out->least_us = out->most_us = keeper->link->ops->ahead_us(keeper->link);
        return SLUICE_OK;
    }
    return clock_ask(keeper->link, &call, out);
}

static void compare_clocks(struct keeper *keeper)
{
    struct clock_ahead ahead;
    bool known = !ask_clock(keeper, &ahead);
    pthread_mutex_lock(&keeper->mutex); // other threads may add a job meanwhile
    keeper->compared_us = monotonic_us();
    if (known) {
        keeper->ahead_us = ahead.least_us + (ahead.most_us - ahead.least_us) / 2;
        keeper->has_clock = true;
    }
    pthread_mutex_unlock(&keeper->mutex);
}

// The time of the next heartbeat, as monotonic_us. A queue that cannot be asked is assumed to have
// the clock of this machine.
static int64_t due_us(const struct keeper *keeper, double expires)
{
    int64_t ahead_us = keeper->has_clock ? keeper->ahead_us : clock_assume().least_us;
    double left_us = fmin(expires * 1e6 - (double)(clock_now_us() + ahead_us), lease_max_us);
    return monotonic_us() + (left_us > 0 ? (int64_t)left_us / BEATS_OF_A_LEASE : 0);
}

static bool clock_is_old(const struct keeper *keeper)
{
    return keeper->first && keeper->has_clock && monotonic_us() - keeper->compared_us > COMPARE_US;
}

static void refresh_clock(struct keeper *keeper)
{
    pthread_mutex_unlock(&keeper->mutex);
    compare_clocks(keeper);
    pthread_mutex_lock(&keeper->mutex);
    for (struct sluice_job *job = keeper->first; job; job = job->kept.next) {
        int64_t fresh_us = due_us(keeper, job->expires);
        if (job->kept.due_us > monotonic_us()) { // a job that is due now stays due
            job->kept.due_us = fresh_us;
        }
    }
}

static int64_t first_due_us(const struct keeper *keeper)
{
    int64_t first_us = INT64_MAX;
    for (const struct sluice_job *job = keeper->first; job; job = job->kept.next) {
        first_us = job->kept.due_us < first_us ? job->kept.due_us : first_us;
    }
    return first_us;
}

// ---------------------------------------------------------------------------------------------
// The list of jobs, with the mutex held

static void enlist(struct keeper *keeper, struct sluice_job *job)
{
    assert(!job->kept.listed);
    job->kept.previous = NULL;
    job->kept.next = keeper->first;
    if (keeper->first) {
        keeper->first->kept.previous = job;
    }
    keeper->first = job;
    job->kept.listed = true;
}

static void delist(struct keeper *keeper, struct sluice_job *job)
{
    if (!job->kept.listed) {
        return;
    }
    *(job->kept.previous ? &job->kept.previous->kept.next : &keeper->first) = job->kept.next;
    if (job->kept.next) {
        job->kept.next->kept.previous = job->kept.previous;
    }
    job->kept.listed = false;
}

// Calls the callback of a job without the mutex: the program may be in a call about the job.
static void tell(struct keeper *keeper, struct sluice_job *job, enum sluice_loss why)
{
    int kept = SLUICE_KEPT;
    delist(keeper, job);
    (void)atomic_compare_exchange_strong(&job->lost, &kept, (int)why);
    if (!job->kept.told) {
        return;
    }
    keeper->telling = job;
    pthread_mutex_unlock(&keeper->mutex);
    job->kept.told(job->kept.context, job, why);
    pthread_mutex_lock(&keeper->mutex);
    keeper->telling = NULL;
    pthread_cond_broadcast(&keeper->told);
}

// ---------------------------------------------------------------------------------------------
// Heartbeats

// A heartbeat that is being sent. The job may be freed meanwhile: the batch is held, and the number
// tells whether a job in the list is still the same one.
struct beat {
    struct batch *batch;
    const struct sluice_value *value;
    uint64_t number;
};

struct beats {
    struct beat items[BEATS_MAX];
    size_t count;
};

static void gather(struct keeper *keeper, struct beats *beats)
{
    int64_t until_us = monotonic_us() + SLACK_US;
    beats->count = 0;
    for (struct sluice_job *job = keeper->first; job && beats->count < BEATS_MAX;
         job = job->kept.next) {
        if (job->kept.due_us <= until_us) {
            atomic_fetch_add(&job->batch->jobs, 1);
            beats->items[beats->count++] =
                (struct beat){ job->batch, job->value, job->kept.number };
            job->kept.beat = beats->count;
        }
    }
}

static enum sluice_status ask(struct keeper *keeper, const struct beats *beats,
                              struct sluice_value **answer)
{
    struct words words;
    queue_words(keeper->sluice, &words, "Q.MHEARTBEAT");
    for (size_t i = 0; i < beats->count; i++) {
        const struct beat *beat = &beats->items[i];
        words_integer(&words, 4);
        words_text(&words, sluice_value_text(sluice_value_get(beat->value, "jid"), NULL));
        words_text(&words, beat->batch->worker);
        words_text(&words, "TOKEN");
        words_integer(&words, sluice_value_integer(sluice_value_get(beat->value, "token")));
    }
    const struct link_call call = {
        .command = commands_find(keeper->sluice->commands, SLICE("Q.MHEARTBEAT")),
        .words = { words.items, words.count },
        .repeats = true,
        .stop = &keeper->stop,
    };
    *answer = NULL;
    enum sluice_status status = words.failed
                                    ? SLUICE_NO_MEMORY
                                    : keeper->link->ops->call(keeper->link, &call, answer, NULL);
    words_release(&words);
    return status;
}

// Returns a job whose heartbeat was sent and whose answer was not handled yet, or NULL.
static struct sluice_job *find_beaten(const struct keeper *keeper, const struct beats *beats,
                                      size_t *index)
{
    for (struct sluice_job *job = keeper->first; job; job = job->kept.next) {
        size_t beat = job->kept.beat;
        job->kept.beat = 0;
        if (beat && beats->items[beat - 1].number == job->kept.number) {
            *index = beat - 1;
            return job;
        }
    }
    return NULL;
}

static void hear(struct keeper *keeper, struct sluice_job *job, const struct sluice_value *answer)
{
    enum sluice_type type = sluice_value_type(answer);
    enum sluice_loss loss = loss_of(sluice_value_status(answer));
    if (type == SLUICE_NUMBER || type == SLUICE_INTEGER) {
        job->expires = sluice_value_number(answer);
        job->kept.due_us = due_us(keeper, job->expires);
    } else {
        job->kept.due_us = monotonic_us() + PAUSE_US;
    }
    if (loss != SLUICE_KEPT && !job->kept.settling) {
        tell(keeper, job, loss);
    }
}

static void beat(struct keeper *keeper)
{
    struct beats beats;
    struct sluice_value *answer;
    struct sluice_job *job;
    size_t index = 0;
    gather(keeper, &beats);
    pthread_mutex_unlock(&keeper->mutex);
    enum sluice_status status = ask(keeper, &beats, &answer);
    if (!status) {
        compare_clocks(keeper); // the queue's clock may have been set since
    }
    pthread_mutex_lock(&keeper->mutex);
    while ((job = find_beaten(keeper, &beats, &index))) {
        hear(keeper, job, status ? NULL : sluice_value_at(answer, index));
    }
    sluice_value_free(answer);
    for (size_t i = 0; i < beats.count; i++) {
        batch_leave(beats.items[i].batch);
    }
}

// ---------------------------------------------------------------------------------------------
// Listening

// Makes a heartbeat due now: of the named job, or of all jobs if the jid is unknown.
static void suspect(struct keeper *keeper, struct slice jid)
{
    for (struct sluice_job *job = keeper->first; job; job = job->kept.next) {
        if (jid.size == 0 || json_string_is(jid, slice_from_cstr(sluice_job_jid(job)))) {
            job->kept.due_us = 0;
        }
    }
}

// The jid in an event, as JSON with its quotes.
static struct slice jid_of(const char *event)
{
    struct json_reader reader;
    struct json_member member;
    if (json_reader_init_object(&reader, slice_from_cstr(event), NULL)) {
        return SLICE_EMPTY;
    }
    while (json_reader_next(&reader, &member)) {
        if (json_string_is(member.key, SLICE("jid"))) {
            return member.value.raw;
        }
    }
    return SLICE_EMPTY;
}

static bool may_change_soon(enum sluice_status status)
{
    return status == SLUICE_UNREACHABLE || status == SLUICE_BUSY || status == SLUICE_INTERRUPTED;
}

// The clocks are compared also if the server does not permit the subscription.
static enum sluice_status begin_listening(struct keeper *keeper)
{
    char channel[SLUICE_NAME_SIZE + 8];
    (void)snprintf(channel, sizeof(channel), "worker:%s", keeper->worker);
    enum sluice_status status =
        keeper->link->ops->listen(keeper->link, slice_from_cstr(keeper->sluice->ns),
                                  slice_from_cstr(channel), &keeper->listening, NULL);
    if (status) {
        keeper->listening = NULL;
    }
    if (!may_change_soon(status)) {
        compare_clocks(keeper);
    }
    return status;
}

// Waits for an event, without the mutex.
static enum sluice_status listen(struct keeper *keeper, int64_t wait_us, const char **event)
{
    *event = NULL;
    return keeper->listening->ops->next(keeper->listening, wait_us, event, NULL);
}

// Without a subscription only heartbeats tell about a loss.
static void sleep_deaf(struct keeper *keeper, int64_t wait_us)
{
    int64_t until_us = monotonic_us() + (wait_us < DEAF_US ? wait_us : DEAF_US);
    (void)condition_wait_until(&keeper->told, &keeper->mutex, until_us);
}

static void listen_until(struct keeper *keeper, int64_t until_us)
{
    int64_t now_us = monotonic_us();
    int64_t wait_us = until_us == INT64_MAX ? LINK_FOREVER : until_us - now_us;
    if (!keeper->listening && now_us < keeper->deaf_until_us) {
        sleep_deaf(keeper, wait_us);
        return;
    }
    const char *event = NULL;
    bool began = !keeper->listening;
    pthread_mutex_unlock(&keeper->mutex);
    enum sluice_status status = began ? begin_listening(keeper) : listen(keeper, wait_us, &event);
    pthread_mutex_lock(&keeper->mutex);
    if (status == SLUICE_INTERRUPTED) {
        keeper->link->ops->interrupt(keeper->link, false, false);
    } else if (began && may_change_soon(status)) {
        keeper->deaf_until_us = monotonic_us() + PAUSE_US;
    } else if (began) {
        keeper->deaf_until_us = status ? monotonic_us() + DEAF_US : 0;
        suspect(keeper, SLICE_EMPTY); // events before the subscription were missed
    } else if (!status && event) {
        suspect(keeper, jid_of(event));
    } else if (status && status != SLUICE_TIMED_OUT) {
        sleep_deaf(keeper, PAUSE_US);
    }
}

static void *run(void *context)
{
    struct keeper *keeper = context;
    pthread_setname_np(pthread_self(), "keeper");
    pthread_mutex_lock(&keeper->mutex);
    while (!keeper->stopping) {
        if (clock_is_old(keeper)) {
            refresh_clock(keeper);
            continue;
        }
        int64_t first_us = first_due_us(keeper);
        if (first_us <= monotonic_us()) {
            beat(keeper);
        } else {
            listen_until(keeper, first_us);
        }
    }
    pthread_mutex_unlock(&keeper->mutex);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Keepers

// Called with the mutex held.
static void wake(struct keeper *keeper)
{
    pthread_cond_broadcast(&keeper->told);
    keeper->link->ops->interrupt(keeper->link, true, false);
}

static bool init_waiting(struct keeper *keeper)
{
    return !pthread_mutex_init(&keeper->mutex, NULL) && !condition_init(&keeper->told);
}

// The keeper goes on in the parent. Its copy in the child is neither used nor freed: the thread may
// have been changing any of it.
static void forget(struct fork_guard *guard)
{
    ((struct keeper *)((char *)guard - offsetof(struct keeper, guard)))->orphan = true;
}

// The keeper of a job in this process, or NULL.
static struct keeper *keeper_of(struct sluice_job *job)
{
    if (job->kept.keeper && job->kept.keeper->orphan) {
        job->kept = (struct kept){ .keeper = NULL };
    }
    return job->kept.keeper;
}

// Frees a keeper whose thread has ended or was not started.
static void keeper_free(struct keeper *keeper)
{
    fork_guard_remove(&keeper->guard);
    if (keeper->listening) {
        keeper->listening->ops->free(keeper->listening);
    }
    if (keeper->link) {
        keeper->link->ops->close(keeper->link);
    }
    if (keeper->stop >= 0) {
        close(keeper->stop);
    }
    pthread_mutex_destroy(&keeper->mutex);
    pthread_cond_destroy(&keeper->told);
    memory_free(keeper);
}

static enum sluice_status keeper_new(struct sluice *sluice, const char *worker, struct keeper **out,
                                     struct sluice_error *error)
{
    struct keeper *keeper = memory_zalloc(1, sizeof(*keeper));
    if (!keeper || !init_waiting(keeper)) {
        memory_free(keeper);
        return fault_no_memory(error);
    }
    keeper->sluice = sluice;
    (void)snprintf(keeper->worker, sizeof(keeper->worker), "%s", worker);
    keeper->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int64_t patience_us = sluice->timeout_us < PATIENCE_US ? sluice->timeout_us : PATIENCE_US;
    enum sluice_status status =
        keeper->stop < 0 ? fault(error, SLUICE_IO, "no event can be made: %s", strerror(errno))
                         : queue_link(sluice, patience_us, &keeper->link, error);
    if (!status && thread_start(&keeper->thread, run, keeper)) {
        status = fault(error, SLUICE_NO_MEMORY, "no thread can be started to keep jobs");
    }
    if (status) {
        keeper_free(keeper);
        return status;
    }
    fork_guard_add(&keeper->guard, forget);
    *out = keeper;
    return SLUICE_OK;
}

static enum sluice_status find_keeper(struct sluice *sluice, const char *worker,
                                      struct keeper **out, struct sluice_error *error)
{
    enum sluice_status status = SLUICE_OK;
    pthread_mutex_lock(&sluice->mutex);
    struct keeper *keeper = sluice->keepers;
    while (keeper && strcmp(keeper->worker, worker) != 0) {
        keeper = keeper->next;
    }
    if (!keeper) {
        status = keeper_new(sluice, worker, &keeper, error);
        if (keeper) {
            keeper->next = sluice->keepers;
            sluice->keepers = keeper;
        }
    }
    pthread_mutex_unlock(&sluice->mutex);
    *out = keeper;
    return status;
}

enum sluice_status keeper_add(struct sluice_job *job,
                              void (*told)(void *context, struct sluice_job *job,
                                           enum sluice_loss why),
                              void *context, struct sluice_error *error)
{
    struct keeper *keeper;
    enum sluice_status status = find_keeper(job->sluice, sluice_job_worker(job), &keeper, error);
    if (status || !keeper) {
        return status;
    }
    (void)keeper_of(job);
    pthread_mutex_lock(&keeper->mutex);
    job->kept.keeper = keeper;
    job->kept.told = told;
    job->kept.context = context;
    if (!job->kept.listed) {
        job->kept.number = ++keeper->numbers;
        job->kept.due_us = due_us(keeper, job->expires);
        job->kept.settling = false;
        enlist(keeper, job);
        wake(keeper);
    }
    pthread_mutex_unlock(&keeper->mutex);
    return SLUICE_OK;
}

void keeper_set_settling(struct sluice_job *job, bool settling)
{
    struct keeper *keeper = keeper_of(job);
    if (keeper) {
        pthread_mutex_lock(&keeper->mutex);
        job->kept.settling = settling;
        pthread_mutex_unlock(&keeper->mutex);
    }
}

void keeper_remove(struct sluice_job *job)
{
    struct keeper *keeper = keeper_of(job);
    if (!keeper) {
        return;
    }
    pthread_mutex_lock(&keeper->mutex);
    delist(keeper, job);
    while (keeper->telling == job && !pthread_equal(pthread_self(), keeper->thread)) {
        pthread_cond_wait(&keeper->told, &keeper->mutex);
    }
    pthread_mutex_unlock(&keeper->mutex);
    job->kept.keeper = NULL;
}

static void stop(struct keeper *keeper)
{
    pthread_mutex_lock(&keeper->mutex);
    keeper->stopping = true;
    wake_set(keeper->stop, true);
    wake(keeper);
    pthread_mutex_unlock(&keeper->mutex);
    pthread_join(keeper->thread, NULL);
}

void keepers_free(struct sluice *sluice)
{
    while (sluice->keepers) {
        struct keeper *keeper = sluice->keepers;
        sluice->keepers = keeper->next;
        stop(keeper);
        keeper_free(keeper);
    }
}
