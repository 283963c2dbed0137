// SPDX-License-Identifier: MIT
// Jobs and recurring jobs as items (item.h): reading them for the engine to restore, and writing
// them.
#ifndef SLUICE_API_ITEM_ITEM_JOB_H
#define SLUICE_API_ITEM_ITEM_JOB_H

#include "api/item/item.h"
#include "engine/export/restore.h"

// Members that are not given have the defaults of a job that is put now.
MUST_USE enum status item_read_job(struct item *item, int64_t now_us, struct restore_request *out,
                                   struct error *error);

struct recurring_item {
    struct recur_request request;
    int64_t next_us;
    uint64_t count;
};
MUST_USE enum status item_read_recurring(struct item *item, int64_t now_us,
                                         struct recurring_item *out, struct error *error);

// Reads the options of a job; `*out` is NULL if the object, which may be empty, sets none.
MUST_USE enum status item_read_options(struct item *item, struct slice object,
                                       const struct job_options **out, struct error *error);

void item_write_job(struct json_writer *writer, const struct engine *engine, const struct job *job);
MUST_USE enum status item_read_promise(struct item *item, struct promise_past *out,
                                       struct error *error);
void item_write_promise(struct json_writer *writer, const struct promise_past *past);

// Writes what a failed job depends on.
void item_write_job_depends(struct json_writer *writer, const struct job *job);
void item_write_recurring(struct json_writer *writer, const struct engine *engine,
                          const struct recurring *recurring);
// Writes the member `options`, unless no option is set.
void item_write_options(struct json_writer *writer, const struct job_options *options);

// Write a time, or an integer, under a key.
void item_write_moment(struct json_writer *writer, const char *key, int64_t us);
void item_write_integer(struct json_writer *writer, const char *key, int64_t value);

#endif
