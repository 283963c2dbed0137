// SPDX-License-Identifier: MIT
// The validator is a state machine with a stack of bits: set for an object, clear for an array. It
// never recurses, so that no text can exhaust the stack.
//
//     state       sees                    goes to      by
//     VALUE       a scalar                AFTER        skip_value
//                 '{'                     FIRST_KEY    skip_value, enter
//                 '['                     FIRST_ITEM   skip_value, enter
//     FIRST_KEY   '}'                     AFTER        leave
//                 anything else           KEY
//     FIRST_ITEM  ']'                     AFTER        leave
//                 anything else           VALUE
//     KEY         a string and ':'        VALUE        skip_key
//     AFTER       ',' in an object        KEY          skip_after
//                 ',' in an array         VALUE        skip_after
//                 the bracket that fits   AFTER        skip_after, leave
//                 nothing is open         the end
//
// Each function that skips something takes where it starts and returns where it ends, or NULL when
// it is malformed. The position is handed on by value, so that it stays in a register.
#include "base/json.h"

#include "base/ascii.h"
#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WORD_SIZE = 8,
    STACK_WORDS = JSON_DEPTH_MAX / 64,
};

enum state {
    STATE_VALUE,
    STATE_FIRST_ITEM,
    STATE_FIRST_KEY,
    STATE_KEY,
    STATE_AFTER,
};

struct scan {
    const unsigned char *start;
    const unsigned char *end;
    unsigned depth; // containers open
    unsigned depth_max;
    bool in_object;              // whether the innermost open container is an object
    uint64_t outer[STACK_WORDS]; // bit n: the value of in_object before container n + 1 was opened
    // Why the text was refused.
    enum status status;
    const unsigned char *wrong_at;
    const char *wrong;
};

enum class {
    CLASS_OTHER, // cannot start anything, plain inside a string
    CLASS_SPACE,
    CLASS_QUOTE,
    CLASS_NUMBER, // a digit or '-'
    CLASS_LITERAL,
    CLASS_OBJECT,
    CLASS_ARRAY,
};

static const unsigned char classes[256] = {
    ['\t'] = CLASS_SPACE,  ['\n'] = CLASS_SPACE,  ['\r'] = CLASS_SPACE,  [' '] = CLASS_SPACE,
    ['"'] = CLASS_QUOTE,   ['-'] = CLASS_NUMBER,  ['0'] = CLASS_NUMBER,  ['1'] = CLASS_NUMBER,
    ['2'] = CLASS_NUMBER,  ['3'] = CLASS_NUMBER,  ['4'] = CLASS_NUMBER,  ['5'] = CLASS_NUMBER,
    ['6'] = CLASS_NUMBER,  ['7'] = CLASS_NUMBER,  ['8'] = CLASS_NUMBER,  ['9'] = CLASS_NUMBER,
    ['t'] = CLASS_LITERAL, ['f'] = CLASS_LITERAL, ['n'] = CLASS_LITERAL, ['{'] = CLASS_OBJECT,
    ['['] = CLASS_ARRAY,
};

static const unsigned char *refuse(struct scan *scan, enum status status, const unsigned char *at,
                                   const char *wrong)
{
    scan->status = status;
    scan->wrong_at = at;
    scan->wrong = wrong;
    return NULL;
}

static const unsigned char *invalid(struct scan *scan, const unsigned char *at, const char *wrong)
{
    return refuse(scan, STATUS_INVALID, at, wrong);
}

static enum status set_error(const struct scan *scan, struct error *error)
{
    size_t offset = (size_t)(scan->wrong_at - scan->start);
    if (scan->status == STATUS_TOO_LARGE) {
        return error_set(error, scan->status, "JSON too deep at byte %zu: more than %u levels",
                         offset, scan->depth_max);
    }
    return error_set(error, scan->status, "invalid JSON at byte %zu: %s%s", offset,
                     scan->wrong_at == scan->end ? "the text ends, " : "", scan->wrong);
}

static inline size_t remaining(const struct scan *scan, const unsigned char *at)
{
    return (size_t)(scan->end - at);
}

// The byte at `at`, or 0 at the end of the text. 0 is not valid outside of strings.
static inline unsigned char peek(const struct scan *scan, const unsigned char *at)
{
    return at < scan->end ? *at : 0;
}

