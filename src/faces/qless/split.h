// SPDX-License-Identifier: MIT
// The generation of qless before mid-2013, which has a script for each call: put.lua, pop.lua and
// so on, called with KEYS and ARGV, such as Put(1, queue, jid, klass, data, now, delay, ...). Each
// is recognised, and its words become those of the unified script, whose functions answer them.
// Where the answers differ, these functions look at `split` of the call.
#ifndef SLUICE_FACES_QLESS_SPLIT_H
#define SLUICE_FACES_QLESS_SPLIT_H

#include "faces/qless/ask.h"
#include "faces/qless/qless.h"

// Which of the scripts a text is, from QLESS_SPLIT on; or QLESS_NONE.
enum qless_script qless_split_recognise(struct slice text);

// The name that the unified script has for the call; empty when the script makes no such call.
struct slice qless_split_name(enum qless_script script, struct slices words);

// Reads the time and the arguments of a call into `ask`, and gives its name.
MUST_USE enum status qless_split_read(const struct qless_call *call, struct qless_ask *ask,
                                      struct slice *name);

#endif
