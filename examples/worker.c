// A worker that runs the jobs of the queue "mail", four at a time. SIGTERM and SIGINT let the running
// jobs end. It also ends when no job has arrived for one second. The queue is in this process or on a
// server:
//
//     worker                                 uses the folder ./jobs in this process
//     worker sluice://127.0.0.1:7711/app     uses a server
#include <sluice/pool.h>

#include <stdio.h>
#include <stdlib.h>

// Called from several threads.
static void send(void *context, struct sluice_job *job, struct sluice_run *run)
{
    (void)context;
    printf("%s %s\n", sluice_job_klass(job), sluice_job_data(job)); // the work itself
    sluice_run_done(run, "{\"sent\":true}");
}

static enum sluice_status work(struct sluice *queue, struct sluice_error *error)
{
    static const char *const queues[] = { "mail", NULL };
    static const struct sluice_handler handlers[] = { { .klass = "Send", .run = send } };
    struct sluice_pool *pool;
    enum sluice_status status =
        sluice_pool_new(queue,
                        &SLUICE_POOL_NEW(.queues = queues, .handlers = handlers, .handler_count = 1,
                                         .concurrency = 4, .idle = 1),
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
    enum sluice_status status = sluice_open(argc > 1 ? argv[1] : "file:jobs", NULL, &queue, &error);
    if (!status) {
        status = work(queue, &error);
        sluice_close(queue);
    }
    if (status) {
        fprintf(stderr, "%s\n", error.message);
    }
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
