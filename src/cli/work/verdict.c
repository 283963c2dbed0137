// SPDX-License-Identifier: MIT
#include "cli/work/verdict.h"

#include "cli/core/json.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>

static char *copy(const char *text)
{
    return text ? tool_copy(text, strlen(text)) : NULL;
}

void work_verdict_release(struct work_verdict *verdict)
{
    tool_free(verdict->result);
    tool_free(verdict->group);
    tool_free(verdict->message);
    *verdict = (struct work_verdict){ 0 };
}

const char *work_outcome_name(enum work_outcome outcome)
{
    static const char *const names[WORK_OUTCOME_COUNT] = {
        [WORK_OUTCOME_DONE] = "done",         [WORK_OUTCOME_FAILED] = "failed",
        [WORK_OUTCOME_RETRIED] = "retried",   [WORK_OUTCOME_RETURNED] = "returned",
        [WORK_OUTCOME_LOST] = "lost",         [WORK_OUTCOME_CANCELED] = "canceled",
        [WORK_OUTCOME_UNTOLD] = "unreported",
    };
    return names[outcome];
}

// ---------------------------------------------------------------------------------------------
// By how a process ended

// "exit:3", "signal:KILL".
static char *end_name(int status)
{
    if (!WIFSIGNALED(status)) {
        return tool_format("exit:%d", WEXITSTATUS(status));
    }
    const char *name = sigabbrev_np(WTERMSIG(status));
    return name ? tool_format("signal:%s", name) : tool_format("signal:%d", WTERMSIG(status));
}

