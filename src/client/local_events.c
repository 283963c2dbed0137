// SPDX-License-Identifier: MIT
// Each listener has a bounded queue of events. A listener that is too
// slow receives the events in its queue, then a gap, then later events. Namespaces of qless clients
// have the same events as all others.
#include "client/local_events.h"

#include "client/deadline.h"
#include "client/local.h"
#include "client/local_call.h"
#include "host/event_json.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    QUEUE_COUNT_MAX = 65536,
    QUEUE_SIZE_MAX = 64 << 20,
    EVENT_JSON_MAX = 64 << 20, // a value of the configuration may be large
};

struct told {
    struct told *next;
    uint64_t group; // must be durable before the event is returned
    size_t size;
    char json[]; // with a 0 behind it
};

struct listener {
    struct listening listening; // first
    struct local *local;
    struct listener *next;      // next listener of the folder
    struct told *first, **last; // events that were not returned yet
    struct told **pending;      // the first event of the current turn
    struct told *heard;         // the event that was returned last
    size_t count, size;         // of events that were not returned yet
    bool early;                 // the next event is not durable yet
    bool gap;                   // events after the last one are missing
    int event;                  // readable while there are events
    unsigned channels;          // of enum event_channel
    size_t ns_size, worker_size;
    char *worker;
    char names[]; // the namespace's, the worker's
};

// ---------------------------------------------------------------------------------------------
// Publishing, with the mutex held

static bool concerns(const struct listener *listener, const struct ns *ns,
                     const struct event *event)
{
    return (event->channels & listener->channels) &&
           slice_equal(ns_name(ns), slice_make(listener->names, listener->ns_size)) &&
           (listener->channels != EVENT_TO_WORKER ||
            slice_equal(event->worker, slice_make(listener->worker, listener->worker_size)));
}

static bool has_room(const struct listener *listener, size_t size)
{
    return !listener->gap && listener->count < QUEUE_COUNT_MAX &&
           size <= QUEUE_SIZE_MAX - listener->size;
}

static void add(struct listener *listener, struct slice json)
{
    struct told *told = NULL;
    if (has_room(listener, json.size)) {
        told = mem_alloc(&allocator_system, sizeof(*told) + json.size + 1);
    }
    if (!told) {
        listener->gap = true;
        return;
    }
    *told = (struct told){ .size = json.size };
    memcpy(told->json, json.data, json.size);
    told->json[json.size] = '\0';
    *listener->last = told;
    listener->last = &told->next;
    listener->count++;
    listener->size += json.size;
}

void listeners_event(void *context, struct ns *ns, const struct event *event)
{
    const struct folder *folder = context;
    struct buffer json = { 0 };
    for (struct listener *listener = folder->listeners; listener; listener = listener->next) {
        if (!concerns(listener, ns, event)) {
            continue;
        }
        if (json.size == 0) {
            buffer_init(&json, &allocator_system, EVENT_JSON_MAX);
            event_json(event, &json);
        }
        if (json.status) {
            listener->gap = true;
        } else {
            add(listener, buffer_slice(&json));
        }
    }
    if (json.size || json.status) {
        buffer_release(&json);
    }
}

