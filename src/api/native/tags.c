// SPDX-License-Identifier: MIT
// Commands about tags and tracked jobs.
#include "api/job_words.h"
#include "api/page.h"

struct tags_arguments {
    struct slice jid;
    struct slices tags;
};

static const struct argument tags_takes[] = {
    ARGUMENT(tags_arguments, jid, NAME, "jid", "the job", .about = ABOUT_JOB),
    REST(tags_arguments, tags, NAME, "tag", "the tags"),
};

static enum status write_tags(struct call *call, const struct job *job, enum status status)
{
    if (status) {
        return status;
    }
    struct job_view view;
    job_view(call->engine, job, &view);
    reply_list(call->reply, view.tag_count);
    for (size_t i = 0; i < view.tag_count; i++) {
        reply_text(call->reply, job_tag(call->engine, job, i));
    }
    reply_end(call->reply);
    return STATUS_OK;
}

// Whether the reply has room for the job's tags and the given ones.
static enum status check_room(const struct call *call, struct error *error)
{
    const struct tags_arguments *given = call->arguments;
    const struct job *job = engine_get(call->engine, given->jid);
    size_t count = given->tags.count, bytes = 0;
    for (size_t i = 0; i < given->tags.count; i++) {
        bytes += given->tags.items[i].size;
    }
    struct job_view view = { 0 };
    if (job) {
        job_view(call->engine, job, &view);
        count += view.tag_count;
    }
    for (size_t i = 0; i < view.tag_count; i++) {
        bytes += job_tag(call->engine, job, i).size;
    }
    return call_check_room(call, REPLY_SIZE_LEAST + reply_texts_max(call->reply, count, bytes),
                           error);
}

typedef enum status tag_function(struct engine *engine, int64_t now_us, struct slice jid,
                                 struct slices tags, const struct job **out, struct error *error);

static enum status change_tags(struct call *call, tag_function *function, struct error *error)
{
    const struct tags_arguments *given = call->arguments;
    const struct job *job = NULL;
    enum status status = check_room(call, error);
    if (!status) {
        status = function(call->engine, call->now_us, given->jid, given->tags, &job, error);
    }
    return write_tags(call, job, status);
}

static enum status run_tag(struct call *call, struct error *error)
{
    return change_tags(call, engine_tag_add, error);
}

static enum status run_untag(struct call *call, struct error *error)
{
    return change_tags(call, engine_tag_remove, error);
}

struct tagged_arguments {
    struct slice tag;
    struct page_words page;
};

static const struct argument tagged_takes[] = {
    ARGUMENT(tagged_arguments, tag, NAME, "tag", "the tag"),
    LONG_PAGE_OPTIONS(tagged_arguments),
};

static enum status run_tagged(struct call *call, struct error *error)
{
    const struct tagged_arguments *given = call->arguments;
    const struct job *room[PAGE_COUNT_MAX];
    struct page page;
    enum status status = page_start(call, &given->page, room, &page, error);
    if (!status) {
        engine_tagged(call->engine, given->tag, &page);
        reply_page(call, &given->page, &page);
    }
    return status;
}

struct list_arguments {
    struct page_words page;
};

static const struct argument list_takes[] = {
    PAGE_OPTIONS(list_arguments),
};

