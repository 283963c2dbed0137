// SPDX-License-Identifier: MIT
// The functions of the commands about pushes (struct push_service).
#include "host/notes.h"
#include "server/redis/tables.h"
#include "server/server.h"

static struct server *server_of(const struct call *call)
{
    return ((struct connection *)call->session)->server;
}

// ---------------------------------------------------------------------------------------------
// Set and unset

static enum status refuse_config(const struct push_entry *entry, struct error *error)
{
    struct slice pattern = slice_shown(entry->plan.given.pattern);
    return error_set(error, STATUS_STATE,
                     "the push of \"%.*s\" is in the server's settings, and is changed there",
                     SLICE_PRINT(pattern));
}

static bool is_config(const struct push_entry *entry)
{
    return entry && !entry->gone && !entry->note;
}

static enum status keep(struct push_namespace *space, struct push_plan *plan, struct error *error)
{
    struct push_entry *entry = push_entry_find(space, plan->given.pattern);
    struct note *note = NULL;
    struct buffer text;
    if (is_config(entry)) {
        enum status refused = refuse_config(entry, error);
        push_plan_release(plan);
        return refused;
    }
    buffer_init(&text, &allocator_system, NOTE_SIZE_MAX);
    push_words_write(plan->words, &text);
    enum status status =
        text.status
            ? error_set(error, text.status, "the words of a push are too many")
            : note_set(space->ns, entry ? entry->note : NULL, buffer_slice(&text), &note, error);
    if (text.data) {
        explicit_bzero(text.data, text.size);
    }
    buffer_release(&text);
    if (status) {
        push_plan_release(plan);
        return status;
    }
    return push_entry_set(space, plan, note, error);
}

static enum status run_set(struct call *call, struct error *error)
{
    struct server *server = server_of(call);
    struct ns *ns = namespaces_find(&server->namespaces, call->ns);
    struct push_plan plan = { 0 };
    struct push_namespace *space;
    enum status status = push_check_namespace(ns, error);
    if (!status) {
        // The plan keeps a copy of the arguments, because the arguments are what is stored.
        status = push_plan_init(&plan, server->settings.allocator, call->words, error);
    }
    if (status) {
        return status;
    }
    if (!server->settings.push_allow_private) {
        status = push_plan_check_public(&plan, error);
    }
    if (status) {
        push_plan_release(&plan);
        return status;
    }
    if (push_namespace_acquire(&server->push, ns, &space)) {
        push_plan_release(&plan);
        return error_set(error, STATUS_NO_MEMORY, "no memory for a push");
    }
    return call_ok(call, keep(space, &plan, error));
}

// Finds the entry that the command names.
static enum status find_entry(const struct call *call, struct push_entry **out, struct error *error)
{
    const struct push_pattern_arguments *given = call->arguments;
    const struct ns *ns = namespaces_find(&server_of(call)->namespaces, call->ns);
    const struct push_namespace *space = ns ? ns->side : NULL;
    *out = space ? push_entry_find(space, given->pattern) : NULL;
    if (!*out || (*out)->gone) {
        return error_set(error, STATUS_NOT_FOUND, "there is no push of \"%.*s\"",
                         SLICE_PRINT(slice_shown(given->pattern)));
    }
    return STATUS_OK;
}

static enum status run_unset(struct call *call, struct error *error)
{
    struct push_entry *entry;
    enum status status = find_entry(call, &entry, error);
    if (!status && is_config(entry)) {
        status = refuse_config(entry, error);
    }
    if (!status) {
        status = note_unset(entry->space->ns, entry->note, error);
    }
    if (!status) {
        push_entry_drop(entry);
    }
    return call_ok(call, status);
}

static enum status run_try(struct call *call, struct error *error)
{
    struct push_entry *entry;
    enum status status = find_entry(call, &entry, error);
    if (!status) {
        entry->open_us = 0;
        entry->held_us = 0;
        push_namespace_look(entry->space);
    }
    return call_ok(call, status);
}

// ---------------------------------------------------------------------------------------------
// Shown

static void write_texts(struct reply *reply, struct slices texts)
{
    reply_list(reply, texts.count);
    for (size_t i = 0; i < texts.count; i++) {
        reply_text(reply, texts.items[i]);
    }
    reply_end(reply);
}

// The values of headers may be secrets, so only the names are written.
static void write_headers(struct reply *reply, struct slices headers)
{
    reply_list(reply, headers.count);
    for (size_t i = 0; i < headers.count; i++) {
        struct slice header = headers.items[i];
        const char *colon = memchr(header.data, ':', header.size);
        reply_text(reply, slice_make(header.data, (size_t)(colon - header.data)));
    }
    reply_end(reply);
}

