// SPDX-License-Identifier: MIT
#include "faces/http/openapi.h"

#include "base/ascii.h"
#include "base/json_writer.h"
#include "engine/job/job.h"
#include "faces/http/example.h"
#include "faces/http/member.h"
#include "faces/http/paper.h"
#include "faces/http/route.h"
#include "faces/http/schema.h"
#include "faces/http/shape.h"
#include "wire/http_target.h"

#include <assert.h>

#define JSON_TYPE "application/json"

enum {
    ID_SIZE_MAX = 128,
    TEXT_SIZE_MAX = 2048,
    EXAMPLE_SIZE_MAX = 1 << 16,
};

// ---------------------------------------------------------------------------------------------
// Routes

static const struct command *command_of(const struct paper *paper, const char *name)
{
    return name ? commands_find(paper->commands, slice_from_cstr(name)) : NULL;
}

// The command for one object: for a route with arrays, the command of each element.
static const struct command *single_command(const struct paper *paper,
                                            const struct http_route *route)
{
    const struct command *many = command_of(paper, route->many);
    return route->command ? command_of(paper, route->command) : many ? many->each : NULL;
}

static bool is_there(const struct paper *paper, const struct http_route *route)
{
    return route->page || single_command(paper, route);
}

static bool has_query(const struct http_route *route)
{
    return strcmp(route->method, "GET") == 0 || strcmp(route->method, "DELETE") == 0;
}

// ---------------------------------------------------------------------------------------------
// Parameters

static void open_parameter(struct paper *paper, struct slice name, const char *place, bool required)
{
    open_object(paper, NULL);
    key(paper, "name");
    json_write_string(&paper->writer, name);
    text(paper, "in", place);
    if (required) {
        key(paper, "required");
        json_write_bool(&paper->writer, true);
    }
}

static void write_path_parameter(struct paper *paper, const struct http_route *route,
                                 const struct command *command, struct slice name)
{
    const struct argument *argument = command ? http_member_find(command, name, true) : NULL;
    open_parameter(paper, name, "path", true);
    if (argument) {
        prose(paper, "description", argument->summary);
        key(paper, "schema");
        http_schema_argument(paper, route, argument, true);
    } else {
        text(paper, "description", "the namespace");
        open_object(paper, "schema");
        http_schema_name(paper);
        close_object(paper);
    }
    close_object(paper);
}

static void write_path_parameters(struct paper *paper, const struct http_route *route,
                                  const struct command *command)
{
    struct slice rest = slice_from_cstr(route->path);
    struct slice segment;
    while (http_path_next(&rest, &segment)) {
        if (http_route_is_parameter(segment)) {
            write_path_parameter(paper, route, command, slice_sub(segment, 1, segment.size - 2));
        }
    }
}

static void write_query_parameters(struct paper *paper, const struct http_route *route,
                                   const struct command *command)
{
    for (size_t i = 0; i < command->argument_count; i++) {
        const struct argument *argument = &command->arguments[i];
        struct http_member member;
        if (http_schema_in_path(route, argument)) {
            continue;
        }
        http_member_of(argument, &member);
        open_parameter(paper, member.name, "query", http_schema_is_required(route, argument));
        prose(paper, "description", argument->summary);
        key(paper, "schema");
        http_schema_argument(paper, route, argument, false);
        close_object(paper);
    }
}

static void write_idempotency_key(struct paper *paper)
{
    open_parameter(paper, SLICE("Idempotency-Key"), "header", false);
    text(paper, "description",
         "an id of the request: repeated with it within `request-history` (a day), it is answered "
         "as "
         "the first time and changes nothing; of an array each object is a request of its own");
    open_object(paper, "schema");
    text(paper, "type", "string");
    close_object(paper);
    close_object(paper);
}

static void write_page_parameters(struct paper *paper, const struct http_parameter *parameter)
{
    for (; parameter && parameter->name; parameter++) {
        if (strcmp(parameter->place, "body") == 0) {
            continue;
        }
        open_parameter(paper, slice_from_cstr(parameter->name), parameter->place, false);
        text(paper, "description", parameter->summary);
        open_object(paper, "schema");
        text(paper, "type", parameter->many ? "array" : "string");
        if (parameter->many) {
            open_object(paper, "items");
            text(paper, "type", "string");
            close_object(paper);
        }
        close_object(paper);
        close_object(paper);
    }
}

