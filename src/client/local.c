// SPDX-License-Identifier: MIT
#include "client/local.h"

#include "client/deadline.h"
#include "client/local_call.h"
#include "client/pause.h"
#include "client/value.h"
#include "host/durability.h"
#include "host/limits.h"
#include "wire/resp_request.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    ANSWER_MAX = 1 << 30,
    LINE_MAX_BYTES = 64 << 10,
};

// ---------------------------------------------------------------------------------------------
// Calls

// The limits of a server that has its default settings, but for max-payload.
struct resp_limits local_limits(const struct local *local)
{
    size_t double_size = 2 * local->max_payload;
    return (struct resp_limits){
        .words_max = MAX_ARGUMENTS_DEFAULT,
        .word_max = local->max_payload,
        .request_max = double_size > MAX_REQUEST_DEFAULT ? double_size : MAX_REQUEST_DEFAULT,
        .line_max = LINE_MAX_BYTES,
    };
}

static enum sluice_status check_words(const struct local *local, const struct link_call *call,
                                      struct sluice_error *error)
{
    const struct resp_limits limits = local_limits(local);
    struct error why;
    return resp_limits_check(&limits, call->words.items, call->words.count, &why)
               ? fault_of(error, &why)
               : SLUICE_OK;
}

static enum sluice_status find_command(const struct folder *folder, const struct link_call *call,
                                       const struct command **out, struct sluice_error *error)
{
    struct slice name = call->words.items[0];
    *out = call->command ? call->command : commands_find(folder->commands, name);
    if (!*out) {
        struct error why;
        commands_explain_unknown(folder->commands, name, &why);
        return fault(error, SLUICE_INVALID, "%s", why.detail);
    }
    return SLUICE_OK;
}

static enum sluice_status result_of(const struct local_call *local_call, struct sluice_value **out,
                                    struct sluice_error *error)
{
    if (local_call->interrupted) {
        return fault_interrupted(error);
    }
    if (local_call->unsettled) {
        return fault(error, SLUICE_UNKNOWN, "%s: it may yet be stored, or not",
                     error_sentence(&local_call->error));
    }
    if (local_call->status) {
        return fault_of(error, &local_call->error);
    }
    return value_read_whole(buffer_slice(&local_call->output), out, error);
}

static enum sluice_status local_call(struct link *link, const struct link_call *call,
                                     struct sluice_value **out, struct sluice_error *error)
{
    struct local *local = local_of(link);
    struct local_call local_call = { .folder = local->folder,
                                     .presences = &local->presences,
                                     .interrupt = local->interrupt,
                                     .version = RESP_3 };
    if (folder_check_process(local->folder, &local_call.error)) {
        return fault_of(error, &local_call.error);
    }
    if (atomic_load_explicit(call->wait_us ? &local->interrupted : &local->all_interrupted,
                             memory_order_relaxed)) {
        return fault_interrupted(error);
    }
    if (!call->wait_us && monotonic_us() >= deadline_of_thread()) {
        return fault_timed_out(error);
    }
    enum sluice_status status = find_command(local->folder, call, &local_call.command, error);
    if (!status) {
        status = check_words(local, call, error);
    }
    if (status) {
        return status;
    }
    local_call.timeout_us = local->timeout_us;
    buffer_init(&local_call.output, &allocator_system, ANSWER_MAX);
    local_call_run(&local_call, (struct slices){ call->words.items + 1, call->words.count - 1 });
    status = result_of(&local_call, out, error);
    buffer_release(&local_call.output);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Its life

static void local_interrupt(struct link *link, bool on, bool all)
{
    struct local *local = local_of(link);
    atomic_store(&local->interrupted, on);
    atomic_store(&local->all_interrupted, on && all);
    wake_set(local->interrupt, on);
}

// An interrupt in the child does not reach the parent's calls.
static void forget(struct fork_guard *guard)
{
    fork_renew_event(((struct local *)((char *)guard - offsetof(struct local, guard)))->interrupt);
}

static void local_close(struct link *link)
{
    struct local *local = local_of(link);
    fork_guard_remove(&local->guard);
    if (local->folder) {
        folder_leave(local->folder, &local->presences);
        folder_close(local->folder, &local->user);
    }
    if (local->interrupt >= 0) {
        (void)close(local->interrupt);
    }
    mem_free(&allocator_system, local, sizeof(*local));
}

static int64_t local_ahead_us(struct link *link)
{
    return folder_ahead_us(local_of(link)->folder);
}

static const struct link_ops local_form = {
    .call = local_call,
    .listen = local_listen,
    .ahead_us = local_ahead_us,
    .interrupt = local_interrupt,
    .close = local_close,
};

static enum sluice_status read_durability(const struct link_options *options,
                                          struct folder_options *out, struct sluice_error *error)
{
    const char *word = options->url->durability[0]  ? options->url->durability
                       : options->given->durability ? options->given->durability
                                                    : "always";
    if (!durability_parse(slice_from_cstr(word), &out->durability, &out->interval_us)) {
        return fault(error, SLUICE_INVALID,
                     "the durability \"%s\" is none of always, interval, interval:MS and never",
                     word);
    }
    return SLUICE_OK;
}

enum sluice_status local_open(const struct link_options *options, struct link **out,
                              struct sluice_error *error)
{
    struct folder_options folder = { .path = options->url->path,
                                     .existing = options->url->existing };
    enum sluice_status status = read_durability(options, &folder, error);
    if (status) {
        return status;
    }
    struct local *local = mem_zalloc(&allocator_system, sizeof(*local));
    if (!local) {
        return fault_no_memory(error);
    }
    local->link.ops = &local_form;
    local->timeout_us = options->timeout_us;
    local->max_payload =
        options->url->max_payload ? options->url->max_payload : MAX_PAYLOAD_DEFAULT;
    local->user.log = options->given->log;
    local->user.log_context = options->given->log_context;
    local->interrupt = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct error why;
    if (local->interrupt < 0) {
        status = fault(error, SLUICE_IO, "no event can be made: %s", strerrordesc_np(errno));
    } else if (folder_open(&folder, &local->user, &local->folder, &why)) {
        local->folder = NULL;
        status = fault_of(error, &why);
    }
    if (status) {
        local_close(&local->link);
        return status;
    }
    fork_guard_add(&local->guard, forget);
    *out = &local->link;
    return SLUICE_OK;
}
