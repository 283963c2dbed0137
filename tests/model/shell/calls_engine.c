// SPDX-License-Identifier: MIT
// Calls: the engine as a whole.
#include "arguments.h"
#include "base/alloc.h"
#include "engine/check/check.h"
#include "engine_snapshot.h"
#include "member.h"
#include "shell.h"
#include "store.h"

#include <stdio.h>

static enum status call_new(struct shell *shell)
{
    if (shell->engine) {
        engine_free(shell->engine);
        shell->engine = NULL;
    }
    store_clear();
    bool client = slice_equal(arg_text(shell->request, "clock"), SLICE("client"));
    shell->options.clock = client ? ENGINE_CLOCK_CLIENT : ENGINE_CLOCK_SERVER;
    return engine_new(&shell->options, &shell->engine);
}

static enum status call_tick(struct shell *shell)
{
    json_write_int(&shell->out, engine_tick(shell->engine, shell->now_us));
    return STATUS_OK;
}

static enum status call_set_time(struct shell *shell)
{
    return engine_set_time(shell->engine, shell->now_us, arg_number(shell->request, "to"),
                           &shell->error);
}

// Whether an engine that was loaded saves as what it was loaded from.
static bool saves_as(struct shell *shell, enum status status, const struct engine *loaded,
                     const struct buffer *saved)
{
    if (status != STATUS_OK) {
        (void)fprintf(stderr, "engine_shell: load: %s\n", error_sentence(&shell->error));
        return false;
    }
    struct buffer again;
    buffer_init(&again, &allocator_system, OUTPUT_SIZE_MAX);
    bool same = engine_save(loaded, &again) == STATUS_OK &&
                slice_equal(buffer_slice(saved), buffer_slice(&again));
    buffer_release(&again);
    return same;
}

// Saves, loads what was saved into a new engine and goes on with that one. Says whether saving it
// again gives the same bytes, and whether the records that were told of make the same engine.
static enum status call_save_load(struct shell *shell)
{
    struct buffer saved;
    struct engine *loaded = NULL, *stored = NULL;
    buffer_init(&saved, &allocator_system, OUTPUT_SIZE_MAX);
    enum status status = engine_save(shell->engine, &saved);
    if (status == STATUS_OK) {
        status = engine_load(&shell->options, buffer_slice(&saved), &loaded, &shell->error);
        bool same = saves_as(shell, status, loaded, &saved);
        enum status from_store = store_load(&shell->options, &stored, &shell->error);
        bool stored_same = saves_as(shell, from_store, stored, &saved);
        json_write_begin_object(&shell->out);
        member_key(&shell->out, "saved");
        json_write_bool(&shell->out, same);
        member_key(&shell->out, "stored");
        json_write_bool(&shell->out, stored_same);
        json_write_end_object(&shell->out);
    }
    if (loaded) {
        engine_free(shell->engine);
        shell->engine = loaded;
    }
    engine_free(stored);
    buffer_release(&saved);
    return status;
}

static void report(void *context, const char *sentence)
{
    json_write_string(context, slice_from_cstr(sentence));
}

static enum status call_check(struct shell *shell)
{
    json_write_begin_object(&shell->out);
    member_key(&shell->out, "sentences");
    json_write_begin_array(&shell->out);
    size_t count =
        engine_check(shell->engine, arg_flag(shell->request, "repair"), report, &shell->out);
    json_write_end_array(&shell->out);
    member_uint(&shell->out, "count", count);
    json_write_end_object(&shell->out);
    return STATUS_OK;
}

const struct call calls_engine[] = {
    { "new", call_new },     { "tick", call_tick },         { "save_load", call_save_load },
    { "check", call_check }, { "set_time", call_set_time }, { NULL, NULL },
};