static void write_parameters(struct paper *paper, const struct http_route *route,
                             const struct command *command)
{
    open_list(paper, "parameters");
    write_path_parameters(paper, route, command);
    write_page_parameters(paper, route->parameters);
    if (command && has_query(route)) {
        write_query_parameters(paper, route, command);
    }
    if (route->flags & HTTP_ROUTE_IDEMPOTENT) {
        write_idempotency_key(paper);
    }
    close_list(paper);
}

// ---------------------------------------------------------------------------------------------
// Examples

static void write_example(struct paper *paper, struct slice json)
{
    open_object(paper, "examples");
    open_object(paper, "example");
    key(paper, "value");
    json_write_raw(&paper->writer, json);
    close_object(paper);
    close_object(paper);
}

static void write_request_example(struct paper *paper, const struct http_route *route,
                                  const struct command *command)
{
    struct buffer json;
    buffer_init(&json, paper->writer.buffer->allocator, EXAMPLE_SIZE_MAX);
    bool list = !route->command;
    if (list) {
        buffer_append_char(&json, '[');
    }
    http_example_request(route, command, &json);
    if (list) {
        buffer_append_char(&json, ']');
    }
    if (!json.status) {
        write_example(paper, buffer_slice(&json));
    }
    buffer_release(&json);
}

static void write_answer_example(struct paper *paper, const struct http_route *route,
                                 const struct command *command, bool many)
{
    struct buffer json;
    const struct http_json_options options = {
        .wrap = route->wrap,
        .each = many,
        .first = route->flags & HTTP_ROUTE_FIRST,
        .names = route->flags & HTTP_ROUTE_NAMES,
        .command = command,
    };
    buffer_init(&json, paper->writer.buffer->allocator, EXAMPLE_SIZE_MAX);
    const struct command *told = many ? command_of(paper, route->many) : command;
    if (http_example_reply(told, &options, &json) && !json.status) {
        write_example(paper, buffer_slice(&json));
    }
    buffer_release(&json);
}

// ---------------------------------------------------------------------------------------------
// Bodies

static bool has_members(const struct http_route *route, const struct command *command)
{
    for (size_t i = 0; i < command->argument_count; i++) {
        if (!http_schema_in_path(route, &command->arguments[i])) {
            return true;
        }
    }
    return false;
}

static void write_array(struct paper *paper, const struct http_route *route,
                        const struct command *command)
{
    open_object(paper, NULL);
    text(paper, "type", "array");
    key(paper, "items");
    (void)http_schema_object(paper, route, command);
    close_object(paper);
}

// Writes named members, each an object or a string.
static void write_keyed(struct paper *paper, const struct http_route *route,
                        const struct command *command)
{
    open_object(paper, NULL);
    text(paper, "type", "object");
    open_object(paper, "additionalProperties");
    open_list(paper, "oneOf");
    open_object(paper, NULL);
    text(paper, "type", "string");
    prose(paper, "description", command->arguments[1].summary);
    close_object(paper);
    (void)http_schema_object(paper, route, command);
    close_list(paper);
    close_object(paper);
    close_object(paper);
}

static void write_body(struct paper *paper, const struct http_route *route,
                       const struct command *command)
{
    if (has_query(route) || !has_members(route, command)) {
        return;
    }
    bool required = route->many != NULL;
    open_object(paper, "requestBody");
    open_object(paper, "content");
    open_object(paper, JSON_TYPE);
    key(paper, "schema");
    if (!route->many) {
        required = http_schema_object(paper, route, command);
    } else if (route->key) {
        write_keyed(paper, route, command);
    } else if (!route->command) {
        write_array(paper, route, command);
    } else {
        open_object(paper, NULL);
        open_list(paper, "oneOf");
        (void)http_schema_object(paper, route, command);
        write_array(paper, route, command);
        close_list(paper);
        close_object(paper);
    }
    if (!route->key) {
        write_request_example(paper, route, command);
    }
    close_object(paper);
    close_object(paper);
    key(paper, "required");
    json_write_bool(&paper->writer, required);
    close_object(paper);
}

