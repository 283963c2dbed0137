// SPDX-License-Identifier: MIT
// The OpenAPI description while it is written, and short functions to write it.
#ifndef SLUICE_FACES_HTTP_PAPER_H
#define SLUICE_FACES_HTTP_PAPER_H

#include "api/command.h"
#include "base/json_writer.h"
#include "faces/http/prose.h"

struct paper {
    struct json_writer writer;
    const struct commands *commands;
    const struct command *command; // of the operation that is being described, or NULL
};

enum {
    PROSE_SIZE_MAX = 16 << 10,
};

static inline void key(struct paper *paper, const char *name)
{
    json_write_key(&paper->writer, slice_from_cstr(name));
}

static inline void text(struct paper *paper, const char *name, const char *value)
{
    key(paper, name);
    json_write_string(&paper->writer, slice_from_cstr(value));
}

// Sentences of the table of commands, in HTTP's words. Without memory they stay unchanged.
static inline void prose(struct paper *paper, const char *name, const char *value)
{
    struct buffer words;
    buffer_init(&words, paper->writer.buffer->allocator, PROSE_SIZE_MAX);
    http_prose(paper->commands, paper->command, value, &words);
    key(paper, name);
    json_write_string(&paper->writer, words.status ? slice_from_cstr(value) : buffer_slice(&words));
    buffer_release(&words);
}

// A member of an object has a name, an item of a list has none (NULL).
static inline void open_object(struct paper *paper, const char *name)
{
    if (name) {
        key(paper, name);
    }
    json_write_begin_object(&paper->writer);
}

static inline void close_object(struct paper *paper)
{
    json_write_end_object(&paper->writer);
}

static inline void open_list(struct paper *paper, const char *name)
{
    key(paper, name);
    json_write_begin_array(&paper->writer);
}

static inline void close_list(struct paper *paper)
{
    json_write_end_array(&paper->writer);
}

#endif
