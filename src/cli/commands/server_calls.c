// SPDX-License-Identifier: MIT
// The server: how it is, its connections, its slow commands, its users; to drain, reload and stop it.
#include "cli/core/call.h"
#include "cli/core/json.h"
#include "cli/core/moment.h"
#include "cli/core/sets.h"
#include "cli/core/steady.h"
#include "cli/core/table.h"
#include "cli/core/url.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAIR_WIDTH = 11,
    CLIENT_FIELDS = 8,
    SLOW_FIELDS = 6,
};

// ---------------------------------------------------------------------------------------------
// Whether it is there, and how it is

static int ping_run(struct tool *tool)
{
    struct sluice_value *answer;
    double start = steady_now();
    int code = call_words(tool, "PING", &answer);
    double seconds = steady_now() - start;
    char length[MOMENT_SIZE];
    length_format(seconds, length);
    if (!code && tool->json) {
        print(stdout, "{\"seconds\":%.9f}\n", seconds);
    } else if (!code) {
        print(stdout, "%s answers in %s\n", url_to_show(tool->url), length);
    }
    sluice_value_free(answer);
    return code;
}

static const char *text_at(const struct sluice_value *map, const char *path)
{
    const char *text = sluice_value_text(value_at(map, path), NULL);
    return text ? text : "-";
}

static char *bytes_text(double bytes)
{
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
    size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        unit++;
    }
    return tool_format("%.*f %s", unit && bytes < 100 ? 1 : 0, bytes, units[unit]);
}

static void pair(const struct tool *tool, const char *name, char *text)
{
    table_print_pair(tool, PAIR_WIDTH, name, text);
    tool_free(text);
}

static char *store_text(const struct sluice_value *server)
{
    const char *reason = sluice_value_text(value_at(server, "store/reason"), NULL);
    const char *hint = sluice_value_text(value_at(server, "store/hint"), NULL);
    return tool_format("%s%s%s%s%s", text_at(server, "store/state"), reason ? ": " : "",
                       reason ? reason : "", hint ? "; " : "", hint ? hint : "");
}

static char *memory_text(const struct sluice_value *server)
{
    double limit = sluice_value_number(value_at(server, "memory/limit"));
    char *used = bytes_text(sluice_value_number(value_at(server, "memory/used")));
    char *most = limit > 0 ? bytes_text(limit) : tool_copy("any number", 10);
    char *text = tool_format("%s of %s", used, most);
    tool_free(used);
    tool_free(most);
    return text;
}

static void show_status(const struct tool *tool, const struct sluice_value *server)
{
    char up[MOMENT_SIZE];
    length_format(sluice_value_number(value_at(server, "uptime")), up);
    pair(tool, "server",
         tool_format("sluiced %s at %s", text_at(server, "version"), url_to_show(tool->url)));
    pair(tool, "up",
         tool_format("%s%s", up,
                     sluice_value_boolean(value_at(server, "stopping")) ? ", and stopping" : ""));
    pair(tool, "store", store_text(server));
    pair(tool, "durability", tool_format("%s", text_at(server, "durability")));
    pair(tool, "memory", memory_text(server));
    pair(tool, "connections",
         tool_format("%lld of %lld, %lld waiting for jobs",
                     (long long)sluice_value_integer(value_at(server, "connections/open")),
                     (long long)sluice_value_integer(value_at(server, "connections/limit")),
                     (long long)sluice_value_integer(value_at(server, "connections/waiting"))));
    pair(tool, "namespaces",
         tool_format("%lld", (long long)sluice_value_integer(value_at(server, "namespaces"))));
    if (sluice_value_type(value_at(server, "inside")) == SLUICE_MAP) {
        pair(tool, "process",
             tool_format("%lld",
                         (long long)sluice_value_integer(value_at(server, "inside/process_id"))));
        pair(tool, "config", tool_format("%s", text_at(server, "inside/config_file")));
        pair(tool, "disk free",
             bytes_text(sluice_value_number(value_at(server, "inside/store/volume_free_bytes"))));
    }
}

