// SPDX-License-Identifier: MIT
#include "api/fit.h"

#include <assert.h>

enum {
    MEASURE_FROM = 16 << 10, // with rough bounds, larger jobs are measured
    LEASE_SIZE = 128,        // bytes that the numbers of a lease may add
};

void fit_init(struct fit *fit, struct reply *reply, const struct engine *engine, size_t around)
{
    size_t room = reply_room(reply), room_max = reply_room_max(reply);
    *fit = (struct fit){ .reply = reply,
                         .engine = engine,
                         .room = room > around ? room - around : 0,
                         .room_max = room_max > around ? room_max - around : 0 };
}

static size_t measured(const struct fit *fit, const struct job *job)
{
    size_t size = fit->measure(fit, job);
    return size < SIZE_MAX - LEASE_SIZE ? size + LEASE_SIZE : SIZE_MAX;
}

// Measures the jobs that were accepted by their bounds, so that as many fit as possible.
static void measure_accepted(struct fit *fit, const struct job *const *popped, size_t count)
{
    fit->used = 0;
    for (size_t i = 0; i < count; i++) {
        fit->used += measured(fit, popped[i]);
    }
    fit->exact = true;
}

static bool has_room(const struct fit *fit, size_t size)
{
    return fit->used <= fit->room && size <= fit->room - fit->used;
}

static enum pop_fit accept(struct fit *fit, size_t size)
{
    assert(has_room(fit, size));
    fit->used_before = fit->used;
    fit->used += size;
    fit->accepted++;
    return POP_FITS;
}

static enum pop_fit never(struct fit *fit, const struct job *job)
{
    if (!fit->never.size) {
        fit->never = job_jid(job);
    }
    return POP_FITS_NEVER;
}

enum pop_fit fit_check(void *context, const struct job *job, const struct job *const *popped,
                       size_t count)
{
    struct fit *fit = context;
    if (fit->room == SIZE_MAX) {
        return POP_FITS;
    }
    if (count < fit->accepted) { // the last one could not be handed out
        fit->used = fit->used_before;
        fit->accepted = count;
    }
    if (job_data_size(job) > fit->room_max) {
        return never(fit, job);
    }
    size_t size = fit->bound(fit, job);
    if ((!fit->rough || size <= MEASURE_FROM) && has_room(fit, size)) {
        return accept(fit, size);
    }
    size = measured(fit, job);
    if (size > fit->room_max) {
        return never(fit, job);
    }
    if (!has_room(fit, size) && !fit->exact) {
        measure_accepted(fit, popped, count);
    }
    if (!has_room(fit, size)) {
        fit->later = true;
        return POP_FITS_LATER;
    }
    return accept(fit, size);
}

enum status fit_refuse(const struct fit *fit, const char *command, struct error *error)
{
    if (fit->never.size) {
        return error_set_reply(
            error,
            "%s: job %.*s is larger than a reply may be (%zu bytes, by max-output) "
            "and was not handed out",
            command, SLICE_PRINT(slice_shown(fit->never)), fit->room_max);
    }
    if (fit->later) {
        return error_set_reply(
            error,
            "%s: the replies that are unread leave no room for a job (%zu bytes, by "
            "max-output); read them and ask again",
            command, fit->room);
    }
    return STATUS_OK;
}
