// SPDX-License-Identifier: MIT
#include "api/page.h"

#include "api/job_words.h"
#include "base/ascii.h"

#include <stdio.h>

enum {
    HALF_SIZE = 16,
    CURSOR_SIZE = 2 * HALF_SIZE,
};

size_t page_count(const struct page_words *words)
{
    return words->has_count ? (size_t)words->count : PAGE_COUNT;
}

// A cursor is a position in an index, as digits.
static bool read_cursor(struct slice text, struct index_key *out)
{
    return text.size == CURSOR_SIZE && ascii_hex_read(slice_sub(text, 0, HALF_SIZE), &out->high) &&
           ascii_hex_read(slice_sub(text, HALF_SIZE, HALF_SIZE), &out->low);
}

void reply_page_next(struct reply *reply, const struct index_key *last)
{
    char text[CURSOR_SIZE + 1];
    if (!last) {
        reply_null(reply);
        return;
    }
    (void)snprintf(text, sizeof(text), "%016llx%016llx", (unsigned long long)last->high,
                   (unsigned long long)last->low);
    reply_text(reply, slice_from_cstr(text));
}

enum status page_read_cursor(const struct call *call, struct slice text, struct index_key *out,
                             struct error *error)
{
    return read_cursor(text, out) ? STATUS_OK : page_refuse_cursor(call, error);
}

enum status page_refuse_cursor(const struct call *call, struct error *error)
{
    return error_set(error, STATUS_INVALID,
                     "%s: CURSOR must be the value of next in an earlier page",
                     call->command->name);
}

enum status page_start(const struct call *call, const struct page_words *words,
                       const struct job *room[PAGE_COUNT_MAX], struct page *out,
                       struct error *error)
{
    *out = (struct page){ .offset = (size_t)words->offset,
                          .count = page_count(words),
                          .has_after = words->cursor.size > 0,
                          .jobs = room };
    bool good = !out->has_after || read_cursor(words->cursor, &out->after);
    return good ? STATUS_OK : page_refuse_cursor(call, error);
}

static void write_jid(struct call *call, const struct job *job)
{
    struct job_view view;
    job_view(call->engine, job, &view);
    reply_text(call->reply, view.jid);
}

void reply_page_jobs(struct call *call, const struct page_words *words,
                     const struct job *const *jobs, size_t count)
{
    reply_text(call->reply, words->jids ? SLICE("jids") : SLICE("jobs"));
    reply_list(call->reply, count);
    for (size_t i = 0; i < count; i++) {
        if (words->jids) {
            write_jid(call, jobs[i]);
        } else if (words->has_data_max) {
            reply_job_cut(call->reply, call->engine, jobs[i], (size_t)words->data_max);
        } else {
            reply_job(call->reply, call->engine, jobs[i]);
        }
    }
    reply_end(call->reply);
}

void reply_page_members(struct call *call, const struct page_words *words, const struct page *page)
{
    reply_key(call->reply, "total");
    reply_count(call->reply, page->total);
    reply_page_jobs(call, words, page->jobs, page->found);
}

void reply_page(struct call *call, const struct page_words *words, const struct page *page)
{
    reply_map(call->reply, 3);
    reply_page_members(call, words, page);
    reply_key(call->reply, "next");
    reply_page_next(call->reply, page->more ? &page->last : NULL);
    reply_end(call->reply);
}

void reply_counts(struct call *call, const struct page_words *words, struct slice label,
                  bool (*at)(const struct engine *engine, size_t index, struct count_view *view))
{
    struct count_view view;
    size_t offset = (size_t)words->offset;
    size_t count = 0;
    while (count < page_count(words) && at(call->engine, offset + count, &view)) {
        count++;
    }
    reply_list(call->reply, count);
    for (size_t i = 0; i < count && at(call->engine, offset + i, &view); i++) {
        reply_map(call->reply, 2);
        reply_text(call->reply, label);
        reply_text(call->reply, view.name);
        reply_key(call->reply, "count");
        reply_count(call->reply, view.count);
        reply_end(call->reply);
    }
    reply_end(call->reply);
}
