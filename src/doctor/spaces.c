// SPDX-License-Identifier: MIT
#include "doctor/spaces.h"

#include "engine/records/salvage.h"

#include <stdio.h>
#include <sys/random.h>

#define SHARE_FROM 0.6 // of all the work
#define SHARE_TO   0.8

struct loading_spaces {
    struct spaces *spaces;
    struct voice *voice;
    int64_t now_us;
    struct hash_seed seed;
    const struct space *at; // whose engine is being made
    struct error *error;
};

static void find_fault(struct loading_spaces *loading, const char *sentence)
{
    loading->spaces->findings++;
    if (loading->at) {
        voice_say(loading->voice, true, "namespace %.*s: %s", (int)loading->at->name_size,
                  loading->at->name, sentence);
    } else {
        voice_say(loading->voice, true, "%s", sentence);
    }
}

static void report(void *context, const char *sentence)
{
    find_fault(context, sentence);
}

static struct space *find(const struct spaces *spaces, uint32_t number)
{
    for (size_t i = 0; i < spaces->count; i++) {
        if (spaces->items[i].number == number) {
            return &spaces->items[i];
        }
    }
    return NULL;
}

static bool name_is_taken(const struct spaces *spaces, struct slice name)
{
    for (size_t i = 0; i < spaces->count; i++) {
        const struct space *space = &spaces->items[i];
        if (!space->deleted && slice_equal(slice_make(space->name, space->name_size), name)) {
            return true;
        }
    }
    return false;
}

static enum status add(struct spaces *spaces, const struct space *space)
{
    if (spaces->count == spaces->capacity) {
        size_t capacity = 2 * spaces->capacity + 16;
        void *items = mem_resize(spaces->allocator, spaces->items,
                                 spaces->capacity * sizeof(*space), capacity * sizeof(*space));
        if (!items) {
            return STATUS_NO_MEMORY;
        }
        spaces->items = items;
        spaces->capacity = capacity;
    }
    spaces->items[spaces->count++] = *space;
    return STATUS_OK;
}

static void set_name(struct space *space, struct slice name)
{
    space->name_size = (uint8_t)name.size;
    memcpy(space->name, name.data, name.size);
}

// A namespace whose own name is lost.
static void make_name(const struct spaces *spaces, struct space *space)
{
    char name[64];
    unsigned attempt = 1;
    do {
        int size = attempt == 1
                       ? snprintf(name, sizeof(name), "repaired-%u", space->number)
                       : snprintf(name, sizeof(name), "repaired-%u-%u", space->number, attempt);
        set_name(space, slice_make(name, (size_t)size));
        attempt++;
    } while (name_is_taken(spaces, slice_make(space->name, space->name_size)));
}

// ---------------------------------------------------------------------------------------------
// The directory

static enum status read_directory(struct loading_spaces *loading, const struct image *image)
{
    struct directory_entry entry;
    struct error why;
    enum status status = directory_read(image->key.record, image->bytes, &entry, &why);
    if (status == STATUS_CORRUPT) {
        find_fault(loading, error_sentence(&why));
        return STATUS_OK;
    }
    if (status) {
        return error_copy(loading->error, &why);
    }
    struct space space = { .number = entry.space,
                           .named = true,
                           .deleted = entry.deleted,
                           .clock = entry.clock,
                           .qless = entry.qless };
    set_name(&space, entry.name);
    if (!space.deleted && name_is_taken(loading->spaces, slice_make(space.name, space.name_size))) {
        find_fault(loading, "two namespaces have the same name; one is named anew");
        make_name(loading->spaces, &space);
    }
    return add(loading->spaces, &space);
}

// Records of a namespace that the directory does not know.
static enum status add_nameless(struct loading_spaces *loading, const struct image *first)
{
    struct space space = { .number = first->key.space, .clock = ENGINE_CLOCK_SERVER };
    if (first->key.record.kind == RECORD_ENGINE && first->bytes.size && first->bytes.data[0]) {
        space.clock = ENGINE_CLOCK_CLIENT;
    }
    make_name(loading->spaces, &space);
    char sentence[ERROR_DETAIL_SIZE];
    (void)snprintf(sentence, sizeof(sentence),
                   "there are records of namespace %u, which has no name; it is named %.*s",
                   space.number, (int)space.name_size, space.name);
    find_fault(loading, sentence);
    return add(loading->spaces, &space);
}

