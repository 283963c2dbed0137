// SPDX-License-Identifier: MIT
// `sluice work`: its options, and the worker made of them.
#include "cli/work/work.h"
#include "cli/core/sets.h"
#include "cli/core/url.h"
#include "cli/work/loop.h"
#include "cli/work/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    JOBS_MAX = 1000,
    LINE_SIZE_MAX = 64 * 1024, // of standard error
    RESULT_SIZE_DEFAULT = 1024 * 1024,
    MESSAGE_SIZE_DEFAULT = 4096,
    MESSAGE_SIZE_MAX = 1024 * 1024,
    EXIT_SIGNAL = 128, // and the signal's number, as shells say it
};

static const double grace_default_s = 10, drain_default_s = 30;
static const double call_s = 30;   // how long a call may take
static const double goodbye_s = 2; // how long the last one may

#define WORK(field) offsetof(struct work_options, field)

static const struct option options[] = {
    { .name = "queues",
      .letter = 'q',
      .type = OPTION_TEXTS,
      .value = "QUEUES",
      .offset = WORK(queues),
      .summary = "where jobs are taken from: the first as long as it has any, then the next" },
    { .name = "round-robin",
      .type = OPTION_FLAG,
      .offset = WORK(round_robin),
      .summary = "takes from each queue in turn instead" },
    { .name = "best",
      .type = OPTION_FLAG,
      .offset = WORK(best),
      .summary = "takes of all queues the job with the lowest priority instead" },
    { .name = "lease",
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .offset = WORK(lease),
      .summary = "how long a lease lasts, which is renewed all the time (as the job or its queue "
                 "says)" },
    { .name = "jobs",
      .letter = 'j',
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = WORK(jobs),
      .minimum = 1,
      .maximum = JOBS_MAX,
      .summary = "how many jobs at once (1)" },
    { .name = "fork",
      .type = OPTION_FLAG,
      .offset = WORK(fork),
      .summary = "a process for each job, which is the default" },
    { .name = "pool",
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = WORK(pool),
      .minimum = 1,
      .maximum = JOBS_MAX,
      .summary = "N processes that live on instead, and get a line of JSON for each job" },
    { .name = "per-process",
      .type = OPTION_INTEGER,
      .value = "M",
      .offset = WORK(per_process),
      .minimum = 1,
      .maximum = JOBS_MAX,
      .summary = "with --pool: gives each process up to M jobs at a time (1)" },
    { .name = "max-jobs",
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = WORK(max_jobs),
      .minimum = 1,
      .maximum = INT64_MAX,
      .summary = "with --pool: a process that was given so many is replaced by a new one" },
    { .name = "count",
      .letter = 'n',
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = WORK(count),
      .minimum = 1,
      .maximum = INT64_MAX,
      .summary = "ends after so many jobs" },
    { .name = "drain",
      .type = OPTION_FLAG,
      .offset = WORK(drain),
      .summary = "ends when the queues are empty and nothing runs" },
    { .name = "once", .type = OPTION_FLAG, .offset = WORK(once), .summary = "the same as --drain" },
    { .name = "wait",
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .offset = WORK(wait),
      .summary = "ends when nothing came for so long and nothing runs" },
    { .name = "name",
      .type = OPTION_TEXT,
      .value = "NAME",
      .offset = WORK(name),
      .summary = "the worker's name (HOST-PID-RANDOM)" },
    { .name = "run-timeout",
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .offset = WORK(run_timeout),
      .summary = "the longest run of a job: then its process is ended, and it is tried again "
                 "(group timeout)" },
    { .name = "grace",
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .offset = WORK(grace),
      .summary = "between SIGTERM and SIGKILL (10s)" },
    { .name = "drain-timeout",
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .offset = WORK(drain_timeout),
      .summary = "after SIGTERM, SIGINT or SIGHUP: how long jobs may take to end before their "
                 "processes are ended and they are given back (30s)" },
    { .name = "group",
      .type = OPTION_TEXT,
      .value = "GROUP",
      .offset = WORK(group),
      .summary = "the group of failures, instead of exit:N and signal:NAME" },
    { .name = "retry-on",
      .type = OPTION_TEXTS,
      .value = "CODES",
      .offset = WORK(retry_on),
      .summary = "exit codes that retry besides 75; also signal, signal:KILL" },
    { .name = "fail-on",
      .type = OPTION_TEXTS,
      .value = "CODES",
      .offset = WORK(fail_on),
      .summary = "exit codes that fail: 75" },
    { .name = "result-max",
      .type = OPTION_TEXT,
      .value = "SIZE",
      .offset = WORK(result_max),
      .summary = "the largest result (1M); a job that writes more fails; 0: standard output is "
                 "thrown away" },
    { .name = "message-max",
      .type = OPTION_TEXT,
      .value = "SIZE",
      .offset = WORK(message_max),
      .summary = "how much of the end of standard error becomes the message of a failure (4k)" },
    { .name = "sandbox",
      .type = OPTION_TEXT,
      .value = "FOLDER",
      .offset = WORK(sandbox),
      .summary = "each job runs in a new folder FOLDER/JID, with --pool each process in one "
                 "FOLDER/process-N, which is removed after; FOLDER must be this user's and "
                 "writable for no other" },
    { .name = "keep-failed",
      .type = OPTION_FLAG,
      .offset = WORK(keep_failed),
      .summary = "with --sandbox: keeps the folders of jobs that fail or are retried, and of "
                 "processes that have such jobs or end unasked" },
    { .name = "limit-cpu",
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .offset = WORK(limit_cpu),
      .summary = "the processor time of a process, in whole seconds (SIGXCPU)" },
    { .name = "limit-memory",
      .type = OPTION_TEXT,
      .value = "SIZE",
      .offset = WORK(limit_memory),
      .summary = "the address space of a process: 512M, 2G" },
    { .name = "limit-files",
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = WORK(limit_files),
      .minimum = 3,
      .maximum = INT32_MAX,
      .summary = "the files that a process may have open" },
    { .name = "limit-file-size",
      .type = OPTION_TEXT,
      .value = "SIZE",
      .offset = WORK(limit_file_size),
      .summary = "the largest file that it may write (SIGXFSZ)" },
    { .name = "nice",
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = WORK(nice),
      .minimum = -20,
      .maximum = 19,
      .summary = "its niceness: 19 gives way to all others" },
    { .name = "state",
      .type = OPTION_TEXT,
      .value = "FOLDER",
      .offset = WORK(state),
      .summary = "where running processes are noted, for the next worker on this host to find "
                 "($XDG_RUNTIME_DIR/sluice or /tmp/sluice-UID)" },
    { .name = "raw",
      .type = OPTION_FLAG,
      .offset = WORK(raw),
      .summary = "standard input is the data alone, as the bytes that `put --raw` was given" },
    { .name = "pass-url",
      .type = OPTION_FLAG,
      .offset = WORK(pass_url),
      .summary = "SLUICE_URL has the url's password too" },
    { .name = "quiet",
      .type = OPTION_FLAG,
      .offset = WORK(quiet),
      .summary = "what the programs write to standard error is not shown, nor the line that says "
                 "how things stand" },
    { .name = "verbose",
      .letter = 'v',
      .type = OPTION_FLAG,
      .offset = WORK(verbose),
      .summary = "a line for each job that has ended, and one for all of them at the end" },
};

