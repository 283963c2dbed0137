// SPDX-License-Identifier: MIT
// Encodes bodies of any bytes as JSON data, which jobs have. Clients of other protocols put bodies.
// A body that is JSON without white space is unchanged, so that workers with native clients can
// read it; other text becomes a string; other bytes become {"$base64":"..."}.
//
//     {"a":1}     {"a":1}
//     hello       "hello"
//     ff 00       {"$base64":"/wA="}
//     "hello"     "\"hello\""       so that it differs from the body hello
#ifndef SLUICE_BASE_BODY_H
#define SLUICE_BASE_BODY_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

// Appends the data for a body. Returns the status of the buffer; on failure nothing was appended.
MUST_USE enum status body_encode(struct slice body, struct buffer *out);

// Appends the body of data, which must be valid JSON without leading white space: the text of a
// string; the bytes of an object whose only member is a valid `$base64`; for any other value the
// JSON text itself. This is the inverse of body_encode. Returns the status of the buffer; on
// failure nothing was appended.
MUST_USE enum status body_decode(struct slice data, struct buffer *out);

#endif
