// SPDX-License-Identifier: MIT
#include "server/redis/scripts.h"

#include "base/ascii.h"

#include <openssl/evp.h>
#include <strings.h>

static void sha1(struct slice text, char out[SCRIPT_SHA_SIZE])
{
    unsigned char hash[EVP_MAX_MD_SIZE] = { 0 };
    EVP_Digest(text.size ? text.data : "", text.size, hash, NULL, EVP_sha1(), NULL);
    (void)ascii_hex_write(out, hash, SCRIPT_SHA_SIZE / 2);
}

const struct script *scripts_find(const struct scripts *scripts, struct slice sha)
{
    if (sha.size != SCRIPT_SHA_SIZE) {
        return NULL;
    }
    for (size_t i = 0; i < scripts->count; i++) {
        if (strncasecmp(scripts->known[i].sha, sha.data, SCRIPT_SHA_SIZE) == 0) {
            return &scripts->known[i];
        }
    }
    return NULL;
}

enum status scripts_load(struct scripts *scripts, struct slice text, const struct script **out,
                         struct error *error)
{
    struct script script;
    sha1(text, script.sha);
    *out = scripts_find(scripts, slice_make(script.sha, SCRIPT_SHA_SIZE));
    if (*out) {
        return STATUS_OK;
    }
    script.kind = qless_recognise(text);
    if (script.kind == QLESS_NONE) {
        return error_set(error, STATUS_UNSUPPORTED,
                         "not a script of qless (of May 2012 or later); other Lua scripts are not "
                         "supported");
    }
    if (scripts->count == SCRIPTS_MAX) {
        memmove(scripts->known, scripts->known + 1, (SCRIPTS_MAX - 1) * sizeof(scripts->known[0]));
        scripts->count--;
    }
    scripts->known[scripts->count] = script;
    *out = &scripts->known[scripts->count++];
    return STATUS_OK;
}

void scripts_flush(struct scripts *scripts)
{
    scripts->count = 0;
}
