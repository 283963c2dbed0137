// SPDX-License-Identifier: MIT
//     *3\r\n          how many words there are
//     $5\r\n          how long the first one is
//     Q.PUT\r\n       the word itself
//     $6\r\n ...
//
// A request that does not begin with '*' is a line of words.
//
//             read_count             read_word_size
//     START -------------> LENGTH <------------------> WORD
//       |                    |          read_word
//       | read_line          | when the last word is read
//       +-----> DONE <-------+
//
// The next call moves from DONE to START. Nearly all words have arrived when they are needed, and
// read_words_fast moves from LENGTH to LENGTH over as many as there are.
//
// The outcome depends only on the bytes received, not on how they were split: each step is taken
// when all bytes that it examines have arrived, and each error is found by the same step. A step
// that fails changes nothing, so that another call has the same result (or, after NO_MEMORY,
// possibly succeeds).
#include "wire/resp_request.h"

#include "base/ascii.h"
#include "base/checked.h"
#include "base/num.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    WORDS_MIN = 16,             // initial capacity
    WORDS_KEPT = 1024,          // a larger allocation is freed after use
    LINE_KEPT = 4096,           // likewise
    LENGTH_SIZE_MAX = 32,       // bytes of "$5\r\n"
    WORD_WIRE_SIZE_MIN = 6,     // bytes of "$0\r\n\r\n"
    LENGTH_DIGITS_FAST_MAX = 9, // few enough that the value cannot overflow
};

// More than any memory, and small enough that sums of sizes do not overflow.
static const int64_t LENGTH_MAX = 999999999999999999;

void resp_request_init(struct resp_request *request, const struct allocator *allocator,
                       const struct resp_limits *limits)
{
    *request = (struct resp_request){ .allocator = allocator, .limits = limits };
}

static size_t words_block_size(size_t capacity)
{
    return capacity * (sizeof(struct slice) + sizeof(size_t));
}

static void free_words(struct resp_request *request)
{
    mem_free(request->allocator, request->words, words_block_size(request->capacity));
    request->words = NULL;
    request->starts = NULL;
    request->capacity = 0;
}

static void free_line(struct resp_request *request)
{
    mem_free(request->allocator, request->line, request->line_capacity);
    request->line = NULL;
    request->line_capacity = 0;
}

void resp_request_release(struct resp_request *request)
{
    free_words(request);
    free_line(request);
    resp_request_init(request, request->allocator, request->limits);
}

// Enlarges the arrays of words. They are in one block, so that there is only one allocation that
// can fail.
static bool grow_words(struct resp_request *request)
{
    size_t capacity = WORDS_MIN;
    size_t size;
    if ((request->capacity && !checked_size_mul(request->capacity, 2, &capacity)) ||
        !checked_size_mul(capacity, words_block_size(1), &size)) {
        return false;
    }
    struct slice *words = mem_alloc(request->allocator, size);
    if (!words) {
        return false;
    }
    size_t *starts = (size_t *)(void *)(words + capacity);
    if (request->count) {
        memcpy(words, request->words, request->count * sizeof(*words));
        memcpy(starts, request->starts, request->count * sizeof(*starts));
    }
    free_words(request);
    request->words = words;
    request->starts = starts;
    request->capacity = capacity;
    return true;
}

// `start` is the offset of a word of an array in the input; the words of a line are in the line.
static enum resp_result add_word(struct resp_request *request, struct slice word, size_t start,
                                 struct error *error)
{
    if (request->count == request->capacity && !grow_words(request)) {
        (void)error_set(error, STATUS_NO_MEMORY, "there is no memory for the words of a request");
        return RESP_BROKEN;
    }
    request->words[request->count] = word;
    request->starts[request->count] = start;
    request->count++;
    return RESP_READY;
}

static void begin(struct resp_request *request)
{
    request->stage = RESP_STAGE_START;
    request->count = 0;
    request->size = 0;
    request->position = 0;
    request->scanned = 0;
    request->declared = 0;
    if (request->capacity > WORDS_KEPT) {
        free_words(request);
    }
    if (request->line_capacity > LINE_KEPT) {
        free_line(request);
    }
}

