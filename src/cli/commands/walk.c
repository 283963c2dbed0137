// SPDX-License-Identifier: MIT
#include "cli/commands/walk.h"

#include "cli/core/call.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE_SIZE = 1000,
};

const char walk_states[] = "running|waiting|stalled|scheduled|depends|failed|complete";

static const char *const queued_states[] = { "running",   "waiting", "stalled",
                                             "scheduled", "depends", NULL };

static const char **names_of(const struct sluice_value *list, const char *key)
{
    size_t count = sluice_value_count(list);
    const char **names = tool_allocate((count + 1) * sizeof *names);
    for (size_t i = 0; i < count; i++) {
        const char *name = sluice_value_text(sluice_value_get(sluice_value_at(list, i), key), NULL);
        names[i] = tool_copy(name, strlen(name));
    }
    return names;
}

// The names of the queues, or the one given. Ends with NULL; NULL: it was refused, and said.
static const char **queue_names(const struct tool *tool, const char *queue)
{
    if (queue) {
        const char **one = tool_allocate(2 * sizeof *one);
        one[0] = queue;
        return one;
    }
    const char **names = tool_allocate(sizeof *names);
    for (size_t count = 0, found = PAGE_SIZE; found == PAGE_SIZE; count += found) {
        struct sluice_value *answer;
        char *words = tool_format("Q.QUEUES OFFSET %zu COUNT %d", count, PAGE_SIZE);
        int code = call_words(tool, words, &answer);
        tool_free(words);
        if (code) {
            return NULL;
        }
        const struct sluice_value *list = sluice_value_get(answer, "queues");
        const char **page = names_of(list, "queue");
        found = sluice_value_count(list);
        sluice_value_free(answer);
        const char **all = tool_allocate((count + found + 1) * sizeof *all);
        memcpy(all, names, count * sizeof *all);
        memcpy(all + count, page, found * sizeof *all);
        tool_free(names);
        tool_free(page);
        names = all;
    }
    return names;
}

// `way` says what `from` is: OFFSET or CURSOR.
static int ask_page(const struct walk *walk, const struct words *source, const char *way,
                    const char *from, struct sluice_value **out)
{
    struct words words = { 0 };
    for (size_t i = 0; i < source->count; i++) {
        words_add(&words, source->items[i]);
    }
    char *most =
        tool_format("%lld", (long long)(walk->count < PAGE_SIZE ? walk->count : PAGE_SIZE));
    words_add(&words, way);
    words_add(&words, from);
    words_add(&words, "COUNT");
    words_add(&words, most);
    int code = words_call(walk->tool, &words, out);
    tool_free(most);
    tool_free(words.items);
    return code;
}

// One list: what the whole walk leaves out and shows is counted down from one to the next. Where
// pages say what comes next that is followed, so that jobs that come or go shift nothing.
static int walk_source(struct walk *walk, const struct words *source)
{
    int64_t total = 0;
    int64_t offset = walk->offset;
    int code = EXIT_DONE;
    const char *way = "OFFSET";
    char *from = tool_format("%lld", (long long)offset);
    bool more = true;
    while (!code && more) {
        struct sluice_value *page = NULL;
        code = ask_page(walk, source, way, from, &page);
        const struct sluice_value *jobs = sluice_value_get(page, "jobs");
        const struct sluice_value *next = sluice_value_get(page, "next");
        const char *cursor = sluice_value_text(next, NULL);
        int64_t got = (int64_t)sluice_value_count(jobs);
        total = sluice_value_integer(sluice_value_get(page, "total"));
        if (!code && got) {
            code = walk->page(walk->context, jobs);
        }
        offset += got;
        walk->count -= got;
        more = got && walk->count > 0 && (!next || cursor);
        way = next ? "CURSOR" : "OFFSET";
        tool_free(from);
        from = cursor ? tool_copy(cursor, strlen(cursor)) : tool_format("%lld", (long long)offset);
        sluice_value_free(page);
    }
    tool_free(from);
    walk->total += total;
    walk->offset = walk->offset > total ? walk->offset - total : 0;
    return code;
}

static int walk_list(struct walk *walk, const char *one, const char *two, const char *three)
{
    struct words words = { 0 };
    words_add(&words, one);
    words_add(&words, two);
    if (three) {
        words_add(&words, three);
    }
    int code = walk_source(walk, &words);
    tool_free(words.items);
    return code;
}

// The recurring jobs of all queues, or those in a state.
static int walk_queued(struct walk *walk, const char *state)
{
    const char **queues = queue_names(walk->tool, walk->queue);
    int code = queues ? EXIT_DONE : EXIT_REFUSED;
    for (size_t i = 0; !code && queues[i]; i++) {
        code = state ? walk_list(walk, "Q.JOBS", state, queues[i])
                     : walk_list(walk, "Q.RECURRING", queues[i], NULL);
    }
    return code;
}

int walk_recurring(struct walk *walk)
{
    walk->total = 0;
    return walk_queued(walk, NULL);
}

int walk_jobs(struct walk *walk)
{
    int code = EXIT_DONE;
    walk->total = 0;
    if (walk->state && (!strcmp(walk->state, "complete") || !strcmp(walk->state, "failed"))) {
        return walk_list(walk, "Q.JOBS", walk->state, walk->queue);
    }
    if (walk->state) {
        return walk_queued(walk, walk->state);
    }
    for (size_t i = 0; !code && queued_states[i]; i++) {
        code = walk_queued(walk, queued_states[i]);
    }
    return code || !walk->failed ? code : walk_list(walk, "Q.JOBS", "failed", walk->queue);
}
