// SPDX-License-Identifier: MIT
// The jids of complete jobs that are gone, the newest `jobs-history-jids` of them: a dependency on
// one of them counts as complete and not as missing.
//
// Of each jid a hash of 64 bits is kept, in blocks that are saved as one record each. A jid takes
// about 40 bytes of memory and 12 of the store. With a million jids, the probability that an unknown
// jid is taken for one of them is 10^-13. Each hash has a checksum of the lease that completed the
// job (settled.h), so that a repeated completion is answered.
#ifndef SLUICE_ENGINE_DEDUP_DONE_H
#define SLUICE_ENGINE_DEDUP_DONE_H

#include "engine/engine.h"

#include "base/map.h"

enum {
    DONE_BLOCK_SIZE = 64,
};

struct done_block;

struct done_entry {
    uint64_t hash;   // 0: forgotten
    uint32_t digest; // settled_digest
    uint32_t index;  // in its block
};

struct done_block {
    struct done_block *next, *previous; // by age
    struct done_block *dirty_next;
    uint64_t id;
    uint32_t count;
    bool dirty, gone; // gone: kept as a shell until the host has taken the change
    struct done_entry entries[DONE_BLOCK_SIZE];
};

struct done {
    struct map hashes; // the entries that were not forgotten
    struct done_block *first, *last;
    size_t blocks;
};

void done_init(struct engine *engine, struct hash_seed seed);
void done_release(struct engine *engine);

// Adds the jid of a complete job that is about to be removed, as the newest; the oldest may be
// forgotten. On NO_MEMORY nothing has changed.
MUST_USE enum status done_add(struct engine *engine, struct slice jid, uint32_t digest);

// Forgets a jid, because a job with that jid was removed without being complete.
void done_forget(struct engine *engine, struct slice jid);

bool done_has(const struct engine *engine, struct slice jid);
// Whether the jid is known with that digest.
bool done_has_digest(const struct engine *engine, struct slice jid, uint32_t digest);

void done_free_shell(struct engine *engine, struct done_block *block);

// Loads a block from its record; CORRUPT if the bytes are invalid. Records of version 1 of the format
// have hashes only.
enum {
    DONE_RECORD_DIGESTS = 2, // the first byte of one with digests, whose size is odd
};
MUST_USE enum status done_load(struct engine *engine, uint64_t id, struct slice bytes);

// How many entries the blocks have room for.
size_t done_size(const struct engine *engine);

// Whether blocks and map agree.
bool done_check(const struct engine *engine);

#endif
