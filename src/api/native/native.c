// SPDX-License-Identifier: MIT
#include "api/command.h"

const struct command_table *const api_tables[API_TABLES] = {
    &api_put,     &api_pop,      &api_work,   &api_wait,  &api_jobs,     &api_tags,
    &api_lists,   &api_find,     &api_queues, &api_lanes, &api_measures, &api_recurring,
    &api_workers, &api_settings, &api_bulk,   &api_check, &api_tasks,    &api_transfer,
};
