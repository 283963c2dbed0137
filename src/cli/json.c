// SPDX-License-Identifier: MIT
#include "cli/json.h"

#include "cli/cli.h"
#include "cli/glyph.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum {
    DEPTH_MAX = SLUICE_JSON_DEPTH_MAX + 24, // of a text with values in it
};

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

// Each of these gives where the value ends, or NULL when it is none.
static const char *skip_value(const char *at, size_t depth);

static const char *skip_text(const char *at)
{
    for (at++; *at && *at != '"'; at++) {
        if ((unsigned char)*at < 0x20 || (*at == '\\' && !*++at)) {
            return NULL;
        }
    }
    return *at ? at + 1 : NULL;
}

// A number, true, false or null; which of them is for the queue to say.
static const char *skip_word(const char *at)
{
    size_t size = strspn(at, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");
    return size ? at + size : NULL;
}

static const char *skip_key(const char *at)
{
    at = *at == '"' ? skip_text(at) : NULL;
    at = at ? skip_space(at) : NULL;
    return at && *at == ':' ? skip_space(at + 1) : NULL;
}

static const char *skip_elements(const char *at, char close, size_t depth)
{
    at = skip_space(at + 1);
    if (*at == close) {
        return at + 1;
    }
    for (;;) {
        if (close == '}' && !(at = skip_key(at))) {
            return NULL;
        }
        at = skip_value(at, depth);
        at = at ? skip_space(at) : NULL;
        if (!at || (*at != ',' && *at != close)) {
            return NULL;
        }
        if (*at == close) {
            return at + 1;
        }
        at = skip_space(at + 1);
    }
}

static const char *skip_value(const char *at, size_t depth)
{
    if (depth > DEPTH_MAX) {
        return NULL;
    }
    switch (*at) {
    case '"':
        return skip_text(at);
    case '{':
        return skip_elements(at, '}', depth + 1);
    case '[':
        return skip_elements(at, ']', depth + 1);
    default:
        return skip_word(at);
    }
}

static bool is_whole_value(const char *text)
{
    const char *end = skip_value(text, 0);
    return end && !*skip_space(end);
}

// ---------------------------------------------------------------------------------------------
// Texts

static bool read_hex(const char *at, uint32_t *out)
{
    *out = 0;
    for (size_t i = 0; i < 4; i++) {
        if (!isxdigit((unsigned char)at[i])) {
            return false;
        }
        uint32_t digit =
            at[i] <= '9' ? (uint32_t)(at[i] - '0') : (uint32_t)((at[i] | 0x20) - 'a' + 10);
        *out = *out << 4 | digit;
    }
    return true;
}

static char *append_code(char *out, uint32_t code)
{
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *out++ = (char)(0xf0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3f));
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    }
    return out;
}

// "\uXXXX", of which a pair may stand for one character; gives how many bytes were read, or 0.
static size_t read_unicode(const char *at, uint32_t *code)
{
    uint32_t low;
    if (!read_hex(at, code) || (*code >= 0xdc00 && *code < 0xe000) || !*code) {
        return 0;
    }
    if (*code < 0xd800 || *code >= 0xe000) {
        return 4;
    }
    if (at[4] != '\\' || at[5] != 'u' || !read_hex(at + 6, &low) || low < 0xdc00 || low >= 0xe000) {
        return 0;
    }
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return 10;
}

// What stands behind a backslash; gives how many bytes it has, or 0.
static size_t read_escape(const char *at, char **out)
{
    static const char names[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    const char *name = strchr(names, *at);
    if (name && *name) {
        *(*out)++ = meanings[name - names];
        return 1;
    }
    uint32_t code;
    size_t size = *at == 'u' ? read_unicode(at + 1, &code) : 0;
    if (size) {
        *out = append_code(*out, code);
    }
    return size ? size + 1 : 0;
}

char *json_text(const char *raw)
{
    if (*raw != '"' || !is_whole_value(raw)) {
        return NULL;
    }
    char *text = tool_allocate(strlen(raw));
    char *out = text;
    for (const char *at = raw + 1; *at != '"';) {
        if (*at != '\\') {
            *out++ = *at++;
            continue;
        }
        size_t size = read_escape(at + 1, &out);
        if (!size) {
            tool_free(text);
            return NULL;
        }
        at += 1 + size;
    }
    *out = 0;
    return text;
}

// Broken UTF-8 is not JSON: the character that stands for it is written.
void json_write_text(FILE *out, const char *text)
{
    print(out, "\"");
    while (*text) {
        const char *start = text;
        unsigned char first = (unsigned char)*start;
        bool broken = glyph_decode(&text) == GLYPH_BROKEN;
        if (first == '"' || first == '\\') {
            print(out, "\\%c", first);
        } else if (first < 0x20 || first == 0x7F) {
            print(out, "\\u%04x", first);
        } else if (broken) {
            print(out, "\\ufffd");
        } else {
            print(out, "%.*s", (int)(text - start), start);
        }
    }
    print(out, "\"");
}

// ---------------------------------------------------------------------------------------------
// Objects and lists

const char *json_fields_read(struct json_fields *fields, const char *text)
{
    *fields = (struct json_fields){ 0 };
    const char *at = skip_space(text);
    if (*at != '{') {
        return "not a JSON object";
    }
    if (!is_whole_value(at)) {
        return "malformed JSON";
    }
    at = skip_space(at + 1);
    while (*at != '}') {
        const char *key_end = skip_text(at);
        const char *value = skip_key(at);
        const char *end = skip_value(value, 0);
        char *raw_key = tool_copy(at, (size_t)(key_end - at));
        char *key = json_text(raw_key);
        tool_free(raw_key);
        if (!key) {
            json_fields_free(fields);
            return "a key with a malformed escape";
        }
        fields->items = tool_resize(fields->items, (fields->count + 1) * sizeof *fields->items);
        fields->items[fields->count++] =
            (struct json_field){ key, tool_copy(value, (size_t)(end - value)) };
        at = skip_space(end);
        at = *at == ',' ? skip_space(at + 1) : at;
    }
    return NULL;
}

void json_fields_free(struct json_fields *fields)
{
    for (size_t i = 0; i < fields->count; i++) {
        tool_free((char *)fields->items[i].key);
        tool_free((char *)fields->items[i].raw);
    }
    tool_free(fields->items);
    *fields = (struct json_fields){ 0 };
}

const char *json_fields_get(const struct json_fields *fields, const char *key)
{
    for (size_t i = 0; i < fields->count; i++) {
        if (!strcmp(fields->items[i].key, key)) {
            return fields->items[i].raw;
        }
    }
    return NULL;
}

char **json_list(const char *raw)
{
    if (*raw != '[' || !is_whole_value(raw)) {
        return NULL;
    }
    char **items = tool_allocate(sizeof *items);
    size_t count = 0;
    for (const char *at = skip_space(raw + 1); *at != ']';) {
        const char *end = skip_value(at, 0);
        items = tool_resize(items, (count + 2) * sizeof *items);
        items[count++] = tool_copy(at, (size_t)(end - at));
        items[count] = NULL;
        at = skip_space(end);
        at = *at == ',' ? skip_space(at + 1) : at;
    }
    return items;
}
