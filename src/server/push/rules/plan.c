// SPDX-License-Identifier: MIT
#include "server/push/rules/plan.h"

#include "api/table.h"
#include "base/ascii.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/num.h"
#include "host/words.h"
#include "server/push/rules/address.h"
#include "server/push/rules/sign.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <openssl/crypto.h>
#include <stdio.h>

enum {
    SECOND_US = 1000000,
    HREF_SIZE_MAX = 2048,
    REPEATED_MAX = 64,                 // headers or queues of a push
    WORDS_MAX = 64 + 4 * REPEATED_MAX, // including all other options
    HOST_SHOWN_MAX = 80,
};

static const struct command plan_command = {
    .name = "Q.PUSH.SET",
    TAKES(push_arguments, push_takes),
};

// ---------------------------------------------------------------------------------------------
// Checks

static bool has_part(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    bool has = curl_url_get(url, part, &text, 0) == CURLUE_OK;
    curl_free(text);
    return has;
}

static bool is_web(CURLU *url)
{
    char *scheme = NULL;
    bool web = curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
               (!strcmp(scheme, "http") || !strcmp(scheme, "https"));
    curl_free(scheme);
    return web;
}

// The address may contain a secret, so the message does not show it.
static enum status check_href(struct slice href, struct error *error)
{
    char text[HREF_SIZE_MAX + 1];
    for (size_t i = 0; i < href.size; i++) {
        if ((unsigned char)href.data[i] <= ' ' || href.data[i] == 0x7F) {
            return error_set(error, STATUS_INVALID,
                             "the href has a character that an address cannot have");
        }
    }
    if (href.size > HREF_SIZE_MAX) {
        return error_set(error, STATUS_TOO_LARGE, "the href has more than %d bytes", HREF_SIZE_MAX);
    }
    memcpy(text, href.data, href.size);
    text[href.size] = '\0';
    CURLU *url = curl_url();
    if (!url) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to read the href");
    }
    enum status status = STATUS_OK;
    if (curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK ||
        !is_web(url) || !has_part(url, CURLUPART_HOST)) {
        status = error_set(error, STATUS_INVALID, "the href is no address with http or https");
    } else if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD)) {
        status = error_set(error, STATUS_INVALID,
                           "the href has a user in it: give HEADER 'Authorization: ...' instead");
    }
    curl_url_cleanup(url);
    return status;
}

static bool is_token(struct slice name)
{
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && (!c || !strchr("!#$%&'*+-.^_`|~", c))) {
            return false;
        }
    }
    return name.size > 0;
}

// Headers that the server sets itself.
static bool is_reserved(struct slice name)
{
    static const char *const names[] = {
        "content-length", "transfer-encoding", "connection",        "content-type",     "expect",
        "upgrade",        "webhook-id",        "webhook-timestamp", "webhook-signature"
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (ascii_equal(name, slice_from_cstr(names[i]))) {
            return true;
        }
    }
    return false;
}

static struct slice header_name(struct slice header)
{
    const char *colon = header.size ? memchr(header.data, ':', header.size) : NULL;
    return slice_make(header.data, colon ? (size_t)(colon - header.data) : 0);
}

static enum status check_header(struct slice header, struct error *error)
{
    struct slice name = header_name(header);
    if (!is_token(name)) {
        return error_set(error, STATUS_INVALID, "a HEADER is not 'Name: value'");
    }
    if (is_reserved(name)) {
        return error_set(error, STATUS_INVALID, "the HEADER %.*s is the server's to say",
                         SLICE_PRINT(slice_shown(name)));
    }
    if (header.size > PUSH_HEADER_SIZE_MAX) {
        return error_set(error, STATUS_TOO_LARGE, "the HEADER %.*s has more than %d bytes",
                         SLICE_PRINT(slice_shown(name)), PUSH_HEADER_SIZE_MAX);
    }
    for (size_t i = 0; i < header.size; i++) {
        unsigned char c = (unsigned char)header.data[i];
        if ((c < ' ' && c != '\t') || c == 0x7F) {
            return error_set(error, STATUS_INVALID,
                             "the HEADER %.*s has a character that headers cannot have",
                             SLICE_PRINT(slice_shown(name)));
        }
    }
    return STATUS_OK;
}

static enum status check(const struct push_arguments *given, struct error *error)
{
    if (given->headers.count > REPEATED_MAX || given->queues.count > REPEATED_MAX) {
        return error_set(error, STATUS_TOO_LARGE, "a push has at most %d headers and %d queues",
                         REPEATED_MAX, REPEATED_MAX);
    }
    enum status status = check_href(given->href, error);
    for (size_t i = 0; i < given->headers.count && !status; i++) {
        status = check_header(given->headers.items[i], error);
    }
    if (!status && given->secret.size) {
        status = push_secret_check(given->secret, error);
    }
    if (!status && given->old_secret.size && !given->secret.size) {
        status = error_set(error, STATUS_INVALID, "OLD-SECRET needs SECRET, which replaces it");
    }
    if (!status && given->old_secret.size) {
        status = push_secret_check(given->old_secret, error);
    }
    return status;
}

