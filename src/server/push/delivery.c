// SPDX-License-Identifier: MIT
// A delivery: a job from the moment the pusher takes it until the pusher no longer holds it.
#include "server/log/log.h"
#include "server/push/rules/sign.h"
#include "server/server.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/json_writer.h"

#include <assert.h>

enum {
    SECOND_US = 1000000,
    BEAT_AGAIN_US = SECOND_US, // retry of a heartbeat while the store takes no changes
    MESSAGE_SIZE = 1024,       // of a failure's message, without the body of the response
    JITTER_PART = 4,           // a backoff is shortened by up to a quarter
    DOUBLINGS_MAX = 20,
    HEADER_MAX = 1024,
    ACCEPTED_SIZE = 40, // of the history entry that the worker accepted the job
    CONTENT_PARTS = 8,
};

#define BACKOFF_MAX_US (INT64_C(3600) * SECOND_US)

static struct push *push_of(const struct push_delivery *delivery)
{
    return delivery->entry->space->push;
}

static struct ns *ns_of(const struct push_delivery *delivery)
{
    return delivery->entry->space->ns;
}

static struct holder holder_of(const struct push_delivery *delivery)
{
    return (struct holder){ .jid = delivery_jid(delivery),
                            .worker = PUSH_WORKER,
                            .token = delivery->token };
}

// ---------------------------------------------------------------------------------------------
// Lists

static struct delivery_list *list_of(struct push_delivery *delivery)
{
    struct push *push = push_of(delivery);
    return delivery->lost ? &push->lost : &push->lists[delivery->state];
}

static void unlist(struct push_delivery *delivery)
{
    struct delivery_list *list = list_of(delivery);
    *(delivery->previous ? &delivery->previous->next : &list->first) = delivery->next;
    *(delivery->next ? &delivery->next->previous : &list->last) = delivery->previous;
    list->count--;
}

static void enlist(struct push_delivery *delivery)
{
    struct delivery_list *list = list_of(delivery);
    delivery->next = NULL;
    delivery->previous = list->last;
    *(list->last ? &list->last->next : &list->first) = delivery;
    list->last = delivery;
    list->count++;
}

void delivery_move(struct push_delivery *delivery, enum delivery_state state)
{
    unlist(delivery);
    delivery->entry->accepted -= delivery->state == DELIVERY_ACCEPTED;
    delivery->state = state;
    delivery->entry->accepted += state == DELIVERY_ACCEPTED;
    enlist(delivery);
}

static void lose(struct push_delivery *delivery)
{
    if (!delivery->lost) {
        unlist(delivery);
        delivery->lost = true;
        enlist(delivery);
    }
}

// ---------------------------------------------------------------------------------------------
// Its lease

static void set_beat(struct push_delivery *delivery, int64_t after_us)
{
    struct timeval left = timeval_of(after_us > 0 ? after_us : 0);
    (void)event_add(delivery->beat, &left);
}

static void on_beat(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    struct push_delivery *delivery = context;
    struct server *server = push_of(delivery)->server;
    int64_t now_us = server_now(server);
    if (delivery->state == DELIVERY_ACCEPTED && now_us >= delivery->accepted_until_us) {
        lose(delivery); // from now on the worker must renew the lease itself
        return;
    }
    if (server->store_state != STORE_READY && server->store_state != STORE_FULL) {
        set_beat(delivery, BEAT_AGAIN_US);
        return;
    }
    const struct heartbeat_request request = { .holder = holder_of(delivery) };
    int64_t expires_us;
    ns_begin(ns_of(delivery), now_us);
    server->turn_changes = true;
    // If the server was suspended, the lease may have expired; it is renewed during its grace
    // period.
    if (engine_heartbeat(ns_of(delivery)->engine, now_us, &request, &expires_us, NULL)) {
        lose(delivery);
        return;
    }
    int64_t left_us = (expires_us - now_us) / 2;
    if (delivery->state == DELIVERY_ACCEPTED && delivery->accepted_until_us - now_us < left_us) {
        left_us = delivery->accepted_until_us - now_us;
    }
    set_beat(delivery, left_us);
}

// ---------------------------------------------------------------------------------------------
// Its life

// Writes the content that is signed: id, time, body.
static enum status write_content(struct push_delivery *delivery, const struct job *job,
                                 int64_t now_us)
{
    struct buffer *content = &delivery->content;
    push_append_id(delivery_jid(delivery), content);
    buffer_printf(content, ".%lld.", (long long)(now_us / SECOND_US));
    delivery->body = content->size;
    push_body_write(delivery->entry, job, content, delivery->trace);
    return content->status;
}

