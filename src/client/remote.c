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
// Connections that are idle

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

// One whose other side is still there, or NULL.
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

struct local_call {
    struct remote *remote;
    const struct link_call *call;
    int64_t deadline_us;      // of all of it
    int64_t wait_deadline_us; // of what it waits for
    int wake;                 // -1: nothing but its time ends it
    struct buffer request;
    struct sluice_value **out;
    struct sluice_error *error;
};

enum outcome {
    ANSWERED, // with whatever status
    UNSENT,   // the server cannot have done it
    UNSURE,   // it may have
    LATE,
    WOKEN,        // interrupted: it may have been done
    UNSENT_WOKEN, // interrupted before it was sent
};

// The request's bytes, with the time that is left to wait. When that is over it is still asked for
// what is there by now: a server that could not be reached meanwhile has not said that it is
// nothing.
static enum sluice_status write_request(struct local_call *local_call)
{
    const struct link_call *call = local_call->call;
    struct buffer seconds;
    bool replace = call->wait_word && local_call->wait_deadline_us != INT64_MAX;
    int64_t left_us = local_call->wait_deadline_us - monotonic_us();
    buffer_init(&seconds, &allocator_system, NUM_TEXT_SIZE_MAX);
    num_append_seconds(&seconds, left_us > 0 ? left_us : 1); // 0 would be for ever
    buffer_clear(&local_call->request);
    request_add(&local_call->request, call->words, replace ? call->wait_word : 0,
                buffer_slice(&seconds));
    bool failed = local_call->request.status || seconds.status;
    buffer_release(&seconds);
    return failed ? fault(local_call->error, SLUICE_TOO_LARGE, "the request is too large")
                  : SLUICE_OK;
}

// No more is asked for on this connection: what was on its way comes, or its end.
static enum stream_result read_last(struct dialog *dialog, struct slice *answer, size_t *items)
{
    stream_end(&dialog->stream);
    return dialog_read(dialog, deadline_in(FAREWELL_US), -1, answer, items) == STREAM_OK
               ? STREAM_OK
               : STREAM_WOKEN;
}

