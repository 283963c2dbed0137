// SPDX-License-Identifier: MIT
#include "faces/http/face.h"

#include "faces/http/openapi.h"

enum {
    OPENAPI_MAX = 4 << 20,
};

const struct command *http_face_command(const struct http_face *face, const char *name)
{
    return name ? commands_find(face->options.commands, slice_from_cstr(name)) : NULL;
}

static bool is_there(const struct http_face *face, const struct http_route *route)
{
    return route->page || http_face_command(face, route->command ? route->command : route->many);
}

static void find_patterns(struct http_face *face)
{
    for (size_t i = 0; i < http_routes.count; i++) {
        if (is_there(face, &http_routes.items[i])) {
            http_pattern_init(&face->patterns[face->pattern_count++], &http_routes.items[i]);
        }
    }
}

enum status http_face_new(const struct http_face_options *options, struct http_face **out)
{
    struct http_face *face = mem_zalloc(options->allocator, sizeof(*face));
    if (!face) {
        return STATUS_NO_MEMORY;
    }
    face->options = *options;
    face->patterns = mem_alloc(options->allocator, http_routes.count * sizeof(face->patterns[0]));
    if (!face->patterns) {
        mem_free(options->allocator, face, sizeof(*face));
        return STATUS_NO_MEMORY;
    }
    find_patterns(face);
    http_words_init(&face->words, options->allocator);
    buffer_init(&face->path_text, options->allocator, SIZE_MAX / 2);
    buffer_init(&face->body, options->allocator, options->reply_max);
    buffer_init(&face->openapi, options->allocator, OPENAPI_MAX);
    buffer_init(&face->packed, options->allocator, options->reply_max);
    face->second = -1;
    http_face_set_time(face, 0);
    *out = face;
    return STATUS_OK;
}

void http_face_free(struct http_face *face)
{
    if (face) {
        http_words_release(&face->words);
        buffer_release(&face->path_text);
        buffer_release(&face->body);
        buffer_release(&face->openapi);
        mem_free(face->options.allocator, face->patterns,
                 http_routes.count * sizeof(face->patterns[0]));
        buffer_release(&face->packed);
        mem_free(face->options.allocator, face, sizeof(*face));
    }
}

void http_face_set_time(struct http_face *face, int64_t now_us)
{
    if (now_us / 1000000 != face->second) {
        face->second = now_us / 1000000;
        http_date(now_us, face->date);
    }
}

const struct error *http_face_refusal(const struct http_face *face)
{
    return face->refusal.status ? &face->refusal : NULL;
}

void http_face_openapi(const struct http_face *face, struct buffer *out)
{
    http_openapi(face->options.commands, face->options.version, out);
}
