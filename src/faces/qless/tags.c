// SPDX-License-Identifier: MIT
// Calls about tags and tracked jobs.
#include "base/ascii.h"
#include "faces/qless/calls.h"
#include "faces/qless/cjson.h"
#include "faces/qless/list.h"
#include "faces/qless/print.h"

enum {
    PAGE_COUNT = 25, // the default
};

// ---------------------------------------------------------------------------------------------
// Tags

typedef enum status tag_function(struct engine *engine, int64_t now_us, struct slice jid,
                                 struct slices tags, const struct job **out, struct error *error);

static enum status change_tags(struct qless_ask *ask, tag_function *function)
{
    if (!qless_has(ask, 1)) {
        return qless_no(ask, "Tag(): Arg \"jid\" missing");
    }
    struct slice jid = ask->words.items[1];
    if (!engine_get(ask->engine, jid)) {
        return qless_unmet(ask, "Tag(): Job %.*s does not exist", SLICE_PRINT(jid));
    }
    struct error error;
    const struct job *job;
    qless_print_tags(&ask->out, ask->engine, engine_get(ask->engine, jid));
    enum status status = qless_check_room_for(ask, ask->out.size, qless_words(ask, 2));
    buffer_clear(&ask->out);
    if (status) {
        return status;
    }
    status = function(ask->engine, ask->now_us, jid, qless_words(ask, 2), &job, &error);
    if (status) {
        return qless_engine_no(ask, "Tag", status, &error);
    }
    qless_print_tags(&ask->out, ask->engine, job);
    return qless_reply_out(ask);
}

// Reads the offset and the count of a page, at `index` and `index + 1`.
static enum status read_page(struct qless_ask *ask, size_t index, int64_t *offset, int64_t *count)
{
    *offset = 0;
    *count = PAGE_COUNT;
    if (qless_has(ask, index) && !qless_integer(ask->words.items[index], offset)) {
        return qless_no(ask, "Tag(): Arg \"offset\" not a number: %.*s",
                        SLICE_PRINT(ask->words.items[index]));
    }
    if (qless_has(ask, index + 1) && !qless_integer(ask->words.items[index + 1], count)) {
        return qless_no(ask, "Tag(): Arg \"count\" not a number: %.*s",
                        SLICE_PRINT(ask->words.items[index + 1]));
    }
    return STATUS_OK;
}

static void fill_tagged(struct qless_ask *ask, const struct qless_job_list *list, struct page *page)
{
    engine_tagged(ask->engine, list->name, page);
}

static void score_tagged(struct qless_ask *ask, const struct qless_job_list *list,
                         const struct job *job, struct qless_entry *out)
{
    (void)ask;
    out->score = job_tag_time(job, list->name);
}

static enum status get_tagged(struct qless_ask *ask)
{
    if (!qless_has(ask, 1)) {
        return qless_no(ask, "Tag(): Arg \"tag\" missing");
    }
    int64_t offset, count;
    enum status status = read_page(ask, 2, &offset, &count);
    if (status) {
        return status;
    }
    const struct qless_job_list jobs = { .fill = fill_tagged,
                                         .score = score_tagged,
                                         .name = ask->words.items[1] };
    const struct qless_list list = qless_list_of_jobs(ask, &jobs);
    struct qless_range range = qless_range_of(list.total, offset, count);
    struct qless_entry *entries;
    status = qless_list_read(ask, &list, range, &entries);
    if (status) {
        return status;
    }
    buffer_append(&ask->out, SLICE("{"));
    qless_cjson_key(&ask->out, "total");
    qless_cjson_integer(&ask->out, (int64_t)list.total);
    qless_cjson_key(&ask->out, "jobs");
    qless_print_names(&ask->out, entries, range.count);
    buffer_append(&ask->out, SLICE("}"));
    return qless_reply_out(ask);
}

static enum status read_top(struct qless_ask *ask, const struct qless_list *list, size_t offset,
                            size_t count, struct qless_entry *out)
{
    (void)list;
    for (size_t i = 0; i < count; i++) {
        struct count_view view = { 0 };
        (void)engine_tag_top(ask->engine, offset + i, &view);
        out[i] = (struct qless_entry){ .score = (int64_t)view.count, .name = view.name };
    }
    return STATUS_OK;
}

