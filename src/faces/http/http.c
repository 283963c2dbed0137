// SPDX-License-Identifier: MIT
#include "faces/http/http.h"

#include "base/ascii.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/num.h"
#include "base/sha256.h"
#include "faces/http/json.h"
#include "faces/http/openapi.h"
#include "faces/http/problem.h"
#include "faces/http/words.h"
#include "wire/http_accept.h"
#include "wire/http_reply.h"
#include "wire/http_target.h"

#include <assert.h>

enum {
    BODY_KEPT = 256 << 10, // room for larger answers is given back after use
    PATH_KEPT = 4096,      // likewise
    OPENAPI_MAX = 4 << 20,
    ALLOW_SIZE = 80,      // of a line of methods
    KEY_SIZE_MAX = 200,   // of Idempotency-Key
    GZIP_SIZE_MIN = 1024, // what is smaller is not worth the work
    // Common headers, and a path with the number of something in a namespace whose name is escaped.
    LOCATION_SIZE = 256 + 3 * ENGINE_NAME_SIZE_MAX,
    HEAD_SIZE_MAX = 1024 + LOCATION_SIZE, // of an answer, but for the headers that the call brings
};

#define JSON_TYPE       "application/json"
#define PROBLEM_TYPE    "application/problem+json"
#define IDEMPOTENCY_KEY "Idempotency-Key"

struct http_face {
    struct http_face_options options;
    struct http_pattern *patterns; // owned: of the routes that are there
    size_t pattern_count;
    struct http_words words;
    struct buffer path_text; // of segments that had to be unescaped
    struct buffer body;      // of the answer in the making
    struct buffer openapi;   // made when it is asked for
    struct buffer packed;    // a body as gzip
    struct http_json json;   // says into `body`
    struct error refusal;    // of the last request; OK: it was not refused
    int64_t second;          // that `date` is of
    char date[HTTP_DATE_SIZE];
};

static const struct command *command_of(const struct http_face *face, const char *name)
{
    return name ? commands_find(face->options.commands, slice_from_cstr(name)) : NULL;
}

static bool is_there(const struct http_face *face, const struct http_route *route)
{
    return route->page || command_of(face, route->command ? route->command : route->many);
}

static void find_patterns(struct http_face *face)
{
    for (size_t i = 0; i < http_routes.count; i++) {
        if (is_there(face, &http_routes.items[i])) {
            http_pattern_init(&face->patterns[face->pattern_count++], &http_routes.items[i]);
        }
    }
}

enum status http_face_new(const struct http_face_options *options, struct http_face **out)
{
    struct http_face *face = mem_zalloc(options->allocator, sizeof(*face));
    if (!face) {
        return STATUS_NO_MEMORY;
    }
    face->options = *options;
    face->patterns = mem_alloc(options->allocator, http_routes.count * sizeof(face->patterns[0]));
    if (!face->patterns) {
        mem_free(options->allocator, face, sizeof(*face));
        return STATUS_NO_MEMORY;
    }
    find_patterns(face);
    http_words_init(&face->words, options->allocator);
    buffer_init(&face->path_text, options->allocator, SIZE_MAX / 2);
    buffer_init(&face->body, options->allocator, options->reply_max);
    buffer_init(&face->openapi, options->allocator, OPENAPI_MAX);
    buffer_init(&face->packed, options->allocator, options->reply_max);
    face->second = -1;
    http_face_set_time(face, 0);
    *out = face;
    return STATUS_OK;
}

void http_face_free(struct http_face *face)
{
    if (face) {
        http_words_release(&face->words);
        buffer_release(&face->path_text);
        buffer_release(&face->body);
        buffer_release(&face->openapi);
        mem_free(face->options.allocator, face->patterns,
                 http_routes.count * sizeof(face->patterns[0]));
        buffer_release(&face->packed);
        mem_free(face->options.allocator, face, sizeof(*face));
    }
}

