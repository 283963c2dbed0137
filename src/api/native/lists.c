// SPDX-License-Identifier: MIT
// Commands that list jobs by a common property, and failures.
#include "engine/look/list.h"

#include "api/job_words.h"
#include "api/page.h"
#include "base/ascii.h"
#include "base/num.h"

#include <stdio.h>

// ---------------------------------------------------------------------------------------------
// The cursor of a list that needs more than one index, as digits

enum {
    CURSOR_SIZE = 2 + 3 * 16 + 1, // stage, part, container, key, and whether it is in an index
};

static bool read_list_cursor(struct slice text, struct list_cursor *out)
{
    static const size_t sizes[] = { 1, 1, 16, 16, 16, 1 };
    uint64_t values[6] = { 0 };
    size_t from = 0;
    if (text.size != CURSOR_SIZE) {
        return false;
    }
    for (size_t i = 0; i < 6; from += sizes[i++]) {
        if (!ascii_hex_read(slice_sub(text, from, sizes[i]), &values[i])) {
            return false;
        }
    }
    *out = (struct list_cursor){ .set = true,
                                 .inside = values[5] > 0,
                                 .stage = (uint8_t)values[0],
                                 .part = (uint8_t)values[1],
                                 .container = values[2],
                                 .key = { values[3], values[4] } };
    return true;
}

static void write_list_cursor(struct reply *reply, const struct list_cursor *at)
{
    char text[CURSOR_SIZE + 1];
    (void)snprintf(text, sizeof(text), "%x%x%016llx%016llx%016llx%x", at->stage & 15U,
                   at->part & 15U, (unsigned long long)at->container,
                   (unsigned long long)at->key.high, (unsigned long long)at->key.low,
                   at->inside ? 1U : 0U);
    reply_text(reply, slice_from_cstr(text));
}

// ---------------------------------------------------------------------------------------------
// Jobs

// The first means all; the others are enum list.
static const char *const list_words[] = { "any",     "waiting",  "running", "stalled", "scheduled",
                                          "depends", "complete", "failed",  "expired", NULL };
_Static_assert(sizeof(list_words) / sizeof(list_words[0]) == LIST_COUNT + 2,
               "one word for each list, in the order of enum list");

struct jobs_arguments {
    int64_t state;
    struct slice queue, klass, worker, tag, domain, group;
    struct page_words page;
};

static const struct argument jobs_takes[] = {
    OPTIONAL(jobs_arguments, state, WORD, "state", "the state that they are in (any)",
             .words = list_words),
    OPTIONAL(jobs_arguments, queue, NAME, "queue",
             "the queue that they are in, or finished in; all of them when it is not given",
             .about = ABOUT_QUEUE),
    OPTION(jobs_arguments, klass, NAME, "KLASS", "only jobs of that klass"),
    OPTION(jobs_arguments, worker, NAME, "WORKER", "only jobs that the worker holds"),
    OPTION(jobs_arguments, tag, NAME, "TAGGED", "only jobs with that tag"),
    OPTION(jobs_arguments, domain, NAME, "DOMAIN", "only jobs of that domain"),
    OPTION(jobs_arguments, group, NAME, "GROUP", "only jobs that have failed in that group"),
    LONG_PAGE_OPTIONS(jobs_arguments),
};

// Whether one index contains exactly the requested jobs, in their order.
static bool is_plain(const struct jobs_arguments *given)
{
    bool filtered = given->klass.size || given->worker.size || given->tag.size ||
                    given->domain.size || given->group.size;
    return given->state && !filtered &&
           (given->queue.size || list_has_all((enum list)(given->state - 1)));
}

static enum status run_plain(struct call *call, struct error *error)
{
    const struct jobs_arguments *given = call->arguments;
    const struct job *room[PAGE_COUNT_MAX];
    struct page page;
    enum status status = page_start(call, &given->page, room, &page, error);
    if (!status) {
        status = engine_jobs(call->engine, call->now_us, (enum list)(given->state - 1),
                             given->queue, &page, error);
    }
    if (!status) {
        reply_page(call, &given->page, &page);
    }
    return status;
}

