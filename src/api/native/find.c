// SPDX-License-Identifier: MIT
// Commands that search jobs by their contents, in the background.
#include "engine/look/find.h"

#include "api/job_words.h"
#include "api/page.h"

static const char *const state_words[] = { "any",     "waiting",  "running", "stalled", "scheduled",
                                           "depends", "complete", "failed",  "expired", NULL };
_Static_assert(sizeof(state_words) / sizeof(state_words[0]) == LIST_COUNT + 2,
               "one word for each list, in the order of enum list");

struct find_arguments {
    int64_t state;
    struct slice queue, klass, worker, tag, domain, group, jid;
    struct slices words, texts;
};

static const struct argument find_takes[] = {
    OPTION_EACH(find_arguments, texts, TEXT, "TEXT",
                "only jobs that have it in their jid, their klass or their data; up to 16"),
    OPTION(find_arguments, jid, TEXT, "JID", "only jobs that have it in their jid"),
    OPTION_EACH(find_arguments, words, TEXT, "WORD",
                "only jobs that have it in their data; up to 16"),
    OPTION(find_arguments, state, WORD, "STATE", "only jobs in that state (any), as in Q.JOBS",
           .words = state_words),
    OPTION(find_arguments, queue, NAME, "QUEUE", "only jobs of that queue", .about = ABOUT_QUEUE),
    OPTION(find_arguments, klass, NAME, "KLASS", "only jobs of that klass"),
    OPTION(find_arguments, worker, NAME, "WORKER", "only jobs that the worker holds"),
    OPTION(find_arguments, tag, NAME, "TAGGED", "only jobs with that tag"),
    OPTION(find_arguments, domain, NAME, "DOMAIN", "only jobs of that domain"),
    OPTION(find_arguments, group, NAME, "GROUP", "only jobs that have failed in that group"),
};

// Writes seven members of a map that has been begun.
static void write_find(struct reply *reply, const struct find_view *view)
{
    reply_key(reply, "id");
    reply_count(reply, view->id);
    reply_key(reply, "done");
    reply_boolean(reply, view->done);
    reply_key(reply, "full");
    reply_boolean(reply, view->full);
    reply_key(reply, "began");
    reply_moment(reply, view->began_us);
    reply_key(reply, "looked-at");
    reply_count(reply, view->looked_at);
    reply_key(reply, "total");
    reply_count(reply, view->total);
    reply_key(reply, "found");
    reply_count(reply, view->found);
}

static enum status run_find(struct call *call, struct error *error)
{
    const struct find_arguments *given = call->arguments;
    const struct find_request request = {
        .list = { .lists = given->state ? 1U << (given->state - 1) : 0,
                  .queue = given->queue,
                  .klass = given->klass,
                  .worker = given->worker,
                  .tag = given->tag,
                  .domain = given->domain,
                  .group = given->group },
        .jid = given->jid,
        .words = given->words,
        .texts = given->texts,
    };
    uint64_t id;
    struct find_view view;
    enum status status = engine_find(call->engine, call->now_us, &request, &id, error);
    if (!status && engine_find_get(call->engine, id, &view)) {
        reply_map(call->reply, 7);
        write_find(call->reply, &view);
        reply_end(call->reply);
    }
    return status;
}

