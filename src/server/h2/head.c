// SPDX-License-Identifier: MIT
#include "server/h2/head.h"

void h2_head_init(struct h2_head *head, const struct allocator *allocator)
{
    *head = (struct h2_head){ 0 };
    buffer_init(&head->bytes, allocator, UINT32_MAX - 1);
}

void h2_head_release(struct h2_head *head)
{
    buffer_release(&head->bytes);
}

void h2_head_begin(struct h2_head *head, size_t size_max)
{
    buffer_clear(&head->bytes);
    head->count = 0;
    head->size = 0;
    head->size_max = size_max;
}

enum status h2_head_add(struct h2_head *head, struct slice name, struct slice value)
{
    head->size += name.size + value.size + H2_FIELD_OVERHEAD;
    if (h2_head_is_too_large(head)) {
        return STATUS_OK;
    }
    if (head->count == H2_HEAD_FIELDS_MAX) {
        head->count++; // too many
        return STATUS_OK;
    }
    head->fields[head->count].at = (uint32_t)head->bytes.size;
    head->fields[head->count].name_size = (uint32_t)name.size;
    head->fields[head->count].value_size = (uint32_t)value.size;
    buffer_append(&head->bytes, name);
    buffer_append(&head->bytes, value);
    head->count += head->bytes.status == STATUS_OK;
    return head->bytes.status;
}

bool h2_head_at(const struct h2_head *head, size_t index, struct h2_field *field)
{
    if (index >= head->count || index >= H2_HEAD_FIELDS_MAX) {
        return false;
    }
    const char *name = head->bytes.data + head->fields[index].at;
    field->name = slice_make(name, head->fields[index].name_size);
    field->value = slice_make(name + field->name.size, head->fields[index].value_size);
    return true;
}

size_t h2_head_find(const struct h2_head *head, struct slice name, struct slice *value)
{
    size_t found = 0;
    struct h2_field field;
    *value = SLICE_EMPTY;
    for (size_t i = 0; h2_head_at(head, i, &field); i++) {
        if (slice_equal(field.name, name)) {
            *value = found ? *value : field.value;
            found++;
        }
    }
    return found;
}
