// SPDX-License-Identifier: MIT
// Helpers for the files with the server's own commands.
#ifndef SLUICE_SERVER_REDIS_ANSWER_H
#define SLUICE_SERVER_REDIS_ANSWER_H

#include "api/table.h"
#include "base/ascii.h"
#include "server/server.h"

// The version of Redis whose replies the server imitates.
#define REDIS_VERSION "7.2.0"

// Whether a word is that name, without regard to case.
static inline bool word_is(struct slice word, const char *name)
{
    return ascii_equal(word, slice_from_cstr(name));
}

// Makes the reply of the running command an error with one of Redis's codes.
void answer_error(struct connection *connection, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// DENIED with a message, unless the user is an administrator of the whole server.
MUST_USE enum status answer_check_admin(const struct connection *connection, const char *what,
                                        struct error *error);
// DENIED with a message, unless the user has all these rights on a namespace.
MUST_USE enum status answer_check_right(const struct connection *connection, struct slice ns,
                                        unsigned rights, struct error *error);

// The name of the namespace that scripts use: the one that SELECT chose.
enum {
    QLESS_NAMESPACE_SIZE = ENGINE_NAME_SIZE_MAX + 8,
};
struct slice answer_qless_namespace(const struct connection *connection,
                                    char text[QLESS_NAMESPACE_SIZE]);

// ---------------------------------------------------------------------------------------------
// Commands with subcommands, such as CLIENT ID

enum {
    SUBCOMMAND_AUDITED = 2,
};

struct subcommand {
    const char *name;
    const char *usage; // what follows the name, or ""
    const char *summary;
    size_t min, max; // arguments after the subcommand
    // 1: needs an administrator; SUBCOMMAND_AUDITED: also recorded in the audit log
    unsigned admin;
    enum status (*run)(struct call *call, struct slices words, struct error *error);
};

struct subcommands {
    const struct subcommand *items;
    size_t count;
};

#define TABLE_OF_SUBCOMMANDS(list)                                                                 \
    {                                                                                              \
        .items = (list), .count = sizeof(list) / sizeof((list)[0])                                 \
    }

// Every table has HELP, which is generated.
MUST_USE enum status subcommand_run(const struct subcommands *table, struct call *call,
                                    struct slices words, struct error *error);

#endif
