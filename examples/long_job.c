// A worker for a job that takes longer than its lease. The library renews the lease in a helper
// thread and reports when the job is canceled or lost. The worker reports progress, stores a
// checkpoint after each step, and continues from the checkpoint of an earlier run.
//
//     long_job sluice://127.0.0.1:7711/app films
#include <sluice/sluice.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    STEPS = 20,
    STEP_MS = 100,
};

static atomic_bool lost;

// Called from the helper thread. The work checks the flag and stops.
static void on_lost(void *context, struct sluice_job *job, enum sluice_loss why)
{
    (void)context;
    (void)job;
    (void)why;
    atomic_store(&lost, true);
}

static void do_step(void)
{
    const struct timespec step = { .tv_nsec = STEP_MS * 1000000L };
    nanosleep(&step, NULL);
}

static enum sluice_status work(struct sluice_job *job, struct sluice_error *error)
{
    const char *before = sluice_job_checkpoint(job);
    long step = before ? strtol(before, NULL, 10) : 0;
    enum sluice_status status = sluice_keepalive(job, on_lost, NULL, error);
    for (; step < STEPS && !status && !atomic_load(&lost); step++) {
        char text[24];
        do_step();
        snprintf(text, sizeof(text), "%ld", step + 1);
        status = sluice_progress(job, (double)(step + 1) / STEPS, "rendering", error);
        if (!status) {
            status = sluice_checkpoint(job, text, error);
        }
    }
    // The helper thread or one of the calls has found that this worker no longer holds the job.
    if (sluice_job_lost(job)) {
        printf("%s was %s\n", sluice_job_jid(job),
               sluice_job_lost(job) == SLUICE_CANCELED ? "canceled" : "lost");
        return SLUICE_OK;
    }
    return status ? status : sluice_done(job, NULL, error);
}

int main(int argc, char **argv)
{
    struct sluice *queue;
    struct sluice_job *job;
    struct sluice_error error;
    if (argc != 3) {
        fprintf(stderr, "usage: long_job ADDRESS QUEUE\n");
        return EXIT_FAILURE;
    }
    enum sluice_status status = sluice_open(argv[1], NULL, &queue, &error);
    if (!status) {
        status = sluice_next(queue, argv[2], 10.0, &job, &error);
        if (!status) {
            status = work(job, &error);
            sluice_job_free(job);
        }
        sluice_close(queue);
    }
    if (status) {
        fprintf(stderr, "%s\n", error.message);
    }
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
