// SPDX-License-Identifier: MIT
// Calls: one act on many jobs.
#include "arguments.h"
#include "engine/bulk/bulk.h"
#include "member.h"
#include "shell.h"
#include "words.h"

static unsigned read_states(const json_t *from)
{
    unsigned states = 0;
    size_t index;
    const json_t *word;
    json_array_foreach(from, index, word)
    {
        for (enum job_state state = 0; state < JOB_STATE_COUNT; state++) {
            if (strcmp(json_string_value(word), job_state_name(state)) == 0) {
                states |= 1U << state;
            }
        }
    }
    return states;
}

static struct job_filter read_filter(const json_t *from)
{
    return (struct job_filter){
        .queue = arg_text(from, "queue"),
        .klass = arg_text(from, "klass"),
        .tag = arg_text(from, "tag"),
        .group = arg_text(from, "group"),
        .worker = arg_text(from, "worker"),
        .domain = arg_text(from, "domain"),
        .states = read_states(json_object_get(from, "states")),
        .has_older = arg_has(from, "older_us"),
        .older_us = arg_number(from, "older_us"),
        .has_newer = arg_has(from, "newer_us"),
        .newer_us = arg_number(from, "newer_us"),
    };
}

static enum status call_bulk(struct shell *shell)
{
    const struct bulk_request bulk = {
        .filter = read_filter(json_object_get(shell->request, "filter")),
        .act = (enum bulk_act)arg_word(shell->request, "act", words_bulk_act),
        .to = arg_text(shell->request, "to"),
        .tags = arg_texts(shell, "tags"),
        .priority = (int32_t)arg_number(shell->request, "priority"),
        .dry_run = arg_flag(shell->request, "dry_run"),
    };
    uint64_t id = 0;
    enum status status = engine_bulk(shell->engine, shell->now_us, &bulk, &id, &shell->error);
    json_write_begin_object(&shell->out);
    member_uint(&shell->out, "id", id);
    json_write_end_object(&shell->out);
    return status;
}

static void write_bulk(struct shell *shell, const struct bulk_view *view)
{
    struct json_writer *out = &shell->out;
    json_write_begin_object(out);
    member_uint(out, "id", view->id);
    member_word(out, "act", words_bulk_act[view->act]);
    member_bool(out, "dry_run", view->dry_run);
    member_bool(out, "done", view->done);
    member_bool(out, "stopped", view->stopped);
    member_int(out, "began_us", view->began_us);
    member_uint(out, "looked_at", view->looked_at);
    member_uint(out, "matched", view->matched);
    member_uint(out, "changed", view->changed);
    json_write_end_object(out);
}

static enum status call_bulk_get(struct shell *shell)
{
    struct bulk_view view;
    if (engine_bulk_get(shell->engine, arg_unsigned(shell->request, "id"), &view)) {
        write_bulk(shell, &view);
    }
    return STATUS_OK;
}

static enum status call_bulks(struct shell *shell)
{
    struct bulk_view view;
    json_write_begin_array(&shell->out);
    for (size_t i = 0; engine_bulk_at(shell->engine, i, &view); i++) {
        write_bulk(shell, &view);
    }
    json_write_end_array(&shell->out);
    return STATUS_OK;
}

static enum status call_bulk_stop(struct shell *shell)
{
    return engine_bulk_stop(shell->engine, shell->now_us, arg_unsigned(shell->request, "id"),
                            &shell->error);
}

const struct call calls_bulk[] = {
    { "bulk", call_bulk },   { "bulk_get", call_bulk_get },
    { "bulks", call_bulks }, { "bulk_stop", call_bulk_stop },
    { NULL, NULL },
};
