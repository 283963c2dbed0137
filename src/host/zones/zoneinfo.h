// SPDX-License-Identifier: MIT
// Time zones by name ("Europe/Berlin") from the system's database: the folder $TZDIR or
// /usr/share/zoneinfo. What has been read is kept; a zone that the system changes later is seen
// with the next start.
#ifndef SLUICE_HOST_ZONES_ZONEINFO_H
#define SLUICE_HOST_ZONES_ZONEINFO_H

#include "base/alloc.h"
#include "base/slice.h"
#include "base/status.h"
#include "engine/recurring/zone.h"

#include <stdbool.h>

struct zoneinfo;

// `folder` is copied; NULL for $TZDIR or, without it, the usual one.
MUST_USE enum status zoneinfo_new(const struct allocator *allocator, const char *folder,
                                  struct zoneinfo **out);
void zoneinfo_free(struct zoneinfo *zoneinfo);

// Letters, digits and "_+-/", in parts of at least one byte with a slash between them, none of them
// "..": nothing that leads out of the folder.
bool zoneinfo_name_is_valid(struct slice name);

// The rules of a zone, up to the year 2100. The transitions are borrowed until zoneinfo_free.
// NOT_FOUND when the name is not valid or there is no such zone, CORRUPT when its file is
// malformed. Fits struct host (api/call.h), `context` being the zoneinfo.
MUST_USE enum status zoneinfo_find(void *context, struct slice name, struct zone_rules *out,
                                   struct error *error);

#endif
