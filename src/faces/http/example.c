// SPDX-License-Identifier: MIT
// Examples are constants of this program, so errors in them assert.
#include "faces/http/example.h"

#include "base/ascii.h"
#include "base/num.h"
#include "faces/http/member.h"

#include <assert.h>

enum {
    WORDS_MAX = 64,
    TEXT_SIZE_MAX = 1024,
};

// ---------------------------------------------------------------------------------------------
// Replies: parsed, and written as JSON

struct reading {
    const char *at;
    struct reply *reply;
    bool first; // only the first item of the outermost list
};

static void read_value(struct reading *reading, size_t indent, struct slice key);

// Skips a prefix; false if it is not next.
static bool take(struct reading *reading, const char *prefix)
{
    size_t size = strlen(prefix);
    if (strncmp(reading->at, prefix, size) != 0) {
        return false;
    }
    reading->at += size;
    return true;
}

// Reads what is between quotes, with its escapes.
static struct slice take_string(struct reading *reading, char text[TEXT_SIZE_MAX])
{
    size_t size = 0;
    reading->at++;
    for (; *reading->at != '"'; reading->at++) {
        assert(*reading->at && size < TEXT_SIZE_MAX);
        if (*reading->at == '\\') {
            reading->at++;
        }
        text[size++] = *reading->at;
    }
    reading->at++;
    return slice_make(text, size);
}

static struct slice take_line(struct reading *reading)
{
    const char *start = reading->at;
    while (*reading->at && *reading->at != '\n') {
        reading->at++;
    }
    return slice_make(start, (size_t)(reading->at - start));
}

// "NOT_FOUND job dan does not exist"
static void take_error(struct reading *reading)
{
    struct slice line = take_line(reading);
    for (int status = STATUS_OK + 1; status < STATUS_COUNT; status++) {
        struct slice name = slice_from_cstr(status_name((enum status)status));
        if (line.size > name.size && ascii_equal(slice_sub(line, 0, name.size), name) &&
            line.data[name.size] == ' ') {
            struct slice sentence = slice_sub(line, name.size + 1, SIZE_MAX);
            struct error error;
            (void)error_set(&error, (enum status)status, "%.*s", SLICE_PRINT(sentence));
            reply_error(reading->reply, &error);
            return;
        }
    }
    assert(false); // an example has an error with an unknown code
}

static void write_number(struct reading *reading)
{
    double number = 0;
    enum status status = num_parse_double(take_line(reading), &number);
    assert(!status);
    (void)status;
    reply_number(reading->reply, number);
}

static void write_integer(struct reading *reading)
{
    int64_t number = 0;
    enum status status = num_parse_i64(take_line(reading), &number);
    assert(!status);
    (void)status;
    reply_integer(reading->reply, number);
}

// The output of redis-cli does not show which members contain JSON.
static bool is_json(struct slice key)
{
    return slice_equal(key, SLICE("data")) || slice_equal(key, SLICE("result")) ||
           slice_equal(key, SLICE("args"));
}

static void read_scalar(struct reading *reading, struct slice key)
{
    char text[TEXT_SIZE_MAX];
    struct reply *reply = reading->reply;
    if (*reading->at == '"') {
        struct slice string = take_string(reading, text);
        if (is_json(key)) {
            reply_json(reply, string);
        } else {
            reply_text(reply, string);
        }
    } else if (take(reading, "(nil)")) {
        reply_null(reply);
    } else if (take(reading, "(true)")) {
        reply_boolean(reply, true);
    } else if (take(reading, "(false)")) {
        reply_boolean(reply, false);
    } else if (take(reading, "(integer) ")) {
        write_integer(reading);
    } else if (take(reading, "(double) ")) {
        write_number(reading);
    } else if (take(reading, "(error) ")) {
        take_error(reading);
    } else if (take(reading, "(empty array)")) {
        reply_list(reply, 0);
        reply_end(reply);
    } else if (take(reading, "(empty hash)")) {
        reply_map(reply, 0);
        reply_end(reply);
    } else {
        reply_word(reply, take_line(reading));
    }
}

// The width of the number of an item at `at` (" 1) "), including the blanks before it; 0 if there
// is none.
static size_t number_width(const char *at)
{
    size_t width = 0;
    while (at[width] == ' ') {
        width++;
    }
    size_t blanks = width;
    while (at[width] >= '0' && at[width] <= '9') {
        width++;
    }
    bool item = width > blanks && (at[width] == ')' || at[width] == '#') && at[width + 1] == ' ';
    return item ? width : 0;
}

// Whether the next line continues the list or map whose items begin at `indent`; then its item is
// next.
static bool next_item(struct reading *reading, size_t indent, size_t width)
{
    if (*reading->at != '\n' || number_width(reading->at + 1) != indent + width) {
        return false;
    }
    reading->at += 1 + indent;
    return true;
}

static void read_items(struct reading *reading, size_t indent, size_t width)
{
    bool map = reading->at[width] == '#';
    bool only_first = reading->first && indent == 0;
    if (map) {
        reply_map(reading->reply, 0);
    } else {
        reply_list(reading->reply, 0);
    }
    do {
        char text[TEXT_SIZE_MAX];
        struct slice key = SLICE_EMPTY;
        reading->at += width + 2;
        if (map) {
            key = take_string(reading, text);
            bool arrow = take(reading, " =>");
            assert(arrow);
            (void)arrow;
            reply_text(reading->reply, key);
            reading->at += *reading->at == ' ' || *reading->at == '\n';
        }
        read_value(reading, indent + width + 2, key);
    } while (!only_first && next_item(reading, indent, width));
    reply_end(reading->reply);
}

