// SPDX-License-Identifier: MIT
#include "server/access/user_store.h"

#include "server/log/log.h"
#include "server/server.h"

static const struct slice prefix = { "user ", 5 };

static struct slice line_of(const struct note *note)
{
    struct slice text = note_text(note);
    return slice_starts_with(text, prefix) ? slice_sub(text, prefix.size, SIZE_MAX) : SLICE_EMPTY;
}

static struct slice name_of(struct slice line)
{
    const char *space = line.size ? memchr(line.data, ' ', line.size) : NULL;
    return slice_sub(line, 0, space ? (size_t)(space - line.data) : line.size);
}

static struct note *find(const struct server *server, struct slice name)
{
    for (struct note *at = server->namespaces.notes; at; at = at->next) {
        struct slice line = line_of(at);
        if (line.size && slice_equal(name_of(line), name)) {
            return at;
        }
    }
    return NULL;
}

struct slice user_store_line(const struct server *server, struct slice name)
{
    const struct note *note = find(server, name);
    return note ? line_of(note) : SLICE_EMPTY;
}

enum status user_store_reload(struct server *server, const struct settings *settings,
                              struct error *error)
{
    const struct allocator *allocator = settings->allocator;
    size_t room = 1;
    size_t count = 0;
    for (const struct note *at = server->namespaces.notes; at; at = at->next) {
        room++;
    }
    struct slice *lines = mem_alloc(allocator, room * sizeof(*lines));
    if (!lines) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for the users");
    }
    for (const struct note *at = server->namespaces.notes; at; at = at->next) {
        struct slice line = line_of(at);
        if (line.size) {
            lines[count++] = line;
        }
    }
    enum status status =
        users_reload(server->users, settings, (struct slices){ lines, count }, error);
    mem_free(allocator, lines, room * sizeof(*lines));
    pubsub_rights_changed(server);
    return status;
}

// Stores the note, or erases it if the text is empty, and takes the users over. If only the latter
// fails, for lack of memory, the next reload takes them over.
static enum status change(struct server *server, struct note *before, struct slice text,
                          struct error *error)
{
    struct namespaces *all = &server->namespaces;
    struct note *note = NULL;
    enum status status = text.size ? host_note_set(all, before, text, &note, error)
                                   : host_note_unset(all, before, error);
    server->turn_changes = true;
    return status ? status : user_store_reload(server, &server->settings, error);
}

static enum status check_count(const struct server *server, struct error *error)
{
    uint64_t count = 0;
    for (const struct note *at = server->namespaces.notes; at; at = at->next) {
        count += line_of(at).size > 0;
    }
    return count < server->settings.max_users
               ? STATUS_OK
               : error_set(error, STATUS_TOO_LARGE,
                           "%llu users are stored; max-users allows no more",
                           (unsigned long long)count);
}

enum status user_store_set(struct server *server, struct slice line, struct error *error)
{
    struct note *before = find(server, name_of(line));
    if (!before && check_count(server, error)) {
        return STATUS_TOO_LARGE;
    }
    struct buffer text;
    buffer_init(&text, server->settings.allocator, NOTE_SIZE_MAX);
    buffer_append(&text, prefix);
    buffer_append(&text, line);
    enum status status = text.status
                             ? error_set(error, text.status, "the user's rights are too long")
                             : change(server, before, buffer_slice(&text), error);
    buffer_release(&text);
    return status;
}

enum status user_store_unset(struct server *server, struct slice name, struct error *error)
{
    struct note *note = find(server, name);
    return note ? change(server, note, SLICE_EMPTY, error)
                : error_set(error, STATUS_NOT_FOUND, "no user %.*s is stored",
                            SLICE_PRINT(slice_shown(name)));
}

// ---------------------------------------------------------------------------------------------

static void end(struct connection *connection, bool is_caller)
{
    connection_drain(connection);
    if (is_caller) {
        return;
    }
    if (connection->blocked) {
        blocked_end(connection->blocked);
    }
    if (connection->protocol->finish_stream) {
        connection->protocol->finish_stream(connection);
    }
    connection_flush(connection); // closes the connection when all replies were sent
}

void user_store_apply(struct server *server, struct connection *caller)
{
    struct connection *next;
    const struct connection *caller_parent = caller ? caller->parent : NULL;
    server->web.reloads++;
    for (struct connection *at = server->connections.newest_stream; at; at = next) {
        next = at->next;
        if (at->user && at != caller && user_is_gone(at->user)) {
            at->protocol->finish_stream(at);
        }
    }
    for (struct connection *at = server->connections.newest; at; at = next) {
        next = at->next;
        if (at->user && at->user->revoked) {
            log_line(LOG_LEVEL_INFO, "user changed; closing connection",
                     LOG_STRING("address", at->address));
            end(at, at == caller || at == caller_parent);
        } else if (at->protocol->is_session && at->user && user_is_gone(at->user)) {
            connection_set_user(at, connection_default_user(at));
        }
    }
    sessions_end_revoked(&server->sessions);
    users_settle(server->users);
}
