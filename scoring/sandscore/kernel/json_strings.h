/* Strings of JSON: found, and decoded. */
#ifndef SANDSCORE_JSON_STRINGS_H
#define SANDSCORE_JSON_STRINGS_H

#include "json.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "eight bytes are looked at as one number whose lowest byte comes first"
#endif

/* How many of eight bytes continue a character. */
static inline int64_t continued_of(uint64_t eight)
{
    uint64_t high = eight & ~(eight << 1) & UINT64_C(0x8080808080808080);
    return (int64_t)((high >> 7) * UINT64_C(0x0101010101010101) >> 56);
}

#define HIGH UINT64_C(0x8080808080808080)
#define EVERY(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The high bit of some byte is set if a byte is no ASCII, below a blank, a quotation mark or a backslash; bytes above
   such a one may have theirs set without reason. */
static inline uint64_t special(uint64_t eight)
{
    uint64_t quote = eight ^ EVERY('"'), backslash = eight ^ EVERY('\\');
    return (eight | (eight - EVERY(' ')) | (quote - EVERY(1)) | (backslash - EVERY(1))) & HIGH;
}

/* Where the first byte is that is no ASCII, below a blank, a quotation mark or a backslash. */
static inline const uint8_t *first_special(const uint8_t *at, const uint8_t *end)
{
#if LANES
    for (; end - at >= LANES; at += LANES) {
        uint32_t bits = special_bits(at);
        if (bits)
            return at + __builtin_ctz(bits);
    }
#endif
    for (; end - at >= 8; at += 8) {
        uint64_t found = special(eight_at(at));
        if (found)
            return at + (__builtin_ctzll(found) >> 3);
    }
    while (at < end && *at >= ' ' && *at < 0x80 && *at != '"' && *at != '\\')
        at++;
    return at;
}

/* The rest of a string whose opening mark was taken. */
INLINED int32_t take_string(Cursor *c, Written *found)
{
    const uint8_t *at = c->at;
    *found = (Written){at, 0, 1};
    for (;;) {
        at = first_special(at, c->end);
        if (at == c->end || *at < ' ')
            return 0;
        if (*at == '"')
            break;
        found->plain = 0;
        at += *at == '\\' && c->end - at > 1 ? 2 : 1;
    }
    found->size = at - found->begin;
    c->at = at + 1;
    return 1;
}

/* How many bytes the character has that begins here; 0: none does. */
static inline int64_t character_size(const uint8_t *at, const uint8_t *end)
{
    if (*at < 0x80)
        return 1;
    if (*at < 0xC2 || *at > 0xF4)
        return 0;
    int64_t size = *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
    if (end - at < size)
        return 0;
    for (int64_t i = 1; i < size; i++)
        if (!continues(at[i]))
            return 0;
    int too_long = (at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xF0 && at[1] < 0x90);
    int no_character = (at[0] == 0xED && at[1] > 0x9F) || (at[0] == 0xF4 && at[1] > 0x8F);
    return too_long || no_character ? 0 : size;
}

/* The character that begins here in right UTF-8. */
static inline uint32_t character_at(const uint8_t *at, int64_t size)
{
    uint32_t point = size == 1 ? *at : *at & (0x7Fu >> size);
    for (int64_t i = 1; i < size; i++)
        point = point << 6 | (at[i] & 0x3Fu);
    return point;
}

/* How many of so many bytes, a multiple of 32, continue a character. */
static inline int64_t continued_within(const uint8_t *at, int64_t size)
{
    int64_t count = 0;
#if LANES == 32
    for (const uint8_t *end = at + size; at < end; at += LANES)
        count += __builtin_popcount(continuing_bits(at));
#else
    for (const uint8_t *end = at + size; at < end; at += 8)
        count += continued_of(eight_at(at));
#endif
    return count;
}

static int32_t hexadecimal(const uint8_t *at, const uint8_t *end)
{
    int32_t value = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        uint8_t sign = at[i], letter = (uint8_t)(sign | 0x20);
        if (sign >= '0' && sign <= '9')
            value = value * 16 + (sign - '0');
        else if (letter >= 'a' && letter <= 'f')
            value = value * 16 + (letter - 'a' + 10);
        else
            return -1;
    }
    return value;
}

