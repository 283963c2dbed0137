// SPDX-License-Identifier: MIT
// Any bytes as a line of a config file: the words fit into the memory that the line's size
// promises, and written with quotes they are the same words again.
#include "fuzz.h"

#include "base/buffer.h"
#include "server/config/settings_words.h"

#include <stdio.h>
#include <stdlib.h>

static void require(bool holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_settings_words: %s\n", sentence);
        abort();
    }
}

static void append_quoted(struct buffer *out, struct slice word)
{
    buffer_append_char(out, '"');
    for (size_t i = 0; i < word.size; i++) {
        if (word.data[i] == '"' || word.data[i] == '\\') {
            buffer_append_char(out, '\\');
        }
        buffer_append_char(out, word.data[i]);
    }
    buffer_append(out, SLICE("\" "));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice words[SETTINGS_WORDS_MAX];
    struct slice again[SETTINGS_WORDS_MAX];
    struct error error = { 0 };
    struct buffer line;
    size_t count;
    size_t count_again = 0;
    char *memory = malloc(size ? size : 1);
    require(memory, "there is no memory");
    buffer_init(&line, &allocator_system, 4 * (size + SETTINGS_WORDS_MAX));
    if (settings_split(slice_make(data, size), memory, words, &count, &error)) {
        require(error.detail[0], "a line was refused without a sentence");
    } else {
        for (size_t i = 0; i < count; i++) {
            append_quoted(&line, words[i]);
        }
        require(line.status == STATUS_OK, "the line does not fit");
        char *memory_again = malloc(line.size ? line.size : 1);
        require(memory_again &&
                    !settings_split(buffer_slice(&line), memory_again, again, &count_again, &error),
                "the quoted line is refused");
        require(count_again == count, "there are more or fewer words");
        for (size_t i = 0; i < count; i++) {
            require(slice_equal(words[i], again[i]), "a word has changed");
        }
        free(memory_again);
    }
    buffer_release(&line);
    free(memory);
    return 0;
}
