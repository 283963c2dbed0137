// SPDX-License-Identifier: MIT
#include "http.h"

#include "wire/resp_reply.h"

#include "../bench.h"

// ---------------------------------------------------------------------------------------------
// Jobs

static const char payload_start[] = "{\"id\":\"",
                  payload_middle[] =
                      "\",\"kind\":\"email\",\"to\":\"someone@example.com\",\"try\":1,\"body\":\"";

void make_job(struct fresh_job *job)
{
    static uint64_t made;
    const size_t id_at = sizeof(payload_start) - 1, middle_at = id_at + ID_SIZE,
                 body_at = middle_at + sizeof(payload_middle) - 1;
    uint64_t random[2] = { bench_scramble(2 * made), bench_scramble(2 * made + 1) };
    made++;
    memcpy(job->payload, payload_start, id_at);
    for (size_t i = 0; i < ID_SIZE; i++) {
        job->payload[id_at + i] = "0123456789abcdef"[(random[i / 16] >> (4 * (i % 16))) & 15];
    }
    memcpy(job->payload + middle_at, payload_middle, sizeof(payload_middle) - 1);
    memset(job->payload + body_at, 'x', PAYLOAD_SIZE - 2 - body_at);
    job->payload[PAYLOAD_SIZE - 2] = '"';
    job->payload[PAYLOAD_SIZE - 1] = '}';
    job->id = slice_make(job->payload + id_at, ID_SIZE);
}

static struct slice payload(const struct fresh_job *job)
{
    return slice_make(job->payload, PAYLOAD_SIZE);
}

static struct slice name_of(const struct life *life, size_t index)
{
    return slice_make(life->popped[index].text, life->popped[index].size);
}

// ---------------------------------------------------------------------------------------------
// Requests and answers

static void word_number(struct buffer *out, size_t number)
{
    char text[24];
    int size = snprintf(text, sizeof(text), "%zu", number);
    resp_bulk(out, slice_make(text, (size_t)size));
}

bool keep_name(struct life *life, struct slice name)
{
    if (life->popped_count == life->batch || name.size == 0 || name.size > PAYLOAD_SIZE) {
        return false;
    }
    struct job_name *kept = &life->popped[life->popped_count++];
    memcpy(kept->text, name.data, name.size);
    kept->size = name.size;
    return true;
}

static bool all_leaves_are(const struct answer *answer, struct slice text)
{
    for (size_t i = 0; i < answer->leaf_count; i++) {
        if (!slice_equal(answer->leaves[i], text)) {
            return false;
        }
    }
    return answer->leaf_count > 0;
}

static bool accept_any(struct life *life, const struct answer *answer)
{
    (void)life;
    return answer->leaf_count > 0;
}

static bool accept_one(struct life *life, const struct answer *answer)
{
    (void)life;
    return all_leaves_are(answer, SLICE("1"));
}

// ---------------------------------------------------------------------------------------------
// Sluice

const char *const kind_keep_nothing = "Q.CONFIG.SET bench jobs-history-count 0\r\n";

static void sluice_put_words(struct buffer *out)
{
    struct fresh_job job;
    make_job(&job);
    resp_bulk(out, SLICE("mail"));
    resp_bulk(out, SLICE("Send"));
    resp_bulk(out, payload(&job));
    resp_bulk(out, SLICE("JID"));
    resp_bulk(out, job.id);
}

static size_t sluice_put(struct buffer *out, const struct life *life)
{
    if (life->batch == 1) {
        resp_array(out, 7);
        resp_bulk(out, SLICE("Q.PUT"));
        resp_bulk(out, SLICE("bench"));
        sluice_put_words(out);
        return 1;
    }
    resp_array(out, 2 + 6 * life->batch);
    resp_bulk(out, SLICE("Q.MPUT"));
    resp_bulk(out, SLICE("bench"));
    for (size_t i = 0; i < life->batch; i++) {
        resp_bulk(out, SLICE("5"));
        sluice_put_words(out);
    }
    return 1;
}

static size_t sluice_pop(struct buffer *out, const struct life *life)
{
    resp_array(out, 5);
    resp_bulk(out, SLICE("Q.POP"));
    resp_bulk(out, SLICE("bench"));
    resp_bulk(out, life->worker);
    word_number(out, life->batch);
    resp_bulk(out, SLICE("mail"));
    return 1;
}

// The jid of each job follows the string "jid".
static bool sluice_popped(struct life *life, const struct answer *answer)
{
    for (size_t i = 0; i + 1 < answer->leaf_count; i++) {
        if (slice_equal(answer->leaves[i], SLICE("jid")) &&
            !keep_name(life, answer->leaves[i + 1])) {
            return false;
        }
    }
    return life->popped_count == life->batch;
}

static size_t sluice_complete(struct buffer *out, const struct life *life)
{
    if (life->batch == 1) {
        resp_array(out, 4);
        resp_bulk(out, SLICE("Q.COMPLETE"));
        resp_bulk(out, SLICE("bench"));
        resp_bulk(out, name_of(life, 0));
        resp_bulk(out, life->worker);
        return 1;
    }
    resp_array(out, 2 + 3 * life->batch);
    resp_bulk(out, SLICE("Q.MCOMPLETE"));
    resp_bulk(out, SLICE("bench"));
    for (size_t i = 0; i < life->batch; i++) {
        resp_bulk(out, SLICE("2"));
        resp_bulk(out, name_of(life, i));
        resp_bulk(out, life->worker);
    }
    return 1;
}

