// SPDX-License-Identifier: MIT
#include "api/job_words.h"

#include "base/num.h"

const char *const dependency_policy_words[] = { "hold", "cancel", "fail", "run", NULL };

bool job_option_words_given(const struct job_option_words *words)
{
    return words->backoff.size || words->has_timeout_us || words->has_lease_us ||
           words->has_result_ttl_us || words->has_crashes_max || words->has_dependency_policy;
}

// ---------------------------------------------------------------------------------------------
// Backoff as text: kind:delay[,delay...][:cap[:jitter]]

static const struct {
    struct slice word;
    enum backoff_kind kind;
} backoff_kinds[] = {
    { { "fixed", 5 }, BACKOFF_FIXED },
    { { "linear", 6 }, BACKOFF_LINEAR },
    { { "exponential", 11 }, BACKOFF_EXPONENTIAL },
    { { "list", 4 }, BACKOFF_LIST },
};

enum {
    BACKOFF_KINDS = sizeof(backoff_kinds) / sizeof(backoff_kinds[0]),
};

// Splits off the part before the next `separator`, and removes both from `*rest`.
static struct slice next_part(struct slice *rest, char separator)
{
    const char *end = rest->size ? memchr(rest->data, separator, rest->size) : NULL;
    size_t size = end ? (size_t)(end - rest->data) : rest->size;
    struct slice part = slice_sub(*rest, 0, size);
    *rest = slice_sub(*rest, end ? size + 1 : size, SIZE_MAX);
    return part;
}

// The number of delays in a list.
static size_t count_delays(struct slice text)
{
    size_t count = 1;
    for (size_t i = 0; i < text.size; i++) {
        count += text.data[i] == ',';
    }
    return count;
}

static enum status read_delays(struct slice text, struct backoff *out)
{
    if (out->kind != BACKOFF_LIST) {
        return num_parse_seconds(text, &out->base_us);
    }
    bool more;
    do {
        more = text.size && memchr(text.data, ',', text.size);
        if (num_parse_seconds(next_part(&text, ','), &out->list_us[out->list_count++])) {
            return STATUS_INVALID;
        }
    } while (more);
    return STATUS_OK;
}

static enum status read_backoff(struct slice text, struct backoff *out, struct error *error)
{
    struct slice rest = text;
    struct slice word = next_part(&rest, ':');
    for (size_t i = 0; i < BACKOFF_KINDS; i++) {
        if (slice_equal(word, backoff_kinds[i].word)) {
            out->kind = backoff_kinds[i].kind;
        }
    }
    struct slice delays = next_part(&rest, ':');
    struct slice cap = next_part(&rest, ':');
    struct slice jitter = next_part(&rest, ':');
    int64_t percent = 0;
    if (out->kind == BACKOFF_LIST && count_delays(delays) > BACKOFF_LIST_MAX) {
        return error_set(error, STATUS_TOO_LARGE, "BACKOFF list has %zu delays, and may have %d",
                         count_delays(delays), BACKOFF_LIST_MAX);
    }
    if (out->kind == BACKOFF_UNSET || read_delays(delays, out) ||
        (cap.size && num_parse_seconds(cap, &out->cap_us)) ||
        (jitter.size && num_parse_i64(jitter, &percent)) || percent < 0 || percent > 100 ||
        rest.size) {
        return error_set(error, STATUS_INVALID,
                         "BACKOFF must be as exponential:1:300:20 (fixed, linear, exponential or "
                         "list; seconds; the longest; percent of jitter), not \"%.*s\"",
                         SLICE_PRINT(slice_shown(text)));
    }
    out->jitter_percent = (uint32_t)percent;
    return STATUS_OK;
}

void backoff_append(const struct backoff *backoff, struct buffer *out)
{
    for (size_t i = 0; i < BACKOFF_KINDS; i++) {
        if (backoff->kind == backoff_kinds[i].kind) {
            buffer_append(out, backoff_kinds[i].word);
        }
    }
    if (backoff->kind == BACKOFF_LIST) {
        for (uint64_t i = 0; i < backoff->list_count; i++) {
            buffer_append_char(out, i ? ',' : ':');
            num_append_seconds(out, backoff->list_us[i]);
        }
    } else if (backoff->kind != BACKOFF_UNSET) {
        buffer_append_char(out, ':');
        num_append_seconds(out, backoff->base_us);
    }
    if (backoff->cap_us || backoff->jitter_percent) {
        buffer_append_char(out, ':');
        num_append_seconds(out, backoff->cap_us);
    }
    if (backoff->jitter_percent) {
        buffer_append_char(out, ':');
        num_append_u64(out, backoff->jitter_percent);
    }
}

// In the engine 0 means "not set" and a negative number means "none".
static int64_t none_or(bool given, int64_t value)
{
    return !given ? 0 : value == 0 ? -1 : value;
}

enum status job_option_words_read(const struct job_option_words *words, struct job_options *out,
                                  struct error *error)
{
    *out = (struct job_options){
        .timeout_us = none_or(words->has_timeout_us, words->timeout_us),
        .lease_us = none_or(words->has_lease_us, words->lease_us),
        .result_ttl_us = none_or(words->has_result_ttl_us, words->result_ttl_us),
        .crashes_max = none_or(words->has_crashes_max, words->crashes_max),
        .dependency_policy =
            words->has_dependency_policy
                ? (enum dependency_policy)(DEPENDENCY_HOLD + words->dependency_policy)
                : DEPENDENCY_UNSET,
    };
    return words->backoff.size ? read_backoff(words->backoff, &out->backoff, error) : STATUS_OK;
}
