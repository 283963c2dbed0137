// SPDX-License-Identifier: MIT
// Commands that dump a namespace and restore it elsewhere.
#include "api/item/item_job.h"
#include "api/item/restore.h"
#include "api/request.h"
#include "api/table.h"
#include "base/num.h"
#include "engine/export/dump.h"

// ---------------------------------------------------------------------------------------------
// Items of an engine

static const char *const scope_words[] = { "klass", "queue", NULL };

static void write_limit(struct json_writer *writer, const struct limit_view *view)
{
    const struct limit *limit = &view->limit;
    json_write_begin_object(writer);
    item_write_member(writer, "queue", view->queue);
    item_write_member(writer, "domain", view->domain);
    if (limit->has_rate) {
        item_write_integer(writer, "rate", limit->rate_count);
    }
    if (limit->has_rate && limit->rate_count) {
        item_write_moment(writer, "period", limit->rate_period_us);
        item_write_integer(writer, "burst", limit->burst ? limit->burst : 1);
    }
    if (limit->has_concurrency) {
        item_write_integer(writer, "concurrency", limit->concurrency);
    }
    if (limit->has_weight) {
        item_write_integer(writer, "weight", limit->weight);
    }
    json_write_end_object(writer);
}

static void write_policy(struct json_writer *writer, const struct policy_view *view)
{
    json_write_begin_object(writer);
    item_write_member(writer, "scope", slice_from_cstr(scope_words[view->scope]));
    item_write_member(writer, "name", view->name);
    item_write_options(writer, &view->options);
    json_write_end_object(writer);
}

static void write_option(struct json_writer *writer, const struct dump_item *item)
{
    json_write_begin_object(writer);
    json_write_key(writer, SLICE("name"));
    item_write_text(writer, item->name);
    json_write_key(writer, SLICE("value"));
    item_write_text(writer, item->value);
    json_write_end_object(writer);
}

static void write_queue(struct json_writer *writer, const struct dump_item *item)
{
    json_write_begin_object(writer);
    item_write_member(writer, "name", item->name);
    if (item->queue.listed) {
        item_write_moment(writer, "first-seen", item->queue.first_seen_us);
    }
    json_write_key(writer, SLICE("paused"));
    json_write_bool(writer, item->queue.paused);
    json_write_end_object(writer);
}

static void write_tracked(struct json_writer *writer, const struct dump_item *item)
{
    json_write_begin_object(writer);
    item_write_member(writer, "jid", item->name);
    item_write_moment(writer, "when", item->when_us);
    json_write_end_object(writer);
}

static void write_namespace(struct json_writer *writer, const struct dump_item *item)
{
    json_write_begin_object(writer);
    item_write_integer(writer, "format", RESTORE_FORMAT);
    item_write_member(writer, "clock",
                      item->clock == ENGINE_CLOCK_CLIENT ? SLICE("client") : SLICE("server"));
    json_write_end_object(writer);
}

static void write_number(struct json_writer *writer, const struct dump_item *item)
{
    json_write_begin_object(writer);
    item_write_integer(writer, "last", (int64_t)item->number);
    json_write_end_object(writer);
}

static void write_item(struct json_writer *writer, const struct engine *engine,
                       const struct dump_item *item)
{
    static const char *const kinds[] = {
        [DUMP_NAMESPACE] = "namespace", [DUMP_OPTION] = "option",       [DUMP_LIMIT] = "limit",
        [DUMP_POLICY] = "policy",       [DUMP_QUEUE] = "queue",         [DUMP_JOB] = "job",
        [DUMP_DEPENDS] = "depends",     [DUMP_RECURRING] = "recurring", [DUMP_TRACKED] = "tracked",
        [DUMP_NUMBER] = "number",       [DUMP_PROMISE] = "promise",
    };
    json_write_begin_object(writer);
    json_write_key(writer, slice_from_cstr(kinds[item->kind]));
    switch (item->kind) {
    case DUMP_NAMESPACE:
        write_namespace(writer, item);
        break;
    case DUMP_OPTION:
        write_option(writer, item);
        break;
    case DUMP_LIMIT:
        write_limit(writer, &item->limit);
        break;
    case DUMP_POLICY:
        write_policy(writer, &item->policy);
        break;
    case DUMP_QUEUE:
        write_queue(writer, item);
        break;
    case DUMP_RECURRING:
        item_write_recurring(writer, engine, item->recurring);
        break;
    case DUMP_JOB:
        item_write_job(writer, engine, item->job);
        break;
    case DUMP_DEPENDS:
        item_write_job_depends(writer, item->job);
        break;
    case DUMP_PROMISE:
        item_write_promise(writer, &item->promise);
        break;
    case DUMP_TRACKED:
        write_tracked(writer, item);
        break;
    case DUMP_NUMBER:
        write_number(writer, item);
        break;
    }
    json_write_end_object(writer);
}

