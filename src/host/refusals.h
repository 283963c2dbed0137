// SPDX-License-Identifier: MIT
// The tasks that were refused when they were put, for some time: Fresnel's `invalid`. They are kept
// in memory only, the newest of each namespace name, whether or not the namespace exists: a refused
// task creates none.
//
// Many refused tasks displace those of their own namespace first. When there are too many in total,
// the namespace with the most of them loses its oldest one; names without a namespace, which cost a
// client nothing, lose theirs first.
#ifndef SLUICE_HOST_REFUSALS_H
#define SLUICE_HOST_REFUSALS_H

#include "api/call.h"

struct namespaces;

enum {
    REFUSALS_OF_NAMESPACE_MAX = 100,
    REFUSALS_MAX = 1000,          // of all namespaces
    REFUSAL_SENT_SIZE_MAX = 1024, // what was sent is truncated to so many bytes
};

struct refusal {
    struct refusal *newer, *older; // of the same namespace
    int64_t at_us;
    enum status status;
    size_t size; // of everything that was sent, in bytes
    size_t reason_size, sent_size;
    char text[]; // the message, then what was sent
};

static inline struct slice refusal_reason(const struct refusal *refusal)
{
    return slice_make(refusal->text, refusal->reason_size);
}

static inline struct slice refusal_sent(const struct refusal *refusal)
{
    return slice_make(refusal->text + refusal->reason_size, refusal->sent_size);
}

struct refused; // of one namespace

// The refused tasks of a host. All zeros is empty.
struct refusals {
    struct refused *first; // owned, in the order of creation
    size_t count;          // of refusals
};

// Records a refused task: the words that were sent, and the reason. Does nothing unless the task
// itself is invalid or exceeds a limit, or if there is no memory.
void refusals_note(struct namespaces *all, struct slice ns, int64_t now_us, struct slices sent,
                   const struct error *why);

// The same for a call; matches struct host (api/call.h).
void refusals_note_call(const struct call *call, struct slices words, const struct error *why);

// The newest refused task of a namespace, or NULL.
const struct refusal *refusals_newest(const struct namespaces *all, struct slice ns);

// Removes those of a namespace that is deleted; removes all of them.
void refusals_forget(struct namespaces *all, struct slice ns);
void refusals_release(struct namespaces *all);

#endif
