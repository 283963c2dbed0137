// SPDX-License-Identifier: MIT
//     POST /v1/ns/app/pop HTTP/1.1\r\n     the request line
//     Host: localhost\r\n                  headers
//     Content-Length: 20\r\n
//     \r\n
//     {"queues":["mail"]}                  the body, whole or in chunks
//
//            read_request_line          read_header
//     START -------------------> HEADERS --------+
//                                  | ^___________|
//         end_head, by what was    |
//         declared of the body     +----------------------> BODY -----------------+
//                                  |                            take_body         |
//                                  |    read_chunk_size                           v
//                                  +--> CHUNK_SIZE <------> CHUNK                DONE
//                                  |        |   read_chunk                        ^
//                                  |        +--> TRAILERS ------------------------+
//                                  +----------------------------------------------+
//
// The next call moves from DONE to START.
//
// The outcome depends only on the bytes received, not on how they were split: each step is taken
// when all bytes that it examines have arrived, and each error is found by the same step. A line is
// examined as a whole.
#include "wire/http_request.h"

#include "base/ascii.h"
#include "base/num.h"

#include <assert.h>
#include <string.h>

enum {
    HEADERS_MIN = 16,         // initial capacity
    HEADERS_KEPT = 64,        // a larger allocation is freed after use
    GATHERED_KEPT = 64 << 10, // likewise
    CHUNK_DIGITS_MAX = 15,    // few enough that the value cannot overflow
    LINE_END_SIZE = 2,
};

void http_request_init(struct http_request *request, const struct allocator *allocator,
                       const struct http_limits *limits)
{
    *request = (struct http_request){ .allocator = allocator, .limits = limits };
    buffer_init(&request->gathered, allocator, limits->body_max);
}

static void free_headers(struct http_request *request)
{
    mem_free(request->allocator, request->headers,
             request->header_capacity * sizeof(struct http_span));
    request->headers = NULL;
    request->header_capacity = 0;
}

void http_request_release(struct http_request *request)
{
    free_headers(request);
    buffer_release(&request->gathered);
    http_request_init(request, request->allocator, request->limits);
}

static void begin(struct http_request *request)
{
    if (request->header_capacity > HEADERS_KEPT) {
        free_headers(request);
    }
    if (request->gathered.capacity > GATHERED_KEPT) {
        buffer_release(&request->gathered);
    }
    struct http_request fresh = { .allocator = request->allocator,
                                  .limits = request->limits,
                                  .pauses = request->pauses,
                                  .headers = request->headers,
                                  .header_capacity = request->header_capacity,
                                  .gathered = request->gathered };
    buffer_clear(&fresh.gathered);
    fresh.gathered.size_max = request->limits->body_max;
    *request = fresh;
}

// Sets the error and the HTTP status of a malformed request.
#define broken(request, error, code, ...)                                                          \
    ((request)->answer = (code), (void)error_set((error), broken_status(code), __VA_ARGS__),       \
     HTTP_BROKEN)

static enum status broken_status(unsigned code)
{
    switch (code) {
    case 413:
    case 414:
    case 431:
        return STATUS_TOO_LARGE;
    case 417:
    case 501:
    case 505:
        return STATUS_UNSUPPORTED;
    case 503:
        return STATUS_NO_MEMORY;
    default:
        return STATUS_INVALID;
    }
}

static struct slice text_at(const struct http_request *request, size_t start, size_t size)
{
    return slice_make(request->input + start, size);
}

// ---------------------------------------------------------------------------------------------
// Lines

// Characters of a method and of the name of a header.
static bool is_token_char(char c)
{
    char lower = ascii_lower(c);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_token(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (!is_token_char(text.data[i])) {
            return false;
        }
    }
    return text.size > 0;
}

// Neither a control character nor, unless `above_ascii`, a byte above ASCII. A tab is treated as a
// blank.
static bool is_printable(struct slice text, bool above_ascii)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f || (c >= 0x80 && !above_ascii)) {
            return false;
        }
    }
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct slice trim(struct slice text)
{
    while (text.size && is_blank(text.data[0])) {
        text = slice_sub(text, 1, SIZE_MAX);
    }
    while (text.size && is_blank(text.data[text.size - 1])) {
        text.size--;
    }
    return text;
}

