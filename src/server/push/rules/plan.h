// SPDX-License-Identifier: MIT
// Where jobs of a klass are pushed to, and how: the words of a push, be they from a command, a
// config file or the store. One table of arguments reads them all.
//
//     PATTERN HREF [CONCURRENCY n] [TIMEOUT s] [HEADER 'Name: value']... [SECRET s] ...
#ifndef SLUICE_SERVER_PUSH_RULES_PLAN_H
#define SLUICE_SERVER_PUSH_RULES_PLAN_H

#include "base/glob.h"
#include "host/commands/push_commands.h"

enum {
    PUSH_PLAN_SIZE_MAX = 32768, // bytes of all words, so that as JSON they fit into a note
    PUSH_HEADER_SIZE_MAX = 8192,
};

struct push_plan {
    struct push_arguments given; // with the defaults in it; borrowed from what follows
    struct slices words;         // in `room`
    void *room;                  // owned
    size_t room_size;
    struct scratch scratch;
    struct glob *klasses; // the pattern, compiled; owned
};

// Reads the words, of which it keeps copies, and checks them: INVALID or TOO_LARGE with a sentence
// that shows no secret. When it fails there is nothing to release.
MUST_USE enum status push_plan_init(struct push_plan *plan, const struct allocator *allocator,
                                    struct slices words, struct error *error);
void push_plan_release(struct push_plan *plan);

// INVALID when the host of the href is a private address or localhost. What a name leads to is only
// known when a connection is made (push_address.h).
MUST_USE enum status push_plan_check_public(const struct push_plan *plan, struct error *error);

// The words as a JSON array, and back: `push_plan_init` after json_validate.
void push_words_write(struct slices words, struct buffer *out);
MUST_USE enum status push_plan_read(struct push_plan *plan, const struct allocator *allocator,
                                    struct slice json, struct error *error);

// The words as in a config file, with "(hidden)" for secrets.
void push_words_show(struct slices words, struct buffer *out);

// A value of the setting `push`: the namespace and the words behind it, as one text. It has passed
// push_plan_init when it is split again: `json` is for push_plan_read.
void push_item_write(struct slice ns, struct slices words, struct buffer *out);
void push_item_split(struct slice item, struct slice *ns, struct slice *json);
// The same as push_words_show.
void push_item_show(struct slice item, struct buffer *out);

// Whether a job of that klass in that queue is for it, and how well the pattern fits: a name that
// is meant as it stands best, else the longer the better. 0: it is not.
size_t push_plan_fit(const struct push_plan *plan, struct slice queue, struct slice klass);

#endif