void http_face_set_time(struct http_face *face, int64_t now_us)
{
    if (now_us / 1000000 != face->second) {
        face->second = now_us / 1000000;
        http_date(now_us, face->date);
    }
}

// ---------------------------------------------------------------------------------------------
// Answers

struct answer {
    unsigned status;
    const char *content_type;
    struct slice body, etag, headers;
    bool packed;  // the body is gzip already
    bool endless; // the body follows, for as long as there is something to tell
};

// Replies describe the present state for one client: shared caches must not keep them.
#define COMMON_HEADERS "Cache-Control: no-cache, private\r\nX-Content-Type-Options: nosniff\r\n"

static void clear_kept(struct buffer *buffer)
{
    if (buffer->capacity > BODY_KEPT) {
        buffer_release(buffer);
    }
    buffer_clear(buffer);
}

// The body as gzip where the client takes it and it pays.
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

static void say(struct http_face *face, const struct http_call *call, const struct answer *answer,
                struct buffer *out)
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

// Whether a list of tags, as in If-None-Match, has this one. A weak tag is as good.
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

// A whole body, unless it is the one that the client has already.
static void say_unless_known(struct http_face *face, const struct http_call *call,
                             struct answer answer, struct buffer *out)
{
    if (call->if_none_match[0] && has_etag(call->if_none_match, answer.etag)) {
        answer.status = 304;
        answer.body = SLICE_EMPTY;
    }
    say(face, call, &answer, out);
}

static void say_tagged(struct http_face *face, const struct http_call *call, struct answer answer,
                       struct buffer *out)
{
    char etag[HTTP_ETAG_SIZE];
    make_etag(answer.body, etag);
    answer.etag = slice_make(etag, sizeof(etag));
    say_unless_known(face, call, answer, out);
}

struct problem_more {
    unsigned status; // 0: the one that fits
    struct slice field;
    const char *headers; // more of them, or NULL
};

