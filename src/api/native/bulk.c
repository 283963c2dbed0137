// SPDX-License-Identifier: MIT
// Commands that apply one act to all jobs that match a filter, in the background.
#include "engine/bulk/bulk.h"

#include "api/table.h"

static const char *const act_words[] = { "cancel", "retry",    "move",    "tag", "untag",
                                         "delete", "priority", "timeout", NULL };
static const char *const state_words[] = { "scheduled", "depends",  "waiting", "running",
                                           "stalled",   "complete", "failed",  NULL };
_Static_assert(sizeof(state_words) / sizeof(state_words[0]) == JOB_STATE_COUNT + 1,
               "one word for each state, in the order of enum job_state");

struct bulk_arguments {
    int64_t act;
    struct slice queue, klass, tagged, group, worker, domain, to;
    struct slices tags, jids;
    int64_t states, older, newer, priority, as;
    bool has_older, has_newer, has_priority, dry_run;
};

static const struct argument bulk_takes[] = {
    ARGUMENT(bulk_arguments, act, WORD, "act", "what to do", .words = act_words),
    OPTION(bulk_arguments, queue, NAME, "QUEUE", "only jobs of that queue", .about = ABOUT_QUEUE),
    OPTION(bulk_arguments, klass, NAME, "KLASS", "only jobs of that klass"),
    OPTION_EACH(bulk_arguments, states, WORD, "STATE", "only jobs in that state, or one of those",
                .words = state_words, .member = "state"),
    OPTION(bulk_arguments, group, NAME, "GROUP", "only jobs that have failed in that group"),
    OPTION(bulk_arguments, tagged, NAME, "TAGGED", "only jobs with that tag"),
    OPTION(bulk_arguments, worker, NAME, "WORKER", "only jobs that the worker holds"),
    OPTION(bulk_arguments, domain, NAME, "DOMAIN", "only jobs of that domain"),
    OPTION_EACH(bulk_arguments, jids, NAME, "JID", "only that job; up to 10,000 of them",
                .about = ABOUT_JOB),
    OPTION_HAS(bulk_arguments, older, has_older, SECONDS, "OLDER",
               "only jobs made at least so long ago", SECONDS_RANGE),
    OPTION_HAS(bulk_arguments, newer, has_newer, SECONDS, "NEWER",
               "only jobs made at most so long ago", SECONDS_RANGE),
    OPTION(bulk_arguments, to, NAME, "TO", "of move: the queue to move them to",
           .about = ABOUT_TARGET),
    OPTION_EACH(bulk_arguments, tags, NAME, "TAG", "of tag and untag: a tag to give or take"),
    OPTION_HAS(bulk_arguments, priority, has_priority, INTEGER, "PRIORITY",
               "of priority: the new one; lower runs sooner", PRIORITY_RANGE),
    OPTION(bulk_arguments, as, INTEGER, "AS",
           "do what that dry run would have done, to the jobs that it would have changed and that "
           "still match; no other option is given then",
           .min = 1, .max = INT64_MAX),
    OPTION(bulk_arguments, dry_run, FLAG, "DRY-RUN", "only count what would be changed"),
};

static void write_states(struct reply *reply, unsigned states)
{
    size_t count = 0;
    for (size_t i = 0; i < JOB_STATE_COUNT; i++) {
        count += states >> i & 1U;
    }
    reply_list(reply, count);
    for (size_t i = 0; i < JOB_STATE_COUNT; i++) {
        if (states >> i & 1U) {
            reply_text(reply, slice_from_cstr(state_words[i]));
        }
    }
    reply_end(reply);
}

static void write_age(struct reply *reply, bool has, int64_t age_us)
{
    if (has) {
        reply_seconds(reply, age_us);
    } else {
        reply_null(reply);
    }
}

