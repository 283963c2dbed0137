// SPDX-License-Identifier: MIT
// Lists, page by page. The next page begins at the cursor of the last
// one, or at an offset if the command has no cursor.
#include "client/memory.h"
#include "client/options.h"
#include "client/queue.h"
#include "client/value.h"

#include <sluice/list.h>

#include <stdlib.h>
#include <string.h>

enum {
    PAGE_DEFAULT = 100,
    PAGE_MAX = 1000,
};

// What is listed.
static const struct kind {
    const char *command;
    const char *items; // the key of a page
    bool counted;      // its pages have no cursor
} kinds[] = {
    [SLUICE_JOBS] = { "Q.JOBS", "jobs", false },
    [SLUICE_QUEUES] = { "Q.QUEUES", "queues", false },
    [SLUICE_FAILURES] = { "Q.FAILURES", "failures", false },
    [SLUICE_WORKERS] = { "Q.WORKERS", "workers", true },
    [SLUICE_RECURRING] = { "Q.RECURRING", "jobs", false },
};
static const size_t kind_count = sizeof(kinds) / sizeof(kinds[0]);

// The options that are texts: the word of each ("": a positional argument), and the lists that have
// it.
#define OF(kind) (1U << (kind))
static const struct option {
    const char *name, *word;
    size_t offset;
    unsigned kinds;
} options_of[] = {
#define OPTION(member, word, kinds)                                                                \
    {                                                                                              \
#        member, word, offsetof(struct sluice_list_open_options, member), kinds                    \
    }
    OPTION(state, "", OF(SLUICE_JOBS)),
    OPTION(queue, "", OF(SLUICE_JOBS) | OF(SLUICE_RECURRING)),
    OPTION(klass, "KLASS", OF(SLUICE_JOBS)),
    OPTION(worker, "WORKER", OF(SLUICE_JOBS)),
    OPTION(tag, "TAGGED", OF(SLUICE_JOBS)),
    OPTION(domain, "DOMAIN", OF(SLUICE_JOBS)),
    OPTION(group, "GROUP", OF(SLUICE_JOBS)),
    OPTION(sort, "SORT", OF(SLUICE_QUEUES)),
#undef OPTION
};
enum {
    OPTION_COUNT = sizeof(options_of) / sizeof(options_of[0]),
};

struct sluice_list {
    struct sluice *sluice;
    const struct kind *kind;
    char *texts[OPTION_COUNT]; // owned
    bool jids, counted;
    int64_t data_max, size; // of a page
    struct sluice_value *page;
    const struct sluice_value *items; // of the page
    size_t index;                     // of the next item in it
    int64_t offset;                   // of the next page
    char *cursor;                     // of the next page, owned; NULL: it begins
    bool last;                        // there is no other page
};

static const char *text_of(const struct sluice_list_open_options *options, size_t index)
{
    const char *text;
    memcpy(&text, (const char *)options + options_of[index].offset, sizeof(text));
    return text;
}

static enum sluice_status check(enum sluice_listed what,
                                const struct sluice_list_open_options *options,
                                struct sluice_error *error)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (text_of(options, i) && !(options_of[i].kinds & OF(what))) {
            return fault(error, SLUICE_INVALID, "%s is no option of a list of %s",
                         options_of[i].name, kinds[what].items);
        }
    }
    if (what != SLUICE_JOBS && (options->jids || options->data_max)) {
        return fault(error, SLUICE_INVALID, "%s is only an option of a list of jobs",
                     options->jids ? "jids" : "data_max");
    }
    if (options->data_max < 0) {
        return fault(error, SLUICE_INVALID, "data_max is %lld: it must not be negative",
                     (long long)options->data_max);
    }
    return options->page < 0 || options->page > PAGE_MAX
               ? fault(error, SLUICE_INVALID, "page is %lld: it must be from 1 to %d",
                       (long long)options->page, PAGE_MAX)
               : SLUICE_OK;
}

