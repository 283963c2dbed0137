// SPDX-License-Identifier: MIT
#include "host/removal.h"

#include "base/buffer.h"
#include "engine/records/changes.h"
#include "host/namespaces.h"
#include "os/thread.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    SLICE_COUNT = 1000, // records that are removed in a turn
};

struct removal {
    struct removal *next;
    const struct allocator *allocator;
    uint32_t space;
    struct buffer keys; // array of struct record_key
    size_t position;    // offset of the next one
    struct engine *engine;
    const struct namespaces_options *options; // used while a thread makes the list
    pthread_t thread;
    bool has_thread;
    bool partial; // the list does not contain all of them
    atomic_bool ready;
};

struct removal *removal_new(const struct allocator *allocator, uint32_t space)
{
    struct removal *removal = mem_zalloc(allocator, sizeof(*removal));
    if (removal) {
        removal->allocator = allocator;
        removal->space = space;
        buffer_init(&removal->keys, allocator, SIZE_MAX - 1);
    }
    return removal;
}

void removal_free(struct removal *removal)
{
    if (removal->has_thread) {
        (void)pthread_join(removal->thread, NULL);
    }
    buffer_release(&removal->keys);
    mem_free(removal->allocator, removal, sizeof(*removal));
}

void removal_add(struct removal **list, struct removal *removal)
{
    while (*list) {
        list = &(*list)->next;
    }
    *list = removal;
}

struct removal *removal_take(struct removal **list)
{
    struct removal *first = *list;
    assert(first);
    *list = first->next;
    return first;
}

struct removal *removal_find(struct removal *list, uint32_t space)
{
    while (list && list->space != space) {
        list = list->next;
    }
    return list;
}

struct removal *removal_next(const struct removal *removal)
{
    return removal->next;
}

enum status removal_note(struct removal *removal, struct record_key key)
{
    buffer_append(&removal->keys, slice_make(&key, sizeof(key)));
    return removal->keys.status;
}

void removal_ready(struct removal *removal)
{
    atomic_store(&removal->ready, true);
}

bool removal_is_ready(const struct removal *removal)
{
    return atomic_load(&removal->ready);
}

uint32_t removal_space(const struct removal *removal)
{
    return removal->space;
}

static enum status note(void *context, struct record_key key, struct slice bytes)
{
    (void)bytes;
    return removal_note(context, key);
}

static void *empty(void *context)
{
    struct removal *removal = context;
    const struct changes_sink sink = { note, removal };
    if (engine_records(removal->engine, &sink)) {
        removal->options->log(
            removal->options->context,
            "no memory to list all that a deleted namespace left; the next start removes it");
        removal->partial = true;
    }
    engine_free(removal->engine);
    removal->engine = NULL;
    removal_ready(removal);
    return NULL;
}

static void *run(void *context)
{
    (void)pthread_setname_np(pthread_self(), "removal");
    return empty(context);
}

void removal_empty(struct removal *removal, struct engine *engine,
                   const struct namespaces_options *options)
{
    removal->options = options;
    removal->engine = engine;
    removal->has_thread = thread_start(&removal->thread, run, removal) == 0;
    if (!removal->has_thread) {
        (void)empty(removal);
    }
}

enum status removal_run(struct removal *removal, struct store *store, uint64_t *group, bool *done,
                        struct error *error)
{
    struct store_record records[SLICE_COUNT];
    assert(removal_is_ready(removal) && removal->position <= removal->keys.size);
    size_t count = 0;
    size_t position = removal->position;
    while (count < SLICE_COUNT && position < removal->keys.size) {
        struct record_key key;
        memcpy(&key, removal->keys.data + position, sizeof(key));
        position += sizeof(key);
        records[count++] = (struct store_record){ { removal->space, key }, SLICE_EMPTY };
    }
    enum status status = count ? store_append(store, records, count, group, error) : STATUS_OK;
    if (!status) {
        removal->position = position;
    }
    *done = !status && position == removal->keys.size && !removal->partial;
    if (!*done && position == removal->keys.size) {
        atomic_store(&removal->ready, false);
    }
    return status;
}
