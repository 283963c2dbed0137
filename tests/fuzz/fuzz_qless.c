// SPDX-License-Identifier: MIT
// Any bytes as calls of a qless client: a line is a call, its words have | between them. What must
// hold then is said in qless_world.h.
#include "fuzz.h"
#include "qless_world.h"

enum {
    WORDS_MAX = 32,
    CALLS_MAX = 64,
};

// The bytes up to the first `end`, which are taken away with it.
static struct slice take(struct slice *text, char end)
{
    const char *at = text->size ? memchr(text->data, end, text->size) : NULL;
    size_t size = at ? (size_t)(at - text->data) : text->size;
    struct slice taken = slice_sub(*text, 0, size);
    *text = slice_sub(*text, size + 1, SIZE_MAX);
    return taken;
}

static void call(struct qless_world *world, struct slice line)
{
    struct slice words[WORDS_MAX];
    size_t size = 0;
    while (line.size && size < WORDS_MAX) {
        words[size++] = take(&line, '|');
    }
    (void)qless_world_call(world, (struct slices){ words, size });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct qless_world world;
    qless_world_init(&world);
    struct slice left = slice_make(data, size);
    (void)qless_recognise(left);
    for (int i = 0; left.size && i < CALLS_MAX; i++) {
        call(&world, take(&left, '\n'));
    }
    qless_world_check(&world);
    qless_world_release(&world);
    return 0;
}
