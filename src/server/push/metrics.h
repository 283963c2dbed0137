// SPDX-License-Identifier: MIT
// The figures of pushes: how many are under way, how they ended, which addresses are not well.
//
// So many patterns have samples of their own, the first ones there were; the others are added up
// under an empty namespace and an empty pattern. A pattern that is gone takes its figures along.
#ifndef SLUICE_SERVER_PUSH_METRICS_H
#define SLUICE_SERVER_PUSH_METRICS_H

#include "server/http/metrics_text.h"
#include "server/push/push.h"

MUST_USE enum status metrics_push(struct metrics_text *text, const struct push *push,
                                  uint64_t patterns_max);

#endif