static inline const unsigned char *skip_space(const struct scan *scan, const unsigned char *at)
{
    while (classes[peek(scan, at)] == CLASS_SPACE) {
        at++;
    }
    return at;
}

static inline bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

// Strings

// Sets the top bit of each byte that is a control character, a quote, a backslash or not ASCII. A
// subtraction borrows only from a byte that it marks, so the marks are exact up to and including
// the first.
static inline uint64_t mark_special(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t control = word - ones * 0x20;
    uint64_t quote = (word ^ (ones * '"')) - ones;
    uint64_t backslash = (word ^ (ones * '\\')) - ones;
    return (word | control | quote | backslash) & (ones * 0x80);
}

static inline bool is_special(unsigned char c)
{
    return c < 0x20 || c == '"' || c == '\\' || c >= 0x80;
}

static inline const unsigned char *skip_plain(const unsigned char *at, const unsigned char *end)
{
    while (end - at >= WORD_SIZE) {
        uint64_t marks = mark_special(bytes_load_u64(at));
        if (marks) {
            return at + __builtin_ctzll(marks) / 8;
        }
        at += WORD_SIZE;
    }
    while (at < end && !is_special(*at)) {
        at++;
    }
    return at;
}

size_t json_plain_size(struct slice text)
{
    const unsigned char *start = (const unsigned char *)text.data;
    return text.size ? (size_t)(skip_plain(start, start + text.size) - start) : 0;
}

