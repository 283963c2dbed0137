// SPDX-License-Identifier: MIT
// Time zones by name ("Europe/Berlin") from the system's database: the folder $TZDIR or
// /usr/share/zoneinfo. Zones are cached, so a change of the database takes effect with the next
// start.
#ifndef SLUICE_HOST_ZONES_ZONEINFO_H
#define SLUICE_HOST_ZONES_ZONEINFO_H

#include "base/alloc.h"
#include "base/slice.h"
#include "base/status.h"
#include "engine/recurring/zone.h"

#include <stdbool.h>

struct zoneinfo;

// `folder` is copied; NULL means $TZDIR or the default folder.
MUST_USE enum status zoneinfo_new(const struct allocator *allocator, const char *folder,
                                  struct zoneinfo **out);
void zoneinfo_free(struct zoneinfo *zoneinfo);

// Letters, digits and "_+-/", in nonempty parts separated by slashes, none of them "..": a name
// cannot lead out of the folder.
bool zoneinfo_name_is_valid(struct slice name);

// Returns the transitions of a zone up to the year 2100, borrowed until zoneinfo_free. NOT_FOUND if
// the name is not valid or there is no such zone, CORRUPT if its file is malformed. Matches struct
// host (api/call.h); `context` is the zoneinfo.
MUST_USE enum status zoneinfo_find(void *context, struct slice name, struct zone_rules *out,
                                   struct error *error);

#endif
