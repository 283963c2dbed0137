// SPDX-License-Identifier: MIT
#include "faces/qless/ask.h"

#include "base/ascii.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/num.h"
#include "faces/qless/cjson.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct qless_block {
    struct qless_block *next;
    size_t size;
    max_align_t bytes[];
};

// Redis puts the position in the script before the message of a script, and clients search for it.
static enum status refuse(struct qless_ask *ask, enum status status, const char *text)
{
    return error_set(&ask->error, status, "user_script:1: %s", text);
}

static enum status refuse_in_words(struct qless_ask *ask, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

static enum status refuse_in_words(struct qless_ask *ask, const char *format, va_list arguments)
{
    if (ask->no_memory) {
        return qless_no_memory(ask);
    }
    char text[ERROR_DETAIL_SIZE];
    (void)vsnprintf(text, sizeof(text), format, arguments);
    return refuse(ask, STATUS_INVALID, text);
}

enum status qless_no(struct qless_ask *ask, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    enum status status = refuse_in_words(ask, format, arguments);
    va_end(arguments);
    return status;
}

enum status qless_unmet(struct qless_ask *ask, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    enum status status = refuse_in_words(ask, format, arguments);
    va_end(arguments);
    ask->unmet = !ask->no_memory;
    return status;
}

enum status qless_engine_no(struct qless_ask *ask, const char *area, enum status status,
                            const struct error *error)
{
    if (!status) {
        return STATUS_OK;
    }
    char text[ERROR_DETAIL_SIZE + 16];
    (void)snprintf(text, sizeof(text), "%s(): %s", area, error_sentence(error));
    return refuse(ask, status, text);
}

enum status qless_no_memory(struct qless_ask *ask)
{
    return refuse(ask, STATUS_NO_MEMORY, "not enough memory");
}

enum status qless_check_room(struct qless_ask *ask, size_t size)
{
    size_t room = reply_room(ask->reply);
    char text[ERROR_DETAIL_SIZE];
    if (room >= size) {
        return STATUS_OK;
    }
    (void)snprintf(text, sizeof(text),
                   "the call was not run: its reply may have %zu bytes, and there is room for %zu "
                   "(max-output is the limit)",
                   size, room);
    return refuse(ask, STATUS_TOO_LARGE, text);
}

enum status qless_check_count(struct qless_ask *ask, size_t count)
{
    const size_t least = sizeof("\"a\",") - 1;
    return qless_check_room(ask, count > SIZE_MAX / least ? SIZE_MAX : count * least);
}

enum status qless_check_room_for(struct qless_ask *ask, size_t size, struct slices texts)
{
    for (size_t i = 0; i < texts.count; i++) {
        size += QLESS_CJSON_GROWTH * texts.items[i].size + sizeof("\"\",");
    }
    return qless_check_room(ask, REPLY_SIZE_LEAST + size);
}

bool qless_is_full(const struct qless_ask *ask)
{
    return ask->out.status || ask->out.size > reply_room(ask->reply);
}

enum status qless_check_out(struct qless_ask *ask)
{
    if (ask->out.status != STATUS_NO_MEMORY && qless_is_full(ask)) {
        return refuse(ask, STATUS_TOO_LARGE, "the answer is too large");
    }
    return ask->out.status ? qless_no_memory(ask) : STATUS_OK;
}

enum status qless_reply_out(struct qless_ask *ask)
{
    enum status status = qless_check_out(ask);
    if (!status) {
        reply_text(ask->reply, buffer_slice(&ask->out));
    }
    return status;
}

void *qless_room(struct qless_ask *ask, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX - sizeof(struct qless_block)) / size) {
        return NULL;
    }
    size_t whole = sizeof(struct qless_block) + count * size;
    struct qless_block *block = mem_alloc(ask->allocator, whole);
    if (!block) {
        ask->no_memory = true;
        return NULL;
    }
    block->next = ask->blocks;
    block->size = whole;
    ask->blocks = block;
    return block->bytes;
}

