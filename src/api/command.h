// SPDX-License-Identifier: MIT
// A command as data: its name, its arguments and their types, what it may do, what it says in the
// reference, and the function that does it. Dispatch, checks, help and documents all come from it.
//
// The words of a request are the command's name, its arguments in order, and options: a name, in
// whatever case, and a value, in any order. Options stand behind the arguments; of a command whose
// last argument is repeated they stand before it and end at the first word that is none, or at
// `--`, without which the name of an option among the words behind it is refused. An argument that
// may be missing may have `--` before it too, should it have the name of an option.
//
//     Q.PUT app mail Send '{"to":"ann"}' PRIORITY 5 TAG urgent TAG paid
//     Q.POP app worker-1 10 WAIT 30 -- mail reports
#ifndef SLUICE_API_COMMAND_H
#define SLUICE_API_COMMAND_H

#include "api/reply.h"
#include "api/right.h"
#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"
#include "engine/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    COMMAND_ARGUMENTS_SIZE_MAX = 1024, // of a command's struct
};

// What a word is, and as what it is handed over.
enum argument_type {
    ARGUMENT_NAME,     // struct slice: 1 to 255 bytes
    ARGUMENT_TEXT,     // struct slice: any bytes
    ARGUMENT_JSON,     // struct slice: a JSON value
    ARGUMENT_INTEGER,  // int64_t, from `min` to `max`
    ARGUMENT_SECONDS,  // int64_t in microseconds; from `min` to `max` (microseconds too)
    ARGUMENT_MOMENT,   // int64_t in microseconds since 1970: seconds, or as in RFC 3339
    ARGUMENT_FRACTION, // int64_t in millionths: 0 to 1
    ARGUMENT_WORD,     // int64_t: which of `words`
    ARGUMENT_FLAG,     // bool: an option that has no value
};

enum {
    ARGUMENT_OPTION = 1,   // NAME value, in any place among the options; else it is at its place
    ARGUMENT_REPEATED = 2, // struct slices: the last argument, or an option that may come again.
                           // Only names, texts and JSON; and as an option words: an int64_t with
                           // 1 << the place of each that was given
    ARGUMENT_OPTIONAL = 4, // an argument that may be missing; all behind it then are too
};

// What a name says that an argument is, for users that have rights on some queues only.
enum argument_about {
    ABOUT_NOTHING,
    ABOUT_QUEUE,         // the command's right is needed on it
    ABOUT_TARGET,        // a queue that jobs go to: put or operate is needed on it
    ABOUT_JOB,           // a jid: the command's right is needed on the queue it is in
    ABOUT_RECURRING,     // the same of a recurring job
    ABOUT_RECURRING_NEW, // the same, if there is one
    ABOUT_TOKEN,         // a lease's; may be left out with the right to operate only
    ABOUT_SECRET,        // never shown, neither in the audit log nor elsewhere
    ABOUT_CONFLICT,      // what to do with another job: `replace` needs the right to operate
    ABOUT_DEPENDENTS, // a flag: jobs of any queue are concerned, the command's right is needed on
                      // all
};

#define ARGUMENT_NO_HAS UINT16_MAX

struct argument {
    const char *name; // of an option in capitals
    enum argument_type type;
    unsigned flags;
    enum argument_about about;
    uint16_t offset; // where its value goes in the command's struct
    uint16_t has;    // where a bool goes that says it was given, or ARGUMENT_NO_HAS
    int64_t min, max;
    bool or_empty;            // of a number: an empty word means that it is not given
    const char *const *words; // ends with NULL
    const char *summary;      // a short phrase; with its default, if it has one
    const char *member;       // what JSON calls it, when that is not its name in small letters
};

