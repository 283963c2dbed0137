// SPDX-License-Identifier: MIT
// Calls about queues and the jobs in them.
#include "faces/qless/calls.h"
#include "faces/qless/cjson.h"
#include "faces/qless/list.h"
#include "faces/qless/print.h"

#include <string.h>

enum {
    PAGE_COUNT = 25,       // the default
    QUEUE_SIZE_LEAST = 80, // bytes of a queue in a reply: its keys and one digit for each
};

static const char no_queue[] = "Queue(): no queue name provided";

// ---------------------------------------------------------------------------------------------
// Queues

static enum status look_at(struct qless_ask *ask, struct slice name, struct queue_view *view)
{
    struct error error;
    return qless_engine_no(ask, "Queues",
                           engine_queue(ask->engine, ask->now_us, name, view, &error), &error);
}

// Copies a name, because reading a queue may move jobs.
static enum status keep(struct qless_ask *ask, struct slice *name)
{
    char *copy = qless_room(ask, name->size, 1);
    if (!copy) {
        return qless_no_memory(ask);
    }
    memcpy(copy, name->data, name->size);
    name->data = copy;
    return STATUS_OK;
}

static enum status read_queues(struct qless_ask *ask, const struct qless_list *list, size_t offset,
                               size_t count, struct qless_entry *out)
{
    (void)list;
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < count; i++) {
        struct queue_view view = { 0 };
        struct slice name;
        (void)engine_queue_name(ask->engine, offset + i, &name);
        status = keep(ask, &name);
        if (!status) {
            status = look_at(ask, name, &view);
        }
        out[i] = (struct qless_entry){ .score = view.first_seen_us, .name = name };
    }
    return status;
}

static enum status print_all_queues(struct qless_ask *ask)
{
    const struct qless_list list = { .total = engine_queue_count(ask->engine),
                                     .read = read_queues };
    struct qless_entry *entries;
    enum status status = qless_check_room(ask, list.total * QUEUE_SIZE_LEAST);
    if (status) {
        return status;
    }
    status = qless_list_read(ask, &list, (struct qless_range){ 0, list.total }, &entries);
    struct qless_cjson_array array = qless_cjson_begin(&ask->out);
    for (size_t i = 0; !status && i < list.total; i++) {
        struct queue_view view;
        status = look_at(ask, entries[i].name, &view);
        if (!status) {
            qless_cjson_next(&array);
            qless_print_queue(&ask->out, &view, ask->split);
        }
    }
    qless_cjson_end(&array);
    return status;
}

enum status qless_queues(struct qless_ask *ask)
{
    enum status status;
    if (qless_has(ask, 0)) {
        struct queue_view view;
        status = look_at(ask, ask->words.items[0], &view);
        if (!status) {
            qless_print_queue(&ask->out, &view, ask->split);
        }
    } else {
        status = print_all_queues(ask);
    }
    return status ? status : qless_reply_out(ask);
}

enum status qless_length(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, no_queue);
    }
    reply_count(ask->reply, engine_length(ask->engine, ask->words.items[0]));
    return STATUS_OK;
}

enum status qless_stats(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, no_queue);
    }
    int64_t date_us;
    struct slice date = qless_word(ask, 1);
    if (!qless_seconds(date, &date_us)) {
        return qless_no(ask, "Stats(): Arg \"date\" missing or not a number: %.*s",
                        SLICE_PRINT(date));
    }
    struct stats_view view;
    engine_stats(ask->engine, ask->words.items[0], date_us, &view);
    qless_print_stats(&ask->out, &view);
    return qless_reply_out(ask);
}

typedef enum status change_function(struct engine *engine, int64_t now_us, struct slices queues,
                                    struct error *error);

static enum status change(struct qless_ask *ask, const char *area, change_function *function)
{
    if (ask->words.count == 0) {
        return qless_no(ask, "Wrong number of args calling Redis command From Lua script");
    }
    struct error error;
    enum status status = function(ask->engine, ask->now_us, ask->words, &error);
    if (status) {
        return qless_engine_no(ask, area, status, &error);
    }
    reply_null(ask->reply);
    return STATUS_OK;
}

enum status qless_pause(struct qless_ask *ask)
{
    return change(ask, "Pause", engine_pause);
}

enum status qless_unpause(struct qless_ask *ask)
{
    return change(ask, "Unpause", engine_unpause);
}

enum status qless_queue_forget(struct qless_ask *ask)
{
    return change(ask, "Forget", engine_forget);
}

// ---------------------------------------------------------------------------------------------
// Jobs in a state

