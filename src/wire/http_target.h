// SPDX-License-Identifier: MIT
// The parts of a request's target: segments of the path, parameters of the query, both escaped with
// %XX.
#ifndef SLUICE_WIRE_HTTP_TARGET_H
#define SLUICE_WIRE_HTTP_TARGET_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>

// Takes the next segment, still escaped, off the front of `*path` with the '/' before it; false at
// the end. A path that ends with '/' has an empty segment last.
bool http_path_next(struct slice *path, struct slice *segment);

// Takes the next parameter, still escaped, off the front of `*query`; false at the end. One without
// '=' has an empty value. What is empty between two '&' is passed over.
bool http_query_next(struct slice *query, struct slice *name, struct slice *value);

// What escaped text stands for, appended. In a query '+' is a blank. INVALID for a '%' without two
// hexadecimal digits and for %00; otherwise the buffer's status. What has no escape is handed back
// as it is, and nothing appended; `*out` is borrowed from the text or the buffer.
MUST_USE enum status http_unescape(struct slice text, bool query, struct buffer *buffer,
                                   struct slice *out);

// Text as a segment of a path, appended: escaped unless it is a letter, a digit or one of "-._~".
void http_escape(struct slice text, struct buffer *out);

#endif
