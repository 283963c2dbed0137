// A worker that takes the jobs of the queue "mail" one after another. It ends when no job has
// arrived for one second. The queue is in this process or on a server:
//
//     worker                                 uses the folder ./jobs in this process
//     worker sluice://127.0.0.1:7711/app     uses a server
#include <sluice/sluice.h>

#include <stdio.h>
#include <stdlib.h>

static enum sluice_status worker(struct sluice *queue, struct sluice_error *error)
{
    struct sluice_job *job;
    enum sluice_status status = sluice_next(queue, "mail", 1.0, &job, error);
    if (status) {
        return status;
    }
    printf("%s %s\n", sluice_job_klass(job), sluice_job_data(job)); // the work itself
    status = sluice_done(job, "{\"sent\":true}", error);
    sluice_job_free(job);
    return status;
}

int main(int argc, char **argv)
{
    struct sluice *queue;
    struct sluice_error error;
    if (sluice_open(argc > 1 ? argv[1] : "file:jobs", NULL, &queue, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return EXIT_FAILURE;
    }
    enum sluice_status status;
    while ((status = worker(queue, &error)) == SLUICE_OK) {
    }
    sluice_close(queue);
    if (status != SLUICE_TIMED_OUT) {
        fprintf(stderr, "%s\n", error.message);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
