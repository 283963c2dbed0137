// SPDX-License-Identifier: MIT
#include "server/http/metrics_jobs.h"

#include "base/num.h"
#include "engine/measure/metrics.h"

enum {
    PRIORITIES_MAX = 10,   // of a row
    LABELS_MAX = 16 << 20, // bytes, of all rows
    LABEL_MAX = 4096,      // of a sample
};

// The queue or namespace of a row.
struct row {
    const struct ns *ns; // NULL: the namespaces from `jobs.rest` on
    struct slice queue;  // empty: all queues without a row
    size_t first;        // for a row of the rest: the first row of the same namespace
    size_t labels_start, labels_size;
};

struct jobs {
    struct metrics_text *text;
    const struct namespaces *namespaces;
    int64_t now_us;
    const struct ns *rest; // the first namespace without a row
    struct row *rows;      // owned
    size_t count, capacity;
    struct buffer labels; // of all rows
    struct buffer label;  // of the sample that is being written
};

// ---------------------------------------------------------------------------------------------
// Rows

static enum status add_row(struct jobs *jobs, const struct row *row)
{
    if (jobs->count == jobs->capacity) {
        size_t capacity = jobs->capacity ? 2 * jobs->capacity : 64;
        struct row *rows = mem_resize(jobs->labels.allocator, jobs->rows,
                                      jobs->capacity * sizeof(*rows), capacity * sizeof(*rows));
        if (!rows) {
            return STATUS_NO_MEMORY;
        }
        jobs->rows = rows;
        jobs->capacity = capacity;
    }
    buffer_clear(&jobs->label);
    metrics_label(&jobs->label, "namespace", row->ns ? ns_name(row->ns) : SLICE_EMPTY);
    metrics_label(&jobs->label, "queue", row->queue);
    struct row *added = &jobs->rows[jobs->count++];
    *added = *row;
    added->labels_start = jobs->labels.size;
    added->labels_size = jobs->label.size;
    buffer_append(&jobs->labels, buffer_slice(&jobs->label));
    return jobs->label.status ? jobs->label.status : jobs->labels.status;
}

static enum status add_namespace(struct jobs *jobs, const struct ns *ns, uint64_t *queues_left)
{
    enum status status = STATUS_OK;
    struct slice queue;
    size_t first = jobs->count;
    for (size_t i = 0; !status && *queues_left && engine_queue_name(ns->engine, i, &queue); i++) {
        status = add_row(jobs, &(struct row){ .ns = ns, .queue = queue });
        --*queues_left;
    }
    return status ? status : add_row(jobs, &(struct row){ .ns = ns, .first = first });
}

static enum status add_rows(struct jobs *jobs, const struct metrics_jobs_options *options)
{
    enum status status = STATUS_OK;
    uint64_t queues_left = options->queues_max;
    uint64_t namespaces_left = options->namespaces_max;
    const struct ns *ns = jobs->namespaces->first;
    for (; !status && ns && namespaces_left; ns = ns->next) {
        status = add_namespace(jobs, ns, &queues_left);
        namespaces_left--;
    }
    jobs->rest = ns;
    return status || !ns ? status : add_row(jobs, &(struct row){ 0 });
}

static struct slice labels_of(const struct jobs *jobs, const struct row *row)
{
    return slice_sub(buffer_slice(&jobs->labels), row->labels_start, row->labels_size);
}

// The parts of a row: queues or namespaces that are added, or subtracted from the figures of the
// whole namespace. Unsigned numbers wrap, so subtracting is multiplying by -1 and adding.

struct part {
    const struct engine *engine;
    struct slice queue; // empty: the whole namespace
    uint64_t times;     // 1, or -1 as unsigned
};

typedef void part_visit(void *context, const struct part *part);

static void each_part(const struct jobs *jobs, const struct row *row, part_visit *visit,
                      void *context)
{
    if (!row->ns) {
        for (const struct ns *ns = jobs->rest; ns; ns = ns->next) {
            visit(context, &(struct part){ ns->engine, SLICE_EMPTY, 1 });
        }
        return;
    }
    visit(context, &(struct part){ row->ns->engine, row->queue, 1 });
    for (const struct row *other = &jobs->rows[row->first]; !row->queue.size && other < row;
         other++) {
        visit(context, &(struct part){ row->ns->engine, other->queue, UINT64_MAX });
    }
}

