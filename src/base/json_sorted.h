// SPDX-License-Identifier: MIT
// JSON in one form for all the texts that mean the same, so that they can be compared and digested
// as bytes.
#ifndef SLUICE_BASE_JSON_SORTED_H
#define SLUICE_BASE_JSON_SORTED_H

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

// Appends a text that has passed json_validate
//
// - without the white space that has no meaning;
// - with the members of each object in ascending order of their keys, which are compared byte by
//   byte as the UTF-8 that they stand for; members with the same key stay in the order they had;
// - with all strings escaped as json_writer does it, so that "\u0061" becomes "a";
// - with each number in the form that all texts of its value share (json_number.h), so that 1.0 and
//   1e0 become 1.
//
// The result is valid, as deep as the text, larger only by what numbers grow (at most 6 times as
// large), and its own sorted form.
//
// `allocator` gives memory for the time of the call: some 32 bytes for each member and 64 for each
// object, up to three times that while it grows; 32 more for each member of the object that has the
// most; and the size of the text when a string in it has an escape. The time is O(size log members)
// at any depth.
//
// STATUS_NO_MEMORY, or the buffer's status; then the buffer has no more bytes than before. A text
// that is not valid gives STATUS_INVALID or bytes that mean nothing; none outside it is read.
MUST_USE enum status json_sorted(struct slice valid_text, const struct allocator *allocator,
                                 struct buffer *out);

#endif