// ---------------------------------------------------------------------------------------------
// Pages of items

enum {
    DUMP_COUNT = 100, // the default
    DUMP_COUNT_MAX = 1000,
    DUMP_BYTES = 1 << 20,   // a page ends with the item that exceeds it
    DUMP_STEPS_MAX = 10000, // objects that are visited for a page
    CURSOR_SIZE = 128,
    CURSOR_NUMBERS = 5,
    AROUND = 1024, // the rest of a reply
    AROUND_ITEM = 16,
};

struct dump_arguments {
    struct slice queue, cursor;
    int64_t count;
    bool has_count;
};

static const struct argument dump_takes[] = {
    OPTION(dump_arguments, queue, NAME, "QUEUE",
           "only this queue, its jobs and what belongs to them", .about = ABOUT_QUEUE),
    OPTION(dump_arguments, cursor, TEXT, "CURSOR",
           "where to go on: what the page before gave as `next`"),
    OPTION_HAS(dump_arguments, count, has_count, INTEGER, "COUNT", "how many at most (100)",
               .min = 1, .max = DUMP_COUNT_MAX),
};

static void append_cursor(const struct dump_cursor *cursor, struct buffer *out)
{
    const uint64_t numbers[CURSOR_NUMBERS] = { cursor->stage, cursor->container, cursor->part,
                                               cursor->key.high, cursor->key.low };
    for (size_t i = 0; i < CURSOR_NUMBERS; i++) {
        if (i) {
            buffer_append_char(out, '-');
        }
        num_append_u64(out, numbers[i]);
    }
}

static enum status read_cursor(const struct call *call, struct slice text, struct dump_cursor *out,
                               struct error *error)
{
    uint64_t numbers[CURSOR_NUMBERS] = { 0 };
    bool good = true;
    for (size_t i = 0; text.data && good && i < CURSOR_NUMBERS; i++) {
        const char *end = text.size ? memchr(text.data, '-', text.size) : NULL;
        size_t size = end ? (size_t)(end - text.data) : text.size;
        good = (end != NULL) == (i + 1 < CURSOR_NUMBERS) &&
               !num_parse_u64(slice_sub(text, 0, size), &numbers[i]);
        text = slice_sub(text, end ? size + 1 : size, SIZE_MAX);
    }
    if (!good || numbers[0] > DUMP_STAGES || numbers[1] > INT64_MAX || numbers[2] > DUMP_PARTS) {
        return error_set(error, STATUS_INVALID, "%s: CURSOR is not from an earlier page",
                         call->command->name);
    }
    *out = (struct dump_cursor){ .stage = (unsigned)numbers[0],
                                 .container = numbers[1],
                                 .part = (unsigned)numbers[2],
                                 .key = { numbers[3], numbers[4] } };
    return STATUS_OK;
}

// The items of a page, concatenated.
struct dump_page {
    struct buffer text;
    size_t sizes[DUMP_COUNT_MAX];
    size_t count;
};

// The error names an item that is too large for a reply, because it would block the dump forever.
static enum status refuse_item(const struct call *call, const struct dump_item *item, size_t size,
                               struct error *error)
{
    struct slice name = item->job ? job_jid(item->job) : item->name;
    return error_set_reply(
        error, "%s: %.*s takes %zu bytes, and a reply may have %zu, by max-output",
        call->command->name, SLICE_PRINT(slice_shown(name)), size, reply_room_max(call->reply));
}

