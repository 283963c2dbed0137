// SPDX-License-Identifier: MIT
#include "cli/core/call.h"
#include "cli/core/progress.h"
#include "cli/core/sets.h"
#include "cli/core/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The absolute path; NULL: the user was told why there is none. The working directory of a server
// is not known here.
static char *from_root(const struct tool *tool, const char *path)
{
    if (path[0] == '/') {
        return tool_copy(path, strlen(path));
    }
    if (!url_is_folder(tool->url)) {
        (void)tool_misuse(tool, "PATH is on the server's machine, and so must be absolute: %s",
                          path);
        return NULL;
    }
    char *here = getcwd(NULL, 0);
    char *whole = here ? tool_format("%s/%s", here, path) : NULL;
    if (!here) {
        tool_complain("the folder that %s is in cannot be told: %s", path, strerrordesc_np(errno));
    }
    free(here);
    return whole;
}

// It takes as long as it takes.
static int backup_run(struct tool *tool)
{
    static const struct call done = { .form = CALL_SAID, .said = "backed up to" };
    struct sluice_error error = { 0 };
    int code = tool_connect(tool, &SLUICE_OPEN(.timeout = SLUICE_FOREVER), &tool->queue);
    char *path = code ? NULL : from_root(tool, tool->arguments[0]);
    if (!path) {
        return code ? code : EXIT_USAGE;
    }
    struct words words = { 0 };
    words_add(&words, "Q.BACKUP");
    words_add(&words, path);
    struct sluice_value *answer;
    struct stopwatch *stopwatch = stopwatch_start(tool, "backing up");
    enum sluice_status status =
        sluice_call(tool->queue, words.items, NULL, words.count, &answer, &error);
    stopwatch_stop(stopwatch);
    code = status ? tool_refuse(&error) : call_show(tool, &done, answer);
    sluice_value_free(status ? NULL : answer);
    return code;
}

static const struct tool_command commands[] = {
    { .name = "backup",
      .group = "Looking after it",
      .arguments = "PATH",
      ONE,
      .run = backup_run,
      .offline = true,
      .summary = "Makes a copy of all that is stored, while the server goes on",
      .details =
          "PATH is a folder that is not there yet: on the server's machine an absolute path, with "
          "--url file: one from here. It can be opened as a store, by a server or with --url "
          "file:PATH.",
      .examples = EXAMPLES({ "sluice backup /var/backups/sluice-1", NULL }) },
};
const struct tool_set backup_set = SET(commands);
