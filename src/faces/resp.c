// SPDX-License-Identifier: MIT
#include "faces/resp.h"
#include "base/ascii.h"

enum {
    CODE_SIZE = 32,
};

static struct resp_writer *writer_of(struct reply *reply)
{
    return (struct resp_writer *)(void *)reply; // it is the first member
}

static void write_null(struct reply *reply)
{
    resp_null(writer_of(reply)->out, writer_of(reply)->version);
}

static void write_word(struct reply *reply, struct slice word)
{
    resp_simple(writer_of(reply)->out, word);
}

static void write_text(struct reply *reply, struct slice bytes)
{
    resp_bulk(writer_of(reply)->out, bytes);
}

static void write_prose(struct reply *reply, struct slice lines)
{
    resp_verbatim(writer_of(reply)->out, writer_of(reply)->version, lines);
}

static void write_integer(struct reply *reply, int64_t value)
{
    resp_integer(writer_of(reply)->out, value);
}

static void write_boolean(struct reply *reply, bool value)
{
    resp_boolean(writer_of(reply)->out, writer_of(reply)->version, value);
}

static void write_number(struct reply *reply, double value)
{
    resp_double(writer_of(reply)->out, writer_of(reply)->version, value);
}

static void write_seconds(struct reply *reply, int64_t us)
{
    resp_seconds(writer_of(reply)->out, writer_of(reply)->version, us);
}

static void write_list(struct reply *reply, size_t count)
{
    resp_array(writer_of(reply)->out, count);
}

static void write_map(struct reply *reply, size_t pairs)
{
    resp_map(writer_of(reply)->out, writer_of(reply)->version, pairs);
}

static void write_end(struct reply *reply)
{
    (void)reply; // the size stands in front
}

void resp_write_error(struct buffer *out, const struct error *error)
{
    char code[CODE_SIZE];
    size_t size = 0;
    const char *name = error->status == STATUS_DENIED ? "noperm" : status_name(error->status);
    for (const char *c = name; *c && size < sizeof(code); c++) {
        code[size++] = ascii_upper(*c);
    }
    resp_error(out, slice_make(code, size), slice_from_cstr(error_sentence(error)));
}

static void write_error(struct reply *reply, const struct error *error)
{
    struct resp_writer *writer = writer_of(reply);
    writer->errors++;
    if (writer->code.size) {
        resp_error(writer->out, writer->code, slice_from_cstr(error_sentence(error)));
    } else {
        resp_write_error(writer->out, error);
    }
}

void resp_writer_set_code(struct reply *reply, struct slice code)
{
    writer_of(reply)->code = code;
}

static size_t room(const struct reply *reply)
{
    const struct resp_writer *writer = (const struct resp_writer *)(const void *)reply;
    size_t left = writer->out->status ? 0 : writer->out->size_max - writer->out->size;
    return left > writer->reserve ? left - writer->reserve : 0;
}

static size_t room_max(const struct reply *reply)
{
    return ((const struct resp_writer *)(const void *)reply)->out->size_max;
}

static size_t measure(struct reply *reply, reply_writer *write, const void *about)
{
    const struct resp_writer *writer = writer_of(reply);
    struct buffer bytes;
    struct resp_writer apart;
    buffer_init(&bytes, writer->out->allocator, writer->out->size_max);
    resp_writer_init(&apart, &bytes, writer->version);
    write(&apart.reply, about);
    size_t size = bytes.status ? SIZE_MAX : bytes.size;
    buffer_release(&bytes);
    return size;
}

static const struct reply_ops form_functions = {
    .null = write_null,
    .word = write_word,
    .text = write_text,
    .json = write_text,
    .prose = write_prose,
    .integer = write_integer,
    .boolean = write_boolean,
    .number = write_number,
    .seconds = write_seconds,
    .moment = write_seconds,
    .error = write_error,
    .list = write_list,
    .map = write_map,
    .end = write_end,
    .room = room,
    .room_max = room_max,
    .measure = measure,
    .growth = 1,
    .error_size = RESP_SHORT_ERROR,
};

void resp_writer_init(struct resp_writer *writer, struct buffer *out, enum resp_version version)
{
    *writer = (struct resp_writer){ .reply = { &form_functions }, .out = out, .version = version };
}
