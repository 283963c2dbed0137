// SPDX-License-Identifier: MIT
#include "client/remote.h"

#include "base/num.h"
#include "client/memory.h"
#include "client/pause.h"
#include "client/value.h"
#include "os/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    IDLE_MAX = 16,
    REQUEST_MAX = 1 << 30,
    FAREWELL_US = 5000000, // for an answer that was under way when the call was interrupted
    ANSWER_US = 200000,    // before the deadline of a thread: for the answer to a wait
};

// ---------------------------------------------------------------------------------------------
// Idle connections

static struct dialog *take_idle(struct remote *remote)
{
    pthread_mutex_lock(&remote->mutex);
    struct dialog *dialog = remote->idle;
    if (dialog) {
        remote->idle = dialog->next;
        remote->idle_count--;
    }
    pthread_mutex_unlock(&remote->mutex);
    return dialog;
}

// Takes an idle connection that is still open, or returns NULL.
static struct dialog *take_good(struct remote *remote)
{
    struct dialog *dialog;
    while ((dialog = take_idle(remote)) && !stream_is_idle(&dialog->stream)) {
        dialog_close(dialog);
    }
    return dialog;
}

static void give_back(struct remote *remote, struct dialog *dialog)
{
    pthread_mutex_lock(&remote->mutex);
    bool keep = remote->idle_count < IDLE_MAX;
    if (keep) {
        dialog->next = remote->idle;
        remote->idle = dialog;
        remote->idle_count++;
    }
    pthread_mutex_unlock(&remote->mutex);
    if (!keep) {
        dialog_close(dialog);
    }
}

// ---------------------------------------------------------------------------------------------
// One call

struct request {
    struct remote *remote;
    const struct link_call *call;
    int64_t deadline_us;      // of the whole call
    int64_t wait_deadline_us; // of its wait
    int wake;                 // ends the call when it is readable
    bool no_connection;       // the last attempt has made no connection
    struct buffer bytes;
    struct sluice_value **out;
    struct sluice_error *error;
};

enum outcome {
    ANSWERED, // with any status
    UNSENT,   // the server has not run it
    UNSURE,   // the server may have run it
    LATE,
    WOKEN,        // interrupted: it may have been done
    UNSENT_WOKEN, // interrupted before it was sent
};

// Writes the request with the rest of the time to wait. After that time the server is asked once
// more, with the shortest wait: it may have been unreachable all the time.
static enum sluice_status write_request(struct request *request)
{
    const struct link_call *call = request->call;
    struct buffer seconds;
    bool replace = call->wait_word && request->wait_deadline_us != INT64_MAX;
    int64_t left_us = request->wait_deadline_us - monotonic_us();
    buffer_init(&seconds, &allocator_system, NUM_TEXT_SIZE_MAX);
    num_append_seconds(&seconds, left_us > 0 ? left_us : 1); // 0 would mean no limit
    buffer_clear(&request->bytes);
    request_add(&request->bytes, call->words, replace ? call->wait_word : 0,
                buffer_slice(&seconds));
    bool failed = request->bytes.status || seconds.status;
    buffer_release(&seconds);
    return failed ? fault(request->error, SLUICE_TOO_LARGE, "the request is too large") : SLUICE_OK;
}

// Ends the connection for writing, and reads the answer if it was on its way.
static enum stream_result read_last(struct dialog *dialog, struct slice *answer, size_t *items)
{
    stream_end(&dialog->stream);
    return dialog_read(dialog, deadline_in(FAREWELL_US), -1, answer, items) == STREAM_OK
               ? STREAM_OK
               : STREAM_WOKEN;
}

static enum outcome exchange(struct request *request, struct dialog *dialog,
                             enum sluice_status *status, bool *reusable)
{
    struct slice answer;
    size_t items;
    *reusable = false;
    enum stream_result result = stream_write(&dialog->stream, buffer_slice(&request->bytes),
                                             (struct until){ request->deadline_us, request->wake });
    if (result == STREAM_WOKEN) {
        return UNSENT_WOKEN;
    }
    if (result != STREAM_OK) {
        // The server does not run a part of a request, but it may have sent a refusal before it
        // closed the connection.
        if (dialog_read(dialog, deadline_in(0), -1, &answer, &items) != STREAM_OK) {
            return UNSENT;
        }
        *status = value_read(answer, items, request->out, request->error);
        return *status ? ANSWERED : UNSENT;
    }
    result = dialog_read(dialog, request->deadline_us, request->wake, &answer, &items);
    bool woken = result == STREAM_WOKEN;
    if (woken && request->call->wait_us && !request->call->stop) {
        result = read_last(dialog, &answer, &items);
    }
    switch (result) {
    case STREAM_OK:
        *status = value_read(answer, items, request->out, request->error);
        // A command that is not in the tables may have changed the connection.
        *reusable = !woken && request->call->command;
        return ANSWERED;
    case STREAM_WOKEN:
        return WOKEN;
    case STREAM_LATE:
        return LATE;
    case STREAM_CLOSED:
    case STREAM_ODD:
        break;
    }
    return UNSURE;
}

