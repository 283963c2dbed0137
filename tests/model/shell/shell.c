// SPDX-License-Identifier: MIT
// The engine behind a pipe, for tests in other languages: one JSON object a line comes in, names a
// call of the engine and its arguments, and one JSON line goes out:
//
//     {"status":"ok","reply":...,"events":[...]}
//
// Arguments have the names of the engine's parameters and members; a struct in a struct is an
// object in an object, the value of an enum a word. Times are microseconds. What a request leaves
// out is empty, 0 or, where a struct has a `has_` member, not given. After a failed call the reply
// is null; events come from what was due.
//
// A request that is not understood ends the program, since it is a mistake in the test.
#include "shell.h"

#include "arguments.h"
#include "base/alloc.h"
#include "engine/check/check.h"
#include "engine/dedup/request.h"
#include "store.h"
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct call *const tables[] = {
    calls_bulk,     calls_config,    calls_dump,   calls_engine,  calls_explain,
    calls_failures, calls_jobs,      calls_limits, calls_metrics, calls_policies,
    calls_queues,   calls_recurring, calls_tags,   calls_work,    calls_workers,
};

_Noreturn void die(const char *what, const char *name)
{
    (void)fprintf(stderr, "engine_shell: %s: %s\n", what, name);
    exit(2);
}

static call_function *find_call(const char *name)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        for (const struct call *call = tables[i]; call->name; call++) {
            if (strcmp(name, call->name) == 0) {
                return call->function;
            }
        }
    }
    die("no such command", name);
}

static void report(void *context, const char *sentence)
{
    (void)fprintf(stderr, "engine_shell: after %s: %s\n", (const char *)context, sentence);
}

// The invariants of the engine hold after every call.
static void check(struct shell *shell, const char *name)
{
    if (engine_check(shell->engine, false, report, (void *)name)) {
        die("the engine is inconsistent after", name);
    }
}

// A call with the id of a request is answered with the jid that it names, also when it is repeated.
static enum status call_once(struct shell *shell, call_function *function)
{
    const json_t *request = shell->request;
    const struct slice jid = arg_text(request, "jid");
    const struct request_words words = { .id = arg_text(request, "request"),
                                         .digest = arg_unsigned(request, "digest"),
                                         .answer_max = jid.size };
    bool known;
    struct slice said;
    enum status status =
        engine_request_begin(shell->engine, shell->now_us, &words, &known, &said, &shell->error);
    if (status) {
        return status;
    }
    if (known) {
        json_write_string(&shell->out, said);
        return STATUS_OK;
    }
    status = function(shell);
    if (status) {
        engine_request_cancel(shell->engine);
    } else {
        engine_request_end(shell->engine, jid);
    }
    return status;
}

static void answer(struct shell *shell, const char *line, size_t line_size)
{
    json_error_t problem;
    shell->request = json_loadb(line, line_size, 0, &problem);
    const char *name = json_string_value(json_object_get(shell->request, "cmd"));
    if (!name) {
        die("not a request", line);
    }
    call_function *function = find_call(name);
    if (!shell->engine && strcmp(name, "new") != 0) {
        die("new comes first", name);
    }
    shell->now_us = arg_number(shell->request, "now");
    buffer_clear(&shell->reply);
    buffer_clear(&shell->events);
    shell->slices_used = 0;
    json_writer_init(&shell->out, &shell->reply);
    enum status status =
        arg_has(shell->request, "request") ? call_once(shell, function) : function(shell);
    if (store_take(shell->engine)) {
        die("out of memory", name);
    }
    check(shell, name);
    if (status != STATUS_OK || shell->reply.size == 0) {
        buffer_clear(&shell->reply);
        buffer_append(&shell->reply, SLICE("null"));
    }
    if (shell->reply.status != STATUS_OK || shell->events.status != STATUS_OK) {
        die("out of memory", name);
    }
    printf("{\"status\":\"%s\",\"reply\":%.*s,\"events\":[%.*s]}\n", status_name(status),
           SLICE_PRINT(buffer_slice(&shell->reply)), SLICE_PRINT(buffer_slice(&shell->events)));
    if (fflush(stdout)) {
        die("cannot write", name);
    }
    json_decref(shell->request);
}

int main(void)
{
    static struct shell shell;
    char *line = NULL;
    size_t line_capacity = 0;
    ssize_t line_size;

    shell.options = (struct engine_options){
        .allocator = &allocator_system,
        .seed = { UINT64_C(0x736c75696365), UINT64_C(0x6d6f64656c) },
        .sink = { write_event, &shell },
        .keeps_changes = true,
    };
    buffer_init(&shell.reply, &allocator_system, OUTPUT_SIZE_MAX);
    buffer_init(&shell.events, &allocator_system, OUTPUT_SIZE_MAX);
    while ((line_size = getline(&line, &line_capacity, stdin)) > 0) {
        answer(&shell, line, (size_t)line_size);
    }
    free(line);
    if (shell.engine) {
        engine_free(shell.engine);
    }
    store_clear();
    buffer_release(&shell.reply);
    buffer_release(&shell.events);
    return 0;
}