static enum status run_filtered(struct call *call, struct error *error)
{
    const struct jobs_arguments *given = call->arguments;
    const struct job *room[PAGE_COUNT_MAX];
    struct list_request request = { .lists = given->state ? 1U << (given->state - 1) : 0,
                                    .queue = given->queue,
                                    .klass = given->klass,
                                    .worker = given->worker,
                                    .tag = given->tag,
                                    .domain = given->domain,
                                    .group = given->group,
                                    .count = page_count(&given->page),
                                    .jobs = room };
    struct list_result result;
    if (given->page.offset) {
        return error_set(error, STATUS_INVALID,
                         "%s: OFFSET cannot be given for such a list; CURSOR leads on",
                         call->command->name);
    }
    if (given->page.cursor.size && !read_list_cursor(given->page.cursor, &request.from)) {
        return page_refuse_cursor(call, error);
    }
    enum status status = engine_list(call->engine, call->now_us, &request, &result, error);
    if (status) {
        return status;
    }
    reply_map(call->reply, 3);
    reply_key(call->reply, "total");
    if (result.has_total) {
        reply_count(call->reply, result.total);
    } else {
        reply_null(call->reply);
    }
    reply_page_jobs(call, &given->page, room, result.found);
    reply_key(call->reply, "next");
    if (result.more) {
        write_list_cursor(call->reply, &result.next);
    } else {
        reply_null(call->reply);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

static enum status run_jobs(struct call *call, struct error *error)
{
    return is_plain(call->arguments) ? run_plain(call, error) : run_filtered(call, error);
}

// ---------------------------------------------------------------------------------------------
// Failures

enum {
    MESSAGE_SHOWN_SIZE = 1024, // bytes of the newest message of a group
};

struct groups_arguments {
    struct page_words page;
};

static const struct argument groups_takes[] = {
    PAGE_OPTIONS(groups_arguments),
    OPTION(groups_arguments, page.cursor, TEXT, "CURSOR",
           "where to go on: what the page before gave as `next`"),
};

static void write_group(struct call *call, const struct failure_group_view *view)
{
    struct job_view job;
    job_view(call->engine, view->newest, &job);
    reply_map(call->reply, 7);
    reply_key(call->reply, "group");
    reply_text(call->reply, view->name);
    reply_key(call->reply, "count");
    reply_count(call->reply, view->count);
    reply_key(call->reply, "first");
    reply_moment(call->reply, view->first_us);
    reply_key(call->reply, "last");
    reply_moment(call->reply, view->last_us);
    reply_key(call->reply, "jid");
    reply_text(call->reply, job.jid);
    reply_key(call->reply, "klass");
    reply_text(call->reply, job.klass);
    reply_key(call->reply, "message");
    reply_text(call->reply, text_up_to(job.failure_message, MESSAGE_SHOWN_SIZE));
    reply_end(call->reply);
}

static enum status run_failures(struct call *call, struct error *error)
{
    const struct groups_arguments *given = call->arguments;
    struct index_key after;
    const struct index_key *from = NULL;
    struct failure_group_view view;
    size_t offset = (size_t)given->page.offset, count = 0;
    if (given->page.cursor.size) {
        enum status status = page_read_cursor(call, given->page.cursor, &after, error);
        if (status) {
            return status;
        }
        from = &after;
    }
    while (count < page_count(&given->page) &&
           engine_failure_group_after(call->engine, from, offset + count, &view)) {
        count++;
    }
    reply_map(call->reply, 3);
    reply_key(call->reply, "total");
    reply_count(call->reply, engine_failure_group_count(call->engine));
    reply_key(call->reply, "failures");
    reply_list(call->reply, count);
    for (size_t i = 0;
         i < count && engine_failure_group_after(call->engine, from, offset + i, &view); i++) {
        write_group(call, &view);
    }
    reply_end(call->reply);
    reply_key(call->reply, "next");
    struct failure_group_view behind;
    bool more = count && engine_failure_group_after(call->engine, from, offset + count, &behind);
    reply_page_next(call->reply, more ? &view.place : NULL);
    reply_end(call->reply);
    return STATUS_OK;
}

struct failed_arguments {
    struct slice group;
    struct page_words page;
};

static const struct argument failed_takes[] = {
    ARGUMENT(failed_arguments, group, NAME, "group", "the kind of failure"),
    LONG_PAGE_OPTIONS(failed_arguments),
};

static enum status run_failed(struct call *call, struct error *error)
{
    const struct failed_arguments *given = call->arguments;
    const struct job *room[PAGE_COUNT_MAX];
    struct page page;
    enum status status = page_start(call, &given->page, room, &page, error);
    if (!status) {
        engine_failed(call->engine, given->group, &page);
        reply_page(call, &given->page, &page);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------

static const struct command commands[] = {
    {
        .name = "Q.JOBS",
        .group = "queues",
        .flags = READS,
        TAKES(jobs_arguments, jobs_takes),
        .run = run_jobs,
        .summary = "Lists jobs by state, queue, klass, worker, tag or domain.",
        .details =
            "A stalled job is first in line again, since its lease was lost or ended. expired "
            "lists "
            "the running jobs whose lease has expired and whose worker may still finish them. "
            "Complete and failed jobs are "
            "listed from the newest on, by the queue that they finished in. "
            "running without a queue and without options lists the jobs from the "
            "one popped first on. A call looks at 1,000 jobs at most: "
            "when few of them match, a page has fewer than COUNT jobs, or none, and a "
            "`next` that leads on. OFFSET is refused where the list is not that of one "
            "index (options, or no queue).",
        .replies = "How many there are, or null when that is not counted; a page of them; and the "
                   "CURSOR of the page behind it, null at the end.",
        EXAMPLES({ "Q.JOBS app scheduled mail COUNT 10 JIDS", "1# \"total\" => (integer) 2\n"
                                                              "2# \"jids\" => 1) \"cat\"\n"
                                                              "   2) \"gil\"\n"
                                                              "3# \"next\" => (nil)" },
                 { "Q.JOBS app complete mail JIDS", "1# \"total\" => (integer) 1\n"
                                                    "2# \"jids\" => 1) \"ann\"\n"
                                                    "3# \"next\" => (nil)" },
                 { "Q.JOBS app any KLASS Send WORKER worker-2 JIDS",
                   "1# \"total\" => (nil)\n"
                   "2# \"jids\" => (empty array)\n"
                   "3# \"next\" => (nil)" }),
    },
    {
        .name = "Q.FAILURES",
        .group = "queues",
        .flags = READS,
        TAKES(groups_arguments, groups_takes),
        .run = run_failures,
        .summary = "Lists the kinds of failures, in order of creation.",
        .replies = "How many groups there are; a page of them, each with how many jobs have failed "
                   "in it, when the first and the last of these failed, and the jid, the klass "
                   "and the message (its first 1,024 bytes) of the last; and the CURSOR of the "
                   "page behind it.",
        EXAMPLES({ "Q.FAILURES app", "1# \"total\" => (integer) 1\n"
                                     "2# \"failures\" => 1) 1# \"group\" => \"smtp\"\n"
                                     "      2# \"count\" => (integer) 3\n"
                                     "..." }),
    },
    {
        .name = "Q.FAILED",
        .group = "queues",
        .flags = READS,
        TAKES(failed_arguments, failed_takes),
        .run = run_failed,
        .summary = "Lists the jobs that have failed in a group, the newest failure first.",
        .replies = "How many there are, a page of them, and the CURSOR of the page behind it.",
        EXAMPLES({ "Q.FAILED app smtp COUNT 2 JIDS", "1# \"total\" => (integer) 3\n"
                                                     "2# \"jids\" => 1) \"fay\"\n"
                                                     "   2) \"eve\"\n"
                                                     "3# \"next\" => "
                                                     "\"00000000000000060000000000000006\"" }),
    },
};

const struct command_table api_lists = TABLE(commands);
