// SPDX-License-Identifier: MIT
// What may name something: a queue, a job, a klass, a worker, a tag, a domain, a group, an option.
// A name is 1 to ENGINE_NAME_SIZE_MAX bytes of any kind. Every engine call that takes a name checks
// it here, whatever its caller has checked before: arrays and fields of fixed size depend on it.
#ifndef SLUICE_ENGINE_NAME_H
#define SLUICE_ENGINE_NAME_H

#include "engine/engine.h"

// INVALID, with a sentence that begins with `what`, when it is empty or too long.
MUST_USE enum status name_check(struct slice name, const char *what, struct error *error);

// The same for a name that may be left out.
MUST_USE enum status name_check_if_given(struct slice name, const char *what, struct error *error);

// All of them; the error is that of the first that is wrong.
MUST_USE enum status names_check(struct slices names, const char *what, struct error *error);

#endif
