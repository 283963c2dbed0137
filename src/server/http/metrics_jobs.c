// SPDX-License-Identifier: MIT
#include "server/http/metrics_jobs.h"

#include "base/num.h"
#include "engine/measure/metrics.h"

#include <assert.h>

enum {
    PRIORITIES_MAX = 10,   // of a row
    NAMES_MAX = 16 << 20,  // bytes, of all rows
    LABELS_MAX = 32 << 20, // bytes, of all rows
    LABEL_MAX = 4096,      // of a sample
    TOTALS = 7,
    HISTOGRAMS = 6,
};

// What is counted of one priority; `is_rest`: of all others together.
struct priority {
    bool is_rest;
    int32_t value;
    uint64_t states[JOB_STATE_COUNT];
};

struct detail {
    size_t priority_count;
    struct priority priorities[PRIORITIES_MAX + 1];
    struct metric_counts histograms[HISTOGRAMS];
};

enum row_kind {
    ROW_QUEUE,
    ROW_REST,      // of a namespace: the whole of it less its other rows
    ROW_NAMESPACES // that have no row
};

struct row {
    enum row_kind kind;
    struct slice queue; // borrowed, only while the rows are read
    size_t names_start, ns_name_size, queue_name_size;
    size_t labels_start, labels_size; // namespace and queue; 0: not made yet
    size_t ns_size;                   // of the labels: that of the namespace alone
    uint64_t states[JOB_STATE_COUNT];
    uint64_t totals[TOTALS];
    uint64_t queues, paused, workers; // of a queue: whether it is paused, its listeners
    int64_t oldest_us;
    struct detail *detail; // owned; NULL: it has none
};

struct metrics_jobs {
    const struct allocator *allocator; // borrowed
    int64_t now_us;
    struct row *rows; // owned
    size_t count, capacity;
    struct buffer names;  // of all rows: namespace and queue
    struct buffer labels; // of the rows that a step has come to
    struct buffer label;  // of the sample that is being written
    // The next step.
    size_t family, row;
    bool begun; // the family's comments are written
};

// ---------------------------------------------------------------------------------------------
// Families

static const struct {
    struct metric metric;
    size_t offset; // in struct metrics
} totals[TOTALS] = {
    { { "sluice_jobs_queued", METRIC_COUNTER,
        "Jobs that were put, or made by recurring ones, since the server was started." },
      offsetof(struct metrics, queued_count) },
    { { "sluice_jobs_run", METRIC_COUNTER, "Runs that were begun since the server was started." },
      offsetof(struct metrics, run_count) },
    { { "sluice_jobs_completed", METRIC_COUNTER,
        "Jobs that were completed for good since the server was started." },
      offsetof(struct metrics, completed_count) },
    { { "sluice_jobs_failed", METRIC_COUNTER,
        "Jobs that failed, with no retries left or at once, since the server was started." },
      offsetof(struct metrics, failed_count) },
    { { "sluice_jobs_retried", METRIC_COUNTER,
        "Runs that ended with a retry since the server was started." },
      offsetof(struct metrics, retried_count) },
    { { "sluice_jobs_lost", METRIC_COUNTER,
        "Runs whose lease expired since the server was started." },
      offsetof(struct metrics, lost_count) },
    { { "sluice_jobs_canceled", METRIC_COUNTER,
        "Jobs that were canceled since the server was started." },
      offsetof(struct metrics, canceled_count) },
};

static const struct {
    struct metric metric;
    size_t offset; // in struct metrics
    const struct metric_bounds *bounds;
} histograms[HISTOGRAMS] = {
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

// ---------------------------------------------------------------------------------------------
// Reading: what a row has of an engine or a queue

static void read_totals(const struct metrics *metrics, uint64_t out[TOTALS])
{
    for (size_t i = 0; metrics && i < TOTALS; i++) {
        out[i] += *(const uint64_t *)(const void *)((const char *)metrics + totals[i].offset);
    }
}

static void read_histograms(const struct metrics *metrics, struct detail *detail)
{
    for (size_t i = 0; metrics && i < HISTOGRAMS; i++) {
        const void *histogram = (const char *)metrics + histograms[i].offset;
        metrics_counts_add(&detail->histograms[i], histogram, histograms[i].bounds);
    }
}

static uint64_t count_priority(const struct engine *engine, struct slice queue, int32_t priority,
                               int state)
{
    return engine_count(engine, &(struct count_filter){ .queue = queue,
                                                        .has_state = true,
                                                        .state = (enum job_state)state,
                                                        .has_priority = true,
                                                        .priority = priority });
}

static void subtract(uint64_t *from, const uint64_t *what, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        from[i] -= what[i];
    }
}

