// SPDX-License-Identifier: MIT
#include "http.h"

#include "base/num.h"

static void append(struct buffer *out, const char *text)
{
    buffer_append(out, slice_from_cstr(text));
}

// A request with the headers that HTTP libraries send at least.
static void append_post(struct buffer *out, struct slice path, struct slice body)
{
    append(out, "POST /v1/ns/bench/");
    buffer_append(out, path);
    append(out, " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\n"
                "Content-Type: application/json\r\nContent-Length: ");
    num_append_u64(out, body.size);
    append(out, "\r\n\r\n");
    buffer_append(out, body);
}

static void need_one(const struct life *life)
{
    if (life->batch != 1) {
        die("over HTTP only single jobs are measured");
    }
}

size_t http_put(struct buffer *out, const struct life *life)
{
    struct fresh_job job;
    char body[PAYLOAD_SIZE + 100];
    need_one(life);
    make_job(&job);
    int size = snprintf(body, sizeof(body), "{\"klass\":\"Send\",\"data\":%.*s,\"jid\":\"%.*s\"}",
                        PAYLOAD_SIZE, job.payload, SLICE_PRINT(job.id));
    append_post(out, SLICE("queues/mail/jobs"), slice_make(body, (size_t)size));
    return 1;
}

size_t http_pop(struct buffer *out, const struct life *life)
{
    char body[100];
    int size = snprintf(body, sizeof(body), "{\"queues\":[\"mail\"],\"worker\":\"%.*s\"}",
                        SLICE_PRINT(life->worker));
    append_post(out, SLICE("pop"), slice_make(body, (size_t)size));
    return 1;
}

// There is one job in it, and its jid comes first.
bool http_popped(struct life *life, const struct answer *answer)
{
    static const char front[] = "\"jid\":\"";
    struct slice body = answer->leaves[0];
    const char *at = memmem(body.data, body.size, front, strlen(front));
    if (!at) {
        return false;
    }
    at += strlen(front);
    const char *end = memchr(at, '"', (size_t)(body.data + body.size - at));
    return end && keep_name(life, slice_make(at, (size_t)(end - at)));
}

size_t http_complete(struct buffer *out, const struct life *life)
{
    char body[100], path[PAYLOAD_SIZE + 20];
    int size = snprintf(body, sizeof(body), "{\"worker\":\"%.*s\"}", SLICE_PRINT(life->worker));
    int path_size = snprintf(path, sizeof(path), "jobs/%.*s/complete", (int)life->popped[0].size,
                             life->popped[0].text);
    append_post(out, slice_make(path, (size_t)path_size), slice_make(body, (size_t)size));
    return 1;
}

bool http_answer_read(struct answer *answer, struct slice input)
{
    static const char length[] = "\r\nContent-Length: ", end[] = "\r\n\r\n";
    const char *head_end = memmem(input.data, input.size, end, strlen(end));
    if (!head_end) {
        return false;
    }
    size_t head_size = (size_t)(head_end - input.data) + strlen(end), size = 0;
    const char *at = memmem(input.data, head_size, length, strlen(length));
    for (at = at ? at + strlen(length) : head_end; *at >= '0' && *at <= '9'; at++) {
        size = 10 * size + (size_t)(*at - '0');
    }
    if (input.size - head_size < size) {
        return false;
    }
    answer->size = head_size + size;
    answer->errors = input.data[strlen("HTTP/1.1 ")] != '2';
    answer->leaf_count = 1;
    answer->leaves[0] = slice_make(input.data + head_size, size);
    return true;
}
