// SPDX-License-Identifier: MIT
#include "store.h"

#include "engine/records/changes.h"
#include "shell.h"

#include <stdlib.h>
#include <string.h>

struct stored {
    struct record_key key;
    char *bytes;
    size_t size;
};

static struct stored *records;
static size_t record_count, record_capacity;

void store_clear(void)
{
    while (record_count > 0) {
        free(records[--record_count].bytes);
    }
    free(records);
    records = NULL;
    record_capacity = 0;
}

static bool same_key(struct record_key a, struct record_key b)
{
    return a.kind == b.kind && a.id == b.id && a.extra == b.extra;
}

static struct stored *find(struct record_key key)
{
    for (size_t i = 0; i < record_count; i++) {
        if (same_key(records[i].key, key)) {
            return &records[i];
        }
    }
    return NULL;
}

static struct stored *add(struct record_key key)
{
    if (record_count == record_capacity) {
        record_capacity = record_capacity ? 2 * record_capacity : 64;
        records = realloc(records, record_capacity * sizeof(*records));
        if (!records) {
            die("out of memory", "store");
        }
    }
    records[record_count] = (struct stored){ .key = key };
    return &records[record_count++];
}

// Whether the engine's record differs in more than the time, which is 8 bytes behind the first.
static bool engine_differs(const struct stored *stored, struct slice bytes)
{
    return !stored || stored->size != bytes.size || stored->bytes[0] != bytes.data[0] ||
           memcmp(stored->bytes + 9, bytes.data + 9, bytes.size - 9) != 0;
}

static enum status receive(void *context, struct record_key key, struct slice bytes)
{
    const bool *has_changes = context;
    struct stored *stored = find(key);
    if (!*has_changes && (key.kind != RECORD_ENGINE || engine_differs(stored, bytes))) {
        die("the engine has changes and says that it has none", "store");
    }
    // The configuration may be empty and still be there.
    if (bytes.size == 0 && key.kind != RECORD_CONFIG && key.kind != RECORD_TRACKED) {
        if (stored) {
            free(stored->bytes);
            *stored = records[--record_count];
        }
        return STATUS_OK;
    }
    stored = stored ? stored : add(key);
    free(stored->bytes);
    stored->bytes = malloc(bytes.size + 1);
    if (!stored->bytes) {
        die("out of memory", "store");
    }
    if (bytes.size) {
        memcpy(stored->bytes, bytes.data, bytes.size);
    }
    stored->size = bytes.size;
    return STATUS_OK;
}

enum status store_take(struct engine *engine)
{
    bool has_changes = engine_has_changes(engine);
    const struct changes_sink sink = { .receive = receive, .context = &has_changes };
    return engine_changes(engine, &sink);
}

static int compare(const void *a, const void *b)
{
    const struct record_key *x = &((const struct stored *)a)->key;
    const struct record_key *y = &((const struct stored *)b)->key;
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    if (x->id != y->id) {
        return x->id < y->id ? -1 : 1;
    }
    return x->extra < y->extra ? -1 : x->extra > y->extra;
}

static enum status read_all(struct engine *engine, struct error *error)
{
    if (record_count) {
        qsort(records, record_count, sizeof(*records), compare);
    }
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < record_count; i++) {
        const struct stored *at = &records[i];
        status = record_read(engine, at->key, slice_make(at->bytes, at->size), error);
    }
    return status;
}

enum status store_load(const struct engine_options *options, struct engine **out,
                       struct error *error)
{
    struct engine_options loading = *options;
    loading.keeps_changes = false;
    struct engine *engine;
    enum status status = engine_new(&loading, &engine);
    if (status) {
        return status;
    }
    status = read_all(engine, error);
    enum status end = record_read_end(engine, status ? NULL : error);
    status = status ? status : end;
    if (status) {
        engine_free(engine);
        return status;
    }
    *out = engine;
    return STATUS_OK;
}
