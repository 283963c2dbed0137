// SPDX-License-Identifier: MIT
#include "server/access/audit.h"

#include "server/log/log.h"
#include "server/server.h"

#include <stdio.h>
#include <string.h>

const char *audit_kind_name(enum audit_kind kind)
{
    static const char *const names[] = { "act", "denied", "login" };
    return names[kind];
}

// ---------------------------------------------------------------------------------------------
// Entries

// Copies a text, truncated, with characters that are not printable replaced.
static struct slice copy_shown(struct slice text, char **at)
{
    size_t size = text.size < AUDIT_TEXT_MAX ? text.size : AUDIT_TEXT_MAX;
    char *start = *at;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        start[i] = (char)(c < ' ' || c == 0x7f ? '.' : c);
    }
    *at += size;
    return slice_make(start, size);
}

static size_t shown_size(struct slice text)
{
    return text.size < AUDIT_TEXT_MAX ? text.size : AUDIT_TEXT_MAX;
}

static struct audit_entry *entry_new(const struct allocator *allocator,
                                     const struct audit_entry *what)
{
    size_t size = sizeof(struct audit_entry) + shown_size(what->user) + shown_size(what->address) +
                  shown_size(what->ns) + shown_size(what->command) + shown_size(what->arguments);
    struct audit_entry *entry = mem_alloc(allocator, size);
    if (entry) {
        char *at = (char *)(entry + 1);
        *entry = *what;
        entry->size = size;
        entry->user = copy_shown(what->user, &at);
        entry->address = copy_shown(what->address, &at);
        entry->ns = copy_shown(what->ns, &at);
        entry->command = copy_shown(what->command, &at);
        entry->arguments = copy_shown(what->arguments, &at);
    }
    return entry;
}

static void keep(const struct allocator *allocator, struct audit_ring *ring,
                 struct audit_entry *entry)
{
    struct audit_entry **at = &ring->items[ring->next];
    if (*at) {
        mem_free(allocator, *at, (*at)->size);
    } else {
        ring->count++;
    }
    *at = entry;
    ring->next = (ring->next + 1) % ring->capacity;
}

// ---------------------------------------------------------------------------------------------
// The log

static void log_entry(const struct audit_entry *entry)
{
    bool is_act = entry->kind == AUDIT_ACT;
    const char *what = entry->on_job ? "audit job" : is_act ? LOG_UNLIMITED : "audit refused";
    log_write(is_act ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, what,
              (const struct log_pair[]){
                  LOG_NUMBER("id", entry->id),
                  LOG_STRING("kind", audit_kind_name(entry->kind)),
                  LOG_TEXT("user", entry->user),
                  LOG_TEXT("address", entry->address),
                  LOG_TEXT("namespace", entry->ns),
                  LOG_TEXT("command", entry->command),
                  LOG_TEXT("arguments", entry->arguments),
                  LOG_STRING("outcome", status_name(entry->status)),
              },
              8);
}

static struct audit_ring *ring_of(struct audit *audit, const struct audit_entry *entry)
{
    return entry->on_job              ? &audit->job_acts
           : entry->kind == AUDIT_ACT ? &audit->acts
                                      : &audit->refusals;
}

// If there is no memory for the entry, the log line is still written, without the arguments.
static void add(struct server *server, struct audit_entry what)
{
    struct audit *audit = &server->audit;
    what.id = ++audit->id;
    what.at_us = server_now(server);
    audit->refused += what.kind != AUDIT_ACT;
    struct audit_entry *entry = entry_new(audit->allocator, &what);
    if (!entry) {
        log_line(LOG_LEVEL_ERROR, "audit entry not kept", LOG_NUMBER("id", what.id),
                 LOG_STRING("kind", audit_kind_name(what.kind)), LOG_STRING("reason", "no memory"));
        return;
    }
    log_entry(entry);
    keep(audit->allocator, ring_of(audit, entry), entry);
}

// ---------------------------------------------------------------------------------------------
// Contents of entries

static bool is_secret(const struct command *command, size_t index)
{
    for (size_t i = 0; i < command->argument_count; i++) {
        if (!(command->arguments[i].flags & ARGUMENT_OPTION) && index-- == 0) {
            return command->arguments[i].about == ABOUT_SECRET;
        }
    }
    return false;
}

static void append_word(char *text, size_t *size, struct slice word)
{
    size_t left = AUDIT_TEXT_MAX - *size;
    int more =
        snprintf(text + *size, left, "%s%.*s", *size ? " " : "", SLICE_PRINT(slice_shown(word)));
    *size += more > 0 && (size_t)more < left ? (size_t)more : left - 1;
}