static void write_filter(struct reply *reply, const struct job_filter *filter)
{
    const struct {
        struct slice name, value;
    } names[] = {
        { SLICE("queue"), filter->queue },   { SLICE("klass"), filter->klass },
        { SLICE("group"), filter->group },   { SLICE("tagged"), filter->tag },
        { SLICE("worker"), filter->worker }, { SLICE("domain"), filter->domain },
    };
    reply_map(reply, 10);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        reply_text(reply, names[i].name);
        reply_text_or_null(reply, names[i].value);
    }
    reply_key(reply, "states");
    write_states(reply, filter->states);
    reply_key(reply, "older");
    write_age(reply, filter->has_older, filter->older_us);
    reply_key(reply, "newer");
    write_age(reply, filter->has_newer, filter->newer_us);
    reply_key(reply, "jids");
    reply_count(reply, filter->jids.count);
    reply_end(reply);
}

// The parameters of an operation.
static void write_request(struct reply *reply, const struct bulk_request *request)
{
    reply_key(reply, "user");
    reply_text_or_null(reply, request->user);
    reply_key(reply, "to");
    reply_text_or_null(reply, request->to);
    reply_key(reply, "tags");
    reply_list(reply, request->tags.count);
    for (size_t i = 0; i < request->tags.count; i++) {
        reply_text(reply, request->tags.items[i]);
    }
    reply_end(reply);
    reply_key(reply, "priority");
    if (request->act == BULK_PRIORITY) {
        reply_integer(reply, request->priority);
    } else {
        reply_null(reply);
    }
    reply_key(reply, "filter");
    write_filter(reply, &request->filter);
}

enum {
    BULK_FIXED = 1024, // keys and numbers of an operation, in any format
};

// The maximum size of the reply about an operation.
static size_t bulk_size(const struct reply *reply, const struct bulk_request *request)
{
    const struct job_filter *filter = &request->filter;
    size_t size = request->user.size + request->to.size + filter->queue.size + filter->klass.size +
                  filter->group.size + filter->tag.size + filter->worker.size + filter->domain.size;
    for (size_t i = 0; i < request->tags.count; i++) {
        size += request->tags.items[i].size;
    }
    return BULK_FIXED + reply_texts_max(reply, request->tags.count + 8, size);
}

static void write_bulk(struct reply *reply, const struct bulk_view *view)
{
    reply_map(reply, 16);
    reply_key(reply, "id");
    reply_count(reply, view->id);
    reply_key(reply, "act");
    reply_text(reply, slice_from_cstr(act_words[view->act]));
    reply_key(reply, "dry-run");
    reply_boolean(reply, view->dry_run);
    reply_key(reply, "done");
    reply_boolean(reply, view->done);
    reply_key(reply, "stopped");
    reply_boolean(reply, view->stopped);
    reply_key(reply, "began");
    reply_moment(reply, view->began_us);
    reply_key(reply, "looked-at");
    reply_count(reply, view->looked_at);
    reply_key(reply, "matched");
    reply_count(reply, view->matched);
    reply_key(reply, "changed");
    reply_count(reply, view->changed);
    reply_key(reply, "as");
    if (view->as) {
        reply_count(reply, view->as);
    } else {
        reply_null(reply);
    }
    reply_key(reply, "executable");
    reply_boolean(reply, view->has_set && view->done);
    write_request(reply, view->request);
    reply_end(reply);
}

// An argument that would be ignored is more likely a mistake, so it is refused.
static enum status check_act(const struct call *call, const struct bulk_arguments *given,
                             struct error *error)
{
    bool tags = given->act == BULK_TAG || given->act == BULK_UNTAG;
    if ((given->to.size > 0) != (given->act == BULK_MOVE)) {
        return error_set(error, STATUS_INVALID,
                         "%s: TO is required with move and cannot be used without it",
                         call->command->name);
    }
    if ((given->tags.count > 0) != tags) {
        return error_set(error, STATUS_INVALID,
                         "%s: TAG is required with tag and untag and cannot be used without them",
                         call->command->name);
    }
    if (given->has_priority != (given->act == BULK_PRIORITY)) {
        return error_set(error, STATUS_INVALID, "%s: priority, and nothing else, needs PRIORITY",
                         call->command->name);
    }
    return STATUS_OK;
}

