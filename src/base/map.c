// SPDX-License-Identifier: MIT
// Extendible hashing over open-addressed segments.
//
// The upper bits of a hash choose an entry of the directory, which points to a segment; the lower
// bits choose a slot in it, from which probing is linear. A full segment is split in two by the
// next bit, and the directory doubles when it has no entry for that bit: a growing map copies one
// segment at a time. Two half-empty neighbours are merged again.
//
// Slots come in buckets of a cache line each, so that a find mostly reads one line of the table and
// one of the object.
//
// Invariants: a segment of depth d is pointed to by the 2^(depth - d) directory entries that share
// its upper d bits. A segment has at least one empty slot, so a probe ends. From the start of an
// entry's own bucket to where it stands no slot is empty. Only a map's sole segment has fewer than
// BUCKETS_MAX buckets.
#include "base/map.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

enum {
    BUCKET_SLOTS = 5,
    BUCKETS_MIN = 2,
    BUCKETS_MAX = 256,
    SLOTS_MAX = BUCKETS_MAX * BUCKET_SLOTS,
    SEGMENT_EXPECTED = SLOTS_MAX * 7 / 10, // the average, so that almost no segment is full
    RADIX_BITS = 8,
    RADIX = 1 << RADIX_BITS,
    DEPTH_MAX = 24, // with the 8 bits that select a bucket this uses all bits of the hash
    CACHE_LINE = 64,
};

#define NO_SLOT UINT32_MAX

struct bucket {
    void *values[BUCKET_SLOTS];
    uint32_t hashes[BUCKET_SLOTS]; // 0 for an empty slot
};

_Static_assert(sizeof(void *) != 8 || sizeof(struct bucket) == CACHE_LINE, "a bucket is a line");

struct map_segment {
    uint32_t bucket_count; // a power of two
    uint32_t slot_count;
    uint32_t used;
    uint32_t depth;
    // The buckets follow at the next cache line.
};

// The buckets are at a fixed distance from the segment, so that a search need not read the header.
static struct bucket *segment_buckets(const struct map_segment *segment)
{
    char *end = (char *)segment + sizeof(*segment);
    size_t offset = (CACHE_LINE - (uintptr_t)end % CACHE_LINE) % CACHE_LINE;
    return (struct bucket *)(void *)(end + offset);
}

static uint32_t *slot_hash(const struct map_segment *segment, uint32_t slot)
{
    return &segment_buckets(segment)[slot / BUCKET_SLOTS].hashes[slot % BUCKET_SLOTS];
}

static void **slot_value(const struct map_segment *segment, uint32_t slot)
{
    return &segment_buckets(segment)[slot / BUCKET_SLOTS].values[slot % BUCKET_SLOTS];
}

static uint32_t slot_next(const struct map_segment *segment, uint32_t slot)
{
    return slot + 1 == segment->slot_count ? 0 : slot + 1;
}

// The number of slots from `from` to `to`, with wrap-around.
static uint32_t slot_distance(const struct map_segment *segment, uint32_t from, uint32_t to)
{
    return to >= from ? to - from : to + segment->slot_count - from;
}

// The slot at which the search for a hash begins.
static uint32_t slot_home(const struct map_segment *segment, uint32_t hash)
{
    return (hash & (segment->bucket_count - 1)) * BUCKET_SLOTS;
}

static size_t segment_size(uint32_t bucket_count)
{
    return sizeof(struct map_segment) + CACHE_LINE + bucket_count * sizeof(struct bucket);
}

// Up to three quarters, a search reads little more than one bucket.
static bool segment_is_full(const struct map_segment *segment)
{
    return segment->used >= segment->slot_count - segment->slot_count / 4;
}

static struct map_segment *segment_new(const struct allocator *allocator, uint32_t bucket_count,
                                       uint32_t depth)
{
    struct map_segment *segment = mem_alloc(allocator, segment_size(bucket_count));
    if (segment) {
        *segment = (struct map_segment){
            .bucket_count = bucket_count,
            .slot_count = bucket_count * BUCKET_SLOTS,
            .depth = depth,
        };
        memset(segment_buckets(segment), 0, bucket_count * sizeof(struct bucket));
    }
    return segment;
}

static void segment_free(const struct allocator *allocator, struct map_segment *segment)
{
    if (segment) {
        mem_free(allocator, segment, segment_size(segment->bucket_count));
    }
}

static void segment_add(struct map_segment *segment, uint32_t hash, void *value)
{
    assert(segment->used + 1 < segment->slot_count);
    uint32_t slot = slot_home(segment, hash);
    while (*slot_hash(segment, slot)) {
        slot = slot_next(segment, slot);
    }
    *slot_hash(segment, slot) = hash;
    *slot_value(segment, slot) = value;
    segment->used++;
}

