// SPDX-License-Identifier: MIT
#include "client/options.h"

#include "client/fault.h"

#include <string.h>

// The size in the first version of the header: up to the end of its last member.
#define SIZE_UP_TO(type, last) (offsetof(type, last) + sizeof(((type *)NULL)->last))

struct kind {
    const char *name;
    size_t size, first_size;
    const char *macro;
};

static const struct kind open_kind = {
    "sluice_open_options",
    sizeof(struct sluice_open_options),
    SIZE_UP_TO(struct sluice_open_options, log_context),
    "SLUICE_OPEN",
};
static const struct kind put_kind = {
    "sluice_put_options",
    sizeof(struct sluice_put_options),
    SIZE_UP_TO(struct sluice_put_options, lease),
    "SLUICE_PUT",
};
static const struct kind take_kind = {
    "sluice_take_options",
    sizeof(struct sluice_take_options),
    SIZE_UP_TO(struct sluice_take_options, best),
    "SLUICE_TAKE",
};

static const struct kind settle_kind = {
    "sluice_settle_options",
    sizeof(struct sluice_settle_options),
    SIZE_UP_TO(struct sluice_settle_options, delay),
    "SLUICE_SETTLE",
};
static const struct kind list_kind = {
    "sluice_list_open_options",
    sizeof(struct sluice_list_open_options),
    SIZE_UP_TO(struct sluice_list_open_options, page),
    "SLUICE_LIST_OPEN",
};
static const struct kind pool_kind = {
    "sluice_pool_new_options",
    sizeof(struct sluice_pool_new_options),
    SIZE_UP_TO(struct sluice_pool_new_options, no_signals),
    "SLUICE_POOL_NEW",
};

static bool is_zero(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i]) {
            return false;
        }
    }
    return true;
}

static enum sluice_status check(const struct kind *kind, const void *given, size_t size,
                                struct sluice_error *error)
{
    if (size < kind->first_size) {
        return fault(error, SLUICE_INVALID,
                     "the size of struct %s is %zu: set it with %s(...), or in C++ with = {}",
                     kind->name, size, kind->macro);
    }
    if (size > kind->size &&
        !is_zero((const unsigned char *)given + kind->size, size - kind->size)) {
        return fault(error, SLUICE_UNSUPPORTED,
                     "struct %s has members that version %s of the library does not know",
                     kind->name, sluice_version());
    }
    return SLUICE_OK;
}

static enum sluice_status read_options(const struct kind *kind, const void *given, void *out,
                                       struct sluice_error *error)
{
    size_t size;
    memset(out, 0, kind->size);
    memcpy(&size, given, sizeof(size));
    enum sluice_status status = check(kind, given, size, error);
    if (!status) {
        memcpy(out, given, size < kind->size ? size : kind->size);
    }
    return status;
}

enum sluice_status open_options_read(const struct sluice_open_options *given,
                                     struct sluice_open_options *out, struct sluice_error *error)
{
    const struct sluice_open_options none = SLUICE_OPEN();
    return read_options(&open_kind, given ? given : &none, out, error);
}

enum sluice_status put_options_read(const struct sluice_put_options *given,
                                    struct sluice_put_options *out, struct sluice_error *error)
{
    return given ? read_options(&put_kind, given, out, error) : fault_null(error, "put");
}

enum sluice_status take_options_read(const struct sluice_take_options *given,
                                     struct sluice_take_options *out, struct sluice_error *error)
{
    return given ? read_options(&take_kind, given, out, error) : fault_null(error, "take");
}

const struct sluice_put_options *put_options_at(const struct sluice_put_options *puts, size_t index)
{
    const char *bytes = (const char *)puts + index * puts->size;
    return (const struct sluice_put_options *)(const void *)bytes;
}

enum sluice_status settle_options_read(const struct sluice_settle_options *given,
                                       struct sluice_settle_options *out,
                                       struct sluice_error *error)
{
    return given ? read_options(&settle_kind, given, out, error) : fault_null(error, "options");
}

const struct sluice_settle_options *settle_options_at(const struct sluice_settle_options *settles,
                                                      size_t index)
{
    const char *bytes = (const char *)settles + index * settles->size;
    return (const struct sluice_settle_options *)(const void *)bytes;
}

enum sluice_status list_options_read(const struct sluice_list_open_options *given,
                                     struct sluice_list_open_options *out,
                                     struct sluice_error *error)
{
    const struct sluice_list_open_options none = SLUICE_LIST_OPEN();
    return read_options(&list_kind, given ? given : &none, out, error);
}

enum sluice_status pool_options_read(const struct sluice_pool_new_options *given,
                                     struct sluice_pool_new_options *out,
                                     struct sluice_error *error)
{
    return given ? read_options(&pool_kind, given, out, error) : fault_null(error, "options");
}
