// SPDX-License-Identifier: MIT
// The calls for events.
#include "client/memory.h"
#include "client/pump.h"
#include "client/queue.h"
#include "client/value.h"

#include <stdlib.h>
#include <string.h>

struct sluice_events {
    struct listening *listening;
    struct pump *pump;          // NULL: the caller's thread waits
    struct sluice_value *value; // the value that was returned last
};

enum sluice_status sluice_listen(struct sluice *sluice, const char *channel,
                                 struct sluice_events **out, struct sluice_error *error)
{
    if (out) {
        *out = NULL;
    }
    const char *null = !sluice ? "sluice" : !out ? "out" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    channel = channel ? channel : "";
    if (strcmp(channel, "log") != 0 && strcmp(channel, "tracked") != 0 &&
        (strncmp(channel, "worker:", 7) != 0 || !channel[7] ||
         strlen(channel + 7) >= SLUICE_NAME_SIZE)) {
        return fault(error, SLUICE_INVALID,
                     "a channel is log, tracked or worker:NAME, and not \"%.64s\"", channel);
    }
    struct sluice_events *events = memory_zalloc(1, sizeof(*events));
    if (!events) {
        return fault_no_memory(error);
    }
    enum sluice_status status =
        sluice->link->ops->listen(sluice->link, slice_from_cstr(sluice->ns),
                                  slice_from_cstr(channel), &events->listening, error);
    if (status) {
        memory_free(events);
        return status;
    }
    *out = events;
    return SLUICE_OK;
}

enum sluice_status sluice_events_next(struct sluice_events *events, double wait, const char **out,
                                      struct sluice_error *error)
{
    if (out) {
        *out = NULL;
    }
    const char *null = !events ? "events" : !out ? "out" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    int64_t wait_us = wait_us_of(wait);
    return events->pump ? pump_next(events->pump, wait_us, out, error)
                        : events->listening->ops->next(events->listening, wait_us, out, error);
}

enum sluice_status sluice_events_next_value(struct sluice_events *events, double wait,
                                            const struct sluice_value **out,
                                            struct sluice_error *error)
{
    if (out) {
        *out = NULL;
    }
    const char *null = !events ? "events" : !out ? "out" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    const char *json;
    enum sluice_status status = sluice_events_next(events, wait, &json, error);
    if (!status) {
        sluice_value_free(events->value);
        status = value_read_json(slice_from_cstr(json), &events->value, error);
        *out = events->value;
    }
    return status;
}

enum sluice_status sluice_events_fd(struct sluice_events *events, int *fd,
                                    struct sluice_error *error)
{
    const char *null = !events ? "events" : !fd ? "fd" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    *fd = -1;
    enum sluice_status status =
        events->pump ? SLUICE_OK : pump_new(events->listening, &events->pump, error);
    if (!status) {
        *fd = pump_fd(events->pump);
    }
    return status;
}

void sluice_events_free(struct sluice_events *events)
{
    if (events) {
        if (pump_free(events->pump)) {
            events->listening->ops->free(events->listening);
        }
        sluice_value_free(events->value);
        memory_free(events);
    }
}