static enum status fill_page(const struct call *call, const struct dump_arguments *given,
                             struct dump_cursor *cursor, struct dump_page *page,
                             struct error *error)
{
    size_t most = given->has_count ? (size_t)given->count : DUMP_COUNT;
    size_t room = reply_room(call->reply);
    size_t bytes = room > AROUND ? room - AROUND : 0;
    bool found;
    struct dump_item item;
    for (size_t steps = 0;
         page->count < most && page->text.size < DUMP_BYTES && steps < DUMP_STEPS_MAX; steps++) {
        struct dump_cursor before = *cursor;
        if (!engine_dump_step(call->engine, given->queue, cursor, &item, &found)) {
            break;
        }
        if (!found) {
            continue;
        }
        struct json_writer writer;
        size_t start = page->text.size;
        json_writer_init(&writer, &page->text);
        write_item(&writer, call->engine, &item);
        size_t size = page->text.size - start;
        if (page->text.status) {
            return error_set(error, page->text.status, "%s: out of memory", call->command->name);
        }
        if (page->text.size + AROUND_ITEM * page->count > bytes) {
            *cursor = before;
            return page->count ? STATUS_OK : refuse_item(call, &item, size, error);
        }
        page->sizes[page->count++] = size;
    }
    return STATUS_OK;
}

static void write_page(const struct call *call, const struct dump_cursor *cursor,
                       const struct dump_page *page)
{
    struct reply *reply = call->reply;
    char bytes[CURSOR_SIZE];
    struct buffer next = { .data = bytes, .capacity = CURSOR_SIZE, .size_max = CURSOR_SIZE - 1 };
    append_cursor(cursor, &next);
    struct slice rest = buffer_slice(&page->text);
    reply_map(reply, 3);
    reply_key(reply, "items");
    reply_list(reply, page->count);
    for (size_t i = 0; i < page->count; i++) {
        reply_json(reply, slice_sub(rest, 0, page->sizes[i]));
        rest = slice_sub(rest, page->sizes[i], SIZE_MAX);
    }
    reply_end(reply);
    reply_key(reply, "next");
    if (cursor->stage < DUMP_STAGES) {
        reply_text(reply, buffer_slice(&next));
    } else {
        reply_null(reply);
    }
    reply_key(reply, "changes");
    reply_count(reply, engine_change_count(call->engine));
    reply_end(reply);
}

static enum status run_dump(struct call *call, struct error *error)
{
    const struct dump_arguments *given = call->arguments;
    struct dump_cursor cursor;
    enum status status = read_cursor(call, given->cursor, &cursor, error);
    if (status) {
        return status;
    }
    struct dump_page *page = mem_zalloc(&allocator_system, sizeof(*page));
    if (!page) {
        return error_set(error, STATUS_NO_MEMORY, "%s: out of memory", call->command->name);
    }
    buffer_init(&page->text, &allocator_system, SIZE_MAX / 2);
    status = fill_page(call, given, &cursor, page, error);
    if (!status) {
        write_page(call, &cursor, page);
    }
    buffer_release(&page->text);
    mem_free(&allocator_system, page, sizeof(*page));
    return status;
}

// ---------------------------------------------------------------------------------------------
// Restoring items

enum {
    RESTORE_COUNT_MAX = 1000,
    ITEM_ANSWER = 64,     // the reply about an item, without names
    NAMES_SHOWN_MAX = 10, // missing dependencies
};

struct restore_arguments {
    struct slices items;
    struct slice request;
};

static const struct argument restore_takes[] = {
    REST(restore_arguments, items, JSON, "item", "what to restore, as Q.DUMP gives it"),
    REQUEST_OPTION(restore_arguments),
};

static const struct argument check_takes[] = {
    REST(restore_arguments, items, JSON, "item", "what to restore, as Q.DUMP gives it"),
};

// An item and its result.
struct outcome {
    enum status status;
    struct error error;
    bool restored; // the item is an object that was restored
    bool known;    // the result of an earlier request with the same id
    bool waits;    // for a job that does not exist
    uint8_t missing_size;
    char missing[ENGINE_NAME_SIZE_MAX];
    struct outcome *open_next;
};

