// SPDX-License-Identifier: MIT
// The parts of a request's target: segments of the path, and parameters of the query, both
// percent-encoded.
#ifndef SLUICE_WIRE_HTTP_TARGET_H
#define SLUICE_WIRE_HTTP_TARGET_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>

// Removes the next segment, still encoded, and the '/' before it from the front of `*path`; false
// at the end. A path that ends with '/' has an empty segment last.
bool http_path_next(struct slice *path, struct slice *segment);

// Removes the next parameter, still encoded, from the front of `*query`; false at the end. A
// parameter without '=' has an empty value. Empty parameters are skipped.
bool http_query_next(struct slice *query, struct slice *name, struct slice *value);

// Decodes percent-encoded text. In a query '+' is a blank. INVALID for a '%' without two
// hexadecimal digits and for %00; otherwise the status of the buffer. `*out` is borrowed: from the
// text if it has no escapes, otherwise from the buffer, to which the decoded text is appended.
MUST_USE enum status http_unescape(struct slice text, bool query, struct buffer *buffer,
                                   struct slice *out);

// Appends text as a segment of a path: encoded except for letters, digits and "-._~".
void http_escape(struct slice text, struct buffer *out);

#endif
