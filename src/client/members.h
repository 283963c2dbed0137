// SPDX-License-Identifier: MIT
// The members of structs of options, as tables: what each is called in C and in a command, and what
// its number may be.
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

// What a number may be besides 0, which is the default, and more than 0.
enum {
    MEMBER_ZERO = 1 << 0, // SLUICE_ZERO
    MEMBER_NONE = 1 << 1, // SLUICE_NONE. The command takes both as 0
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

// INVALID with a sentence that names the member whose number has no meaning.
enum sluice_status members_check(struct members members, const void *options,
                                 struct sluice_error *error);
enum sluice_status member_check_number(const struct member *member, double value,
                                       struct sluice_error *error);

// The words of all members that do not have their defaults.
void members_add(struct members members, const void *options, struct words *words);

// Turns the message about a command that the program did not write into one about what it did
// write: without the name of the command, and with the names of members and arguments in place of
// options.
void members_translate(const struct command *command, struct sluice_error *error);

#endif
