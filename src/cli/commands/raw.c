// SPDX-License-Identifier: MIT
// Any command of the queue in its own words.
#include "cli/core/call.h"
#include "cli/core/sets.h"

static int call_raw_run(struct tool *tool)
{
    struct sluice_value *answer;
    const struct words words = { (const char **)tool->arguments, tool->argument_count };
    int code = words_call(tool, &words, &answer);
    if (!code && !tool->json && sluice_value_type(answer) == SLUICE_TEXT) {
        print(stdout, "%s\n", sluice_value_text(answer, NULL));
    } else if (!code) {
        code = tool_print_json_names(answer);
    }
    sluice_value_free(answer);
    return code;
}

static const struct tool_command commands[] = {
    { .name = "call",
      .group = "The tool",
      .arguments = "WORD...",
      MANY,
      .run = call_raw_run,
      .makes = true,
      .summary = "Runs any command of the queue by its words",
      .details =
          "The namespace is left out of the words. A text is printed as it is, anything else as "
          "JSON.",
      .examples =
          EXAMPLES({ "sluice call Q.LENGTH mail", NULL }, { "sluice call Q.HELP Q.PUT", NULL }) },
};
const struct tool_set tool_call_set = SET(commands);