// Writes the body of a page: an object of strings.
static void write_page_body(struct paper *paper, const struct http_parameter *parameter)
{
    bool any = false;
    for (; parameter && parameter->name; parameter++) {
        if (strcmp(parameter->place, "body") != 0) {
            continue;
        }
        if (!any) {
            any = true;
            open_object(paper, "requestBody");
            open_object(paper, "content");
            open_object(paper, JSON_TYPE);
            open_object(paper, "schema");
            text(paper, "type", "object");
            open_object(paper, "properties");
        }
        open_object(paper, parameter->name);
        text(paper, "type", "string");
        text(paper, "description", parameter->summary);
        close_object(paper);
    }
    for (int depth = any ? 5 : 0; depth > 0; depth--) {
        close_object(paper);
    }
}

// ---------------------------------------------------------------------------------------------
// Replies

// Writes the item of a list type, without its '?'.
static void write_first_shape(struct paper *paper, const char *shape)
{
    char item[ID_SIZE_MAX];
    size_t size = strlen(shape);
    assert(shape[0] == '[' && size < sizeof(item));
    size -= strlen(shape[size - 2] == '?' ? "[?]" : "[]");
    memcpy(item, shape + 1, size);
    item[size] = '\0';
    http_shape_write(&paper->writer, item);
}

// Writes the schema of one answer: a member of an object if it is not an object itself.
static void write_one_answer(struct paper *paper, const struct http_route *route, const char *shape)
{
    if (!shape) {
        open_object(paper, NULL);
        text(paper, "type", "object");
        close_object(paper);
    } else if (route->flags & HTTP_ROUTE_FIRST) {
        write_first_shape(paper, shape);
    } else if (!route->wrap) {
        http_shape_write(&paper->writer, shape);
    } else {
        open_object(paper, NULL);
        text(paper, "type", "object");
        open_object(paper, "properties");
        key(paper, route->wrap);
        http_shape_write(&paper->writer, shape);
        close_object(paper);
        open_list(paper, "required");
        json_write_string(&paper->writer, slice_from_cstr(route->wrap));
        close_list(paper);
        key(paper, "additionalProperties");
        json_write_bool(&paper->writer, false);
        close_object(paper);
    }
}

static void write_many_answers(struct paper *paper, const struct http_route *route,
                               const char *shape)
{
    open_object(paper, NULL);
    text(paper, "type", "array");
    open_object(paper, "items");
    open_list(paper, "anyOf");
    write_one_answer(paper, route, shape);
    open_object(paper, NULL);
    text(paper, "$ref", "#/components/schemas/Problem");
    close_object(paper);
    close_list(paper);
    close_object(paper);
    close_object(paper);
}

static void open_response(struct paper *paper, unsigned status, const char *description)
{
    char code[16];
    (void)snprintf(code, sizeof(code), "%u", status);
    open_object(paper, code);
    prose(paper, "description", description);
}

static void write_location(struct paper *paper)
{
    open_object(paper, "headers");
    open_object(paper, "Location");
    text(paper, "description", "the path of what was made");
    open_object(paper, "schema");
    text(paper, "type", "string");
    close_object(paper);
    close_object(paper);
    close_object(paper);
}

struct response {
    unsigned status;
    const char *description;
    bool one, many; // the request is an object; the request is an array
};

static void write_answers(struct paper *paper, const struct http_route *route, const char *shape,
                          const struct response *response)
{
    bool either = response->one && response->many;
    if (either) {
        open_object(paper, NULL);
        open_list(paper, "oneOf");
    }
    if (response->one) {
        write_one_answer(paper, route, shape);
    }
    if (response->many) {
        write_many_answers(paper, route, shape);
    }
    if (either) {
        close_list(paper);
        close_object(paper);
    }
}

static void write_response(struct paper *paper, const struct http_route *route,
                           const struct command *command, const struct response *response)
{
    const char *shape = http_shape_of(command->name);
    open_response(paper, response->status, response->description);
    if (response->one && route->location && response->status == 201) {
        write_location(paper);
    }
    if (response->status != 204) {
        open_object(paper, "content");
        open_object(paper, JSON_TYPE);
        key(paper, "schema");
        write_answers(paper, route, shape, response);
        write_answer_example(paper, route, command, !response->one);
        close_object(paper);
        close_object(paper);
    }
    close_object(paper);
}

static void write_problem_responses(struct paper *paper)
{
    static const char *const codes[] = { "4XX", "5XX" };
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        open_object(paper, codes[i]);
        text(paper, "$ref", "#/components/responses/Problem");
        close_object(paper);
    }
}

