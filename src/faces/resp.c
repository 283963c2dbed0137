// SPDX-License-Identifier: MIT
#include "faces/resp.h"
#include "base/ascii.h"

enum {
    CODE_SIZE = 32,
};

static struct resp_form *form_of(struct reply *reply)
{
    return (struct resp_form *)(void *)reply; // it is the first member
}

static void say_null(struct reply *reply)
{
    resp_null(form_of(reply)->out, form_of(reply)->version);
}

static void say_word(struct reply *reply, struct slice word)
{
    resp_simple(form_of(reply)->out, word);
}

static void say_text(struct reply *reply, struct slice bytes)
{
    resp_bulk(form_of(reply)->out, bytes);
}

static void say_prose(struct reply *reply, struct slice lines)
{
    resp_verbatim(form_of(reply)->out, form_of(reply)->version, lines);
}

static void say_integer(struct reply *reply, int64_t value)
{
    resp_integer(form_of(reply)->out, value);
}

static void say_boolean(struct reply *reply, bool value)
{
    resp_boolean(form_of(reply)->out, form_of(reply)->version, value);
}

static void say_number(struct reply *reply, double value)
{
    resp_double(form_of(reply)->out, form_of(reply)->version, value);
}

static void say_seconds(struct reply *reply, int64_t us)
{
    resp_seconds(form_of(reply)->out, form_of(reply)->version, us);
}

static void say_list(struct reply *reply, size_t count)
{
    resp_array(form_of(reply)->out, count);
}

static void say_map(struct reply *reply, size_t pairs)
{
    resp_map(form_of(reply)->out, form_of(reply)->version, pairs);
}

static void say_end(struct reply *reply)
{
    (void)reply; // the size stands in front
}

void resp_form_error(struct buffer *out, const struct error *error)
{
    char code[CODE_SIZE];
    size_t size = 0;
    const char *name = error->status == STATUS_DENIED ? "noperm" : status_name(error->status);
    for (const char *c = name; *c && size < sizeof(code); c++) {
        code[size++] = ascii_upper(*c);
    }
    resp_error(out, slice_make(code, size), slice_from_cstr(error_sentence(error)));
}

static void say_error(struct reply *reply, const struct error *error)
{
    struct resp_form *form = form_of(reply);
    form->errors++;
    if (form->code.size) {
        resp_error(form->out, form->code, slice_from_cstr(error_sentence(error)));
    } else {
        resp_form_error(form->out, error);
    }
}

void resp_form_code(struct reply *reply, struct slice code)
{
    form_of(reply)->code = code;
}

static size_t room(const struct reply *reply)
{
    const struct resp_form *form = (const struct resp_form *)(const void *)reply;
    size_t left = form->out->status ? 0 : form->out->size_max - form->out->size;
    return left > form->reserve ? left - form->reserve : 0;
}

static size_t room_max(const struct reply *reply)
{
    return ((const struct resp_form *)(const void *)reply)->out->size_max;
}

static size_t measure(struct reply *reply, reply_say *say, const void *about)
{
    const struct resp_form *form = form_of(reply);
    struct buffer bytes;
    struct resp_form apart;
    buffer_init(&bytes, form->out->allocator, form->out->size_max);
    resp_form_init(&apart, &bytes, form->version);
    say(&apart.reply, about);
    size_t size = bytes.status ? SIZE_MAX : bytes.size;
    buffer_release(&bytes);
    return size;
}

static const struct reply_form form_functions = {
    .null = say_null,
    .word = say_word,
    .text = say_text,
    .json = say_text,
    .prose = say_prose,
    .integer = say_integer,
    .boolean = say_boolean,
    .number = say_number,
    .seconds = say_seconds,
    .moment = say_seconds,
    .error = say_error,
    .list = say_list,
    .map = say_map,
    .end = say_end,
    .room = room,
    .room_max = room_max,
    .measure = measure,
    .growth = 1,
    .error_size = RESP_SHORT_ERROR,
};

void resp_form_init(struct resp_form *form, struct buffer *out, enum resp_version version)
{
    *form = (struct resp_form){ .reply = { &form_functions }, .out = out, .version = version };
}