void delivery_free(struct push_delivery *delivery)
{
    struct push_entry *entry = delivery->entry;
    delivery_abort(delivery);
    unlist(delivery);
    map_remove(&entry->space->deliveries, delivery_jid(delivery));
    entry->running--;
    entry->space->news = true;
    entry->accepted -= delivery->state == DELIVERY_ACCEPTED;
    event_free(delivery->beat);
    buffer_release(&delivery->content);
    buffer_release(&delivery->answer);
    mem_free(&allocator_system, delivery, sizeof(*delivery) + delivery->jid_size);
    if (entry->gone && entry->running == 0) {
        push_entry_drop(entry);
    }
}

// Frees a delivery whose job the pusher no longer holds.
static void drop(struct push_delivery *delivery)
{
    delivery->entry->figures.lost += delivery->state != DELIVERY_ACCEPTED;
    delivery_free(delivery);
}

void push_drop_lost(struct push *push)
{
    while (push->lost.first) {
        drop(push->lost.first);
    }
}

enum status delivery_new(struct push_entry *entry, const struct job *job, int64_t now_us,
                         struct push_delivery **out)
{
    struct push *push = entry->space->push;
    const struct settings *settings = &push->server->settings;
    struct slice jid = job_jid(job);
    struct job_view view;
    job_view(entry->space->ns->engine, job, &view);
    struct push_delivery *before = map_find(&entry->space->deliveries, jid);
    if (before) {
        drop(before); // its lease ended in this turn
    }
    struct push_delivery *delivery = mem_zalloc(&allocator_system, sizeof(*delivery) + jid.size);
    if (!delivery) {
        return STATUS_NO_MEMORY;
    }
    delivery->entry = entry;
    delivery->token = view.token;
    delivery->jid_size = (uint8_t)jid.size;
    memcpy(delivery->jid, jid.data, jid.size);
    // JSON escapes make names and tags longer.
    buffer_init(&delivery->content, &allocator_system,
                CONTENT_PARTS * settings->max_request + HEADER_MAX);
    buffer_init(&delivery->answer, &allocator_system, settings->max_payload);
    delivery->beat = evtimer_new(push->server->loop, on_beat, delivery);
    if (!delivery->beat || write_content(delivery, job, now_us) ||
        map_insert(&entry->space->deliveries, delivery)) {
        if (delivery->beat) {
            event_free(delivery->beat);
        }
        buffer_release(&delivery->content);
        mem_free(&allocator_system, delivery, sizeof(*delivery) + jid.size);
        return STATUS_NO_MEMORY;
    }
    entry->running++;
    enlist(delivery);
    set_beat(delivery, (view.expires_us - now_us) / 2);
    *out = delivery;
    return STATUS_OK;
}

// The engine calls this also when the pusher itself settles the job of a delivery in DELIVERY_DONE.
void push_lease_ended(const struct ns *ns, struct slice jid)
{
    const struct push_namespace *space = ns->side;
    bool any = space && space->deliveries.count;
    struct push_delivery *delivery = any ? map_find(&space->deliveries, jid) : NULL;
    if (delivery && delivery->state != DELIVERY_DONE) {
        lose(delivery); // it is freed at the end of the turn
    }
}

// ---------------------------------------------------------------------------------------------
// The result of the job

static void log_refused(const struct push_delivery *delivery, const char *what,
                        const struct error *error)
{
    log_line(LOG_LEVEL_INFO, "the outcome of a push came too late",
             LOG_TEXT("namespace", ns_name(ns_of(delivery))),
             LOG_TEXT("jid", delivery_jid(delivery)), LOG_STRING("outcome", what),
             LOG_STRING("reason", error_sentence(error)));
}

// Writes JSON unchanged, and other text as a string.
static void write_result(const struct push_delivery *delivery, struct buffer *out)
{
    struct slice body = buffer_slice(&delivery->answer);
    if (body.size && !json_validate(body, JSON_VALUE_DEPTH_MAX, NULL)) {
        json_canonical(body, out);
    } else if (body.size) {
        struct json_writer writer;
        json_writer_init(&writer, out);
        json_write_string(&writer, body);
    }
}

