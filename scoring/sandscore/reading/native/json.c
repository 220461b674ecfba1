#include "json.h"

#include <stdlib.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "eight bytes are looked at as one number whose lowest byte comes first"
#endif

__extension__ typedef unsigned __int128 Wide;

#define HIGH UINT64_C(0x8080808080808080)
#define EVERY(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The high bit of some byte is set if a byte is no ASCII, below a blank, a quotation mark or a backslash; bytes above
   such a one may have theirs set without reason. */
static inline uint64_t special(uint64_t eight)
{
    uint64_t quote = eight ^ EVERY('"'), backslash = eight ^ EVERY('\\');
    return (eight | (eight - EVERY(' ')) | (quote - EVERY(1)) | (backslash - EVERY(1))) & HIGH;
}

static inline uint64_t eight_at(const uint8_t *at)
{
    uint64_t eight;
    memcpy(&eight, at, 8);
    return eight;
}

/* Where the first byte is that is no ASCII, below a blank, a quotation mark or a backslash. */
static inline const uint8_t *first_special(const uint8_t *at, const uint8_t *end)
{
    for (; end - at >= 8; at += 8) {
        uint64_t found = special(eight_at(at));
        if (found)
            return at + (__builtin_ctzll(found) >> 3);
    }
    while (at < end && *at >= ' ' && *at < 0x80 && *at != '"' && *at != '\\')
        at++;
    return at;
}

int32_t take_string(Cursor *c, Written *found)
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

int64_t character_size(const uint8_t *at, const uint8_t *end)
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

/* Copies what stands for itself; every eight bytes that are written were eight bytes that could be read. */
static inline const uint8_t *copy_plain(const uint8_t *at, const uint8_t *end, uint8_t **out)
{
    uint8_t *to = *out;
    while (end - at >= 8) {
        uint64_t eight = eight_at(at), found = special(eight);
        memcpy(to, &eight, 8);
        int64_t size = found ? __builtin_ctzll(found) >> 3 : 8;
        at += size;
        to += size;
        if (found)
            break;
    }
    while (at < end && *at < 0x80 && *at != '\\')
        *to++ = *at++;
    *out = to;
    return at;
}

int64_t decode_string(const Written *string, uint8_t *out, int64_t *chars)
{
    const uint8_t *at = string->begin, *end = at + string->size;
    uint8_t *to = out;
    int64_t continued = 0;
    while ((at = copy_plain(at, end, &to)) < end) {
        uint8_t *begun = to;
        if (*at == '\\') {
            at++;
            int32_t point = at < end ? escaped(&at, end) : -1;
            if (point < 0)
                return -1;
            to = put_character(to, (uint32_t)point);
        } else {
            int64_t size = character_size(at, end);
            if (size == 0)
                return -1;
            for (int64_t i = 0; i < size; i++)
                *to++ = *at++;
        }
        continued += to - begun - 1;
    }
    *chars = to - out - continued;
    return to - out;
}

int32_t take_whole(Cursor *c, int32_t *number)
{
    const uint8_t *at = c->at, *end = c->end;
    int64_t value = 0;
    if (at == end || *at < '0' || *at > '9')
        return 0;
    if (*at == '0') {
        at++;
    } else {
        for (int digits = 0; at < end && *at >= '0' && *at <= '9'; at++, digits++) {
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

/* digits / 10^places, rounded to nearest, half to even; digits have more than 53 bits, places are few enough for ten to have 64. */
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

static inline int is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

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

int32_t take_decimal(Cursor *c, double *number)
{
    const uint8_t *begin = c->at, *end = c->end, *at = begin;
    uint64_t digits = 0;
    int64_t places = 0;
    for (; at < end && is_digit(*at); at++)
        digits = digits * 10 + (uint64_t)(*at - '0');
    if (at == begin || (*begin == '0' && at - begin > 1))
        return 0;
    if (at < end && *at == '.') {
        const uint8_t *point = at++;
        for (; at < end && is_digit(*at); at++)
            digits = digits * 10 + (uint64_t)(*at - '0');
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
