// SPDX-License-Identifier: MIT
// A program that uses handles in a child process that were made before fork(), for test_fork.py:
//
//     client_fork URL puts        parent and child put jobs at the same time
//
// Each case ends with 0, or with 1 and a line that says what was wrong.
#include <sluice/async.h>
#include <sluice/pool.h>
#include <sluice/sluice.h>

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PUTS = 2000,
    POPS = 300,
    THREADS = 6,
    FORKS = 20,
    LIMIT_S = 60,
};

static const char *const queues[] = { "q", NULL };

static void expect_at(int line, bool good, const char *what, const struct sluice_error *error)
{
    if (!good) {
        (void)fprintf(stderr, "fork.c:%d: %s: %s\n", line, what, error ? error->message : "");
        exit(1);
    }
}
#define EXPECT(good, error) expect_at(__LINE__, (good), #good, (error))

static void put_one(struct sluice *queue, const char *jid)
{
    struct sluice_error error = { SLUICE_OK, "" };
    char given[SLUICE_NAME_SIZE];
    EXPECT(
        sluice_put(queue,
                   &SLUICE_PUT(.queue = "q", .klass = "k", .data = "{}", .jid = jid, .retries = 3),
                   given, &error) == SLUICE_OK,
        &error);
    if (strcmp(jid, given) != 0) {
        (void)fprintf(stderr, "%d put %s and was answered %s\n", (int)getpid(), jid, given);
        exit(1);
    }
}

static void put_many(struct sluice *queue, const char *prefix, int count)
{
    for (int i = 0; i < count; i++) {
        char jid[64];
        (void)snprintf(jid, sizeof(jid), "%s-%d", prefix, i);
        put_one(queue, jid);
    }
}

// The state and the worker of a job.
static void look(struct sluice *queue, const char *jid, const char *state, const char *worker)
{
    struct sluice_error error = { SLUICE_OK, "" };
    struct sluice_value *value;
    EXPECT(sluice_get(queue, jid, &value, &error) == SLUICE_OK, &error);
    EXPECT(strcmp(sluice_value_text(sluice_value_get(value, "jid"), NULL), jid) == 0, NULL);
    EXPECT(strcmp(sluice_value_text(sluice_value_get(value, "state"), NULL), state) == 0, NULL);
    if (worker) {
        const struct sluice_value *lease = sluice_value_get(value, "lease");
        EXPECT(strcmp(sluice_value_text(sluice_value_get(lease, "worker"), NULL), worker) == 0,
               NULL);
    }
    sluice_value_free(value);
}

static void wait_for(pid_t child)
{
    int status;
    EXPECT(waitpid(child, &status, 0) == child, NULL);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        (void)fprintf(stderr, "the child ended with %#x\n", (unsigned)status);
        exit(1);
    }
}

static pid_t fork_now(void)
{
    pid_t child = fork();
    EXPECT(child >= 0, NULL);
    return child;
}

// The end of a child whose parent has threads. What these hold on their stacks is lost in the
// child, which a sanitizer would report as leaks.
static _Noreturn void leave_child(struct sluice *queue)
{
    sluice_close(queue);
    _exit(0);
}

// The end of a child, which frees what it has inherited as any program would.
static _Noreturn void end_child(struct sluice *queue)
{
    sluice_close(queue);
    exit(0);
}

// ---------------------------------------------------------------------------------------------

static void puts_at_the_same_time(struct sluice *queue)
{
    put_one(queue, "first");
    pid_t child = fork_now();
    put_many(queue, child ? "parent" : "child", PUTS);
    look(queue, child ? "parent-7" : "child-7", "waiting", NULL);
    if (!child) {
        end_child(queue);
    }
    wait_for(child);
    put_many(queue, "after", 10);
}

static int pop_all(struct sluice *queue)
{
    int count = 0;
    struct sluice_job *job;
    struct sluice_error error = { SLUICE_OK, "" };
    enum sluice_status status;
    while (!(status = sluice_next(queue, "q", 0, &job, &error))) {
        look(queue, sluice_job_jid(job), "running", sluice_worker(queue));
        EXPECT(sluice_done(job, NULL, &error) == SLUICE_OK, &error);
        sluice_job_free(job);
        count++;
    }
    EXPECT(status == SLUICE_TIMED_OUT, &error);
    return count;
}

