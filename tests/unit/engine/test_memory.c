// SPDX-License-Identifier: MIT
// Every call with its first, second, third ... allocation failing. The script is a list of steps,
// each of which is one call. For each step a fresh engine takes the steps before it, and then the
// step with one allocation failing: it must say so, must leave every byte as it was, and must work
// the next time.
#include "memory_steps.h"

#include <stdio.h>
#include <string.h>

// With the server clock all that is due has happened before the step, and is not what fails.
static void settle(struct world *w, const struct step *step)
{
    while (engine_tick(w->engine, us(step->now)) == us(step->now)) {
    }
}

static void run(struct world *w, const struct step *step)
{
    settle(w, step);
    enum status status = step->call(w, us(step->now));
    if (status) {
        print_error("%s at %g: %s\n", step->name, step->now, error_sentence(&w->error));
    }
    assert_int_equal(status, STATUS_OK);
}

static struct world *world_before(enum engine_clock clock, const struct step *steps, size_t step)
{
    struct world *w = world_new(clock, 1);
    for (size_t i = 0; i < step; i++) {
        run(w, &steps[i]);
    }
    settle(w, &steps[step]);
    return w;
}

static bool same_bytes(const struct world *w, const struct buffer *before)
{
    struct buffer after;
    buffer_init(&after, &allocator_system, SIZE_MAX - 1);
    save_but_series(w, &after);
    bool same = slice_equal(buffer_slice(&after), buffer_slice(before));
    buffer_release(&after);
    return same;
}

// The newest token that any job of the script has: a pop that hands out nothing gives no new one.
static uint64_t newest_token(const struct world *w)
{
    static const char *const queues[] = {
        "q", "r", "s", "many", "rec", "rec2", "unfailed", "lanes"
    };
    uint64_t newest = 0;
    for (size_t i = 0; i < 2 * sizeof(queues) / sizeof(queues[0]); i++) {
        const struct job *jobs[256];
        struct page page = { .count = 256, .jobs = jobs };
        assert_int_equal(engine_jobs(w->engine, us(w->now), i % 2 ? LIST_UNEXPIRED : LIST_EXPIRED,
                                     name_of(queues[i / 2]), &page, NULL),
                         STATUS_OK);
        for (size_t j = 0; j < page.found; j++) {
            struct job_view view;
            job_view(w->engine, jobs[j], &view);
            newest = view.token > newest ? view.token : newest;
        }
    }
    return newest;
}

static void note_states(const struct world *w, struct buffer *out)
{
    static const char *const others[] = { "a",  "b",  "c",  "last", "r-1", "r-2", "r-3",
                                          "x1", "x2", "x3", "y1",   "y2",  "y3",  "plain1" };
    buffer_clear(out);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        buffer_printf(out, "%s ", state_of(w, others[i]));
    }
    for (int i = 0; i < MEMORY_MANY; i++) {
        char jid[16];
        (void)snprintf(jid, sizeof(jid), "many%d", i);
        buffer_printf(out, "%s ", state_of(w, jid));
    }
}

// Runs a step with its n-th allocation failing; false when it makes fewer than that. Counts what is
// not as it should be.
static bool fail_nth(enum engine_clock clock, const struct step *steps, size_t index, size_t n,
                     const struct buffer *clean, size_t *broken)
{
    const struct step *step = &steps[index];
    struct world *w = world_before(clock, steps, index);
    w->now = step->now;
    const bool may_move =
        step->kind == POPS || (step->kind == LOOKS && clock == ENGINE_CLOCK_CLIENT);
    struct buffer before, states, states_after;
    buffer_init(&before, &allocator_system, SIZE_MAX - 1);
    buffer_init(&states, &allocator_system, SIZE_MAX - 1);
    buffer_init(&states_after, &allocator_system, SIZE_MAX - 1);
    save_but_series(w, &before);
    note_states(w, &states);
    uint64_t token = newest_token(w);
    size_t events = w->events.size;
    w->fault.calls = 0;
    w->fault.failed = false;
    w->fault.fail_at = n;
    enum status status = step->call(w, us(step->now));
    bool reached = w->fault.failed;
    w->fault.fail_at = 0;
    w->fault.failed = false;
    bool right = !status || (reached && status == STATUS_NO_MEMORY);
    bool same = !status || may_move || (same_bytes(w, &before) && w->events.size == events);
    bool given = status == STATUS_NO_MEMORY && newest_token(w) > token;
    note_states(w, &states_after);
    // With the client clock a pop may have done what was due before it failed.
    bool stayed = !status || clock == ENGINE_CLOCK_CLIENT ||
                  slice_equal(buffer_slice(&states), buffer_slice(&states_after));
    size_t unsound = faults_of(w);
    bool again = !status || step->call(w, us(step->now)) == STATUS_OK;
    bool as_clean = may_move || same_bytes(w, clean);
    if (!right || !same || !stayed || given || unsound || !again || !as_clean) {
        print_error("%s at %g, allocation %zu: %s%s%s%s%s%s\n", step->name, step->now, n,
                    right ? "" : " wrong status", same && stayed ? "" : " changed something",
                    given ? " handed out a job" : "", unsound ? " broke an invariant" : "",
                    again ? "" : " fails again", as_clean ? "" : " ends otherwise");
        ++*broken;
    }
    buffer_release(&before);
    buffer_release(&states);
    buffer_release(&states_after);
    world_free(w);
    return reached;
}