static const char *headers_of(const struct http_call *call, unsigned status)
{
    switch (status) {
    case 401:
        // A browser asks for a password itself when it hears of Basic.
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

static void say_problem(struct http_face *face, const struct http_call *call,
                        const struct error *error, const struct problem_more *more,
                        struct buffer *out)
{
    char headers[256];
    struct json_writer writer;
    struct http_problem problem = {
        .status = more->status ? more->status : http_problem_status_of(error),
        .error = error,
        .command = call->command,
        .field = more->field,
    };
    clear_kept(&face->body);
    face->body.size_max = face->options.reply_max;
    json_writer_init(&writer, &face->body);
    http_problem_write(&writer, &problem);
    int size = snprintf(headers, sizeof(headers), "%s%s%s", COMMON_HEADERS,
                        headers_of(call, problem.status), more->headers ? more->headers : "");
    assert(size > 0 && (size_t)size < sizeof(headers));
    say(face, call,
        &(struct answer){ .status = problem.status,
                          .content_type = PROBLEM_TYPE,
                          .body = face->body.status ? SLICE_EMPTY : buffer_slice(&face->body),
                          .headers = slice_make(headers, (size_t)size) },
        out);
}

void http_face_refuse(struct http_face *face, const struct http_call *call, unsigned status,
                      const struct error *error, struct buffer *out)
{
    say_problem(face, call, error, &(struct problem_more){ .status = status }, out);
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
    struct answer answer = { .status = status, .content_type = content_type, .body = body };
    say(face, call, &answer, out);
}

void http_face_file(struct http_face *face, const struct http_call *call,
                    const struct http_file *file, struct buffer *out)
{
    assert(!file->packed || call->gzip);
    struct answer answer = {
        .status = 200,
        .content_type = file->type,
        .body = file->body,
        .etag = file->etag,
        .headers = file->headers,
        .packed = file->packed,
    };
    say_unless_known(face, call, answer, out);
}

void http_face_stream(struct http_face *face, const struct http_call *call,
                      const char *content_type, struct buffer *out)
{
    // The last one is for proxies that would gather what should be seen at once.
    struct slice headers = SLICE(COMMON_HEADERS "X-Accel-Buffering: no\r\n");
    struct answer answer = { .status = 200, .content_type = content_type, .headers = headers };
    answer.endless = true;
    say(face, call, &answer, out);
}

// ---------------------------------------------------------------------------------------------
// What a command says

// The room that there is for a body: the answer has to fit with its head.
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
        buffer_release(&face->body); // it may grow up to what it has room for
    }
    http_json_init(&face->json, &face->body,
                   &(struct http_json_options){
                       .wrap = route->wrap,
                       .each = call->many,
                       .first = route->flags & HTTP_ROUTE_FIRST,
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

// An answer that says that there is nothing; false when it does not.
static bool say_nothing(struct http_face *face, const struct http_call *call, struct buffer *out)
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
        say(face, call, &(struct answer){ .status = 204 }, out);
    } else {
        return false;
    }
    return true;
}

// Where the thing of that number is: at the request's path, and the number. It is said in the same
// turn as the request was read, so its namespace can still be named.
static void append_location(const struct http_call *call, uint64_t number, struct buffer *out)
{
    struct slice rest = slice_from_cstr(call->route->path);
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
    num_append_u64(out, number);
    buffer_append(out, SLICE("\r\n"));
}

static void say_numbered(struct http_face *face, const struct http_call *call, struct answer answer,
                         struct buffer *out)
{
    char bytes[LOCATION_SIZE + 1];
    struct buffer headers = { .data = bytes, .capacity = LOCATION_SIZE, .size_max = LOCATION_SIZE };
    buffer_append(&headers, SLICE(COMMON_HEADERS));
    append_location(call, face->json.made, &headers);
    assert(!headers.status); // no namespace has a longer name
    answer.headers = buffer_slice(&headers);
    say(face, call, &answer, out);
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
    if (say_nothing(face, call, out)) {
        return;
    }
    struct answer answer = {
        .status = call->many || face->json.existing ? 200 : call->route->status,
        .content_type = JSON_TYPE,
        .body = buffer_slice(&face->body),
    };
    if (face->json.made && !call->many && call->route->flags & HTTP_ROUTE_NUMBERED) {
        say_numbered(face, call, answer, out);
        return;
    }
    bool gets = strcmp(call->route->method, "GET") == 0;
    if (gets && answer.status == 200 && !(call->command->flags & COMMAND_WAITS)) {
        say_tagged(face, call, answer, out);
    } else {
        say(face, call, &answer, out);
    }
}

static void say_openapi(struct http_face *face, const struct http_call *call, struct buffer *out)
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
    say_tagged(face, call,
               (struct answer){ .status = 200, .content_type = JSON_TYPE, .body = body }, out);
}

const struct error *http_face_refusal(const struct http_face *face)
{
    return face->refusal.status ? &face->refusal : NULL;
}

void http_face_openapi(const struct http_face *face, struct buffer *out)
{
    http_openapi(face->options.commands, face->options.version, out);
}

// ---------------------------------------------------------------------------------------------
// Which route

static enum status split_path(struct http_face *face, struct slice path, struct http_path *out)
{
    struct slice segment;
    out->count = 0;
    if (face->path_text.capacity > PATH_KEPT) {
        buffer_release(&face->path_text);
    }
    buffer_clear(&face->path_text);
    if (!buffer_reserve(&face->path_text, path.size)) {
        return STATUS_NO_MEMORY;
    }
    while (http_path_next(&path, &segment)) {
        // Those who pass a request on may take these away, and others not.
        if (slice_equal(segment, SLICE(".")) || slice_equal(segment, SLICE(".."))) {
            return STATUS_INVALID;
        }
        if (out->count == HTTP_SEGMENTS_MAX) {
            return STATUS_NOT_FOUND;
        }
        enum status status =
            http_unescape(segment, false, &face->path_text, &out->segments[out->count++]);
        if (status) {
            return status;
        }
    }
    return STATUS_OK;
}

