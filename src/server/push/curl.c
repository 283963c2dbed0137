// SPDX-License-Identifier: MIT
// Requests with libcurl's multi interface on libevent's loop: libcurl asks for events of sockets
// and for a timer, and the loop reports them to libcurl. Easy handles are reused; libcurl keeps
// connections open for the next request to the same address.
//
// In a turn at most TURN_BYTES of responses are read. A request whose worker sends more is paused,
// and is resumed in a later turn, in the order in which requests were paused. Workers that send
// large responses therefore delay each other, but not the server's clients. socket.c counts
// the bytes that are neither headers nor body.
#include "base/ascii.h"
#include "server/log/log.h"
#include "server/push/rules/address.h"
#include "server/push/rules/sign.h"
#include "server/server.h"

#include <openssl/ssl.h>
#include <sys/resource.h>

enum {
    IDLE_MAX = 1024, // idle handles that are kept
    CONNECTIONS_KEPT = 4096,
    CONNECT_MS = 10000, // the longest time for connecting; shorter if the request's timeout is
    DNS_KEPT_S = 60,
    SECOND_US = 1000000,
    TURN_BYTES = 64 << 10, // of responses, read in a turn
    READ_SIZE = 4 << 10,   // of one read; libcurl reads a socket up to 100 times before it returns
};

static struct push *push_of(const struct push_delivery *delivery)
{
    return delivery->entry->space->push;
}

// ---------------------------------------------------------------------------------------------
// Between curl and the loop

// Moves the deliveries whose requests have ended to DELIVERY_DONE.
static void collect(struct push *push)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(push->multi, &left))) {
        struct push_delivery *delivery = NULL;
        if (message->msg != CURLMSG_DONE) {
            continue;
        }
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&delivery);
        delivery->outcome.curl = (int)message->data.result;
        delivery->outcome.too_large |= message->data.result == CURLE_FILESIZE_EXCEEDED;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE,
                                &delivery->outcome.status);
        delivery_abort(delivery);
        delivery_move(delivery, DELIVERY_DONE);
    }
}

void push_curl_act(struct push *push, curl_socket_t fd, int what)
{
    int running;
    (void)curl_multi_socket_action(push->multi, fd, what, &running);
    collect(push);
}

void delivery_reject(struct push_delivery *delivery)
{
    delivery->outcome.curl = CURLE_FILESIZE_EXCEEDED;
    delivery->outcome.too_large = true;
    (void)curl_easy_getinfo(delivery->easy, CURLINFO_RESPONSE_CODE, &delivery->outcome.status);
    delivery_abort(delivery);
    delivery_move(delivery, DELIVERY_DONE);
}

static void on_timer(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    push_curl_act(context, CURL_SOCKET_TIMEOUT, 0);
}

static int on_want_timer(CURLM *multi, long timeout_ms, void *user)
{
    (void)multi;
    struct push *push = user;
    if (timeout_ms < 0) {
        return event_del(push->timer);
    }
    struct timeval left = timeval_of((int64_t)timeout_ms * 1000);
    return event_add(push->timer, &left);
}

// ---------------------------------------------------------------------------------------------
// Callbacks of libcurl for a request

static bool may_reach(const struct push_delivery *delivery, bool public)
{
    return public || push_of(delivery)->server->settings.push_allow_private;
}

// libcurl calls this when it knows the address, before it connects.
static curl_socket_t on_open(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct push_delivery *delivery = context;
    if (purpose != CURLSOCKTYPE_IPCXN ||
        !may_reach(delivery, push_address_is_public(&address->addr))) {
        delivery->outcome.refused = true;
        return CURL_SOCKET_BAD;
    }
    return push_socket_open(delivery, address);
}

// libcurl calls this when a connection is established. The connection may be an old one, from
// before the settings changed, so the address is checked again.
static int on_connected(void *context, char *there, char *here, int port_there, int port_here)
{
    struct push_delivery *delivery = context;
    const struct push_ends ends = { here, there, port_here, port_there };
    if (push_socket_use(delivery, &ends)) {
        delivery->outcome.starved = true;
        return CURL_PREREQFUNC_ABORT;
    }
    if (may_reach(delivery, push_address_text_is_public(there))) {
        // an earlier address of the same name may have been refused
        delivery->outcome.refused = false;
        delivery->entry->reached = true;
        return CURL_PREREQFUNC_OK;
    }
    delivery->outcome.refused = true;
    return CURL_PREREQFUNC_ABORT;
}