enum sluice_status sluice_list_open(struct sluice *sluice, enum sluice_listed what,
                                    const struct sluice_list_open_options *options,
                                    struct sluice_list **out, struct sluice_error *error)
{
    struct sluice_list_open_options own;
    if (!sluice || !out) {
        return fault_null(error, sluice ? "out" : "sluice");
    }
    *out = NULL;
    enum sluice_status status =
        (size_t)what < kind_count ? list_options_read(options, &own, error)
                                  : fault(error, SLUICE_INVALID, "%d cannot be listed", (int)what);
    status = status ? status : check(what, &own, error);
    if (status) {
        return status;
    }
    struct sluice_list *list = memory_zalloc(1, sizeof(*list));
    bool failed = !list;
    for (size_t i = 0; i < OPTION_COUNT && !failed; i++) {
        const char *text = text_of(&own, i);
        list->texts[i] = text ? memory_copy_text(text) : NULL;
        failed = text && !list->texts[i];
    }
    if (failed) {
        sluice_list_free(list);
        return fault_no_memory(error);
    }
    list->sluice = sluice;
    list->kind = &kinds[what];
    list->jids = own.jids;
    list->counted = list->kind->counted || (what == SLUICE_RECURRING && own.queue);
    list->data_max = own.data_max;
    list->size = own.page ? own.page : PAGE_DEFAULT;
    *out = list;
    return SLUICE_OK;
}

void sluice_list_free(struct sluice_list *list)
{
    if (!list) {
        return;
    }
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        memory_free(list->texts[i]);
    }
    sluice_value_free(list->page);
    memory_free(list->cursor);
    memory_free(list);
}

// ---------------------------------------------------------------------------------------------
// Pages

// Positional arguments, each after a mark that it is no option. The queue comes after the state.
static void add_places(const struct sluice_list *list, struct words *words)
{
    for (size_t i = 0; i < OPTION_COUNT && !options_of[i].word[0]; i++) {
        bool any = !list->texts[i] && list->kind == &kinds[SLUICE_JOBS] && i == 0;
        words_option(words, "--", any ? "any" : list->texts[i]);
    }
}

static void page_words(const struct sluice_list *list, struct words *words)
{
    queue_words(list->sluice, words, list->kind->command);
    add_places(list, words);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (options_of[i].word[0]) {
            words_option(words, options_of[i].word, list->texts[i]);
        }
    }
    if (list->jids) {
        words_text(words, "JIDS");
    }
    words_option_integer(words, "DATA-MAX", list->data_max);
    words_option_integer(words, "COUNT", list->size);
    words_option_integer(words, "OFFSET", list->offset);
    words_option(words, "CURSOR", list->cursor);
}

// Finds where the page after `page` begins.
static enum sluice_status find_next(struct sluice_list *list, const struct sluice_value *page,
                                    size_t count, struct sluice_error *error)
{
    if (list->counted) {
        list->offset += (int64_t)count;
        list->last = count == 0;
        return SLUICE_OK;
    }
    const char *next = sluice_value_text(sluice_value_get(page, "next"), NULL);
    char *cursor = next ? memory_copy_text(next) : NULL;
    if (next && !cursor) {
        return fault_no_memory(error);
    }
    memory_free(list->cursor);
    list->cursor = cursor;
    list->last = !cursor;
    return SLUICE_OK;
}

static enum sluice_status fetch(struct sluice_list *list, struct sluice_error *error)
{
    struct words words;
    struct sluice_value *page;
    const struct ask ask = { .repeats = true };
    page_words(list, &words);
    enum sluice_status status = queue_ask(list->sluice, &words, &ask, &page, error);
    const struct sluice_value *items =
        sluice_value_get(page, list->jids ? "jids" : list->kind->items);
    if (!status && sluice_value_type(items) != SLUICE_LIST) {
        status = fault(error, SLUICE_INVALID, "malformed answer: expected a list");
    }
    if (!status) {
        status = find_next(list, page, sluice_value_count(items), error);
    }
    if (status) {
        sluice_value_free(page);
        return status;
    }
    sluice_value_free(list->page);
    list->page = page;
    list->items = items;
    list->index = 0;
    return SLUICE_OK;
}

enum sluice_status sluice_list_next(struct sluice_list *list, const struct sluice_value **out,
                                    struct sluice_error *error)
{
    if (!list || !out) {
        return fault_null(error, list ? "out" : "list");
    }
    *out = NULL;
    // A page may be empty although others follow.
    while (list->index == sluice_value_count(list->items)) {
        if (list->last) {
            return SLUICE_OK;
        }
        enum sluice_status status = fetch(list, error);
        if (status) {
            return status;
        }
    }
    *out = sluice_value_at(list->items, list->index++);
    return SLUICE_OK;
}