// ---------------------------------------------------------------------------------------------
// Options

static const char *check_sizes(struct work *work, const struct work_options *given)
{
    const struct {
        const char *name, *text;
        uint64_t *out;
    } sizes[] = {
        { "limit-memory", given->limit_memory, &work->limits.memory },
        { "limit-file-size", given->limit_file_size, &work->limits.file_size },
        { "result-max", given->result_max, &work->result_max },
        { "message-max", given->message_max, &work->message_max },
    };
    work->result_max = RESULT_SIZE_DEFAULT;
    work->message_max = MESSAGE_SIZE_DEFAULT;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (sizes[i].text && !work_size_parse(sizes[i].text, sizes[i].out)) {
            return tool_format("--%s is not a size such as 100000, 64k, 512M or 2G: %s",
                               sizes[i].name, sizes[i].text);
        }
    }
    return work->message_max > MESSAGE_SIZE_MAX ? "--message-max is more than 1M" : NULL;
}

// What does not go together.
static const char *check_model(const struct work_options *given)
{
    if (given->pool && (given->fork || given->jobs)) {
        return "--pool says how many jobs at once, and takes neither --jobs nor --fork";
    }
    if ((given->max_jobs || given->per_process) && !given->pool) {
        return "--max-jobs and --per-process are for processes that live on (--pool)";
    }
    if (given->raw && given->pool) {
        return "--raw is for a process for each job: those of --pool read lines of JSON";
    }
    if (given->per_process && given->pool * given->per_process > JOBS_MAX) {
        return tool_format("--pool and --per-process make more than %d jobs at once", JOBS_MAX);
    }
    if (given->keep_failed && !given->sandbox) {
        return "--keep-failed says what becomes of a folder, and needs --sandbox";
    }
    return NULL;
}

