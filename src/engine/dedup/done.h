// SPDX-License-Identifier: MIT
// The jids of complete jobs that are gone, the newest `jobs-history-jids` of them: a job that is to
// depend on one of them must not be told that it does not exist.
//
// Of each jid 64 bits of a hash are kept, in blocks that are saved as one record each; a jid takes
// some 40 bytes of memory and 12 of the store. That a jid that never was is taken for one of a
// million happens once in 10^13 times. With it stands a checksum of the lease that completed the job
// (settled.h), so that its holder is still answered.
#ifndef SLUICE_ENGINE_DEDUP_DONE_H
#define SLUICE_ENGINE_DEDUP_DONE_H

#include "engine/engine.h"

#include "base/map.h"

enum {
    DONE_BLOCK_SIZE = 64,
};

struct done_block;

struct done_entry {
    uint64_t hash;   // 0: it was forgotten
    uint32_t digest; // settled_digest
    uint32_t index;  // in its block
};

struct done_block {
    struct done_block *next, *previous; // by age
    struct done_block *dirty_next;
    uint64_t id;
    uint32_t count;
    bool dirty, gone; // gone: it waits as a shell until the host has been told
    struct done_entry entries[DONE_BLOCK_SIZE];
};

struct done {
    struct map hashes; // the entries that were not forgotten
    struct done_block *first, *last;
    size_t blocks;
};

void done_init(struct engine *engine, struct hash_seed seed);
void done_release(struct engine *engine);

// A complete job with that jid is about to go: it is noted as the newest, and the oldest may be
// forgotten for it. NO_MEMORY when nothing has changed.
MUST_USE enum status done_add(struct engine *engine, struct slice jid, uint32_t digest);

// A job with that jid went without being complete: if one was before, it counts no more.
void done_forget(struct engine *engine, struct slice jid);

bool done_has(const struct engine *engine, struct slice jid);
// Whether it has it with that digest.
bool done_has_digest(const struct engine *engine, struct slice jid, uint32_t digest);

void done_free_shell(struct engine *engine, struct done_block *block);

// A block as it was saved; for loading. CORRUPT when it cannot be one. Those of version 1 of the
// format are hashes alone.
enum {
    DONE_RECORD_DIGESTS = 2, // the first byte of one with digests, whose size is odd
};
MUST_USE enum status done_load(struct engine *engine, uint64_t id, struct slice bytes);

// How many entries the blocks have room for.
size_t done_size(const struct engine *engine);

// Whether blocks and map agree.
bool done_check(const struct engine *engine);

#endif