static enum status begin(struct call *call, const struct bulk_arguments *given, uint64_t *id,
                         struct error *error)
{
    enum status status = check_act(call, given, error);
    if (status) {
        return status;
    }
    const struct bulk_request request = {
        .filter = { .queue = given->queue,
                    .klass = given->klass,
                    .tag = given->tagged,
                    .group = given->group,
                    .worker = given->worker,
                    .domain = given->domain,
                    .jids = given->jids,
                    .states = (unsigned)given->states,
                    .has_older = given->has_older,
                    .older_us = given->older,
                    .has_newer = given->has_newer,
                    .newer_us = given->newer },
        .act = (enum bulk_act)given->act,
        .to = given->to,
        .tags = given->tags,
        .priority = (int32_t)given->priority,
        .dry_run = given->dry_run,
        .user = call->user,
    };
    status = call_check_room(call, bulk_size(call->reply, &request), error);
    return status ? status : engine_bulk(call->engine, call->now_us, &request, id, error);
}

static enum status begin_as(struct call *call, const struct bulk_arguments *given, uint64_t *id,
                            struct error *error)
{
    struct bulk_view dry_run;
    if (given->queue.size || given->klass.size || given->tagged.size || given->group.size ||
        given->worker.size || given->domain.size || given->to.size || given->tags.count ||
        given->jids.count || given->states || given->has_older || given->has_newer ||
        given->has_priority || given->dry_run) {
        return error_set(error, STATUS_INVALID, "%s: no option can be given beside AS",
                         call->command->name);
    }
    enum status status = STATUS_OK;
    if (engine_bulk_get(call->engine, (uint64_t)given->as, &dry_run)) {
        size_t user =
            call->reply->ops->growth ? call->reply->ops->growth * call->user.size : call->user.size;
        status = call_check_room(call, user + bulk_size(call->reply, dry_run.request), error);
    }
    return status ? status
                  : engine_bulk_as(call->engine, call->now_us, (uint64_t)given->as,
                                   (enum bulk_act)given->act, call->user, id, error);
}

static enum status run_bulk(struct call *call, struct error *error)
{
    const struct bulk_arguments *given = call->arguments;
    uint64_t id;
    enum status status =
        given->as ? begin_as(call, given, &id, error) : begin(call, given, &id, error);
    struct bulk_view view;
    // the operations that ended last are kept
    if (!status && engine_bulk_get(call->engine, id, &view)) {
        write_bulk(call->reply, &view);
    }
    return status;
}

struct id_arguments {
    int64_t id;
};

static const struct argument id_takes[] = {
    ARGUMENT(id_arguments, id, INTEGER, "id", "the operation's number", .min = 1, .max = INT64_MAX),
};

static enum status run_bulk_get(struct call *call, struct error *error)
{
    const struct id_arguments *given = call->arguments;
    struct bulk_view view;
    if (!engine_bulk_get(call->engine, (uint64_t)given->id, &view)) {
        return error_set(error, STATUS_NOT_FOUND, "operation %lld does not exist",
                         (long long)given->id);
    }
    write_bulk(call->reply, &view);
    return STATUS_OK;
}

static enum status run_bulk_stop(struct call *call, struct error *error)
{
    const struct id_arguments *given = call->arguments;
    return call_ok(call, engine_bulk_stop(call->engine, call->now_us, (uint64_t)given->id, error));
}