struct counting {
    struct count_filter filter;
    uint64_t count;
};

static void count_part(void *context, const struct part *part)
{
    struct counting *counting = context;
    counting->filter.queue = part->queue;
    counting->count += part->times * engine_count(part->engine, &counting->filter);
}

static uint64_t count_of(const struct jobs *jobs, const struct row *row,
                         const struct count_filter *filter)
{
    struct counting counting = { .filter = *filter };
    each_part(jobs, row, count_part, &counting);
    return counting.count;
}

// A member of struct metrics, by its offset.
struct measuring {
    size_t offset;
    struct histogram histogram;
    uint64_t total;
};

static const void *member_of(const struct part *part, size_t offset)
{
    const struct metrics *metrics = engine_metrics(part->engine, part->queue);
    return metrics ? (const char *)metrics + offset : NULL;
}

static void measure_part(void *context, const struct part *part)
{
    struct measuring *measuring = context;
    const struct histogram *own = member_of(part, measuring->offset);
    if (own) {
        measuring->histogram.count += part->times * own->count;
        measuring->histogram.sum += part->times * own->sum;
        for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
            measuring->histogram.buckets[i] += part->times * own->buckets[i];
        }
    }
}

static void total_part(void *context, const struct part *part)
{
    struct measuring *measuring = context;
    const uint64_t *own = member_of(part, measuring->offset);
    measuring->total += own ? part->times * *own : 0;
}

// ---------------------------------------------------------------------------------------------
// Counts

static struct slice state_label(struct jobs *jobs, const struct row *row, struct slice priority,
                                enum job_state state)
{
    buffer_clear(&jobs->label);
    buffer_append(&jobs->label, labels_of(jobs, row));
    if (priority.data) {
        metrics_label(&jobs->label, "priority", priority);
    }
    metrics_label(&jobs->label, "state", slice_from_cstr(job_state_name(state)));
    return buffer_slice(&jobs->label);
}

static void write_counts(struct jobs *jobs)
{
    static const struct metric metric = { "sluice_jobs", METRIC_GAUGE,
                                          "Jobs there are, by state; finished ones in the queue "
                                          "that they finished in. With an empty queue: in one "
                                          "that is not told by name." };
    metrics_family(jobs->text, &metric);
    for (const struct row *row = jobs->rows; row < jobs->rows + jobs->count; row++) {
        for (enum job_state state = 0; state < JOB_STATE_COUNT; state++) {
            const struct count_filter filter = { .has_state = true, .state = state };
            uint64_t count = count_of(jobs, row, &filter);
            metrics_count(jobs->text, state_label(jobs, row, SLICE_EMPTY, state), count);
        }
    }
}

static void write_priority(struct jobs *jobs, const struct row *row, struct slice priority,
                           const uint64_t counts[JOB_STATE_COUNT])
{
    for (enum job_state state = 0; state < JOB_STATE_COUNT; state++) {
        if (counts[state]) {
            metrics_count(jobs->text, state_label(jobs, row, priority, state), counts[state]);
        }
    }
}

static void count_states(const struct jobs *jobs, const struct row *row, struct count_filter filter,
                         uint64_t counts[JOB_STATE_COUNT])
{
    filter.has_state = true;
    for (filter.state = 0; filter.state < JOB_STATE_COUNT; filter.state++) {
        counts[filter.state] = count_of(jobs, row, &filter);
    }
}

static void write_row_priorities(struct jobs *jobs, const struct row *row)
{
    struct priority_view priorities[PRIORITIES_MAX];
    uint64_t others[JOB_STATE_COUNT];
    size_t count = row->ns ? engine_priorities(row->ns->engine, row->queue, INT32_MIN, priorities,
                                               PRIORITIES_MAX)
                           : 0;
    count_states(jobs, row, (struct count_filter){ 0 }, others);
    for (size_t i = 0; i < count; i++) {
        char text[16];
        uint64_t counts[JOB_STATE_COUNT];
        const struct count_filter filter = { .has_priority = true,
                                             .priority = priorities[i].priority };
        count_states(jobs, row, filter, counts);
        for (size_t state = 0; state < JOB_STATE_COUNT; state++) {
            others[state] -= counts[state];
        }
        int size = snprintf(text, sizeof(text), "%d", priorities[i].priority);
        write_priority(jobs, row, slice_make(text, (size_t)size), counts);
    }
    write_priority(jobs, row, SLICE(""), others);
}

