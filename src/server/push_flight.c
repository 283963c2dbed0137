// SPDX-License-Identifier: MIT
// A flight: a job on its way, from the moment it is the pusher's until it is not.
#include "server/log.h"
#include "server/push_sign.h"
#include "server/server.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/json_writer.h"

#include <assert.h>

enum {
    SECOND_US = 1000000,
    BEAT_AGAIN_US = SECOND_US, // when the store takes nothing
    MESSAGE_SIZE = 1024,       // of a failure's message, without the answer's body
    JITTER_PART = 4,           // a backoff is shorter by up to one part of so many
    DOUBLINGS_MAX = 20,
    HEADER_MAX = 1024,
    ACCEPTED_SIZE = 40, // of the note that a job was
    CONTENT_PARTS = 8,
};

#define BACKOFF_MAX_US (INT64_C(3600) * SECOND_US)

static struct push *push_of(const struct push_flight *flight)
{
    return flight->entry->space->push;
}

static struct ns *ns_of(const struct push_flight *flight)
{
    return flight->entry->space->ns;
}

static struct holder holder_of(const struct push_flight *flight)
{
    return (
        struct holder){ .jid = flight_jid(flight), .worker = PUSH_WORKER, .token = flight->token };
}

// ---------------------------------------------------------------------------------------------
// Lists

static struct flight_list *list_of(struct push_flight *flight)
{
    struct push *push = push_of(flight);
    return flight->lost ? &push->lost : &push->lists[flight->state];
}

static void unlist(struct push_flight *flight)
{
    struct flight_list *list = list_of(flight);
    *(flight->previous ? &flight->previous->next : &list->first) = flight->next;
    *(flight->next ? &flight->next->previous : &list->last) = flight->previous;
    list->count--;
}

static void enlist(struct push_flight *flight)
{
    struct flight_list *list = list_of(flight);
    flight->next = NULL;
    flight->previous = list->last;
    *(list->last ? &list->last->next : &list->first) = flight;
    list->last = flight;
    list->count++;
}

void flight_move(struct push_flight *flight, enum flight_state state)
{
    unlist(flight);
    flight->entry->accepted -= flight->state == FLIGHT_ACCEPTED;
    flight->state = state;
    flight->entry->accepted += state == FLIGHT_ACCEPTED;
    enlist(flight);
}

static void lose(struct push_flight *flight)
{
    if (!flight->lost) {
        unlist(flight);
        flight->lost = true;
        enlist(flight);
    }
}

// ---------------------------------------------------------------------------------------------
// Its lease

static void set_beat(struct push_flight *flight, int64_t after_us)
{
    struct timeval left = timeval_of(after_us > 0 ? after_us : 0);
    (void)event_add(flight->beat, &left);
}

static void on_beat(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    struct push_flight *flight = context;
    struct server *server = push_of(flight)->server;
    int64_t now_us = server_now(server);
    if (flight->state == FLIGHT_ACCEPTED && now_us >= flight->accepted_until_us) {
        lose(flight); // from now on the worker must renew the lease itself
        return;
    }
    if (server->store_state != STORE_READY && server->store_state != STORE_FULL) {
        set_beat(flight, BEAT_AGAIN_US);
        return;
    }
    const struct holder holder = holder_of(flight);
    int64_t expires_us;
    ns_begin(ns_of(flight), now_us);
    server->turn_changes = true;
    // A lease that ran out while the server stood still is renewed too, as long as its grace lasts.
    if (engine_heartbeat(ns_of(flight)->engine, now_us, &holder, SLICE_EMPTY, &expires_us, NULL)) {
        lose(flight);
        return;
    }
    int64_t left_us = (expires_us - now_us) / 2;
    if (flight->state == FLIGHT_ACCEPTED && flight->accepted_until_us - now_us < left_us) {
        left_us = flight->accepted_until_us - now_us;
    }
    set_beat(flight, left_us);
}

// ---------------------------------------------------------------------------------------------
// Its life

// The content that is signed: id, time, body.
static enum status write_content(struct push_flight *flight, const struct job *job, int64_t now_us)
{
    struct buffer *content = &flight->content;
    push_append_id(flight_jid(flight), content);
    buffer_printf(content, ".%lld.", (long long)(now_us / SECOND_US));
    flight->body = content->size;
    push_body_write(flight->entry, job, content, flight->trace);
    return content->status;
}

void flight_free(struct push_flight *flight)
{
    struct push_entry *entry = flight->entry;
    flight_abort(flight);
    unlist(flight);
    map_remove(&entry->space->flights, flight_jid(flight));
    entry->running--;
    entry->space->news = true;
    entry->accepted -= flight->state == FLIGHT_ACCEPTED;
    event_free(flight->beat);
    buffer_release(&flight->content);
    buffer_release(&flight->answer);
    mem_free(&allocator_system, flight, sizeof(*flight) + flight->jid_size);
    if (entry->gone && entry->running == 0) {
        push_entry_drop(entry);
    }
}

