// SPDX-License-Identifier: MIT
#include "trace.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void *grown(void *array, size_t *capacity, size_t needed, size_t each)
{
    if (needed <= *capacity) {
        return array;
    }
    size_t wanted = *capacity * 2 > needed ? *capacity * 2 : needed + 64;
    array = realloc(array, wanted * each);
    assert(array);
    *capacity = wanted;
    return array;
}

void trace_init(struct trace *trace)
{
    *trace = (struct trace){ 0 };
}

void trace_release(struct trace *trace)
{
    free(trace->ops);
    free(trace->bytes);
    free(trace->starts);
    free(trace->folders);
    trace_init(trace);
}

uint32_t trace_file(struct trace *trace, bool folder)
{
    size_t capacity = trace->files_capacity;
    trace->folders =
        grown(trace->folders, &capacity, (size_t)trace->files_count + 1, sizeof(*trace->folders));
    trace->files_capacity = (uint32_t)capacity;
    trace->folders[trace->files_count] = folder;
    return trace->files_count++;
}

static struct trace_entry make_entry(uint32_t folder, const char *name, uint32_t file)
{
    struct trace_entry entry = { .folder = folder, .file = file };
    size_t size = strlen(name);
    assert(size < sizeof(entry.name));
    memcpy(entry.name, name, size);
    return entry;
}

void trace_start(struct trace *trace, uint32_t folder, const char *name, uint32_t file)
{
    trace->starts = grown(trace->starts, &trace->starts_capacity, trace->starts_count + 1,
                          sizeof(*trace->starts));
    trace->starts[trace->starts_count++] = (struct trace_start){
        .entry = make_entry(folder, name, file),
        .folder = trace->folders[file],
    };
}

static struct trace_op *append(struct trace *trace, enum trace_kind kind, uint32_t file)
{
    trace->ops = grown(trace->ops, &trace->capacity, trace->count + 1, sizeof(*trace->ops));
    struct trace_op *op = &trace->ops[trace->count++];
    memset(op, 0, sizeof(*op)); // its padding too, which goes into a file
    op->kind = kind;
    op->file = file;
    op->end = TRACE_NO_END;
    op->entries[0].folder = op->entries[1].folder = TRACE_NO_FILE;
    return op;
}

size_t trace_write(struct trace *trace, uint32_t file, uint64_t offset, const void *bytes,
                   size_t size, bool direct)
{
    trace->bytes = grown(trace->bytes, &trace->bytes_capacity, trace->bytes_size + size, 1);
    struct trace_op *op = append(trace, TRACE_WRITE, file);
    op->offset = offset;
    op->size = size;
    op->bytes = trace->bytes_size;
    op->direct = direct;
    if (size) {
        memcpy(trace->bytes + trace->bytes_size, bytes, size);
    }
    trace->bytes_size += size;
    return trace->count - 1;
}

size_t trace_size(struct trace *trace, uint32_t file, uint64_t size)
{
    append(trace, TRACE_SIZE, file)->offset = size;
    return trace->count - 1;
}

size_t trace_sync(struct trace *trace, uint32_t file)
{
    append(trace, TRACE_SYNC, file);
    return trace->count - 1;
}

size_t trace_mark(struct trace *trace, int mark, uint64_t value)
{
    struct trace_op *op = append(trace, TRACE_MARK, TRACE_NO_FILE);
    op->mark = mark;
    op->value = value;
    return trace->count - 1;
}

size_t trace_entry(struct trace *trace, uint32_t folder, const char *name, uint32_t file)
{
    append(trace, TRACE_ENTRY, folder)->entries[0] = make_entry(folder, name, file);
    return trace->count - 1;
}

void trace_entry_too(struct trace *trace, uint32_t folder, const char *name, uint32_t file)
{
    trace->ops[trace->count - 1].entries[1] = make_entry(folder, name, file);
}

void trace_end(struct trace *trace, size_t op)
{
    struct trace_op *end = append(trace, TRACE_END, trace->ops[op].file);
    end->of = op;
    trace->ops[op].end = trace->count - 1;
}

const char *trace_sentence(const struct trace *trace, size_t index)
{
    static char sentence[256];
    const struct trace_op *op = &trace->ops[index];
    const struct trace_entry *one = &op->entries[0];
    const struct trace_entry *two = &op->entries[1];
    switch (op->kind) {
    case TRACE_WRITE:
        (void)snprintf(sentence, sizeof(sentence), "write of %zu bytes at %" PRIu64 " to file %u%s",
                       op->size, op->offset, op->file, op->direct ? ", direct" : "");
        break;
    case TRACE_SIZE:
        (void)snprintf(sentence, sizeof(sentence), "size %" PRIu64 " of file %u", op->offset,
                       op->file);
        break;
    case TRACE_ENTRY:
        (void)snprintf(sentence, sizeof(sentence), "entry %s in folder %u: %d%s%s", one->name,
                       one->folder, (int)one->file, two->folder == TRACE_NO_FILE ? "" : "; and ",
                       two->folder == TRACE_NO_FILE ? "" : two->name);
        break;
    case TRACE_SYNC:
        (void)snprintf(sentence, sizeof(sentence), "sync of %u%s", op->file,
                       op->failed ? ", failed" : "");
        break;
    case TRACE_END:
        (void)snprintf(sentence, sizeof(sentence), "end of operation %zu", op->of);
        break;
    case TRACE_MARK:
        (void)snprintf(sentence, sizeof(sentence), "mark %d: %" PRIu64, op->mark, op->value);
        break;
    }
    return sentence;
}

static bool save_array(FILE *file, const void *array, size_t count, size_t each)
{
    return fwrite(&count, sizeof(count), 1, file) == 1 &&
           (count == 0 || fwrite(array, each, count, file) == count);
}

static bool load_array(FILE *file, void **array, size_t *count, size_t each)
{
    if (fread(count, sizeof(*count), 1, file) != 1) {
        return false;
    }
    *array = calloc(*count + 1, each);
    return *array && (*count == 0 || fread(*array, each, *count, file) == *count);
}

bool trace_save(const struct trace *trace, const char *path)
{
    FILE *file = fopen(path, "we");
    if (!file) {
        return false;
    }
    bool good = save_array(file, trace->ops, trace->count, sizeof(*trace->ops)) &&
                save_array(file, trace->bytes, trace->bytes_size, 1) &&
                save_array(file, trace->starts, trace->starts_count, sizeof(*trace->starts)) &&
                save_array(file, trace->folders, trace->files_count, sizeof(*trace->folders));
    return fclose(file) == 0 && good;
}

bool trace_load(struct trace *trace, const char *path)
{
    trace_init(trace);
    FILE *file = fopen(path, "re");
    if (!file) {
        return false;
    }
    void *ops = NULL;
    void *bytes = NULL;
    void *starts = NULL;
    void *folders = NULL;
    size_t files = 0;
    bool good = load_array(file, &ops, &trace->count, sizeof(*trace->ops)) &&
                load_array(file, &bytes, &trace->bytes_size, 1) &&
                load_array(file, &starts, &trace->starts_count, sizeof(*trace->starts)) &&
                load_array(file, &folders, &files, sizeof(*trace->folders));
    (void)fclose(file);
    trace->ops = ops;
    trace->bytes = bytes;
    trace->starts = starts;
    trace->folders = folders;
    trace->files_count = trace->files_capacity = (uint32_t)files;
    trace->capacity = trace->count;
    trace->bytes_capacity = trace->bytes_size;
    trace->starts_capacity = trace->starts_count;
    return good;
}
