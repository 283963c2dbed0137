// SPDX-License-Identifier: MIT
// The thread of a folder: does work that falls due, removes the rest
// of deleted namespaces, and wakes the calls that wait for the disk when it has caught up.
#include "client/folder.h"
#include "os/clock.h"

#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>

enum {
    LOOK_US = HOST_CLOCK_CHECK_US, // the longest sleep while something is due later
};

static void check_clock(struct folder *folder)
{
    struct clock_news news = namespaces_check_clock(&folder->namespaces, host_clock_look());
    if (news.change != CLOCK_STEADY) {
        char sentence[128];
        (void)snprintf(sentence, sizeof(sentence), "clock step wall=%+.1fs action=%s",
                       (double)news.step_us / 1e6, clock_change_word(news.change));
        folder_log(folder, SLUICE_LOG_WARNING, sentence);
    }
}

// Removes a part at a time. No event tells when the list of what to remove is ready, so it is
// polled.
static int64_t remove_some(struct folder *folder, int64_t now_us)
{
    struct error error;
    bool more;
    if (!folder->namespaces.removals) {
        folder->removing = false;
        return INT64_MAX;
    }
    if (namespaces_remove(&folder->namespaces, &more, &error)) {
        char sentence[512];
        (void)snprintf(sentence, sizeof(sentence),
                       "what a deleted namespace left stays for now: %s", error_sentence(&error));
        folder_log(folder, SLUICE_LOG_WARNING, sentence);
        more = false;
    }
    folder->removing = folder->namespaces.removals;
    return more ? now_us : folder->removing ? now_us + LOOK_US : INT64_MAX;
}

// Returns when the next turn is due. Work that falls due must be stored too, and is delayed while
// the store accepts nothing.
static int64_t turn(struct folder *folder, int64_t now_us)
{
    struct error error;
    enum store_state state = folder_begin_turn(folder, &error);
    if (state != STORE_READY && state != STORE_FULL) {
        folder->due_us = state == STORE_FAILED ? INT64_MAX : now_us + LOOK_US;
        (void)folder_end_turn(folder); // for calls that end with the failure
        return folder->due_us;
    }
    int64_t remove_us = remove_some(folder, now_us);
    namespaces_measure(&folder->namespaces, now_us);
    int64_t due_us = namespaces_tick(&folder->namespaces, now_us);
    folder->due_us = due_us < remove_us ? due_us : remove_us;
    (void)folder_end_turn(folder);
    return folder->due_us;
}

// Sleeps for `left_us`, until it is woken, or until a sync ends while a call waits for the disk
// (`disk`).
static void rest(struct folder *folder, int64_t left_us, bool disk)
{
    eventfd_t count;
    struct pollfd of[2] = { { .fd = folder->wake, .events = POLLIN },
                            { .fd = store_event(folder->store), .events = POLLIN } };
    const struct timespec timeout = timespec_from_us(left_us);
    (void)ppoll(of, disk ? 2 : 1, left_us == INT64_MAX ? NULL : &timeout, NULL);
    (void)eventfd_read(folder->wake, &count);
    if (disk) {
        store_event_clear(folder->store);
    }
}

static int64_t time_left(const struct folder *folder, int64_t next_us, int64_t now_us)
{
    if (next_us == INT64_MAX && !folder->clock.pending_us && !folder->namespaces.set_back_us) {
        return INT64_MAX;
    }
    int64_t left_us = next_us > now_us ? next_us - now_us : 0;
    return left_us < LOOK_US ? left_us : LOOK_US;
}

void *folder_look_after(void *context)
{
    struct folder *folder = context;
    pthread_mutex_lock(&folder->mutex);
    while (!folder->stopping) {
        check_clock(folder);
        int64_t now_us = folder_now(folder);
        int64_t left_us = time_left(folder, turn(folder, now_us), now_us);
        bool disk = folder->busy_count > 0;
        pthread_mutex_unlock(&folder->mutex);
        rest(folder, left_us, disk);
        pthread_mutex_lock(&folder->mutex);
        if (disk) {
            (void)pthread_cond_broadcast(&folder->busy);
        }
    }
    pthread_mutex_unlock(&folder->mutex);
    return NULL;
}
