// SPDX-License-Identifier: MIT
#include "cli/core/options.h"

#include "cli/core/moment.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GLOBAL(field) offsetof(struct global_options, field)

const struct option global_option_table[] = {
    { .name = "url",
      .letter = 'u',
      .type = OPTION_TEXT,
      .value = "URL",
      .offset = GLOBAL(url),
      .summary = "the address of the queue: sluice://HOST[:PORT][/NS], sluices:// (TLS), "
                 "unix:/PATH[?ns=NS] (a Unix socket) or file:PATH (a folder) (SLUICE_URL, "
                 "sluice://127.0.0.1:7711/default)" },
    { .name = "ns",
      .type = OPTION_TEXT,
      .value = "NAME",
      .offset = GLOBAL(ns),
      .summary = "the namespace, instead of that of the address (SLUICE_NS)" },
    { .name = "json",
      .type = OPTION_FLAG,
      .offset = GLOBAL(json),
      .summary = "prints JSON for programs: a line for each item of a list, otherwise one line" },
    { .name = "color",
      .type = OPTION_TEXT,
      .value = "WHEN",
      .offset = GLOBAL(color),
      .choices = "auto|always|never",
      .summary = "when to use colours; auto: on a terminal, unless NO_COLOR is set" },
    { .name = "times",
      .type = OPTION_TEXT,
      .value = "HOW",
      .offset = GLOBAL(times),
      .choices = "relative|utc|local",
      .summary = "how tables show times (SLUICE_TIMES, relative)" },
    { .name = "timeout",
      .type = OPTION_SECONDS,
      .value = "SECONDS",
      .offset = GLOBAL(timeout),
      .summary = "the time limit of a call, including connecting to the server (5s)" },
    { .name = "wait-for-server",
      .type = OPTION_FLAG,
      .offset = GLOBAL(wait_for_server),
      .summary = "retries for --timeout when no connection can be made" },
    { .name = "ca-file",
      .type = OPTION_TEXT,
      .value = "FILE",
      .offset = GLOBAL(ca_file),
      .summary = "the certificate authorities to trust with TLS, as PEM; default: those of the "
                 "system (SLUICE_CA_FILE)" },
    { .name = "cert-file",
      .type = OPTION_TEXT,
      .value = "FILE",
      .offset = GLOBAL(cert_file),
      .summary = "the client's certificate for TLS, as PEM (SLUICE_CERT_FILE)" },
    { .name = "key-file",
      .type = OPTION_TEXT,
      .value = "FILE",
      .offset = GLOBAL(key_file),
      .summary = "the private key of --cert-file, as PEM (SLUICE_KEY_FILE)" },
    { .name = "password-file",
      .type = OPTION_TEXT,
      .value = "FILE",
      .offset = GLOBAL(password_file),
      .summary = "a file whose first line is the password of the address's user "
                 "(SLUICE_PASSWORD_FILE)" },
    { .name = "help",
      .letter = 'h',
      .type = OPTION_FLAG,
      .offset = GLOBAL(help),
      .summary = "prints the help of the command" },
    { .name = "version",
      .type = OPTION_FLAG,
      .offset = GLOBAL(version),
      .summary = "prints the version" },
};
const size_t global_option_count = sizeof global_option_table / sizeof *global_option_table;

// ---------------------------------------------------------------------------------------------
// Values

// A number as in JSON; neither "inf" nor "0x10" nor " 5" is one. `*end` is what follows it.
static bool number_parse(const char *text, double *out, char **end)
{
    const char *digits = text + (*text == '-');
    bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    *out = strtod(text, end);
    return *digits && strchr("0123456789.", *digits) && *end != text && !hex && isfinite(*out);
}

// As in a command, 5.0 and 5e3 are whole numbers too, and one of any size is for it to refuse.
bool integer_parse(const char *text, int64_t *out)
{
    char *end;
    double number;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end != text && !*end && !errno && !isspace((unsigned char)*text)) {
        *out = value;
        return true;
    }
    if (!number_parse(text, &number, &end) || *end || number != floor(number)) {
        return false;
    }
    *out = number <= -0x1p63 ? INT64_MIN : number >= 0x1p63 ? INT64_MAX : (int64_t)number;
    return true;
}

