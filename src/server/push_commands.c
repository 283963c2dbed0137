// SPDX-License-Identifier: MIT
// What the commands about pushes do.
#include "base/num.h"
#include "host/notes.h"
#include "server/server.h"
#include "server/tables.h"

static struct server *server_of(const struct call *call)
{
    return ((struct connection *)call->session)->server;
}

// ---------------------------------------------------------------------------------------------
// Set and unset

static void add_word(struct slice words[], size_t *count, struct slice word)
{
    words[(*count)++] = word;
}

static void add_option(struct slice words[], size_t *count, const char *name, struct slice value)
{
    add_word(words, count, slice_from_cstr(name));
    add_word(words, count, value);
}

enum {
    REPEATED_MAX = 64, // headers or queues of a push
    WORDS_MAX = 26 + 4 * REPEATED_MAX,
    NUMBERS_SIZE = 256,
};

// The arguments as words again, so that all ways to set a push are read by one function.
static size_t words_of(const struct push_arguments *given, struct slice words[WORDS_MAX],
                       struct buffer *numbers)
{
    const struct {
        const char *name;
        bool given, seconds;
        int64_t value;
    } options[] = {
        { "CONCURRENCY", given->has_concurrency, false, given->concurrency },
        { "TIMEOUT", given->has_timeout, true, given->timeout_us },
        { "REPORT-WITHIN", given->has_report, true, given->report_us },
        { "BACKOFF", given->has_backoff, true, given->backoff_us },
        { "FAILURES", given->has_failures, false, given->failures },
        { "COOLDOWN", given->has_cooldown, true, given->cooldown_us },
        { "FREE-ATTEMPTS", given->has_free_attempts, false, given->free_attempts },
    };
    size_t count = 0;
    add_word(words, &count, given->pattern);
    add_word(words, &count, given->href);
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        size_t start = numbers->size;
        if (options[i].given) {
            (options[i].seconds ? num_append_seconds : num_append_i64)(numbers, options[i].value);
            add_option(words, &count, options[i].name,
                       slice_make(numbers->data + start, numbers->size - start));
        }
    }
    if (given->fail_4xx) {
        add_word(words, &count, SLICE("FAIL-4XX"));
    }
    for (size_t i = 0; i < given->headers.count; i++) {
        add_option(words, &count, "HEADER", given->headers.items[i]);
    }
    if (given->secret.size) {
        add_option(words, &count, "SECRET", given->secret);
    }
    for (size_t i = 0; i < given->queues.count; i++) {
        add_option(words, &count, "QUEUE", given->queues.items[i]);
    }
    return count;
}

static enum status make_plan(const struct push_arguments *given, const struct allocator *allocator,
                             struct push_plan *plan, struct error *error)
{
    struct slice words[WORDS_MAX] = { SLICE_EMPTY };
    char bytes[NUMBERS_SIZE];
    struct buffer numbers = { .data = bytes,
                              .capacity = NUMBERS_SIZE,
                              .size_max = NUMBERS_SIZE - 1 };
    if (given->headers.count > REPEATED_MAX || given->queues.count > REPEATED_MAX) {
        return error_set(error, STATUS_TOO_LARGE, "a push has at most %d headers and %d queues",
                         REPEATED_MAX, REPEATED_MAX);
    }
    const struct slices all = { words, words_of(given, words, &numbers) };
    return push_plan_init(plan, allocator, all, error);
}

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

static enum status keep(struct push_space *space, struct push_plan *plan, struct error *error)
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
    struct push_space *space;
    enum status status = push_check_namespace(ns, error);
    if (!status) {
        status = make_plan(call->arguments, server->settings.allocator, &plan, error);
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
    if (push_space_acquire(&server->push, ns, &space)) {
        push_plan_release(&plan);
        return error_set(error, STATUS_NO_MEMORY, "no memory for a push");
    }
    return call_ok(call, keep(space, &plan, error));
}

