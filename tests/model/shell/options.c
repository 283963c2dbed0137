// SPDX-License-Identifier: MIT
#include "options.h"

#include "arguments.h"
#include "member.h"
#include "words.h"

// A list that is too long keeps its count, so that the engine can refuse it.
static void read_list(const json_t *array, struct backoff *backoff)
{
    backoff->list_count = json_array_size(array);
    for (size_t i = 0; i < backoff->list_count && i < BACKOFF_LIST_MAX; i++) {
        backoff->list_us[i] = json_integer_value(json_array_get(array, i));
    }
}

static struct backoff read_backoff(const json_t *from)
{
    struct backoff backoff = {
        .kind = (enum backoff_kind)arg_word(from, "kind", words_backoff_kind),
        .jitter_percent = (uint32_t)arg_number(from, "jitter_percent"),
        .base_us = arg_number(from, "base_us"),
        .cap_us = arg_number(from, "cap_us"),
    };
    read_list(json_object_get(from, "list_us"), &backoff);
    return backoff;
}

struct job_options arg_options(const json_t *from)
{
    const json_t *options = json_object_get(from, "options");
    return (struct job_options){
        .backoff = read_backoff(json_object_get(options, "backoff")),
        .timeout_us = arg_number(options, "timeout_us"),
        .result_ttl_us = arg_number(options, "result_ttl_us"),
        .crashes_max = arg_number(options, "crashes_max"),
        .lease_us = arg_number(options, "lease_us"),
        .dependency_policy =
            (enum dependency_policy)arg_word(options, "dependency_policy", words_dependency_policy),
    };
}

static void write_backoff(struct json_writer *out, const struct backoff *backoff)
{
    json_write_begin_object(out);
    member_word(out, "kind", words_backoff_kind[backoff->kind]);
    member_uint(out, "jitter_percent", backoff->jitter_percent);
    member_int(out, "base_us", backoff->base_us);
    member_int(out, "cap_us", backoff->cap_us);
    member_key(out, "list_us");
    json_write_begin_array(out);
    for (size_t i = 0; i < backoff->list_count; i++) {
        json_write_int(out, backoff->list_us[i]);
    }
    json_write_end_array(out);
    json_write_end_object(out);
}

void write_options(struct json_writer *out, const struct job_options *options)
{
    json_write_begin_object(out);
    member_key(out, "backoff");
    write_backoff(out, &options->backoff);
    member_int(out, "timeout_us", options->timeout_us);
    member_int(out, "result_ttl_us", options->result_ttl_us);
    member_int(out, "crashes_max", options->crashes_max);
    member_int(out, "lease_us", options->lease_us);
    member_word(out, "dependency_policy", words_dependency_policy[options->dependency_policy]);
    json_write_end_object(out);
}
