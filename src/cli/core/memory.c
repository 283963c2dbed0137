// SPDX-License-Identifier: MIT
// Memory of a process that runs for one command: never missing, and given back as a whole at the
// end, so that no command has to look after the texts that it makes.
#include "cli/core/cli.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct block {
    alignas(max_align_t) struct block *next;
    struct block *previous;
};

static struct block blocks = { .next = &blocks, .previous = &blocks };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *must(void *block)
{
    if (!block) {
        (void)fputs("sluice: out of memory\n", stderr);
        exit(EXIT_REFUSED);
    }
    return block;
}

static void *block_link(struct block *block)
{
    pthread_mutex_lock(&mutex);
    block->next = blocks.next;
    block->previous = &blocks;
    block->next->previous = block;
    blocks.next = block;
    pthread_mutex_unlock(&mutex);
    return block + 1;
}

static struct block *block_unlink(void *memory)
{
    if (!memory) {
        return NULL;
    }
    struct block *block = (struct block *)memory - 1;
    pthread_mutex_lock(&mutex);
    block->next->previous = block->previous;
    block->previous->next = block->next;
    pthread_mutex_unlock(&mutex);
    return block;
}

void *tool_allocate(size_t size)
{
    return block_link(must(calloc(1, sizeof(struct block) + size)));
}

void *tool_resize(void *block, size_t size)
{
    return block_link(must(realloc(block_unlink(block), sizeof(struct block) + size)));
}

void tool_free(void *block)
{
    free(block_unlink(block));
}

void tool_free_all(void)
{
    struct block *next = blocks.next;
    blocks = (struct block){ .next = &blocks, .previous = &blocks };
    while (next != &blocks) {
        struct block *block = next;
        next = block->next;
        free(block);
    }
}

char *tool_copy(const char *text, size_t size)
{
    char *copy = tool_allocate(size + 1);
    memcpy(copy, text, size);
    return copy;
}

char *tool_format(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *text = NULL;
    int size = vasprintf(&text, format, values);
    va_end(values);
    if (size < 0) {
        must(NULL);
    }
    char *copy = tool_copy(text, (size_t)size);
    free(text);
    return copy;
}
