// SPDX-License-Identifier: MIT
#include "client/asking.h"

#include "client/deadline.h"
#include "faces/resp.h"
#include "host/presence.h"

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
    struct asking *asking;
};

static struct asking *asking_of(struct waiter *waiter)
{
    return ((struct sleeper *)waiter)->asking;
}

// ---------------------------------------------------------------------------------------------
// Running it, with the mutex held

// What one run of a command needs and leaves.
struct run {
    struct call call;
    struct resp_form form;
};

static enum status run_it(struct run *run, struct asking *asking, struct ns *ns,
                          struct slices words)
{
    struct folder *folder = asking->folder;
    struct call *call = &run->call;
    resp_form_init(&run->form, &asking->output, RESP_3);
    call->command = asking->command;
    call->ns = ns ? ns_name(ns) : call->ns;
    call->engine = ns ? ns->engine : folder->namespaces.empty;
    call->now_us = folder_now(folder);
    call->reply = &run->form.reply;
    call->host = &folder->services.host;
    call->session = asking;
    if (ns && folder->stuck) {
        ns_touch(ns); // what is due has to wait
    } else if (ns) {
        ns_begin(ns, call->now_us);
    }
    return call_run(call, words, &folder->scratch, &asking->error);
}

static enum status check_output(struct asking *asking)
{
    if (asking->output.status == STATUS_OK) {
        return STATUS_OK;
    }
    return error_set(&asking->error, asking->output.status, "%s: %s", asking->command->name,
                     asking->output.status == STATUS_TOO_LARGE ? "the answer is too large"
                                                               : "no memory for the answer");
}

static void answer(struct asking *asking, enum status status)
{
    asking->status = status ? status : check_output(asking);
    waiter_end(asking->waiter);
    asking->waiter = NULL;
    asking->next = asking->folder->answered;
    asking->folder->answered = asking;
}

static bool again(struct waiter *waiter, bool last)
{
    struct asking *asking = asking_of(waiter);
    struct run run = {
        .call = { .last = last, .finish = waiter_finish(waiter), .waiter = waiter->number }
    };
    enum status status = run_it(&run, asking, waiter->ns, waiter->words);
    if (!status && run.call.wait.kind != WAIT_NONE) {
        return false;
    }
    answer(asking, status);
    return true;
}

static void fail(struct waiter *waiter, const struct error *error)
{
    struct asking *asking = asking_of(waiter);
    answer(asking, error_copy(&asking->error, error));
}

const struct waiting_form asking_form = { again, fail };

void asking_tell(struct asking *asking, uint64_t group)
{
    int event = asking->event;
    asking->group = group;
    atomic_store_explicit(&asking->told, true, memory_order_release);
    (void)eventfd_write(event, 1); // the call ends, and is gone, as soon as it sees it
}

void asking_popped(const struct call *call, struct slice worker)
{
    const struct asking *asking = call->session;
    struct ns *ns = namespaces_find(&asking->folder->namespaces, call->ns);
    char host[HOST_NAME_MAX + 1] = "";
    if (ns) {
        (void)gethostname(host, sizeof(host) - 1);
        presence_note(asking->presences, ns, worker, slice_from_cstr(host));
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
        const struct timespec left = { .tv_sec = left_us / 1000000,
                                       .tv_nsec = left_us % 1000000 * 1000 };
        int count = ppoll(of, 2, left_us == INT64_MAX ? NULL : &left, NULL);
        if (count > 0) {
            return of[0].revents ? WAKEUP_EVENT : WAKEUP_INTERRUPT;
        }
        if (left_us == 0) {
            return WAKEUP_TIME;
        }
    }
}

// Nothing came: it is no longer in line, unless it was answered just now.
static void give_up(struct asking *asking, enum wakeup why)
{
    struct folder *folder = asking->folder;
    pthread_mutex_lock(&folder->mutex);
    if (asking->waiter && why == WAKEUP_TIME) {
        struct error ignored;
        (void)folder_begin_turn(folder, &ignored); // which fails those who wait if it has to
        if (asking->waiter) {
            (void)again(asking->waiter, true);
        }
        (void)folder_end_turn(folder);
    } else if (asking->waiter) {
        waiter_end(asking->waiter);
        asking->waiter = NULL;
        asking->interrupted = true;
    }
    pthread_mutex_unlock(&folder->mutex);
}

