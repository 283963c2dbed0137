// SPDX-License-Identifier: MIT
#include "host/commands/push_commands.h"

#include "api/table.h"
#include "host/commands/services.h"

enum {
    SECOND_US = 1000000,
    CONCURRENCY_MAX = 10000,
    FREE_ATTEMPTS_MAX = 65534, // the engine counts attempts up to 65535
};

#define DAY_US (INT64_C(86400) * SECOND_US)

// clang-format off
const struct argument push_takes[PUSH_TAKES] = {
    ARGUMENT(push_arguments, pattern, NAME, "pattern",
             "which jobs: a klass, or a pattern with * for any bytes"),
    ARGUMENT(push_arguments, href, TEXT, "href", "where to: http://... or https://...", .about = ABOUT_SECRET),
    OPTION_HAS(push_arguments, concurrency, has_concurrency, INTEGER, "CONCURRENCY",
               "how many at a time (10)", .min = 1, .max = CONCURRENCY_MAX),
    OPTION_HAS(push_arguments, timeout_us, has_timeout, SECONDS, "TIMEOUT",
               "how long a request may take (60)", .min = 1000, .max = DAY_US),
    OPTION_HAS(push_arguments, report_us, has_report, SECONDS, "REPORT-WITHIN",
               "how long the lease is kept for a worker that has answered 202 (3600)", .min = 0,
               .max = 30 * DAY_US),
    OPTION_HAS(push_arguments, backoff_us, has_backoff, SECONDS, "BACKOFF",
               "how long jobs without a backoff of their own wait at first, each time twice as "
               "long, up to an hour (1)", .min = 0, .max = DAY_US),
    OPTION_HAS(push_arguments, failures, has_failures, INTEGER, "FAILURES",
               "after so many failures in a row nothing is sent for a while (10)", .min = 1,
               .max = 1000000),
    OPTION_HAS(push_arguments, cooldown_us, has_cooldown, SECONDS, "COOLDOWN",
               "how long that while is; then one job is tried (30)", .min = 1000, .max = DAY_US),
    OPTION_HAS(push_arguments, free_attempts, has_free_attempts, INTEGER, "FREE-ATTEMPTS",
               "after so many attempts of a job, an answer with Retry-After costs a retry (100)",
               .min = 0, .max = FREE_ATTEMPTS_MAX),
    OPTION(push_arguments, fail_4xx, FLAG, "FAIL-4XX",
           "an answer from 400 to 499 fails the job at once, but for 408, 425 and 429"),
    OPTION_EACH(push_arguments, headers, TEXT, "HEADER",
                "a header to send, 'Name: value', of up to 8192 bytes", .about = ABOUT_SECRET),
    OPTION(push_arguments, secret, TEXT, "SECRET",
           "what requests are signed with: whsec_ and base64, or a text", .about = ABOUT_SECRET),
    OPTION(push_arguments, old_secret, TEXT, "OLD-SECRET",
           "the secret before: requests are signed with both, until all workers know the new one",
           .about = ABOUT_SECRET),
    OPTION_EACH(push_arguments, queues, NAME, "QUEUE",
                "only jobs of this queue; without it, of all"),
};
// clang-format on

static const struct argument pattern_takes[] = {
    ARGUMENT(push_pattern_arguments, pattern, NAME, "pattern", "as it was set"),
};

// ---------------------------------------------------------------------------------------------

static enum status refuse(const struct call *call, struct error *error)
{
    return error_set(error, STATUS_UNSUPPORTED, "%s needs a server: it is sluiced that pushes jobs",
                     call->command->name);
}

static enum status run_set(struct call *call, struct error *error)
{
    const struct push_service *push = services_of(call)->push;
    return push ? push->set(call, error) : refuse(call, error);
}

static enum status run_unset(struct call *call, struct error *error)
{
    const struct push_service *push = services_of(call)->push;
    return push ? push->unset(call, error) : refuse(call, error);
}

