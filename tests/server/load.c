// SPDX-License-Identifier: MIT
#include "load.h"

#include "test.h"

#include "base/num.h"

#include <poll.h>
#include <string.h>

enum {
    DRAIN_BATCH = 200,
    DRAIN_WAIT_US = 60000000,
};

const char *const load_queues[LOAD_QUEUES] = { "red", "green", "blue", "grey" };

void load_init(struct load *load, uint64_t seed)
{
    *load = (struct load){ .random = { seed }, .open_max = 2000 };
    ledger_init(&load->ledger);
    for (size_t i = 0; i < LOAD_WORKERS; i++) {
        struct worker *worker = &load->workers[i];
        (void)snprintf(worker->name, sizeof(worker->name), "w%zu", i);
        client_init(&worker->client);
    }
}

void load_release(struct load *load)
{
    for (size_t i = 0; i < LOAD_WORKERS; i++) {
        client_release(&load->workers[i].client);
    }
    ledger_release(&load->ledger);
}

static bool is_error(const struct answer *answer)
{
    return answer->parts[0].kind == ANSWER_ERROR;
}

// ---------------------------------------------------------------------------------------------
// Leases that a worker knows of

static void leases_add(struct leases *leases, struct lease lease)
{
    if (leases->count == LOAD_LEASES_MAX) {
        leases->list[0] = leases->list[--leases->count];
    }
    leases->list[leases->count++] = lease;
}

static struct lease leases_take(struct leases *leases, struct random *random)
{
    size_t at = (size_t)random_below(random, leases->count);
    struct lease lease = leases->list[at];
    leases->list[at] = leases->list[--leases->count];
    return lease;
}

// ---------------------------------------------------------------------------------------------
// Requests

static void add_request(struct worker *worker, struct request request)
{
    assert_true(worker->count < LOAD_DEPTH_MAX);
    worker->requests[(worker->first + worker->count++) % LOAD_DEPTH_MAX] = request;
}

static const char *draw_queue(struct load *load)
{
    return load_queues[random_below(&load->random, LOAD_QUEUES)];
}

// Whether the job is put with a request id, so that the put can be repeated.
static bool has_request(size_t job)
{
    return job % 8 < 6;
}

// The same words each time, for a request is known by them too.
static void say_put(struct worker *worker, const struct request *request)
{
    size_t job = request->lease.job;
    const char *words[16] = { "Q.PUT", ledger_namespaces[ledger_namespace(job)],
                              load_queues[job / 3 % LOAD_QUEUES], "Work" };
    size_t count = 5;
    char jid[LEDGER_JID_SIZE];
    char priority[16];
    ledger_jid(job, jid);
    (void)snprintf(priority, sizeof(priority), "%d", (int)(job / 5 % 3));
    struct buffer data;
    buffer_init(&data, &allocator_system, 1 << 12);
    ledger_data(job, &data);
    buffer_append_char(&data, '\0');
    words[4] = data.data;
    // Retries without end, so that a job that is lost again and again does not fail.
    const char *const options[] = { "JID",
                                    jid,
                                    "RETRIES",
                                    "1000000000",
                                    job % 7 == 0 ? "DELAY" : "PRIORITY",
                                    job % 7 == 0 ? "0.03" : priority,
                                    "REQUEST",
                                    jid };
    for (size_t i = 0; i < (has_request(job) ? 8 : 6); i++) {
        words[count++] = options[i];
    }
    client_ask_words(&worker->client, words);
    buffer_release(&data);
    add_request(worker, *request);
}

void load_put(struct load *load, struct worker *worker)
{
    const struct request request = { .kind = REQUEST_PUT,
                                     .lease = { ledger_put_sent(&load->ledger), 0 } };
    say_put(worker, &request);
}

static void send_pop(struct load *load, struct worker *worker)
{
    char count[16];
    (void)snprintf(count, sizeof(count), "%d", (int)random_below(&load->random, 8) + 1);
    const char *ns = ledger_namespaces[random_below(&load->random, LEDGER_NAMESPACES)];
    const char *first = draw_queue(load);
    if (random_below(&load->random, 8) == 0) {
        client_ask(&worker->client, "Q.POP", ns, worker->name, count, "WAIT", "0.02", first,
                   draw_queue(load));
    } else {
        client_ask(&worker->client, "Q.POP", ns, worker->name, count, first, draw_queue(load));
    }
    add_request(worker, (struct request){ .kind = REQUEST_POP });
}