static void write_priorities(struct jobs *jobs)
{
    static const struct metric metric = {
        "sluice_jobs_by_priority", METRIC_GAUGE,
        "Jobs there are, by priority and state: those of each queue that run first, the others "
        "with an empty one. What there is none of is not told. With the client clock, jobs whose "
        "lease has run out are running until a pop looks at them."
    };
    metrics_family(jobs->text, &metric);
    for (const struct row *row = jobs->rows; row < jobs->rows + jobs->count; row++) {
        write_row_priorities(jobs, row);
    }
}

// ---------------------------------------------------------------------------------------------
// Times and rates

static const struct {
    struct metric metric;
    size_t offset;
} totals[] = {
    { { "sluice_jobs_queued", METRIC_COUNTER,
        "Jobs that were put, or made by recurring ones, since the server was started." },
      offsetof(struct metrics, queued_count) },
    { { "sluice_jobs_run", METRIC_COUNTER, "Runs that were begun since the server was started." },
      offsetof(struct metrics, run_count) },
};

static const struct {
    struct metric metric;
    size_t offset;
    const struct metric_bounds *bounds;
} histograms[] = {
    { { "sluice_job_lifetime_seconds", METRIC_HISTOGRAM,
        "Of complete jobs, from the first put to completion." },
      offsetof(struct metrics, lifetime),
      &metric_bounds_long },
    { { "sluice_job_time_to_completion_seconds", METRIC_HISTOGRAM,
        "Of complete jobs, from the first run to completion." },
      offsetof(struct metrics, time_to_completion),
      &metric_bounds_long },
    { { "sluice_job_time_to_failure_seconds", METRIC_HISTOGRAM,
        "Of failed jobs, from the first put to failing." },
      offsetof(struct metrics, time_to_failure),
      &metric_bounds_long },
    { { "sluice_job_runtime_seconds", METRIC_HISTOGRAM, "Of runs that completed." },
      offsetof(struct metrics, runtime),
      &metric_bounds_long },
    { { "sluice_job_latency_seconds", METRIC_HISTOGRAM,
        "From when a job could first run to its first run." },
      offsetof(struct metrics, latency),
      &metric_bounds_long },
    { { "sluice_job_attempts", METRIC_HISTOGRAM,
        "Of complete jobs, runs in the queue that they completed in." },
      offsetof(struct metrics, attempts),
      &metric_bounds_few },
};

static void write_totals(struct jobs *jobs)
{
    for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
        metrics_family(jobs->text, &totals[i].metric);
        for (const struct row *row = jobs->rows; row < jobs->rows + jobs->count; row++) {
            struct measuring measuring = { .offset = totals[i].offset };
            each_part(jobs, row, total_part, &measuring);
            metrics_count(jobs->text, labels_of(jobs, row), measuring.total);
        }
    }
}

// Queues without measurements are omitted, because a histogram has many lines.
static void write_histograms(struct jobs *jobs)
{
    for (size_t i = 0; i < sizeof(histograms) / sizeof(histograms[0]); i++) {
        metrics_family(jobs->text, &histograms[i].metric);
        for (const struct row *row = jobs->rows; row < jobs->rows + jobs->count; row++) {
            struct measuring measuring = { .offset = histograms[i].offset };
            each_part(jobs, row, measure_part, &measuring);
            if (measuring.histogram.count || !row->queue.size) {
                metrics_histogram(jobs->text, labels_of(jobs, row), &measuring.histogram,
                                  histograms[i].bounds);
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------

enum status metrics_jobs(struct metrics_text *text, const struct metrics_jobs_options *options)
{
    struct jobs jobs = { .text = text,
                         .namespaces = options->namespaces,
                         .now_us = options->now_us };
    buffer_init(&jobs.labels, options->allocator, LABELS_MAX);
    buffer_init(&jobs.label, options->allocator, LABEL_MAX);
    enum status status = add_rows(&jobs, options);
    if (!status) {
        write_counts(&jobs);
        write_priorities(&jobs);
        write_totals(&jobs);
        write_histograms(&jobs);
        status = jobs.label.status;
    }
    buffer_release(&jobs.label);
    buffer_release(&jobs.labels);
    mem_free(options->allocator, jobs.rows, jobs.capacity * sizeof(*jobs.rows));
    return status;
}
