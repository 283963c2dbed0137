// SPDX-License-Identifier: MIT
#include "arguments.h"

bool arg_has(const json_t *from, const char *name)
{
    return json_object_get(from, name) != NULL;
}

struct slice arg_text(const json_t *from, const char *name)
{
    json_t *value = json_object_get(from, name);
    if (!value) {
        return SLICE_EMPTY;
    }
    if (!json_is_string(value)) {
        die("not a string", name);
    }
    return slice_make(json_string_value(value), json_string_length(value));
}

int64_t arg_number(const json_t *from, const char *name)
{
    json_t *value = json_object_get(from, name);
    if (!value) {
        return 0;
    }
    if (!json_is_integer(value)) {
        die("not a whole number", name);
    }
    return json_integer_value(value);
}

int32_t arg_number32(const json_t *from, const char *name)
{
    return (int32_t)arg_number(from, name);
}

uint64_t arg_unsigned(const json_t *from, const char *name)
{
    return (uint64_t)arg_number(from, name);
}

size_t arg_size(const json_t *from, const char *name)
{
    int64_t value = arg_number(from, name);
    if (value < 0) {
        die("negative", name);
    }
    return (size_t)value;
}

bool arg_flag(const json_t *from, const char *name)
{
    return json_is_true(json_object_get(from, name));
}

enum missing_dependencies arg_missing(const json_t *from)
{
    return arg_flag(from, "must_be_there") ? MISSING_REFUSED : MISSING_COMPLETE;
}

unsigned arg_word(const json_t *from, const char *name, const char *const *words)
{
    if (!arg_has(from, name)) {
        return 0;
    }
    struct slice word = arg_text(from, name);
    for (unsigned i = 0; words[i]; i++) {
        if (slice_equal(word, slice_from_cstr(words[i]))) {
            return i;
        }
    }
    die("no such word", name);
}

enum job_state arg_state(const json_t *from, const char *name)
{
    const char *words[JOB_STATE_COUNT + 1] = { NULL };
    for (enum job_state state = 0; state < JOB_STATE_COUNT; state++) {
        words[state] = job_state_name(state);
    }
    return (enum job_state)arg_word(from, name, words);
}

struct holder arg_holder(const json_t *from)
{
    return (struct holder){
        .jid = arg_text(from, "jid"),
        .worker = arg_text(from, "worker"),
        .queue = arg_text(from, "queue"),
        .token = arg_unsigned(from, "token"),
    };
}

struct slices arg_texts(struct shell *shell, const char *name)
{
    json_t *array = json_object_get(shell->request, name);
    size_t count = json_array_size(array);
    if (count > LIST_MAX || shell->slices_used == SLICES_MAX) {
        die("too many", name);
    }
    struct slice *items = shell->slices[shell->slices_used++];
    for (size_t i = 0; i < count; i++) {
        json_t *value = json_array_get(array, i);
        items[i] = slice_make(json_string_value(value), json_string_length(value));
    }
    return (struct slices){ .items = items, .count = count };
}

struct page arg_page(struct shell *shell)
{
    return (struct page){
        .offset = arg_size(shell->request, "offset"),
        .count = arg_count(shell, PAGE_MAX),
        .jobs = shell->jobs,
    };
}

size_t arg_count(const struct shell *shell, size_t absent)
{
    if (!arg_has(shell->request, "count")) {
        return absent;
    }
    size_t count = arg_size(shell->request, "count");
    if (count > PAGE_MAX) {
        die("too large", "count");
    }
    return count;
}
