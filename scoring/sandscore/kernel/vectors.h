/* Many bytes looked at as one. LANES says how many: 32 with AVX2, 16 with SSE2 or NEON, 0 where each is looked at by
   itself. */
#ifndef SANDSCORE_VECTORS_H
#define SANDSCORE_VECTORS_H

#include <stdint.h>
#include <string.h>

#ifndef LANES
#define LANES 0
#endif

/* What is done with every value keeps what it works with in registers; what is done to few of them stays out of its way. */
#define INLINED static inline __attribute__((always_inline))
#define APART static __attribute__((noinline))

#if LANES == 32
static inline __m256i lanes_at(const uint8_t *at) { return _mm256_loadu_si256((const __m256i *)(const void *)at); }

/* A bit for each byte that is no ASCII, below a blank, a quotation mark or a backslash. */
static inline uint32_t special_bits(const uint8_t *at)
{
    __m256i bytes = lanes_at(at), low = _mm256_cmpgt_epi8(_mm256_set1_epi8(' '), bytes);
    __m256i quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"')), slash = _mm256_set1_epi8('\\');
    return (uint32_t)_mm256_movemask_epi8(
        _mm256_or_si256(low, _mm256_or_si256(quote, _mm256_cmpeq_epi8(bytes, slash))));
}

/* A bit for each blank. */
static inline uint32_t blank_bits(const uint8_t *at)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(lanes_at(at), _mm256_set1_epi8(' ')));
}

/* A bit for each byte that both have. */
static inline uint32_t equal_bits(const uint8_t *one, const uint8_t *other)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(lanes_at(one), lanes_at(other)));
}

/* Writes all that is read, even where both overlap. */
static inline void copy_lanes(uint8_t *to, const uint8_t *from)
{
    _mm256_storeu_si256((__m256i *)(void *)to, lanes_at(from));
}

/* A bit for each byte that continues a character. */
static inline uint32_t continuing_bits(const uint8_t *at)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(_mm256_set1_epi8(-64), lanes_at(at)));
}
#elif LANES == 16 && defined(__SSE2__)
static inline __m128i lanes_at(const uint8_t *at) { return _mm_loadu_si128((const __m128i *)(const void *)at); }

static inline uint32_t special_bits(const uint8_t *at)
{
    __m128i bytes = lanes_at(at), low = _mm_cmpgt_epi8(_mm_set1_epi8(' '), bytes);
    __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(quote, slash)));
}

static inline uint32_t blank_bits(const uint8_t *at)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(lanes_at(at), _mm_set1_epi8(' ')));
}

static inline uint32_t equal_bits(const uint8_t *one, const uint8_t *other)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(lanes_at(one), lanes_at(other)));
}

static inline void copy_lanes(uint8_t *to, const uint8_t *from)
{
    _mm_storeu_si128((__m128i *)(void *)to, lanes_at(from));
}

static inline uint32_t continuing_bits(const uint8_t *at)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpgt_epi8(_mm_set1_epi8(-64), lanes_at(at)));
}
#elif LANES == 16
static inline uint32_t bits_of_lanes(uint8x16_t lanes)
{
    static const uint8_t places[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t bits = vandq_u8(lanes, vld1q_u8(places));
    return (uint32_t)vaddv_u8(vget_low_u8(bits)) | (uint32_t)vaddv_u8(vget_high_u8(bits)) << 8;
}

static inline uint32_t special_bits(const uint8_t *at)
{
    uint8x16_t bytes = vld1q_u8(at), odd = vcltq_s8(vreinterpretq_s8_u8(bytes), vdupq_n_s8(' '));
    odd = vorrq_u8(odd, vorrq_u8(vceqq_u8(bytes, vdupq_n_u8('"')), vceqq_u8(bytes, vdupq_n_u8('\\'))));
    return bits_of_lanes(odd);
}

static inline uint32_t blank_bits(const uint8_t *at)
{
    return bits_of_lanes(vceqq_u8(vld1q_u8(at), vdupq_n_u8(' ')));
}

static inline uint32_t equal_bits(const uint8_t *one, const uint8_t *other)
{
    return bits_of_lanes(vceqq_u8(vld1q_u8(one), vld1q_u8(other)));
}

static inline void copy_lanes(uint8_t *to, const uint8_t *from) { vst1q_u8(to, vld1q_u8(from)); }

static inline uint32_t continuing_bits(const uint8_t *at)
{
    return bits_of_lanes(vcltq_s8(vreinterpretq_s8_u8(vld1q_u8(at)), vdupq_n_s8(-64)));
}
#endif

/* So many bits, from the lowest on. */
static inline uint32_t lowest_bits(int64_t count) { return (uint32_t)((UINT64_C(1) << count) - 1); }

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

static inline uint64_t hash_of(const uint8_t *name, int64_t size)
{
    uint64_t hash = (uint64_t)size * UINT64_C(0x9E3779B97F4A7C15);
    int64_t at = 0;
    for (; at + 8 <= size; at += 8) {
        hash = (hash ^ eight_at(name + at)) * UINT64_C(0xD6E8FEB86659FD93);
        hash ^= hash >> 32;
    }
    uint64_t rest = 0;
    for (; at < size; at++)
        rest = rest << 8 | name[at];
    hash = (hash ^ rest) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

#endif
