// SPDX-License-Identifier: MIT
// Passwords as they are stored: `pbkdf2-sha256$ITERATIONS$SALT$HASH`, salt and hash in hexadecimal.
//
// Hashes are PBKDF2 with HMAC-SHA-256 and 100,000 iterations, a few hundredths of a second. A check
// runs in a thread of its own (server/logins.h), one at a time, so that what guessing costs is
// bounded and other clients do not wait for it. A user that has logged in once is recognised by a
// faster way. A hash made elsewhere, or before, may have from 1,000 to 1,000,000 iterations.
//
// A password that stands in the settings in plain text is hashed with 10,000: an attacker who can
// read the settings has the password itself.
#ifndef SLUICE_SERVER_CONFIG_PASSWORD_H
#define SLUICE_SERVER_CONFIG_PASSWORD_H

#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    PASSWORD_ITERATIONS = 100000,
    PASSWORD_ITERATIONS_PLAIN = 10000, // of one that is in the settings in plain text
    PASSWORD_SALT_MAX = 32,
    PASSWORD_HASH_SIZE = 32,
    PASSWORD_SIZE_MAX = 512,  // of a password in plain text
    PASSWORD_TEXT_SIZE = 256, // of a hash as text, with the zero behind it
};

struct password {
    uint32_t iterations;
    uint8_t salt_size;
    uint8_t salt[PASSWORD_SALT_MAX];
    uint8_t hash[PASSWORD_HASH_SIZE];
};

// Whether a text says that it is a hash, well-formed or not.
bool password_is_hash(struct slice text);

// INVALID when it is no well-formed hash.
MUST_USE enum status password_parse(struct slice text, struct password *out, struct error *error);

// A hash of a password in plain text, with a fresh salt. INVALID when the password is empty or
// longer than PASSWORD_SIZE_MAX, IO when there is no randomness.
MUST_USE enum status password_hash(struct slice plain, uint32_t iterations, struct password *out,
                                   struct error *error);

// As text, with a zero behind it.
void password_format(const struct password *password, char text[PASSWORD_TEXT_SIZE]);

// OK when it is the password, DENIED when it is not, NO_MEMORY when that cannot be told. Takes the
// same time whether it is or not.
MUST_USE enum status password_check(const struct password *password, struct slice plain);

// sluiced --hash-password: reads one password, up to the end of the line, and prints its hash on a
// line. On a terminal it asks and does not show what is typed.
MUST_USE enum status password_hash_line(FILE *in, FILE *out, struct error *error);

#endif