struct batch {
    struct call *call;
    struct slices items;
    struct outcome *outcomes;
    struct outcome *open; // items to be tried again
};

// Items that wait for this job are tried again.
static void wake(struct batch *batch, struct slice jid)
{
    for (size_t i = 0; i < batch->items.count; i++) {
        struct outcome *outcome = &batch->outcomes[i];
        if (outcome->waits &&
            slice_equal(slice_make(outcome->missing, outcome->missing_size), jid)) {
            outcome->waits = false;
            outcome->open_next = batch->open;
            batch->open = outcome;
        }
    }
}

static void restore_one(struct batch *batch, size_t index)
{
    struct outcome *outcome = &batch->outcomes[index];
    struct restored restored = { 0 };
    struct item item;
    outcome->status = item_init(&item, batch->items.items[index], &outcome->error);
    if (!outcome->status) {
        outcome->status = restore_item(batch->call, &item, false, &restored, &outcome->error);
    }
    outcome->restored = restored.name.size > 0;
    struct slice missing = slice_sub(restored.missing, 0, ENGINE_NAME_SIZE_MAX);
    if (outcome->status == STATUS_NOT_FOUND && missing.size) {
        outcome->waits = true;
        outcome->missing_size = (uint8_t)missing.size;
        memcpy(outcome->missing, missing.data, missing.size);
    } else if (!outcome->status && restored.name.size) {
        wake(batch, restored.name);
    }
    item_release(&item);
}

// In the given order, except for items that depend on later jobs.
static void restore_all(struct batch *batch)
{
    for (size_t i = 0; i < batch->items.count; i++) {
        if (!batch->outcomes[i].known) {
            restore_one(batch, i);
        }
        while (batch->open) {
            struct outcome *open = batch->open;
            batch->open = open->open_next;
            restore_one(batch, (size_t)(open - batch->outcomes));
        }
    }
}

// What is stored about a request: one of these for each item. A refused item is tried again.
static const char outcome_marks[] = { 'r', 'e', 'a', '-' };
static const struct slice outcome_words[] = {
    { "restored", 8 },
    { "exists", 6 },
    { "accepted", 8 },
};

enum {
    OUTCOME_RESTORED,
    OUTCOME_EXISTS,
    OUTCOME_ACCEPTED,
    OUTCOME_REFUSED,
};

static size_t kind_of(const struct outcome *outcome)
{
    return outcome->status == STATUS_EXISTS ? OUTCOME_EXISTS
           : outcome->status                ? OUTCOME_REFUSED
           : outcome->restored              ? OUTCOME_RESTORED
                                            : OUTCOME_ACCEPTED;
}

static void recall(struct batch *batch, struct slice answer)
{
    for (size_t i = 0; i < batch->items.count && i < answer.size; i++) {
        struct outcome *outcome = &batch->outcomes[i];
        char mark = answer.data[i];
        outcome->known = mark != outcome_marks[OUTCOME_REFUSED];
        outcome->restored = mark == outcome_marks[OUTCOME_RESTORED];
        outcome->status = mark == outcome_marks[OUTCOME_EXISTS] ? STATUS_EXISTS : STATUS_OK;
    }
}

static enum status restore_under(struct batch *batch, struct slice request, struct error *error)
{
    char marks[RESTORE_COUNT_MAX];
    struct slice answer;
    bool known;
    size_t count = batch->items.count;
    enum status status = call_request_begin(batch->call, request, count, &known, &answer, error);
    if (status) {
        return status;
    }
    if (known) {
        recall(batch, answer);
    }
    restore_all(batch);
    for (size_t i = 0; i < count; i++) {
        marks[i] = outcome_marks[kind_of(&batch->outcomes[i])];
    }
    if (known) {
        engine_request_amend(batch->call->engine, request, slice_make(marks, count));
    } else {
        engine_request_end(batch->call->engine, slice_make(marks, count));
    }
    return STATUS_OK;
}

