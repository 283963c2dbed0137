// SPDX-License-Identifier: MIT
// Replies: the reply of a command, an error or a page becomes an HTTP reply.
#include "faces/http/face.h"

#include "base/ascii.h"
#include "base/num.h"
#include "base/sha256.h"
#include "faces/http/openapi.h"
#include "faces/http/problem.h"
#include "wire/http_target.h"

#include <assert.h>

enum {
    BODY_KEPT = 256 << 10, // a buffer that is larger is released after use
    GZIP_SIZE_MIN = 1024,  // smaller bodies are not compressed
    // The common headers, and a path with the escaped names of a namespace and of a job.
    LOCATION_SIZE = 256 + 6 * ENGINE_NAME_SIZE_MAX,
    HEAD_SIZE_MAX = 1024 + LOCATION_SIZE, // of an answer, without the headers of the call
};

#define PROBLEM_TYPE "application/problem+json"

// Replies describe the present state for one client: shared caches must not keep them.
#define COMMON_HEADERS "Cache-Control: no-cache, private\r\nX-Content-Type-Options: nosniff\r\n"

static void clear_kept(struct buffer *buffer)
{
    if (buffer->capacity > BODY_KEPT) {
        buffer_release(buffer);
    }
    buffer_clear(buffer);
}

// Compresses the body if the client accepts gzip and the result is smaller.
static bool pack(struct http_face *face, const struct http_call *call, struct slice *body)
{
    if (!call->gzip || !face->options.gzip || body->size < GZIP_SIZE_MIN) {
        return false;
    }
    clear_kept(&face->packed);
    enum status status = face->options.gzip(face->options.gzip_context, *body, &face->packed);
    if (status || face->packed.status || face->packed.size >= body->size) {
        return false;
    }
    *body = buffer_slice(&face->packed);
    return true;
}

void http_answer_write(struct http_face *face, const struct http_call *call,
                       const struct http_answer *answer, struct buffer *out)
{
    bool empty = answer->status == 204 || answer->status == 304;
    struct slice body = answer->body;
    bool packed = answer->packed || pack(face, call, &body);
    http_reply_head(out,
                    &(struct http_reply){
                        .status = answer->status,
                        .content_type = empty ? NULL : answer->content_type,
                        .content_length = answer->endless ? HTTP_LENGTH_UNKNOWN : body.size,
                        .date = slice_make(face->date, HTTP_DATE_SIZE),
                        .etag = answer->etag,
                        .headers = answer->headers.size ? answer->headers : SLICE(COMMON_HEADERS),
                        .more = call->more,
                        .gzip = packed,
                        .close = call->close,
                        .http_1_0 = call->http_1_0,
                    });
    if (!empty && !call->head) {
        buffer_append(out, body);
    }
}

static void make_etag(struct slice body, char etag[HTTP_ETAG_SIZE])
{
    struct sha256 sha256;
    uint8_t digest[SHA256_SIZE];
    sha256_init(&sha256);
    sha256_add(&sha256, body);
    sha256_end(&sha256, digest);
    etag[0] = '"';
    (void)ascii_hex_write(etag + 1, digest, (HTTP_ETAG_SIZE - 2) / 2);
    etag[HTTP_ETAG_SIZE - 1] = '"';
}

// Whether a list of tags, as in If-None-Match, has this one. A weak tag matches too.
static bool has_etag(const char *list, struct slice etag)
{
    struct slice all = slice_from_cstr(list);
    if (slice_equal(all, SLICE("*"))) {
        return true;
    }
    for (size_t i = 0; i + etag.size <= all.size; i++) {
        if (slice_equal(slice_sub(all, i, etag.size), etag)) {
            return true;
        }
    }
    return false;
}

// Writes the answer, or 304 without a body if the client already has it.
static void answer_write_unless_known(struct http_face *face, const struct http_call *call,
                                      struct http_answer answer, struct buffer *out)
{
    if (call->if_none_match[0] && has_etag(call->if_none_match, answer.etag)) {
        answer.status = 304;
        answer.body = SLICE_EMPTY;
    }
    http_answer_write(face, call, &answer, out);
}

static void answer_write_tagged(struct http_face *face, const struct http_call *call,
                                struct http_answer answer, struct buffer *out)
{
    char etag[HTTP_ETAG_SIZE];
    make_etag(answer.body, etag);
    answer.etag = slice_make(etag, sizeof(etag));
    answer_write_unless_known(face, call, answer, out);
}