static void write_options(struct reply *reply, const struct push_arguments *given)
{
    reply_key(reply, "concurrency");
    reply_integer(reply, given->concurrency);
    reply_key(reply, "timeout");
    reply_seconds(reply, given->timeout_us);
    reply_key(reply, "report-within");
    reply_seconds(reply, given->report_us);
    reply_key(reply, "backoff");
    reply_seconds(reply, given->backoff_us);
    reply_key(reply, "failures");
    reply_integer(reply, given->failures);
    reply_key(reply, "cooldown");
    reply_seconds(reply, given->cooldown_us);
    reply_key(reply, "free-attempts");
    reply_integer(reply, given->free_attempts);
    reply_key(reply, "fail-4xx");
    reply_boolean(reply, given->fail_4xx);
    reply_key(reply, "headers");
    write_headers(reply, given->headers);
    reply_key(reply, "signed");
    reply_boolean(reply, given->secret.size > 0);
    reply_key(reply, "old-secret");
    reply_boolean(reply, given->old_secret.size > 0);
    reply_key(reply, "queues");
    write_texts(reply, given->queues);
}

static void write_figures(struct reply *reply, const struct push_entry *entry)
{
    const struct push_entry_figures *figures = &entry->figures;
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {
        { "sent", figures->sent },         { "completed", figures->completed },
        { "accepted", figures->accepted }, { "delayed", figures->delayed },
        { "retried", figures->retried },   { "failed", figures->failed },
        { "lost", figures->lost },
    };
    reply_key(reply, "counts");
    reply_map(reply, sizeof(counts) / sizeof(counts[0]));
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        reply_text(reply, slice_from_cstr(counts[i].name));
        reply_count(reply, counts[i].value);
    }
    reply_end(reply);
}

// Returns where the path begins, or the query or fragment if there is no path; the size if there is
// none of them.
static size_t path_start(struct slice href)
{
    size_t at = 0;
    for (int slashes = 0; at < href.size; at++) {
        char c = href.data[at];
        if ((c == '/' && slashes++ == 2) || c == '?' || c == '#') {
            break;
        }
    }
    return at;
}

// A path or a query may contain a secret: only administrators of the namespace see them.
static void write_href(struct reply *reply, struct slice href, bool whole)
{
    size_t start = path_start(href);
    char shown[PUSH_PLAN_SIZE_MAX];
    struct buffer out = { .data = shown, .capacity = sizeof(shown), .size_max = sizeof(shown) - 1 };
    if (whole || start == href.size || (start + 1 == href.size && href.data[start] == '/')) {
        reply_text(reply, href);
        return;
    }
    buffer_append(&out, slice_sub(href, 0, start));
    buffer_append(&out, SLICE("/..."));
    reply_text(reply, buffer_slice(&out));
}

// Returns when pushes may be sent again; 0 if they may be sent now.
static int64_t next_try_us(const struct push_entry *entry, int64_t now_us)
{
    int64_t open_us = entry->breaker == BREAKER_OPEN ? entry->open_us : 0;
    int64_t until_us = entry->held_us > open_us ? entry->held_us : open_us;
    return until_us > now_us ? until_us : 0;
}

static void write_entry(struct reply *reply, const struct push_entry *entry, int64_t now_us,
                        bool admin)
{
    static const char *const states[] = { "closed", "open", "trying" };
    reply_map(reply, 22);
    reply_key(reply, "pattern");
    reply_text(reply, entry->plan.given.pattern);
    reply_key(reply, "href");
    write_href(reply, entry->plan.given.href, admin);
    reply_key(reply, "source");
    reply_text(reply, entry->note ? SLICE("command") : SLICE("settings"));
    write_options(reply, &entry->plan.given);
    reply_key(reply, "breaker");
    reply_text(reply, slice_from_cstr(states[entry->breaker]));
    reply_key(reply, "next-try");
    reply_moment_or_null(reply, next_try_us(entry, now_us));
    reply_key(reply, "running");
    reply_integer(reply, entry->running);
    reply_key(reply, "waiting-for-report");
    reply_integer(reply, entry->accepted);
    reply_key(reply, "last-error");
    reply_text_or_null(reply, slice_from_cstr(entry->last_error));
    reply_key(reply, "last-error-at");
    reply_moment_or_null(reply, entry->last_error[0] ? entry->error_us : 0);
    write_figures(reply, entry);
    reply_end(reply);
}

static enum status run_pushes(struct call *call, struct error *error)
{
    (void)error;
    const struct ns *ns = namespaces_find(&server_of(call)->namespaces, call->ns);
    const struct push_namespace *space = ns ? ns->side : NULL;
    const struct push_entry *first = space ? space->entries : NULL;
    const struct connection *connection = call->session;
    bool admin = user_may(connection->user, call->ns, RIGHT_ADMIN);
    size_t count = 0;
    for (const struct push_entry *at = first; at; at = at->next) {
        count += !at->gone;
    }
    reply_list(call->reply, count);
    for (const struct push_entry *at = first; at; at = at->next) {
        if (!at->gone) {
            write_entry(call->reply, at, call->now_us, admin);
        }
    }
    reply_end(call->reply);
    return STATUS_OK;
}

const struct push_service server_push = { run_set, run_unset, run_try, run_pushes };
