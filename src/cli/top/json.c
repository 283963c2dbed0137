// SPDX-License-Identifier: MIT
#include "cli/top/json.h"

#include "cli/core/cli.h"
#include "cli/core/json.h"

#include <stdlib.h>

// `before` is what stands in front of the key: "{", ",".
static void pair_text(FILE *out, const char *before, const char *key, const char *text)
{
    print(out, "%s\"%s\":", before, key);
    json_write_text(out, text);
}

static void pair_integer(FILE *out, const char *key, int64_t value)
{
    print(out, ",\"%s\":%lld", key, (long long)value);
}

static void pair_number(FILE *out, const char *key, bool known, double value)
{
    if (known) {
        // The shortest that is read back as the same.
        char text[32];
        (void)snprintf(text, sizeof(text), "%.15g", value);
        bool exact = strtod(text, NULL) == value;
        print(out, ",\"%s\":%.*g", key, exact ? 15 : 17, value);
    } else {
        print(out, ",\"%s\":null", key);
    }
}

static void pair_boolean(FILE *out, const char *key, bool value)
{
    print(out, ",\"%s\":%s", key, value ? "true" : "false");
}

static void put_queue(FILE *out, const struct look_queue *queue)
{
    pair_text(out, "{", "queue", queue->name);
    pair_integer(out, "waiting", queue->waiting);
    pair_integer(out, "running", queue->running);
    pair_integer(out, "scheduled", queue->scheduled);
    pair_integer(out, "stalled", queue->stalled);
    pair_integer(out, "depends", queue->depends);
    pair_number(out, "failed", queue->seen, (double)queue->failed);
    pair_number(out, "in", queue->seen, queue->in);
    pair_number(out, "out", queue->seen, queue->out);
    pair_boolean(out, "paused", queue->paused);
    print(out, "}");
}

static void put_job(FILE *out, const struct look_job *job)
{
    bool made = job->fraction >= 0;
    pair_text(out, "{", "jid", job->jid);
    pair_text(out, ",", "queue", job->queue);
    pair_text(out, ",", "klass", job->klass);
    pair_text(out, ",", "state", job->state);
    pair_text(out, ",", "stage", job->stage);
    pair_text(out, ",", "worker", job->worker);
    pair_number(out, "since", true, job->since);
    pair_number(out, "expires", job->expires > 0, job->expires);
    pair_number(out, "progress", made, job->fraction);
    pair_text(out, ",", "message", job->message);
    print(out, "}");
}

static void put_group(FILE *out, const struct look_group *group)
{
    pair_text(out, "{", "group", group->name);
    pair_integer(out, "count", group->count);
    pair_text(out, ",", "newest", group->jid);
    pair_number(out, "when", group->seen, group->when);
    pair_text(out, ",", "message", group->message);
    print(out, "}");
}

static void put_worker(FILE *out, const struct look_worker *worker)
{
    pair_text(out, "{", "worker", worker->name);
    pair_integer(out, "running", worker->running);
    pair_integer(out, "expired", worker->expired);
    pair_number(out, "seen", true, worker->seen);
    pair_boolean(out, "offline", worker->offline);
    print(out, "}");
}

static void put_totals(FILE *out, const struct look_totals *totals)
{
    print(out, ",\"totals\":{\"waiting\":%lld", (long long)totals->waiting);
    pair_integer(out, "running", totals->running);
    pair_integer(out, "scheduled", totals->scheduled);
    pair_integer(out, "stalled", totals->stalled);
    pair_integer(out, "depends", totals->depends);
    pair_integer(out, "failed", totals->failed);
    pair_integer(out, "complete", totals->complete);
    pair_number(out, "in", true, totals->in);
    pair_number(out, "out", true, totals->out);
    print(out, "}");
}

// A list of what a function prints.
#define PUT_LIST(out, key, count, put, items)                                                      \
    do {                                                                                           \
        print(out, ",\"" key "\":[");                                                              \
        for (size_t item_ = 0; item_ < (count); item_++) {                                         \
            print(out, "%s", item_ ? "," : "");                                                    \
            put(out, &(items)[item_]);                                                             \
        }                                                                                          \
        print(out, "]");                                                                           \
    } while (0)

void top_json(FILE *out, const struct top_view *view, const struct look *look)
{
    pair_text(out, "{", "namespace", view->ns);
    pair_text(out, ",", "url", view->url);
    pair_text(out, ",", "server", look->server);
    pair_number(out, "time", true, look->when + look->ahead);
    put_totals(out, &look->totals);
    PUT_LIST(out, "queues", look->queue_count, put_queue, look->queues);
    PUT_LIST(out, "running", look->running_count, put_job, look->running);
    PUT_LIST(out, "failures", look->group_count, put_group, look->groups);
    PUT_LIST(out, "workers", look->worker_count, put_worker, look->workers);
    print(out, "}\n");
}
