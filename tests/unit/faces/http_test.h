// SPDX-License-Identifier: MIT
// Requests to the HTTP face over a real engine, as a transcript:
//
//     says(site, "GET /v1/ns/app/queues/mail/length", NULL, "200 {\"length\":0}");
//
// Time stands still, and random numbers are 1, 2, 3, ..., so that the same requests have the same
// answers each time.
#ifndef SLUICE_HTTP_TEST_H
#define SLUICE_HTTP_TEST_H

#include "api/call.h"
#include "faces/http/http.h"

#include "test.h"

#define SITE_BEGINS_US INT64_C(1784000000500000) // 2026-07-14T03:33:20.500Z

struct site {
    struct engine *engine;
    struct commands *commands;
    struct http_face *face;
    struct scratch scratch;
    struct host host;
    uint64_t random;
    int64_t now_us;
    bool last;             // a command that could wait answers at once
    struct http_call call; // the last one
    struct buffer wire;    // the last request
    struct buffer reply;   // its answer, as it goes over the wire, with a zero behind it
    struct buffer text;    // the same as a line: the status and the body
};

// For cmocka. At the end the engine's invariants hold.
int site_begin(void **state);
int site_end(void **state);

#define SITE_TEST(test) cmocka_unit_test_setup_teardown(test, site_begin, site_end)

struct site *site_new(const struct allocator *allocator, size_t reply_max);
void site_free(struct site *site);

// Asks for "METHOD target" with more headers (each with its \r\n) and a body, or without (NULL).
// Gives "STATUS BODY", "(waits)" or "(page)", until the next call. A body goes as JSON unless the
// headers say what it is.
const char *ask(struct site *site, const char *line, const char *headers, const char *body);

// What was asked for last becomes these words, with blanks between; asserts that it is a command's.
const char *words_of(struct site *site, const char *line, const char *body);

// Asks, and asserts the answer. When `wanted` ends with "..." only what comes before it counts.
#define says(site, line, body, wanted)                                                             \
    says_at((site), (line), "", (body), (wanted), __FILE__, __LINE__)
#define says_with(site, line, headers, body, wanted)                                               \
    says_at((site), (line), (headers), (body), (wanted), __FILE__, __LINE__)
void says_at(struct site *site, const char *line, const char *headers, const char *body,
             const char *wanted, const char *file, int number);

// Whether the last answer has this line in its head.
bool has_header(const struct site *site, const char *line);

#endif