static void complete(struct push_delivery *delivery, int64_t now_us)
{
    struct engine *engine = ns_of(delivery)->engine;
    const struct holder holder = holder_of(delivery);
    struct error error;
    struct buffer result;
    enum job_state state;
    buffer_init(&result, &allocator_system, push_of(delivery)->server->settings.max_payload);
    write_result(delivery, &result);
    if (result.status) {
        buffer_clear(&result);
        if (engine_log_line(
                engine, now_us, &holder,
                SLICE("the worker's answer as a JSON string is larger than max-payload, "
                      "and was not kept"),
                &error)) {
            log_refused(delivery, "log", &error);
        }
    }
    const struct complete_request request = { .holder = holder, .result = buffer_slice(&result) };
    if (engine_complete(engine, now_us, &request, &state, &error)) {
        log_refused(delivery, "complete", &error);
        delivery->entry->figures.lost++;
    } else {
        delivery->entry->figures.completed++;
    }
    buffer_release(&result);
}

// Writes the message of a failure: the reason, then the body of the response with invalid bytes
// replaced. If memory runs out, the message is shorter.
static void write_message(const struct push_delivery *delivery, struct buffer *out)
{
    const struct push_answer *outcome = &delivery->outcome;
    if (outcome->refused) {
        buffer_append(out, SLICE("the address is private, and push-allow-private is off"));
    } else if (outcome->too_large && outcome->status < 300) {
        buffer_printf(out, "the worker's answer is larger than max-payload (%zu bytes)",
                      delivery->answer.size_max);
    } else if (outcome->curl != CURLE_OK && !outcome->too_large) {
        buffer_printf(out, "%s",
                      *delivery->error ? delivery->error
                                       : curl_easy_strerror((CURLcode)outcome->curl));
    } else {
        uint64_t most = push_of(delivery)->server->settings.push_error_size;
        struct slice body = slice_sub(buffer_slice(&delivery->answer), 0, (size_t)most);
        buffer_printf(out, "HTTP status %ld%s", outcome->status, body.size ? ": " : "");
        buffer_append(out, body);
    }
}

// Doubles the delay with each attempt, up to a maximum, and subtracts a random part.
static int64_t backoff(const struct push_delivery *delivery, const struct job *job,
                       uint64_t weak_random)
{
    struct job_view view;
    job_view(ns_of(delivery)->engine, job, &view);
    int64_t delay_us = delivery->entry->plan.given.backoff_us;
    for (uint32_t i = 1; i < view.attempts && i < DOUBLINGS_MAX && delay_us < BACKOFF_MAX_US; i++) {
        delay_us *= 2;
    }
    delay_us = delay_us < BACKOFF_MAX_US ? delay_us : BACKOFF_MAX_US;
    return delay_us - (int64_t)(weak_random % (uint64_t)(delay_us / JITTER_PART + 1));
}

// A Retry-After may concern this job only, or the destination. The job therefore waits longer with
// each attempt, beyond what was requested, so that the jobs behind it are tried first.
static int64_t requested_delay(const struct push_delivery *delivery, const struct job *job,
                               int64_t asked_us, uint64_t weak_random)
{
    int64_t more_us = backoff(delivery, job, weak_random);
    return asked_us + (more_us > SECOND_US ? more_us : SECOND_US);
}

static void retry(struct push_delivery *delivery, const struct push_judgement *judgement,
                  struct slice message, int64_t now_us)
{
    struct engine *engine = ns_of(delivery)->engine;
    struct server *server = push_of(delivery)->server;
    const struct job *job = engine_get(engine, delivery_jid(delivery));
    struct job_options options = { 0 };
    if (!job) {
        return;
    }
    job_options_in_effect(engine, job, &options);
    uint64_t weak_random = random_source_next(&server->random);
    bool own = options.backoff.kind != BACKOFF_UNSET && !judgement->asked;
    const struct retry_request request = {
        .holder = holder_of(delivery),
        .has_delay = !own,
        .delay_us = own ? 0
                    : judgement->asked
                        ? requested_delay(delivery, job, judgement->delay_us, weak_random)
                        : backoff(delivery, job, weak_random),
        .seed = weak_random,
        .has_failure = true,
        .group = slice_from_cstr(judgement->group),
        .message = message,
    };
    int32_t remaining;
    struct error error;
    if (engine_retry(engine, now_us, &request, &remaining, &error)) {
        log_refused(delivery, "retry", &error);
        delivery->entry->figures.lost++;
    } else if (remaining < 0) {
        delivery->entry->figures.failed++;
    } else {
        delivery->entry->figures.retried++;
    }
}

