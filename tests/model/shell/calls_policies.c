// SPDX-License-Identifier: MIT
// Calls: policies of klasses and queues.
#include "arguments.h"
#include "engine/config/policy.h"
#include "member.h"
#include "options.h"
#include "shell.h"
#include "words.h"

static enum status call_policy_set(struct shell *shell)
{
    const struct job_options options = arg_options(shell->request);
    return engine_policy_set(
        shell->engine, shell->now_us,
        (enum policy_scope)arg_word(shell->request, "scope", words_policy_scope),
        arg_text(shell->request, "name"), &options, &shell->error);
}

static enum status call_policies(struct shell *shell)
{
    struct json_writer *out = &shell->out;
    struct policy_view view;
    json_write_begin_array(out);
    for (size_t i = 0; engine_policy_at(shell->engine, i, &view); i++) {
        json_write_begin_object(out);
        member_word(out, "scope", words_policy_scope[view.scope]);
        member_text(out, "name", view.name);
        member_key(out, "options");
        write_options(out, &view.options);
        json_write_end_object(out);
    }
    json_write_end_array(out);
    return STATUS_OK;
}

const struct call calls_policies[] = {
    { "policy_set", call_policy_set },
    { "policies", call_policies },
    { NULL, NULL },
};
