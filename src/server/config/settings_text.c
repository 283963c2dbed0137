// SPDX-License-Identifier: MIT
// Writes the table as texts: the help, the reference and the example config file.
#include "server/config/settings_value.h"

enum {
    COLUMNS = 80,
    MARGIN = 28, // column of the summaries in the help
    WORDS_SIZE_MAX = 1024,
};

static bool begins_group(size_t index)
{
    return index == 0 || strcmp(settings_table[index].group, settings_table[index - 1].group) != 0;
}

// Appends a text broken at spaces. Each line but the first begins with `indent`; the first line
// already has `column` characters.
static void append_wrapped(struct buffer *out, const char *text, const char *indent, size_t column)
{
    size_t margin = strlen(indent);
    bool first = true;
    while (*text) {
        size_t size = strcspn(text, " ");
        if (!first && column + 1 + size > COLUMNS) {
            buffer_append_char(out, '\n');
            buffer_append(out, slice_from_cstr(indent));
            column = margin;
        } else if (!first) {
            buffer_append_char(out, ' ');
            column++;
        }
        buffer_append(out, slice_make(text, size));
        column += size;
        text += size + (text[size] == ' ');
        first = false;
    }
    buffer_append_char(out, '\n');
}

static void help_line(struct buffer *out, const char *flag, const char *value, const char *text)
{
    static const char indent[MARGIN + 1] = "                            ";
    size_t before = out->size;
    buffer_printf(out, "  --%s%s%s", flag, *value ? " " : "", value);
    size_t size = out->size - before;
    if (size + 2 > MARGIN) {
        buffer_append_char(out, '\n');
        size = 0;
    }
    buffer_append(out, slice_make(indent, MARGIN - size));
    append_wrapped(out, text, indent, MARGIN);
}

static void help_setting(struct buffer *out, const struct setting *setting)
{
    char text[WORDS_SIZE_MAX];
    const char *repeated = setting_is_list(setting) ? " May be repeated." : "";
    if (*setting->initial) {
        (void)snprintf(text, sizeof(text), "%s%s Default: %s", setting->summary, repeated,
                       setting->initial);
    } else {
        (void)snprintf(text, sizeof(text), "%s%s", setting->summary, repeated);
    }
    help_line(out, setting->name, setting->value, text);
}

void settings_help(struct buffer *out)
{
    buffer_append(out, SLICE("Usage: sluiced [--NAME VALUE]...\n"
                             "Runs the Sluice job queue server.\n"));
    for (size_t i = 0; i < settings_count; i++) {
        if (begins_group(i)) {
            buffer_printf(out, "\n%s:\n", settings_table[i].group);
        }
        help_setting(out, &settings_table[i]);
    }
    buffer_append(out, SLICE("\nInstead of running:\n"));
    help_line(out, "help", "", "Print this.");
    help_line(out, "version", "", "Print the version.");
    help_line(out, "hash-password", "", "Read a password from standard input and print its hash.");
    help_line(
        out, "check-config", "",
        "Check all settings, files and variables, print everything that is wrong, and end with "
        "status 1 if anything is.");
    buffer_append(out,
                  SLICE("\n"
                        "Every setting can also be a line of the config file (max-payload 2M) "
                        "or a\n"
                        "variable (SLUICE_MAX_PAYLOAD=2M). Flags take precedence over variables, "
                        "and\n"
                        "variables over the file. Examples of sizes: 64k, 1MiB; of times: 500ms, "
                        "10s, 5m.\n"
                        "On SIGHUP the file is read again.\n"));
}

// '|' would end the cell, so it is escaped.
static void append_cell(struct buffer *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|') {
            buffer_append_char(out, '\\');
        }
        buffer_append_char(out, *text);
    }
}

void settings_markdown(struct buffer *out)
{
    buffer_append(
        out,
        SLICE(
            "# Settings\n\n"
            "A setting can be a flag (`--max-payload 2M`), an environment variable\n"
            "(`SLUICE_MAX_PAYLOAD=2M`) or a line of the config file (`max-payload 2M`). Flags "
            "take\n"
            "precedence over variables, and variables over the file. [sluiced.conf](sluiced.conf) "
            "is\n"
            "an example file with all settings.\n\n"
            "- On SIGHUP and `Q.RELOAD` the server reads the file again. The column SIGHUP says "
            "whether\n"
            "  a setting changes at once or needs a restart; the log lists the latter.\n"
            "- A list that is given in one place replaces the lists of the others. In a variable "
            "its\n"
            "  values are separated by `;`.\n"
            "- Variables of the tool `sluice` (`SLUICE_URL`, `SLUICE_NS`) and of the programs "
            "that\n"
            "  `sluice work` runs (`SLUICE_JID`, `SLUICE_DATA` and others) are not settings.\n\n"));
    for (size_t i = 0; i < settings_count; i++) {
        const struct setting *setting = &settings_table[i];
        if (begins_group(i)) {
            buffer_printf(out,
                          "%s## %s\n\n| setting | value | default | SIGHUP | what it is |\n"
                          "|---|---|---|---|---|\n",
                          i ? "\n" : "", setting->group);
        }
        buffer_printf(out, "| `%s` | ", setting->name);
        setting_append_allowed(setting, out);
        buffer_printf(out, " | %s%s%s | %s | ", *setting->initial ? "`" : "", setting->initial,
                      *setting->initial ? "`" : "",
                      setting->flags & SETTING_RELOADS ? "yes" : "restart");
        append_cell(out, setting->summary);
        buffer_append(out,
                      slice_from_cstr(setting_is_list(setting) ? " May be repeated. |\n" : " |\n"));
    }
}

void settings_example(struct buffer *out)
{
    buffer_append(out, SLICE("# Settings of sluiced: sluiced --config sluiced.conf\n"
                             "# What is commented out has its default.\n"));
    for (size_t i = 0; i < settings_count; i++) {
        const struct setting *setting = &settings_table[i];
        if (setting->flags & SETTING_NO_FILE) {
            buffer_printf(out, "\n# (%s is a flag or a variable only.)\n", setting->name);
            continue;
        }
        if (begins_group(i)) {
            buffer_printf(out, "\n# ---- %s\n", setting->group);
        }
        buffer_append(out, SLICE("\n# "));
        append_wrapped(out, setting->summary, "# ", 2);
        if (setting_is_list(setting)) {
            buffer_append(out, SLICE("# May be repeated.\n"));
        }
        const char *example = setting->type == SETTING_USERS ? "ann PASSWORD app:write reports:read"
                              : setting->type == SETTING_PUSHES
                                  ? "app Send https://worker.example.com/jobs CONCURRENCY 10"
                              : *setting->initial ? setting->initial
                                                  : setting->value;
        buffer_printf(out, "#%s %s\n", setting->name, example);
    }
}
