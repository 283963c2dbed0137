// SPDX-License-Identifier: MIT
// Processes that live on: a line of JSON for each job on standard input, answered by a line of JSON
// on standard output.
//
//     {"jid":"bob", "result":{"sent":true}}     done
//     {"retry":true, "message":"busy"}          to be tried again, or after so many seconds
//     {"fail":"smtp", "message":"refused"}      failed
//     {"progress":0.4, "message":"page 4"}      in between; also {"log":...}, {"checkpoint":...}
//
// A process may have several jobs at a time, and answers each by its jid, in any order. What
// becomes of one of them is told in the same way:
//
//     {"jid":"bob", "cancel":"canceled"}        stop it: canceled, lost or timeout
//
// One that dies is started again, after a pause that grows with each time that it does nothing
// else. Only jobs that it has begun to read are tried again for that.
#include "cli/work/runner.h"

#include "cli/core/json.h"
#include "cli/core/steady.h"
#include "cli/work/process.h"
#include "cli/work/sandbox.h"
#include "cli/work/work.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    READS_MAX = 16, // in one turn
    CRASHES_MAX = 10,
    UNREAD_MAX = 3, // crashes in a row through which a job is kept that no process has read
};

static const double rest_min_s = 0.1, rest_max_s = 30;

static bool is_with_process(const struct work_slot *slot)
{
    return slot->state == WORK_SLOT_RUNNING && slot->began > 0;
}

// ---------------------------------------------------------------------------------------------
// What the process reads

// It does not read any more, most likely since it has ended. If not, it has to: it can get no job.
static void reads_no_more(struct work_runner *runner);