static void fill_list(struct qless_ask *ask, const struct qless_job_list *list, struct page *page)
{
    struct error error;
    bool unnamed = list->which != LIST_COMPLETE && list->name.size == 0; // qless has no such list
    if (unnamed ||
        engine_jobs(ask->engine, ask->now_us, (enum list)list->which, list->name, page, &error)) {
        page->total = page->found = 0;
    }
}

// The time by which the list is ordered.
static void score_job(struct qless_ask *ask, const struct qless_job_list *list,
                      const struct job *job, struct qless_entry *out)
{
    struct job_view view;
    job_view(ask->engine, job, &view);
    switch ((enum list)list->which) {
    case LIST_RUNNING:
    case LIST_EXPIRED:
    case LIST_UNEXPIRED:
        out->score = view.expires_us;
        out->alone = view.grace; // ordered by the end of the grace period, which is not shown
        break;
    case LIST_SCHEDULED:
        out->score = view.scheduled_us;
        break;
    case LIST_WAITING:
    case LIST_STALLED:
    case LIST_LINE:
    case LIST_DEPENDS:
    case LIST_COMPLETE:
    case LIST_FAILED:
    default:
        out->score = view.time_us;
        break;
    }
}

static enum status read_recurring(struct qless_ask *ask, const struct qless_list *list,
                                  size_t offset, size_t count, struct qless_entry *out)
{
    const struct recurring *one = NULL;
    const struct recurring **found = count == 1 ? &one : qless_room(ask, count, sizeof(*found));
    if (!found) {
        return qless_no_memory(ask);
    }
    size_t size;
    const struct slice *queue = list->context;
    (void)engine_recurring(ask->engine, *queue, offset, count, found, &size);
    for (size_t i = 0; i < size; i++) {
        struct recurring_view view;
        recurring_view(ask->engine, found[i], &view);
        out[i] = (struct qless_entry){ .score = view.next_us, .name = view.jid };
    }
    return STATUS_OK;
}

static enum status write_range(struct qless_ask *ask, const struct qless_list *list,
                               struct qless_range range)
{
    struct qless_entry *entries;
    enum status status = qless_list_read(ask, list, range, &entries);
    if (!status) {
        qless_reply_names(ask, entries, range.count);
    }
    return status;
}

// Reads the offset and the count of a page, at `index` and `index + 1`.
static enum status read_page(struct qless_ask *ask, size_t index, int64_t *offset, int64_t *count)
{
    *offset = 0;
    *count = PAGE_COUNT;
    if (qless_has(ask, index) && !qless_integer(ask->words.items[index], offset)) {
        return qless_no(ask, "Jobs(): Arg \"offset\" not a number: %.*s",
                        SLICE_PRINT(ask->words.items[index]));
    }
    if (qless_has(ask, index + 1) && !qless_integer(ask->words.items[index + 1], count)) {
        return qless_no(ask, "Jobs(): Arg \"count\" not a number: %.*s",
                        SLICE_PRINT(ask->words.items[index + 1]));
    }
    return STATUS_OK;
}

static enum status write_complete(struct qless_ask *ask)
{
    int64_t offset, count;
    enum status status = read_page(ask, 1, &offset, &count);
    if (status) {
        return status;
    }
    const struct qless_job_list jobs = {
        .fill = fill_list, .score = score_job, .which = LIST_COMPLETE, .reverse = true
    };
    const struct qless_list list = qless_list_of_jobs(ask, &jobs);
    return write_range(ask, &list, qless_range_of(list.total, offset, count));
}

static const struct state_list {
    struct slice name;
    enum list list;
    bool limit; // its page is a LIMIT
} state_lists[] = {
    { { "running", 7 }, LIST_UNEXPIRED, true },
    { { "stalled", 7 }, LIST_EXPIRED, true },
    { { "scheduled", 9 }, LIST_SCHEDULED, false },
    { { "depends", 7 }, LIST_DEPENDS, false },
};

