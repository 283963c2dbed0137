// SPDX-License-Identifier: MIT
// The tasks that were refused when they were put, for a while: Fresnel's `invalid`. They are kept
// in memory only, the newest of each namespace, whether there is such a namespace or not: a refused
// task creates none.
//
// A flood of refused tasks drives out those of its own namespace first. When there are too many in
// all, the namespace with the most of them loses its oldest; namespaces that do not exist, whose
// names cost nothing, lose theirs before all others.
#ifndef SLUICE_HOST_REFUSALS_H
#define SLUICE_HOST_REFUSALS_H

#include "api/call.h"

struct namespaces;

enum {
    REFUSALS_OF_NAMESPACE_MAX = 100,
    REFUSALS_MAX = 1000,          // of all namespaces
    REFUSAL_SENT_SIZE_MAX = 1024, // what was sent is cut to so many bytes
};

struct refusal {
    struct refusal *newer, *older; // of the same namespace
    int64_t at_us;
    enum status status;
    size_t size; // of all that was sent, in bytes
    size_t reason_size, sent_size;
    char text[]; // the reason, then what was sent
};

static inline struct slice refusal_reason(const struct refusal *refusal)
{
    return slice_make(refusal->text, refusal->reason_size);
}

static inline struct slice refusal_sent(const struct refusal *refusal)
{
    return slice_make(refusal->text + refusal->reason_size, refusal->sent_size);
}

struct refused; // of a namespace

// Of a host. Zeroed it is empty.
struct refusals {
    struct refused *first; // owned, in the order in which they were made
    size_t count;          // of refusals
};

// Keeps a refused task: the words that were sent, and why. Does nothing unless the task itself is
// wrong or exceeds a limit, and nothing for want of memory.
void refusals_note(struct namespaces *all, struct slice ns, int64_t now_us, struct slices sent,
                   const struct error *why);

// The same for a call; fits struct host (api/call.h).
void refusals_note_call(const struct call *call, struct slices words, const struct error *why);

// The newest of a namespace, or NULL.
const struct refusal *refusals_newest(const struct namespaces *all, struct slice ns);

// Forgets those of a namespace, which is deleted; all of them.
void refusals_forget(struct namespaces *all, struct slice ns);
void refusals_release(struct namespaces *all);

#endif
