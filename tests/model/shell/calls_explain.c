// SPDX-License-Identifier: MIT
// Calls: why a job is not running.
#include "arguments.h"
#include "engine/explain/explain.h"
#include "member.h"
#include "shell.h"
#include "views.h"

#include <string.h>

// The sentence is for people and not compared; but it has to be one.
static void check_sentence(const struct explanation *explanation)
{
    const char *sentence = explanation->sentence;
    size_t size = strnlen(sentence, EXPLAIN_SENTENCE_SIZE);
    if (size == 0 || size == EXPLAIN_SENTENCE_SIZE || sentence[size - 1] != '.') {
        die("not a sentence", explain_reason_name(explanation->reason));
    }
}

static void write_explanation(struct shell *shell, struct explanation *explanation)
{
    struct json_writer *out = &shell->out;
    json_write_begin_object(out);
    member_word(out, "reason", explain_reason_name(explanation->reason));
    member_word(out, "state", job_state_name(explanation->state));
    member_uint(out, "behind", explanation->behind);
    member_int(out, "until_us", explanation->until_us);
    member_int(out, "earliest_us", explanation->earliest_us);
    member_text(out, "queue", explanation->queue);
    member_text(out, "domain", explanation->domain);
    member_text(out, "worker", explanation->worker);
    member_text(out, "group", explanation->group);
    member_uint(out, "attempts", explanation->attempts);
    member_key(out, "blockers");
    write_jobs(shell, explanation->blockers, explanation->blocker_count, false);
    json_write_end_object(out);
}

static enum status call_explain(struct shell *shell)
{
    struct explanation explanation;
    enum status status = engine_explain(
        shell->engine, shell->now_us, arg_text(shell->request, "jid"), &explanation, &shell->error);
    if (status == STATUS_OK) {
        check_sentence(&explanation);
        write_explanation(shell, &explanation);
    }
    return status;
}

const struct call calls_explain[] = {
    { "explain", call_explain },
    { NULL, NULL },
};
