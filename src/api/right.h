// SPDX-License-Identifier: MIT
// What a user may do. A command needs one right (command_right); a user has a set of rights on a
// namespace, or on some of its queues.
//
//     read      read jobs, queues, workers and settings; receive events
//     put       put jobs
//     work      pop jobs, and settle jobs whose lease the caller holds, with its TOKEN
//     operate   change, cancel and delete jobs; pause queues; set limits, options, recurring jobs
//     write     read + put + work + operate
//     admin     all of these, and administration of the namespace or the server as a whole
#ifndef SLUICE_API_RIGHT_H
#define SLUICE_API_RIGHT_H

#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

struct command;

enum right {
    RIGHT_NONE = 0,
    RIGHT_READ = 1,
    RIGHT_PUT = 2,
    RIGHT_WORK = 4,
    RIGHT_OPERATE = 8,
    RIGHT_ADMIN = 16,
    RIGHTS_WRITE = RIGHT_READ | RIGHT_PUT | RIGHT_WORK | RIGHT_OPERATE,
    RIGHTS_ADMIN = RIGHTS_WRITE | RIGHT_ADMIN,
};

// The right that a command needs, from its flags. A command that writes needs `operate` unless its
// entry says otherwise.
enum right command_right(const struct command *command);

// Parses "put+work" as a set; false if it is malformed.
bool rights_parse(struct slice text, unsigned *out);

// The set as text, "put+work"; the name of one right.
enum {
    RIGHTS_TEXT_SIZE = 40,
};
const char *rights_format(unsigned rights, char text[RIGHTS_TEXT_SIZE]);

#endif
