// SPDX-License-Identifier: MIT
#include "cli/core/table.h"

#include "cli/core/glyph.h"
#include "cli/core/moment.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    COLUMN_MAX = 16,
    GAP = 2,
    TITLE_MIN = 5, // to which the title of a narrow column may be cut
    TEXT_MIN = 8,  // to which a column of texts may be cut
    REST_MIN = 10, // and the last column
};

// How a field is shown.
enum form {
    FORM_PLAIN = 'n',
    FORM_MOMENT = 't',
    FORM_LENGTH = 'l',
    FORM_STATE = 's',
    FORM_SHARE = 'p',
    FORM_REST = 'j',
    FORM_DATE = 'd', // of the day that begins then, in UTC
};

static enum form form_of(const char *key)
{
    static const struct {
        const char *key;
        enum form form;
    } forms[] = {
        { "created", FORM_MOMENT },  { "moved", FORM_MOMENT },      { "scheduled", FORM_MOMENT },
        { "deadline", FORM_MOMENT }, { "expires", FORM_MOMENT },    { "when", FORM_MOMENT },
        { "seen", FORM_MOMENT },     { "next", FORM_MOMENT },       { "earliest", FORM_MOMENT },
        { "until", FORM_MOMENT },    { "began", FORM_MOMENT },      { "result-until", FORM_MOMENT },
        { "updated", FORM_MOMENT },  { "eta", FORM_MOMENT },        { "popped", FORM_MOMENT },
        { "started", FORM_MOMENT },  { "ready", FORM_MOMENT },      { "since", FORM_MOMENT },
        { "age", FORM_LENGTH },      { "interval", FORM_LENGTH },   { "period", FORM_LENGTH },
        { "timeout", FORM_LENGTH },  { "result-ttl", FORM_LENGTH }, { "lease", FORM_LENGTH },
        { "mean", FORM_LENGTH },     { "std", FORM_LENGTH },        { "max", FORM_LENGTH },
        { "p50", FORM_LENGTH },      { "p90", FORM_LENGTH },        { "p99", FORM_LENGTH },
        { "p999", FORM_LENGTH },     { "state", FORM_STATE },       { "fraction", FORM_SHARE },
        { "data", FORM_REST },       { "message", FORM_REST },      { "line", FORM_REST },
        { "tags", FORM_REST },       { "result", FORM_REST },
    };
    for (size_t i = 0; key && i < sizeof forms / sizeof *forms; i++) {
        if (!strcmp(forms[i].key, key)) {
            return forms[i].form;
        }
    }
    return FORM_PLAIN;
}

// ---------------------------------------------------------------------------------------------
// Texts

char *text_clean(const char *text, size_t size)
{
    char *out = tool_allocate(4 * size + 1);
    size_t used = 0;
    for (const char *at = text; at < text + size;) {
        const char *start = at;
        uint32_t glyph = glyph_next(&at);
        at += glyph ? 0 : 1; // a byte of value 0 within
        if (glyph && glyph != GLYPH_ODD) {
            memcpy(out + used, start, (size_t)(at - start));
            used += (size_t)(at - start);
            continue;
        }
        for (; start < at; start++) {
            used += (size_t)snprintf(out + used, 5, *start == '\n' ? "\\n" : "\\x%02x",
                                     (unsigned)(unsigned char)*start);
        }
    }
    return out;
}

// How many bytes of a text fit into so many columns.
static size_t text_fits(const char *text, size_t room)
{
    const char *at = text;
    size_t width = 0;
    size_t fits = 0;
    for (uint32_t glyph = glyph_next(&at); glyph; glyph = glyph_next(&at)) {
        width += (size_t)glyph_width(glyph);
        fits = width <= room ? (size_t)(at - text) : fits;
    }
    return fits;
}

static size_t width_of(const char *text)
{
    return (size_t)glyph_text_width(text);
}

