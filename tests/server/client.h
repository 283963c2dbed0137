// SPDX-License-Identifier: MIT
// A client of the server: requests are queued and written as there is room, answers are taken one
// by one as they are whole. Nothing here waits but client_connect and client_await.
#ifndef SLUICE_TESTS_SERVER_CLIENT_H
#define SLUICE_TESTS_SERVER_CLIENT_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stdint.h>

enum answer_kind {
    ANSWER_NULL,
    ANSWER_WORD, // a simple string
    ANSWER_ERROR,
    ANSWER_INTEGER,
    ANSWER_TEXT,
    ANSWER_LIST,
};

// A part of an answer. The parts of a list follow it; `end` is the index behind the last of them.
struct part {
    enum answer_kind kind;
    struct slice text; // of a word, an error, a text; borrowed until the next answer
    int64_t integer;   // the number, or how many parts a list has
    size_t end;
};

struct answer {
    struct part *parts; // owned
    size_t count, capacity;
    size_t size; // in bytes
};

struct client {
    int fd; // -1: not connected
    struct buffer output, input;
    size_t output_sent, input_taken;
    struct answer answer; // the last one
};

void client_init(struct client *client);
void client_release(struct client *client);

void client_connect(struct client *client, uint16_t port);
// What is under way is forgotten. With `reset` the other side gets an error instead of an end.
void client_close(struct client *client, bool reset);

void client_say(struct client *client, const struct slice *words, size_t count);
// The same with strings.
#define client_ask(client, ...) client_ask_words(client, (const char *const[]){ __VA_ARGS__, NULL })
void client_ask_words(struct client *client, const char *const *words); // ended by NULL

static inline bool client_has_unsent(const struct client *client)
{
    return client->output_sent < client->output.size;
}

// Both do what can be done at once; false when the connection is over.
bool client_write(struct client *client);
bool client_read(struct client *client);

// The next whole answer, or NULL.
const struct answer *client_next(struct client *client);

// Writes all, and waits for the next answer.
const struct answer *client_await(struct client *client);

// The part behind a key of a map, which is a list of keys and values.
const struct part *answer_find(const struct answer *answer, size_t map, const char *key);

#endif