// Gives what is wrong; NULL: nothing.
static const char *check(struct work *work, const struct work_options *given)
{
    if (given->queues.count == 0) {
        return "there is no queue to work on; -q names one";
    }
    for (size_t i = 0; i < given->queues.count; i++) {
        if (!*given->queues.items[i]) {
            return "-q has a queue without a name";
        }
    }
    const char *wrong = check_model(given);
    if (!wrong) {
        wrong = check_sizes(work, given);
    }
    if (wrong) {
        return wrong;
    }
    work->rules = (struct work_verdict_rules){ given->group, given->retry_on, given->fail_on };
    wrong = work_verdict_rules_check(&work->rules);
    return wrong ? tool_format("%s is not the end of a process such as 3, signal or signal:KILL",
                               wrong)
                 : NULL;
}

// What was not said.
static struct work_options with_defaults(const struct tool *tool)
{
    struct work_options given = *(const struct work_options *)tool->options;
    if (!tool_given(tool, "grace")) {
        given.grace = grace_default_s;
    }
    if (!tool_given(tool, "drain-timeout")) {
        given.drain_timeout = drain_default_s;
    }
    return given;
}

// ---------------------------------------------------------------------------------------------
// A worker

// Files that are opened later must not become standard ones by being the lowest.
static void fill_standard_files(void)
{
    int fd;
    do {
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) {
        (void)close(fd);
    }
}

// Each process takes four files of ours. What it may have open itself stays as it was.
static void raise_files_limit(struct work_limits *limits)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        limits->files_soft = files.rlim_cur;
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
}

static void on_log(void *context, enum sluice_log_level level, const char *sentence)
{
    (void)level;
    work_complain(context, "%s", sentence);
}

// A file for a connection, for programs that speak to the queue themselves: they run in folders of
// their own.
static void hand_on(const char *variable, const char *path)
{
    char *whole = path ? realpath(path, NULL) : NULL;
    if (whole) {
        (void)setenv(variable, whole, 1);
    }
    free(whole);
}

static void hand_on_files(const struct work *work)
{
    hand_on("SLUICE_CA_FILE", work->tool->ca_file);
    hand_on("SLUICE_CERT_FILE", work->tool->cert_file);
    hand_on("SLUICE_KEY_FILE", work->tool->key_file);
    if (work->options->pass_url) {
        hand_on("SLUICE_PASSWORD_FILE", work->tool->password_file);
    }
}

