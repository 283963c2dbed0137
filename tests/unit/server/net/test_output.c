// SPDX-License-Identifier: MIT
#include "server/net/output.h"

#include "fault_alloc.h"
#include "random.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    SIZE_MAX_SMALL = 64,
    STEPS = 20000,
    HOLDS_MAX = 64,
    TEXT_MAX = 1 << 20,
};

static struct output output_of(size_t size_max)
{
    struct output output;
    output_init(&output, &allocator_system, size_max);
    return output;
}

static void say(struct output *output, const char *text)
{
    (void)output_turn_begin(output);
    buffer_append(&output->bytes, slice_from_cstr(text));
    output_count(output, 1);
}

static void expect_sendable(const struct output *output, const char *wanted)
{
    assert_slice_equal(output_sendable(output), wanted);
    output_check(output);
}

static void test_output__bytes_of_a_turn_are_not_sendable_before_its_end(void **state)
{
    (void)state;
    struct output output = output_of(SIZE_MAX_SMALL);
    say(&output, "one");
    say(&output, "two");
    assert_int_equal(output_replies_pending(&output), 2);
    expect_sendable(&output, "");
    output_turn_free(&output);
    assert_int_equal(output_replies_pending(&output), 0);
    expect_sendable(&output, "onetwo");
    output_sent(&output, 4);
    output_compact(&output);
    expect_sendable(&output, "wo");
    assert_int_equal(output_sent_position(&output), 4);
    assert_int_equal(output_unsent(&output), 2);
    output_release(&output);
}

static void test_output__held_bytes_are_sendable_in_the_order_of_their_holds(void **state)
{
    (void)state;
    struct output output = output_of(SIZE_MAX_SMALL);
    say(&output, "one");
    struct output_hold first = output_turn_hold(&output);
    say(&output, "two");
    struct output_hold second = output_turn_hold(&output);
    say(&output, "three");
    expect_sendable(&output, "");
    assert_int_equal(output_replies_pending(&output), 3);
    output_hold_release(&output, &first);
    expect_sendable(&output, "one");
    output_sent(&output, 3);
    output_compact(&output);
    output_hold_release(&output, &second);
    expect_sendable(&output, "two");
    output_turn_free(&output);
    expect_sendable(&output, "twothree");
    output_release(&output);
}

static void test_output__a_hold_that_fails_takes_back_its_bytes_and_all_later_ones(void **state)
{
    (void)state;
    struct output output = output_of(SIZE_MAX_SMALL);
    say(&output, "sent");
    output_turn_free(&output);
    say(&output, "first");
    struct output_hold first = output_turn_hold(&output);
    say(&output, "second");
    say(&output, "third");
    struct output_hold second = output_turn_hold(&output);
    output_hold_fail(&output, &first);
    buffer_append(&output.bytes, SLICE("-e1 "));
    assert_false(output_hold_failed(&output));
    expect_sendable(&output, "sent"); // not the first error alone: the second may come with it
    output_hold_fail(&output, &second);
    buffer_append(&output.bytes, SLICE("-e2 -e3"));
    assert_true(output_hold_failed(&output));
    expect_sendable(&output, "sent-e1 -e2 -e3");
    assert_int_equal(output_replies_pending(&output), 0);
    output_release(&output);
}

static void test_output__what_is_taken_back_leaves_the_rest_of_the_turn(void **state)
{
    (void)state;
    struct output output = output_of(8);
    say(&output, "one");
    uint64_t position = output_end(&output);
    say(&output, "much too large");
    assert_int_equal(output.bytes.status, STATUS_TOO_LARGE);
    output_take_back(&output, position);
    assert_int_equal(output.bytes.status, STATUS_OK);
    assert_int_equal(output_room(&output), 5);
    output_turn_free(&output);
    expect_sendable(&output, "one");
    output_release(&output);
}

static void test_output__sent_bytes_take_no_room_from_the_next_turn(void **state)
{
    (void)state;
    struct output output = output_of(SIZE_MAX_SMALL);
    char text[SIZE_MAX_SMALL + 1];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    for (int i = 0; i < 3; i++) {
        say(&output, text);
        assert_int_equal(output.bytes.status, STATUS_OK);
        output_turn_free(&output);
        output_sent(&output, SIZE_MAX_SMALL); // and no output_compact
    }
    assert_int_equal(output_end(&output), 3 * SIZE_MAX_SMALL);
    output_release(&output);
}

static void test_output__a_turn_begins_once(void **state)
{
    (void)state;
    struct output output = output_of(SIZE_MAX_SMALL);
    assert_true(output_turn_begin(&output));
    assert_false(output_turn_begin(&output));
    output_turn_leave(&output);
    assert_true(output_turn_begin(&output));
    output_turn_leave(&output);
    output_release(&output);
}

