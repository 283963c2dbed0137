// SPDX-License-Identifier: MIT
// The metrics of pushes: how many are in progress, how they ended, which addresses fail.
//
// The first `patterns_max` patterns have samples of their own; the others are added up under an
// empty namespace and an empty pattern. The figures of a pattern are dropped when it is removed.
#ifndef SLUICE_SERVER_PUSH_METRICS_H
#define SLUICE_SERVER_PUSH_METRICS_H

#include "server/http/metrics_text.h"
#include "server/push/push.h"

MUST_USE enum status metrics_push(struct metrics_text *text, const struct push *push,
                                  uint64_t patterns_max);

#endif
