// SPDX-License-Identifier: MIT
#include "cli/core/call.h"
#include "cli/core/sets.h"

static const struct option create_options[] = {
    { .name = "clock",
      .type = OPTION_TEXT,
      .value = "WHOSE",
      .word = "CLOCK",
      .choices = "server|client",
      .summary = "whose clock rules: the server's, or as in qless the clients' (server)" },
};

static const struct option delete_options[] = { YES_OPTION };

static const struct tool_command commands[] = {
    { .name = "namespaces list",
      .group = "Looking after it",
      .arguments = "",
      CALL(.words = "Q.NAMESPACES", .form = CALL_LIST,
           .columns = "name clock queues clients_waiting jobs/scheduled jobs/depends jobs/waiting "
                      "jobs/running jobs/stalled jobs/complete jobs/failed",
           .missing = "there are no namespaces", .of_server = true),
      .summary = "Lists the namespaces, with how many jobs each has",
      .primary = true },
    { .name = "namespaces create",
      .group = "Looking after it",
      .arguments = "NAME",
      ONE,
      OPTIONS(create_options),
      CALL(.words = "Q.NAMESPACE.CREATE", .form = CALL_SAID, .said = "created"),
      .makes = true,
      .summary = "Makes a namespace" },
    { .name = "namespaces delete",
      .group = "Looking after it",
      .arguments = "NAME",
      ONE,
      OPTIONS(delete_options),
      CALL(.words = "Q.NAMESPACE.DELETE", .form = CALL_SAID, .said = "deleted",
           .question = "Delete the namespace %s with all that is in it?"),
      .summary = "Deletes a namespace with all that is in it" },
    { .name = "clock show",
      .group = "Looking after it",
      .arguments = "",
      CALL(.words = "Q.CLOCK", .form = CALL_RECORD),
      .summary = "Shows the time of the namespace beside the clocks of its host",
      .details = "A namespace whose time lies ahead of its host's stands: nothing falls due until "
                 "the host has caught up, or clock repair sets it right.",
      .primary = true },
    { .name = "clock repair",
      .group = "Looking after it",
      .arguments = "",
      CALL(.words = "Q.CLOCK.REPAIR", .form = CALL_VALUE),
      .summary = "Sets a namespace whose time lies ahead back to its host's time",
      .details = "Prints how many seconds it was ahead; with 0 nothing has changed." },
};
const struct tool_set namespace_set = SET(commands);