bool may_work_later(enum sluice_status status)
{
    return status == SLUICE_UNREACHABLE || status == SLUICE_BUSY;
}

// The error of an attempt that the deadline has ended is less useful than that of the attempt
// before.
static enum sluice_status open_dialog(struct request *request, struct dialog **out)
{
    const struct until until = { request->deadline_us, request->wake, &request->no_connection };
    struct sluice_error why;
    enum sluice_status status = dialog_open(&request->remote->peer, until, out, &why);
    bool cut = may_work_later(status) && monotonic_us() >= request->deadline_us;
    if (status && !(cut && request->error->status)) {
        *request->error = why;
    }
    return status;
}

// One attempt, on a connection that was idle or a new one.
static enum outcome attempt(struct request *request, enum sluice_status *status)
{
    struct remote *remote = request->remote;
    struct dialog *dialog = take_good(remote);
    if (!dialog) {
        *status = open_dialog(request, &dialog);
        if (*status) {
            return may_work_later(*status) ? UNSENT : ANSWERED;
        }
    }
    bool reusable;
    enum outcome outcome = exchange(request, dialog, status, &reusable);
    if (reusable) {
        give_back(remote, dialog);
    } else {
        dialog_close(dialog);
    }
    return outcome;
}

static enum sluice_status lost(const struct request *request)
{
    return fault(request->error, SLUICE_UNKNOWN,
                 "the connection was lost before the answer came: it may have been done, or not");
}

// Tells the operator why the call takes long.
static void say_trouble(const struct request *request, bool sent)
{
    char sentence[SLUICE_MESSAGE_SIZE + 32];
    const struct remote *remote = request->remote;
    if (remote->log) {
        (void)snprintf(sentence, sizeof(sentence), "%s; trying again",
                       sent ? "the connection was lost" : request->error->message);
        remote->log(remote->log_context, SLUICE_LOG_WARNING, sentence);
    }
}

// A command that only reads has changed nothing in any case.
static enum sluice_status give_up(const struct request *request, bool sent)
{
    const struct command *command = request->call->command;
    if (sent && !(command && (command->flags & COMMAND_READS))) {
        return lost(request);
    }
    if (may_work_later(request->error->status)) {
        return request->error->status;
    }
    return fault(request->error, SLUICE_UNREACHABLE, "%s does not answer",
                 request->remote->peer.url.place);
}

// A wait that was interrupted has taken nothing: its connection was ended, and a job that was on
// its way was received before.
static enum sluice_status interrupted(const struct request *request, bool sent)
{
    const struct link_call *call = request->call;
    bool reads = call->command && call->command->flags & COMMAND_READS;
    if (!sent || reads || call->wait_us || call->stop) {
        return fault_interrupted(request->error);
    }
    return fault(request->error, SLUICE_UNKNOWN,
                 "the call was interrupted before the answer came: it may have been done, or not");
}

static enum sluice_status ask(struct request *request)
{
    bool sent = false;
    for (unsigned attempts = 0;; attempts++) {
        enum sluice_status status = write_request(request);
        if (status) {
            return status;
        }
        switch (attempt(request, &status)) {
        case ANSWERED:
            return status;
        case WOKEN:
            return interrupted(request, true);
        case UNSENT_WOKEN:
            return interrupted(request, sent);
        case UNSURE:
            sent = true;
            if (!request->call->repeats) {
                return lost(request);
            }
            break;
        case UNSENT:
            if (request->remote->fail_fast && !sent && request->no_connection) {
                return give_up(request, false);
            }
            break;
        case LATE:
            return give_up(request, true);
        }
        if (attempts == 0) {
            say_trouble(request, sent);
        }
        if (!pause_before(attempts, request->deadline_us, request->wake)) {
            return wake_is_set(request->wake) ? interrupted(request, sent) : give_up(request, sent);
        }
    }
}

