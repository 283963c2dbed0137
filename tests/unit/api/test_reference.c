// SPDX-License-Identifier: MIT
#include "api/reference.h"

#include "transcript.h"

#include <stdio.h>

enum {
    TEXT_SIZE_MAX = 1 << 20,
};

static void assert_contains(const struct buffer *text, const char *part)
{
    if (!memmem(text->data, text->size, part, strlen(part))) {
        (void)fprintf(stderr, "not found:\n%s\n", part);
        fail();
    }
}

static void assert_shown(struct buffer *text, const char *wanted)
{
    buffer_append_char(text, '\0');
    assert_int_equal(text->status, STATUS_OK);
    assert_string_equal(text->data, wanted);
}

static size_t longest_line(struct slice text)
{
    size_t longest = 0;
    while (text.size) {
        const char *end = memchr(text.data, '\n', text.size);
        size_t size = end ? (size_t)(end - text.data) : text.size;
        longest = size > longest ? size : longest;
        text = slice_sub(text, size + 1, SIZE_MAX);
    }
    return longest;
}

static void test_reference__markdown_has_every_command_once_under_its_group(void **state)
{
    struct talk *t = *state;
    struct buffer *out = &t->text;
    buffer_clear(out);
    reference_markdown(t->commands, out);
    assert_int_equal(out->status, STATUS_OK);
    const char *before = out->data;
    const struct command *command;
    for (size_t i = 0; (command = commands_at(t->commands, i)); i++) {
        char heading[64];
        int size = snprintf(heading, sizeof(heading), "\n### %s\n", command->name);
        const char *at =
            memmem(before, out->size - (size_t)(before - out->data), heading, (size_t)size);
        assert_non_null(at); // behind the one before
        before = at + size;
        assert_contains(out, command->summary);
        assert_contains(out, command->examples[0].request);
    }
    assert_contains(out, "\n## Work\n\n### Q.PUT\n\n    Q.PUT ns queue klass data [JID jid]");
    assert_contains(out, "| `PRIORITY` | integer, from -2147483648 to 2147483647 | lower runs "
                         "sooner (0) |\n");
    assert_contains(out, "| `DELAY` | seconds, at least 0 | not before so long from now |\n");
    assert_contains(out, "| `TAG` | name; may come again | a word to find it by |\n");
    assert_contains(out, "| `ORDER` | ordered, round-robin, best | ");
    assert_contains(out, "- **Check**: [Q.CHECK](#qcheck)\n");
    assert_contains(out, "### Q.LENGTH\n\n    Q.LENGTH ns queue\n\nSays how many jobs a queue has "
                         "that are waiting, running or scheduled.\n\n| argument | type | what "
                         "|\n|---|---|---|\n| `queue` | name | the queue |\n\n**Answers:** How "
                         "many.\n\nIt changes nothing.\n\n```\n> Q.LENGTH app mail\n(integer) "
                         "3\n```\n\n### Q.COUNT\n");
    assert_null(memmem(out->data, out->size, "\n\n\n", 3));
}

// The tables of two hosts may both have commands of a group: they stand together.
static void test_reference__a_group_is_gathered_from_all_tables(void **state)
{
    (void)state;
    static const struct command first[] = {
        { .name = "A", .group = "x", .summary = "Does a.", .replies = "OK." },
        { .name = "B", .group = "y", .summary = "Does b.", .replies = "OK." },
    };
    static const struct command second[] = {
        { .name = "C", .group = "x", .summary = "Does c.", .replies = "OK." },
    };
    const struct command_table tables[] = { { first, 2 }, { second, 1 } };
    const struct command_table *const both[] = { &tables[0], &tables[1] };
    struct commands *commands;
    assert_int_equal(commands_new(&allocator_system, both, 2, &commands), STATUS_OK);
    struct buffer out;
    buffer_init(&out, &allocator_system, TEXT_SIZE_MAX);
    reference_overview(commands, &out);
    assert_shown(&out, "x\n"
                       "  A                   Does a.\n"
                       "  C                   Does c.\n"
                       "\n"
                       "y\n"
                       "  B                   Does b.\n");
    buffer_release(&out);
    commands_free(commands);
}

static void test_reference__help_says_all_there_is_to_say(void **state)
{
    struct talk *t = *state;
    buffer_clear(&t->text);
    reference_help(commands_find(t->commands, SLICE("q.unfail")), &t->text);
    assert_shown(&t->text,
                 "Q.UNFAIL ns group queue [COUNT n]\n"
                 "\n"
                 "Puts the jobs that failed first in a group into a queue.\n"
                 "Their retries start anew. A job whose lock (UNIQUE) another job holds by now\n"
                 "stays failed; EXISTS names the holder when no other job is found. For more than\n"
                 "a thousand, or each into the queue that it failed in, there is Q.BULK (retry,\n"
                 "with GROUP).\n"
                 "\n"
                 "  group (name)\n"
                 "      the kind of failure\n"
                 "  queue (name)\n"
                 "      where they go\n"
                 "  COUNT (integer, from 0 to 1000)\n"
                 "      how many at most (25)\n"
                 "\n"
                 "Answers: How many were put.\n"
                 "It writes, works when disk or memory is full.\n"
                 "It is recorded in the audit log.\n"
                 "\n"
                 "> Q.UNFAIL app smtp mail COUNT 1\n"
                 "(integer) 1\n");
}

