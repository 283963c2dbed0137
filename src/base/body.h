// SPDX-License-Identifier: MIT
// Opaque bodies as JSON data. Clients of other protocols put bodies of any bytes; the data of a job
// is JSON. A body that is JSON without white space stays as it is, so that workers of the queue's
// own clients can read it; other text becomes a string; other bytes become {"$base64":"..."}.
//
//     {"a":1}     {"a":1}
//     hello       "hello"
//     ff 00       {"$base64":"/wA="}
//     "hello"     "\"hello\""       so that the two strings are told apart
#ifndef SLUICE_BASE_BODY_H
#define SLUICE_BASE_BODY_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

// Appends the data for a body. The status is the buffer's; on failure the buffer has no more bytes
// than before.
MUST_USE enum status body_encode(struct slice body, struct buffer *out);

// Appends the body that data stands for, which must be valid JSON with no white space before it: the text of a string; the bytes
// of an object that has nothing but `$base64`, if they can be read; of any other value its text as
// it stands there. So of data that body_encode made it is the body that was encoded. The status is
// the buffer's; on failure the buffer has no more bytes than before.
MUST_USE enum status body_decode(struct slice data, struct buffer *out);

#endif
