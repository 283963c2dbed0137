// SPDX-License-Identifier: MIT
#include "cli/commands/put_options.h"

#include "cli/commands/run_options.h"
#include "cli/core/json.h"
#include "cli/core/options.h"

#include <string.h>

#define FIELD(field) offsetof(struct put_options, field)

const struct option put_option_table[PUT_OPTION_COUNT] = {
    { .name = "jid",
      .letter = 'j',
      .type = OPTION_TEXT,
      .value = "JID",
      .offset = PUT_FIELD(jid),
      .summary = "its id (a UUID); a job that has it already is moved" },
    { .name = "priority",
      .letter = 'p',
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = PUT_FIELD(priority),
      .summary = "lower runs sooner (0)" },
    { .name = "delay",
      .letter = 'd',
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .offset = PUT_FIELD(delay),
      .summary = "not before so long from now; 0: now, also if the job is scheduled for later" },
    { .name = "at",
      .letter = 'a',
      .type = OPTION_TIME,
      .value = "TIME",
      .offset = PUT_FIELD(at),
      .summary = "not before then; instead of --delay" },
    { .name = "retries",
      .letter = 'r',
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = PUT_FIELD(retries),
      .summary = "how often it is tried again (5); 0: never" },
    { .name = "tag",
      .letter = 't',
      .type = OPTION_TEXTS,
      .value = "TAG",
      .offset = FIELD(tags),
      .summary = "words to find it by" },
    { .name = "depends",
      .type = OPTION_TEXTS,
      .value = "JID",
      .offset = FIELD(depends),
      .summary = "jobs that must be complete before this one runs" },
    { .name = "allow-missing",
      .type = OPTION_FLAG,
      .offset = PUT_FIELD(allow_missing),
      .summary = "jobs in --depends that do not exist count as complete" },
    { .name = "domain",
      .type = OPTION_TEXT,
      .value = "DOMAIN",
      .offset = PUT_FIELD(domain),
      .summary = "the lane, for rates, concurrency and fairness" },
    { .name = "deadline",
      .type = OPTION_TIME,
      .value = "TIME",
      .offset = PUT_FIELD(deadline),
      .summary = "not started by then it fails; 0: none" },
    RUN_OPTIONS,
    { .name = "unique",
      .type = OPTION_TEXT,
      .value = "KEY",
      .offset = PUT_FIELD(unique),
      .summary = "a key that no other job may hold" },
    { .name = "unique-contents",
      .type = OPTION_FLAG,
      .offset = PUT_FIELD(unique_contents),
      .summary = "no other job may have the same klass and data" },
    { .name = "unique-until",
      .type = OPTION_TEXT,
      .value = "WHEN",
      .offset = PUT_FIELD(unique_until),
      .choices = "finished|started|time",
      .summary = "for how long (finished)" },
    { .name = "unique-for",
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .offset = PUT_FIELD(unique_for),
      .summary = "how long, with --unique-until time" },
    { .name = "on-conflict",
      .type = OPTION_TEXT,
      .value = "WHAT",
      .offset = PUT_FIELD(on_conflict),
      .choices = "existing|replace|refuse|once",
      .summary = "when another job holds it: answer with that one's jid, put this in its place, or "
                 "refuse; once: answer also when the job itself holds it, and put nothing "
                 "(existing)" },
    // From here on of the command alone.
    { .name = "bulk",
      .letter = 'b',
      .type = OPTION_FLAG,
      .offset = FIELD(bulk),
      .summary = "reads jobs from standard input, a line of JSON each" },
    { .name = "raw",
      .type = OPTION_FLAG,
      .offset = FIELD(raw),
      .summary =
          "DATA is any bytes: JSON stays what it is, other text becomes a JSON string, other "
          "bytes {\"$base64\":...}" },
    { .name = "wait",
      .letter = 'w',
      .type = OPTION_FLAG,
      .offset = FIELD(wait),
      .summary = "waits until the job has finished, and prints its result" },
    { .name = "for",
      .type = OPTION_WAIT,
      .value = "SECONDS",
      .offset = FIELD(wait_for),
      .summary = "with --wait: how long at most (forever); 0: only looks" },
};
enum {
    COMMAND_ALONE = 4, // options at the end of the table that a line of JSON does not have
};

// What 0 stands for, by option.
static const struct {
    size_t offset;
    int64_t value;
} zeros[] = {
    { PUT_FIELD(priority), SLUICE_ZERO },    { PUT_FIELD(delay), SLUICE_ZERO },
    { PUT_FIELD(at), SLUICE_ZERO },          { PUT_FIELD(retries), SLUICE_NONE },
    { PUT_FIELD(max_crashes), SLUICE_NONE }, { PUT_FIELD(deadline), SLUICE_NONE },
    { PUT_FIELD(timeout), SLUICE_NONE },     { PUT_FIELD(lease), SLUICE_NONE },
    { PUT_FIELD(result_ttl), SLUICE_NONE },
};

