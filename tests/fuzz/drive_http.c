// SPDX-License-Identifier: MIT
#include "drive.h"
#include "faces/http/member.h"
#include "faces/http/route.h"
#include "generate.h"
#include "http_world.h"
#include "require.h"

#include <string.h>

enum {
    WIRE_MAX = 1 << 25,
};

struct local_call {
    struct generator generator;
    struct buffer path, query, body, wire;
};

static void append_escaped(struct buffer *out, struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        bool plain = (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') ||
                     (byte >= 'A' && byte <= 'Z');
        if (plain) {
            buffer_append_char(out, (char)byte);
        } else {
            buffer_printf(out, "%%%02X", byte);
        }
    }
}

// A JSON string; bytes that are no UTF-8 stay as they are, for the face to refuse.
static void append_string(struct buffer *out, struct slice text)
{
    buffer_append_char(out, '"');
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        if (byte == '"' || byte == '\\') {
            buffer_append_char(out, '\\');
        }
        if (byte < 0x20) {
            buffer_printf(out, "\\u%04x", byte);
        } else {
            buffer_append_char(out, (char)byte);
        }
    }
    buffer_append_char(out, '"');
}

static bool is_number(struct slice text)
{
    return text.size > 0 && text.size < 40 &&
           (text.data[0] == '-' || (text.data[0] >= '0' && text.data[0] <= '9'));
}

static void append_value(struct buffer *out, const struct argument *argument, struct slice text)
{
    bool number = argument->type == ARGUMENT_INTEGER || argument->type == ARGUMENT_SECONDS ||
                  argument->type == ARGUMENT_FRACTION || argument->type == ARGUMENT_MOMENT;
    if (argument->type == ARGUMENT_FLAG) {
        buffer_append(out, SLICE("true"));
    } else if (argument->type == ARGUMENT_JSON || (number && is_number(text))) {
        buffer_append(out, text);
    } else {
        append_string(out, text);
    }
}

static void append_member(struct local_call *local_call, const struct given *given,
                          const struct given_argument *at)
{
    struct buffer *out = &local_call->body;
    struct http_member member;
    http_member_of(at->argument, &member);
    append_string(out, member.name);
    buffer_append_char(out, ':');
    if (!(at->argument->flags & ARGUMENT_REPEATED)) {
        append_value(out, at->argument, at->count ? given->values[at->first] : SLICE_EMPTY);
        return;
    }
    buffer_append_char(out, '[');
    for (size_t v = 0; v < at->count; v++) {
        if (v) {
            buffer_append_char(out, ',');
        }
        append_value(out, at->argument, given->values[at->first + v]);
    }
    buffer_append_char(out, ']');
}

static bool is_in_path(const struct http_route *route, const struct argument *argument)
{
    struct http_member member;
    http_member_of(argument, &member);
    return http_route_has_parameter(route, member.singular);
}

static void append_object(struct local_call *local_call, const struct http_route *route,
                          const struct given *given)
{
    bool first = true;
    buffer_append_char(&local_call->body, '{');
    for (size_t i = 0; i < given->argument_count; i++) {
        if (is_in_path(route, given->arguments[i].argument)) {
            continue;
        }
        if (!first) {
            buffer_append_char(&local_call->body, ',');
        }
        first = false;
        append_member(local_call, given, &given->arguments[i]);
    }
    buffer_append_char(&local_call->body, '}');
}

static void append_query(struct local_call *local_call, const struct http_route *route,
                         const struct given *given)
{
    for (size_t i = 0; i < given->argument_count; i++) {
        const struct given_argument *at = &given->arguments[i];
        struct http_member member;
        if (is_in_path(route, at->argument)) {
            continue;
        }
        http_member_of(at->argument, &member);
        for (size_t v = 0; v < at->count + (at->argument->type == ARGUMENT_FLAG); v++) {
            buffer_append_char(&local_call->query, local_call->query.size ? '&' : '?');
            append_escaped(&local_call->query, member.name);
            buffer_append_char(&local_call->query, '=');
            append_escaped(&local_call->query,
                           at->count ? given->values[at->first + v] : SLICE("true"));
        }
    }
}

// The route's path with something in place of each parameter.
static void append_path(struct local_call *local_call, const struct http_route *route,
                        const struct given *given)
{
    struct slice rest = slice_from_cstr(route->path);
    while (rest.size) {
        const char *brace = memchr(rest.data, '{', rest.size);
        size_t plain = brace ? (size_t)(brace - rest.data) : rest.size;
        buffer_append(&local_call->path, slice_sub(rest, 0, plain));
        rest = slice_sub(rest, plain, SIZE_MAX);
        if (!brace) {
            return;
        }
        size_t end = (size_t)((const char *)memchr(rest.data, '}', rest.size) - rest.data);
        struct slice name = slice_sub(rest, 1, end - 1);
        struct slice value =
            slice_equal(name, SLICE("ns")) ? SLICE("app") : generate_name(&local_call->generator);
        for (size_t i = 0; i < given->argument_count; i++) {
            struct http_member member;
            http_member_of(given->arguments[i].argument, &member);
            if (slice_equal(member.singular, name) && given->arguments[i].count) {
                value = given->values[given->arguments[i].first];
            }
        }
        append_escaped(&local_call->path, value);
        rest = slice_sub(rest, end + 1, SIZE_MAX);
    }
}

