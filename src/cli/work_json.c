// SPDX-License-Identifier: MIT
#include "cli/work_json.h"

#include "cli/cli.h"

enum {
    DEPTH_MAX = SLUICE_JSON_DEPTH_MAX + 24, // of a line with a value in it
};

#define REPLACEMENT "\xEF\xBF\xBD" // U+FFFD

// ---------------------------------------------------------------------------------------------
// UTF-8

// The size of the character at the front, 1 to 4; 0 when there is none.
static size_t character_size(const char *text, size_t size)
{
    const unsigned char *at = (const unsigned char *)text;
    if (at[0] < 0x80) {
        return 1;
    }
    size_t wanted = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    if (at[0] < 0xC2 || at[0] > 0xF4 || size < wanted) {
        return 0;
    }
    for (size_t i = 1; i < wanted; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    // Longer than need be, half a surrogate pair, or beyond the last character.
    bool refused = (at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F) ||
                   (at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] > 0x8F);
    return refused ? 0 : wanted;
}

// Writes a text that grows to at most six bytes for each of its own.
struct output {
    char *data;
    size_t size;
};

static void put_bytes(struct output *out, const char *bytes, size_t size)
{
    memcpy(out->data + out->size, bytes, size);
    out->size += size;
}

// A character of a text as it stands in UTF-8; gives how many bytes of the text it was.
static size_t put_character(struct output *out, const char *text, size_t size)
{
    size_t taken = character_size(text, size);
    if (taken == 0) {
        put_bytes(out, REPLACEMENT, sizeof(REPLACEMENT) - 1);
        return 1;
    }
    put_bytes(out, text, taken);
    return taken;
}

char *work_utf8(const char *text, size_t size)
{
    struct output out = { .data = tool_allocate(size * 3 + 1) };
    for (size_t i = 0; i < size;) {
        if (text[i] == '\0') {
            put_bytes(&out, REPLACEMENT, sizeof(REPLACEMENT) - 1);
            i++;
        } else {
            i += put_character(&out, text + i, size - i);
        }
    }
    out.data[out.size] = '\0';
    return out.data;
}

static void put_escape(struct output *out, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *shorts = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (const char *at = shorts; *at; at += 2) {
        if ((unsigned char)at[0] == c) {
            put_bytes(out, (const char[]){ '\\', at[1] }, 2);
            return;
        }
    }
    put_bytes(out, (const char[]){ '\\', 'u', '0', '0', digits[c >> 4], digits[c & 15] }, 6);
}

char *work_json_quote(const char *text, size_t size)
{
    struct output out = { .data = tool_allocate(size * 6 + 3) };
    put_bytes(&out, "\"", 1);
    for (size_t i = 0; i < size;) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == '"' || c == '\\') {
            put_escape(&out, c);
            i++;
        } else {
            i += put_character(&out, text + i, size - i);
        }
    }
    put_bytes(&out, "\"", 2); // with the 0
    return out.data;
}

// ---------------------------------------------------------------------------------------------
// Walking over a text. Each gives what stands behind the thing that it names, or NULL.

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) {
        at++;
    }
    return at;
}

struct work_slice work_json_trim(const char *text, size_t size)
{
    const char *end = text + size;
    const char *begin = skip_space(text, end);
    while (end > begin && skip_space(end - 1, end) == end) {
        end--;
    }
    return (struct work_slice){ begin, (size_t)(end - begin) };
}

static bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

static const char *skip_digits(const char *at, const char *end)
{
    if (!is_digit(at, end)) {
        return NULL;
    }
    while (is_digit(at, end)) {
        at++;
    }
    return at;
}

static const char *skip_number(const char *at, const char *end)
{
    at += *at == '-';
    at = at < end && *at == '0' ? at + 1 : skip_digits(at, end);
    if (at && at < end && *at == '.') {
        at = skip_digits(at + 1, end);
    }
    if (at && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        at = skip_digits(at, end);
    }
    return at;
}

static int hex4(const char *at, const char *end)
{
    int value = 0;
    for (int i = 0; i < 4; i++, at++) {
        const char *digits = "0123456789abcdef";
        const char *digit = at < end && *at ? strchr(digits, *at | 0x20) : NULL;
        if (!digit || *at < '0') {
            return -1;
        }
        value = value * 16 + (int)(digit - digits);
    }
    return value;
}

// What stands behind an escape whose backslash was read. Half a pair has no meaning in UTF-8.
static const char *skip_escape(const char *at, const char *end)
{
    if (at == end || *at != 'u') {
        return at < end && *at && strchr("\"\\/bfnrt", *at) ? at + 1 : NULL;
    }
    int high = hex4(at + 1, end);
    if (high < 0xD800 || high > 0xDFFF) {
        return high < 0 ? NULL : at + 5;
    }
    bool pair = high < 0xDC00 && end - at >= 11 && at[5] == '\\' && at[6] == 'u';
    int low = pair ? hex4(at + 7, end) : -1;
    return low >= 0xDC00 && low <= 0xDFFF ? at + 11 : NULL;
}

static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"';) {
        if (*at == '\\') {
            at = skip_escape(at + 1, end);
            if (!at) {
                return NULL;
            }
            continue;
        }
        size_t size = (unsigned char)*at < 0x20 ? 0 : character_size(at, (size_t)(end - at));
        if (size == 0) {
            return NULL;
        }
        at += size;
    }
    return at < end ? at + 1 : NULL;
}

static const char *skip_word(const char *at, const char *end)
{
    static const char *const words[] = { "true", "false", "null" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t size = strlen(words[i]);
        if ((size_t)(end - at) >= size && memcmp(at, words[i], size) == 0) {
            return at + size;
        }
    }
    return NULL;
}

static const char *skip_value(const char *at, const char *end, int depth);

// One member of an object, or one item of an array, and the white space around it.
static const char *skip_member(const char *at, const char *end, bool object, int depth)
{
    at = skip_space(at, end);
    if (object) {
        at = at < end && *at == '"' ? skip_string(at, end) : NULL;
        at = at ? skip_space(at, end) : NULL;
        if (!at || at == end || *at++ != ':') {
            return NULL;
        }
        at = skip_space(at, end);
    }
    at = skip_value(at, end, depth);
    return at ? skip_space(at, end) : NULL;
}

static const char *skip_container(const char *at, const char *end, int depth)
{
    bool object = *at == '{';
    char closing = object ? '}' : ']';
    at = skip_space(at + 1, end);
    if (at < end && *at == closing) {
        return at + 1;
    }
    while (at && at < end) {
        at = skip_member(at, end, object, depth);
        if (!at || at == end || (*at != ',' && *at != closing)) {
            return NULL;
        }
        if (*at++ == closing) {
            return at;
        }
    }
    return NULL;
}

static const char *skip_value(const char *at, const char *end, int depth)
{
    if (at == end || depth == DEPTH_MAX) {
        return NULL;
    }
    if (*at == '{' || *at == '[') {
        return skip_container(at, end, depth + 1);
    }
    if (*at == '"') {
        return skip_string(at, end);
    }
    return *at == '-' || is_digit(at, end) ? skip_number(at, end) : skip_word(at, end);
}

bool work_json_valid(const char *text, size_t size)
{
    const char *end = text + size;
    const char *at = skip_value(skip_space(text, end), end, 0);
    return at && skip_space(at, end) == end;
}