static void fail_each(enum engine_clock clock, const struct step *steps)
{
    size_t broken = 0;
    for (size_t i = 0; steps[i].name; i++) {
        struct world *w = world_before(clock, steps, i);
        run(w, &steps[i]);
        struct buffer clean;
        buffer_init(&clean, &allocator_system, SIZE_MAX - 1);
        save_but_series(w, &clean);
        world_free(w);
        for (size_t n = 1; fail_nth(clock, steps, i, n, &clean, &broken); n++) {
        }
        buffer_release(&clean);
    }
    assert_int_equal(broken, 0);
}

static void test_memory__a_call_that_cannot_get_it_changes_nothing(void **state)
{
    (void)state;
    fail_each(ENGINE_CLOCK_SERVER, memory_script);
    fail_each(ENGINE_CLOCK_SERVER, memory_script_of_lanes);
}

static void
test_memory__a_call_that_cannot_get_it_changes_nothing_with_the_client_clock(void **state)
{
    (void)state;
    fail_each(ENGINE_CLOCK_CLIENT, memory_script);
    fail_each(ENGINE_CLOCK_CLIENT, memory_script_of_lanes);
}

// A world in which much is due at once.
static struct world *world_with_dues(void)
{
    struct world *w = world_new(ENGINE_CLOCK_SERVER, 1);
    recur_with(w, 0,
               (struct recur_request){ .queue = SLICE("rec"),
                                       .jid = SLICE("r"),
                                       .interval_us = us(40),
                                       .offset_us = us(20),
                                       .tags = slices_of(w, "red,blue") });
    put_with(w, 0, (struct put_request){ .jid = SLICE("last"), .has_retries = true });
    put(w, 0, "q", "a");
    track(w, 0, "a");
    put_later(w, 0, "q", "b", 30);
    pop(w, 0, "q", "w1", 2);
    // A lane that may run again, one that is busy, a result to be dropped, and a deadline with what
    // follows from it.
    limit_set(w, 0, NULL, "x", rate(1, 10, 1));
    limit_set(w, 0, NULL, "y", concurrency(1));
    policy_set(w, 0, POLICY_QUEUE, "lanes", (struct job_options){ .result_ttl_us = us(25) });
    static const char *const jids[] = { "x1", "x2", "y1", "y2", "done" };
    for (size_t i = 0; i < sizeof(jids) / sizeof(jids[0]); i++) {
        const char domain[] = { jids[i][0], '\0' };
        put_with(
            w, 0,
            (struct put_request){ .queue = SLICE("lanes"),
                                  .jid = name_of(jids[i]),
                                  .has_domain = true,
                                  .domain = name_of(domain),
                                  .has_deadline = i % 2,
                                  .deadline_us = us(50),
                                  .unique = { .by = UNIQUE_BY_KEY, .key = name_of(jids[i]) } });
    }
    put_with(w, 0,
             (struct put_request){
                 .queue = SLICE("lanes"),
                 .jid = SLICE("follows"),
                 .depends = slices_of(w, "y2"),
                 .options = &(struct job_options){ .dependency_policy = DEPENDENCY_FAIL } });
    assert_string_equal(pop(w, 0, "lanes", "w1", 9), "x1,y1,done");
    complete_with(w, 0,
                  (struct complete_request){ .holder = { SLICE("done"), SLICE("w1"), .token = 0 },
                                             .result = SLICE("1") });
    return w;
}

static void test_memory__a_tick_that_cannot_get_it_goes_on_the_next_time(void **state)
{
    (void)state;
    struct world *clean = world_with_dues();
    assert_true(tick(clean, 99) == 100);
    struct buffer wanted;
    buffer_init(&wanted, &allocator_system, SIZE_MAX - 1);
    save_but_series(clean, &wanted);
    bool reached = true;
    for (size_t n = 1; reached; n++) {
        struct world *w = world_with_dues();
        w->fault.calls = 0;
        w->fault.fail_at = n;
        double next = tick(w, 99);
        reached = w->fault.failed;
        w->fault.fail_at = 0;
        assert_int_equal(faults_of(w), 0);
        // It wants to be called again at once, unless it could do without.
        assert_true(next == 100 || (reached && next == 99));
        assert_true(tick(w, 99) == 100);
        assert_true(same_bytes(w, &wanted));
        buffer_append_char(&clean->events, '\0');
        expect_events(w, clean->events.data);
        buffer_truncate(&clean->events, clean->events.size - 1);
        world_free(w);
    }
    buffer_release(&wanted);
    world_free(clean);
}

static void test_memory__an_engine_that_cannot_get_it_is_not_made(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        const struct engine_options options = { .allocator = &fault.allocator };
        struct engine *engine = NULL;
        enum status status = engine_new(&options, &engine);
        FAULT_ALLOC_EXPECT(&fault, status);
        if (!status) {
            engine_free(engine);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory__a_call_that_cannot_get_it_changes_nothing),
        cmocka_unit_test(
            test_memory__a_call_that_cannot_get_it_changes_nothing_with_the_client_clock),
        cmocka_unit_test(test_memory__a_tick_that_cannot_get_it_goes_on_the_next_time),
        cmocka_unit_test(test_memory__an_engine_that_cannot_get_it_is_not_made),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