// The line at `position`, without its end, if all of it has arrived. It must end with \r\n. A line
// that is too long is BROKEN without a message, and with `answer` 0.
static enum http_result find_line(struct http_request *request, size_t come, size_t size_max,
                                  struct slice *line, struct error *error)
{
    size_t from = request->scanned > request->position ? request->scanned : request->position;
    size_t until = come;
    if (until - request->position > size_max) {
        until = request->position + size_max;
    }
    const char *start = request->input + request->position;
    const char *end = from < until ? memchr(request->input + from, '\n', until - from) : NULL;
    if (!end) {
        request->scanned = come;
        request->answer = 0;
        // A line whose end has not arrived has at least one more byte.
        return come - request->position >= size_max ? HTTP_BROKEN : HTTP_MORE;
    }
    size_t size = (size_t)(end - start);
    if (size == 0 || start[size - 1] != '\r') {
        return broken(request, error, 400, "a line does not end with \\r\\n");
    }
    *line = slice_make(start, size - 1);
    return HTTP_READY;
}

static void pass_line(struct http_request *request, struct slice line)
{
    request->position += line.size + LINE_END_SIZE;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

// ---------------------------------------------------------------------------------------------
// The request line

// Removes "http://host:port" from the target, and returns the host; a URL without a path means "/".
static bool strip_origin(struct slice *target, struct slice *authority)
{
    static const char *const schemes[] = { "http://", "https://" };
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        struct slice scheme = slice_from_cstr(schemes[i]);
        if (target->size > scheme.size && ascii_equal(slice_sub(*target, 0, scheme.size), scheme)) {
            struct slice rest = slice_sub(*target, scheme.size, SIZE_MAX);
            size_t host = 0;
            while (rest.data && host < rest.size && rest.data[host] != '/' &&
                   rest.data[host] != '?') {
                host++;
            }
            *authority = slice_sub(rest, 0, host);
            *target = slice_sub(rest, host, SIZE_MAX);
            return host > 0;
        }
    }
    return false;
}

static enum http_result read_target(struct http_request *request, struct slice target,
                                    struct error *error)
{
    if (memchr(target.data, '#', target.size)) {
        return broken(request, error, 400, "the target of a request has a '#'");
    }
    bool star = slice_equal(target, SLICE("*"));
    if (star && !slice_equal(text_at(request, request->line.name, request->line.name_size),
                             SLICE("OPTIONS"))) {
        return broken(request, error, 400, "the target * is for OPTIONS only");
    }
    struct slice authority = slice_make(target.data, 0);
    if (!star && target.data[0] != '/' && !strip_origin(&target, &authority)) {
        return broken(request, error, 400, "the target of a request is neither a path nor a URL");
    }
    request->authority = (uint32_t)(authority.data - request->input);
    request->authority_size = (uint32_t)authority.size;
    request->line.value = (uint32_t)(target.data - request->input);
    request->line.value_size = (uint32_t)target.size;
    return HTTP_READY;
}

static enum http_result read_version(struct http_request *request, struct slice version,
                                     struct error *error)
{
    bool is_http = version.size == 8 && slice_starts_with(version, SLICE("HTTP/")) &&
                   version.data[5] >= '0' && version.data[5] <= '9' && version.data[6] == '.' &&
                   version.data[7] >= '0' && version.data[7] <= '9';
    if (!is_http) {
        return broken(request, error, 400, "a request line does not end with HTTP/1.1");
    }
    if (version.data[5] != '1') {
        return broken(request, error, 505, "HTTP/%c is not spoken here; HTTP/1.1 is",
                      version.data[5]);
    }
    request->http_1_0 = version.data[7] == '0';
    return HTTP_READY;
}

// "METHOD SP target SP version", with one blank each.
static enum http_result split_request_line(struct http_request *request, struct slice line,
                                           struct error *error)
{
    const char *first = memchr(line.data, ' ', line.size);
    size_t method_size = first ? (size_t)(first - line.data) : line.size;
    struct slice method = slice_sub(line, 0, method_size);
    if (!is_token(method)) {
        return broken(request, error, 400, "a request does not begin with a method");
    }
    struct slice rest = slice_sub(line, method_size + 1, SIZE_MAX);
    const char *second = rest.size ? memchr(rest.data, ' ', rest.size) : NULL;
    size_t target_size = second ? (size_t)(second - rest.data) : rest.size;
    struct slice target = slice_sub(rest, 0, target_size);
    if (target.size == 0 || !second || memchr(target.data, '\t', target.size) ||
        !is_printable(target, false)) {
        return broken(request, error, 400,
                      "a request line is not a method, a target and a version");
    }
    request->line.name = (uint32_t)request->position;
    request->line.name_size = (uint32_t)method.size;
    enum http_result result =
        read_version(request, slice_sub(rest, target_size + 1, SIZE_MAX), error);
    return result == HTTP_READY ? read_target(request, target, error) : result;
}

