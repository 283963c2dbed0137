// SPDX-License-Identifier: MIT
// What the files of the server's own commands share.
#ifndef SLUICE_SERVER_REDIS_ANSWER_H
#define SLUICE_SERVER_REDIS_ANSWER_H

#include "api/table.h"
#include "base/ascii.h"
#include "server/server.h"

// The version of Redis whose answers clients find here.
#define REDIS_VERSION "7.2.0"

// Whether a word is that name, in whatever case.
static inline bool word_is(struct slice word, const char *name)
{
    return ascii_equal(word, slice_from_cstr(name));
}

// The answer of the command that is being run is an error with a code of Redis's own.
void answer_error(struct connection *connection, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Whether the user is an administrator of the whole server; DENIED with a sentence.
MUST_USE enum status answer_check_admin(const struct connection *connection, const char *what,
                                        struct error *error);
// Whether the user has all these rights on a namespace.
MUST_USE enum status answer_check_right(const struct connection *connection, struct slice ns,
                                        unsigned rights, struct error *error);

// The name of the namespace that scripts work in, as SELECT chose it.
enum {
    QLESS_NAMESPACE_SIZE = ENGINE_NAME_SIZE_MAX + 8,
};
struct slice answer_qless_namespace(const struct connection *connection,
                                    char text[QLESS_NAMESPACE_SIZE]);

// ---------------------------------------------------------------------------------------------
// Commands whose first word says which of several they are: CLIENT ID.

enum {
    SUBCOMMAND_AUDITED = 2,
};

struct subcommand {
    const char *name;
    const char *usage; // what follows the name, or ""
    const char *summary;
    size_t min, max; // words that follow the name
    unsigned admin;  // 1: needs an administrator; SUBCOMMAND_AUDITED: and is kept in the audit log
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

// HELP is among them by itself.
MUST_USE enum status subcommand_run(const struct subcommands *table, struct call *call,
                                    struct slices words, struct error *error);

#endif