static void fill_in(struct push_arguments *given)
{
    given->concurrency = given->has_concurrency ? given->concurrency : 10;
    given->timeout_us = given->has_timeout ? given->timeout_us : INT64_C(60) * SECOND_US;
    given->report_us = given->has_report ? given->report_us : INT64_C(3600) * SECOND_US;
    given->backoff_us = given->has_backoff ? given->backoff_us : SECOND_US;
    given->failures = given->has_failures ? given->failures : 10;
    given->free_attempts = given->has_free_attempts ? given->free_attempts : 100;
    given->cooldown_us = given->has_cooldown ? given->cooldown_us : INT64_C(30) * SECOND_US;
}

// ---------------------------------------------------------------------------------------------

enum status push_plan_init(struct push_plan *plan, const struct allocator *allocator,
                           struct slices words, struct error *error)
{
    size_t size = words_size(words);
    *plan = (struct push_plan){ .room_size = size ? size : 1 };
    if (size > PUSH_PLAN_SIZE_MAX) {
        return error_set(error, STATUS_TOO_LARGE, "the words of a push have more than %d bytes",
                         PUSH_PLAN_SIZE_MAX);
    }
    plan->room = mem_alloc(allocator, plan->room_size);
    if (!plan->room) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a push");
    }
    plan->words = words_copy(words, plan->room);
    scratch_init(&plan->scratch, allocator);
    enum status status =
        command_parse(&plan_command, plan->words, &plan->scratch, &plan->given, error);
    if (!status) {
        fill_in(&plan->given);
        status = check(&plan->given, error);
    }
    if (!status) {
        status = glob_new(allocator, plan->given.pattern, GLOB_STARS_ONLY, &plan->klasses, error);
    }
    if (status) {
        push_plan_release(plan);
    }
    return status;
}

void push_plan_release(struct push_plan *plan)
{
    glob_free(plan->scratch.allocator, plan->klasses);
    OPENSSL_cleanse(plan->room, plan->room_size);
    mem_free(plan->scratch.allocator, plan->room, plan->room_size);
    scratch_release(&plan->scratch);
}

// Names that resolve to this machine, whatever a name server replies (RFC 6761).
static bool is_localhost(struct slice host)
{
    const struct slice name = SLICE("localhost");
    host.size -= host.size && host.data[host.size - 1] == '.';
    if (host.size < name.size) {
        return false;
    }
    size_t start = host.size - name.size;
    return ascii_equal(slice_sub(host, start, SIZE_MAX), name) &&
           (start == 0 || host.data[start - 1] == '.');
}

// Whether a host is a private address. In the brackets of an IPv6 address a zone is ignored.
static bool is_private(char *host)
{
    uint8_t bytes[sizeof(struct in6_addr)];
    size_t size = strlen(host);
    if (host[0] == '[' && size > 1) {
        host[strcspn(host, "%]")] = '\0';
        return !push_address_text_is_public(host + 1);
    }
    if (is_localhost(slice_make(host, size))) {
        return true;
    }
    // libcurl writes other forms of an IPv4 address, like 0x7f000001, as four decimal numbers.
    size -= size && host[size - 1] == '.';
    host[size] = '\0';
    return inet_pton(AF_INET, host, bytes) == 1 && !push_address_text_is_public(host);
}

