// SPDX-License-Identifier: MIT
#include "faces/qless/list.h"

#include "faces/qless/cjson.h"

#include <assert.h>
#include <stdlib.h>

enum {
    STEP = 16, // entries beside a page that are read first
};

struct qless_range qless_range_of(size_t total, int64_t offset, int64_t count)
{
    int64_t size = (int64_t)total;
    int64_t last = offset + count - 1;
    if (offset < 0) {
        offset = offset + size > 0 ? offset + size : 0;
    }
    if (last < 0) {
        last += size;
    }
    if (last >= size) {
        last = size - 1;
    }
    if (offset > last) {
        return (struct qless_range){ 0, 0 };
    }
    return (struct qless_range){ (size_t)offset, (size_t)(last - offset + 1) };
}

struct qless_range qless_limit_of(size_t total, int64_t offset, int64_t count)
{
    if (offset < 0 || (uint64_t)offset >= total) {
        return (struct qless_range){ 0, 0 };
    }
    size_t left = total - (size_t)offset;
    bool all = count < 0 || (uint64_t)count > left;
    return (struct qless_range){ (size_t)offset, all ? left : (size_t)count };
}

static bool are_equal(const struct qless_entry *a, const struct qless_entry *b)
{
    return a->score == b->score && !a->alone && !b->alone;
}

static int by_name(const void *a, const void *b)
{
    const struct qless_entry *first = a, *second = b;
    return slice_compare(first->name, second->name);
}

static int by_name_reversed(const void *a, const void *b)
{
    return by_name(b, a);
}

// Finds the first entry that equals the one at `offset`.
static enum status find_start(struct qless_ask *ask, const struct qless_list *list, size_t offset,
                              size_t *start)
{
    struct qless_entry edge, entry;
    enum status status = list->read(ask, list, offset, 1, &edge);
    size_t step = STEP;
    *start = offset;
    while (!status && *start > 0) {
        // If a distant entry is equal, all entries between are.
        size_t size = step < *start ? step : *start;
        status = list->read(ask, list, *start - size, 1, &entry);
        if (!status && are_equal(&entry, &edge)) {
            *start -= size;
            step *= 2;
        } else if (size > 1) {
            step = size / 2;
        } else {
            break;
        }
    }
    return status;
}

// Finds the end of the entries that equal the one at `offset`.
static enum status find_end(struct qless_ask *ask, const struct qless_list *list, size_t offset,
                            size_t *end)
{
    struct qless_entry edge, entry;
    enum status status = list->read(ask, list, offset, 1, &edge);
    size_t step = STEP;
    *end = offset + 1;
    while (!status && *end < list->total) {
        size_t left = list->total - *end;
        size_t size = step < left ? step : left;
        status = list->read(ask, list, *end + size - 1, 1, &entry);
        if (!status && are_equal(&entry, &edge)) {
            *end += size;
            step *= 2;
        } else if (size > 1) {
            step = size / 2;
        } else {
            break;
        }
    }
    return status;
}

// Finds the group of equal entries that an entry is in.
static enum status find_equals(struct qless_ask *ask, const struct qless_list *list, size_t offset,
                               size_t *start, size_t *end)
{
    enum status status = find_start(ask, list, offset, start);
    return status ? status : find_end(ask, list, offset, end);
}

// The entries that are read for a page: the page, and the rest of the groups at its edges. Of a
// group that is too large to be sorted, only the entries of the page are read.
struct part {
    size_t start, end;
    bool first_is_large, last_is_large; // the groups at the edges are too large to be sorted
};

static enum status find_part(struct qless_ask *ask, const struct qless_list *list,
                             struct qless_range range, struct part *part)
{
    size_t start, end;
    *part = (struct part){ .start = range.offset, .end = range.offset + range.count };
    enum status status = find_equals(ask, list, part->start, &start, &end);
    if (status) {
        return status;
    }
    part->first_is_large = end - start > QLESS_EQUALS_MAX;
    if (!part->first_is_large) {
        part->start = start;
    }
    status = find_equals(ask, list, part->end - 1, &start, &end);
    if (status) {
        return status;
    }
    part->last_is_large = end - start > QLESS_EQUALS_MAX;
    if (!part->last_is_large) {
        part->end = end;
    }
    return STATUS_OK;
}

static void sort_equals(const struct qless_list *list, const struct part *part,
                        struct qless_entry *entries)
{
    size_t count = part->end - part->start;
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && are_equal(&entries[from], &entries[to]); to++) {
        }
        bool large = to - from > QLESS_EQUALS_MAX || (from == 0 && part->first_is_large) ||
                     (to == count && part->last_is_large);
        if (!large) {
            qsort(entries + from, to - from, sizeof(*entries),
                  list->reverse ? by_name_reversed : by_name);
        }
    }
}

enum status qless_list_read(struct qless_ask *ask, const struct qless_list *list,
                            struct qless_range range, struct qless_entry **out)
{
    *out = NULL;
    if (range.count == 0) {
        return STATUS_OK;
    }
    assert(range.offset < list->total && range.count <= list->total - range.offset);
    struct part part;
    enum status status = qless_check_count(ask, range.count);
    if (!status) {
        status = find_part(ask, list, range, &part);
    }
    if (status) {
        return status;
    }
    size_t count = part.end - part.start;
    struct qless_entry *entries = qless_room(ask, count, sizeof(*entries));
    if (!entries) {
        return qless_no_memory(ask);
    }
    status = list->read(ask, list, part.start, count, entries);
    if (!status) {
        sort_equals(list, &part, entries);
        *out = entries + (range.offset - part.start);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Jobs

static enum status read_jobs(struct qless_ask *ask, const struct qless_list *list, size_t offset,
                             size_t count, struct qless_entry *out)
{
    const struct qless_job_list *source = list->context;
    const struct job *one = NULL;
    const struct job **jobs = count == 1 ? &one : qless_room(ask, count, sizeof(*jobs));
    if (!jobs) {
        return qless_no_memory(ask);
    }
    struct page page = { .offset = offset, .count = count, .jobs = jobs };
    source->fill(ask, source, &page);
    for (size_t i = 0; i < page.found; i++) {
        struct job_view view;
        job_view(ask->engine, jobs[i], &view);
        out[i] = (struct qless_entry){ .name = view.jid };
        source->score(ask, source, jobs[i], &out[i]);
    }
    return STATUS_OK;
}

struct qless_list qless_list_of_jobs(struct qless_ask *ask, const struct qless_job_list *jobs)
{
    struct page page = { 0 };
    jobs->fill(ask, jobs, &page);
    return (struct qless_list){
        .total = page.total, .reverse = jobs->reverse, .read = read_jobs, .context = jobs
    };
}

void qless_print_names(struct buffer *out, const struct qless_entry *entries, size_t count)
{
    struct qless_cjson_array array = qless_cjson_begin(out);
    for (size_t i = 0; i < count; i++) {
        qless_cjson_next(&array);
        qless_cjson_string(out, entries[i].name);
    }
    qless_cjson_end(&array);
}

void qless_reply_names(struct qless_ask *ask, const struct qless_entry *entries, size_t count)
{
    reply_list(ask->reply, count);
    for (size_t i = 0; i < count; i++) {
        reply_text(ask->reply, entries[i].name);
    }
    reply_end(ask->reply);
}
