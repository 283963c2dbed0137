// SPDX-License-Identifier: MIT
#include "server/config/throttle.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#define SECOND ((int64_t)1000000)

enum {
    WINDOW_S = 60,
    WAIT_MAX_S = 300,
    FORGET_S = 600,
    GOOD_S = 86400,
};

void throttle_init(struct throttle *throttle, struct hash_seed seed)
{
    memset(throttle, 0, sizeof(*throttle));
    throttle->seed = seed;
}

// Parses an address into bytes: all four of IPv4, the /64 network of IPv6. Brackets and the name of
// an interface are ignored. Returns the number of bytes; 0 if it is neither.
static size_t parse_address(struct slice address, uint8_t out[8])
{
    char text[INET6_ADDRSTRLEN] = "";
    struct in6_addr six;
    if (slice_starts_with(address, SLICE("[")) && slice_ends_with(address, SLICE("]"))) {
        address = slice_sub(address, 1, address.size - 2);
    }
    const char *zone = address.size ? memchr(address.data, '%', address.size) : NULL;
    size_t size = zone ? (size_t)(zone - address.data) : address.size;
    if (size == 0 || size >= sizeof(text)) {
        return 0;
    }
    memcpy(text, address.data, size);
    if (inet_pton(AF_INET, text, out) == 1) {
        return 4;
    }
    if (inet_pton(AF_INET6, text, &six) != 1) {
        return 0;
    }
    if (IN6_IS_ADDR_V4MAPPED(&six)) {
        memcpy(out, &six.s6_addr[12], 4);
        return 4;
    }
    memcpy(out, &six, 8);
    return 8;
}

static uint64_t hash_address(const struct throttle *throttle, struct slice address)
{
    uint8_t bytes[8];
    size_t size = parse_address(address, bytes);
    return hash_bytes(&throttle->seed, size ? slice_make(bytes, size) : address);
}

uint64_t throttle_source(const struct throttle *throttle, struct slice address)
{
    uint64_t key = hash_address(throttle, address);
    return key ? key : 1;
}

static uint64_t key_of(const struct throttle *throttle, struct throttle_who who)
{
    const uint64_t parts[] = { hash_address(throttle, who.address),
                               hash_bytes(&throttle->seed, who.user) };
    uint64_t key = hash_bytes(&throttle->seed, slice_make(parts, sizeof(parts)));
    return key ? key : 1;
}

static bool is_over(const struct throttle_entry *entry, int64_t now_us)
{
    bool free = entry->failures < entry->failures_free;
    int64_t span_s = free ? WINDOW_S : FORGET_S;
    int64_t since_us = free ? entry->first_us : entry->last_us;
    return now_us - since_us > span_s * SECOND;
}

static const struct throttle_entry *find(const struct throttle *throttle, uint64_t key)
{
    const struct throttle_entry *set = throttle->entries[key % THROTTLE_SETS];
    for (int i = 0; i < THROTTLE_WAYS; i++) {
        if (set[i].key == key) {
            return &set[i];
        }
    }
    return NULL;
}

// The value of keeping an entry: entries that refuse logins, or that admit a known user, are kept
// longest.
static int worth(const struct throttle_entry *entry, int64_t now_us)
{
    if (entry->key == 0) {
        return 0;
    }
    if (now_us < entry->good_until_us) {
        return 3;
    }
    if (is_over(entry, now_us)) {
        return 0;
    }
    return entry->failures < entry->failures_free ? 1 : 2;
}

static struct throttle_entry *find_or_make(struct throttle *throttle, uint64_t key,
                                           uint32_t failures_free, int64_t now_us)
{
    struct throttle_entry *set = throttle->entries[key % THROTTLE_SETS];
    struct throttle_entry *least = set;
    for (int i = 0; i < THROTTLE_WAYS; i++) {
        if (set[i].key == key) {
            return &set[i];
        }
        int order = worth(&set[i], now_us) - worth(least, now_us);
        if (order < 0 || (order == 0 && set[i].last_us < least->last_us)) {
            least = &set[i];
        }
    }
    *least =
        (struct throttle_entry){ .key = key, .first_us = now_us, .failures_free = failures_free };
    return least;
}

int64_t throttle_wait_us(const struct throttle *throttle, struct throttle_who who, int64_t now_us)
{
    const struct throttle_entry *entry = find(throttle, key_of(throttle, who));
    if (entry && now_us < entry->until_us) {
        return entry->until_us - now_us;
    }
    if (entry && now_us < entry->good_until_us) {
        return 0;
    }
    const struct throttle_entry *all = find(throttle, throttle_source(throttle, who.address));
    return all && now_us < all->until_us ? all->until_us - now_us : 0;
}

uint32_t throttle_failures(const struct throttle *throttle, uint64_t source, int64_t now_us)
{
    const struct throttle_entry *all = find(throttle, source);
    return all && !is_over(all, now_us) ? all->failures : 0;
}

static void count(struct throttle_entry *entry, int64_t now_us)
{
    if (is_over(entry, now_us)) {
        entry->failures = 0;
        entry->first_us = now_us;
    }
    entry->last_us = now_us;
    entry->failures++;
    if (entry->failures >= entry->failures_free) {
        uint32_t doublings = entry->failures - entry->failures_free;
        int64_t wait_s = doublings < 16 ? (int64_t)1 << doublings : WAIT_MAX_S;
        entry->until_us = now_us + (wait_s < WAIT_MAX_S ? wait_s : WAIT_MAX_S) * SECOND;
    }
}

int64_t throttle_failed(struct throttle *throttle, struct throttle_who who, int64_t now_us)
{
    struct throttle_entry *entry =
        find_or_make(throttle, key_of(throttle, who), THROTTLE_FAILURES_FREE, now_us);
    count(entry, now_us);
    if (entry->failures < THROTTLE_FAILURES_FREE) {
        count(find_or_make(throttle, throttle_source(throttle, who.address),
                           THROTTLE_ADDRESS_FAILURES_FREE, now_us),
              now_us);
    }
    return throttle_wait_us(throttle, who, now_us);
}

void throttle_succeeded(struct throttle *throttle, struct throttle_who who, int64_t now_us)
{
    struct throttle_entry *entry =
        find_or_make(throttle, key_of(throttle, who), THROTTLE_FAILURES_FREE, now_us);
    entry->good_until_us = now_us + GOOD_S * SECOND;
    if (!entry->failures) {
        entry->last_us = now_us;
    }
}
