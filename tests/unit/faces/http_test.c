// SPDX-License-Identifier: MIT
#include "http_test.h"

#include "engine/check/check.h"

#include <stdio.h>

enum {
    SIZE_LIMIT = 1 << 24,
    DEPTH_LIMIT = 32,
};

static const struct http_limits limits = {
    .line_max = 8192,
    .head_max = 16384,
    .headers_max = 64,
    .body_max = 1 << 20,
    .chunk_overhead_max = 1 << 16,
};

static uint64_t next_random(void *context)
{
    struct site *site = context;
    return ++site->random;
}

static enum status find_zone(void *context, struct slice name, struct zone_rules *out,
                             struct error *error)
{
    (void)context;
    *out = (struct zone_rules){ 3600, NULL, 0 };
    return slice_equal(name, SLICE("Europe/Berlin"))
               ? STATUS_OK
               : error_set(error, STATUS_NOT_FOUND, "time zone %.*s is not known",
                           SLICE_PRINT(name));
}

struct site *site_new(const struct allocator *allocator, size_t reply_max)
{
    struct site *site = calloc(1, sizeof(*site));
    assert_non_null(site);
    const struct engine_options options = { .allocator = &allocator_system, .seed = { 1, 2 } };
    assert_int_equal(engine_new(&options, &site->engine), STATUS_OK);
    assert_int_equal(commands_new(&allocator_system, api_tables, API_TABLES, &site->commands),
                     STATUS_OK);
    const struct http_face_options face = { .allocator = allocator,
                                            .commands = site->commands,
                                            .reply_max = reply_max,
                                            .depth_max = DEPTH_LIMIT,
                                            .version = "1.2.3" };
    assert_int_equal(http_face_new(&face, &site->face), STATUS_OK);
    site->host = (struct host){ .random = next_random, .zone = find_zone, .context = site };
    site->now_us = SITE_BEGINS_US;
    http_face_set_time(site->face, site->now_us);
    scratch_init(&site->scratch, &allocator_system);
    buffer_init(&site->wire, &allocator_system, SIZE_LIMIT);
    buffer_init(&site->reply, &allocator_system, SIZE_LIMIT);
    buffer_init(&site->text, &allocator_system, SIZE_LIMIT);
    return site;
}

void site_free(struct site *site)
{
    buffer_release(&site->wire);
    buffer_release(&site->reply);
    buffer_release(&site->text);
    scratch_release(&site->scratch);
    http_face_free(site->face);
    commands_free(site->commands);
    engine_free(site->engine);
    free(site);
}

int site_begin(void **state)
{
    *state = site_new(&allocator_system, SIZE_LIMIT);
    return 0;
}

static void complain(void *context, const char *sentence)
{
    (void)context;
    print_error("%s\n", sentence);
}

int site_end(void **state)
{
    struct site *site = *state;
    size_t broken = engine_check(site->engine, false, complain, NULL);
    site_free(site);
    return broken ? -1 : 0;
}

// ---------------------------------------------------------------------------------------------

static void write_request(struct site *site, const char *line, const char *headers,
                          const char *body)
{
    buffer_clear(&site->wire);
    buffer_printf(&site->wire, "%s HTTP/1.1\r\nHost: localhost\r\n%s", line, headers);
    if (body) {
        const char *type =
            strstr(headers, "Content-Type:") ? "" : "Content-Type: application/json\r\n";
        buffer_printf(&site->wire, "%sContent-Length: %zu\r\n", type, strlen(body));
    }
    buffer_printf(&site->wire, "\r\n%s", body ? body : "");
    assert_int_equal(site->wire.status, STATUS_OK);
}

// "STATUS BODY" of what is in `reply`; the head says how long the body is.
static const char *read_reply(struct site *site)
{
    buffer_append_char(&site->reply, '\0');
    assert_int_equal(site->reply.status, STATUS_OK);
    const char *reply = site->reply.data;
    const char *body = strstr(reply, "\r\n\r\n");
    assert_non_null(body);
    body += strlen("\r\n\r\n");
    assert_int_equal(strncmp(reply, "HTTP/1.1 ", 9), 0);
    const char *length = strstr(reply, "Content-Length: ");
    size_t size = length && length < body ? (size_t)strtoul(length + 16, NULL, 10) : 0;
    assert_int_equal(strlen(body), site->call.head ? 0 : size);
    buffer_clear(&site->text);
    buffer_printf(&site->text, "%.3s%s%s", reply + 9, *body ? " " : "", body);
    buffer_append_char(&site->text, '\0');
    assert_int_equal(site->text.status, STATUS_OK);
    return site->text.data;
}

