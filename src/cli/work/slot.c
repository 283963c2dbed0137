// SPDX-License-Identifier: MIT
#include "cli/work/slot.h"

#include "cli/core/json.h"
#include "cli/core/steady.h"
#include "cli/work/process.h"
#include "cli/work/work.h"

#include <assert.h>

// A job that ends sooner is not said to have been started: one call less for each of many.
static const double tell_after_s = 0.1;

// ---------------------------------------------------------------------------------------------
// Beginning

void work_slot_assign(struct work_slot *slot, struct sluice_job *job)
{
    assert(slot->state == WORK_SLOT_FREE && job);
    struct work *work = slot->work;
    const char *jid = sluice_job_jid(job);
    slot->job = job;
    slot->jid = tool_copy(jid, strlen(jid));
    slot->state = WORK_SLOT_RUNNING;
    slot->began = slot->end_by = 0;
    slot->ending = WORK_ENDING_NONE;
    work->status.running++;
    if (work->draining) {
        work_slot_settle(slot, (struct work_verdict){ .kind = WORK_VERDICT_RETURN });
    } else {
        work->model->begin(slot);
    }
}

bool work_slot_taken(const struct work_slot *slot)
{
    return slot->state == WORK_SLOT_RUNNING || slot->state == WORK_SLOT_SETTLING;
}

bool work_slot_runs(const struct work_slot *slot)
{
    return slot->state == WORK_SLOT_RUNNING && slot->ending == WORK_ENDING_NONE;
}

void work_slot_started(struct work_slot *slot)
{
    assert(slot->state == WORK_SLOT_RUNNING && slot->runner->child.pid > 0);
    struct work *work = slot->work;
    const struct work_runner *runner = slot->runner;
    char *worker = tool_format("%s", sluice_job_worker(slot->job));
    const struct work_run run = {
        .pid = runner->child.pid,
        .start = work_process_start(runner->child.pid),
        .token = sluice_job_token(slot->job),
        .jid = slot->jid,
        .worker = worker,
        .mark = runner->mark,
        .sandbox = slot->sandbox,
    };
    work_orphans_note(&work->orphans, slot->index, &run);
    tool_free(worker);
    slot->began = steady_now();
    slot->tell_at = slot->began + tell_after_s;
}

void work_slot_taken_back(struct work_slot *slot)
{
    slot->began = slot->tell_at = 0;
}

// ---------------------------------------------------------------------------------------------
// Ending

void work_slot_end(struct work_slot *slot, enum work_ending why)
{
    assert(slot->state == WORK_SLOT_RUNNING && why != WORK_ENDING_NONE);
    struct work *work = slot->work;
    slot->ending = why;
    if (slot->began == 0) {
        work_slot_settle(slot, work_slot_verdict(slot));
    } else if (why != WORK_ENDING_RETURN && work->model->stop && work->model->stop(slot)) {
        slot->end_by = steady_now() + work->options->grace;
    } else {
        work_runner_end(slot->runner);
    }
}

struct work_verdict work_slot_verdict(struct work_slot *slot)
{
    char *tail;
    struct work_verdict verdict = { .delay = SLUICE_BACKOFF };
    switch (slot->ending) {
    case WORK_ENDING_NONE:
        break;
    case WORK_ENDING_LOST:
        verdict.kind = WORK_VERDICT_DROP;
        break;
    case WORK_ENDING_RETURN:
        verdict.kind = WORK_VERDICT_RETURN;
        break;
    case WORK_ENDING_TIMEOUT:
        tail = work_tail_text(&slot->runner->tail);
        verdict.kind = WORK_VERDICT_RETRY;
        verdict.group = tool_copy("timeout", 7);
        verdict.message = tool_format("it ran longer than %g s%s%s",
                                      slot->work->options->run_timeout, *tail ? "\n" : "", tail);
        tool_free(tail);
        break;
    }
    return verdict;
}

static bool is_running(const struct work_slot *slot)
{
    return slot->state == WORK_SLOT_RUNNING;
}

