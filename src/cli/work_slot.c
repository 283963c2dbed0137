// SPDX-License-Identifier: MIT
#include "cli/work.h"

#include "cli/work_json.h"
#include "cli/work_process.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

enum {
    READS_MAX = 16,             // of one file in one turn
    VARIABLE_SIZE_MAX = 100000, // the system refuses variables from 128 KiB on
    VARIABLES_MAX = 16,
};

// A job that ends sooner is not said to have been started: one call less for each of many.
static const double tell_after_s = 0.1;

// ---------------------------------------------------------------------------------------------
// Beginning

void work_slot_assign(struct work_slot *slot, struct sluice_job *job)
{
    struct work *work = slot->work;
    const char *jid = sluice_job_jid(job);
    slot->job = job;
    slot->jid = tool_copy(jid, strlen(jid));
    slot->state = WORK_SLOT_RUNNING;
    slot->began = 0;
    slot->ending = WORK_ENDING_NONE;
    slot->output.size = 0;
    slot->output.over = false;
    work->status.running++;
    if (work->draining) {
        work_slot_settle(slot, (struct work_verdict){ .kind = WORK_VERDICT_RETURN });
    } else {
        work->model->begin(slot);
    }
}

// What is about another job, when the worker itself is run for one, is not handed on.
static const char *const variable_names[] = {
    "SLUICE_JID",        "SLUICE_KLASS", "SLUICE_QUEUE", "SLUICE_DATA",
    "SLUICE_CHECKPOINT", "SLUICE_TOKEN", "SLUICE_RUN",   "SLUICE_ATTEMPT",
    "SLUICE_WORKER",     "SLUICE_URL",   "SLUICE_NS",    NULL,
};

struct variables {
    char *items[VARIABLES_MAX];
    size_t count;
};

// One that would keep the program from being started is left out: standard input has it all.
static void add_variable(struct variables *variables, const char *name, const char *value)
{
    if (value && strlen(value) < VARIABLE_SIZE_MAX) {
        variables->items[variables->count++] = tool_format("%s=%s", name, value);
    }
}

static void add_number(struct variables *variables, const char *name, int64_t value)
{
    variables->items[variables->count++] = tool_format("%s=%lld", name, (long long)value);
}

static void add_job(struct variables *variables, const struct sluice_job *job)
{
    const char *checkpoint = sluice_job_checkpoint(job);
    add_variable(variables, "SLUICE_JID", sluice_job_jid(job));
    add_variable(variables, "SLUICE_KLASS", sluice_job_klass(job));
    add_variable(variables, "SLUICE_QUEUE", sluice_job_queue(job));
    add_variable(variables, "SLUICE_DATA", sluice_job_data(job));
    add_variable(variables, "SLUICE_CHECKPOINT", checkpoint ? checkpoint : "");
    add_number(variables, "SLUICE_TOKEN", sluice_job_token(job));
    add_number(variables, "SLUICE_ATTEMPT",
               sluice_value_integer(sluice_value_get(sluice_job_value(job), "attempts")));
}

static char **environment_of(struct work_slot *slot, bool with_job)
{
    struct work *work = slot->work;
    struct variables variables = { .count = 0 };
    tool_free(slot->mark);
    slot->mark = tool_format("%s-%zu", strrchr(work->orphans.folder, '-') + 1, work->marks++);
    add_variable(&variables, "SLUICE_WORKER", work->worker);
    add_variable(&variables, "SLUICE_URL", work->child_url);
    add_variable(&variables, "SLUICE_NS", sluice_namespace(work->queue));
    add_variable(&variables, "SLUICE_RUN", slot->mark);
    if (with_job) {
        add_job(&variables, slot->job);
    }
    char **environment = work_environment_make(variables.items, variable_names);
    for (size_t i = 0; i < variables.count; i++) {
        tool_free(variables.items[i]);
    }
    return environment;
}

