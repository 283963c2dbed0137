// SPDX-License-Identifier: MIT
// A folder that is open in this process: its store, the engines of its namespaces, and a thread
// that does what falls due. All who open the same folder share one of these.
//
// One mutex is around the engines. A call is a turn of its own; what it has changed is appended to
// the store before the mutex is let go, and waited for after that:
//
//      thread 1:  lock, run, append, unlock | wait -----------------> told
//      thread 2:          lock, run, append, unlock | wait ---------> told
//      store:                        both in one group: write, sync --^
//
// So threads share syncs, and no caller gets a reply that could still be lost.
#ifndef SLUICE_CLIENT_FOLDER_H
#define SLUICE_CLIENT_FOLDER_H

#include "host/commands/services.h"
#include "host/host_clock.h"
#include "host/presence.h"
#include "os/random_source.h"

#include <sluice/sluice.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

struct local_call;
struct listener;
struct zoneinfo;

// A handle that has opened the folder; `log` receives what the program's operator should know.
struct folder_user {
    struct folder_user *next;
    void (*log)(void *context, enum sluice_log_level level, const char *sentence); // may be NULL
    void *log_context;
};

struct folder {
    struct folder *next; // all of the process
    size_t user_count;
    dev_t device;
    ino_t inode;
    unsigned process; // which one opened it, see folder_is_ours
    enum store_durability durability;
    int64_t interval_us;
    struct store *store;
    struct commands *commands;
    struct zoneinfo *zones;
    pthread_t thread;
    bool has_thread;
    int wake; // an event: the thread has to look again

    pthread_mutex_t users_mutex;
    struct folder_user *users;

    pthread_mutex_t mutex; // around all that follows
    struct host_clock clock;
    struct namespaces namespaces;
    struct services services;
    struct random_source random;
    struct scratch scratch;      // of the command that is run
    uint64_t number;             // the last one given to a call
    struct local_call *answered; // in this turn, of those who waited
    struct listener *listeners;
    int64_t due_us; // when the thread looks by itself
    bool removing;  // it looks after what deleted namespaces left
    bool working;   // some thread does work that takes long
    bool stopping;
    bool stuck;  // nothing can be stored in this turn, nor what is due happen
    bool failed; // what the engines hold will never be stored
    struct error why;
    size_t busy_count;   // who wait for the disk
    pthread_cond_t busy; // tells them
};

struct folder_options {
    const char *path;
    bool existing; // it is not made
    enum store_durability durability;
    int64_t interval_us;
};

// The workers that have popped through a handle, which is about to be closed, listen no more.
void folder_leave(struct folder *folder, struct presences *presences);

// BUSY when another process has it open; STATE when this one has, with another durability;
// NOT_FOUND when there is no queue and none is to be made. The user stays where it is until it
// closes.
MUST_USE enum status folder_open(const struct folder_options *options, struct folder_user *user,
                                 struct folder **out, struct error *error);
// With the last one all is brought to disk.
void folder_close(struct folder *folder, struct folder_user *user);

// Whether this process opened it: after a fork() the child must not use it.
bool folder_is_ours(const struct folder *folder);
MUST_USE enum status folder_check_process(const struct folder *folder, struct error *error);

// From any thread.
void folder_log(struct folder *folder, enum sluice_log_level level, const char *sentence);

// ---------------------------------------------------------------------------------------------
// With the mutex held

int64_t folder_now(const struct folder *folder);

// How far its time is ahead of the clock that is never set (CLOCK_BOOTTIME). Takes the mutex.
int64_t folder_ahead_us(struct folder *folder);

// The beginning of a turn: looks at the store.
enum store_state folder_begin_turn(struct folder *folder, struct error *why);

// The beginning of a command's turn: whether the store takes what it may have to store. While the
// disk is behind this waits, up to the deadline (as monotonic_us has it).
MUST_USE enum status folder_admit(struct folder *folder, const struct command *command,
                                  int64_t deadline_us, struct error *error);

// The end of a turn: serves who waits, appends what has changed, tells those who were answered.
// Gives what folder_settle has to wait for.
uint64_t folder_end_turn(struct folder *folder);

// The thread has to look at what there is to do.
void folder_wake(const struct folder *folder);

// ---------------------------------------------------------------------------------------------
// Without it

// Waits until the replies of a group may be returned. BUSY when the deadline comes first; it is
// unknown then whether the changes will be stored. With any other error they will never be stored.
MUST_USE enum status folder_settle(struct folder *folder, uint64_t group, int64_t deadline_us,
                                   struct error *error);

// What the thread does (folder_thread.c).
void *folder_look_after(void *context);

#endif