// The words of a request without its secrets. A word after the name of a secret option is hidden at
// any position.
static struct slice show_words(const struct command *command, struct slices words,
                               char text[AUDIT_TEXT_MAX])
{
    size_t size = 0;
    bool hidden = false;
    for (size_t i = 0; i < words.count && size < AUDIT_TEXT_MAX - 1; i++) {
        const struct argument *option = command_option(command, words.items[i]);
        bool hide = hidden || is_secret(command, i);
        append_word(text, &size, hide ? SLICE("***") : words.items[i]);
        hidden = !hidden && option && option->about == ABOUT_SECRET;
    }
    return slice_make(text, size);
}

static struct slice name_of(const struct connection *connection)
{
    return connection->user ? slice_from_cstr(connection->user->name) : SLICE_EMPTY;
}

void audit_act(struct connection *connection, const struct command *command, struct slice ns,
               struct slices words, enum status status)
{
    char text[AUDIT_TEXT_MAX];
    add(connection->server, (struct audit_entry){
                                .kind = AUDIT_ACT,
                                .on_job = (command->flags & COMMAND_JOB_ACT) != 0,
                                .status = status,
                                .user = name_of(connection),
                                .address = slice_from_cstr(connection->address),
                                .ns = ns,
                                .command = slice_from_cstr(command->name),
                                .arguments = show_words(command, words, text),
                            });
}

void audit_denied(struct connection *connection, const struct command *command, struct slice ns)
{
    add(connection->server, (struct audit_entry){
                                .kind = AUDIT_DENIED,
                                .status = STATUS_DENIED,
                                .user = name_of(connection),
                                .address = slice_from_cstr(connection->address),
                                .ns = ns,
                                .command = slice_from_cstr(command->name),
                            });
}

void audit_login(struct server *server, struct slice user, struct slice address)
{
    add(server, (struct audit_entry){
                    .kind = AUDIT_LOGIN,
                    .status = STATUS_DENIED,
                    .user = user.size ? user : SLICE("default"),
                    .address = address,
                });
}

// ---------------------------------------------------------------------------------------------
// Reading

// The newest entry of a ring with a number below `before`.
static const struct audit_entry *ring_before(const struct audit_ring *ring, uint64_t before)
{
    size_t low = 0; // binary search: numbers increase from the oldest entry on
    size_t high = ring->count;
    size_t first = ring->count < ring->capacity ? 0 : ring->next;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ring->items[(first + middle) % ring->capacity]->id < before) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low ? ring->items[(first + low - 1) % ring->capacity] : NULL;
}

const struct audit_entry *audit_before(const struct audit *audit, uint64_t before)
{
    const struct audit_ring *const rings[] = { &audit->acts, &audit->job_acts, &audit->refusals };
    const struct audit_entry *newest = NULL;
    for (size_t i = 0; i < sizeof(rings) / sizeof(rings[0]); i++) {
        const struct audit_entry *entry = ring_before(rings[i], before);
        newest = entry && (!newest || entry->id > newest->id) ? entry : newest;
    }
    return newest;
}

// ---------------------------------------------------------------------------------------------
// Initialization and release

static enum status ring_init(const struct allocator *allocator, struct audit_ring *ring,
                             size_t capacity)
{
    ring->items = mem_zalloc(allocator, capacity * sizeof(struct audit_entry *));
    ring->capacity = ring->items ? capacity : 0;
    return ring->items ? STATUS_OK : STATUS_NO_MEMORY;
}

static void ring_release(const struct allocator *allocator, struct audit_ring *ring)
{
    for (size_t i = 0; i < ring->capacity; i++) {
        if (ring->items[i]) {
            mem_free(allocator, ring->items[i], ring->items[i]->size);
        }
    }
    mem_free(allocator, ring->items, ring->capacity * sizeof(struct audit_entry *));
}

enum status audit_init(struct server *server, struct error *error)
{
    struct audit *audit = &server->audit;
    size_t kept = (size_t)server->settings.audit_kept;
    audit->allocator = server->settings.allocator;
    return ring_init(audit->allocator, &audit->acts, kept) ||
                   ring_init(audit->allocator, &audit->job_acts, kept) ||
                   ring_init(audit->allocator, &audit->refusals, kept)
               ? error_set(error, STATUS_NO_MEMORY, "no memory for the audit log")
               : STATUS_OK;
}

void audit_release(struct server *server)
{
    struct audit *audit = &server->audit;
    if (audit->allocator) {
        ring_release(audit->allocator, &audit->acts);
        ring_release(audit->allocator, &audit->job_acts);
        ring_release(audit->allocator, &audit->refusals);
    }
    *audit = (struct audit){ 0 };
}