static enum status run_unset(struct call *call, struct error *error)
{
    struct server *server = server_of(call);
    const struct push_unset_arguments *given = call->arguments;
    const struct ns *ns = namespaces_find(&server->namespaces, call->ns);
    struct push_space *space = ns ? ns->side : NULL;
    struct push_entry *entry = space ? push_entry_find(space, given->pattern) : NULL;
    if (!entry || entry->gone) {
        return error_set(error, STATUS_NOT_FOUND, "there is no push of \"%.*s\"",
                         SLICE_PRINT(slice_shown(given->pattern)));
    }
    if (is_config(entry)) {
        return refuse_config(entry, error);
    }
    enum status status = note_unset(space->ns, entry->note, error);
    if (!status) {
        push_entry_drop(entry);
    }
    return call_ok(call, status);
}

// ---------------------------------------------------------------------------------------------
// Shown

static void say_texts(struct reply *reply, struct slices texts)
{
    reply_list(reply, texts.count);
    for (size_t i = 0; i < texts.count; i++) {
        reply_text(reply, texts.items[i]);
    }
    reply_end(reply);
}

// Their values may be secrets.
static void say_headers(struct reply *reply, struct slices headers)
{
    reply_list(reply, headers.count);
    for (size_t i = 0; i < headers.count; i++) {
        struct slice header = headers.items[i];
        const char *colon = memchr(header.data, ':', header.size);
        reply_text(reply, slice_make(header.data, (size_t)(colon - header.data)));
    }
    reply_end(reply);
}

static void say_options(struct reply *reply, const struct push_arguments *given)
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
    say_headers(reply, given->headers);
    reply_key(reply, "signed");
    reply_boolean(reply, given->secret.size > 0);
    reply_key(reply, "queues");
    say_texts(reply, given->queues);
}

static void say_figures(struct reply *reply, const struct push_entry *entry)
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

// A query may be a secret: only administrators of the namespace see it.
static void say_href(struct reply *reply, struct slice href, bool whole)
{
    const char *query = memchr(href.data, '?', href.size);
    char shown[PUSH_PLAN_SIZE_MAX];
    struct buffer out = { .data = shown, .capacity = sizeof(shown), .size_max = sizeof(shown) - 1 };
    if (whole || !query) {
        reply_text(reply, href);
        return;
    }
    buffer_append(&out, slice_make(href.data, (size_t)(query - href.data)));
    buffer_append(&out, SLICE("?..."));
    reply_text(reply, buffer_slice(&out));
}

static void say_entry(struct reply *reply, const struct push_entry *entry, bool admin)
{
    static const char *const states[] = { "closed", "open", "trying" };
    reply_map(reply, 19);
    reply_key(reply, "pattern");
    reply_text(reply, entry->plan.given.pattern);
    reply_key(reply, "href");
    say_href(reply, entry->plan.given.href, admin);
    reply_key(reply, "source");
    reply_text(reply, entry->note ? SLICE("command") : SLICE("settings"));
    say_options(reply, &entry->plan.given);
    reply_key(reply, "breaker");
    reply_text(reply, slice_from_cstr(states[entry->breaker]));
    reply_key(reply, "running");
    reply_integer(reply, entry->running);
    reply_key(reply, "waiting-for-report");
    reply_integer(reply, entry->accepted);
    reply_key(reply, "last-error");
    reply_text_or_null(reply, slice_from_cstr(entry->last_error));
    say_figures(reply, entry);
    reply_end(reply);
}

static enum status run_pushes(struct call *call, struct error *error)
{
    (void)error;
    const struct ns *ns = namespaces_find(&server_of(call)->namespaces, call->ns);
    const struct push_space *space = ns ? ns->side : NULL;
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
            say_entry(call->reply, at, admin);
        }
    }
    reply_end(call->reply);
    return STATUS_OK;
}

const struct push_service server_push = { run_set, run_unset, run_pushes };
