// SPDX-License-Identifier: MIT
// Options, limits and policies of a namespace.
#include "cli/commands/run_options.h"
#include "cli/core/call.h"
#include "cli/core/sets.h"

#define LANE_OPTIONS                                                                               \
    { .name = "queue",                                                                             \
      .letter = 'q',                                                                               \
      .type = OPTION_TEXT,                                                                         \
      .value = "QUEUE",                                                                            \
      .word = "QUEUE",                                                                             \
      .summary = "the lanes of that queue (of all)" },                                             \
    {                                                                                              \
        .name = "domain", .type = OPTION_TEXT, .value = "DOMAIN", .word = "DOMAIN",                \
        .summary = "the lane of that domain; with * in it, of all that match (every lane)"         \
    }

static const struct option limit_set_options[] = {
    LANE_OPTIONS,
    { .name = "rate",
      .letter = 'r',
      .type = OPTION_INTEGER,
      .value = "N",
      .word = "RATE",
      .summary = "how many jobs of a lane may start in a period; 0: any number" },
    { .name = "period",
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .word = "PERIOD",
      .summary = "of the rate (1)" },
    { .name = "burst",
      .type = OPTION_INTEGER,
      .value = "N",
      .word = "BURST",
      .summary = "how many may start at once after a pause (1)" },
    { .name = "concurrency",
      .letter = 'c',
      .type = OPTION_INTEGER,
      .value = "N",
      .word = "CONCURRENCY",
      .summary = "how many jobs of a lane may run at a time; 0: any number" },
    { .name = "weight",
      .type = OPTION_INTEGER,
      .value = "N",
      .word = "WEIGHT",
      .summary = "how many turns a lane gets in a fair queue, where others get 1" },
};
static const struct option limit_unset_options[] = { LANE_OPTIONS };
static const struct option policy_options[] = { RUN_OPTIONS };

static const struct tool_command commands[] = {
    { .name = "config get",
      .group = "Settings",
      .arguments = "[OPTION...]",
      .arguments_max = SIZE_MAX,
      CALL(.words = "Q.CONFIG.GET", .form = CALL_SETTINGS),
      .summary = "Shows options of the namespace",
      .primary = true },
    { .name = "config set",
      .group = "Settings",
      .arguments = "OPTION VALUE",
      .arguments_min = 2,
      .arguments_max = 2,
      CALL(.words = "Q.CONFIG.SET", .form = CALL_SAID, .said = "set"),
      .makes = true,
      .summary = "Sets an option of the namespace",
      .examples = EXAMPLES({ "sluice config set mail-heartbeat 300",
                             "leases of the queue mail last five minutes" }) },
    { .name = "config unset",
      .group = "Settings",
      .arguments = "OPTION",
      .arguments_min = 1,
      .arguments_max = 1,
      CALL(.words = "Q.CONFIG.UNSET", .form = CALL_SAID, .said = "unset"),
      .summary = "Takes an option's value away; its default counts again" },
    { .name = "limit list",
      .group = "Settings",
      .arguments = "",
      CALL(.words = "Q.LIMITS COUNT 1000", .form = CALL_LIST, .list = "limits",
           .columns = "queue domain rate period burst concurrency weight waiting running held",
           .missing = "there are no limits"),
      .summary = "Lists the limits of rate and concurrency",
      .primary = true },
    { .name = "limit set",
      .group = "Settings",
      .arguments = "",
      OPTIONS(limit_set_options),
      CALL(.words = "Q.LIMIT.SET", .form = CALL_SAID, .said = "set",
           .one_of = "rate concurrency weight"),
      .makes = true,
      .summary = "Sets how often and how many at a time the jobs of a lane may run",
      .details = "It replaces what was set for the same queue and domain. Of rate, concurrency and "
                 "weight each counts as the most specific limit says: a queue and its domain, a "
                 "domain, a queue and a pattern, a pattern, a queue, all.",
      .examples = EXAMPLES({ "sluice limit set -q mail --domain 'customer-*' --rate 10 --period 1m",
                             "ten mails a minute for each customer" }) },
    { .name = "limit unset",
      .group = "Settings",
      .arguments = "",
      OPTIONS(limit_unset_options),
      CALL(.words = "Q.LIMIT.UNSET", .form = CALL_SAID, .said = "unset"),
      .summary = "Removes the limit for exactly this queue and this domain" },
    { .name = "policy list",
      .group = "Settings",
      .arguments = "",
      CALL(.words = "Q.POLICIES", .form = CALL_LIST,
           .columns = "scope name options/backoff options/timeout options/lease options/result-ttl "
                      "options/max-crashes options/on-dependency-failure",
           .missing = "there are no policies"),
      .summary = "Lists how the jobs of klasses and queues are run",
      .primary = true },
    { .name = "policy set",
      .group = "Settings",
      .arguments = "klass|queue NAME",
      .arguments_min = 2,
      .arguments_max = 2,
      OPTIONS(policy_options),
      CALL(.words = "Q.POLICY.SET", .form = CALL_SAID, .said = "set",
           .one_of = "backoff run-timeout lease result-ttl max-crashes on-dependency-failure"),
      .makes = true,
      .summary = "Sets how the jobs of a klass or a queue are run that do not say it themselves",
      .details =
          "It replaces what was set before. What a klass says counts before what a queue says.",
      .examples =
          EXAMPLES({ "sluice policy set klass Send --backoff exponential:1:300:20", NULL }) },
    { .name = "policy unset",
      .group = "Settings",
      .arguments = "klass|queue NAME",
      .arguments_min = 2,
      .arguments_max = 2,
      CALL(.words = "Q.POLICY.UNSET", .form = CALL_SAID, .said = "unset"),
      .summary = "Takes the policy of a klass or a queue away" },
};
const struct tool_set setting_set = SET(commands);