static void test_output__memory_is_given_back_only_without_bytes(void **state)
{
    (void)state;
    struct output output = output_of(SIZE_MAX_SMALL);
    say(&output, "one");
    output_trim(&output, 0);
    output_turn_free(&output);
    expect_sendable(&output, "one");
    output_sent(&output, 3);
    output_compact(&output);
    output_trim(&output, SIZE_MAX_SMALL);
    assert_true(output.bytes.capacity > 0);
    output_trim(&output, 0);
    assert_int_equal(output.bytes.capacity, 0);
    say(&output, "two");
    output_turn_free(&output);
    expect_sendable(&output, "two");
    output_release(&output);
}

// ---------------------------------------------------------------------------------------------
// Random steps, compared with a model that keeps all text ever written

struct model {
    struct output output;
    char text[TEXT_MAX]; // of all positions
    size_t end, free, sent, turn_start;
    bool in_turn;
    struct output_hold holds[HOLDS_MAX]; // the oldest first
    size_t hold_count;
};

static void model_write(struct model *model, const char *text)
{
    size_t size = strlen(text);
    buffer_append(&model->output.bytes, slice_from_cstr(text));
    memcpy(model->text + model->end, text, size);
    model->end += size;
}

static void model_begin(struct model *model)
{
    assert_int_equal(output_turn_begin(&model->output), !model->in_turn);
    if (!model->in_turn) {
        model->turn_start = model->end;
        model->in_turn = true;
    }
}

static void model_say(struct model *model, struct random *random)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "<%u>", (unsigned)random_below(random, 1u << 30));
    model_begin(model);
    model_write(model, text);
    output_count(&model->output, 1);
}

static void model_end_turn(struct model *model, struct random *random)
{
    if (!model->in_turn) {
        return;
    }
    if (model->hold_count == 0 && random_below(random, 2)) {
        output_turn_free(&model->output);
        model->free = model->end;
    } else if (model->hold_count < HOLDS_MAX) {
        model->holds[model->hold_count++] = output_turn_hold(&model->output);
    } else {
        return;
    }
    model->in_turn = false;
}

static struct output_hold take_first(struct model *model)
{
    struct output_hold hold = model->holds[0];
    model->hold_count--;
    memmove(model->holds, model->holds + 1, model->hold_count * sizeof(hold));
    return hold;
}

static void model_release(struct model *model)
{
    if (model->hold_count) {
        struct output_hold hold = take_first(model);
        output_hold_release(&model->output, &hold);
        model->free = hold.end;
    }
}

// As after a failure of the store: at the end of a turn, all holds.
static void model_fail(struct model *model)
{
    if (model->in_turn || model->hold_count == 0) {
        return;
    }
    model->end = model->holds[0].start;
    while (model->hold_count) {
        struct output_hold hold = take_first(model);
        output_hold_fail(&model->output, &hold);
        for (uint32_t i = 0; i < hold.replies; i++) {
            model_write(model, "!");
        }
        assert_int_equal(output_hold_failed(&model->output), model->hold_count == 0);
    }
    model->free = model->end;
}

static void model_send(struct model *model, struct random *random)
{
    struct slice bytes = output_sendable(&model->output);
    size_t size = bytes.size ? random_below(random, bytes.size + 1) : 0;
    output_sent(&model->output, size);
    model->sent += size;
    if (random_below(random, 2)) {
        output_compact(&model->output);
    }
}

static void model_compare(const struct model *model)
{
    const struct output *output = &model->output;
    output_check(output);
    struct slice bytes = output_sendable(output);
    assert_int_equal(bytes.size, model->free - model->sent);
    assert_memory_equal(bytes.size ? bytes.data : "", model->text + model->sent, bytes.size);
    assert_int_equal(output_end(output), model->end);
    assert_int_equal(output_unsent(output), model->end - model->sent);
}

static void test_output__random_steps_send_what_a_model_sends(void **state)
{
    (void)state;
    struct random random;
    random_init(&random);
    struct model *model = calloc(1, sizeof(*model));
    assert_non_null(model);
    output_init(&model->output, &allocator_system, TEXT_MAX);
    for (int step = 0; step < STEPS; step++) {
        switch (random_below(&random, 16)) {
        case 0:
            model_fail(model);
            break;
        case 1:
        case 2:
        case 3:
            model_release(model);
            break;
        case 4:
        case 5:
        case 6:
            model_end_turn(model, &random);
            break;
        case 7:
        case 8:
        case 9:
            model_send(model, &random);
            break;
        default:
            model_say(model, &random);
        }
        model_compare(model);
    }
    output_release(&model->output);
    free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output__bytes_of_a_turn_are_not_sendable_before_its_end),
        cmocka_unit_test(test_output__held_bytes_are_sendable_in_the_order_of_their_holds),
        cmocka_unit_test(test_output__a_hold_that_fails_takes_back_its_bytes_and_all_later_ones),
        cmocka_unit_test(test_output__what_is_taken_back_leaves_the_rest_of_the_turn),
        cmocka_unit_test(test_output__sent_bytes_take_no_room_from_the_next_turn),
        cmocka_unit_test(test_output__a_turn_begins_once),
        cmocka_unit_test(test_output__memory_is_given_back_only_without_bytes),
        cmocka_unit_test(test_output__random_steps_send_what_a_model_sends),
    };
    return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
