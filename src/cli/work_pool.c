// SPDX-License-Identifier: MIT
// Processes that live on: a line of JSON for each job on standard input, answered by a line of JSON
// on standard output.
//
//     {"jid":"bob", "result":{"sent":true}}     done
//     {"retry":true, "message":"busy"}          to be tried again, or after so many seconds
//     {"fail":"smtp", "message":"refused"}      failed
//     {"progress":0.4, "message":"page 4"}      in between; also {"log":...}, {"checkpoint":...}
//
// One that dies is started again, after a pause that grows with each time that it does nothing
// else. Only a job that it has begun to read is tried again for that.
#include "cli/work.h"

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

static void crashed(struct work_slot *slot)
{
    slot->crashes++;
    slot->rest_until = work_now() + rest_after(slot->crashes);
}

// Asks a process that has nothing to do to end.
static void retire(struct work_slot *slot)
{
    if (slot->child.pid && !slot->retiring) {
        slot->retiring = true;
        slot->kill_at = work_now() + slot->work->options->grace;
        work_child_close_fd(&slot->child.in);
    }
}

// What still lies in the pipe was not read, and so counts as not sent. A job of which nothing was
// is with nobody, and does not run.
static void take_back_unread(struct work_slot *slot)
{
    int unread = 0;
    if (slot->input && slot->child.in >= 0 && ioctl(slot->child.in, FIONREAD, &unread) == 0) {
        size_t size = (size_t)unread;
        slot->input_sent -= size < slot->input_sent ? size : slot->input_sent;
    }
    if (slot->input && slot->input_sent == 0) {
        slot->began = slot->tell_at = 0;
    }
}

// It does not read any more, most likely since it has ended. If not, it has to: it can get no job.
static void reads_no_more(struct work_slot *slot)
{
    take_back_unread(slot);
    work_child_close_fd(&slot->child.in);
    if (slot->kill_at == 0) {
        slot->kill_at = work_now() + slot->work->options->grace;
    }
}

