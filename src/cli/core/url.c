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

const char *url_to_show(const char *url)
{
    char *shown = url_without_password(url);
    // A path may begin with two slashes too: file:///PATH.
    bool path = url_is_folder(url) || !strncmp(url, "unix:", 5);
    char *host = path ? NULL : strstr(shown, "://");
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