void load_wait(struct worker *worker, const char *ns)
{
    client_ask(&worker->client, "Q.POP", ns, worker->name, "1", "WAIT", "0", load_queues[0],
               load_queues[1], load_queues[2], load_queues[3]);
    add_request(worker, (struct request){ .kind = REQUEST_POP });
}

static void say_act(struct load *load, struct worker *worker, const char *name,
                    const struct request *request)
{
    char jid[LEDGER_JID_SIZE];
    char token[24];
    ledger_jid(request->lease.job, jid);
    (void)snprintf(token, sizeof(token), "%llu", (unsigned long long)request->lease.token);
    struct client *client = &worker->client;
    const char *ns = ledger_namespaces[ledger_namespace(request->lease.job)];
    switch (request->act) {
    case ACT_COMPLETE:
        client_ask(client, "Q.COMPLETE", ns, jid, name, "TOKEN", token, "RESULT", "{\"done\":1}");
        break;
    case ACT_FAIL:
        client_ask(client, "Q.FAIL", ns, jid, name, "group", "a message", "TOKEN", token);
        break;
    case ACT_RETRY:
        client_ask(client, "Q.RETRY", ns, jid, name, "TOKEN", token, "DELAY",
                   random_below(&load->random, 2) ? "0" : "0.02");
        break;
    case ACT_NEXT:
        client_ask(client, "Q.COMPLETE", ns, jid, name, "TOKEN", token, "NEXT", draw_queue(load));
        break;
    case ACT_HEARTBEAT:
        client_ask(client, "Q.HEARTBEAT", ns, jid, name, "TOKEN", token);
        break;
    }
    add_request(worker, *request);
}

void load_act(struct load *load, struct worker *worker, enum lease_act act)
{
    const struct request request = { .kind = REQUEST_ACT,
                                     .act = act,
                                     .lease = leases_take(&worker->held, &load->random) };
    if (act == ACT_HEARTBEAT) {
        leases_add(&worker->held, request.lease);
    }
    ledger_act_sent(&load->ledger, request.lease.job, request.lease.token, act);
    say_act(load, worker, worker->name, &request);
}

// Whether it is what its client has completed the job with: no cheat, it is answered the same.
static bool repeats_complete(const struct entry *entry, const struct request *request)
{
    return entry->complete && entry->token == request->lease.token &&
           (request->act == ACT_COMPLETE || request->act == ACT_NEXT);
}

// With the token of a lease that another client has had since; with a token of no lease; with
// another client's name. False when there is nothing to cheat with.
static bool send_cheat(struct load *load, struct worker *worker)
{
    struct request request = { .kind = REQUEST_CHEAT,
                               .act =
                                   (enum lease_act)random_below(&load->random, ACT_HEARTBEAT + 1) };
    uint64_t draw = random_below(&load->random, 4);
    if (draw < 2 && worker->lost.count) {
        request.lease = leases_take(&worker->lost, &load->random);
        const struct entry *entry = &load->ledger.entries[request.lease.job];
        if (repeats_complete(entry, &request)) {
            request.kind = REQUEST_ACT;
            ledger_act_sent(&load->ledger, request.lease.job, request.lease.token, request.act);
            say_act(load, worker, worker->name, &request);
            return true;
        }
        if (entry->token > request.lease.token || entry->complete || entry->failed) {
            load->cheats++;
            say_act(load, worker, worker->name, &request);
            return true;
        }
        leases_add(&worker->lost, request.lease);
        return false;
    }
    if (worker->held.count == 0) {
        return false;
    }
    request.lease = worker->held.list[random_below(&load->random, worker->held.count)];
    const char *name = worker->name;
    if (draw == 2) {
        request.lease.token += 1000000000;
    } else {
        name = "thief";
    }
    load->cheats++;
    say_act(load, worker, name, &request);
    return true;
}

