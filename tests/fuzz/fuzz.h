// SPDX-License-Identifier: MIT
// The entry point of a fuzz target, as libFuzzer and replay.c call it.
#ifndef SLUICE_FUZZ_H
#define SLUICE_FUZZ_H

#include <stddef.h>
#include <stdint.h>

// Returns 0; a finding aborts.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