static enum resp_result finish(struct resp_request *request, size_t size)
{
    request->stage = RESP_STAGE_DONE;
    request->size = size;
    return RESP_READY;
}

// The size of the line at `position` with its '\n'. BROKEN, without a message, if it is longer than
// `size_max`.
static enum resp_result find_line(struct resp_request *request, struct slice input, size_t size_max,
                                  size_t *size)
{
    size_t from = request->scanned > request->position ? request->scanned : request->position;
    size_t until = input.size;
    if (until - request->position > size_max) {
        until = request->position + size_max;
    }
    const char *end = from < until ? memchr(input.data + from, '\n', until - from) : NULL;
    if (end) {
        *size = (size_t)(end - (input.data + request->position)) + 1;
        return RESP_READY;
    }
    // A line whose end has not arrived has at least one more byte.
    if (input.size - request->position >= size_max) {
        return RESP_BROKEN;
    }
    request->scanned = input.size;
    return RESP_MORE;
}

// Lengths: how many words there are, in the stage START, and how long each is.

static enum resp_result length_malformed(const struct resp_request *request, const char *problem,
                                         struct error *error)
{
    if (request->stage == RESP_STAGE_START) {
        (void)error_set(error, STATUS_INVALID, "the number of words in a request %s", problem);
    } else {
        (void)error_set(error, STATUS_INVALID, "the length of word %zu of a request %s",
                        request->count + 1, problem);
    }
    return RESP_BROKEN;
}

static enum resp_result length_too_large(const struct resp_request *request, struct slice text,
                                         struct error *error)
{
    if (request->stage == RESP_STAGE_START) {
        (void)error_set(error, STATUS_TOO_LARGE, "a request of %.*s words; at most %zu are allowed",
                        SLICE_PRINT(text), request->limits->words_max);
    } else {
        (void)error_set(error, STATUS_TOO_LARGE, "a word of %.*s bytes; at most %zu are allowed",
                        SLICE_PRINT(text), request->limits->word_max);
    }
    return RESP_BROKEN;
}

static inline bool is_line_end(const char *at)
{
    return memcmp(at, "\r\n", 2) == 0;
}

// Reads a length with an ordinary number of digits whose line is complete: returns the size of the
// line, or 0 if read_length is needed.
static inline size_t read_length_fast(const char *line, size_t size, size_t *value)
{
    // One digit, as for most words.
    if (size >= 4 && is_line_end(line + 2)) {
        *value = (size_t)(unsigned char)line[1] - '0';
        return *value > 9 ? 0 : 4;
    }
    size_t most = size < LENGTH_DIGITS_FAST_MAX + 1 ? size : LENGTH_DIGITS_FAST_MAX + 1;
    size_t number = 0;
    size_t at = 1;
    for (; at < most; at++) {
        unsigned digit = (unsigned)(unsigned char)line[at] - '0';
        if (digit > 9) {
            break;
        }
        number = number * 10 + digit;
    }
    bool leading_zero = at > 2 && line[1] == '0';
    if (at < 2 || leading_zero || size - at < 2 || !is_line_end(line + at)) {
        return 0;
    }
    *value = number;
    return at + 2;
}

// Reads any length, which may be malformed, incomplete, negative or too large. `*line_size` is the
// size of its line, at `position`.
static enum resp_result read_length(struct resp_request *request, struct slice input,
                                    size_t value_max, size_t *value, size_t *line_size,
                                    struct error *error)
{
    enum resp_result result = find_line(request, input, LENGTH_SIZE_MAX, line_size);
    if (result == RESP_MORE) {
        return RESP_MORE;
    }
    if (result == RESP_BROKEN) {
        return length_malformed(request, "has a line of more than 32 bytes", error);
    }
    const char *line = input.data + request->position;
    if (*line_size < 3 || line[*line_size - 2] != '\r') {
        return length_malformed(request, "does not end with \\r\\n", error);
    }
    struct slice text = slice_make(line + 1, *line_size - 3);
    int64_t number = 0;
    enum status status = num_parse_i64(text, &number);
    if (status == STATUS_INVALID) {
        return length_malformed(request, "is not a whole number", error);
    }
    if (text.data[0] == '-') {
        if (request->stage != RESP_STAGE_START) {
            return length_malformed(request, "is negative", error);
        }
        number = 0; // a negative number of words is treated as none
    } else if (status || number > LENGTH_MAX || (uint64_t)number > value_max) {
        return length_too_large(request, text, error);
    }
    *value = (size_t)number;
    return RESP_READY;
}

