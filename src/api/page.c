// SPDX-License-Identifier: MIT
#include "api/page.h"

#include "api/job_words.h"

size_t page_count(const struct page_words *words)
{
    return words->has_count ? (size_t)words->count : PAGE_COUNT;
}

struct page page_start(const struct page_words *words, const struct job *room[PAGE_COUNT_MAX])
{
    return (
        struct page){ .offset = (size_t)words->offset, .count = page_count(words), .jobs = room };
}

static void say_jid(struct call *call, const struct job *job)
{
    struct job_view view;
    job_view(call->engine, job, &view);
    reply_text(call->reply, view.jid);
}

void reply_page(struct call *call, const struct page_words *words, const struct page *page)
{
    reply_map(call->reply, 2);
    reply_key(call->reply, "total");
    reply_count(call->reply, page->total);
    reply_text(call->reply, words->jids ? SLICE("jids") : SLICE("jobs"));
    reply_list(call->reply, page->found);
    for (size_t i = 0; i < page->found; i++) {
        if (words->jids) {
            say_jid(call, page->jobs[i]);
        } else {
            reply_job(call->reply, call->engine, page->jobs[i]);
        }
    }
    reply_end(call->reply);
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
