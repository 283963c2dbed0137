// SPDX-License-Identifier: MIT
// Commands of the tool that are a command of the queue: its words in, its answer out. Such a one is
// data alone; the few that need more use the parts below.
#ifndef SLUICE_CLI_CORE_CALL_H
#define SLUICE_CLI_CORE_CALL_H

#include "cli/core/cli.h"

// How an answer is shown.
enum call_form {
    CALL_SAID,     // `said` and the arguments
    CALL_COUNT,    // a number and `said`; 0 is nothing
    CALL_VALUE,    // as it is
    CALL_MOMENTS,  // one, or a list of them
    CALL_FIELD,    // one field of a map: `columns`
    CALL_LIST,     // a table with `columns`, of the list at `list`
    CALL_MAPS,     // a map of maps, as a table
    CALL_RECORD,   // a map, a line a field
    CALL_SETTINGS, // the same with fields that are null
};

struct call {
    const char *words; // "Q.PAUSE"; the arguments and the options' words follow
    enum call_form form;
    const char *list;      // paths of lists in the answer; NULL: the answer is the list
    const char *columns;   // see table.h
    const char *said;      // "paused"
    const char *missing;   // what to say when there is nothing: "there are no queues"
    const char *otherwise; // for the last argument, when it is not given
    size_t json_argument;  // which argument, from 1 on, may be - or @FILE; 0: none
    const char *question;  // to be asked first, with the argument in place of %s; see tool_confirm
    bool leased;           // the job's worker and token go with it
    const char *one_of;    // "rate weight": options of which there must be one; or NULL
    bool of_queue;         // the first argument, if there is one, is a queue
    bool queues_exist;     // refused unless all arguments are queues that exist
    bool of_server;        // it is not about the namespace
    bool recurring;        // of CALL_MOMENTS: in the zone of the recurring job
    bool each;             // a call for each argument; what is refused does not end it
    bool counts;           // of CALL_VALUE: a number that is 0 when there is nothing
    bool of_name;          // an empty list means that what the argument names does not exist
    const char *known; // a field of the answer that is null when the worker it names is not known
    const struct call *with_argument; // instead of this one when there is an argument
};

int call_run(struct tool *tool); // of a command that has a `call`

// ---------------------------------------------------------------------------------------------
// Its parts

struct words {
    const char **items;
    size_t count;
};

void words_add(struct words *words, const char *word);
void words_add_all(struct words *words, const char *spaced); // words between spaces
// The options that were given and have a word; false: a file could not be read, and it was said.
bool words_add_options(struct words *words, const struct tool *tool);

// Says why a call was refused. For a command about a server the reason can be that there is none.
int call_refuse(const struct tool *tool, const struct sluice_error *error);

// Asks; with anything but EXIT_DONE the reason was said. The answer is the caller's to free.
int words_call(const struct tool *tool, const struct words *words, struct sluice_value **out);
// The same for words between spaces.
int call_words(const struct tool *tool, const char *spaced, struct sluice_value **out);

// Shows an answer as the call says, or as JSON.
int call_show(const struct tool *tool, const struct call *call, const struct sluice_value *answer);

// JSON that was given as such, as - (standard input) or @FILE. NULL: it cannot be read, and it was
// said.
const char *data_read(const char *text);

// The bytes of a text that was given as such, as - or as @FILE, as JSON data (base/body.h). NULL: it
// cannot be read, and it was said.
const char *data_read_raw(const char *text);
// The bytes that data stands for, with a 0 behind; for tool_free.
char *data_decode(const char *data, size_t *size);

extern const struct option page_options[]; // --offset and --count
enum {
    PAGE_OPTION_COUNT = 2,
};

#endif