static enum status run_tags(struct call *call, struct error *error)
{
    (void)error;
    const struct list_arguments *given = call->arguments;
    reply_counts(call, &given->page, SLICE("tag"), engine_tag_top);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Tracked jobs

struct track_arguments {
    struct slice jid;
};

static const struct argument track_takes[] = {
    ARGUMENT(track_arguments, jid, NAME, "jid", "the job", .about = ABOUT_JOB),
};

static enum status run_track(struct call *call, struct error *error)
{
    const struct track_arguments *given = call->arguments;
    bool changed = false;
    enum status status = engine_track(call->engine, call->now_us, given->jid, &changed, error);
    if (!status) {
        reply_boolean(call->reply, changed);
    }
    return status;
}

static enum status run_untrack(struct call *call, struct error *error)
{
    const struct track_arguments *given = call->arguments;
    bool changed = false;
    enum status status = engine_untrack(call->engine, call->now_us, given->jid, &changed, error);
    if (!status) {
        reply_boolean(call->reply, changed);
    }
    return status;
}

static const struct argument tracked_takes[] = {
    JOB_PAGE_OPTIONS(list_arguments),
};

// Counts how many jobs of the page exist and how many are gone.
static void count_tracked(const struct call *call, const struct page_words *words, size_t *there,
                          size_t *gone)
{
    struct slice jid;
    const struct job *job;
    size_t from = (size_t)words->offset, to = from + page_count(words);
    for (size_t i = from; i < to && engine_tracked(call->engine, i, &jid, &job); i++) {
        *(job ? there : gone) += 1;
    }
}

static enum status run_tracked(struct call *call, struct error *error)
{
    (void)error;
    const struct list_arguments *given = call->arguments;
    struct slice jid;
    const struct job *job;
    size_t there = 0, gone = 0;
    count_tracked(call, &given->page, &there, &gone);
    size_t from = (size_t)given->page.offset, to = from + there + gone;
    reply_map(call->reply, 3);
    reply_key(call->reply, "total");
    reply_count(call->reply, engine_tracked_count(call->engine));
    reply_text(call->reply, given->page.jids ? SLICE("jids") : SLICE("jobs"));
    reply_list(call->reply, there);
    for (size_t i = from; i < to && engine_tracked(call->engine, i, &jid, &job); i++) {
        if (job && given->page.jids) {
            reply_text(call->reply, jid);
        } else if (job) {
            reply_job(call->reply, call->engine, job);
        }
    }
    reply_end(call->reply);
    reply_key(call->reply, "gone");
    reply_list(call->reply, gone);
    for (size_t i = from; i < to && engine_tracked(call->engine, i, &jid, &job); i++) {
        if (!job) {
            reply_text(call->reply, jid);
        }
    }
    reply_end(call->reply);
    reply_end(call->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------

static const struct command commands[] = {
    {
        .name = "Q.TAG",
        .group = "tags",
        .flags = WRITES | COMMAND_FITS | COMMAND_AUDITED | COMMAND_JOB_ACT,
        TAKES(tags_arguments, tags_takes),
        .run = run_tag,
        .summary = "Adds tags to a job. Tags that it has already are ignored.",
        .replies = "The job's tags.",
        EXAMPLES({ "Q.TAG app hal urgent paid", "1) \"urgent\"\n"
                                                "2) \"paid\"" }),
    },
    {
        .name = "Q.UNTAG",
        .group = "tags",
        .flags = SHRINKS | COMMAND_FITS | COMMAND_AUDITED | COMMAND_JOB_ACT,
        TAKES(tags_arguments, tags_takes),
        .run = run_untag,
        .summary = "Removes tags from a job. Tags that it does not have are ignored.",
        .replies = "The job's tags.",
        EXAMPLES({ "Q.UNTAG app hal paid", "1) \"urgent\"" }),
    },
    {
        .name = "Q.TAGGED",
        .group = "tags",
        .flags = READS,
        TAKES(tagged_arguments, tagged_takes),
        .run = run_tagged,
        .summary = "Lists the jobs with a tag, in the order in which they got it.",
        .replies = "How many there are, a page of them, and the CURSOR of the page behind it.",
        EXAMPLES({ "Q.TAGGED app urgent JIDS", "1# \"total\" => (integer) 2\n"
                                               "2# \"jids\" => 1) \"ann\"\n"
                                               "   2) \"hal\"\n"
                                               "3# \"next\" => (nil)" }),
    },
    {
        .name = "Q.TAGS",
        .group = "tags",
        .flags = READS,
        TAKES(list_arguments, list_takes),
        .run = run_tags,
        .summary = "Lists the tags that two jobs or more have, the most used first.",
        .replies = "A list of tags, each with how many jobs have it.",
        EXAMPLES({ "Q.TAGS app COUNT 10", "1) 1# \"tag\" => \"urgent\"\n"
                                          "   2# \"count\" => (integer) 2" }),
    },
    {
        .name = "Q.TRACK",
        .group = "tags",
        .flags = WRITES,
        TAKES(track_arguments, track_takes),
        .run = run_track,
        .summary = "Tracks a job: its events are sent to the listeners of tracked jobs.",
        .replies = "Whether it was not tracked before.",
        EXAMPLES({ "Q.TRACK app hal", "(true)" }),
    },
    {
        .name = "Q.TRACKED",
        .group = "tags",
        .flags = READS,
        TAKES(list_arguments, tracked_takes),
        .run = run_tracked,
        .summary = "Lists the tracked jobs, in the order in which tracking began.",
        .replies = "How many there are, and of a page of them the jobs, and the jids of those that "
                   "are gone.",
        EXAMPLES({ "Q.TRACKED app JIDS", "1# \"total\" => (integer) 1\n"
                                         "2# \"jids\" => 1) \"hal\"\n"
                                         "3# \"gone\" => (empty array)" }),
    },
    {
        .name = "Q.UNTRACK",
        .group = "tags",
        .flags = SHRINKS,
        TAKES(track_arguments, track_takes),
        .run = run_untrack,
        .summary = "Stops tracking a job. The job need not exist.",
        .replies = "Whether it was tracked.",
        EXAMPLES({ "Q.UNTRACK app hal", "(true)" }),
    },
};

const struct command_table api_tags = TABLE(commands);