// ---------------------------------------------------------------------------------------------
// The turn's share

static void pause_delivery(struct push_delivery *delivery)
{
    struct paused_list *list = &push_of(delivery)->paused;
    delivery->is_paused = true;
    delivery->paused_next = NULL;
    delivery->paused_previous = list->last;
    *(list->last ? &list->last->paused_next : &list->first) = delivery;
    list->last = delivery;
}

static void unlist_paused(struct push_delivery *delivery)
{
    struct paused_list *list = &push_of(delivery)->paused;
    struct push_delivery *next = delivery->paused_next, *previous = delivery->paused_previous;
    if (delivery->is_paused) {
        *(previous ? &previous->paused_next : &list->first) = next;
        *(next ? &next->paused_previous : &list->last) = previous;
        delivery->is_paused = false;
    }
}

static void on_more(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    (void)context; // push_transfer at the end of the turn does the work
}

// libcurl passes the data that it has kept to on_body, which may pause the request again.
static bool resume_delivery(struct push *push)
{
    struct push_delivery *delivery = push->paused.first;
    if (!delivery) {
        return false;
    }
    unlist_paused(delivery);
    (void)curl_easy_pause(delivery->easy, CURLPAUSE_CONT);
    return true;
}

// Resumes a paused delivery and a deferred socket alternately, so that neither kind waits for all
// of the other.
void push_transfer(struct server *server)
{
    struct push *push = &server->push;
    bool more = true;
    push->share = TURN_BYTES;
    while (more && push->share > 0) {
        more = resume_delivery(push);
        more |= push->share > 0 && push_socket_resume(push);
    }
    if (push->paused.first || push->deferred.first) {
        (void)event_add(push->more, &(struct timeval){ 0 });
    }
}

// Returning 0 ends the request: a response larger than max-payload is not read further.
static size_t on_body(char *bytes, size_t one, size_t size, void *context)
{
    (void)one;
    struct push_delivery *delivery = context;
    struct push *push = push_of(delivery);
    if (push->share <= 0) {
        pause_delivery(delivery);
        return CURL_WRITEFUNC_PAUSE;
    }
    push->received += size;
    push->share -= (int64_t)size;
    buffer_append(&delivery->answer, slice_make(bytes, size));
    delivery->outcome.too_large = delivery->answer.status == STATUS_TOO_LARGE;
    return delivery->answer.status ? 0 : size;
}

static size_t on_header(char *bytes, size_t one, size_t size, void *context)
{
    (void)one;
    const struct slice name = SLICE("retry-after:");
    struct push_delivery *delivery = context;
    struct slice line = slice_make(bytes, size);
    push_of(delivery)->received += size;
    push_of(delivery)->share -= (int64_t)size;
    delivery->header_bytes +=
        size; // of answers like "100 Continue" too, of which there may be many
    if (delivery->header_bytes > delivery->answer.size_max) {
        delivery->outcome.too_large = true;
        return 0;
    }
    if (ascii_equal(slice_sub(line, 0, name.size), name)) {
        size_t start = name.size;
        while (start < line.size && (bytes[start] == ' ' || bytes[start] == '\t')) {
            start++;
        }
        size_t end = line.size;
        while (end > start && (unsigned char)bytes[end - 1] <= ' ') {
            end--;
        }
        delivery->outcome.retry_after_us = push_retry_after(slice_make(bytes + start, end - start),
                                                            server_now(push_of(delivery)->server));
    }
    return size;
}

// A read returns after each TLS record, as for the server's own connections (net/tls.c).
static CURLcode on_tls(CURL *easy, void *context, void *user)
{
    (void)easy;
    (void)user;
    (void)SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
    return CURLE_OK;
}

// ---------------------------------------------------------------------------------------------
// A request