// A store that takes no changes, and a server that stops, are no good ends for a script.
static int status_run(struct tool *tool)
{
    struct sluice_value *server;
    int code = call_words(tool, "Q.SERVER", &server);
    if (!code && tool->json) {
        code = tool_print_json(server);
    } else if (!code) {
        show_status(tool, server);
    }
    const char *state = text_at(server, "store/state");
    bool well = (!strcmp(state, "ready") || !strcmp(state, "busy")) &&
                !sluice_value_boolean(value_at(server, "stopping"));
    code = code ? code : well ? EXIT_DONE : EXIT_REFUSED;
    sluice_value_free(server);
    return code;
}

// ---------------------------------------------------------------------------------------------
// Connections

static const struct {
    const char *key, *title;
    bool number;
} client_fields[CLIENT_FIELDS] = {
    { "id", "ID", true },        { "addr", "ADDRESS", false }, { "name", "NAME", false },
    { "user", "USER", false },   { "age", "AGE", true },       { "idle", "IDLE", true },
    { "cmd", "COMMAND", false }, { "sub", "CHANNELS", true },
};

// "id=37 addr=127.0.0.1:54046 name= ...": the value of a key, up to the next space.
static char *client_value(const char *line, size_t size, const char *key)
{
    size_t key_size = strlen(key);
    for (const char *at = line; at < line + size;) {
        size_t left = size - (size_t)(at - line);
        const char *space = memchr(at, ' ', left);
        size_t word = space ? (size_t)(space - at) : left;
        if (word > key_size && !strncmp(at, key, key_size) && at[key_size] == '=') {
            return text_clean(at + key_size + 1, word - key_size - 1);
        }
        at += word + 1;
    }
    return tool_copy("", 0);
}

static void show_client(const struct tool *tool, struct table *table, const char *line, size_t size)
{
    char *cells[CLIENT_FIELDS];
    for (size_t i = 0; i < CLIENT_FIELDS; i++) {
        cells[i] = client_value(line, size, client_fields[i].key);
        if (!tool->json) {
            continue;
        }
        print(stdout, "%s\"%s\":", i ? "," : "{", client_fields[i].key);
        if (client_fields[i].number) {
            print(stdout, "%s", *cells[i] ? cells[i] : "null");
        } else {
            json_write_text(stdout, cells[i]);
        }
    }
    if (tool->json) {
        print(stdout, "}\n");
    } else {
        table_add_cells(table, cells);
    }
    for (size_t i = 0; i < CLIENT_FIELDS; i++) {
        tool_free(cells[i]);
    }
}

static struct table *client_table(const struct tool *tool)
{
    char *columns = tool_copy("", 0);
    for (size_t i = 0; i < CLIENT_FIELDS; i++) {
        columns = tool_format("%s%s%s=%s:%c", columns, i ? " " : "", client_fields[i].title,
                              client_fields[i].key, 'n');
    }
    return table_new(tool, columns);
}

static int clients_run(struct tool *tool)
{
    struct sluice_value *answer;
    int code = call_words(tool, "CLIENT LIST", &answer);
    const char *text = sluice_value_text(answer, NULL);
    struct table *table = client_table(tool);
    for (const char *line = text; line && *line;) {
        size_t size = strcspn(line, "\n");
        if (size) {
            show_client(tool, table, line, size);
        }
        line += size + (line[size] ? 1 : 0);
    }
    table_finish(tool, table);
    sluice_value_free(answer);
    return code;
}

// ---------------------------------------------------------------------------------------------
// Slow commands

// `entry` is [id, when, microseconds, [word, ...], address, name].
static void show_slow(const struct tool *tool, struct table *table,
                      const struct sluice_value *entry)
{
    double when = sluice_value_number(sluice_value_at(entry, 1));
    double took = (double)sluice_value_integer(sluice_value_at(entry, 2)) / 1e6;
    const char *address = sluice_value_text(sluice_value_at(entry, 4), NULL);
    const char *name = sluice_value_text(sluice_value_at(entry, 5), NULL);
    char *words = value_list_text(sluice_value_at(entry, 3), " ");
    if (tool->json) {
        print(stdout, "{\"id\":%lld,\"when\":%.0f,\"took\":%.6f,\"words\":",
              (long long)sluice_value_integer(sluice_value_at(entry, 0)), when, took);
        char *list = sluice_value_json(sluice_value_at(entry, 3));
        print(stdout, "%s,\"address\":", list ? list : "[]");
        sluice_free(list);
        json_write_text(stdout, address ? address : "");
        print(stdout, ",\"name\":");
        json_write_text(stdout, name ? name : "");
        print(stdout, "}\n");
    } else {
        char moment[MOMENT_SIZE], length[MOMENT_SIZE];
        moment_show(when, tool->times, moment);
        length_format(took, length);
        char *id = tool_format("%lld", (long long)sluice_value_integer(sluice_value_at(entry, 0)));
        char *cells[SLOW_FIELDS] = { id,
                                     moment,
                                     length,
                                     text_clean(address ? address : "",
                                                strlen(address ? address : "")),
                                     text_clean(name ? name : "", strlen(name ? name : "")),
                                     words };
        table_add_cells(table, cells);
        tool_free(cells[3]);
        tool_free(cells[4]);
        tool_free(id);
    }
    tool_free(words);
}

