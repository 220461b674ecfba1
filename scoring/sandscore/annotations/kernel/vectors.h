/* Sixteen bytes looked at as one, where every machine of the kind can; SANDSCORE_SCALAR: as if none could. */
#ifndef SANDSCORE_VECTORS_H
#define SANDSCORE_VECTORS_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(SANDSCORE_SCALAR)
#include <emmintrin.h>
#define SIXTEEN 16

static inline __m128i sixteen_at(const uint8_t *at) { return _mm_loadu_si128((const __m128i *)(const void *)at); }

/* A bit for each byte that is no ASCII, below a blank, a quotation mark or a backslash. */
static inline uint32_t special_bits(const uint8_t *at)
{
    __m128i bytes = sixteen_at(at), low = _mm_cmpgt_epi8(_mm_set1_epi8(' '), bytes);
    __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(quote, slash)));
}

/* A bit for each blank. */
static inline uint32_t blank_bits(const uint8_t *at)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(sixteen_at(at), _mm_set1_epi8(' ')));
}
#endif

static inline uint64_t eight_at(const uint8_t *at)
{
    uint64_t eight;
    memcpy(&eight, at, 8);
    return eight;
}

static inline uint32_t four_at(const uint8_t *at)
{
    uint32_t four;
    memcpy(&four, at, 4);
    return four;
}

/* Whether as many bytes are equal; short ones are looked at without a call. */
static inline int same_bytes(const uint8_t *one, const uint8_t *other, int64_t size)
{
    if (size > 32)
        return memcmp(one, other, (size_t)size) == 0;
    if (size >= 8) {
        for (int64_t at = 0; at + 8 <= size; at += 8)
            if (eight_at(one + at) != eight_at(other + at))
                return 0;
        return eight_at(one + size - 8) == eight_at(other + size - 8);
    }
    if (size >= 4)
        return four_at(one) == four_at(other) && four_at(one + size - 4) == four_at(other + size - 4);
    for (int64_t at = 0; at < size; at++)
        if (one[at] != other[at])
            return 0;
    return 1;
}

#endif
