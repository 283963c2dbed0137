// SPDX-License-Identifier: MIT
#include "wire/http_reply.h"

#include "base/num.h"
#include "base/timefmt.h"

#include <assert.h>

const char *http_status_phrase(unsigned status)
{
    static const struct {
        unsigned status;
        const char *phrase;
    } phrases[] = {
        { 100, "Continue" },
        { 200, "OK" },
        { 201, "Created" },
        { 202, "Accepted" },
        { 204, "No Content" },
        { 304, "Not Modified" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 406, "Not Acceptable" },
        { 408, "Request Timeout" },
        { 409, "Conflict" },
        { 413, "Content Too Large" },
        { 414, "URI Too Long" },
        { 415, "Unsupported Media Type" },
        { 417, "Expectation Failed" },
        { 422, "Unprocessable Content" },
        { 429, "Too Many Requests" },
        { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 503, "Service Unavailable" },
        { 505, "HTTP Version Not Supported" },
        { 507, "Insufficient Storage" },
    };
    for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
        if (phrases[i].status == status) {
            return phrases[i].phrase;
        }
    }
    return "Unknown";
}

static void append(struct buffer *out, const char *text)
{
    buffer_append(out, slice_from_cstr(text));
}

static void append_header(struct buffer *out, const char *name, struct slice value)
{
    if (value.size) {
        append(out, name);
        buffer_append(out, value);
        append(out, "\r\n");
    }
}

// Appends the length of the body. A reply whose status allows no body has no length.
static void append_length(struct buffer *out, const struct http_reply *reply)
{
    if (reply->status == 204 || reply->status == 304) {
        return;
    }
    if (reply->content_length != HTTP_LENGTH_UNKNOWN) {
        append(out, "Content-Length: ");
        num_append_u64(out, reply->content_length);
        append(out, "\r\n");
    } else if (!reply->http_1_0) {
        append(out, "Transfer-Encoding: chunked\r\n");
    }
}

void http_reply_head(struct buffer *out, const struct http_reply *reply)
{
    // An HTTP/1.0 client detects the end of a body of unknown length only by the end of the
    // connection.
    assert(reply->content_length != HTTP_LENGTH_UNKNOWN || !reply->http_1_0 || reply->close);
    append(out, "HTTP/1.1 ");
    num_append_u64(out, reply->status);
    buffer_append_char(out, ' ');
    append(out, http_status_phrase(reply->status));
    append(out, "\r\n");
    append_header(out, "Date: ", reply->date);
    append_header(out, "Content-Type: ",
                  reply->content_type ? slice_from_cstr(reply->content_type) : SLICE_EMPTY);
    append_length(out, reply);
    if (reply->gzip) {
        append(out, "Content-Encoding: gzip\r\n");
    }
    if (reply->gzip || reply->etag.size) {
        append(out, "Vary: Accept-Encoding\r\n");
    }
    append_header(out, reply->gzip ? "ETag: W/" : "ETag: ", reply->etag);
    buffer_append(out, reply->headers);
    buffer_append(out, reply->more);
    append_header(out, "Connection: ", reply->close ? SLICE("close") : SLICE_EMPTY);
    append(out, "\r\n");
}

void http_reply_chunk(struct buffer *out, struct slice bytes)
{
    assert(bytes.size > 0); // an empty chunk is the end of the body
    buffer_printf(out, "%zx\r\n", bytes.size);
    buffer_append(out, bytes);
    append(out, "\r\n");
}

void http_reply_chunks_end(struct buffer *out)
{
    append(out, "0\r\n\r\n");
}

void http_reply_continue(struct buffer *out)
{
    append(out, "HTTP/1.1 100 Continue\r\n\r\n");
}

static void append_digits(char *at, int64_t value, size_t count)
{
    while (count--) {
        at[count] = (char)('0' + value % 10);
        value /= 10;
    }
}

void http_date(int64_t us, char text[HTTP_DATE_SIZE])
{
    static const char days[] = "ThuFriSatSunMonTueWed"; // 1970 began on a Thursday
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    int64_t seconds = us / 1000000;
    int64_t day_number = seconds / 86400;
    int64_t rest = seconds % 86400;
    int64_t year;
    unsigned month;
    unsigned day;
    timefmt_civil_from_days(day_number, &year, &month, &day);
    memcpy(text, "Thu, 01 Jan 1970 00:00:00 GMT", HTTP_DATE_SIZE);
    memcpy(text, days + day_number % 7 * 3, 3);
    append_digits(text + 5, day, 2);
    memcpy(text + 8, months + (size_t)(month - 1) * 3, 3);
    append_digits(text + 12, year, 4);
    append_digits(text + 17, rest / 3600, 2);
    append_digits(text + 20, rest / 60 % 60, 2);
    append_digits(text + 23, rest % 60, 2);
}