void qless_rooms_free(struct qless_ask *ask)
{
    while (ask->blocks) {
        struct qless_block *block = ask->blocks;
        ask->blocks = block->next;
        mem_free(ask->allocator, block, block->size);
    }
}

// ---------------------------------------------------------------------------------------------
// Words

bool qless_has(const struct qless_ask *ask, size_t index)
{
    return index < ask->words.count;
}

struct slice qless_word(const struct qless_ask *ask, size_t index)
{
    return qless_has(ask, index) ? ask->words.items[index] : SLICE("nil");
}

struct slices qless_words(const struct qless_ask *ask, size_t index)
{
    if (index > ask->words.count) {
        index = ask->words.count;
    }
    // Without words `items` may be NULL.
    const struct slice *items = index ? ask->words.items + index : ask->words.items;
    return (struct slices){ items, ask->words.count - index };
}

// ---------------------------------------------------------------------------------------------
// Numbers

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct slice trim(struct slice text)
{
    while (text.size && is_space(text.data[0])) {
        text = slice_sub(text, 1, SIZE_MAX);
    }
    while (text.size && is_space(text.data[text.size - 1])) {
        text.size--;
    }
    return text;
}

// Removes the digits at the front of `*text` and returns them.
static struct slice take_digits(struct slice *text)
{
    size_t size = 0;
    while (size < text->size && is_digit(text->data[size])) {
        size++;
    }
    struct slice digits = slice_sub(*text, 0, size);
    *text = slice_sub(*text, size, SIZE_MAX);
    return digits;
}

static bool starts_with_either(struct slice text, char a, char b)
{
    return text.size && (text.data[0] == a || text.data[0] == b);
}

enum {
    NUMBER_SIZE = NUM_TEXT_SIZE_MAX,
};

struct number {
    char text[NUMBER_SIZE];
    size_t size;
};

static bool append(struct number *number, struct slice bytes)
{
    if (bytes.size > sizeof(number->text) - number->size) {
        return false;
    }
    if (bytes.size) {
        memcpy(number->text + number->size, bytes.data, bytes.size);
    }
    number->size += bytes.size;
    return true;
}

static bool read_hexadecimal(struct slice digits, struct number *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < digits.size; i++) {
        int digit = ascii_hex_digit(digits.data[i]);
        if (digit < 0 || value > UINT64_MAX >> 4) {
            return false;
        }
        value = value << 4 | (unsigned)digit;
    }
    int size = snprintf(out->text + out->size, sizeof(out->text) - out->size, "%llu",
                        (unsigned long long)value);
    out->size += (size_t)size;
    return digits.size > 0;
}

// Reads what follows the sign, as in JSON: no leading zeros, digits on both sides of a point.
static bool read_decimal(struct slice text, struct number *out)
{
    struct slice whole = take_digits(&text), fraction = SLICE_EMPTY;
    if (starts_with_either(text, '.', '.')) {
        text = slice_sub(text, 1, SIZE_MAX);
        fraction = take_digits(&text);
    }
    if (whole.size + fraction.size == 0) {
        return false;
    }
    while (whole.size && whole.data[0] == '0') {
        whole = slice_sub(whole, 1, SIZE_MAX);
    }
    bool fits = append(out, whole.size ? whole : SLICE("0"));
    if (fraction.size) {
        fits = fits && append(out, SLICE(".")) && append(out, fraction);
    }
    if (starts_with_either(text, 'e', 'E')) {
        text = slice_sub(text, 1, SIZE_MAX);
        struct slice sign = slice_sub(text, 0, starts_with_either(text, '+', '-'));
        text = slice_sub(text, sign.size, SIZE_MAX);
        struct slice exponent = take_digits(&text);
        fits = fits && exponent.size && append(out, SLICE("e")) && append(out, sign) &&
               append(out, exponent);
    }
    return fits && text.size == 0;
}