// What the path leads to: the route of that method, or NULL; and which methods there are.
struct found {
    const struct http_route *route;
    char allow[ALLOW_SIZE]; // "": there is nothing at all
};

static void add_method(struct found *found, const char *method)
{
    size_t size = strlen(found->allow);
    (void)snprintf(found->allow + size, sizeof(found->allow) - size, "%s%s", size ? ", " : "",
                   method);
}

static void find_route(const struct http_face *face, const struct http_path *path,
                       struct slice method, struct found *out)
{
    bool head = slice_equal(method, SLICE("HEAD"));
    out->route = NULL;
    out->allow[0] = '\0';
    for (size_t i = 0; i < face->pattern_count; i++) {
        const struct http_route *route = face->patterns[i].route;
        if (!http_pattern_matches(&face->patterns[i], path)) {
            continue;
        }
        bool gets = strcmp(route->method, "GET") == 0;
        add_method(out, route->method);
        if (gets) {
            add_method(out, "HEAD");
        }
        if (slice_equal(slice_from_cstr(route->method), method) || (gets && head)) {
            out->route = route;
        }
    }
    if (out->allow[0]) {
        add_method(out, "OPTIONS");
    }
}

// ---------------------------------------------------------------------------------------------
// A request

// One request being looked at.
struct ask {
    struct http_face *face;
    const struct http_request *request;
    struct http_call *call;
    struct buffer *out;
    struct http_path path;
    struct error error;
};

static enum http_step refuse(struct ask *ask, const struct problem_more *more)
{
    (void)error_copy(&ask->face->refusal, &ask->error);
    say_problem(ask->face, ask->call, &ask->error, more, ask->out);
    return HTTP_SAID;
}

static enum http_step refuse_with(struct ask *ask, unsigned status)
{
    return refuse(ask, &(struct problem_more){ .status = status });
}

static enum http_step refuse_path(struct ask *ask, enum status status)
{
    switch (status) {
    case STATUS_INVALID:
        (void)error_set(&ask->error, status,
                        "the path has a segment . or .., or a %% that is not followed by two "
                        "hexadecimal digits, or %%00");
        break;
    case STATUS_NOT_FOUND:
        (void)error_set(&ask->error, status,
                        "there is nothing at this path; /v1/openapi.json lists "
                        "what there is");
        break;
    default:
        (void)error_set(&ask->error, status, "there is no memory for the path of a request");
        break;
    }
    return refuse_with(ask, 0);
}

static enum http_step say_allow(struct ask *ask, const struct found *found)
{
    char headers[ALLOW_SIZE + 16];
    int size = snprintf(headers, sizeof(headers), "Allow: %s\r\n", found->allow);
    if (slice_equal(ask->request->method, SLICE("OPTIONS"))) {
        say(ask->face, ask->call,
            &(struct answer){ .status = 204, .headers = slice_make(headers, (size_t)size) },
            ask->out);
        return HTTP_SAID;
    }
    (void)error_set(&ask->error, STATUS_UNSUPPORTED, "here the method is one of %s, not %.*s",
                    found->allow, SLICE_PRINT(slice_shown(ask->request->method)));
    return refuse(ask, &(struct problem_more){ .status = 405, .headers = headers });
}

// Whether the client takes JSON.
static bool accepts_json(const struct http_request *request)
{
    struct slice list;
    struct http_accept item;
    if (!http_request_header(request, SLICE("accept"), &list, NULL) || list.size == 0) {
        return true;
    }
    while (http_accept_next(&list, &item)) {
        if (item.weight > 0 && (ascii_equal(item.value, SLICE("*/*")) ||
                                ascii_equal(item.value, SLICE("application/*")) ||
                                ascii_equal(item.value, SLICE(JSON_TYPE)))) {
            return true;
        }
    }
    return false;
}