// Closes the gap by moving later entries of the run that may be nearer to their home, so that no
// tombstones are needed.
static void segment_remove_slot(struct map_segment *segment, uint32_t slot)
{
    uint32_t gap = slot;
    uint32_t hash;
    for (uint32_t at = slot_next(segment, gap); (hash = *slot_hash(segment, at));
         at = slot_next(segment, at)) {
        uint32_t from_home = slot_distance(segment, slot_home(segment, hash), at);
        if (from_home >= slot_distance(segment, gap, at)) {
            *slot_hash(segment, gap) = hash;
            *slot_value(segment, gap) = *slot_value(segment, at);
            gap = at;
        }
    }
    *slot_hash(segment, gap) = 0;
    segment->used--;
}

// Adds the entries of `source` to `high` if their hash has the bit, otherwise to `low`.
static void segment_copy(const struct map_segment *source, uint32_t bit, struct map_segment *high,
                         struct map_segment *low)
{
    for (uint32_t slot = 0; slot < source->slot_count; slot++) {
        uint32_t hash = *slot_hash(source, slot);
        if (hash) {
            segment_add(hash & bit ? high : low, hash, *slot_value(source, slot));
        }
    }
}

// Zero marks an empty slot, so no key has that hash.
static uint32_t map_hash(const struct map *map, struct slice key)
{
    uint32_t hash = (uint32_t)(hash_bytes(&map->seed, key) >> 32);
    return hash ? hash : 1;
}

static size_t directory_index(const struct map *map, uint32_t hash)
{
    return map->depth ? hash >> (32 - map->depth) : 0;
}

static size_t directory_size(const struct map *map)
{
    return sizeof(struct map_segment *) << map->depth;
}

void map_init(struct map *map, const struct allocator *allocator, struct hash_seed seed,
              struct slice (*key_of)(const void *value))
{
    *map = (struct map){ .allocator = allocator, .key_of = key_of, .seed = seed };
}

void map_release(struct map *map)
{
    if (map->directory) {
        size_t entries = (size_t)1 << map->depth;
        for (size_t i = 0; i < entries;) {
            struct map_segment *segment = map->directory[i];
            i += (size_t)1 << (map->depth - segment->depth);
            segment_free(map->allocator, segment);
        }
        mem_free(map->allocator, map->directory, directory_size(map));
    }
    map_init(map, map->allocator, map->seed, map->key_of);
}

// Only a map's sole segment can be small, so the size of the others is known without reading it.
static uint32_t bucket_count_of(const struct map *map, const struct map_segment *segment)
{
    return map->depth ? BUCKETS_MAX : segment->bucket_count;
}

// The slot that holds `key`, or NO_SLOT.
static uint32_t find_slot(const struct map *map, const struct map_segment *segment, uint32_t hash,
                          struct slice key)
{
    const struct bucket *buckets = segment_buckets(segment);
    uint32_t mask = bucket_count_of(map, segment) - 1;
    for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
        const struct bucket *bucket = &buckets[at];
        for (uint32_t i = 0; i < BUCKET_SLOTS; i++) {
            if (bucket->hashes[i] == 0) {
                return NO_SLOT;
            }
            if (bucket->hashes[i] == hash && slice_equal(map->key_of(bucket->values[i]), key)) {
                return at * BUCKET_SLOTS + i;
            }
        }
    }
}

struct map_spot map_spot(const struct map *map, struct slice key)
{
    struct map_spot spot = { map_hash(map, key) };
    if (map->directory) {
        const struct map_segment *segment = map->directory[directory_index(map, spot.hash)];
        uint32_t bucket = spot.hash & (bucket_count_of(map, segment) - 1);
        __builtin_prefetch(&segment_buckets(segment)[bucket]);
    }
    return spot;
}

void *map_find_at(const struct map *map, struct map_spot spot, struct slice key)
{
    if (!map->directory) {
        return NULL;
    }
    const struct map_segment *segment = map->directory[directory_index(map, spot.hash)];
    uint32_t slot = find_slot(map, segment, spot.hash, key);
    return slot == NO_SLOT ? NULL : *slot_value(segment, slot);
}

void *map_find(const struct map *map, struct slice key)
{
    return map_find_at(map, (struct map_spot){ map_hash(map, key) }, key);
}

static enum status first_segment(struct map *map)
{
    struct map_segment **directory = mem_alloc(map->allocator, sizeof(struct map_segment *));
    struct map_segment *segment = segment_new(map->allocator, BUCKETS_MIN, 0);
    if (!directory || !segment) {
        mem_free(map->allocator, directory, directory ? sizeof(struct map_segment *) : 0);
        segment_free(map->allocator, segment);
        return STATUS_NO_MEMORY;
    }
    directory[0] = segment;
    map->directory = directory;
    return STATUS_OK;
}

