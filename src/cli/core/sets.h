// SPDX-License-Identifier: MIT
// The sets of commands, one for each file that has some; commands.c puts them in order.
#ifndef SLUICE_CLI_CORE_SETS_H
#define SLUICE_CLI_CORE_SETS_H

#include "cli/core/cli.h"

extern const struct tool_set work_set;
extern const struct tool_set top_set;
extern const struct tool_set put_set;      // put
extern const struct tool_set take_set;     // pop, wait
extern const struct tool_set lease_set;    // complete, fail, retry, heartbeat, ...
extern const struct tool_set job_set;      // get, logs
extern const struct tool_set job_call_set; // peek, explain, cancel, tags, ...
extern const struct tool_set find_set;
extern const struct tool_set measure_call_set; // totals, series, days
extern const struct tool_set queue_set;        // jobs
extern const struct tool_set queue_call_set;   // queues, failed, pause, stats, ...
extern const struct tool_set recur_set;
extern const struct tool_set server_call_set; // status, ping, clients, ...
extern const struct tool_set setting_set;     // config, limit, policy
extern const struct tool_set push_set;        // push
extern const struct tool_set bulk_set;        // bulk, unfail
extern const struct tool_set transfer_set;    // import, export
extern const struct tool_set event_set;
extern const struct tool_set namespace_set;
extern const struct tool_set backup_set;
extern const struct tool_set doctor_set;
extern const struct tool_set bench_set;
extern const struct tool_set tool_call_set; // call
extern const struct tool_set help_set;
extern const struct tool_set completion_set;
extern const struct tool_set man_set;

// In the tables.
#define OPTIONS(table) .options = (table), .option_count = sizeof(table) / sizeof *(table)
#define SET(commands)                                                                              \
    {                                                                                              \
        commands, sizeof(commands) / sizeof *(commands)                                            \
    }
#define ONE         .arguments_min = 1, .arguments_max = 1
#define TWO         .arguments_min = 2, .arguments_max = 2
#define MANY        .arguments_min = 1, .arguments_max = SIZE_MAX
#define TWO_OR_MORE .arguments_min = 2, .arguments_max = SIZE_MAX
#define PAGE        .options = page_options, .option_count = PAGE_OPTION_COUNT
#define CALL(...)                                                                                  \
    .run = call_run, .call = &(const struct call)                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define YES_OPTION                                                                                 \
    {                                                                                              \
        .name = "yes", .letter = 'y', .type = OPTION_FLAG, .summary = "does not ask"               \
    }
#define EXAMPLES(...)                                                                              \
    (const struct tool_example[])                                                                  \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            NULL, NULL                                                                             \
        }                                                                                          \
    }

#define JOB_COLUMNS "jid klass queue state stage priority attempts moved due=scheduled data"

#endif
