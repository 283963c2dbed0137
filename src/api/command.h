// SPDX-License-Identifier: MIT
// A command as data: its name, its arguments and their types, its flags, its entry in the
// reference, and its function. Dispatch, checks, help and documents use this data.
//
// The words of a request are the command's name, its arguments in order, and options. An option is
// a name, in any case, and a value; options are in any order. They follow the arguments. If the
// last argument of a command is repeated, options precede it, and end at the first word that is not
// an option, or at `--`; without `--`, the name of an option among the words of the list is
// refused. An optional argument may be preceded by `--` too, in case its value is the name of an
// option.
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
    COMMAND_ARGUMENTS_SIZE_MAX = 1024, // of a command's arguments struct
};

// The type of a word, and the type of its parsed value.
enum argument_type {
    ARGUMENT_NAME,     // struct slice: 1 to 255 bytes
    ARGUMENT_TEXT,     // struct slice: any bytes
    ARGUMENT_JSON,     // struct slice: a JSON value
    ARGUMENT_INTEGER,  // int64_t, from `min` to `max`
    ARGUMENT_SECONDS,  // int64_t in microseconds; from `min` to `max` (microseconds too)
    ARGUMENT_MOMENT,   // int64_t in microseconds since 1970: seconds, or as in RFC 3339
    ARGUMENT_FRACTION, // int64_t in millionths: 0 to 1
    ARGUMENT_WORD,     // int64_t: index in `words`
    ARGUMENT_FLAG,     // bool: an option without a value
};

enum {
    ARGUMENT_OPTION = 1, // NAME value, anywhere among the options; otherwise positional
    // struct slices: the last argument, or an option that may be repeated. Only names, texts and
    // JSON; an option may also be of words: an int64_t with the bit 1 << index for each one given
    ARGUMENT_REPEATED = 2,
    ARGUMENT_OPTIONAL = 4, // may be omitted, with all arguments after it
};

// What a name refers to, for users with rights on some queues only.
enum argument_about {
    ABOUT_NOTHING,
    ABOUT_QUEUE,         // the command's right is needed on it
    ABOUT_TARGET,        // a queue that jobs are put into: the right put or operate is needed on it
    ABOUT_JOB,           // a jid: the command's right is needed on the queue of the job
    ABOUT_RECURRING,     // the same for a recurring job
    ABOUT_RECURRING_NEW, // the same, if it exists
    ABOUT_TOKEN,         // of a lease; may be omitted only with the right operate
    ABOUT_SECRET,        // never shown, in the audit log or elsewhere
    ABOUT_CONFLICT,      // what to do with a conflicting job: `replace` needs the right operate
    // a flag: jobs of any queue are affected, the command's right is needed on all queues
    ABOUT_DEPENDENTS,
};

#define ARGUMENT_NO_HAS UINT16_MAX

struct argument {
    const char *name; // options in capitals
    enum argument_type type;
    unsigned flags;
    enum argument_about about;
    uint16_t offset; // of its value in the command's struct
    uint16_t has;    // of a bool that is set if it was given, or ARGUMENT_NO_HAS
    int64_t min, max;
    bool or_empty;            // a number: an empty word means that it is not given
    const char *const *words; // end with NULL
    const char *summary;      // a short phrase; with its default, if it has one
    const char *member;       // its name in JSON, if that is not the name in lower case
};

