// SPDX-License-Identifier: MIT
#include "client/pump.h"

#include "client/deadline.h"
#include "client/fork.h"
#include "client/memory.h"
#include "client/pause.h"
#include "os/thread.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    COUNT_MAX = 1000, // of events that are kept; later ones wait in the subscription
    SIZE_MAX_KEPT = 4 << 20,
    LOOK_US = 10000000, // the longest wait of the thread
};

struct kept {
    struct kept *next;
    size_t size;
    char json[]; // ends with a null byte
};

struct pump {
    struct fork_guard guard;
    bool orphan; // of a parent process: its thread is not in this one
    struct listening *listening;
    int link_wake; // what `wake` of the listening was
    int both;      // an epoll of `link_wake` and `stop`
    int stop;
    int event; // readable while there are events
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex;
    pthread_cond_t more, room;
    struct kept *first, **last;
    struct kept *heard; // the event that was returned last
    size_t count, size;
    bool stopping;
    bool failed; // after the kept events this error is returned, once
    struct sluice_error error;
};

// ---------------------------------------------------------------------------------------------
// The thread

static bool is_full(const struct pump *pump)
{
    return pump->failed || pump->count >= COUNT_MAX || pump->size >= SIZE_MAX_KEPT;
}

// With the mutex held.
static void keep(struct pump *pump, const char *json)
{
    size_t size = strlen(json);
    struct kept *kept = memory_alloc(sizeof(*kept) + size + 1);
    if (!kept) {
        pump->failed = true; // the event is lost
        (void)fault_no_memory(&pump->error);
        return;
    }
    kept->next = NULL;
    kept->size = size;
    memcpy(kept->json, json, size + 1);
    *pump->last = kept;
    pump->last = &kept->next;
    pump->count++;
    pump->size += size;
}

static void *run(void *context)
{
    struct pump *pump = context;
    pthread_setname_np(pthread_self(), "events");
    pthread_mutex_lock(&pump->mutex);
    while (!pump->stopping) {
        if (is_full(pump)) {
            pthread_cond_wait(&pump->room, &pump->mutex);
            continue;
        }
        struct sluice_error error = { .status = SLUICE_OK };
        const char *json = NULL;
        pthread_mutex_unlock(&pump->mutex);
        enum sluice_status status =
            pump->listening->ops->next(pump->listening, LOOK_US, &json, &error);
        pthread_mutex_lock(&pump->mutex);
        if (pump->stopping || status == SLUICE_TIMED_OUT) {
            continue;
        }
        if (status) {
            pump->failed = true;
            pump->error = error;
        } else {
            keep(pump, json);
        }
        wake_set(pump->event, true);
        pthread_cond_signal(&pump->more);
    }
    pthread_mutex_unlock(&pump->mutex);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Returning events

static enum sluice_status hear(struct pump *pump, const char **out, struct sluice_error *error)
{
    enum sluice_status status = SLUICE_OK;
    struct kept *kept = pump->first;
    if (kept) {
        pump->first = kept->next;
        pump->last = kept->next ? pump->last : &pump->first;
        pump->count--;
        pump->size -= kept->size;
        memory_free(pump->heard);
        pump->heard = kept;
        *out = kept->json;
    } else {
        pump->failed = false;
        status = fault(error, pump->error.status, "%s", pump->error.message);
    }
    if (!pump->first && !pump->failed) {
        wake_set(pump->event, false);
    }
    pthread_cond_signal(&pump->room);
    return status;
}

enum sluice_status pump_next(struct pump *pump, int64_t wait_us, const char **out,
                             struct sluice_error *error)
{
    int64_t deadline_us = deadline_of_call(wait_us);
    *out = NULL;
    if (pump->orphan) {
        return fault(
            error, SLUICE_STATE,
            "the events were subscribed to before fork() and belong to the parent process");
    }
    pthread_mutex_lock(&pump->mutex);
    bool late = false;
    while (!pump->first && !pump->failed && !late) {
        late = monotonic_us() >= deadline_us;
        if (!late && deadline_us == INT64_MAX) {
            pthread_cond_wait(&pump->more, &pump->mutex);
        } else if (!late) {
            (void)condition_wait_until(&pump->more, &pump->mutex, deadline_us);
        }
    }
    enum sluice_status status = late ? fault_timed_out(error) : hear(pump, out, error);
    pthread_mutex_unlock(&pump->mutex);
    return status;
}

int pump_fd(const struct pump *pump)
{
    return pump->event;
}

// ---------------------------------------------------------------------------------------------
// Life

// The subscription is woken by the interrupt of its link and by the end of the pump.
static bool watch_both(struct pump *pump)
{
    struct epoll_event what = { .events = EPOLLIN };
    return pump->both >= 0 && pump->stop >= 0 && pump->event >= 0 &&
           !epoll_ctl(pump->both, EPOLL_CTL_ADD, pump->link_wake, &what) &&
           !epoll_ctl(pump->both, EPOLL_CTL_ADD, pump->stop, &what);
}

static void close_all(const struct pump *pump)
{
    const int fds[] = { pump->both, pump->stop, pump->event };
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (fds[i] >= 0) {
            (void)close(fds[i]);
        }
    }
}

// The descriptor is readable in the child, whose next call then says why.
static void forget(struct fork_guard *guard)
{
    struct pump *pump = (struct pump *)((char *)guard - offsetof(struct pump, guard));
    pump->orphan = true;
    fork_renew_event(pump->event);
    wake_set(pump->event, true);
}

bool pump_free(struct pump *pump)
{
    if (!pump || pump->orphan) {
        return !pump;
    }
    fork_guard_remove(&pump->guard);
    if (pump->has_thread) {
        pthread_mutex_lock(&pump->mutex);
        pump->stopping = true;
        pthread_cond_signal(&pump->room);
        pthread_mutex_unlock(&pump->mutex);
        wake_set(pump->stop, true);
        (void)pthread_join(pump->thread, NULL);
    }
    pump->listening->wake = pump->link_wake;
    while (pump->first) {
        struct kept *kept = pump->first;
        pump->first = kept->next;
        memory_free(kept);
    }
    memory_free(pump->heard);
    close_all(pump);
    pthread_mutex_destroy(&pump->mutex);
    pthread_cond_destroy(&pump->more);
    pthread_cond_destroy(&pump->room);
    memory_free(pump);
    return true;
}

enum sluice_status pump_new(struct listening *listening, struct pump **out,
                            struct sluice_error *error)
{
    struct pump *pump = memory_zalloc(1, sizeof(*pump));
    if (!pump || pthread_mutex_init(&pump->mutex, NULL) || condition_init(&pump->more) ||
        condition_init(&pump->room)) {
        memory_free(pump);
        return fault_no_memory(error);
    }
    enum sluice_status status = SLUICE_OK;
    pump->listening = listening;
    pump->link_wake = listening->wake;
    pump->last = &pump->first;
    pump->both = epoll_create1(EPOLL_CLOEXEC);
    pump->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pump->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!watch_both(pump)) {
        status = fault(error, SLUICE_IO, "no event can be made: %s", strerror(errno));
    }
    if (!status) {
        listening->wake = pump->both;
        pump->has_thread = !thread_start(&pump->thread, run, pump);
        status = pump->has_thread
                     ? SLUICE_OK
                     : fault(error, SLUICE_NO_MEMORY, "no thread can be started for events");
    }
    if (status) {
        (void)pump_free(pump);
        return status;
    }
    fork_guard_add(&pump->guard, forget);
    *out = pump;
    return SLUICE_OK;
}
