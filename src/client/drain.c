// SPDX-License-Identifier: MIT
// The handler may run in any thread at any time, also while the last
// user ends: the event that it writes to is therefore never closed. Each user watches the event
// with an edge-triggered epoll of its own.
#include "client/drain.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/types.h>
#include <unistd.h>

enum {
    SIGNAL_COUNT = 2,
};
static const int signals[SIGNAL_COUNT] = { SIGTERM, SIGINT };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned users;
static bool handled[SIGNAL_COUNT];
static struct sigaction before[SIGNAL_COUNT];
static _Atomic int event = -1;
static _Atomic pid_t owner; // the process that has made the event
static atomic_uint count;

// A child has inherited the handler, but the event belongs to the parent.
static void forward(int number)
{
    (void)sigaction(number, &before[number == signals[0] ? 0 : 1], NULL);
    (void)raise(number); // delivered when this handler returns
}

static void on_signal(int number)
{
    int error = errno;
    if (getpid() == atomic_load(&owner)) {
        atomic_fetch_add(&count, 1);
        (void)eventfd_write(atomic_load(&event), 1);
    } else {
        forward(number);
    }
    errno = error;
}

// Called with the mutex held. A signal that the program ignores stays ignored.
static void handle(void)
{
    const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        handled[i] = !sigaction(signals[i], NULL, &before[i]) && before[i].sa_handler != SIG_IGN &&
                     !sigaction(signals[i], &action, NULL);
    }
}

// Called with the mutex held. A handler that the program has set since stays.
static void restore(void)
{
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        struct sigaction now;
        if (handled[i] && !sigaction(signals[i], NULL, &now) && now.sa_handler == on_signal) {
            (void)sigaction(signals[i], &before[i], NULL);
        }
    }
}

// With the mutex held.
static bool have_event(void)
{
    if (atomic_load(&owner) != getpid()) {
        users = 0;
        atomic_store(&event, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        atomic_store(&owner, getpid());
    }
    return atomic_load(&event) >= 0;
}

static int watch(void)
{
    struct epoll_event what = { .events = EPOLLIN | EPOLLET };
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd >= 0 && epoll_ctl(fd, EPOLL_CTL_ADD, atomic_load(&event), &what)) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

int drain_begin(void)
{
    pthread_mutex_lock(&mutex);
    int fd = have_event() ? watch() : -1;
    if (fd >= 0 && users++ == 0) {
        handle();
    }
    pthread_mutex_unlock(&mutex);
    return fd;
}

unsigned drain_count(int fd)
{
    struct epoll_event what;
    (void)epoll_wait(fd, &what, 1, 0);
    return atomic_load(&count);
}

void drain_end(int fd)
{
    if (fd < 0) {
        return;
    }
    pthread_mutex_lock(&mutex);
    if (--users == 0) {
        restore();
    }
    (void)close(fd);
    pthread_mutex_unlock(&mutex);
}