static void append_headers(struct local_call *local_call)
{
    static const char *const headers[] = {
        "Idempotency-Key: a\r\n",   "Accept: application/json\r\n", "Accept-Encoding: gzip\r\n",
        "If-None-Match: \"a\"\r\n", "Prefer: wait=0\r\n",
    };
    struct draw *draw = local_call->generator.draw;
    if (draw_chance(draw, 48)) {
        buffer_printf(&local_call->wire, "%s",
                      headers[draw_below(draw, sizeof(headers) / sizeof(headers[0]))]);
    }
    if (draw_chance(draw, 8)) {
        // A key of a size that is a limit, of bytes that a header may have.
        struct slice key = generate_hostile(&local_call->generator);
        buffer_append(&local_call->wire, SLICE("Idempotency-Key: "));
        for (size_t i = 0; i < key.size && i < 70000; i++) {
            buffer_append_char(&local_call->wire, 'k');
        }
        buffer_append(&local_call->wire, SLICE("\r\n"));
    }
}

static void make_body(struct local_call *local_call, const struct http_world *world,
                      const struct http_route *route)
{
    static struct given given;
    struct draw *draw = local_call->generator.draw;
    const struct command *one =
        route->command ? commands_find(world->commands, slice_from_cstr(route->command)) : NULL;
    const struct command *many =
        route->many ? commands_find(world->commands, slice_from_cstr(route->many)) : NULL;
    bool with_body = strcmp(route->method, "GET") != 0 && strcmp(route->method, "DELETE") != 0;
    given.argument_count = given.value_count = 0;
    if (many && (!one || draw_chance(draw, 64))) {
        const struct command *each = many->each ? many->each : many;
        uint32_t count = draw_below(draw, 4);
        buffer_append_char(&local_call->body, '[');
        for (uint32_t i = 0; i < count; i++) {
            if (i) {
                buffer_append_char(&local_call->body, ',');
            }
            generate_arguments(&local_call->generator, each, &given);
            append_object(local_call, route, &given);
        }
        buffer_append_char(&local_call->body, ']');
    } else if (one) {
        generate_arguments(&local_call->generator, one, &given);
        if (with_body) {
            append_object(local_call, route, &given);
        } else {
            append_query(local_call, route, &given);
        }
    }
    append_path(local_call, route, &given);
    if (local_call->body.size && draw_chance(draw, 8)) {
        buffer_clear(&local_call->body);
        buffer_append(&local_call->body, generate_hostile(&local_call->generator));
    }
}

static void make_request(struct local_call *local_call, const struct http_world *world,
                         const struct http_route *route)
{
    buffer_clear(&local_call->path);
    buffer_clear(&local_call->query);
    buffer_clear(&local_call->body);
    buffer_clear(&local_call->wire);
    make_body(local_call, world, route);
    buffer_printf(&local_call->wire, "%s ", route->method);
    buffer_append(&local_call->wire, buffer_slice(&local_call->path));
    buffer_append(&local_call->wire, buffer_slice(&local_call->query));
    buffer_printf(&local_call->wire, " HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n",
                  local_call->body.size);
    append_headers(local_call);
    if (local_call->body.size) {
        buffer_append(&local_call->wire, SLICE("Content-Type: application/json\r\n"));
    }
    buffer_append(&local_call->wire, SLICE("\r\n"));
    buffer_append(&local_call->wire, buffer_slice(&local_call->body));
    require(!local_call->wire.status && !local_call->body.status && !local_call->path.status &&
                !local_call->query.status,
            "a request does not fit");
}

// Whether it is a command of this world; others are not found.
static bool is_known(const struct http_world *world, const struct http_route *route)
{
    const char *name = route->command ? route->command : route->many;
    return name && commands_find(world->commands, slice_from_cstr(name));
}

static size_t drive(struct draw *draw, size_t steps, struct drive_counts *counts)
{
    struct http_world world;
    struct local_call local_call;
    size_t step = 0;
    http_world_init(&world);
    generator_init(&local_call.generator, draw, world.now_us);
    struct buffer *const buffers[] = { &local_call.path, &local_call.query, &local_call.body,
                                       &local_call.wire };
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        buffer_init(buffers[i], &allocator_system, WIRE_MAX);
    }
    uint32_t count = (uint32_t)http_routes.count, put = 0, pop = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *command = http_routes.items[i].command;
        put = command && strcmp(command, "Q.PUT") == 0 ? i : put;
        pop = command && strcmp(command, "Q.POP") == 0 ? i : pop;
    }
    for (; step < steps && step < DRIVE_STEPS_MAX && !draw_is_over(draw) &&
           world.memory.used < BOUNDED_ENOUGH;
         step++) {
        generator_clear(&local_call.generator);
        if (draw_chance(draw, 24)) {
            world.now_us += (int64_t)draw_below(draw, 5000) * 1000;
        }
        local_call.generator.now_us = world.now_us;
        uint32_t at = drive_pick(draw, count, put, pop);
        const struct http_route *route = &http_routes.items[at];
        make_request(&local_call, &world, route);
        bool worked = http_world_ask(&world, buffer_slice(&local_call.wire));
        if (is_known(&world, route)) {
            drive_note(counts, at, route->method, route->path, worked);
        }
        if (step % DRIVE_CHECK_EVERY == 0) {
            http_world_check(&world);
        }
    }
    http_world_check(&world);
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        buffer_release(buffers[i]);
    }
    http_world_release(&world);
    return step;
}

void drive_http(struct draw *draw, size_t steps, struct drive_counts *counts)
{
    while (steps && !draw_is_over(draw)) {
        steps -= drive(draw, steps, counts);
    }
}
