// SPDX-License-Identifier: MIT
// What the parts of the shell share: its state, and the tables of the commands it knows.
#ifndef SLUICE_TESTS_MODEL_SHELL_H
#define SLUICE_TESTS_MODEL_SHELL_H

#include "base/buffer.h"
#include "base/json_writer.h"
#include "engine/engine.h"

#include <jansson.h>
#include <limits.h>

enum {
    LIST_MAX = 256,
    PAGE_MAX = 4096,
    SLICES_MAX = 3, // lists of strings in one request
};

#define OUTPUT_SIZE_MAX ((size_t)INT_MAX)

struct shell {
    struct engine *engine; // NULL before the first `new`
    struct engine_options options;
    json_t *request; // the one being answered
    int64_t now_us;
    struct json_writer out; // writes into `reply`
    struct buffer reply;
    struct buffer events; // the events of this call as JSON, with commas
    struct error error;   // taken so that sentences are made; they are not compared
    struct slice slices[SLICES_MAX][LIST_MAX];
    size_t slices_used;
    const struct job *jobs[PAGE_MAX];
    const struct recurring *recurrings[PAGE_MAX];
};

// Reads its arguments from the request and writes its reply, or nothing for null. What it wrote
// does not count when it fails.
typedef enum status call_function(struct shell *shell);

struct call {
    const char *name; // NULL behind the last one
    call_function *function;
};

extern const struct call calls_bulk[];
extern const struct call calls_config[];
extern const struct call calls_dump[];
extern const struct call calls_engine[];
extern const struct call calls_explain[];
extern const struct call calls_failures[];
extern const struct call calls_jobs[];
extern const struct call calls_limits[];
extern const struct call calls_metrics[];
extern const struct call calls_policies[];
extern const struct call calls_queues[];
extern const struct call calls_recurring[];
extern const struct call calls_tags[];
extern const struct call calls_work[];
extern const struct call calls_workers[];

// Ends the program: the test asked for what there is not, or the engine contradicts itself.
_Noreturn void die(const char *what, const char *name);

#endif
