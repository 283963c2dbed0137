// SPDX-License-Identifier: MIT
#include "base/intern.h"

#include "fault_alloc.h"
#include "random.h"
#include "test.h"

#include <stdio.h>

enum {
    MANY = 3000,
};

static const struct hash_seed seed = { 5, 6 };

static uint32_t acquire(struct intern *intern, const char *string)
{
    uint32_t id = INTERN_NONE;
    assert_int_equal(intern_acquire(intern, slice_from_cstr(string), &id), STATUS_OK);
    return id;
}

static void test_intern__equal_strings_have_one_id(void **state)
{
    (void)state;
    struct intern intern;
    intern_init(&intern, &allocator_system, seed);
    uint32_t mail = acquire(&intern, "mail");
    uint32_t none = acquire(&intern, "");
    assert_int_equal(acquire(&intern, "mail"), mail);
    assert_int_not_equal(none, mail);
    assert_slice_equal(intern_get(&intern, mail), "mail");
    assert_slice_equal(intern_get(&intern, none), "");
    assert_int_equal(intern_find(&intern, SLICE("mail")), mail);
    assert_int_equal(intern_find(&intern, SLICE("other")), INTERN_NONE);
    assert_int_equal(intern_count(&intern), 2);
    intern_release(&intern);
}

static void test_intern__the_last_user_takes_the_string_along(void **state)
{
    (void)state;
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    struct intern intern;
    intern_init(&intern, &fault.allocator, seed);
    uint32_t mail = acquire(&intern, "mail");
    intern_share(&intern, mail);
    intern_drop(&intern, mail);
    assert_int_equal(intern_find(&intern, SLICE("mail")), mail);
    intern_drop(&intern, mail);
    assert_int_equal(intern_find(&intern, SLICE("mail")), INTERN_NONE);
    assert_int_equal(acquire(&intern, "other"), mail);
    intern_release(&intern);
    fault_alloc_release(&fault);
}

static void test_intern__ids_stay_small_and_strings_right_over_random_use(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    struct intern intern;
    intern_init(&intern, &fault.allocator, seed);
    uint32_t ids[MANY], users[MANY] = { 0 };
    size_t most = 0;
    for (int step = 0; step < 100000; step++) {
        size_t i = random_below(&random, MANY);
        char name[24];
        (void)snprintf(name, sizeof(name), "name %zu", i);
        if (random_below(&random, 2)) {
            uint32_t id = acquire(&intern, name);
            assert_true(!users[i] || ids[i] == id);
            ids[i] = id;
            users[i]++;
        } else if (users[i]) {
            assert_slice_equal(intern_get(&intern, ids[i]), name);
            intern_drop(&intern, ids[i]);
            users[i]--;
        }
        most = intern_count(&intern) > most ? intern_count(&intern) : most;
        assert_int_equal(intern_find(&intern, slice_from_cstr(name)),
                         users[i] ? ids[i] : INTERN_NONE);
    }
    assert_int_equal(intern.id_end, most);
    intern_release(&intern);
    fault_alloc_release(&fault);
}

static void test_intern__a_failed_allocation_changes_nothing(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct intern intern;
        intern_init(&intern, &fault.allocator, seed);
        enum status status = STATUS_OK;
        for (uint32_t i = 0; i < 1500 && !status; i++) {
            char name[24];
            (void)snprintf(name, sizeof(name), "name %u", i);
            uint32_t id = INTERN_NONE;
            status = intern_acquire(&intern, slice_from_cstr(name), &id);
            assert_int_equal(id, status ? INTERN_NONE : i);
            assert_int_equal(intern_count(&intern), status ? i : i + 1);
        }
        FAULT_ALLOC_EXPECT(&fault, status);
        intern_release(&intern);
        // Failing each of the 1,500 strings' own allocations tells nothing new.
        fault.fail_at += fault.fail_at > 20 && fault.fail_at < 1400 ? 97 : 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intern__equal_strings_have_one_id),
        cmocka_unit_test(test_intern__the_last_user_takes_the_string_along),
        cmocka_unit_test(test_intern__ids_stay_small_and_strings_right_over_random_use),
        cmocka_unit_test(test_intern__a_failed_allocation_changes_nothing),
    };
    return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}
