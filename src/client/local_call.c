// SPDX-License-Identifier: MIT
#include "client/local_call.h"

#include "client/deadline.h"
#include "faces/resp.h"
#include "host/presence.h"
#include "os/clock.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

// The waiter of a call.
struct sleeper {
    struct waiter waiter; // first
    struct local_call *local_call;
};

static struct local_call *local_call_of(struct waiter *waiter)
{
    return ((struct sleeper *)waiter)->local_call;
}

// ---------------------------------------------------------------------------------------------
// Running it, with the mutex held

// One run of a command.
struct run {
    struct call call;
    struct resp_writer writer;
};

static enum status run_it(struct run *run, struct local_call *local_call, struct ns *ns,
                          struct slices words)
{
    struct folder *folder = local_call->folder;
    struct call *call = &run->call;
    resp_writer_init(&run->writer, &local_call->output, local_call->version);
    call->command = local_call->command;
    call->ns = ns ? ns_name(ns) : call->ns;
    call->engine = ns ? ns->engine : folder->namespaces.empty;
    call->now_us = folder_now(folder);
    call->reply = &run->writer.reply;
    call->host = &folder->services.host;
    call->session = local_call;
    if (ns && folder->stuck) {
        ns_touch(ns); // due work is delayed
    } else if (ns) {
        ns_begin(ns, call->now_us);
    }
    return call_run(call, words, &folder->scratch, &local_call->error);
}

static enum status check_output(struct local_call *local_call)
{
    if (local_call->output.status == STATUS_OK) {
        return STATUS_OK;
    }
    return error_set(&local_call->error, local_call->output.status, "%s: %s",
                     local_call->command->name,
                     local_call->output.status == STATUS_TOO_LARGE ? "the answer is too large"
                                                                   : "no memory for the answer");
}

static void answer(struct local_call *local_call, enum status status)
{
    local_call->status = status ? status : check_output(local_call);
    waiter_end(local_call->waiter);
    local_call->waiter = NULL;
    local_call->next = local_call->folder->answered;
    local_call->folder->answered = local_call;
}

static bool again(struct waiter *waiter, bool last)
{
    struct local_call *local_call = local_call_of(waiter);
    struct run run = {
        .call = { .last = last, .finish = waiter_finish(waiter), .waiter = waiter->number }
    };
    enum status status = run_it(&run, local_call, waiter->ns, waiter->words);
    if (!status && run.call.wait.kind != WAIT_NONE) {
        return false;
    }
    answer(local_call, status);
    return true;
}

static void fail(struct waiter *waiter, const struct error *error)
{
    struct local_call *local_call = local_call_of(waiter);
    answer(local_call, error_copy(&local_call->error, error));
}

const struct waiting_ops local_call_ops = { again, fail };

void local_call_tell(struct local_call *local_call, uint64_t group)
{
    int event = local_call->event;
    local_call->group = group;
    atomic_store_explicit(&local_call->told, true, memory_order_release);
    (void)eventfd_write(
        event, 1); // the call ends as soon as it sees the event: it must not be used after this
}

void local_call_popped(const struct call *call, struct slice worker)
{
    const struct local_call *local_call = call->session;
    struct ns *ns = namespaces_find(&local_call->folder->namespaces, call->ns);
    char host[HOST_NAME_MAX + 1] = "";
    if (ns) {
        (void)gethostname(host, sizeof(host) - 1);
        presence_note(local_call->presences, ns, worker, slice_from_cstr(host));
    }
}

// ---------------------------------------------------------------------------------------------
// Sleeping

enum wakeup sleep_until(int event, int interrupt, int64_t deadline_us)
{
    struct pollfd of[2] = { { .fd = event, .events = POLLIN },
                            { .fd = interrupt, .events = POLLIN } };
    for (;;) {
        int64_t left_us = deadline_us == INT64_MAX ? INT64_MAX : deadline_us - monotonic_us();
        left_us = left_us > 0 ? left_us : 0;
        const struct timespec left = timespec_from_us(left_us);
        int count = ppoll(of, 2, left_us == INT64_MAX ? NULL : &left, NULL);
        if (count > 0) {
            return of[0].revents ? WAKEUP_EVENT : WAKEUP_INTERRUPT;
        }
        if (left_us == 0) {
            return WAKEUP_TIME;
        }
    }
}

// Ends a wait without an answer, unless the call was answered just now.
static void give_up(struct local_call *local_call, enum wakeup why)
{
    struct folder *folder = local_call->folder;
    pthread_mutex_lock(&folder->mutex);
    if (local_call->waiter && why == WAKEUP_TIME) {
        struct error ignored;
        (void)folder_begin_turn(folder, &ignored); // fails waiting calls if the store has failed
        if (local_call->waiter) {
            (void)again(local_call->waiter, true);
        }
        (void)folder_end_turn(folder);
    } else if (local_call->waiter) {
        waiter_end(local_call->waiter);
        local_call->waiter = NULL;
        local_call->interrupted = true;
    }
    pthread_mutex_unlock(&folder->mutex);
}

