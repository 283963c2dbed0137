// SPDX-License-Identifier: MIT
// Commands about the settings of a namespace: its configuration, the limits of lanes, and the
// policies of klasses and queues.
#include "api/job_words.h"
#include "api/page.h"
#include "engine/config/policy.h"
#include "engine/lanes/limit.h"

// ---------------------------------------------------------------------------------------------
// Configuration

struct get_arguments {
    struct slices options;
};

static const struct argument get_takes[] = {
    OPTIONAL_REST(get_arguments, options, NAME, "option",
                  "which ones; all that have a value when none is given"),
};

static void write_config(struct call *call)
{
    struct slice option, value;
    size_t count = 0;
    while (engine_config_at(call->engine, count, &option, &value)) {
        count++;
    }
    reply_map(call->reply, count);
    for (size_t i = 0; i < count && engine_config_at(call->engine, i, &option, &value); i++) {
        reply_text(call->reply, option);
        reply_text(call->reply, value);
    }
    reply_end(call->reply);
}

static enum status run_config_get(struct call *call, struct error *error)
{
    (void)error;
    const struct get_arguments *given = call->arguments;
    if (given->options.count == 0) {
        write_config(call);
        return STATUS_OK;
    }
    reply_map(call->reply, given->options.count);
    for (size_t i = 0; i < given->options.count; i++) {
        reply_text(call->reply, given->options.items[i]);
        reply_text_or_null(call->reply, engine_config_get(call->engine, given->options.items[i]));
    }
    reply_end(call->reply);
    return STATUS_OK;
}

struct set_arguments {
    struct slice option, value;
};

static const struct argument set_takes[] = {
    ARGUMENT(set_arguments, option, NAME, "option", "which one"),
    ARGUMENT(set_arguments, value, TEXT, "value", "its value"),
};

static enum status run_config_set(struct call *call, struct error *error)
{
    const struct set_arguments *given = call->arguments;
    enum status status = engine_config_check_name(given->option, error);
    if (status) {
        return status;
    }
    return call_ok(
        call, engine_config_set(call->engine, call->now_us, given->option, given->value, error));
}

static const struct argument unset_takes[] = {
    ARGUMENT(set_arguments, option, NAME, "option", "which one"),
};

static enum status run_config_unset(struct call *call, struct error *error)
{
    const struct set_arguments *given = call->arguments;
    if (!engine_config_is_set(call->engine, given->option)) {
        return error_set(error, STATUS_NOT_FOUND, "option %.*s is not set",
                         SLICE_PRINT(given->option));
    }
    return call_ok(call, engine_config_unset(call->engine, call->now_us, given->option, error));
}

// ---------------------------------------------------------------------------------------------
// Limits

struct limit_arguments {
    struct slice queue, domain;
    int64_t rate, period, burst, concurrency, weight;
    bool has_rate, has_period, has_burst, has_concurrency, has_weight;
};

#define LIMIT_OF                                                                                   \
    OPTION(limit_arguments, queue, NAME, "QUEUE", "the lanes of that queue (of all)",              \
           .about = ABOUT_QUEUE),                                                                  \
        OPTION(limit_arguments, domain, NAME, "DOMAIN",                                            \
               "the lane of that domain; with * in it, of all that match (every lane)")

static const struct argument limit_set_takes[] = {
    LIMIT_OF,
    OPTION_HAS(limit_arguments, rate, has_rate, INTEGER, "RATE",
               "how many jobs of a lane may start in a PERIOD; 0: any number", .min = 0,
               .max = 1000000000),
    OPTION_HAS(limit_arguments, period, has_period, SECONDS, "PERIOD", "of the rate (1)", .min = 1,
               .max = INT64_C(366) * 86400 * 1000000),
    OPTION_HAS(limit_arguments, burst, has_burst, INTEGER, "BURST",
               "how many may start at once after a pause (1)", .min = 1, .max = INT64_MAX),
    OPTION_HAS(limit_arguments, concurrency, has_concurrency, INTEGER, "CONCURRENCY",
               "how many jobs of a lane may run at a time; 0: any number", .min = 0,
               .max = INT64_MAX),
    OPTION_HAS(limit_arguments, weight, has_weight, INTEGER, "WEIGHT",
               "how many turns a lane gets in a fair queue, where others get 1", .min = 1,
               .max = 1000),
};

static const struct argument limit_unset_takes[] = { LIMIT_OF };

