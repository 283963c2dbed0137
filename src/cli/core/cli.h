// SPDX-License-Identifier: MIT
// The tool `sluice`: what its commands are made of. A command is an entry in a table: its name, its
// arguments, its options and a function. Usage, help, manual pages, completion and the reference
// are all made from these tables. Nothing in this folder knows more of a queue than
// <sluice/sluice.h>.
#ifndef SLUICE_CLI_CORE_CLI_H
#define SLUICE_CLI_CORE_CLI_H

#include <sluice/sluice.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// What the tool ends with.
enum exit_code {
    EXIT_DONE = 0,
    EXIT_REFUSED = 1,     // the queue refused the call
    EXIT_USAGE = 2,       // called in a wrong way
    EXIT_NOTHING = 3,     // no such job, nothing to pop
    EXIT_UNREACHABLE = 4, // no server there
    EXIT_UNKNOWN = 5,     // the answer was lost: done, or not
};

// ---------------------------------------------------------------------------------------------
// Options

enum option_type {
    OPTION_FLAG,    // bool
    OPTION_TEXT,    // const char *
    OPTION_INTEGER, // int64_t
    OPTION_SECONDS, // double: "90", "1.5", "500ms", "10s", "5m", "2h", "1d"
    OPTION_WAIT,    // double: the same, or "forever" (SLUICE_FOREVER); 0 does not wait
    OPTION_TIME,    // double: seconds since 1970, "2030-01-31" or "2030-01-31T12:00:00Z"
    OPTION_TEXTS,   // struct texts: may come again, or as a,b,c
};

struct texts {
    const char **items; // ends with NULL when there is one; NULL: none
    size_t count;
};

struct option {
    const char *name; // "priority", without dashes
    char letter;      // 'p', or 0
    enum option_type type;
    const char *value;   // what stands for the value in the help: "SECONDS"; NULL for flags
    size_t offset;       // of its field in the command's struct of options, if it has one
    const char *summary; // part of a sentence, without a full stop
    const char *choices; // "hold|cancel": the only values; or NULL
    const char *word; // what it is called in the command that it becomes part of (call.h); or NULL
    int64_t minimum, maximum; // of an integer, when maximum is not 0
};

// ---------------------------------------------------------------------------------------------
// Commands

struct tool;

struct tool_example {
    const char *line; // "sluice put mail Send '{}'"
    const char *summary;
};

struct tool_command {
    const char *name;  // "put", or of a family "recur add"
    const char *group; // one of tool_groups; NULL: hidden
    // "QUEUE [DATA]". How many there may be; SIZE_MAX: any number.
    const char *arguments;
    size_t arguments_min, arguments_max;
    const struct option *options;
    size_t option_count;
    size_t options_size;           // of the struct that they are read into, which starts as zeros
    int (*run)(struct tool *tool); // gives an exit code
    const char *summary;           // "Puts a job into a queue"
    const char *details;           // paragraphs, with an empty line between them; or NULL
    const struct tool_example *examples; // ends with a line of NULL; or NULL
    bool offline;                        // needs no queue: tool->queue is NULL
    bool patient;                        // waits for a server that is not there
    bool makes;                          // begins a folder (file:PATH) that is not there yet
    bool primary; // of a family: what its name alone stands for ("recur" is "recur list")
    const struct call *call; // of commands that are only words and columns: see call.h
};

// A set of commands: one file exports one.
struct tool_set {
    const struct tool_command *commands;
    size_t count;
};

extern const struct tool_set *const tool_sets[]; // commands.c; ends with NULL
extern const char *const tool_groups[];          // in the order of the overview; ends with NULL

// The commands of all sets in turn; NULL behind the last.
const struct tool_command *tool_command_at(size_t index);

// ---------------------------------------------------------------------------------------------
// One run of the tool

// An option as it was given. Lengths of time and moments are in seconds here.
struct given {
    const struct option *option;
    const char *text; // "1" for flags
};

enum times {
    TIMES_RELATIVE, // "3m20s ago"
    TIMES_UTC,
    TIMES_LOCAL,
};

struct tool {
    struct sluice *queue; // open, unless the command is offline
    const struct tool_command *command;
    const void *options; // the command's struct
    const char *const *arguments;
    size_t argument_count;
    const struct given *given; // the command's own options in the order in which they came
    size_t given_count;
    const char *url, *ns; // ns: NULL when nothing was said
    double timeout;       // 0: the library's
    bool timeout_given;   // it was said by who called the tool
    const char *ca_file, *cert_file, *key_file, *password_file; // NULL: not given
    bool wait_for_server; // a connection that cannot be made is tried again
    enum times times;     // how tables show moments
    bool json;
    bool color;    // of standard output
    bool terminal; // standard output and standard error are one: progress may be shown
};

// An option of the command as it was given: the last one; NULL: it was not.
const char *tool_given(const struct tool *tool, const char *name);

// Opens another handle of the same queue, for commands that need one with options of their own
// (`worker`, `log`). What is not said there is as the tool was told. A folder that is not there is
// made only by commands that put something into it: a wrong path must not look like an empty queue.
enum sluice_status tool_open(const struct tool *tool, const struct sluice_open_options *options,
                             struct sluice **out, struct sluice_error *error);

// The same, and says what is wrong; gives an exit code.
int tool_connect(const struct tool *tool, const struct sluice_open_options *options,
                 struct sluice **out);

// Says "sluice: SENTENCE" on standard error.
__attribute__((format(printf, 1, 2))) void tool_complain(const char *format, ...);
// The same for a call that went wrong; gives its exit code.
int tool_refuse(const struct sluice_error *error);
int tool_exit_code(enum sluice_status status);
// The same for a wrong usage, and where to read more; gives EXIT_USAGE.
__attribute__((format(printf, 2, 3))) int tool_misuse(const struct tool *tool, const char *format,
                                                      ...);
// Asks a person on the terminal before something that cannot be undone, unless --yes was given.
// EXIT_DONE: go on; otherwise it was said why not.
int tool_confirm(const struct tool *tool, const char *question);

// Prints a value as one line of JSON on standard output, its keys as over HTTP.
int tool_print_json(const struct sluice_value *value);
// The same with keys as they are: names that the user has given.
int tool_print_json_names(const struct sluice_value *value);
// Prints a line for each item of a list.
int tool_print_json_list(const struct sluice_value *list);

// Memory for the life of the process, which may be given back sooner. The tool ends with a sentence
// when there is none. Not for free(). From any thread.
void *tool_allocate(size_t size); // zeros
void *tool_resize(void *block, size_t size);
void tool_free(void *block); // may be NULL
void tool_free_all(void);
char *tool_copy(const char *text, size_t size); // with a 0 behind
__attribute__((format(printf, 1, 2))) char *tool_format(const char *format, ...);

// fprintf, for output whose errors show when the stream is closed.
__attribute__((format(printf, 2, 3))) void print(FILE *file, const char *format, ...);

#endif