static enum http_result read_request_line(struct http_request *request, size_t come,
                                          struct error *error)
{
    const struct http_limits *limits = request->limits;
    // An empty line before a request is skipped, because old clients send one after a body.
    if (request->position == 0 && come >= LINE_END_SIZE &&
        memcmp(request->input, "\r\n", LINE_END_SIZE) == 0) {
        request->position = LINE_END_SIZE;
    }
    struct slice line;
    size_t size_max = smaller(limits->line_max, limits->head_max);
    request->part_start = request->position;
    enum http_result result = find_line(request, come, size_max, &line, error);
    if (result == HTTP_BROKEN && request->answer == 0) {
        return broken(request, error, 414,
                      "a request line of more than %zu bytes; at most %zu are allowed", size_max,
                      size_max);
    }
    if (result == HTTP_READY) {
        result = split_request_line(request, line, error);
    }
    if (result == HTTP_READY) {
        pass_line(request, line);
        request->stage = HTTP_STAGE_HEADERS;
    }
    return result;
}

// ---------------------------------------------------------------------------------------------
// Headers that decide how the rest is read

// Removes the next item from a comma-separated list; false at its end. Items may be empty.
static bool next_item(struct slice *list, struct slice *item)
{
    if (!list->data) {
        return false;
    }
    const char *comma = list->size ? memchr(list->data, ',', list->size) : NULL;
    size_t size = comma ? (size_t)(comma - list->data) : list->size;
    *item = trim(slice_sub(*list, 0, size));
    *list = comma ? slice_sub(*list, size + 1, SIZE_MAX) : SLICE_EMPTY;
    return true;
}

static enum http_result take_host(struct http_request *request, struct slice value,
                                  struct error *error)
{
    if (request->has_host) {
        return broken(request, error, 400, "a request has more than one Host");
    }
    for (size_t i = 0; i < value.size; i++) {
        if (is_blank(value.data[i]) || value.data[i] == ',' || value.data[i] == '/' ||
            value.data[i] == '@') {
            return broken(request, error, 400, "Host is not the name of a host");
        }
    }
    request->has_host = true;
    return HTTP_READY;
}

static enum http_result take_length(struct http_request *request, struct slice value,
                                    struct error *error)
{
    if (request->has_length) {
        return broken(request, error, 400, "a request has more than one Content-Length");
    }
    uint64_t size = 0;
    enum status status = num_parse_u64(value, &size);
    if (status == STATUS_INVALID || value.data[0] == '-') {
        return broken(request, error, 400, "Content-Length is not a whole number");
    }
    if (status || size > SIZE_MAX / 2) {
        return broken(request, error, 413, "a body of %.*s bytes; at most %zu are allowed",
                      SLICE_PRINT(slice_shown(value)), request->limits->body_max);
    }
    request->has_length = true;
    request->body_size = (size_t)size;
    return HTTP_READY;
}

static enum http_result take_coding(struct http_request *request, struct slice value,
                                    struct error *error)
{
    struct slice item;
    while (next_item(&value, &item)) {
        if (request->chunked) {
            return broken(request, error, 400,
                          "a request has a transfer coding behind chunked, or chunked twice");
        }
        if (!ascii_equal(item, SLICE("chunked"))) {
            return broken(request, error, 501,
                          "the transfer coding \"%.*s\" is not understood; chunked is",
                          SLICE_PRINT(slice_shown(item)));
        }
        request->chunked = true;
    }
    return HTTP_READY;
}

static enum http_result take_connection(struct http_request *request, struct slice value,
                                        struct error *error)
{
    (void)error;
    struct slice item;
    while (next_item(&value, &item)) {
        request->close = request->close || ascii_equal(item, SLICE("close"));
    }
    return HTTP_READY;
}

static enum http_result take_expect(struct http_request *request, struct slice value,
                                    struct error *error)
{
    if (!ascii_equal(value, SLICE("100-continue"))) {
        return broken(request, error, 417, "the expectation \"%.*s\" is not understood",
                      SLICE_PRINT(slice_shown(value)));
    }
    request->expects_continue = !request->http_1_0;
    return HTTP_READY;
}

