// SPDX-License-Identifier: MIT
#include "doctor/namespaces.h"

#include "engine/records/salvage.h"

#include <stdio.h>
#include <sys/random.h>

#define SHARE_FROM 0.6 // of the whole work
#define SHARE_TO   0.8

struct loading_spaces {
    struct doctor_namespaces *namespaces;
    struct reporter *reporter;
    int64_t now_us;
    struct hash_seed seed;
    const struct doctor_namespace *at; // the namespace whose engine is being loaded
    struct error *error;
};

static void find_fault(struct loading_spaces *loading, const char *sentence)
{
    loading->namespaces->findings++;
    if (loading->at) {
        reporter_report(loading->reporter, true, "namespace %.*s: %s", (int)loading->at->name_size,
                        loading->at->name, sentence);
    } else {
        reporter_report(loading->reporter, true, "%s", sentence);
    }
}

static void report(void *context, const char *sentence)
{
    find_fault(context, sentence);
}

static struct doctor_namespace *find(const struct doctor_namespaces *namespaces, uint32_t number)
{
    for (size_t i = 0; i < namespaces->count; i++) {
        if (namespaces->items[i].number == number) {
            return &namespaces->items[i];
        }
    }
    return NULL;
}

static bool name_is_taken(const struct doctor_namespaces *namespaces, struct slice name)
{
    for (size_t i = 0; i < namespaces->count; i++) {
        const struct doctor_namespace *space = &namespaces->items[i];
        if (!space->deleted && slice_equal(slice_make(space->name, space->name_size), name)) {
            return true;
        }
    }
    return false;
}

static enum status add(struct doctor_namespaces *namespaces, const struct doctor_namespace *space)
{
    if (namespaces->count == namespaces->capacity) {
        size_t capacity = 2 * namespaces->capacity + 16;
        void *items = mem_resize(namespaces->allocator, namespaces->items,
                                 namespaces->capacity * sizeof(*space), capacity * sizeof(*space));
        if (!items) {
            return STATUS_NO_MEMORY;
        }
        namespaces->items = items;
        namespaces->capacity = capacity;
    }
    namespaces->items[namespaces->count++] = *space;
    return STATUS_OK;
}

static void set_name(struct doctor_namespace *space, struct slice name)
{
    space->name_size = (uint8_t)name.size;
    memcpy(space->name, name.data, name.size);
}

// Makes a name for a namespace whose name is lost.
static void make_name(const struct doctor_namespaces *namespaces, struct doctor_namespace *space)
{
    char name[64];
    unsigned attempt = 1;
    do {
        int size = attempt == 1
                       ? snprintf(name, sizeof(name), "repaired-%u", space->number)
                       : snprintf(name, sizeof(name), "repaired-%u-%u", space->number, attempt);
        set_name(space, slice_make(name, (size_t)size));
        attempt++;
    } while (name_is_taken(namespaces, slice_make(space->name, space->name_size)));
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
    struct doctor_namespace space = { .number = entry.space,
                                      .named = true,
                                      .deleted = entry.deleted,
                                      .clock = entry.clock,
                                      .qless = entry.qless };
    set_name(&space, entry.name);
    if (!space.deleted &&
        name_is_taken(loading->namespaces, slice_make(space.name, space.name_size))) {
        find_fault(loading, "two namespaces have the same name; one is named anew");
        make_name(loading->namespaces, &space);
    }
    return add(loading->namespaces, &space);
}

// Adds a namespace for records whose namespace is not in the directory.
static enum status add_nameless(struct loading_spaces *loading, const struct image *first)
{
    struct doctor_namespace space = { .number = first->key.space, .clock = ENGINE_CLOCK_SERVER };
    if (first->key.record.kind == RECORD_ENGINE && first->bytes.size && first->bytes.data[0]) {
        space.clock = ENGINE_CLOCK_CLIENT;
    }
    make_name(loading->namespaces, &space);
    char sentence[ERROR_DETAIL_SIZE];
    (void)snprintf(sentence, sizeof(sentence),
                   "there are records of namespace %u, which has no name; it is named %.*s",
                   space.number, (int)space.name_size, space.name);
    find_fault(loading, sentence);
    return add(loading->namespaces, &space);
}

// Assigns the records to their namespaces.
static enum status divide(struct loading_spaces *loading)
{
    const struct images *images = &loading->namespaces->salvaged->images;
    struct doctor_namespace *space = NULL;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < images->count && !status; i++) {
        const struct image *image = &images->items[i];
        if (image->bytes.size == 0) {
            continue;
        }
        if (image->key.space == DIRECTORY_SPACE &&
            (int)image->key.record.kind == DIRECTORY_NOTE_KIND) {
            continue; // reported when the namespaces are written
        }
        if (image->key.space == DIRECTORY_SPACE) {
            status = read_directory(loading, image);
            continue;
        }
        if (!space || space->number != image->key.space) {
            if (!find(loading->namespaces, image->key.space)) {
                status = add_nameless(loading, image);
            }
            space = status ? NULL : find(loading->namespaces, image->key.space);
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

static enum status make_engine(struct loading_spaces *loading, struct doctor_namespace *space)
{
    const struct allocator *allocator = loading->namespaces->allocator;
    const struct salvaged *salvaged = loading->namespaces->salvaged;
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

enum status doctor_namespaces_load(struct doctor_namespaces *namespaces,
                                   const struct salvaged *salvaged, int64_t now_us,
                                   struct reporter *reporter, struct error *error)
{
    *namespaces =
        (struct doctor_namespaces){ .allocator = salvaged->images.allocator, .salvaged = salvaged };
    struct loading_spaces loading = {
        .namespaces = namespaces, .reporter = reporter, .now_us = now_us, .error = error
    };
    if (getrandom(&loading.seed, sizeof(loading.seed), 0) != sizeof(loading.seed)) {
        return error_set(error, STATUS_IO, "the system gives no random numbers");
    }
    enum status status = divide(&loading);
    if (status == STATUS_NO_MEMORY) {
        return error_set(error, status, "out of memory");
    }
    for (size_t i = 0; i < namespaces->count && !status; i++) {
        if (!namespaces->items[i].deleted) {
            status = make_engine(&loading, &namespaces->items[i]);
        }
        reporter_share(reporter, SHARE_FROM + (SHARE_TO - SHARE_FROM) * (double)(i + 1) /
                                                  (double)namespaces->count);
    }
    return status;
}

void doctor_namespaces_release(struct doctor_namespaces *namespaces)
{
    for (size_t i = 0; i < namespaces->count; i++) {
        engine_free(namespaces->items[i].engine);
    }
    mem_free(namespaces->allocator, namespaces->items,
             namespaces->capacity * sizeof(*namespaces->items));
    *namespaces = (struct doctor_namespaces){ .allocator = namespaces->allocator };
}
