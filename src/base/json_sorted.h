// SPDX-License-Identifier: MIT
// The canonical form of a JSON text, so that texts with the same meaning can be compared and
// digested as bytes.
#ifndef SLUICE_BASE_JSON_SORTED_H
#define SLUICE_BASE_JSON_SORTED_H

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

// Appends a text that has passed json_validate
//
// - without insignificant white space;
// - with the members of each object in ascending order of their keys, which are compared byte by
//   byte as UTF-8; members with the same key keep their order;
// - with all strings escaped as json_writer does it, so that "\u0061" becomes "a";
// - with each number in its canonical form (json_number.h), so that 1.0 and 1e0 become 1.
//
// The result is valid, as deeply nested as the text, larger only if numbers become longer (at most
// 6 times), and its own canonical form.
//
// `allocator` provides memory during the call: about 32 bytes for each member and 64 for each
// object, up to three times that while it grows; 32 more for each member of the largest object; and
// the size of the text if a string in it has an escape. The time is O(size log members) at any
// depth.
//
// STATUS_NO_MEMORY, or the status of the buffer; then nothing was appended. For a text that is not
// valid the result is STATUS_INVALID or meaningless bytes; no byte outside it is read.
MUST_USE enum status json_sorted(struct slice valid_text, const struct allocator *allocator,
                                 struct buffer *out);

#endif