static int open_queue(struct work *work)
{
    const struct sluice_open_options queue_options =
        SLUICE_OPEN(.worker = work->options->name,
                    .timeout = work->tool->timeout_given ? 0 : call_s, .log = on_log,
                    .log_context = &work->status);
    int code = tool_connect(work->tool, &queue_options, &work->queue);
    if (code) {
        return code;
    }
    work->worker = sluice_worker(work->queue);
    char *url = url_without_password(work->tool->url);
    char *queue = tool_format("%s\n%s\n", url, sluice_namespace(work->queue));
    work->child_url = work->options->pass_url ? tool_format("%s", work->tool->url) : url;
    hand_on_files(work);
    char *wrong = NULL;
    if (!work_orphans_open(&work->orphans, work->options->state, queue, &wrong)) {
        tool_complain("%s", wrong);
        return EXIT_REFUSED;
    }
    char *prefix = tool_format("%s-", strrchr(work->orphans.folder, '-') + 1);
    (void)work_guard_mark(&work->guard, prefix);
    tool_free(prefix);
    return EXIT_DONE;
}

// Before the queue is opened: the guard must not hold the locks of a folder of jobs.
static int start_guard(struct work *work)
{
    if (!work_guard_start(&work->guard, work->options->grace)) {
        tool_complain("the guard of the worker cannot be started: %s", strerrordesc_np(errno));
        return EXIT_REFUSED;
    }
    return EXIT_DONE;
}

static int find_program(struct work *work)
{
    work->program = work_program_find(work->tool->arguments[0]);
    if (!work->program) {
        tool_complain("%s cannot be run: %s", work->tool->arguments[0], strerrordesc_np(errno));
        return EXIT_USAGE;
    }
    work->arguments = tool_allocate((work->tool->argument_count + 1) * sizeof(char *));
    for (size_t i = 0; i < work->tool->argument_count; i++) {
        work->arguments[i] = tool_format("%s", work->tool->arguments[i]);
    }
    if (work->options->sandbox) {
        char *wrong;
        work->sandbox = work_folder_open("--sandbox", work->options->sandbox, &wrong);
        if (!work->sandbox) {
            tool_complain("%s", wrong);
            tool_free(wrong);
            return EXIT_USAGE;
        }
    }
    return EXIT_DONE;
}

static void make_runners(struct work *work)
{
    work->runners = tool_allocate(work->runner_count * sizeof(*work->runners));
    for (size_t i = 0; i < work->runner_count; i++) {
        struct work_runner *runner = &work->runners[i];
        runner->work = work;
        runner->index = i;
        runner->slot_count = work->slot_count / work->runner_count;
        runner->slots = &work->slots[i * runner->slot_count];
        runner->child = (struct work_child){ .pidfd = -1, .in = -1, .out = -1, .err = -1 };
        runner->errors.maximum = LINE_SIZE_MAX;
        runner->answers.maximum = work->result_max;
        runner->tail.maximum = work->message_max;
    }
}

static void make_slots(struct work *work)
{
    const struct work_options *given = work->options;
    size_t each = given->per_process ? (size_t)given->per_process : 1;
    work->model = given->pool ? &work_pool_model : &work_fork_model;
    work->runner_count = given->pool ? (size_t)given->pool : given->jobs ? (size_t)given->jobs : 1;
    work->slot_count = work->runner_count * each;
    work->slots = tool_allocate(work->slot_count * sizeof(*work->slots));
    make_runners(work);
    for (size_t i = 0; i < work->slot_count; i++) {
        struct work_slot *slot = &work->slots[i];
        slot->work = work;
        slot->runner = &work->runners[i / each];
        slot->index = i;
    }
}