enum status push_plan_check_public(const struct push_plan *plan, struct error *error)
{
    char text[HREF_SIZE_MAX + 1];
    char *host = NULL;
    struct slice href = plan->given.href;
    memcpy(text, href.data, href.size);
    text[href.size] = '\0';
    CURLU *url = curl_url();
    if (!url || curl_url_set(url, CURLUPART_URL, text, 0) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK) {
        curl_url_cleanup(url);
        return error_set(error, STATUS_NO_MEMORY, "no memory to read the href");
    }
    curl_url_cleanup(url);
    char shown[HOST_SHOWN_MAX];
    (void)snprintf(shown, sizeof(shown), "%s", host);
    bool private = is_private(host);
    curl_free(host);
    return private ? error_set(error, STATUS_INVALID,
                               "the href has the private address %s, and push-allow-private is off",
                               shown)
                   : STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// As texts

void push_words_write(struct slices words, struct buffer *out)
{
    struct json_writer writer;
    json_writer_init(&writer, out);
    json_write_begin_array(&writer);
    for (size_t i = 0; i < words.count; i++) {
        json_write_string(&writer, words.items[i]);
    }
    json_write_end_array(&writer);
}

enum status push_plan_read(struct push_plan *plan, const struct allocator *allocator,
                           struct slice json, struct error *error)
{
    size_t ends[WORDS_MAX] = { 0 };
    struct slice words[WORDS_MAX] = { SLICE_EMPTY };
    size_t count = 0;
    struct json_reader reader;
    struct json_member member;
    struct buffer text;
    buffer_init(&text, allocator, PUSH_PLAN_SIZE_MAX);
    enum status status = json_validate(json, 1, error);
    if (!status) {
        status = json_reader_init_array(&reader, json, error);
    }
    while (!status && json_reader_next(&reader, &member)) {
        status = count < WORDS_MAX ? json_value_string(member.value, &text) : STATUS_TOO_LARGE;
        if (status) {
            status = error_set(error, status, "a push is no list of up to %d words", WORDS_MAX);
        } else {
            ends[count++] = text.size;
        }
    }
    for (size_t i = 0; i < count && !status; i++) {
        size_t start = i ? ends[i - 1] : 0;
        words[i] = slice_sub(buffer_slice(&text), start, ends[i] - start);
    }
    if (!status) {
        status = push_plan_init(plan, allocator, (struct slices){ words, count }, error);
    }
    if (text.data) {
        OPENSSL_cleanse(text.data, text.size);
    }
    buffer_release(&text);
    return status;
}

static void show_word(struct slice word, struct buffer *out)
{
    bool plain = word.size > 0;
    for (size_t i = 0; i < word.size; i++) {
        plain = plain && !strchr(" \t\"'#\\", word.data[i]) && word.data[i];
    }
    if (plain) {
        buffer_append(out, word);
        return;
    }
    buffer_append_char(out, '"');
    for (size_t i = 0; i < word.size; i++) {
        if (word.data[i] == '"' || word.data[i] == '\\') {
            buffer_append_char(out, '\\');
        }
        buffer_append_char(out, word.data[i]);
    }
    buffer_append_char(out, '"');
}

void push_words_show(struct slices words, struct buffer *out)
{
    for (size_t i = 0; i < words.count; i++) {
        struct slice before = i ? words.items[i - 1] : SLICE_EMPTY;
        if (i > 0) {
            buffer_append_char(out, ' ');
        }
        if (ascii_equal(before, SLICE("SECRET")) || ascii_equal(before, SLICE("OLD-SECRET"))) {
            buffer_append(out, SLICE("(hidden)"));
        } else if (ascii_equal(before, SLICE("HEADER"))) {
            buffer_printf(out, "\"%.*s: (hidden)\"", SLICE_PRINT(header_name(words.items[i])));
        } else {
            show_word(words.items[i], out);
        }
    }
}

void push_item_write(struct slice ns, struct slices words, struct buffer *out)
{
    num_append_u64(out, ns.size);
    buffer_append_char(out, ':');
    buffer_append(out, ns);
    push_words_write(words, out);
}

void push_item_split(struct slice item, struct slice *ns, struct slice *json)
{
    size_t size = 0, at = 0;
    for (; at < item.size && item.data[at] != ':'; at++) {
        size = 10 * size + (size_t)(item.data[at] - '0');
    }
    *ns = slice_sub(item, at + 1, size);
    *json = slice_sub(item, at + 1 + size, SIZE_MAX);
}

void push_item_show(struct slice item, struct buffer *out)
{
    struct slice ns, json;
    struct push_plan plan;
    push_item_split(item, &ns, &json);
    if (push_plan_read(&plan, out->allocator, json, NULL)) {
        out->status = STATUS_NO_MEMORY;
        return;
    }
    show_word(ns, out);
    buffer_append_char(out, ' ');
    push_words_show(plan.words, out);
    push_plan_release(&plan);
}

// ---------------------------------------------------------------------------------------------
// Which jobs

size_t push_plan_fit(const struct push_plan *plan, struct slice queue, struct slice klass)
{
    const struct push_arguments *given = &plan->given;
    bool in_queue = given->queues.count == 0;
    for (size_t i = 0; i < given->queues.count && !in_queue; i++) {
        in_queue = slice_equal(given->queues.items[i], queue);
    }
    if (!in_queue || !glob_matches(plan->klasses, klass)) {
        return 0;
    }
    size_t stars = 0;
    for (size_t i = 0; i < given->pattern.size; i++) {
        stars += given->pattern.data[i] == '*';
    }
    return stars ? 1 + given->pattern.size - stars : SIZE_MAX;
}