// Arrays.

static size_t digits_of(size_t number)
{
    size_t digits = 1;
    for (; number > 9; number /= 10) {
        digits++;
    }
    return digits;
}

// The minimum size of an array with `size` bytes so far and `words` more words.
static inline uint64_t array_size_min(uint64_t size, size_t words)
{
    return size + (uint64_t)words * WORD_WIRE_SIZE_MIN;
}

static enum resp_result request_too_large(const struct resp_request *request, uint64_t size,
                                          struct error *error)
{
    (void)error_set(error, STATUS_TOO_LARGE,
                    "a request of at least %llu bytes; at most %zu are allowed",
                    (unsigned long long)size, request->limits->request_max);
    return RESP_BROKEN;
}

enum status resp_limits_check(const struct resp_limits *limits, const struct slice *words,
                              size_t count, struct error *error)
{
    if (count > limits->words_max) {
        return error_set(error, STATUS_TOO_LARGE, "a request of %zu words; at most %zu are allowed",
                         count, limits->words_max);
    }
    uint64_t size = 1 + digits_of(count) + 2;
    for (size_t i = 0; i < count; i++) {
        size_t word_size = words[i].size;
        if (word_size > limits->word_max) {
            return error_set(error, STATUS_TOO_LARGE,
                             "a word of %zu bytes; at most %zu are allowed", word_size,
                             limits->word_max);
        }
        size += 1 + digits_of(word_size) + 2 + (uint64_t)word_size + 2;
    }
    if (size > limits->request_max) {
        return error_set(error, STATUS_TOO_LARGE,
                         "a request of at least %llu bytes; at most %zu are allowed",
                         (unsigned long long)size, limits->request_max);
    }
    return STATUS_OK;
}

static enum resp_result read_count(struct resp_request *request, struct slice input,
                                   struct error *error)
{
    size_t count_max = request->limits->words_max;
    size_t count = 0;
    size_t line_size = request->scanned ? 0 : read_length_fast(input.data, input.size, &count);
    if (line_size == 0 || count > count_max) {
        enum resp_result result = read_length(request, input, count_max, &count, &line_size, error);
        if (result != RESP_READY) {
            return result;
        }
    }
    uint64_t size_min = array_size_min(line_size, count);
    if (size_min > request->limits->request_max) {
        return request_too_large(request, size_min, error);
    }
    request->position = line_size;
    request->declared = count;
    request->stage = RESP_STAGE_LENGTH;
    return RESP_READY;
}

// Reads the length of the next word, at `position`.
static enum resp_result read_word_size(struct resp_request *request, struct slice input,
                                       struct error *error)
{
    if (input.size == request->position) {
        return RESP_MORE;
    }
    if (input.data[request->position] != '$') {
        (void)error_set(error, STATUS_INVALID, "word %zu of a request does not begin with '$'",
                        request->count + 1);
        return RESP_BROKEN;
    }
    size_t word_size = 0;
    size_t line_size = 0;
    enum resp_result result =
        read_length(request, input, request->limits->word_max, &word_size, &line_size, error);
    if (result != RESP_READY) {
        return result;
    }
    uint64_t size = (uint64_t)request->position + line_size + word_size + 2;
    uint64_t size_min = array_size_min(size, request->declared - request->count - 1);
    if (size_min > request->limits->request_max) {
        return request_too_large(request, size_min, error);
    }
    request->position += line_size;
    request->word_size = word_size;
    request->stage = RESP_STAGE_WORD;
    return RESP_READY;
}

