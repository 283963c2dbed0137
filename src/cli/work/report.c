// SPDX-License-Identifier: MIT
// The threads that report to the queue about jobs. The reports of a slot go to one thread, in
// order, so that a job's log is written before the job is done. A report that ends a job is
// repeated while the queue cannot be reached or has no room: while this worker has the lease, no
// other can run it.
#include "cli/work/report.h"

#include "cli/work/loop.h"
#include "cli/work/sandbox.h"
#include "cli/work/work.h"
#include "os/thread.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <time.h>

enum {
    REPORTERS_MAX = 32,
};

static const struct timespec pause_before_again = { .tv_nsec = 500L * 1000 * 1000 };

// ---------------------------------------------------------------------------------------------
// Calls

static enum sluice_status tell_verdict(struct sluice_job *job, const struct work_verdict *verdict,
                                       enum work_outcome *outcome, struct sluice_error *error)
{
    int64_t remaining = 0;
    enum sluice_status status = SLUICE_OK;
    switch (verdict->kind) {
    case WORK_VERDICT_DONE:
        *outcome = WORK_OUTCOME_DONE;
        return sluice_done(job, verdict->result, error);
    case WORK_VERDICT_FAIL:
        *outcome = WORK_OUTCOME_FAILED;
        return sluice_fail(job, verdict->group, verdict->message, error);
    case WORK_VERDICT_RETRY:
        status =
            sluice_retry(job, verdict->delay, verdict->group, verdict->message, &remaining, error);
        *outcome = remaining < 0 ? WORK_OUTCOME_FAILED : WORK_OUTCOME_RETRIED;
        return status;
    case WORK_VERDICT_RETURN:
        *outcome = WORK_OUTCOME_RETURNED;
        return sluice_return(job, error);
    case WORK_VERDICT_NONE:
    case WORK_VERDICT_DROP:
        break;
    }
    error->status = SLUICE_STALE;
    return SLUICE_STALE;
}

static enum work_outcome lost_outcome(const struct sluice_job *job)
{
    return sluice_job_lost(job) == SLUICE_CANCELED ? WORK_OUTCOME_CANCELED : WORK_OUTCOME_LOST;
}

static bool is_worth_repeating(const struct work *work, const struct sluice_job *job,
                               enum sluice_status status)
{
    return work_error_is_temporary(status) && !atomic_load(&work->hurry) &&
           sluice_job_lost(job) == SLUICE_KEPT;
}

// What the queue does not take (a result deeper than it allows, a group with too long a name) is
// the program's mistake.
static enum sluice_status tell_refusal(struct sluice_job *job, enum work_outcome *outcome,
                                       struct sluice_error *error)
{
    const struct sluice_error before = *error;
    *outcome = WORK_OUTCOME_FAILED;
    return sluice_fail(job, "refused", before.message, error);
}

static enum work_outcome settle(struct work *work, struct sluice_job *job,
                                const struct work_verdict *verdict, struct sluice_error *error)
{
    enum work_outcome outcome;
    enum sluice_status status;
    bool unsure = false; // whether one was heard whose answer was not
    while ((status = tell_verdict(job, verdict, &outcome, error)) &&
           is_worth_repeating(work, job, status)) {
        unsure = unsure || status == SLUICE_UNKNOWN;
        (void)nanosleep(&pause_before_again, NULL);
    }
    if (status == SLUICE_INVALID || status == SLUICE_TOO_LARGE) {
        status = tell_refusal(job, &outcome, error);
    }
    switch (status) {
    case SLUICE_OK:
        return outcome;
    case SLUICE_STALE:
    case SLUICE_STATE:
    case SLUICE_NOT_FOUND:
        return unsure ? WORK_OUTCOME_UNTOLD : lost_outcome(job);
    default:
        return WORK_OUTCOME_UNTOLD;
    }
}

// ---------------------------------------------------------------------------------------------
// Reports

static void remove_folder(struct work *work, const char *folder)
{
    if (!work_sandbox_remove(folder)) {
        work_complain(&work->status, "%s cannot be removed: %s", folder, strerrordesc_np(errno));
    }
}

static void clean_up(struct work_slot *slot, enum work_outcome outcome)
{
    if (!slot->sandbox) {
        return;
    }
    bool failed = outcome == WORK_OUTCOME_FAILED || outcome == WORK_OUTCOME_RETRIED;
    if (slot->work->options->keep_failed && failed) {
        work_complain(&slot->work->status, "what job %s left is kept: %s", slot->jid,
                      slot->sandbox);
    } else {
        remove_folder(slot->work, slot->sandbox);
    }
    tool_free(slot->sandbox);
    slot->sandbox = NULL;
}

// The first line of it is enough for people.
static char *reason(const struct work_verdict *verdict, enum work_outcome outcome,
                    const struct sluice_error *error)
{
    if (outcome == WORK_OUTCOME_UNTOLD) {
        return tool_format("%s", error->message);
    }
    if (outcome != WORK_OUTCOME_FAILED && outcome != WORK_OUTCOME_RETRIED) {
        return NULL;
    }
    const char *message = verdict->message ? verdict->message : "";
    return tool_format("%s: %.*s", verdict->group ? verdict->group : "",
                       (int)strcspn(message, "\n"), message);
}

