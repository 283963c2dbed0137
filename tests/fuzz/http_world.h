// SPDX-License-Identifier: MIT
// An engine behind the HTTP face, and what must hold whatever it is asked: there is one whole
// answer whose body is JSON; what becomes words is a command that the table knows, and its words
// are either run or refused for what they say, never for how they stand.
#ifndef SLUICE_FUZZ_HTTP_WORLD_H
#define SLUICE_FUZZ_HTTP_WORLD_H

#include "api/call.h"
#include "bounded.h"
#include "faces/http/http.h"

struct http_world {
    struct bounded memory; // the engine's; a world must stay where it is
    struct engine *engine;
    struct commands *commands;
    struct http_face *face;
    struct scratch scratch;
    struct host host;
    uint64_t random;
    int64_t now_us;
    struct buffer answer;
};

void http_world_init(struct http_world *world);
void http_world_release(struct http_world *world);

// A request as it comes over the wire. Gives whether a command was run and worked.
bool http_world_ask(struct http_world *world, struct slice wire);

// The engine's consistency check.
void http_world_check(struct http_world *world);

#endif
