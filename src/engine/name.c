// SPDX-License-Identifier: MIT
#include "engine/name.h"

enum status name_check(struct slice name, const char *what, struct error *error)
{
    if (name.size == 0) {
        return error_set(error, STATUS_INVALID, "%s must not be empty", what);
    }
    if (name.size > ENGINE_NAME_SIZE_MAX) {
        return error_set(error, STATUS_INVALID, "%s is %zu bytes long, and at most %d are allowed",
                         what, name.size, ENGINE_NAME_SIZE_MAX);
    }
    return STATUS_OK;
}

enum status name_check_if_given(struct slice name, const char *what, struct error *error)
{
    return name.size ? name_check(name, what, error) : STATUS_OK;
}

enum status names_check(struct slices names, const char *what, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < names.count; i++) {
        status = name_check(names.items[i], what, error);
    }
    return status;
}
