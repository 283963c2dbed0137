// SPDX-License-Identifier: MIT
#include "words.h"

#include <stddef.h>

const char *const words_backoff_kind[] = {
    "unset", "fixed", "linear", "exponential", "list", NULL,
};

const char *const words_bulk_act[] = {
    "cancel", "retry", "move", "tag", "untag", "delete", "priority", "timeout", NULL,
};

const char *const words_dependency_policy[] = {
    "unset", "hold", "cancel", "fail", "run", NULL,
};

const char *const words_list[] = {
    "waiting", "running", "stalled",   "scheduled", "depends", "complete",
    "failed",  "expired", "unexpired", "line",      NULL,
};

const char *const words_policy_scope[] = { "klass", "queue", NULL };

const char *const words_recur_missed[] = { "all", "one", "skip", NULL };

const char *const words_recur_overlap[] = { "allow", "skip", NULL };

const char *const words_unique_by[] = { "none", "key", "contents", NULL };

const char *const words_unique_conflict[] = { "existing", "replace", "refuse", "once", NULL };

const char *const words_unique_until[] = { "finished", "started", "time", NULL };