static void send_input(struct work_runner *runner)
{
    struct work_input *input = &runner->input;
    while (runner->child.in >= 0 && input->sent < input->size) {
        ssize_t size =
            write(runner->child.in, input->data + input->sent, input->size - input->sent);
        if (size > 0) {
            input->sent += (size_t)size;
            input->written += (uint64_t)size;
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {
            reads_no_more(runner);
        }
    }
    if (input->sent == input->size) {
        input->sent = input->size = 0;
    }
}

// Gives where it begins in all that the process is written.
static uint64_t add_input(struct work_runner *runner, const char *line)
{
    struct work_input *input = &runner->input;
    size_t size = strlen(line);
    uint64_t at = input->written + (input->size - input->sent);
    if (input->capacity - input->size < size) {
        input->capacity = (input->size + size) * 2;
        input->data = tool_resize(input->data, input->capacity);
    }
    memcpy(input->data + input->size, line, size);
    input->size += size;
    return at;
}

static void clear_input(struct work_runner *runner)
{
    tool_free(runner->input.data);
    runner->input = (struct work_input){ 0 };
}

// A job of which the process has read nothing does not run, and no process has it. What is still in
// the pipe was not read.
static void take_back_unread(struct work_runner *runner)
{
    int unread = 0;
    uint64_t read = runner->input.written;
    if (runner->child.in >= 0 && ioctl(runner->child.in, FIONREAD, &unread) == 0) {
        read -= (uint64_t)unread < read ? (uint64_t)unread : read;
    }
    for (size_t i = 0; i < runner->slot_count; i++) {
        struct work_slot *slot = &runner->slots[i];
        if (is_with_process(slot) && slot->line_at >= read) {
            work_slot_taken_back(slot);
        }
    }
}

static void reads_no_more(struct work_runner *runner)
{
    take_back_unread(runner);
    work_child_close_fd(&runner->child.in);
    if (runner->kill_at == 0) {
        runner->kill_at = steady_now() + runner->work->options->grace;
    }
}

// The job as a line.
static char *job_line(const struct sluice_job *job)
{
    char *json = sluice_value_json(sluice_job_value(job));
    char *line = tool_format("%s\n", json ? json : "null");
    sluice_free(json);
    // An end of line can only stand between the parts of a JSON text: a space does as well.
    for (char *at = line; at[1]; at++) {
        if (*at == '\n' || *at == '\r') {
            *at = ' ';
        }
    }
    return line;
}

// A run of the same job that the process still has; NULL: none. Its lease is lost, since there is
// another.
static struct work_slot *older_run(const struct work_slot *slot)
{
    for (size_t i = 0; i < slot->runner->slot_count; i++) {
        struct work_slot *other = &slot->runner->slots[i];
        if (other != slot && is_with_process(other) && strcmp(other->jid, slot->jid) == 0) {
            return other;
        }
    }
    return NULL;
}

static void give(struct work_slot *slot)
{
    struct work_runner *runner = slot->runner;
    int64_t most = slot->work->options->max_jobs;
    char *line = job_line(slot->job);
    slot->line_at = add_input(runner, line);
    tool_free(line);
    runner->full = most && ++runner->jobs_given >= most;
    work_slot_started(slot);
    send_input(runner);
}

// The job goes to the process, once there is one that takes it. Answers are told apart by their
// jids, so an older run of the job has to end first.
static void hand_over(struct work_slot *slot)
{
    struct work_runner *runner = slot->runner;
    bool reads = runner->child.pid && runner->child.in >= 0 && !runner->full && !runner->wrong;
    if (reads && slot->began == 0 && work_slot_runs(slot)) {
        struct work_slot *older = older_run(slot);
        if (!older) {
            give(slot);
        } else if (work_slot_runs(older)) {
            work_slot_end(older, WORK_ENDING_LOST);
        }
    }
}

static bool stop(struct work_slot *slot)
{
    struct work_runner *runner = slot->runner;
    if (runner->slot_count == 1 || runner->child.in < 0) {
        return false;
    }
    bool canceled = sluice_job_lost(slot->job) == SLUICE_CANCELED;
    char *jid = json_quote(slot->jid, strlen(slot->jid));
    char *line = tool_format("{\"jid\":%s,\"cancel\":\"%s\"}\n", jid,
                             slot->ending == WORK_ENDING_TIMEOUT ? "timeout"
                             : canceled                          ? "canceled"
                                                                 : "lost");
    (void)add_input(runner, line);
    tool_free(line);
    tool_free(jid);
    send_input(runner);
    return true;
}

// ---------------------------------------------------------------------------------------------
// The process

static double rest_after(int crashes)
{
    double rest = rest_min_s;
    for (int i = 1; i < crashes && i < CRASHES_MAX; i++) {
        rest *= 2;
    }
    return rest < rest_max_s ? rest : rest_max_s;
}

static void crashed(struct work_runner *runner)
{
    runner->crashes++;
    runner->rest_until = steady_now() + rest_after(runner->crashes);
}

// Asks a process that has nothing to do to end.
static void retire(struct work_runner *runner)
{
    if (runner->child.pid && !runner->retiring) {
        runner->retiring = runner->full = true;
        runner->kill_at = steady_now() + runner->work->options->grace;
        work_child_close_fd(&runner->child.in);
    }
}

// What is about the process and not about a job, behind the notes of the slots.
static void note_folder(const struct work_runner *runner)
{
    const struct work *work = runner->work;
    const struct work_run run = {
        .pid = runner->child.pid,
        .start = work_process_start(runner->child.pid),
        .mark = runner->mark,
        .sandbox = runner->sandbox,
    };
    work_orphans_note(&work->orphans, work->slot_count + runner->index, &run);
}

static bool make_folder(struct work_runner *runner)
{
    struct work *work = runner->work;
    if (work->sandbox && !runner->sandbox) {
        char *name = tool_format("process-%zu", runner->index + 1);
        runner->sandbox = work_sandbox_make(work->sandbox, name);
        runner->keeps = false;
        tool_free(name);
        if (!runner->sandbox) {
            work_complain(&work->status, "a folder in %s cannot be made: %s", work->sandbox,
                          strerrordesc_np(errno));
        }
    }
    return !work->sandbox || runner->sandbox;
}

static void leave_folder(struct work_runner *runner)
{
    struct work *work = runner->work;
    if (!runner->sandbox) {
        return;
    }
    work_orphans_note(&work->orphans, work->slot_count + runner->index, NULL);
    if (runner->keeps) {
        work_complain(&work->status, "what process %zu of the pool left is kept: %s",
                      runner->index + 1, runner->sandbox);
        tool_free(runner->sandbox);
    } else {
        work_report_folder(&runner->slots[0], runner->sandbox);
    }
    runner->sandbox = NULL;
}

// Its slots that rest take jobs again; those that have one give it to the new process.
static void use(struct work_runner *runner)
{
    for (size_t i = 0; i < runner->slot_count; i++) {
        struct work_slot *slot = &runner->slots[i];
        if (slot->state == WORK_SLOT_RESTING) {
            slot->state = WORK_SLOT_FREE;
            work_taker_allow(&runner->work->taker);
        }
        hand_over(slot);
    }
}

static void start(struct work_runner *runner)
{
    struct work_spawn_error error;
    bool placed = make_folder(runner);
    if (placed && work_runner_spawn(runner, NULL, NULL, 0, &error)) {
        runner->full = runner->retiring = false;
        runner->jobs_given = 0;
        runner->rest_until = 0;
        if (runner->sandbox) {
            note_folder(runner);
        }
        use(runner);
    } else if (placed && work_spawn_is_for_good(&error)) {
        leave_folder(runner);
        work_runner_unrunnable(runner);
    } else {
        crashed(runner);
    }
}

// Gives back jobs that no process has.
static void return_unbegun(struct work_runner *runner)
{
    for (size_t i = 0; i < runner->slot_count; i++) {
        struct work_slot *slot = &runner->slots[i];
        if (work_slot_runs(slot) && slot->began == 0) {
            work_slot_end(slot, WORK_ENDING_RETURN);
        }
    }
}

static void tick(struct work_runner *runner, double now)
{
    struct work *work = runner->work;
    bool ending = work->draining || work->closing;
    bool has_jobs = work_runner_count(runner, is_with_process) > 0;
    for (size_t i = 0; i < runner->slot_count; i++) {
        hand_over(&runner->slots[i]);
    }
    // A process that gets no more may be long at those that it has.
    if (ending || (runner->full && has_jobs)) {
        return_unbegun(runner);
    }
    bool idle = work_runner_count(runner, work_slot_taken) == 0;
    if ((ending && idle) || (runner->full && !has_jobs)) {
        retire(runner);
    } else if (!runner->child.pid && !ending && now >= runner->rest_until) {
        start(runner);
    }
}

// ---------------------------------------------------------------------------------------------
// What it answers

static void begin(struct work_slot *slot)
{
    hand_over(slot);
}

static void take_verdict(struct work_slot *slot, struct work_verdict verdict)
{
    struct work_runner *runner = slot->runner;
    // What it wrote to standard error before it answered is still about this job.
    if (runner->child.err >= 0) {
        work_runner_errors(runner);
    }
    runner->crashes = 0;
    work_slot_settle(slot, verdict);
}

// A job that was to be stopped has, whatever is said of it.
static void take_stopped(struct work_slot *slot, struct work_verdict *verdict)
{
    work_verdict_release(verdict);
    take_verdict(slot, work_slot_verdict(slot));
}

// Its jobs are tried again, by another process.
static void take_wrong(struct work_runner *runner, const char *line, const char *wrong)
{
    runner->wrong = tool_format("it answered with a line that is none: %s: %.200s", wrong, line);
    crashed(runner);
    work_runner_end(runner);
}

static void take_slot_answer(struct work_slot *slot, const char *line)
{
    struct work_answer answer = work_answer_parse(line, slot->jid);
    switch (answer.kind) {
    case WORK_ANSWER_VERDICT:
        if (slot->ending == WORK_ENDING_NONE) {
            take_verdict(slot, answer.verdict);
        } else {
            take_stopped(slot, &answer.verdict);
        }
        break;
    case WORK_ANSWER_LINE:
        if (slot->ending == WORK_ENDING_NONE) {
            work_report_line(slot, &answer.line);
        }
        break;
    case WORK_ANSWER_WRONG:
        take_wrong(slot->runner, line, answer.wrong);
        break;
    }
    tool_free(answer.text);
    tool_free(answer.wrong);
}

// Whose answer a line is; NULL: none's, or of a job that the process has not.
static struct work_slot *find_slot(struct work_runner *runner, const char *jid)
{
    for (size_t i = 0; i < runner->slot_count; i++) {
        struct work_slot *slot = &runner->slots[i];
        bool named = runner->slot_count == 1 || (slot->jid && strcmp(slot->jid, jid) == 0);
        // One that is ended with its process has nothing more to say.
        if (named && is_with_process(slot) && (slot->end_by > 0 || work_slot_runs(slot))) {
            return slot;
        }
    }
    return NULL;
}

static void take_answer(struct work_runner *runner, const char *line, bool whole)
{
    bool one = runner->slot_count == 1;
    char *jid = one || !whole ? NULL : work_answer_jid(line);
    struct work_slot *slot = one || jid ? find_slot(runner, jid) : NULL;
    if (runner->wrong) {
        // It is being ended.
    } else if (!whole && (slot || !one)) {
        take_wrong(runner, line, "it is longer than --result-max");
    } else if (slot) {
        take_slot_answer(slot, line);
    } else if (one || jid) {
        work_complain(&runner->work->status,
                      "a process of the pool wrote a line without a job: %.200s", line);
    } else {
        take_wrong(runner, line, "it is no JSON object with a \"jid\"");
    }
    tool_free(jid);
}

static void readable(struct work_runner *runner)
{
    char *line;
    size_t size;
    bool whole;
    ssize_t got = 1;
    for (int i = 0; i < READS_MAX && got > 0; i++) {
        got = work_lines_read(&runner->answers, runner->child.out);
        while (work_lines_next(&runner->answers, &line, &size, &whole)) {
            take_answer(runner, line, whole);
        }
    }
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        work_child_close_fd(&runner->child.out);
    }
}