// Doubles the only segment while it is small.
static enum status grow_segment(struct map *map)
{
    struct map_segment *old = map->directory[0];
    struct map_segment *segment = segment_new(map->allocator, old->bucket_count * 2, 0);
    if (!segment) {
        return STATUS_NO_MEMORY;
    }
    segment_copy(old, 0, NULL, segment);
    segment_free(map->allocator, old);
    map->directory[0] = segment;
    return STATUS_OK;
}

static enum status double_directory(struct map *map)
{
    if (map->depth == DEPTH_MAX) {
        return STATUS_NO_MEMORY;
    }
    struct map_segment **directory =
        mem_resize(map->allocator, map->directory, directory_size(map), directory_size(map) * 2);
    if (!directory) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = (size_t)1 << map->depth; i-- > 0;) {
        directory[2 * i + 1] = directory[i];
        directory[2 * i] = directory[i];
    }
    map->directory = directory;
    map->depth++;
    return STATUS_OK;
}

// Points every directory entry that shares the upper `segment->depth` bits of `hash` to `segment`.
static void point_directory(struct map *map, uint32_t hash, struct map_segment *segment)
{
    size_t span = (size_t)1 << (map->depth - segment->depth);
    size_t start = directory_index(map, hash) & ~(span - 1);
    for (size_t i = start; i < start + span; i++) {
        map->directory[i] = segment;
    }
}

static enum status split_segment(struct map *map, uint32_t hash)
{
    struct map_segment *old = map->directory[directory_index(map, hash)];
    if (old->depth == map->depth && double_directory(map)) {
        return STATUS_NO_MEMORY;
    }
    struct map_segment *low = segment_new(map->allocator, BUCKETS_MAX, old->depth + 1);
    struct map_segment *high = segment_new(map->allocator, BUCKETS_MAX, old->depth + 1);
    if (!low || !high) {
        segment_free(map->allocator, low);
        segment_free(map->allocator, high);
        return STATUS_NO_MEMORY;
    }
    uint32_t bit = (uint32_t)1 << (31 - old->depth);
    segment_copy(old, bit, high, low);
    point_directory(map, hash & ~bit, low);
    point_directory(map, hash | bit, high);
    segment_free(map->allocator, old);
    return STATUS_OK;
}

enum status map_reserve_at(struct map *map, struct map_spot spot)
{
    enum status status = map->directory ? STATUS_OK : first_segment(map);
    while (!status) {
        const struct map_segment *segment = map->directory[directory_index(map, spot.hash)];
        if (!segment_is_full(segment)) {
            return STATUS_OK;
        }
        status =
            segment->bucket_count < BUCKETS_MAX ? grow_segment(map) : split_segment(map, spot.hash);
    }
    return status;
}

enum status map_reserve(struct map *map, struct slice key)
{
    return map_reserve_at(map, (struct map_spot){ map_hash(map, key) });
}

void map_add_at(struct map *map, struct map_spot spot, void *value)
{
    segment_add(map->directory[directory_index(map, spot.hash)], spot.hash, value);
    map->count++;
}

void map_add(struct map *map, void *value)
{
    map_add_at(map, (struct map_spot){ map_hash(map, map->key_of(value)) }, value);
}

enum status map_insert(struct map *map, void *value)
{
    struct slice key = map->key_of(value);
    struct map_spot spot = { map_hash(map, key) };
    if (map_find_at(map, spot, key)) {
        return STATUS_EXISTS;
    }
    enum status status = map_reserve_at(map, spot);
    if (!status) {
        map_add_at(map, spot, value);
    }
    return status;
}

// Allocates the segments for that many entries.
static enum status make_segments(struct map *map, size_t count)
{
    unsigned depth = 0;
    while (depth < DEPTH_MAX && count > (size_t)SEGMENT_EXPECTED << depth) {
        depth++;
    }
    if (map->directory || depth == 0) {
        return STATUS_OK;
    }
    size_t segments = (size_t)1 << depth, made = 0;
    struct map_segment **directory = mem_alloc(map->allocator, segments * sizeof(*directory));
    if (!directory) {
        return STATUS_NO_MEMORY;
    }
    while (made < segments && (directory[made] = segment_new(map->allocator, BUCKETS_MAX, depth))) {
        made++;
    }
    if (made < segments) {
        while (made > 0) {
            segment_free(map->allocator, directory[--made]);
        }
        mem_free(map->allocator, directory, segments * sizeof(*directory));
        return STATUS_NO_MEMORY;
    }
    map->directory = directory;
    map->depth = depth;
    return STATUS_OK;
}

