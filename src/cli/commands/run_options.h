// SPDX-License-Identifier: MIT
// The options that say how a job is run: of a job, of a recurring one, and of a policy. Where they
// are read into a struct sluice_put_options it stands first in the command's struct of options.
#ifndef SLUICE_CLI_COMMANDS_RUN_OPTIONS_H
#define SLUICE_CLI_COMMANDS_RUN_OPTIONS_H

#include "cli/core/cli.h"

#define PUT_FIELD(field) offsetof(struct sluice_put_options, field)

// The longest run is --run-timeout: --timeout is that of a call.
#define RUN_OPTIONS                                                                                \
    { .name = "backoff",                                                                           \
      .type = OPTION_TEXT,                                                                         \
      .value = "BACKOFF",                                                                          \
      .offset = PUT_FIELD(backoff),                                                                \
      .word = "BACKOFF",                                                                           \
      .summary = "how long to wait before it is tried again: fixed:S, linear:S, exponential:S or " \
                 "list:S,S,..., then perhaps :CAP (seconds) and :JITTER (percent)" },              \
        { .name = "run-timeout",                                                                   \
          .type = OPTION_SECONDS,                                                                  \
          .value = "SECONDS",                                                                      \
          .offset = PUT_FIELD(timeout),                                                            \
          .word = "TIMEOUT",                                                                       \
          .summary = "the longest run, however well it heartbeats; 0: none" },                     \
        { .name = "lease",                                                                         \
          .type = OPTION_SECONDS,                                                                  \
          .value = "SECONDS",                                                                      \
          .offset = PUT_FIELD(lease),                                                              \
          .word = "LEASE",                                                                         \
          .summary = "how long its leases last without a heartbeat; 0: as its queue says" },       \
        { .name = "result-ttl",                                                                    \
          .type = OPTION_SECONDS,                                                                  \
          .value = "SECONDS",                                                                      \
          .offset = PUT_FIELD(result_ttl),                                                         \
          .word = "RESULT-TTL",                                                                    \
          .summary = "how long its result is kept; 0: as long as the job" },                       \
        { .name = "max-crashes",                                                                   \
          .type = OPTION_INTEGER,                                                                  \
          .value = "N",                                                                            \
          .offset = PUT_FIELD(max_crashes),                                                        \
          .word = "MAX-CRASHES",                                                                   \
          .summary = "with so many leases lost it fails; 0: no limit" },                           \
    {                                                                                              \
        .name = "on-dependency-failure", .type = OPTION_TEXT, .value = "WHAT",                     \
        .offset = PUT_FIELD(on_dependency_failure), .word = "ON-DEPENDENCY-FAILURE",               \
        .choices = "hold|cancel|fail|run",                                                         \
        .summary = "what becomes of it when a job that it depends on fails (hold)"                 \
    }

#endif
