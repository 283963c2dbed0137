// SPDX-License-Identifier: MIT
// Commands about workers.
#include "engine/lease/workers.h"
#include "api/job_words.h"
#include "api/page.h"

struct list_arguments {
    struct page_words page;
};

static const struct argument list_takes[] = {
    PAGE_OPTIONS(list_arguments),
};

enum {
    QUEUES_SHOWN_MAX = 10, // of each worker in a list
};

static void write_worker(struct call *call, const struct worker_view *view)
{
    struct reply *reply = call->reply;
    reply_map(reply, 11);
    reply_key(reply, "worker");
    reply_text(reply, view->name);
    reply_key(reply, "seen");
    reply_moment(reply, view->seen_us);
    reply_key(reply, "running");
    reply_count(reply, view->running);
    reply_key(reply, "expired");
    reply_count(reply, view->expired);
    reply_key(reply, "offline");
    reply_boolean(reply, view->offline);
    reply_key(reply, "host");
    reply_text_or_null(reply, view->host);
    reply_key(reply, "started");
    reply_moment_or_null(reply, view->started_us);
    reply_key(reply, "pid");
    if (view->pid) {
        reply_integer(reply, view->pid);
    } else {
        reply_null(reply);
    }
    reply_key(reply, "done");
    reply_count(reply, view->done);
    reply_key(reply, "queues");
    size_t count = view->queue_count < QUEUES_SHOWN_MAX ? view->queue_count : QUEUES_SHOWN_MAX;
    const void *position = NULL;
    struct slice queue;
    reply_list(reply, count);
    for (size_t i = 0;
         i < count && engine_worker_queue(call->engine, view->name, &position, &queue); i++) {
        reply_text(reply, queue);
    }
    reply_end(reply);
    reply_key(reply, "queue-count");
    reply_count(reply, view->queue_count);
    reply_end(reply);
}

// The number of workers that will be listed; begins the list.
static size_t begin_list(struct call *call, const struct page_words *page, size_t total)
{
    size_t offset = (size_t)page->offset;
    size_t left = offset < total ? total - offset : 0;
    size_t count = page_count(page) < left ? page_count(page) : left;
    reply_map(call->reply, 2);
    reply_key(call->reply, "total");
    reply_count(call->reply, total);
    reply_key(call->reply, "workers");
    reply_list(call->reply, count);
    return count;
}

// Listing workers makes the engine remove those that are too old to be listed. No client can see
// that change, so the command counts as one that only reads.
static enum status run_workers(struct call *call, struct error *error)
{
    const struct list_arguments *given = call->arguments;
    enum status status = engine_workers_prune(call->engine, call->now_us, error);
    if (status) {
        return status;
    }
    struct worker_view view;
    size_t total = engine_worker_count(call->engine, call->now_us);
    size_t offset = (size_t)given->page.offset;
    size_t count = begin_list(call, &given->page, total);
    for (size_t i = 0; i < count && engine_worker(call->engine, call->now_us, offset + i, &view);
         i++) {
        write_worker(call, &view);
    }
    reply_end(call->reply);
    reply_end(call->reply);
    return STATUS_OK;
}

struct listeners_arguments {
    struct slice queue;
    struct page_words page;
};

static const struct argument listeners_takes[] = {
    ARGUMENT(listeners_arguments, queue, NAME, "queue", "the queue", .about = ABOUT_QUEUE),
    PAGE_OPTIONS(listeners_arguments),
};

static enum status run_listeners(struct call *call, struct error *error)
{
    const struct listeners_arguments *given = call->arguments;
    struct queue_view queue;
    enum status status = engine_workers_prune(call->engine, call->now_us, error);
    if (!status) {
        status = engine_queue(call->engine, call->now_us, given->queue, &queue, error);
    }
    if (status) {
        return status;
    }
    struct worker_view view;
    size_t offset = (size_t)given->page.offset;
    size_t count = begin_list(call, &given->page, queue.listeners);
    for (size_t i = 0; i < count; i++) {
        (void)engine_listener(call->engine, call->now_us, given->queue, offset + i, &view);
        write_worker(call, &view);
    }
    reply_end(call->reply);
    reply_end(call->reply);
    return STATUS_OK;
}

struct worker_arguments {
    struct slice worker;
    struct page_words page;
};

static const struct argument worker_takes[] = {
    ARGUMENT(worker_arguments, worker, NAME, "worker", "the worker"),
    JOB_PAGE_OPTIONS(worker_arguments),
};

// The host of the worker and the queues that it pops from.
static void write_origin(struct call *call, struct slice name)
{
    struct reply *reply = call->reply;
    struct worker_view view = { .offline = true };
    (void)engine_worker_find(call->engine, call->now_us, name, &view);
    reply_key(reply, "seen");
    reply_moment_or_null(reply, view.seen_us);
    reply_key(reply, "started");
    reply_moment_or_null(reply, view.started_us);
    reply_key(reply, "host");
    reply_text_or_null(reply, view.host);
    reply_key(reply, "offline");
    reply_boolean(reply, view.offline);
    reply_key(reply, "queues");
    const void *position = NULL;
    struct slice queue;
    size_t count = 0;
    while (engine_worker_queue(call->engine, name, &position, &queue)) {
        count++;
    }
    reply_list(reply, count);
    while (engine_worker_queue(call->engine, name, &position, &queue)) {
        reply_text(reply, queue);
    }
    reply_end(reply);
}

