// SPDX-License-Identifier: MIT
#include "engine/name.h"

#include "base/text.h"
#include "engine/state.h"

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

static enum status refuse_bytes(const char *what, struct error *error)
{
    return error_set(error, STATUS_INVALID, "%s must be UTF-8 without control characters", what);
}

// Whether an object with that name exists, from a version in which names need not be text. Not
// inlined, because nearly all names are text and every call checks some.
static __attribute__((noinline)) bool is_known(const struct engine *engine, struct slice name)
{
    const struct map *const maps[] = { &engine->jobs,   &engine->queues, &engine->recurring,
                                       &engine->groups, &engine->tags,   &engine->workers };
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        if (map_find(maps[i], name)) {
            return true;
        }
    }
    return intern_find(&engine->names, name) != INTERN_NONE;
}

enum status name_check_new(const struct engine *engine, struct slice name, const char *what,
                           struct error *error)
{
    enum status status = name_check(name, what, error);
    if (status || engine->clock == ENGINE_CLOCK_CLIENT || text_is_plain(name) || engine->loads ||
        is_known(engine, name)) {
        return status;
    }
    return refuse_bytes(what, error);
}

enum status name_check_new_if_given(const struct engine *engine, struct slice name,
                                    const char *what, struct error *error)
{
    return name.size ? name_check_new(engine, name, what, error) : STATUS_OK;
}

enum status names_check_new(const struct engine *engine, struct slices names, const char *what,
                            struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < names.count; i++) {
        status = name_check_new(engine, names.items[i], what, error);
    }
    return status;
}

enum status name_check_text(struct slice name, const char *what, struct error *error)
{
    enum status status = name_check(name, what, error);
    return status || text_is_plain(name) ? status : refuse_bytes(what, error);
}