// ---------------------------------------------------------------------------------------------
// Its end

// One that had stopped reading was going by itself.
static bool was_told_to_end(const struct work_runner *runner)
{
    return runner->retiring || (runner->termed && runner->child.in >= 0);
}

// Of a job that the process had read.
static struct work_verdict verdict_of(struct work_slot *slot, bool expected, int status)
{
    const struct work_runner *runner = slot->runner;
    if (slot->ending != WORK_ENDING_NONE) {
        return work_slot_verdict(slot);
    }
    if (runner->wrong) {
        return (struct work_verdict){ .kind = WORK_VERDICT_RETRY,
                                      .delay = SLUICE_BACKOFF,
                                      .group = tool_copy("protocol", 8),
                                      .message = tool_format("%s", runner->wrong) };
    }
    // It was ended because of another job.
    if (expected) {
        return (struct work_verdict){ .kind = WORK_VERDICT_RETURN };
    }
    return work_verdict_of_crash(&slot->work->rules, status, &runner->tail);
}

// A job that the process has not read is unaffected by its end, and the next process gets it. If no
// process comes to reading a job, the user is told. Returns whether the process had a job.
static bool end_jobs(struct work_runner *runner, bool expected, int status)
{
    bool any = false;
    take_back_unread(runner);
    for (size_t i = 0; i < runner->slot_count; i++) {
        struct work_slot *slot = &runner->slots[i];
        bool stays =
            slot->began == 0 && slot->ending == WORK_ENDING_NONE && runner->crashes <= UNREAD_MAX;
        any = any || slot->state == WORK_SLOT_RUNNING;
        if (slot->state == WORK_SLOT_RUNNING && !stays) {
            work_slot_settle(slot, verdict_of(slot, expected, status));
        }
    }
    return any;
}

static void ended(struct work_runner *runner, int status)
{
    struct work *work = runner->work;
    bool expected = was_told_to_end(runner);
    work_lines_clear(&runner->answers);
    if (!expected) {
        crashed(runner);
        runner->keeps = runner->keeps || work->options->keep_failed;
    }
    if (!end_jobs(runner, expected, status) && !expected) {
        work_complain(&work->status, "a process of the pool has ended; it is started again");
    }
    leave_folder(runner);
    clear_input(runner);
    tool_free(runner->wrong);
    runner->wrong = NULL;
    runner->full = runner->retiring = runner->termed = false;
}

const struct work_model work_pool_model = {
    .begin = begin,
    .readable = readable,
    .writable = send_input,
    .stop = stop,
    .ended = ended,
    .tick = tick,
};