// The priorities that run first, and the sum of the others. Unlike a row's states these do not
// depend on the time.
static void read_priorities(const struct engine *engine, struct slice queue, struct detail *detail)
{
    struct priority_view views[PRIORITIES_MAX];
    size_t count = engine_priorities(engine, queue, INT32_MIN, views, PRIORITIES_MAX);
    struct priority *others = &detail->priorities[count];
    detail->priority_count = count + 1;
    others->is_rest = true;
    for (int state = 0; state < JOB_STATE_COUNT; state++) {
        others->states[state] = engine_count(
            engine, &(struct count_filter){
                        .queue = queue, .has_state = true, .state = (enum job_state)state });
    }
    for (size_t i = 0; i < count; i++) {
        struct priority *priority = &detail->priorities[i];
        priority->value = views[i].priority;
        for (int state = 0; state < JOB_STATE_COUNT; state++) {
            priority->states[state] = count_priority(engine, queue, priority->value, state);
        }
        subtract(others->states, priority->states, JOB_STATE_COUNT);
    }
}

// Takes the jobs of a queue, which has `own`, off the priorities of the whole engine. Neither needs
// to list the priorities of the other: those of the whole are counted in the queue too.
static void take_off_priorities(const struct engine *engine, struct slice queue,
                                const struct detail *own, struct detail *rest)
{
    struct priority *others = &rest->priorities[rest->priority_count - 1];
    for (size_t i = 0; i < own->priority_count; i++) {
        subtract(others->states, own->priorities[i].states, JOB_STATE_COUNT);
    }
    for (size_t i = 0; i + 1 < rest->priority_count; i++) {
        struct priority *priority = &rest->priorities[i];
        for (int state = 0; state < JOB_STATE_COUNT; state++) {
            uint64_t count = count_priority(engine, queue, priority->value, state);
            priority->states[state] -= count;
            others->states[state] += count; // it was among the queue's own
        }
    }
}

// What a row of a queue has by itself is not in the rest.
static void take_off(const struct engine *engine, struct row *rest, const struct row *row)
{
    subtract(rest->states, row->states, JOB_STATE_COUNT);
    subtract(rest->totals, row->totals, TOTALS);
    if (!row->detail) {
        return;
    }
    take_off_priorities(engine, row->queue, row->detail, rest->detail);
    for (size_t i = 0; i < HISTOGRAMS; i++) {
        metrics_counts_subtract(&rest->detail->histograms[i], &row->detail->histograms[i]);
    }
}

// ---------------------------------------------------------------------------------------------
// Rows

// Only the names: labels take longer to make.
static enum status add_names(struct metrics_jobs *jobs, struct row *row, struct slice ns,
                             struct slice queue)
{
    row->names_start = jobs->names.size;
    row->ns_name_size = ns.size;
    row->queue_name_size = queue.size;
    buffer_append(&jobs->names, ns);
    buffer_append(&jobs->names, queue);
    return jobs->names.status;
}

static enum status add_row(struct metrics_jobs *jobs, enum row_kind kind, struct slice ns,
                           struct slice queue, bool has_detail, struct row **out)
{
    if (jobs->count == jobs->capacity) {
        size_t capacity = jobs->capacity ? 2 * jobs->capacity : 64;
        struct row *rows = mem_resize(jobs->allocator, jobs->rows, jobs->capacity * sizeof(*rows),
                                      capacity * sizeof(*rows));
        if (!rows) {
            return STATUS_NO_MEMORY;
        }
        jobs->rows = rows;
        jobs->capacity = capacity;
    }
    struct row *row = &jobs->rows[jobs->count];
    *row = (struct row){ .kind = kind };
    if (has_detail) {
        row->detail = mem_zalloc(jobs->allocator, sizeof(*row->detail));
        if (!row->detail) {
            return STATUS_NO_MEMORY;
        }
    }
    jobs->count++;
    *out = row;
    return add_names(jobs, row, ns, queue);
}