static void fail(struct push_delivery *delivery, const struct push_judgement *judgement,
                 struct slice message, int64_t now_us)
{
    const struct fail_request request = {
        .holder = holder_of(delivery),
        .group = slice_from_cstr(judgement->group),
        .message = message,
    };
    struct error error;
    if (engine_fail(ns_of(delivery)->engine, now_us, &request, &error)) {
        log_refused(delivery, "fail", &error);
        delivery->entry->figures.lost++;
    } else {
        delivery->entry->figures.failed++;
    }
}

static void give_back(struct push_delivery *delivery, int64_t delay_us, int64_t now_us)
{
    const struct retry_request request = {
        .holder = holder_of(delivery),
        .has_delay = true,
        .delay_us = delay_us,
        .uncounted = true,
    };
    int32_t remaining;
    struct error error;
    if (engine_retry(ns_of(delivery)->engine, now_us, &request, &remaining, &error)) {
        log_refused(delivery, "give back", &error);
        delivery->entry->figures.lost++;
    } else {
        delivery->entry->figures.delayed++;
    }
}

void delivery_return(struct push_delivery *delivery, int64_t delay_us)
{
    struct server *server = push_of(delivery)->server;
    ns_begin(ns_of(delivery), server_now(server));
    server->turn_changes = true;
    // The engine reports the end of a lease that the pusher has lost; then there is nothing to
    // return.
    if (!delivery->lost) {
        give_back(delivery, delay_us, server_now(server));
    }
    delivery_free(delivery);
}

// The history of the job records that the worker has accepted it, with the token of the lease. (The
// start of the job cannot record this: a worker may report the start itself, whatever status it
// replies.)
#define ACCEPTED_WORD SLICE("accepted")

static struct slice accepted_data(uint64_t token, char text[ACCEPTED_SIZE])
{
    int size = snprintf(text, ACCEPTED_SIZE, "{\"token\":%llu}", (unsigned long long)token);
    return slice_make(text, (size_t)size);
}

bool push_was_accepted(const struct engine *engine, const struct job *job, uint64_t token)
{
    char text[ACCEPTED_SIZE];
    struct slice data = accepted_data(token, text);
    struct history_view entry;
    size_t position = 0;
    while (job_history_next(engine, job, &position, &entry)) {
        if (slice_equal(entry.what, ACCEPTED_WORD) && slice_equal(entry.data, data)) {
            return true;
        }
    }
    return false;
}

static enum status note_accepted(const struct push_delivery *delivery, int64_t now_us,
                                 struct error *error)
{
    char text[ACCEPTED_SIZE];
    const struct log_request request = {
        .jid = delivery_jid(delivery),
        .message = ACCEPTED_WORD,
        .data = accepted_data(delivery->token, text),
        .worker = PUSH_WORKER,
        .token = delivery->token,
    };
    return engine_log(ns_of(delivery)->engine, now_us, &request, error);
}

// The worker continues the job and reports its result itself.
static void await_report(struct push_delivery *delivery, int64_t now_us)
{
    struct error error;
    if (note_accepted(delivery, now_us, &error)) {
        log_refused(delivery, "accept", &error);
        delivery->entry->figures.lost++;
        delivery_free(delivery);
        return;
    }
    delivery->entry->figures.accepted++;
    delivery->accepted_until_us = now_us + delivery->entry->plan.given.report_us;
    buffer_release(&delivery->content);
    buffer_release(&delivery->answer);
    delivery_move(delivery, DELIVERY_ACCEPTED);
    set_beat(delivery, 0);
}

// ---------------------------------------------------------------------------------------------
// The health of the destination

static void write_breaker(const struct push_entry *entry, const char *what)
{
    log_line(LOG_LEVEL_WARNING, what, LOG_TEXT("namespace", ns_name(entry->space->ns)),
             LOG_TEXT("pattern", entry->plan.given.pattern),
             LOG_STRING("reason", entry->last_error));
}

static void note_health(struct push_entry *entry, enum push_health health, int64_t now_us)
{
    const struct push_arguments *given = &entry->plan.given;
    if (health == PUSH_WELL) {
        if (entry->breaker != BREAKER_CLOSED) {
            write_breaker(entry, "pushes are sent again");
        }
        entry->breaker = BREAKER_CLOSED;
        entry->failures = 0;
    } else if (health == PUSH_ILL) {
        entry->failures++;
        entry->reached = false;
        bool opens = entry->breaker == BREAKER_TRYING ||
                     (entry->breaker == BREAKER_CLOSED && entry->failures >= given->failures);
        if (opens) {
            if (entry->breaker == BREAKER_CLOSED) {
                write_breaker(entry, "no pushes are sent for a while");
            }
            entry->breaker = BREAKER_OPEN;
            entry->open_us = now_us + given->cooldown_us;
        }
    } else if (entry->breaker == BREAKER_TRYING) {
        entry->breaker = BREAKER_OPEN; // the trial has no result; the next push is a trial again
        entry->open_us = now_us;
    }
}

