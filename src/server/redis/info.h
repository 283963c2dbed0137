// SPDX-License-Identifier: MIT
// The state of the store in words, for INFO and /readyz.
#ifndef SLUICE_SERVER_REDIS_INFO_H
#define SLUICE_SERVER_REDIS_INFO_H

#include "store/store.h"

const char *info_durability(enum store_durability durability);
const char *info_store_state(enum store_state state);
// What an operator can do about the state; empty for STORE_READY.
const char *info_store_hint(enum store_state state);

#endif