// Keeps a request that is to be repeated.
static void keep_again(struct load *load, struct worker *worker, const struct request *request)
{
    size_t at = worker->again_count;
    if (at == LOAD_AGAIN_MAX) {
        at = (size_t)random_below(&load->random, LOAD_AGAIN_MAX);
    } else {
        worker->again_count++;
    }
    worker->again[at] = *request;
}

static void send_again(struct load *load, struct worker *worker)
{
    size_t at = (size_t)random_below(&load->random, worker->again_count);
    struct request request = worker->again[at];
    request.repeats = true;
    worker->again[at] = worker->again[--worker->again_count];
    if (request.kind == REQUEST_PUT || request.kind == REQUEST_PUT_AGAIN) {
        say_put(worker, &request);
        return;
    }
    if (request.kind == REQUEST_ACT) {
        ledger_act_sent(&load->ledger, request.lease.job, request.lease.token, request.act);
    }
    say_act(load, worker, worker->name, &request);
}

static void send_one(struct load *load, struct worker *worker)
{
    static const struct {
        unsigned below; // of 100
        enum lease_act act;
    } acts[] = {
        { 75, ACT_COMPLETE }, { 79, ACT_FAIL },      { 84, ACT_RETRY },
        { 87, ACT_NEXT },     { 91, ACT_HEARTBEAT },
    };
    unsigned draw = (unsigned)random_below(&load->random, 100);
    if (worker->again_count && random_below(&load->random, 8) == 0) {
        send_again(load, worker);
        return;
    }
    if (draw < 30 && load->ledger.open < load->open_max) {
        load_put(load, worker);
        return;
    }
    if (draw < 50 || worker->held.count == 0) {
        send_pop(load, worker);
        return;
    }
    for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
        if (draw < acts[i].below) {
            load_act(load, worker, acts[i].act);
            return;
        }
    }
    if (draw < 95) {
        leases_add(&worker->lost, leases_take(&worker->held, &load->random));
    } else if (!send_cheat(load, worker)) {
        send_pop(load, worker);
    }
}

// ---------------------------------------------------------------------------------------------
// Answers

static void take_popped(struct load *load, struct worker *worker, const struct answer *answer)
{
    if (answer->parts[0].kind != ANSWER_LIST) {
        fail_msg("a pop was answered: %.*s", SLICE_PRINT(answer->parts[0].text));
    }
    for (size_t i = 1; i < answer->count; i = answer->parts[i].end) {
        size_t job = ledger_job(&load->ledger, answer_find(answer, i, "jid")->text);
        uint64_t token = (uint64_t)answer_find(answer, i, "token")->integer;
        int64_t expires_us = 0;
        assert_int_equal(num_parse_seconds(answer_find(answer, i, "expires")->text, &expires_us),
                         STATUS_OK);
        ledger_popped(&load->ledger, job, token, expires_us, answer_find(answer, i, "data")->text);
        leases_add(&worker->held, (struct lease){ job, token });
    }
}

static void write_answer(const struct part *part, char out[LOAD_ANSWER_SIZE])
{
    if (part->kind == ANSWER_INTEGER) {
        (void)snprintf(out, LOAD_ANSWER_SIZE, "%lld", (long long)part->integer);
    } else {
        (void)snprintf(out, LOAD_ANSWER_SIZE, "%.*s", SLICE_PRINT(part->text));
    }
}

static bool is_refusal(struct slice why)
{
    static const char *const codes[] = { "STALE ", "STATE " };
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (slice_equal(slice_sub(why, 0, strlen(codes[i])), slice_from_cstr(codes[i]))) {
            return true;
        }
    }
    return false;
}

