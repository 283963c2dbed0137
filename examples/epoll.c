// A worker with one thread and an event loop of its own. It never blocks in a call of the library: one
// handle waits for jobs, another one settles them. It ends when no job has arrived for one second.
//
//     epoll sluice://127.0.0.1:7711/app mail
#include <sluice/async.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct worker {
    const char *queues[2];
    struct sluice_async *taker, *settler;
    struct sluice_take_options take;
    struct sluice_settle_options outcome;
    struct sluice_job *job;
    size_t taken;
    struct sluice_error error;
};

static enum sluice_status take_next(struct worker *worker)
{
    worker->take = SLUICE_TAKE(.queues = worker->queues, .wait = 1.0);
    return sluice_async_take(worker->taker, &worker->take, &worker->job, 1, &worker->taken,
                             &worker->error);
}

// A job has arrived, or none within a second.
static enum sluice_status on_job(struct worker *worker)
{
    enum sluice_status status = sluice_async_finish(worker->taker, &worker->error);
    if (status) {
        return status;
    }
    printf("%s %s\n", sluice_job_klass(worker->job), sluice_job_data(worker->job)); // the work
    worker->outcome = SLUICE_SETTLE(.verdict = SLUICE_DONE, .result = "{\"sent\":true}");
    return sluice_async_settle(worker->settler, &worker->job, &worker->outcome, 1, NULL,
                               &worker->error);
}

static enum sluice_status on_settled(struct worker *worker)
{
    enum sluice_status status = sluice_async_finish(worker->settler, &worker->error);
    sluice_job_free(worker->job);
    worker->job = NULL;
    return status ? status : take_next(worker);
}

static enum sluice_status loop(struct worker *worker, int epoll)
{
    enum sluice_status status = take_next(worker);
    while (!status) {
        struct epoll_event event;
        if (epoll_wait(epoll, &event, 1, -1) == 1) {
            status = event.data.ptr == worker->taker ? on_job(worker) : on_settled(worker);
        }
    }
    return status;
}

static enum sluice_status work(struct sluice *queue, struct worker *worker)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    enum sluice_status status = sluice_async_new(queue, &worker->taker, &worker->error);
    if (!status) {
        status = sluice_async_new(queue, &worker->settler, &worker->error);
    }
    if (!status) {
        struct epoll_event job = { .events = EPOLLIN, .data.ptr = worker->taker };
        struct epoll_event settled = { .events = EPOLLIN, .data.ptr = worker->settler };
        epoll_ctl(epoll, EPOLL_CTL_ADD, sluice_async_fd(worker->taker), &job);
        epoll_ctl(epoll, EPOLL_CTL_ADD, sluice_async_fd(worker->settler), &settled);
        status = loop(worker, epoll);
    }
    sluice_async_free(worker->taker);
    sluice_async_free(worker->settler);
    close(epoll);
    return status;
}

int main(int argc, char **argv)
{
    struct sluice *queue;
    struct worker worker = { .job = NULL };
    if (argc != 3) {
        fprintf(stderr, "usage: epoll ADDRESS QUEUE\n");
        return EXIT_FAILURE;
    }
    worker.queues[0] = argv[2];
    enum sluice_status status = sluice_open(argv[1], NULL, &queue, &worker.error);
    if (!status) {
        status = work(queue, &worker);
        sluice_close(queue);
    }
    if (status != SLUICE_TIMED_OUT) {
        fprintf(stderr, "%s\n", worker.error.message);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
