// SPDX-License-Identifier: MIT
// Whether a folder or a server is in order, and how to mend it.
#include "cli/core/call.h"
#include "cli/core/json.h"
#include "cli/core/progress.h"
#include "cli/core/sets.h"
#include "cli/core/table.h"
#include "cli/core/url.h"

#include <stdlib.h>
#include <string.h>

struct doctor_options {
    bool repair, force, yes;
};

static const struct option doctor_options[] = {
    { .name = "repair",
      .letter = 'r',
      .type = OPTION_FLAG,
      .offset = offsetof(struct doctor_options, repair),
      .summary = "mends what can be mended" },
    { .name = "force",
      .type = OPTION_FLAG,
      .offset = offsetof(struct doctor_options, force),
      .summary = "checks a namespace of any size; the server runs nothing else until it is done" },
    YES_OPTION,
};

// ---------------------------------------------------------------------------------------------
// A folder

struct findings {
    const struct tool *tool;
    struct progress progress;
    size_t count;
};

static void hear(void *context, bool bad, double share, const char *sentence)
{
    struct findings *findings = context;
    if (!sentence) {
        progress_bar(&findings->progress, "looking", share);
        return;
    }
    progress_end(&findings->progress);
    if (findings->tool->json) {
        print(stdout, "%s{\"bad\":%s,\"sentence\":", findings->count ? "," : "",
              bad ? "true" : "false");
        json_write_text(stdout, sentence);
        print(stdout, "}");
    } else {
        print(stdout, "%s%s\n", bad ? "bad: " : "", sentence);
    }
    findings->count++;
}

// "file:PATH?..." without what stands around the path.
static const char *folder_of(const struct tool *tool)
{
    if (tool->argument_count) {
        return tool->arguments[0];
    }
    if (!url_is_folder(tool->url)) {
        return NULL;
    }
    const char *path = tool->url + 5;
    path += strncmp(path, "//", 2) ? 0 : 2;
    return tool_copy(path, strcspn(path, "?"));
}

static int end_folder(const struct findings *findings, const char *path, enum sluice_status status,
                      const struct sluice_error *error)
{
    bool sound = !status;
    if (findings->tool->json) {
        print(stdout, "],\"sound\":%s}\n", sound ? "true" : "false");
    } else if (sound) {
        print(stdout, "%s is sound\n", path);
    }
    return sound ? EXIT_DONE : tool_refuse(error);
}

static int examine_folder(struct tool *tool, const char *path)
{
    const struct doctor_options *options = tool->options;
    struct findings findings = { .tool = tool };
    struct sluice_error error = { 0 };
    if (options->repair) {
        char *question =
            tool_format("Save what can be read of %s into a new folder in its place, and "
                        "keep the old one as %s.damaged?",
                        path, path);
        int answer = tool_confirm(tool, question);
        if (answer) {
            return answer;
        }
    }
    progress_init(&findings.progress, tool);
    if (tool->json) {
        print(stdout, "{\"path\":");
        json_write_text(stdout, path);
        print(stdout, ",\"findings\":[");
    }
    enum sluice_status status = sluice_doctor(path, options->repair ? SLUICE_REPAIR : SLUICE_CHECK,
                                              hear, &findings, &error);
    progress_end(&findings.progress);
    return end_folder(&findings, path, status, &error);
}

// ---------------------------------------------------------------------------------------------
// A server

// "name:value" of an INFO, or NULL.
static char *info_line(const char *info, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = info; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        if (!strncmp(at, name, size) && at[size] == ':') {
            return tool_copy(at + size + 1, strcspn(at + size + 1, "\r\n"));
        }
    }
    return NULL;
}

// What a server says of itself; not all have INFO.
static void show_server(const struct tool *tool)
{
    static const char *const names[] = { "sluice_version", "uptime_in_seconds", "connected_clients",
                                         "used_memory_human" };
    const char *words[] = { "INFO", "everything" };
    struct sluice_value *info = NULL;
    if (sluice_call(tool->queue, words, NULL, 2, &info, NULL)) {
        return;
    }
    const char *text = sluice_value_text(info, NULL);
    for (size_t i = 0; text && i < sizeof names / sizeof *names; i++) {
        char *value = info_line(text, names[i]);
        if (value) {
            table_print_pair(tool, 17, names[i], value);
        }
    }
    sluice_value_free(info);
}

static int show_check(const struct tool *tool, const struct sluice_value *check)
{
    int64_t broken = sluice_value_integer(sluice_value_get(check, "broken"));
    if (tool->json) {
        int code = tool_print_json(check);
        return code ? code : broken ? EXIT_REFUSED : EXIT_DONE;
    }
    const struct sluice_value *sentences = sluice_value_get(check, "sentences");
    for (size_t i = 0; i < sluice_value_count(sentences); i++) {
        char *text = value_text(sluice_value_at(sentences, i), NULL);
        print(stdout, "bad: %s\n", text);
        tool_free(text);
    }
    if (broken) {
        tool_complain("%lld invariants of the namespace %s are broken", (long long)broken,
                      sluice_namespace(tool->queue));
        return EXIT_REFUSED;
    }
    print(stdout, "the namespace %s is sound\n", sluice_namespace(tool->queue));
    return EXIT_DONE;
}

static int check_namespace(struct tool *tool)
{
    const struct doctor_options *options = tool->options;
    struct sluice_value *answer;
    int code = call_words(tool, "PING", &answer);
    if (code) {
        return code;
    }
    sluice_value_free(answer);
    if (!tool->json) {
        show_server(tool);
    }
    const char *words = options->force ? options->repair ? "Q.CHECK REPAIR FORCE" : "Q.CHECK FORCE"
                        : options->repair ? "Q.CHECK REPAIR"
                                          : "Q.CHECK";
    code = call_words(tool, words, &answer);
    code = code ? code : show_check(tool, answer);
    sluice_value_free(answer);
    return code;
}

static int examine_server(struct tool *tool)
{
    const struct doctor_options *options = tool->options;
    if (options->repair) {
        int answer = tool_confirm(tool, "Mend what can be mended in the running server?");
        if (answer) {
            return answer;
        }
    }
    int code = tool_connect(tool, NULL, &tool->queue);
    return code ? code : check_namespace(tool);
}

static int doctor_run(struct tool *tool)
{
    const char *folder = folder_of(tool);
    return folder ? examine_folder(tool, folder) : examine_server(tool);
}

static const struct tool_command commands[] = {
    { .name = "doctor",
      .group = "Looking after it",
      .arguments = "[PATH]",
      .arguments_max = 1,
      OPTIONS(doctor_options),
      .options_size = sizeof(struct doctor_options),
      .run = doctor_run,
      .offline = true,
      .summary = "Checks a folder, or a running server, and repairs it",
      .details = "With a PATH, or with a url that is file:PATH, it looks at every byte of a folder "
                 "that no "
                 "process has open. --repair saves what can be read into a new folder in its "
                 "place; the old "
                 "one is kept as PATH.damaged.\n\n"
                 "Otherwise it asks the server how it is, and to compare in the namespace "
                 "everything that is "
                 "derived with what it is derived from. The server runs no other command while "
                 "it compares, and refuses to for a large namespace unless --force is given. To "
                 "check a copy of a large one, use `sluice backup copy`, then `sluice doctor "
                 "copy`. The exit code is 0 when all is in order.",
      .examples =
          EXAMPLES({ "sluice doctor /var/lib/sluice", NULL }, { "sluice doctor --ns app", NULL }) },
};
const struct tool_set doctor_set = SET(commands);
