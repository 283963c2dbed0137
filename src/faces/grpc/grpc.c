// SPDX-License-Identifier: MIT
#include "faces/grpc/face.h"

#include <assert.h>
#include <stdio.h>

static enum status bind_command(struct grpc_face *face, const char *name,
                                const struct grpc_message *message, struct grpc_bound_command *out)
{
    out->command = name ? commands_find(face->options.commands, slice_from_cstr(name)) : NULL;
    if (!out->command) {
        return STATUS_OK;
    }
    const struct command *each = out->command->each;
    return grpc_plan_new(face->options.allocator, message, each ? each : out->command, &out->plan);
}

static void unbind(struct grpc_bound *bound)
{
    for (size_t i = 0; i < GRPC_STEPS_MAX; i++) {
        grpc_plan_free(bound->steps[i].plan);
    }
    grpc_plan_free(bound->otherwise.plan);
}

static enum status bind(struct grpc_face *face, const struct grpc_method_entry *entry,
                        struct grpc_bound *out)
{
    *out = (struct grpc_bound){ .rpc = grpc_method_rpc(entry) };
    enum status status = bind_command(face, entry->otherwise, out->rpc->request, &out->otherwise);
    for (size_t i = 0; i < GRPC_STEPS_MAX && !status; i++) {
        status = bind_command(face, entry->steps[i].command, out->rpc->request, &out->steps[i]);
    }
    int size = snprintf(out->path, sizeof(out->path), "/%s/%s", entry->service->name, entry->rpc);
    assert(size > 0 && (size_t)size < sizeof(out->path));
    out->method = (struct grpc_method){
        .path = out->path,
        .name = entry->rpc,
        .act = entry->act,
        .streams_in = out->rpc->streams_in,
        .streams_out = out->rpc->streams_out,
        .anybody = entry->anybody,
        .entry = entry,
    };
    return status;
}

// A method whose commands the host does not have does not exist.
static bool is_there(const struct grpc_bound *bound)
{
    for (size_t i = 0; i < GRPC_STEPS_MAX; i++) {
        if (bound->method.entry->steps[i].command && !bound->steps[i].command) {
            return false;
        }
    }
    return true;
}

static enum status bind_all(struct grpc_face *face)
{
    for (size_t i = 0; i < grpc_method_entries.count; i++) {
        struct grpc_bound *bound = &face->methods[face->method_count];
        enum status status = bind(face, &grpc_method_entries.items[i], bound);
        if (status || !is_there(bound)) {
            unbind(bound);
        }
        if (status) {
            return status;
        }
        face->method_count += is_there(bound);
    }
    // The array does not move from here on.
    for (size_t i = 0; i < face->method_count; i++) {
        face->methods[i].method.path = face->methods[i].path;
    }
    return STATUS_OK;
}

enum status grpc_face_new(const struct grpc_face_options *options, struct grpc_face **out)
{
    struct grpc_face *face = mem_zalloc(options->allocator, sizeof(*face));
    if (!face) {
        return STATUS_NO_MEMORY;
    }
    face->options = *options;
    grpc_words_init(&face->words, options->allocator);
    buffer_init(&face->body, options->allocator, options->reply_max);
    face->methods =
        mem_zalloc(options->allocator, grpc_method_entries.count * sizeof(face->methods[0]));
    enum status status = face->methods ? bind_all(face) : STATUS_NO_MEMORY;
    if (status) {
        grpc_face_free(face);
        return status;
    }
    *out = face;
    return STATUS_OK;
}

void grpc_face_free(struct grpc_face *face)
{
    if (!face) {
        return;
    }
    for (size_t i = 0; i < face->method_count; i++) {
        unbind(&face->methods[i]);
    }
    mem_free(face->options.allocator, face->methods,
             face->methods ? grpc_method_entries.count * sizeof(face->methods[0]) : 0);
    grpc_words_release(&face->words);
    buffer_release(&face->body);
    mem_free(face->options.allocator, face, sizeof(*face));
}

void grpc_face_set_time(struct grpc_face *face, int64_t now_us)
{
    face->now_us = now_us;
}

const struct grpc_method *grpc_face_find(const struct grpc_face *face, struct slice path)
{
    for (size_t i = 0; i < face->method_count; i++) {
        if (slice_equal(slice_from_cstr(face->methods[i].path), path)) {
            return &face->methods[i].method;
        }
    }
    return NULL;
}

const struct grpc_bound *grpc_face_bound(const struct grpc_face *face, const struct grpc_call *call)
{
    // It is the first member.
    const struct grpc_bound *bound = (const struct grpc_bound *)(const void *)call->method;
    assert(bound >= face->methods && bound < face->methods + face->method_count);
    return bound;
}

const struct grpc_plan *grpc_face_plan(const struct grpc_face *face, const struct grpc_call *call)
{
    const struct grpc_bound *bound = grpc_face_bound(face, call);
    for (size_t i = 0; i < GRPC_STEPS_MAX; i++) {
        if (call->command && bound->steps[i].command == call->command) {
            return bound->steps[i].plan;
        }
    }
    return call->command && bound->otherwise.command == call->command ? bound->otherwise.plan
                                                                      : NULL;
}

void grpc_call_init(struct grpc_call *call, const struct grpc_method *method)
{
    *call = (struct grpc_call){ .method = method };
}