static void test_reference__plain_text_has_lines_that_fit(void **state)
{
    struct talk *t = *state;
    buffer_clear(&t->text);
    reference_overview(t->commands, &t->text);
    assert_true(longest_line(buffer_slice(&t->text)) <= 80);
    const struct command *command;
    for (size_t i = 0; (command = commands_at(t->commands, i)); i++) {
        buffer_clear(&t->text);
        reference_help(command, &t->text);
        assert_int_equal(t->text.status, STATUS_OK);
        // Not the examples, which are as they are.
        const char *example = memmem(t->text.data, t->text.size, "\n> ", 3);
        assert_non_null(example);
        size_t size = (size_t)(example - t->text.data);
        assert_true(longest_line(slice_make(t->text.data, size)) <= 80);
    }
}

static void test_reference__a_full_buffer_is_told_and_nothing_is_written_beyond(void **state)
{
    struct talk *t = *state;
    for (size_t size = 0; size < 3000; size += 7) {
        struct buffer out;
        buffer_init(&out, &allocator_system, size);
        reference_help(commands_find(t->commands, SLICE("Q.PUT")), &out);
        assert_true(out.size <= size);
        buffer_clear(&out);
        reference_markdown(t->commands, &out);
        assert_int_equal(out.status, STATUS_TOO_LARGE);
        buffer_release(&out);
    }
}

// ---------------------------------------------------------------------------------------------

static const char *info(struct talk *t, const char *name)
{
    struct shown_reply shown;
    buffer_clear(&t->text);
    shown_reply_init(&shown, &t->text);
    command_reply_info(&shown.reply, commands_find(t->commands, slice_from_cstr(name)));
    assert_int_equal(shown.depth, 0);
    buffer_append_char(&t->text, '\0');
    return t->text.data;
}

static void test_reference__info_is_as_redis_gives_it(void **state)
{
    struct talk *t = *state;
    assert_string_equal(info(t, "Q.POP"), " 1) \"q.pop\"\n"
                                          " 2) (integer) -5\n"
                                          " 3) 1) write\n"
                                          "    2) blocking\n"
                                          " 4) (integer) 1\n"
                                          " 5) (integer) 1\n"
                                          " 6) (integer) 1\n"
                                          " 7) 1) @write\n"
                                          "    2) @blocking\n"
                                          " 8) (empty array)\n"
                                          " 9) 1) 1# \"flags\" => 1) RW\n"
                                          "          2) access\n"
                                          "          3) update\n"
                                          "       2# \"begin_search\" => 1# \"type\" => \"index\"\n"
                                          "          2# \"spec\" => 1# \"index\" => (integer) 1\n"
                                          "       3# \"find_keys\" => 1# \"type\" => \"range\"\n"
                                          "          2# \"spec\" => 1# \"lastkey\" => (integer) 0\n"
                                          "             2# \"keystep\" => (integer) 1\n"
                                          "             3# \"limit\" => (integer) 0\n"
                                          "10) (empty array)");
    static const struct {
        const char *name;
        const char *begins;
    } cases[] = {
        { "Q.LENGTH", " 1) \"q.length\"\n 2) (integer) 3\n 3) 1) readonly\n 4) ..." },
        { "Q.QUEUES", " 1) \"q.queues\"\n 2) (integer) -2\n 3) 1) readonly\n 4) ..." },
        { "Q.GET", " 1) \"q.get\"\n 2) (integer) -3\n 3) 1) readonly\n 4) ..." },
        { "Q.CONFIG.GET", " 1) \"q.config.get\"\n 2) (integer) -2\n 3) 1) readonly\n 4) ..." },
        { "Q.MPUT", " 1) \"q.mput\"\n 2) (integer) -2\n 3) 1) write\n    2) denyoom\n 4) ..." },
        { "Q.DELETE", " 1) \"q.delete\"\n 2) (integer) 3\n 3) 1) write\n 4) ..." },
        { "Q.METRICS", " 1) \"q.metrics\"\n 2) (integer) -2\n 3) 1) readonly\n 4) ..." },
        { "Q.CHECK", " 1) \"q.check\"\n 2) (integer) -2\n 3) 1) write\n    2) admin\n 4) ..." },
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].name); i++) {
        assert_true(shows(info(t, cases[i].name), cases[i].begins));
    }
}

static void test_reference__a_command_without_namespace_has_no_key(void **state)
{
    struct talk *t = *state;
    const struct command ping = { .name = "PING",
                                  .flags = COMMAND_CONNECTION | COMMAND_ANYBODY | COMMAND_READS };
    struct shown_reply shown;
    buffer_clear(&t->text);
    shown_reply_init(&shown, &t->text);
    command_reply_info(&shown.reply, &ping);
    assert_shown(&t->text, " 1) \"ping\"\n"
                           " 2) (integer) 1\n"
                           " 3) 1) readonly\n"
                           "    2) no_auth\n"
                           " 4) (integer) 0\n"
                           " 5) (integer) 0\n"
                           " 6) (integer) 0\n"
                           " 7) 1) @read\n"
                           "    2) @connection\n"
                           " 8) (empty array)\n"
                           " 9) (empty array)\n"
                           "10) (empty array)");
}

