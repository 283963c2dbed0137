// SPDX-License-Identifier: MIT
#include "server/config/password.h"

#include "base/ascii.h"
#include "base/num.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <limits.h>
#include <termios.h>
#include <unistd.h>

enum {
    SALT_SIZE = 16,
    ITERATIONS_MIN = 1000,
    ITERATIONS_MAX = 1000000,
};

static const struct slice prefix = { "pbkdf2-sha256$", 14 };

bool password_is_hash(struct slice text)
{
    return slice_starts_with(text, prefix);
}

static bool derive(const struct password *password, struct slice plain,
                   uint8_t out[PASSWORD_HASH_SIZE])
{
    return plain.size <= INT_MAX &&
           PKCS5_PBKDF2_HMAC(plain.size ? plain.data : "", (int)plain.size, password->salt,
                             password->salt_size, (int)password->iterations, EVP_sha256(),
                             PASSWORD_HASH_SIZE, out) == 1;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_hex(struct slice text, uint8_t *out, size_t size_max, size_t *size)
{
    if (text.size % 2 || text.size / 2 > size_max) {
        return false;
    }
    for (size_t i = 0; i < text.size; i += 2) {
        int high = hex_digit(text.data[i]);
        int low = hex_digit(text.data[i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        out[i / 2] = (uint8_t)(high << 4 | low);
    }
    *size = text.size / 2;
    return true;
}

// Splits off what precedes the next '$'; false if there is none.
static bool next_part(struct slice *rest, struct slice *part)
{
    const char *end = rest->size ? memchr(rest->data, '$', rest->size) : NULL;
    if (!end) {
        return false;
    }
    *part = slice_make(rest->data, (size_t)(end - rest->data));
    *rest = slice_sub(*rest, part->size + 1, rest->size);
    return true;
}

enum status password_parse(struct slice text, struct password *out, struct error *error)
{
    struct password password = { 0 };
    struct slice rest = slice_sub(text, prefix.size, text.size);
    struct slice iterations;
    struct slice salt;
    uint64_t number;
    size_t salt_size;
    size_t hash_size;
    if (!password_is_hash(text) || !next_part(&rest, &iterations) || !next_part(&rest, &salt) ||
        num_parse_u64(iterations, &number) || number < ITERATIONS_MIN || number > ITERATIONS_MAX ||
        !parse_hex(salt, password.salt, sizeof(password.salt), &salt_size) || salt_size < 8 ||
        !parse_hex(rest, password.hash, sizeof(password.hash), &hash_size) ||
        hash_size != PASSWORD_HASH_SIZE) {
        return error_set(error, STATUS_INVALID,
                         "a hash is pbkdf2-sha256$ITERATIONS$SALT$HASH, as 'sluiced "
                         "--hash-password' prints it");
    }
    password.iterations = (uint32_t)number;
    password.salt_size = (uint8_t)salt_size;
    *out = password;
    return STATUS_OK;
}

enum status password_hash(struct slice plain, uint32_t iterations, struct password *out,
                          struct error *error)
{
    struct password password = { .iterations = iterations, .salt_size = SALT_SIZE };
    if (plain.size == 0 || plain.size > PASSWORD_SIZE_MAX) {
        return error_set(error, STATUS_INVALID, "a password has from 1 to %d bytes",
                         PASSWORD_SIZE_MAX);
    }
    if (RAND_bytes(password.salt, SALT_SIZE) != 1 || !derive(&password, plain, password.hash)) {
        return error_set(error, STATUS_IO, "the password cannot be hashed");
    }
    *out = password;
    return STATUS_OK;
}

void password_format(const struct password *password, char text[PASSWORD_TEXT_SIZE])
{
    char *at = text + snprintf(text, PASSWORD_TEXT_SIZE, "%s%u$", prefix.data,
                               (unsigned)password->iterations);
    at = ascii_hex_write(at, password->salt, password->salt_size);
    *at++ = '$';
    at = ascii_hex_write(at, password->hash, PASSWORD_HASH_SIZE);
    *at = '\0';
}

enum status password_check(const struct password *password, struct slice plain)
{
    uint8_t hash[PASSWORD_HASH_SIZE] = { 0 };
    bool done = derive(password, plain, hash);
    bool same = CRYPTO_memcmp(hash, password->hash, sizeof(hash)) == 0;
    OPENSSL_cleanse(hash, sizeof(hash));
    return !done ? STATUS_NO_MEMORY : same ? STATUS_OK : STATUS_DENIED;
}

// Reads a line without its end; false at the end of the input.
static bool read_line(FILE *in, char *line, int size)
{
    struct termios before;
    bool hide = isatty(fileno(in)) && tcgetattr(fileno(in), &before) == 0;
    if (hide) {
        struct termios hidden = before;
        hidden.c_lflag &= ~(tcflag_t)ECHO;
        (void)fputs("Password: ", stderr);
        (void)tcsetattr(fileno(in), TCSAFLUSH, &hidden);
    }
    bool there = fgets(line, size, in) != NULL;
    if (hide) {
        (void)tcsetattr(fileno(in), TCSAFLUSH, &before);
        (void)fputc('\n', stderr);
    }
    if (there) {
        line[strcspn(line, "\r\n")] = '\0';
    }
    return there;
}

enum status password_hash_line(FILE *in, FILE *out, struct error *error)
{
    // with a line end and one byte more, to detect longer passwords
    char line[PASSWORD_SIZE_MAX + 3];
    char text[PASSWORD_TEXT_SIZE];
    struct password password = { 0 };
    if (!read_line(in, line, sizeof(line))) {
        return error_set(error, STATUS_INVALID, "there is no password on standard input");
    }
    enum status status =
        password_hash(slice_from_cstr(line), PASSWORD_ITERATIONS, &password, error);
    OPENSSL_cleanse(line, sizeof(line));
    if (status) {
        return status;
    }
    password_format(&password, text);
    if (fprintf(out, "%s\n", text) < 0 || fflush(out)) {
        return error_set(error, STATUS_IO, "the hash cannot be written");
    }
    return STATUS_OK;
}