static void read_value(struct reading *reading, size_t indent, struct slice key)
{
    size_t width = number_width(reading->at);
    if (width) {
        read_items(reading, indent, width);
    } else {
        read_scalar(reading, key);
    }
}

bool http_example_reply(const struct command *command, const struct http_json_options *options,
                        struct buffer *out)
{
    for (const struct example *at = command->examples; at && at->request; at++) {
        if (!strstr(at->reply, "...") && strncmp(at->reply, "(error)", 7) != 0) {
            struct http_json json;
            http_json_init(&json, out, options);
            struct reading reading = { at->reply, &json.reply, options->first };
            read_value(&reading, 0, SLICE_EMPTY);
            assert(*reading.at == '\0' || options->first);
            return true;
        }
    }
    return false;
}

// ---------------------------------------------------------------------------------------------
// Requests

struct words {
    struct slice items[WORDS_MAX];
    size_t count;
};

// Splits a line; text 'in quotes' is one word.
static void split(const char *line, struct words *out)
{
    struct slice rest = slice_from_cstr(line);
    out->count = 0;
    while (rest.size) {
        bool quoted = rest.data[0] == '\'';
        rest = slice_sub(rest, quoted, SIZE_MAX);
        const char *end = memchr(rest.data, quoted ? '\'' : ' ', rest.size);
        size_t size = end ? (size_t)(end - rest.data) : rest.size;
        assert(out->count < WORDS_MAX);
        out->items[out->count++] = slice_sub(rest, 0, size);
        rest = slice_sub(rest, size + quoted, SIZE_MAX);
        rest = slice_sub(rest, rest.size && rest.data[0] == ' ', SIZE_MAX);
    }
}

// A request being written, and the words that are left.
struct writing {
    struct json_writer writer;
    const struct http_route *route;
    const struct command *command;
    struct words words;
    size_t position;
};

static void write_word(struct writing *writing, const struct argument *argument, struct slice word)
{
    double number;
    bool text = argument->type == ARGUMENT_NAME || argument->type == ARGUMENT_TEXT ||
                argument->type == ARGUMENT_WORD ||
                (argument->type == ARGUMENT_MOMENT && num_parse_double(word, &number));
    if (argument->type == ARGUMENT_FLAG) {
        json_write_bool(&writing->writer, true);
    } else if (text) {
        json_write_string(&writing->writer, word);
    } else {
        json_write_raw(&writing->writer, word);
    }
}

// Writes the key of a member; false if it is in the path.
static bool write_key(struct writing *writing, const struct argument *argument)
{
    struct http_member member;
    http_member_of(argument, &member);
    if (http_route_has_parameter(writing->route, member.singular)) {
        return false;
    }
    json_write_key(&writing->writer, member.name);
    return true;
}

// Writes all values of a repeated option when the first of them is found.
static void write_option_list(struct writing *writing, const struct argument *argument)
{
    const struct words *words = &writing->words;
    for (size_t i = 0; i < writing->position; i++) {
        if (command_option(writing->command, words->items[i]) == argument) {
            return;
        }
    }
    if (write_key(writing, argument)) {
        json_write_begin_array(&writing->writer);
        for (size_t i = writing->position; i + 1 < words->count; i++) {
            if (command_option(writing->command, words->items[i]) == argument) {
                json_write_string(&writing->writer, words->items[i + 1]);
            }
        }
        json_write_end_array(&writing->writer);
    }
}

static void write_options(struct writing *writing)
{
    const struct words *words = &writing->words;
    const struct argument *option;
    while (writing->position < words->count &&
           (option = command_option(writing->command, words->items[writing->position]))) {
        bool flag = option->type == ARGUMENT_FLAG;
        struct slice value = words->items[writing->position + !flag];
        if (option->flags & ARGUMENT_REPEATED) {
            write_option_list(writing, option);
        } else if (write_key(writing, option)) {
            write_word(writing, option, value);
        }
        writing->position += flag ? 1 : 2;
    }
}

static void write_rest(struct writing *writing, const struct argument *argument)
{
    write_options(writing);
    if (write_key(writing, argument)) {
        json_write_begin_array(&writing->writer);
        for (; writing->position < writing->words.count; writing->position++) {
            struct slice word = writing->words.items[writing->position];
            if (argument->type == ARGUMENT_JSON) {
                json_write_raw(&writing->writer, word);
            } else {
                json_write_string(&writing->writer, word);
            }
        }
        json_write_end_array(&writing->writer);
    }
    writing->position = writing->words.count;
}

void http_example_request(const struct http_route *route, const struct command *command,
                          struct buffer *out)
{
    struct writing writing = { .route = route, .command = command };
    json_writer_init(&writing.writer, out);
    split(command->examples[0].request, &writing.words);
    writing.position = command->flags & COMMAND_NAMESPACE ? 2 : 1;
    json_write_begin_object(&writing.writer);
    for (size_t i = 0; i < command->argument_count && writing.position < writing.words.count; i++) {
        const struct argument *argument = &command->arguments[i];
        struct slice word = writing.words.items[writing.position];
        if (argument->flags & ARGUMENT_OPTION) {
            break;
        }
        if (argument->flags & ARGUMENT_REPEATED) {
            write_rest(&writing, argument);
        } else if (!(argument->flags & ARGUMENT_OPTIONAL) || !command_option(command, word)) {
            if (write_key(&writing, argument)) {
                write_word(&writing, argument, word);
            }
            writing.position++;
        }
    }
    write_options(&writing);
    json_write_end_object(&writing.writer);
}
