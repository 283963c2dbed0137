// SPDX-License-Identifier: MIT
#include "host_test.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    NOW_US = 1000000,
    SAID_MAX = 1 << 16,
};

static void ignore_event(void *context, struct ns *ns, const struct event *event)
{
    (void)context;
    (void)ns;
    (void)event;
}

static void log_sentence(void *context, const char *sentence)
{
    (void)context;
    print_message("# %s\n", sentence);
}

static struct host_test *test_of(const struct waiter *waiter)
{
    return waiter->ns->all->options.context;
}

static const char *name_of(const struct waiter *waiter)
{
    return ((const struct host_waiter *)waiter)->name;
}

// A waiter for a queue pops one job, as Q.POP does.
static bool pop_one(struct waiter *waiter)
{
    struct host_test *test = test_of(waiter);
    const struct host_waiter *own = (const struct host_waiter *)waiter;
    const struct pop_request request = { .worker = slice_from_cstr(own->name),
                                         .queues = { (struct slice *)own->queues,
                                                     own->queue_count },
                                         .count = 1 };
    const struct job *job;
    size_t popped;
    assert_int_equal(engine_pop(waiter->ns->engine, NOW_US, &request, &job, &popped, &test->error),
                     STATUS_OK);
    if (popped) {
        struct job_view view;
        job_view(waiter->ns->engine, job, &view);
        buffer_printf(&test->said, "%s=%.*s; ", own->name, SLICE_PRINT(view.jid));
    }
    return popped;
}

static bool again(struct waiter *waiter, bool last)
{
    if (waiter->kind == WAIT_FINISH) {
        assert_true(last);
        const struct finish *finish = waiter_finish(waiter);
        buffer_printf(&test_of(waiter)->said, "%s=%.*s %.*s; ", name_of(waiter),
                      SLICE_PRINT(finish->state), SLICE_PRINT(finish->result));
    } else if (!pop_one(waiter)) {
        return false;
    }
    waiter_end(waiter);
    return true;
}

static void fail_waiter(struct waiter *waiter, const struct error *error)
{
    buffer_printf(&test_of(waiter)->said, "%s!%s; ", name_of(waiter), error_sentence(error));
    waiter_end(waiter);
}

static enum status visit(void *context, struct store_key key, struct slice bytes,
                         struct error *error)
{
    struct host_test *test = context;
    test->records++;
    return namespaces_visit(&test->all, key, bytes, error);
}

static void open_store(struct host_test *test)
{
    const struct namespaces_options options = { .allocator = &allocator_system,
                                                .clock = &test->clock,
                                                .create = true,
                                                .count_max = 100,
                                                .waiting = { again, fail_waiter },
                                                .event = ignore_event,
                                                .log = log_sentence,
                                                .context = test };
    const struct store_options store = { .path = test->folder,
                                         .allocator = &allocator_system,
                                         .durability = STORE_NEVER,
                                         .segment_size = 1 << 20,
                                         .reserve_size = 1 << 16 };
    const struct store_visitor visitor = { visit, test };
    test->records = 0;
    assert_int_equal(namespaces_init(&test->all, &options, &test->error), STATUS_OK);
    struct store *opened;
    assert_int_equal(store_open(&store, &visitor, &opened, &test->error), STATUS_OK);
    test->all.store = opened;
    assert_int_equal(namespaces_loaded(&test->all, NOW_US, &test->error), STATUS_OK);
}

static void close_store(struct host_test *test)
{
    struct store *store = test->all.store;
    struct error why = { 0 };
    for (struct ns *ns = test->all.first; ns; ns = ns->next) {
        waiting_fail_all(ns, &why); // after a test that failed
    }
    namespaces_release(&test->all);
    assert_int_equal(store_close(store, &test->error), STATUS_OK);
}

int host_test_begin(void **state)
{
    struct host_test *test = calloc(1, sizeof(*test));
    assert_non_null(test);
    (void)snprintf(test->folder, sizeof(test->folder), "/tmp/sluice-host-XXXXXX");
    assert_non_null(mkdtemp(test->folder));
    host_clock_init(&test->clock, host_clock_look());
    buffer_init(&test->said, &allocator_system, SAID_MAX);
    open_store(test);
    *state = test;
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
    (void)status;
    (void)type;
    (void)ftw;
    return remove(path);
}

int host_test_end(void **state)
{
    struct host_test *test = *state;
    close_store(test);
    assert_int_equal(nftw(test->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
    buffer_release(&test->said);
    free(test);
    return 0;
}

void host_test_reopen(struct host_test *test)
{
    close_store(test);
    open_store(test);
}

struct ns *host_test_use(struct host_test *test, const char *name)
{
    struct ns *ns;
    assert_int_equal(namespaces_acquire(&test->all, slice_from_cstr(name), ENGINE_CLOCK_SERVER, &ns,
                                        &test->error),
                     STATUS_OK);
    return ns;
}

void host_test_put(struct host_test *test, struct ns *ns, const char *queue, const char *jid)
{
    const struct put_request request = { .queue = slice_from_cstr(queue),
                                         .jid = slice_from_cstr(jid),
                                         .klass = SLICE("k"),
                                         .data = SLICE("{}") };
    const struct job *job;
    ns_touch(ns);
    assert_int_equal(engine_put(ns->engine, NOW_US, &request, &job, &test->error), STATUS_OK);
}

void host_test_append(struct host_test *test)
{
    (void)namespaces_tick(&test->all, NOW_US);
    assert_int_equal(namespaces_append(&test->all, &test->error), STATUS_OK);
}

static struct host_waiter *wait_for(struct host_test *test, struct ns *ns, const char *name,
                                    const struct call *call)
{
    struct waiter *waiter;
    assert_int_equal(waiter_new(ns, call, (struct slices){ 0 }, sizeof(struct host_waiter), &waiter,
                                &test->error),
                     STATUS_OK);
    struct host_waiter *own = (struct host_waiter *)waiter;
    own->name = name;
    own->queue_count = call->wait.queues.count;
    for (size_t i = 0; i < own->queue_count; i++) {
        own->queues[i] = call->wait.queues.items[i];
    }
    return own;
}

struct host_waiter *host_test_wait(struct host_test *test, struct ns *ns, const char *name,
                                   const char *queues)
{
    struct slice names[4];
    size_t count = 0;
    for (const char *at = queues; *at;) {
        size_t size = strcspn(at, " ");
        assert_in_range(count, 0, 3);
        names[count++] = slice_make(at, size);
        at += size + (at[size] == ' ');
    }
    const struct call call = { .ns = ns_name(ns),
                               .engine = ns->engine,
                               .wait = { WAIT_POP, INT64_MAX, { names, count } } };
    return wait_for(test, ns, name, &call);
}

struct host_waiter *host_test_wait_finish(struct host_test *test, struct ns *ns, const char *name,
                                          const char *jid)
{
    static uint64_t number;
    bool finished;
    const struct call call = { .ns = ns_name(ns),
                               .engine = ns->engine,
                               .waiter = ++number,
                               .wait = { WAIT_FINISH, INT64_MAX, { 0 } } };
    assert_int_equal(
        engine_wait(ns->engine, NOW_US, slice_from_cstr(jid), number, &finished, &test->error),
        STATUS_OK);
    assert_false(finished);
    return wait_for(test, ns, name, &call);
}

void host_test_expect(struct host_test *test, const char *wanted)
{
    buffer_append_char(&test->said, '\0');
    assert_string_equal(test->said.data, wanted);
    buffer_clear(&test->said);
}
