// SPDX-License-Identifier: MIT
// Printable text: UTF-8 without control characters (U+0000 to U+001F, U+007F to U+009F).
#ifndef SLUICE_BASE_TEXT_H
#define SLUICE_BASE_TEXT_H

#include "base/slice.h"

#include <stdbool.h>

// The size of the character at the front of `bytes`; 0 if there is none, if it is not UTF-8, or if
// it is a control character.
size_t text_character(struct slice bytes);

// Whether all of the bytes are such characters.
bool text_is_plain(struct slice bytes);

#endif
