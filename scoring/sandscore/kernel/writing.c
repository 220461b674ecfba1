/* Numbers as JSON: of all decimals that read back as the same double the shortest, and of these the nearest. */
#include <string.h>

#include "draw_stream.h"
#include "kernel.h"

static const uint64_t TENS[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
                                UINT64_C(10000000000), UINT64_C(100000000000), UINT64_C(1000000000000),
                                UINT64_C(10000000000000), UINT64_C(100000000000000), UINT64_C(1000000000000000),
                                UINT64_C(10000000000000000), UINT64_C(100000000000000000),
                                UINT64_C(1000000000000000000), UINT64_C(10000000000000000000)};
enum { DIGITS = 17, SURE_DIGITS = 15, MOST_PLACES = 19 };

/* A number times 10^places, which has 17 digits before its point: ``scaled`` over 2^shift. */
typedef struct {
    Wide scaled;
    uint64_t fraction;
    int shift, places;
} Scaled;

static int scale(double number, Scaled *found)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    found->fraction = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    found->shift = 1075 - (int)(bits >> 52);
    found->places = number >= 100 ? 14 : number >= 10 ? 15 : number >= 1 ? 16 : number >= 0.1 ? 17 : 18;
    for (;; found->places++) {
        if (found->places > MOST_PLACES)
            return 0;
        found->scaled = (Wide)found->fraction * TENS[found->places];
        if ((uint64_t)(found->scaled >> found->shift) >= TENS[DIGITS - 1])
            return 1;
    }
}

/* The nearest whole number that has noughts behind its first ``digits``; 0: two are as near. */
static uint64_t rounded(const Scaled *number, int digits)
{
    uint64_t whole = (uint64_t)(number->scaled >> number->shift), step = TENS[DIGITS - digits];
    uint64_t low = whole - whole % step;
    Wide lost = number->scaled - ((Wide)low << number->shift), all = (Wide)step << number->shift;
    if (lost * 2 == all)
        return 0;
    return lost * 2 > all ? low + step : low;
}

/* Whether a whole number reads back as the same double. No border of what does has so few digits. */
static int reads_back(const Scaled *number, uint64_t whole)
{
    Wide there = (Wide)whole << number->shift, half = TENS[number->places] / 2;
    if (there >= number->scaled)
        return there - number->scaled < half;
    return number->scaled - there < (number->fraction == UINT64_C(1) << 52 ? half / 2 : half);
}

/* The digits of a number of 17, or of one that was rounded up to one more, without noughts at their end: how many. */
static int put_digits(uint64_t whole, char *digits)
{
    int count = DIGITS;
    while (whole % 10 == 0 && count > 1) {
        whole /= 10;
        count--;
    }
    for (int i = count; i > 0; whole /= 10)
        digits[--i] = (char)('0' + whole % 10);
    return count;
}

/* Behind the number; NULL where it is none of those that are written here: 0, and from 0.001 to below 1000. */
static uint8_t *put_number(uint8_t *out, double number)
{
    Scaled scaled;
    char digits[DIGITS];
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    if (!bits) {
        memcpy(out, "0.0", 3);
        return out + 3;
    }
    if (!(number >= 0.001 && number < 1000) || !scale(number, &scaled))
        return NULL;
    uint64_t whole = 0;
    for (int many = SURE_DIGITS; many <= DIGITS; many++) {
        whole = rounded(&scaled, many);
        if (!whole && many > SURE_DIGITS)
            return NULL;
        if (whole && reads_back(&scaled, whole))
            break;
    }
    int before = DIGITS - scaled.places;
    if (whole >= TENS[DIGITS]) {
        whole /= 10;
        before++;
    }
    int count = put_digits(whole, digits), at = 0;
    if (before <= 0)
        *out++ = '0';
    for (; at < before; at++)
        *out++ = (uint8_t)(at < count ? digits[at] : '0');
    *out++ = '.';
    for (; before < 0; before++)
        *out++ = '0';
    if (at >= count)
        *out++ = '0';
    for (; at < count; at++)
        *out++ = (uint8_t)digits[at];
    return out;
}

int64_t write_curve(const double *confidence, const double *precision, const double *recall, int64_t rows, uint8_t *out)
{
    const double *columns[] = {confidence, precision, recall};
    uint8_t *at = out;
    for (int64_t row = 0; row < rows; row++) {
        for (int i = 0; i < 3; i++) {
            *at++ = i ? ',' : '[';
            at = put_number(at, columns[i][row]);
            if (!at)
                return REFUSED;
        }
        *at++ = ']';
        *at++ = ',';
    }
    return at - out;
}
