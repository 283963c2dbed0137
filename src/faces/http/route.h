// SPDX-License-Identifier: MIT
// The table of routes: methods and paths with their commands, as data. How the members of a request
// become the command's arguments is defined by the command's own table (words.h).
#ifndef SLUICE_FACES_HTTP_ROUTE_H
#define SLUICE_FACES_HTTP_ROUTE_H

#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    HTTP_SEGMENTS_MAX = 8, // of a path
};

// Pages of the server, which are not commands.
enum http_page {
    HTTP_PAGE_NONE,
    HTTP_PAGE_OPENAPI, // written by the face itself
    HTTP_PAGE_METRICS,
    HTTP_PAGE_HEALTH,
    HTTP_PAGE_READY,
    HTTP_PAGE_EVENTS,
    HTTP_PAGE_SESSION_BEGIN,
    HTTP_PAGE_SESSION_END,
};

enum {
    HTTP_ROUTE_FIRST = 1,        // the answer is a list with one item, and only the item is written
    HTTP_ROUTE_NULL_MISSING = 2, // null means that the object does not exist: 404
    HTTP_ROUTE_NULL_EMPTY = 4,   // null means that there is nothing: 204
    HTTP_ROUTE_NAMES = 8,        // the keys of the answer are names that users chose
    HTTP_ROUTE_IDEMPOTENT = 16,  // Idempotency-Key is supported
    HTTP_ROUTE_NUMBERED =
        32, // what is made, or was there before (200), is at the path and its number
};

// What a page accepts in addition to its path, for the description.
struct http_parameter {
    const char *name;  // NULL: the end of the list
    const char *place; // "query", "header", or "body": a member of an object, which is a string
    const char *summary;
    bool many; // may be repeated
};

struct http_route {
    const char *method;
    const char *path;    // "/v1/ns/{ns}/queues/{queue}/jobs"
    const char *id;      // "putJob": the name of the function in generated clients
    const char *command; // "Q.PUT"; NULL for a page
    const char *many;    // "Q.MPUT": the body may be an array, or must be when `command` is NULL
    unsigned status;     // on success: 200, 201 or, without a body, 204
    const char *wrap;    // an answer that is not a map becomes the member of this name
    unsigned flags;
    const char *given; // "count=25": a parameter that need not be said
    // "pattern", the first argument: the body is an object, for several calls. The name of each
    // member is that argument; its value is an object with the other arguments, or a string that is
    // the second.
    const char *key;
    const char *location; // of 201: what was made is below this path, under its number or name
    enum http_page page;
    const char *summary;                     // of a page
    const char *contents[2];                 // its types; NULL: none
    const struct http_parameter *parameters; // or NULL
};

struct http_routes {
    const struct http_route *items;
    size_t count;
};

extern const struct http_routes http_routes;

// The segments of a request's path, unescaped.
struct http_path {
    struct slice segments[HTTP_SEGMENTS_MAX];
    size_t count;
};

// Whether a segment of a route's path matches any text: "{queue}".
bool http_route_is_parameter(struct slice segment);

// Whether a route's path has a parameter of that name, without braces.
bool http_route_has_parameter(const struct http_route *route, struct slice name);

// A route with its path in segments, for many requests.
struct http_pattern {
    const struct http_route *route;
    struct slice segments[HTTP_SEGMENTS_MAX]; // "queues"; what is a parameter is empty
    size_t count;
};

void http_pattern_init(struct http_pattern *pattern, const struct http_route *route);

// Whether the route has that path, whatever its method.
bool http_pattern_matches(const struct http_pattern *pattern, const struct http_path *path);

// The segment for the parameter with that name, without braces; false if there is none.
bool http_route_parameter(const struct http_route *route, const struct http_path *path,
                          struct slice name, struct slice *out);

#endif
