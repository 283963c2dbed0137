// SPDX-License-Identifier: MIT
#include "drive.h"
#include "faces/http_member.h"
#include "faces/http_route.h"
#include "generate.h"
#include "http_world.h"
#include "require.h"

#include <string.h>

enum {
    WIRE_MAX = 1 << 25,
};

struct asking {
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

static void append_member(struct asking *asking, const struct given *given,
                          const struct given_argument *at)
{
    struct buffer *out = &asking->body;
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

static void append_object(struct asking *asking, const struct http_route *route,
                          const struct given *given)
{
    bool first = true;
    buffer_append_char(&asking->body, '{');
    for (size_t i = 0; i < given->argument_count; i++) {
        if (is_in_path(route, given->arguments[i].argument)) {
            continue;
        }
        if (!first) {
            buffer_append_char(&asking->body, ',');
        }
        first = false;
        append_member(asking, given, &given->arguments[i]);
    }
    buffer_append_char(&asking->body, '}');
}

static void append_query(struct asking *asking, const struct http_route *route,
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
            buffer_append_char(&asking->query, asking->query.size ? '&' : '?');
            append_escaped(&asking->query, member.name);
            buffer_append_char(&asking->query, '=');
            append_escaped(&asking->query,
                           at->count ? given->values[at->first + v] : SLICE("true"));
        }
    }
}

// The route's path with something in place of each parameter.
static void append_path(struct asking *asking, const struct http_route *route,
                        const struct given *given)
{
    struct slice rest = slice_from_cstr(route->path);
    while (rest.size) {
        const char *brace = memchr(rest.data, '{', rest.size);
        size_t plain = brace ? (size_t)(brace - rest.data) : rest.size;
        buffer_append(&asking->path, slice_sub(rest, 0, plain));
        rest = slice_sub(rest, plain, SIZE_MAX);
        if (!brace) {
            return;
        }
        size_t end = (size_t)((const char *)memchr(rest.data, '}', rest.size) - rest.data);
        struct slice name = slice_sub(rest, 1, end - 1);
        struct slice value =
            slice_equal(name, SLICE("ns")) ? SLICE("app") : generate_name(&asking->generator);
        for (size_t i = 0; i < given->argument_count; i++) {
            struct http_member member;
            http_member_of(given->arguments[i].argument, &member);
            if (slice_equal(member.singular, name) && given->arguments[i].count) {
                value = given->values[given->arguments[i].first];
            }
        }
        append_escaped(&asking->path, value);
        rest = slice_sub(rest, end + 1, SIZE_MAX);
    }
}

static void append_headers(struct asking *asking)
{
    static const char *const headers[] = {
        "Idempotency-Key: a\r\n",   "Accept: application/json\r\n", "Accept-Encoding: gzip\r\n",
        "If-None-Match: \"a\"\r\n", "Prefer: wait=0\r\n",
    };
    struct draw *draw = asking->generator.draw;
    if (draw_chance(draw, 48)) {
        buffer_printf(&asking->wire, "%s",
                      headers[draw_below(draw, sizeof(headers) / sizeof(headers[0]))]);
    }
    if (draw_chance(draw, 8)) {
        // A key of a size that is a limit, of bytes that a header may have.
        struct slice key = generate_hostile(&asking->generator);
        buffer_append(&asking->wire, SLICE("Idempotency-Key: "));
        for (size_t i = 0; i < key.size && i < 70000; i++) {
            buffer_append_char(&asking->wire, 'k');
        }
        buffer_append(&asking->wire, SLICE("\r\n"));
    }
}

static void make_body(struct asking *asking, const struct http_world *world,
                      const struct http_route *route)
{
    static struct given given;
    struct draw *draw = asking->generator.draw;
    const struct command *one =
        route->command ? commands_find(world->commands, slice_from_cstr(route->command)) : NULL;
    const struct command *many =
        route->many ? commands_find(world->commands, slice_from_cstr(route->many)) : NULL;
    bool with_body = strcmp(route->method, "GET") != 0 && strcmp(route->method, "DELETE") != 0;
    given.argument_count = given.value_count = 0;
    if (many && (!one || draw_chance(draw, 64))) {
        const struct command *each = many->each ? many->each : many;
        uint32_t count = draw_below(draw, 4);
        buffer_append_char(&asking->body, '[');
        for (uint32_t i = 0; i < count; i++) {
            if (i) {
                buffer_append_char(&asking->body, ',');
            }
            generate_arguments(&asking->generator, each, &given);
            append_object(asking, route, &given);
        }
        buffer_append_char(&asking->body, ']');
    } else if (one) {
        generate_arguments(&asking->generator, one, &given);
        if (with_body) {
            append_object(asking, route, &given);
        } else {
            append_query(asking, route, &given);
        }
    }
    append_path(asking, route, &given);
    if (asking->body.size && draw_chance(draw, 8)) {
        buffer_clear(&asking->body);
        buffer_append(&asking->body, generate_hostile(&asking->generator));
    }
}

static void make_request(struct asking *asking, const struct http_world *world,
                         const struct http_route *route)
{
    buffer_clear(&asking->path);
    buffer_clear(&asking->query);
    buffer_clear(&asking->body);
    buffer_clear(&asking->wire);
    make_body(asking, world, route);
    buffer_printf(&asking->wire, "%s ", route->method);
    buffer_append(&asking->wire, buffer_slice(&asking->path));
    buffer_append(&asking->wire, buffer_slice(&asking->query));
    buffer_printf(&asking->wire, " HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n",
                  asking->body.size);
    append_headers(asking);
    if (asking->body.size) {
        buffer_append(&asking->wire, SLICE("Content-Type: application/json\r\n"));
    }
    buffer_append(&asking->wire, SLICE("\r\n"));
    buffer_append(&asking->wire, buffer_slice(&asking->body));
    require(!asking->wire.status && !asking->body.status && !asking->path.status &&
                !asking->query.status,
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
    struct asking asking;
    size_t step = 0;
    http_world_init(&world);
    generator_init(&asking.generator, draw, world.now_us);
    struct buffer *const buffers[] = { &asking.path, &asking.query, &asking.body, &asking.wire };
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
        generator_clear(&asking.generator);
        if (draw_chance(draw, 24)) {
            world.now_us += (int64_t)draw_below(draw, 5000) * 1000;
        }
        asking.generator.now_us = world.now_us;
        uint32_t at = drive_pick(draw, count, put, pop);
        const struct http_route *route = &http_routes.items[at];
        make_request(&asking, &world, route);
        bool worked = http_world_ask(&world, buffer_slice(&asking.wire));
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
    generator_release(&asking.generator);
    http_world_release(&world);
    return step;
}

void drive_http(struct draw *draw, size_t steps, struct drive_counts *counts)
{
    while (steps && !draw_is_over(draw)) {
        steps -= drive(draw, steps, counts);
    }
}