static void write_page_contents(struct paper *paper, const char *const types[2])
{
    open_object(paper, "content");
    for (size_t i = 0; i < 2 && types[i]; i++) {
        open_object(paper, types[i]);
        open_object(paper, "schema");
        if (strcmp(types[i], JSON_TYPE) != 0) {
            text(paper, "type", "string");
        }
        close_object(paper);
        close_object(paper);
    }
    close_object(paper);
}

// For a route that creates numbered objects, or accepts an array.
static const char *description_of_200(const struct http_route *route)
{
    bool numbered = route->flags & HTTP_ROUTE_NUMBERED;
    return !route->many ? "It was there before."
           : numbered ? "It was there before; or, of an array, for each object its own answer, or "
                        "a problem."
                      : "For each object its own answer, or a problem.";
}

static void write_responses(struct paper *paper, const struct http_route *route,
                            const struct command *command)
{
    open_object(paper, "responses");
    if (!command) {
        open_response(paper, route->status, route->summary);
        if (route->contents[0]) {
            write_page_contents(paper, route->contents);
        }
        close_object(paper);
    } else {
        bool numbered = route->flags & HTTP_ROUTE_NUMBERED;
        if (route->command) {
            write_response(paper, route, command,
                           &(struct response){ route->status, command->replies, .one = true });
        }
        if (route->many || numbered) {
            write_response(paper, route, command,
                           &(struct response){ 200, description_of_200(route), numbered,
                                               route->many != NULL });
        }
        if (route->flags & HTTP_ROUTE_NULL_EMPTY) {
            open_response(paper, 204, "The time was over.");
            close_object(paper);
        }
        if (strcmp(route->method, "GET") == 0 && !(command->flags & COMMAND_WAITS)) {
            open_response(paper, 304, "It is still what If-None-Match names.");
            close_object(paper);
        }
    }
    write_problem_responses(paper);
    close_object(paper);
}

// ---------------------------------------------------------------------------------------------
// Operations

static void write_operation(struct paper *paper, const struct http_route *route)
{
    const struct command *command = single_command(paper, route);
    char method[16];
    size_t size = 0;
    for (const char *c = route->method; *c && size + 1 < sizeof(method); c++) {
        method[size++] = ascii_lower(*c);
    }
    method[size] = '\0';
    paper->command = command;
    open_object(paper, method);
    text(paper, "operationId", route->id);
    open_list(paper, "tags");
    json_write_string(&paper->writer, slice_from_cstr(command ? command->group : "server"));
    close_list(paper);
    prose(paper, "summary", command ? command->summary : route->summary);
    if (command && command->details) {
        prose(paper, "description", command->details);
    }
    if (command) {
        text(paper, "x-command", command->name);
    }
    write_parameters(paper, route, command);
    if (command) {
        write_body(paper, route, command);
    } else {
        write_page_body(paper, route->parameters);
    }
    write_responses(paper, route, command);
    close_object(paper);
    paper->command = NULL;
}

static bool opens_path(const struct paper *paper, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(http_routes.items[i].path, http_routes.items[index].path) == 0 &&
            is_there(paper, &http_routes.items[i])) {
            return false;
        }
    }
    return is_there(paper, &http_routes.items[index]);
}

static void write_path(struct paper *paper, size_t first)
{
    const char *path = http_routes.items[first].path;
    open_object(paper, path);
    for (size_t i = first; i < http_routes.count; i++) {
        const struct http_route *route = &http_routes.items[i];
        if (strcmp(route->path, path) == 0 && is_there(paper, route)) {
            write_operation(paper, route);
        }
    }
    close_object(paper);
}

// ---------------------------------------------------------------------------------------------
// Shared components

static void write_state_schema(struct paper *paper)
{
    open_object(paper, "State");
    text(paper, "type", "string");
    open_list(paper, "enum");
    for (int state = 0; state < JOB_STATE_COUNT; state++) {
        json_write_string(&paper->writer, slice_from_cstr(job_state_name((enum job_state)state)));
    }
    close_list(paper);
    close_object(paper);
}

static void write_code_schema(struct paper *paper)
{
    open_object(paper, "code");
    text(paper, "type", "string");
    open_list(paper, "enum");
    for (int status = STATUS_OK + 1; status < STATUS_COUNT; status++) {
        json_write_string(&paper->writer, slice_from_cstr(status_name((enum status)status)));
    }
    close_list(paper);
    close_object(paper);
}

static void write_property(struct paper *paper, const char *name, const char *type,
                           const char *description)
{
    open_object(paper, name);
    text(paper, "type", type);
    text(paper, "description", description);
    close_object(paper);
}

