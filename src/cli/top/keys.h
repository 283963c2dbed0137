// SPDX-License-Identifier: MIT
// Keys, from the bytes that a terminal sends for them.
#ifndef SLUICE_CLI_TOP_KEYS_H
#define SLUICE_CLI_TOP_KEYS_H

#include <stdbool.h>
#include <stddef.h>

// A key is its byte (letters, also those of UTF-8, one byte at a time), or one of these.
enum key {
    KEY_NONE = 0,
    KEY_CTRL_C = 3,
    KEY_BACKSPACE = 8,
    KEY_TAB = 9,
    KEY_CTRL_L = 12,
    KEY_ENTER = 13,
    KEY_CTRL_Z = 26,
    KEY_ESCAPE = 27,
    KEY_UP = 256,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END,
    KEY_BACK_TAB,
};

// Begins as zeros.
struct keys {
    unsigned char bytes[64];
    size_t count;
};

void keys_add(struct keys *keys, const char *bytes, size_t count);

// The next key; KEY_NONE: there is none yet. With `all`, no more bytes belong to what is there: an
// escape alone is the key of that name. Sequences that mean nothing here are passed over.
int keys_next(struct keys *keys, bool all);

#endif