static void pops_at_the_same_time(struct sluice *queue)
{
    int ends[2], count = 0;
    char worker[SLUICE_NAME_SIZE];
    (void)snprintf(worker, sizeof(worker), "%s", sluice_worker(queue));
    put_many(queue, "job", POPS);
    EXPECT(pipe(ends) == 0, NULL);
    pid_t child = fork_now();
    if (!child) {
        EXPECT(strcmp(worker, sluice_worker(queue)) != 0, NULL); // another worker
        count = pop_all(queue);
        EXPECT(write(ends[1], &count, sizeof(count)) == sizeof(count), NULL);
        end_child(queue);
    }
    EXPECT(strcmp(worker, sluice_worker(queue)) == 0, NULL);
    int own = pop_all(queue);
    EXPECT(read(ends[0], &count, sizeof(count)) == sizeof(count), NULL);
    wait_for(child);
    EXPECT(own + count == POPS, NULL);
}

// ---------------------------------------------------------------------------------------------

struct busy {
    struct sluice *queue;
    int number;
    _Atomic bool *stop;
};

static void *put_until(void *context)
{
    const struct busy *busy = context;
    for (int i = 0; !*busy->stop; i++) {
        char jid[64];
        (void)snprintf(jid, sizeof(jid), "thread-%d-%d", busy->number, i);
        put_one(busy->queue, jid);
    }
    return NULL;
}

