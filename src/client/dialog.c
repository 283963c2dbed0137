// SPDX-License-Identifier: MIT
#include "client/dialog.h"

#include "client/memory.h"
#include "client/password.h"
#include "client/value.h"
#include "os/clock.h"
#include "wire/resp_item.h"

#include <stddef.h>
#include <stdlib.h>

enum {
    READ_SIZE = 16 << 10,
    INPUT_MAX = 1 << 30,
    INPUT_KEPT = 64 << 10, // of the memory for an answer, for the next one
    OPEN_US = 10000000,
};

// ---------------------------------------------------------------------------------------------
// Requests and answers

void request_add(struct buffer *out, struct slices words, size_t replaced, struct slice with)
{
    buffer_printf(out, "*%zu\r\n", words.count);
    for (size_t i = 0; i < words.count; i++) {
        struct slice word = replaced && i == replaced ? with : words.items[i];
        buffer_printf(out, "$%zu\r\n", word.size);
        buffer_append(out, word);
        buffer_append(out, SLICE("\r\n"));
    }
}

static enum stream_result read_more(struct dialog *dialog, int64_t deadline_us, int wake)
{
    size_t got;
    char *room = buffer_reserve(&dialog->input, READ_SIZE);
    if (!room) {
        return STREAM_CLOSED;
    }
    enum stream_result result =
        stream_read(&dialog->stream, room, READ_SIZE, &got, deadline_us, wake);
    buffer_commit(&dialog->input, got);
    return result;
}

static void drop_taken(struct dialog *dialog)
{
    if (dialog->taken == dialog->input.size && dialog->taken > INPUT_KEPT) {
        buffer_release(&dialog->input);
    } else {
        buffer_consume(&dialog->input, dialog->taken);
    }
    dialog->taken = 0;
}

enum stream_result dialog_read(struct dialog *dialog, int64_t deadline_us, int wake,
                               struct slice *out, size_t *items)
{
    struct resp_scan scan;
    struct error error;
    drop_taken(dialog);
    resp_scan_begin(&scan);
    for (;;) {
        switch (resp_scan_read(&scan, buffer_slice(&dialog->input), &error)) {
        case RESP_READY:
            dialog->taken = scan.position;
            *out = slice_sub(buffer_slice(&dialog->input), 0, scan.position);
            *items = scan.items;
            return STREAM_OK;
        case RESP_BROKEN:
            return STREAM_ODD;
        case RESP_MORE:
            break;
        }
        enum stream_result result = read_more(dialog, deadline_us, wake);
        if (result != STREAM_OK) {
            return result;
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Opening

static enum sluice_status no_greeting(const struct url *url, enum stream_result why,
                                      struct sluice_error *error)
{
    if (why == STREAM_WOKEN) {
        return fault_interrupted(error);
    }
    return fault(error, SLUICE_UNREACHABLE,
                 why == STREAM_ODD ? "%s does not speak RESP" : "%s does not answer", url->place);
}

// A server accepts only printable ASCII characters without spaces.
void peer_name(char out[PEER_NAME_SIZE], const char *text)
{
    size_t size = 0;
    for (; size < PEER_NAME_SIZE - 1 && text[size]; size++) {
        bool accepted = text[size] > ' ' && text[size] <= '~';
        memcpy(&out[size], accepted ? &text[size] : "-", 1);
    }
    out[size] = '\0';
}

// HELLO 3 [AUTH user password] [SETNAME name]
static enum sluice_status write_hello(const struct peer *peer, struct buffer *out,
                                      struct sluice_error *error)
{
    char password[URL_PART_SIZE];
    struct slice words[7] = { SLICE("HELLO"), SLICE("3") };
    const struct url *url = &peer->url;
    size_t count = 2;
    if (peer->password_file[0]) {
        enum sluice_status status = password_read(peer->password_file, password, error);
        if (status) {
            return status;
        }
    } else {
        memcpy(password, url->password, sizeof(password));
    }
    if (url->user[0] || password[0]) {
        words[count++] = SLICE("AUTH");
        words[count++] = slice_from_cstr(url->user[0] ? url->user : "default");
        words[count++] = slice_from_cstr(password);
    }
    if (peer->name[0]) {
        words[count++] = SLICE("SETNAME");
        words[count++] = slice_from_cstr(peer->name);
    }
    request_add(out, (struct slices){ words, count }, 0, SLICE_EMPTY);
    explicit_bzero(password, sizeof(password));
    return SLUICE_OK;
}

// Introduces the library, with RESP3 as the protocol.
static enum sluice_status greet(const struct peer *peer, struct dialog *dialog, struct until until,
                                struct sluice_error *error)
{
    const struct url *url = &peer->url;
    struct buffer request;
    buffer_init(&request, &allocator_system, INPUT_MAX);
    enum sluice_status status = write_hello(peer, &request, error);
    if (status) {
        buffer_release(&request);
        return status;
    }
    enum stream_result result = request.status
                                    ? STREAM_CLOSED
                                    : stream_write(&dialog->stream, buffer_slice(&request), until);
    buffer_release(&request);
    struct slice answer = SLICE_EMPTY;
    size_t items = 0;
    if (result == STREAM_OK) {
        result = dialog_read(dialog, until.deadline_us, until.wake, &answer, &items);
    }
    if (dialog->stream.turned_away) {
        return stream_turned_away(url, error);
    }
    if (result != STREAM_OK) {
        return no_greeting(url, result, error);
    }
    struct sluice_value *value;
    struct sluice_error refusal;
    status = value_read(answer, items, &value, &refusal);
    sluice_value_free(value);
    if (status && strncmp(refusal.message, "max number of clients", 21) == 0) {
        status = SLUICE_BUSY;
    }
    return status ? fault(error, status, "%s", refusal.message) : SLUICE_OK;
}

// The server sees the connection of the parent alone, and the child's calls do not use it.
static void forget(struct fork_guard *guard)
{
    struct dialog *dialog = (struct dialog *)((char *)guard - offsetof(struct dialog, guard));
    stream_abandon(&dialog->stream);
}

enum sluice_status dialog_open(const struct peer *peer, struct until until, struct dialog **out,
                               struct sluice_error *error)
{
    struct dialog *dialog = memory_zalloc(1, sizeof(*dialog));
    if (!dialog) {
        return fault_no_memory(error);
    }
    buffer_init(&dialog->input, &allocator_system, INPUT_MAX);
    int64_t open_us = monotonic_us() + OPEN_US;
    until.deadline_us = until.deadline_us < open_us ? until.deadline_us : open_us;
    enum sluice_status status = stream_open(&dialog->stream, &peer->url, peer->trust, until, error);
    if (!status) {
        status = greet(peer, dialog, until, error);
    }
    if (status) {
        dialog_close(dialog);
        return status;
    }
    fork_guard_add(&dialog->guard, forget);
    *out = dialog;
    return SLUICE_OK;
}

void dialog_close(struct dialog *dialog)
{
    if (dialog) {
        fork_guard_remove(&dialog->guard);
        stream_close(&dialog->stream);
        buffer_release(&dialog->input);
        memory_free(dialog);
    }
}