static enum status get_top(struct qless_ask *ask)
{
    int64_t offset, count;
    enum status status = read_page(ask, 1, &offset, &count);
    if (status) {
        return status;
    }
    const struct qless_list list = { .total = engine_tag_top_count(ask->engine),
                                     .reverse = true,
                                     .read = read_top };
    struct qless_range range = qless_limit_of(list.total, offset, count);
    struct qless_entry *entries;
    status = qless_list_read(ask, &list, range, &entries);
    if (status) {
        return status;
    }
    qless_print_names(&ask->out, entries, range.count);
    return qless_reply_out(ask);
}

enum status qless_tag(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        return qless_no(ask,
                        "Tag(): Arg \"command\" must be \"add\", \"remove\", \"get\" or \"top\"");
    }
    struct slice command = ask->words.items[0];
    if (slice_equal(command, SLICE("add"))) {
        return change_tags(ask, engine_tag_add);
    }
    if (slice_equal(command, SLICE("remove"))) {
        return change_tags(ask, engine_tag_remove);
    }
    if (slice_equal(command, SLICE("get"))) {
        return get_tagged(ask);
    }
    if (slice_equal(command, SLICE("top"))) {
        return get_top(ask);
    }
    return qless_no(ask, "Tag(): First argument must be \"add\", \"remove\" or \"get\"");
}

// ---------------------------------------------------------------------------------------------
// Tracked jobs

static void print_tracked(struct qless_ask *ask)
{
    struct buffer *out = &ask->out;
    struct slice jid;
    const struct job *job;
    buffer_append(out, SLICE("{"));
    qless_cjson_key(out, "jobs");
    struct qless_cjson_array jobs = qless_cjson_begin(out);
    for (size_t i = 0; !qless_is_full(ask) && engine_tracked(ask->engine, i, &jid, &job); i++) {
        if (job) {
            qless_cjson_next(&jobs);
            qless_print_job(out, ask->engine, job, ask->split);
        }
    }
    qless_cjson_end(&jobs);
    qless_cjson_key(out, "expired");
    struct qless_cjson_array expired = qless_cjson_begin(out);
    for (size_t i = 0; !qless_is_full(ask) && engine_tracked(ask->engine, i, &jid, &job); i++) {
        if (!job) {
            qless_cjson_next(&expired);
            qless_cjson_string(out, jid);
        }
    }
    qless_cjson_end(&expired);
    buffer_append(out, SLICE("}"));
}

enum status qless_track(struct qless_ask *ask)
{
    if (!qless_has(ask, 0)) {
        print_tracked(ask);
        enum status status = qless_check_room(ask, ask->out.size);
        return status ? status : qless_reply_out(ask);
    }
    if (!qless_has(ask, 1)) {
        return qless_no(ask, "Track(): Arg \"jid\" missing");
    }
    struct slice command = ask->words.items[0], jid = ask->words.items[1];
    bool track = ascii_equal(command, SLICE("track"));
    bool known = track || ascii_equal(command, SLICE("untrack"));
    // The split generation tracks any jid; here it must be the jid of an existing job, or be
    // untracked.
    if ((!ask->split || track) && !engine_get(ask->engine, jid)) {
        return qless_unmet(ask, "Track(): Job does not exist");
    }
    if (!known) {
        return qless_no(ask, "Track(): Unknown action \"%.*s\"", SLICE_PRINT(command));
    }
    struct error error;
    bool changed = false;
    enum status status = track ? engine_track(ask->engine, ask->now_us, jid, &changed, &error)
                               : engine_untrack(ask->engine, ask->now_us, jid, &changed, &error);
    if (status && !(ask->split && status == STATUS_NOT_FOUND)) {
        return qless_engine_no(ask, "Track", status, &error);
    }
    if (ask->split) {
        reply_integer(ask->reply, changed);
    } else {
        reply_text(ask->reply, changed ? SLICE("1") : SLICE("0"));
    }
    return STATUS_OK;
}