// Creates a handle with the options that are the same for every request; NULL if there is no
// memory.
static CURL *new_handle(struct push *push)
{
    const struct settings *settings = &push->server->settings;
    CURL *easy = curl_easy_init();
    if (!easy) {
        return NULL;
    }
    bool good =
        !curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) &&
        !curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") &&
        !curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) &&
        !curl_easy_setopt(easy, CURLOPT_PROXY, "") &&
        !curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) &&
        !curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) &&
        !curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L) &&
        !curl_easy_setopt(easy, CURLOPT_USERAGENT, "sluice/" SLUICE_VERSION) &&
        !curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS) &&
        !curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, (long)DNS_KEPT_S) &&
        !curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L) &&
        !curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)READ_SIZE) &&
        !curl_easy_setopt(easy, CURLOPT_POST, 1L) &&
        !curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body) &&
        !curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header) &&
        !curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_tls) &&
        !curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open) &&
        !curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, push_socket_close) &&
        !curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, push) &&
        !curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected) &&
        (!*settings->push_ca || (!curl_easy_setopt(easy, CURLOPT_CAINFO, settings->push_ca) &&
                                 // Otherwise a changed CA file with the same name takes effect only
                                 // after a day.
                                 !curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L)));
    if (!good) {
        curl_easy_cleanup(easy);
        return NULL;
    }
    return easy;
}

static bool add_header(struct push_delivery *delivery, struct slice line)
{
    char text[PUSH_HEADER_SIZE_MAX + 1];
    if (line.size > PUSH_HEADER_SIZE_MAX) {
        return false;
    }
    memcpy(text, line.data, line.size);
    text[line.size] = '\0';
    struct curl_slist *list = curl_slist_append(delivery->headers, text);
    delivery->headers = list ? list : delivery->headers;
    return list != NULL;
}

// The signature covers the id and the time before the body too.
static bool add_signature(struct push_delivery *delivery)
{
    struct slice content = buffer_slice(&delivery->content);
    const char *dot = memrchr(content.data, '.', delivery->body - 1);
    size_t id_size = (size_t)(dot - content.data);
    struct slice when = slice_sub(content, id_size + 1, delivery->body - id_size - 2);
    struct buffer line;
    buffer_init(&line, &allocator_system, PUSH_HEADER_SIZE_MAX);
    buffer_printf(&line, "webhook-id: %.*s", (int)id_size, content.data);
    bool good = !line.status && add_header(delivery, buffer_slice(&line));
    buffer_clear(&line);
    buffer_printf(&line, "webhook-timestamp: %.*s", SLICE_PRINT(when));
    good = good && !line.status && add_header(delivery, buffer_slice(&line));
    const struct push_arguments *given = &delivery->entry->plan.given;
    if (given->secret.size) {
        buffer_clear(&line);
        buffer_append(&line, SLICE("webhook-signature: "));
        push_sign(given->secret, content, &line);
        if (given->old_secret.size) {
            buffer_append_char(&line, ' ');
            push_sign(given->old_secret, content, &line);
        }
        good = good && !line.status && add_header(delivery, buffer_slice(&line));
    }
    buffer_release(&line);
    return good;
}

static bool add_headers(struct push_delivery *delivery)
{
    const struct slices *own = &delivery->entry->plan.given.headers;
    bool good = add_header(delivery, SLICE("Content-Type: application/json")) &&
                add_header(delivery, SLICE("Expect:")) && add_signature(delivery);
    if (good && *delivery->trace) {
        char line[80];
        int size = snprintf(line, sizeof(line), "traceparent: %s", delivery->trace);
        good = add_header(delivery, slice_make(line, (size_t)size));
    }
    for (size_t i = 0; i < own->count && good; i++) {
        good = add_header(delivery, own->items[i]);
    }
    return good;
}

static bool set_address(CURL *easy, struct slice href)
{
    char text[PUSH_PLAN_SIZE_MAX];
    memcpy(text, href.data, href.size);
    text[href.size] = '\0';
    bool tls = ascii_equal(slice_sub(href, 0, 6), SLICE("https:"));
    // Wait for a new connection to report whether it supports multiplexing (HTTP/2).
    return !curl_easy_setopt(easy, CURLOPT_URL, text) &&
           !curl_easy_setopt(easy, CURLOPT_PIPEWAIT, tls ? 1L : 0L);
}

