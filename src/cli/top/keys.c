// SPDX-License-Identifier: MIT
#include "cli/top/keys.h"

#include <string.h>

void keys_add(struct keys *keys, const char *bytes, size_t count)
{
    size_t room = sizeof(keys->bytes) - keys->count;
    count = count < room ? count : room;
    memcpy(keys->bytes + keys->count, bytes, count);
    keys->count += count;
}

static void drop(struct keys *keys, size_t count)
{
    keys->count -= count;
    memmove(keys->bytes, keys->bytes + count, keys->count);
}

// ESC [ 5 ~
static int by_number(unsigned char number)
{
    switch (number) {
    case '1':
    case '7':
        return KEY_HOME;
    case '4':
    case '8':
        return KEY_END;
    case '5':
        return KEY_PAGE_UP;
    case '6':
        return KEY_PAGE_DOWN;
    default:
        return KEY_NONE;
    }
}

// ESC [ A, ESC O A
static int by_letter(unsigned char letter)
{
    switch (letter) {
    case 'A':
        return KEY_UP;
    case 'B':
        return KEY_DOWN;
    case 'C':
        return KEY_RIGHT;
    case 'D':
        return KEY_LEFT;
    case 'H':
        return KEY_HOME;
    case 'F':
        return KEY_END;
    case 'Z':
        return KEY_BACK_TAB;
    default:
        return KEY_NONE;
    }
}

// How many bytes of the buffer are one sequence; 0: its end has not come yet.
static size_t sequence_size(const struct keys *keys)
{
    if (keys->count < 2) {
        return 0;
    }
    if (keys->bytes[1] == 'O') {
        return keys->count > 2 ? 3 : 0;
    }
    if (keys->bytes[1] != '[') {
        return 1;
    }
    for (size_t i = 2; i < keys->count; i++) {
        if (keys->bytes[i] >= 0x40 && keys->bytes[i] < 0x7F) {
            return i + 1;
        }
    }
    return 0;
}

static int sequence_key(const struct keys *keys, size_t size)
{
    if (size == 1) {
        return KEY_ESCAPE;
    }
    unsigned char last = keys->bytes[size - 1];
    if (last == '~') {
        return size == 4 ? by_number(keys->bytes[2]) : KEY_NONE;
    }
    return by_letter(last);
}

int keys_next(struct keys *keys, bool all)
{
    while (keys->count) {
        int key = keys->bytes[0];
        size_t size = 1;
        if (key == KEY_ESCAPE) {
            size = sequence_size(keys);
            if (!size && !all) {
                return KEY_NONE;
            }
            // A sequence without an end is dropped whole.
            key = size ? sequence_key(keys, size) : keys->count == 1 ? KEY_ESCAPE : KEY_NONE;
            size = size ? size : keys->count;
        } else if (key == '\n') {
            key = KEY_ENTER;
        } else if (key == 0x7F) {
            key = KEY_BACKSPACE;
        }
        drop(keys, size);
        if (key != KEY_NONE) {
            return key;
        }
    }
    return KEY_NONE;
}