static void make_verdict(struct work_slot *slot, struct work_report *report)
{
    struct sluice_error error = { 0 };
    slot->outcome = settle(slot->work, report->job, &report->verdict, &error);
    slot->outcome_text = reason(&report->verdict, slot->outcome, &error);
    clean_up(slot, slot->outcome);
    sluice_job_free(report->job);
    work_verdict_release(&report->verdict);
    atomic_store(&slot->settled, true);
}

// That one of these is not heard does not stop the job.
static void make_report(struct work_report *report)
{
    struct work *work = report->slot->work;
    struct sluice_error error = { 0 };
    enum sluice_status status = SLUICE_OK;
    switch (report->kind) {
    case WORK_REPORT_START:
        status = sluice_start(report->job, report->pid, &error);
        break;
    case WORK_REPORT_PROGRESS:
        status = sluice_progress(report->job, report->fraction, *report->text ? report->text : NULL,
                                 &error);
        break;
    case WORK_REPORT_LOG:
        status = sluice_log(report->job, report->text, &error);
        break;
    case WORK_REPORT_CHECKPOINT:
        status = sluice_checkpoint(report->job, report->text, &error);
        break;
    case WORK_REPORT_VERDICT:
        make_verdict(report->slot, report);
        return;
    case WORK_REPORT_FOLDER:
        remove_folder(work, report->text);
        return;
    }
    if (status && status != SLUICE_STALE && status != SLUICE_STATE && status != SLUICE_NOT_FOUND) {
        work_complain(&work->status, "job %s: %s", sluice_job_jid(report->job), error.message);
    }
}

static struct work_report *next_report(struct work_reporter *reporter)
{
    pthread_mutex_lock(&reporter->mutex);
    while (!reporter->first && !reporter->stop) {
        pthread_cond_wait(&reporter->changed, &reporter->mutex);
    }
    struct work_report *report = reporter->first;
    if (report) {
        reporter->first = report->next;
        if (!reporter->first) {
            reporter->last = &reporter->first;
        }
    }
    pthread_mutex_unlock(&reporter->mutex);
    return report;
}

static void *run(void *context)
{
    struct work_reporter *reporter = context;
    struct work_report *report;
    while ((report = next_report(reporter))) {
        struct work_slot *slot = report->slot;
        make_report(report);
        tool_free(report->text);
        tool_free(report);
        atomic_fetch_sub(&slot->reports, 1);
        work_wake(reporter->work);
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------

bool work_reporters_start(struct work *work)
{
    size_t count = work->slot_count < REPORTERS_MAX ? work->slot_count : REPORTERS_MAX;
    work->reporters = tool_allocate(count * sizeof(*work->reporters));
    for (size_t i = 0; i < count; i++) {
        struct work_reporter *reporter = &work->reporters[i];
        reporter->work = work;
        reporter->last = &reporter->first;
        pthread_mutex_init(&reporter->mutex, NULL);
        pthread_cond_init(&reporter->changed, NULL);
        if (thread_start(&reporter->thread, run, reporter)) {
            return false;
        }
        work->reporter_count++;
    }
    return true;
}

void work_reporters_join(struct work *work)
{
    for (size_t i = 0; i < work->reporter_count; i++) {
        struct work_reporter *reporter = &work->reporters[i];
        pthread_mutex_lock(&reporter->mutex);
        reporter->stop = true;
        pthread_cond_signal(&reporter->changed);
        pthread_mutex_unlock(&reporter->mutex);
        (void)pthread_join(reporter->thread, NULL);
        pthread_mutex_destroy(&reporter->mutex);
        pthread_cond_destroy(&reporter->changed);
    }
}

static void hand_over(const struct work_report *from)
{
    struct work_slot *slot = from->slot;
    assert(slot->job || from->kind == WORK_REPORT_FOLDER);
    struct work *work = slot->work;
    struct work_reporter *reporter = &work->reporters[slot->index % work->reporter_count];
    struct work_report *report = tool_allocate(sizeof(*report));
    *report = *from;
    report->job = slot->job;
    atomic_fetch_add(&slot->reports, 1);
    pthread_mutex_lock(&reporter->mutex);
    *reporter->last = report;
    reporter->last = &report->next;
    pthread_cond_signal(&reporter->changed);
    pthread_mutex_unlock(&reporter->mutex);
}

void work_report_start(struct work_slot *slot, int64_t pid)
{
    hand_over(&(struct work_report){ .slot = slot, .kind = WORK_REPORT_START, .pid = pid });
}

void work_report_line(struct work_slot *slot, const struct work_line *line)
{
    static const enum work_report_kind kinds[] = {
        [WORK_LINE_PROGRESS] = WORK_REPORT_PROGRESS,
        [WORK_LINE_LOG] = WORK_REPORT_LOG,
        [WORK_LINE_CHECKPOINT] = WORK_REPORT_CHECKPOINT,
    };
    hand_over(&(struct work_report){ .slot = slot,
                                     .kind = kinds[line->kind],
                                     .fraction = line->fraction,
                                     .text = work_utf8(line->text, strlen(line->text)) });
}

void work_report_verdict(struct work_slot *slot, struct work_verdict verdict)
{
    hand_over(
        &(struct work_report){ .slot = slot, .kind = WORK_REPORT_VERDICT, .verdict = verdict });
}

void work_report_folder(struct work_slot *slot, char *folder)
{
    hand_over(&(struct work_report){ .slot = slot, .kind = WORK_REPORT_FOLDER, .text = folder });
}
