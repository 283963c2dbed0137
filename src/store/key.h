// SPDX-License-Identifier: MIT
// The key of a record as bytes that sort in the order of the keys.
#ifndef SLUICE_STORE_KEY_H
#define SLUICE_STORE_KEY_H

#include "store/store.h"

enum {
    KEY_SIZE = 4 + 1 + 8 + 8,
};

void key_write(char bytes[KEY_SIZE], struct store_key key);
struct store_key key_read(const char bytes[KEY_SIZE]);

// Negative, zero or positive.
int key_compare(const struct store_key *a, const struct store_key *b);

#endif
