// SPDX-License-Identifier: MIT
// Requests: the path and the method find a route, and the members of the request become the words
// of its command.
#include "faces/http/face.h"

#include "base/ascii.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "faces/http/problem.h"
#include "wire/http_accept.h"
#include "wire/http_target.h"

enum {
    PATH_KEPT = 4096,   // a larger buffer is released after use
    ALLOW_SIZE = 80,    // of a list of methods
    KEY_SIZE_MAX = 200, // of Idempotency-Key
};

#define IDEMPOTENCY_KEY "Idempotency-Key"

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
        // Some proxies resolve these segments and some do not, so they are refused.
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

// The route for the path and the method, or NULL; and the methods of the path.
struct found {
    const struct http_route *route;
    char allow[ALLOW_SIZE]; // "": the path has no route
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

// One request.
struct parse {
    struct http_face *face;
    const struct http_request *request;
    struct http_call *call;
    struct buffer *out;
    struct http_path path;
    struct error error;
};

static enum http_step refuse(struct parse *parse, const struct http_problem_options *more)
{
    (void)error_copy(&parse->face->refusal, &parse->error);
    http_answer_write_problem(parse->face, parse->call, &parse->error, more, parse->out);
    return HTTP_ANSWERED;
}

static enum http_step refuse_with(struct parse *parse, unsigned status)
{
    return refuse(parse, &(struct http_problem_options){ .status = status });
}

static enum http_step refuse_path(struct parse *parse, enum status status)
{
    switch (status) {
    case STATUS_INVALID:
        (void)error_set(&parse->error, status,
                        "the path has a segment . or .., or a %% that is not followed by two "
                        "hexadecimal digits, or %%00");
        break;
    case STATUS_NOT_FOUND:
        (void)error_set(&parse->error, status,
                        "there is nothing at this path; /v1/openapi.json lists "
                        "what there is");
        break;
    default:
        (void)error_set(&parse->error, status, "there is no memory for the path of a request");
        break;
    }
    return refuse_with(parse, 0);
}

static enum http_step answer_allow(struct parse *parse, const struct found *found)
{
    char headers[ALLOW_SIZE + 16];
    int size = snprintf(headers, sizeof(headers), "Allow: %s\r\n", found->allow);
    if (slice_equal(parse->request->method, SLICE("OPTIONS"))) {
        http_answer_write(
            parse->face, parse->call,
            &(struct http_answer){ .status = 204, .headers = slice_make(headers, (size_t)size) },
            parse->out);
        return HTTP_ANSWERED;
    }
    (void)error_set(&parse->error, STATUS_UNSUPPORTED, "here the method is one of %s, not %.*s",
                    found->allow, SLICE_PRINT(slice_shown(parse->request->method)));
    return refuse(parse, &(struct http_problem_options){ .status = 405, .headers = headers });
}

// Whether the client accepts JSON.
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

// Accept-Encoding names gzip, or else `*`.
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

// The body must be declared as JSON: a page of another site can send other types without a
// preflight request.
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

// The dashboard sends X-Sluice. Browsers send Sec-Fetch-Mode: `navigate` for a visit of a person.
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

// Checks the body: 0 if it is valid, or the HTTP status of the error. `*type` is its JSON type.
static unsigned check_body(struct parse *parse, enum json_type *type)
{
    struct slice body = parse->request->body;
    struct json_value value;
    *type = JSON_TYPE_OBJECT;
    if (body.size == 0) {
        return 0;
    }
    if (strcmp(parse->call->route->method, "GET") == 0) {
        (void)error_set(&parse->error, STATUS_INVALID, "a GET has no body");
        return 400;
    }
    if (!sends_json(parse->request)) {
        (void)error_set(&parse->error, STATUS_UNSUPPORTED,
                        "the header Content-Type must be " JSON_TYPE);
        return 415;
    }
    struct error why;
    enum status status = json_validate(body, parse->face->options.depth_max, &why);
    if (!status) {
        status = json_value_of(body, &value);
    }
    if (status) {
        (void)error_set(&parse->error, status, "the body is not JSON: %s", error_sentence(&why));
        return http_problem_status(status);
    }
    *type = value.type;
    return 0;
}

// Chooses the command of the route: for one object, or for an array of them.
static bool choose_command(struct parse *parse, enum json_type type, const struct command **each)
{
    const struct http_route *route = parse->call->route;
    struct http_call *call = parse->call;
    *each = NULL;
    bool keyed = route->key != NULL;
    if (route->many && type == (keyed ? JSON_TYPE_OBJECT : JSON_TYPE_ARRAY)) {
        call->command = http_face_command(parse->face, route->many);
        call->many = true;
        *each = call->command->each;
    } else if (type == JSON_TYPE_OBJECT) {
        call->command = http_face_command(parse->face, route->command);
    }
    if (!call->command) {
        (void)error_set(&parse->error, STATUS_INVALID, "the body must be %s",
                        keyed             ? "an object"
                        : !route->command ? "an array of objects"
                        : route->many     ? "an object, or an array of objects"
                                          : "an object");
    }
    return call->command != NULL;
}

// False if the key is invalid. Without a key `*out` is empty.
static bool find_idempotency_key(struct parse *parse, struct slice *out)
{
    struct slice key;
    size_t count;
    *out = SLICE_EMPTY;
    if (!(parse->call->route->flags & HTTP_ROUTE_IDEMPOTENT) ||
        !http_request_header(parse->request, SLICE(IDEMPOTENCY_KEY), &key, &count)) {
        return true;
    }
    // The draft of the header defines a quoted string; most clients send no quotes.
    if (key.size >= 2 && key.data[0] == '"' && key.data[key.size - 1] == '"') {
        key = slice_sub(key, 1, key.size - 2);
    }
    if (count > 1 || key.size == 0 || key.size > KEY_SIZE_MAX) {
        (void)error_set(&parse->error, STATUS_INVALID,
                        IDEMPOTENCY_KEY " must be given once, with 1 to %d bytes", KEY_SIZE_MAX);
        return false;
    }
    *out = key;
    return true;
}

static enum http_step make_words(struct parse *parse)
{
    struct http_call *call = parse->call;
    struct http_words *words = &parse->face->words;
    enum json_type type;
    const struct command *each;
    unsigned wrong = check_body(parse, &type);
    if (wrong) {
        return refuse_with(parse, wrong);
    }
    if (!choose_command(parse, type, &each)) {
        return refuse_with(parse, 400);
    }
    struct slice idempotency_key;
    if (!find_idempotency_key(parse, &idempotency_key)) {
        return refuse(parse, &(struct http_problem_options){ .field = SLICE(IDEMPOTENCY_KEY) });
    }
    enum status status = http_words_make(words,
                                         &(struct http_words_source){
                                             .route = call->route,
                                             .path = &parse->path,
                                             .command = call->command,
                                             .each = each,
                                             .query = parse->request->query,
                                             .body = parse->request->body,
                                             .idempotency_key = idempotency_key,
                                         },
                                         &parse->error);
    if (status) {
        return refuse(parse,
                      &(struct http_problem_options){ .field = slice_from_cstr(words->field) });
    }
    call->words = (struct slices){ words->items, words->count };
    return HTTP_RUN;
}

static enum http_step follow_route(struct parse *parse)
{
    struct http_call *call = parse->call;
    if (!http_route_parameter(call->route, &parse->path, SLICE("ns"), &call->ns)) {
        call->ns = SLICE_EMPTY;
    }
    if (call->route->page == HTTP_PAGE_OPENAPI) {
        http_answer_write_openapi(parse->face, call, parse->out);
        return HTTP_ANSWERED;
    }
    if (call->route->page) {
        enum json_type type;
        unsigned wrong = strcmp(call->route->method, "GET") != 0 ? check_body(parse, &type) : 0;
        if (wrong) {
            return refuse_with(parse, wrong);
        }
        return HTTP_PAGE;
    }
    if (!accepts_json(parse->request)) {
        (void)error_set(&parse->error, STATUS_UNSUPPORTED, "answers here are " JSON_TYPE);
        return refuse_with(parse, 406);
    }
    return make_words(parse);
}

enum http_step http_face_parse(struct http_face *face, const struct http_request *request,
                               struct http_call *call, struct buffer *out)
{
    http_call_init(call, request);
    struct parse parse = { .face = face, .request = request, .call = call, .out = out };
    struct found found;
    face->refusal.status = STATUS_OK;
    enum status status = split_path(face, request->path, &parse.path);
    if (status) {
        return refuse_path(&parse, status);
    }
    if (slice_equal(request->path, SLICE("*"))) {
        return answer_allow(
            &parse, &(struct found){ .allow = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" });
    }
    find_route(face, &parse.path, request->method, &found);
    if (!found.allow[0]) {
        return refuse_path(&parse, STATUS_NOT_FOUND);
    }
    if (!found.route) {
        return answer_allow(&parse, &found);
    }
    call->route = found.route;
    return follow_route(&parse);
}