// Which records belong to which namespace.
static enum status divide(struct loading_spaces *loading)
{
    const struct images *images = &loading->spaces->salvaged->images;
    struct space *space = NULL;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < images->count && !status; i++) {
        const struct image *image = &images->items[i];
        if (image->bytes.size == 0) {
            continue;
        }
        if (image->key.space == DIRECTORY_SPACE &&
            (int)image->key.record.kind == DIRECTORY_NOTE_KIND) {
            continue; // found when the namespaces are written anew
        }
        if (image->key.space == DIRECTORY_SPACE) {
            status = read_directory(loading, image);
            continue;
        }
        if (!space || space->number != image->key.space) {
            if (!find(loading->spaces, image->key.space)) {
                status = add_nameless(loading, image);
            }
            space = status ? NULL : find(loading->spaces, image->key.space);
            if (space) {
                space->first = i;
            }
        }
        if (space) {
            space->count = i + 1 - space->first;
        }
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Engines

static enum status make_engine(struct loading_spaces *loading, struct space *space)
{
    const struct allocator *allocator = loading->spaces->allocator;
    const struct salvaged *salvaged = loading->spaces->salvaged;
    size_t size = (space->count + 1) * sizeof(struct salvage_record);
    struct salvage_record *records = mem_alloc(allocator, size);
    if (!records) {
        return error_set(loading->error, STATUS_NO_MEMORY, "out of memory");
    }
    const struct engine_options options = { .allocator = allocator,
                                            .seed = loading->seed,
                                            .clock = space->clock };
    struct salvage salvage = { .options = &options,
                               .records = records,
                               .now_us = loading->now_us,
                               .lossy = salvaged->lossy,
                               .report = report,
                               .context = loading };
    for (size_t i = space->first; i < space->first + space->count; i++) {
        const struct image *image = &salvaged->images.items[i];
        if (image->bytes.size) {
            records[salvage.count++] =
                (struct salvage_record){ .key = image->key.record, .bytes = image->bytes };
        }
    }
    loading->at = space;
    enum status status =
        engine_salvage(&salvage, &space->engine, &space->as_it_was, loading->error);
    loading->at = NULL;
    space->as_it_was = space->as_it_was && space->named;
    mem_free(allocator, records, size);
    return status;
}

enum status spaces_load(struct spaces *spaces, const struct salvaged *salvaged, int64_t now_us,
                        struct voice *voice, struct error *error)
{
    *spaces = (struct spaces){ .allocator = salvaged->images.allocator, .salvaged = salvaged };
    struct loading_spaces loading = {
        .spaces = spaces, .voice = voice, .now_us = now_us, .error = error
    };
    if (getrandom(&loading.seed, sizeof(loading.seed), 0) != sizeof(loading.seed)) {
        return error_set(error, STATUS_IO, "the system gives no random numbers");
    }
    enum status status = divide(&loading);
    if (status == STATUS_NO_MEMORY) {
        return error_set(error, status, "out of memory");
    }
    for (size_t i = 0; i < spaces->count && !status; i++) {
        if (!spaces->items[i].deleted) {
            status = make_engine(&loading, &spaces->items[i]);
        }
        voice_share(voice,
                    SHARE_FROM + (SHARE_TO - SHARE_FROM) * (double)(i + 1) / (double)spaces->count);
    }
    return status;
}

void spaces_release(struct spaces *spaces)
{
    for (size_t i = 0; i < spaces->count; i++) {
        engine_free(spaces->items[i].engine);
    }
    mem_free(spaces->allocator, spaces->items, spaces->capacity * sizeof(*spaces->items));
    *spaces = (struct spaces){ .allocator = spaces->allocator };
}