static enum status check_batch(const struct call *call, struct slices items, size_t answer,
                               struct error *error)
{
    if (items.count > RESTORE_COUNT_MAX) {
        return error_set(error, STATUS_TOO_LARGE, "%s: %zu items; at most %d are allowed",
                         call->command->name, items.count, RESTORE_COUNT_MAX);
    }
    return call_check_room(call, REPLY_SIZE_LEAST + items.count * answer, error);
}

static size_t error_bound(const struct call *call)
{
    return ITEM_ANSWER + reply_texts_max(call->reply, 1, ERROR_DETAIL_SIZE);
}

static void write_outcomes(struct call *call, const struct batch *batch)
{
    reply_list(call->reply, batch->items.count);
    for (size_t i = 0; i < batch->items.count; i++) {
        size_t kind = kind_of(&batch->outcomes[i]);
        if (kind == OUTCOME_REFUSED) {
            reply_error(call->reply, &batch->outcomes[i].error);
        } else {
            reply_text(call->reply, outcome_words[kind]);
        }
    }
    reply_end(call->reply);
}

static enum status run_restore(struct call *call, struct error *error)
{
    const struct restore_arguments *given = call->arguments;
    size_t count = given->items.count;
    enum status status = check_batch(call, given->items, error_bound(call), error);
    if (status) {
        return status;
    }
    struct batch batch = { .call = call, .items = given->items };
    size_t size = count * sizeof(*batch.outcomes);
    batch.outcomes = mem_zalloc(&allocator_system, size);
    if (!batch.outcomes) {
        return error_set(error, STATUS_NO_MEMORY, "%s: out of memory", call->command->name);
    }
    status = restore_under(&batch, given->request, error);
    if (!status) {
        write_outcomes(call, &batch);
    }
    mem_free(&allocator_system, batch.outcomes, size);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Checking items

static void write_missing(const struct call *call, struct slices depends)
{
    size_t count = 0;
    for (size_t i = 0; i < depends.count; i++) {
        count += !engine_get(call->engine, depends.items[i]);
    }
    reply_list(call->reply, count < NAMES_SHOWN_MAX ? count : NAMES_SHOWN_MAX);
    size_t said = 0;
    for (size_t i = 0; i < depends.count && said < NAMES_SHOWN_MAX; i++) {
        if (!engine_get(call->engine, depends.items[i])) {
            reply_text(call->reply, depends.items[i]);
            said++;
        }
    }
    reply_end(call->reply);
}

static void write_check(const struct call *call, const struct restored *restored,
                        enum status status)
{
    struct reply *reply = call->reply;
    reply_map(reply, 6);
    reply_key(reply, "kind");
    reply_text(reply, restored->kind);
    reply_key(reply, "name");
    reply_text_or_null(reply, restored->name);
    reply_key(reply, "outcome");
    reply_text(reply, status == STATUS_EXISTS ? SLICE("exists")
                      : status                ? SLICE("depends")
                                              : SLICE("fits"));
    reply_key(reply, "queue");
    reply_text_or_null(reply, restored->queue);
    reply_key(reply, "bytes");
    reply_count(reply, restored->bytes);
    reply_key(reply, "missing");
    write_missing(call, restored->depends);
    reply_end(reply);
}

static void check_one(struct call *call, struct slice text)
{
    struct error error;
    struct restored restored = { 0 };
    struct item item;
    enum status status = item_init(&item, text, &error);
    if (!status) {
        status = restore_item(call, &item, true, &restored, &error);
    }
    bool depends = status == STATUS_NOT_FOUND && restored.missing.size;
    if (status && status != STATUS_EXISTS && !depends) {
        reply_error(call->reply, &error);
    } else {
        write_check(call, &restored, status);
    }
    item_release(&item);
}

static enum status run_check(struct call *call, struct error *error)
{
    const struct restore_arguments *given = call->arguments;
    size_t names = reply_texts_max(call->reply, NAMES_SHOWN_MAX + 2,
                                   (size_t)(NAMES_SHOWN_MAX + 2) * ENGINE_NAME_SIZE_MAX);
    enum status status = check_batch(call, given->items, error_bound(call) + names, error);
    if (status) {
        return status;
    }
    reply_list(call->reply, given->items.count);
    for (size_t i = 0; i < given->items.count; i++) {
        check_one(call, given->items.items[i]);
    }
    reply_end(call->reply);
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------

#define EXAMPLE_JOB                                                                                \
    "'{\"job\":{\"jid\":\"kim\",\"klass\":\"Send\",\"queue\":\"letters\",\"state\":\"failed\","    \
    "\"remaining\":2,\"attempts\":3,\"failure\":{\"group\":\"smtp\",\"message\":\"refused\"}}}'"

static const struct command commands[] = {
    {
        .name = "Q.DUMP",
        .group = "transfer",
        .flags = READS,
        TAKES(dump_arguments, dump_takes),
        .run = run_dump,
        .summary = "Gives all that a namespace consists of, as items that Q.RESTORE takes, page by "
                   "page.",
        .details = "A page has at most COUNT items and ends after about a megabyte; one without "
                   "items is not the last unless `next` is null. A running job is given as stalled "
                   "and first in line: its lease stays behind. Not given are statistics, workers, "
                   "leases, what rates have saved up, bulk operations and pushes. A job that moves "
                   "between two pages may come twice or not at all; then `changes` is not the same "
                   "on the first page and the last. docs/export.md describes the items.",
        .replies = "A map of the items, of where the page behind it begins, and of how often jobs "
                   "have changed so far.",
        EXAMPLES({ "Q.DUMP app COUNT 1",
                   "1# \"items\" => 1) \"{\\\"namespace\\\":{\\\"format\\\":1,\\\"clock\\\":"
                   "\\\"server\\\"}}\"\n"
                   "2# \"next\" => \"1-0-0-0-0\"\n"
                   "3# \"changes\" => ..." }),
    },
    {
        .name = "Q.RESTORE",
        .group = "transfer",
        .flags = WRITES | COMMAND_ADMIN | COMMAND_FITS | COMMAND_AUDITED | COMMAND_JOB_ACT,
        TAKES(restore_arguments, restore_takes),
        .run = run_restore,
        .summary = "Restores things as they were elsewhere: jobs with their state and their past, "
                   "queues, recurring jobs, tracked jobs, options, limits, policies.",
        .details = "Up to 1,000 items, each an object with one member that says what it is. Each "
                   "is restored as a whole or not at all, and what is there already stays as it "
                   "is. A job may depend on jobs behind it in the same call. No event is sent, and "
                   "nothing counts in statistics. A call that is repeated with the same REQUEST "
                   "says of each item what the first one did, and tries again those that were "
                   "refused. docs/export.md describes the items.",
        .replies =
            "A list: for each item restored, exists, accepted (what is about the namespace as "
            "a whole), or an error.",
        EXAMPLES({ "Q.RESTORE app " EXAMPLE_JOB, "1) \"restored\"" }),
    },
    {
        .name = "Q.RESTORE.CHECK",
        .group = "transfer",
        .flags = READS | COMMAND_ADMIN,
        TAKES(restore_arguments, check_takes),
        .run = run_check,
        .summary = "Says what would become of items that Q.RESTORE is given, and changes nothing.",
        .details = "Each item is looked at for itself. Whether all of them together fit says an "
                   "item {\"room\": {\"jobs\": n, \"bytes\": n, \"queues\": n, \"recurring\": n}}, "
                   "for a queue {\"room\": {\"queue\": q, \"jobs\": n, \"bytes\": n}}.",
        .replies = "A list: for each item an error, or a map of its kind, its name, its outcome "
                   "(fits; exists; depends on jobs that are not there), the queue it would count "
                   "for and with how many bytes, and the first jobs that are missing.",
        EXAMPLES({ "Q.RESTORE.CHECK app " EXAMPLE_JOB, "1) 1# \"kind\" => \"job\"\n"
                                                       "   2# \"name\" => \"kim\"\n"
                                                       "   3# \"outcome\" => \"exists\"\n"
                                                       "   4# \"queue\" => \"letters\"\n"
                                                       "   5# \"bytes\" => (integer) 2\n"
                                                       "   6# \"missing\" => (empty array)" }),
    },
};

const struct command_table api_transfer = TABLE(commands);
