// SPDX-License-Identifier: MIT
#include "server/push/rules/plan.h"

#include "base/alloc.h"
#include "fault_alloc.h"
#include "test.h"

enum {
    WORDS = 32,
};

#define SECOND INT64_C(1000000)

// "a|b|c" as three words.
static struct slices words_of(const char *text, struct slice words[WORDS])
{
    size_t count = 0;
    for (;;) {
        size_t size = strcspn(text, "|");
        words[count++] = slice_make(text, size);
        if (!text[size]) {
            return (struct slices){ words, count };
        }
        text += size + 1;
    }
}

static enum status read_words(struct push_plan *plan, const char *text, struct error *error)
{
    struct slice words[WORDS];
    return push_plan_init(plan, &allocator_system, words_of(text, words), error);
}

static void test_push_plan__what_is_not_said_has_a_default(void **state)
{
    (void)state;
    struct push_plan plan;
    assert_int_equal(read_words(&plan, "Mail|http://x.example/a", NULL), STATUS_OK);
    assert_int_equal(plan.given.concurrency, 10);
    assert_int_equal(plan.given.timeout_us, 60 * SECOND);
    assert_int_equal(plan.given.report_us, 3600 * SECOND);
    assert_int_equal(plan.given.backoff_us, SECOND);
    assert_int_equal(plan.given.failures, 10);
    assert_int_equal(plan.given.cooldown_us, 30 * SECOND);
    assert_false(plan.given.fail_4xx);
    assert_int_equal(plan.given.headers.count + plan.given.queues.count + plan.given.secret.size,
                     0);
    push_plan_release(&plan);
}

static void test_push_plan__all_that_is_said_is_read_and_survives_as_json(void **state)
{
    (void)state;
    struct push_plan plan, again;
    struct buffer json;
    assert_int_equal(
        read_words(&plan,
                   "Mail*|https://x.example:8443/a?b=c|concurrency|3|TIMEOUT|1.5|REPORT-WITHIN|0|"
                   "BACKOFF|0.25|FAILURES|2|COOLDOWN|9|FAIL-4XX|HEADER|A: \"b\"|HEADER|C:|"
                   "SECRET|0123456789abcdef|QUEUE|one|QUEUE|two",
                   NULL),
        STATUS_OK);
    buffer_init(&json, &allocator_system, 4096);
    push_words_write(plan.words, &json);
    assert_int_equal(push_plan_read(&again, &allocator_system, buffer_slice(&json), NULL),
                     STATUS_OK);
    const struct push_arguments *given = &again.given;
    assert_true(slice_equal(given->pattern, SLICE("Mail*")));
    assert_true(slice_equal(given->href, SLICE("https://x.example:8443/a?b=c")));
    assert_int_equal(given->concurrency, 3);
    assert_int_equal(given->timeout_us, 3 * SECOND / 2);
    assert_int_equal(given->report_us, 0);
    assert_int_equal(given->backoff_us, SECOND / 4);
    assert_int_equal(given->failures, 2);
    assert_int_equal(given->cooldown_us, 9 * SECOND);
    assert_true(given->fail_4xx);
    assert_int_equal(given->headers.count, 2);
    assert_true(slice_equal(given->headers.items[0], SLICE("A: \"b\"")));
    assert_true(slice_equal(given->secret, SLICE("0123456789abcdef")));
    assert_int_equal(given->queues.count, 2);
    assert_true(slice_equal(given->queues.items[1], SLICE("two")));
    buffer_release(&json);
    push_plan_release(&plan);
    push_plan_release(&again);
}

static void test_push_plan__what_is_wrong_is_refused_and_shows_no_secret(void **state)
{
    (void)state;
    static const struct {
        const char *words, *sentence;
    } rows[] = {
        { "Mail", "href" },
        { "|http://x/", "pattern" },
        { "Mail|", "http or https" },
        { "Mail|x.example", "http or https" },
        { "Mail|file:///etc/passwd", "http or https" },
        { "Mail|gopher://x/", "http or https" },
        { "Mail|http://hunter2@x/", "has a user in it" },
        { "Mail|http://ann:hunter2@x/", "has a user in it" },
        { "Mail|http://x/\n", "character" },
        { "Mail|http://x/|HEADER|hunter2", "'Name: value'" },
        { "Mail|http://x/|HEADER|: hunter2", "'Name: value'" },
        { "Mail|http://x/|HEADER|A b: hunter2", "'Name: value'" },
        { "Mail|http://x/|HEADER|A: hunter2\n", "HEADER A has a character" },
        { "Mail|http://x/|HEADER|content-length: 1", "server's to say" },
        { "Mail|http://x/|HEADER|Webhook-Id: 1", "server's to say" },
        { "Mail|http://x/|SECRET|hunter2", "at least 16" },
        { "Mail|http://x/|OLD-SECRET|hunter2hunter2hunter2", "OLD-SECRET needs SECRET" },
        { "Mail|http://x/|SECRET|0123456789abcdef|OLD-SECRET|hunter2", "at least 16" },
        { "Mail|http://x/|CONCURRENCY|0", "CONCURRENCY" },
        { "Mail|http://x/|CONCURRENCY|100001", "CONCURRENCY" },
        { "Mail|http://x/|TIMEOUT|0", "TIMEOUT" },
        { "Mail|http://x/|TIMEOUT", "TIMEOUT" },
        { "Mail|http://x/|NONSENSE|1", "NONSENSE" },
    };
    struct push_plan plan;
    struct error error;
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].words); i++) {
        if (!read_words(&plan, rows[i].words, &error)) {
            fail_msg("'%s' was taken", rows[i].words);
        }
        if (!strstr(error_sentence(&error), rows[i].sentence)) {
            fail_msg("'%s' has the sentence: %s", rows[i].words, error_sentence(&error));
        }
        assert_null(strstr(error_sentence(&error), "hunter2"));
    }
}

