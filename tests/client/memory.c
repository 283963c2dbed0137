// SPDX-License-Identifier: MIT
// A program with memory functions of its own. It makes the same calls
// again and again, and fails the first, the second, the third ... allocation, until the calls need
// fewer. Nothing crashes or leaks, and a call that fails says that there is no memory.
#include <sluice/async.h>
#include <sluice/list.h>
#include <sluice/sluice.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_long blocks, allocations, fail_at;
static int points;

static void *resize(void *block, size_t size)
{
    if (atomic_fetch_add(&allocations, 1) + 1 == atomic_load(&fail_at)) {
        return NULL;
    }
    void *moved = realloc(block, size);
    atomic_fetch_add(&blocks, moved && !block);
    return moved;
}

static void release(void *block)
{
    atomic_fetch_sub(&blocks, block != NULL);
    free(block);
}

static void expect(bool good, const char *what)
{
    printf("%s %d - %s\n", good ? "ok" : "not ok", ++points, what);
    if (!good) {
        exit(1);
    }
}

// A call, or nothing after one that failed.
#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (!status) {                                                                             \
            status = (call);                                                                       \
        }                                                                                          \
    } while (0)

static enum sluice_status use_job(struct sluice *queue, const char *result,
                                  struct sluice_error *error)
{
    enum sluice_status status = SLUICE_OK;
    struct sluice_job *job = NULL;
    TRY(sluice_next(queue, "q", 1, &job, error));
    TRY(sluice_progress(job, 0.5, "half", error));
    TRY(sluice_done(job, result, error));
    sluice_job_free(job);
    return status;
}

static enum sluice_status use_list(struct sluice *queue, struct sluice_error *error)
{
    enum sluice_status status = SLUICE_OK;
    struct sluice_list *list = NULL;
    const struct sluice_value *item = NULL;
    TRY(sluice_list_open(queue, SLUICE_JOBS, &SLUICE_LIST_OPEN(.queue = "q", .state = "any"), &list,
                         error));
    do {
        TRY(sluice_list_next(list, &item, error));
    } while (!status && item);
    sluice_list_free(list);
    return status;
}

static enum sluice_status use_events(struct sluice *queue, struct sluice_error *error)
{
    enum sluice_status status = SLUICE_OK;
    struct sluice_events *events = NULL;
    const struct sluice_value *event;
    TRY(sluice_listen(queue, "log", &events, error));
    TRY(sluice_put(queue, &SLUICE_PUT(.queue = "q", .klass = "k", .data = "{}"), NULL, error));
    TRY(sluice_events_next_value(events, 10, &event, error));
    sluice_events_free(events);
    return status;
}

static enum sluice_status use(const char *url, struct sluice_error *error)
{
    enum sluice_status status = SLUICE_OK;
    struct sluice *queue = NULL;
    struct sluice_value *value = NULL;
    const struct sluice_put_options puts[] = {
        SLUICE_PUT(.queue = "q", .klass = "k", .data = "{}"),
        SLUICE_PUT(.queue = "q", .klass = "k", .data = "[1]", .delay = 0.5),
    };
    TRY(sluice_open(url, NULL, &queue, error));
    TRY(sluice_put_many(queue, puts, 2, NULL, error));
    TRY(use_job(queue, "{\"a\":1}", error));
    TRY(use_events(queue, error));
    TRY(use_job(queue, NULL, error));
    TRY(use_list(queue, error));
    if (!status) {
        const char *const words[] = { "Q.QUEUES" };
        status = sluice_call(queue, words, NULL, 1, &value, error);
        char *json = status ? NULL : sluice_value_json(value);
        status = !status && !json ? SLUICE_NO_MEMORY : status;
        sluice_free(json);
        sluice_value_free(value);
    }
    sluice_close(queue);
    return status;
}

int main(int argc, char **argv)
{
    char url[64];
    struct sluice_error error;
    long runs = 0;
    bool more = true;
    if (argc != 2) {
        return 2;
    }
    (void)snprintf(url, sizeof(url), "sluice://127.0.0.1:%s/memory", argv[1]);
    expect(sluice_set_memory(resize, release, NULL) == SLUICE_OK, "functions are set");
    expect(use(url, &error) == SLUICE_OK, "calls without a failure");
    expect(allocations > 100, "the functions are used");
    expect(blocks == 0, "all memory is freed");
    for (long at = 1; more; at++) {
        atomic_store(&allocations, 0);
        atomic_store(&fail_at, at);
        enum sluice_status status = use(url, &error);
        more = allocations >= at;
        runs++;
        // Without room for one of several jobs or events the call may do without.
        if (blocks || (status && status != SLUICE_NO_MEMORY && status != SLUICE_TOO_LARGE &&
                       status != SLUICE_UNREACHABLE && status != SLUICE_UNKNOWN &&
                       status != SLUICE_TIMED_OUT)) {
            printf("# allocation %ld: %s: %s, and %ld blocks are left\n", at,
                   sluice_status_name(status), status ? error.message : "", (long)blocks);
            expect(false, "a failed allocation is an error and nothing more");
        }
    }
    printf("# %ld allocations failed\n", runs - 1);
    expect(runs > 100, "allocations have failed");
    expect(sluice_set_memory(NULL, NULL, NULL) == SLUICE_OK, "the functions of the C library");
    printf("1..%d\n", points);
    return 0;
}