static enum status run_worker(struct call *call, struct error *error)
{
    const struct worker_arguments *given = call->arguments;
    const struct job *room[PAGE_COUNT_MAX];
    struct page page;
    enum status status = page_start(call, &given->page, room, &page, error);
    if (status) {
        return status;
    }
    reply_map(call->reply, 7);
    engine_worker_jobs(call->engine, call->now_us, given->worker, LIST_RUNNING, &page);
    reply_key(call->reply, "running");
    reply_map(call->reply, 2);
    reply_page_members(call, &given->page, &page);
    reply_end(call->reply);
    struct page expired = { .count = 0 };
    engine_worker_jobs(call->engine, call->now_us, given->worker, LIST_EXPIRED, &expired);
    reply_key(call->reply, "expired");
    reply_count(call->reply, expired.total);
    write_origin(call, given->worker);
    reply_end(call->reply);
    return STATUS_OK;
}

struct workers_arguments {
    struct slices workers;
};

static const struct argument workers_takes[] = {
    REST(workers_arguments, workers, NAME, "worker", "the workers"),
};

static enum status run_deregister(struct call *call, struct error *error)
{
    const struct workers_arguments *given = call->arguments;
    struct worker_view view;
    for (size_t i = 0; i < given->workers.count; i++) {
        if (!engine_worker_find(call->engine, call->now_us, given->workers.items[i], &view)) {
            return error_set(error, STATUS_NOT_FOUND, "worker %.*s is not known",
                             SLICE_PRINT(given->workers.items[i]));
        }
    }
    return call_ok(call,
                   engine_worker_deregister(call->engine, call->now_us, given->workers, error));
}

static const struct argument offline_takes[] = {
    ARGUMENT(worker_arguments, worker, NAME, "worker", "the worker"),
};

static enum status run_offline(struct call *call, struct error *error)
{
    const struct worker_arguments *given = call->arguments;
    return call_ok(call, engine_worker_offline(call->engine, call->now_us, given->worker, error));
}

// ---------------------------------------------------------------------------------------------

static const struct command commands[] = {
    {
        .name = "Q.WORKERS",
        .group = "workers",
        .flags = READS,
        TAKES(list_arguments, list_takes),
        .run = run_workers,
        .summary = "Lists the workers, the most recently seen first.",
        .details = "A worker that was not seen for max-worker-age is forgotten, unless it has a "
                   "connection. A worker is offline when it listens to no queue: it said so, or "
                   "the last connection on which it popped is closed.",
        .replies = "How many there are, and a page of them: when each popped last, how many jobs "
                   "it runs, how many of these have a lease that has expired, the address that it "
                   "popped from, "
                   "since when it listens, the process that it last said a job runs in, how many "
                   "jobs it has completed (since the server started), the newest ten of the "
                   "queues that it listens to, and how many these are.",
        EXAMPLES({ "Q.WORKERS app", "1# \"total\" => (integer) 2\n"
                                    "2# \"workers\" => 1)  1# \"worker\" => \"worker-2\"\n"
                                    "       2# \"seen\" => (double) 1784000030.5\n"
                                    "       3# \"running\" => (integer) 0\n"
                                    "       4# \"expired\" => (integer) 0\n"
                                    "       5# \"offline\" => (false)\n"
                                    "       6# \"host\" => (nil)\n"
                                    "       7# \"started\" => (double) 1784000030.5\n"
                                    "..." }),
    },
    {
        .name = "Q.LISTENERS",
        .group = "workers",
        .flags = READS,
        TAKES(listeners_arguments, listeners_takes),
        .run = run_listeners,
        .summary = "Lists the workers that listen to a queue.",
        .replies = "How many there are, and a page of them as in Q.WORKERS, in the order in which "
                   "they were first seen.",
        EXAMPLES({ "Q.LISTENERS app mail COUNT 1",
                   "1# \"total\" => (integer) 2\n"
                   "2# \"workers\" => 1)  1# \"worker\" => \"worker-1\"\n"
                   "..." }),
    },
    {
        .name = "Q.WORKER",
        .group = "workers",
        .flags = READS,
        TAKES(worker_arguments, worker_takes),
        .run = run_worker,
        .summary = "Shows a worker, and the jobs that it holds, the longest lease first.",
        .replies =
            "How many jobs it runs and a page of them, the longest lease first; how many of "
            "them have a lease that has expired; when it popped last, since when it listens, the "
            "address that it popped from, and the queues that it listens to, the newest "
            "first.",
        EXAMPLES({ "Q.WORKER app worker-1 JIDS", "1# \"running\" => 1# \"total\" => (integer) 1\n"
                                                 "   2# \"jids\" => 1) \"hal\"\n"
                                                 "2# \"expired\" => (integer) 0\n"
                                                 "..." }),
    },
    {
        .name = "Q.WORKER.OFFLINE",
        .group = "workers",
        .flags = SHRINKS,
        TAKES(worker_arguments, offline_takes),
        .run = run_offline,
        .summary = "Reports that a worker listens to no queue until it pops again.",
        .replies = "OK.",
        EXAMPLES({ "Q.WORKER.OFFLINE app worker-1", "OK" }),
    },
    {
        .name = "Q.WORKER.DEREGISTER",
        .group = "workers",
        .flags = SHRINKS | COMMAND_AUDITED | COMMAND_JOB_ACT,
        TAKES(workers_arguments, workers_takes),
        .run = run_deregister,
        .summary = "Removes workers from the list of workers until they pop again. They keep "
                   "their leases.",
        .replies = "OK; NOT_FOUND when one of them is not known, and then none is forgotten.",
        EXAMPLES({ "Q.WORKER.DEREGISTER app worker-1 worker-2", "OK" }),
    },
};

const struct command_table api_workers = TABLE(commands);