// Converts a number that Lua accepts to one that is valid JSON.
static bool read_number(struct slice text, struct number *out)
{
    text = trim(text);
    out->size = 0;
    if (starts_with_either(text, '-', '+')) {
        out->text[0] = '-';
        out->size = text.data[0] == '-';
        text = slice_sub(text, 1, SIZE_MAX);
    }
    if (slice_starts_with(text, SLICE("0x")) || slice_starts_with(text, SLICE("0X"))) {
        return read_hexadecimal(slice_sub(text, 2, SIZE_MAX), out);
    }
    return read_decimal(text, out);
}

bool qless_number(struct slice text, double *out)
{
    struct number number;
    return read_number(text, &number) &&
           !num_parse_double(slice_make(number.text, number.size), out);
}

bool qless_seconds(struct slice text, int64_t *us_out)
{
    struct number number;
    if (!read_number(text, &number)) {
        return false;
    }
    enum status status = num_parse_seconds(slice_make(number.text, number.size), us_out);
    if (status == STATUS_TOO_LARGE) {
        *us_out = number.text[0] == '-' ? INT64_MIN : INT64_MAX;
        status = STATUS_OK;
    }
    return !status;
}

bool qless_integer(struct slice text, int64_t *out)
{
    const double limit = 1e15;
    double value;
    if (!qless_number(text, &value)) {
        return false;
    }
    *out = (int64_t)(value > limit ? limit : value < -limit ? -limit : value);
    return true;
}

bool qless_small_integer(struct slice text, int32_t *out)
{
    double value;
    if (!qless_number(text, &value) || value < INT32_MIN || value > INT32_MAX ||
        value != (double)(int32_t)value) {
        return false;
    }
    *out = (int32_t)value;
    return true;
}

// ---------------------------------------------------------------------------------------------
// JSON

bool qless_json_is_true(struct slice text)
{
    struct json_value value;
    bool no = false;
    if (json_validate(text, JSON_VALUE_DEPTH_MAX, NULL) || json_value_of(text, &value)) {
        return false;
    }
    return value.type != JSON_TYPE_BOOL || json_value_bool(value, &no) || no;
}

bool qless_json_is_table(struct slice text)
{
    struct json_value value;
    return !json_validate(text, JSON_VALUE_DEPTH_MAX, NULL) && !json_value_of(text, &value) &&
           (value.type == JSON_TYPE_OBJECT || value.type == JSON_TYPE_ARRAY);
}

// The text of an item, in memory that lasts until the reply.
static bool read_item(struct qless_ask *ask, struct json_value value, struct slice *out)
{
    struct buffer text;
    buffer_init(&text, ask->allocator, SIZE_MAX - 1);
    double number;
    bool read = false;
    if (value.type == JSON_TYPE_STRING) {
        read = !json_value_string(value, &text);
    } else if (value.type == JSON_TYPE_NUMBER && !num_parse_double(value.raw, &number)) {
        qless_cjson_number(&text, number);
        read = !text.status;
    }
    if (read) {
        char *copy = qless_room(ask, text.size, 1);
        if (copy && text.size) {
            memcpy(copy, text.data, text.size);
        }
        *out = slice_make(copy, text.size);
        read = copy != NULL;
    }
    ask->no_memory = ask->no_memory || text.status == STATUS_NO_MEMORY;
    buffer_release(&text);
    return read;
}

bool qless_json_list(struct qless_ask *ask, struct slice text, struct slices *out)
{
    struct json_reader reader;
    struct json_member member;
    *out = (struct slices){ NULL, 0 };
    if (json_validate(text, JSON_VALUE_DEPTH_MAX, NULL)) {
        return false;
    }
    if (!json_reader_init_object(&reader, text, NULL)) {
        return true;
    }
    if (json_reader_init_array(&reader, text, NULL)) {
        return false;
    }
    size_t count = 0;
    for (struct json_reader counter = reader; json_reader_next(&counter, &member);) {
        count++;
    }
    struct slice *items = qless_room(ask, count, sizeof(*items));
    bool read = items != NULL;
    for (size_t i = 0; read && json_reader_next(&reader, &member); i++) {
        read = read_item(ask, member.value, &items[i]);
    }
    if (read) {
        *out = (struct slices){ items, count };
    }
    return read;
}