static void test_push_plan__a_header_may_be_as_large_as_one_that_is_sent(void **state)
{
    (void)state;
    char header[PUSH_HEADER_SIZE_MAX + 1];
    memset(header, 'x', sizeof(header));
    header[0] = 'A';
    header[1] = ':';
    struct slice words[] = { SLICE("Mail"), SLICE("http://x/"), SLICE("HEADER"),
                             slice_make(header, PUSH_HEADER_SIZE_MAX) };
    struct push_plan plan;
    struct error error;
    assert_int_equal(push_plan_init(&plan, &allocator_system, (struct slices){ words, 4 }, &error),
                     STATUS_OK);
    push_plan_release(&plan);
    words[3].size++;
    assert_int_equal(push_plan_init(&plan, &allocator_system, (struct slices){ words, 4 }, &error),
                     STATUS_TOO_LARGE);
    assert_string_equal(error_sentence(&error), "the HEADER A has more than 8192 bytes");
}

// What a command may set is read back from the store.
static void test_push_plan__the_most_headers_and_queues_are_read_back(void **state)
{
    (void)state;
    enum {
        REPEATED = 64
    };
    struct slice words[5 + 4 * REPEATED] = { SLICE("Mail"), SLICE("http://x/"), SLICE("FAIL-4XX"),
                                             SLICE("SECRET"),
                                             SLICE("a secret that is long enough") };
    size_t count = 5;
    for (size_t i = 0; i < REPEATED; i++) {
        words[count++] = SLICE("HEADER");
        words[count++] = SLICE("A: b");
        words[count++] = SLICE("QUEUE");
        words[count++] = SLICE("q");
    }
    struct push_plan plan;
    struct push_plan again;
    struct buffer json;
    struct error error;
    buffer_init(&json, &allocator_system, PUSH_PLAN_SIZE_MAX);
    assert_int_equal(
        push_plan_init(&plan, &allocator_system, (struct slices){ words, count }, &error), 0);
    push_words_write(plan.words, &json);
    assert_int_equal(push_plan_read(&again, &allocator_system, buffer_slice(&json), &error), 0);
    assert_int_equal(again.given.headers.count, REPEATED);
    assert_int_equal(again.given.queues.count, REPEATED);
    buffer_release(&json);
    push_plan_release(&again);
    push_plan_release(&plan);
}

static void test_push_plan__json_that_is_no_list_of_words_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = { "", "{}", "[1]", "[\"a\"", "[[\"a\"]]", "[]" };
    struct push_plan plan;
    for (size_t i = 0; TEST_ROW_NAMED(i, texts, texts[i]); i++) {
        assert_int_not_equal(
            push_plan_read(&plan, &allocator_system, slice_from_cstr(texts[i]), NULL), STATUS_OK);
    }
}

static void
test_push_plan__an_item_is_split_as_it_was_written_and_shown_without_secrets(void **state)
{
    (void)state;
    struct slice words[WORDS];
    struct buffer item, shown;
    struct slice ns, json;
    buffer_init(&item, &allocator_system, 4096);
    buffer_init(&shown, &allocator_system, 4096);
    push_item_write(
        SLICE("a:1 b"),
        words_of(
            "Mail*|http://x/|SECRET|0123456789abcdef|old-secret|fedcba9876543210|header|X-Key: "
            "sesame|QUEUE|a "
            "\"b\"",
            words),
        &item);
    push_item_split(buffer_slice(&item), &ns, &json);
    assert_true(slice_equal(ns, SLICE("a:1 b")));
    assert_int_equal(json.data[0], '[');
    push_item_show(buffer_slice(&item), &shown);
    buffer_append_char(&shown, '\0');
    assert_string_equal(
        shown.data, "\"a:1 b\" Mail* http://x/ SECRET (hidden) old-secret (hidden) header \"X-Key: "
                    "(hidden)\" QUEUE \"a \\\"b\\\"\"");
    buffer_release(&item);
    buffer_release(&shown);
}

