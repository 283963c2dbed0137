// SPDX-License-Identifier: MIT
#include "server/push/rules/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    V4_SIZE = 4,
    V6_SIZE = 16,
};

struct range {
    uint8_t bytes[V6_SIZE];
    uint8_t bits;
};

// IANA's registry of special-purpose addresses, except for those that are globally reachable.
static const struct range v4_special[] = {
    { { 0 }, 8 },
    { { 10 }, 8 },
    { { 100, 64 }, 10 },
    { { 127 }, 8 },
    { { 169, 254 }, 16 },
    { { 172, 16 }, 12 },
    { { 192, 0, 0 }, 24 },
    { { 192, 0, 2 }, 24 },
    { { 192, 88, 99 }, 24 },
    { { 192, 168 }, 16 },
    { { 198, 18 }, 15 },
    { { 198, 51, 100 }, 24 },
    { { 203, 0, 113 }, 24 },
    { { 224 }, 4 },
    { { 240 }, 4 },
};

static const struct range v6_special[] = {
    { { 0x01, 0x00 }, 64 },                         // discard only
    { { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 48 }, // local-use IPv4/IPv6 translation
    { { 0x20, 0x01 }, 23 },                         // protocol assignments, with Teredo
    { { 0x20, 0x01, 0x0d, 0xb8 }, 32 },             // documentation
    { { 0x3f, 0xff }, 20 },                         // documentation
    { { 0x5f, 0x00 }, 16 },                         // segment routing
    { { 0xfc }, 7 },                                // private
    { { 0xfe, 0x80 }, 10 },                         // link-local
    { { 0xfe, 0xc0 }, 10 },                         // site-local
    { { 0xff }, 8 },                                // multicast
};

// The positions of IPv4 addresses that are embedded in IPv6 addresses.
static const struct {
    struct range range;
    size_t offset;
} v4_in_v6[] = {
    { { { 0 }, 96 }, 12 }, // "compatible"; ::1 and :: too, whose last bytes are 0.0.0.1 and 0.0.0.0
    { { { [10] = 0xff, [11] = 0xff }, 96 }, 12 },
    { { { [8] = 0xff, [9] = 0xff }, 96 }, 12 },
    { { { 0x00, 0x64, 0xff, 0x9b }, 96 }, 12 },
    { { { 0x20, 0x02 }, 16 }, 2 },
};

static bool is_in(const uint8_t *address, const struct range *range)
{
    size_t whole = range->bits / 8;
    unsigned rest = range->bits % 8;
    if (memcmp(address, range->bytes, whole) != 0) {
        return false;
    }
    unsigned mask = 0xFFU << (8 - rest);
    return rest == 0 || ((address[whole] ^ range->bytes[whole]) & mask & 0xFFU) == 0;
}

static bool v4_is_public(const uint8_t address[V4_SIZE])
{
    for (size_t i = 0; i < sizeof(v4_special) / sizeof(v4_special[0]); i++) {
        if (is_in(address, &v4_special[i])) {
            return false;
        }
    }
    return true;
}

static bool v6_is_public(const uint8_t address[V6_SIZE])
{
    for (size_t i = 0; i < sizeof(v4_in_v6) / sizeof(v4_in_v6[0]); i++) {
        if (is_in(address, &v4_in_v6[i].range)) {
            return v4_is_public(address + v4_in_v6[i].offset);
        }
    }
    for (size_t i = 0; i < sizeof(v6_special) / sizeof(v6_special[0]); i++) {
        if (is_in(address, &v6_special[i])) {
            return false;
        }
    }
    return true;
}

bool push_address_is_public(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        return v4_is_public((const uint8_t *)&v4->sin_addr);
    }
    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
        return v6_is_public((const uint8_t *)&v6->sin6_addr);
    }
    return false;
}

bool push_address_text_is_public(const char *text)
{
    uint8_t bytes[V6_SIZE];
    if (inet_pton(AF_INET, text, bytes) == 1) {
        return v4_is_public(bytes);
    }
    return inet_pton(AF_INET6, text, bytes) == 1 && v6_is_public(bytes);
}
