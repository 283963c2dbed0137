// SPDX-License-Identifier: MIT
// The inside of a `struct sluice`, and how typed calls run commands.
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
    struct url url; // for other links to the same queue
    char ns[SLUICE_NAME_SIZE];
    char worker[SLUICE_NAME_SIZE];
    bool named; // the program has given the worker's name
    struct sluice_open_options given;
    char *kept[QUEUE_TEXTS_KEPT]; // owned texts of the options
    int64_t timeout_us;
    pthread_mutex_t mutex;  // protects `keepers`
    struct keeper *keepers; // one for each worker name
};

// Seconds as microseconds; SLUICE_FOREVER as LINK_FOREVER.
int64_t wait_us_of(double seconds);

// Opens another link to the same queue, with its own time limit.
enum sluice_status queue_link(const struct sluice *sluice, int64_t timeout_us, struct link **out,
                              struct sluice_error *error);

// Opens the same queue again for calls of the library: with the same options and another time
// limit. It does not depend on `from` afterwards.
enum sluice_status queue_copy(const struct sluice *from, int64_t timeout_us, struct sluice **out,
                              struct sluice_error *error);

// Passes a message to the operator of the program.
void queue_log(const struct sluice *sluice, enum sluice_log_level level, const char *sentence);

// INVALID: the name is empty or too long. NULL is allowed.
enum sluice_status check_name(const char *name, const char *what, struct sluice_error *error);

// Begins the words of a command: its name and the namespace.
void queue_words(const struct sluice *sluice, struct words *words, const char *name);

// How a command is run; see struct link_call.
struct ask {
    int64_t wait_us;
    size_t wait_word;
    bool repeats;
};

// Runs a command and releases the words. The message of a refusal names members and arguments of
// the C interface (members_translate).
enum sluice_status queue_ask(struct sluice *sluice, struct words *words, const struct ask *ask,
                             struct sluice_value **out, struct sluice_error *error);

#endif
