// SPDX-License-Identifier: MIT
// A program that makes every call of libsluice as it is told, a line of JSON each, for the tests
// that are written in Python (shell.py):
//
//     ["1", "open", "q", "sluice://127.0.0.1:7711"]
//     {"label": "1", "status": "ok"}
//     ["&2", "next", "q", "mail", 10, "job"]          "&": in a thread of its own
//     ["3", "interrupt", "q", true]
//     {"label": "3", "status": "ok"}
//     {"label": "&2", "status": "interrupted", "message": "the wait was interrupted"}
//
// What is opened, taken or listened to gets the name that comes with it. SIGUSR1 interrupts the
// queue that was opened last, from the signal's handler.
#ifndef SLUICE_TEST_CLIENT_SHELL_H
#define SLUICE_TEST_CLIENT_SHELL_H

#include <jansson.h>
#include <sluice/sluice.h>

// What a call is told and what it answers.
struct request {
    const json_t *words; // the label and the call's name come first
    json_t *answer;
    struct sluice_error error;
};

struct call {
    const char *name;
    enum sluice_status (*run)(struct request *request);
};

extern const struct call calls[]; // ends with a name that is NULL
extern const struct call more_calls[];

// The words behind the call's name; 0, NULL or false where there is none of that kind.
const char *word_text(const struct request *request, size_t index);
double word_number(const struct request *request, size_t index);
const json_t *word(const struct request *request, size_t index);

// Things by their names.
void keep_thing(const char *name, void *thing);
void *find_thing(const char *name); // ends the program when there is none
void forget_thing(const char *name);

// The queue that the signal is for.
void interrupt_on_signal(struct sluice *sluice);

// The call of that name.
const struct call *find_call(const char *name);

// Prints a line; takes the object.
void say(json_t *line);

#endif
