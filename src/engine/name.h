// SPDX-License-Identifier: MIT
// Names of queues, jobs, klasses, workers, tags, domains, groups and options. A name is 1 to
// ENGINE_NAME_SIZE_MAX bytes. Every engine call that takes a name checks it here, even if the caller
// has checked it: arrays and fields of fixed size depend on it.
//
// A new name is UTF-8 without control characters. Names of other bytes, which earlier versions
// accepted, are loaded and can be used. With the client clock a new name is any bytes, as in qless.
#ifndef SLUICE_ENGINE_NAME_H
#define SLUICE_ENGINE_NAME_H

#include "engine/engine.h"

// INVALID if the name is empty or too long; the error begins with `what`.
MUST_USE enum status name_check(struct slice name, const char *what, struct error *error);

// The same for a name that is optional: an empty one is OK.
MUST_USE enum status name_check_if_given(struct slice name, const char *what, struct error *error);

// The same for several names; the error is that of the first invalid one.
MUST_USE enum status names_check(struct slices names, const char *what, struct error *error);

// The same three for names that may be new.
MUST_USE enum status name_check_new(const struct engine *engine, struct slice name,
                                    const char *what, struct error *error);
MUST_USE enum status name_check_new_if_given(const struct engine *engine, struct slice name,
                                             const char *what, struct error *error);
MUST_USE enum status names_check_new(const struct engine *engine, struct slices names,
                                     const char *what, struct error *error);

// For names outside of an engine, such as those of namespaces: the rules for new names.
MUST_USE enum status name_check_text(struct slice name, const char *what, struct error *error);

#endif