static const char *headers_of(const struct http_call *call, unsigned status)
{
    switch (status) {
    case 401:
        // A browser that receives Basic shows its own login window.
        if (call->by_page) {
            return "WWW-Authenticate: Bearer realm=\"sluice\"\r\n";
        }
        return "WWW-Authenticate: Bearer realm=\"sluice\"\r\n"
               "WWW-Authenticate: Basic realm=\"sluice\", charset=\"UTF-8\"\r\n";
    case 429:
        return "Retry-After: 5\r\n";
    case 503:
        return "Retry-After: 1\r\n";
    case 507:
        return "Retry-After: 30\r\n";
    default:
        return "";
    }
}

void http_answer_write_problem(struct http_face *face, const struct http_call *call,
                               const struct error *error,
                               const struct http_problem_options *options, struct buffer *out)
{
    char headers[256];
    struct json_writer writer;
    struct http_problem problem = {
        .status = options->status ? options->status : http_problem_status_of(error),
        .error = error,
        .command = call->command,
        .field = options->field,
    };
    clear_kept(&face->body);
    face->body.size_max = face->options.reply_max;
    json_writer_init(&writer, &face->body);
    http_problem_write(&writer, &problem);
    int size = snprintf(headers, sizeof(headers), "%s%s%s", COMMON_HEADERS,
                        headers_of(call, problem.status), options->headers ? options->headers : "");
    assert(size > 0 && (size_t)size < sizeof(headers));
    http_answer_write(
        face, call,
        &(struct http_answer){ .status = problem.status,
                               .content_type = PROBLEM_TYPE,
                               .body = face->body.status ? SLICE_EMPTY : buffer_slice(&face->body),
                               .headers = slice_make(headers, (size_t)size) },
        out);
}

void http_face_refuse(struct http_face *face, const struct http_call *call, unsigned status,
                      const struct error *error, struct buffer *out)
{
    http_answer_write_problem(face, call, error, &(struct http_problem_options){ .status = status },
                              out);
}

void http_face_refuse_broken(struct http_face *face, const struct http_request *request,
                             const struct error *error, struct buffer *out)
{
    struct http_call call = { .close = true, .http_1_0 = request->http_1_0 };
    http_face_refuse(face, &call, request->answer, error, out);
}

void http_face_page(struct http_face *face, const struct http_call *call, unsigned status,
                    const char *content_type, struct slice body, struct buffer *out)
{
    struct http_answer answer = { .status = status, .content_type = content_type, .body = body };
    http_answer_write(face, call, &answer, out);
}

void http_face_file(struct http_face *face, const struct http_call *call,
                    const struct http_file *file, struct buffer *out)
{
    assert(!file->packed || call->gzip);
    struct http_answer answer = {
        .status = 200,
        .content_type = file->type,
        .body = file->body,
        .etag = file->etag,
        .headers = file->headers,
        .packed = file->packed,
    };
    answer_write_unless_known(face, call, answer, out);
}

void http_face_stream(struct http_face *face, const struct http_call *call,
                      const char *content_type, struct buffer *out)
{
    // X-Accel-Buffering: proxies must not buffer the stream.
    struct slice headers = SLICE(COMMON_HEADERS "X-Accel-Buffering: no\r\n");
    struct http_answer answer = { .status = 200, .content_type = content_type, .headers = headers };
    answer.endless = true;
    http_answer_write(face, call, &answer, out);
}

// ---------------------------------------------------------------------------------------------
// Replies of commands

// The largest size of a body that fits into `out` together with its head.
static size_t body_max(const struct http_face *face, const struct http_call *call,
                       const struct buffer *out)
{
    size_t taken = out->size + HEAD_SIZE_MAX + call->more.size;
    size_t room = taken < out->size_max ? out->size_max - taken : 0;
    return room < face->options.reply_max ? room : face->options.reply_max;
}

struct reply *http_face_reply(struct http_face *face, const struct http_call *call,
                              const struct buffer *out)
{
    const struct http_route *route = call->route;
    clear_kept(&face->body);
    face->body.size_max = body_max(face, call, out);
    if (face->body.capacity > face->body.size_max) {
        // the buffer may use all of its capacity, even above its maximum
        buffer_release(&face->body);
    }
    http_json_init(&face->json, &face->body,
                   &(struct http_json_options){
                       .wrap = route->wrap,
                       .each = call->many,
                       .first = route->flags & HTTP_ROUTE_FIRST,
                       .named = route->location && !call->many,
                       .names = route->flags & HTTP_ROUTE_NAMES,
                       .command = call->command->each ? call->command->each : call->command,
                       .size_max = face->options.reply_max,
                   });
    return &face->json.reply;
}