static void forks_while_threads_are_in_calls(struct sluice *queue)
{
    pthread_t threads[THREADS];
    struct busy busy[THREADS];
    _Atomic bool stop = false;
    for (int i = 0; i < THREADS; i++) {
        busy[i] = (struct busy){ queue, i, &stop };
        EXPECT(pthread_create(&threads[i], NULL, put_until, &busy[i]) == 0, NULL);
    }
    for (int i = 0; i < FORKS; i++) {
        char prefix[32];
        (void)snprintf(prefix, sizeof(prefix), "child-%d", i);
        pid_t child = fork_now();
        if (!child) {
            put_many(queue, prefix, 20);
            leave_child(queue);
        }
        wait_for(child);
    }
    stop = true;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

// ---------------------------------------------------------------------------------------------

static void never(void *context, struct sluice_job *job, enum sluice_loss why)
{
    (void)context;
    (void)fprintf(stderr, "%d lost %s: %d\n", (int)getpid(), sluice_job_jid(job), (int)why);
    exit(1);
}

static struct sluice_job *take_kept(struct sluice *queue, const char *jid)
{
    struct sluice_error error = { SLUICE_OK, "" };
    struct sluice_job *job;
    put_one(queue, jid);
    EXPECT(sluice_take_job(queue, jid, &SLUICE_TAKE(.lease = 1), &job, &error) == SLUICE_OK,
           &error);
    EXPECT(sluice_keepalive(job, never, NULL, &error) == SLUICE_OK, &error);
    return job;
}

// Waits until a lease that is renewed has another end, twice.
static void outlive(const struct sluice_job *job)
{
    for (int i = 0; i < 2; i++) {
        double expires = sluice_job_expires(job);
        while (sluice_job_expires(job) <= expires) {
            EXPECT(!sluice_job_lost(job), NULL);
            (void)poll(NULL, 0, 10);
        }
    }
}

static void both_keep_their_jobs(struct sluice *queue)
{
    struct sluice_error error = { SLUICE_OK, "" };
    struct sluice_job *first = take_kept(queue, "first");
    struct sluice_job *second = take_kept(queue, "second");
    pid_t child = fork_now();
    if (!child) {
        struct sluice_job *own = take_kept(queue, "own");
        outlive(own);
        EXPECT(sluice_done(own, NULL, &error) == SLUICE_OK, &error);
        sluice_job_free(own);
        // The child may also keep and settle a job that its parent has taken.
        EXPECT(sluice_keepalive(second, never, NULL, &error) == SLUICE_OK, &error);
        EXPECT(sluice_progress(second, 0.5, NULL, &error) == SLUICE_OK, &error);
        sluice_job_free(second);
        sluice_job_free(first);
        leave_child(queue);
    }
    outlive(first);
    wait_for(child);
    outlive(second);
    EXPECT(sluice_done(first, NULL, &error) == SLUICE_OK, &error);
    EXPECT(sluice_done(second, NULL, &error) == SLUICE_OK, &error);
    sluice_job_free(first);
    sluice_job_free(second);
    look(queue, "own", "complete", NULL);
}

// ---------------------------------------------------------------------------------------------

static void hear(struct sluice_events *events, const char *word)
{
    struct sluice_error error = { SLUICE_OK, "" };
    const char *event;
    do {
        EXPECT(sluice_events_next(events, LIMIT_S, &event, &error) == SLUICE_OK, &error);
    } while (!strstr(event, word));
}

static void both_hear_events(struct sluice *queue)
{
    struct sluice_error error = { SLUICE_OK, "" };
    struct sluice_events *plain, *polled;
    const char *event;
    int fd;
    EXPECT(sluice_listen(queue, "log", &plain, &error) == SLUICE_OK, &error);
    EXPECT(sluice_listen(queue, "log", &polled, &error) == SLUICE_OK, &error);
    EXPECT(sluice_events_fd(polled, &fd, &error) == SLUICE_OK, &error);
    pid_t child = fork_now();
    if (!child) {
        hear(plain, "\"gap\""); // it listens anew
        put_one(queue, "of-the-child");
        hear(plain, "of-the-child");
        struct pollfd of = { .fd = fd, .events = POLLIN };
        EXPECT(poll(&of, 1, LIMIT_S * 1000) == 1, NULL);
        EXPECT(sluice_events_next(polled, 0, &event, &error) == SLUICE_STATE, NULL);
        EXPECT(strstr(error.message, "fork()") != NULL, &error);
        sluice_events_free(polled);
        sluice_events_free(plain);
        leave_child(queue);
    }
    wait_for(child);
    put_one(queue, "of-the-parent");
    hear(plain, "of-the-child");
    hear(polled, "of-the-child");
    hear(plain, "of-the-parent");
    hear(polled, "of-the-parent");
    sluice_events_free(polled);
    sluice_events_free(plain);
}

// ---------------------------------------------------------------------------------------------

static enum sluice_status finish(struct sluice_async *async, struct sluice_error *error)
{
    struct pollfd of = { .fd = sluice_async_fd(async), .events = POLLIN };
    EXPECT(poll(&of, 1, LIMIT_S * 1000) == 1, NULL);
    return sluice_async_finish(async, error);
}

static void asynchronous_calls(struct sluice *queue)
{
    struct sluice_error error = { SLUICE_OK, "" };
    struct sluice_async *async;
    struct sluice_job *job;
    size_t taken;
    const struct sluice_take_options take = SLUICE_TAKE(.queues = queues, .wait = SLUICE_FOREVER);
    EXPECT(sluice_async_new(queue, &async, &error) == SLUICE_OK, &error);
    EXPECT(sluice_async_take(async, &take, &job, 1, &taken, &error) == SLUICE_OK, &error);
    pid_t child = fork_now();
    if (!child) {
        struct sluice_value *value;
        const char *const words[] = { "Q.QUEUES" };
        EXPECT(sluice_async_finish(async, &error) == SLUICE_STATE, NULL);
        EXPECT(sluice_async_call(async, words, NULL, 1, &value, &error) == SLUICE_OK, &error);
        EXPECT(finish(async, &error) == SLUICE_OK, &error);
        sluice_value_free(value);
        put_one(queue, "for-the-parent");
        sluice_async_free(async);
        leave_child(queue);
    }
    EXPECT(finish(async, &error) == SLUICE_OK, &error);
    EXPECT(strcmp(sluice_job_jid(job), "for-the-parent") == 0, NULL);
    sluice_job_free(job);
    sluice_async_free(async);
    wait_for(child);
}

static void run_job(void *context, struct sluice_job *job, struct sluice_run *run)
{
    (void)job;
    (void)run;
    ++*(_Atomic int *)context;
}

static int run_pool(struct sluice_pool *pool, const _Atomic int *count)
{
    struct sluice_error error = { SLUICE_OK, "" };
    struct sluice_pool_tally tally;
    EXPECT(sluice_pool_run(pool, &tally, &error) == SLUICE_OK, &error);
    EXPECT(tally.done == (uint64_t)*count, NULL);
    return *count;
}

static void both_run_a_pool(struct sluice *queue)
{
    static _Atomic int count;
    struct sluice_error error = { SLUICE_OK, "" };
    struct sluice_pool *pool;
    int ends[2], other = 0;
    const struct sluice_handler handlers[] = { { .run = run_job, .context = (void *)&count } };
    put_many(queue, "job", POPS);
    EXPECT(sluice_pool_new(queue,
                           &SLUICE_POOL_NEW(.queues = queues, .handlers = handlers,
                                            .handler_count = 1, .concurrency = 4, .idle = 1),
                           &pool, &error) == SLUICE_OK,
           &error);
    EXPECT(pipe(ends) == 0, NULL);
    pid_t child = fork_now();
    int own = run_pool(pool, &count);
    sluice_pool_free(pool);
    if (!child) {
        EXPECT(write(ends[1], &own, sizeof(own)) == sizeof(own), NULL);
        leave_child(queue);
    }
    EXPECT(read(ends[0], &other, sizeof(other)) == sizeof(other), NULL);
    wait_for(child);
    EXPECT(own + other == POPS, NULL);
}

// A handler whose run is a process of its own, which reports about the job.
static void fork_for_job(void *context, struct sluice_job *job, struct sluice_run *run)
{
    struct sluice *queue = context;
    struct sluice_error error = { SLUICE_OK, "" };
    (void)run;
    pid_t child = fork_now();
    if (!child) {
        EXPECT(sluice_progress(job, 0.5, "from the child", &error) == SLUICE_OK, &error);
        look(queue, sluice_job_jid(job), "running", NULL);
        _exit(0);
    }
    wait_for(child);
}

static void handlers_that_fork(struct sluice *queue)
{
    struct sluice_error error = { SLUICE_OK, "" };
    struct sluice_pool *pool;
    struct sluice_pool_tally tally;
    const struct sluice_handler handlers[] = { { .run = fork_for_job, .context = queue } };
    put_many(queue, "job", 40);
    EXPECT(sluice_pool_new(queue,
                           &SLUICE_POOL_NEW(.queues = queues, .handlers = handlers,
                                            .handler_count = 1, .concurrency = 4, .idle = 1),
                           &pool, &error) == SLUICE_OK,
           &error);
    EXPECT(sluice_pool_run(pool, &tally, &error) == SLUICE_OK, &error);
    EXPECT(tally.done == 40, NULL);
    sluice_pool_free(pool);
}

// ---------------------------------------------------------------------------------------------

static void an_interrupt_stays_in_its_process(struct sluice *queue)
{
    struct sluice_error error = { SLUICE_OK, "" };
    struct sluice_job *job;
    pid_t child = fork_now();
    sluice_interrupt(queue, !child);
    enum sluice_status status = sluice_next(queue, "q", 0.2, &job, &error);
    EXPECT(status == (child ? SLUICE_TIMED_OUT : SLUICE_INTERRUPTED), &error);
    if (!child) {
        end_child(queue);
    }
    wait_for(child);
    status = sluice_next(queue, "q", 0.1, &job, &error);
    EXPECT(status == SLUICE_TIMED_OUT, &error);
}

// Without a call in the child the parent goes on as if nothing had happened.
static void a_child_that_only_ends(struct sluice *queue)
{
    put_one(queue, "a");
    pid_t child = fork_now();
    if (!child) {
        end_child(queue);
    }
    wait_for(child);
    put_one(queue, "b");
    child = fork_now();
    if (!child) {
        exit(0);
    }
    wait_for(child);
    put_one(queue, "c");
}

static const struct {
    const char *name;
    void (*run)(struct sluice *queue);
} cases[] = {
    { "puts", puts_at_the_same_time },
    { "pops", pops_at_the_same_time },
    { "threads", forks_while_threads_are_in_calls },
    { "keepers", both_keep_their_jobs },
    { "events", both_hear_events },
    { "async", asynchronous_calls },
    { "pool", both_run_a_pool },
    { "handlers", handlers_that_fork },
    { "interrupt", an_interrupt_stays_in_its_process },
    { "end", a_child_that_only_ends },
};

int main(int argc, char **argv)
{
    struct sluice_error error = { SLUICE_OK, "" };
    struct sluice *queue;
    EXPECT(argc == 3, NULL);
    EXPECT(sluice_open(argv[1], &SLUICE_OPEN(.timeout = LIMIT_S), &queue, &error) == SLUICE_OK,
           &error);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (!strcmp(cases[i].name, argv[2])) {
            cases[i].run(queue);
            sluice_close(queue);
            return 0;
        }
    }
    (void)fprintf(stderr, "there is no case %s\n", argv[2]);
    return 2;
}