static enum status add_queue(struct metrics_jobs *jobs, const struct ns *ns,
                             const struct queue_figures *figures, bool has_detail)
{
    struct row *row;
    enum status status = add_row(jobs, ROW_QUEUE, ns_name(ns), figures->name, has_detail, &row);
    if (status) {
        return status;
    }
    row->queue = figures->name;
    memcpy(row->states, figures->states, sizeof(row->states));
    read_totals(figures->metrics, row->totals);
    row->paused = figures->paused;
    row->workers = figures->workers;
    row->oldest_us = figures->oldest_us;
    if (has_detail) {
        read_priorities(ns->engine, figures->name, row->detail);
        read_histograms(figures->metrics, row->detail);
    }
    return STATUS_OK;
}

static enum status add_rest(struct metrics_jobs *jobs, const struct ns *ns, size_t first)
{
    struct row *row;
    struct engine_figures figures;
    size_t end = jobs->count;
    enum status status = add_row(jobs, ROW_REST, ns_name(ns), SLICE_EMPTY, true, &row);
    if (status) {
        return status;
    }
    engine_figures(ns->engine, &figures);
    memcpy(row->states, figures.states, sizeof(row->states));
    row->queues = figures.queues;
    row->paused = figures.paused;
    row->workers = figures.workers;
    row->oldest_us = engine_oldest(ns->engine);
    read_totals(figures.metrics, row->totals);
    read_priorities(ns->engine, SLICE_EMPTY, row->detail);
    read_histograms(figures.metrics, row->detail);
    for (size_t i = first; i < end; i++) {
        take_off(ns->engine, row, &jobs->rows[i]);
        // What engine_oldest has not looked at yet may be among the rows.
        int64_t oldest_us = jobs->rows[i].oldest_us;
        if (oldest_us && (!row->oldest_us || oldest_us < row->oldest_us)) {
            row->oldest_us = oldest_us;
        }
    }
    return STATUS_OK;
}

// The namespaces from `ns` on.
static enum status add_others(struct metrics_jobs *jobs, const struct ns *ns)
{
    struct row *row;
    enum status status = add_row(jobs, ROW_NAMESPACES, SLICE_EMPTY, SLICE_EMPTY, true, &row);
    if (status) {
        return status;
    }
    struct priority *rest = &row->detail->priorities[0];
    row->detail->priority_count = 1;
    rest->is_rest = true;
    for (; ns; ns = ns->next) {
        struct engine_figures figures;
        engine_figures(ns->engine, &figures);
        for (int state = 0; state < JOB_STATE_COUNT; state++) {
            row->states[state] += figures.states[state];
            rest->states[state] += figures.states[state];
        }
        row->queues += figures.queues;
        row->paused += figures.paused;
        row->workers += figures.workers;
        read_totals(figures.metrics, row->totals);
        read_histograms(figures.metrics, row->detail);
    }
    return STATUS_OK;
}

static enum status add_rows(struct metrics_jobs *jobs, const struct metrics_jobs_options *options)
{
    enum status status = STATUS_OK;
    uint64_t queues_left = options->queues_max, details_left = options->details_max;
    uint64_t namespaces_left = options->namespaces_max;
    const struct ns *ns = options->namespaces->first;
    for (; !status && ns && namespaces_left; ns = ns->next, namespaces_left--) {
        struct queue_figures figures;
        size_t first = jobs->count;
        for (size_t i = 0; !status && queues_left && engine_queue_figures(ns->engine, i, &figures);
             i++, queues_left--) {
            status = add_queue(jobs, ns, &figures, details_left > 0);
            details_left -= details_left > 0;
        }
        if (!status) {
            status = add_rest(jobs, ns, first);
        }
    }
    return status || !ns ? status : add_others(jobs, ns);
}

// ---------------------------------------------------------------------------------------------
// Writing

static struct slice labels_of(const struct metrics_jobs *jobs, const struct row *row)
{
    return slice_sub(buffer_slice(&jobs->labels), row->labels_start, row->labels_size);
}

static struct slice ns_labels_of(const struct metrics_jobs *jobs, const struct row *row)
{
    return slice_sub(labels_of(jobs, row), 0, row->ns_size);
}

static struct slice state_label(struct metrics_jobs *jobs, const struct row *row,
                                struct slice priority, int state)
{
    buffer_clear(&jobs->label);
    buffer_append(&jobs->label, labels_of(jobs, row));
    if (priority.data) {
        metrics_label(&jobs->label, "priority", priority);
    }
    metrics_label(&jobs->label, "state", slice_from_cstr(job_state_name((enum job_state)state)));
    return buffer_slice(&jobs->label);
}