static enum status run_finds(struct call *call, struct error *error)
{
    (void)error;
    struct find_view view;
    size_t count = 0;
    while (engine_find_at(call->engine, count, &view)) {
        count++;
    }
    reply_list(call->reply, count);
    for (size_t i = 0; i < count && engine_find_at(call->engine, i, &view); i++) {
        reply_map(call->reply, 7);
        write_find(call->reply, &view);
        reply_end(call->reply);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

struct id_arguments {
    int64_t id;
    struct page_words page;
};

static const struct argument id_takes[] = {
    ARGUMENT(id_arguments, id, INTEGER, "id", "the search's number", .min = 1, .max = INT64_MAX),
};

static const struct argument get_takes[] = {
    ARGUMENT(id_arguments, id, INTEGER, "id", "the search's number", .min = 1, .max = INT64_MAX),
    JOB_PAGE_OPTIONS(id_arguments),
};

static void write_found(struct call *call, const struct page_words *words, struct slice jid,
                        const struct job *job)
{
    if (words->jids) {
        reply_text(call->reply, jid);
    } else if (!job) {
        reply_null(call->reply);
    } else if (words->has_data_max) {
        reply_job_cut(call->reply, call->engine, job, (size_t)words->data_max);
    } else {
        reply_job(call->reply, call->engine, job);
    }
}

static enum status run_get(struct call *call, struct error *error)
{
    const struct id_arguments *given = call->arguments;
    uint64_t id = (uint64_t)given->id;
    size_t offset = (size_t)given->page.offset;
    struct find_view view;
    if (!engine_find_get(call->engine, id, &view)) {
        return error_set(error, STATUS_NOT_FOUND, "search %lld does not exist",
                         (long long)given->id);
    }
    size_t left = offset < view.found ? view.found - offset : 0;
    size_t count = page_count(&given->page) < left ? page_count(&given->page) : left;
    reply_map(call->reply, 8);
    write_find(call->reply, &view);
    reply_text(call->reply, given->page.jids ? SLICE("jids") : SLICE("jobs"));
    reply_list(call->reply, count);
    struct slice jid;
    const struct job *job;
    for (size_t i = 0; i < count && engine_find_job(call->engine, id, offset + i, &jid, &job);
         i++) {
        write_found(call, &given->page, jid, job);
    }
    reply_end(call->reply);
    reply_end(call->reply);
    return STATUS_OK;
}

static enum status run_drop(struct call *call, struct error *error)
{
    const struct id_arguments *given = call->arguments;
    return call_ok(call, engine_find_drop(call->engine, (uint64_t)given->id, error));
}

// ---------------------------------------------------------------------------------------------

static const struct command commands[] = {
    {
        .name = "Q.FIND",
        .group = "queues",
        .flags = READS,
        TAKES(find_arguments, find_takes),
        .run = run_find,
        .summary = "Looks for jobs by what is in them: the first at once, the others in the "
                   "background.",
        .details = "Everything that is given must match; small and capital letters of ASCII are "
                   "the same in TEXT, JID and WORD. Data is compared as it was sent, its first "
                   "256 KiB. A search ends with the first 1,000 jobs that it finds. Eight searches "
                   "are known at a time: a further one replaces the oldest that is done, or is "
                   "refused with BUSY. They are not kept across a restart. Jobs made after the "
                   "start are left out.",
        .replies = "The search as it stands: its number; whether it is done; whether it is full, "
                   "and there may be more; when it began; how many jobs it has looked at, of how "
                   "many that there were; and how many it has found.",
        EXAMPLES({ "Q.FIND app TEXT hal", "1# \"id\" => (integer) 1\n"
                                          "2# \"done\" => (true)\n"
                                          "3# \"full\" => (false)\n"
                                          "4# \"began\" => (double) 1784000030.5\n"
                                          "5# \"looked-at\" => (integer) 8\n"
                                          "6# \"total\" => (integer) 8\n"
                                          "7# \"found\" => (integer) 1" }),
    },
    {
        .name = "Q.FINDS",
        .group = "queues",
        .flags = READS,
        .run = run_finds,
        .summary = "Lists the searches that are kept, the oldest first.",
        .replies = "A list of searches as in Q.FIND.",
        EXAMPLES({ "Q.FINDS app", "1) 1# \"id\" => (integer) 1\n"
                                  "   2# \"done\" => (true)\n"
                                  "..." }),
    },
    {
        .name = "Q.FIND.GET",
        .group = "queues",
        .flags = READS,
        TAKES(id_arguments, get_takes),
        .run = run_get,
        .summary = "Shows the progress of a search, and the jobs that it has found so far.",
        .replies = "The search as in Q.FIND, and a page of the jobs; null for one that is gone "
                   "since.",
        EXAMPLES({ "Q.FIND.GET app 1 JIDS", "1# \"id\" => (integer) 1\n"
                                            "2# \"done\" => (true)\n"
                                            "3# \"full\" => (false)\n"
                                            "4# \"began\" => (double) 1784000030.5\n"
                                            "5# \"looked-at\" => (integer) 8\n"
                                            "6# \"total\" => (integer) 8\n"
                                            "7# \"found\" => (integer) 1\n"
                                            "8# \"jids\" => 1) \"hal\"" }),
    },
    {
        .name = "Q.FIND.DROP",
        .group = "queues",
        .flags = READS,
        TAKES(id_arguments, id_takes),
        .run = run_drop,
        .summary = "Ends a search and removes it.",
        .replies = "OK.",
        EXAMPLES({ "Q.FIND.DROP app 1", "OK" }),
    },
};

const struct command_table api_find = TABLE(commands);
