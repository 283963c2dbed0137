// SPDX-License-Identifier: MIT
#include "client/fork.h"

#include <assert.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t held = PTHREAD_RWLOCK_INITIALIZER; // written by a fork
static pthread_once_t watched = PTHREAD_ONCE_INIT;
static struct fork_guard *guards;

static void before_fork(void)
{
    pthread_rwlock_wrlock(&held);
    pthread_mutex_lock(&mutex);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_unlock(&held);
}

// The thread of the child is the one that has taken both locks.
static void after_fork_in_child(void)
{
    for (struct fork_guard *guard = guards; guard; guard = guard->next) {
        guard->forget(guard);
    }
    pthread_mutex_unlock(&mutex);
    (void)pthread_rwlock_init(&held, NULL); // the lock knows its writer by the parent's thread id
}

static void watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void fork_guard_add(struct fork_guard *guard, void (*forget)(struct fork_guard *guard))
{
    (void)pthread_once(&watched, watch_forks);
    pthread_mutex_lock(&mutex);
    assert(!guard->forget);
    *guard = (struct fork_guard){ .next = guards, .forget = forget };
    if (guards) {
        guards->previous = guard;
    }
    guards = guard;
    pthread_mutex_unlock(&mutex);
}

void fork_guard_remove(struct fork_guard *guard)
{
    pthread_mutex_lock(&mutex);
    if (guard->forget) {
        *(guard->previous ? &guard->previous->next : &guards) = guard->next;
        if (guard->next) {
            guard->next->previous = guard->previous;
        }
        guard->forget = NULL;
    }
    pthread_mutex_unlock(&mutex);
}

void fork_renew_event(int fd)
{
    int fresh = fd >= 0 ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    if (fresh >= 0) {
        (void)dup3(fresh, fd, O_CLOEXEC);
        (void)close(fresh);
    }
}

void fork_renew_mutex(pthread_mutex_t *renewed)
{
    (void)pthread_mutex_init(renewed, NULL);
}

void fork_hold(void)
{
    pthread_rwlock_rdlock(&held);
}

void fork_release(void)
{
    pthread_rwlock_unlock(&held);
}
