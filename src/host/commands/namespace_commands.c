// SPDX-License-Identifier: MIT
// Commands that list, create and delete namespaces.
#include "api/table.h"
#include "engine/measure/metrics.h"
#include "host/commands/services.h"

struct name_arguments {
    struct slice name;
    int64_t clock;
};

static size_t count_queues(const struct engine *engine)
{
    size_t count = 0;
    struct slice name;
    while (engine_queue_name(engine, count, &name)) {
        count++;
    }
    return count;
}

static void write_namespace(struct reply *reply, const struct ns *ns)
{
    reply_map(reply, 6);
    reply_key(reply, "name");
    reply_text(reply, ns_name(ns));
    reply_key(reply, "clock");
    reply_text(reply, ns->clock == ENGINE_CLOCK_CLIENT ? SLICE("client") : SLICE("server"));
    reply_key(reply, "qless");
    reply_boolean(reply, ns->qless != 0);
    reply_key(reply, "queues");
    reply_count(reply, count_queues(ns->engine));
    reply_key(reply, "clients_waiting");
    reply_count(reply, ns->waiting.count);
    reply_key(reply, "jobs");
    reply_map(reply, JOB_STATE_COUNT);
    for (int state = 0; state < JOB_STATE_COUNT; state++) {
        const struct count_filter filter = { .has_state = true, .state = (enum job_state)state };
        reply_text(reply, slice_from_cstr(job_state_name(filter.state)));
        reply_count(reply, engine_count(ns->engine, &filter));
    }
    reply_end(reply);
    reply_end(reply);
}

static enum status run_namespaces(struct call *call, struct error *error)
{
    (void)error;
    const struct services *services = services_of(call);
    size_t count = 0;
    for (const struct ns *ns = services->namespaces->first; ns; ns = ns->next) {
        count += services->may_see(call->session, ns_name(ns));
    }
    reply_list(call->reply, count);
    for (const struct ns *ns = services->namespaces->first; ns; ns = ns->next) {
        if (services->may_see(call->session, ns_name(ns))) {
            write_namespace(call->reply, ns);
        }
    }
    reply_end(call->reply);
    return STATUS_OK;
}

static const char *const clock_words[] = { "server", "client", NULL };

static const struct argument create_takes[] = {
    ARGUMENT(name_arguments, name, NAME, "name", "its name", .member = "ns"),
    OPTION(name_arguments, clock, WORD, "CLOCK",
           "whose clock rules: the server's, or as in qless the clients' (server)",
           .words = clock_words),
};

static enum status run_create(struct call *call, struct error *error)
{
    const struct services *services = services_of(call);
    const struct name_arguments *given = call->arguments;
    enum status status = services->check_admin(call->session, given->name, error);
    struct ns *ns;
    if (!status) {
        status =
            namespaces_create(services->namespaces, given->name,
                              given->clock ? ENGINE_CLOCK_CLIENT : ENGINE_CLOCK_SERVER, &ns, error);
    }
    return call_ok(call, status);
}

static const struct argument delete_takes[] = {
    ARGUMENT(name_arguments, name, NAME, "name", "its name", .member = "ns"),
};

static enum status run_delete(struct call *call, struct error *error)
{
    const struct services *services = services_of(call);
    const struct name_arguments *given = call->arguments;
    enum status status = services->check_admin(call->session, given->name, error);
    if (!status) {
        status = namespaces_delete(services->namespaces, given->name, error);
    }
    return call_ok(call, status);
}

static const struct command commands[] = {
    {
        .name = "Q.NAMESPACES",
        .group = "namespaces",
        .flags = COMMAND_CONNECTION | COMMAND_READS,
        .run = run_namespaces,
        .summary = "Shows the namespaces that the user may read.",
        .replies = "A list of maps, in the order in which they were made.",
        EXAMPLES({ "Q.NAMESPACES",
                   "1) 1# \"name\" => \"app\"\n   2# \"clock\" => \"server\"\n   3# \"qless\" => "
                   "(false)\n   4# \"queues\" => (integer) 2\n   5# \"clients_waiting\" => "
                   "(integer) 0\n   6# \"jobs\" =>\n      1# \"scheduled\" => (integer) 0\n      "
                   "..." }),
    },
    {
        .name = "Q.NAMESPACE.CREATE",
        .group = "namespaces",
        .flags = COMMAND_CONNECTION | COMMAND_WRITES | COMMAND_AUDITED,
        TAKES(name_arguments, create_takes),
        .run = run_create,
        .summary = "Creates a namespace.",
        .details = "Needs the right to administer it. Unless the setting create-namespaces is off, "
                   "one is also made by the first command that writes to it.",
        .replies = "OK; EXISTS when there is one of that name.",
        EXAMPLES({ "Q.NAMESPACE.CREATE app", "OK" }),
    },
    {
        .name = "Q.NAMESPACE.DELETE",
        .group = "namespaces",
        .flags = COMMAND_CONNECTION | COMMAND_WRITES | COMMAND_SHRINKS | COMMAND_AUDITED,
        TAKES(name_arguments, delete_takes),
        .run = run_delete,
        .summary = "Deletes a namespace with all that is in it.",
        .details = "Needs the right to administer it. Those who wait in it get an error.",
        .replies = "OK.",
        EXAMPLES({ "Q.NAMESPACE.DELETE app", "OK" }),
    },
};

const struct command_table host_namespace_commands = TABLE(commands);