static int slowlog_run(struct tool *tool)
{
    const char *count = tool_given(tool, "count");
    char *words = tool_format("SLOWLOG GET %s", count ? count : "25");
    struct sluice_value *answer;
    int code = call_words(tool, words, &answer);
    struct table *table = table_new(tool, "ID WHEN TOOK ADDRESS NAME COMMAND:j");
    for (size_t i = 0; i < sluice_value_count(answer); i++) {
        show_slow(tool, table, sluice_value_at(answer, i));
    }
    table_finish(tool, table);
    if (!code && !sluice_value_count(answer)) {
        tool_complain("no command was slow");
    }
    sluice_value_free(answer);
    tool_free(words);
    return code;
}

static const struct option slow_options[] = {
    { .name = "count",
      .letter = 'n',
      .type = OPTION_INTEGER,
      .value = "N",
      .minimum = 1,
      .maximum = 100000,
      .summary = "how many at most, the newest (25)" },
};

// ---------------------------------------------------------------------------------------------
// Stopping

// The server answers with the end of the connection.
static int shutdown_run(struct tool *tool)
{
    static const char *const words[] = { "SHUTDOWN" };
    struct sluice_error error = { 0 };
    struct sluice_value *answer = NULL;
    int code = tool_confirm(tool, "Stop the server?");
    if (code) {
        return code;
    }
    enum sluice_status status = sluice_call(tool->queue, words, NULL, 1, &answer, &error);
    sluice_value_free(status ? NULL : answer);
    if (status && status != SLUICE_UNKNOWN) {
        return call_refuse(tool, &error);
    }
    print(stdout, "stopped\n");
    return EXIT_DONE;
}

static const struct option shutdown_options[] = { YES_OPTION };

// ---------------------------------------------------------------------------------------------
// Users

static const struct option user_options[] = {
    { .name = "hash",
      .type = OPTION_TEXT,
      .value = "HASH",
      .word = "PASSWORD",
      .summary = "the password's hash, as `sluiced --hash-password` prints it; not a password: "
                 "every user of this machine can read the command line" },
    { .name = "right",
      .letter = 'r',
      .type = OPTION_TEXTS,
      .value = "RIGHT",
      .word = "RIGHT",
      .summary = "NAMESPACE[/QUEUE]:RIGHT[+RIGHT]; may come again. All rights are replaced" },
};

static const struct option audit_options[] = {
    { .name = "count",
      .letter = 'n',
      .type = OPTION_INTEGER,
      .value = "N",
      .word = "COUNT",
      .summary = "how many at most, up to 1000 (100)" },
    { .name = "before",
      .type = OPTION_INTEGER,
      .value = "ID",
      .word = "BEFORE",
      .summary = "only entries before this one" },
    { .name = "kind",
      .type = OPTION_TEXT,
      .value = "KIND",
      .word = "KIND",
      .choices = "act|denied|login",
      .summary = "only entries of that kind" },
    { .name = "namespace",
      .type = OPTION_TEXT,
      .value = "NAME",
      .word = "NAMESPACE",
      .summary = "only entries about that namespace" },
    { .name = "user",
      .type = OPTION_TEXT,
      .value = "NAME",
      .word = "USER",
      .summary = "only entries of that user" },
    { .name = "command",
      .type = OPTION_TEXT,
      .value = "NAME",
      .word = "COMMAND",
      .summary = "only entries about that command" },
};

