// SPDX-License-Identifier: MIT
// The inside of a `struct sluice`, and how its typed calls ask.
#ifndef SLUICE_CLIENT_QUEUE_H
#define SLUICE_CLIENT_QUEUE_H

#include "client/fork.h"
#include "client/keeper.h"
#include "client/link.h"
#include "client/words.h"

#include <pthread.h>

enum {
    QUEUE_TEXTS_KEPT = 5,
};

struct sluice {
    struct fork_guard guard;
    struct link *link;
    struct commands *commands;
    struct url url; // for links of the library's own
    char ns[SLUICE_NAME_SIZE];
    char worker[SLUICE_NAME_SIZE];
    bool named; // the program has given the worker's name
    struct sluice_open_options given;
    char *kept[QUEUE_TEXTS_KEPT]; // texts of the options, owned
    int64_t timeout_us;
    pthread_mutex_t mutex;  // of the keepers
    struct keeper *keepers; // one for each name that jobs are held under
};

// Seconds as microseconds; SLUICE_FOREVER as LINK_FOREVER.
int64_t wait_us_of(double seconds);

// Opens another way to the same queue, whose calls take so long at most.
enum sluice_status queue_link(const struct sluice *sluice, int64_t timeout_us, struct link **out,
                              struct sluice_error *error);

// Opens the same queue once more, for calls of the library's own: with the same options, and another
// time limit. It does not need `from` any more.
enum sluice_status queue_copy(const struct sluice *from, int64_t timeout_us, struct sluice **out,
                              struct sluice_error *error);

// Tells the operator of the program.
void queue_log(const struct sluice *sluice, enum sluice_log_level level, const char *sentence);

// INVALID when a name is empty or too long. NULL: it is not given.
enum sluice_status check_name(const char *name, const char *what, struct sluice_error *error);

// Begins a command: its name and the namespace.
void queue_words(const struct sluice *sluice, struct words *words, const char *name);

// How a command is asked.
struct ask {
    int64_t wait_us;
    size_t wait_word;
    bool repeats;
};

// Asks it and releases the words. The message about a refusal names members and arguments of the C
// interface (members_translate), and not words of the command.
enum sluice_status queue_ask(struct sluice *sluice, struct words *words, const struct ask *ask,
                             struct sluice_value **out, struct sluice_error *error);

#endif