uint64_t http_face_errors(const struct http_face *face)
{
    return face->json.errors;
}

// Writes a null reply if the route defines a status for it; false if it does not.
static bool answer_null(struct http_face *face, const struct http_call *call, struct buffer *out)
{
    unsigned flags = call->route->flags;
    if (!face->json.null || call->many) {
        return false;
    }
    if (flags & HTTP_ROUTE_NULL_MISSING) {
        struct error error;
        (void)error_set(&error, STATUS_NOT_FOUND, "there is no such job");
        http_face_refuse(face, call, 0, &error, out);
    } else if (flags & HTTP_ROUTE_NULL_EMPTY) {
        http_answer_write(face, call, &(struct http_answer){ .status = 204 }, out);
    } else {
        return false;
    }
    return true;
}

// Appends the header Location: the path of what was made. The answer is written in the same turn of
// the loop as the request is read, so call->ns is still valid.
static void append_location(const struct http_call *call, const struct http_json *json,
                            struct buffer *out)
{
    struct slice rest = slice_from_cstr(call->route->location);
    struct slice segment;
    buffer_append(out, SLICE("Location: "));
    while (http_path_next(&rest, &segment)) {
        buffer_append_char(out, '/');
        if (slice_equal(segment, SLICE("{ns}"))) {
            http_escape(call->ns, out);
        } else {
            buffer_append(out, segment);
        }
    }
    buffer_append_char(out, '/');
    if (json->made) {
        num_append_u64(out, json->made);
    } else {
        http_escape(slice_make(json->name, json->name_size), out);
    }
    buffer_append(out, SLICE("\r\n"));
}

static void answer_created(struct http_face *face, const struct http_call *call,
                           struct http_answer answer, struct buffer *out)
{
    char bytes[LOCATION_SIZE + 1];
    struct buffer headers = { .data = bytes, .capacity = LOCATION_SIZE, .size_max = LOCATION_SIZE };
    buffer_append(&headers, SLICE(COMMON_HEADERS));
    append_location(call, &face->json, &headers);
    assert(!headers.status); // LOCATION_SIZE covers the longest names
    answer.headers = buffer_slice(&headers);
    http_answer_write(face, call, &answer, out);
}

void http_face_answer(struct http_face *face, const struct http_call *call, struct buffer *out)
{
    struct error error;
    if (face->body.status) {
        if (face->body.status == STATUS_TOO_LARGE) {
            (void)error_set_reply(&error, "the answer is larger than is allowed");
        } else {
            (void)error_set(&error, face->body.status, "there is no memory for the answer");
        }
        http_face_refuse(face, call, 0, &error, out);
        return;
    }
    if (answer_null(face, call, out)) {
        return;
    }
    struct http_answer answer = {
        .status = call->many || face->json.existing ? 200 : call->route->status,
        .content_type = JSON_TYPE,
        .body = buffer_slice(&face->body),
    };
    bool made = face->json.made || face->json.name_size;
    if (made && !call->many && call->route->location) {
        answer_created(face, call, answer, out);
        return;
    }
    bool gets = strcmp(call->route->method, "GET") == 0;
    if (gets && answer.status == 200 && !(call->command->flags & COMMAND_WAITS)) {
        answer_write_tagged(face, call, answer, out);
    } else {
        http_answer_write(face, call, &answer, out);
    }
}

void http_answer_write_openapi(struct http_face *face, const struct http_call *call,
                               struct buffer *out)
{
    if (face->openapi.size == 0) {
        http_openapi(face->options.commands, face->options.version, &face->openapi);
    }
    if (face->openapi.status) {
        struct error error;
        (void)error_set(&error, face->openapi.status, "there is no memory for the description");
        buffer_release(&face->openapi);
        http_face_refuse(face, call, 503, &error, out);
        return;
    }
    struct slice body = buffer_slice(&face->openapi);
    answer_write_tagged(
        face, call, (struct http_answer){ .status = 200, .content_type = JSON_TYPE, .body = body },
        out);
}