static enum status run_bulks(struct call *call, struct error *error)
{
    (void)error;
    struct bulk_view view;
    size_t count = 0;
    while (engine_bulk_at(call->engine, count, &view)) {
        count++;
    }
    reply_list(call->reply, count);
    for (size_t i = 0; i < count && engine_bulk_at(call->engine, i, &view); i++) {
        write_bulk(call->reply, &view);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------

static const struct command commands[] = {
    {
        .name = "Q.BULK",
        .group = "bulk",
        .flags = SHRINKS | COMMAND_AUDITED | COMMAND_FITS,
        TAKES(bulk_arguments, bulk_takes),
        .run = run_bulk,
        .summary = "Does one thing to all jobs that match: the first thousand at once, the others "
                   "in the background.",
        .details = "cancel: every job but complete ones and those that a job depends on which does "
                   "not match, directly or through others. retry: failed jobs "
                   "go back into the queue that they failed in, scheduled ones are due now. move: "
                   "jobs that are not running nor complete go to another queue. delete: complete "
                   "and failed jobs that no job depends on. priority: every job with another "
                   "priority. timeout: running jobs lose their leases, and no retry is counted. "
                   "Jobs made after the start are left out. A dry run remembers which jobs it "
                   "would have changed, as long as it is among the last eight; `AS id` does it, "
                   "once, to just those of them that still match. These sets are not kept across "
                   "a restart; an operation with AS goes on after it with the same jobs.",
        .replies = "The operation as it stands: its number, whether it is done, whether "
                   "Q.BULK.STOP ended it before all jobs were looked at, and how many jobs it has "
                   "looked at, that matched, and that it has changed (or would have); the dry run "
                   "that it is AS; whether it is a dry run that can be executed so; and what was "
                   "asked for, by whom. Of JID only the number is shown.",
        EXAMPLES({ "Q.BULK app retry GROUP smtp DRY-RUN", " 1# \"id\" => (integer) 6020\n"
                                                          " 2# \"act\" => \"retry\"\n"
                                                          " 3# \"dry-run\" => (true)\n"
                                                          " 4# \"done\" => (true)\n"
                                                          " 5# \"stopped\" => (false)\n"
                                                          " 6# \"began\" => (double) 1784000030.5\n"
                                                          " 7# \"looked-at\" => (integer) 2\n"
                                                          " 8# \"matched\" => (integer) 2\n"
                                                          " 9# \"changed\" => (integer) 2\n..." },
                 { "Q.BULK app cancel QUEUE mail TAGGED newsletter",
                   " 1# \"id\" => (integer) 6021\n"
                   " 2# \"act\" => \"cancel\"\n"
                   " 3# \"dry-run\" => (false)\n"
                   " 4# \"done\" => (false)\n"
                   " 5# \"stopped\" => (false)\n"
                   " 6# \"began\" => (double) 1784000030.5\n"
                   " 7# \"looked-at\" => (integer) 1000\n"
                   " 8# \"matched\" => (integer) 1000\n"
                   " 9# \"changed\" => (integer) 1000\n..." }),
    },
    {
        .name = "Q.BULKS",
        .group = "bulk",
        .flags = READS,
        .run = run_bulks,
        .summary = "Lists the operations under way and the last hundred that are done, the oldest "
                   "first.",
        .replies = "A list of operations as in Q.BULK.",
        EXAMPLES({ "Q.BULKS app", "1)  1# \"id\" => (integer) 6020\n"
                                  "    2# \"act\" => \"retry\"\n"
                                  "    3# \"dry-run\" => (true)\n"
                                  "    4# \"done\" => (true)\n"
                                  "..." }),
    },
    {
        .name = "Q.BULK.GET",
        .group = "bulk",
        .flags = READS,
        TAKES(id_arguments, id_takes),
        .run = run_bulk_get,
        .summary = "Shows how far an operation is.",
        .replies = "The operation as in Q.BULK.",
        EXAMPLES({ "Q.BULK.GET app 6021", " 1# \"id\" => (integer) 6021\n"
                                          " 2# \"act\" => \"cancel\"\n"
                                          " 3# \"dry-run\" => (false)\n"
                                          " 4# \"done\" => (false)\n"
                                          " 5# \"stopped\" => (false)\n"
                                          " 6# \"began\" => (double) 1784000030.5\n"
                                          " 7# \"looked-at\" => (integer) 3000\n"
                                          " 8# \"matched\" => (integer) 3000\n"
                                          " 9# \"changed\" => (integer) 3000\n..." }),
    },
    {
        .name = "Q.BULK.STOP",
        .group = "bulk",
        .flags = SHRINKS | COMMAND_AUDITED,
        TAKES(id_arguments, id_takes),
        .run = run_bulk_stop,
        .summary = "Ends an operation where it is; what it has done stays done.",
        .details = "The operation is then shown as done and stopped.",
        .replies = "OK.",
        EXAMPLES({ "Q.BULK.STOP app 6021", "OK" }),
    },
};

const struct command_table api_bulk = TABLE(commands);
