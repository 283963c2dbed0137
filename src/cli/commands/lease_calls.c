// SPDX-License-Identifier: MIT
// What the holder of a job's lease may say; or a person in its place.
#include "cli/core/call.h"
#include "cli/core/sets.h"

#define LEASE_OPTIONS                                                                              \
    { .name = "worker",                                                                            \
      .letter = 'w',                                                                               \
      .type = OPTION_TEXT,                                                                         \
      .value = "NAME",                                                                             \
      .summary = "the worker that holds the job (default: the current holder)" },                  \
    {                                                                                              \
        .name = "token", .type = OPTION_INTEGER, .value = "N",                                     \
        .summary = "the lease's, from pop: refused when it is not the current one"                 \
    }

#define LEASE_DETAILS                                                                              \
    "Without --worker it acts as the worker that currently holds the job, so that an operator "    \
    "can settle a job by hand. A program should pass the worker and the token that it got from "   \
    "pop."

#define DATA_OPTION                                                                                \
    {                                                                                              \
        .name = "data", .type = OPTION_TEXT, .value = "JSON", .word = "DATA",                      \
        .summary = "replaces the job's data; - and @FILE as in put"                                \
    }

static const struct option lease_options[] = { LEASE_OPTIONS };

static const struct option complete_options[] = {
    LEASE_OPTIONS,
    { .name = "result",
      .letter = 'r',
      .type = OPTION_TEXT,
      .value = "JSON",
      .word = "RESULT",
      .summary = "kept with the job; - and @FILE as in put" },
    DATA_OPTION,
    { .name = "next",
      .type = OPTION_TEXT,
      .value = "QUEUE",
      .word = "NEXT",
      .summary = "the queue it goes on to, instead of being done" },
    { .name = "delay",
      .letter = 'd',
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .word = "DELAY",
      .summary = "with --next: not before so long from now" },
    { .name = "depends",
      .type = OPTION_TEXTS,
      .value = "JID",
      .word = "DEPENDS",
      .summary = "with --next: jobs that must be complete before it runs there" },
    { .name = "allow-missing",
      .type = OPTION_FLAG,
      .word = "ALLOW-MISSING",
      .summary = "jobs in --depends that do not exist count as complete" },
};

static const struct option data_options[] = { LEASE_OPTIONS, DATA_OPTION };

static const struct option heartbeat_options[] = {
    LEASE_OPTIONS,
    DATA_OPTION,
    { .name = "lease",
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .word = "LEASE",
      .summary = "how long the lease lasts from now on; 0: as the job or its queue says" },
};

static const struct option fail_options[] = {
    LEASE_OPTIONS,
    DATA_OPTION,
    { .name = "force",
      .letter = 'f',
      .type = OPTION_FLAG,
      .word = "FORCE",
      .summary = "also a job that is not running; --worker says who fails it (operator)" },
};

static const struct option retry_options[] = {
    LEASE_OPTIONS,
    { .name = "delay",
      .letter = 'd',
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .word = "DELAY",
      .summary = "not before so long from now (as its backoff says)" },
    { .name = "queue",
      .letter = 'q',
      .type = OPTION_TEXT,
      .value = "QUEUE",
      .word = "QUEUE",
      .summary = "where to try it again (where it is)" },
    { .name = "group",
      .letter = 'g',
      .type = OPTION_TEXT,
      .value = "GROUP",
      .word = "GROUP",
      .summary = "what kind of failure it was" },
    { .name = "message",
      .letter = 'm',
      .type = OPTION_TEXT,
      .value = "TEXT",
      .word = "MESSAGE",
      .summary = "what went wrong" },
    { .name = "uncounted",
      .type = OPTION_FLAG,
      .word = "UNCOUNTED",
      .summary = "no retry is counted, and the job does not fail" },
};

static const struct option progress_options[] = {
    LEASE_OPTIONS,
    { .name = "message",
      .letter = 'm',
      .type = OPTION_TEXT,
      .value = "TEXT",
      .word = "MESSAGE",
      .summary = "what it is doing" },
};

