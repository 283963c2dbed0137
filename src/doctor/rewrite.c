// SPDX-License-Identifier: MIT
// Writes a new store with the functions of the store, so that it is durable when it is closed.
#include "doctor/namespaces.h"

#include "base/bytes.h"
#include "engine/records/changes.h"

enum {
    BATCH_SIZE = 8 << 20,    // bytes that are appended before waiting for the disk
    RESERVE_SIZE = 64 << 10, // the server that opens the folder enlarges the reserve to its setting
};

#define SHARE_FROM 0.8 // of the whole work
#define SHARE_TO   0.9

struct writing {
    struct store *store;
    uint32_t space;
    size_t batch;   // bytes
    uint64_t group; // that was appended last
    struct error *error;
};

static enum status flush(struct writing *writing)
{
    enum status status =
        writing->batch ? store_wait(writing->store, writing->group, writing->error) : STATUS_OK;
    writing->batch = 0;
    return status;
}

static enum status append(struct writing *writing, struct store_key key, struct slice bytes)
{
    const struct store_record record = { key, bytes };
    enum status status = store_append(writing->store, &record, 1, &writing->group, writing->error);
    writing->batch += bytes.size + sizeof(record);
    return status || writing->batch < BATCH_SIZE ? status : flush(writing);
}

static enum status receive(void *context, struct record_key key, struct slice bytes)
{
    struct writing *writing = context;
    return append(writing, (struct store_key){ writing->space, key }, bytes);
}

static enum status write_directory(struct writing *writing, const struct doctor_namespace *space)
{
    char bytes[DIRECTORY_RECORD_MAX];
    const struct directory_entry entry = {
        .space = space->number,
        .clock = space->clock,
        .qless = space->qless,
        .name = slice_make(space->name, space->name_size),
    };
    const struct store_record record = directory_write(&entry, bytes);
    return append(writing, record.key, record.bytes);
}

// Writes the notes of a namespace, or with DIRECTORY_SPACE those of the host, unchanged.
static enum status write_notes(struct writing *writing, const struct images *images,
                               uint32_t number)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < images->count && !status; i++) {
        const struct image *image = &images->items[i];
        if (image->key.space != DIRECTORY_SPACE) {
            break; // the images are sorted
        }
        if ((int)image->key.record.kind == DIRECTORY_NOTE_KIND &&
            image->bytes.size >= DIRECTORY_NOTE_HEADER &&
            bytes_load_u32(image->bytes.data + 1) == number) {
            status = append(writing, image->key, image->bytes);
        }
    }
    return status;
}

static enum status write_space(struct writing *writing, const struct doctor_namespaces *namespaces,
                               const struct doctor_namespace *space)
{
    writing->space = space->number;
    enum status status = write_directory(writing, space);
    if (!status) {
        status = write_notes(writing, &namespaces->salvaged->images, space->number);
    }
    if (!space->as_it_was) {
        const struct changes_sink sink = { receive, writing };
        return status ? status : engine_records(space->engine, &sink);
    }
    const struct image *images = namespaces->salvaged->images.items;
    for (size_t i = space->first; i < space->first + space->count && !status; i++) {
        if (images[i].bytes.size) {
            status = append(writing, images[i].key, images[i].bytes);
        }
    }
    return status;
}

static enum status refuse(void *context, struct store_key key, struct slice bytes,
                          struct error *error)
{
    (void)context;
    (void)key;
    (void)bytes;
    return error_set(error, STATUS_EXISTS, "the new folder is not empty");
}

enum status doctor_namespaces_write(const struct doctor_namespaces *namespaces, const char *path,
                                    struct reporter *reporter, struct error *error)
{
    const struct store_options options = { .path = path,
                                           .allocator = namespaces->allocator,
                                           .segment_size = namespaces->salvaged->segment_size,
                                           .reserve_size = RESERVE_SIZE };
    const struct store_visitor visitor = { .visit = refuse };
    struct writing writing = { .error = error };
    enum status status = store_open(&options, &visitor, &writing.store, error);
    if (status) {
        return status;
    }
    status = write_notes(&writing, &namespaces->salvaged->images, DIRECTORY_SPACE);
    for (size_t i = 0; i < namespaces->count && !status; i++) {
        // Records of deleted namespaces are left out.
        if (!namespaces->items[i].deleted) {
            status = write_space(&writing, namespaces, &namespaces->items[i]);
        }
        reporter_share(reporter, SHARE_FROM + (SHARE_TO - SHARE_FROM) * (double)(i + 1) /
                                                  (double)namespaces->count);
    }
    status = status ? status : flush(&writing);
    enum status closing = store_close(writing.store, status ? NULL : error);
    return status ? status : closing;
}
