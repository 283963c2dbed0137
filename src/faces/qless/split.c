// SPDX-License-Identifier: MIT
#include "faces/qless/split.h"

#include "base/ascii.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------
// The calls of a script

// How the words of a script are converted to those of the unified script. A script has one form for
// each of its calls; the first one that matches is used.
struct form {
    struct slice script;  // its name, with which its error messages begin
    struct slice command; // what the first word must be; empty: anything
    struct slice call;    // the name in the unified script
    uint8_t keys;         // number of keys, which come first
    uint8_t least;        // the minimum number of words
    uint8_t skip;         // words at the front that are not arguments
    uint8_t time;         // index of the time, from 1 as in Lua; 0: none
    bool worker_first;    // the unified script takes a worker first, which is unknown here
    bool swapped;         // the unified script has the first two arguments in the other order
};

#define TEXT(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }
#define FORM(script_name, command_word, call_name, ...)                                            \
    {                                                                                              \
        .script = TEXT(script_name), .command = TEXT(command_word), .call = TEXT(call_name),       \
        __VA_ARGS__                                                                                \
    }

static const struct form forms[] = {
    FORM("Cancel", "", "cancel", .keys = 0),
    FORM("Complete", "", "complete", .time = 4),
    FORM("Config", "get", "config.get", .skip = 1),
    FORM("Config", "set", "config.set", .skip = 1),
    FORM("Config", "unset", "config.unset", .skip = 1),
    FORM("Depends", "", "depends", .keys = 0),
    FORM("DeregisterWorker", "", "worker.deregister", .keys = 0),
    FORM("DeregisterWorkers", "", "worker.deregister", .keys = 0),
    FORM("Fail", "", "fail", .time = 5),
    FORM("Failed", "", "failed", .keys = 0),
    FORM("Get", "", "get", .keys = 0),
    FORM("GetConfig", "", "config.get", .keys = 0),
    FORM("Heartbeat", "", "heartbeat", .time = 3),
    FORM("Jobs", "complete", "jobs", .keys = 0),
    FORM("Jobs", "", "jobs", .time = 2),
    FORM("Pause", "", "pause", .keys = 0),
    FORM("Peek", "", "peek", .keys = 1, .time = 2),
    FORM("Pop", "", "pop", .keys = 1, .time = 3),
    FORM("Priority", "", "priority", .keys = 0),
    FORM("Put", "", "put", .keys = 1, .time = 4, .worker_first = true),
    FORM("Queues", "", "queues", .time = 1),
    FORM("Recur", "on", "recur", .skip = 1, .time = 6),
    FORM("Recur", "off", "unrecur", .skip = 1),
    FORM("Recur", "get", "recur.get", .skip = 1),
    FORM("Recur", "update", "recur.update", .skip = 1),
    FORM("Recur", "tag", "recur.tag", .skip = 1),
    FORM("Recur", "untag", "recur.untag", .skip = 1),
    FORM("Retry", "", "retry", .time = 4),
    FORM("SetConfig", "", "config.set", .least = 2),
    FORM("SetConfig", "", "config.unset", .keys = 0),
    FORM("Stats", "", "stats", .keys = 0),
    FORM("Tag", "add", "tag", .time = 3),
    FORM("Tag", "remove", "tag", .time = 3),
    FORM("Tag", "", "tag", .keys = 0),
    FORM("Track", "", "track", .least = 1, .time = 3),
    FORM("Track", "", "track", .keys = 0),
    FORM("Unfail", "", "unfail", .time = 1, .swapped = true),
    FORM("Unpause", "", "unpause", .keys = 0),
    FORM("Workers", "", "workers", .time = 1),
};

enum {
    FORM_COUNT = sizeof(forms) / sizeof(forms[0]),
};

static bool fits(const struct form *form, struct slices words)
{
    return words.count >= form->least &&
           (form->command.size == 0 || (words.count && slice_equal(words.items[0], form->command)));
}

// The form of a call, or NULL. A script is identified by the number of its first form.
static const struct form *find(enum qless_script script, struct slices words)
{
    size_t first = (size_t)script - QLESS_SPLIT;
    for (size_t i = first; i < FORM_COUNT && slice_equal(forms[i].script, forms[first].script);
         i++) {
        if (fits(&forms[i], words)) {
            return &forms[i];
        }
    }
    return NULL;
}

struct slice qless_split_name(enum qless_script script, struct slices words)
{
    const struct form *form = find(script, words);
    return form ? form->call : SLICE_EMPTY;
}

// ---------------------------------------------------------------------------------------------
// Recognising scripts

