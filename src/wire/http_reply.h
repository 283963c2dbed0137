// SPDX-License-Identifier: MIT
// Writes HTTP/1.1 replies at the end of a buffer. Errors stick in the buffer; check it once.
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
    // Of the body. HTTP_LENGTH_UNKNOWN: the body follows in chunks or, with HTTP/1.0, up to the end
    // of the connection.
    size_t content_length;
    struct slice date;    // as http_date writes it; empty: omitted
    struct slice etag;    // with its quotes; empty: omitted
    struct slice headers; // additional ones, each with its \r\n
    struct slice more;    // likewise
    bool gzip;            // the body is compressed, so it differs from the one that the tag is for
    bool close;           // the connection closes after this reply
    bool http_1_0;        // the version of the request
};

// Appends the status line, the headers and the empty line. A body may follow, unless the status
// (204, 304) or the method (HEAD) does not allow one.
void http_reply_head(struct buffer *out, const struct http_reply *reply);

// Append a piece of a body of unknown length, which must not be empty; and its end.
void http_reply_chunk(struct buffer *out, struct slice bytes);
void http_reply_chunks_end(struct buffer *out);

// "HTTP/1.1 100 Continue"
void http_reply_continue(struct buffer *out);

// The reason phrase of a status ("Not Found").
const char *http_status_phrase(unsigned status);

// Formats a time as HTTP dates, from microseconds since 1970; years 1970 to 9999.
void http_date(int64_t us, char text[HTTP_DATE_SIZE]);

#endif