static void write_states(struct metrics_jobs *jobs, const struct row *row,
                         struct metrics_text *text)
{
    for (int state = 0; state < JOB_STATE_COUNT; state++) {
        metrics_count(text, state_label(jobs, row, SLICE_EMPTY, state), row->states[state]);
    }
}

static void write_priorities(struct metrics_jobs *jobs, const struct row *row,
                             struct metrics_text *text)
{
    for (size_t i = 0; row->detail && i < row->detail->priority_count; i++) {
        const struct priority *priority = &row->detail->priorities[i];
        char value[16];
        int size = snprintf(value, sizeof(value), "%d", priority->value);
        struct slice shown = priority->is_rest ? SLICE("") : slice_make(value, (size_t)size);
        for (int state = 0; state < JOB_STATE_COUNT; state++) {
            if (priority->states[state]) {
                metrics_count(text, state_label(jobs, row, shown, state), priority->states[state]);
            }
        }
    }
}

static int64_t age_of(const struct metrics_jobs *jobs, const struct row *row)
{
    int64_t age_us = row->oldest_us ? jobs->now_us - row->oldest_us : 0;
    return age_us > 0 ? age_us : 0;
}

static void write_age(struct metrics_jobs *jobs, const struct row *row, struct metrics_text *text)
{
    if (row->kind == ROW_QUEUE) {
        metrics_time(text, labels_of(jobs, row), age_of(jobs, row));
    }
}

static void write_ns_age(struct metrics_jobs *jobs, const struct row *row,
                         struct metrics_text *text)
{
    if (row->kind == ROW_REST) {
        metrics_time(text, ns_labels_of(jobs, row), age_of(jobs, row));
    }
}

static void write_paused(struct metrics_jobs *jobs, const struct row *row,
                         struct metrics_text *text)
{
    if (row->kind == ROW_QUEUE) {
        metrics_count(text, labels_of(jobs, row), row->paused);
    }
}

static void write_ns_paused(struct metrics_jobs *jobs, const struct row *row,
                            struct metrics_text *text)
{
    if (row->kind != ROW_QUEUE) {
        metrics_count(text, ns_labels_of(jobs, row), row->paused);
    }
}

static void write_workers(struct metrics_jobs *jobs, const struct row *row,
                          struct metrics_text *text)
{
    if (row->kind == ROW_QUEUE) {
        metrics_count(text, labels_of(jobs, row), row->workers);
    }
}

static void write_ns_workers(struct metrics_jobs *jobs, const struct row *row,
                             struct metrics_text *text)
{
    if (row->kind != ROW_QUEUE) {
        metrics_count(text, ns_labels_of(jobs, row), row->workers);
    }
}

static void write_ns_queues(struct metrics_jobs *jobs, const struct row *row,
                            struct metrics_text *text)
{
    if (row->kind != ROW_QUEUE) {
        metrics_count(text, ns_labels_of(jobs, row), row->queues);
    }
}

typedef void write_row(struct metrics_jobs *jobs, const struct row *row, struct metrics_text *text);

static const struct {
    struct metric metric;
    write_row *write;
} gauges[] = {
    { { "sluice_jobs", METRIC_GAUGE,
        "Jobs there are, by state; finished ones in the queue that they finished in. With an empty "
        "queue: in queues without metrics of their own." },
      write_states },
    { { "sluice_jobs_by_priority", METRIC_GAUGE,
        "Jobs there are, by priority and state: those of each queue that run first, the others "
        "with an empty priority. Zeros are left out. With the client clock, jobs whose lease has "
        "expired are running until a pop looks at them." },
      write_priorities },
    { { "sluice_queue_oldest_waiting_seconds", METRIC_GAUGE,
        "How long the oldest waiting job of a queue could have run; 0: there is none." },
      write_age },
    { { "sluice_queue_paused", METRIC_GAUGE, "Whether a queue is paused." }, write_paused },
    { { "sluice_queue_workers", METRIC_GAUGE, "Workers that listen to a queue." }, write_workers },
    { { "sluice_oldest_waiting_seconds", METRIC_GAUGE,
        "How long the oldest waiting job of a namespace could have run, in any queue." },
      write_ns_age },
    { { "sluice_queues", METRIC_GAUGE, "Queues of a namespace." }, write_ns_queues },
    { { "sluice_queues_paused", METRIC_GAUGE, "Paused queues of a namespace." }, write_ns_paused },
    { { "sluice_workers", METRIC_GAUGE, "Known workers of a namespace." }, write_ns_workers },
};

