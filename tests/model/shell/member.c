// SPDX-License-Identifier: MIT
#include "member.h"

void member_key(struct json_writer *out, const char *name)
{
    json_write_key(out, slice_from_cstr(name));
}

void member_text(struct json_writer *out, const char *name, struct slice value)
{
    member_key(out, name);
    json_write_string(out, value);
}

void member_word(struct json_writer *out, const char *name, const char *word)
{
    member_text(out, name, slice_from_cstr(word));
}

void member_int(struct json_writer *out, const char *name, int64_t value)
{
    member_key(out, name);
    json_write_int(out, value);
}

void member_uint(struct json_writer *out, const char *name, uint64_t value)
{
    member_key(out, name);
    json_write_uint(out, value);
}

void member_bool(struct json_writer *out, const char *name, bool value)
{
    member_key(out, name);
    json_write_bool(out, value);
}