// Its job is not the pusher's any more.
static void drop(struct push_flight *flight)
{
    flight->entry->figures.lost += flight->state != FLIGHT_ACCEPTED;
    flight_free(flight);
}

void push_drop_lost(struct push *push)
{
    while (push->lost.first) {
        drop(push->lost.first);
    }
}

enum status flight_new(struct push_entry *entry, const struct job *job, int64_t now_us,
                       struct push_flight **out)
{
    struct push *push = entry->space->push;
    const struct settings *settings = &push->server->settings;
    struct slice jid = job_jid(job);
    struct job_view view;
    job_view(entry->space->ns->engine, job, &view);
    struct push_flight *before = map_find(&entry->space->flights, jid);
    if (before) {
        drop(before); // its lease ended in this turn
    }
    struct push_flight *flight = mem_zalloc(&allocator_system, sizeof(*flight) + jid.size);
    if (!flight) {
        return STATUS_NO_MEMORY;
    }
    flight->entry = entry;
    flight->token = view.token;
    flight->jid_size = (uint8_t)jid.size;
    memcpy(flight->jid, jid.data, jid.size);
    // Names and tags grow as they become JSON.
    buffer_init(&flight->content, &allocator_system,
                CONTENT_PARTS * settings->max_request + HEADER_MAX);
    buffer_init(&flight->answer, &allocator_system, settings->max_payload);
    flight->beat = evtimer_new(push->server->loop, on_beat, flight);
    if (!flight->beat || write_content(flight, job, now_us) ||
        map_insert(&entry->space->flights, flight)) {
        if (flight->beat) {
            event_free(flight->beat);
        }
        buffer_release(&flight->content);
        mem_free(&allocator_system, flight, sizeof(*flight) + jid.size);
        return STATUS_NO_MEMORY;
    }
    entry->running++;
    enlist(flight);
    set_beat(flight, (view.expires_us - now_us) / 2);
    *out = flight;
    return STATUS_OK;
}

// Also by what the pusher itself does with the job of a flight that is done.
void push_lease_ended(const struct ns *ns, struct slice jid)
{
    const struct push_space *space = ns->side;
    bool any = space && space->flights.count;
    struct push_flight *flight = any ? map_find(&space->flights, jid) : NULL;
    if (flight && flight->state != FLIGHT_DONE) {
        lose(flight); // it ends with the turn
    }
}

// ---------------------------------------------------------------------------------------------
// What becomes of its job

static void say_refused(const struct push_flight *flight, const char *what,
                        const struct error *error)
{
    log_line(LOG_LEVEL_INFO, "the outcome of a push came too late",
             LOG_TEXT("namespace", ns_name(ns_of(flight))), LOG_TEXT("jid", flight_jid(flight)),
             LOG_STRING("outcome", what), LOG_STRING("reason", error_sentence(error)));
}

// JSON as it is, other text as a string.
static void write_result(const struct push_flight *flight, struct buffer *out)
{
    struct slice body = buffer_slice(&flight->answer);
    if (body.size && !json_validate(body, JSON_VALUE_DEPTH_MAX, NULL)) {
        json_canonical(body, out);
    } else if (body.size) {
        struct json_writer writer;
        json_writer_init(&writer, out);
        json_write_string(&writer, body);
    }
}

static void complete(struct push_flight *flight, int64_t now_us)
{
    struct engine *engine = ns_of(flight)->engine;
    const struct holder holder = holder_of(flight);
    struct error error;
    struct buffer result;
    enum job_state state;
    buffer_init(&result, &allocator_system, push_of(flight)->server->settings.max_payload);
    write_result(flight, &result);
    if (result.status) {
        buffer_clear(&result);
        if (engine_log_line(
                engine, now_us, &holder,
                SLICE("the worker's answer as a JSON string is larger than max-payload, "
                      "and was not kept"),
                &error)) {
            say_refused(flight, "log", &error);
        }
    }
    const struct complete_request request = { .holder = holder, .result = buffer_slice(&result) };
    if (engine_complete(engine, now_us, &request, &state, &error)) {
        say_refused(flight, "complete", &error);
        flight->entry->figures.lost++;
    } else {
        flight->entry->figures.completed++;
    }
    buffer_release(&result);
}

