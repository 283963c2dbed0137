// SPDX-License-Identifier: MIT
// A conversation with the qless face: what a client says, and what it is told.
//
//     told(c, "put 0 w1 q a K {} 0", "a");
//     told(c, "length 0 q", "(integer) 1");
//     told(c, "length 0", "(error) user_script:1: Queue(): no queue name provided");
//
// What is said is the words of ARGV, with blanks between them; 'in quotes' is one word. What is
// told is written as redis-cli does, a list as [a, b].
#ifndef SLUICE_QLESS_TEST_H
#define SLUICE_QLESS_TEST_H

#include "faces/qless/qless.h"

#include "fault_alloc.h"
#include "test.h"

struct conversation {
    struct fault_alloc fault;
    struct engine *engine;
    struct buffer answer;
    struct buffer messages; // published since expect_messages, as "channel message; ..."
    struct buffer scratch;
    size_t room;          // for an answer, in bytes; 0: any
    enum status status;   // of the last answer
    unsigned generations; // whose messages are published; the unified script's
};

// For cmocka.
int conversation_begin(void **state);
int conversation_end(void **state);

#define CONVERSATION(test)                                                                         \
    cmocka_unit_test_setup_teardown(test, conversation_begin, conversation_end)

// Says something and gives the answer, until the next call.
const char *say(struct conversation *c, const char *words);
const char *say_with_keys(struct conversation *c, const char *keys, const char *words);

// The same with a script that makes one call, such as Put, by the clock of a host that says 1000.
const char *say_script(struct conversation *c, const char *name, const char *keys,
                       const char *words);

#define told(c, words, answer)      assert_string_equal(say(c, words), answer)
#define refused(c, words, sentence) told(c, words, "(error) user_script:1: " sentence)

// The answer contains this.
void told_of(struct conversation *c, const char *words, const char *part);

// All that was published since the last call of this.
void expect_messages(struct conversation *c, const char *messages);

#endif
