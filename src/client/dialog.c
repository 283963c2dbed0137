// SPDX-License-Identifier: MIT
#include "client/dialog.h"

#include "client/value.h"
#include "os/clock.h"
#include "wire/resp_item.h"

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
                 why == STREAM_ODD ? "%.120s:%s answers with what is no RESP"
                                   : "%.120s:%s does not answer",
                 url->host, url->port);
}

// Who we are, and that we speak RESP3.
static enum sluice_status greet(const struct url *url, struct dialog *dialog, struct until until,
                                struct sluice_error *error)
{
    const char *user = url->user[0] ? url->user : "default";
    const struct slice words[] = {
        SLICE("HELLO"),
        SLICE("3"),
        SLICE("AUTH"),
        slice_from_cstr(user),
        slice_from_cstr(url->password),
    };
    struct buffer request;
    buffer_init(&request, &allocator_system, INPUT_MAX);
    bool named = url->user[0] || url->password[0];
    request_add(&request, (struct slices){ words, named ? 5 : 2 }, 0, SLICE_EMPTY);
    enum stream_result result =
        request.status ? STREAM_CLOSED
                       : stream_write(&dialog->stream, buffer_slice(&request), until.deadline_us);
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
    enum sluice_status status = value_read(answer, items, &value, &refusal);
    sluice_value_free(value);
    if (status && strncmp(refusal.message, "max number of clients", 21) == 0) {
        status = SLUICE_BUSY;
    }
    return status ? fault(error, status, "%s", refusal.message) : SLUICE_OK;
}

enum sluice_status dialog_open(const struct url *url, struct ssl_ctx_st *trust, struct until until,
                               struct dialog **out, struct sluice_error *error)
{
    struct dialog *dialog = calloc(1, sizeof(*dialog));
    if (!dialog) {
        return fault_no_memory(error);
    }
    buffer_init(&dialog->input, &allocator_system, INPUT_MAX);
    int64_t open_us = monotonic_us() + OPEN_US;
    until.deadline_us = until.deadline_us < open_us ? until.deadline_us : open_us;
    enum sluice_status status = stream_open(&dialog->stream, url, trust, until, error);
    if (!status) {
        status = greet(url, dialog, until, error);
    }
    if (status) {
        dialog_close(dialog);
        return status;
    }
    *out = dialog;
    return SLUICE_OK;
}

void dialog_close(struct dialog *dialog)
{
    if (dialog) {
        stream_close(&dialog->stream);
        buffer_release(&dialog->input);
        free(dialog);
    }
}