void listeners_tell(struct folder *folder, uint64_t group)
{
    for (struct listener *listener = folder->listeners; listener; listener = listener->next) {
        bool more = *listener->pending || (listener->gap && !listener->first);
        for (struct told *told = *listener->pending; told; told = told->next) {
            told->group = group;
        }
        listener->pending = listener->last;
        if (more) {
            (void)eventfd_write(listener->event, 1);
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Hearing

static void forget(struct told *told)
{
    if (told) {
        mem_free(&allocator_system, told, sizeof(*told) + told->size + 1);
    }
}

// The next one becomes what is heard. False when there is none; `*gap`: in its place.
static bool take(struct listener *listener, bool *gap)
{
    struct told *told = listener->first;
    *gap = !told && listener->gap;
    if (*gap) {
        listener->gap = false;
        return true;
    }
    if (!told) {
        eventfd_t count;
        (void)eventfd_read(listener->event, &count);
        return false;
    }
    listener->first = told->next;
    if (!told->next) {
        listener->last = listener->pending = &listener->first;
    }
    listener->count--;
    listener->size -= told->size;
    forget(listener->heard);
    listener->heard = told;
    return true;
}

// The next one, if there is one and it may be heard by then. TIMED_OUT otherwise.
static enum sluice_status hear(struct listener *listener, int64_t deadline_us, const char **out,
                               struct sluice_error *error)
{
    struct folder *folder = listener->local->folder;
    struct error why;
    bool gap = false;
    pthread_mutex_lock(&folder->mutex);
    bool taken = listener->early || take(listener, &gap);
    pthread_mutex_unlock(&folder->mutex);
    if (!taken) {
        return SLUICE_TIMED_OUT;
    }
    if (gap) {
        *out = "{\"event\":\"gap\"}";
        return SLUICE_OK;
    }
    enum status status = folder_settle(folder, listener->heard->group, deadline_us, &why);
    listener->early = status == STATUS_BUSY;
    if (status) {
        return listener->early ? SLUICE_TIMED_OUT : fault_of(error, &why);
    }
    *out = listener->heard->json;
    return SLUICE_OK;
}

static enum sluice_status next(struct listening *listening, int64_t wait_us, const char **out,
                               struct sluice_error *error)
{
    struct listener *listener = (struct listener *)(void *)listening;
    const struct local *local = listener->local;
    struct error why;
    if (folder_check_process(local->folder, &why)) {
        return fault_of(error, &why);
    }
    if (wait_us && atomic_load_explicit(&local->interrupted, memory_order_relaxed)) {
        return fault_interrupted(error);
    }
    int64_t deadline_us = deadline_of_call(wait_us);
    for (;;) {
        enum sluice_status status = hear(listener, deadline_us, out, error);
        if (status != SLUICE_TIMED_OUT) {
            return status;
        }
        if (listener->early) {
            return fault_timed_out(error);
        }
        switch (sleep_until(listener->event, listening->wake, deadline_us)) {
        case WAKEUP_EVENT:
            break;
        case WAKEUP_INTERRUPT:
            return fault_interrupted(error);
        case WAKEUP_TIME:
            return fault_timed_out(error);
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Its life

static void listener_free(struct listening *listening)
{
    struct listener *listener = (struct listener *)(void *)listening;
    struct folder *folder = listener->local->folder;
    if (folder_is_ours(folder)) {
        pthread_mutex_lock(&folder->mutex);
        struct listener **at = &folder->listeners;
        while (*at != listener) {
            at = &(*at)->next;
        }
        *at = listener->next;
        pthread_mutex_unlock(&folder->mutex);
    }
    while (listener->first) {
        struct told *told = listener->first;
        listener->first = told->next;
        forget(told);
    }
    forget(listener->heard);
    (void)close(listener->event);
    mem_free(&allocator_system, listener,
             sizeof(*listener) + listener->ns_size + listener->worker_size);
}

static const struct listening_ops listener_form = { next, listener_free };

// What a channel is for, and the worker that it names. 0: there is no such channel.
static unsigned channel_of(struct slice name, struct slice *worker)
{
    *worker = SLICE_EMPTY;
    if (slice_equal(name, SLICE("log"))) {
        return EVENT_TO_LOG | EVENT_TO_WATCHER;
    }
    if (slice_equal(name, SLICE("tracked"))) {
        return EVENT_TO_TRACKER;
    }
    if (slice_starts_with(name, SLICE("worker:"))) {
        *worker = slice_sub(name, sizeof("worker:") - 1, SIZE_MAX);
    }
    return worker->size ? EVENT_TO_WORKER : 0;
}

static struct listener *listener_new(struct local *local, struct slice ns, unsigned channels,
                                     struct slice worker)
{
    struct listener *listener =
        mem_zalloc(&allocator_system, sizeof(*listener) + ns.size + worker.size);
    if (!listener) {
        return NULL;
    }
    listener->listening.ops = &listener_form;
    listener->listening.wake = local->interrupt;
    listener->local = local;
    listener->last = listener->pending = &listener->first;
    listener->channels = channels;
    listener->ns_size = ns.size;
    listener->worker_size = worker.size;
    listener->worker = listener->names + ns.size;
    memcpy(listener->names, ns.data, ns.size);
    if (worker.size) {
        memcpy(listener->worker, worker.data, worker.size);
    }
    return listener;
}

enum sluice_status local_listen(struct link *link, struct slice ns, struct slice channel,
                                struct listening **out, struct sluice_error *error)
{
    struct local *local = local_of(link);
    struct error why;
    struct slice worker;
    unsigned channels = channel_of(channel, &worker);
    if (folder_check_process(local->folder, &why)) {
        return fault_of(error, &why);
    }
    if (!channels) {
        return fault(error, SLUICE_INVALID,
                     "there is no channel \"%.*s\": it is log, tracked or worker:NAME",
                     SLICE_PRINT(slice_shown(channel)));
    }
    struct listener *listener = listener_new(local, ns, channels, worker);
    if (!listener) {
        return fault_no_memory(error);
    }
    listener->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (listener->event < 0) {
        int number = errno;
        mem_free(&allocator_system, listener, sizeof(*listener) + ns.size + worker.size);
        return fault(error, SLUICE_IO, "no event can be made: %s", strerrordesc_np(number));
    }
    pthread_mutex_lock(&local->folder->mutex);
    listener->next = local->folder->listeners;
    local->folder->listeners = listener;
    pthread_mutex_unlock(&local->folder->mutex);
    *out = &listener->listening;
    return SLUICE_OK;
}
