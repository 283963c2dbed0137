// SPDX-License-Identifier: MIT
// The members of structs of options, as tables: the name of each in C
// and in a command, and which numbers it may have.
#ifndef SLUICE_CLIENT_MEMBERS_H
#define SLUICE_CLIENT_MEMBERS_H

#include "api/command.h"
#include "client/words.h"

#include <sluice/sluice.h>

enum member_type {
    MEMBER_TEXT,
    MEMBER_TEXTS, // a list that ends with NULL
    MEMBER_FLAG,
    MEMBER_INTEGER,
    MEMBER_SECONDS, // a duration or a time
};

// The numbers that a member may have besides 0 (the default) and positive ones.
enum {
    MEMBER_ZERO = 1 << 0, // SLUICE_ZERO
    MEMBER_NONE = 1 << 1, // SLUICE_NONE. Both are sent to the command as 0
    MEMBER_NEGATIVE = 1 << 2,
};

struct member {
    const char *name; // in C
    const char *word; // the option of the command
    enum member_type type;
    size_t offset;
    unsigned flags;
};

struct members {
    const struct member *items;
    size_t count;
};

// INVALID: a member has a number that it cannot have. The message names the member.
enum sluice_status members_check(struct members members, const void *options,
                                 struct sluice_error *error);
enum sluice_status member_check_number(const struct member *member, double value,
                                       struct sluice_error *error);

// Adds the words of all members that do not have their defaults.
void members_add(struct members members, const void *options, struct words *words);

// Makes the message of a command one about the C interface: removes the name of the command, and
// replaces names of options by those of members and arguments.
void members_translate(const struct command *command, struct sluice_error *error);

#endif