static int drain_run(struct tool *tool)
{
    bool off = tool_given(tool, "off");
    struct sluice_value *answer;
    int code = call_words(tool, off ? "Q.DRAIN OFF" : "Q.DRAIN", &answer);
    if (!code) {
        print(stdout, off ? "new jobs are accepted\n" : "no new jobs are accepted\n");
    }
    sluice_value_free(answer);
    return code;
}

static const struct option drain_options[] = {
    { .name = "off", .type = OPTION_FLAG, .summary = "accepts new jobs again" },
};

static const struct tool_command commands[] = {
    { .name = "status",
      .group = "The server",
      .arguments = "",
      .run = status_run,
      .summary = "Shows how the server is",
      .details = "The exit code is 1 when its store takes no changes or the server stops." },
    { .name = "ping",
      .group = "The server",
      .arguments = "",
      .run = ping_run,
      .summary = "Asks the server for an answer, and shows how long it took",
      .examples = EXAMPLES({ "sluice ping --wait-for-server --timeout 30s",
                             "waits until a server that was started is up" }) },
    { .name = "clients list",
      .group = "The server",
      .arguments = "",
      .run = clients_run,
      .summary = "Lists the connections",
      .primary = true },
    { .name = "clients kill",
      .group = "The server",
      .arguments = "ID",
      ONE,
      CALL(.words = "CLIENT KILL ID", .form = CALL_COUNT, .said = "killed",
           .missing = "there is no such connection"),
      .summary = "Closes a connection" },
    { .name = "slowlog list",
      .group = "The server",
      .arguments = "",
      OPTIONS(slow_options),
      .run = slowlog_run,
      .summary = "Lists the commands that took long, the newest first",
      .details = "Longer than the server's setting slow-command.",
      .primary = true },
    { .name = "slowlog reset",
      .group = "The server",
      .arguments = "",
      CALL(.words = "SLOWLOG RESET", .form = CALL_SAID, .said = "reset"),
      .summary = "Empties the list of slow commands" },
    { .name = "drain",
      .group = "The server",
      .arguments = "",
      OPTIONS(drain_options),
      .run = drain_run,
      .summary = "Lets the server accept no new jobs, while work on present ones goes on" },
    { .name = "reload",
      .group = "The server",
      .arguments = "",
      CALL(.words = "Q.RELOAD", .form = CALL_SAID, .said = "reloaded"),
      .summary = "Lets the server read its config file again",
      .details = "What cannot change while the server runs stays as it is, and its log says so." },
    { .name = "shutdown",
      .group = "The server",
      .arguments = "",
      OPTIONS(shutdown_options),
      .run = shutdown_run,
      .summary = "Stops the server",
      .details = "It answers what was asked for, and ends. Jobs stay; a worker that holds one "
                 "goes on with it when the server is back." },
    { .name = "whoami",
      .group = "The server",
      .arguments = "",
      CALL(.words = "Q.WHOAMI", .form = CALL_RECORD, .of_server = true),
      .summary = "Shows which user this is, and its rights" },
    { .name = "users list",
      .group = "The server",
      .arguments = "",
      CALL(.words = "Q.USERS", .form = CALL_LIST, .columns = "user stored rights",
           .missing = "there are no users: every client may do everything", .of_server = true),
      .summary = "Lists the users and their rights",
      .primary = true },
    { .name = "users set",
      .group = "The server",
      .arguments = "NAME",
      ONE,
      OPTIONS(user_options),
      CALL(.words = "Q.USER.SET", .form = CALL_SAID, .said = "set"),
      .summary = "Adds a user, or changes one that was added so",
      .examples = EXAMPLES({ "sluice users set shop --right 'app/mail-*:put' --hash \"$(sluiced "
                             "--hash-password)\"",
                             NULL }) },
    { .name = "users remove",
      .group = "The server",
      .arguments = "NAME",
      ONE,
      CALL(.words = "Q.USER.DEL", .form = CALL_SAID, .said = "removed"),
      .summary = "Removes a user that `users set` has added" },
    { .name = "audit",
      .group = "The server",
      .arguments = "",
      OPTIONS(audit_options),
      CALL(.words = "Q.AUDIT", .form = CALL_LIST,
           .columns = "id at:t kind user address namespace command outcome arguments:j",
           .missing = "there are no such entries", .of_server = true),
      .summary = "Lists what administrators did, and what was refused, the newest first" },
};
const struct tool_set server_call_set = SET(commands);
