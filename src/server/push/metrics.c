// SPDX-License-Identifier: MIT
#include "server/push/metrics.h"

#include "host/namespaces.h"

enum {
    LABEL_MAX = 4096, // of the labels of a sample
};

struct pushes {
    struct metrics_text *text;
    const struct push *push;
    uint64_t patterns_max;
    struct buffer label;
};

typedef uint64_t entry_value(const struct push_entry *entry, size_t offset);

static void write_sample(struct pushes *all, struct slice ns, struct slice pattern,
                         const char *outcome, uint64_t value)
{
    buffer_clear(&all->label);
    metrics_label(&all->label, "namespace", ns);
    metrics_label(&all->label, "pattern", pattern);
    if (outcome) {
        metrics_label(&all->label, "outcome", slice_from_cstr(outcome));
    }
    metrics_count(all->text, buffer_slice(&all->label), value);
}

// Writes a sample for each pattern with samples of its own, and one for all others.
static void write_samples(struct pushes *all, const char *outcome, entry_value *value,
                          size_t offset)
{
    uint64_t left = all->patterns_max, rest = 0;
    bool has_rest = false;
    for (const struct push_namespace *space = all->push->namespaces; space; space = space->next) {
        for (const struct push_entry *at = space->entries; at; at = at->next) {
            if (left) {
                left--;
                write_sample(all, ns_name(space->ns), at->plan.given.pattern, outcome,
                             value(at, offset));
            } else {
                has_rest = true;
                rest += value(at, offset);
            }
        }
    }
    if (has_rest) {
        write_sample(all, SLICE_EMPTY, SLICE_EMPTY, outcome, rest);
    }
}

static uint64_t running(const struct push_entry *entry, size_t offset)
{
    (void)offset;
    return (uint64_t)entry->running;
}

static uint64_t is_open(const struct push_entry *entry, size_t offset)
{
    (void)offset;
    return entry->breaker != BREAKER_CLOSED;
}

static uint64_t figure(const struct push_entry *entry, size_t offset)
{
    return *(const uint64_t *)(const void *)((const char *)&entry->figures + offset);
}

#define FIGURE(name) offsetof(struct push_entry_figures, name)

static const struct {
    const char *outcome;
    size_t offset;
} outcomes[] = {
    { "completed", FIGURE(completed) }, { "accepted", FIGURE(accepted) },
    { "delayed", FIGURE(delayed) },     { "retried", FIGURE(retried) },
    { "failed", FIGURE(failed) },       { "lost", FIGURE(lost) },
};

enum status metrics_push(struct metrics_text *text, const struct push *push, uint64_t patterns_max)
{
    static const struct metric families[] = {
        { "sluice_push_running", METRIC_GAUGE, "Jobs that are being pushed." },
        { "sluice_push_breakers_open", METRIC_GAUGE,
          "Addresses to which nothing is sent, or one to see, since too many requests failed." },
        { "sluice_push_requests", METRIC_COUNTER,
          "Requests that were begun since the server was started." },
        { "sluice_push_outcomes", METRIC_COUNTER,
          "What became of pushed jobs since the server was started." },
        { "sluice_push_received_bytes", METRIC_COUNTER,
          "Bytes of workers' answers since the server was started." },
    };
    struct pushes all = { .text = text, .push = push, .patterns_max = patterns_max };
    buffer_init(&all.label, &allocator_system, LABEL_MAX);
    metrics_family(text, &families[0]);
    write_samples(&all, NULL, running, 0);
    metrics_family(text, &families[1]);
    write_samples(&all, NULL, is_open, 0);
    metrics_family(text, &families[2]);
    write_samples(&all, NULL, figure, FIGURE(sent));
    metrics_family(text, &families[3]);
    for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
        write_samples(&all, outcomes[i].outcome, figure, outcomes[i].offset);
    }
    metrics_family(text, &families[4]);
    metrics_count(text, SLICE_EMPTY, push->received);
    enum status status = all.label.status;
    buffer_release(&all.label);
    return status;
}