bool seconds_parse(const char *text, double *out)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {
        { "", 1 }, { "s", 1 }, { "ms", 0.001 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 }
    };
    char *end;
    double value;
    if (*text == '-' || !number_parse(text, &value, &end)) {
        return false;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!strcmp(end, units[i].name)) {
            *out = value * units[i].seconds;
            return true;
        }
    }
    return false;
}

static bool is_choice(const char *choices, const char *text)
{
    size_t size = strlen(text);
    for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        if (!strncmp(at, text, size) && (at[size] == '|' || !at[size])) {
            return true;
        }
    }
    return false;
}

static void texts_add(struct texts *texts, const char *text, size_t size)
{
    texts->items = tool_resize(texts->items, (texts->count + 2) * sizeof *texts->items);
    texts->items[texts->count++] = tool_copy(text, size);
    texts->items[texts->count] = NULL;
}

static void texts_split(struct texts *texts, const char *text)
{
    const char *at = text;
    for (const char *comma = strchr(at, ','); comma; comma = strchr(at, ',')) {
        texts_add(texts, at, (size_t)(comma - at));
        at = comma + 1;
    }
    texts_add(texts, at, strlen(at));
}

static const char *store_integer(const struct option *option, const char *text, int64_t *out)
{
    if (!integer_parse(text, out)) {
        return tool_format("--%s is not a whole number: %s", option->name, text);
    }
    if (option->maximum && (*out < option->minimum || *out > option->maximum)) {
        return tool_format("--%s must be from %lld to %lld: %s", option->name,
                           (long long)option->minimum, (long long)option->maximum, text);
    }
    return NULL;
}

const char *option_store(const struct option *option, const char *text, void *options)
{
    void *field = (char *)options + option->offset;
    if (option->choices && !is_choice(option->choices, text)) {
        return tool_format("--%s is one of %s, not %s", option->name, option->choices, text);
    }
    switch (option->type) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return NULL;
    case OPTION_TEXT:
        *(const char **)field = text;
        return NULL;
    case OPTION_INTEGER:
        return store_integer(option, text, field);
    case OPTION_SECONDS:
        if (!seconds_parse(text, field)) {
            return tool_format(
                "--%s is not a length of time such as 90, 1.5, 10s, 5m, 2h or 1d: %s", option->name,
                text);
        }
        return NULL;
    case OPTION_WAIT:
        if (!strcmp(text, "forever")) {
            *(double *)field = SLUICE_FOREVER;
            return NULL;
        }
        if (!seconds_parse(text, field)) {
            return tool_format(
                "--%s is not forever, nor a length of time such as 90, 1.5, 10s, 5m, "
                "2h or 1d: %s",
                option->name, text);
        }
        return NULL;
    case OPTION_TIME:
        if (!moment_parse(text, field)) {
            return tool_format(
                "--%s is not a time such as 2030-01-31, 2030-01-31T12:00:00Z or seconds "
                "since 1970: %s",
                option->name, text);
        }
        return NULL;
    case OPTION_TEXTS:
        texts_split(field, text);
        return NULL;
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Finding

static bool in_family(const struct tool_command *command, const char *family)
{
    size_t size = strlen(family);
    return !strncmp(command->name, family, size) && command->name[size] == ' ';
}

const struct tool_command *command_find(const char *name)
{
    const struct tool_command *primary = NULL;
    for (size_t i = 0; tool_command_at(i); i++) {
        const struct tool_command *command = tool_command_at(i);
        if (!strcmp(command->name, name)) {
            return command;
        }
        if (command->primary && in_family(command, name)) {
            primary = command;
        }
    }
    return primary;
}

bool command_is_family(const char *name)
{
    for (size_t i = 0; tool_command_at(i); i++) {
        if (in_family(tool_command_at(i), name)) {
            return true;
        }
    }
    return false;
}

enum {
    WORD_MAX = 64,
};

size_t edit_distance(const char *one, const char *other)
{
    size_t width = strlen(other);
    size_t row[WORD_MAX + 1];
    if (width > WORD_MAX || strlen(one) > WORD_MAX) {
        return WORD_MAX;
    }
    for (size_t j = 0; j <= width; j++) {
        row[j] = j;
    }
    for (size_t i = 1; one[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t replaced = diagonal + (one[i - 1] != other[j - 1]);
            size_t changed = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replaced < changed ? replaced : changed;
        }
    }
    return row[width];
}

const char *command_nearest(const char *word)
{
    const char *nearest = NULL;
    size_t least = strlen(word) / 2 < 3 ? strlen(word) / 2 + 1 : 4;
    for (size_t i = 0; tool_command_at(i); i++) {
        const struct tool_command *command = tool_command_at(i);
        size_t distance = edit_distance(word, command->name);
        if (command->group && distance < least) {
            least = distance;
            nearest = command->name;
        }
    }
    return nearest;
}

static const struct option *find_in(const struct option *options, size_t count, const char *name,
                                    size_t size)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(options[i].name) == size && !strncmp(options[i].name, name, size)) {
            return &options[i];
        }
    }
    return NULL;
}

