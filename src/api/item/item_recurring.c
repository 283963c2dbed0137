// SPDX-License-Identifier: MIT
#include "api/item/item_job.h"

static const char *const missed_words[] = { "all", "one", "skip", NULL };
static const char *const overlap_words[] = { "allow", "skip", NULL };

enum {
    RETRIES_DEFAULT = 5,
};

struct recurring_fields {
    struct slice jid, klass, queue, data, data_text, cron, zone, domain, options;
    struct slices tags;
    int64_t interval, next, missed, overlap, priority, retries, backlog, count;
    bool has_next, paused;
};

static const struct item_field fields[] = {
    ITEM(recurring_fields, jid, TEXT, "jid", .required = true),
    ITEM(recurring_fields, klass, TEXT, "klass", .required = true),
    ITEM(recurring_fields, queue, TEXT, "queue", .required = true),
    ITEM(recurring_fields, data, JSON, "data"),
    ITEM(recurring_fields, data_text, TEXT, "data-text"),
    ITEM(recurring_fields, interval, SECONDS, "interval", .max = INT64_MAX),
    ITEM(recurring_fields, cron, TEXT, "cron"),
    ITEM(recurring_fields, zone, TEXT, "zone"),
    ITEM_HAS(recurring_fields, next, has_next, SECONDS, "next", .min = -ENGINE_TIME_MAX,
             .max = ENGINE_TIME_MAX),
    ITEM(recurring_fields, count, INTEGER, "count", .max = INT64_MAX),
    ITEM(recurring_fields, paused, BOOLEAN, "paused"),
    ITEM(recurring_fields, missed, WORD, "missed", .words = missed_words),
    ITEM(recurring_fields, overlap, WORD, "overlap", .words = overlap_words),
    ITEM(recurring_fields, backlog, INTEGER, "backlog", .max = INT64_MAX),
    ITEM(recurring_fields, priority, INTEGER, "priority", .min = INT32_MIN, .max = INT32_MAX),
    ITEM(recurring_fields, retries, INTEGER, "retries", .max = INT32_MAX),
    ITEM(recurring_fields, domain, TEXT, "domain"),
    ITEM(recurring_fields, tags, TEXTS, "tags"),
    ITEM(recurring_fields, options, OBJECT, "options"),
};

enum status item_read_recurring(struct item *item, int64_t now_us, struct recurring_item *out,
                                struct error *error)
{
    struct recurring_fields given = { .retries = RETRIES_DEFAULT, .missed = RECUR_MISSED_ONE };
    enum status status =
        item_read(item, item->value, "recurring", fields, ITEM_COUNT(fields), &given, error);
    if (status) {
        return status;
    }
    struct slice data = given.data.size ? given.data : given.data_text;
    *out = (struct recurring_item){
        .request = { .queue = given.queue,
                     .jid = given.jid,
                     .klass = given.klass,
                     .data = data.size ? data : SLICE("{}"),
                     .interval_us = given.interval,
                     .cron = given.cron,
                     .zone = given.zone,
                     .missed = (enum recur_missed)given.missed,
                     .overlap = (enum recur_overlap)given.overlap,
                     .priority = (int32_t)given.priority,
                     .retries = (int32_t)given.retries,
                     .backlog = given.backlog,
                     .tags = given.tags,
                     .domain = given.domain,
                     .paused = given.paused },
        .next_us = given.has_next ? given.next : now_us,
        .count = (uint64_t)given.count,
    };
    return item_read_options(item, given.options, &out->request.options, error);
}

void item_write_recurring(struct json_writer *writer, const struct engine *engine,
                          const struct recurring *recurring)
{
    struct recurring_view view;
    struct job_options options;
    recurring_view(engine, recurring, &view);
    recurring_options(engine, recurring, &options);
    json_write_begin_object(writer);
    item_write_member(writer, "jid", view.jid);
    item_write_member(writer, "klass", view.klass);
    item_write_member(writer, "queue", view.queue);
    item_write_json(writer, "data", "data-text", view.data);
    if (view.interval_us) {
        item_write_moment(writer, "interval", view.interval_us);
    }
    item_write_member(writer, "cron", view.cron);
    item_write_member(writer, "zone", view.zone);
    item_write_moment(writer, "next", view.next_us);
    item_write_integer(writer, "count", (int64_t)view.count);
    if (view.paused) {
        json_write_key(writer, SLICE("paused"));
        json_write_bool(writer, true);
    }
    item_write_member(writer, "missed", slice_from_cstr(missed_words[view.missed]));
    item_write_member(writer, "overlap", slice_from_cstr(overlap_words[view.overlap]));
    item_write_integer(writer, "backlog", view.backlog);
    item_write_integer(writer, "priority", view.priority);
    item_write_integer(writer, "retries", view.retries);
    item_write_member(writer, "domain", view.domain);
    if (view.tag_count) {
        json_write_key(writer, SLICE("tags"));
        json_write_begin_array(writer);
        for (size_t i = 0; i < view.tag_count; i++) {
            item_write_text(writer, recurring_tag(engine, recurring, i));
        }
        json_write_end_array(writer);
    }
    item_write_options(writer, &options);
    json_write_end_object(writer);
}
