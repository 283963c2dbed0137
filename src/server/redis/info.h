// SPDX-License-Identifier: MIT
// The store's state in words, as INFO and /readyz tell it.
#ifndef SLUICE_SERVER_REDIS_INFO_H
#define SLUICE_SERVER_REDIS_INFO_H

#include "store/store.h"

const char *info_durability(enum store_durability durability);
const char *info_store_state(enum store_state state);
// What an operator can do about it; empty when it is ready.
const char *info_store_hint(enum store_state state);

#endif