static enum status run_try(struct call *call, struct error *error)
{
    const struct push_service *push = services_of(call)->push;
    return push ? push->attempt(call, error) : refuse(call, error);
}

static enum status run_pushes(struct call *call, struct error *error)
{
    const struct push_service *push = services_of(call)->push;
    return push ? push->show(call, error) : refuse(call, error);
}

// In the order of the reference.
enum {
    SET,
    MSET,
    UNSET,
    TRY,
    PUSHES,
};

static const struct command commands[] = {
    [SET] = {
        .name = "Q.PUSH.SET",
        .group = "push",
        .flags = WRITES | COMMAND_ADMIN | COMMAND_AUDITED | COMMAND_SECRET,
        TAKES(push_arguments, push_takes),
        .run = run_set,
        .summary = "Has the server push jobs of a klass to an address, or changes how.",
        .details =
            "From now on the server takes jobs of that klass itself, as the worker @push, "
            "and POSTs each to the address; docs/push.md says what it sends and what "
            "answers mean. Of several patterns that fit, a klass that is named as it is "
            "comes first, then the longest pattern. Jobs that no pattern fits stay for "
            "other workers. What is under way goes on. An address that is private is refused "
            "while the setting push-allow-private is off.",
        .replies = "OK.",
        EXAMPLES({ "Q.PUSH.SET app Backfill https://jobs.example.com/backfill CONCURRENCY 20 "
                   "TIMEOUT 30",
                   "OK" }),
    },
    [MSET] = {
        .name = "Q.PUSH.MSET",
        .group = "push",
        .flags = WRITES | COMMAND_ADMIN | COMMAND_AUDITED | COMMAND_SECRET,
        .each = &commands[SET],
        .summary = "Sets many pushes. For each push, give the number of its arguments, then the "
                   "arguments as in Q.PUSH.SET.",
        .details = "Pushes that are not named stay as they are.",
        .replies = "A list: for each OK, or an error.",
        EXAMPLES({ "Q.PUSH.MSET app 4 load https://load.example.com/ CONCURRENCY 12 2 echo "
                   "https://echo.example.com/",
                   "1) OK\n2) OK" }),
    },
    [UNSET] = {
        .name = "Q.PUSH.UNSET",
        .group = "push",
        .flags = SHRINKS | COMMAND_ADMIN | COMMAND_AUDITED,
        TAKES(push_pattern_arguments, pattern_takes),
        .run = run_unset,
        .summary = "Ends the push of a klass or a pattern. Requests in progress continue.",
        .replies = "OK; NOTFOUND when there is none.",
        EXAMPLES({ "Q.PUSH.UNSET app Backfill", "OK" }),
    },
    [TRY] = {
        .name = "Q.PUSH.TRY",
        .group = "push",
        .flags = SHRINKS | COMMAND_ADMIN | COMMAND_AUDITED,
        TAKES(push_pattern_arguments, pattern_takes),
        .run = run_try,
        .summary = "Sends a push now that waits after failures or a Retry-After.",
        .details = "After failures one job is sent, as at the end of COOLDOWN: when it succeeds, "
                   "the others follow. Without anything to wait for nothing changes.",
        .replies = "OK; NOTFOUND when there is none.",
        EXAMPLES({ "Q.PUSH.TRY app Backfill", "OK" }),
    },
    [PUSHES] = {
        .name = "Q.PUSHES",
        .group = "push",
        .flags = READS,
        .run = run_pushes,
        .summary = "Shows where jobs are pushed to, and how that goes.",
        .details = "Of secrets and headers it is only said that they are there. breaker is open "
                   "while nothing is sent since too many requests failed in a row, and trying "
                   "while one is sent to see whether that has passed.",
        .replies = "A list of maps, in the order in which they were set.",
        EXAMPLES({ "Q.PUSHES app", "1)  1# \"pattern\" => \"Backfill\"\n    2# \"href\" => "
                                   "\"https://jobs.example.com/backfill\"\n    ..." }),
    },
};

const struct command_table host_push_commands = TABLE(commands);