// Reads the word at `position`.
static enum resp_result read_word(struct resp_request *request, struct slice input,
                                  struct error *error)
{
    size_t size = request->word_size;
    size_t left = input.size - request->position;
    if (left < 2 || left - 2 < size) {
        return RESP_MORE;
    }
    const char *word = input.data + request->position;
    if (word[size] != '\r' || word[size + 1] != '\n') {
        (void)error_set(error, STATUS_INVALID,
                        "word %zu of a request does not end with \\r\\n after its %zu bytes",
                        request->count + 1, size);
        return RESP_BROKEN;
    }
    enum resp_result result = add_word(request, slice_make(word, size), request->position, error);
    if (result == RESP_READY) {
        request->position += size + 2;
        request->stage = RESP_STAGE_LENGTH;
    }
    return result;
}

// Reads the words that have arrived and fit into the arrays, which are nearly all: the same as the
// two steps above in one loop. Stops before a word that needs them.
static void read_words_fast(struct resp_request *request, struct slice input)
{
    size_t word_max = request->limits->word_max;
    size_t until = request->declared < request->capacity ? request->declared : request->capacity;
    size_t position = request->position;
    size_t count = request->count;
    // A word must end here at the latest, so that the words after it fit; read_count has checked
    // that all do.
    size_t end_max =
        request->limits->request_max - (request->declared - count) * WORD_WIRE_SIZE_MIN;
    for (; count < until; count++) {
        const char *line = input.data + position;
        size_t left = input.size - position;
        size_t size = 0;
        size_t line_size = left && line[0] == '$' ? read_length_fast(line, left, &size) : 0;
        size_t taken = line_size + size + 2;
        end_max += WORD_WIRE_SIZE_MIN;
        if (line_size == 0 || size > word_max || left < taken || position + taken > end_max ||
            !is_line_end(line + taken - 2)) {
            break;
        }
        request->words[count] = slice_make(line + line_size, size);
        request->starts[count] = position + line_size;
        position += taken;
    }
    request->position = position;
    request->count = count;
}

static enum resp_result read_words(struct resp_request *request, struct slice input,
                                   struct error *error)
{
    size_t count_before = request->count;
    while (request->count < request->declared) {
        // A length whose end has not been found is not searched again before more bytes arrive.
        if (request->stage == RESP_STAGE_LENGTH && request->scanned <= request->position) {
            read_words_fast(request, input);
            if (request->count == request->declared) {
                break;
            }
        }
        enum resp_result result = request->stage == RESP_STAGE_LENGTH
                                      ? read_word_size(request, input, error)
                                      : read_word(request, input, error);
        if (result != RESP_READY) {
            return result;
        }
    }
    // The input may have moved since the earlier calls.
    for (size_t i = 0; i < count_before; i++) {
        request->words[i].data = input.data + request->starts[i];
    }
    return finish(request, request->position);
}

// Lines.

struct line_reader {
    struct slice line;
    size_t at;
    char *out; // where the next byte of a word is written; never after what is read
};

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// Reads an escape in "double quotes"; the backslash is not the last byte of the line. A byte
// without a special meaning is literal.
static char read_escape(struct line_reader *reader)
{
    const char *escape = reader->line.data + reader->at;
    size_t left = reader->line.size - reader->at;
    if (escape[0] == 'x' && left >= 3 && ascii_hex_digit(escape[1]) >= 0 &&
        ascii_hex_digit(escape[2]) >= 0) {
        reader->at += 3;
        return (char)(ascii_hex_digit(escape[1]) * 16 + ascii_hex_digit(escape[2]));
    }
    reader->at++;
    switch (escape[0]) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'b':
        return '\b';
    case 'a':
        return '\a';
    default:
        return escape[0];
    }
}

// Reads up to the closing quote; false if there is none, or if it is not followed by a blank.
static bool read_quoted(struct line_reader *reader, char quote)
{
    struct slice line = reader->line;
    while (reader->at < line.size) {
        char c = line.data[reader->at++];
        bool escaped = c == '\\' && reader->at < line.size;
        if (c == quote) {
            return reader->at == line.size || is_space(line.data[reader->at]);
        }
        if (escaped && quote == '"') {
            c = read_escape(reader);
        } else if (escaped && line.data[reader->at] == '\'') {
            c = '\'';
            reader->at++;
        }
        *reader->out++ = c;
    }
    return false;
}

