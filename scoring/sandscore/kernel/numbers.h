/* Numbers of JSON. */
#ifndef SANDSCORE_NUMBERS_H
#define SANDSCORE_NUMBERS_H

#include <stdlib.h>

#include "draw_stream.h"
#include "json_strings.h"

static inline int is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

#define DIGITS UINT64_C(0x3030303030303030)

/* How many of eight signs are digits, from the first on; 8: all of them. */
static inline int digits_of(uint64_t eight)
{
    uint64_t values = eight ^ DIGITS, others = ((values + UINT64_C(0x7676767676767676)) | values) & HIGH;
    return (others ? __builtin_ctzll(others) : 64) >> 3;
}

/* The number that so many digits, from 0 to 8, are: no shift is by as many bits as there are. */
static inline uint64_t number_of_digits(uint64_t eight, int count)
{
    int half = 32 - 4 * count;
    uint64_t values = (eight ^ DIGITS) << half << half;
    values = (values * 2561) >> 8 & UINT64_C(0x00FF00FF00FF00FF);
    values = (values * 6553601) >> 16 & UINT64_C(0x0000FFFF0000FFFF);
    return values * UINT64_C(42949672960001) >> 32;
}

/* From 0 to 2^31 - 1, written as a whole number. */
static inline int32_t take_whole(Cursor *c, int32_t *number)
{
    const uint8_t *at = c->at, *end = c->end;
    int64_t value = 0;
    if (end - at >= 8) {
        uint64_t eight = eight_at(at);
        int digits = digits_of(eight);
        if (digits > 0 && digits < 8 && (*at != '0' || digits == 1)) {
            *number = (int32_t)number_of_digits(eight, digits);
            c->at = at + digits;
            return 1;
        }
    }
    if (at == end || !is_digit(*at))
        return 0;
    if (*at == '0') {
        at++;
    } else {
        for (int digits = 0; at < end && is_digit(*at); at++, digits++) {
            if (digits == 10)
                return 0;
            value = value * 10 + (*at - '0');
        }
    }
    if (value > INT32_MAX)
        return 0;
    *number = (int32_t)value;
    c->at = at;
    return 1;
}

enum { MOST_DIGITS = 19, LONGEST_DECIMAL = 64, KEPT = 53, BIAS = 1023, SHORT_DECIMAL = 24 };

/* 2^64 by the powers of ten, each by as large a power of two that all 64 bits count, and rounded up. */
static const uint64_t INVERSE[MOST_DIGITS + 1] = {
    UINT64_C(0x8000000000000000), UINT64_C(0xCCCCCCCCCCCCCCCD), UINT64_C(0xA3D70A3D70A3D70B), UINT64_C(0x83126E978D4FDF3C),
    UINT64_C(0xD1B71758E219652C), UINT64_C(0xA7C5AC471B478424), UINT64_C(0x8637BD05AF6C69B6), UINT64_C(0xD6BF94D5E57A42BD),
    UINT64_C(0xABCC77118461CEFD), UINT64_C(0x89705F4136B4A598), UINT64_C(0xDBE6FECEBDEDD5BF), UINT64_C(0xAFEBFF0BCB24AAFF),
    UINT64_C(0x8CBCCC096F5088CC), UINT64_C(0xE12E13424BB40E14), UINT64_C(0xB424DC35095CD810), UINT64_C(0x901D7CF73AB0ACDA),
    UINT64_C(0xE69594BEC44DE15C), UINT64_C(0xB877AA3236A4B44A), UINT64_C(0x9392EE8E921D5D08), UINT64_C(0xEC1E4A7DB69561A6),
};

/* The power of two by which a reciprocal is larger. */
static inline int scale_of(int places) { return places ? (places * 217706 >> 16) + 64 : 63; }

