// SPDX-License-Identifier: MIT
#include "client/results.h"

#include <stdio.h>

void result_set(struct sluice_result *result, enum sluice_status status, const char *message)
{
    result->status = status;
    (void)snprintf(result->message, sizeof(result->message), "%s", status ? message : "");
}

enum sluice_status results_first_refused(const struct sluice_result *results, size_t count,
                                         struct sluice_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (results[i].status) {
            return fault(error, results[i].status, "%s", results[i].message);
        }
    }
    return SLUICE_OK;
}

enum sluice_status results_of_rest(enum sluice_status status)
{
    switch (status) {
    case SLUICE_OK:
    case SLUICE_INVALID:
    case SLUICE_TOO_LARGE:
    case SLUICE_NO_MEMORY:
        return SLUICE_OK;
    case SLUICE_UNKNOWN:
        return SLUICE_UNREACHABLE;
    default:
        return status;
    }
}
