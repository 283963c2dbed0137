// SPDX-License-Identifier: MIT
// A process that works on a store until it is killed, and what it says about it while it does. Each
// message is written whole, before or after what it is about, so that the reader knows
// after a kill what must be in the store and what may be.
#ifndef SLUICE_TESTS_CRASH_KILL_H
#define SLUICE_TESTS_CRASH_KILL_H

#include "store/store.h"

#include <stdint.h>

// In the root.
#define CHILD_STORE   "store"
#define CHILD_BACKUPS "backups"

enum {
    CHILD_PIPE = 3, // the descriptor that it writes its messages to
    CHILD_BACKUPS_MAX = 2,
};

enum message_kind {
    MESSAGE_OPENS,        // it is about to open the store
    MESSAGE_OPENED,       // with a digest of what was in it
    MESSAGE_SUBMITTED,    // step n is about to be appended; the digest after it
    MESSAGE_ACKNOWLEDGED, // step n is durable
    MESSAGE_BACKUP,       // backup n is about to be made
    MESSAGE_BACKED_UP,    // backup n is made
    MESSAGE_CLOSES,       // the store is about to be closed
    MESSAGE_CLOSED,
};

struct message {
    uint64_t kind;
    uint64_t n;
    uint64_t digest;
};

struct child_options {
    const char *root; // a folder; in it are the store, and backups/ for backups 0, 1, ...
    uint64_t seed;
    enum store_durability durability;
    uint64_t steps;   // after so many it closes the store and ends
    uint64_t kill_at; // the call that changes files at which it kills itself, from 1 on; 0: none
};

// How the store is opened, by the child and by the parent, which looks at it later: small and busy.
struct store_options kill_store_options(const char *path, enum store_durability durability);

// The arguments of a program that is to be the child, and back. The strings belong to `arguments`.
enum {
    CHILD_ARGUMENTS = 7,
    CHILD_ARGUMENT_SIZE = 512,
};

struct child_arguments {
    char bytes[CHILD_ARGUMENTS][CHILD_ARGUMENT_SIZE];
    char *list[CHILD_ARGUMENTS + 1];
};

void child_write_arguments(const struct child_options *options, struct child_arguments *out);
bool child_read_arguments(int count, char **list, struct child_options *out);

// The child's life. Gives its exit code. `arm`, if given, is called before the store is opened.
int child_run(const struct child_options *options,
              void (*arm)(const struct child_options *options));

#endif
