// SPDX-License-Identifier: MIT
#include "cli/top/detail.h"

#include "cli/core/moment.h"
#include "cli/top/top_time.h"

#include <stdlib.h>
#include <string.h>

enum {
    LIST_SHOWN_MAX = 20,
};

void detail_add(struct detail *detail, const char *label, const char *text)
{
    if (detail->count == detail->capacity) {
        size_t capacity = detail->capacity ? 2 * detail->capacity : 32;
        struct look_line *items = look_allocate(detail->look, capacity * sizeof(*items));
        if (detail->count) {
            memcpy(items, detail->items, detail->count * sizeof(*items));
        }
        detail->items = items;
        detail->capacity = capacity;
    }
    detail->items[detail->count++] = (struct look_line){
        .label = look_copy(detail->look, label),
        .text = look_copy(detail->look, text),
    };
}

static bool is_moment(const char *key)
{
    static const char *const keys[] = {
        "created",  "moved",   "updated",  "eta",  "popped",       "started",  "scheduled",
        "deadline", "expires", "run-ends", "when", "result-until", "earliest", "until",
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (!strcmp(key, keys[i])) {
            return true;
        }
    }
    return false;
}

// "2026-07-14 03:34:20Z (4m12s ago)".
static const char *moment_text(const struct detail *detail, double when)
{
    char moment[MOMENT_SIZE], relative[MOMENT_SIZE];
    moment_format(when, moment);
    moment_relative(when, detail->now, relative);
    return look_format(detail->look, "%s (%s)", moment, relative);
}

// A list as "a, b, c", or when it is long "a, b, c and 7 more".
static const char *list_text(const struct detail *detail, const struct sluice_value *list)
{
    const char *text = "";
    size_t count = sluice_value_count(list);
    size_t shown = count < LIST_SHOWN_MAX ? count : LIST_SHOWN_MAX;
    for (size_t i = 0; i < shown; i++) {
        const char *item = sluice_value_text(sluice_value_at(list, i), NULL);
        text = look_format(detail->look, "%s%s%s", text, i ? ", " : "", item ? item : "");
    }
    return shown < count ? look_format(detail->look, "%s and %zu more", text, count - shown) : text;
}

// NULL: there is nothing to say.
static const char *value_text(const struct detail *detail, const char *key,
                              const struct sluice_value *value)
{
    switch (sluice_value_type(value)) {
    case SLUICE_TEXT:
        return sluice_value_text(value, NULL);
    case SLUICE_INTEGER:
        return look_format(detail->look, "%lld", (long long)sluice_value_integer(value));
    case SLUICE_NUMBER:
        return is_moment(key) ? moment_text(detail, sluice_value_number(value))
                              : look_format(detail->look, "%g", sluice_value_number(value));
    case SLUICE_BOOLEAN:
        return sluice_value_boolean(value) ? "yes" : NULL;
    case SLUICE_LIST:
        return sluice_value_count(value) ? list_text(detail, value) : NULL;
    default:
        return NULL;
    }
}

static void add_pairs(struct detail *detail, const char *of, const struct sluice_value *map)
{
    for (size_t i = 0; i < sluice_value_count(map); i++) {
        const char *key = sluice_value_key(map, i);
        const struct sluice_value *value = sluice_value_at(map, i);
        const char *label = *of ? look_format(detail->look, "%s %s", of, key) : key;
        const char *text = value_text(detail, key, value);
        if (text) {
            detail_add(detail, label, text);
        } else if (sluice_value_type(value) == SLUICE_MAP) {
            add_pairs(detail, label, value);
        }
    }
}

void detail_map(struct detail *detail, const struct sluice_value *map)
{
    add_pairs(detail, "", map);
}

void detail_explain(struct detail *detail, const struct sluice_value *explanation, bool all)
{
    const char *sentence = sluice_value_text(sluice_value_get(explanation, "sentence"), NULL);
    if (!sentence) {
        return;
    }
    detail_add(detail, "", sentence);
    detail_add(detail, "", "");
    if (all) {
        for (size_t i = 0; i < sluice_value_count(explanation); i++) {
            const char *key = sluice_value_key(explanation, i);
            const char *text = value_text(detail, key, sluice_value_at(explanation, i));
            if (text && strcmp(key, "sentence") != 0) {
                detail_add(detail, key, text);
            }
        }
    }
}

void detail_log(struct detail *detail, const struct sluice_value *log)
{
    for (size_t i = 0; i < sluice_value_count(log); i++) {
        const struct sluice_value *line = sluice_value_at(log, i);
        double when = sluice_value_number(sluice_value_get(line, "when"));
        const char *text = sluice_value_text(sluice_value_get(line, "line"), NULL);
        detail_add(detail, i ? "" : "log",
                   look_format(detail->look, "%s  %s", brief_clock(when).text, text ? text : ""));
    }
}