static void take_acted(struct load *load, const struct request *request,
                       const struct answer *answer, int64_t heard_us)
{
    struct slice text = answer->parts[0].text;
    struct lease lease = request->lease;
    int64_t expires_us = 0;
    if (is_error(answer)) {
        if (!is_refusal(text)) {
            fail_msg("violation: j%zu: %.*s", lease.job, SLICE_PRINT(text));
        }
        ledger_act_refused(&load->ledger, lease.job, lease.token, request->act, heard_us, text);
        return;
    }
    if (request->act == ACT_HEARTBEAT) {
        assert_int_equal(num_parse_seconds(text, &expires_us), STATUS_OK);
    } else if (request->act == ACT_COMPLETE) {
        assert_slice_equal(text, "complete");
    } else if (request->act == ACT_NEXT && slice_equal(text, SLICE("complete"))) {
        ledger_next_answered_complete(&load->ledger, lease.job, lease.token);
        return;
    }
    ledger_act_acknowledged(&load->ledger, lease.job, lease.token, request->act, expires_us);
}

// Some of what was answered is repeated too.
static void perhaps_again(struct load *load, struct worker *worker, struct request request,
                          const struct answer *answer)
{
    const struct part *part = &answer->parts[0];
    bool put = request.kind == REQUEST_PUT;
    if (is_error(answer) ||
        (put ? !has_request(request.lease.job) : request.act == ACT_HEARTBEAT) ||
        random_below(&load->random, 16)) {
        return;
    }
    request.kind = put ? REQUEST_PUT_AGAIN : REQUEST_ACT_AGAIN;
    write_answer(part, request.answer);
    keep_again(load, worker, &request);
}

static void take_repeated(struct load *load, const struct request *request,
                          const struct answer *answer)
{
    struct lease lease = request->lease;
    char text[LOAD_ANSWER_SIZE];
    bool put = request->kind == REQUEST_PUT_AGAIN;
    bool back = !put && (request->act == ACT_RETRY || request->act == ACT_NEXT);
    struct slice why = answer->parts[0].text;
    if (is_error(answer)) {
        bool handed_out = load->ledger.entries[lease.job].token != lease.token;
        if (!back || !handed_out || !is_refusal(why)) {
            fail_msg("violation: what was answered with %s for j%zu was refused when it was "
                     "repeated: %.*s",
                     request->answer, lease.job, SLICE_PRINT(why));
        }
        return;
    }
    write_answer(&answer->parts[0], text);
    if (strcmp(text, request->answer) != 0) {
        fail_msg("violation: what was answered with %s for j%zu was answered with %s when it was "
                 "repeated",
                 request->answer, lease.job, text);
    }
}

static void take_answer(struct load *load, struct worker *worker, const struct answer *answer,
                        int64_t heard_us)
{
    assert_true(worker->count > 0);
    struct request request = worker->requests[worker->first];
    worker->first = (worker->first + 1) % LOAD_DEPTH_MAX;
    worker->count--;
    load->answers++;
    if (request.repeats && !is_error(answer)) {
        bool put = request.kind == REQUEST_PUT || request.kind == REQUEST_PUT_AGAIN;
        load->repeated_puts += put;
        load->repeats[request.act] += !put;
    }
    switch (request.kind) {
    case REQUEST_PUT:
        if (is_error(answer)) {
            fail_msg("a put was answered: %.*s", SLICE_PRINT(answer->parts[0].text));
        }
        perhaps_again(load, worker, request, answer);
        ledger_put_acknowledged(&load->ledger, request.lease.job);
        break;
    case REQUEST_POP:
        take_popped(load, worker, answer);
        break;
    case REQUEST_ACT:
        perhaps_again(load, worker, request, answer);
        take_acted(load, &request, answer, heard_us);
        break;
    case REQUEST_PUT_AGAIN:
    case REQUEST_ACT_AGAIN:
        take_repeated(load, &request, answer);
        break;
    case REQUEST_CHEAT:
        if (!is_error(answer)) {
            fail_msg("violation: j%zu: what was said with the token %llu by one who does not hold "
                     "it was taken",
                     request.lease.job, (unsigned long long)request.lease.token);
        }
        break;
    }
}

bool load_take(struct load *load, struct worker *worker)
{
    bool open = client_read(&worker->client);
    int64_t heard_us = now_us();
    const struct answer *answer;
    while ((answer = client_next(&worker->client))) {
        take_answer(load, worker, answer, heard_us);
    }
    return open;
}

// ---------------------------------------------------------------------------------------------
// Runs