enum status qless_jobs(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, "Jobs(): Arg \"state\" missing");
    }
    struct slice state = ask->words.items[0];
    if (slice_equal(state, SLICE("complete"))) {
        return write_complete(ask);
    }
    if (!qless_has(ask, 1)) {
        return qless_no(ask, "Jobs(): Arg \"queue\" missing");
    }
    int64_t offset, count;
    struct slice queue = ask->words.items[1];
    enum status status = read_page(ask, 2, &offset, &count);
    if (status) {
        return status;
    }
    for (size_t i = 0; i < sizeof(state_lists) / sizeof(state_lists[0]); i++) {
        const struct state_list *known = &state_lists[i];
        if (!slice_equal(known->name, state)) {
            continue;
        }
        const struct qless_job_list jobs = {
            .fill = fill_list, .score = score_job, .name = queue, .which = (int)known->list
        };
        const struct qless_list list = qless_list_of_jobs(ask, &jobs);
        return write_range(ask, &list,
                           known->limit ? qless_limit_of(list.total, offset, count)
                                        : qless_range_of(list.total, offset, count));
    }
    if (slice_equal(state, SLICE("recurring"))) {
        size_t found;
        const struct qless_list list = {
            .total = engine_recurring(ask->engine, queue, 0, 0, NULL, &found),
            .read = read_recurring,
            .context = &queue,
        };
        return write_range(ask, &list, qless_limit_of(list.total, offset, count));
    }
    return qless_no(ask, "Jobs(): Unknown type \"%.*s\"", SLICE_PRINT(state));
}

// ---------------------------------------------------------------------------------------------
// Failed jobs

static void print_groups(struct qless_ask *ask)
{
    struct count_view view;
    buffer_append_char(&ask->out, '{');
    for (size_t i = 0; !qless_is_full(ask) && engine_failure_group(ask->engine, i, &view); i++) {
        if (i > 0) {
            buffer_append_char(&ask->out, ',');
        }
        qless_cjson_string(&ask->out, view.name);
        buffer_append_char(&ask->out, ':');
        qless_cjson_integer(&ask->out, (int64_t)view.count);
    }
    buffer_append_char(&ask->out, '}');
}

static enum status print_group(struct qless_ask *ask, struct slice group, int64_t start,
                               int64_t limit)
{
    struct page page = { 0 };
    engine_failed(ask->engine, group, &page);
    struct qless_range range = qless_range_of(page.total, start, limit);
    page.offset = range.offset;
    page.count = range.count;
    enum status status = qless_check_count(ask, range.count);
    if (status) {
        return status;
    }
    page.jobs = qless_room(ask, range.count, sizeof(*page.jobs));
    if (!page.jobs) {
        return qless_no_memory(ask);
    }
    engine_failed(ask->engine, group, &page);
    struct buffer *out = &ask->out;
    buffer_append(out, SLICE("{"));
    qless_cjson_key(out, "total");
    qless_cjson_integer(out, (int64_t)page.total);
    qless_cjson_key(out, "jobs");
    struct qless_cjson_array array = qless_cjson_begin(out);
    for (size_t i = 0; i < page.found && !qless_is_full(ask); i++) {
        struct job_view view;
        job_view(ask->engine, page.jobs[i], &view);
        qless_cjson_next(&array);
        if (ask->split) {
            qless_print_job(out, ask->engine, page.jobs[i], true);
        } else {
            qless_cjson_string(out, view.jid);
        }
    }
    qless_cjson_end(&array);
    buffer_append(out, SLICE("}"));
    return STATUS_OK;
}

enum status qless_failed(struct qless_ask *ask)
{
    int64_t start = 0, limit = PAGE_COUNT;
    if (qless_has(ask, 1) && !qless_integer(ask->words.items[1], &start)) {
        return qless_no(ask, "Failed(): Arg \"start\" is not a number: %.*s",
                        SLICE_PRINT(ask->words.items[1]));
    }
    if (qless_has(ask, 2) && !qless_integer(ask->words.items[2], &limit)) {
        return qless_no(ask, "Failed(): Arg \"limit\" is not a number: %.*s",
                        SLICE_PRINT(ask->words.items[2]));
    }
    enum status status = STATUS_OK;
    if (qless_has(ask, 0)) {
        status = print_group(ask, ask->words.items[0], start, limit);
    } else {
        print_groups(ask);
    }
    if (!status) {
        status = qless_check_room(ask, ask->out.size);
    }
    return status ? status : qless_reply_out(ask);
}

enum status qless_unfail(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask, no_queue);
    }
    if (!qless_has(ask, 1)) {
        return qless_no(ask, "Unfail(): Arg \"group\" missing");
    }
    int64_t count = PAGE_COUNT;
    if (qless_has(ask, 2) && !qless_integer(ask->words.items[2], &count)) {
        return qless_no(ask, "Unfail(): Arg \"count\" not a number: %.*s",
                        SLICE_PRINT(ask->words.items[2]));
    }
    struct error error;
    size_t moved;
    enum status status =
        engine_unfail(ask->engine, ask->now_us, ask->words.items[0], ask->words.items[1],
                      count > 0 ? (size_t)count : 0, &moved, &error);
    if (status) {
        return qless_engine_no(ask, "Unfail", status, &error);
    }
    reply_count(ask->reply, moved);
    return STATUS_OK;
}
