// SPDX-License-Identifier: MIT
// How a queue is reached: in this process (local.h) or on a server
// (remote.h). A link runs a command, given as words, and returns a value. Everything above it is
// the same for both.
#ifndef SLUICE_CLIENT_LINK_H
#define SLUICE_CLIENT_LINK_H

#include "api/command.h"
#include "client/fault.h"
#include "client/url.h"

#include <sluice/sluice.h>

struct link;

struct link_call {
    const struct command *command; // NULL: a command that is not in the tables
    struct slices words;           // the name, the namespace if it takes one, the arguments
    // How long it may wait for something to happen (LINK_FOREVER: as long as it takes), and which
    // of the words says so in seconds, for when it has to be said again; 0: none of them.
    int64_t wait_us;
    size_t wait_word;
    bool repeats; // may be asked again when it is not known whether it was done
    // A descriptor (0 is one like any other), or NULL. When it becomes readable the call ends at
    // once with INTERRUPTED, and its outcome does not matter. Used only where a server may fail to
    // answer.
    const int *stop;
};

#define LINK_FOREVER INT64_MAX

// A subscription. Each link puts this first in a struct of its own.
struct listening {
    const struct listening_ops *ops;
    int wake; // a descriptor that ends `next` when it is readable: the interrupt of the link
};

struct listening_ops {
    // Returns the next event: JSON that ends with a null byte, borrowed until the next call.
    enum sluice_status (*next)(struct listening *listening, int64_t wait_us, const char **out,
                               struct sluice_error *error);
    void (*free)(struct listening *listening);
};

struct link_ops {
    // The caller owns the answer. An answer that is an error becomes the status and the message.
    enum sluice_status (*call)(struct link *link, const struct link_call *call,
                               struct sluice_value **out, struct sluice_error *error);
    // `channel` is "log", "tracked" or "worker:NAME" of the namespace.
    enum sluice_status (*listen)(struct link *link, struct slice ns, struct slice channel,
                                 struct listening **out, struct sluice_error *error);
    // The offset of the queue's clock from clock_now_us (clock.h). NULL: the server must be asked.
    int64_t (*ahead_us)(struct link *link);
    // As sluice_interrupt, or with `all` as sluice_interrupt_all. May run in a signal handler.
    void (*interrupt)(struct link *link, bool on, bool all);
    void (*close)(struct link *link);
};

// Each kind puts this first in a struct of its own. All operations may run in any thread.
struct link {
    const struct link_ops *ops;
};

// The options of a link, borrowed while it is opened.
struct link_options {
    const struct url *url;
    int64_t timeout_us; // of a call, besides its wait; LINK_FOREVER: no limit
    const struct sluice_open_options *given;
};

enum sluice_status local_open(const struct link_options *options, struct link **out,
                              struct sluice_error *error);
enum sluice_status remote_open(const struct link_options *options, struct link **out,
                               struct sluice_error *error);

#endif
