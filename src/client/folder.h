// SPDX-License-Identifier: MIT
// A folder that is open in this process: its store, the engines of its
// namespaces, and a thread that does work that falls due. All handles of the same folder share one
// struct folder.
//
// One mutex protects the engines. Each call is a turn. Its changes are appended to the store before
// the mutex is released, and the call waits for them afterwards:
//
//      thread 1:  lock, run, append, unlock | wait -----------------> told
//      thread 2:          lock, run, append, unlock | wait ---------> told
//      store:                        both in one group: write, sync --^
//
// Threads share syncs, and no caller gets a reply that could still be lost.
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

// A handle that has opened the folder. `log` receives messages for the operator of the program.
struct folder_user {
    struct folder_user *next;
    void (*log)(void *context, enum sluice_log_level level, const char *sentence); // may be NULL
    void *log_context;
};

struct folder {
    struct folder *next; // list of the folders of the process
    size_t user_count;
    dev_t device;
    ino_t inode;
    unsigned process; // the process that has opened it, see folder_is_ours
    enum store_durability durability;
    int64_t interval_us;
    struct store *store;
    struct commands *commands;
    struct zoneinfo *zones;
    pthread_t thread;
    bool has_thread;
    int wake; // an event that wakes the thread

    pthread_mutex_t users_mutex;
    struct folder_user *users;

    pthread_mutex_t mutex; // protects all members below
    struct host_clock clock;
    struct namespaces namespaces;
    struct services services;
    struct random_source random;
    struct scratch scratch;      // of the running command
    uint64_t number;             // of the last call
    struct local_call *answered; // waiting calls that were answered in this turn
    struct listener *listeners;
    int64_t due_us; // when the thread wakes by itself
    bool removing;  // the rest of deleted namespaces is being removed
    bool working;   // a thread does long work, such as a backup
    bool stopping;
    bool stuck;  // the store accepts nothing in this turn: work that is due is delayed
    bool failed; // the store has failed: the state of the engines will never be stored
    struct error why;
    size_t busy_count;   // calls that wait for the disk
    pthread_cond_t busy; // signaled when the disk has caught up
};

struct folder_options {
    const char *path;
    bool existing; // NOT_FOUND if it does not exist
    enum store_durability durability;
    int64_t interval_us;
};

// Ends the presence of the workers that have popped through a handle that is being closed.
void folder_leave(struct folder *folder, struct presences *presences);

// BUSY: another process has the folder open. STATE: this process has it open with another
// durability. NOT_FOUND: there is no queue, and `existing` is set. `user` must stay at its address
// until folder_close.
MUST_USE enum status folder_open(const struct folder_options *options, struct folder_user *user,
                                 struct folder **out, struct error *error);
// The last user brings everything to disk.
void folder_close(struct folder *folder, struct folder_user *user);

// Whether this process has opened the folder: after fork() the child must not use it.
bool folder_is_ours(const struct folder *folder);
MUST_USE enum status folder_check_process(const struct folder *folder, struct error *error);

// From any thread.
void folder_log(struct folder *folder, enum sluice_log_level level, const char *sentence);

// ---------------------------------------------------------------------------------------------
// With the mutex held

int64_t folder_now(const struct folder *folder);

// The offset of the folder's time from CLOCK_BOOTTIME. Takes the mutex.
int64_t folder_ahead_us(struct folder *folder);

// Begins a turn: reads the state of the store.
enum store_state folder_begin_turn(struct folder *folder, struct error *why);

// Begins the turn of a command. Fails if the store cannot accept its changes. Waits up to the
// deadline (of monotonic_us) while the disk is behind.
MUST_USE enum status folder_admit(struct folder *folder, const struct command *command,
                                  int64_t deadline_us, struct error *error);

// Ends a turn: serves waiting calls, appends the changes, wakes the calls that were answered.
// Returns the commit group that folder_settle waits for.
uint64_t folder_end_turn(struct folder *folder);

// Wakes the thread.
void folder_wake(const struct folder *folder);

// ---------------------------------------------------------------------------------------------
// Without the mutex

// Waits until the replies of a commit group may be returned. BUSY: the deadline has passed, and the
// changes may still be stored. Any other error: they will never be stored.
MUST_USE enum status folder_settle(struct folder *folder, uint64_t group, int64_t deadline_us,
                                   struct error *error);

// The thread's function (folder_thread.c). Its context is the folder.
void *folder_look_after(void *context);

#endif