static bool contains(struct slice text, struct slice part)
{
    return text.size && memmem(text.data, text.size, part.data, part.size) != NULL;
}

static bool is_letter(char c)
{
    return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z';
}

static bool is_quote(char c)
{
    return c == '\'' || c == '"';
}

// The name before `end`, if a string begins with it; otherwise empty.
static struct slice quoted_name(struct slice text, size_t end)
{
    size_t start = end;
    while (start > 0 && is_letter(text.data[start - 1])) {
        start--;
    }
    bool quoted = start > 0 && is_quote(text.data[start - 1]);
    return quoted ? slice_sub(text, start, end - start) : SLICE_EMPTY;
}

// The name that a script uses for itself: all strings that begin like 'Put(): contain the same
// name. They are the script's error messages in all of its versions, and remain when comments and
// white space are removed.
static bool read_name(struct slice text, struct slice *name)
{
    const struct slice mark = SLICE("():");
    *name = SLICE_EMPTY;
    for (size_t at = 0; at + mark.size <= text.size; at++) {
        if (memcmp(text.data + at, mark.data, mark.size) != 0) {
            continue;
        }
        struct slice found = quoted_name(text, at);
        if (found.size && name->size && !slice_equal(found, *name)) {
            return false;
        }
        *name = found.size ? found : *name;
    }
    return name->size > 0;
}

enum qless_script qless_split_recognise(struct slice text)
{
    struct slice name;
    bool has_keys = contains(text, SLICE("'ql:")) || contains(text, SLICE("\"ql:"));
    if (!has_keys || !contains(text, SLICE("ARGV")) || !read_name(text, &name)) {
        return QLESS_NONE;
    }
    // Unpause uses the same name.
    if (slice_equal(name, SLICE("Pause")) && contains(text, SLICE("srem"))) {
        name = SLICE("Unpause");
    }
    // Until May 2012 jobs with lower priorities were popped first; only this distinguishes those
    // versions.
    if ((slice_equal(name, SLICE("Pop")) || slice_equal(name, SLICE("Peek"))) &&
        !contains(text, SLICE("zrevrange"))) {
        return QLESS_NONE;
    }
    for (size_t i = 0; i < FORM_COUNT; i++) {
        if (slice_equal(forms[i].script, name)) {
            return (enum qless_script)(QLESS_SPLIT + i);
        }
    }
    return QLESS_NONE;
}

// ---------------------------------------------------------------------------------------------
// Reading a call

static enum status read_time(const struct form *form, const struct qless_call *call,
                             struct qless_ask *ask)
{
    ask->now_us = call->host_us;
    if (form->time == 0) {
        return STATUS_OK;
    }
    bool said = call->words.count >= form->time;
    struct slice text = said ? call->words.items[form->time - 1] : SLICE("nil");
    return said && qless_seconds(text, &ask->now_us)
               ? STATUS_OK
               : qless_no(ask, "%.*s(): Arg \"now\" missing or not a number: %.*s",
                          SLICE_PRINT(form->script), SLICE_PRINT(text));
}

static enum status read_words(const struct form *form, const struct qless_call *call,
                              struct qless_ask *ask)
{
    struct slice *items = qless_room(ask, call->keys.count + call->words.count + 1, sizeof(*items));
    if (!items) {
        return qless_no_memory(ask);
    }
    size_t count = 0;
    if (form->worker_first) {
        items[count++] = SLICE_EMPTY;
    }
    for (size_t i = 0; i < call->keys.count; i++) {
        items[count++] = call->keys.items[i];
    }
    for (size_t i = form->skip; i < call->words.count; i++) {
        if (i + 1 != form->time) {
            items[count++] = call->words.items[i];
        }
    }
    if (form->swapped && count >= 2) {
        struct slice first = items[0];
        items[0] = items[1];
        items[1] = first;
    }
    ask->words = (struct slices){ items, count };
    return STATUS_OK;
}

enum status qless_split_read(const struct qless_call *call, struct qless_ask *ask,
                             struct slice *name)
{
    const struct form *form = find(call->script, call->words);
    ask->split = true;
    if (!form) {
        return qless_no(ask, "%.*s(): Unrecognized command %.*s",
                        SLICE_PRINT(forms[call->script - QLESS_SPLIT].script),
                        SLICE_PRINT(call->words.count ? call->words.items[0] : SLICE("nil")));
    }
    if (call->keys.count != form->keys) {
        return qless_no(ask, "%.*s(): Got %zu, expected %u KEYS arguments",
                        SLICE_PRINT(form->script), call->keys.count, form->keys);
    }
    *name = form->call;
    enum status status = read_time(form, call, ask);
    return status ? status : read_words(form, call, ask);
}
