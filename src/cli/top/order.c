// SPDX-License-Identifier: MIT
#include "cli/top/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// An order being carried out.
struct doing {
    struct sluice *queue;
    const struct order *order;
    char *note;
    size_t size;
};

static bool refused(const struct doing *doing, const struct sluice_error *error)
{
    const char *sentence = *error->message ? error->message : sluice_status_name(error->status);
    (void)snprintf(doing->note, doing->size, "%s", sentence);
    return false;
}

static bool call(const struct doing *doing, const char *const *words, size_t count,
                 struct sluice_value **out)
{
    struct sluice_error error = { 0 };
    error.status = sluice_call(doing->queue, words, NULL, count, out, &error);
    return error.status ? refused(doing, &error) : true;
}

#define CALL(doing, out, ...)                                                                      \
    call(doing, (const char *const[]){ __VA_ARGS__ },                                              \
         sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *), out)

static bool pause_queue(const struct doing *doing)
{
    const char *name = doing->order->name;
    bool done = CALL(doing, NULL, "Q.PAUSE", name);
    if (done) {
        (void)snprintf(doing->note, doing->size, "Queue %s is paused", name);
    }
    return done;
}

static bool unpause_queue(const struct doing *doing)
{
    const char *name = doing->order->name;
    bool done = CALL(doing, NULL, "Q.UNPAUSE", name);
    if (done) {
        (void)snprintf(doing->note, doing->size, "Queue %s goes on", name);
    }
    return done;
}

static bool cancel_job(const struct doing *doing)
{
    const char *jid = doing->order->name;
    struct sluice_value *count = NULL;
    bool done = CALL(doing, &count, "Q.CANCEL", jid);
    if (done) {
        done = sluice_value_integer(count) > 0;
        (void)snprintf(doing->note, doing->size,
                       done ? "Job %s is canceled" : "Job %s is complete or gone already", jid);
    }
    sluice_value_free(count);
    return done;
}

static bool take_back(const struct doing *doing)
{
    const struct order *order = doing->order;
    char token[24];
    (void)snprintf(token, sizeof(token), "%lld", (long long)order->token);
    struct sluice_value *remaining = NULL;
    bool done = CALL(doing, &remaining, "Q.RETRY", order->name, order->worker, "TOKEN", token);
    if (done) {
        int64_t left = sluice_value_integer(remaining);
        if (left < 0) {
            (void)snprintf(doing->note, doing->size, "Job %s has no retries left and has failed",
                           order->name);
        } else {
            (void)snprintf(doing->note, doing->size, "Job %s is tried again; %lld retries are left",
                           order->name, (long long)left);
        }
    }
    sluice_value_free(remaining);
    return done;
}

// Puts it again as it is, where it was; its retries start anew.
static bool put_again(const struct doing *doing, const struct sluice_value *job)
{
    const char *jid = doing->order->name;
    const char *state = sluice_value_text(sluice_value_get(job, "state"), NULL);
    const char *queue = sluice_value_text(sluice_value_get(job, "queue"), NULL);
    const char *klass = sluice_value_text(sluice_value_get(job, "klass"), NULL);
    const char *data = sluice_value_text(sluice_value_get(job, "data"), NULL);
    if (!state || strcmp(state, "failed") != 0 || !queue || !klass || !data) {
        (void)snprintf(doing->note, doing->size, "Job %s has not failed, or is gone", jid);
        return false;
    }
    char retries[24];
    (void)snprintf(retries, sizeof(retries), "%lld",
                   (long long)sluice_value_integer(sluice_value_get(job, "retries")));
    bool done = CALL(doing, NULL, "Q.REQUEUE", jid, queue, klass, data, "RETRIES", retries);
    if (done) {
        (void)snprintf(doing->note, doing->size, "Job %s is tried again in queue %s", jid, queue);
    }
    return done;
}

static bool unfail_job(const struct doing *doing)
{
    struct sluice_value *jobs = NULL;
    bool done = CALL(doing, &jobs, "Q.GET", doing->order->name);
    if (done) {
        done = put_again(doing, sluice_value_at(jobs, 0));
    }
    sluice_value_free(jobs);
    return done;
}

static bool retry_group(const struct doing *doing)
{
    const char *group = doing->order->name;
    struct sluice_value *bulk = NULL;
    bool done = CALL(doing, &bulk, "Q.BULK", "retry", "GROUP", group);
    if (done) {
        bool over = sluice_value_boolean(sluice_value_get(bulk, "done"));
        (void)snprintf(doing->note, doing->size, "%lld jobs of %s are tried again%s",
                       (long long)sluice_value_integer(sluice_value_get(bulk, "changed")), group,
                       over ? "" : ", the others follow");
    }
    sluice_value_free(bulk);
    return done;
}

bool order_run(struct sluice *queue, const struct order *order, char *note, size_t size)
{
    static bool (*const runs[])(const struct doing *) = {
        [ORDER_PAUSE] = pause_queue, [ORDER_UNPAUSE] = unpause_queue,
        [ORDER_CANCEL] = cancel_job, [ORDER_TAKE_BACK] = take_back,
        [ORDER_UNFAIL] = unfail_job, [ORDER_RETRY_GROUP] = retry_group,
    };
    const struct doing doing = { .queue = queue, .order = order, .note = note, .size = size };
    return runs[order->kind](&doing);
}
