// SPDX-License-Identifier: MIT
// The commands of a server in this process: those of its connections, and all that a folder has.
#include "base/ascii.h"
#include "base/num.h"
#include "client/local_call.h"
#include "client/pause.h"
#include "client/serve.h"
#include "client/value.h"
#include "faces/resp.h"

#include <stdio.h>

enum {
    ANSWER_MAX = 1 << 30,
};

static void refuse(struct guest *guest, enum status status, const char *sentence)
{
    struct error error;
    (void)error_set(&error, status, "%s", sentence);
    resp_write_error(&guest->output, &error);
}

// ---------------------------------------------------------------------------------------------
// Commands about the connection

static void say_hello(struct guest *guest)
{
    struct buffer *out = &guest->output;
    resp_map(out, guest->version, 6);
    resp_bulk(out, SLICE("server"));
    resp_bulk(out, SLICE("sluice"));
    resp_bulk(out, SLICE("version"));
    resp_bulk(out, slice_from_cstr(sluice_version()));
    resp_bulk(out, SLICE("proto"));
    resp_integer(out, guest->version);
    resp_bulk(out, SLICE("id"));
    resp_integer(out, (int64_t)guest->number);
    resp_bulk(out, SLICE("mode"));
    resp_bulk(out, SLICE("process"));
    resp_bulk(out, SLICE("role"));
    resp_bulk(out, SLICE("master"));
}

// Arguments after the version (a user, a name) have no effect.
static void run_hello(struct guest *guest, struct slices words)
{
    int64_t version = guest->version;
    if (words.count > 1 &&
        (num_parse_i64(words.items[1], &version) || (version != RESP_2 && version != RESP_3))) {
        resp_error(&guest->output, SLICE("NOPROTO"), SLICE("unsupported protocol version"));
        return;
    }
    guest->version = (enum resp_version)version;
    say_hello(guest);
}

static void run_ping(struct guest *guest, struct slices words)
{
    if (words.count > 1) {
        resp_bulk(&guest->output, words.items[1]);
    } else {
        resp_simple(&guest->output, SLICE("PONG"));
    }
}

static void run_accepted(struct guest *guest, struct slices words)
{
    (void)words;
    resp_simple(&guest->output, SLICE("OK"));
}

static void run_quit(struct guest *guest, struct slices words)
{
    run_accepted(guest, words);
    guest->ends = true;
}

static void add_integer_text(struct buffer *out, int64_t value)
{
    char text[NUM_TEXT_SIZE_MAX];
    int size = snprintf(text, sizeof(text), "%lld", (long long)value);
    resp_bulk(out, slice_make(text, (size_t)size));
}

static void run_time(struct guest *guest, struct slices words)
{
    (void)words;
    struct folder *folder = guest->server->local->folder;
    pthread_mutex_lock(&folder->mutex);
    int64_t now_us = folder_now(folder);
    pthread_mutex_unlock(&folder->mutex);
    resp_array(&guest->output, 2);
    add_integer_text(&guest->output, now_us / 1000000);
    add_integer_text(&guest->output, now_us % 1000000);
}

// ---------------------------------------------------------------------------------------------
// Events

// Divides sluice:NS:CHANNEL. A namespace may have colons too.
static bool divide(struct slice name, struct slice *ns, struct slice *channel)
{
    if (!slice_starts_with(name, SLICE("sluice:"))) {
        return false;
    }
    struct slice rest = slice_sub(name, 7, SIZE_MAX);
    for (size_t i = 1; i < rest.size; i++) {
        if (rest.data[i] != ':') {
            continue;
        }
        *ns = slice_sub(rest, 0, i);
        *channel = slice_sub(rest, i + 1, SIZE_MAX);
        if (slice_equal(*channel, SLICE("log")) || slice_equal(*channel, SLICE("tracked")) ||
            slice_starts_with(*channel, SLICE("worker:"))) {
            return true;
        }
    }
    return false;
}

// Handles requests of a subscriber. False: the subscription ends.
static bool hear_subscriber(struct guest *guest)
{
    struct error error;
    if (!guest_read(guest, false)) {
        return false;
    }
    for (;;) {
        const struct resp_request *request = &guest->request;
        switch (resp_request_read(&guest->request, buffer_slice(&guest->input), &error)) {
        case RESP_MORE:
            return guest_flush(guest);
        case RESP_BROKEN:
            return false;
        case RESP_READY:
            break;
        }
        if (request->count && !ascii_equal(request->words[0], SLICE("PING"))) {
            return false;
        }
        if (request->count) {
            run_ping(guest, (struct slices){ request->words, request->count });
        }
        buffer_consume(&guest->input, request->size);
    }
}

