// SPDX-License-Identifier: MIT
// Recurring jobs.
#include "cli/commands/run_options.h"
#include "cli/core/call.h"
#include "cli/core/sets.h"

// Of add and of update.
#define RECUR_OPTIONS                                                                              \
    { .name = "interval",                                                                          \
      .letter = 'i',                                                                               \
      .type = OPTION_SECONDS,                                                                      \
      .value = "SECONDS",                                                                          \
      .word = "INTERVAL",                                                                          \
      .summary = "from one to the next" },                                                         \
        { .name = "backlog",                                                                       \
          .type = OPTION_INTEGER,                                                                  \
          .value = "N",                                                                            \
          .word = "BACKLOG",                                                                       \
          .summary = "of those that are due at a time only so many are made, the last; 0: all" },  \
        { .name = "priority",                                                                      \
          .letter = 'p',                                                                           \
          .type = OPTION_INTEGER,                                                                  \
          .value = "N",                                                                            \
          .word = "PRIORITY",                                                                      \
          .summary = "lower runs sooner" },                                                        \
    {                                                                                              \
        .name = "retries", .letter = 'r', .type = OPTION_INTEGER, .value = "N", .word = "RETRIES", \
        .summary = "how often each is tried again"                                                 \
    }

// When, and what becomes of runs that cannot be as planned.
#define SCHEDULE_OPTIONS                                                                           \
    { .name = "cron",                                                                              \
      .letter = 'c',                                                                               \
      .type = OPTION_TEXT,                                                                         \
      .value = "CRON",                                                                             \
      .word = "CRON",                                                                              \
      .summary = "when, instead of --interval: [second] minute hour day month weekday, or @daily " \
                 "and such" },                                                                     \
        { .name = "zone",                                                                          \
          .letter = 'z',                                                                           \
          .type = OPTION_TEXT,                                                                     \
          .value = "ZONE",                                                                         \
          .word = "ZONE",                                                                          \
          .summary = "the time zone of the cron expression (UTC)" },                               \
        { .name = "missed",                                                                        \
          .type = OPTION_TEXT,                                                                     \
          .value = "WHICH",                                                                        \
          .word = "MISSED",                                                                        \
          .choices = "all|one|skip",                                                               \
          .summary = "what becomes of those that are late: all are made, the last one, or none" }, \
        { .name = "overlap",                                                                       \
          .type = OPTION_TEXT,                                                                     \
          .value = "WHETHER",                                                                      \
          .word = "OVERLAP",                                                                       \
          .choices = "allow|skip",                                                                 \
          .summary = "whether one is made while the one before has not finished" },                \
    {                                                                                              \
        .name = "domain", .type = OPTION_TEXT, .value = "DOMAIN", .word = "DOMAIN",                \
        .summary = "their lane"                                                                    \
    }

static const struct option add_options[] = {
    RECUR_OPTIONS,
    SCHEDULE_OPTIONS,
    { .name = "delay",
      .letter = 'd',
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .word = "DELAY",
      .summary = "the first not before so long from now" },
    { .name = "tag",
      .letter = 't',
      .type = OPTION_TEXTS,
      .value = "TAG",
      .word = "TAG",
      .summary = "words to find them by" },
    RUN_OPTIONS,
};

static const struct option update_options[] = {
    RECUR_OPTIONS,
    { .name = "queue",
      .letter = 'q',
      .type = OPTION_TEXT,
      .value = "QUEUE",
      .word = "QUEUE",
      .summary = "the queue that the jobs go to" },
    { .name = "klass",
      .letter = 'k',
      .type = OPTION_TEXT,
      .value = "KLASS",
      .word = "KLASS",
      .summary = "what kind of work they are" },
    { .name = "data",
      .type = OPTION_TEXT,
      .value = "JSON",
      .word = "DATA",
      .summary = "their JSON; - and @FILE as in put" },
    SCHEDULE_OPTIONS,
    RUN_OPTIONS,
};

#define COUNT_OPTION                                                                               \
    {                                                                                              \
        .name = "count", .letter = 'n', .type = OPTION_INTEGER, .value = "N", .word = "COUNT",     \
        .summary = "how many at most (25)"                                                         \
    }

static const struct option runs_options[] = { COUNT_OPTION };

static const struct option cron_options[] = {
    COUNT_OPTION,
    { .name = "zone",
      .letter = 'z',
      .type = OPTION_TEXT,
      .value = "ZONE",
      .word = "ZONE",
      .summary = "its time zone (UTC)" },
    { .name = "after",
      .letter = 'a',
      .type = OPTION_TIME,
      .value = "TIME",
      .word = "AFTER",
      .summary = "from when on (now)" },
};