static const struct option *find_letter(const struct option *options, size_t count, char letter)
{
    for (size_t i = 0; i < count; i++) {
        if (options[i].letter == letter) {
            return &options[i];
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Reading

// Where a command line is being read.
struct cursor {
    struct parsed *parsed;
    char *const *words;
    size_t count, index;
};

static bool is_global(const struct option *option)
{
    return option >= global_option_table && option < global_option_table + global_option_count;
}

// What a flag or a length of time is as a word of a command.
static const char *given_text(const struct option *option, const char *text)
{
    double seconds;
    if (option->type == OPTION_FLAG) {
        return "1";
    }
    if (option->type == OPTION_SECONDS && seconds_parse(text, &seconds)) {
        return tool_format("%.15g", seconds);
    }
    if (option->type == OPTION_TIME && moment_parse(text, &seconds)) {
        return tool_format("%.6f", seconds);
    }
    return text;
}

static const char *take_option(struct parsed *parsed, const struct option *option, const char *text)
{
    if (is_global(option)) {
        return option_store(option, text, &parsed->global);
    }
    parsed->given = tool_resize(parsed->given, (parsed->given_count + 1) * sizeof *parsed->given);
    parsed->given[parsed->given_count++] =
        (struct given){ .option = option, .text = given_text(option, text) };
    // Without a struct it is only looked at.
    union {
        int64_t integer;
        double number;
        struct texts texts;
    } nowhere = { .texts = { 0 } };
    struct option loose = *option;
    loose.offset = 0;
    return parsed->command->options_size ? option_store(option, text, parsed->options)
                                         : option_store(&loose, text, &nowhere);
}

// The value of an option: behind its name, or the next word.
static const char *option_value(struct cursor *cursor, const struct option *option,
                                const char *attached, const char **value)
{
    if (option->type == OPTION_FLAG) {
        *value = "";
        return attached ? tool_format("--%s takes no value", option->name) : NULL;
    }
    if (!attached && cursor->index == cursor->count) {
        return tool_format("--%s needs a value (%s)", option->name, option->value);
    }
    *value = attached ? attached : cursor->words[cursor->index++];
    return NULL;
}

static const char *read_long(struct cursor *cursor, const char *name)
{
    const struct tool_command *command = cursor->parsed->command;
    const char *equals = strchr(name, '=');
    size_t size = equals ? (size_t)(equals - name) : strlen(name);
    const struct option *option =
        command ? find_in(command->options, command->option_count, name, size) : NULL;
    if (!option) {
        option = find_in(global_option_table, global_option_count, name, size);
    }
    if (!option) {
        return tool_format("there is no option --%.*s%s%s", (int)size, name,
                           command ? " of " : "; options of a command stand behind it",
                           command ? command->name : "");
    }
    const char *value = NULL;
    const char *wrong = option_value(cursor, option, equals ? equals + 1 : NULL, &value);
    return wrong ? wrong : take_option(cursor->parsed, option, value);
}

static const struct option *find_short(const struct parsed *parsed, char letter)
{
    const struct tool_command *command = parsed->command;
    const struct option *option =
        command ? find_letter(command->options, command->option_count, letter) : NULL;
    return option ? option : find_letter(global_option_table, global_option_count, letter);
}

// "-v", "-vf", "-n5", "-n 5".
static const char *read_short(struct cursor *cursor, const char *letters)
{
    for (; *letters; letters++) {
        const struct option *option = find_short(cursor->parsed, *letters);
        if (!option) {
            const struct tool_command *command = cursor->parsed->command;
            return tool_format("there is no option -%c%s%s", *letters,
                               command ? " of " : "; options of a command stand behind it",
                               command ? command->name : "");
        }
        const char *attached = option->type != OPTION_FLAG && letters[1] ? letters + 1 : NULL;
        const char *value = NULL;
        const char *wrong = option_value(cursor, option, attached, &value);
        if (!wrong) {
            wrong = take_option(cursor->parsed, option, value);
        }
        if (wrong || attached) {
            return wrong;
        }
    }
    return NULL;
}

static void take_command(struct parsed *parsed, const struct tool_command *command)
{
    parsed->command = command;
    parsed->family = NULL;
    parsed->options = tool_allocate(command->options_size);
}

static const char *unknown_command(const char *name, const char *family)
{
    const char *nearest = command_nearest(name);
    if (nearest) {
        return tool_format("there is no command %s; is it %s?", name, nearest);
    }
    return family ? tool_format("there is no command %s; `sluice help %s` lists what there is",
                                name, family)
                  : tool_format("there is no command %s", name);
}

// The first word names a command or a family; the second then one of the family.
static const char *read_command(struct parsed *parsed, const char *word)
{
    char *name =
        parsed->family ? tool_format("%s %s", parsed->family, word) : tool_format("%s", word);
    const char *wrong = NULL;
    if (!parsed->family && command_is_family(word)) {
        parsed->family = word;
    } else if (command_find(name)) {
        take_command(parsed, command_find(name));
    } else {
        wrong = unknown_command(name, parsed->family);
    }
    tool_free(name);
    return wrong;
}

static void add_argument(struct parsed *parsed, const char *word)
{
    parsed->arguments[parsed->argument_count++] = word;
}

// A negative number is an argument, unless there is an option of that name.
static bool is_option(const struct parsed *parsed, const char *word)
{
    return word[0] == '-' && word[1] &&
           (!isdigit((unsigned char)word[1]) || find_short(parsed, word[1]));
}

static bool names_global(const char *word)
{
    if (word[1] != '-') {
        return find_letter(global_option_table, global_option_count, word[1]);
    }
    return find_in(global_option_table, global_option_count, word + 2, strcspn(word + 2, "="));
}

// A family's name alone stands for its primary command.
static void settle_family(struct parsed *parsed)
{
    const struct tool_command *primary = parsed->family ? command_find(parsed->family) : NULL;
    if (primary) {
        take_command(parsed, primary);
    }
}

static const char *read_word(struct cursor *cursor)
{
    struct parsed *parsed = cursor->parsed;
    const char *word = cursor->words[cursor->index++];
    if (is_option(parsed, word)) {
        if (!names_global(word)) {
            settle_family(parsed);
        }
        return word[1] == '-' ? read_long(cursor, word + 2) : read_short(cursor, word + 1);
    }
    if (parsed->command) {
        add_argument(parsed, word);
        return NULL;
    }
    return read_command(parsed, word);
}

static const char *check_count(const struct parsed *parsed)
{
    const struct tool_command *command = parsed->command;
    if (parsed->argument_count < command->arguments_min) {
        return tool_format("%s needs %s", command->name, command->arguments);
    }
    if (parsed->argument_count > command->arguments_max) {
        return tool_format("%s does not take so many arguments: %s", command->name,
                           parsed->arguments[command->arguments_max]);
    }
    return NULL;
}

const char *options_parse(struct parsed *parsed, char *const *words, size_t count)
{
    *parsed = (struct parsed){ .arguments = tool_allocate((count + 1) * sizeof(char *)) };
    struct cursor cursor = { parsed, words, count, 0 };
    const char *wrong = NULL;
    while (!wrong && cursor.index < count) {
        if (!strcmp(words[cursor.index], "--")) {
            cursor.index++;
            break;
        }
        wrong = read_word(&cursor);
    }
    if (wrong) {
        return wrong;
    }
    if (!parsed->global.help) {
        settle_family(parsed);
    }
    if (cursor.index < count && !parsed->command) {
        return "there is no command in front of --";
    }
    while (cursor.index < count) {
        add_argument(parsed, words[cursor.index++]);
    }
    return parsed->command && !parsed->global.help ? check_count(parsed) : NULL;
}
