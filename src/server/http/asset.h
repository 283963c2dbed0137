// SPDX-License-Identifier: MIT
// The files of the dashboard, which tools/build-dashboard compiles into the program.
#ifndef SLUICE_SERVER_HTTP_ASSET_H
#define SLUICE_SERVER_HTTP_ASSET_H

#include <stdbool.h>
#include <stddef.h>

struct asset {
    const char *path; // "/assets/main-2KX4N7QA.js"; the page itself is "/"
    const char *type; // "text/javascript; charset=utf-8"
    const char *etag; // with its quotes
    const unsigned char *gzip;
    size_t gzip_size;
    size_t size; // of the uncompressed content
    // the path contains a hash of the content, so the content at this path never changes
    bool hashed;
};

struct assets {
    const struct asset *items;
    size_t count; // 0: the program was built without the dashboard
};

extern const struct assets assets;

#endif