static size_t fit(const char *pattern, const char *queue, const char *klass)
{
    struct push_plan plan;
    char words[256];
    (void)snprintf(words, sizeof(words), "%s|http://x/|QUEUE|mail|QUEUE|fast", pattern);
    assert_int_equal(read_words(&plan, words, NULL), STATUS_OK);
    size_t given = push_plan_fit(&plan, slice_from_cstr(queue), slice_from_cstr(klass));
    push_plan_release(&plan);
    return given;
}

static void
test_push_plan__a_name_fits_better_than_a_pattern_and_a_long_one_better_than_a_short(void **state)
{
    (void)state;
    assert_int_equal(fit("Mail", "mail", "Mail"), SIZE_MAX);
    assert_int_equal(fit("Mail", "other", "Mail"), 0);
    assert_int_equal(fit("Mail", "mail", "Mails"), 0);
    assert_int_equal(fit("*", "fast", "Mail"), 1);
    assert_int_equal(fit("Ma*", "fast", "Mail"), 3);
    assert_int_equal(fit("M*il", "fast", "Mail"), 4);
    assert_int_equal(fit("*a*b*", "fast", "xaxbx"), 3);
    assert_int_equal(fit("a*b", "fast", "abxa"), 0);
    assert_int_equal(fit("a*ab", "fast", "aab"), 4);
    assert_int_equal(fit("a?b", "fast", "axb"), 0); // only * is special
}

static void test_push_plan__private_hosts_are_known_in_every_form(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        const char *shown; // NULL: public, or not known before a connection is made
    } rows[] = {
        { "M|http://127.0.0.1/", "127.0.0.1" },
        { "M|http://127.1:8080/x", "127.0.0.1" },
        { "M|http://0x7f000001/", "127.0.0.1" },
        { "M|http://2130706433/", "127.0.0.1" },
        { "M|https://10.0.0.7/", "10.0.0.7" },
        { "M|http://169.254.169.254/latest", "169.254.169.254" },
        { "M|http://[::1]:80/", "[::1]" },
        { "M|http://[::ffff:10.0.0.1]/", "[::ffff:10.0.0.1]" },
        { "M|http://[fe80::1%25eth0]/", "[fe80::1]" },
        { "M|http://localhost:8080/", "localhost" },
        { "M|http://LocalHost./", "LocalHost." },
        { "M|http://a.localhost/", "a.localhost" },
        { "M|http://8.8.8.8/", NULL },
        { "M|http://[2606:4700::1111]/", NULL },
        { "M|http://notlocalhost/", NULL },
        { "M|http://localhost.example.com/", NULL },
        { "M|http://10.0.0.7.example.com/", NULL },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, rows, rows[i].words); i++) {
        struct slice words[WORDS];
        struct push_plan plan;
        struct error error = { 0 };
        assert_int_equal(
            push_plan_init(&plan, &allocator_system, words_of(rows[i].words, words), &error), 0);
        enum status status = push_plan_check_public(&plan, &error);
        push_plan_release(&plan);
        if (rows[i].shown) {
            assert_int_equal(status, STATUS_INVALID);
            assert_non_null(strstr(error_sentence(&error), rows[i].shown));
            assert_non_null(strstr(error_sentence(&error), "push-allow-private is off"));
        } else if (status) {
            fail_msg("%s: %s", rows[i].words, error_sentence(&error));
        }
    }
}

static void test_push_plan__without_memory_nothing_is_left(void **state)
{
    (void)state;
    struct slice words[WORDS];
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct push_plan plan;
        enum status status =
            push_plan_init(&plan, &fault.allocator,
                           words_of("Mail|http://x/|HEADER|A: b|HEADER|C: d", words), NULL);
        FAULT_ALLOC_EXPECT(&fault, status);
        if (!status) {
            push_plan_release(&plan);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push_plan__what_is_not_said_has_a_default),
        cmocka_unit_test(test_push_plan__all_that_is_said_is_read_and_survives_as_json),
        cmocka_unit_test(test_push_plan__what_is_wrong_is_refused_and_shows_no_secret),
        cmocka_unit_test(test_push_plan__a_header_may_be_as_large_as_one_that_is_sent),
        cmocka_unit_test(test_push_plan__the_most_headers_and_queues_are_read_back),
        cmocka_unit_test(test_push_plan__json_that_is_no_list_of_words_is_refused),
        cmocka_unit_test(
            test_push_plan__an_item_is_split_as_it_was_written_and_shown_without_secrets),
        cmocka_unit_test(
            test_push_plan__a_name_fits_better_than_a_pattern_and_a_long_one_better_than_a_short),
        cmocka_unit_test(test_push_plan__private_hosts_are_known_in_every_form),
        cmocka_unit_test(test_push_plan__without_memory_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