static bool set_request(struct push_delivery *delivery)
{
    CURL *easy = delivery->easy;
    const struct push_arguments *given = &delivery->entry->plan.given;
    long timeout_ms = (long)((given->timeout_us + 999) / 1000);
    struct slice body = slice_sub(buffer_slice(&delivery->content), delivery->body, SIZE_MAX);
    return set_address(easy, given->href) &&
           !curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.data) &&
           !curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.size) &&
           !curl_easy_setopt(easy, CURLOPT_HTTPHEADER, delivery->headers) &&
           !curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE,
                             (curl_off_t)delivery->answer.size_max) &&
           !curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms) &&
           !curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                             timeout_ms < CONNECT_MS ? timeout_ms : CONNECT_MS) &&
           !curl_easy_setopt(easy, CURLOPT_PRIVATE, delivery) &&
           !curl_easy_setopt(easy, CURLOPT_WRITEDATA, delivery) &&
           !curl_easy_setopt(easy, CURLOPT_HEADERDATA, delivery) &&
           !curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, delivery) &&
           !curl_easy_setopt(easy, CURLOPT_PREREQDATA, delivery) &&
           !curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, delivery->error);
}

enum status delivery_send(struct push_delivery *delivery)
{
    struct push *push = push_of(delivery);
    delivery->outcome = (struct push_answer){ .retry_after_us = -1 };
    delivery->header_bytes = 0;
    delivery->easy = push->idle_count ? push->idle[--push->idle_count] : new_handle(push);
    delivery->settings = push->settings;
    if (!delivery->easy || !add_headers(delivery) || !set_request(delivery)) {
        delivery_abort(delivery);
        return STATUS_NO_MEMORY;
    }
    if (curl_multi_add_handle(push->multi, delivery->easy) != CURLM_OK) {
        delivery_abort(delivery);
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

void delivery_abort(struct push_delivery *delivery)
{
    struct push *push = push_of(delivery);
    CURL *easy = delivery->easy;
    delivery->easy = NULL;
    unlist_paused(delivery);
    push_socket_forget(delivery);
    if (easy) {
        (void)curl_multi_remove_handle(push->multi, easy);
        // The handle outlives the delivery, so it must not refer to its memory.
        (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
        (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL);
        if (push->idle_count < IDLE_MAX && delivery->settings == push->settings) {
            push->idle[push->idle_count++] = easy;
        } else {
            curl_easy_cleanup(easy);
        }
    }
    curl_slist_free_all(delivery->headers);
    delivery->headers = NULL;
}

// ---------------------------------------------------------------------------------------------

static void free_idle(struct push *push)
{
    while (push->idle_count) {
        curl_easy_cleanup(push->idle[--push->idle_count]);
    }
}

// Each request uses a file descriptor, in addition to those of the connections.
void push_curl_apply(struct push *push)
{
    const struct settings *settings = &push->server->settings;
    struct rlimit limit;
    free_idle(push);
    push->settings++;
    if (getrlimit(RLIMIT_NOFILE, &limit)) {
        return;
    }
    uint64_t wanted = limit.rlim_cur;
    uint64_t least = settings->max_connections + settings->max_pushes + CONNECTIONS_KEPT;
    wanted = wanted < least ? least : wanted;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

enum status push_curl_init(struct push *push, struct error *error)
{
    bool good = !curl_global_init(CURL_GLOBAL_DEFAULT);
    push->multi = good ? curl_multi_init() : NULL;
    push->timer = evtimer_new(push->server->loop, on_timer, push);
    push->more = evtimer_new(push->server->loop, on_more, push);
    push->share = TURN_BYTES;
    push_socket_init(push);
    push->idle = mem_alloc(push->server->settings.allocator, IDLE_MAX * sizeof(CURL *));
    good = push->multi && push->timer && push->more && push->idle &&
           !curl_multi_setopt(push->multi, CURLMOPT_SOCKETFUNCTION, push_socket_want) &&
           !curl_multi_setopt(push->multi, CURLMOPT_SOCKETDATA, push) &&
           !curl_multi_setopt(push->multi, CURLMOPT_TIMERFUNCTION, on_want_timer) &&
           !curl_multi_setopt(push->multi, CURLMOPT_TIMERDATA, push) &&
           !curl_multi_setopt(push->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_KEPT);
    return good ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "libcurl cannot be used");
}

void push_curl_release(struct push *push)
{
    free_idle(push);
    if (push->multi) {
        (void)curl_multi_cleanup(push->multi); // closes the sockets
    }
    push_socket_release(push);
    if (push->timer) {
        event_free(push->timer);
    }
    if (push->more) {
        event_free(push->more);
    }
    mem_free(push->server->settings.allocator, push->idle,
             push->idle ? IDLE_MAX * sizeof(CURL *) : 0);
    curl_global_cleanup();
}