static bool is_continuation(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

// The allowed range of the second byte depends on the first. This excludes overlong forms,
// surrogates, and code points above U+10FFFF (table 3-7 of the Unicode standard).
size_t json_utf8_size(struct slice text)
{
    const unsigned char *at = (const unsigned char *)text.data;
    if (text.size == 0 || at[0] < 0x80) {
        return text.size ? 1 : 0;
    }
    if (text.size < 2 || !is_continuation(at[1])) {
        return 0;
    }
    if (at[0] >= 0xc2 && at[0] <= 0xdf) {
        return 2;
    }
    if (text.size < 3 || !is_continuation(at[2])) {
        return 0;
    }
    if ((at[0] & 0xf0) == 0xe0) {
        bool overlong = at[0] == 0xe0 && at[1] < 0xa0;
        bool surrogate = at[0] == 0xed && at[1] > 0x9f;
        return overlong || surrogate ? 0 : 3;
    }
    if (text.size < 4 || !is_continuation(at[3]) || at[0] < 0xf0 || at[0] > 0xf4) {
        return 0;
    }
    bool overlong = at[0] == 0xf0 && at[1] < 0x90;
    bool too_high = at[0] == 0xf4 && at[1] > 0x8f;
    return overlong || too_high ? 0 : 4;
}

int json_hex4(struct slice text)
{
    if (text.size < 4) {
        return -1;
    }
    int value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = ascii_hex_digit(text.data[i]);
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

static int hex4_at(const struct scan *scan, const unsigned char *at)
{
    return json_hex4(slice_make(at, remaining(scan, at)));
}

// `at` is the backslash of a \u.
static const unsigned char *skip_unicode_escape(struct scan *scan, const unsigned char *at)
{
    int unit = hex4_at(scan, at + 2);
    if (unit < 0) {
        return invalid(scan, at, "expected four hexadecimal digits after \\u");
    }
    if (unit < 0xd800 || unit > 0xdfff) {
        return at + 6;
    }
    int low = -1;
    if (unit < 0xdc00 && remaining(scan, at) >= 12 && at[6] == '\\' && at[7] == 'u') {
        low = hex4_at(scan, at + 8);
    }
    if (low < 0xdc00 || low > 0xdfff) {
        return invalid(scan, at, "the \\u escape is half of a surrogate pair");
    }
    return at + 12;
}

static const unsigned char *skip_escape(struct scan *scan, const unsigned char *at)
{
    switch (peek(scan, at + 1)) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return at + 2;
    case 'u':
        return skip_unicode_escape(scan, at);
    default:
        return invalid(scan, at, "unknown escape in a string");
    }
}

// Skips an escape or a character that is not ASCII.
static __attribute__((noinline)) const unsigned char *skip_special(struct scan *scan,
                                                                   const unsigned char *at)
{
    if (at == scan->end) {
        return invalid(scan, at, "expected the closing quote of a string");
    }
    if (*at == '\\') {
        return skip_escape(scan, at);
    }
    if (*at < 0x20) {
        return invalid(scan, at, "a control character in a string must be escaped");
    }
    size_t size = json_utf8_size(slice_make(at, remaining(scan, at)));
    return size ? at + size : invalid(scan, at, "the string is not UTF-8");
}

// `at` is the opening quote.
static inline const unsigned char *skip_string(struct scan *scan, const unsigned char *at)
{
    at = skip_plain(at + 1, scan->end);
    while (peek(scan, at) != '"') {
        at = skip_special(scan, at);
        if (!at) {
            return NULL;
        }
        at = skip_plain(at, scan->end);
    }
    return at + 1;
}

// Numbers and literals

// Skips digits, of which there must be at least one.
static inline const unsigned char *skip_digits(struct scan *scan, const unsigned char *at)
{
    if (!is_digit(peek(scan, at))) {
        return invalid(scan, at, "expected a digit");
    }
    do {
        at++;
    } while (is_digit(peek(scan, at)));
    return at;
}

// `at` is the '.' or 'e' after the integer part.
static const unsigned char *skip_fraction(struct scan *scan, const unsigned char *at)
{
    if (*at == '.') {
        at = skip_digits(scan, at + 1);
        if (!at || (peek(scan, at) | 0x20) != 'e') {
            return at;
        }
    }
    at++;
    if (peek(scan, at) == '+' || peek(scan, at) == '-') {
        at++;
    }
    return skip_digits(scan, at);
}

static inline const unsigned char *skip_number(struct scan *scan, const unsigned char *at)
{
    if (*at == '-') {
        at++;
    }
    const unsigned char *whole = at;
    at = skip_digits(scan, at);
    if (!at) {
        return NULL;
    }
    if (*whole == '0' && at - whole > 1) {
        return invalid(scan, whole, "a number must not start with 0");
    }
    unsigned char next = peek(scan, at);
    return next == '.' || (next | 0x20) == 'e' ? skip_fraction(scan, at) : at;
}

static const unsigned char *skip_literal(struct scan *scan, const unsigned char *at)
{
    struct slice rest = slice_make(at, remaining(scan, at));
    if (slice_starts_with(rest, SLICE("true")) || slice_starts_with(rest, SLICE("null"))) {
        return at + 4;
    }
    if (slice_starts_with(rest, SLICE("false"))) {
        return at + 5;
    }
    return invalid(scan, at, "expected true, false or null");
}

// The machine

static inline bool enter(struct scan *scan, const unsigned char *at, bool object)
{
    if (scan->depth == scan->depth_max) {
        (void)refuse(scan, STATUS_TOO_LARGE, at, NULL);
        return false;
    }
    uint64_t bit = UINT64_C(1) << (scan->depth % 64);
    uint64_t *word = &scan->outer[scan->depth / 64];
    *word = scan->in_object ? *word | bit : *word & ~bit;
    scan->depth++;
    scan->in_object = object;
    return true;
}

static inline void leave(struct scan *scan)
{
    scan->depth--;
    scan->in_object = scan->outer[scan->depth / 64] >> (scan->depth % 64) & 1;
}

// Skips a scalar, or the bracket that opens a container.
static inline const unsigned char *skip_value(struct scan *scan, const unsigned char *at,
                                              enum state *state)
{
    *state = STATE_AFTER;
    switch (classes[peek(scan, at)]) {
    case CLASS_QUOTE:
        return skip_string(scan, at);
    case CLASS_NUMBER:
        return skip_number(scan, at);
    case CLASS_LITERAL:
        return skip_literal(scan, at);
    case CLASS_OBJECT:
        *state = STATE_FIRST_KEY;
        return enter(scan, at, true) ? at + 1 : NULL;
    case CLASS_ARRAY:
        *state = STATE_FIRST_ITEM;
        return enter(scan, at, false) ? at + 1 : NULL;
    default:
        return invalid(scan, at, "expected a value");
    }
}

// Skips a key and its colon.
static inline const unsigned char *skip_key(struct scan *scan, const unsigned char *at)
{
    if (peek(scan, at) != '"') {
        return invalid(scan, at, "expected a key in quotes");
    }
    at = skip_string(scan, at);
    if (!at) {
        return NULL;
    }
    at = skip_space(scan, at);
    return peek(scan, at) == ':' ? at + 1 : invalid(scan, at, "expected ':' after the key");
}

// Skips the comma or the closing bracket after a value in a container.
static inline const unsigned char *skip_after(struct scan *scan, const unsigned char *at,
                                              enum state *state)
{
    unsigned char c = peek(scan, at);
    if (c == ',') {
        *state = scan->in_object ? STATE_KEY : STATE_VALUE;
        return at + 1;
    }
    if (c == (scan->in_object ? '}' : ']')) {
        leave(scan);
        return at + 1;
    }
    return invalid(scan, at, scan->in_object ? "expected ',' or '}'" : "expected ',' or ']'");
}

static const unsigned char *skip_text(struct scan *scan)
{
    enum state state = STATE_VALUE;
    const unsigned char *at = scan->start;
    while (at && (state != STATE_AFTER || scan->depth > 0)) {
        at = skip_space(scan, at);
        switch (state) {
        case STATE_FIRST_KEY:
        case STATE_FIRST_ITEM:
            if (peek(scan, at) == (scan->in_object ? '}' : ']')) {
                leave(scan);
                at++;
                state = STATE_AFTER;
                break;
            }
            state = scan->in_object ? STATE_KEY : STATE_VALUE;
            break;
        case STATE_KEY:
            at = skip_key(scan, at);
            state = STATE_VALUE;
            break;
        case STATE_VALUE:
            at = skip_value(scan, at, &state);
            break;
        case STATE_AFTER:
            at = skip_after(scan, at, &state);
            break;
        }
    }
    return at;
}

enum status json_validate(struct slice text, unsigned depth_max, struct error *error)
{
    const unsigned char *start = (const unsigned char *)(text.size ? text.data : "");
    struct scan scan = {
        .start = start,
        .end = start + text.size,
        .depth_max = depth_max < JSON_DEPTH_MAX ? depth_max : JSON_DEPTH_MAX,
    };
    const unsigned char *at = skip_text(&scan);
    if (at) {
        at = skip_space(&scan, at);
        if (at == scan.end) {
            return STATUS_OK;
        }
        (void)invalid(&scan, at, "expected nothing behind the value");
    }
    return set_error(&scan, error);
}

// Without white space

// As mark_special, but only for quotes and backslashes.
static inline uint64_t mark_quote(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t quote = (word ^ (ones * '"')) - ones;
    uint64_t backslash = (word ^ (ones * '\\')) - ones;
    return (quote | backslash) & ~word & (ones * 0x80);
}

size_t json_string_size(struct slice text)
{
    if (text.size < 2) {
        return 0;
    }
    const unsigned char *start = (const unsigned char *)text.data;
    const unsigned char *end = start + text.size;
    const unsigned char *at = start + 1;
    for (;;) {
        uint64_t marks = 0;
        while (end - at >= WORD_SIZE && !(marks = mark_quote(bytes_load_u64(at)))) {
            at += WORD_SIZE;
        }
        at += marks ? __builtin_ctzll(marks) / 8 : 0;
        while (at < end && *at != '"' && *at != '\\') {
            at++;
        }
        if (at == end) {
            return 0;
        }
        if (*at == '"') {
            return (size_t)(at + 1 - start);
        }
        // Skips the backslash and the escaped character, which may be a quote.
        at += end - at > 1 ? 2 : 1;
    }
}

void json_canonical(struct slice valid_text, struct buffer *out)
{
    // Most texts have no white space, so everything between two runs of it is copied at once.
    size_t copied = 0;
    size_t at = 0;
    while (at < valid_text.size) {
        size_t size = 1;
        unsigned char class = classes[(unsigned char)valid_text.data[at]];
        if (class == CLASS_SPACE) {
            buffer_append(out, slice_sub(valid_text, copied, at - copied));
            copied = at + 1;
        } else if (class == CLASS_QUOTE) {
            size = json_string_size(slice_sub(valid_text, at, SIZE_MAX));
        }
        at = size ? at + size : valid_text.size;
    }
    buffer_append(out, slice_sub(valid_text, copied, SIZE_MAX));
}
