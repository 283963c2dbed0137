// SPDX-License-Identifier: MIT
// Measures the time per operation of the data structures in base.
//
//     bench_base [ENTRIES]      default: 1,000,000
//
// ENTRIES applies to the averages. The slowest map insert is always measured over 10,000,000
// inserts.
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/histogram.h"
#include "base/index.h"
#include "base/json.h"
#include "base/json_sorted.h"
#include "base/map.h"
#include "base/meter.h"
#include "base/num.h"
#include "base/sha256.h"
#include "base/slab.h"
#include "base/uuid.h"

#include "bench.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAP_LARGE = 10000000,
    ROUNDS = 1000000,
};

struct thing {
    char id[36];
    struct index_node node;
};

static struct slice thing_key(const void *value)
{
    return slice_make(((const struct thing *)value)->id, sizeof(((struct thing *)0)->id));
}

static struct thing *things_new(size_t count)
{
    struct thing *things = calloc(count, sizeof(*things));
    if (!things) {
        (void)fputs("bench_base: out of memory\n", stderr);
        exit(1);
    }
    for (size_t i = 0; i < count; i++) {
        uint8_t entropy[10];
        uint64_t random = bench_scramble(i);
        memcpy(entropy, &random, 8);
        memcpy(entropy + 8, &random, 2);
        struct uuid uuid;
        uuid_v7(1700000000000000 + (int64_t)i * 10, entropy, &uuid);
        uuid_format(&uuid, things[i].id);
    }
    return things;
}

static void must(enum status status)
{
    if (status) {
        (void)fprintf(stderr, "bench_base: %s\n", status_sentence(status));
        exit(1);
    }
}

// Measures the cost of one memory access: each read yields the address of the next. Structures with
// more than a million entries do not fit into a cache, so this is the reference for all other
// figures.
static void bench_memory(const struct thing *things, size_t count)
{
    uint64_t sum = 0;
    uint64_t start = bench_now_ns();
    for (size_t i = 0; i < ROUNDS; i++) {
        sum += (unsigned char)things[bench_scramble(i + sum) % count].id[35];
    }
    bench_report("one dependent read of a random object", bench_now_ns() - start, ROUNDS);
    if (sum == 0) {
        printf("%llu\n", (unsigned long long)sum);
    }
}

static void bench_map(struct thing *things, size_t count)
{
    struct map map;
    map_init(&map, &allocator_system, (struct hash_seed){ 1, 2 }, thing_key);
    uint64_t start = bench_now_ns();
    for (size_t i = 0; i < count; i++) {
        must(map_insert(&map, &things[i]));
    }
    bench_report("map insert, growing", bench_now_ns() - start, count);

    size_t found = 0;
    start = bench_now_ns();
    for (size_t i = 0; i < ROUNDS; i++) {
        found += map_find(&map, thing_key(&things[bench_scramble(i) % count])) != NULL;
    }
    bench_report("map find, random, key read from memory too", bench_now_ns() - start, found);

    start = bench_now_ns();
    for (size_t i = 0; i < ROUNDS; i++) {
        struct thing *thing = map_remove(&map, thing_key(&things[bench_scramble(i) % count]));
        must(map_insert(&map, thing));
    }
    bench_report("map remove + insert, random", bench_now_ns() - start, ROUNDS);
    printf("%-58s %10.1f bytes\n", "map memory an entry", (double)map_memory(&map) / (double)count);
    map_release(&map);
}

static void bench_map_worst_insert(void)
{
    struct thing *things = things_new(MAP_LARGE);
    struct map map;
    map_init(&map, &allocator_system, (struct hash_seed){ 1, 2 }, thing_key);
    uint64_t slowest = 0, above_1ms = 0;
    for (size_t i = 0; i < MAP_LARGE; i++) {
        uint64_t start = bench_cpu_ns();
        must(map_insert(&map, &things[i]));
        uint64_t took = bench_cpu_ns() - start;
        slowest = took > slowest ? took : slowest;
        above_1ms += took > 1000000;
    }
    printf("%-58s %10.1f us\n", "map insert, slowest of 10,000,000", (double)slowest / 1000);
    printf("%-58s %10llu\n", "map inserts above 1 ms, of 10,000,000",
           (unsigned long long)above_1ms);
    map_release(&map);
    free(things);
}

static void index_add(struct index *index, struct thing *thing)
{
    must(index_reserve(index, 1));
    index_insert(index, &thing->node);
    index_pool_settle(index->pool);
}