enum {
    COMMAND_READS = 1,     // changes nothing that is stored
    COMMAND_WRITES = 2,    // may change a namespace
    COMMAND_ADMIN = 4,     // needs the right to administer
    COMMAND_NAMESPACE = 8, // its first word is a namespace, which its arguments do not list
    COMMAND_SHRINKS = 16,  // allowed when disk or memory is full: works on the jobs there are,
                           // and leaves less to store in the end, or hardly more
    COMMAND_WAITS = 32,    // may have to wait before it can answer
    COMMAND_CONNECTION =
        64, // about the connection or the server: for every client that has authenticated
    COMMAND_ANYBODY = 128,    // also for a client that has not authenticated
    COMMAND_SUBSCRIBED = 256, // also for a subscriber who speaks RESP2
    COMMAND_PUTS = 512,       // needs the right to put, and not that to operate
    COMMAND_AUDITED = 2048,   // an administrative act: kept in the audit log
    COMMAND_WORKS = 1024,     // needs the right to work, and not that to operate
    COMMAND_SECRET = 4096,    // its words may be secrets, and are kept and shown nowhere
    // How large the answer of a command that writes can be: REPLY_SIZE_LEAST, unless
    COMMAND_ECHOES = 8192, // it repeats its words besides
    COMMAND_FITS = 16384,  // the command sees to it before it changes anything
    // An audited act on single jobs, which may come all the time: its lines of the log are limited.
    COMMAND_JOB_ACT = 32768,
    COMMAND_NOTES_REFUSED = 65536, // the host is told what was refused, and why
    // In a transaction (MULTI):
    COMMAND_UNQUEUED = 131072,     // it runs at once
    COMMAND_MANY_REPLIES = 262144, // it is refused: it does not have exactly one reply
    // It settles a job: repeated with the TOKEN of the lease it is answered as the first time.
    COMMAND_SETTLES = 524288,
};

struct call;

struct example {
    const char *request; // as typed into redis-cli
    const char *reply;   // as redis-cli prints it, in RESP3
};

struct command {
    const char *name;  // "Q.PUT"
    const char *group; // of the reference: "jobs", "work", "queues", ...
    unsigned flags;
    const struct argument *arguments;
    size_t argument_count;
    size_t arguments_size; // of the struct that they are handed over in
    // Does it and says the answer. When it fails, or has to wait, it has said nothing.
    enum status (*run)(struct call *call, struct error *error);
    // Its elements are each a number of words and then so many words, which this command takes
    // (without the namespace); each gets an answer or an error of its own. Then `run` is NULL.
    const struct command *each;
    const char *summary;            // one sentence
    const char *details;            // more of them, or NULL
    const char *replies;            // what it answers, in a sentence
    const struct example *examples; // ends with a request that is NULL
};

// ---------------------------------------------------------------------------------------------
// Tables

struct command_table {
    const struct command *commands;
    size_t count;
};

// The native commands, Q.*, that need nothing but an engine: the same in every host.
extern const struct command_table api_put, api_pop, api_work, api_wait, api_jobs, api_tags,
    api_lists, api_find, api_queues, api_lanes, api_measures, api_recurring, api_workers,
    api_settings, api_bulk, api_check, api_tasks, api_transfer;
// All of them, in the order of the reference.
enum {
    API_TABLES = 18,
};
extern const struct command_table *const api_tables[API_TABLES];

// All commands of a host, by name. Borrowed tables; owned index.
struct commands;
MUST_USE enum status commands_new(const struct allocator *allocator,
                                  const struct command_table *const *tables, size_t count,
                                  struct commands **out);
void commands_free(struct commands *commands);
// In whatever case; NULL when there is none.
const struct command *commands_find(const struct commands *commands, struct slice name);
// Fills `error` for a name that no command has: INVALID, with the command whose name is nearest.
void commands_explain_unknown(const struct commands *commands, struct slice name,
                              struct error *error);
// In the order of the tables: `index` from 0 until it is NULL.
const struct command *commands_at(const struct commands *commands, size_t index);

// ---------------------------------------------------------------------------------------------
// Words to arguments

// Room for repeated options, as many as there are words; grows and is used again.
struct scratch {
    const struct allocator *allocator;
    struct slice *slices; // owned
    size_t count, capacity;
};
void scratch_init(struct scratch *scratch, const struct allocator *allocator);
void scratch_release(struct scratch *scratch);

// Reads the words behind the name (and the namespace) into the command's struct, `out`, which is
// cleared first. INVALID or TOO_LARGE with a sentence that names the argument. What is handed over
// is borrowed from the words and the scratch, until either is used again.
MUST_USE enum status command_parse(const struct command *command, struct slices words,
                                   struct scratch *scratch, void *out, struct error *error);

// The option of that name, in whatever case; NULL when there is none.
const struct argument *command_option(const struct command *command, struct slice name);

// "Q.PUT ns queue klass data [PRIORITY n] ...", appended.
void command_usage(const struct command *command, struct buffer *out);

#endif