// Replaces characters that would end a line or a value of the log.
static void note_error(struct push_entry *entry, struct slice message)
{
    assert(message.data || !message.size);
    size_t size =
        message.size < sizeof(entry->last_error) ? message.size : sizeof(entry->last_error) - 1;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)message.data[i];
        entry->last_error[i] = (char)(c < ' ' || c == '"' || c == 0x7F ? ' ' : c);
    }
    entry->last_error[size] = '\0';
}

static struct push_judgement judge(const struct push_delivery *delivery)
{
    const struct push_arguments *given = &delivery->entry->plan.given;
    const struct push_rules rules = { given->fail_4xx, given->free_attempts };
    const struct job *job = engine_get(ns_of(delivery)->engine, delivery_jid(delivery));
    struct job_view view = { 0 };
    if (job) {
        job_view(ns_of(delivery)->engine, job, &view);
    }
    return push_judge(&delivery->outcome, &rules, view.attempts);
}

// Sends nothing to the destination for some time, because it requested a delay or because the
// settings forbid its address. The time is at most the cooldown, so that a single response cannot
// stop a push.
static void hold(const struct push_delivery *delivery, const struct push_judgement *judgement,
                 int64_t now_us)
{
    struct push_entry *entry = delivery->entry;
    int64_t most_us = entry->plan.given.cooldown_us;
    int64_t delay_us = judgement->delay_us;
    if (delivery->outcome.refused) {
        delay_us = most_us;
        log_line(LOG_LEVEL_WARNING, "push to a private address refused",
                 LOG_TEXT("namespace", ns_name(entry->space->ns)),
                 LOG_TEXT("pattern", entry->plan.given.pattern),
                 LOG_TEXT("jid", delivery_jid(delivery)),
                 LOG_STRING("reason", "push-allow-private is off"));
    }
    int64_t until_us = now_us + (delay_us < most_us ? delay_us : most_us);
    if (entry->held_us < until_us && delay_us) {
        entry->held_us = until_us;
    }
}

// Returns the job to its queue without using up a retry.
static void put_off(struct push_delivery *delivery, const struct push_judgement *judgement,
                    int64_t now_us)
{
    const struct job *job = engine_get(ns_of(delivery)->engine, delivery_jid(delivery));
    uint64_t weak_random = random_source_next(&push_of(delivery)->server->random);
    bool longer = judgement->asked && job;
    give_back(delivery,
              longer ? requested_delay(delivery, job, judgement->delay_us, weak_random)
                     : judgement->delay_us,
              now_us);
}

void delivery_settle(struct push_delivery *delivery)
{
    struct push_entry *entry = delivery->entry;
    struct server *server = push_of(delivery)->server;
    int64_t now_us = server_now(server);
    struct push_judgement judgement = judge(delivery);
    struct buffer text;
    buffer_init(&text, &allocator_system, MESSAGE_SIZE + server->settings.push_error_size);
    bool good = judgement.verdict == PUSH_COMPLETE || judgement.verdict == PUSH_ACCEPTED;
    if (!good) {
        write_message(delivery, &text);
    }
    struct slice message = buffer_slice(&text);
    ns_begin(ns_of(delivery), now_us);
    server->turn_changes = true;
    note_error(entry, message);
    entry->error_us = now_us;
    note_health(entry, judgement.health, now_us);
    switch (judgement.verdict) {
    case PUSH_COMPLETE:
        complete(delivery, now_us);
        break;
    case PUSH_ACCEPTED: // there is no message
        await_report(delivery, now_us);
        return;
    case PUSH_LATER:
        hold(delivery, &judgement, now_us);
        put_off(delivery, &judgement, now_us);
        break;
    case PUSH_RETRY:
        hold(delivery, &judgement, now_us);
        retry(delivery, &judgement, message, now_us);
        break;
    case PUSH_FAIL:
        fail(delivery, &judgement, message, now_us);
        break;
    }
    buffer_release(&text);
    delivery_free(delivery);
}
