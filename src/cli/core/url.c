// SPDX-License-Identifier: MIT
#include "cli/core/url.h"

#include "cli/core/cli.h"

#include <string.h>

char *url_without_password(const char *url)
{
    const char *host = strstr(url, "://");
    const char *from = host ? host + 3 : NULL;
    size_t part = from ? strcspn(from, "/?#") : 0;
    // What stands before the last @ is the user; a password may have an @ or a : in it too.
    const char *at = from ? memrchr(from, '@', part) : NULL;
    const char *colon = at ? memchr(from, ':', (size_t)(at - from)) : NULL;
    if (!colon) {
        return tool_copy(url, strlen(url));
    }
    // A password alone leaves nothing in front of the host.
    const char *rest = colon == from ? at + 1 : at;
    return tool_format("%.*s%s", (int)(colon - url), url, rest);
}

// What stands in front of the host: "USER[:PASSWORD]@"; NULL: nothing.
static const char *user_of(const char *url, const char **host)
{
    const char *scheme = strstr(url, "://");
    if (!scheme) {
        return NULL;
    }
    const char *from = scheme + 3;
    const char *at = memrchr(from, '@', strcspn(from, "/?#"));
    *host = at ? at + 1 : from;
    return at ? from : NULL;
}

bool url_has_password(const char *url)
{
    const char *host;
    const char *user = user_of(url, &host);
    return user && memchr(user, ':', (size_t)(host - user));
}

char *url_with_password(const char *url, const char *password)
{
    const char *host = strstr(url, "://") ? NULL : url + strlen(url);
    const char *user = user_of(url, &host);
    const char *from = user ? user : host;
    char *encoded = tool_allocate(3 * strlen(password) + 1);
    for (size_t i = 0; password[i]; i++) {
        (void)snprintf(encoded + 3 * i, 4, "%%%02X", (unsigned)(unsigned char)password[i]);
    }
    char *whole = tool_format("%.*s%.*s:%s@%s", (int)(from - url), url,
                              user ? (int)(host - 1 - user) : 0, user ? user : "", encoded, host);
    explicit_bzero(encoded, 3 * strlen(password));
    tool_free(encoded);
    return whole;
}

const char *url_to_show(const char *url)
{
    char *shown = url_without_password(url);
    char *host = strstr(shown, "://");
    char *from = host ? host + 3 : shown;
    from[strcspn(from, host ? "/?#" : "?")] = '\0';
    return shown;
}

bool url_is_folder(const char *url)
{
    return strncmp(url, "file:", 5) == 0;
}

bool url_is_tls(const char *url)
{
    return !strncmp(url, "sluices://", 10) || !strncmp(url, "rediss://", 9);
}

char *url_of_existing(const char *url)
{
    const char *options = strchr(url, '?');
    const char *between = !options ? "?" : options[1] ? "&" : "";
    return url_is_folder(url) ? tool_format("%s%screate=no", url, between) : NULL;
}
