// SPDX-License-Identifier: MIT
#include "client.h"

#include "test.h"

#include "base/num.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ANSWER_WAIT_MS = 60000, // longer than that is taken for never
    READ_SIZE = 1 << 16,
    WORDS_MAX = 64,
};

void client_init(struct client *client)
{
    *client = (struct client){ .fd = -1 };
    buffer_init(&client->output, &allocator_system, SIZE_MAX - 1);
    buffer_init(&client->input, &allocator_system, SIZE_MAX - 1);
}

void client_release(struct client *client)
{
    client_close(client, false);
    buffer_release(&client->output);
    buffer_release(&client->input);
    free(client->answer.parts);
    client_init(client);
}

void client_connect(struct client *client, uint16_t port)
{
    const struct sockaddr_in address = { .sin_family = AF_INET,
                                         .sin_port = htons(port),
                                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(client->fd >= 0);
    if (connect(client->fd, (const struct sockaddr *)&address, sizeof(address))) {
        fail_msg("cannot connect: %s", strerrordesc_np(errno));
    }
    int on = 1;
    (void)setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    (void)fcntl(client->fd, F_SETFL, O_NONBLOCK);
}

void client_close(struct client *client, bool reset)
{
    if (client->fd >= 0) {
        const struct linger none = { .l_onoff = 1, .l_linger = 0 };
        if (reset) {
            (void)setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
        }
        (void)close(client->fd);
    }
    client->fd = -1;
    buffer_clear(&client->output);
    buffer_clear(&client->input);
    client->output_sent = client->input_taken = 0;
    client->answer.size = 0;
}

// ---------------------------------------------------------------------------------------------
// Out

void client_say(struct client *client, const struct slice *words, size_t count)
{
    buffer_printf(&client->output, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++) {
        buffer_printf(&client->output, "$%zu\r\n", words[i].size);
        buffer_append(&client->output, words[i]);
        buffer_append(&client->output, SLICE("\r\n"));
    }
}

void client_ask_words(struct client *client, const char *const *words)
{
    struct slice slices[WORDS_MAX];
    size_t count = 0;
    for (; words[count]; count++) {
        assert_true(count < WORDS_MAX);
        slices[count] = slice_from_cstr(words[count]);
    }
    client_say(client, slices, count);
}

bool client_write(struct client *client)
{
    while (client_has_unsent(client)) {
        ssize_t size = send(client->fd, client->output.data + client->output_sent,
                            client->output.size - client->output_sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
        client->output_sent += (size_t)size;
    }
    buffer_clear(&client->output);
    client->output_sent = 0;
    return true;
}

// ---------------------------------------------------------------------------------------------
// In

bool client_read(struct client *client)
{
    buffer_consume(&client->input, client->input_taken);
    client->input_taken = 0;
    client->answer.size = 0;
    for (;;) {
        char *at = buffer_reserve(&client->input, READ_SIZE);
        assert_non_null(at);
        ssize_t size = recv(client->fd, at, READ_SIZE, MSG_DONTWAIT);
        if (size <= 0) {
            return size < 0 && (errno == EAGAIN || errno == EINTR);
        }
        buffer_commit(&client->input, (size_t)size);
    }
}

static struct part *add_part(struct answer *answer)
{
    if (answer->count == answer->capacity) {
        answer->capacity = answer->capacity ? 2 * answer->capacity : 64;
        answer->parts = realloc(answer->parts, answer->capacity * sizeof(struct part));
        assert_non_null(answer->parts);
    }
    return &answer->parts[answer->count++];
}

// The line at `*position`, without its end; false when it is not whole.
static bool take_line(struct slice input, size_t *position, struct slice *line)
{
    const char *start = input.data + *position;
    const char *end = memchr(start, '\n', input.size - *position);
    if (!end) {
        return false;
    }
    assert_true(end > start && end[-1] == '\r');
    *line = slice_make(start, (size_t)(end - start) - 1);
    *position += (size_t)(end - start) + 1;
    return true;
}

static bool take_text(struct slice input, size_t *position, struct part *part)
{
    if (part->integer < 0) {
        part->kind = ANSWER_NULL;
        return true;
    }
    size_t size = (size_t)part->integer;
    if (input.size - *position < size + 2) {
        return false;
    }
    part->text = slice_make(input.data + *position, size);
    *position += size + 2;
    return true;
}

// One part with all that belongs to it; false when it is not whole.
static bool take_part(struct answer *answer, struct slice input, size_t *position)
{
    struct slice line;
    if (*position >= input.size || !take_line(input, position, &line)) {
        return false;
    }
    static const char marks[] = "_+-:$*";
    const char *mark = line.size ? strchr(marks, line.data[0]) : NULL;
    if (!mark || !*mark) {
        fail_msg("not an answer: %.*s", SLICE_PRINT(line));
    }
    size_t index = answer->count;
    struct part *part = add_part(answer);
    *part = (struct part){ .kind = (enum answer_kind)(mark - marks),
                           .text = slice_sub(line, 1, SIZE_MAX) };
    if (part->kind >= ANSWER_INTEGER) {
        assert_int_equal(num_parse_i64(part->text, &part->integer), STATUS_OK);
        part->text = SLICE_EMPTY;
    }
    if (part->kind == ANSWER_TEXT && !take_text(input, position, part)) {
        return false;
    }
    if (part->kind == ANSWER_LIST) {
        for (int64_t i = 0, count = part->integer; i < count; i++) {
            if (!take_part(answer, input, position)) {
                return false;
            }
        }
    }
    answer->parts[index].end = answer->count;
    return true;
}

const struct answer *client_next(struct client *client)
{
    size_t position = client->input_taken;
    client->answer.count = 0;
    if (position >= client->input.size ||
        !take_part(&client->answer, buffer_slice(&client->input), &position)) {
        return NULL;
    }
    client->answer.size = position - client->input_taken;
    client->input_taken = position;
    return &client->answer;
}

const struct answer *client_await(struct client *client)
{
    const struct answer *answer;
    while (!(answer = client_next(client))) {
        struct pollfd ready = { .fd = client->fd,
                                .events = (short)(client_has_unsent(client) ? POLLIN | POLLOUT
                                                                            : POLLIN) };
        if (poll(&ready, 1, ANSWER_WAIT_MS) != 1) {
            fail_msg("no answer");
        }
        if (!client_write(client) || !client_read(client)) {
            answer = client_next(client);
            if (!answer) {
                fail_msg("the server closed the connection");
            }
            return answer;
        }
    }
    return answer;
}

const struct part *answer_find(const struct answer *answer, size_t map, const char *key)
{
    struct slice wanted = slice_from_cstr(key);
    for (size_t i = map + 1; i < answer->parts[map].end;) {
        size_t value = answer->parts[i].end;
        if (slice_equal(answer->parts[i].text, wanted)) {
            return &answer->parts[value];
        }
        i = answer->parts[value].end;
    }
    fail_msg("there is no %s in the answer", key);
    return NULL;
}