static void wait_for_answer(struct local_call *local_call, int64_t deadline_us)
{
    enum wakeup wakeup = sleep_until(local_call->event, local_call->interrupt, deadline_us);
    if (wakeup != WAKEUP_EVENT) {
        give_up(local_call, wakeup);
    } else {
        eventfd_t count;
        (void)eventfd_read(local_call->event, &count);
        bool told = atomic_load_explicit(&local_call->told, memory_order_acquire);
        assert(told);
    }
}

// Adds the call to the waiting ones, with the mutex held.
static enum status get_in_line(struct local_call *local_call, struct ns *ns,
                               const struct call *call, struct slices words)
{
    local_call->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (local_call->event < 0) {
        engine_wait_end(ns->engine, call->waiter);
        return error_set(&local_call->error, STATUS_IO, "no event can be made: %s",
                         strerrordesc_np(errno));
    }
    enum status status = waiter_new(ns, call, words, sizeof(struct sleeper), &local_call->waiter,
                                    &local_call->error);
    if (status) {
        local_call->waiter = NULL;
    } else {
        ((struct sleeper *)local_call->waiter)->local_call = local_call;
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Long work is done by the calling thread, without the mutex

enum status local_call_start(struct call *call, const struct work *work, struct error *error)
{
    struct local_call *local_call = call->session;
    if (local_call->folder->working) {
        return error_set(error, STATUS_BUSY, "a %s is being made already", work->name);
    }
    local_call->folder->working = true;
    local_call->works = true;
    local_call->work = *work;
    call->wait.kind = WAIT_HOST;
    return STATUS_OK;
}

static void do_work(struct local_call *local_call)
{
    struct folder *folder = local_call->folder;
    local_call->status = local_call->work.run(local_call->work.context, &local_call->error);
    if (!local_call->status) {
        struct resp_writer writer;
        resp_writer_init(&writer, &local_call->output, local_call->version);
        local_call->work.answer(local_call->work.context, &writer.reply);
        local_call->status = check_output(local_call);
    }
    local_call->work.release(local_call->work.context);
    pthread_mutex_lock(&folder->mutex);
    folder->working = false;
    pthread_mutex_unlock(&folder->mutex);
}

// ---------------------------------------------------------------------------------------------

// Runs the command for the first time. Returns until when the call waits, or 0.
static int64_t run_first(struct local_call *local_call, struct slices words)
{
    struct folder *folder = local_call->folder;
    struct ns *ns = NULL;
    struct run run = { .call = { .waiter = ++folder->number } };
    struct call *call = &run.call;
    enum status status = folder_admit(folder, local_call->command,
                                      deadline_of_call(local_call->timeout_us), &local_call->error);
    if (!status && (local_call->command->flags & COMMAND_NAMESPACE)) {
        status = namespaces_for(&folder->namespaces, local_call->command, words.items[0], &ns,
                                &local_call->error);
        call->ns = words.items[0];
        words = (struct slices){ words.items + 1, words.count - 1 };
        call->last = !ns; // without a namespace there is nothing to wait for
    }
    if (!status) {
        status = run_it(&run, local_call, ns, words);
    }
    bool waits = !status && ns && (call->wait.kind == WAIT_POP || call->wait.kind == WAIT_FINISH);
    if (waits) {
        status = get_in_line(local_call, ns, call, words);
    }
    if (status || !waits) {
        local_call->status = status ? status : check_output(local_call);
        if (ns) {
            ns_drop_unused(ns);
        }
        return 0;
    }
    return deadline_of_call(call->wait.timeout_us);
}

static void settle(struct local_call *local_call, uint64_t group)
{
    struct error error;
    enum status status =
        folder_settle(local_call->folder, group, deadline_of_call(local_call->timeout_us), &error);
    if (status) {
        local_call->unsettled =
            status == STATUS_BUSY && (local_call->command->flags & COMMAND_WRITES);
        local_call->status = error_copy(&local_call->error, &error);
    }
}

static enum status check(struct local_call *local_call, struct slices words)
{
    if (!(local_call->command->flags & COMMAND_NAMESPACE)) {
        return STATUS_OK;
    }
    return namespaces_check_name(local_call->command, words.count ? words.items[0] : SLICE_EMPTY,
                                 &local_call->error);
}

void local_call_run(struct local_call *local_call, struct slices words)
{
    struct folder *folder = local_call->folder;
    local_call->event = -1;
    local_call->status = check(local_call, words);
    if (local_call->status) {
        return;
    }
    pthread_mutex_lock(&folder->mutex);
    int64_t wait_until_us = run_first(local_call, words);
    uint64_t group = folder_end_turn(folder);
    pthread_mutex_unlock(&folder->mutex);
    if (wait_until_us) {
        wait_for_answer(local_call, wait_until_us);
        group = local_call->group;
    }
    if (local_call->event >= 0) {
        (void)close(local_call->event);
    }
    if (!local_call->interrupted) {
        settle(local_call, group);
    }
    if (local_call->works) {
        do_work(local_call);
    }
}
