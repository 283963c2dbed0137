// SPDX-License-Identifier: MIT
// Macros for the tables of commands.
#ifndef SLUICE_API_TABLE_H
#define SLUICE_API_TABLE_H

#include "api/call.h"
#include "api/command.h"

#include <stddef.h>

// An argument whose value is member `field` of `struct of`. After the label: the summary, then
// further fields such as .min and .max, .words.
#define ARGUMENT(of, field, kind, label, ...)                                                      \
    {                                                                                              \
        .name = (label), .type = ARGUMENT_##kind, .offset = offsetof(struct of, field),            \
        .has = ARGUMENT_NO_HAS, .summary = __VA_ARGS__                                             \
    }

#define OPTIONAL(of, field, kind, label, ...)                                                      \
    {                                                                                              \
        .name = (label), .type = ARGUMENT_##kind, .flags = ARGUMENT_OPTIONAL,                      \
        .offset = offsetof(struct of, field), .has = ARGUMENT_NO_HAS, .summary = __VA_ARGS__       \
    }

// The last argument: one or more names.
#define REST(of, field, kind, label, ...)                                                          \
    {                                                                                              \
        .name = (label), .type = ARGUMENT_##kind, .flags = ARGUMENT_REPEATED,                      \
        .offset = offsetof(struct of, field), .has = ARGUMENT_NO_HAS, .summary = __VA_ARGS__       \
    }

// The same, but there may be none.
#define OPTIONAL_REST(of, field, kind, label, ...)                                                 \
    {                                                                                              \
        .name = (label), .type = ARGUMENT_##kind, .flags = ARGUMENT_REPEATED | ARGUMENT_OPTIONAL,  \
        .offset = offsetof(struct of, field), .has = ARGUMENT_NO_HAS, .summary = __VA_ARGS__       \
    }

#define OPTION(of, field, kind, label, ...)                                                        \
    {                                                                                              \
        .name = (label), .type = ARGUMENT_##kind, .flags = ARGUMENT_OPTION,                        \
        .offset = offsetof(struct of, field), .has = ARGUMENT_NO_HAS, .summary = __VA_ARGS__       \
    }

// The same; member `given` is set if it was given.
#define OPTION_HAS(of, field, given, kind, label, ...)                                             \
    {                                                                                              \
        .name = (label), .type = ARGUMENT_##kind, .flags = ARGUMENT_OPTION,                        \
        .offset = offsetof(struct of, field), .has = offsetof(struct of, given),                   \
        .summary = __VA_ARGS__                                                                     \
    }

// An option that may be repeated.
#define OPTION_EACH(of, field, kind, label, ...)                                                   \
    {                                                                                              \
        .name = (label), .type = ARGUMENT_##kind, .flags = ARGUMENT_OPTION | ARGUMENT_REPEATED,    \
        .offset = offsetof(struct of, field), .has = ARGUMENT_NO_HAS, .summary = __VA_ARGS__       \
    }

// The end of a command's entry: its arguments, struct and examples.
#define TAKES(of, list)                                                                            \
    .arguments = (list), .argument_count = sizeof(list) / sizeof((list)[0]),                       \
    .arguments_size = sizeof(struct of)

#define TABLE(list)                                                                                \
    {                                                                                              \
        .commands = (list), .count = sizeof(list) / sizeof((list)[0])                              \
    }

#define EXAMPLES(...)                                                                              \
    .examples = (const struct example[])                                                           \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

// Common combinations of flags.
enum {
    READS = COMMAND_NAMESPACE | COMMAND_READS,
    WRITES = COMMAND_NAMESPACE | COMMAND_WRITES,
    SHRINKS = COMMAND_NAMESPACE | COMMAND_WRITES | COMMAND_SHRINKS,
};

// The range of durations: up to a hundred years.
#define SECONDS_RANGE  .min = 0, .max = INT64_C(100) * 366 * 86400 * 1000000
#define LEASE_RANGE    .min = 0, .max = LEASE_US_MAX
#define INT32_RANGE    .min = INT32_MIN, .max = INT32_MAX
#define PRIORITY_RANGE INT32_RANGE

#endif