bool work_slot_spawn(struct work_slot *slot, const char *input, struct work_spawn_error *error)
{
    struct work *work = slot->work;
    char **environment = environment_of(slot, input != NULL);
    const struct work_spawn spawn = {
        .program = work->program,
        .arguments = work->arguments,
        .environment = environment,
        .folder = slot->sandbox,
        .limits = &work->limits,
        .input = input,
        .input_size = input ? strlen(input) : 0,
        .guard = &work->guard,
    };
    bool good = work_child_spawn(&spawn, &slot->child, error);
    work_environment_free(environment);
    slot->kill_at = 0;
    slot->termed = slot->retiring = false;
    work_tail_clear(&slot->tail);
    if (!good) {
        work_complain(&work->status, "%s cannot be started: %s: %s", work->program, error->step,
                      strerrordesc_np(error->error));
    }
    return good;
}

void work_slot_unrunnable(struct work_slot *slot)
{
    slot->work->unrunnable = true;
    if (slot->state == WORK_SLOT_RUNNING) {
        work_slot_settle(slot, (struct work_verdict){ .kind = WORK_VERDICT_RETURN });
    }
    work_drain(slot->work);
}

void work_slot_started(struct work_slot *slot)
{
    struct work *work = slot->work;
    char *worker = tool_format("%s", sluice_job_worker(slot->job));
    const struct work_run run = {
        .pid = slot->child.pid,
        .start = work_process_start(slot->child.pid),
        .token = sluice_job_token(slot->job),
        .jid = slot->jid,
        .worker = worker,
        .mark = slot->mark,
        .sandbox = slot->sandbox,
    };
    work_orphans_note(&work->orphans, slot->index, &run);
    tool_free(worker);
    slot->began = work_now();
    slot->tell_at = slot->began + tell_after_s;
}

// ---------------------------------------------------------------------------------------------
// What the process writes

static void take_line(struct work_slot *slot, const char *text, size_t size)
{
    struct work *work = slot->work;
    struct work_line line = work_line_parse(text);
    if (line.kind != WORK_LINE_TEXT) {
        if (slot->state == WORK_SLOT_RUNNING && slot->ending == WORK_ENDING_NONE) {
            work_report_line(slot, &line);
        }
        return;
    }
    work_tail_add(&slot->tail, text, size);
    if (!work->options->quiet) {
        const char *who = slot->jid ? slot->jid : "pool";
        work_say(&work->status, work->slot_count > 1 ? who : NULL, text, size);
    }
}

void work_slot_errors(struct work_slot *slot)
{
    char *line;
    size_t size;
    ssize_t got = 1;
    for (int i = 0; i < READS_MAX && got > 0; i++) {
        got = work_lines_read(&slot->errors, slot->child.err);
        while (work_lines_next(&slot->errors, &line, &size, NULL)) {
            take_line(slot, line, size);
        }
    }
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        work_child_close_fd(&slot->child.err);
    }
}

// ---------------------------------------------------------------------------------------------
// Ending

void work_slot_end(struct work_slot *slot, enum work_ending why)
{
    slot->ending = why;
    if (!slot->child.pid) {
        work_slot_settle(slot, work_slot_verdict(slot));
    } else if (!slot->termed) {
        slot->termed = true;
        slot->kill_at = work_now() + slot->work->options->grace;
        work_child_signal(&slot->child, SIGTERM);
    }
}

// What is left of its group ends now, so the guard need not end it. That has to be told while the
// number of the process is still its own.
static void leave_guard(struct work *work, const struct work_child *child)
{
    work_child_signal(child, SIGKILL);
    if (!work_guard_remove(&work->guard, child->pid) && !work->unguarded) {
        work->unguarded = true;
        work_complain(&work->status,
                      "the process sluice-guard has ended: if this worker is killed, "
                      "what its jobs have started may run on");
    }
}

void work_slot_exited(struct work_slot *slot)
{
    struct work *work = slot->work;
    leave_guard(work, &slot->child);
    int status = work_child_reap(&slot->child);
    // All that it wrote is in the pipes. They may be open still elsewhere, so nobody waits for
    // their end.
    if (slot->child.err >= 0) {
        work_slot_errors(slot);
    }
    char *line;
    size_t size;
    if (work_lines_rest(&slot->errors, &line, &size)) {
        take_line(slot, line, size);
    }
    if (slot->child.out >= 0) {
        work->model->readable(slot);
    }
    work_lines_clear(&slot->errors);
    slot->kill_at = 0;
    work->model->ended(slot, status);
    work_child_close(&slot->child);
}