static void write_problem_schema(struct paper *paper)
{
    static const char *const required[] = { "type", "title", "status", "code", "detail" };
    open_object(paper, "Problem");
    text(paper, "type", "object");
    text(paper, "description", "Problem details, as in RFC 9457.");
    open_object(paper, "properties");
    write_property(paper, "type", "string", "about:blank");
    write_property(paper, "title", "string", "the words for the status");
    write_property(paper, "status", "integer", "the HTTP status");
    write_code_schema(paper);
    write_property(paper, "detail", "string", "what was wrong, in a sentence");
    write_property(paper, "field", "string", "the member or parameter that was wrong");
    close_object(paper);
    open_list(paper, "required");
    for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
        json_write_string(&paper->writer, slice_from_cstr(required[i]));
    }
    close_list(paper);
    close_object(paper);
}

static void write_schemas(struct paper *paper)
{
    open_object(paper, "schemas");
    write_problem_schema(paper);
    write_state_schema(paper);
    for (size_t i = 0; http_shape_at(i)->name; i++) {
        key(paper, http_shape_at(i)->name);
        http_shape_write(&paper->writer, http_shape_at(i)->text);
    }
    close_object(paper);
}

static void write_security_scheme(struct paper *paper, const char *name, const char *scheme)
{
    open_object(paper, name);
    text(paper, "type", "http");
    text(paper, "scheme", scheme);
    close_object(paper);
}

static void write_components(struct paper *paper)
{
    open_object(paper, "components");
    write_schemas(paper);
    open_object(paper, "responses");
    open_object(paper, "Problem");
    text(paper, "description", "It was refused, or did not work: why.");
    open_object(paper, "content");
    open_object(paper, "application/problem+json");
    open_object(paper, "schema");
    text(paper, "$ref", "#/components/schemas/Problem");
    close_object(paper);
    close_object(paper);
    close_object(paper);
    close_object(paper);
    close_object(paper);
    open_object(paper, "securitySchemes");
    write_security_scheme(paper, "bearer", "bearer");
    write_security_scheme(paper, "basic", "basic");
    close_object(paper);
    close_object(paper);
}

static void write_info(struct paper *paper, const char *version)
{
    open_object(paper, "info");
    text(paper, "title", "Sluice");
    text(paper, "version", version);
    text(paper, "description",
         "A job queue: programs put jobs in, workers take them out under a lease, and nothing that "
         "was acknowledged is lost. Each operation runs a command, which clients of Redis's "
         "protocol "
         "call by the name in `x-command`.");
    open_object(paper, "license");
    text(paper, "name", "MIT");
    text(paper, "identifier", "MIT");
    close_object(paper);
    close_object(paper);
}

// The address that sluiced listens on unless it is told otherwise. It is a variable, since clients
// reach a server by its own name or behind a proxy.
static void write_servers(struct paper *paper)
{
    open_list(paper, "servers");
    open_object(paper, NULL);
    text(paper, "url", "{server}");
    text(paper, "description", "A sluiced, or a proxy in front of it.");
    open_object(paper, "variables");
    open_object(paper, "server");
    text(paper, "default", "http://127.0.0.1:7712");
    text(paper, "description", "scheme, host, port and, behind a proxy, its path");
    close_object(paper);
    close_object(paper);
    close_object(paper);
    close_list(paper);
}

static void write_security(struct paper *paper)
{
    static const char *const names[] = { "bearer", "basic" };
    open_list(paper, "security");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        open_object(paper, NULL);
        open_list(paper, names[i]);
        close_list(paper);
        close_object(paper);
    }
    // An empty requirement, because without users no client has to authenticate.
    open_object(paper, NULL);
    close_object(paper);
    close_list(paper);
}

void http_openapi(const struct commands *commands, const char *version, struct buffer *out)
{
    struct paper paper = { .commands = commands };
    json_writer_init(&paper.writer, out);
    open_object(&paper, NULL);
    text(&paper, "openapi", "3.1.0");
    write_info(&paper, version);
    write_servers(&paper);
    write_security(&paper);
    open_object(&paper, "paths");
    for (size_t i = 0; i < http_routes.count; i++) {
        if (opens_path(&paper, i)) {
            write_path(&paper, i);
        }
    }
    close_object(&paper);
    write_components(&paper);
    close_object(&paper);
}