char *value_list_text(const struct sluice_value *list, const char *separator)
{
    char *text = tool_copy("", 0);
    for (size_t i = 0; i < sluice_value_count(list); i++) {
        char *item = value_text(sluice_value_at(list, i), NULL);
        char *longer = tool_format("%s%s%s", text, i ? separator : "", item);
        tool_free(text);
        tool_free(item);
        text = longer;
    }
    return text;
}

static char *json_of(const struct sluice_value *value)
{
    char *json = sluice_value_json(value);
    char *text = text_clean(json ? json : "", json ? strlen(json) : 0);
    sluice_free(json);
    return text;
}

static bool is_plain_list(const struct sluice_value *list)
{
    enum sluice_type type = sluice_value_type(sluice_value_at(list, 0));
    return type != SLUICE_MAP && type != SLUICE_LIST;
}

// How a number is shown in the cell of a table.
static char *number_text(double number, enum form form, enum times times)
{
    char text[MOMENT_SIZE];
    switch (form) {
    case FORM_MOMENT:
        moment_show(number, times, text);
        break;
    case FORM_LENGTH:
        length_format(number, text);
        break;
    case FORM_DATE:
        moment_format(number, text);
        text[strcspn(text, " ")] = '\0';
        break;
    case FORM_SHARE:
        return tool_format("%.0f%%", number * 100);
    default:
        return tool_format("%.6g", number);
    }
    return tool_copy(text, strlen(text));
}

static char *text_of(const struct sluice_value *value, enum form form, enum times times)
{
    size_t size;
    const char *text;
    switch (sluice_value_type(value)) {
    case SLUICE_TEXT:
    case SLUICE_FAULT:
        text = sluice_value_text(value, &size);
        return text_clean(text, size);
    case SLUICE_INTEGER: // of a name that is a moment elsewhere it is a count
        return tool_format("%lld", (long long)sluice_value_integer(value));
    case SLUICE_NUMBER:
        return number_text(sluice_value_number(value), form, times);
    case SLUICE_BOOLEAN:
        return tool_format("%s", sluice_value_boolean(value) ? "yes" : "no");
    case SLUICE_LIST:
        return is_plain_list(value) ? value_list_text(value, ",") : json_of(value);
    case SLUICE_MAP:
        return json_of(value);
    default:
        return tool_format("-");
    }
}

char *value_text(const struct sluice_value *value, const char *key)
{
    return text_of(value, form_of(key), TIMES_RELATIVE);
}

const struct sluice_value *value_at(const struct sluice_value *map, const char *path)
{
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(path, '/')) {
        char *key = tool_copy(path, (size_t)(slash - path));
        map = sluice_value_get(map, key);
        tool_free(key);
        path = slash + 1;
    }
    return sluice_value_get(map, path);
}