static void ask_ok(struct client *client)
{
    const struct answer *answer = client_await(client);
    if (is_error(answer)) {
        fail_msg("%.*s", SLICE_PRINT(answer->parts[0].text));
    }
}

void load_configure(uint16_t port)
{
    struct client client;
    client_init(&client);
    client_connect(&client, port);
    for (size_t i = 0; i < LEDGER_NAMESPACES; i++) {
        const char *ns = ledger_namespaces[i];
        client_ask(&client, "Q.CONFIG.SET", ns, "heartbeat", ledger_heartbeat);
        ask_ok(&client);
        client_ask(&client, "Q.CONFIG.SET", ns, "grace-period", ledger_graces[i]);
        ask_ok(&client);
        client_ask(&client, "Q.CONFIG.SET", ns, "jobs-history-count", "1000000000");
        ask_ok(&client);
    }
    client_release(&client);
}

void load_connect(struct load *load, uint16_t port)
{
    for (size_t i = 0; i < LOAD_WORKERS; i++) {
        struct worker *worker = &load->workers[i];
        client_connect(&worker->client, port);
        worker->depth = (size_t)1 << random_below(&load->random, 7);
    }
}

static void send_many(struct load *load, struct worker *worker)
{
    while (worker->count < worker->depth) {
        send_one(load, worker);
    }
}

bool load_run(struct load *load, struct process *process, uint64_t answers, int64_t until_us,
              bool may_end)
{
    uint64_t until = load->answers + answers;
    size_t open = LOAD_WORKERS;
    while (load->answers < until && open) {
        struct pollfd ready[LOAD_WORKERS + 1];
        for (size_t i = 0; i < LOAD_WORKERS; i++) {
            struct worker *worker = &load->workers[i];
            if (worker->client.fd >= 0 && !may_end) {
                send_many(load, worker);
            }
            bool unsent = worker->client.fd >= 0 && client_has_unsent(&worker->client);
            ready[i] = (struct pollfd){ .fd = worker->client.fd,
                                        .events = (short)(unsent ? POLLIN | POLLOUT : POLLIN) };
        }
        ready[LOAD_WORKERS] = (struct pollfd){ .fd = process->log_fd, .events = POLLIN };
        int64_t left_us = until_us - now_us();
        if (left_us <= 0) {
            return true;
        }
        (void)poll(ready, LOAD_WORKERS + 1, (int)(left_us / 1000) + 1);
        process_hear(process);
        for (size_t i = 0; i < LOAD_WORKERS; i++) {
            struct worker *worker = &load->workers[i];
            if (worker->client.fd < 0 || !ready[i].revents) {
                continue;
            }
            bool writes = client_write(&worker->client);
            if (!load_take(load, worker) || (!writes && !may_end)) {
                assert_true(may_end);
                client_close(&worker->client, false);
                open--;
            }
        }
    }
    return open > 0;
}

static void give_up(struct load *load, struct worker *worker)
{
    while (worker->count) {
        struct request request = worker->requests[worker->first];
        worker->first = (worker->first + 1) % LOAD_DEPTH_MAX;
        worker->count--;
        struct lease lease = request.lease;
        if (request.kind == REQUEST_PUT) {
            ledger_put_unknown(&load->ledger, lease.job);
            if (has_request(lease.job) && random_below(&load->random, 2)) {
                keep_again(load, worker, &request);
            }
        } else if (request.kind == REQUEST_ACT) {
            ledger_act_unknown(&load->ledger, lease.job, lease.token, request.act);
            // The client does not know, and sends the same again; or it holds the lease still, and
            // may do anything else with it.
            uint64_t draw = random_below(&load->random, 4);
            if (draw < 2 && request.act != ACT_HEARTBEAT) {
                keep_again(load, worker, &request);
            } else if (draw == 2 && request.act == ACT_COMPLETE) {
                leases_add(&worker->held, lease);
            }
        }
    }
}

void load_vanish(struct load *load, struct worker *worker, bool reset)
{
    client_close(&worker->client, reset);
    give_up(load, worker);
}