// Tells the queue that the worker is gone, unless its name was given: others may have that name too.
// If the call fails, the queue forgets the worker later. A handle of its own with a short timeout is
// used, because the worker must end soon.
static void say_goodbye(const struct work *work)
{
    struct sluice *queue;
    const struct sluice_open_options short_calls = SLUICE_OPEN(.timeout = goodbye_s);
    if (work->options->name || tool_open(work->tool, &short_calls, &queue, NULL)) {
        return;
    }
    const char *words[] = { "Q.WORKER.DEREGISTER", work->worker };
    (void)sluice_call(queue, words, NULL, 2, NULL, NULL);
    sluice_close(queue);
}

static int run_worker(struct work *work)
{
    work->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    make_slots(work);
    if (work->wake < 0 || !work_signals_catch(work) || !work_reporters_start(work) ||
        !work_taker_start(&work->taker, work)) {
        tool_complain("the worker's threads cannot be started");
        return EXIT_REFUSED;
    }
    int signal = work_loop(work);
    if (work->abandoned) {
        // Calls may be under way that are not waited for. The next worker finds the notes about
        // their jobs.
        _exit(signal ? EXIT_SIGNAL + signal : EXIT_USAGE);
    }
    work_taker_join(&work->taker);
    work_reporters_join(work);
    // `wake` stays open: signals are still caught and write to it, whatever has its number.
    if (signal) {
        return EXIT_SIGNAL + signal;
    }
    say_goodbye(work);
    return work->unrunnable ? EXIT_USAGE : work->taker.exit_code;
}

static int run_work(struct tool *tool)
{
    struct work_options given = with_defaults(tool);
    struct work work = { .tool = tool, .options = &given };
    const char *wrong = check(&work, &given);
    if (wrong) {
        return tool_misuse(tool, "%s", wrong);
    }
    work.limits.cpu_s = (uint64_t)ceil(given.limit_cpu);
    work.limits.files = (uint64_t)given.limit_files;
    work.limits.nice = (int)given.nice;
    fill_standard_files();
    raise_files_limit(&work.limits);
    work_status_init(&work.status, !given.quiet, given.verbose);
    int code = find_program(&work);
    if (!code) {
        code = start_guard(&work);
    }
    if (!code) {
        code = open_queue(&work);
    }
    if (!code) {
        code = run_worker(&work);
        work_orphans_close(&work.orphans);
    }
    work_guard_end(&work.guard);
    sluice_close(work.queue);
    work_status_release(&work.status);
    return code;
}

// ---------------------------------------------------------------------------------------------

static const struct tool_example examples[] = {
    { "sluice work -q mail -- ./send", "one job after the other" },
    { "sluice work -q mail,reports -j 8 --sandbox jobs --run-timeout 5m -- ./handler",
      "eight at once, each in a folder of its own and for five minutes at most" },
    { "sluice work -q mail --pool 4 --max-jobs 1000 -- python3 handler.py",
      "four processes that live on" },
    { "sluice work -q mail --pool 2 --per-process 50 -- python3 async_handler.py",
      "two processes that live on, with up to fifty jobs each at a time" },
    { "sluice work -q mail --drain -- ./send", "what is there now, then end" },
    { NULL, NULL },
};

