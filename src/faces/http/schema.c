// SPDX-License-Identifier: MIT
#include "faces/http/schema.h"

#include "faces/http/member.h"
#include "wire/http_target.h"

// Whether the argument is a parameter of the route's path.
bool http_schema_in_path(const struct http_route *route, const struct argument *argument)
{
    struct http_member member;
    http_member_of(argument, &member);
    return http_route_has_parameter(route, member.singular) ||
           (route->key && slice_equal(member.singular, slice_from_cstr(route->key)));
}

// Whether it may be omitted although the command requires it.
static bool has_default(const struct http_route *route, const struct argument *argument,
                        struct slice *value)
{
    struct http_member member;
    struct slice rest = route->given ? slice_from_cstr(route->given) : SLICE_EMPTY;
    struct slice name;
    http_member_of(argument, &member);
    return http_query_next(&rest, &name, value) && slice_equal(name, member.name);
}

bool http_schema_is_required(const struct http_route *route, const struct argument *argument)
{
    struct slice value;
    return !(argument->flags & (ARGUMENT_OPTION | ARGUMENT_OPTIONAL)) &&
           !has_default(route, argument, &value);
}

// ---------------------------------------------------------------------------------------------
// Arguments as schemas

static void write_bounds(struct paper *paper, const struct argument *argument)
{
    bool seconds = argument->type == ARGUMENT_SECONDS;
    void (*number)(struct json_writer *, int64_t) = seconds ? json_write_seconds : json_write_int;
    key(paper, "minimum");
    number(&paper->writer, argument->min);
    if (argument->max != INT64_MAX) {
        key(paper, "maximum");
        number(&paper->writer, argument->max);
    }
}

static void write_words(struct paper *paper, const struct argument *argument)
{
    open_list(paper, "enum");
    for (size_t i = 0; argument->words[i]; i++) {
        json_write_string(&paper->writer, slice_from_cstr(argument->words[i]));
    }
    close_list(paper);
}

void http_schema_name(struct paper *paper)
{
    text(paper, "type", "string");
    key(paper, "minLength");
    json_write_int(&paper->writer, 1);
    key(paper, "maxLength");
    json_write_int(&paper->writer, ENGINE_NAME_SIZE_MAX);
}

static void write_types(struct paper *paper, const char *const *types)
{
    open_list(paper, "type");
    for (; *types; types++) {
        json_write_string(&paper->writer, slice_from_cstr(*types));
    }
    close_list(paper);
}

static void write_type(struct paper *paper, const struct argument *argument)
{
    static const char *const moment[] = { "number", "string", NULL };
    static const char *const number_or_empty[] = { "integer", "string", NULL };
    static const char *const any_text[] = { "string", "number", "boolean", NULL };
    switch (argument->type) {
    case ARGUMENT_NAME:
        http_schema_name(paper);
        break;
    case ARGUMENT_TEXT:
        if (argument->flags & ARGUMENT_REPEATED) {
            text(paper, "type", "string");
        } else {
            write_types(paper, any_text);
        }
        break;
    case ARGUMENT_JSON:
        break;
    case ARGUMENT_INTEGER:
        if (argument->or_empty) {
            write_types(paper, number_or_empty);
            key(paper, "maxLength");
            json_write_int(&paper->writer, 0);
        } else {
            text(paper, "type", "integer");
        }
        write_bounds(paper, argument);
        break;
    case ARGUMENT_SECONDS:
        text(paper, "type", "number");
        write_bounds(paper, argument);
        break;
    case ARGUMENT_MOMENT:
        write_types(paper, moment);
        break;
    case ARGUMENT_FRACTION:
        text(paper, "type", "number");
        key(paper, "minimum");
        json_write_int(&paper->writer, 0);
        key(paper, "maximum");
        json_write_int(&paper->writer, 1);
        break;
    case ARGUMENT_WORD:
        text(paper, "type", "string");
        write_words(paper, argument);
        break;
    case ARGUMENT_FLAG:
        text(paper, "type", "boolean");
        break;
    }
}

// `single`: one item of a list, as in a path.
void http_schema_argument(struct paper *paper, const struct http_route *route,
                          const struct argument *argument, bool single)
{
    bool list = (argument->flags & ARGUMENT_REPEATED) && !single;
    bool or_single = list && argument->type == ARGUMENT_WORD; // see words.c
    struct slice value;
    json_write_begin_object(&paper->writer);
    if (or_single) {
        key(paper, "anyOf");
        json_write_begin_array(&paper->writer);
        json_write_begin_object(&paper->writer);
        write_type(paper, argument);
        json_write_end_object(&paper->writer);
        json_write_begin_object(&paper->writer);
    }
    if (list) {
        text(paper, "type", "array");
        open_object(paper, "items");
    }
    write_type(paper, argument);
    if (list) {
        close_object(paper);
    }
    if (or_single) {
        json_write_end_object(&paper->writer);
        json_write_end_array(&paper->writer);
    }
    if (list && http_schema_is_required(route, argument)) {
        key(paper, "minItems");
        json_write_int(&paper->writer, 1);
    }
    if (has_default(route, argument, &value)) {
        key(paper, "default");
        if (argument->type == ARGUMENT_WORD) {
            json_write_string(&paper->writer, value);
        } else {
            json_write_raw(&paper->writer, value);
        }
    }
    prose(paper, "description", argument->summary);
    close_object(paper);
}

// ---------------------------------------------------------------------------------------------
// Objects

static void write_members(struct paper *paper, const struct http_route *route,
                          const struct command *command)
{
    open_object(paper, "properties");
    for (size_t i = 0; i < command->argument_count; i++) {
        const struct argument *argument = &command->arguments[i];
        struct http_member member;
        if (!http_schema_in_path(route, argument)) {
            http_member_of(argument, &member);
            json_write_key(&paper->writer, member.name);
            http_schema_argument(paper, route, argument, false);
        }
    }
    close_object(paper);
}

// Writes the names of required members; returns whether there are any.
static bool write_required(struct paper *paper, const struct http_route *route,
                           const struct command *command)
{
    bool any = false;
    for (size_t i = 0; i < command->argument_count; i++) {
        const struct argument *argument = &command->arguments[i];
        struct http_member member;
        if (http_schema_in_path(route, argument) || !http_schema_is_required(route, argument)) {
            continue;
        }
        if (!any) {
            open_list(paper, "required");
        }
        any = true;
        http_member_of(argument, &member);
        json_write_string(&paper->writer, member.name);
    }
    if (any) {
        close_list(paper);
    }
    return any;
}

bool http_schema_object(struct paper *paper, const struct http_route *route,
                        const struct command *command)
{
    open_object(paper, NULL);
    text(paper, "type", "object");
    write_members(paper, route, command);
    bool required = write_required(paper, route, command);
    key(paper, "additionalProperties");
    json_write_bool(&paper->writer, false);
    close_object(paper);
    return required;
}
