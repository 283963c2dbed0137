// SPDX-License-Identifier: MIT
// Passwords in the form in which they are stored: `pbkdf2-sha256$ITERATIONS$SALT$HASH`, with salt
// and hash in hexadecimal.
//
// Hashes are PBKDF2 with HMAC-SHA-256 and 100,000 iterations, a few hundredths of a second. Checks
// run in a thread of their own (access/logins.h), one at a time, so that the cost of password
// guesses is bounded and other clients do not wait for it. A user that has logged in once is
// recognised by a faster keyed hash (users.c). Hashes that were made elsewhere may have 1,000 to
// 1,000,000 iterations.
//
// A password that is in the settings as plain text is hashed with 10,000 iterations: an attacker
// who can read the settings has the password anyway.
#ifndef SLUICE_SERVER_CONFIG_PASSWORD_H
#define SLUICE_SERVER_CONFIG_PASSWORD_H

#include "base/slice.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    PASSWORD_ITERATIONS = 100000,
    PASSWORD_ITERATIONS_PLAIN = 10000, // for a password that is plain text in the settings
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

// Whether a text has the prefix of a hash, well-formed or not.
bool password_is_hash(struct slice text);

// INVALID if it is not a well-formed hash.
MUST_USE enum status password_parse(struct slice text, struct password *out, struct error *error);

// Hashes a plain-text password with a fresh salt. INVALID if the password is empty or longer than
// PASSWORD_SIZE_MAX, IO if the system provides no random numbers.
MUST_USE enum status password_hash(struct slice plain, uint32_t iterations, struct password *out,
                                   struct error *error);

// Writes the hash as text with a terminating zero.
void password_format(const struct password *password, char text[PASSWORD_TEXT_SIZE]);

// OK if it is the password, DENIED if it is not, NO_MEMORY if that cannot be determined. OK and
// DENIED take the same time.
MUST_USE enum status password_check(const struct password *password, struct slice plain);

// sluiced --hash-password: reads one password, up to the end of the line, and prints its hash as a
// line. On a terminal it prompts and turns echo off.
MUST_USE enum status password_hash_line(FILE *in, FILE *out, struct error *error);

#endif