static void wait_for_answer(struct asking *asking, int64_t deadline_us)
{
    enum wakeup wakeup = sleep_until(asking->event, asking->interrupt, deadline_us);
    if (wakeup != WAKEUP_EVENT) {
        give_up(asking, wakeup);
    } else {
        eventfd_t count;
        (void)eventfd_read(asking->event, &count);
        bool told = atomic_load_explicit(&asking->told, memory_order_acquire);
        assert(told);
    }
}

// Gets in line, with the mutex held.
static enum status get_in_line(struct asking *asking, struct ns *ns, const struct call *call,
                               struct slices words)
{
    asking->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (asking->event < 0) {
        engine_wait_end(ns->engine, call->waiter);
        return error_set(&asking->error, STATUS_IO, "no event can be made: %s",
                         strerrordesc_np(errno));
    }
    enum status status =
        waiter_new(ns, call, words, sizeof(struct sleeper), &asking->waiter, &asking->error);
    if (status) {
        asking->waiter = NULL;
    } else {
        ((struct sleeper *)asking->waiter)->asking = asking;
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Work that takes long is done by the thread that asked for it, without the mutex

enum status asking_start(struct call *call, const struct work *work, struct error *error)
{
    struct asking *asking = call->session;
    if (asking->folder->working) {
        return error_set(error, STATUS_BUSY, "a %s is being made already", work->name);
    }
    asking->folder->working = true;
    asking->works = true;
    asking->work = *work;
    call->wait.kind = WAIT_HOST;
    return STATUS_OK;
}

static void do_work(struct asking *asking)
{
    struct folder *folder = asking->folder;
    asking->status = asking->work.run(asking->work.context, &asking->error);
    if (!asking->status) {
        struct resp_form form;
        resp_form_init(&form, &asking->output, RESP_3);
        asking->work.answer(asking->work.context, &form.reply);
        asking->status = check_output(asking);
    }
    asking->work.release(asking->work.context);
    pthread_mutex_lock(&folder->mutex);
    folder->working = false;
    pthread_mutex_unlock(&folder->mutex);
}

// ---------------------------------------------------------------------------------------------

// The first run of it. Gives until when it waits, or 0.
static int64_t run_first(struct asking *asking, struct slices words)
{
    struct folder *folder = asking->folder;
    struct ns *ns = NULL;
    struct run run = { .call = { .waiter = ++folder->number } };
    struct call *call = &run.call;
    enum status status =
        folder_admit(folder, asking->command, deadline_in(asking->timeout_us), &asking->error);
    if (!status && (asking->command->flags & COMMAND_NAMESPACE)) {
        status = namespaces_for(&folder->namespaces, asking->command, words.items[0], &ns,
                                &asking->error);
        call->ns = words.items[0];
        words = (struct slices){ words.items + 1, words.count - 1 };
        call->last = !ns; // what is not there cannot be waited for
    }
    if (!status) {
        status = run_it(&run, asking, ns, words);
    }
    bool waits = !status && ns && (call->wait.kind == WAIT_POP || call->wait.kind == WAIT_FINISH);
    if (waits) {
        status = get_in_line(asking, ns, call, words);
    }
    if (status || !waits) {
        asking->status = status ? status : check_output(asking);
        if (ns) {
            ns_drop_unused(ns);
        }
        return 0;
    }
    return deadline_in(call->wait.timeout_us);
}

static void settle(struct asking *asking, uint64_t group)
{
    struct error error;
    enum status status =
        folder_settle(asking->folder, group, deadline_in(asking->timeout_us), &error);
    if (status) {
        asking->unsettled = status == STATUS_BUSY && (asking->command->flags & COMMAND_WRITES);
        asking->status = error_copy(&asking->error, &error);
    }
}

static enum status check(struct asking *asking, struct slices words)
{
    if (!(asking->command->flags & COMMAND_NAMESPACE)) {
        return STATUS_OK;
    }
    return namespaces_check_name(asking->command, words.count ? words.items[0] : SLICE_EMPTY,
                                 &asking->error);
}

void asking_run(struct asking *asking, struct slices words)
{
    struct folder *folder = asking->folder;
    asking->event = -1;
    asking->status = check(asking, words);
    if (asking->status) {
        return;
    }
    pthread_mutex_lock(&folder->mutex);
    int64_t wait_until_us = run_first(asking, words);
    uint64_t group = folder_end_turn(folder);
    pthread_mutex_unlock(&folder->mutex);
    if (wait_until_us) {
        wait_for_answer(asking, wait_until_us);
        group = asking->group;
    }
    if (asking->event >= 0) {
        (void)close(asking->event);
    }
    if (!asking->interrupted) {
        settle(asking, group);
    }
    if (asking->works) {
        do_work(asking);
    }
}
