// SPDX-License-Identifier: MIT
// The plan of a push: which jobs are pushed where, and how. It is parsed from arguments, which come
// from a command, the config file or the store. One table of arguments parses all of them.
//
//     PATTERN HREF [CONCURRENCY n] [TIMEOUT s] [HEADER 'Name: value']... [SECRET s] ...
#ifndef SLUICE_SERVER_PUSH_RULES_PLAN_H
#define SLUICE_SERVER_PUSH_RULES_PLAN_H

#include "base/glob.h"
#include "host/commands/push_commands.h"

enum {
    PUSH_PLAN_SIZE_MAX = 32768, // bytes of all arguments, so that as JSON they fit into a note
    PUSH_HEADER_SIZE_MAX = 8192,
};

struct push_plan {
    struct push_arguments given; // with defaults applied; borrows from `words`
    struct slices words;         // borrows from `room`
    void *room;                  // owned
    size_t room_size;
    struct scratch scratch;
    struct glob *klasses; // the compiled pattern; owned
};

// Copies and parses the arguments: INVALID or TOO_LARGE with a message that shows no secret. When
// it fails there is nothing to release.
MUST_USE enum status push_plan_init(struct push_plan *plan, const struct allocator *allocator,
                                    struct slices words, struct error *error);
void push_plan_release(struct push_plan *plan);

// INVALID if the host of the address is a private address or localhost. What a name resolves to is
// checked when a connection is made (address.h).
MUST_USE enum status push_plan_check_public(const struct push_plan *plan, struct error *error);

// Writes the arguments as a JSON array; reads such an array, which must have passed json_validate,
// with push_plan_init.
void push_words_write(struct slices words, struct buffer *out);
MUST_USE enum status push_plan_read(struct push_plan *plan, const struct allocator *allocator,
                                    struct slice json, struct error *error);

// Writes the arguments as in a config file, with "(hidden)" for secrets.
void push_words_show(struct slices words, struct buffer *out);

// A value of the setting `push` as one text: the namespace and the arguments. It has passed
// push_plan_init when it is split again; `json` is for push_plan_read.
void push_item_write(struct slice ns, struct slices words, struct buffer *out);
void push_item_split(struct slice item, struct slice *ns, struct slice *json);
// Writes the value as push_words_show does.
void push_item_show(struct slice item, struct buffer *out);

// How well the plan fits a job of that klass in that queue: SIZE_MAX for a pattern without
// wildcards, otherwise more for a longer pattern. 0: the plan is not for the job.
size_t push_plan_fit(const struct push_plan *plan, struct slice queue, struct slice klass);

#endif
