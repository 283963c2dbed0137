// SPDX-License-Identifier: MIT
// Replies in HTTP/1.1, at the end of a buffer. Errors stick in the buffer; check it once.
#ifndef SLUICE_WIRE_HTTP_REPLY_H
#define SLUICE_WIRE_HTTP_REPLY_H

#include "base/buffer.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_LENGTH_UNKNOWN SIZE_MAX

enum {
    HTTP_DATE_SIZE = 29, // "Tue, 14 Jul 2026 03:33:20 GMT"
};

struct http_reply {
    unsigned status;
    const char *content_type; // NULL: there is no body
    // Of the body. HTTP_LENGTH_UNKNOWN: it follows in chunks or, for HTTP/1.0, up to the end of the
    // connection.
    size_t content_length;
    struct slice date;    // as http_date makes it; empty: is not said
    struct slice etag;    // with its quotes; empty: is not said
    struct slice headers; // more of them, each with its \r\n
    struct slice more;    // likewise
    bool gzip;            // so the body is encoded, and differs from the one that the tag is of
    bool close;           // the connection ends with this reply
    bool http_1_0;        // what the request was
};

// The line of the status and the headers, with the empty line. A body may follow, unless the status
// (204, 304) or the method (HEAD) has none.
void http_reply_head(struct buffer *out, const struct http_reply *reply);

// A piece of a body of unknown length, not empty; and its end.
void http_reply_chunk(struct buffer *out, struct slice bytes);
void http_reply_chunks_end(struct buffer *out);

// "HTTP/1.1 100 Continue"
void http_reply_continue(struct buffer *out);

// The words for a status ("Not Found").
const char *http_status_phrase(unsigned status);

// A moment as HTTP writes it, in microseconds since 1970, years 1970 to 9999.
void http_date(int64_t us, char text[HTTP_DATE_SIZE]);

#endif