// gzip by name, or else by `*`.
static bool accepts_gzip(const struct http_request *request)
{
    struct slice list;
    struct http_accept item;
    bool any = false;
    if (!http_request_header(request, SLICE("accept-encoding"), &list, NULL)) {
        return false;
    }
    while (http_accept_next(&list, &item)) {
        if (ascii_equal(item.value, SLICE("gzip"))) {
            return item.weight > 0;
        }
        any |= slice_equal(item.value, SLICE("*")) && item.weight > 0;
    }
    return any;
}

// Only JSON that says so is taken: a page in a browser can send other types anywhere.
static bool sends_json(const struct http_request *request)
{
    struct slice list;
    struct http_accept item;
    size_t count;
    return http_request_header(request, SLICE("content-type"), &list, &count) && count == 1 &&
           http_accept_next(&list, &item) && list.size == 0 &&
           ascii_equal(item.value, SLICE(JSON_TYPE));
}

static void keep_if_none_match(struct http_call *call, const struct http_request *request)
{
    struct slice value;
    if (http_request_header(request, SLICE("if-none-match"), &value, NULL) &&
        value.size < HTTP_IF_NONE_MATCH_SIZE) {
        memcpy(call->if_none_match, value.data, value.size);
        call->if_none_match[value.size] = '\0';
    }
}

// Pages of the dashboard say so; browsers say whether it is more than a person who goes somewhere.
static bool is_by_page(const struct http_request *request)
{
    struct slice mode;
    return http_request_header(request, SLICE("X-Sluice"), &mode, NULL) ||
           (http_request_header(request, SLICE("Sec-Fetch-Mode"), &mode, NULL) &&
            !slice_equal(mode, SLICE("navigate")));
}

void http_call_init(struct http_call *call, const struct http_request *request)
{
    *call = (struct http_call){
        .head = slice_equal(request->method, SLICE("HEAD")),
        .close = !request->keep_alive,
        .http_1_0 = request->http_1_0,
        .gzip = accepts_gzip(request),
        .by_page = is_by_page(request),
        .more = call->more,
    };
    keep_if_none_match(call, request);
}

// What is wrong with the body, as the HTTP status; 0: nothing. `*type` is what it is.
static unsigned check_body(struct ask *ask, enum json_type *type)
{
    struct slice body = ask->request->body;
    struct json_value value;
    *type = JSON_TYPE_OBJECT;
    if (body.size == 0) {
        return 0;
    }
    if (strcmp(ask->call->route->method, "GET") == 0) {
        (void)error_set(&ask->error, STATUS_INVALID, "a GET has no body");
        return 400;
    }
    if (!sends_json(ask->request)) {
        (void)error_set(&ask->error, STATUS_UNSUPPORTED,
                        "the header Content-Type must be " JSON_TYPE);
        return 415;
    }
    struct error why;
    enum status status = json_validate(body, ask->face->options.depth_max, &why);
    if (!status) {
        status = json_value_of(body, &value);
    }
    if (status) {
        (void)error_set(&ask->error, status, "the body is not JSON: %s", error_sentence(&why));
        return http_problem_status(status);
    }
    *type = value.type;
    return 0;
}

// Which command it is: for one, or with an array for many.
static bool choose_command(struct ask *ask, enum json_type type, const struct command **each)
{
    const struct http_route *route = ask->call->route;
    struct http_call *call = ask->call;
    *each = NULL;
    bool keyed = route->key != NULL;
    if (route->many && type == (keyed ? JSON_TYPE_OBJECT : JSON_TYPE_ARRAY)) {
        call->command = command_of(ask->face, route->many);
        call->many = true;
        *each = call->command->each;
    } else if (type == JSON_TYPE_OBJECT) {
        call->command = command_of(ask->face, route->command);
    }
    if (!call->command) {
        (void)error_set(&ask->error, STATUS_INVALID, "the body must be %s",
                        keyed             ? "an object"
                        : !route->command ? "an array of objects"
                        : route->many     ? "an object, or an array of objects"
                                          : "an object");
    }
    return call->command != NULL;
}

