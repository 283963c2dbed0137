// SPDX-License-Identifier: MIT
// What a worker that was killed leaves behind on its host: processes, folders and leases. A folder
// of the user's, `state`, has one folder for each worker that runs or was killed:
//
//     state/lock            held while folders are made and claimed
//     state/worker-XXXXXX/
//         lock              held as long as the worker lives
//         queue             the address without its password, and the namespace
//         run-N             what runs in slot N, or behind the slots the folder of a process:
//                           one line each, a word and a value
//
// A worker that starts claims the folders of the dead that worked for the same queue, ends what
// still runs, gives the jobs back for a retry at once, and removes the folders.
#ifndef SLUICE_CLI_WORK_ORPHANS_H
#define SLUICE_CLI_WORK_ORPHANS_H

#include "cli/core/cli.h"

#include <stdbool.h>
#include <sys/types.h>

struct work_status;

// A process, and its job or none: then its token is 0. All are owned by who made it.
struct work_run {
    pid_t pid;
    uint64_t start; // of the process, in ticks since the system's start
    int64_t token;
    char *jid, *worker; // or NULL
    char *mark;         // the value of its variable SLUICE_RUN, which its own processes inherit
    char *sandbox;      // or NULL
};

struct work_orphans {
    char *state, *folder; // owned
    int lock;             // of our folder
    char *boot;           // which start of the system this is
    char **claimed;       // folders of the dead
    int *claimed_locks;
    size_t claimed_count;
};

// Makes our folder and claims those of the dead. `state` NULL: the user's default. False: a
// sentence in `error`, for tool_free.
bool work_orphans_open(struct work_orphans *orphans, const char *state, const char *queue,
                       char **error);
// Removes our folder.
void work_orphans_close(struct work_orphans *orphans);

// Notes what runs in a slot; NULL: nothing any more.
void work_orphans_note(const struct work_orphans *orphans, size_t slot, const struct work_run *run);

// Deals with what the dead have left. It calls the queue. Gives how many jobs were given back.
size_t work_orphans_reap(struct work_orphans *orphans, struct sluice *queue, double grace,
                         struct work_status *status);

// A record as text; for tool_free.
char *work_run_write(const struct work_run *run, const char *boot);
// False: the text is none, or not whole. `boot` becomes which start of the system it was of.
bool work_run_read(const char *text, struct work_run *run, char **boot);
void work_run_release(struct work_run *run);

#endif