static unsigned digit_of(const struct map_entry *entry, unsigned shift)
{
    return entry->spot.hash >> shift & (RADIX - 1);
}

// Radix sort by the bits of the hash from `shift` on, whose higher bits are equal in all entries:
// each entry is swapped to the position of its digit.
static void sort_digit(struct map_entry *entries, size_t count, unsigned shift, size_t ends[RADIX])
{
    size_t next[RADIX], at = 0;
    memset(ends, 0, RADIX * sizeof(*ends));
    for (size_t i = 0; i < count; i++) {
        ends[digit_of(&entries[i], shift)]++;
    }
    for (unsigned digit = 0; digit < RADIX; digit++) {
        next[digit] = at;
        at += ends[digit];
        ends[digit] = at;
    }
    for (unsigned digit = 0; digit < RADIX; digit++) {
        while (next[digit] < ends[digit]) {
            struct map_entry entry = entries[next[digit]];
            for (unsigned home; (home = digit_of(&entry, shift)) != digit;) {
                struct map_entry other = entries[next[home]];
                entries[next[home]++] = entry;
                entry = other;
            }
            entries[next[digit]++] = entry;
        }
    }
}

// Sorts the entries by segment, so that each segment is filled while it is cached.
static void sort_by_segment(const struct map *map, struct map_entry *entries, size_t count)
{
    size_t ends[RADIX], ends_below[RADIX];
    sort_digit(entries, count, 32 - RADIX_BITS, ends);
    for (unsigned digit = 0; map->depth > RADIX_BITS && digit < RADIX; digit++) {
        size_t start = digit ? ends[digit - 1] : 0;
        sort_digit(entries + start, ends[digit] - start, 32 - 2 * RADIX_BITS, ends_below);
    }
}

// Whether there is an object with the same key. Objects are compared only if their hashes are
// equal.
static bool has_twin(const struct map *map, const struct map_entry *entry)
{
    const struct map_segment *segment = map->directory[directory_index(map, entry->spot.hash)];
    uint32_t slot = slot_home(segment, entry->spot.hash);
    for (uint32_t found; (found = *slot_hash(segment, slot)); slot = slot_next(segment, slot)) {
        if (found == entry->spot.hash &&
            slice_equal(map->key_of(*slot_value(segment, slot)), map->key_of(entry->value))) {
            return true;
        }
    }
    return false;
}

enum status map_fill(struct map *map, struct map_entry *entries, size_t count)
{
    assert(map->count == 0);
    enum status status = make_segments(map, count);
    if (!status && map->depth > 0) {
        sort_by_segment(map, entries, count);
    }
    for (size_t i = 0; !status && i < count; i++) {
        status = map_reserve_at(map, entries[i].spot);
        if (!status && has_twin(map, &entries[i])) {
            status = STATUS_EXISTS;
        }
        if (!status) {
            map_add_at(map, entries[i].spot, entries[i].value);
        }
    }
    if (status) {
        map_release(map);
    }
    return status;
}

// Merges a segment that has become nearly empty with its neighbour, if that has the same depth and
// both together are at most half full, so that the next inserts do not split it again.
static void merge_segment(struct map *map, uint32_t hash)
{
    struct map_segment *segment = map->directory[directory_index(map, hash)];
    while (segment->depth > 0 && segment->used <= SLOTS_MAX / 8) {
        uint32_t bit = (uint32_t)1 << (32 - segment->depth);
        struct map_segment *neighbour = map->directory[directory_index(map, hash ^ bit)];
        if (neighbour->depth != segment->depth || neighbour->used + segment->used > SLOTS_MAX / 2) {
            return;
        }
        segment_copy(neighbour, 0, NULL, segment);
        segment->depth--;
        point_directory(map, hash, segment);
        segment_free(map->allocator, neighbour);
    }
}

void *map_remove(struct map *map, struct slice key)
{
    if (!map->directory) {
        return NULL;
    }
    uint32_t hash = map_hash(map, key);
    struct map_segment *segment = map->directory[directory_index(map, hash)];
    uint32_t slot = find_slot(map, segment, hash, key);
    if (slot == NO_SLOT) {
        return NULL;
    }
    void *value = *slot_value(segment, slot);
    segment_remove_slot(segment, slot);
    map->count--;
    merge_segment(map, hash);
    return value;
}

size_t map_memory(const struct map *map)
{
    if (!map->directory) {
        return 0;
    }
    size_t size = directory_size(map);
    size_t entries = (size_t)1 << map->depth;
    for (size_t i = 0; i < entries;) {
        const struct map_segment *segment = map->directory[i];
        size += segment_size(segment->bucket_count);
        i += (size_t)1 << (map->depth - segment->depth);
    }
    return size;
}