// The server ends a wait early enough for its answer to arrive within the deadline of the thread.
static int64_t wait_deadline(int64_t wait_us)
{
    int64_t deadline_us = deadline_in(wait_us);
    int64_t limit_us = deadline_of_thread();
    if (wait_us == 0 || limit_us == INT64_MAX) {
        return deadline_us;
    }
    int64_t left_us = limit_us - monotonic_us();
    limit_us -= left_us / 2 > ANSWER_US ? ANSWER_US : left_us / 2;
    return deadline_us < limit_us ? deadline_us : limit_us;
}

static enum sluice_status remote_call(struct link *link, const struct link_call *call,
                                      struct sluice_value **out, struct sluice_error *error)
{
    struct sluice_error ignored = { .status = SLUICE_OK };
    struct remote *remote = remote_of(link);
    struct request request = {
        .remote = remote,
        .call = call,
        .wait_deadline_us = wait_deadline(call->wait_us),
        .wake = call->stop      ? *call->stop
                : call->wait_us ? remote->wake
                                : remote->halt,
        .out = out,
        .error = error ? error : &ignored,
    };
    *request.error = (struct sluice_error){ .status = SLUICE_OK };
    bool forever = call->wait_us > LINK_FOREVER - remote->timeout_us;
    request.deadline_us =
        deadline_of_call(forever ? INT64_MAX : remote->timeout_us + call->wait_us);
    if (wake_is_set(request.wake)) {
        return fault_interrupted(request.error);
    }
    if (monotonic_us() >= deadline_of_thread()) {
        return fault_timed_out(request.error);
    }
    buffer_init(&request.bytes, &allocator_system, REQUEST_MAX);
    enum sluice_status status = ask(&request);
    buffer_release(&request.bytes);
    return status;
}

// ---------------------------------------------------------------------------------------------

static void remote_interrupt(struct link *link, bool on, bool all)
{
    wake_set(remote_of(link)->wake, on);
    wake_set(remote_of(link)->halt, on && all);
}

// The child makes connections of its own. Those of the parent were closed by their guards.
static void forget(struct fork_guard *guard)
{
    struct remote *remote = (struct remote *)((char *)guard - offsetof(struct remote, guard));
    fork_renew_mutex(&remote->mutex);
    fork_renew_event(remote->wake);
    fork_renew_event(remote->halt);
    remote->idle = NULL;
    remote->idle_count = 0;
}

static void remote_close(struct link *link)
{
    struct remote *remote = remote_of(link);
    fork_guard_remove(&remote->guard);
    struct dialog *dialog;
    while ((dialog = take_idle(remote))) {
        dialog_close(dialog);
    }
    if (remote->wake >= 0) {
        close(remote->wake);
    }
    if (remote->halt >= 0) {
        close(remote->halt);
    }
    stream_distrust(remote->peer.trust);
    pthread_mutex_destroy(&remote->mutex);
    memory_free(remote);
}

static const struct link_ops remote_form = {
    .call = remote_call,
    .listen = remote_listen,
    .interrupt = remote_interrupt,
    .close = remote_close,
};

enum sluice_status remote_open(const struct link_options *options, struct link **out,
                               struct sluice_error *error)
{
    struct remote *remote = memory_zalloc(1, sizeof(*remote));
    if (!remote) {
        return fault_no_memory(error);
    }
    remote->link.ops = &remote_form;
    remote->peer.url = *options->url;
    peer_name(remote->peer.name, options->given->worker ? options->given->worker : "");
    (void)snprintf(remote->peer.password_file, sizeof(remote->peer.password_file), "%s",
                   options->given->password_file ? options->given->password_file : "");
    remote->timeout_us = options->timeout_us;
    remote->log = options->given->log;
    remote->log_context = options->given->log_context;
    remote->fail_fast = options->given->fail_fast;
    remote->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    remote->halt = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (pthread_mutex_init(&remote->mutex, NULL)) {
        memory_free(remote);
        return fault_no_memory(error);
    }
    enum sluice_status status =
        stream_trust(options->url, options->given, &remote->peer.trust, error);
    if (!status && (remote->wake < 0 || remote->halt < 0)) {
        status = fault(error, SLUICE_IO, "no event can be made: %s", strerror(errno));
    }
    if (status) {
        remote_close(&remote->link);
        return status;
    }
    fork_guard_add(&remote->guard, forget);
    *out = &remote->link;
    return SLUICE_OK;
}
