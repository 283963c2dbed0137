// SPDX-License-Identifier: MIT
// A conversation with an engine by its commands, as one has it in redis-cli: what is typed, and
// what is then shown (in RESP3). Time stands still unless `passes` is said, and random numbers are
// 1, 2, 3, ..., so that the same conversation has the same words each time.
#ifndef SLUICE_TRANSCRIPT_H
#define SLUICE_TRANSCRIPT_H

#include "api/call.h"

#include "test.h"

#define TALK_BEGINS_US INT64_C(1784000000500000) // 2026-07-14T03:33:20.500Z

enum {
    TALK_WAITER = 7, // the number that it waits under
};

struct talk {
    struct engine *engine;
    struct commands *commands;
    struct scratch scratch;
    struct host host;
    uint64_t random;
    int64_t now_us;
    bool last;            // a command that could wait answers at once
    struct wait wait;     // what the last command waits for
    struct finish finish; // what the waiter was told, when it was
    char finish_bytes[256];
    struct buffer text; // what the last command answered
    struct slice words[8192];
    struct buffer bytes; // of the words
};

// For cmocka: a fresh engine with the server's clock, all native commands, and a host that knows
// the zone Europe/Berlin as it is in 2026. At the end the engine's invariants hold.
int talk_begin(void **state);
int talk_end(void **state);

#define TALK_TEST(test) cmocka_unit_test_setup_teardown(test, talk_begin, talk_end)

struct talk *talk_new(const struct allocator *allocator);
void talk_free(struct talk *talk);

// Runs a line as typed into redis-cli (words, "..." with escapes, '...'). Gives what is shown,
// "(waits)" for a command that has to wait; valid until the next line. Asserts that a command says
// one whole value, or fails and has said nothing.
const char *run(struct talk *talk, const char *line);
// The same for words that no line could hold.
const char *run_words(struct talk *talk, const struct slice *words, size_t count);

// Runs a line and asserts what is shown. When `reply` ends with "..." only what comes before it
// must be shown.
#define says(talk, line, reply) says_at((talk), (line), (reply), __FILE__, __LINE__)
// Asserts that the reply to a command has these pieces, between which stands `...`, in this order.
void has(struct talk *talk, const char *line, const char *pieces);
void says_at(struct talk *talk, const char *line, const char *reply, const char *file, int number);
bool shows(const char *shown, const char *wanted);

void passes(struct talk *talk, double seconds);

// Splits a line into the talk's words; asserts that its quotes are closed.
struct slices split(struct talk *talk, const char *line);

// What a reply looks like, appended as it is said. `reply` comes first.
struct shown_reply {
    struct reply reply;
    struct buffer *out;
    struct shown_frame {
        bool map;
        size_t count, said; // keys and values each count
        size_t indent;
    } frames[16];
    size_t depth;
    size_t values; // whole ones, outside of all lists and maps
};
void shown_reply_init(struct shown_reply *shown, struct buffer *out);

#endif