// False: what was given is no key. Without one it is empty.
static bool find_idempotency_key(struct ask *ask, struct slice *out)
{
    struct slice key;
    size_t count;
    *out = SLICE_EMPTY;
    if (!(ask->call->route->flags & HTTP_ROUTE_IDEMPOTENT) ||
        !http_request_header(ask->request, SLICE(IDEMPOTENCY_KEY), &key, &count)) {
        return true;
    }
    // By its draft it is a string in quotes; most send none.
    if (key.size >= 2 && key.data[0] == '"' && key.data[key.size - 1] == '"') {
        key = slice_sub(key, 1, key.size - 2);
    }
    if (count > 1 || key.size == 0 || key.size > KEY_SIZE_MAX) {
        (void)error_set(&ask->error, STATUS_INVALID,
                        IDEMPOTENCY_KEY " must be given once, with 1 to %d bytes", KEY_SIZE_MAX);
        return false;
    }
    *out = key;
    return true;
}

static enum http_step make_words(struct ask *ask)
{
    struct http_call *call = ask->call;
    struct http_words *words = &ask->face->words;
    enum json_type type;
    const struct command *each;
    unsigned wrong = check_body(ask, &type);
    if (wrong) {
        return refuse_with(ask, wrong);
    }
    if (!choose_command(ask, type, &each)) {
        return refuse_with(ask, 400);
    }
    struct slice idempotency_key;
    if (!find_idempotency_key(ask, &idempotency_key)) {
        return refuse(ask, &(struct problem_more){ .field = SLICE(IDEMPOTENCY_KEY) });
    }
    enum status status = http_words_make(words,
                                         &(struct http_words_ask){
                                             .route = call->route,
                                             .path = &ask->path,
                                             .command = call->command,
                                             .each = each,
                                             .query = ask->request->query,
                                             .body = ask->request->body,
                                             .idempotency_key = idempotency_key,
                                         },
                                         &ask->error);
    if (status) {
        return refuse(ask, &(struct problem_more){ .field = slice_from_cstr(words->field) });
    }
    call->words = (struct slices){ words->items, words->count };
    return HTTP_RUN;
}

static enum http_step follow_route(struct ask *ask)
{
    struct http_call *call = ask->call;
    if (!http_route_parameter(call->route, &ask->path, SLICE("ns"), &call->ns)) {
        call->ns = SLICE_EMPTY;
    }
    if (call->route->page == HTTP_PAGE_OPENAPI) {
        say_openapi(ask->face, call, ask->out);
        return HTTP_SAID;
    }
    if (call->route->page) {
        enum json_type type;
        unsigned wrong = strcmp(call->route->method, "GET") != 0 ? check_body(ask, &type) : 0;
        if (wrong) {
            return refuse_with(ask, wrong);
        }
        return HTTP_PAGE;
    }
    if (!accepts_json(ask->request)) {
        (void)error_set(&ask->error, STATUS_UNSUPPORTED, "answers here are " JSON_TYPE);
        return refuse_with(ask, 406);
    }
    return make_words(ask);
}

enum http_step http_face_ask(struct http_face *face, const struct http_request *request,
                             struct http_call *call, struct buffer *out)
{
    http_call_init(call, request);
    struct ask ask = { .face = face, .request = request, .call = call, .out = out };
    struct found found;
    face->refusal.status = STATUS_OK;
    enum status status = split_path(face, request->path, &ask.path);
    if (status) {
        return refuse_path(&ask, status);
    }
    if (slice_equal(request->path, SLICE("*"))) {
        return say_allow(
            &ask, &(struct found){ .allow = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" });
    }
    find_route(face, &ask.path, request->method, &found);
    if (!found.allow[0]) {
        return refuse_path(&ask, STATUS_NOT_FOUND);
    }
    if (!found.route) {
        return say_allow(&ask, &found);
    }
    call->route = found.route;
    return follow_route(&ask);
}
