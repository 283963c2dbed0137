// SPDX-License-Identifier: MIT
#include "doctor/doctor.h"

#include "client/fault.h"
#include "os/clock.h"

enum sluice_status sluice_doctor(const char *path, enum sluice_remedy remedy,
                                 void (*say)(void *context, bool bad, double share,
                                             const char *sentence),
                                 void *context, struct sluice_error *error)
{
    if (!path || !path[0]) {
        return fault(error, SLUICE_INVALID, "the path of a folder is missing");
    }
    if (remedy != SLUICE_CHECK && remedy != SLUICE_REPAIR) {
        return fault(error, SLUICE_INVALID, "%d is not a remedy", (int)remedy);
    }
    const struct doctor_options options = {
        .path = path,
        .allocator = &allocator_system,
        .remedy = remedy == SLUICE_REPAIR ? DOCTOR_REPAIR : DOCTOR_CHECK,
        .now_us = wall_clock_us(),
        .report = say,
        .context = context,
    };
    struct error why = { 0 };
    return doctor_run(&options, &why) ? fault_of(error, &why) : SLUICE_OK;
}