static const struct tool_command commands[] = {
    { .name = "recur add",
      .group = "Queues",
      .arguments = "JID QUEUE KLASS [DATA]",
      .arguments_min = 3,
      .arguments_max = 4,
      OPTIONS(add_options),
      CALL(.words = "Q.RECUR", .form = CALL_SAID, .said = "recurring:", .otherwise = "{}",
           .json_argument = 4, .one_of = "interval cron"),
      .makes = true,
      .summary = "Makes a recurring job, or replaces the one with that jid",
      .details = "It puts a job every interval, or as a cron expression says. With --interval the "
                 "first is due after --delay, so that without it one is made at once.",
      .examples = EXAMPLES({ "sluice recur add nightly reports Nightly --cron '0 3 * * *' "
                             "--zone Europe/Berlin",
                             NULL },
                           { "sluice recur add poll mail Poll --interval 5m", NULL }) },
    { .name = "recur get",
      .group = "Queues",
      .arguments = "JID",
      ONE,
      CALL(.words = "Q.RECUR.GET", .form = CALL_RECORD),
      .summary = "Shows a recurring job" },
    { .name = "recur update",
      .group = "Queues",
      .arguments = "JID",
      ONE,
      OPTIONS(update_options),
      CALL(.words = "Q.RECUR.UPDATE", .form = CALL_SAID, .said = "updated"),
      .summary = "Changes a recurring job; what is not given stays as it was",
      .details = "With another cron expression or zone it starts anew. One by interval becomes one "
                 "by cron with --cron; the other way round it is added again. With --zone '' it is "
                 "in UTC, with --domain '' its jobs are in the default lane.",
      .examples =
          EXAMPLES({ "sluice recur update nightly --cron '0 4 * * *' --overlap skip", NULL }) },
    { .name = "recur remove",
      .group = "Queues",
      .arguments = "JID",
      ONE,
      CALL(.words = "Q.UNRECUR", .form = CALL_SAID, .said = "removed"),
      .summary = "Removes a recurring job; the jobs that it has made stay" },
    { .name = "recur runs",
      .group = "Queues",
      .arguments = "JID",
      ONE,
      OPTIONS(runs_options),
      CALL(.words = "Q.RECUR.RUNS", .form = CALL_MOMENTS, .recurring = true),
      .summary = "Says when a recurring job will make its next jobs" },
    { .name = "recur pause",
      .group = "Queues",
      .arguments = "JID",
      ONE,
      CALL(.words = "Q.RECUR.PAUSE", .form = CALL_SAID, .said = "paused"),
      .summary = "Lets a recurring job make no jobs until it is resumed; it keeps its schedule" },
    { .name = "recur resume",
      .group = "Queues",
      .arguments = "JID",
      ONE,
      CALL(.words = "Q.RECUR.RESUME", .form = CALL_SAID, .said = "resumed"),
      .summary = "Lets a recurring job make jobs again" },
    { .name = "recur run",
      .group = "Queues",
      .arguments = "JID",
      ONE,
      CALL(.words = "Q.RECUR.RUN", .form = CALL_VALUE),
      .summary = "Makes a job of a recurring one now, and prints its jid" },
    { .name = "recur tag",
      .group = "Queues",
      .arguments = "JID TAG...",
      TWO_OR_MORE,
      CALL(.words = "Q.RECUR.TAG", .form = CALL_LIST),
      .summary = "Gives a recurring job tags, and says which it has" },
    { .name = "recur untag",
      .group = "Queues",
      .arguments = "JID TAG...",
      TWO_OR_MORE,
      CALL(.words = "Q.RECUR.UNTAG", .form = CALL_LIST),
      .summary = "Takes tags from a recurring job, and says which it has" },
    { .name = "zones",
      .group = "Queues",
      .arguments = "",
      CALL(.words = "Q.ZONES", .form = CALL_LIST, .missing = "there are no time zones",
           .of_server = true),
      .summary = "Lists the time zones that a cron expression can be in" },
    { .name = "cron",
      .group = "Queues",
      .arguments = "EXPRESSION",
      ONE,
      OPTIONS(cron_options),
      CALL(.words = "Q.CRON", .form = CALL_MOMENTS),
      .summary = "Says when a cron expression runs",
      .examples = EXAMPLES({ "sluice cron '30 9 * * mon-fri' --zone Europe/Berlin -n 3", NULL }) },
};
const struct tool_set recur_set = SET(commands);
