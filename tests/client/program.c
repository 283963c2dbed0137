// SPDX-License-Identifier: MIT
// A C99 program that uses libsluice, as the public header's own example does.
#include <sluice/async.h>
#include <sluice/list.h>
#include <sluice/pool.h>
#include <sluice/sluice.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int points;

static void expect(bool good, const char *what)
{
    printf("%s %d - %s\n", good ? "ok" : "not ok", ++points, what);
    if (!good) {
        exit(1);
    }
}

static void walk(struct sluice *queue)
{
    struct sluice_list *list;
    const struct sluice_value *item;
    expect(sluice_list_open(queue, SLUICE_JOBS, &SLUICE_LIST_OPEN(.state = "complete"), &list,
                            NULL) == SLUICE_OK,
           "a list");
    expect(sluice_list_next(list, &item, NULL) == SLUICE_OK &&
               strcmp(sluice_value_text(sluice_value_get(item, "jid"), NULL), "a") == 0,
           "its item");
    expect(sluice_list_next(list, &item, NULL) == SLUICE_OK && !item, "its end");
    sluice_list_free(list);
}

static void handle(void *context, struct sluice_job *job, struct sluice_run *run)
{
    (void)job;
    (void)run;
    ++*(int *)context;
}

static void run_pool(struct sluice *queue)
{
    int count = 0;
    const char *const queues[] = { "mail", NULL };
    const struct sluice_handler handlers[] = { { .run = handle, .context = &count } };
    struct sluice_pool *pool;
    expect(sluice_put(queue, &SLUICE_PUT(.queue = "mail", .klass = "Send", .data = "{}"), NULL,
                      NULL) == SLUICE_OK,
           "another job");
    expect(sluice_pool_new(queue,
                           &SLUICE_POOL_NEW(.queues = queues, .handlers = handlers,
                                            .handler_count = 1, .idle = 0.2),
                           &pool, NULL) == SLUICE_OK,
           "a pool");
    expect(sluice_pool_run(pool, NULL, NULL) == SLUICE_OK && count == 1, "it runs a job");
    sluice_pool_free(pool);
}

int main(int argc, char **argv)
{
    struct sluice *queue;
    struct sluice_job *job;
    struct sluice_value *value;
    char url[64];
    if (argc != 2) {
        return 2;
    }
    (void)snprintf(url, sizeof(url), "sluice://127.0.0.1:%s/app", argv[1]);
    expect(sluice_open(url, NULL, &queue, NULL) == SLUICE_OK, "open");
    expect(sluice_put(queue,
                      &SLUICE_PUT(.queue = "mail", .klass = "Send", .jid = "a",
                                  .data = "{\"to\":\"ann\"}"),
                      NULL, NULL) == SLUICE_OK,
           "put");
    expect(sluice_next(queue, "mail", SLUICE_FOREVER, &job, NULL) == SLUICE_OK, "next");
    expect(strcmp(sluice_job_data(job), "{\"to\":\"ann\"}") == 0, "its data");
    expect(sluice_done(job, "{\"sent\":true}", NULL) == SLUICE_OK, "done");
    sluice_job_free(job);
    expect(sluice_get(queue, "a", &value, NULL) == SLUICE_OK, "get");
    expect(strcmp(sluice_value_text(sluice_value_get(value, "state"), NULL), "complete") == 0,
           "it is complete");
    sluice_value_free(value);
    walk(queue);
    run_pool(queue);
    sluice_close(queue);
    printf("1..%d\n", points);
    return 0;
}
