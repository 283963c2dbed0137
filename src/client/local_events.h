// SPDX-License-Identifier: MIT
// Events of the engines of a folder, for subscribers in this process.
#ifndef SLUICE_CLIENT_LOCAL_EVENTS_H
#define SLUICE_CLIENT_LOCAL_EVENTS_H

#include "client/folder.h"

// With the folder's mutex held. An event of a namespace, as struct namespaces_options has it.
void listeners_event(void *context, struct ns *ns, const struct event *event);

// The turn has ended: what it told may be heard when this group is settled.
void listeners_tell(struct folder *folder, uint64_t group);

#endif
