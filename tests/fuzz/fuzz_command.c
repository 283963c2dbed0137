// SPDX-License-Identifier: MIT
// Any bytes as requests: each line is one, its words stand between spaces, and a line that begins
// with a digit lets so many seconds pass. What must hold then is said in command_world.h.
#include "base/num.h"
#include "command_world.h"
#include "fuzz.h"

#include <string.h>

enum {
    WORDS_MAX = 128,
    LINES_MAX = 200,
};

static void run_line(struct command_world *world, struct slice line)
{
    struct slice words[WORDS_MAX];
    size_t count = 0;
    while (count < WORDS_MAX && line.size) {
        const char *space = memchr(line.data, ' ', line.size);
        size_t size = space ? (size_t)(space - line.data) : line.size;
        words[count++] = slice_sub(line, 0, size);
        line = slice_sub(line, space ? size + 1 : size, SIZE_MAX);
    }
    int64_t pass_us;
    if (count && !num_parse_seconds(words[0], &pass_us)) {
        if (pass_us > 0 && pass_us < INT64_C(1000000000000)) {
            command_world_pass(world, pass_us);
        }
        return;
    }
    const struct command *command = count ? commands_find(world->commands, words[0]) : NULL;
    if (command) {
        (void)command_world_run(world, command, (struct slices){ words + 1, count - 1 });
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct command_world world;
    command_world_init(&world);
    struct slice rest = slice_make(data, size);
    for (size_t i = 0; i < LINES_MAX && rest.size; i++) {
        const char *end = memchr(rest.data, '\n', rest.size);
        size_t line = end ? (size_t)(end - rest.data) : rest.size;
        run_line(&world, slice_sub(rest, 0, line));
        rest = slice_sub(rest, end ? line + 1 : line, SIZE_MAX);
    }
    command_world_check(&world);
    command_world_release(&world);
    return 0;
}