void work_slot_settle(struct work_slot *slot, struct work_verdict verdict)
{
    assert(slot->state == WORK_SLOT_RUNNING && slot->job);
    struct work_runner *runner = slot->runner;
    bool failed = verdict.kind == WORK_VERDICT_RETRY || verdict.kind == WORK_VERDICT_FAIL;
    runner->keeps = runner->keeps || (failed && slot->work->options->keep_failed);
    slot->state = WORK_SLOT_SETTLING;
    slot->tell_at = slot->end_by = 0;
    if (work_runner_count(runner, is_running) == 0) {
        work_tail_clear(&runner->tail);
    }
    work_report_verdict(slot, verdict);
}

// Whether its process was ended or killed in the middle of it. A user wants to know why nothing came
// of such a job.
static bool was_killed(const struct work_slot *slot)
{
    return slot->ending != WORK_ENDING_NONE ||
           (slot->outcome_text && !strncmp(slot->outcome_text, "signal:", 7));
}

static void print_event(struct work_slot *slot, double took)
{
    struct work *work = slot->work;
    const char *name = work_outcome_name(slot->outcome);
    if (work->tool->json) {
        char *jid = json_quote(slot->jid, strlen(slot->jid));
        char *text = slot->outcome_text ? json_quote(slot->outcome_text, strlen(slot->outcome_text))
                                        : tool_copy("null", 4);
        char *line = tool_format("{\"jid\":%s,\"outcome\":\"%s\",\"seconds\":%.3f,\"reason\":%s}",
                                 jid, name, took, text);
        work_print(&work->status, line);
        tool_free(jid);
        tool_free(text);
        tool_free(line);
    }
    // That something is not known to the queue is for people in any case.
    bool killed = was_killed(slot) && !work->options->quiet;
    if (work->options->verbose || killed || slot->outcome == WORK_OUTCOME_UNTOLD) {
        char *line = tool_format("%s %s in %.2f s%s%s", slot->jid, name, took,
                                 slot->outcome_text ? ": " : "",
                                 slot->outcome_text ? slot->outcome_text : "");
        work_say(&work->status, NULL, line, strlen(line));
        tool_free(line);
    }
}

void work_slot_settled(struct work_slot *slot, double now)
{
    assert(slot->state == WORK_SLOT_SETTLING && slot->work->status.running > 0);
    struct work *work = slot->work;
    const struct work_runner *runner = slot->runner;
    atomic_store(&slot->settled, false);
    work_orphans_note(&work->orphans, slot->index, NULL);
    print_event(slot, slot->began > 0 ? now - slot->began : 0);
    work->status.counts[slot->outcome]++;
    work->status.running--;
    tool_free(slot->jid);
    tool_free(slot->outcome_text);
    slot->jid = slot->outcome_text = NULL;
    slot->job = NULL;
    slot->ending = WORK_ENDING_NONE;
    if ((runner->full || runner->rest_until > now) && !work->draining) {
        slot->state = WORK_SLOT_RESTING;
    } else {
        slot->state = WORK_SLOT_FREE;
        work_taker_allow(&work->taker);
    }
}

// ---------------------------------------------------------------------------------------------
// Time

// When the job has run too long; 0: never, or it does not run.
static double run_late(const struct work_slot *slot)
{
    double timeout = slot->work->options->run_timeout;
    return work_slot_runs(slot) && slot->began > 0 && timeout > 0 ? slot->began + timeout : 0;
}

void work_slot_tick(struct work_slot *slot, double now)
{
    if (slot->state == WORK_SLOT_RUNNING && slot->tell_at > 0 && now >= slot->tell_at) {
        slot->tell_at = 0;
        work_report_start(slot, slot->runner->child.pid);
    }
    double late = run_late(slot);
    if (late > 0 && now >= late) {
        work_slot_end(slot, WORK_ENDING_TIMEOUT);
    }
    if (slot->end_by > 0 && now >= slot->end_by) {
        slot->end_by = 0;
        work_runner_end(slot->runner);
    }
}

static double sooner(double one, double other)
{
    return one == 0 || (other > 0 && other < one) ? other : one;
}

double work_slot_due(const struct work_slot *slot)
{
    return sooner(sooner(slot->tell_at, slot->end_by), run_late(slot));
}