static enum http_result take_header(struct http_request *request, struct slice name,
                                    struct slice value, struct error *error)
{
    static const struct {
        const char *name;
        enum http_result (*take)(struct http_request *request, struct slice value,
                                 struct error *error);
    } taken[] = {
        { "host", take_host },
        { "content-length", take_length },
        { "transfer-encoding", take_coding },
        { "connection", take_connection },
        { "expect", take_expect },
    };
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        if (ascii_equal(name, slice_from_cstr(taken[i].name))) {
            return taken[i].take(request, value, error);
        }
    }
    return HTTP_READY;
}

// ---------------------------------------------------------------------------------------------
// Headers and trailers

static enum http_result keep_header(struct http_request *request, struct slice name,
                                    struct slice value, struct error *error)
{
    if (request->header_count == request->header_capacity) {
        size_t capacity = request->header_capacity ? 2 * request->header_capacity : HEADERS_MIN;
        struct http_span *headers =
            mem_resize(request->allocator, request->headers,
                       request->header_capacity * sizeof(*headers), capacity * sizeof(*headers));
        if (!headers) {
            return broken(request, error, 503, "there is no memory for the headers of a request");
        }
        request->headers = headers;
        request->header_capacity = capacity;
    }
    request->headers[request->header_count++] = (struct http_span){
        .name = (uint32_t)(name.data - request->input),
        .name_size = (uint32_t)name.size,
        .value = (uint32_t)(value.data - request->input),
        .value_size = (uint32_t)value.size,
    };
    return HTTP_READY;
}

static enum http_result split_header(struct http_request *request, struct slice line,
                                     struct slice *name, struct slice *value, struct error *error)
{
    if (is_blank(line.data[0])) {
        return broken(request, error, 400, "a header goes on in a second line");
    }
    const char *colon = memchr(line.data, ':', line.size);
    *name = slice_sub(line, 0, colon ? (size_t)(colon - line.data) : line.size);
    if (!colon || !is_token(*name)) {
        return broken(request, error, 400, "a header does not begin with a name and a colon");
    }
    *value = trim(slice_sub(line, name->size + 1, SIZE_MAX));
    if (!is_printable(*value, true)) {
        return broken(request, error, 400, "the header %.*s has a control character",
                      SLICE_PRINT(slice_shown(*name)));
    }
    return HTTP_READY;
}

static enum http_result headers_too_large(struct http_request *request, struct error *error)
{
    const struct http_limits *limits = request->limits;
    return broken(request, error, 431,
                  "headers are too large: at most %zu bytes each and %zu in all are allowed",
                  limits->line_max, limits->head_max);
}

// The next header or trailer as a line; an empty line is the end. `*count` is the number so far.
static enum http_result next_header_line(struct http_request *request, size_t come, size_t *count,
                                         struct slice *line, struct error *error)
{
    const struct http_limits *limits = request->limits;
    size_t left = limits->head_max - (request->position - request->part_start);
    enum http_result result =
        find_line(request, come, smaller(left, limits->line_max), line, error);
    if (result == HTTP_BROKEN && request->answer == 0) {
        return headers_too_large(request, error);
    }
    if (result == HTTP_READY && line->size && (*count)++ == limits->headers_max) {
        return broken(request, error, 431, "more than %zu headers; at most %zu are allowed",
                      limits->headers_max, limits->headers_max);
    }
    return result;
}

// Sets the public fields from the head.
static void show_head(struct http_request *request)
{
    struct slice target = text_at(request, request->line.value, request->line.value_size);
    const char *mark = target.size ? memchr(target.data, '?', target.size) : NULL;
    size_t path_size = mark ? (size_t)(mark - target.data) : target.size;
    request->method = text_at(request, request->line.name, request->line.name_size);
    request->path = path_size ? slice_sub(target, 0, path_size) : SLICE("/");
    request->query = mark ? slice_sub(target, path_size + 1, SIZE_MAX) : SLICE_EMPTY;
    request->keep_alive = !request->http_1_0 && !request->close;
}

static enum http_result finish(struct http_request *request)
{
    show_head(request);
    request->size = request->position;
    request->stage = HTTP_STAGE_DONE;
    return HTTP_READY;
}

