// SPDX-License-Identifier: MIT
#include "cli/core/glyph.h"

struct range {
    uint32_t first, last;
};

// In ascending order, as the search wants them.
static const struct range joining[] = {
    { 0x00AD, 0x00AD },   { 0x0300, 0x036F },   { 0x0483, 0x0489 }, { 0x0591, 0x05BD },
    { 0x05BF, 0x05BF },   { 0x05C1, 0x05C2 },   { 0x05C4, 0x05C5 }, { 0x0610, 0x061A },
    { 0x064B, 0x065F },   { 0x0670, 0x0670 },   { 0x06D6, 0x06DC }, { 0x06DF, 0x06E4 },
    { 0x06E7, 0x06E8 },   { 0x06EA, 0x06ED },   { 0x0900, 0x0902 }, { 0x093C, 0x093C },
    { 0x0941, 0x0948 },   { 0x094D, 0x094D },   { 0x0E31, 0x0E31 }, { 0x0E34, 0x0E3A },
    { 0x0E47, 0x0E4E },   { 0x1160, 0x11FF },   { 0x1AB0, 0x1AFF }, { 0x1DC0, 0x1DFF },
    { 0x200B, 0x200D },   { 0x2060, 0x2064 },   { 0x20D0, 0x20F0 }, { 0x302A, 0x302D },
    { 0x3099, 0x309A },   { 0xFE00, 0xFE0F },   { 0xFE20, 0xFE2F }, { 0xFEFF, 0xFEFF },
    { 0xE0001, 0xE007F }, { 0xE0100, 0xE01EF },
};

static const struct range wide[] = {
    { 0x1100, 0x115F },   { 0x231A, 0x231B },   { 0x2329, 0x232A },   { 0x23E9, 0x23EC },
    { 0x23F0, 0x23F0 },   { 0x23F3, 0x23F3 },   { 0x25FD, 0x25FE },   { 0x2614, 0x2615 },
    { 0x2648, 0x2653 },   { 0x267F, 0x267F },   { 0x2693, 0x2693 },   { 0x26A1, 0x26A1 },
    { 0x26AA, 0x26AB },   { 0x26BD, 0x26BE },   { 0x26C4, 0x26C5 },   { 0x26CE, 0x26CE },
    { 0x26D4, 0x26D4 },   { 0x26EA, 0x26EA },   { 0x26F2, 0x26F3 },   { 0x26F5, 0x26F5 },
    { 0x26FA, 0x26FA },   { 0x26FD, 0x26FD },   { 0x2705, 0x2705 },   { 0x270A, 0x270B },
    { 0x2728, 0x2728 },   { 0x274C, 0x274C },   { 0x274E, 0x274E },   { 0x2753, 0x2755 },
    { 0x2757, 0x2757 },   { 0x2795, 0x2797 },   { 0x27B0, 0x27B0 },   { 0x27BF, 0x27BF },
    { 0x2B1B, 0x2B1C },   { 0x2B50, 0x2B50 },   { 0x2B55, 0x2B55 },   { 0x2E80, 0x303E },
    { 0x3041, 0x33FF },   { 0x3400, 0x4DBF },   { 0x4E00, 0xA4CF },   { 0xA960, 0xA97F },
    { 0xAC00, 0xD7A3 },   { 0xF900, 0xFAFF },   { 0xFE10, 0xFE19 },   { 0xFE30, 0xFE6F },
    { 0xFF01, 0xFF60 },   { 0xFFE0, 0xFFE6 },   { 0x16FE0, 0x18CFF }, { 0x1B000, 0x1B2FF },
    { 0x1F004, 0x1F004 }, { 0x1F0CF, 0x1F0CF }, { 0x1F18E, 0x1F18E }, { 0x1F191, 0x1F19A },
    { 0x1F200, 0x1F265 }, { 0x1F300, 0x1F64F }, { 0x1F680, 0x1F6FF }, { 0x1F7E0, 0x1F7EB },
    { 0x1F900, 0x1F9FF }, { 0x1FA70, 0x1FAFF }, { 0x20000, 0x3FFFD },
};

// What a terminal acts upon, or what makes a line read otherwise than it is written.
static const struct range forbidden[] = {
    { 0x0000, 0x001F }, { 0x007F, 0x009F }, { 0x061C, 0x061C },
    { 0x200E, 0x200F }, { 0x2028, 0x202E }, { 0x2066, 0x206F },
    { 0xFFF9, 0xFFFB }, { 0xFFFE, 0xFFFF }, { GLYPH_BROKEN, GLYPH_BROKEN },
};

#define IS_IN(glyph, ranges) is_in(glyph, ranges, sizeof(ranges) / sizeof((ranges)[0]))

static bool is_in(uint32_t glyph, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (glyph >= ranges[i].first && glyph <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

// How many bytes follow the first one of a character; -1 for a byte that cannot be the first.
static int followers(unsigned char first)
{
    if (first < 0x80) {
        return 0;
    }
    if (first >= 0xC2 && first < 0xE0) {
        return 1;
    }
    if (first >= 0xE0 && first < 0xF0) {
        return 2;
    }
    return first >= 0xF0 && first < 0xF5 ? 3 : -1;
}

uint32_t glyph_decode(const char **text)
{
    static const uint32_t smallest[] = { 0, 0x80, 0x800, 0x10000 };
    const unsigned char *at = (const unsigned char *)*text;
    int count = followers(*at);
    if (count <= 0) {
        *text += *at ? 1 : 0;
        return count < 0 ? GLYPH_BROKEN : *at;
    }
    uint32_t glyph = *at & (0x3Fu >> count);
    for (int i = 1; i <= count; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            *text += i;
            return GLYPH_BROKEN;
        }
        glyph = glyph << 6 | (at[i] & 0x3F);
    }
    *text += count + 1;
    bool surrogate = glyph >= 0xD800 && glyph < 0xE000;
    return glyph < smallest[count] || glyph > GLYPH_LAST || surrogate ? GLYPH_BROKEN : glyph;
}

uint32_t glyph_next(const char **text)
{
    uint32_t glyph = glyph_decode(text);
    return glyph && IS_IN(glyph, forbidden) ? GLYPH_ODD : glyph;
}

int glyph_width(uint32_t glyph)
{
    if (glyph < 0xAD) {
        return 1;
    }
    if (IS_IN(glyph, joining)) {
        return 0;
    }
    return IS_IN(glyph, wide) ? 2 : 1;
}

bool glyph_is_sure(uint32_t glyph)
{
    return glyph < 0x300 || (glyph >= 0x2500 && glyph < 0x25A0) || glyph == GLYPH_ELLIPSIS;
}

int glyph_text_width(const char *text)
{
    int width = 0;
    for (uint32_t glyph; (glyph = glyph_next(&text)) != 0;) {
        width += glyph_width(glyph);
    }
    return width;
}

size_t glyph_encode(uint32_t glyph, char out[GLYPH_SIZE])
{
    static const unsigned char leads[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    size_t size = glyph < 0x80 ? 1 : glyph < 0x800 ? 2 : glyph < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1;) {
        out[i] = (char)(0x80 | (glyph & 0x3F));
        glyph >>= 6;
    }
    out[0] = (char)(leads[size] | glyph);
    return size;
}