// What is told of an answer that was no success: why, and what the worker wrote, whatever bytes it
// has. Without memory it is less.
static void write_message(const struct push_flight *flight, struct buffer *out)
{
    const struct push_answer *outcome = &flight->outcome;
    if (outcome->refused) {
        buffer_append(out, SLICE("the address is private, and push-allow-private is off"));
    } else if (outcome->too_large && outcome->status < 300) {
        buffer_printf(out, "the worker's answer is larger than max-payload (%zu bytes)",
                      flight->answer.size_max);
    } else if (outcome->curl != CURLE_OK && !outcome->too_large) {
        buffer_printf(out, "%s",
                      *flight->error ? flight->error : curl_easy_strerror((CURLcode)outcome->curl));
    } else {
        uint64_t most = push_of(flight)->server->settings.push_error_size;
        struct slice body = slice_sub(buffer_slice(&flight->answer), 0, (size_t)most);
        buffer_printf(out, "HTTP status %ld%s", outcome->status, body.size ? ": " : "");
        buffer_append(out, body);
    }
}

// Twice as long each time, and not all at once.
static int64_t backoff(const struct push_flight *flight, const struct job *job, uint64_t chance)
{
    struct job_view view;
    job_view(ns_of(flight)->engine, job, &view);
    int64_t delay_us = flight->entry->plan.given.backoff_us;
    for (uint32_t i = 1; i < view.attempts && i < DOUBLINGS_MAX && delay_us < BACKOFF_MAX_US; i++) {
        delay_us *= 2;
    }
    delay_us = delay_us < BACKOFF_MAX_US ? delay_us : BACKOFF_MAX_US;
    return delay_us - (int64_t)(chance % (uint64_t)(delay_us / JITTER_PART + 1));
}

// A destination that asks for a delay may mean the job, or itself. So the job waits longer each
// time, beyond what was asked for, and jobs behind it are tried before it is.
static int64_t asked_delay(const struct push_flight *flight, const struct job *job,
                           int64_t asked_us, uint64_t chance)
{
    int64_t more_us = backoff(flight, job, chance);
    return asked_us + (more_us > SECOND_US ? more_us : SECOND_US);
}

static void retry(struct push_flight *flight, const struct push_judgement *judgement,
                  struct slice message, int64_t now_us)
{
    struct engine *engine = ns_of(flight)->engine;
    struct server *server = push_of(flight)->server;
    const struct job *job = engine_get(engine, flight_jid(flight));
    struct job_options options = { 0 };
    if (!job) {
        return;
    }
    job_options_in_effect(engine, job, &options);
    uint64_t chance = random_source_next(&server->random);
    bool own = options.backoff.kind != BACKOFF_UNSET && !judgement->asked;
    const struct retry_request request = {
        .holder = holder_of(flight),
        .has_delay = !own,
        .delay_us = own                ? 0
                    : judgement->asked ? asked_delay(flight, job, judgement->delay_us, chance)
                                       : backoff(flight, job, chance),
        .seed = chance,
        .has_failure = true,
        .group = slice_from_cstr(judgement->group),
        .message = message,
    };
    int32_t remaining;
    struct error error;
    if (engine_retry(engine, now_us, &request, &remaining, &error)) {
        say_refused(flight, "retry", &error);
        flight->entry->figures.lost++;
    } else if (remaining < 0) {
        flight->entry->figures.failed++;
    } else {
        flight->entry->figures.retried++;
    }
}

static void fail(struct push_flight *flight, const struct push_judgement *judgement,
                 struct slice message, int64_t now_us)
{
    const struct fail_request request = {
        .holder = holder_of(flight),
        .group = slice_from_cstr(judgement->group),
        .message = message,
    };
    struct error error;
    if (engine_fail(ns_of(flight)->engine, now_us, &request, &error)) {
        say_refused(flight, "fail", &error);
        flight->entry->figures.lost++;
    } else {
        flight->entry->figures.failed++;
    }
}

static void give_back(struct push_flight *flight, int64_t delay_us, int64_t now_us)
{
    const struct retry_request request = {
        .holder = holder_of(flight),
        .has_delay = true,
        .delay_us = delay_us,
        .uncounted = true,
    };
    int32_t remaining;
    struct error error;
    if (engine_retry(ns_of(flight)->engine, now_us, &request, &remaining, &error)) {
        say_refused(flight, "give back", &error);
        flight->entry->figures.lost++;
    } else {
        flight->entry->figures.delayed++;
    }
}

void flight_return(struct push_flight *flight, int64_t delay_us)
{
    struct server *server = push_of(flight)->server;
    ns_begin(ns_of(flight), server_now(server));
    server->turn_changes = true;
    // What the engine tells of it is no news.
    if (!flight->lost) {
        give_back(flight, delay_us, server_now(server));
    }
    flight_free(flight);
}

// That the worker has accepted the job is kept in its history, with the token of the lease for
// which that holds: a worker may say by itself that it has begun, whatever it answers.
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