static enum outcome exchange(struct local_call *local_call, struct dialog *dialog,
                             enum sluice_status *status, bool *reusable)
{
    struct slice answer;
    size_t items;
    *reusable = false;
    enum stream_result result =
        stream_write(&dialog->stream, buffer_slice(&local_call->request),
                     (struct until){ local_call->deadline_us, local_call->wake });
    if (result == STREAM_WOKEN) {
        return UNSENT_WOKEN;
    }
    if (result != STREAM_OK) {
        // What is not whole is not run; a server that refuses it may have said why before it
        // closed.
        if (dialog_read(dialog, deadline_in(0), -1, &answer, &items) != STREAM_OK) {
            return UNSENT;
        }
        *status = value_read(answer, items, local_call->out, local_call->error);
        return *status ? ANSWERED : UNSENT;
    }
    result = dialog_read(dialog, local_call->deadline_us, local_call->wake, &answer, &items);
    bool woken = result == STREAM_WOKEN;
    if (woken && local_call->call->wait_us && !local_call->call->stop) {
        result = read_last(dialog, &answer, &items);
    }
    switch (result) {
    case STREAM_OK:
        *status = value_read(answer, items, local_call->out, local_call->error);
        // A command that the tables do not have may have changed the connection.
        *reusable = !woken && local_call->call->command;
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

// The reason of an attempt that the deadline cut short says less than that of one before.
static enum sluice_status open_dialog(const struct local_call *local_call, struct dialog **out)
{
    const struct until until = { local_call->deadline_us, local_call->wake };
    struct sluice_error why;
    enum sluice_status status = dialog_open(&local_call->remote->peer, until, out, &why);
    bool cut = may_work_later(status) && monotonic_us() >= local_call->deadline_us;
    if (status && !(cut && local_call->error->status)) {
        *local_call->error = why;
    }
    return status;
}

// One attempt, on a connection that was idle or a new one.
static enum outcome attempt(struct local_call *local_call, enum sluice_status *status)
{
    struct remote *remote = local_call->remote;
    struct dialog *dialog = take_good(remote);
    if (!dialog) {
        *status = open_dialog(local_call, &dialog);
        if (*status) {
            return may_work_later(*status) ? UNSENT : ANSWERED;
        }
    }
    bool reusable;
    enum outcome outcome = exchange(local_call, dialog, status, &reusable);
    if (reusable) {
        give_back(remote, dialog);
    } else {
        dialog_close(dialog);
    }
    return outcome;
}

static enum sluice_status lost(const struct local_call *local_call)
{
    return fault(local_call->error, SLUICE_UNKNOWN,
                 "the connection was lost before the answer came: it may have been done, or not");
}

// An operator may wonder why nothing happens.
static void say_trouble(const struct local_call *local_call, bool sent)
{
    char sentence[SLUICE_MESSAGE_SIZE + 32];
    const struct remote *remote = local_call->remote;
    if (remote->log) {
        (void)snprintf(sentence, sizeof(sentence), "%s; trying again",
                       sent ? "the connection was lost" : local_call->error->message);
        remote->log(remote->log_context, SLUICE_LOG_WARNING, sentence);
    }
}

// One that only reads has done nothing in any case.
static enum sluice_status give_up(const struct local_call *local_call, bool sent)
{
    const struct command *command = local_call->call->command;
    if (sent && !(command && (command->flags & COMMAND_READS))) {
        return lost(local_call);
    }
    if (may_work_later(local_call->error->status)) {
        return local_call->error->status;
    }
    return fault(local_call->error, SLUICE_UNREACHABLE, "%s does not answer",
                 local_call->remote->peer.url.place);
}

// A wait that was interrupted has taken nothing: its connection was ended, and a job that was on its way
// was received before.
static enum sluice_status interrupted(const struct local_call *local_call, bool sent)
{
    const struct link_call *call = local_call->call;
    bool reads = call->command && call->command->flags & COMMAND_READS;
    if (!sent || reads || call->wait_us || call->stop) {
        return fault_interrupted(local_call->error);
    }
    return fault(local_call->error, SLUICE_UNKNOWN,
                 "the call was interrupted before the answer came: it may have been done, or not");
}

static enum sluice_status ask(struct local_call *local_call)
{
    bool sent = false;
    for (unsigned attempts = 0;; attempts++) {
        enum sluice_status status = write_request(local_call);
        if (status) {
            return status;
        }
        switch (attempt(local_call, &status)) {
        case ANSWERED:
            return status;
        case WOKEN:
            return interrupted(local_call, true);
        case UNSENT_WOKEN:
            return interrupted(local_call, sent);
        case UNSURE:
            sent = true;
            if (!local_call->call->repeats) {
                return lost(local_call);
            }
            break;
        case UNSENT:
            break;
        case LATE:
            return give_up(local_call, true);
        }
        if (attempts == 0) {
            say_trouble(local_call, sent);
        }
        if (!pause_before(attempts, local_call->deadline_us, local_call->wake)) {
            return wake_is_set(local_call->wake) ? interrupted(local_call, sent)
                                                 : give_up(local_call, sent);
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
    limit_us -= left_us > 2 * ANSWER_US ? ANSWER_US : left_us / 2;
    return deadline_us < limit_us ? deadline_us : limit_us;
}

static enum sluice_status remote_call(struct link *link, const struct link_call *call,
                                      struct sluice_value **out, struct sluice_error *error)
{
    struct sluice_error ignored = { .status = SLUICE_OK };
    struct remote *remote = remote_of(link);
    struct local_call local_call = {
        .remote = remote,
        .call = call,
        .wait_deadline_us = wait_deadline(call->wait_us),
        .wake = call->stop      ? *call->stop
                : call->wait_us ? remote->wake
                                : remote->halt,
        .out = out,
        .error = error ? error : &ignored,
    };
    *local_call.error = (struct sluice_error){ .status = SLUICE_OK };
    bool forever = call->wait_us > LINK_FOREVER - remote->timeout_us;
    local_call.deadline_us =
        deadline_of_call(forever ? INT64_MAX : remote->timeout_us + call->wait_us);
    if (wake_is_set(local_call.wake)) {
        return fault_interrupted(local_call.error);
    }
    if (monotonic_us() >= deadline_of_thread()) {
        return fault_timed_out(local_call.error);
    }
    buffer_init(&local_call.request, &allocator_system, REQUEST_MAX);
    enum sluice_status status = ask(&local_call);
    buffer_release(&local_call.request);
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
