// SPDX-License-Identifier: MIT
// The generation of qless before mid-2013, which has a script for each call: put.lua, pop.lua and
// so on, called with KEYS and ARGV, such as Put(1, queue, jid, klass, data, now, delay, ...). Each
// script is recognised, and its words are converted to those of the unified script, whose functions
// handle them. Where the replies differ, these functions check `split` of the call.
#ifndef SLUICE_FACES_QLESS_SPLIT_H
#define SLUICE_FACES_QLESS_SPLIT_H

#include "faces/qless/ask.h"
#include "faces/qless/qless.h"

// The script that a text is, from QLESS_SPLIT on; or QLESS_NONE.
enum qless_script qless_split_recognise(struct slice text);

// The name of the call in the unified script; empty if the script has no such call.
struct slice qless_split_name(enum qless_script script, struct slices words);

// Reads the time and the arguments of a call into `ask`, and returns its name.
MUST_USE enum status qless_split_read(const struct qless_call *call, struct qless_ask *ask,
                                      struct slice *name);

#endif