void put_options_settle(struct put_options *options, const struct option *option)
{
    void *field = (char *)options + option->offset;
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        if (zeros[i].offset != option->offset) {
            continue;
        }
        if (option->type == OPTION_INTEGER && *(int64_t *)field == 0) {
            *(int64_t *)field = zeros[i].value;
        } else if (option->type != OPTION_INTEGER && *(double *)field == 0) {
            *(double *)field = (double)zeros[i].value;
        }
    }
}

void put_options_finish(struct put_options *options)
{
    options->put.size = sizeof(options->put);
    options->put.tags = options->tags.items;
    options->put.depends = options->depends.items;
}

// ---------------------------------------------------------------------------------------------
// Lines of JSON

// Keys are the names of options; "tags" and "timeout" as Q.GET and Q.PUT call them do too, and _
// for -.
static const struct option *find_key(const char *key)
{
    char *name = tool_copy(key, strlen(key));
    for (char *at = strchr(name, '_'); at; at = strchr(at, '_')) {
        *at = '-';
    }
    const char *wanted = !strcmp(name, "tags")      ? "tag"
                         : !strcmp(name, "timeout") ? "run-timeout"
                                                    : name;
    const struct option *found = NULL;
    for (size_t i = 0; i < PUT_OPTION_COUNT - COMMAND_ALONE; i++) {
        if (!strcmp(put_option_table[i].name, wanted)) {
            found = &put_option_table[i];
        }
    }
    tool_free(name);
    return found;
}

static const char *read_texts(struct texts *texts, const char *key, const char *raw)
{
    char **items = json_list(raw);
    if (!items) {
        return tool_format("%s is not a list of texts", key);
    }
    texts->items = (const char **)items;
    for (; items[texts->count]; texts->count++) {
        char *text = json_text(items[texts->count]);
        if (!text) {
            return tool_format("%s is not a list of texts", key);
        }
        tool_free(items[texts->count]);
        items[texts->count] = text;
    }
    return NULL;
}

static const char *read_flag(bool *flag, const char *key, const char *raw)
{
    *flag = !strcmp(raw, "true");
    return *flag || !strcmp(raw, "false") ? NULL : tool_format("%s is not true or false", key);
}

static const char *read_option(struct put_options *options, const char *key, const char *raw)
{
    const struct option *option = find_key(key);
    if (!option) {
        return tool_format("there is no such key: %s", key);
    }
    void *field = (char *)options + option->offset;
    if (option->type == OPTION_TEXTS) {
        return read_texts(field, key, raw);
    }
    if (option->type == OPTION_FLAG) {
        return read_flag(field, key, raw);
    }
    char *text = json_text(raw);
    if (!text && (option->type == OPTION_TEXT || strchr("[{tf", *raw))) {
        return tool_format("%s is not a %s", key, option->type == OPTION_TEXT ? "text" : "number");
    }
    const char *wrong = option_store(option, text ? text : raw, options);
    // A field that is a text borrows it.
    if (option->type == OPTION_TEXT && wrong) {
        *(const char **)field = NULL;
    }
    if (option->type != OPTION_TEXT || wrong) {
        tool_free(text);
    }
    put_options_settle(options, option);
    return wrong;
}

static const char *read_name(const char **name, const char *key, const char *raw)
{
    *name = json_text(raw);
    return *name ? NULL : tool_format("%s is not a text", key);
}

static const char *read_field(struct put_options *options, const char *key, const char *raw)
{
    if (!strcmp(key, "data")) {
        options->put.data = tool_copy(raw, strlen(raw));
        return NULL;
    }
    if (!strcmp(key, "queue")) {
        return read_name(&options->put.queue, key, raw);
    }
    if (!strcmp(key, "klass")) {
        return read_name(&options->put.klass, key, raw);
    }
    return strcmp(raw, "null") != 0 ? read_option(options, key, raw) : NULL;
}

const char *put_options_read(struct put_options *options, const char *line)
{
    struct json_fields fields;
    *options = (struct put_options){ 0 };
    const char *wrong = json_fields_read(&fields, line);
    for (size_t i = 0; !wrong && i < fields.count; i++) {
        wrong = read_field(options, fields.items[i].key, fields.items[i].raw);
    }
    json_fields_free(&fields);
    if (!wrong && (!options->put.queue || !options->put.klass)) {
        wrong = options->put.queue ? "klass is missing" : "queue is missing";
    }
    if (!wrong && !options->put.data) {
        options->put.data = tool_copy("{}", 2);
    }
    put_options_finish(options);
    return wrong;
}

static void texts_release(struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        tool_free((char *)texts->items[i]);
    }
    tool_free(texts->items);
}

void put_options_release(struct put_options *options)
{
    for (size_t i = 0; i < PUT_OPTION_COUNT - COMMAND_ALONE; i++) {
        if (put_option_table[i].type == OPTION_TEXT) {
            tool_free(*(char **)((char *)options + put_option_table[i].offset));
        }
    }
    tool_free((char *)options->put.queue);
    tool_free((char *)options->put.klass);
    tool_free((char *)options->put.data);
    texts_release(&options->tags);
    texts_release(&options->depends);
}