/* kept * 2^power, for what has KEPT bits or, rounded up, one more. */
static inline double double_of(uint64_t kept, int power)
{
    uint64_t bits = ((uint64_t)(power + KEPT - 2 + BIAS) << (KEPT - 1)) + kept;
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* digits / 10^places, rounded to nearest, half to even; the digits fill 64 bits, as many of them that they were moved. */
APART double quotient(uint64_t digits, int places, int moved)
{
    uint64_t ten = 1;
    for (int i = 0; i < places; i++)
        ten *= 10;
    Wide whole = (Wide)digits << 64, rest = whole % ten;
    whole /= ten;
    uint64_t high = (uint64_t)(whole >> 64);
    int spare = (high ? 128 - __builtin_clzll(high) : 64) - KEPT;
    Wide kept = whole >> spare, lost = whole - (kept << spare), half = (Wide)1 << (spare - 1);
    if (lost > half || (lost == half && (rest || (kept & 1))))
        kept++;
    return double_of((uint64_t)kept, spare - 64 - moved);
}

/* The same by multiplying. The product's upper half is too large by one at most, which decides nothing unless what is cut
   off of it looks like a half. */
INLINED double decimal(uint64_t digits, int places)
{
    if (!digits)
        return 0;
    int moved = __builtin_clzll(digits);
    digits <<= moved;
    uint64_t high = (uint64_t)((Wide)digits * INVERSE[places] >> 64);
    int spare = (int)(high >> 63) + 63 - KEPT;
    uint64_t half = UINT64_C(1) << (spare - 1);
    if ((high & (2 * half - 1)) == half)
        return quotient(digits, places, moved);
    return double_of(((high >> (spare - 1)) + 1) >> 1, spare + 64 - scale_of(places) - moved);
}

/* Whatever the C library makes of it, if it reads all of it: a locale may have it stop at the point. */
static int32_t slowly(const uint8_t *begin, const uint8_t *end, double *number)
{
    char copy[LONGEST_DECIMAL + 1], *stopped;
    int64_t size = end - begin;
    if (size > LONGEST_DECIMAL)
        return 0;
    memcpy(copy, begin, (size_t)size);
    copy[size] = 0;
    *number = strtod(copy, &stopped);
    return stopped == copy + size;
}

/* An exponent, if there is one: what comes behind it, or NULL where it has no digits. */
static const uint8_t *behind_exponent(const uint8_t *at, const uint8_t *end)
{
    if (at == end || (*at != 'e' && *at != 'E'))
        return at;
    at++;
    if (at < end && (*at == '+' || *at == '-'))
        at++;
    const uint8_t *first = at;
    while (at < end && is_digit(*at))
        at++;
    return at > first ? at : NULL;
}

/* How many digits stand from the first that is not nought. */
static int64_t significant(const uint8_t *begin, const uint8_t *end)
{
    int64_t digits = 0;
    for (; begin < end; begin++)
        digits += is_digit(*begin) && (digits || *begin != '0');
    return digits;
}

static const uint32_t TENS[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/* Digits that follow one another, behind those that ``number`` is made of; too many of them make it meaningless. */
static inline const uint8_t *take_digits(const uint8_t *at, const uint8_t *end, uint64_t *number)
{
    for (int count = 8; count == 8 && end - at >= 8; at += count) {
        uint64_t eight = eight_at(at);
        count = digits_of(eight);
        if (count)
            *number = *number * TENS[count] + number_of_digits(eight, count);
        if (count < 8)
            return at + count;
    }
    for (; at < end && is_digit(*at); at++)
        *number = *number * 10 + (uint64_t)(*at - '0');
    return at;
}

/* A number that is not negative, as near as a double can be: what comes behind it, or NULL where there is none. */
APART const uint8_t *behind_decimal(const uint8_t *begin, const uint8_t *end, double *number)
{
    uint64_t digits = 0;
    int64_t places = 0;
    const uint8_t *at = take_digits(begin, end, &digits);
    if (at == begin || (*begin == '0' && at - begin > 1))
        return NULL;
    if (at < end && *at == '.') {
        const uint8_t *point = at++;
        at = take_digits(at, end, &digits);
        places = at - point - 1;
        if (places == 0)
            return NULL;
    }
    const uint8_t *last = behind_exponent(at, end);
    if (last == NULL)
        return NULL;
    if (last != at || places > MOST_DIGITS || (at - begin > MOST_DIGITS && significant(begin, at) > MOST_DIGITS))
        return slowly(begin, last, number) ? last : NULL;
    *number = decimal(digits, (int)places);
    return at;
}

/* The same of a short one: no more than three digits before the point, and fifteen behind. NULL: it is another. */
INLINED const uint8_t *behind_short_decimal(const uint8_t *at, double *number)
{
    uint64_t eight = eight_at(at);
    int whole = digits_of(eight);
    if (whole < 1 || whole > 3 || (*at == '0' && whole > 1))
        return NULL;
    const uint8_t *behind = at + whole;
    uint64_t digits = number_of_digits(eight, whole);
    if (*behind == '.') {
        uint64_t next = eight_at(++behind);
        int places = digits_of(next);
        if (places == 0)
            return NULL;
        digits = digits * TENS[places] + number_of_digits(next, places);
        behind += places;
        if (places == 8) {
            next = eight_at(behind);
            int more = digits_of(next);
            if (more == 8)
                return NULL;
            digits = digits * TENS[more] + number_of_digits(next, more);
            behind += more;
            places += more;
        }
        *number = decimal(digits, places);
    } else {
        *number = (double)digits;
    }
    return (*behind | 32) == 'e' ? NULL : behind;
}

INLINED int32_t take_decimal(Cursor *c, double *number)
{
    const uint8_t *behind = c->end - c->at < SHORT_DECIMAL ? NULL : behind_short_decimal(c->at, number);
    if (behind == NULL && (behind = behind_decimal(c->at, c->end, number)) == NULL)
        return 0;
    c->at = behind;
    return 1;
}

#endif
