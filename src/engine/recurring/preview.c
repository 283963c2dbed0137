// SPDX-License-Identifier: MIT
// Future runs, and the effect of a new time zone on them.
#include "engine/queue/queue.h"
#include "engine/records/walk.h"
#include "engine/recurring/recurring.h"
#include "engine/state.h"

enum status engine_recurring_runs(const struct engine *engine, struct slice jid, size_t count,
                                  int64_t *out, size_t *found, struct error *error)
{
    *found = 0;
    struct recurring *recurring;
    enum status status = recurring_find(engine, jid, &recurring, error);
    if (status) {
        return status;
    }
    int64_t run_us = time_of_key(recurring->node.key);
    for (; *found < count && run_us <= ENGINE_TIME_MAX; ++*found) {
        out[*found] = run_us;
        run_us = recurring_after(recurring, run_us);
    }
    return STATUS_OK;
}

enum status engine_cron_runs(const struct engine *engine, struct slice text, struct slice zone_name,
                             int64_t after_us, size_t count, int64_t *out, size_t *found,
                             struct error *error)
{
    struct cron cron;
    const struct zone *zone = NULL;
    *found = 0;
    enum status status = cron_parse(text, &cron, error);
    if (!status) {
        status = zone_find(engine, zone_name, &zone, error);
    }
    if (!status && (after_us < 0 || after_us > ENGINE_TIME_MAX)) {
        status = error_set(error, STATUS_INVALID, "after must lie between the years 1970 and 9999");
    }
    for (; !status && *found < count; ++*found) {
        after_us = cron_next(&cron, zone_rules_of(zone), after_us);
        if (after_us == INT64_MAX) {
            break;
        }
        out[*found] = after_us;
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// A zone changes

struct changing {
    struct engine *engine;
    const struct zone *zone;
    int64_t now_us;
    enum status status;
};

static void reserve_in(void *context, struct queue *queue)
{
    struct changing *changing = context;
    struct index_cursor cursor = index_cursor_at(&queue->recurring, 0);
    size_t count = 0;
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        count += recurring_of_node(node)->zone == changing->zone;
    }
    if (count && !changing->status) {
        changing->status = index_reserve(&queue->recurring, count);
    }
}

enum status recurring_reserve_zone(struct engine *engine, const struct zone *zone)
{
    struct changing changing = { engine, zone, 0, STATUS_OK };
    walk_queues(engine, reserve_in, &changing);
    return changing.status;
}

// From the last to the first: one that gets a later run is not met again. One that gets an earlier
// run is met again, and then stays.
static void change_in(void *context, struct queue *queue)
{
    const struct changing *changing = context;
    for (size_t i = queue->recurring.count; i-- > 0;) {
        struct recurring *recurring = recurring_of_node(index_at(&queue->recurring, i));
        if (recurring->zone != changing->zone) {
            continue;
        }
        int64_t next_us = recurring_after(recurring, changing->now_us);
        recurring->due_count = 0;
        if (next_us != time_of_key(recurring->node.key)) {
            i += next_us < time_of_key(recurring->node.key);
            recurring_set_next(changing->engine, recurring, next_us);
        }
    }
}

void recurring_zone_changed(struct engine *engine, const struct zone *zone, int64_t now_us)
{
    struct changing changing = { engine, zone, now_us, STATUS_OK };
    walk_queues(engine, change_in, &changing);
}

void recurring_shift(struct engine *engine, struct queue *queue, struct recurring **room,
                     int64_t change_us, int64_t to_us)
{
    size_t count = 0;
    struct index_cursor cursor = index_cursor_at(&queue->recurring, 0);
    for (struct index_node *node; (node = index_cursor_next(&cursor));) {
        room[count++] = recurring_of_node(node);
    }
    for (size_t i = 0; i < count; i++) {
        int64_t next_us = time_of_key(room[i]->node.key);
        if (room[i]->interval_us) {
            recurring_set_next(engine, room[i], next_us + change_us);
        } else if (change_us < 0) {
            recurring_set_next(engine, room[i], recurring_after(room[i], to_us));
        }
    }
}