static bool matches(const struct texts *words, const char *end)
{
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i];
        bool code = strncmp(end, "exit:", 5) == 0 && strcmp(end + 5, word) == 0;
        bool signal = strncmp(end, "signal:", 7) == 0 && strcmp(word, "signal") == 0;
        if (code || signal || strcmp(end, word) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_signal_name(const char *name)
{
    for (int number = 1; number < NSIG; number++) {
        const char *known = sigabbrev_np(number);
        if (known && strcmp(known, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_end(const char *word)
{
    if (strncmp(word, "signal:", 7) == 0) {
        return is_signal_name(word + 7);
    }
    if (strcmp(word, "signal") == 0) {
        return true;
    }
    char *end;
    long code = strtol(word, &end, 10);
    return end != word && *end == '\0' && code > 0 && code < 256 && word[0] >= '1';
}

static const char *check_words(const struct texts *words)
{
    for (size_t i = 0; i < words->count; i++) {
        if (!is_end(words->items[i])) {
            return words->items[i];
        }
    }
    return NULL;
}

const char *work_verdict_rules_check(const struct work_verdict_rules *rules)
{
    const char *wrong = check_words(&rules->retry_on);
    return wrong ? wrong : check_words(&rules->fail_on);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// JSON as it is, without the white space around it; other text as a JSON string; NULL for no text.
static char *result_of(const struct work_output *output)
{
    size_t start = 0, end = output->size;
    while (start < end && is_space(output->data[start])) {
        start++;
    }
    while (end > start && is_space(output->data[end - 1])) {
        end--;
    }
    if (start == end) {
        return NULL;
    }
    if (json_is_valid(output->data + start, end - start)) {
        return tool_copy(output->data + start, end - start);
    }
    size_t size = output->size;
    while (output->data[size - 1] == '\n' || output->data[size - 1] == '\r') {
        size--;
    }
    return json_quote(output->data, size);
}

static struct work_verdict done(const struct work_output *output)
{
    if (output->over) {
        return (struct work_verdict){
            .kind = WORK_VERDICT_FAIL,
            .group = copy("result-too-large"),
            .message = copy("it ended well, but wrote more to standard output than --result-max"),
        };
    }
    return (struct work_verdict){ .kind = WORK_VERDICT_DONE, .result = result_of(output) };
}

// `end` is taken over.
static struct work_verdict undone(const struct work_verdict_rules *rules, char *end, bool retry,
                                  const struct work_tail *tail)
{
    struct work_verdict verdict = { .kind = retry ? WORK_VERDICT_RETRY : WORK_VERDICT_FAIL,
                                    .delay = SLUICE_BACKOFF,
                                    .group = copy(rules->group ? rules->group : end),
                                    .message = work_tail_text(tail) };
    if (!*verdict.message) {
        tool_free(verdict.message);
        verdict.message = tool_format("it ended with %s and wrote nothing to standard error", end);
    }
    tool_free(end);
    return verdict;
}

struct work_verdict work_verdict_of_exit(const struct work_verdict_rules *rules, int status,
                                         const struct work_output *output,
                                         const struct work_tail *tail)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return done(output);
    }
    char *end = end_name(status);
    bool temporary = WIFEXITED(status) && WEXITSTATUS(status) == EX_TEMPFAIL;
    bool retry = matches(&rules->retry_on, end) || (temporary && !matches(&rules->fail_on, end));
    return undone(rules, end, retry, tail);
}

struct work_verdict work_verdict_of_crash(const struct work_verdict_rules *rules, int status,
                                          const struct work_tail *tail)
{
    return undone(rules, end_name(status), true, tail);
}

// ---------------------------------------------------------------------------------------------
// By what a process of a pool answered

static struct work_answer wrong(const char *what)
{
    return (struct work_answer){ .kind = WORK_ANSWER_WRONG, .wrong = copy(what) };
}

static char *member_text(const struct json_fields *fields, const char *key)
{
    const char *raw = json_fields_get(fields, key);
    return raw ? json_text(raw) : NULL;
}

// The raw value is JSON: what begins like a number is one.
static bool number_of(const char *raw, double *out)
{
    *out = strtod(raw, NULL);
    return *raw == '-' || (*raw >= '0' && *raw <= '9');
}

static struct work_answer verdict_answer(struct work_verdict verdict)
{
    return (struct work_answer){ .kind = WORK_ANSWER_VERDICT, .verdict = verdict };
}

static struct work_answer line_answer(enum work_line_kind kind, double fraction, char *text)
{
    if (!text) {
        text = copy("");
    }
    return (struct work_answer){ .kind = WORK_ANSWER_LINE,
                                 .line = { .kind = kind, .fraction = fraction, .text = text },
                                 .text = text };
}

static struct work_answer answer_done(const struct json_fields *fields, const char *raw)
{
    (void)fields;
    return verdict_answer((struct work_verdict){ .kind = WORK_VERDICT_DONE, .result = copy(raw) });
}

static struct work_answer answer_retry(const struct json_fields *fields, const char *raw)
{
    double delay = SLUICE_BACKOFF;
    if (strcmp(raw, "true") != 0 && (!number_of(raw, &delay) || delay < 0)) {
        return wrong("its \"retry\" is neither true nor seconds");
    }
    char *group = member_text(fields, "group");
    return verdict_answer((struct work_verdict){ .kind = WORK_VERDICT_RETRY,
                                                 .delay = delay,
                                                 .group = group ? group : copy("retry"),
                                                 .message = member_text(fields, "message") });
}

static struct work_answer answer_fail(const struct json_fields *fields, const char *raw)
{
    char *group = json_text(raw);
    if (!group || !*group) {
        tool_free(group);
        return wrong("its \"fail\" is no text");
    }
    char *message = member_text(fields, "message");
    return verdict_answer((struct work_verdict){
        .kind = WORK_VERDICT_FAIL, .group = group, .message = message ? message : copy("") });
}

static struct work_answer answer_progress(const struct json_fields *fields, const char *raw)
{
    double fraction;
    if (!number_of(raw, &fraction) || fraction < 0 || fraction > 1) {
        return wrong("its \"progress\" is not from 0 to 1");
    }
    return line_answer(WORK_LINE_PROGRESS, fraction, member_text(fields, "message"));
}

static struct work_answer answer_log(const struct json_fields *fields, const char *raw)
{
    (void)fields;
    char *text = json_text(raw);
    return text ? line_answer(WORK_LINE_LOG, 0, text) : wrong("its \"log\" is no text");
}

static struct work_answer answer_checkpoint(const struct json_fields *fields, const char *raw)
{
    (void)fields;
    char *text = json_text(raw);
    return text ? line_answer(WORK_LINE_CHECKPOINT, 0, text)
                : wrong("its \"checkpoint\" is no text");
}

static struct work_answer read_answer(const struct json_fields *fields, const char *jid)
{
    static const struct {
        const char *key;
        struct work_answer (*read)(const struct json_fields *fields, const char *raw);
    } kinds[] = {
        { "fail", answer_fail },   { "retry", answer_retry },
        { "result", answer_done }, { "progress", answer_progress },
        { "log", answer_log },     { "checkpoint", answer_checkpoint },
    };
    bool named = json_fields_get(fields, "jid") != NULL;
    char *name = member_text(fields, "jid");
    bool other = named && (!name || strcmp(name, jid) != 0);
    tool_free(name);
    if (other) {
        return wrong("its \"jid\" is not that of the job");
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const char *raw = json_fields_get(fields, kinds[i].key);
        if (raw) {
            return kinds[i].read(fields, raw);
        }
    }
    return named ? verdict_answer((struct work_verdict){ .kind = WORK_VERDICT_DONE })
                 : wrong("it has none of result, retry, fail, progress, log, checkpoint and jid");
}

struct work_answer work_answer_parse(const char *line, const char *jid)
{
    struct json_fields fields;
    if (json_fields_read(&fields, line)) {
        return wrong("it is no JSON object");
    }
    struct work_answer answer = read_answer(&fields, jid);
    json_fields_free(&fields);
    return answer;
}

char *work_answer_jid(const char *line)
{
    struct json_fields fields;
    if (json_fields_read(&fields, line)) {
        return NULL;
    }
    char *jid = member_text(&fields, "jid");
    json_fields_free(&fields);
    return jid;
}
