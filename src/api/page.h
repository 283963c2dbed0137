// SPDX-License-Identifier: MIT
// Long lists are requested and returned in pages.
#ifndef SLUICE_API_PAGE_H
#define SLUICE_API_PAGE_H

#include "api/table.h"

enum {
    PAGE_COUNT = 25, // the default
    PAGE_COUNT_MAX = 1000,
};

struct page_words {
    int64_t offset, count, data_max;
    bool has_count, has_data_max;
    bool jids;
    struct slice cursor;
};

// The table entries for a struct with a member `struct page_words page`.
#define PAGE_OPTIONS(of)                                                                           \
    OPTION(of, page.offset, INTEGER, "OFFSET", "how many of the first to leave out (0)", .min = 0, \
           .max = INT64_MAX),                                                                      \
        OPTION_HAS(of, page.count, page.has_count, INTEGER, "COUNT", "how many at most (25)",      \
                   .min = 0, .max = PAGE_COUNT_MAX)

// The same for a list of jobs.
#define JOB_PAGE_OPTIONS(of) PAGE_OPTIONS(of), JOB_OPTIONS_OF_PAGE(of)

// How the jobs of a list are shown.
#define JOB_OPTIONS_OF_PAGE(of)                                                                    \
    OPTION(of, page.jids, FLAG, "JIDS", "only the jids, not the whole jobs"),                      \
        OPTION_HAS(of, page.data_max, page.has_data_max, INTEGER, "DATA-MAX",                      \
                   "cut data and results after so many bytes: then they are texts, and data-cut "  \
                   "and result-cut say so",                                                        \
                   .min = 0, .max = INT64_MAX)

// The same for a list that may be long.
#define LONG_PAGE_OPTIONS(of)                                                                      \
    JOB_PAGE_OPTIONS(of), OPTION(of, page.cursor, TEXT, "CURSOR",                                  \
                                 "where to go on: what the page before gave as `next`")

size_t page_count(const struct page_words *words);

// Prepares a page with room for the jobs. INVALID for a cursor that no page returned.
MUST_USE enum status page_start(const struct call *call, const struct page_words *words,
                                const struct job *room[PAGE_COUNT_MAX], struct page *out,
                                struct error *error);

// Parses the cursor of a page of other objects: the position of the last one, or null at the end.
MUST_USE enum status page_read_cursor(const struct call *call, struct slice text,
                                      struct index_key *out, struct error *error);
void reply_page_next(struct reply *reply, const struct index_key *last);

// The error for a cursor that no page returned.
enum status page_refuse_cursor(const struct call *call, struct error *error);

// Writes the jobs or their jids: the member `jobs` or `jids` of a map that has been begun.
void reply_page_jobs(struct call *call, const struct page_words *words,
                     const struct job *const *jobs, size_t count);

// Writes these after `total`, the number of all jobs: two members of a map that has been begun.
void reply_page_members(struct call *call, const struct page_words *words, const struct page *page);

// Writes a map of these members and `next`, the cursor of the next page.
void reply_page(struct call *call, const struct page_words *words, const struct page *page);

// Writes names and the number of jobs of each, from a function that returns them one after the
// other: a list of maps with `label` and `count`.
void reply_counts(struct call *call, const struct page_words *words, struct slice label,
                  bool (*at)(const struct engine *engine, size_t index, struct count_view *view));

#endif
