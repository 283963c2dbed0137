// SPDX-License-Identifier: MIT
// Commands that do one thing to all jobs that a filter matches, in the background.
#include "engine/bulk.h"

#include "api/table.h"

static const char *const act_words[] = { "cancel", "retry", "move", "tag", "untag", NULL };
static const char *const state_words[] = { "scheduled", "depends",  "waiting", "running",
                                           "stalled",   "complete", "failed",  NULL };
_Static_assert(sizeof(state_words) / sizeof(state_words[0]) == JOB_STATE_COUNT + 1,
               "one word for each state, in the order of enum job_state");

struct bulk_arguments {
    int64_t act;
    struct slice queue, klass, tagged, group, to;
    struct slices tags;
    int64_t state, older, newer;
    bool has_state, has_older, has_newer, dry_run;
};

static const struct argument bulk_takes[] = {
    ARGUMENT(bulk_arguments, act, WORD, "act", "what to do", .words = act_words),
    OPTION(bulk_arguments, queue, NAME, "QUEUE", "only jobs of that queue", .about = ABOUT_QUEUE),
    OPTION(bulk_arguments, klass, NAME, "KLASS", "only jobs of that klass"),
    OPTION_HAS(bulk_arguments, state, has_state, WORD, "STATE", "only jobs in that state",
               .words = state_words),
    OPTION(bulk_arguments, group, NAME, "GROUP", "only jobs that have failed in that group"),
    OPTION(bulk_arguments, tagged, NAME, "TAGGED", "only jobs with that tag"),
    OPTION_HAS(bulk_arguments, older, has_older, SECONDS, "OLDER",
               "only jobs made at least so long ago", SECONDS_RANGE),
    OPTION_HAS(bulk_arguments, newer, has_newer, SECONDS, "NEWER",
               "only jobs made at most so long ago", SECONDS_RANGE),
    OPTION(bulk_arguments, to, NAME, "TO", "of move: the queue to move them to",
           .about = ABOUT_TARGET),
    OPTION_EACH(bulk_arguments, tags, NAME, "TAG", "of tag and untag: a tag to give or take"),
    OPTION(bulk_arguments, dry_run, FLAG, "DRY-RUN", "only count what would be changed"),
};

static void say_bulk(struct reply *reply, const struct bulk_view *view)
{
    reply_map(reply, 9);
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
    reply_end(reply);
}

// What would be left unused is more likely a mistake than meant.
static enum status check_act(const struct call *call, const struct bulk_arguments *given,
                             struct error *error)
{
    bool tags = given->act == BULK_TAG || given->act == BULK_UNTAG;
    if ((given->to.size > 0) != (given->act == BULK_MOVE)) {
        return error_set(error, STATUS_INVALID, "%s: move, and nothing else, needs TO",
                         call->command->name);
    }
    if ((given->tags.count > 0) != tags) {
        return error_set(error, STATUS_INVALID, "%s: tag and untag, and nothing else, need TAG",
                         call->command->name);
    }
    return STATUS_OK;
}

static enum status run_bulk(struct call *call, struct error *error)
{
    const struct bulk_arguments *given = call->arguments;
    enum status status = check_act(call, given, error);
    if (status) {
        return status;
    }
    const struct bulk_request request = {
        .filter = { .queue = given->queue,
                    .klass = given->klass,
                    .tag = given->tagged,
                    .group = given->group,
                    .has_state = given->has_state,
                    .state = (enum job_state)given->state,
                    .has_older = given->has_older,
                    .older_us = given->older,
                    .has_newer = given->has_newer,
                    .newer_us = given->newer },
        .act = (enum bulk_act)given->act,
        .to = given->to,
        .tags = given->tags,
        .dry_run = given->dry_run,
    };
    uint64_t id;
    struct bulk_view view = { .act = request.act, .dry_run = request.dry_run };
    status = engine_bulk(call->engine, call->now_us, &request, &id, error);
    if (!status) {
        view.id = id;
        (void)engine_bulk_get(call->engine, id, &view);
        say_bulk(call->reply, &view);
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
    say_bulk(call->reply, &view);
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
        say_bulk(call->reply, &view);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------

static const struct command commands[] = {
    {
        .name = "Q.BULK",
        .group = "bulk",
        .flags = SHRINKS | COMMAND_AUDITED,
        TAKES(bulk_arguments, bulk_takes),
        .run = run_bulk,
        .summary = "Does one thing to all jobs that match: the first thousand at once, the others "
                   "in the background.",
        .details = "cancel: every job but complete ones and those that a job depends on which does "
                   "not match, directly or through others. retry: failed jobs "
                   "go back into the queue that they failed in, scheduled ones are due now. move: "
                   "jobs that are not running nor complete go to another queue. Jobs made after "
                   "the start are left out.",
        .replies = "The operation as it stands: its number, whether it is done, whether "
                   "Q.BULK.STOP ended it before all jobs were looked at, and how many jobs it has "
                   "looked at, that matched, and that it has changed (or would have).",
        EXAMPLES({ "Q.BULK app retry GROUP smtp DRY-RUN", "1# \"id\" => (integer) 6021\n"
                                                          "2# \"act\" => \"retry\"\n"
                                                          "3# \"dry-run\" => (true)\n"
                                                          "4# \"done\" => (true)\n"
                                                          "5# \"stopped\" => (false)\n"
                                                          "6# \"began\" => (double) 1784000030.5\n"
                                                          "7# \"looked-at\" => (integer) 2\n"
                                                          "8# \"matched\" => (integer) 2\n"
                                                          "9# \"changed\" => (integer) 2" },
                 { "Q.BULK app cancel QUEUE mail TAGGED newsletter",
                   "1# \"id\" => (integer) 6022\n"
                   "2# \"act\" => \"cancel\"\n"
                   "3# \"dry-run\" => (false)\n"
                   "4# \"done\" => (false)\n"
                   "5# \"stopped\" => (false)\n"
                   "6# \"began\" => (double) 1784000030.5\n"
                   "7# \"looked-at\" => (integer) 1000\n"
                   "8# \"matched\" => (integer) 1000\n"
                   "9# \"changed\" => (integer) 1000" }),
    },
    {
        .name = "Q.BULKS",
        .group = "bulk",
        .flags = READS,
        .run = run_bulks,
        .summary = "Lists the operations under way and the last hundred that are done, the oldest "
                   "first.",
        .replies = "A list of operations as in Q.BULK.",
        EXAMPLES({ "Q.BULKS app", "1) 1# \"id\" => (integer) 6021\n"
                                  "   2# \"act\" => \"retry\"\n"
                                  "   3# \"dry-run\" => (true)\n"
                                  "   4# \"done\" => (true)\n"
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
        EXAMPLES({ "Q.BULK.GET app 6022", "1# \"id\" => (integer) 6022\n"
                                          "2# \"act\" => \"cancel\"\n"
                                          "3# \"dry-run\" => (false)\n"
                                          "4# \"done\" => (false)\n"
                                          "5# \"stopped\" => (false)\n"
                                          "6# \"began\" => (double) 1784000030.5\n"
                                          "7# \"looked-at\" => (integer) 3000\n"
                                          "8# \"matched\" => (integer) 3000\n"
                                          "9# \"changed\" => (integer) 3000" }),
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
        EXAMPLES({ "Q.BULK.STOP app 6022", "OK" }),
    },
};

const struct command_table api_bulk = TABLE(commands);