static void send_input(struct work_slot *slot)
{
    while (slot->child.in >= 0 && slot->input_sent < slot->input_size) {
        ssize_t size = write(slot->child.in, slot->input + slot->input_sent,
                             slot->input_size - slot->input_sent);
        if (size > 0) {
            slot->input_sent += (size_t)size;
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {
            reads_no_more(slot);
        }
    }
}

// The job goes to the process, once there is one that takes it.
static void hand_over(struct work_slot *slot)
{
    bool fresh = slot->input && slot->input_sent == 0;
    bool reads = slot->child.pid && slot->child.in >= 0 && !slot->retiring;
    if (fresh && reads && slot->ending == WORK_ENDING_NONE) {
        work_slot_started(slot);
        send_input(slot);
    }
}

static void writable(struct work_slot *slot)
{
    if (slot->input) {
        send_input(slot);
    }
}

static void start(struct work_slot *slot)
{
    struct work_spawn_error error;
    if (!work_slot_spawn(slot, NULL, &error)) {
        if (work_spawn_is_for_good(&error)) {
            work_slot_unrunnable(slot);
        } else {
            crashed(slot);
        }
        return;
    }
    slot->jobs_done = 0;
    slot->rest_until = 0;
    if (slot->state == WORK_SLOT_RESTING) {
        slot->state = WORK_SLOT_FREE;
        work_taker_allow(&slot->work->taker);
    }
    hand_over(slot);
}

static void tick(struct work_slot *slot, double now)
{
    struct work *work = slot->work;
    bool idle = slot->state == WORK_SLOT_FREE || slot->state == WORK_SLOT_RESTING;
    bool unbegun = slot->state == WORK_SLOT_RUNNING && !slot->child.pid;
    if (idle && (work->draining || work->closing)) {
        retire(slot);
    } else if (unbegun && work->draining) {
        work_slot_end(slot, WORK_ENDING_RETURN);
    } else if (!slot->child.pid && slot->state != WORK_SLOT_SETTLING && now >= slot->rest_until) {
        start(slot);
    }
}

// ---------------------------------------------------------------------------------------------
// A job

static void begin(struct work_slot *slot)
{
    char *json = sluice_value_json(sluice_job_value(slot->job));
    slot->input = tool_format("%s\n", json ? json : "null");
    slot->input_size = strlen(slot->input);
    slot->input_sent = 0;
    free(json);
    // An end of line can only stand between the parts of a JSON text: a space does as well.
    for (size_t i = 0; i + 1 < slot->input_size; i++) {
        if (slot->input[i] == '\n' || slot->input[i] == '\r') {
            slot->input[i] = ' ';
        }
    }
    hand_over(slot);
}

static void take_verdict(struct work_slot *slot, struct work_verdict verdict)
{
    int64_t most = slot->work->options->max_jobs;
    // What it wrote to standard error before it answered is still about this job.
    if (slot->child.err >= 0) {
        work_slot_errors(slot);
    }
    slot->crashes = 0;
    slot->jobs_done++;
    work_slot_settle(slot, verdict);
    if (most && slot->jobs_done >= most) {
        retire(slot);
    }
}

static void take_wrong(struct work_slot *slot, const char *line, const char *wrong)
{
    slot->wrong = tool_format("it answered with a line that is none: %s: %.200s", wrong, line);
    crashed(slot);
    work_slot_end(slot, WORK_ENDING_PROTOCOL);
}

static void take_answer(struct work_slot *slot, const char *line)
{
    if (slot->state != WORK_SLOT_RUNNING || slot->ending != WORK_ENDING_NONE) {
        work_complain(&slot->work->status,
                      "a process of the pool wrote a line without a job: %.200s", line);
        return;
    }
    struct work_answer answer = work_answer_parse(line, slot->jid);
    switch (answer.kind) {
    case WORK_ANSWER_VERDICT:
        take_verdict(slot, answer.verdict);
        break;
    case WORK_ANSWER_LINE:
        work_report_line(slot, &answer.line);
        break;
    case WORK_ANSWER_WRONG:
        take_wrong(slot, line, answer.wrong);
        break;
    }
    tool_free(answer.text);
    tool_free(answer.wrong);
}

static void readable(struct work_slot *slot)
{
    char *line;
    size_t size;
    bool whole;
    ssize_t got = 1;
    for (int i = 0; i < READS_MAX && got > 0; i++) {
        got = work_lines_read(&slot->answers, slot->child.out);
        while (work_lines_next(&slot->answers, &line, &size, &whole)) {
            if (whole || slot->state != WORK_SLOT_RUNNING || slot->ending != WORK_ENDING_NONE) {
                take_answer(slot, line);
            } else {
                take_wrong(slot, line, "it is longer than --result-max");
            }
        }
    }
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        work_child_close_fd(&slot->child.out);
    }
}

// ---------------------------------------------------------------------------------------------
// Its end

// One that had stopped reading was going by itself.
static bool was_told_to_end(const struct work_slot *slot)
{
    return slot->retiring || (slot->termed && slot->child.in >= 0);
}

// A job that the process has not read is none the worse for its end, and the next one gets it. But
// where none comes to reading, somebody has to hear of it.
static bool is_for_the_next(struct work_slot *slot)
{
    take_back_unread(slot);
    return slot->input && slot->input_sent == 0 && slot->crashes <= UNREAD_MAX;
}

static void ended(struct work_slot *slot, int status)
{
    bool expected = was_told_to_end(slot);
    work_lines_clear(&slot->answers);
    slot->retiring = slot->termed = false;
    if (!expected) {
        crashed(slot);
    }
    if (slot->state != WORK_SLOT_RUNNING) {
        if (!expected) {
            work_complain(&slot->work->status,
                          "a process of the pool has ended; it is started again");
        }
    } else if (slot->ending != WORK_ENDING_NONE) {
        work_slot_settle(slot, work_slot_verdict(slot));
    } else if (!is_for_the_next(slot)) {
        work_slot_settle(slot, work_verdict_of_crash(&slot->work->rules, status, &slot->tail));
    }
}

const struct work_model work_pool_model = {
    .begin = begin,
    .readable = readable,
    .writable = writable,
    .ended = ended,
    .tick = tick,
};
