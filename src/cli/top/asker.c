// SPDX-License-Identifier: MIT
#include "cli/top/asker.h"

#include "cli/core/cli.h"
#include "cli/core/steady.h"
#include "cli/top/top_time.h"
#include "os/thread.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

enum {
    ORDERS_MAX = 8,
};

#define PAUSE_AFTER_ERROR_S 0.5

struct asker {
    struct sluice *queue;
    void (*wake)(void);
    pthread_t thread;
    pthread_mutex_t mutex; // of all that follows
    pthread_cond_t changed;
    atomic_bool stop;
    bool now;
    double interval;
    struct look_wish wish;
    struct order orders[ORDERS_MAX];
    size_t order_count;
    struct asker_news news;
};

// With the mutex. Until it is time to look, or there is something else to do.
static void wait_until(struct asker *asker, double due)
{
    int over = 0;
    while (!over && !asker->now && !asker->order_count && !atomic_load(&asker->stop)) {
        over = steady_cond_wait(&asker->changed, &asker->mutex, due);
    }
}

// With the mutex, which is free while it asks.
static void run_order(struct asker *asker)
{
    struct order order = asker->orders[0];
    asker->order_count--;
    memmove(asker->orders, asker->orders + 1, asker->order_count * sizeof(order));
    asker->news.asking = steady_now();
    pthread_mutex_unlock(&asker->mutex);
    char note[TOP_TEXT_SIZE] = "";
    bool good = order_run(asker->queue, &order, note, sizeof(note));
    pthread_mutex_lock(&asker->mutex);
    asker->news.asking = 0;
    memcpy(asker->news.note, note, sizeof(note));
    asker->news.note_good = good;
    // What it has changed is seen at once.
    asker->now = true;
    asker->wake();
}

// The same. Returns when to look again.
static double run_look(struct asker *asker)
{
    struct look_wish wish = asker->wish;
    asker->now = false;
    asker->news.asking = steady_now();
    pthread_mutex_unlock(&asker->mutex);
    struct look *look = look_take(asker->queue, &wish, &asker->stop);
    pthread_mutex_lock(&asker->mutex);
    asker->news.asking = 0;
    look_free(asker->news.look);
    asker->news.look = look;
    asker->wake();
    bool failed = look->error.status;
    return steady_now() + (failed && asker->interval > PAUSE_AFTER_ERROR_S ? PAUSE_AFTER_ERROR_S
                                                                           : asker->interval);
}

static void *run(void *context)
{
    struct asker *asker = context;
    double due = 0;
    pthread_mutex_lock(&asker->mutex);
    while (!atomic_load(&asker->stop)) {
        if (asker->order_count) {
            run_order(asker);
        } else if (asker->now || steady_now() >= due) {
            due = run_look(asker);
        } else {
            wait_until(asker, due);
        }
    }
    pthread_mutex_unlock(&asker->mutex);
    return NULL;
}

// Signals are for the thread that looks after the terminal.
static int start_thread(struct asker *asker)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = thread_start(&asker->thread, run, asker);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

struct asker *asker_new(struct sluice *queue, const struct look_wish *wish, double interval,
                        void (*wake)(void))
{
    struct asker *asker = tool_allocate(sizeof(*asker));
    asker->queue = queue;
    asker->wish = *wish;
    asker->interval = interval;
    asker->wake = wake;
    (void)condition_init(&asker->changed);
    (void)pthread_mutex_init(&asker->mutex, NULL);
    if (start_thread(asker)) {
        tool_free(asker);
        return NULL;
    }
    return asker;
}

void asker_free(struct asker *asker)
{
    if (!asker) {
        return;
    }
    pthread_mutex_lock(&asker->mutex);
    atomic_store(&asker->stop, true);
    pthread_cond_signal(&asker->changed);
    pthread_mutex_unlock(&asker->mutex);
    sluice_interrupt(asker->queue, true);
    (void)pthread_join(asker->thread, NULL);
    sluice_interrupt(asker->queue, false);
    look_free(asker->news.look);
    (void)pthread_cond_destroy(&asker->changed);
    (void)pthread_mutex_destroy(&asker->mutex);
    tool_free(asker);
}

void asker_wish(struct asker *asker, const struct look_wish *wish, double interval, bool now)
{
    pthread_mutex_lock(&asker->mutex);
    asker->wish = *wish;
    asker->interval = interval;
    asker->now = asker->now || now;
    if (now) {
        pthread_cond_signal(&asker->changed);
    }
    pthread_mutex_unlock(&asker->mutex);
}

bool asker_order(struct asker *asker, const struct order *order)
{
    pthread_mutex_lock(&asker->mutex);
    bool room = asker->order_count < ORDERS_MAX;
    if (room) {
        asker->orders[asker->order_count++] = *order;
        pthread_cond_signal(&asker->changed);
    }
    pthread_mutex_unlock(&asker->mutex);
    return room;
}

void asker_news(struct asker *asker, struct asker_news *news)
{
    pthread_mutex_lock(&asker->mutex);
    *news = asker->news;
    asker->news.look = NULL;
    *asker->news.note = 0;
    pthread_mutex_unlock(&asker->mutex);
}
