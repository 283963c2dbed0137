// SPDX-License-Identifier: MIT
// A connection to a server that was greeted: requests and answers in turn.
#ifndef SLUICE_CLIENT_DIALOG_H
#define SLUICE_CLIENT_DIALOG_H

#include "base/buffer.h"
#include "client/stream.h"
#include "engine/engine.h"

struct dialog {
    struct dialog *next; // of those that are idle
    struct stream stream;
    struct buffer input;
    size_t taken; // bytes at the front of the input that were the answer before
};

// UNREACHABLE, BUSY: perhaps later. A server that does not answer is given up after a while even if
// there is more time: another attempt may find it well.
enum sluice_status dialog_open(const struct url *url, struct ssl_ctx_st *trust, struct until until,
                               struct dialog **out, struct sluice_error *error);
void dialog_close(struct dialog *dialog); // may be NULL

// Appends a request to a buffer; the word at `replaced`, unless that is 0, is another one.
void request_add(struct buffer *out, struct slices words, size_t replaced, struct slice with);

// The next answer or message, borrowed until the next call. `items` becomes how many items it has.
enum stream_result dialog_read(struct dialog *dialog, int64_t deadline_us, int wake,
                               struct slice *out, size_t *items);

#endif