static void tell(struct guest *guest, struct slice name, struct listening *listening)
{
    bool there = true;
    while (there) {
        struct sluice_error error;
        const char *json;
        enum sluice_status status = listening->ops->next(listening, LINK_FOREVER, &json, &error);
        if (status == SLUICE_INTERRUPTED) {
            there = !wake_is_set(guest->server->stop) && hear_subscriber(guest);
        } else if (status) {
            there = false;
        } else {
            resp_push(&guest->output, guest->version, 3);
            resp_bulk(&guest->output, SLICE("message"));
            resp_bulk(&guest->output, name);
            resp_bulk(&guest->output, slice_from_cstr(json));
            there = guest_flush(guest);
        }
    }
}

// A subscription lasts until the connection ends.
static void run_subscribe(struct guest *guest, struct slices words)
{
    struct slice ns, channel;
    struct listening *listening;
    struct sluice_error error;
    char kept[2 * SLUICE_NAME_SIZE + 32];
    if (words.count != 2 || words.items[1].size >= sizeof(kept) ||
        !divide(words.items[1], &ns, &channel)) {
        refuse(guest, STATUS_INVALID,
               "SUBSCRIBE takes one channel here: sluice:NS:log, sluice:NS:tracked or "
               "sluice:NS:worker:NAME");
        return;
    }
    if (local_listen(&guest->server->local->link, ns, channel, &listening, &error)) {
        refuse(guest, (enum status)error.status, error.message);
        return;
    }
    // The words are released by the next request.
    memcpy(kept, words.items[1].data, words.items[1].size);
    const struct slice name = slice_make(kept, words.items[1].size);
    buffer_consume(&guest->input, guest->request.size);
    listening->wake = guest->any;
    resp_push(&guest->output, guest->version, 3);
    resp_bulk(&guest->output, SLICE("subscribe"));
    resp_bulk(&guest->output, name);
    resp_integer(&guest->output, 1);
    if (guest_flush(guest) && hear_subscriber(guest)) {
        tell(guest, name, listening);
    }
    listening->ops->free(listening);
    guest->request.size = 0; // the request was consumed already
    guest->ends = true;
}

// ---------------------------------------------------------------------------------------------
// Commands about the folder

static void run_in_folder(struct guest *guest, const struct command *command, struct slices words)
{
    struct local *local = guest->server->local;
    struct local_call call = {
        .folder = local->folder,
        .presences = &guest->presences,
        .command = command,
        .timeout_us = local->timeout_us,
        .interrupt = guest->gone,
        .version = guest->version,
    };
    buffer_init(&call.output, &allocator_system, ANSWER_MAX);
    local_call_run(&call, (struct slices){ words.items + 1, words.count - 1 });
    if (call.interrupted) {
        guest->ends = true; // the connection has ended
    } else if (call.unsettled) {
        refuse(guest, STATUS_IO, "the disk is behind: the change may yet be stored, or not");
    } else if (call.status) {
        resp_write_error(&guest->output, &call.error);
    } else {
        buffer_append(&guest->output, buffer_slice(&call.output));
    }
    buffer_release(&call.output);
}

static const struct {
    const char *name;
    void (*run)(struct guest *guest, struct slices words);
} own_commands[] = {
    { "HELLO", run_hello },     { "PING", run_ping },           { "AUTH", run_accepted },
    { "SELECT", run_accepted }, { "CLIENT", run_accepted },     { "QUIT", run_quit },
    { "TIME", run_time },       { "SUBSCRIBE", run_subscribe },
};

void guest_run(struct guest *guest, struct slices words)
{
    const struct folder *folder = guest->server->local->folder;
    for (size_t i = 0; i < sizeof(own_commands) / sizeof(own_commands[0]); i++) {
        if (ascii_equal(words.items[0], slice_from_cstr(own_commands[i].name))) {
            own_commands[i].run(guest, words);
            return;
        }
    }
    const struct command *command = commands_find(folder->commands, words.items[0]);
    if (command) {
        run_in_folder(guest, command, words);
    } else {
        struct error error;
        commands_explain_unknown(folder->commands, words.items[0], &error);
        resp_write_error(&guest->output, &error);
    }
}