static const struct tool_command commands[] = {
    { .name = "complete",
      .group = "Work",
      .arguments = "JID",
      .arguments_min = 1,
      .arguments_max = 1,
      OPTIONS(complete_options),
      .run = call_run,
      .call = &(const struct call){ .words = "Q.COMPLETE", .form = CALL_VALUE, .leased = true },
      .summary = "Completes a job, or this part of it",
      .details = "Says which state the job is in now. " LEASE_DETAILS,
      .examples = EXAMPLES({ "sluice complete ann --result '{\"sent\":true}'", NULL }) },
    { .name = "fail",
      .group = "Work",
      .arguments = "JID GROUP MESSAGE",
      .arguments_min = 3,
      .arguments_max = 3,
      OPTIONS(fail_options),
      .run = call_run,
      .call =
          &(const struct call){
              .words = "Q.FAIL", .form = CALL_SAID, .said = "failed", .leased = true },
      .summary = "Fails a job for good, until it is unfailed",
      .details = LEASE_DETAILS " With --force a job in any state but failed fails; a worker that "
                               "holds it loses its lease.",
      .examples = EXAMPLES({ "sluice fail ann smtp 'connection refused'", NULL },
                           { "sluice fail --force bob obsolete 'no longer needed'", NULL }) },
    { .name = "retry",
      .group = "Work",
      .arguments = "JID",
      .arguments_min = 1,
      .arguments_max = 1,
      OPTIONS(retry_options),
      .run = call_run,
      .call = &(const struct call){ .words = "Q.RETRY", .form = CALL_VALUE, .leased = true },
      .summary = "Gives a running job back to be tried again",
      .details =
          "Says how many retries remain; below 0 the job has failed. For jobs that have failed "
          "there is `sluice unfail`. " LEASE_DETAILS,
      .examples = EXAMPLES({ "sluice retry ann --delay 5m", NULL }) },
    { .name = "return",
      .group = "Work",
      .arguments = "JID",
      .arguments_min = 1,
      .arguments_max = 1,
      OPTIONS(data_options),
      .run = call_run,
      .call =
          &(const struct call){
              .words = "Q.RETURN", .form = CALL_SAID, .said = "returned", .leased = true },
      .summary = "Gives a running job back, first in line and without counting a retry",
      .details = LEASE_DETAILS },
    { .name = "start",
      .group = "Work",
      .arguments = "JID [PID]",
      .arguments_min = 1,
      .arguments_max = 2,
      OPTIONS(lease_options),
      .run = call_run,
      .call =
          &(const struct call){
              .words = "Q.START", .form = CALL_SAID, .said = "started", .leased = true },
      .summary = "Says that the worker has begun with a job",
      .details = LEASE_DETAILS },
    { .name = "heartbeat",
      .group = "Work",
      .arguments = "JID",
      .arguments_min = 1,
      .arguments_max = 1,
      OPTIONS(heartbeat_options),
      .run = call_run,
      .call = &(const struct call){ .words = "Q.HEARTBEAT", .form = CALL_MOMENTS, .leased = true },
      .summary = "Renews the lease of a job",
      .details = "Says when it ends now. " LEASE_DETAILS },
    { .name = "progress",
      .group = "Work",
      .arguments = "JID FRACTION",
      .arguments_min = 2,
      .arguments_max = 2,
      OPTIONS(progress_options),
      .run = call_run,
      .call =
          &(const struct call){
              .words = "Q.PROGRESS", .form = CALL_SAID, .said = "progress of", .leased = true },
      .summary = "Says how far a running job is, from 0 to 1",
      .details = LEASE_DETAILS },
    { .name = "checkpoint",
      .group = "Work",
      .arguments = "JID VALUE",
      .arguments_min = 2,
      .arguments_max = 2,
      OPTIONS(lease_options),
      .run = call_run,
      .call =
          &(const struct call){
              .words = "Q.CHECKPOINT", .form = CALL_SAID, .said = "checkpoint of", .leased = true },
      .summary = "Keeps a value that a job's next run receives, should this one be lost",
      .details = LEASE_DETAILS },
    { .name = "log",
      .group = "Work",
      .arguments = "JID LINE",
      .arguments_min = 2,
      .arguments_max = 2,
      OPTIONS(lease_options),
      .run = call_run,
      .call =
          &(const struct call){
              .words = "Q.LOG", .form = CALL_SAID, .said = "logged to", .leased = true },
      .summary = "Appends a line to a running job's log",
      .details = LEASE_DETAILS },
};
const struct tool_set lease_set = SET(commands);
