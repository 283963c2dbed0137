// SPDX-License-Identifier: MIT
// The table as manual pages: sluiced(8) and sluiced.conf(5).
#include "server/config/settings_value.h"

// Text of a page: what troff would take for something else is escaped.
static void append_text(struct buffer *out, const char *text)
{
    bool begins_line = true;
    for (; *text; text++) {
        if (begins_line && (*text == '.' || *text == '\'')) {
            buffer_append(out, SLICE("\\&"));
        }
        begins_line = *text == '\n';
        switch (*text) {
        case '\\':
            buffer_append(out, SLICE("\\e"));
            break;
        case '-':
            buffer_append(out, SLICE("\\-"));
            break;
        case '\'':
            buffer_append(out, SLICE("\\(aq"));
            break;
        case '`':
            buffer_append(out, SLICE("\\(ga"));
            break;
        default:
            buffer_append_char(out, *text);
        }
    }
}

static void line(struct buffer *out, const char *text)
{
    append_text(out, text);
    buffer_append_char(out, '\n');
}

static void paragraph(struct buffer *out, const char *text)
{
    buffer_append(out, SLICE(".PP\n"));
    line(out, text);
}

static void section(struct buffer *out, const char *title)
{
    buffer_printf(out, ".SH %s\n", title);
}

static void begin_page(struct buffer *out, const char *title, const char *number, const char *name,
                       const char *summary)
{
    buffer_printf(out, ".TH \"%s\" \"%s\" \"\" \"sluice %s\" \"Sluice\"\n", title, number,
                  SLUICE_VERSION);
    section(out, "NAME");
    append_text(out, name);
    buffer_append(out, SLICE(" \\- "));
    line(out, summary);
}

static void item(struct buffer *out, const char *before, const char *name, const char *value,
                 const char *text)
{
    buffer_append(out, SLICE(".TP\n\\fB"));
    append_text(out, before);
    append_text(out, name);
    buffer_append(out, SLICE("\\fR"));
    if (*value) {
        buffer_append(out, SLICE(" \\fI"));
        append_text(out, value);
        buffer_append(out, SLICE("\\fR"));
    }
    buffer_append_char(out, '\n');
    line(out, text);
}

static void settings(struct buffer *out, bool file)
{
    const char *group = "";
    for (size_t i = 0; i < settings_count; i++) {
        const struct setting *setting = &settings_table[i];
        if (file && (setting->flags & SETTING_NO_FILE)) {
            continue;
        }
        if (strcmp(group, setting->group) != 0) {
            group = setting->group;
            buffer_append(out, SLICE(".SS "));
            line(out, group);
        }
        item(out, file ? "" : "--", setting->name, setting->value, setting->summary);
        if (setting_is_list(setting)) {
            line(out, "May be repeated.");
        }
        if (*setting->initial) {
            append_text(out, "Default: ");
            append_text(out, setting->initial);
            line(out, ".");
        }
        if (file && !(setting->flags & SETTING_RELOADS)) {
            line(out, "A change needs a restart.");
        }
    }
}

static void see_also(struct buffer *out, const char *pages)
{
    section(out, "SEE ALSO");
    line(out, pages);
}

void settings_manual(struct buffer *out)
{
    begin_page(out, "SLUICED", "8", "sluiced", "the Sluice job queue server");
    section(out, "SYNOPSIS");
    buffer_append(
        out, SLICE("\\fBsluiced\\fR [\\fB\\-\\-\\fINAME VALUE\\fR]...\n.br\n"
                   "\\fBsluiced \\-\\-config\\fR \\fIFILE\\fR [\\fB\\-\\-check\\-config\\fR]\n"));
    section(out, "DESCRIPTION");
    paragraph(out,
              "Runs the Sluice job queue server: clients put jobs into queues, workers take them "
              "out under a lease, and what was acknowledged is on disk. Clients speak the "
              "protocol of Redis (RESP) or HTTP.");
    paragraph(out,
              "A setting is given as a flag, as an environment variable (SLUICE_MAX_PAYLOAD for "
              "--max-payload) or as a line of the config file, in this order of precedence. "
              "Sizes are such as 64k or 1MiB; times such as 500ms, 10s or 5m.");
    section(out, "OPTIONS");
    item(out, "--", "help", "", "Prints the settings.");
    item(out, "--", "version", "", "Prints the version.");
    item(out, "--", "hash-password", "",
         "Reads a password from standard input and prints its hash, for password and user.");
    item(
        out, "--", "check-config", "",
        "Checks the flags, the variables, the config file and the certificates that they name, and "
        "prints everything that is wrong. Starts no server.");
    settings(out, false);
    section(out, "SIGNALS");
    item(
        out, "", "SIGTERM, SIGINT", "",
        "Stops the server: it answers the requests that it has received, writes everything to disk "
        "and exits with 0.");
    item(out, "", "SIGHUP", "",
         "Reads the config file, the environment and the certificates again. The log says what has "
         "changed, and what needs a restart.");
    item(out, "", "SIGUSR1", "", "Drains the server: puts are refused, all other work goes on.");
    section(out, "EXIT STATUS");
    item(out, "", "0", "", "The server was stopped, or the settings are valid.");
    item(out, "", "1", "",
         "It could not start, has failed, or the settings have errors. Standard error says why.");
    see_also(out, "sluiced.conf(5), sluice(1)");
}

void settings_manual_file(struct buffer *out)
{
    begin_page(out, "SLUICED.CONF", "5", "sluiced.conf", "settings of the Sluice job queue server");
    section(out, "DESCRIPTION");
    paragraph(out,
              "sluiced --config FILE reads its settings from FILE. Each line has the name of a "
              "setting and its value; settings that may be repeated take several lines. A # at "
              "the beginning of a word begins a comment. A value with spaces stands in \"...\", "
              "where \\\" and \\\\ are a quote and a backslash, or in '...', where all is as it "
              "stands.");
    paragraph(out,
              "Flags and environment variables take precedence over the file. On SIGHUP the file "
              "is read again. sluiced --check-config checks it.");
    paragraph(out, "A file with passwords should be readable by the server's user only.");
    section(out, "SETTINGS");
    settings(out, true);
    section(out, "EXAMPLE");
    buffer_append(out, SLICE(".nf\n"));
    line(out, "data /var/lib/sluice\nlisten 127.0.0.1:7711\nhttp 127.0.0.1:7712\n"
              "user ann 'pbkdf2-sha256$...' app:write\ndurability always");
    buffer_append(out, SLICE(".fi\n"));
    see_also(out, "sluiced(8), sluice(1)");
}