enum {
    GAUGES = sizeof(gauges) / sizeof(gauges[0]),
    FAMILIES = GAUGES + TOTALS + HISTOGRAMS,
};

static const struct metric *family_of(size_t family)
{
    return family < GAUGES            ? &gauges[family].metric
           : family < GAUGES + TOTALS ? &totals[family - GAUGES].metric
                                      : &histograms[family - GAUGES - TOTALS].metric;
}

// A queue where nothing was measured is left out: a histogram has many lines.
static void write_histogram(const struct metrics_jobs *jobs, const struct row *row, size_t index,
                            struct metrics_text *text)
{
    const struct metric_counts *counts = row->detail ? &row->detail->histograms[index] : NULL;
    if (counts && (counts->count || row->kind != ROW_QUEUE)) {
        metrics_counts_write(text, labels_of(jobs, row), counts, histograms[index].bounds);
    }
}

// Labels are made once, when the first family comes to the row.
static void make_labels(struct metrics_jobs *jobs, struct row *row)
{
    struct slice names = slice_sub(buffer_slice(&jobs->names), row->names_start, SIZE_MAX);
    buffer_clear(&jobs->label);
    metrics_label(&jobs->label, "namespace", slice_sub(names, 0, row->ns_name_size));
    row->ns_size = jobs->label.size;
    metrics_label(&jobs->label, "queue", slice_sub(names, row->ns_name_size, row->queue_name_size));
    row->labels_start = jobs->labels.size;
    row->labels_size = jobs->label.size;
    buffer_append(&jobs->labels, buffer_slice(&jobs->label));
}

static void write_row_of(struct metrics_jobs *jobs, const struct row *row,
                         struct metrics_text *text)
{
    if (jobs->family < GAUGES) {
        gauges[jobs->family].write(jobs, row, text);
    } else if (jobs->family < GAUGES + TOTALS) {
        metrics_count(text, labels_of(jobs, row), row->totals[jobs->family - GAUGES]);
    } else {
        write_histogram(jobs, row, jobs->family - GAUGES - TOTALS, text);
    }
}

bool metrics_jobs_step(struct metrics_jobs *jobs, struct metrics_text *text)
{
    if (jobs->family == FAMILIES) {
        return false;
    }
    if (!jobs->begun) {
        metrics_family(text, family_of(jobs->family));
        jobs->begun = true;
    }
    if (jobs->row < jobs->count) {
        struct row *row = &jobs->rows[jobs->row++];
        if (!row->labels_size) {
            make_labels(jobs, row);
        }
        write_row_of(jobs, row, text);
    }
    if (jobs->row == jobs->count) {
        jobs->family++;
        jobs->row = 0;
        jobs->begun = false;
    }
    enum status status = jobs->label.status ? jobs->label.status : jobs->labels.status;
    if (status && !text->out->status) {
        text->out->status = status;
    }
    return true;
}

// ---------------------------------------------------------------------------------------------

enum status metrics_jobs_new(const struct metrics_jobs_options *options, struct metrics_jobs **out)
{
    struct metrics_jobs *jobs = mem_zalloc(options->allocator, sizeof(*jobs));
    if (!jobs) {
        return STATUS_NO_MEMORY;
    }
    jobs->allocator = options->allocator;
    jobs->now_us = options->now_us;
    buffer_init(&jobs->names, options->allocator, NAMES_MAX);
    buffer_init(&jobs->labels, options->allocator, LABELS_MAX);
    buffer_init(&jobs->label, options->allocator, LABEL_MAX);
    enum status status = add_rows(jobs, options);
    if (status) {
        metrics_jobs_free(jobs);
        return status;
    }
    *out = jobs;
    return STATUS_OK;
}

void metrics_jobs_free(struct metrics_jobs *jobs)
{
    if (!jobs) {
        return;
    }
    for (size_t i = 0; i < jobs->count; i++) {
        struct detail *detail = jobs->rows[i].detail;
        mem_free(jobs->allocator, detail, detail ? sizeof(*detail) : 0);
    }
    mem_free(jobs->allocator, jobs->rows, jobs->capacity * sizeof(*jobs->rows));
    buffer_release(&jobs->label);
    buffer_release(&jobs->labels);
    buffer_release(&jobs->names);
    mem_free(jobs->allocator, jobs, sizeof(*jobs));
}
