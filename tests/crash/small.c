// SPDX-License-Identifier: MIT
#include "small.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORDS = 16,
    RECORD_SIZE_MAX = 4200, // does not fit into a page of LMDB
    GROUP_RECORDS_MAX = 3,
};

static struct store_options small_options(const char *path)
{
    return (struct store_options){ .path = path,
                                   .allocator = &allocator_system,
                                   .durability = STORE_ALWAYS,
                                   .segment_size = UINT64_C(8) * 1024,
                                   .reserve_size = 4096,
                                   // Only when it is asked for.
                                   .checkpoint_us = INT64_C(3600) * 1000000 };
}

// ---------------------------------------------------------------------------------------------
// Reading

static enum status visit(void *context, struct store_key key, struct slice bytes,
                         struct error *error)
{
    static const struct hash_seed seed = { 17, 19 };
    uint64_t *digest = context;
    char start[32];
    (void)error;
    bytes_store_u64(start, *digest);
    bytes_store_u64(start + 8, (uint64_t)key.space << 32 | (uint64_t)key.record.kind);
    bytes_store_u64(start + 16, key.record.id);
    bytes_store_u64(start + 24, (uint64_t)key.record.extra);
    *digest = hash_bytes(&seed, slice_make(start, sizeof(start))) + hash_bytes(&seed, bytes);
    return STATUS_OK;
}

enum status small_open(const char *path, struct store **out, uint64_t *digest, struct error *error)
{
    const struct store_options options = small_options(path);
    *digest = 0;
    const struct store_visitor visitor = { .visit = visit, .context = digest };
    return store_open(&options, &visitor, out, error);
}

// ---------------------------------------------------------------------------------------------
// Making

static size_t draw_size(struct random *random)
{
    bool goes = random_below(random, 10) == 0;
    return goes ? 0 : 1 + random_below(random, 100);
}

// Some groups, each on disk before the next one is begun. The last one begins with a record of that
// size.
static void append_groups(struct store *store, struct random *random, unsigned count,
                          size_t size_last)
{
    static char bytes[GROUP_RECORDS_MAX][RECORD_SIZE_MAX];
    struct store_record records[GROUP_RECORDS_MAX];
    for (unsigned i = 0; i < count; i++) {
        size_t wanted = 1 + random_below(random, GROUP_RECORDS_MAX);
        for (size_t k = 0; k < wanted; k++) {
            bool last = i + 1 == count && k == 0;
            size_t size = last ? size_last : draw_size(random);
            for (size_t at = 0; at < size; at++) {
                bytes[k][at] = (char)random_u64(random);
            }
            uint64_t id = random_below(random, RECORDS);
            records[k] = (struct store_record){
                .key = { .space = (uint32_t)(id % 3),
                         .record = { .kind = id % 2 ? RECORD_BODY : RECORD_HEAD,
                                     .id = id,
                                     .extra = (int64_t)(id % 5) } },
                .bytes = slice_make(bytes[k], size),
            };
        }
        uint64_t group;
        REQUIRE(!store_append(store, records, wanted, &group, NULL), "an append failed");
        REQUIRE(!store_wait(store, group, NULL), "a group was lost");
    }
}

static uint64_t digest_at(const char *path)
{
    struct store *store;
    uint64_t digest;
    REQUIRE(!small_open(path, &store, &digest, NULL), "a store cannot be opened");
    REQUIRE(!store_close(store, NULL), "a store cannot be closed");
    return digest;
}

void small_init(struct small *small, uint64_t seed)
{
    char root[IMAGE_PATH_MAX], path[IMAGE_PATH_MAX + 8], copy[IMAGE_PATH_MAX + 8];
    folder_make_scratch(root, SCRATCH_IN_MEMORY);
    (void)snprintf(path, sizeof(path), "%s/store", root);
    (void)snprintf(copy, sizeof(copy), "%s/copy", root);
    struct random random = { seed };
    struct store *store;
    uint64_t digest;
    REQUIRE(!small_open(path, &store, &digest, NULL), "a new store cannot be opened");
    // Several times, so that pages of the base have become free and journals were used again.
    append_groups(store, &random, 8, RECORD_SIZE_MAX);
    REQUIRE(!store_checkpoint(store, NULL), "a checkpoint failed");
    for (int i = 0; i < 2; i++) {
        append_groups(store, &random, 14, 1);
        REQUIRE(!store_checkpoint(store, NULL), "a checkpoint failed");
    }
    append_groups(store, &random, 3, 1);
    image_read(&small->earlier, path);
    REQUIRE(!store_checkpoint(store, NULL), "a checkpoint failed");
    // The last one of these goes on in another segment.
    append_groups(store, &random, 8, 3000);
    image_read(&small->killed, path);
    REQUIRE(!store_close(store, NULL), "a store cannot be closed");
    image_read(&small->closed, path);
    image_write(&small->killed, copy);
    small->digest = digest_at(path);
    REQUIRE(small->digest == digest_at(copy), "a copy is not like the store");
    folder_remove(root);
}

void small_release(struct small *small)
{
    image_release(&small->earlier);
    image_release(&small->killed);
    image_release(&small->closed);
}

// ---------------------------------------------------------------------------------------------
// Trying

static bool is_refusal(enum status status)
{
    return status == STATUS_CORRUPT || status == STATUS_UNSUPPORTED || status == STATUS_IO;
}

bool small_try(uint64_t digest, const struct image *image, const char *path, bool *opened,
               struct error *error)
{
    struct store *store;
    uint64_t found;
    *error = (struct error){ 0 };
    enum status status = small_open(path, &store, &found, error);
    *opened = status == STATUS_OK;
    if (*opened) {
        struct error closing = { 0 };
        if (store_close(store, &closing)) {
            (void)fprintf(stderr, "it was opened, but not closed: %s\n", error_sentence(&closing));
            return false;
        }
        if (found != digest) {
            (void)fprintf(stderr, "it was opened, and has other data\n");
            return false;
        }
        return true;
    }
    if (!is_refusal(status) || !error->detail[0]) {
        (void)fprintf(stderr, "it was refused as %s: %s\n", status_name(status), error->detail);
        return false;
    }
    if (!image_is_at(image, path, "lock")) {
        (void)fprintf(stderr, "it was refused, but not left alone: %s\n", error->detail);
        return false;
    }
    return true;
}
