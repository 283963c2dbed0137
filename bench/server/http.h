// SPDX-License-Identifier: MIT
// The life of a job over HTTP with persistent connections.
#ifndef SLUICE_BENCH_HTTP_H
#define SLUICE_BENCH_HTTP_H

#include "parts.h"

size_t http_put(struct buffer *out, const struct life *life);
size_t http_pop(struct buffer *out, const struct life *life);
size_t http_complete(struct buffer *out, const struct life *life);
bool http_popped(struct life *life, const struct answer *answer);

// Reads the reply at the start of the input. Its body is the only leaf, and an error if the status
// is one. Returns false if the reply is incomplete.
bool http_answer_read(struct answer *answer, struct slice input);

#endif