static const struct tool_command commands[] = {
    { .name = "work",
      .patient = true,
      .group = "Work",
      .arguments = "-- PROGRAM [ARGUMENT ...]",
      .arguments_min = 1,
      .arguments_max = SIZE_MAX,
      .options = options,
      .option_count = sizeof(options) / sizeof(options[0]),
      .options_size = sizeof(struct work_options),
      .run = run_work,
      .offline = true, // it opens the queue under the worker's name
      .summary = "Takes jobs and runs a program for each",
      .details =
          "The program gets the job as JSON on standard input, and SLUICE_JID, SLUICE_KLASS, "
          "SLUICE_QUEUE, SLUICE_DATA (unless it is larger than 100,000 bytes), SLUICE_ATTEMPT, "
          "SLUICE_CHECKPOINT, SLUICE_TOKEN, SLUICE_WORKER, SLUICE_URL (without its password) and "
          "SLUICE_NS in its environment. With --raw it gets the data alone, as bytes. What it "
          "writes to standard output is the result: JSON as "
          "it is, other text as a JSON string, nothing as none. It ends with 0: the job is done. "
          "With 75: it is tried again. With anything else it fails, in the group exit:N or "
          "signal:NAME, with the end of standard error as the message."
          "\n\n"
          "Lines of standard error speak to the queue when they begin with `::progress 0.4 "
          "MESSAGE` (or 40%), `::log TEXT` or `::checkpoint VALUE`, which the next run of the job "
          "receives should this one be lost. All others are shown, behind the jid when more than "
          "one job may run. With --json there is a line on standard output for each job that has "
          "ended."
          "\n\n"
          "With --pool the program reads a line of JSON for each job and answers each with a line: "
          "{\"jid\":JID,\"result\":ANY}, {\"retry\":true or SECONDS,\"message\":TEXT} or "
          "{\"fail\":GROUP,\"message\":TEXT}; in between it may say {\"progress\":0.4,"
          "\"message\":TEXT}, {\"log\":TEXT} or {\"checkpoint\":TEXT}. At the end of its input it "
          "ends. One that dies in a job has the job tried again, and is started anew, after pauses "
          "that grow while it does nothing else; a job that it has not read goes to the next one "
          "at no cost. Its SLUICE_ variables are those that are not about a job."
          "\n\n"
          "With --per-process a process has up to M jobs at a time, for instance one a coroutine: "
          "it goes on reading while it works, and answers in any order. Every line that it writes "
          "then has the jid. A job that is canceled or lost, or runs longer than --run-timeout, is "
          "told to it as {\"jid\":JID,\"cancel\":\"canceled\"}, \"lost\" or \"timeout\": it "
          "stops that job alone and answers {\"jid\":JID}, which ends it; one that it does not "
          "have (any more) it passes over. If the answer does not come within --grace, the process "
          "is ended, and its other jobs are given back at no cost. One that dies, or writes a line "
          "that is none, costs a retry of the jobs that it has read and no others. `::` lines of "
          "standard error speak for the job only while the process has one alone."
          "\n\n"
          "The lease is renewed as long as the program runs. A job that is canceled or lost all "
          "the same has its process ended, and nothing is said about it. Processes are ended with "
          "their group, and with every process that has left it and has inherited the variable "
          "SLUICE_RUN: SIGTERM, then SIGKILL after --grace."
          "\n\n"
          "SIGTERM, SIGINT or SIGHUP (unless that is ignored, as under nohup): takes no more jobs "
          "and ends with those that run; after --drain-timeout they are ended and given back, "
          "first in line and without counting as a retry. A second signal ends them at once. "
          "While a server cannot be reached (--timeout for each call, 30s here), or its disk is "
          "full, the worker waits for it, but when it is to end no longer than --drain-timeout, "
          "--grace and a moment: then what could not be told is left to the leases, and the exit "
          "code is 128 and the signal's number. One that ends of its own accord, or by the first "
          "signal, is deregistered, unless --name gave it a name that others may have too."
          "\n\n"
          "A worker that is killed takes the processes of its jobs with it, since nothing would "
          "renew their leases or report their results: a second process, sluice-guard, sends them "
          "SIGTERM and after --grace SIGKILL. It ends the group of each process that the worker "
          "started, and every process that has inherited the variable SLUICE_RUN, also in a group "
          "or session of its own. Out of its reach is a process that left the group and was "
          "started with a cleared environment or as another user, and everything if worker and "
          "guard are killed together: to be sure of these too, run the worker in a cgroup, for "
          "example as a systemd service. The next worker of the same user that starts on the host "
          "for the same queue ends what is left and gives the jobs back for a retry at once (group "
          "orphaned); otherwise that happens when their leases run out.",
      .examples = examples },
};

const struct tool_set work_set = { commands, sizeof(commands) / sizeof(commands[0]) };
