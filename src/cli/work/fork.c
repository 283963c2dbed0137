// SPDX-License-Identifier: MIT
// A process for each job: the job on standard input and in its environment, the result on standard
// output, the rest by how it ends.
#include "cli/work/runner.h"

#include "cli/core/call.h"
#include "cli/work/sandbox.h"
#include "cli/work/work.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    READ_SIZE = 64 * 1024,
    READS_MAX = 16, // in one turn
};

static const double delay_s = 5; // before a job comes again that could not be begun

// ---------------------------------------------------------------------------------------------
// Beginning

static void begin_later(struct work_slot *slot, const char *group, char *message)
{
    work_slot_settle(slot, (struct work_verdict){ .kind = WORK_VERDICT_RETRY,
                                                  .delay = delay_s,
                                                  .group = tool_copy(group, strlen(group)),
                                                  .message = message });
}

static void could_not_start(struct work_slot *slot, const struct work_spawn_error *error)
{
    if (work_spawn_is_for_good(error)) {
        work_runner_unrunnable(slot->runner);
    } else {
        begin_later(slot, "start",
                    tool_format("%s: %s", error->step, strerrordesc_np(error->error)));
    }
}

static void start_with(struct work_slot *slot, const char *input, size_t size)
{
    struct work_spawn_error error = { "memory", ENOMEM };
    if (input && work_runner_spawn(slot->runner, slot, input, size, &error)) {
        work_slot_started(slot);
    } else {
        could_not_start(slot, &error);
    }
}

static void begin(struct work_slot *slot)
{
    struct work *work = slot->work;
    if (work->options->sandbox) {
        slot->sandbox = work_sandbox_make(work->sandbox, slot->jid);
        if (!slot->sandbox) {
            char *message = tool_format("a folder in %s cannot be made: %s", work->sandbox,
                                        strerrordesc_np(errno));
            work_complain(&work->status, "%s", message);
            begin_later(slot, "sandbox", message);
            return;
        }
    }
    if (work->options->raw) {
        size_t size;
        char *body = data_decode(sluice_job_data(slot->job), &size);
        start_with(slot, body, size);
        tool_free(body);
        return;
    }
    char *json = sluice_value_json(sluice_job_value(slot->job));
    start_with(slot, json, json ? strlen(json) : 0);
    sluice_free(json);
}

// ---------------------------------------------------------------------------------------------
// Standard output

static void keep_output(struct work_runner *runner, const char *bytes, size_t size)
{
    struct work_output *output = &runner->output;
    size_t room = runner->work->result_max - output->size;
    if (size > room) {
        output->over = runner->work->result_max > 0; // with 0 nothing is kept, on purpose
        size = room;
    }
    if (output->capacity - output->size < size) {
        output->capacity = (output->size + size) * 2;
        output->data = tool_resize(output->data, output->capacity);
    }
    if (size) {
        memcpy(output->data + output->size, bytes, size);
        output->size += size;
    }
}

static void readable(struct work_runner *runner)
{
    char bytes[READ_SIZE];
    ssize_t got = 1;
    for (int i = 0; i < READS_MAX && got > 0; i++) {
        got = read(runner->child.out, bytes, sizeof(bytes));
        if (got > 0) {
            keep_output(runner, bytes, (size_t)got);
        }
    }
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        work_child_close_fd(&runner->child.out);
    }
}

// ---------------------------------------------------------------------------------------------
// Ending

static void ended(struct work_runner *runner, int status)
{
    struct work_slot *slot = runner->slots;
    // One that was told to end because the worker does, and came to its end, has done its job.
    bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (slot->ending == WORK_ENDING_NONE || (slot->ending == WORK_ENDING_RETURN && done)) {
        work_slot_settle(
            slot, work_verdict_of_exit(&slot->work->rules, status, &runner->output, &runner->tail));
    } else {
        work_slot_settle(slot, work_slot_verdict(slot));
    }
}

const struct work_model work_fork_model = {
    .begin = begin,
    .readable = readable,
    .ended = ended,
};
