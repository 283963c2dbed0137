// SPDX-License-Identifier: MIT
// What a fork() means for objects of the library. The child has copies
// of them, but none of the helper threads, and shares the parent's descriptors. Each object that
// owns a connection, an event, a lock or a thread has a guard, by which the child lets go of the
// parent's part before fork() returns there:
//
//     fork() --> every guard, in the child: `forget` --> fork() returns
//
// The list of guards is locked while a process forks, so that it is never seen half changed.
#ifndef SLUICE_CLIENT_FORK_H
#define SLUICE_CLIENT_FORK_H

#include <pthread.h>

struct fork_guard {
    struct fork_guard *next, *previous;
    // Runs in the child, which has one thread then. It may close descriptors and initialize locks,
    // but neither allocate nor free, and cannot rely on what another thread of the parent was
    // changing.
    void (*forget)(struct fork_guard *guard);
};

void fork_guard_add(struct fork_guard *guard, void (*forget)(struct fork_guard *guard));
void fork_guard_remove(struct fork_guard *guard);

// For `forget`: gives an eventfd of the parent a new one of the child under the same number, not
// readable.
void fork_renew_event(int fd);
// For `forget`: a lock that a thread of the parent may have held.
void fork_renew_mutex(pthread_mutex_t *renewed);

// Around a call of libc that takes a lock which fork() does not renew: a fork waits for its end.
void fork_hold(void);
void fork_release(void);

#endif
