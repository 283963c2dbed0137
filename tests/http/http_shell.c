// SPDX-License-Identifier: MIT
// The HTTP face without a server: requests on standard input, answers on standard output, over an
// engine of its own. Time stands still; what would wait answers at once.
#include "api/call.h"
#include "faces/http/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    ANSWER_MAX = 1 << 24,
    PIECE_SIZE = 1 << 16,
    DEPTH_MAX = 64,
};

#define NOW_US INT64_C(1784000000500000)

static const struct http_limits limits = {
    .line_max = 8192,
    .head_max = 32768,
    .headers_max = 64,
    .body_max = 1 << 20,
    .chunk_overhead_max = 1 << 16,
};

struct shell {
    struct engine *engine;
    struct commands *commands;
    struct http_face *face;
    struct scratch scratch;
    struct host host;
    uint64_t random;
    struct buffer input, output;
};

static void require(bool holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "http_shell: %s\n", sentence);
        exit(1);
    }
}

static uint64_t next_random(void *context)
{
    struct shell *shell = context;
    return ++shell->random;
}

static enum status find_zone(void *context, struct slice name, struct zone_rules *out,
                             struct error *error)
{
    (void)context;
    *out = (struct zone_rules){ 3600, NULL, 0 };
    return slice_equal(name, SLICE("Europe/Berlin"))
               ? STATUS_OK
               : error_set(error, STATUS_NOT_FOUND, "time zone %.*s is not known",
                           SLICE_PRINT(name));
}

static void run(struct shell *shell, const struct http_call *ask)
{
    struct error error = { 0 };
    (void)engine_tick(shell->engine, NOW_US);
    struct call call = {
        .command = ask->command,
        .ns = ask->ns,
        .engine = shell->engine,
        .now_us = NOW_US,
        .reply = http_face_reply(shell->face, ask, &shell->output),
        .host = &shell->host,
        .last = true,
        .waiter = 1,
    };
    struct slices words = { ask->words.items + 2, ask->words.count - 2 };
    if (call_run(&call, words, &shell->scratch, &error)) {
        http_face_refuse(shell->face, ask, 0, &error, &shell->output);
    } else {
        http_face_answer(shell->face, ask, &shell->output);
    }
}

static void answer(struct shell *shell, const struct http_request *request)
{
    struct http_call call = { 0 };
    switch (http_face_parse(shell->face, request, &call, &shell->output)) {
    case HTTP_RUN:
        run(shell, &call);
        break;
    case HTTP_PAGE:
        http_face_page(shell->face, &call, 200, "text/plain", SLICE("a page\n"), &shell->output);
        break;
    case HTTP_ANSWERED:
        break;
    }
}

static void write_output(struct shell *shell)
{
    struct slice rest = buffer_slice(&shell->output);
    require(!shell->output.status, "an answer does not fit");
    while (rest.size) {
        ssize_t size = write(STDOUT_FILENO, rest.data, rest.size);
        require(size > 0, "cannot write");
        rest = slice_sub(rest, (size_t)size, SIZE_MAX);
    }
    buffer_clear(&shell->output);
}

// Answers what lies in the input; false when it is broken.
static bool answer_all(struct shell *shell, struct http_request *request)
{
    struct error error;
    for (;;) {
        switch (http_request_read(request, buffer_slice(&shell->input), &error)) {
        case HTTP_MORE:
            return true;
        case HTTP_READY:
            answer(shell, request);
            buffer_consume(&shell->input, request->size);
            break;
        case HTTP_BROKEN:
            http_face_refuse_broken(shell->face, request, &error, &shell->output);
            return false;
        }
    }
}

static void serve(struct shell *shell)
{
    struct http_request request;
    bool goes_on = true;
    http_request_init(&request, &allocator_system, &limits);
    while (goes_on) {
        char *room = buffer_reserve(&shell->input, PIECE_SIZE);
        require(room, "no memory");
        ssize_t size = read(STDIN_FILENO, room, PIECE_SIZE);
        require(size >= 0, "cannot read");
        buffer_commit(&shell->input, (size_t)size);
        goes_on = size > 0 && answer_all(shell, &request);
        write_output(shell);
    }
    http_request_release(&request);
}

int main(void)
{
    struct shell shell = { 0 };
    const struct engine_options options = { .allocator = &allocator_system, .seed = { 1, 2 } };
    require(!engine_new(&options, &shell.engine) &&
                !commands_new(&allocator_system, api_tables, API_TABLES, &shell.commands),
            "no memory");
    const struct http_face_options face = { .allocator = &allocator_system,
                                            .commands = shell.commands,
                                            .reply_max = ANSWER_MAX / 2,
                                            .depth_max = DEPTH_MAX,
                                            .version = SLUICE_VERSION };
    require(!http_face_new(&face, &shell.face), "no memory");
    http_face_set_time(shell.face, NOW_US);
    shell.host = (struct host){ .random = next_random, .zone = find_zone, .context = &shell };
    scratch_init(&shell.scratch, &allocator_system);
    buffer_init(&shell.input, &allocator_system, ANSWER_MAX);
    buffer_init(&shell.output, &allocator_system, ANSWER_MAX);
    serve(&shell);
    buffer_release(&shell.input);
    buffer_release(&shell.output);
    scratch_release(&shell.scratch);
    http_face_free(shell.face);
    commands_free(shell.commands);
    engine_free(shell.engine);
    return 0;
}