static bool sluice_completed(struct life *life, const struct answer *answer)
{
    return answer->leaf_count == life->batch && all_leaves_are(answer, SLICE("complete"));
}

// ---------------------------------------------------------------------------------------------
// Redis, lists: the least that a queue can do; the payload itself moves from list to list

static size_t lists_put(struct buffer *out, const struct life *life)
{
    resp_array(out, 2 + life->batch);
    resp_bulk(out, SLICE("LPUSH"));
    resp_bulk(out, SLICE("mail"));
    for (size_t i = 0; i < life->batch; i++) {
        struct fresh_job job;
        make_job(&job);
        resp_bulk(out, payload(&job));
    }
    return 1;
}

static size_t lists_pop(struct buffer *out, const struct life *life)
{
    for (size_t i = 0; i < life->batch; i++) {
        resp_array(out, 5);
        resp_bulk(out, SLICE("LMOVE"));
        resp_bulk(out, SLICE("mail"));
        resp_bulk(out, life->worker);
        resp_bulk(out, SLICE("RIGHT"));
        resp_bulk(out, SLICE("LEFT"));
    }
    return life->batch;
}

static bool lists_popped(struct life *life, const struct answer *answer)
{
    return answer->leaf_count == 1 && keep_name(life, answer->leaves[0]);
}

// -1: searches from the end with the oldest jobs, so that it finds the job at once.
static size_t lists_complete(struct buffer *out, const struct life *life)
{
    for (size_t i = 0; i < life->batch; i++) {
        resp_array(out, 4);
        resp_bulk(out, SLICE("LREM"));
        resp_bulk(out, life->worker);
        resp_bulk(out, SLICE("-1"));
        resp_bulk(out, name_of(life, i));
    }
    return life->batch;
}

// ---------------------------------------------------------------------------------------------
// Redis, streams: a consumer group

static size_t streams_put(struct buffer *out, const struct life *life)
{
    for (size_t i = 0; i < life->batch; i++) {
        struct fresh_job job;
        make_job(&job);
        resp_array(out, 5);
        resp_bulk(out, SLICE("XADD"));
        resp_bulk(out, SLICE("mail"));
        resp_bulk(out, SLICE("*"));
        resp_bulk(out, SLICE("job"));
        resp_bulk(out, payload(&job));
    }
    return life->batch;
}

static size_t streams_pop(struct buffer *out, const struct life *life)
{
    resp_array(out, 9);
    resp_bulk(out, SLICE("XREADGROUP"));
    resp_bulk(out, SLICE("GROUP"));
    resp_bulk(out, SLICE("workers"));
    resp_bulk(out, life->worker);
    resp_bulk(out, SLICE("COUNT"));
    word_number(out, life->batch);
    resp_bulk(out, SLICE("STREAMS"));
    resp_bulk(out, SLICE("mail"));
    resp_bulk(out, SLICE(">"));
    return 1;
}

// The id of each entry precedes its only field.
static bool streams_popped(struct life *life, const struct answer *answer)
{
    for (size_t i = 1; i < answer->leaf_count; i++) {
        if (slice_equal(answer->leaves[i], SLICE("job")) &&
            !keep_name(life, answer->leaves[i - 1])) {
            return false;
        }
    }
    return life->popped_count == life->batch;
}

static size_t streams_complete(struct buffer *out, const struct life *life)
{
    resp_array(out, 3 + life->batch);
    resp_bulk(out, SLICE("XACK"));
    resp_bulk(out, SLICE("mail"));
    resp_bulk(out, SLICE("workers"));
    for (size_t i = 0; i < life->batch; i++) {
        resp_bulk(out, name_of(life, i));
    }
    resp_array(out, 2 + life->batch);
    resp_bulk(out, SLICE("XDEL"));
    resp_bulk(out, SLICE("mail"));
    for (size_t i = 0; i < life->batch; i++) {
        resp_bulk(out, name_of(life, i));
    }
    return 2;
}

static bool streams_completed(struct life *life, const struct answer *answer)
{
    char text[24];
    int size = snprintf(text, sizeof(text), "%zu", life->batch);
    return all_leaves_are(answer, slice_make(text, (size_t)size));
}

// ---------------------------------------------------------------------------------------------

const struct kind kinds[] = {
    {
        .name = "redis-lists",
        .is_redis = true,
        .ask = { lists_put, lists_pop, lists_complete },
        .accept = { accept_any, lists_popped, accept_one },
    },
    {
        .name = "redis-streams",
        .is_redis = true,
        .prepare = "XGROUP CREATE mail workers 0 MKSTREAM\r\n",
        .ask = { streams_put, streams_pop, streams_complete },
        .accept = { accept_any, streams_popped, streams_completed },
    },
    {
        .name = "sluice-http",
        .is_http = true,
        .ask = { http_put, http_pop, http_complete },
        .accept = { accept_any, http_popped, accept_any },
    },
    {
        .name = "sluice",
        .ask = { sluice_put, sluice_pop, sluice_complete },
        .accept = { accept_any, sluice_popped, sluice_completed },
    },
};

const size_t kind_count = sizeof(kinds) / sizeof(kinds[0]);