// Access depends on the requested host, so two headers must not name different hosts.
static bool names_one_host(const struct http_request *request)
{
    struct slice host = SLICE_EMPTY;
    struct slice authority = text_at(request, request->authority, request->authority_size);
    return authority.size == 0 || !http_request_header(request, SLICE("Host"), &host, NULL) ||
           ascii_equal(authority, host);
}

// All headers were read: checks them in combination.
static enum http_result end_head(struct http_request *request, struct error *error)
{
    if (!request->has_host && !request->http_1_0) {
        return broken(request, error, 400, "a request has no Host");
    }
    if (!names_one_host(request)) {
        return broken(request, error, 400, "the target of a request names another host than Host");
    }
    if (request->chunked && request->has_length) {
        return broken(request, error, 400,
                      "a request has both Content-Length and Transfer-Encoding");
    }
    if (request->chunked && request->http_1_0) {
        return broken(request, error, 400, "a request of HTTP/1.0 has Transfer-Encoding");
    }
    request->stage = request->chunked ? HTTP_STAGE_CHUNK_SIZE : HTTP_STAGE_BODY;
    show_head(request);
    return request->pauses ? HTTP_MORE : HTTP_READY;
}

static enum http_result read_header(struct http_request *request, size_t come, struct error *error)
{
    struct slice line;
    size_t count = request->header_count;
    enum http_result result = next_header_line(request, come, &count, &line, error);
    if (result != HTTP_READY) {
        return result;
    }
    if (line.size == 0) {
        pass_line(request, line);
        return end_head(request, error);
    }
    struct slice name;
    struct slice value;
    result = split_header(request, line, &name, &value, error);
    if (result == HTTP_READY) {
        result = take_header(request, name, value, error);
    }
    if (result == HTTP_READY) {
        result = keep_header(request, name, value, error);
    }
    if (result == HTTP_READY) {
        pass_line(request, line);
    }
    return result;
}

// Trailers are parsed as strictly as headers, and dropped.
static enum http_result read_trailer(struct http_request *request, size_t come, struct error *error)
{
    struct slice line;
    enum http_result result =
        next_header_line(request, come, &request->trailer_count, &line, error);
    if (result != HTTP_READY) {
        return result;
    }
    struct slice name;
    struct slice value;
    if (line.size && split_header(request, line, &name, &value, error) != HTTP_READY) {
        return HTTP_BROKEN;
    }
    pass_line(request, line);
    if (line.size) {
        return HTTP_READY;
    }
    request->body = buffer_slice(&request->gathered);
    return finish(request);
}

// ---------------------------------------------------------------------------------------------
// Bodies

// A body that is too large is refused only when it would be read, so that a refusal of the request
// itself comes first.
static enum http_result take_body(struct http_request *request, size_t come, struct error *error)
{
    if (request->body_size > request->limits->body_max) {
        return broken(request, error, 413, "a body of %zu bytes; at most %zu are allowed",
                      request->body_size, request->limits->body_max);
    }
    if (come - request->position < request->body_size) {
        return HTTP_MORE;
    }
    request->body = text_at(request, request->position, request->body_size);
    request->position += request->body_size;
    return finish(request);
}

// Parses the size of a chunk: digits, and possibly an extension, which is ignored.
static bool parse_chunk_size(struct slice line, uint64_t *size, size_t *digits)
{
    *size = 0;
    *digits = 0;
    while (*digits < line.size && ascii_hex_digit(line.data[*digits]) >= 0) {
        if (*digits == CHUNK_DIGITS_MAX) {
            return false;
        }
        *size = *size * 16 + (unsigned)ascii_hex_digit(line.data[*digits]);
        (*digits)++;
    }
    bool extension = *digits < line.size && line.data[*digits] == ';';
    return *digits > 0 && (*digits == line.size || (extension && is_printable(line, false)));
}

static enum http_result add_overhead(struct http_request *request, size_t size, struct error *error)
{
    request->overhead += size;
    if (request->overhead > request->limits->chunk_overhead_max + request->gathered.size) {
        return broken(request, error, 413,
                      "a chunked body has more bytes around its contents than are allowed");
    }
    return HTTP_READY;
}

