// SPDX-License-Identifier: MIT
// Jobs and recurring jobs as items (item.h): read into what the engine restores, and written.
#ifndef SLUICE_API_ITEM_ITEM_JOB_H
#define SLUICE_API_ITEM_ITEM_JOB_H

#include "api/item/item.h"
#include "engine/export/restore.h"

// Of what is not said the defaults hold: a job put just now.
MUST_USE enum status item_read_job(struct item *item, int64_t now_us, struct restore_request *out,
                                   struct error *error);

struct recurring_item {
    struct recur_request request;
    int64_t next_us;
    uint64_t count;
};
MUST_USE enum status item_read_recurring(struct item *item, int64_t now_us,
                                         struct recurring_item *out, struct error *error);

// How jobs are run; `*out` is NULL when the object, which may be empty, says nothing.
MUST_USE enum status item_read_options(struct item *item, struct slice object,
                                       const struct job_options **out, struct error *error);

void item_write_job(struct json_writer *writer, const struct engine *engine, const struct job *job);
MUST_USE enum status item_read_promise(struct item *item, struct promise_past *out,
                                       struct error *error);
void item_write_promise(struct json_writer *writer, const struct promise_past *past);

// A job that has failed, and what it depends on.
void item_write_job_depends(struct json_writer *writer, const struct job *job);
void item_write_recurring(struct json_writer *writer, const struct engine *engine,
                          const struct recurring *recurring);
// The member `options`, unless they say nothing.
void item_write_options(struct json_writer *writer, const struct job_options *options);

// A time or a whole number under a key.
void item_write_moment(struct json_writer *writer, const char *key, int64_t us);
void item_write_integer(struct json_writer *writer, const char *key, int64_t value);

#endif
