// SPDX-License-Identifier: MIT
// What happens in a namespace, as it happens.
#include "cli/core/json.h"
#include "cli/core/moment.h"
#include "cli/core/sets.h"
#include "cli/core/table.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct events_options {
    bool tracked;
    const char *worker;
    int64_t count;
};

static const struct option events_options[] = {
    { .name = "tracked",
      .letter = 't',
      .type = OPTION_FLAG,
      .offset = offsetof(struct events_options, tracked),
      .summary = "only of tracked jobs" },
    { .name = "worker",
      .letter = 'w',
      .type = OPTION_TEXT,
      .value = "NAME",
      .offset = offsetof(struct events_options, worker),
      .summary = "only what this worker should know of its jobs" },
    { .name = "count",
      .letter = 'n',
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = offsetof(struct events_options, count),
      .minimum = 1,
      .maximum = INT64_MAX,
      .summary = "ends after so many" },
};

static struct sluice *interrupted;

static void interrupt(int number)
{
    (void)number;
    sluice_interrupt(interrupted, true);
}

static char *field_text(const struct json_fields *fields, const char *key)
{
    const char *raw = json_fields_get(fields, key);
    char *text = raw ? json_text(raw) : NULL;
    return text ? text : raw ? tool_copy(raw, strlen(raw)) : NULL;
}

// "2026-11-16 17:14:13Z completed  ann queue=mail worker=w1".
static void show_event(const char *event)
{
    struct json_fields fields;
    if (json_fields_read(&fields, event)) {
        print(stdout, "%s\n", event);
        return;
    }
    char when[MOMENT_SIZE] = "";
    char *kind = field_text(&fields, "event");
    const char *moment = json_fields_get(&fields, "when");
    if (moment) {
        moment_format(strtod(moment, NULL), when);
    }
    print(stdout, "%-20s  %-9s", when, kind ? kind : "-");
    for (size_t i = 0; i < fields.count; i++) {
        const char *key = fields.items[i].key;
        if (!strcmp(key, "event") || !strcmp(key, "when")) {
            continue;
        }
        char *text = field_text(&fields, key);
        char *clean = text_clean(text, strlen(text));
        print(stdout, strcmp(key, "jid") != 0 ? " %s=%s" : " %.0s%s", key, clean);
        tool_free(clean);
        tool_free(text);
    }
    print(stdout, "\n");
    tool_free(kind);
    json_fields_free(&fields);
}

static int follow(const struct tool *tool, struct sluice_events *events)
{
    const struct events_options *options = tool->options;
    struct sluice_error error = { 0 };
    const char *event;
    for (int64_t seen = 0; !options->count || seen < options->count; seen++) {
        enum sluice_status status = sluice_events_next(events, SLUICE_FOREVER, &event, &error);
        if (status == SLUICE_INTERRUPTED) {
            return EXIT_DONE;
        }
        if (status) {
            return tool_refuse(&error);
        }
        if (tool->json) {
            print(stdout, "%s\n", event);
        } else {
            show_event(event);
        }
        // A reader wants each event now. Output that fails ends it, and is told at the end.
        if (fflush(stdout)) {
            return EXIT_DONE;
        }
    }
    return EXIT_DONE;
}

static int events_run(struct tool *tool)
{
    const struct events_options *options = tool->options;
    if (options->tracked && options->worker) {
        return tool_misuse(tool, "--tracked and --worker do not go together");
    }
    const char *channel = options->tracked  ? "tracked"
                          : options->worker ? tool_format("worker:%s", options->worker)
                                            : "log";
    struct sluice_events *events;
    struct sluice_error error = { 0 };
    if (sluice_listen(tool->queue, channel, &events, &error)) {
        return tool_refuse(&error);
    }
    interrupted = tool->queue;
    struct sigaction action = { .sa_handler = interrupt };
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    int code = follow(tool, events);
    sluice_events_free(events);
    return code;
}

static const struct tool_command commands[] = {
    { .name = "events",
      .group = "Looking after it",
      .arguments = "",
      OPTIONS(events_options),
      .options_size = sizeof(struct events_options),
      .run = events_run,
      .summary = "Follows what happens, until Ctrl-C",
      .details =
          "With --json there is a line for each event. `gap` says that some may be missing: the "
          "connection was lost, or the reader too slow." },
};
const struct tool_set event_set = SET(commands);
