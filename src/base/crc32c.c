// SPDX-License-Identifier: MIT
#include "base/crc32c.h"

#include <assert.h>
#include <string.h>

#ifdef __ARM_FEATURE_CRC32
#    include <arm_acle.h>
#endif

// The table, which the compiler makes.
//
// remainders[k][b] is the remainder that byte b leaves in the register after k more bytes have been
// processed. So eight bytes can be looked up independently and their remainders added. Addition is
// exclusive or, and the remainder of a byte is the sum of the remainders of its bits: a row of 256
// follows from eight numbers. These are, from the highest bit of the first row to the lowest of the
// last, the polynomial shifted through the register one bit at a time.
#define BITS1(sum, a)                (sum), (sum) ^ (a)
#define BITS2(sum, b, a)             BITS1(sum, a), BITS1((sum) ^ (b), a)
#define BITS3(sum, c, b, a)          BITS2(sum, b, a), BITS2((sum) ^ (c), b, a)
#define BITS4(sum, d, c, b, a)       BITS3(sum, c, b, a), BITS3((sum) ^ (d), c, b, a)
#define BITS5(sum, e, d, c, b, a)    BITS4(sum, d, c, b, a), BITS4((sum) ^ (e), d, c, b, a)
#define BITS6(sum, f, e, d, c, b, a) BITS5(sum, e, d, c, b, a), BITS5((sum) ^ (f), e, d, c, b, a)
#define BITS7(sum, g, f, e, d, c, b, a)                                                            \
    BITS6(sum, f, e, d, c, b, a), BITS6((sum) ^ (g), f, e, d, c, b, a)
#define BYTES(h, g, f, e, d, c, b, a)                                                              \
    BITS7(0U, g, f, e, d, c, b, a), BITS7(0U ^ (h), g, f, e, d, c, b, a)

static const uint32_t remainders[8][256] = {
    { BYTES(0x82f63b78, 0x417b1dbc, 0x20bd8ede, 0x105ec76f, 0x8ad958cf, 0xc79a971f, 0xe13b70f7,
            0xf26b8303) },
    { BYTES(0xfbc3faf9, 0xff17c604, 0x7f8be302, 0x3fc5f181, 0x9d14c3b8, 0x4e8a61dc, 0x274530ee,
            0x13a29877) },
    { BYTES(0x8b277743, 0xc76580d9, 0xe144fb14, 0x70a27d8a, 0x38513ec5, 0x9edea41a, 0x4f6f520d,
            0xa541927e) },
    { BYTES(0x52a0c93f, 0xaba65fe7, 0xd725148b, 0xe964b13d, 0xf64463e6, 0x7b2231f3, 0xbf672381,
            0xdd45aab8) },
    { BYTES(0x6ea2d55c, 0x37516aae, 0x1ba8b557, 0x8f2261d3, 0xc5670b91, 0xe045beb0, 0x7022df58,
            0x38116fac) },
    { BYTES(0x1c08b7d6, 0x0e045beb, 0x85f4168d, 0xc00c303e, 0x6006181f, 0xb2f53777, 0xdb8ca0c3,
            0xef306b19) },
    { BYTES(0xf56e0ef4, 0x7ab7077a, 0x3d5b83bd, 0x9c5bfaa6, 0x4e2dfd53, 0xa5e0c5d1, 0xd0065990,
            0x68032cc8) },
    { BYTES(0x34019664, 0x1a00cb32, 0x0d006599, 0x847609b4, 0x423b04da, 0x211d826d, 0x9278fa4e,
            0x493c7d27) },
};

static uint32_t step_byte(uint32_t state, uint8_t byte)
{
    return state >> 8 ^ remainders[0][(state ^ byte) & 0xff];
}

static uint32_t load_u32_little(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

uint32_t crc32c_table(uint32_t crc, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    uint32_t state = ~crc;
    for (; size >= 8; size -= 8, bytes += 8) {
        uint32_t low = state ^ load_u32_little(bytes);
        uint32_t high = load_u32_little(bytes + 4);
        state = remainders[7][low & 0xff] ^ remainders[6][low >> 8 & 0xff] ^
                remainders[5][low >> 16 & 0xff] ^ remainders[4][low >> 24] ^
                remainders[3][high & 0xff] ^ remainders[2][high >> 8 & 0xff] ^
                remainders[1][high >> 16 & 0xff] ^ remainders[0][high >> 24];
    }
    for (; size; size--, bytes++) {
        state = step_byte(state, *bytes);
    }
    return ~state;
}

#if defined(__x86_64__)

// The start-up code of the C library has queried the processor; this reads the result, which never
// changes, and so needs no lock.
bool crc32c_hardware_present(void)
{
    return __builtin_cpu_supports("sse4.2") != 0;
}

__attribute__((target("sse4.2"))) static inline unsigned long long
step_word(unsigned long long state, const uint8_t *bytes)
{
    unsigned long long word;
    memcpy(&word, bytes, sizeof(word));
    return __builtin_ia32_crc32di(state, word);
}

__attribute__((target("sse4.2"))) uint32_t crc32c_hardware(uint32_t crc, const void *data,
                                                           size_t size)
{
    const uint8_t *bytes = data;
    unsigned long long state = ~crc;
    for (; size >= 32; size -= 32, bytes += 32) {
        state = step_word(step_word(state, bytes), bytes + 8);
        state = step_word(step_word(state, bytes + 16), bytes + 24);
    }
    for (; size >= 8; size -= 8, bytes += 8) {
        state = step_word(state, bytes);
    }
    uint32_t rest = (uint32_t)state;
    for (; size; size--, bytes++) {
        rest = __builtin_ia32_crc32qi(rest, *bytes);
    }
    return ~rest;
}

#elif defined(__ARM_FEATURE_CRC32)

bool crc32c_hardware_present(void)
{
    return true;
}

uint32_t crc32c_hardware(uint32_t crc, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    uint32_t state = ~crc;
    for (; size >= 8; size -= 8, bytes += 8) {
        uint64_t word = (uint64_t)load_u32_little(bytes + 4) << 32 | load_u32_little(bytes);
        state = __crc32cd(state, word);
    }
    for (; size; size--, bytes++) {
        state = __crc32cb(state, *bytes);
    }
    return ~state;
}

#else

bool crc32c_hardware_present(void)
{
    return false;
}

uint32_t crc32c_hardware(uint32_t crc, const void *data, size_t size)
{
    (void)crc;
    (void)data;
    (void)size;
    assert(!"the caller asked whether it is present");
    return 0;
}

#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t size)
{
    return crc32c_hardware_present() ? crc32c_hardware(crc, data, size)
                                     : crc32c_table(crc, data, size);
}