static const char *run(struct site *site)
{
    struct http_call *ask = &site->call;
    struct error error = { 0 };
    (void)engine_tick(site->engine, site->now_us);
    assert_true(ask->words.count >= 2 && (ask->command->flags & COMMAND_NAMESPACE));
    assert_slice_equal(ask->words.items[0], ask->command->name);
    struct call call = {
        .command = ask->command,
        .ns = ask->words.items[1],
        .engine = site->engine,
        .now_us = site->now_us,
        .reply = http_face_reply(site->face, ask, &site->reply),
        .host = &site->host,
        .last = site->last,
        .waiter = 7,
    };
    enum status status =
        call_run(&call, (struct slices){ ask->words.items + 2, ask->words.count - 2 },
                 &site->scratch, &error);
    if (!status && call.wait.kind) {
        return "(waits)";
    }
    if (status) {
        http_face_refuse(site->face, ask, 0, &error, &site->reply);
    } else {
        http_face_answer(site->face, ask, &site->reply);
    }
    return read_reply(site);
}

const char *ask(struct site *site, const char *line, const char *headers, const char *body)
{
    struct http_request request;
    struct error error;
    const char *answer = "(page)";
    write_request(site, line, headers, body);
    buffer_clear(&site->reply);
    http_request_init(&request, &allocator_system, &limits);
    if (http_request_read(&request, buffer_slice(&site->wire), &error) != HTTP_READY) {
        site->call = (struct http_call){ 0 };
        http_face_refuse_broken(site->face, &request, &error, &site->reply);
        http_request_release(&request);
        return read_reply(site);
    }
    switch (http_face_parse(site->face, &request, &site->call, &site->reply)) {
    case HTTP_ANSWERED:
        answer = read_reply(site);
        break;
    case HTTP_RUN:
        answer = run(site);
        break;
    case HTTP_PAGE:
        break;
    }
    http_request_release(&request);
    return answer;
}

const char *words_of(struct site *site, const char *line, const char *body)
{
    struct http_request request;
    struct error error;
    write_request(site, line, "", body);
    buffer_clear(&site->reply);
    http_request_init(&request, &allocator_system, &limits);
    assert_int_equal(http_request_read(&request, buffer_slice(&site->wire), &error), HTTP_READY);
    enum http_step step = http_face_parse(site->face, &request, &site->call, &site->reply);
    if (step != HTTP_RUN) {
        buffer_append_char(&site->reply, '\0');
        fail_msg("%s is no command: %s", line, site->reply.data);
    }
    buffer_clear(&site->text);
    for (size_t i = 0; i < site->call.words.count; i++) {
        buffer_printf(&site->text, "%s%.*s", i ? " " : "", SLICE_PRINT(site->call.words.items[i]));
    }
    buffer_append_char(&site->text, '\0');
    http_request_release(&request);
    return site->text.data;
}

static bool shows(const char *shown, const char *wanted)
{
    size_t size = strlen(wanted);
    if (size >= 3 && strcmp(wanted + size - 3, "...") == 0) {
        return strncmp(shown, wanted, size - 3) == 0;
    }
    return strcmp(shown, wanted) == 0;
}

void says_at(struct site *site, const char *line, const char *headers, const char *body,
             const char *wanted, const char *file, int number)
{
    const char *shown = ask(site, line, headers, body);
    if (!shows(shown, wanted)) {
        (void)fprintf(stderr, "> %s %s\n%s\ninstead of\n%s\n", line, body ? body : "", shown,
                      wanted);
        _fail(file, number);
    }
}

bool has_header(const struct site *site, const char *line)
{
    char text[256];
    (void)snprintf(text, sizeof(text), "\r\n%s\r\n", line);
    return strstr(site->reply.data, text) != NULL;
}
