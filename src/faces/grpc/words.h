// SPDX-License-Identifier: MIT
// A message as the words of a command, by the plan of its fields and the command's own table of
// arguments.
//
//     AddRequest{namespace: "app", queue: "mail", klass: "Send", data: {json: "{}"}, delay: 60s}
//     Q.PUT app mail Send {} DELAY 60
#ifndef SLUICE_FACES_GRPC_WORDS_H
#define SLUICE_FACES_GRPC_WORDS_H

#include "faces/grpc/fault.h"
#include "faces/grpc/methods.h"
#include "faces/grpc/plan.h"

// A word whose text is in the buffer, which may move until the words are finished.
struct grpc_own_word {
    size_t index, offset;
};

// Room for words, used again and again.
struct grpc_words {
    const struct allocator *allocator;
    struct slice *items; // owned
    size_t count, capacity;
    struct grpc_own_word *own; // owned
    size_t own_count, own_capacity;
    struct buffer text;
};

void grpc_words_init(struct grpc_words *words, const struct allocator *allocator);
void grpc_words_release(struct grpc_words *words);

// Forgets all words.
void grpc_words_clear(struct grpc_words *words);

// Appends a word that is borrowed.
MUST_USE enum status grpc_words_add(struct grpc_words *words, struct slice word);

// Appends a word that is what was appended to `words->text` since it had that size. Until the words
// are finished it has no bytes.
MUST_USE enum status grpc_words_add_own(struct grpc_words *words, size_t start);

// Gives the words that are in the buffer their bytes.
void grpc_words_finish(struct grpc_words *words);

struct grpc_words_source {
    const struct grpc_plan *plan;  // of the message
    const struct command *command; // that is to be run
    const struct command *each;    // its requests are of this command; or NULL
    const struct grpc_fixed_option *fixed;
    struct slice message;
    struct slice ns;     // of the stream; empty: "default", if the message names none
    struct slice worker; // of the stream, likewise
    size_t item;         // of a repeated field that is a single argument: which of its items
    uint32_t count;      // in place of the field with GRPC_ROLE_IN_FLIGHT; 0: as it says
};

// What the message says besides.
struct grpc_words_found {
    struct slice ns, worker; // borrowed from the message or the source
    uint32_t in_flight_max;
    bool raw, release_on_close;
    bool otherwise; // another command is meant
};

// The words are borrowed from the room and the message.
MUST_USE enum status grpc_words_make(struct grpc_words *words,
                                     const struct grpc_words_source *source,
                                     struct grpc_words_found *found, struct grpc_fault *fault);

#endif