static const char *color_of(const char *text)
{
    static const struct {
        const char *text, *color;
    } colors[] = {
        { "running", "\033[32m" },   { "failed", "\033[31m" },  { "stalled", "\033[33m" },
        { "scheduled", "\033[36m" }, { "depends", "\033[35m" }, { "complete", "\033[2m" },
        { "canceled", "\033[2m" },
    };
    for (size_t i = 0; i < sizeof colors / sizeof *colors; i++) {
        if (!strcmp(colors[i].text, text)) {
            return colors[i].color;
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Tables

struct column {
    char *path, *title;
    enum form form;
    bool right; // numbers
    bool said;  // a cell of it says something
    bool dropped;
    size_t cells; // the width of its widest cell
    size_t width; // as it is printed, without the gap
};

struct table {
    struct column columns[COLUMN_MAX];
    size_t column_count;
    size_t gap;
    enum times times;
    char **cells; // row after row
    size_t row_count;
};

static void add_column(struct table *table, const char *spec, size_t size)
{
    struct column *column = &table->columns[table->column_count++];
    const char *equals = memchr(spec, '=', size);
    size_t skip = equals ? (size_t)(equals - spec) + 1 : 0;
    char *path = tool_copy(spec + skip, size - skip);
    char *colon = strchr(path, ':');
    if (colon) {
        *colon = 0;
    }
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char *title = equals ? tool_copy(spec, skip - 1) : tool_copy(name, strlen(name));
    for (char *at = title; *at; at++) {
        *at = (char)toupper((unsigned char)*at);
    }
    *column = (struct column){ .path = path,
                               .title = title,
                               .form = colon ? (enum form)colon[1] : form_of(name),
                               .width = width_of(title) };
}

static struct table *new_table(const struct tool *tool, const char *columns, size_t size)
{
    struct table *table = tool_allocate(sizeof *table);
    table->gap = GAP;
    table->times = tool->times;
    for (const char *end = columns + size; columns < end && table->column_count < COLUMN_MAX;) {
        size_t length = strcspn(columns, " |");
        if (length) {
            add_column(table, columns, length);
        }
        columns += length + 1;
    }
    return table;
}

static void table_free(struct table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        tool_free(table->columns[i].path);
        tool_free(table->columns[i].title);
    }
    for (size_t i = 0; i < table->row_count * table->column_count; i++) {
        tool_free(table->cells[i]);
    }
    tool_free(table->cells);
    tool_free(table);
}

static bool says_nothing(const char *text)
{
    return !*text || !strcmp(text, "0") || !strcmp(text, "-") || !strcmp(text, "no") ||
           !strcmp(text, "0s");
}

static void take_cell(struct column *column, const char *text)
{
    size_t width = width_of(text);
    column->width = width > column->width ? width : column->width;
    column->cells = width > column->cells ? width : column->cells;
    column->said |= !says_nothing(text);
}

static void add_row(struct table *table, const char *key, const struct sluice_value *map)
{
    size_t size = (table->row_count + 1) * table->column_count * sizeof *table->cells;
    table->cells = tool_resize(table->cells, size);
    char **row = table->cells + table->row_count++ * table->column_count;
    for (size_t i = 0; i < table->column_count; i++) {
        struct column *column = &table->columns[i];
        const struct sluice_value *value = value_at(map, column->path);
        row[i] =
            key && !i ? text_clean(key, strlen(key)) : text_of(value, column->form, table->times);
        take_cell(column, row[i]);
        enum sluice_type type = sluice_value_type(value);
        column->right |=
            type == SLUICE_INTEGER || (type == SLUICE_NUMBER && column->form != FORM_MOMENT);
    }
}

// Numbers stand on the right, as those of an answer do.
static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

void table_add_cells(struct table *table, char *const *cells)
{
    size_t size = (table->row_count + 1) * table->column_count * sizeof *table->cells;
    table->cells = tool_resize(table->cells, size);
    char **row = table->cells + table->row_count++ * table->column_count;
    for (size_t i = 0; i < table->column_count; i++) {
        struct column *column = &table->columns[i];
        row[i] = tool_copy(*cells[i] ? cells[i] : "-", *cells[i] ? strlen(cells[i]) : 1);
        take_cell(column, row[i]);
        column->right |= is_number(row[i]);
    }
}

static size_t terminal_width(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col) {
        return SIZE_MAX;
    }
    return size.ws_col;
}

static void print_cell(const struct tool *tool, const char *text, const char *color)
{
    color = tool->color ? color : NULL;
    print(stdout, "%s%s%s", color ? color : "", text, color ? "\033[0m" : "");
}

// ---------------------------------------------------------------------------------------------
// Fitting a table into the terminal

static size_t table_width(const struct table *table)
{
    size_t width = 0;
    size_t shown = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        width += column->dropped ? 0 : column->width;
        shown += !column->dropped;
    }
    return width + (shown ? (shown - 1) * table->gap : 0);
}

static size_t last_column(const struct table *table)
{
    size_t last = table->column_count - 1;
    while (last && table->columns[last].dropped) {
        last--;
    }
    return last;
}

// Narrows a column by as much as the table is too wide, but not below `least`.
static void narrow(struct table *table, struct column *column, size_t least, size_t room)
{
    size_t width = table_width(table);
    size_t over = width > room ? width - room : 0;
    size_t spare = column->width > least ? column->width - least : 0;
    column->width -= over < spare ? over : spare;
}

