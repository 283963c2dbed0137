// SPDX-License-Identifier: MIT
#include "cli/work/runner.h"

#include "cli/core/steady.h"
#include "cli/work/loop.h"
#include "cli/work/process.h"
#include "cli/work/work.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

enum {
    READS_MAX = 16,             // of one file in one turn
    VARIABLE_SIZE_MAX = 100000, // the system refuses variables from 128 KiB on
    VARIABLES_MAX = 16,
};

size_t work_runner_count(const struct work_runner *runner, bool (*test)(const struct work_slot *))
{
    size_t count = 0;
    for (size_t i = 0; i < runner->slot_count; i++) {
        count += test(&runner->slots[i]);
    }
    return count;
}

// ---------------------------------------------------------------------------------------------
// Beginning

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

// With the job of a slot, if one is given.
static char **environment_of(struct work_runner *runner, const struct work_slot *slot)
{
    struct work *work = runner->work;
    struct variables variables = { .count = 0 };
    tool_free(runner->mark);
    runner->mark = tool_format("%s-%zu", strrchr(work->orphans.folder, '-') + 1, work->marks++);
    add_variable(&variables, "SLUICE_WORKER", work->worker);
    add_variable(&variables, "SLUICE_URL", work->child_url);
    add_variable(&variables, "SLUICE_NS", sluice_namespace(work->queue));
    add_variable(&variables, "SLUICE_RUN", runner->mark);
    if (slot) {
        add_job(&variables, slot->job);
    }
    char **environment = work_environment_make(variables.items, variable_names);
    for (size_t i = 0; i < variables.count; i++) {
        tool_free(variables.items[i]);
    }
    return environment;
}

bool work_runner_spawn(struct work_runner *runner, const struct work_slot *slot, const char *input,
                       size_t input_size, struct work_spawn_error *error)
{
    assert(runner->child.pid <= 0);
    struct work *work = runner->work;
    char **environment = environment_of(runner, slot);
    const struct work_spawn spawn = {
        .program = work->program,
        .arguments = work->arguments,
        .environment = environment,
        .folder = slot ? slot->sandbox : runner->sandbox,
        .limits = &work->limits,
        .input = input,
        .input_size = input_size,
        .guard = &work->guard,
    };
    bool good = work_child_spawn(&spawn, &runner->child, error);
    work_environment_free(environment);
    runner->kill_at = 0;
    runner->termed = false;
    runner->output.size = 0;
    runner->output.over = false;
    work_tail_clear(&runner->tail);
    if (!good) {
        work_complain(&work->status, "%s cannot be started: %s: %s", work->program, error->step,
                      strerrordesc_np(error->error));
    }
    return good;
}

void work_runner_unrunnable(struct work_runner *runner)
{
    runner->work->unrunnable = true;
    for (size_t i = 0; i < runner->slot_count; i++) {
        if (runner->slots[i].state == WORK_SLOT_RUNNING) {
            work_slot_settle(&runner->slots[i],
                             (struct work_verdict){ .kind = WORK_VERDICT_RETURN });
        }
    }
    work_drain(runner->work);
}

// ---------------------------------------------------------------------------------------------
// What the process writes

// The only slot that has a job; NULL: none has, or several.
static struct work_slot *only_slot(const struct work_runner *runner)
{
    struct work_slot *slot = runner->slots;
    if (work_runner_count(runner, work_slot_taken) != 1) {
        return NULL;
    }
    while (!work_slot_taken(slot)) {
        slot++;
    }
    return slot;
}

// What speaks to the queue is about the only job; of a process that has several it is a line like
// any other.
static void take_line(struct work_runner *runner, const char *text, size_t size)
{
    struct work *work = runner->work;
    struct work_slot *slot = only_slot(runner);
    struct work_line line = work_line_parse(text);
    if (line.kind != WORK_LINE_TEXT && work_runner_count(runner, work_slot_taken) <= 1) {
        if (slot && work_slot_runs(slot)) {
            work_report_line(slot, &line);
        }
        return;
    }
    work_tail_add(&runner->tail, text, size);
    if (!work->options->quiet) {
        work_say(&work->status, work->slot_count > 1 ? slot ? slot->jid : "pool" : NULL, text,
                 size);
    }
}

void work_runner_errors(struct work_runner *runner)
{
    char *line;
    size_t size;
    ssize_t got = 1;
    for (int i = 0; i < READS_MAX && got > 0; i++) {
        got = work_lines_read(&runner->errors, runner->child.err);
        while (work_lines_next(&runner->errors, &line, &size, NULL)) {
            take_line(runner, line, size);
        }
    }
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        work_child_close_fd(&runner->child.err);
    }
}

// ---------------------------------------------------------------------------------------------
// Ending

// A process of the run that has left the group, which gets the group's signal.
static bool has_left(const void *context, pid_t pid, const char *mark)
{
    const struct work_runner *runner = context;
    return strcmp(mark, runner->mark) == 0 && getpgid(pid) != runner->child.pid;
}

void work_runner_signal(const struct work_runner *runner, int signal)
{
    if (runner->child.pid) {
        work_child_signal(&runner->child, signal);
        (void)work_marked_signal(has_left, runner, signal);
    }
}

void work_runner_end(struct work_runner *runner)
{
    if (runner->child.pid && !runner->termed) {
        runner->termed = true;
        runner->kill_at = steady_now() + runner->work->options->grace;
        work_runner_signal(runner, SIGTERM);
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

void work_runner_exited(struct work_runner *runner)
{
    struct work *work = runner->work;
    if (runner->termed) { // it did not end by itself: nothing of it is to run on
        work_runner_signal(runner, SIGKILL);
    }
    leave_guard(work, &runner->child);
    int status = work_child_reap(&runner->child);
    // All that the process wrote is in the pipes. Other processes may still have them open, so the
    // end of the pipes is not waited for.
    if (runner->child.err >= 0) {
        work_runner_errors(runner);
    }
    char *line;
    size_t size;
    if (work_lines_rest(&runner->errors, &line, &size)) {
        take_line(runner, line, size);
    }
    if (runner->child.out >= 0) {
        work->model->readable(runner);
    }
    work_lines_clear(&runner->errors);
    runner->kill_at = 0;
    work->model->ended(runner, status);
    work_child_close(&runner->child);
}

// ---------------------------------------------------------------------------------------------
// Time

void work_runner_tick(struct work_runner *runner, double now)
{
    const struct work_options *options = runner->work->options;
    if (runner->child.pid && runner->kill_at > 0 && now >= runner->kill_at) {
        work_runner_signal(runner, runner->termed ? SIGKILL : SIGTERM);
        runner->kill_at = runner->termed ? 0 : now + options->grace;
        runner->termed = true;
    }
    if (runner->work->model->tick) {
        runner->work->model->tick(runner, now);
    }
}

// When a process may be started, if one would be. Where none is, a moment that is over would have
// the loop go round and round.
static double start_due(const struct work_runner *runner)
{
    const struct work *work = runner->work;
    return work->draining || work->closing ? 0 : runner->rest_until;
}

double work_runner_due(const struct work_runner *runner)
{
    return runner->child.pid ? runner->kill_at : start_due(runner);
}