void load_disconnect(struct load *load)
{
    for (size_t i = 0; i < LOAD_WORKERS; i++) {
        struct worker *worker = &load->workers[i];
        if (worker->client.fd >= 0) {
            (void)load_take(load, worker);
        }
        load_vanish(load, worker, false);
    }
}

// ---------------------------------------------------------------------------------------------
// The end

// Completes all that was handed to the first worker; gives how many there were.
static size_t drain_held(struct load *load, struct worker *worker)
{
    size_t done = 0;
    while (worker->held.count) {
        size_t sent = 0;
        for (; worker->held.count && sent < LOAD_DEPTH_MAX; sent++) {
            load_act(load, worker, ACT_COMPLETE);
        }
        for (size_t i = 0; i < sent; i++) {
            const struct answer *answer = client_await(&worker->client);
            take_answer(load, worker, answer, now_us());
        }
        done += sent;
    }
    return done;
}

// Jobs that a client may still be handed.
static int64_t count_undone(struct client *client, const char *ns)
{
    static const char *const keys[] = { "waiting", "running", "stalled", "scheduled", "depends" };
    int64_t undone = 0;
    client_ask(client, "Q.QUEUES", ns);
    const struct answer *answer = client_await(client);
    const struct part *queues = answer_find(answer, 0, "queues");
    assert_int_equal(queues->kind, ANSWER_LIST);
    for (size_t i = (size_t)(queues - answer->parts) + 1; i < queues->end;
         i = answer->parts[i].end) {
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
            undone += answer_find(answer, i, keys[k])->integer;
        }
    }
    return undone;
}

static void drain_namespace(struct load *load, struct worker *worker, const char *ns)
{
    int64_t until_us = now_us() + DRAIN_WAIT_US;
    size_t done = 1;
    while (done || count_undone(&worker->client, ns)) {
        if (now_us() > until_us) {
            fail_msg("violation: jobs are left that no client is handed");
        }
        client_ask(&worker->client, "Q.POP", ns, worker->name, "200", "WAIT", "0.05",
                   load_queues[0], load_queues[1], load_queues[2], load_queues[3]);
        add_request(worker, (struct request){ .kind = REQUEST_POP });
        take_answer(load, worker, client_await(&worker->client), now_us());
        done = drain_held(load, worker);
    }
}

static void settle(struct load *load, struct client *client)
{
    const struct ledger *ledger = &load->ledger;
    for (size_t job = 0; job < ledger->count; job++) {
        char jid[LEDGER_JID_SIZE];
        ledger_jid(job, jid);
        client_ask(client, "Q.GET", ledger_namespaces[ledger_namespace(job)], jid);
        if ((job + 1) % DRAIN_BATCH && job + 1 < ledger->count) {
            continue;
        }
        for (size_t i = job - job % DRAIN_BATCH; i <= job; i++) {
            const struct answer *answer = client_await(client);
            assert_int_equal(answer->parts[0].kind, ANSWER_LIST);
            ledger_settle(ledger, i,
                          answer->parts[1].kind == ANSWER_NULL
                              ? SLICE_EMPTY
                              : answer_find(answer, 1, "state")->text);
        }
    }
}

static void check(struct client *client)
{
    for (size_t i = 0; i < LEDGER_NAMESPACES; i++) {
        client_ask(client, "Q.CHECK", ledger_namespaces[i], "FORCE");
        const struct answer *answer = client_await(client);
        assert_int_equal(answer->parts[0].kind, ANSWER_LIST);
        int64_t broken = answer_find(answer, 0, "broken")->integer;
        if (broken) {
            const struct part *list = answer_find(answer, 0, "sentences");
            fail_msg("violation: %lld broken invariants: %.*s", (long long)broken,
                     SLICE_PRINT(list[list->integer > 0].text));
        }
    }
}

void load_drain(struct load *load, uint16_t port)
{
    struct worker *worker = &load->workers[0];
    client_connect(&worker->client, port);
    (void)drain_held(load, worker);
    for (size_t i = 0; i < LEDGER_NAMESPACES; i++) {
        drain_namespace(load, worker, ledger_namespaces[i]);
    }
    settle(load, &worker->client);
    check(&worker->client);
    client_close(&worker->client, false);
}