static void drop_columns(struct table *table, size_t room, bool said)
{
    for (size_t i = table->column_count; --i > 0 && table_width(table) > room;) {
        if (!table->columns[i].dropped && (said || !table->columns[i].said)) {
            table->columns[i].dropped = true;
        }
    }
}

static void narrow_texts(struct table *table, size_t room)
{
    for (size_t i = table->column_count; i-- > 0;) {
        struct column *column = &table->columns[i];
        if (!column->right && !column->dropped) {
            narrow(table, column, TEXT_MIN, room);
        }
    }
}

// What is least missed goes first: the rest of a long last column, columns that say nothing, titles
// wider than what stands below them, the ends of texts; and then whole columns, from the last on.
static void table_fit(struct table *table, size_t room)
{
    struct column *rest = &table->columns[last_column(table)];
    if (rest->form == FORM_REST) {
        narrow(table, rest, REST_MIN, room);
    }
    if (table_width(table) > room) {
        drop_columns(table, room, false);
    }
    for (size_t i = 1; i < table->column_count; i++) {
        struct column *column = &table->columns[i];
        narrow(table, column, column->cells > TITLE_MIN ? column->cells : TITLE_MIN, room);
    }
    if (table_width(table) > room) {
        table->gap = 1;
    }
    narrow_texts(table, room);
    drop_columns(table, room, true);
}

static void print_cut(const struct tool *tool, const char *text, const char *color, size_t width)
{
    if (width_of(text) <= width) {
        print_cell(tool, text, color);
        return;
    }
    bool dots = width >= TEXT_MIN;
    char *cut = tool_format("%.*s%s", (int)text_fits(text, dots ? width - 3 : width), text,
                            dots ? "..." : "");
    print_cell(tool, cut, color);
    tool_free(cut);
}

static void print_row(const struct tool *tool, const struct table *table, char *const *row)
{
    size_t last = last_column(table);
    for (size_t i = 0; i <= last; i++) {
        const struct column *column = &table->columns[i];
        const char *text = row ? row[i] : column->title;
        const char *color = row ? column->form == FORM_STATE ? color_of(text) : NULL : "\033[1m";
        if (column->dropped) {
            continue;
        }
        size_t width = width_of(text);
        size_t padding = width < column->width ? column->width - width : 0;
        if (column->right) {
            print(stdout, "%*s", (int)padding, "");
        }
        print_cut(tool, text, color, column->width);
        if (i < last) {
            print(stdout, "%*s", (int)((column->right ? 0 : padding) + table->gap), "");
        }
    }
    print(stdout, "\n");
}

static void print_rows(const struct tool *tool, struct table *table)
{
    if (!table->row_count) {
        return;
    }
    table_fit(table, terminal_width());
    print_row(tool, table, NULL);
    for (size_t i = 0; i < table->row_count; i++) {
        print_row(tool, table, table->cells + i * table->column_count);
    }
}

static void print_lines(const struct sluice_value *list)
{
    for (size_t i = 0; i < sluice_value_count(list); i++) {
        char *text = value_text(sluice_value_at(list, i), NULL);
        print(stdout, "%s\n", text);
        tool_free(text);
    }
}

struct table *table_new(const struct tool *tool, const char *columns)
{
    return new_table(tool, columns, strlen(columns));
}

void table_add(struct table *table, const struct sluice_value *list)
{
    for (size_t i = 0; i < sluice_value_count(list); i++) {
        add_row(table, NULL, sluice_value_at(list, i));
    }
}

void table_add_row(struct table *table, const struct sluice_value *map)
{
    add_row(table, NULL, map);
}

void table_finish(const struct tool *tool, struct table *table)
{
    print_rows(tool, table);
    table_free(table);
}

void table_print(const struct tool *tool, const struct sluice_value *list, const char *columns)
{
    if (!columns) {
        print_lines(list);
        return;
    }
    struct table *table = table_new(tool, columns);
    table_add(table, list);
    table_finish(tool, table);
}