static uint8_t *put_character(uint8_t *out, uint32_t point)
{
    if (point < 0x80) {
        *out++ = (uint8_t)point;
    } else if (point < 0x800) {
        *out++ = (uint8_t)(0xC0 | point >> 6);
        *out++ = (uint8_t)(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        *out++ = (uint8_t)(0xE0 | point >> 12);
        *out++ = (uint8_t)(0x80 | (point >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (point & 0x3F));
    } else {
        *out++ = (uint8_t)(0xF0 | point >> 18);
        *out++ = (uint8_t)(0x80 | (point >> 12 & 0x3F));
        *out++ = (uint8_t)(0x80 | (point >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (point & 0x3F));
    }
    return out;
}

/* The character an escape stands for, ``at`` being behind its backslash and then behind the escape; -1: none. */
static int32_t escaped(const uint8_t **at, const uint8_t *end)
{
    static const char signs[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    uint8_t sign = *(*at)++;
    if (sign != 'u') {
        const char *which = sign ? strchr(signs, sign) : NULL;
        return which ? meant[which - signs] : -1;
    }
    int32_t point = hexadecimal(*at, end);
    if (point < 0)
        return -1;
    *at += 4;
    if (point < 0xD800 || point > 0xDFFF)
        return point;
    if (point > 0xDBFF || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u')
        return -1;
    int32_t low = hexadecimal(*at + 2, end);
    if (low < 0xDC00 || low > 0xDFFF)
        return -1;
    *at += 6;
    return 0x10000 + (point - 0xD800) * 0x400 + (low - 0xDC00);
}

/* Copies what stands for itself; for all bytes that are written at once, as many could be read at once. */
static inline const uint8_t *copy_plain(const uint8_t *at, const uint8_t *end, uint8_t **out)
{
    uint8_t *to = *out;
#if LANES
    while (end - at >= LANES) {
        uint32_t bits = special_bits(at);
        copy_lanes(to, at);
        int64_t size = bits ? __builtin_ctz(bits) : LANES;
        at += size;
        to += size;
        if (bits) {
            *out = to;
            return at;
        }
    }
#endif
    while (end - at >= 8) {
        uint64_t eight = eight_at(at), found = special(eight);
        memcpy(to, &eight, 8);
        int64_t size = found ? __builtin_ctzll(found) >> 3 : 8;
        at += size;
        to += size;
        if (found)
            break;
    }
    while (at < end && *at >= ' ' && *at < 0x80 && *at != '"' && *at != '\\')
        *to++ = *at++;
    *out = to;
    return at;
}

/* One character that is written otherwise than as itself, or in several bytes; 0: it is none. */
static inline int32_t decode_odd(const uint8_t **from, const uint8_t *end, uint8_t **into)
{
    const uint8_t *at = *from;
    uint8_t *to = *into;
    if (*at == '\\') {
        at++;
        int32_t point = at < end ? escaped(&at, end) : -1;
        if (point < 0)
            return 0;
        to = put_character(to, (uint32_t)point);
    } else {
        int64_t size = character_size(at, end);
        if (size == 0)
            return 0;
        for (int64_t i = 0; i < size; i++)
            *to++ = *at++;
    }
    *from = at;
    *into = to;
    return 1;
}

/* As UTF-8, never longer than it is written; how many bytes that takes, or -1 where it is no string of JSON. */
static inline int64_t decode_string(const Written *string, uint8_t *out, int64_t *chars)
{
    const uint8_t *at = string->begin, *end = at + string->size;
    uint8_t *to = out;
    int64_t continued = 0;
    while ((at = copy_plain(at, end, &to)) < end) {
        uint8_t *begun = to;
        if (!decode_odd(&at, end, &to))
            return -1;
        continued += to - begun - 1;
    }
    *chars = to - out - continued;
    return to - out;
}

/* The same of the rest of a string whose opening mark was taken, in one go. */
static inline int64_t take_decoded(Cursor *c, uint8_t *out, int64_t *chars)
{
    const uint8_t *at = c->at, *end = c->end;
    uint8_t *to = out;
    int64_t continued = 0;
    while ((at = copy_plain(at, end, &to)) < end && *at != '"') {
        uint8_t *begun = to;
        if (*at < ' ' || !decode_odd(&at, end, &to))
            return -1;
        continued += to - begun - 1;
    }
    if (at == end)
        return -1;
    c->at = at + 1;
    *chars = to - out - continued;
    return to - out;
}

#endif
