// SPDX-License-Identifier: MIT
#include "server/commit.h"

#include "server/log.h"
#include "server/server.h"

#include <assert.h>

void commit_init(struct commit *commit)
{
    *commit = (struct commit){ 0 };
}

void commit_release(struct commit *commit, const struct allocator *allocator)
{
    mem_free(allocator, commit->holds, commit->capacity * sizeof(struct hold));
    commit_init(commit);
}

// ---------------------------------------------------------------------------------------------
// The ring of holds

static struct hold *hold_at(const struct commit *commit, size_t index)
{
    assert(commit->capacity);
    return &commit->holds[(commit->first + index) % commit->capacity];
}

static enum status make_room(struct commit *commit, const struct allocator *allocator)
{
    if (commit->count < commit->capacity) {
        return STATUS_OK;
    }
    size_t capacity = commit->capacity ? 2 * commit->capacity : 256;
    struct hold *holds = mem_alloc(allocator, capacity * sizeof(struct hold));
    if (!holds) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < commit->count; i++) {
        holds[i] = *hold_at(commit, i);
    }
    mem_free(allocator, commit->holds, commit->capacity * sizeof(struct hold));
    commit->holds = holds;
    commit->first = 0;
    commit->capacity = capacity;
    return STATUS_OK;
}

static struct hold take_first(struct commit *commit)
{
    struct hold hold = *hold_at(commit, 0);
    commit->first = (commit->first + 1) % commit->capacity;
    commit->count--;
    return hold;
}

// ---------------------------------------------------------------------------------------------
// The end of a turn

// Without memory for a hold the connection is lost: its client does not learn what became of its
// requests, as with any connection that breaks.
static void hold_back(struct server *server, struct connection *connection, uint64_t group)
{
    uint64_t end = connection->output_start + connection->output.size;
    const struct allocator *allocator = server->settings.allocator;
    if (make_room(&server->commit, allocator) &&
        (!memory_free_reserve(&server->memory) || make_room(&server->commit, allocator))) {
        log_line(LOG_LEVEL_ERROR, "out of memory: connection closed",
                 LOG_STRING("address", connection->address));
        connection_close(connection);
        return;
    }
    struct commit *commit = &server->commit;
    *hold_at(commit, commit->count++) = (struct hold){
        .connection = connection,
        .group = group,
        .start = connection->turn_start,
        .end = end,
        .replies = connection->replies,
    };
    connection->holds++;
    connection->under_way += connection->replies;
}

static void let_go(struct connection *connection)
{
    connection->output_free = connection->output_start + connection->output.size;
    connection_flush(connection);
}

// Lets all that was said in the turn go, or holds it until the group is durable.
static void hold_all(struct server *server, uint64_t group, bool durable)
{
    struct connection *connection = server->connections.turn;
    server->connections.turn = NULL;
    while (connection) {
        struct connection *next = connection->turn_next;
        connection->in_turn = false;
        connection->turn_next = NULL;
        if (connection->given_up) {
            connection_close(connection);
        } else if (!connection->closed) {
            if (durable && connection->holds == 0) {
                connection->replies = 0;
                let_go(connection);
                connection_released(connection); // it may have had as many under way as it may
            } else {
                hold_back(server, connection, group);
            }
        }
        connection->replies = 0;
        connection = next;
    }
}

// Appends what has changed. NO_MEMORY: the changes wait for the end of the next turn.
static enum status append(struct server *server, struct error *error)
{
    bool before = server->namespaces.behind;
    enum status status = namespaces_append(&server->namespaces, error);
    if (status == STATUS_NO_MEMORY && memory_free_reserve(&server->memory)) {
        status = namespaces_append(&server->namespaces, error);
    }
    if (status == STATUS_NO_MEMORY && !before) {
        log_line(LOG_LEVEL_ERROR, "out of memory: changes wait to be stored",
                 LOG_STRING("reason", error_sentence(error)));
    } else if (!status && before) {
        log_line(LOG_LEVEL_INFO, "changes that waited for memory are stored", LOG_NO_PAIRS);
    }
    return status;
}

void commit_turn(struct server *server)
{
    struct error error;
    enum status status = append(server, &error);
    if (status == STATUS_NO_MEMORY) {
        return; // the connections of this turn stay in it, and so does what they were told
    }
    // Once it has failed, what changes without a command (a worker that leaves) is not stored, and
    // no reply tells of it.
    bool told = server->turn_changes || server->store_state != STORE_FAILED;
    if (status && told) {
        // What the engines hold is ahead of the disk for good: the store has failed, and says so.
        // The replies become errors with the others that wait.
        server->store_state = STORE_FAILED;
        error_copy(&server->store_why, &error);
        hold_all(server, UINT64_MAX, false);
        commit_durable(server);
        return;
    }
    if (server->store_state == STORE_FAILED) {
        // No command has changed anything in this turn, so what it said may go out; but not before
        // what waits, and will never be durable.
        hold_all(server, UINT64_MAX, true);
        commit_durable(server);
        return;
    }
    uint64_t group = server->namespaces.group;
    // When the store is stuck that may take for ever; then who only asked is told what there is,
    // and who was refused hears of it.
    bool asked = server->store_state == STORE_STUCK && !server->turn_changes;
    bool durable = server->settings.durability == STORE_NEVER || asked ||
                   store_durable(server->store) >= group;
    hold_all(server, group, durable);
}

// ---------------------------------------------------------------------------------------------
// When a group is durable, or never will be

// What was said becomes as many errors. A connection may have several holds: with the first one
// all that was said since is dropped.
static void fail_hold(struct server *server, const struct hold *hold)
{
    struct connection *connection = hold->connection;
    if (connection->closed) {
        return;
    }
    if (hold->start >= connection->output_start && !connection->failing) {
        buffer_truncate(&connection->output, (size_t)(hold->start - connection->output_start));
        connection->failing = true;
    }
    for (uint32_t i = 0; i < hold->replies; i++) {
        connection->protocol->refuse(connection, NULL, &server->store_why);
    }
    server->figures.errors += hold->replies;
    if (connection->holds == 0) {
        connection->failing = false;
        let_go(connection);
    }
}

static void free_hold(struct connection *connection, const struct hold *hold)
{
    connection->output_free = hold->end;
    connection_flush(connection);
}

void commit_durable(struct server *server)
{
    struct commit *commit = &server->commit;
    uint64_t durable = store_durable(server->store);
    bool failed = server->store_state == STORE_FAILED;
    while (commit->count && (failed || hold_at(commit, 0)->group <= durable)) {
        struct hold hold = take_first(commit);
        struct connection *connection = hold.connection;
        connection->holds--;
        connection->under_way -= hold.replies;
        if (hold.group > durable) {
            fail_hold(server, &hold);
        } else if (!connection->closed) {
            free_hold(connection, &hold);
        }
        connection_released(connection);
    }
}

void commit_forget(struct server *server)
{
    struct commit *commit = &server->commit;
    while (commit->count) {
        struct connection *connection = take_first(commit).connection;
        connection->holds--;
        connection_released(connection);
    }
}