static enum status run_limit_set(struct call *call, struct error *error)
{
    const struct limit_arguments *given = call->arguments;
    if ((given->has_period || given->has_burst) && !given->has_rate) {
        return error_set(error, STATUS_INVALID, "%s: PERIOD and BURST need a RATE",
                         call->command->name);
    }
    const struct limit limit = {
        .has_rate = given->has_rate,
        .rate_count = given->rate,
        .rate_period_us = given->has_period ? given->period : 1000000,
        .burst = given->burst,
        .has_concurrency = given->has_concurrency,
        .concurrency = given->concurrency,
        .has_weight = given->has_weight,
        .weight = given->weight,
    };
    return call_ok(call, engine_limit_set(call->engine, call->now_us, given->queue, given->domain,
                                          &limit, error));
}

static struct slice shown_or(struct slice name, const char *otherwise)
{
    return name.size ? name : slice_from_cstr(otherwise);
}

static enum status run_limit_unset(struct call *call, struct error *error)
{
    const struct limit_arguments *given = call->arguments;
    if (!engine_limit_is_set(call->engine, given->queue, given->domain)) {
        return error_set(error, STATUS_NOT_FOUND,
                         "there is no limit for queue %.*s and domain %.*s",
                         SLICE_PRINT(shown_or(given->queue, "(all)")),
                         SLICE_PRINT(shown_or(given->domain, "(all)")));
    }
    return call_ok(
        call, engine_limit_unset(call->engine, call->now_us, given->queue, given->domain, error));
}

static void write_integer_if(struct reply *reply, bool given, int64_t value)
{
    if (given) {
        reply_integer(reply, value);
    } else {
        reply_null(reply);
    }
}

static void write_limit(struct reply *reply, const struct limit_view *view)
{
    const struct limit *limit = &view->limit;
    reply_map(reply, 10);
    reply_key(reply, "queue");
    reply_text_or_null(reply, view->queue);
    reply_key(reply, "domain");
    reply_text_or_null(reply, view->domain);
    reply_key(reply, "rate");
    write_integer_if(reply, limit->has_rate, limit->rate_count);
    reply_key(reply, "period");
    if (limit->has_rate) {
        reply_seconds(reply, limit->rate_period_us);
    } else {
        reply_null(reply);
    }
    reply_key(reply, "burst");
    write_integer_if(reply, limit->has_rate, limit->burst ? limit->burst : 1);
    reply_key(reply, "concurrency");
    write_integer_if(reply, limit->has_concurrency, limit->concurrency);
    reply_key(reply, "weight");
    write_integer_if(reply, limit->has_weight, limit->weight);
    reply_key(reply, "waiting");
    reply_count(reply, view->use.waiting);
    reply_key(reply, "running");
    reply_count(reply, view->use.running);
    reply_key(reply, "held");
    reply_count(reply, view->use.held);
    reply_end(reply);
}

struct limits_arguments {
    struct page_words page;
};

static const struct argument limits_takes[] = {
    OPTION_HAS(limits_arguments, page.count, page.has_count, INTEGER, "COUNT",
               "how many at most (25)", .min = 0, .max = PAGE_COUNT_MAX),
    OPTION(limits_arguments, page.cursor, TEXT, "CURSOR",
           "where to go on: what the page before gave as `next`"),
};

