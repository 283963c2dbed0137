// SPDX-License-Identifier: MIT
// The signature of a push, as defined by Standard Webhooks: HMAC-SHA256 of the id, the time and the
// body, with a secret that both sides know.
#ifndef SLUICE_SERVER_PUSH_RULES_SIGN_H
#define SLUICE_SERVER_PUSH_RULES_SIGN_H

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

#include <stdint.h>

enum {
    PUSH_SECRET_MAX = 512, // bytes of a secret as it is written
};

// Checks that the text can be a secret: "whsec_" and base64, or any other text. INVALID with a
// message that does not show it.
MUST_USE enum status push_secret_check(struct slice secret, struct error *error);

// Appends a job's id for a header: bytes that are not visible ASCII, and %, become %XX.
void push_append_id(struct slice jid, struct buffer *out);

// Appends "v1,BASE64". The content is "ID.SECONDS.BODY". The secret must have passed the check.
void push_sign(struct slice secret, struct slice content, struct buffer *out);

#endif
