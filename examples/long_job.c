// A worker for jobs that take longer than their lease. The pool renews the lease. The handler reports
// progress and stores a checkpoint after each step, and continues from the checkpoint of an earlier
// run. It stops when the job is canceled or lost, and when the worker is stopped.
//
//     long_job sluice://127.0.0.1:7711/app films
#include <sluice/pool.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    STEPS = 20,
    STEP_MS = 100,
};

static void do_step(void)
{
    const struct timespec step = { .tv_nsec = STEP_MS * 1000000L };
    nanosleep(&step, NULL);
}

static void render(void *context, struct sluice_job *job, struct sluice_run *run)
{
    const char *before = sluice_job_checkpoint(job);
    long step = before ? strtol(before, NULL, 10) : 0;
    (void)context;
    for (; step < STEPS && !sluice_job_lost(job); step++) {
        char text[24];
        if (sluice_run_draining(run)) {
            sluice_run_return(run); // the next run continues here
            return;
        }
        do_step();
        snprintf(text, sizeof(text), "%ld", step + 1);
        // Errors: a lost job ends the loop, and everything else may be better at the next step.
        sluice_progress(job, (double)(step + 1) / STEPS, "rendering", NULL);
        sluice_checkpoint(job, text, NULL);
    }
    if (sluice_job_lost(job)) {
        printf("%s was %s\n", sluice_job_jid(job),
               sluice_job_lost(job) == SLUICE_CANCELED ? "canceled" : "lost");
    }
}

static enum sluice_status work(struct sluice *queue, const char *name, struct sluice_error *error)
{
    const char *const queues[] = { name, NULL };
    const struct sluice_handler handlers[] = { { .klass = "Render", .run = render } };
    struct sluice_pool *pool;
    enum sluice_status status = sluice_pool_new(
        queue,
        &SLUICE_POOL_NEW(.queues = queues, .handlers = handlers, .handler_count = 1, .idle = 1),
        &pool, error);
    if (!status) {
        status = sluice_pool_run(pool, NULL, error);
        sluice_pool_free(pool);
    }
    return status;
}

int main(int argc, char **argv)
{
    struct sluice *queue;
    struct sluice_error error;
    if (argc != 3) {
        fprintf(stderr, "usage: long_job ADDRESS QUEUE\n");
        return EXIT_FAILURE;
    }
    enum sluice_status status = sluice_open(argv[1], NULL, &queue, &error);
    if (!status) {
        status = work(queue, argv[2], &error);
        sluice_close(queue);
    }
    if (status) {
        fprintf(stderr, "%s\n", error.message);
    }
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
