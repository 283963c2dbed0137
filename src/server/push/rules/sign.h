// SPDX-License-Identifier: MIT
// The signature of a push, as Standard Webhooks has it: HMAC-SHA256 over the id, the time and the
// body, under a secret that both sides know.
#ifndef SLUICE_SERVER_PUSH_RULES_SIGN_H
#define SLUICE_SERVER_PUSH_RULES_SIGN_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdint.h>

enum {
    PUSH_SECRET_MAX = 512, // bytes of a secret as it is written
};

// Whether it can be one: "whsec_" and base64, or any text as it is. INVALID with a sentence that
// does not show it.
MUST_USE enum status push_secret_check(struct slice secret, struct error *error);

// A job's id as a header can have it: what is not visible ASCII, and %, as %XX.
void push_append_id(struct slice jid, struct buffer *out);

// Appends "v1,BASE64". The content is "ID.SECONDS.BODY". The secret must have passed the check.
void push_sign(struct slice secret, struct slice content, struct buffer *out);

#endif