static void test_reference__docs_are_as_redis_gives_them(void **state)
{
    struct talk *t = *state;
    struct shown_reply shown;
    buffer_clear(&t->text);
    shown_reply_init(&shown, &t->text);
    command_reply_docs(&shown.reply, commands_find(t->commands, SLICE("Q.POP")));
    assert_shown(&t->text,
                 "1# \"summary\" => \"Takes jobs out of queues, each under a lease.\"\n"
                 "2# \"since\" => \"1.0.0\"\n"
                 "3# \"group\" => \"work\"\n"
                 "4# \"arguments\" => 1) 1# \"name\" => \"ns\"\n"
                 "      2# \"type\" => \"key\"\n"
                 "      3# \"display_text\" => \"ns\"\n"
                 "      4# \"key_spec_index\" => (integer) 0\n"
                 "   2) 1# \"name\" => \"worker\"\n"
                 "      2# \"type\" => \"string\"\n"
                 "      3# \"display_text\" => \"worker\"\n"
                 "      4# \"summary\" => \"who takes them\"\n"
                 "   3) 1# \"name\" => \"count\"\n"
                 "      2# \"type\" => \"integer\"\n"
                 "      3# \"display_text\" => \"count\"\n"
                 "      4# \"summary\" => \"how many at most\"\n"
                 "   4) 1# \"name\" => \"wait\"\n"
                 "      2# \"type\" => \"double\"\n"
                 "      3# \"display_text\" => \"wait\"\n"
                 "      4# \"token\" => \"WAIT\"\n"
                 "      5# \"summary\" => \"how long to wait for the first one when there is none; "
                 "0: as long as it takes\"\n"
                 "      6# \"flags\" => 1) optional\n"
                 "   5) 1# \"name\" => \"order\"\n"
                 "      2# \"type\" => \"oneof\"\n"
                 "      3# \"token\" => \"ORDER\"\n"
                 "      4# \"summary\" => \"the first queue as long as it has jobs, one from each "
                 "in turn, or of all queues the job with the lowest priority (ordered)\"\n"
                 "      5# \"flags\" => 1) optional\n"
                 "      6# \"arguments\" => 1) 1# \"name\" => \"ordered\"\n"
                 "            2# \"type\" => \"pure-token\"\n"
                 "            3# \"display_text\" => \"ordered\"\n"
                 "            4# \"token\" => \"ordered\"\n"
                 "         2) 1# \"name\" => \"round-robin\"\n"
                 "            2# \"type\" => \"pure-token\"\n"
                 "            3# \"display_text\" => \"round-robin\"\n"
                 "            4# \"token\" => \"round-robin\"\n"
                 "         3) 1# \"name\" => \"best\"\n"
                 "            2# \"type\" => \"pure-token\"\n"
                 "            3# \"display_text\" => \"best\"\n"
                 "            4# \"token\" => \"best\"\n"
                 "   6) 1# \"name\" => \"lease\"\n"
                 "      2# \"type\" => \"double\"\n"
                 "      3# \"display_text\" => \"lease\"\n"
                 "      4# \"token\" => \"LEASE\"\n"
                 "      5# \"summary\" => \"how long the lease lasts without a heartbeat, from "
                 "0.001 on; 0: as the job says, else the heartbeat of its queue (0)\"\n"
                 "      6# \"flags\" => 1) optional\n"
                 "   7) 1# \"name\" => \"queue\"\n"
                 "      2# \"type\" => \"string\"\n"
                 "      3# \"display_text\" => \"queue\"\n"
                 "      4# \"summary\" => \"where from\"\n"
                 "      5# \"flags\" => 1) multiple");
}

static void test_reference__docs_and_info_of_every_command_are_whole(void **state)
{
    struct talk *t = *state;
    const struct command *command;
    for (size_t i = 0; (command = commands_at(t->commands, i)); i++) {
        struct shown_reply shown;
        buffer_clear(&t->text);
        shown_reply_init(&shown, &t->text);
        command_reply_docs(&shown.reply, command);
        assert_int_equal(shown.depth, 0);
        assert_int_equal(shown.values, 1);
        (void)info(t, command->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_reference__markdown_has_every_command_once_under_its_group),
        TALK_TEST(test_reference__a_group_is_gathered_from_all_tables),
        TALK_TEST(test_reference__help_says_all_there_is_to_say),
        TALK_TEST(test_reference__plain_text_has_lines_that_fit),
        TALK_TEST(test_reference__a_full_buffer_is_told_and_nothing_is_written_beyond),
        TALK_TEST(test_reference__info_is_as_redis_gives_it),
        TALK_TEST(test_reference__a_command_without_namespace_has_no_key),
        TALK_TEST(test_reference__docs_are_as_redis_gives_them),
        TALK_TEST(test_reference__docs_and_info_of_every_command_are_whole),
    };
    return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
