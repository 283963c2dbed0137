// SPDX-License-Identifier: MIT
// The whole of what can be observed: of the queues, tags, workers and days that the request names,
// since the engine has no list of tags or of queues that were forgotten.
#include "arguments.h"
#include "engine/lease/workers.h"
#include "member.h"
#include "shell.h"
#include "views.h"
#include "words.h"

static struct page whole_page(struct shell *shell)
{
    return (struct page){ .count = PAGE_MAX, .jobs = shell->jobs };
}

static enum status dump_list(struct shell *shell, enum list list, struct slice queue)
{
    struct page found = whole_page(shell);
    enum status status =
        engine_jobs(shell->engine, shell->now_us, list, queue, &found, &shell->error);
    if (status == STATUS_OK) {
        member_key(&shell->out, words_list[list]);
        write_page(shell, &found, true);
    }
    return status;
}

static void dump_recurring(struct shell *shell, struct slice queue)
{
    size_t found = 0;
    engine_recurring(shell->engine, queue, 0, PAGE_MAX, shell->recurrings, &found);
    write_recurrings(shell, found);
}

static void dump_stats(struct shell *shell, struct slice queue)
{
    json_t *days = json_object_get(shell->request, "days");
    json_write_begin_array(&shell->out);
    for (size_t i = 0; i < json_array_size(days); i++) {
        write_stats(shell, queue, json_integer_value(json_array_get(days, i)));
    }
    json_write_end_array(&shell->out);
}

// Everything there is to see of one queue, its jobs as a whole.
static enum status dump_queue(struct shell *shell, struct slice queue)
{
    struct json_writer *out = &shell->out;
    struct queue_view view;
    enum status status = engine_queue(shell->engine, shell->now_us, queue, &view, &shell->error);
    if (status != STATUS_OK) {
        return status;
    }
    json_write_begin_object(out);
    member_key(out, "counts");
    write_queue(shell, &view);
    member_uint(out, "length", engine_length(shell->engine, queue));
    for (enum list list = LIST_WAITING; list <= LIST_LINE; list++) {
        status = dump_list(shell, list, queue);
        if (status != STATUS_OK) {
            return status;
        }
    }
    member_key(out, "recurring");
    dump_recurring(shell, queue);
    member_key(out, "stats");
    dump_stats(shell, queue);
    json_write_end_object(out);
    return STATUS_OK;
}

static enum status dump_queues(struct shell *shell, struct slices queues)
{
    json_write_begin_array(&shell->out);
    for (size_t i = 0; i < queues.count; i++) {
        enum status status = dump_queue(shell, queues.items[i]);
        if (status != STATUS_OK) {
            return status;
        }
    }
    json_write_end_array(&shell->out);
    return STATUS_OK;
}

static void dump_failures(struct shell *shell)
{
    struct json_writer *out = &shell->out;
    struct count_view view;
    json_write_begin_array(out);
    for (size_t i = 0; engine_failure_group(shell->engine, i, &view); i++) {
        struct page found = whole_page(shell);
        engine_failed(shell->engine, view.name, &found);
        json_write_begin_array(out);
        write_count(shell, &view);
        write_page(shell, &found, true);
        json_write_end_array(out);
    }
    json_write_end_array(out);
}

static void dump_tags(struct shell *shell, struct slices tags)
{
    json_write_begin_array(&shell->out);
    for (size_t i = 0; i < tags.count; i++) {
        struct page found = whole_page(shell);
        engine_tagged(shell->engine, tags.items[i], &found);
        write_page(shell, &found, false);
    }
    json_write_end_array(&shell->out);
}

// For each worker three lists: all leases, and those that have expired, and have not.
static void dump_held(struct shell *shell, struct slices workers)
{
    json_write_begin_array(&shell->out);
    static const enum list lists[] = { LIST_RUNNING, LIST_EXPIRED, LIST_UNEXPIRED };
    for (size_t i = 0; i < 3 * workers.count; i++) {
        struct page found = whole_page(shell);
        engine_worker_jobs(shell->engine, shell->now_us, workers.items[i / 3], lists[i % 3],
                           &found);
        write_page(shell, &found, false);
    }
    json_write_end_array(&shell->out);
}

static enum status call_dump(struct shell *shell)
{
    struct json_writer *out = &shell->out;
    json_write_begin_object(out);
    member_key(out, "names");
    write_queue_names(shell);
    member_key(out, "queues");
    enum status status = dump_queues(shell, arg_texts(shell, "queues"));
    for (enum list list = LIST_WAITING; status == STATUS_OK && list <= LIST_LINE; list++) {
        if (list_has_all(list)) {
            status = dump_list(shell, list, SLICE_EMPTY);
        }
    }
    if (status != STATUS_OK) {
        return status;
    }
    member_key(out, "failures");
    dump_failures(shell);
    member_key(out, "tags");
    dump_tags(shell, arg_texts(shell, "tags"));
    member_key(out, "top");
    write_tag_top(shell);
    member_key(out, "tracked");
    write_tracked(shell);
    member_key(out, "workers");
    write_workers(shell);
    member_key(out, "held");
    dump_held(shell, arg_texts(shell, "workers"));
    member_key(out, "config");
    write_config(shell);
    json_write_end_object(out);
    return STATUS_OK;
}

const struct call calls_dump[] = {
    { "dump", call_dump },
    { NULL, NULL },
};