static bool has_columns(const struct table *table, const struct sluice_value *map)
{
    bool has = true;
    for (size_t i = 1; i < table->column_count; i++) {
        has = has && sluice_value_type(value_at(map, table->columns[i].path)) != SLUICE_NULL;
    }
    return has;
}

void table_print_map(const struct tool *tool, const struct sluice_value *map, const char *columns)
{
    bool *shown = tool_allocate(sluice_value_count(map) * sizeof *shown);
    for (bool more = true; more;) {
        size_t size = strcspn(columns, "|");
        struct table *table = new_table(tool, columns, size);
        for (size_t i = 0; i < sluice_value_count(map); i++) {
            if (!shown[i] && has_columns(table, sluice_value_at(map, i))) {
                add_row(table, sluice_value_key(map, i), sluice_value_at(map, i));
                shown[i] = true;
            }
        }
        print_rows(tool, table);
        table_free(table);
        more = columns[size];
        columns += size + 1;
        if (more) {
            print(stdout, "\n");
        }
    }
    tool_free(shown);
}

// ---------------------------------------------------------------------------------------------
// Records

void table_print_pair(const struct tool *tool, size_t width, const char *name, const char *value)
{
    print_cell(tool, name, "\033[1m");
    print(stdout, "%*s", (int)(width > strlen(name) ? width - strlen(name) + GAP : GAP), "");
    print_cell(tool, value, color_of(value));
    print(stdout, "\n");
}

// Of fields that hold something; the hundreds of numbers of a histogram are for programs.
static bool is_shown(const char *key, const struct sluice_value *value)
{
    enum sluice_type type = sluice_value_type(value);
    bool whole = type != SLUICE_LIST && type != SLUICE_MAP;
    return type != SLUICE_NULL && strcmp(key, "histogram") != 0 &&
           (whole || sluice_value_count(value));
}

static size_t record_width(const struct sluice_value *map)
{
    size_t width = 0;
    for (size_t i = 0; i < sluice_value_count(map); i++) {
        const struct sluice_value *value = sluice_value_at(map, i);
        const char *key = sluice_value_key(map, i);
        size_t size = strlen(key);
        if (sluice_value_type(value) == SLUICE_MAP) {
            size += 1 + record_width(value);
        }
        width = is_shown(key, value) && size > width ? size : width;
    }
    return width;
}

// Beside how long ago it was stands when.
static char *field_text(const struct sluice_value *value, const char *key, enum times times)
{
    char *text = value_text(value, key);
    if (form_of(key) != FORM_MOMENT || sluice_value_type(value) != SLUICE_NUMBER) {
        return text;
    }
    char moment[MOMENT_SIZE];
    moment_show(sluice_value_number(value), times == TIMES_LOCAL ? TIMES_LOCAL : TIMES_UTC, moment);
    char *both = tool_format("%s (%s)", moment, text);
    tool_free(text);
    return both;
}

// How often things happened, below the names of moments: "rates.popped".
static bool is_rates(const char *prefix)
{
    return !strcmp(prefix, "rates.") || !strcmp(prefix, "last_second.");
}

static void print_fields(const struct tool *tool, const struct sluice_value *map,
                         const char *prefix, size_t width)
{
    for (size_t i = 0; i < sluice_value_count(map); i++) {
        const char *key = sluice_value_key(map, i);
        const struct sluice_value *value = sluice_value_at(map, i);
        char *name = tool_format("%s%s", prefix, key);
        if (sluice_value_type(value) == SLUICE_MAP) {
            char *deeper = tool_format("%s.", name);
            print_fields(tool, value, deeper, width);
            tool_free(deeper);
        } else if (is_shown(key, value)) {
            char *text = field_text(value, is_rates(prefix) ? NULL : key, tool->times);
            table_print_pair(tool, width, name, text);
            tool_free(text);
        }
        tool_free(name);
    }
}

void table_print_record(const struct tool *tool, const struct sluice_value *map)
{
    print_fields(tool, map, "", record_width(map));
}