struct work_verdict work_slot_verdict(struct work_slot *slot)
{
    char *tail;
    struct work_verdict verdict = { .delay = SLUICE_NONE };
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
        tail = work_tail_text(&slot->tail);
        verdict.kind = WORK_VERDICT_RETRY;
        verdict.group = tool_copy("timeout", 7);
        verdict.message = tool_format("it ran longer than %g s%s%s",
                                      slot->work->options->run_timeout, *tail ? "\n" : "", tail);
        tool_free(tail);
        break;
    case WORK_ENDING_PROTOCOL:
        verdict.kind = WORK_VERDICT_RETRY;
        verdict.group = tool_copy("protocol", 8);
        verdict.message = slot->wrong;
        slot->wrong = NULL;
        break;
    }
    return verdict;
}

void work_slot_settle(struct work_slot *slot, struct work_verdict verdict)
{
    slot->state = WORK_SLOT_SETTLING;
    slot->tell_at = 0;
    tool_free(slot->input);
    slot->input = NULL;
    work_tail_clear(&slot->tail);
    work_report_verdict(slot, verdict);
}

static void print_event(struct work_slot *slot, double took)
{
    struct work *work = slot->work;
    const char *name = work_outcome_name(slot->outcome);
    if (work->tool->json) {
        char *jid = work_json_quote(slot->jid, strlen(slot->jid));
        char *text = slot->outcome_text
                         ? work_json_quote(slot->outcome_text, strlen(slot->outcome_text))
                         : tool_copy("null", 4);
        char *line = tool_format("{\"jid\":%s,\"outcome\":\"%s\",\"seconds\":%.3f,\"reason\":%s}",
                                 jid, name, took, text);
        work_print(&work->status, line);
        tool_free(jid);
        tool_free(text);
        tool_free(line);
    }
    // That something is not known to the queue is for people in any case.
    if (work->options->verbose || slot->outcome == WORK_OUTCOME_UNTOLD) {
        char *line = tool_format("%s %s in %.2f s%s%s", slot->jid, name, took,
                                 slot->outcome_text ? ": " : "",
                                 slot->outcome_text ? slot->outcome_text : "");
        work_say(&work->status, NULL, line, strlen(line));
        tool_free(line);
    }
}

void work_slot_settled(struct work_slot *slot, double now)
{
    struct work *work = slot->work;
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
    if (slot->rest_until > now && !work->draining) {
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
    bool runs = slot->state == WORK_SLOT_RUNNING && slot->ending == WORK_ENDING_NONE;
    return runs && slot->began > 0 && timeout > 0 ? slot->began + timeout : 0;
}

void work_slot_tick(struct work_slot *slot, double now)
{
    const struct work_options *options = slot->work->options;
    bool running = slot->state == WORK_SLOT_RUNNING;
    if (running && slot->tell_at > 0 && now >= slot->tell_at) {
        slot->tell_at = 0;
        work_report_start(slot, slot->child.pid);
    }
    double late = run_late(slot);
    if (late > 0 && now >= late) {
        work_slot_end(slot, WORK_ENDING_TIMEOUT);
    }
    if (slot->child.pid && slot->kill_at > 0 && now >= slot->kill_at) {
        work_child_signal(&slot->child, slot->termed ? SIGKILL : SIGTERM);
        slot->kill_at = slot->termed ? 0 : now + options->grace;
        slot->termed = true;
    }
    if (slot->work->model->tick) {
        slot->work->model->tick(slot, now);
    }
}

static double sooner(double one, double other)
{
    return one == 0 || (other > 0 && other < one) ? other : one;
}

// When a process may be started, if one would be. Where none is, a moment that is over would have
// the loop go round and round.
static double start_due(const struct work_slot *slot)
{
    const struct work *work = slot->work;
    bool starts = slot->state != WORK_SLOT_SETTLING && !work->draining && !work->closing;
    return starts ? slot->rest_until : 0;
}

double work_slot_due(const struct work_slot *slot)
{
    double due = slot->child.pid ? slot->kill_at : start_due(slot);
    due = sooner(due, slot->tell_at);
    return sooner(due, run_late(slot));
}
