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
    return others ? __builtin_ctzll(others) >> 3 : 8;
}

/* The number that so many digits, from 1 to 8, are. */
static inline uint64_t number_of_digits(uint64_t eight, int count)
{
    uint64_t values = (eight ^ DIGITS) << (64 - 8 * count);
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

static const double TENS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
enum { MOST_DIGITS = 19, EXACT_PLACES = 22, LONGEST_DECIMAL = 64 };

/* digits / 10^places, rounded to nearest, half to even; for digits of more than 53 bits, a power of 64 at most. */
static double quotient(uint64_t digits, int64_t places)
{
    uint64_t ten = 1;
    for (int64_t i = 0; i < places; i++)
        ten *= 10;
    Wide whole = (Wide)digits << 64, rest = whole % ten;
    whole /= ten;
    uint64_t high = (uint64_t)(whole >> 64);
    int bits = high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)whole);
    int spare = bits - 53;
    Wide kept = whole >> spare, lost = whole - (kept << spare), half = (Wide)1 << (spare - 1);
    if (lost > half || (lost == half && (rest || (kept & 1))))
        kept++;
    return __builtin_ldexp((double)(uint64_t)kept, spare - 64);
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

/* Digits that follow one another, behind those that ``number`` is made of; too many of them make it meaningless. */
static inline const uint8_t *take_digits(const uint8_t *at, const uint8_t *end, uint64_t *number)
{
    static const uint32_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    for (int count = 8; count == 8 && end - at >= 8; at += count) {
        uint64_t eight = eight_at(at);
        count = digits_of(eight);
        if (count)
            *number = *number * tens[count] + number_of_digits(eight, count);
        if (count < 8)
            return at + count;
    }
    for (; at < end && is_digit(*at); at++)
        *number = *number * 10 + (uint64_t)(*at - '0');
    return at;
}

/* A number that is not negative, as near as a double can be. */
static inline int32_t take_decimal(Cursor *c, double *number)
{
    const uint8_t *begin = c->at, *end = c->end, *at = begin;
    uint64_t digits = 0;
    int64_t places = 0;
    if (end - at >= 8) {
        uint64_t eight = eight_at(at);
        int few = digits_of(eight);
        if (few > 0 && few < 8 && (*at != '0' || few == 1) && at[few] != '.' && (at[few] | 32) != 'e') {
            *number = (double)number_of_digits(eight, few);
            c->at = at + few;
            return 1;
        }
    }
    at = take_digits(at, end, &digits);
    if (at == begin || (*begin == '0' && at - begin > 1))
        return 0;
    if (at < end && *at == '.') {
        const uint8_t *point = at++;
        at = take_digits(at, end, &digits);
        places = at - point - 1;
        if (places == 0)
            return 0;
    }
    c->at = behind_exponent(at, end);
    if (c->at == NULL)
        return 0;
    if (c->at != at || places > EXACT_PLACES || (at - begin > MOST_DIGITS && significant(begin, at) > MOST_DIGITS))
        return slowly(begin, c->at, number);
    if (digits <= UINT64_C(1) << 53)
        *number = (double)digits / TENS[places];
    else if (places <= MOST_DIGITS)
        *number = quotient(digits, places);
    else
        return slowly(begin, c->at, number);
    return 1;
}

#endif
