// SPDX-License-Identifier: MIT
// What may name something: a queue, a job, a klass, a worker, a tag, a domain, a group, an option.
// A name is 1 to ENGINE_NAME_SIZE_MAX bytes. Every engine call that takes a name checks it here,
// whatever its caller has checked before: arrays and fields of fixed size depend on it.
//
// A new name is UTF-8 without control characters. Names of any bytes may be there already, of
// earlier versions: they are loaded, and can still be used. With the client's clock new names are
// any bytes, as in qless.
#ifndef SLUICE_ENGINE_NAME_H
#define SLUICE_ENGINE_NAME_H

#include "engine/engine.h"

// INVALID, with a sentence that begins with `what`, when it is empty or too long.
MUST_USE enum status name_check(struct slice name, const char *what, struct error *error);

// The same for a name that may be left out.
MUST_USE enum status name_check_if_given(struct slice name, const char *what, struct error *error);

// All of them; the error is that of the first that is wrong.
MUST_USE enum status names_check(struct slices names, const char *what, struct error *error);

// The same three for what may be a new name.
MUST_USE enum status name_check_new(const struct engine *engine, struct slice name,
                                    const char *what, struct error *error);
MUST_USE enum status name_check_new_if_given(const struct engine *engine, struct slice name,
                                             const char *what, struct error *error);
MUST_USE enum status names_check_new(const struct engine *engine, struct slices names,
                                     const char *what, struct error *error);

// For names that no engine knows, such as those of namespaces.
MUST_USE enum status name_check_text(struct slice name, const char *what, struct error *error);

#endif