static enum status note_accepted(const struct push_flight *flight, int64_t now_us,
                                 struct error *error)
{
    char text[ACCEPTED_SIZE];
    const struct log_request request = {
        .jid = flight_jid(flight),
        .message = ACCEPTED_WORD,
        .data = accepted_data(flight->token, text),
        .worker = PUSH_WORKER,
        .token = flight->token,
    };
    return engine_log(ns_of(flight)->engine, now_us, &request, error);
}

// The worker goes on with it, and reports by itself.
static void await_report(struct push_flight *flight, int64_t now_us)
{
    struct error error;
    if (note_accepted(flight, now_us, &error)) {
        say_refused(flight, "accept", &error);
        flight->entry->figures.lost++;
        flight_free(flight);
        return;
    }
    flight->entry->figures.accepted++;
    flight->accepted_until_us = now_us + flight->entry->plan.given.report_us;
    buffer_release(&flight->content);
    buffer_release(&flight->answer);
    flight_move(flight, FLIGHT_ACCEPTED);
    set_beat(flight, 0);
}

// ---------------------------------------------------------------------------------------------
// What it says of where it went

static void say_breaker(const struct push_entry *entry, const char *what)
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
            say_breaker(entry, "pushes are sent again");
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
                say_breaker(entry, "no pushes are sent for a while");
            }
            entry->breaker = BREAKER_OPEN;
            entry->open_us = now_us + given->cooldown_us;
        }
    } else if (entry->breaker == BREAKER_TRYING) {
        entry->breaker = BREAKER_OPEN; // nothing is known: tried again with the next one
        entry->open_us = now_us;
    }
}

// Without what would end a line of the log.
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

static struct push_judgement judge(const struct push_flight *flight)
{
    const struct push_arguments *given = &flight->entry->plan.given;
    const struct push_rules rules = { given->fail_4xx, given->free_attempts };
    const struct job *job = engine_get(ns_of(flight)->engine, flight_jid(flight));
    struct job_view view = { 0 };
    if (job) {
        job_view(ns_of(flight)->engine, job, &view);
    }
    return push_judge(&flight->outcome, &rules, view.attempts);
}

// Nothing is sent for a while: the destination asked for that, or cannot be reached by the server's
// settings. The while is not longer than the cooldown, so that one answer never stops a push.
static void hold(const struct push_flight *flight, const struct push_judgement *judgement,
                 int64_t now_us)
{
    struct push_entry *entry = flight->entry;
    int64_t most_us = entry->plan.given.cooldown_us;
    int64_t delay_us = judgement->delay_us;
    if (flight->outcome.refused) {
        delay_us = most_us;
        log_line(LOG_LEVEL_WARNING, "push to a private address refused",
                 LOG_TEXT("namespace", ns_name(entry->space->ns)),
                 LOG_TEXT("pattern", entry->plan.given.pattern),
                 LOG_TEXT("jid", flight_jid(flight)),
                 LOG_STRING("reason", "push-allow-private is off"));
    }
    int64_t until_us = now_us + (delay_us < most_us ? delay_us : most_us);
    if (entry->held_us < until_us && delay_us) {
        entry->held_us = until_us;
    }
}

// The job goes back without the loss of a retry.
static void put_off(struct push_flight *flight, const struct push_judgement *judgement,
                    int64_t now_us)
{
    const struct job *job = engine_get(ns_of(flight)->engine, flight_jid(flight));
    uint64_t chance = random_source_next(&push_of(flight)->server->random);
    bool longer = judgement->asked && job;
    give_back(flight,
              longer ? asked_delay(flight, job, judgement->delay_us, chance) : judgement->delay_us,
              now_us);
}

void flight_settle(struct push_flight *flight)
{
    struct push_entry *entry = flight->entry;
    struct server *server = push_of(flight)->server;
    int64_t now_us = server_now(server);
    struct push_judgement judgement = judge(flight);
    struct buffer text;
    buffer_init(&text, &allocator_system, MESSAGE_SIZE + server->settings.push_error_size);
    bool good = judgement.verdict == PUSH_COMPLETE || judgement.verdict == PUSH_ACCEPTED;
    if (!good) {
        write_message(flight, &text);
    }
    struct slice message = buffer_slice(&text);
    ns_begin(ns_of(flight), now_us);
    server->turn_changes = true;
    note_error(entry, message);
    note_health(entry, judgement.health, now_us);
    switch (judgement.verdict) {
    case PUSH_COMPLETE:
        complete(flight, now_us);
        break;
    case PUSH_ACCEPTED: // there is no message
        await_report(flight, now_us);
        return;
    case PUSH_LATER:
        hold(flight, &judgement, now_us);
        put_off(flight, &judgement, now_us);
        break;
    case PUSH_RETRY:
        hold(flight, &judgement, now_us);
        retry(flight, &judgement, message, now_us);
        break;
    case PUSH_FAIL:
        fail(flight, &judgement, message, now_us);
        break;
    }
    buffer_release(&text);
    flight_free(flight);
}
