// SPDX-License-Identifier: MIT
// The checks that put shares with complete, retry, recur and restore.
#ifndef SLUICE_ENGINE_JOB_PUT_H
#define SLUICE_ENGINE_JOB_PUT_H

#include "engine/engine.h"

// Checks the names and the data of a job.
MUST_USE enum status put_check(const struct engine *engine, struct slice queue, struct slice jid,
                               struct slice klass, struct slice data, struct error *error);
MUST_USE enum status delay_check(int64_t now_us, int64_t delay_us, struct error *error);

#endif