// Reads a word, which may have quoted parts; false if its quotes are not balanced.
static bool read_line_word(struct line_reader *reader)
{
    while (reader->at < reader->line.size && !is_space(reader->line.data[reader->at])) {
        char c = reader->line.data[reader->at++];
        if (c != '"' && c != '\'') {
            *reader->out++ = c;
        } else if (!read_quoted(reader, c)) {
            return false;
        }
    }
    return true;
}

static bool skip_spaces(struct line_reader *reader)
{
    while (reader->at < reader->line.size && is_space(reader->line.data[reader->at])) {
        reader->at++;
    }
    return reader->at < reader->line.size;
}

static enum resp_result split_line(struct resp_request *request, struct slice line,
                                   struct error *error)
{
    struct line_reader reader = { .line = line, .out = request->line };
    const struct resp_limits *limits = request->limits;
    request->count = 0;
    enum resp_result result = RESP_READY;
    while (result == RESP_READY && skip_spaces(&reader)) {
        if (request->count == limits->words_max) {
            (void)error_set(error, STATUS_TOO_LARGE,
                            "an inline request of more than %zu words; at most %zu are allowed",
                            limits->words_max, limits->words_max);
            return RESP_BROKEN;
        }
        const char *start = reader.out;
        if (!read_line_word(&reader)) {
            (void)error_set(error, STATUS_INVALID,
                            "an inline request has unbalanced quotes; JSON is written in single "
                            "ones: '{\"to\":\"ann\"}'");
            return RESP_BROKEN;
        }
        size_t size = (size_t)(reader.out - start);
        if (size > limits->word_max) {
            (void)error_set(error, STATUS_TOO_LARGE, "a word of %zu bytes; at most %zu are allowed",
                            size, limits->word_max);
            return RESP_BROKEN;
        }
        result = add_word(request, slice_make(start, size), 0, error);
    }
    return result;
}

static enum resp_result read_line(struct resp_request *request, struct slice input,
                                  struct error *error)
{
    const struct resp_limits *limits = request->limits;
    size_t size_max =
        limits->line_max < limits->request_max ? limits->line_max : limits->request_max;
    size_t size = 0;
    enum resp_result result = find_line(request, input, size_max, &size);
    if (result == RESP_BROKEN) {
        (void)error_set(error, STATUS_TOO_LARGE,
                        "an inline request of more than %zu bytes; at most %zu are allowed",
                        size_max, size_max);
    }
    if (result != RESP_READY) {
        return result;
    }
    struct slice line = slice_make(input.data, size - 1);
    if (line.size && line.data[line.size - 1] == '\r') {
        line.size--;
    }
    if (line.size > request->line_capacity) {
        free_line(request);
        request->line = mem_alloc(request->allocator, line.size);
        if (!request->line) {
            (void)error_set(error, STATUS_NO_MEMORY, "there is no memory for an inline request");
            return RESP_BROKEN;
        }
        request->line_capacity = line.size;
    }
    result = split_line(request, line, error);
    return result == RESP_READY ? finish(request, size) : result;
}

enum resp_result resp_request_read(struct resp_request *request, struct slice input,
                                   struct error *error)
{
    if (request->stage == RESP_STAGE_DONE) {
        begin(request);
    }
    assert(input.size >= request->position && input.size >= request->scanned);
    if (request->stage == RESP_STAGE_START) {
        if (input.size == 0) {
            return RESP_MORE;
        }
        if (input.data[0] != '*') {
            return read_line(request, input, error);
        }
        enum resp_result result = read_count(request, input, error);
        if (result != RESP_READY) {
            return result;
        }
    }
    return read_words(request, input, error);
}

size_t resp_request_needs(const struct resp_request *request)
{
    uint64_t size = request->position;
    size_t words = request->declared - request->count; // still to come
    switch (request->stage) {
    case RESP_STAGE_DONE:
        return 1;
    case RESP_STAGE_WORD:
        return (size_t)array_size_min(size + request->word_size + 2, words - 1);
    case RESP_STAGE_LENGTH:
        size = array_size_min(size, words);
        break;
    case RESP_STAGE_START:
        break;
    }
    // A line that has not ended has at least one more byte.
    return size > request->scanned ? (size_t)size : request->scanned + 1;
}