static void bench_index(struct thing *things, size_t count)
{
    struct index_pool pool;
    index_pool_init(&pool, &allocator_system);
    struct index index;
    index_init(&index, &pool);
    uint64_t start = bench_now_ns();
    for (size_t i = 0; i < count; i++) {
        things[i].node.key = (struct index_key){ bench_scramble(i), i };
        index_add(&index, &things[i]);
    }
    bench_report("index insert, random, growing", bench_now_ns() - start, count);

    start = bench_now_ns();
    for (size_t i = 0; i < ROUNDS; i++) {
        struct thing *thing = &things[bench_scramble(i) % count];
        index_remove(&index, &thing->node);
        thing->node.key.high = bench_scramble(i + count);
        index_add(&index, thing);
    }
    bench_report("index insert + remove, random keys", bench_now_ns() - start, ROUNDS);

    size_t sum = 0;
    start = bench_now_ns();
    for (size_t i = 0; i < ROUNDS; i++) {
        sum += index_at(&index, bench_scramble(i) % count)->key.low & 1;
    }
    bench_report("index select by rank, random", bench_now_ns() - start, ROUNDS);
    start = bench_now_ns();
    for (size_t i = 0; i < ROUNDS; i++) {
        sum += index_rank(&index, things[bench_scramble(i) % count].node.key) & 1;
    }
    bench_report("index rank, random", bench_now_ns() - start, ROUNDS);
    printf("%-58s %10.1f bytes\n", "index memory an entry, random keys",
           (double)slab_memory(&pool.slab) / (double)count);
    index_release(&index);

    for (size_t i = 0; i < count; i++) {
        things[i].node.key = (struct index_key){ 7, i };
        index_add(&index, &things[i]);
    }
    start = bench_now_ns();
    for (size_t i = 0; i < ROUNDS; i++) {
        struct index_node *first = index_first(&index);
        index_remove(&index, first);
        first->key.low += count;
        must(index_reserve(&index, 1));
        index_insert(&index, first);
        index_pool_settle(&pool);
    }
    bench_report("index insert at the end + remove the first", bench_now_ns() - start, ROUNDS);
    printf("%-58s %10.1f bytes\n", "index memory an entry, in line",
           (double)slab_memory(&pool.slab) / (double)count);
    index_release(&index);
    index_pool_release(&pool);
    // Keeps the compiler from optimising the searches away.
    if (sum == SIZE_MAX) {
        printf("%zu\n", sum);
    }
}

static void bench_json(void)
{
    const struct slice text =
        SLICE("{\"to\": \"someone@example.org\", \"subject\": \"Your order has been shipped\", "
              "\"order\": 8271044, \"items\": [17, 22, 93.5], \"express\": true, "
              "\"note\": \"left at the door, as you wished\", \"tries\": null}");
    struct buffer buffer;
    buffer_init(&buffer, &allocator_system, 1000);
    char what[80];
    (void)snprintf(what, sizeof(what), "json validate, %zu bytes", text.size);
    uint64_t start = bench_now_ns();
    for (size_t i = 0; i < ROUNDS; i++) {
        must(json_validate(text, 64, NULL));
    }
    bench_report(what, bench_now_ns() - start, ROUNDS);
    start = bench_now_ns();
    for (size_t i = 0; i < ROUNDS; i++) {
        buffer_clear(&buffer);
        json_canonical(text, &buffer);
    }
    bench_report("json canonical, the same", bench_now_ns() - start, ROUNDS);
    start = bench_now_ns();
    for (size_t i = 0; i < ROUNDS; i++) {
        buffer_clear(&buffer);
        must(json_sorted(text, &allocator_system, &buffer));
    }
    bench_report("json sorted, the same", bench_now_ns() - start, ROUNDS);
    buffer_release(&buffer);
}

static void bench_sha256(void)
{
    char bytes[200] = { 0 };
    uint8_t digest[SHA256_SIZE] = { 0 };
    uint64_t start = bench_now_ns();
    for (size_t i = 0; i < ROUNDS; i++) {
        struct sha256 sha256;
        sha256_init(&sha256);
        sha256_add(&sha256, slice_make(bytes, sizeof(bytes)));
        sha256_end(&sha256, digest);
        memcpy(bytes, digest, sizeof(digest));
    }
    bench_report("sha256, 200 bytes", bench_now_ns() - start, ROUNDS);
}

static void bench_counts(void)
{
    struct histogram histogram = { 0 };
    uint64_t start = bench_now_ns();
    for (size_t i = 0; i < ROUNDS; i++) {
        histogram_add(&histogram, (int64_t)(bench_scramble(i) >> 34));
        bench_touch(&histogram);
    }
    bench_report("histogram add, random values", bench_now_ns() - start, histogram.count);

    // First times that are close together, then each in a different second.
    static const struct {
        const char *what;
        int64_t step_us;
    } cases[] = {
        { "meter add, 100,000 in a second", 10 },
        { "meter add, one in a second", 1000000 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct meter meter = { 0 };
        start = bench_now_ns();
        for (int64_t j = 1; j <= ROUNDS; j++) {
            meter_add(&meter, j * cases[i].step_us, 1);
            bench_touch(&meter);
        }
        bench_report(cases[i].what, bench_now_ns() - start, ROUNDS);
    }
}

int main(int count_arguments, char **arguments)
{
    int64_t entries = 1000000;
    if (count_arguments > 1 &&
        (num_parse_i64(slice_from_cstr(arguments[1]), &entries) || entries < 1)) {
        (void)fprintf(stderr, "usage: bench_base [ENTRIES]\n");
        return 2;
    }
    printf("structures with %lld entries, time per operation\n", (long long)entries);
    struct thing *things = things_new((size_t)entries);
    bench_memory(things, (size_t)entries);
    bench_map(things, (size_t)entries);
    bench_index(things, (size_t)entries);
    free(things);
    bench_json();
    bench_sha256();
    bench_counts();
    bench_map_worst_insert();
    return 0;
}