static enum status run_limits(struct call *call, struct error *error)
{
    const struct limits_arguments *given = call->arguments;
    struct limit_view rows[PAGE_COUNT_MAX];
    struct limit_page page = { .count = page_count(&given->page), .rows = rows };
    if (given->page.cursor.size) {
        enum status status = page_read_cursor(call, given->page.cursor, &page.after, error);
        if (status) {
            return status;
        }
        page.has_after = true;
    }
    enum status status = engine_limits(call->engine, call->now_us, &page, error);
    if (status) {
        return status;
    }
    reply_map(call->reply, 3);
    reply_key(call->reply, "total");
    reply_count(call->reply, page.total);
    reply_key(call->reply, "limits");
    reply_list(call->reply, page.found);
    for (size_t i = 0; i < page.found; i++) {
        write_limit(call->reply, &rows[i]);
    }
    reply_end(call->reply);
    reply_key(call->reply, "next");
    reply_page_next(call->reply, page.more ? &rows[page.found - 1].place : NULL);
    reply_end(call->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Policies

static const char *const scope_words[] = { "klass", "queue", NULL };

struct policy_arguments {
    int64_t scope;
    struct slice name;
    struct job_option_words words;
};

#define POLICY_OF                                                                                  \
    ARGUMENT(policy_arguments, scope, WORD, "scope", "whose jobs", .words = scope_words),          \
        ARGUMENT(policy_arguments, name, NAME, "name", "of the klass or the queue")

static const struct argument policy_set_takes[] = {
    POLICY_OF,
    JOB_OPTIONS(policy_arguments),
};

static const struct argument policy_unset_takes[] = { POLICY_OF };

static enum status run_policy_set(struct call *call, struct error *error)
{
    const struct policy_arguments *given = call->arguments;
    if (!job_option_words_given(&given->words)) {
        return error_set(error, STATUS_INVALID, "%s: a policy must have an option",
                         call->command->name);
    }
    struct job_options options;
    enum status status = job_option_words_read(&given->words, &options, error);
    return status ? status
                  : call_ok(call, engine_policy_set(call->engine, call->now_us,
                                                    (enum policy_scope)given->scope, given->name,
                                                    &options, error));
}

static enum status run_policy_unset(struct call *call, struct error *error)
{
    const struct policy_arguments *given = call->arguments;
    const struct job_options nothing = { 0 };
    enum policy_scope scope = (enum policy_scope)given->scope;
    if (!engine_policy_is_set(call->engine, scope, given->name)) {
        return error_set(error, STATUS_NOT_FOUND, "there is no policy for %s %.*s",
                         scope == POLICY_KLASS ? "klass" : "queue", SLICE_PRINT(given->name));
    }
    return call_ok(
        call, engine_policy_set(call->engine, call->now_us, scope, given->name, &nothing, error));
}

static enum status run_policies(struct call *call, struct error *error)
{
    (void)error;
    struct policy_view view;
    size_t count = 0;
    while (engine_policy_at(call->engine, count, &view)) {
        count++;
    }
    reply_list(call->reply, count);
    for (size_t i = 0; i < count && engine_policy_at(call->engine, i, &view); i++) {
        reply_map(call->reply, 3);
        reply_key(call->reply, "scope");
        reply_text(call->reply, slice_from_cstr(scope_words[view.scope]));
        reply_key(call->reply, "name");
        reply_text(call->reply, view.name);
        reply_key(call->reply, "options");
        reply_job_options(call->reply, &view.options);
        reply_end(call->reply);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------

static const struct command commands[] = {
    {
        .name = "Q.CONFIG.SET",
        .group = "settings",
        .flags = SHRINKS | COMMAND_AUDITED,
        TAKES(set_arguments, set_takes),
        .run = run_config_set,
        .summary = "Sets an option of the namespace.",
        .details = "The options are those that Q.CONFIG.GET lists and, for a queue, "
                   "<queue>-heartbeat, <queue>-max-concurrency, <queue>-fair, <queue>-max-jobs and "
                   "<queue>-max-bytes. Their values are numbers. Options of your own begin with x- "
                   "and may have any value.",
        .replies = "OK.",
        EXAMPLES({ "Q.CONFIG.SET app mail-heartbeat 300", "OK" }),
    },
    {
        .name = "Q.CONFIG.GET",
        .group = "settings",
        .flags = READS,
        TAKES(get_arguments, get_takes),
        .run = run_config_get,
        .summary = "Shows options of the namespace.",
        .replies = "A map of options and their values, null for what has none.",
        EXAMPLES({ "Q.CONFIG.GET app heartbeat mail-heartbeat mail-fair",
                   "1# \"heartbeat\" => \"60\"\n"
                   "2# \"mail-heartbeat\" => \"300\"\n"
                   "3# \"mail-fair\" => (nil)" }),
    },
    {
        .name = "Q.CONFIG.UNSET",
        .group = "settings",
        .flags = SHRINKS | COMMAND_AUDITED,
        TAKES(set_arguments, unset_takes),
        .run = run_config_unset,
        .summary = "Removes an option's value, so that its default applies.",
        .replies = "OK; NOT_FOUND when the option is not set.",
        EXAMPLES({ "Q.CONFIG.UNSET app mail-heartbeat", "OK" }),
    },
    {
        .name = "Q.LIMIT.SET",
        .group = "settings",
        .flags = WRITES | COMMAND_AUDITED,
        TAKES(limit_arguments, limit_set_takes),
        .run = run_limit_set,
        .summary = "Sets how often and how many at a time the jobs of a lane may run, and what "
                   "share they get, in place of what was set for the same queue and domain.",
        .details = "Of rate, concurrency and weight each counts as the most specific limit says: a "
                   "queue and its domain, a domain, a queue and a pattern, a pattern, a queue, "
                   "all. Limits do not add up. A limit counts for each lane by itself: one of a "
                   "domain without a QUEUE allows as much in each queue.",
        .replies = "OK.",
        EXAMPLES(
            { "Q.LIMIT.SET app QUEUE mail DOMAIN customer-* RATE 10 PERIOD 60 BURST 5", "OK" }),
    },
    {
        .name = "Q.LIMITS",
        .group = "settings",
        .flags = READS,
        TAKES(limits_arguments, limits_takes),
        .run = run_limits,
        .summary = "Lists the limits with their use, in the order in which they were first set.",
        .details = "The use counts the lanes in which the limit's rate or concurrency applies, or "
                   "its weight in a fair queue. For each of the three the most specific limit "
                   "applies.",
        .replies = "How many there are; a page of them: null for the queue or the domain of one "
                   "that is for all, and for what it says nothing about; how many jobs of its "
                   "lanes are in line (`waiting`) and run, and how many are in line in lanes that "
                   "have used up its rate or its concurrency (`held`); and the CURSOR of the page "
                   "behind it.",
        EXAMPLES({ "Q.LIMITS app COUNT 1", "1# \"total\" => (integer) 1\n"
                                           "2# \"limits\" => 1)  1# \"queue\" => \"mail\"\n"
                                           "       2# \"domain\" => \"customer-*\"\n"
                                           "       3# \"rate\" => (integer) 10\n"
                                           "       4# \"period\" => (double) 60\n"
                                           "       5# \"burst\" => (integer) 5\n"
                                           "       6# \"concurrency\" => (nil)\n"
                                           "       7# \"weight\" => (nil)\n"
                                           "       8# \"waiting\" => (integer) 0\n"
                                           "       9# \"running\" => (integer) 0\n"
                                           "      10# \"held\" => (integer) 0\n"
                                           "3# \"next\" => (nil)" }),
    },
    {
        .name = "Q.LIMIT.UNSET",
        .group = "settings",
        .flags = SHRINKS | COMMAND_AUDITED,
        TAKES(limit_arguments, limit_unset_takes),
        .run = run_limit_unset,
        .summary = "Removes the limit for exactly this queue and this domain.",
        .replies = "OK; NOT_FOUND when there is none.",
        EXAMPLES({ "Q.LIMIT.UNSET app QUEUE mail DOMAIN customer-*", "OK" }),
    },
    {
        .name = "Q.POLICY.SET",
        .group = "settings",
        .flags = WRITES | COMMAND_AUDITED,
        TAKES(policy_arguments, policy_set_takes),
        .run = run_policy_set,
        .summary = "Sets how the jobs of a klass or a queue are run that do not say it themselves, "
                   "in place of what was set before.",
        .details = "What a klass says counts before what a queue says.",
        .replies = "OK.",
        EXAMPLES({ "Q.POLICY.SET app klass Send BACKOFF exponential:1:300:20 TIMEOUT 600", "OK" }),
    },
    {
        .name = "Q.POLICIES",
        .group = "settings",
        .flags = READS,
        .run = run_policies,
        .summary = "Lists the policies in the order in which they were first set.",
        .replies = "A list of policies; null for options that one says nothing about.",
        EXAMPLES({ "Q.POLICIES app",
                   "1) 1# \"scope\" => \"klass\"\n"
                   "   2# \"name\" => \"Send\"\n"
                   "   3# \"options\" => 1# \"backoff\" => \"exponential:1:300:20\"\n"
                   "      2# \"timeout\" => (double) 600\n"
                   "      3# \"lease\" => (nil)\n"
                   "      4# \"result-ttl\" => (nil)\n"
                   "      5# \"max-crashes\" => (nil)\n"
                   "      6# \"on-dependency-failure\" => (nil)" }),
    },
    {
        .name = "Q.POLICY.UNSET",
        .group = "settings",
        .flags = SHRINKS | COMMAND_AUDITED,
        TAKES(policy_arguments, policy_unset_takes),
        .run = run_policy_unset,
        .summary = "Removes the policy of a klass or a queue.",
        .replies = "OK; NOT_FOUND when there is none.",
        EXAMPLES({ "Q.POLICY.UNSET app klass Send", "OK" }),
    },
};

const struct command_table api_settings = TABLE(commands);
