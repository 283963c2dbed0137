// SPDX-License-Identifier: MIT
#include "cli/core/absent.h"

#include "cli/core/call.h"

#include <string.h>

enum {
    PAGE_SIZE = 1000,
};

static bool lists_name(const struct sluice_value *list, const char *key, const char *name)
{
    for (size_t i = 0; i < sluice_value_count(list); i++) {
        const char *other =
            sluice_value_text(sluice_value_get(sluice_value_at(list, i), key), NULL);
        if (other && !strcmp(other, name)) {
            return true;
        }
    }
    return false;
}

static int check_namespace(const struct tool *tool)
{
    const char *name = sluice_namespace(tool->queue);
    struct sluice_value *namespaces = NULL;
    if (!strcmp(name, "default")) {
        return EXIT_DONE;
    }
    int code = call_words(tool, "Q.NAMESPACES", &namespaces);
    if (!code && !lists_name(namespaces, "name", name)) {
        tool_complain("there is no namespace %s", name);
        code = EXIT_NOTHING;
    }
    sluice_value_free(namespaces);
    return code;
}

// A page of the queues in the order of their names, behind `after`.
static int ask_queues(const struct tool *tool, const char *after, struct sluice_value **out)
{
    struct words words = { 0 };
    words_add_all(&words, "Q.QUEUES SORT name");
    words_add(&words, "COUNT");
    char *count = tool_format("%d", PAGE_SIZE);
    words_add(&words, count);
    if (*after) {
        words_add(&words, "CURSOR");
        words_add(&words, after);
    }
    int code = words_call(tool, &words, out);
    tool_free(count);
    tool_free(words.items);
    return code;
}

// A queue that is not listed may be paused, or may have finished jobs.
static int has_figures(const struct tool *tool, const char *queue, bool *has)
{
    struct words words = { 0 };
    struct sluice_value *figures;
    words_add(&words, "Q.QUEUE");
    words_add(&words, queue);
    int code = words_call(tool, &words, &figures);
    *has = !code && !value_is_blank(figures);
    sluice_value_free(figures);
    tool_free(words.items);
    return code;
}

// The list begins behind the name without its last byte, which few names are between.
static int check_queue(const struct tool *tool, const char *queue)
{
    size_t size = strlen(queue);
    char *after = tool_copy(queue, size ? size - 1 : 0);
    bool found = false;
    bool more = true;
    int code = has_figures(tool, queue, &found);
    while (!code && !found && more) {
        struct sluice_value *page = NULL;
        code = ask_queues(tool, after, &page);
        found = lists_name(sluice_value_get(page, "queues"), "queue", queue);
        const char *next = sluice_value_text(sluice_value_get(page, "next"), NULL);
        more = next && strcmp(next, queue) < 0;
        tool_free(after);
        after = tool_copy(more ? next : "", more ? strlen(next) : 0);
        sluice_value_free(page);
    }
    tool_free(after);
    if (!code && !found) {
        tool_complain("there is no queue %s", queue);
        code = EXIT_NOTHING;
    }
    return code;
}

int absent_check(const struct tool *tool, const char *queue)
{
    int code = check_namespace(tool);
    return code || !queue ? code : check_queue(tool, queue);
}

// Figures that are there for a lane without jobs and limits too.
static bool is_figure_of_nothing(const char *key)
{
    static const char *const keys[] = { "weight", "ready", "queue", "burst", "period", "cursor" };
    for (size_t i = 0; key && i < sizeof keys / sizeof *keys; i++) {
        if (!strcmp(keys[i], key)) {
            return true;
        }
    }
    return false;
}

bool value_is_blank(const struct sluice_value *value)
{
    switch (sluice_value_type(value)) {
    case SLUICE_NULL:
        return true;
    case SLUICE_INTEGER:
        return !sluice_value_integer(value);
    case SLUICE_NUMBER: {
        double number = sluice_value_number(value);
        return !(number < 0 || number > 0);
    }
    case SLUICE_BOOLEAN:
        return !sluice_value_boolean(value);
    case SLUICE_LIST:
    case SLUICE_MAP:
        for (size_t i = 0; i < sluice_value_count(value); i++) {
            const char *key =
                sluice_value_type(value) == SLUICE_MAP ? sluice_value_key(value, i) : NULL;
            if (!is_figure_of_nothing(key) && !value_is_blank(sluice_value_at(value, i))) {
                return false;
            }
        }
        return true;
    default:
        return false;
    }
}