enum {
    COMMAND_READS = 1,     // changes nothing in the store
    COMMAND_WRITES = 2,    // may change a namespace
    COMMAND_ADMIN = 4,     // needs the right admin
    COMMAND_NAMESPACE = 8, // its first argument is a namespace, which is not in its table
    // allowed when the disk or the memory is full: it changes existing jobs, and needs little or no
    // additional space in the store
    COMMAND_SHRINKS = 16,
    COMMAND_WAITS = 32, // may have to wait before it can reply
    COMMAND_CONNECTION =
        64, // about the connection or the server: for every client that has authenticated
    COMMAND_ANYBODY = 128,    // also for a client that has not authenticated
    COMMAND_SUBSCRIBED = 256, // also for a subscriber who speaks RESP2
    COMMAND_PUTS = 512,       // needs the right put instead of operate
    COMMAND_AUDITED = 2048,   // an administrative act: recorded in the audit log
    COMMAND_WORKS = 1024,     // needs the right work instead of operate
    COMMAND_SECRET = 4096,    // its arguments may be secrets, and are never recorded or shown
    // The reply of a command that writes has at most REPLY_SIZE_LEAST bytes, unless
    COMMAND_ECHOES = 8192, // it also repeats its arguments
    COMMAND_FITS = 16384,  // the command checks the room before it changes anything
    // An audited act on single jobs, which may be frequent: its log lines are rate-limited.
    COMMAND_JOB_ACT = 32768,
    COMMAND_NOTES_REFUSED = 65536, // the host is called when it is refused, with the reason
    // In a transaction (MULTI):
    COMMAND_UNQUEUED = 131072,     // it runs at once
    COMMAND_MANY_REPLIES = 262144, // it is refused, because it may have more than one reply
    // It settles a job: if it is repeated with the TOKEN of the lease, the reply is that of the
    // first time.
    COMMAND_SETTLES = 524288,
};

struct call;

struct example {
    const char *request; // as typed into redis-cli
    const char *reply;   // as redis-cli prints it, with RESP3
};

struct command {
    const char *name;  // "Q.PUT"
    const char *group; // of the reference: "jobs", "work", "queues", ...
    unsigned flags;
    const struct argument *arguments;
    size_t argument_count;
    size_t arguments_size; // of the struct for the parsed arguments
    // Runs the command and writes the reply. If it fails, or has to wait, it has written nothing.
    enum status (*run)(struct call *call, struct error *error);
    // For a bulk command: each element is a number of words and then the words, which are the
    // arguments of this command (without the namespace). Each element has a reply or an error of
    // its own. Then `run` is NULL.
    const struct command *each;
    const char *summary;            // one sentence
    const char *details;            // further sentences, or NULL
    const char *replies;            // describes the reply in a sentence
    const struct example *examples; // ends with a request that is NULL
};

// ---------------------------------------------------------------------------------------------
// Tables

struct command_table {
    const struct command *commands;
    size_t count;
};

// The native commands, Q.*, which need nothing but an engine: the same in every host.
extern const struct command_table api_put, api_pop, api_work, api_wait, api_jobs, api_tags,
    api_lists, api_find, api_queues, api_lanes, api_measures, api_recurring, api_workers,
    api_settings, api_bulk, api_check, api_tasks, api_transfer;
// All tables, in the order of the reference.
enum {
    API_TABLES = 18,
};
extern const struct command_table *const api_tables[API_TABLES];

// All commands of a host by name. The tables are borrowed, the index is owned.
struct commands;
MUST_USE enum status commands_new(const struct allocator *allocator,
                                  const struct command_table *const *tables, size_t count,
                                  struct commands **out);
void commands_free(struct commands *commands);
// Finds a command in any case; NULL if there is none.
const struct command *commands_find(const struct commands *commands, struct slice name);
// Sets `error` for an unknown name: INVALID, with the nearest name of a command.
void commands_explain_unknown(const struct commands *commands, struct slice name,
                              struct error *error);
// In the order of the tables: call with `index` from 0 until it returns NULL.
const struct command *commands_at(const struct commands *commands, size_t index);

// ---------------------------------------------------------------------------------------------
// Words to arguments

// Memory for repeated options, which grows and is reused.
struct scratch {
    const struct allocator *allocator;
    struct slice *slices; // owned
    size_t count, capacity;
};
void scratch_init(struct scratch *scratch, const struct allocator *allocator);
void scratch_release(struct scratch *scratch);

// Parses the words after the name (and the namespace) into the command's struct, `out`, which is
// cleared first. INVALID or TOO_LARGE with a message that names the argument. Values are borrowed
// from the words and the scratch, until either is reused.
MUST_USE enum status command_parse(const struct command *command, struct slices words,
                                   struct scratch *scratch, void *out, struct error *error);

// Finds an option in any case; NULL if there is none.
const struct argument *command_option(const struct command *command, struct slice name);

// Appends "Q.PUT ns queue klass data [PRIORITY n] ...".
void command_usage(const struct command *command, struct buffer *out);

#endif
