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
      .summary = "the queues to take jobs from: from the first one while it has jobs, then from "
                 "the next" },
    { .name = "round-robin",
      .type = OPTION_FLAG,
      .offset = WORK(round_robin),
      .summary = "takes from each queue in turn instead" },
    { .name = "best",
      .type = OPTION_FLAG,
      .offset = WORK(best),
      .summary = "takes the job with the lowest priority of all queues instead" },
    { .name = "lease",
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .offset = WORK(lease),
      .summary = "the length of a lease, which the worker keeps renewing (as set for the job or "
                 "its queue)" },
    { .name = "jobs",
      .letter = 'j',
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = WORK(jobs),
      .minimum = 1,
      .maximum = JOBS_MAX,
      .summary = "how many jobs run at the same time (1)" },
    { .name = "fork",
      .type = OPTION_FLAG,
      .offset = WORK(fork),
      .summary = "starts a process for each job (the default)" },
    { .name = "pool",
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = WORK(pool),
      .minimum = 1,
      .maximum = JOBS_MAX,
      .summary = "keeps N processes running instead, and sends each a line of JSON for each job" },
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
      .summary = "with --pool: replaces a process after N jobs" },
    { .name = "count",
      .letter = 'n',
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = WORK(count),
      .minimum = 1,
      .maximum = INT64_MAX,
      .summary = "ends after N jobs" },
    { .name = "drain",
      .type = OPTION_FLAG,
      .offset = WORK(drain),
      .summary = "ends when the queues are empty and no job is running" },
    { .name = "once", .type = OPTION_FLAG, .offset = WORK(once), .summary = "the same as --drain" },
    { .name = "wait",
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .offset = WORK(wait),
      .summary = "ends when no job has arrived for this time and none is running" },
    { .name = "name",
      .type = OPTION_TEXT,
      .value = "NAME",
      .offset = WORK(name),
      .summary = "the worker's name (HOST-PID-RANDOM)" },
    { .name = "run-timeout",
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .offset = WORK(run_timeout),
      .summary = "the longest run of a job; after it the process is ended, and the job is "
                 "retried (group timeout)" },
    { .name = "grace",
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .offset = WORK(grace),
      .summary = "the time between SIGTERM and SIGKILL (10s)" },
    { .name = "drain-timeout",
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .offset = WORK(drain_timeout),
      .summary = "after SIGTERM, SIGINT or SIGHUP: how long running jobs may take before their "
                 "processes are ended and the jobs are returned (30s)" },
    { .name = "group",
      .type = OPTION_TEXT,
      .value = "GROUP",
      .offset = WORK(group),
      .summary = "the failure group, instead of exit:N and signal:NAME" },
    { .name = "retry-on",
      .type = OPTION_TEXTS,
      .value = "CODES",
      .offset = WORK(retry_on),
      .summary = "exit codes that retry the job, besides 75; also signal, signal:KILL" },
    { .name = "fail-on",
      .type = OPTION_TEXTS,
      .value = "CODES",
      .offset = WORK(fail_on),
      .summary = "exit codes that fail the job although they would retry it: 75" },
    { .name = "result-max",
      .type = OPTION_TEXT,
      .value = "SIZE",
      .offset = WORK(result_max),
      .summary = "the largest result (1M); a job that writes more fails. 0 discards standard "
                 "output" },
    { .name = "message-max",
      .type = OPTION_TEXT,
      .value = "SIZE",
      .offset = WORK(message_max),
      .summary = "how much of the end of standard error becomes the failure message (4k)" },
    { .name = "sandbox",
      .type = OPTION_TEXT,
      .value = "FOLDER",
      .offset = WORK(sandbox),
      .summary = "runs each job in a new folder FOLDER/JID, with --pool each process in "
                 "FOLDER/process-N, and removes it afterwards. FOLDER must belong to this user "
                 "and must not be writable for others" },
    { .name = "keep-failed",
      .type = OPTION_FLAG,
      .offset = WORK(keep_failed),
      .summary = "with --sandbox: keeps the folders of jobs that fail or are retried, and of "
                 "processes that have such jobs or end unexpectedly" },
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
      .summary = "the number of open files of a process" },
    { .name = "limit-file-size",
      .type = OPTION_TEXT,
      .value = "SIZE",
      .offset = WORK(limit_file_size),
      .summary = "the largest file that a process may write (SIGXFSZ)" },
    { .name = "nice",
      .type = OPTION_INTEGER,
      .value = "N",
      .offset = WORK(nice),
      .minimum = -20,
      .maximum = 19,
      .summary = "the niceness of processes; 19 is the lowest precedence" },
    { .name = "state",
      .type = OPTION_TEXT,
      .value = "FOLDER",
      .offset = WORK(state),
      .summary = "the folder in which running processes are recorded for the next worker on this "
                 "host ($XDG_RUNTIME_DIR/sluice or /tmp/sluice-UID)" },
    { .name = "raw",
      .type = OPTION_FLAG,
      .offset = WORK(raw),
      .summary = "standard input is the data only, as the bytes that `put --raw` was given" },
    { .name = "pass-url",
      .type = OPTION_FLAG,
      .offset = WORK(pass_url),
      .summary = "SLUICE_URL also contains the password" },
    { .name = "quiet",
      .type = OPTION_FLAG,
      .offset = WORK(quiet),
      .summary = "hides what programs write to standard error, and the status line" },
    { .name = "verbose",
      .letter = 'v',
      .type = OPTION_FLAG,
      .offset = WORK(verbose),
      .summary = "prints a line for each job that has ended, and a summary at the end" },
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
    { "sluice work -q mail -- ./send", "one job at a time" },
    { "sluice work -q mail,reports -j 8 --sandbox jobs --run-timeout 5m -- ./handler",
      "eight at a time, each in a folder of its own and for at most five minutes" },
    { "sluice work -q mail --pool 4 --max-jobs 1000 -- python3 handler.py",
      "four processes that run many jobs" },
    { "sluice work -q mail --pool 2 --per-process 50 -- python3 async_handler.py",
      "two processes with up to fifty jobs each at a time" },
    { "sluice work -q mail --drain -- ./send", "the jobs that are in the queue now" },
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
          "SLUICE_QUEUE, SLUICE_DATA (unless it is larger than 100,000 bytes), "
          "SLUICE_ATTEMPT, SLUICE_CHECKPOINT, SLUICE_TOKEN, SLUICE_WORKER, SLUICE_URL "
          "(without its password) and SLUICE_NS in its environment. With --raw standard input "
          "is the data only. Standard output is the result: JSON is kept, other text becomes "
          "a JSON string, and no output is no result. Exit code 0 completes the job, 75 "
          "retries it. Any other exit fails it in the group exit:N or signal:NAME, with the "
          "end of standard error as the message."
          "\n\n"
          "A line of standard error that begins with `::progress 0.4 MESSAGE` (or 40%), "
          "`::log TEXT` or `::checkpoint VALUE` is reported to the queue; the next run of a "
          "lost job receives the checkpoint. Other lines are shown, after the jid if several "
          "jobs can run. With --json the worker prints a line for each job that has ended."
          "\n\n"
          "With --pool the program reads a line of JSON for each job and answers it with a "
          "line: {\"jid\":JID,\"result\":ANY}, {\"retry\":true or SECONDS,\"message\":TEXT} or "
          "{\"fail\":GROUP,\"message\":TEXT}. Before that it can write "
          "{\"progress\":0.4,\"message\":TEXT}, {\"log\":TEXT} or {\"checkpoint\":TEXT}. It exits "
          "at "
          "the end of its input. If it dies during a job, the job is retried and the process "
          "is started again, with growing pauses while it completes no job. A job that it has "
          "not read goes to the next process without counting a retry. SLUICE_ variables "
          "about one job are not set."
          "\n\n"
          "With --per-process a process has up to M jobs at a time, for instance one for each "
          "coroutine. It answers in any order, and each line contains the jid. If a job is "
          "canceled or lost, or runs longer than --run-timeout, the process gets "
          "{\"jid\":JID,\"cancel\":\"canceled\"}, \"lost\" or \"timeout\". It stops that job only "
          "and "
          "answers {\"jid\":JID}; it ignores a jid that it does not have. Without an answer "
          "within --grace the process is ended, and its other jobs are returned without "
          "counting a retry. A process that dies or writes an invalid line costs a retry only "
          "for jobs that it has read. `::` lines apply only while it has a single job."
          "\n\n"
          "The worker renews the lease while the program runs. If the job is canceled or "
          "lost, it ends the process and reports nothing. It ends a process with its group "
          "and with every process that has left the group and has inherited the variable "
          "SLUICE_RUN: with SIGTERM, after --grace with SIGKILL."
          "\n\n"
          "On SIGTERM, SIGINT or SIGHUP (unless ignored, as under nohup) the worker takes no "
          "more jobs and waits for the running ones. After --drain-timeout it ends them and "
          "returns them to the head of their queue, without counting a retry. A second signal "
          "ends them at once. The worker waits for a server that cannot be reached (--timeout "
          "for each call, 30s here) or whose disk is full, but after a signal only for about "
          "--drain-timeout and --grace. Leases of jobs whose outcome it could not report by "
          "then expire, and the exit code is 128 plus the signal's number. A worker that ends "
          "by itself or after one signal is deregistered, unless --name is given."
          "\n\n"
          "If the worker is killed, a second process, sluice-guard, ends its processes with "
          "SIGTERM and after --grace with SIGKILL, because nothing would renew their leases. "
          "It ends the groups of these processes, and every process with the variable "
          "SLUICE_RUN, also in other groups and sessions. It cannot end a process that left "
          "the group and was started with a cleared environment or as another user, or if the "
          "guard is killed too: to cover these cases, run the worker in a cgroup, for example "
          "as a systemd service. The next worker of the same user on this host for the same "
          "queue ends remaining processes and retries their jobs at once (group orphaned); "
          "otherwise their leases expire.",
      .examples = examples },
};

const struct tool_set work_set = { commands, sizeof(commands) / sizeof(commands[0]) };
