// SPDX-License-Identifier: MIT
// Calls: configuration.
#include "arguments.h"
#include "shell.h"
#include "views.h"

static enum status call_config_get(struct shell *shell)
{
    json_write_string(&shell->out,
                      engine_config_get(shell->engine, arg_text(shell->request, "option")));
    return STATUS_OK;
}

static enum status call_config_all(struct shell *shell)
{
    write_config(shell);
    return STATUS_OK;
}

static enum status call_config_set(struct shell *shell)
{
    return engine_config_set(shell->engine, shell->now_us, arg_text(shell->request, "option"),
                             arg_text(shell->request, "value"), &shell->error);
}

static enum status call_config_unset(struct shell *shell)
{
    return engine_config_unset(shell->engine, shell->now_us, arg_text(shell->request, "option"),
                               &shell->error);
}

const struct call calls_config[] = {
    { "config_get", call_config_get },
    { "config_all", call_config_all },
    { "config_set", call_config_set },
    { "config_unset", call_config_unset },
    { NULL, NULL },
};
