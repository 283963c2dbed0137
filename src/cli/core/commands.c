// SPDX-License-Identifier: MIT
// All commands of the tool, in the order in which help and documents show them.
#include "cli/core/sets.h"

const char *const tool_groups[] = {
    "Work", "Jobs", "Queues", "Settings", "Looking after it", "The server", "The tool", NULL,
};

const struct tool_set *const tool_sets[] = {
    &work_set,        &top_set,          &put_set,
    &take_set,        &lease_set,        &job_set,
    &job_call_set,    &find_set,         &queue_call_set,
    &queue_set,       &measure_call_set, &recur_set,
    &setting_set,     &push_set,         &bulk_set,
    &event_set,       &doctor_set,       &backup_set,
    &transfer_set,    &namespace_set,    &bench_set,
    &server_call_set, &tool_call_set,    &completion_set,
    &help_set,        &man_set,          NULL,
};

const struct tool_command *tool_command_at(size_t index)
{
    for (const struct tool_set *const *set = tool_sets; *set; set++) {
        if (index < (*set)->count) {
            return &(*set)->commands[index];
        }
        index -= (*set)->count;
    }
    return NULL;
}