static enum http_result read_chunk_size(struct http_request *request, size_t come,
                                        struct error *error)
{
    struct slice line;
    size_t size_max = request->limits->line_max;
    enum http_result result = find_line(request, come, size_max, &line, error);
    if (result == HTTP_BROKEN && request->answer == 0) {
        return broken(request, error, 413, "the size of a chunk has a line of more than %zu bytes",
                      size_max);
    }
    if (result != HTTP_READY) {
        return result;
    }
    uint64_t size = 0;
    size_t digits = 0;
    if (!parse_chunk_size(line, &size, &digits)) {
        return broken(request, error, 400, "the size of a chunk is not a hexadecimal number");
    }
    if (size > request->limits->body_max - request->gathered.size) {
        return broken(request, error, 413, "a body of more than %zu bytes; at most %zu are allowed",
                      request->limits->body_max, request->limits->body_max);
    }
    result = add_overhead(request, line.size + 2 * (size_t)LINE_END_SIZE, error);
    if (result == HTTP_READY) {
        pass_line(request, line);
        request->body_size = (size_t)size;
        request->part_start = request->position;
        request->stage = size ? HTTP_STAGE_CHUNK : HTTP_STAGE_TRAILERS;
    }
    return result;
}

static enum http_result read_chunk(struct http_request *request, size_t come, struct error *error)
{
    size_t size = request->body_size;
    if (come - request->position < size + LINE_END_SIZE) {
        return HTTP_MORE;
    }
    const char *chunk = request->input + request->position;
    if (memcmp(chunk + size, "\r\n", LINE_END_SIZE) != 0) {
        return broken(request, error, 400, "a chunk does not end with \\r\\n after its %zu bytes",
                      size);
    }
    buffer_append(&request->gathered, slice_make(chunk, size));
    if (request->gathered.status) {
        return broken(request, error, 503, "there is no memory for the body of a request");
    }
    request->position += size + LINE_END_SIZE;
    request->stage = HTTP_STAGE_CHUNK_SIZE;
    return HTTP_READY;
}

// ---------------------------------------------------------------------------------------------

static enum http_result step(struct http_request *request, size_t come, struct error *error)
{
    switch (request->stage) {
    case HTTP_STAGE_START:
        return read_request_line(request, come, error);
    case HTTP_STAGE_HEADERS:
        return read_header(request, come, error);
    case HTTP_STAGE_BODY:
        return take_body(request, come, error);
    case HTTP_STAGE_CHUNK_SIZE:
        return read_chunk_size(request, come, error);
    case HTTP_STAGE_CHUNK:
        return read_chunk(request, come, error);
    case HTTP_STAGE_TRAILERS:
    case HTTP_STAGE_DONE:
        break;
    }
    return read_trailer(request, come, error);
}

enum http_result http_request_read(struct http_request *request, struct slice input,
                                   struct error *error)
{
    if (request->stage == HTTP_STAGE_DONE) {
        begin(request);
    }
    assert(input.size >= request->position && request->limits->head_max < UINT32_MAX);
    request->input = input.data;
    if (input.size == 0) {
        return HTTP_MORE;
    }
    enum http_result result = HTTP_READY;
    while (result == HTTP_READY && request->stage != HTTP_STAGE_DONE) {
        result = step(request, input.size, error);
    }
    return result;
}

void http_request_moved(struct http_request *request, struct slice input)
{
    assert(http_request_in_body(request) && input.size >= request->position);
    request->input = input.data;
    show_head(request);
}

size_t http_request_needs(const struct http_request *request)
{
    switch (request->stage) {
    case HTTP_STAGE_DONE:
        return 1;
    case HTTP_STAGE_BODY:
        return request->position + request->body_size;
    case HTTP_STAGE_CHUNK:
        // After the last chunk there are at least "0\r\n\r\n".
        return request->position + request->body_size + LINE_END_SIZE + 5;
    default:
        break;
    }
    // A line that has not ended has at least one more byte.
    return (request->scanned > request->position ? request->scanned : request->position) + 1;
}

bool http_request_wants_continue(struct http_request *request)
{
    bool wants = request->expects_continue && http_request_in_body(request);
    if (wants) {
        request->expects_continue = false;
    }
    return wants;
}

bool http_request_header(const struct http_request *request, struct slice name, struct slice *value,
                         size_t *count)
{
    size_t found = 0;
    for (size_t i = 0; i < request->header_count; i++) {
        const struct http_span *header = &request->headers[i];
        if (ascii_equal(text_at(request, header->name, header->name_size), name) && found++ == 0) {
            *value = text_at(request, header->value, header->value_size);
        }
    }
    if (count) {
        *count = found;
    }
    return found > 0;
}
