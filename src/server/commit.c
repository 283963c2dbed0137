// SPDX-License-Identifier: MIT
#include "server/commit.h"

#include "server/log/log.h"
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

void commit_check(const struct commit *commit)
{
    assert(commit->count <= commit->capacity);
    for (size_t i = 0; i < commit->count; i++) {
        const struct hold *hold = hold_at(commit, i);
        const struct output *output = &hold->connection->output;
        assert(i == 0 || hold_at(commit, i - 1)->group <= hold->group);
        assert(output->holds > 0 && output->replies_held >= hold->output.replies);
        assert(hold->output.start <= hold->output.end);
        assert(hold->connection->closed || output->free <= hold->output.start);
    }
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

// Without memory for a hold the connection is closed: its client does not learn the results of its
// requests, as with any connection that breaks.
static void hold_back(struct server *server, struct connection *connection, uint64_t group)
{
    const struct allocator *allocator = server->settings.allocator;
    struct commit *commit = &server->commit;
    if (make_room(commit, allocator) &&
        (!memory_free_reserve(&server->memory) || make_room(commit, allocator))) {
        log_line(LOG_LEVEL_ERROR, "out of memory; closing connection",
                 LOG_STRING("address", connection->address));
        output_turn_leave(&connection->output);
        connection_close(connection);
        return;
    }
    *hold_at(commit, commit->count++) = (struct hold){
        .connection = connection,
        .group = group,
        .output = output_turn_hold(&connection->output),
    };
}

static void end_turn_of(struct server *server, struct connection *connection, uint64_t group,
                        bool durable)
{
    struct output *output = &connection->output;
    if (connection->overflowed || connection->closed) {
        output_turn_leave(output);
        connection_close(connection);
    } else if (durable && output->holds == 0) {
        output_turn_free(output);
        connection_flush(connection);
        // it may have been the connection with the most pending replies
        connection_replies_settled(connection);
    } else {
        hold_back(server, connection, group);
    }
}

// Sends all replies of the turn, or holds them until the group is durable.
static void end_turn(struct server *server, uint64_t group, bool durable)
{
    struct connection *connection;
    while ((connection = connections_next_of_turn(server))) {
        end_turn_of(server, connection, group, durable);
    }
}

// Appends the changes. NO_MEMORY: the changes wait for the end of the next turn.
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
        return; // the connections of this turn stay in it, with their replies
    }
    // After the store has failed, changes without a command (a worker's connection that closes) are
    // not stored, and no reply reports them.
    bool reported = server->turn_changes || server->store_state != STORE_FAILED;
    if (status && reported) {
        // The store has failed, so the engines have changes that will not be stored. The replies of
        // this turn become errors, together with the held ones.
        server->store_state = STORE_FAILED;
        error_copy(&server->store_why, &error);
        end_turn(server, UINT64_MAX, false);
        commit_durable(server);
        return;
    }
    if (server->store_state == STORE_FAILED) {
        // No command has changed anything in this turn, so its replies may be sent, but after the
        // held replies, which will never be durable.
        end_turn(server, UINT64_MAX, true);
        commit_durable(server);
        return;
    }
    uint64_t group = server->namespaces.group;
    // A stuck store may never become durable. Then replies to reads are sent at once, and refused
    // changes have error replies already.
    bool only_read = server->store_state == STORE_STUCK && !server->turn_changes;
    bool durable = server->settings.durability == STORE_NEVER || only_read ||
                   store_durable(server->store) >= group;
    end_turn(server, group, durable);
}

// ---------------------------------------------------------------------------------------------
// When a group is durable, or never will be

// Each held reply becomes an error.
static void fail_hold(struct server *server, const struct hold *hold)
{
    struct connection *connection = hold->connection;
    output_hold_fail(&connection->output, &hold->output);
    for (uint32_t i = 0; i < hold->output.replies; i++) {
        connection->protocol->refuse(connection, NULL, &server->store_why);
    }
    server->figures.errors += hold->output.replies;
    if (output_hold_failed(&connection->output)) {
        connection_flush(connection);
    }
}

static void release_hold(struct connection *connection, const struct hold *hold)
{
    output_hold_release(&connection->output, &hold->output);
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
        if (connection->closed) {
            output_hold_forget(&connection->output, &hold.output);
        } else if (hold.group > durable) {
            fail_hold(server, &hold);
        } else {
            release_hold(connection, &hold);
        }
        connection_replies_settled(connection);
    }
}

void commit_forget(struct server *server)
{
    struct commit *commit = &server->commit;
    while (commit->count) {
        struct hold hold = take_first(commit);
        output_hold_forget(&hold.connection->output, &hold.output);
        connection_replies_settled(hold.connection);
    }
}
